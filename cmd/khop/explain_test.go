package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"khop/p4"
	"khop/p4/diag"
)

func TestExplain(t *testing.T) {
	code, out, _ := call(t, "explain", "type-mismatch")
	if code != exitOK || !strings.HasPrefix(out, "type-mismatch (error)\n") || !strings.Contains(out, "\nWrong:\n") || !strings.Contains(out, "\nRight:\n") {
		t.Errorf("exit code %d, output:\n%s", code, out)
	}
	code, out, _ = call(t, "explain")
	if lines := strings.Count(out, "\n"); code != exitOK || lines != len(explanations()) {
		t.Errorf("exit code %d, %d lines for %d codes", code, lines, len(explanations()))
	}
	for name, want := range map[string]string{"type-mismach": "did you mean type-mismatch?", "qqqqqqqq": "khop explain lists all"} {
		code, _, stderr := call(t, "explain", name)
		if code != exitMisuse || !strings.Contains(stderr, want) {
			t.Errorf("explain %s: exit code %d, want %q in:\n%s", name, code, want, stderr)
		}
	}
}

// Every code that a stage behind the checker reports has its explanation.
func TestExplainIsComplete(t *testing.T) {
	known := map[string]bool{}
	for _, e := range explanations() {
		known[string(e.Code)] = true
		if e.Summary == "" {
			t.Errorf("code %s has no explanation", e.Code)
		}
	}
	report := regexp.MustCompile(`(?:errorf|warnf|report)\([^"\n]*"([a-z-]+)"|diag\.Code = "([a-z-]+)"|Code: "([a-z-]+)"`)
	found := 0
	for _, dir := range []string{"ir", "bmv2json", "p4info", "parser", "preproc"} {
		files, err := filepath.Glob(filepath.Join("../../p4", dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if strings.HasSuffix(f, "_test.go") {
				continue
			}
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range report.FindAllStringSubmatch(string(text), -1) {
				found++
				if code := m[1] + m[2] + m[3]; !known[code] {
					t.Errorf("%s reports %s, which khop explain does not know", f, code)
				}
			}
		}
	}
	if found < 50 {
		t.Errorf("only %d places found that report a code", found)
	}
}

// The wrong examples of the preprocessor and the parser lead to their codes, and the mended ones do not.
func TestExplainExamples(t *testing.T) {
	for _, e := range stageCodes {
		if e.Wrong == "" || e.Code == "no-main" {
			continue
		}
		if e.Code == "unsupported-header" {
			break // from here on the examples are parts of programs
		}
		if !reports("#include <core.p4>\n"+e.Wrong+"\n", e.Code) {
			t.Errorf("%s: the wrong example does not lead to it", e.Code)
		}
		if reports("#include <core.p4>\n"+e.Right+"\n", e.Code) {
			t.Errorf("%s: the mended example still leads to it", e.Code)
		}
	}
}

func reports(program string, code diag.Code) bool {
	_, list := p4.Compile("x.p4", []byte(program), p4.Options{})
	return has(list, code)
}

func has(list diag.List, code diag.Code) bool {
	for _, d := range list {
		if d.Code == code {
			return true
		}
	}
	return false
}
