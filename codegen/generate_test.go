package codegen

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"khop/fabric"
)

var update = flag.Bool("update", false, "write the shipped programs to p4src")

// load reads a shipped spec.
func load(t testing.TB, name string) *fabric.Fabric {
	t.Helper()
	f, err := fabric.LoadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func generated(t testing.TB, f *fabric.Fabric) []Program {
	t.Helper()
	programs, err := Generate(f)
	if err != nil {
		t.Fatal(err)
	}
	return programs
}

// TestShippedPrograms holds p4src to what the generator writes now.
func TestShippedPrograms(t *testing.T) {
	for _, name := range fabric.ShippedNames() {
		dir := filepath.Join("..", "p4src", name)
		var want []string
		for _, p := range generated(t, load(t, name)) {
			path := filepath.Join(dir, p.Name)
			want = append(want, p.Name)
			if *update {
				if err := os.MkdirAll(dir, 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, p.Source, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if have, err := os.ReadFile(path); err != nil || !bytes.Equal(have, p.Source) {
				t.Errorf("%s is stale (%v): run go generate ./codegen", path, err)
			}
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if !slices.Contains(want, e.Name()) {
				t.Errorf("%s is no program of %s", filepath.Join(dir, e.Name()), name)
			}
		}
	}
}

func TestGenerateIsDeterministic(t *testing.T) {
	for _, name := range fabric.ShippedNames() {
		f := load(t, name)
		a, b := generated(t, f), generated(t, f)
		for i := range a {
			if !bytes.Equal(a[i].Source, b[i].Source) {
				t.Errorf("%s %s: two runs differ", name, a[i].Name)
			}
		}
	}
}

// TestSortingNetwork checks every network on all inputs of zeros and ones, which suffices (Knuth, volume 3, section 5.3.4).
func TestSortingNetwork(t *testing.T) {
	for n := 1; n <= 8; n++ {
		for bits := 0; bits < 1<<n; bits++ {
			v := make([]int, n)
			for i := range v {
				v[i] = bits >> i & 1
			}
			for _, s := range sortingNetwork(n) {
				if s[0] >= s[1] {
					t.Fatalf("n=%d: step %v goes backwards", n, s)
				}
				if v[s[1]] < v[s[0]] {
					v[s[0]], v[s[1]] = v[s[1]], v[s[0]]
				}
			}
			if !slices.IsSorted(v) {
				t.Fatalf("n=%d: input %b leaves %v", n, bits, v)
			}
		}
	}
}
