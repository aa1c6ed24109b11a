package parser

import (
	"strings"

	"github.com/antlr4-go/antlr/v4"

	"khop/p4/ast"
	"khop/p4/diag"
	"khop/p4/grammar"
)

// precedences of the binary operators, from specification appendix "P4 grammar"; all associate to the left.
var precedences = map[string]int{
	"||": 1,
	"&&": 2,
	"==": 3, "!=": 3,
	"<": 4, ">": 4, "<=": 4, ">=": 4,
	"|":  5,
	"^":  6,
	"&":  7,
	"<<": 8, ">>": 8,
	"++": 9, "+": 9, "-": 9, "|+|": 9, "|-|": 9,
	"*": 10, "/": 10, "%": 10,
}

func (b *builder) expr(ci grammar.IExpressionContext) ast.Expr {
	c := ci.(*grammar.ExpressionContext)
	x := b.binary(c.Binary().(*grammar.BinaryContext))
	if c.QUESTION() == nil {
		return x
	}
	t := &ast.Ternary{Cond: x, Then: b.expr(c.Expression(0)), Else: b.expr(c.Expression(1))}
	t.Span = toSpan(x.Pos(), t.Else.End())
	return t
}

type operator struct {
	text string
	prec int
	pos  diag.Pos
}

func (b *builder) binary(c *grammar.BinaryContext) ast.Expr { return b.operators(c.GetChildren()) }

// operators applies the precedence of operators to the flat list of the grammar.
func (b *builder) operators(nodes []antlr.Tree) ast.Expr {
	if len(nodes) == 1 {
		return b.unary(nodes[0].(*grammar.UnaryContext))
	}
	var operands []ast.Expr
	var ops []operator
	reduce := func() {
		k := len(operands)
		op, x, y := ops[len(ops)-1], operands[k-2], operands[k-1]
		ops = ops[:len(ops)-1]
		operands = append(operands[:k-2], &ast.Binary{Span: toSpan(x.Pos(), y.End()), Op: op.text, OpPos: op.pos, X: x, Y: y})
	}
	for _, n := range nodes {
		switch x := n.(type) {
		case *grammar.UnaryContext:
			operands = append(operands, b.unary(x))
		case antlr.ParserRuleContext: // binaryOp or widthOp
			s := span(x)
			op := operator{text: b.text[s.From-1 : s.To-1], pos: s.From}
			if x.GetChildCount() == 2 && op.text != ">>" {
				b.errorf(s, CodeSyntax, "write >>", "the two characters of >> stand together")
				op.text = ">>"
			}
			op.prec = precedences[op.text]
			for len(ops) > 0 && ops[len(ops)-1].prec >= op.prec {
				reduce()
			}
			ops = append(ops, op)
		}
	}
	for len(ops) > 0 {
		reduce()
	}
	return operands[0]
}

func (b *builder) unary(c *grammar.UnaryContext) ast.Expr {
	switch x := c.GetChild(0).(type) {
	case *grammar.PostfixContext:
		return b.postfix(x)
	case antlr.TerminalNode:
		if c.CAST_OPEN() != nil {
			return &ast.Cast{Span: span(c), Type: b.typeRef(c.TypeRef()), X: b.unary(c.Unary().(*grammar.UnaryContext))}
		}
		return &ast.Unary{Span: span(c), Op: x.GetText(), X: b.unary(c.Unary().(*grammar.UnaryContext))}
	}
	return nil
}

func (b *builder) postfix(c *grammar.PostfixContext) ast.Expr {
	p := c.Primary().(*grammar.PrimaryContext)
	n := c.GetChildCount()
	var x ast.Expr
	if nt := p.NamedType(); nt != nil {
		x = b.typeOperand(nt, n > 1 && c.GetChild(1).(*grammar.PostfixOpContext).DOT() != nil,
			n > 1 && c.GetChild(1).(*grammar.PostfixOpContext).LPAREN() != nil)
	} else {
		x = b.primary(p)
		if p.ERROR() != nil && (n == 1 || c.GetChild(1).(*grammar.PostfixOpContext).DOT() == nil) {
			b.errorf(span(p), CodeTypeAsValue, "write error.Name", "the type error is no value")
		}
	}
	for i := 1; i < n; i++ {
		x = b.postfixOp(x, c.GetChild(i).(*grammar.PostfixOpContext))
	}
	return x
}

// typeOperand builds a type at the place of an operand. A bare name stays a Name, for the checker to complain about.
func (b *builder) typeOperand(c grammar.INamedTypeContext, member, call bool) ast.Expr {
	t := b.namedType(c)
	if !member && !call {
		if tn, ok := t.(*ast.TypeName); ok {
			return &ast.Name{Span: tn.Span, Global: tn.Global, Name: tn.Name.Name}
		}
		b.errorf(span(c), CodeTypeAsValue, "call its constructor: T<...>(...)", "a type is no value")
	}
	return &ast.TypeExpr{Span: span(c), Type: t}
}

func (b *builder) postfixOp(x ast.Expr, c *grammar.PostfixOpContext) ast.Expr {
	s := toSpan(x.Pos(), span(c).To)
	switch c.GetStart().GetTokenType() {
	case tDot:
		return &ast.Member{Span: s, X: x, Name: b.ident(c.Name())}
	case tLBracket:
		i := b.expr(c.Expression(0))
		if c.COLON() == nil && c.PLUS_COLON() == nil {
			return &ast.Index{Span: s, X: x, Index: i}
		}
		return &ast.Slice{Span: s, X: x, Hi: i, Lo: b.expr(c.Expression(1)), Plus: c.PLUS_COLON() != nil}
	case tTypeArgs:
		return &ast.CallExpr{Span: s, Fun: x, TypeArgs: b.typeArgs(c.TypeArgumentList()), Args: b.args(c.ArgumentList())}
	}
	return &ast.CallExpr{Span: s, Fun: x, Args: b.args(c.ArgumentList())}
}

func (b *builder) primary(c *grammar.PrimaryContext) ast.Expr {
	s := span(c)
	switch t := c.GetStart(); t.GetTokenType() {
	case tInteger:
		return b.integer(t)
	case tString:
		return &ast.StringLit{Span: s, Text: t.GetText(), Value: unquote(t.GetText())}
	case grammar.P4LexerTRUE:
		return &ast.BoolLit{Span: s, Value: true}
	case grammar.P4LexerFALSE:
		return &ast.BoolLit{Span: s}
	case grammar.P4LexerTHIS:
		return &ast.This{Span: s}
	case grammar.P4LexerDOTS:
		return &ast.DotsExpr{Span: s}
	case grammar.P4LexerINVALID_HEADER:
		return &ast.InvalidHeader{Span: s}
	case grammar.P4LexerERROR:
		return &ast.TypeExpr{Span: s, Type: &ast.BaseType{Span: s, Kind: ast.TError}}
	case tLBrace:
		exprs, kvs, dots := b.elements(c.AllElement(), true)
		if len(kvs) > 0 {
			return &ast.StructExpr{Span: s, Fields: kvs, Dots: dots}
		}
		return &ast.ListExpr{Span: s, Elems: exprs, Dots: dots}
	case tLParen:
		ks := c.AllKeyset()
		k := b.keyset(ks[0])
		if len(ks) > 1 {
			b.errorf(s, CodeMisplaced, "a list of values is written { ... }", "a tuple keyset stands only in a select case or a table entry")
		} else {
			switch k.(type) {
			case *ast.MaskExpr, *ast.RangeExpr, *ast.DefaultExpr, *ast.DontCare:
				b.errorf(span(ks[0]), CodeMisplaced, "use it in a select case or a table entry", "a keyset is no value")
			}
		}
		return &ast.Paren{Span: s, X: k}
	}
	n := b.ident(c.NonTypeName())
	return &ast.Name{Span: s, Global: c.DOT() != nil, Name: n.Name}
}

// keysets builds a keyset, one expression for each of its parts if it is a tuple.
func (b *builder) keysets(ci grammar.IKeysetContext) []ast.Expr {
	if t := tupleOf(ci.(*grammar.KeysetContext)); t != nil {
		ks := t.AllKeyset()
		if len(ks) > 1 || !plain(ks[0]) {
			out := make([]ast.Expr, len(ks))
			for i, k := range ks {
				out[i] = b.keyset(k)
			}
			return out
		}
	}
	return []ast.Expr{b.keyset(ci)}
}

// plain tells whether a keyset is an expression only.
func plain(ci grammar.IKeysetContext) bool {
	c := ci.(*grammar.KeysetContext)
	return c.DEFAULT() == nil && c.DONTCARE() == nil && c.MASK() == nil && c.RANGE() == nil
}

// tupleOf returns the parentheses that a keyset consists of, or nil if it is something else.
func tupleOf(c *grammar.KeysetContext) *grammar.PrimaryContext {
	if !plain(c) {
		return nil
	}
	e := c.Expression(0).(*grammar.ExpressionContext)
	if e.GetChildCount() != 1 {
		return nil
	}
	bin := e.Binary().(*grammar.BinaryContext)
	if bin.GetChildCount() != 1 {
		return nil
	}
	p, ok := bin.GetChild(0).GetChild(0).(*grammar.PostfixContext)
	if !ok || p.GetChildCount() != 1 {
		return nil
	}
	if prim := p.Primary().(*grammar.PrimaryContext); prim.LPAREN() != nil {
		return prim
	}
	return nil
}

func (b *builder) keyset(ci grammar.IKeysetContext) ast.Expr {
	c := ci.(*grammar.KeysetContext)
	s := span(c)
	switch {
	case c.DEFAULT() != nil:
		return &ast.DefaultExpr{Span: s}
	case c.DONTCARE() != nil:
		return &ast.DontCare{Span: s}
	case c.MASK() != nil:
		return &ast.MaskExpr{Span: s, X: b.expr(c.Expression(0)), Mask: b.expr(c.Expression(1))}
	case c.RANGE() != nil:
		return &ast.RangeExpr{Span: s, Lo: b.expr(c.Expression(0)), Hi: b.expr(c.Expression(1))}
	}
	return b.expr(c.Expression(0))
}

// unquote resolves the escapes of a string literal: \" \\ and \n. Any other backslash stays.
func unquote(s string) string {
	s = s[1 : len(s)-1]
	if !strings.Contains(s, `\`) {
		return s
	}
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			switch s[i+1] {
			case '"', '\\':
				i++
			case 'n':
				i++
				out.WriteByte('\n')
				continue
			}
		}
		out.WriteByte(s[i])
	}
	return out.String()
}
