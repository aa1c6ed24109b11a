package parser

import "khop/p4/grammar"

// MaxDepth bounds how deep a program may nest, counting brackets, operators in one expression and else branches: it keeps
// every recursion over the tree, here and in later stages, within a modest stack.
const MaxDepth = 2000

// tooDeep reports the first place that nests deeper than MaxDepth. depth grows with every token that may let the parser
// recurse, and falls back to that of the innermost open bracket where a new operand or statement starts.
func (b *builder) tooDeep(toks []*token) bool {
	depth := 0
	var open []int // depth in front of each open bracket
	base := func() int {
		if len(open) == 0 {
			return 0
		}
		return open[len(open)-1] + 1
	}
	for i, t := range toks {
		switch t.typ {
		case tLParen, tLBracket, tLBrace:
			open = append(open, depth)
			depth++
		case tRParen, tRBracket, tRBrace:
			if len(open) == 0 {
				continue // a syntax error
			}
			depth = open[len(open)-1] + 1
			open = open[:len(open)-1]
			if t.typ == tRBrace && startsStatement(toks[i+1].typ) {
				depth = base()
			}
		case tSemi:
			if toks[i+1].typ != tElse {
				depth = base()
			}
		case tComma:
			depth = base()
		case tIdent, tInteger, tString:
		default:
			depth++
		}
		if depth > MaxDepth {
			b.errorf(tokSpan(t), CodeTooComplex, "split it", "the program nests deeper than %d levels here", MaxDepth)
			return true
		}
	}
	return false
}

// startsStatement tells whether a token behind a closing brace starts something new.
func startsStatement(typ int) bool {
	switch typ {
	case tElse, tSemi, tComma, tRParen, tRBracket, tDot, tLBracket, tAssign, tQuestion, grammar.P4LexerCOLON,
		grammar.P4LexerCONCAT, grammar.P4LexerPLUS, grammar.P4LexerMINUS, grammar.P4LexerEQ, grammar.P4LexerNE,
		grammar.P4LexerAND, grammar.P4LexerOR:
		return false
	}
	return true
}
