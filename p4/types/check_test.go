package types_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"khop/p4/ast"
	"khop/p4/diag"
	"khop/p4/parser"
	"khop/p4/preproc"
	"khop/p4/types"
	"khop/p4src"
)

// checked is a program with what the checker said of it.
type checked struct {
	prog *ast.Program
	pre  *preproc.Output
	info *types.Info
	list diag.List
}

// check runs the front end over a program and fails the test when it does not parse.
func check(t testing.TB, name, src string, opts types.Options) *checked {
	t.Helper()
	c, list := frontEnd(name, []byte(src), nil, opts)
	if c.info == nil {
		t.Fatalf("%s does not parse: %v", name, list)
	}
	return c
}

// frontEnd preprocesses, parses and checks; info is nil when the program does not parse.
func frontEnd(name string, src []byte, include []string, opts types.Options) (*checked, diag.List) {
	pre, list := preproc.Run(name, src, preproc.Options{IncludeDirs: include, Builtin: p4src.Include})
	if list.HasErrors() {
		return &checked{}, list
	}
	prog, list := parser.Parse(pre.Text, pre.Map)
	if prog == nil || list.HasErrors() {
		return &checked{}, list
	}
	opts.System = pre.Map.System
	c := &checked{prog: prog, pre: pre}
	c.info, c.list = types.Check(prog, pre.Map, opts)
	return c, nil
}

var expectation = regexp.MustCompile(`/\*\s*(ERROR|WARNING)\s+"((?:[^"\\]|\\.)*)"\s*\*/`)

// expected is a diagnostic that a comment in a test file asks for.
type expected struct {
	line     int
	severity diag.Severity
	pattern  *regexp.Regexp
	found    bool
}

// TestFiles checks every file in testdata. A comment /* ERROR "pattern" */ or /* WARNING "pattern" */ stands on the line of each
// diagnostic, behind its token; the pattern matches the message and the code. Files whose name begins with "warn" are held to their
// warnings as well as to their errors.
func TestFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/*.p4")
	if err != nil || len(files) == 0 {
		t.Fatalf("no test files: %v", err)
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".p4"), func(t *testing.T) {
			src, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			warnings := strings.HasPrefix(filepath.Base(f), "warn")
			c := check(t, f, string(src), types.Options{MaxErrors: 1000, NoWarnings: !warnings})
			compare(t, f, expectations(t, string(src)), c.list)
		})
	}
}

func expectations(t *testing.T, src string) []*expected {
	var out []*expected
	for i, line := range strings.Split(src, "\n") {
		for _, m := range expectation.FindAllStringSubmatch(line, -1) {
			e := &expected{line: i + 1}
			if m[1] == "WARNING" {
				e.severity = diag.Warning
			}
			re, err := regexp.Compile(strings.ReplaceAll(m[2], `\"`, `"`))
			if err != nil {
				t.Fatalf("line %d: %v", i+1, err)
			}
			e.pattern = re
			out = append(out, e)
		}
	}
	return out
}

func compare(t *testing.T, file string, want []*expected, got diag.List) {
	t.Helper()
	for _, d := range got {
		if d.At.File != file {
			t.Errorf("diagnostic outside of the test file: %s", d.Error())
			continue
		}
		text := fmt.Sprintf("%s [%s]", d.Message, d.Code)
		ok := false
		for _, w := range want {
			if !w.found && w.line == d.At.Line && w.severity == d.Severity && w.pattern.MatchString(text) {
				w.found, ok = true, true
				break
			}
		}
		if !ok {
			t.Errorf("unexpected: %s", d.Error())
		}
	}
	for _, w := range want {
		if !w.found {
			t.Errorf("%s:%d: missing %s matching %q", file, w.line, w.severity, w.pattern)
		}
	}
}

// TestCodes holds the examples of every code: the wrong one leads to the code, the right one to no error and not to the code.
func TestCodes(t *testing.T) {
	all := types.Explanations()
	if len(all) < 60 {
		t.Fatalf("only %d codes are documented", len(all))
	}
	seen := map[types.Code]bool{}
	for _, e := range all {
		t.Run(string(e.Code), func(t *testing.T) {
			if seen[e.Code] {
				t.Error("two codes have this name")
			}
			seen[e.Code] = true
			if e.Summary == "" || e.Wrong == "" || e.Right == "" {
				t.Fatalf("incomplete: %+v", e)
			}
			sev := diag.Error
			if e.Warning {
				sev = diag.Warning
			}
			wrong := check(t, "wrong.p4", "#include <core.p4>\n"+e.Wrong, types.Options{})
			if !has(wrong.list, e.Code, sev) {
				t.Errorf("the wrong example gives %v", wrong.list)
			}
			if e.Warning && wrong.list.HasErrors() {
				t.Errorf("the wrong example of a warning has errors: %v", wrong.list)
			}
			right := check(t, "right.p4", "#include <core.p4>\n"+e.Right, types.Options{})
			if right.list.HasErrors() || has(right.list, e.Code, sev) {
				t.Errorf("the right example gives %v", right.list)
			}
			if got, ok := types.Explain(e.Code); !ok || got != e {
				t.Errorf("Explain(%q) = %+v", e.Code, got)
			}
		})
	}
	if _, ok := types.Explain("no-such-code"); ok {
		t.Error("Explain knows a code that does not exist")
	}
}

func has(l diag.List, code types.Code, sev diag.Severity) bool {
	for _, d := range l {
		if d.Code == code && d.Severity == sev {
			return true
		}
	}
	return false
}
