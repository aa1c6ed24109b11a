// Package format lays out P4_16 source text: four spaces a level, one declaration or statement a line, one space around binary
// operators, blocks opened at the end of a line. Comments stay where they stand, and preprocessor lines as they are. Line breaks
// inside of parentheses, lists and expressions are the author's; their indentation is not. Formatted text stays as it is when
// formatted again.
//
// The tokens are printed in the order of the source, so nothing can get lost; the tree tells where lines start and how deep, and
// which of its meanings a token such as < has.
package format

import (
	"sync"

	"khop/p4/diag"
	"khop/p4/parser"
	"khop/p4src"
)

// Source formats one file. It is not preprocessed: it has to parse with its macros unexpanded and with all branches of its
// #if directives, or at least with the first branch of each, the others then being left as they are. The list holds the syntax
// errors if it does not; the text is nil then.
func Source(filename string, src []byte) ([]byte, diag.List) {
	text := string(src)
	var first diag.List
	for _, onlyFirst := range []bool{false, true} {
		masked, dirs := mask(text, onlyFirst)
		prog, diags := parser.ParseOptions(masked, resolver{filename, text}, parser.Options{Types: libraryTypes()})
		if diags.HasErrors() {
			if first == nil {
				first = diags
			}
			continue
		}
		m := newMarks(masked)
		m.program(prog)
		return newPrinter(text, dirs, m).print(), nil
	}
	return nil, first
}

// libraryTypes are the types of the files that nearly every program includes.
var libraryTypes = sync.OnceValue(func() []string {
	return append(parser.DeclaredTypes(string(p4src.Core)), parser.DeclaredTypes(string(p4src.V1Model))...)
})

// resolver resolves positions in a text that is not preprocessed.
type resolver struct{ file, text string }

// Position implements diag.Resolver.
func (r resolver) Position(pos diag.Pos) diag.Position {
	if pos == diag.NoPos {
		return diag.Position{}
	}
	p := diag.Position{File: r.file, Line: 1, Column: 1}
	for i := 0; i < int(pos)-1 && i < len(r.text); i++ {
		if r.text[i] == '\n' {
			p.Line++
			p.Column = 1
		} else {
			p.Column++
		}
	}
	return p
}
