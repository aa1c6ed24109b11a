package programs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"khop/p4"
	"khop/test/stf"
)

func TestPrograms(t *testing.T) {
	files, err := filepath.Glob("testdata/*.p4")
	if err != nil || len(files) == 0 {
		t.Fatal("no programs", err)
	}
	for _, f := range files {
		base := strings.TrimSuffix(f, ".p4")
		t.Run(filepath.Base(base), func(t *testing.T) {
			source, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			script, err := os.ReadFile(base + ".stf")
			if err != nil {
				t.Fatal(err)
			}
			compiled, list := p4.Compile(f, source, p4.Options{})
			if compiled == nil {
				t.Fatal(list)
			}
			r, err := stf.Run(compiled.JSON, base+".stf", string(script))
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range r.Failures {
				t.Error(s)
			}
		})
	}
}
