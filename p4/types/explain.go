package types

import (
	_ "embed" // the documentation of the codes is what Explain shows
	"sort"
	"strings"
	"sync"
)

//go:embed codes.go
var codesNames string

//go:embed codes_calls.go
var codesCalls string

//go:embed codes_tables.go
var codesTables string

// Explanation says what a code means.
type Explanation struct {
	Code    Code
	Warning bool   // the code is that of a warning
	Summary string // one or two sentences
	Wrong   string // a program that leads to the code, and
	Right   string // the same mended; both include core.p4
}

// Explain returns the explanation of a code.
func Explain(code Code) (Explanation, bool) {
	for _, e := range Explanations() {
		if e.Code == code {
			return e, true
		}
	}
	return Explanation{}, false
}

// Explanations returns the explanations of all codes of this package, in order of code.
func Explanations() []Explanation { return explanations() }

var explanations = sync.OnceValue(func() []Explanation {
	var out []Explanation
	for _, src := range []string{codesNames, codesCalls, codesTables} {
		out = append(out, readCodes(src)...)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Code < out[j].Code })
	return out
})

// readCodes reads the comments of the constants in a source file: a summary, then Wrong: and Right: with indented text.
func readCodes(src string) []Explanation {
	var out []Explanation
	var e Explanation
	section := &e.Summary
	for _, line := range strings.Split(src, "\n") {
		line = strings.TrimPrefix(line, "\t")
		text, comment := strings.CutPrefix(line, "//")
		switch {
		case comment && text == " Wrong:":
			section = &e.Wrong
		case comment && text == " Right:":
			section = &e.Right
		case comment && section == &e.Summary:
			if e.Summary != "" {
				e.Summary += " "
			}
			e.Summary += strings.TrimSpace(text)
		case comment:
			if body, ok := strings.CutPrefix(text, "\t"); ok {
				*section += body + "\n"
			}
		default:
			if _, value, ok := strings.Cut(line, " Code = "); ok && strings.HasPrefix(line, "Code") {
				e.Code = Code(strings.Trim(value, `"`))
				_, e.Summary, _ = strings.Cut(e.Summary, ": ")
				e.Summary, e.Warning = strings.CutPrefix(e.Summary, "(warning) ")
				e.Summary = strings.TrimSpace(e.Summary)
				out = append(out, e)
			}
			e = Explanation{}
			section = &e.Summary
		}
	}
	return out
}
