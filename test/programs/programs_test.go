package programs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"khop/p4"
	"khop/test/stf"
)

// run compiles a program and runs its STF file. It returns what went wrong, and why the program was rejected.
func run(t *testing.T, file string, opts p4.Options) (failures []string, rejected error) {
	t.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	res, list := p4.Compile(file, src, opts)
	if res == nil {
		return nil, list.Err()
	}
	test := strings.TrimSuffix(file, ".p4") + ".stf"
	text, err := os.ReadFile(test)
	if err != nil {
		return nil, nil
	}
	r, err := stf.Run(res.JSON, test, string(text))
	if err != nil {
		return []string{err.Error()}, nil
	}
	return r.Failures, nil
}

func TestPrograms(t *testing.T) {
	files, err := filepath.Glob("testdata/*.p4")
	if err != nil || len(files) == 0 {
		t.Fatal("no programs", err)
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".p4"), func(t *testing.T) {
			if _, err := os.Stat(strings.TrimSuffix(f, ".p4") + ".stf"); err != nil {
				t.Fatal(err)
			}
			failures, rejected := run(t, f, p4.Options{})
			if rejected != nil {
				t.Fatal(rejected)
			}
			for _, s := range failures {
				t.Error(s)
			}
		})
	}
}

// beyond are p4c samples with a packet test that the v1model target cannot run, and why.
var beyond = map[string]string{
	"extern-funcs-bmv2.p4": "it calls an extern function of its own",
}

// TestConformance runs p4c's v1model samples.
func TestConformance(t *testing.T) {
	root := os.Getenv("P4C_DIR")
	if root == "" {
		t.Skip("P4C_DIR is not set")
	}
	samples := filepath.Join(root, "testdata", "p4_16_samples")
	files, err := filepath.Glob(filepath.Join(samples, "*.p4"))
	if err != nil {
		t.Fatal(err)
	}
	compiled, refused, passed, failed := 0, 0, 0, 0
	for _, f := range files {
		name := filepath.Base(f)
		_, err := os.Stat(strings.TrimSuffix(f, ".p4") + ".stf")
		hasTest := err == nil
		src, err := os.ReadFile(f)
		if err != nil || !strings.Contains(string(src), "v1model.p4") || !hasTest && !strings.HasSuffix(name, "-bmv2.p4") {
			continue
		}
		failures, rejected := run(t, f, p4.Options{IncludeDirs: []string{filepath.Join(root, "p4include")}})
		switch {
		case rejected != nil:
			refused++
			t.Logf("%s: %v", name, rejected)
			if hasTest && beyond[name] == "" {
				t.Errorf("%s has a packet test and is refused: %v", name, rejected)
			}
			continue
		case len(failures) > 0:
			failed++
			t.Errorf("%s: %s", name, failures[0])
		case hasTest:
			passed++
		}
		compiled++
	}
	t.Logf("%d programs compiled, %d refused; %d packet tests passed, %d failed", compiled, refused, passed, failed)
}
