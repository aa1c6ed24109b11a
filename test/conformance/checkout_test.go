package conformance

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// checkout is a p4c source tree.
type checkout struct {
	dir  string
	only *regexp.Regexp
}

func openCheckout(t *testing.T) checkout {
	dir := os.Getenv("P4C_DIR")
	if dir == "" {
		t.Skip("P4C_DIR is not set")
	}
	only, err := regexp.Compile(os.Getenv("P4C_RUN"))
	if err != nil {
		t.Fatal("P4C_RUN: ", err)
	}
	return checkout{dir, only}
}

// glob lists the files below testdata that match one of the patterns, relative to testdata, sorted.
func (c checkout) glob(t *testing.T, patterns ...string) []string {
	var list []string
	root := filepath.Join(c.dir, "testdata")
	for _, p := range patterns {
		files, err := filepath.Glob(filepath.Join(root, p))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			rel, err := filepath.Rel(root, f)
			if err != nil {
				t.Fatal(err)
			}
			if c.only.MatchString(rel) {
				list = append(list, rel)
			}
		}
	}
	if len(list) == 0 && os.Getenv("P4C_RUN") == "" {
		t.Fatalf("no file in %s matches %v", root, patterns)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func (c checkout) path(rel string) string { return filepath.Join(c.dir, "testdata", rel) }

// golden reads an expected output: p4_16_samples/x.p4 with suffix ".p4info.txtpb" is p4_16_samples_outputs/x.p4.p4info.txtpb.
func (c checkout) golden(t *testing.T, rel, suffix string) (text string, ok bool) {
	suite, rest, _ := strings.Cut(rel, string(filepath.Separator))
	data, err := os.ReadFile(filepath.Join(c.dir, "testdata", suite+"_outputs", rest+suffix))
	if errors.Is(err, os.ErrNotExist) {
		return "", false
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(data), true
}

// includesV1model is the criterion of p4c's build: the program itself has a line that includes v1model.p4.
var includesV1model = regexp.MustCompile(`include.*v1model.p4`)

// localInclude finds the files that a program includes from beside it.
var localInclude = regexp.MustCompile(`(?m)^\s*#\s*include\s*["<]([^">]+)[">]`)

// isV1model tells whether a program includes v1model.p4, itself or in a file beside it.
func (c checkout) isV1model(t *testing.T, rel string) bool {
	seen := map[string]bool{}
	var visit func(file string) bool
	visit = func(file string) bool {
		if seen[file] {
			return false
		}
		seen[file] = true
		text, err := os.ReadFile(file)
		if errors.Is(err, os.ErrNotExist) && len(seen) > 1 {
			return false // a library
		}
		if err != nil {
			t.Fatal(err)
		}
		if includesV1model.Match(text) {
			return true
		}
		for _, m := range localInclude.FindAllStringSubmatch(string(text), -1) {
			if visit(filepath.Join(filepath.Dir(file), m[1])) {
				return true
			}
		}
		return false
	}
	return visit(c.path(rel))
}

// expectedFailures reads the list XFAIL_TESTS of the build of p4c's bmv2 back end, relative to testdata.
func (c checkout) expectedFailures(t *testing.T) map[string]bool {
	text, err := os.ReadFile(filepath.Join(c.dir, "backends/bmv2/CMakeLists.txt"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), "set (XFAIL_TESTS")
	if !ok {
		t.Fatal("backends/bmv2/CMakeLists.txt has no XFAIL_TESTS")
	}
	list := map[string]bool{}
	for _, line := range strings.Split(rest, "\n") {
		line, _, _ = strings.Cut(line, "#")
		line = strings.TrimSpace(line)
		if line == ")" {
			return list
		}
		if name, ok := strings.CutPrefix(line, "testdata/"); ok {
			list[filepath.FromSlash(name)] = true
		}
	}
	t.Fatal("XFAIL_TESTS in backends/bmv2/CMakeLists.txt does not end")
	return nil
}
