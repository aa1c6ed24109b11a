package parser

import (
	"errors"
	"fmt"
	"sort"
	"strings"

	"github.com/antlr4-go/antlr/v4"

	"khop/p4/diag"
	"khop/p4/grammar"
)

// maxErrors bounds how many syntax errors are reported.
const maxErrors = 20

// errBail ends a parse at its first error.
var errBail = errors.New("bail")

// bail is the error strategy of the first try.
type bail struct{ *antlr.DefaultErrorStrategy }

// ReportError implements antlr.ErrorStrategy.
func (bail) ReportError(antlr.Parser, antlr.RecognitionException) { panic(errBail) }

// Recover implements antlr.ErrorStrategy.
func (bail) Recover(antlr.Parser, antlr.RecognitionException) { panic(errBail) }

// RecoverInline implements antlr.ErrorStrategy.
func (bail) RecoverInline(antlr.Parser) antlr.Token { panic(errBail) }

// Sync implements antlr.ErrorStrategy.
func (bail) Sync(antlr.Parser) {}

// recovery is ANTLR's own recovery: it leaves out or makes up one token, or else skips to where the rules in progress can go on.
type recovery struct{ *antlr.DefaultErrorStrategy }

// RecoverInline implements antlr.ErrorStrategy. The default makes up tokens of a type that our stream does not hold.
func (r recovery) RecoverInline(p antlr.Parser) antlr.Token {
	if t := r.SingleTokenDeletion(p); t != nil {
		p.Consume()
		return t
	}
	if r.SingleTokenInsertion(p) {
		at := p.GetCurrentToken().(*token)
		return &token{typ: tUnexpected, start: at.start, stop: at.start - 1, src: at.src, index: -1}
	}
	p.SetError(antlr.NewInputMisMatchException(p))
	return nil
}

// reporter turns the generated parser's errors into diagnostics.
type reporter struct {
	*antlr.DefaultErrorListener
	text  string
	pos   diag.Resolver
	diags diag.List
}

// SyntaxError implements antlr.ErrorListener.
func (r *reporter) SyntaxError(rec antlr.Recognizer, offending any, _, _ int, _ string, e antlr.RecognitionException) {
	if len(r.diags) >= maxErrors {
		return
	}
	p := rec.(antlr.Parser)
	t, ok := offending.(*token)
	if !ok {
		return
	}
	d := diag.Diagnostic{At: r.pos.Position(tokSpan(t).From), End: endOf(r.pos, tokSpan(t)), Code: CodeSyntax}
	rule := ""
	if c := p.GetParserRuleContext(); c != nil {
		rule = p.GetRuleNames()[c.GetRuleIndex()]
	}
	var want []string
	if _, ahead := e.(*antlr.NoViableAltException); !ahead { // after looking ahead, the parser does not know what it expects
		want = expected(p.GetExpectedTokens())
	}
	d.Message = "unexpected " + describe(t)
	switch {
	case len(want) > 0 && len(want) <= 6:
		d.Message += ", expected " + alternatives(want)
	case inRule[rule] != "":
		d.Message += " " + inRule[rule]
	}
	d.Hint = hint(p, t, want)
	if len(want) == 1 && want[0] == "';'" && !isOperator(t.typ) {
		// The place to mend is behind the previous token.
		if prev, ok := p.GetTokenStream().LT(-1).(*token); ok {
			at := tokSpan(prev)
			d.At = endOf(r.pos, at)
			d.End = d.At
			d.Message = fmt.Sprintf("expected ';' behind %s", describe(prev))
		}
	}
	r.diags = append(r.diags, d)
}

// inRule says what the parser was about.
var inRule = map[string]string{
	"program":                 "where a declaration starts",
	"declaration":             "where a declaration starts",
	"functionOrInstantiation": "in a declaration",
	"statement":               "where a statement starts",
	"blockBody":               "where a statement starts",
	"expressionStatement":     "in a statement",
	"typeStatement":           "in a declaration",
	"expression":              "in an expression",
	"binary":                  "in an expression",
	"unary":                   "where an operand starts",
	"postfix":                 "in an expression",
	"primary":                 "where an operand starts",
	"argument":                "in a list of arguments",
	"argumentList":            "in a list of arguments",
	"parameter":               "in a list of parameters",
	"parameterList":           "in a list of parameters",
	"typeRef":                 "where a type starts",
	"typeArg":                 "in a list of type arguments",
	"tableDeclaration":        "in a table",
	"tableProperty":           "in a table",
	"parserElement":           "in a parser, which holds declarations and states",
	"parserDeclaration":       "in a parser, which holds declarations and states",
	"controlElement":          "in a control, which holds declarations and an apply block",
	"controlDeclaration":      "in a control, which holds declarations and an apply block",
	"keyset":                  "in a keyset",
	"structField":             "in a list of fields",
	"structDeclaration":       "in a list of fields",
	"enumDeclaration":         "in an enum",
	"methodPrototype":         "in an extern",
	"externDeclaration":       "in an extern",
}

// describe names a token for a message.
func describe(t *token) string {
	text := t.GetText()
	switch t.typ {
	case tEOF:
		return "end of file"
	case tIdent:
		return "name " + text
	case tTypeIdent:
		return "type name " + text
	case tInteger:
		return "number " + text
	case tString:
		return "string " + text
	case tEndPragma:
		return "end of line"
	}
	if text != "" && (text[0] >= 'a' && text[0] <= 'z') {
		return "keyword " + text
	}
	return "'" + text + "'"
}

var operators = []int{grammar.P4LexerMUL, grammar.P4LexerDIV, grammar.P4LexerMOD, grammar.P4LexerCONCAT, grammar.P4LexerPLUS,
	grammar.P4LexerMINUS, grammar.P4LexerPLUS_SAT, grammar.P4LexerMINUS_SAT, grammar.P4LexerSHL, tGT, tLT, grammar.P4LexerLE,
	grammar.P4LexerGE, grammar.P4LexerEQ, grammar.P4LexerNE, grammar.P4LexerBIT_AND, grammar.P4LexerBIT_OR,
	grammar.P4LexerBIT_XOR, grammar.P4LexerAND, grammar.P4LexerOR}

// groups of tokens that a message names by one word, if all of them are expected.
var groups = []struct {
	word string
	all  []int
}{
	{"a type", []int{grammar.P4LexerBOOL, grammar.P4LexerBIT, grammar.P4LexerINT, grammar.P4LexerVARBIT, grammar.P4LexerTUPLE,
		tTypeIdent, grammar.P4LexerERROR, grammar.P4LexerMATCH_KIND, grammar.P4LexerSTRING}},
	{"an operand", []int{tInteger, grammar.P4LexerTRUE, grammar.P4LexerFALSE, tIdent, tString, tLBrace, tLParen, tCast, tTypeIdent,
		grammar.P4LexerNOT, grammar.P4LexerCOMPLEMENT, grammar.P4LexerPLUS, grammar.P4LexerMINUS, grammar.P4LexerERROR,
		grammar.P4LexerTHIS, grammar.P4LexerDOTS, grammar.P4LexerINVALID_HEADER, tDot}},
	{"an operator", operators},
	{"an assignment", []int{tAssign, grammar.P4LexerPLUS_ASSIGN, grammar.P4LexerMINUS_ASSIGN, grammar.P4LexerMUL_ASSIGN,
		grammar.P4LexerDIV_ASSIGN, grammar.P4LexerMOD_ASSIGN, grammar.P4LexerAND_ASSIGN, grammar.P4LexerOR_ASSIGN,
		grammar.P4LexerXOR_ASSIGN, grammar.P4LexerSHL_ASSIGN, grammar.P4LexerSHR_ASSIGN, grammar.P4LexerPLUS_SAT_ASSIGN,
		grammar.P4LexerMINUS_SAT_ASSIGN}},
	{"a name", []int{tIdent, grammar.P4LexerAPPLY, grammar.P4LexerKEY, grammar.P4LexerACTIONS, grammar.P4LexerSTATE,
		grammar.P4LexerENTRIES, grammar.P4LexerTYPE, grammar.P4LexerPRIORITY, grammar.P4LexerLIST, tTypeIdent}},
	{"a name", []int{tIdent, grammar.P4LexerAPPLY, grammar.P4LexerKEY, grammar.P4LexerACTIONS, grammar.P4LexerSTATE,
		grammar.P4LexerENTRIES, grammar.P4LexerTYPE, grammar.P4LexerPRIORITY}},
}

// expected lists what the parser would take, as a message names it, without tokens that would only make it longer.
func expected(set *antlr.IntervalSet) []string {
	if set == nil {
		return nil
	}
	have := map[int]bool{}
	for _, iv := range set.GetIntervals() {
		for t := iv.Start; t < iv.Stop; t++ {
			have[t] = true
		}
	}
	var out []string
	for _, g := range groups {
		all := true
		for _, t := range g.all {
			all = all && have[t]
		}
		if !all {
			continue
		}
		out = append(out, g.word)
		for _, t := range g.all {
			delete(have, t)
		}
		if g.word == "an operand" || g.word == "a type" {
			for _, t := range []int{grammar.P4LexerAPPLY, grammar.P4LexerKEY, grammar.P4LexerACTIONS, grammar.P4LexerSTATE,
				grammar.P4LexerENTRIES, grammar.P4LexerTYPE, grammar.P4LexerPRIORITY, grammar.P4LexerLIST, grammar.P4LexerTUPLE, tDot} {
				delete(have, t)
			}
		}
	}
	var rest []int
	for t := range have {
		rest = append(rest, t)
	}
	sort.Ints(rest)
	for _, t := range rest {
		switch t {
		case tTypeArgs, tCast, tEndPragma: // the reader knows them as < and ( and the end of a line
		case tAt:
			out = append(out, "an annotation")
		case tEOF:
			out = append(out, "end of file")
		case tIdent:
			out = append(out, "a name")
		case tTypeIdent:
			out = append(out, "a type name")
		case tInteger:
			out = append(out, "a number")
		case tString:
			out = append(out, "a string")
		default:
			if names := grammar.P4LexerLexerStaticData.LiteralNames; t > 0 && t < len(names) && names[t] != "" {
				n := names[t]
				if n[1] >= 'a' && n[1] <= 'z' {
					n = strings.Trim(n, "'")
				}
				out = append(out, n)
			}
		}
	}
	return out
}

func alternatives(w []string) string {
	if len(w) == 1 {
		return w[0]
	}
	return strings.Join(w[:len(w)-1], ", ") + " or " + w[len(w)-1]
}

// hint knows the common slips.
func hint(p antlr.Parser, t *token, want []string) string {
	prev, _ := p.GetTokenStream().LT(-1).(*token)
	switch {
	case t.typ == tEOF:
		return "a '}' is missing before the end of the file"
	case t.typ == tAssign && prev != nil && contains(want, "')'"):
		return "write == to compare"
	case t.typ == grammar.P4LexerEQ && contains(want, "';'"):
		return "write = to assign"
	case isKeyword(t.typ) && contains(want, "a name"):
		return t.GetText() + " is a keyword and cannot be a name"
	case t.typ == tTypeIdent && contains(want, "a name"):
		return t.GetText() + " is the name of a type here"
	}
	return ""
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// isOperator tells whether a token is a binary operator.
func isOperator(typ int) bool {
	for _, t := range operators {
		if t == typ {
			return true
		}
	}
	return false
}

func isKeyword(typ int) bool {
	return typ >= grammar.P4LexerABSTRACT && typ <= grammar.P4LexerVOID && !isNameTok(typ)
}
