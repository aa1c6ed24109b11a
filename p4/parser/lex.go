package parser

import (
	"sort"

	"khop/p4/grammar"
)

// TokenKind is what a formatter needs to know of a token.
type TokenKind uint8

// Kinds of tokens.
const (
	Punct        TokenKind = iota // an operator or punctuation
	Word                          // a name or keyword
	Literal                       // a number or string
	LineComment                   // from // to the end of the line
	BlockComment                  // from /* to */
	Bad                           // a character that starts no token
)

// Token is a token or comment: text[Start:End].
type Token struct {
	Kind       TokenKind
	Start, End int
}

// Tokens returns the tokens and comments of a text in order.
func Tokens(text string) []Token {
	toks, comments := lex(text)
	out := make([]Token, 0, len(toks)+len(comments))
	for _, t := range toks {
		for len(comments) > 0 && comments[0].start < t.start {
			out = append(out, convert(comments[0]))
			comments = comments[1:]
		}
		if t.typ != tEOF {
			out = append(out, convert(t))
		}
	}
	for _, c := range comments {
		out = append(out, convert(c))
	}
	return out
}

func convert(t *token) Token {
	out := Token{Start: t.start, End: t.stop + 1}
	switch {
	case t.typ == grammar.P4LexerLINE_COMMENT:
		out.Kind = LineComment
	case t.typ == grammar.P4LexerCOMMENT:
		out.Kind = BlockComment
	case t.typ == tUnexpected:
		out.Kind = Bad
	case t.typ == tInteger || t.typ == tString:
		out.Kind = Literal
	case t.typ == tIdent || t.typ >= grammar.P4LexerABSTRACT && t.typ <= grammar.P4LexerDONTCARE:
		out.Kind = Word
	}
	return out
}

// DeclaredTypes returns the names of the types that a text declares at top level, sorted.
func DeclaredTypes(text string) []string {
	toks, _ := lex(text)
	toks = endPragmas(text, toks)
	c := newClassifier(text, toks)
	c.run()
	var out []string
	for name, isType := range c.scopes[0].names {
		if isType {
			out = append(out, name)
		}
	}
	sort.Strings(out)
	return out
}
