package fabric

import "testing"

func TestShippedSpecsLoad(t *testing.T) {
	if n := len(ShippedNames()); n != 4 {
		t.Fatalf("%d shipped specs", n)
	}
	for _, name := range ShippedNames() {
		f, err := LoadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if f.Name != name {
			t.Errorf("%s names itself %s", name, f.Name)
		}
	}
}
