package types_test

import (
	"os"
	"path/filepath"
	"testing"

	"khop/p4/types"
)

// FuzzCheck holds that no program that parses makes the checker panic or run on, and that all it says has a code and a place.
func FuzzCheck(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.p4")
	for _, name := range files {
		src, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(src))
	}
	for _, e := range types.Explanations() {
		f.Add("#include <core.p4>\n" + e.Wrong)
		f.Add("#include <core.p4>\n" + e.Right)
	}
	f.Fuzz(func(t *testing.T, src string) {
		if len(src) > 1<<14 {
			t.Skip()
		}
		c, _ := frontEnd("fuzz.p4", []byte(src), nil, types.Options{RequireMain: true})
		if c.info == nil {
			return
		}
		for _, d := range c.list {
			if d.Code == "" || d.Message == "" {
				t.Errorf("incomplete diagnostic %+v", d)
			}
			if _, ok := types.Explain(d.Code); !ok {
				t.Errorf("code %q is not documented", d.Code)
			}
		}
	})
}
