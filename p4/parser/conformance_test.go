package parser_test

import (
	"os"
	"path/filepath"
	"testing"

	"khop/p4/parser"
	"khop/p4/preproc"
	"khop/p4src"
)

// outside lists the programs of p4c's samples that use extensions of p4c which are no part of the language.
var outside = map[string]string{
	"externArray1.p4":             "an array of extern instances",
	"generic-extern-inference.p4": "an array of extern instances",
}

// p4cDir skips the test unless P4C_DIR names a checkout of p4c.
func p4cDir(t *testing.T) string {
	dir := os.Getenv("P4C_DIR")
	if dir == "" {
		t.Skip("P4C_DIR is not set")
	}
	return dir
}

func preprocess(t *testing.T, dir, file string) (*preproc.Output, bool) {
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	inc := filepath.Join(dir, "p4include")
	out, diags := preproc.Run(file, src, preproc.Options{IncludeDirs: []string{inc, filepath.Join(inc, "bmv2")}, Builtin: p4src.Include})
	if diags.HasErrors() {
		t.Logf("%v", diags)
	}
	return out, !diags.HasErrors()
}

func TestP4CSamplesParse(t *testing.T) {
	dir := p4cDir(t)
	files, err := filepath.Glob(filepath.Join(dir, "testdata/p4_16_samples/*.p4"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no samples in %s: %v", dir, err)
	}
	parsed := 0
	for _, f := range files {
		out, ok := preprocess(t, dir, f)
		if !ok {
			t.Errorf("%s does not preprocess", f)
			continue
		}
		_, diags := parser.Parse(out.Text, out.Map)
		if why := outside[filepath.Base(f)]; why != "" {
			if !diags.HasErrors() {
				t.Errorf("%s parses, though it has %s", f, why)
			}
			continue
		}
		if diags.HasErrors() {
			t.Errorf("%v", diags)
			continue
		}
		parsed++
	}
	t.Logf("%d of %d programs parse", parsed, len(files))
}

func TestP4CErrorsDoNotPanic(t *testing.T) {
	dir := p4cDir(t)
	files, err := filepath.Glob(filepath.Join(dir, "testdata/p4_16_errors/*.p4"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no samples in %s: %v", dir, err)
	}
	rejected := 0
	for _, f := range files {
		out, _ := preprocess(t, dir, f)
		if _, diags := parser.Parse(out.Text, out.Map); diags.HasErrors() {
			rejected++
		}
	}
	t.Logf("%d of %d programs are rejected by the parser", rejected, len(files))
}
