package parser

import (
	"github.com/antlr4-go/antlr/v4"

	"khop/p4/grammar"
)

// The names of the grammar's tokens that the classifier looks at.
const (
	tEOF        = antlr.TokenEOF
	tIdent      = grammar.P4LexerIDENTIFIER
	tTypeIdent  = grammar.P4LexerTYPE_IDENTIFIER
	tTypeArgs   = grammar.P4LexerTYPE_ARGS_OPEN
	tCast       = grammar.P4LexerCAST_OPEN
	tEndPragma  = grammar.P4LexerEND_PRAGMA
	tLParen     = grammar.P4LexerLPAREN
	tRParen     = grammar.P4LexerRPAREN
	tLBracket   = grammar.P4LexerLBRACKET
	tRBracket   = grammar.P4LexerRBRACKET
	tLBrace     = grammar.P4LexerLBRACE
	tRBrace     = grammar.P4LexerRBRACE
	tLT         = grammar.P4LexerLT
	tGT         = grammar.P4LexerGT
	tComma      = grammar.P4LexerCOMMA
	tSemi       = grammar.P4LexerSEMI
	tDot        = grammar.P4LexerDOT
	tAssign     = grammar.P4LexerASSIGN
	tAt         = grammar.P4LexerAT
	tInteger    = grammar.P4LexerINTEGER
	tString     = grammar.P4LexerSTRING_LITERAL
	tUnexpected = grammar.P4LexerUNEXPECTED_TOKEN
	tElse       = grammar.P4LexerELSE
	tQuestion   = grammar.P4LexerQUESTION
	tIf         = grammar.P4LexerIF
)

// classifier walks over the tokens once and tells names of types from other names, by the declarations it passes and their
// scopes. The grammar needs that to tell a cast from a parenthesised operand, a list of type arguments from a comparison, and
// a constructor call from a function call. A name that no declaration made known is taken for a type where nothing else can
// stand, so that it is the checker that says "unknown type".
type classifier struct {
	text   string
	toks   []*token
	scopes []scope
	// casts holds the indices of the ')' of casts.
	casts map[int]bool
	// closesTypes holds the indices of the '>' that close type arguments.
	closesTypes map[int]bool
	// limit is the index of the token up to which a type is looked for.
	limit int
	// annoEnds holds the indices of the last tokens of annotations.
	annoEnds map[int]bool
}

// scope is a block in braces, or the head of a declaration: its type parameters and parameters.
type scope struct {
	names map[string]bool // true: a type
	head  bool            // ends with the block behind it, or at a semicolon
	// fields is set for the head and the block of a struct, header or union. Fields have names of their own and hide nothing.
	fields bool
}

// classify changes the types of tokens in place and returns the list with the END_PRAGMA tokens inserted. known names types
// declared elsewhere.
func classify(text string, toks []*token, known []string) []*token {
	toks = endPragmas(text, toks)
	c := newClassifier(text, toks)
	for _, n := range known {
		c.declare(n, true)
	}
	c.run()
	return toks
}

func newClassifier(text string, toks []*token) *classifier {
	c := &classifier{text: text, toks: toks, casts: map[int]bool{}, closesTypes: map[int]bool{}, annoEnds: map[int]bool{}}
	c.push(false)
	return c
}

// endPragmas inserts an END_PRAGMA behind the last token of the line of each @pragma.
func endPragmas(text string, toks []*token) []*token {
	var out []*token // nil until the first one is found
	for i := 0; i < len(toks); i++ {
		t := toks[i]
		if out != nil {
			out = append(out, t)
		}
		if t.typ != grammar.P4LexerPRAGMA || i == 0 || toks[i-1].typ != tAt {
			continue
		}
		if out == nil {
			out = append(make([]*token, 0, len(toks)+8), toks[:i+1]...)
		}
		for i+1 < len(toks) && toks[i+1].typ != tEOF && !hasNewline(text[t.stop+1:toks[i+1].start]) {
			i++
			t = toks[i]
			out = append(out, t)
		}
		out = append(out, &token{typ: tEndPragma, start: t.stop + 1, stop: t.stop, src: t.src})
	}
	if out == nil {
		return toks
	}
	return out
}

func hasNewline(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] == '\n' {
			return true
		}
	}
	return false
}

func (c *classifier) push(head bool) { c.scopes = append(c.scopes, scope{head: head}) }

func (c *classifier) top() *scope { return &c.scopes[len(c.scopes)-1] }

func (c *classifier) pop() {
	if len(c.scopes) > 1 {
		c.scopes = c.scopes[:len(c.scopes)-1]
	}
}

func (c *classifier) declare(name string, isType bool) {
	s := c.top()
	if s.names == nil {
		s.names = map[string]bool{}
	}
	s.names[name] = isType
}

// endHead closes the scope of a head that has no block.
func (c *classifier) endHead() {
	if c.top().head {
		c.pop()
	}
}

func (c *classifier) lookup(name string) (isType, known bool) {
	for i := len(c.scopes) - 1; i >= 0; i-- {
		if isType, ok := c.scopes[i].names[name]; ok {
			return isType, true
		}
	}
	return false, false
}

func (c *classifier) typ(i int) int {
	if i < 0 || i >= len(c.toks) {
		return tEOF
	}
	return c.toks[i].typ
}

func (c *classifier) textOf(i int) string {
	t := c.toks[i]
	return c.text[t.start : t.stop+1]
}

// isNameTok tells whether a token of this type may be a name.
func isNameTok(typ int) bool {
	switch typ {
	case tIdent, tTypeIdent, grammar.P4LexerAPPLY, grammar.P4LexerKEY, grammar.P4LexerACTIONS, grammar.P4LexerSTATE,
		grammar.P4LexerENTRIES, grammar.P4LexerTYPE, grammar.P4LexerPRIORITY, grammar.P4LexerLIST:
		return true
	}
	return false
}

func isBaseType(typ int) bool {
	switch typ {
	case grammar.P4LexerBOOL, grammar.P4LexerMATCH_KIND, grammar.P4LexerERROR, grammar.P4LexerSTRING, grammar.P4LexerBIT,
		grammar.P4LexerINT, grammar.P4LexerVARBIT, grammar.P4LexerVOID:
		return true
	}
	return false
}

// startsOperand tells whether a token can follow a cast.
func startsOperand(typ int) bool {
	switch typ {
	case tInteger, tString, tLParen, tLBrace, tDot, tCast, grammar.P4LexerTRUE, grammar.P4LexerFALSE, grammar.P4LexerTHIS,
		grammar.P4LexerERROR, grammar.P4LexerNOT, grammar.P4LexerCOMPLEMENT, grammar.P4LexerINVALID_HEADER,
		grammar.P4LexerDOTS:
		return true
	}
	return isNameTok(typ)
}

// skip returns the index behind the bracket that closes the one at i, or -1.
func (c *classifier) skip(i int) int {
	depth := 0
	for ; i < len(c.toks); i++ {
		switch c.toks[i].typ {
		case tLParen, tCast, tLBracket, tLBrace:
			depth++
		case tRParen, tRBracket, tRBrace:
			if depth--; depth == 0 {
				return i + 1
			}
		case tSemi, tEOF:
			if c.toks[i].typ == tEOF || depth == 0 {
				return -1
			}
		}
	}
	return -1
}

// maxType bounds the number of tokens of a type that the classifier recognizes, so that its time stays linear.
const maxType = 1000

// typeAt returns the index behind the type that starts at i, or -1 if none does.
func (c *classifier) typeAt(i int) int {
	c.limit = i + maxType
	return c.skipType(i, false)
}

// typeArgsAt returns the index behind the list of type arguments that starts at i, or -1 if none does.
func (c *classifier) typeArgsAt(i int) int {
	c.limit = i + maxType
	return c.skipTypeArgs(i)
}

// skipType returns the index behind the type that starts at i, or -1 if none does. Names count as types unless they are known
// to be none. inList says whether the type is an argument of a list, where void and _ may stand.
func (c *classifier) skipType(i int, inList bool) int {
	if i > c.limit {
		return -1
	}
	switch t := c.typ(i); {
	case t == grammar.P4LexerTUPLE || t == grammar.P4LexerLIST && c.typ(i+1) == tLT:
		i = c.skipTypeArgs(i + 1)
	case inList && (t == grammar.P4LexerVOID || t == grammar.P4LexerDONTCARE):
		return i + 1
	case isBaseType(t):
		if i++; c.typ(i) == tLT {
			i = c.skipWidth(i)
		}
	case t == tDot || isNameTok(t):
		if t == tDot {
			i++
		}
		if !isNameTok(c.typ(i)) {
			return -1
		}
		if isType, known := c.lookup(c.textOf(i)); known && !isType {
			return -1
		}
		if i++; c.typ(i) == tLT {
			i = c.skipTypeArgs(i)
		}
	default:
		return -1
	}
	for i >= 0 && c.typ(i) == tLBracket {
		i = c.skip(i)
	}
	return i
}

// skipWidth returns the index behind the '>' that closes the width opened at i, or -1.
func (c *classifier) skipWidth(i int) int {
	for i++; i >= 0; {
		switch c.typ(i) {
		case tGT:
			return i + 1
		case tLParen, tCast, tLBracket:
			i = c.skip(i)
		case tSemi, tLBrace, tRBrace, tRParen, tRBracket, tAssign, tEOF:
			return -1
		default:
			i++
		}
	}
	return -1
}

// skipTypeArgs returns the index behind the '>' that closes the type arguments opened at i, or -1.
func (c *classifier) skipTypeArgs(i int) int {
	if c.typ(i) != tLT {
		return -1
	}
	if i++; c.typ(i) == tGT {
		return i + 1
	}
	for {
		if i = c.skipType(i, true); i < 0 {
			return -1
		}
		switch c.typ(i) {
		case tComma:
			i++
		case tGT:
			return i + 1
		default:
			return -1
		}
	}
}

// markTypes turns the names in the type that spans tokens [i, end) into type names and notes the '>' in it. Names inside
// brackets are values.
func (c *classifier) markTypes(i, end int) {
	for ; i < end; i++ {
		switch c.typ(i) {
		case tIdent:
			c.toks[i].typ = tTypeIdent
		case tGT:
			c.closesTypes[i] = true
		case tLParen, tCast, tLBracket:
			if i = c.skip(i) - 1; i < 0 {
				return
			}
		case tLT:
			if isBaseType(c.typ(i - 1)) { // a width is a value
				if i = c.skipWidth(i) - 1; i < 0 {
					return
				}
				c.closesTypes[i] = true
			}
		}
	}
}
