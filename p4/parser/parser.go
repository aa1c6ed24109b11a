// Package parser turns preprocessed P4_16 text into a syntax tree.
//
// The lexer and the parser are generated from the ANTLR grammar in package grammar. Between them stands a classifier, which
// tells names of types from other names as the specification's grammar demands (section 6.1: the grammar is ambiguous without
// that). Prediction is SLL first; only a text that this cannot parse is parsed again with full LL, which reports the errors and
// recovers to find several. A tree builder then makes the ast, and reports what the grammar lets through but the language does
// not.
package parser

import (
	"github.com/antlr4-go/antlr/v4"

	"khop/p4/ast"
	"khop/p4/diag"
	"khop/p4/grammar"
)

// Options change how a text is parsed.
type Options struct {
	// Types are names of types that are declared elsewhere. The formatter gives those of the files that it does not include.
	Types []string
}

// Parse parses preprocessed text. pos resolves offsets in it for diagnostics. The program is nil when the list holds an error
// that left no tree to build; a program that comes with errors is complete, but not to be compiled.
func Parse(text string, pos diag.Resolver) (*ast.Program, diag.List) {
	return ParseOptions(text, pos, Options{})
}

// ParseOptions is Parse with options.
func ParseOptions(text string, pos diag.Resolver, o Options) (*ast.Program, diag.List) {
	toks, _ := lex(text)
	b := &builder{text: text, pos: pos}
	if b.badTokens(toks) || b.tooDeep(toks) {
		return nil, b.diags
	}
	toks = classify(text, toks, o.Types)
	tree := parseSLL(text, toks)
	if tree == nil {
		var errs diag.List
		if tree, errs = parseLL(text, toks, pos); len(errs) > 0 {
			return nil, errs
		}
	}
	p := b.program(tree)
	return p, b.diags
}

// badTokens reports characters that start no token. In the body of an unstructured annotation any may stand.
func (b *builder) badTokens(toks []*token) bool {
	found := false
	depth := 0 // of parentheses in the body of an annotation
	for i, t := range toks {
		switch {
		case t.typ == tLParen && (depth > 0 || i >= 2 && toks[i-2].typ == tAt):
			depth++
		case t.typ == tRParen && depth > 0:
			depth--
		}
		if t.typ != tUnexpected || depth > 0 && b.text[t.start] != '"' {
			continue
		}
		found = true
		at := tokSpan(t)
		switch c := b.text[t.start]; {
		case c == '"':
			b.errorf(at, CodeSyntax, "the string that starts here has no closing quote", "string literal is not terminated")
			return true // what follows is read inside out
		case c == '#':
			b.errorf(at, CodeSyntax, "a preprocessor directive stands at the start of a line", "unexpected character '#'")
		case c < ' ' || c >= 0x7f:
			b.errorf(at, CodeSyntax, "P4 is written in ASCII outside of strings and comments", "unexpected byte 0x%02x", c)
		default:
			b.errorf(at, CodeSyntax, "", "unexpected character '%c'", c)
		}
		if len(b.diags) >= maxErrors {
			break
		}
	}
	return found
}

// parseSLL returns nil if the text has an error, or needs more than SLL prediction.
func parseSLL(text string, toks []*token) (tree grammar.IProgramContext) {
	p := grammar.NewP4Parser(newStream(text, toks))
	p.RemoveErrorListeners()
	p.GetInterpreter().SetPredictionMode(antlr.PredictionModeSLL)
	p.SetErrorHandler(bail{antlr.NewDefaultErrorStrategy()})
	defer func() {
		if r := recover(); r != nil {
			if r != errBail {
				panic(r)
			}
			tree = nil
		}
	}()
	return p.Program()
}

func parseLL(text string, toks []*token, pos diag.Resolver) (grammar.IProgramContext, diag.List) {
	p := grammar.NewP4Parser(newStream(text, toks))
	r := &reporter{text: text, pos: pos}
	p.RemoveErrorListeners()
	p.AddErrorListener(r)
	p.GetInterpreter().SetPredictionMode(antlr.PredictionModeLL)
	p.SetErrorHandler(recovery{antlr.NewDefaultErrorStrategy()})
	tree := p.Program()
	return tree, r.diags
}
