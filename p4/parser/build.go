package parser

import (
	"fmt"

	"github.com/antlr4-go/antlr/v4"

	"khop/p4/ast"
	"khop/p4/diag"
	"khop/p4/grammar"
)

// builder turns a parse tree without errors into an ast.Program, and reports what the grammar lets through but the language
// does not.
type builder struct {
	text  string
	pos   diag.Resolver
	diags diag.List
	// inState is set while the statements of a parser state are built.
	inState bool
}

func (b *builder) errorf(at ast.Span, code diag.Code, hint, format string, args ...any) {
	b.diags = append(b.diags, diag.Diagnostic{
		At: b.pos.Position(at.From), End: endOf(b.pos, at), Code: code, Message: fmt.Sprintf(format, args...), Hint: hint,
	})
}

// endOf resolves the end of a span from its last character: what follows may come from another file.
func endOf(pos diag.Resolver, s ast.Span) diag.Position {
	if s.To <= s.From {
		return pos.Position(s.From)
	}
	p := pos.Position(s.To - 1)
	p.Column++
	return p
}

func span(c antlr.ParserRuleContext) ast.Span {
	return ast.Span{From: diag.Pos(c.GetStart().GetStart() + 1), To: diag.Pos(c.GetStop().GetStop() + 2)}
}

func tokSpan(t antlr.Token) ast.Span {
	return ast.Span{From: diag.Pos(t.GetStart() + 1), To: diag.Pos(t.GetStop() + 2)}
}

func toSpan(from, to diag.Pos) ast.Span { return ast.Span{From: from, To: to} }

// behind returns the span from the first annotation, if there is one, to the end of c.
func behind(annos []*ast.Annotation, s ast.Span) ast.Span {
	if len(annos) > 0 {
		s.From = annos[0].From
	}
	return s
}

func (b *builder) ident(c antlr.ParserRuleContext) *ast.Ident {
	s := span(c)
	return &ast.Ident{Span: s, Name: b.text[s.From-1 : s.To-1]}
}

func (b *builder) program(c grammar.IProgramContext) *ast.Program {
	p := &ast.Program{Span: ast.Span{From: 1, To: diag.Pos(len(b.text) + 1)}}
	for _, ch := range c.GetChildren() {
		if d, ok := ch.(*grammar.DeclarationContext); ok {
			if d := b.declaration(d); d != nil {
				p.Decls = append(p.Decls, d)
			}
		}
	}
	return p
}

func (b *builder) declaration(c *grammar.DeclarationContext) ast.Decl {
	annos := b.annotations(c.AllAnnotation())
	last := c.GetChild(c.GetChildCount() - 1)
	switch x := last.(type) {
	case *grammar.ConstantDeclarationContext:
		return b.constant(x, annos)
	case *grammar.ExternDeclarationContext:
		return b.extern(x, annos)
	case *grammar.ActionDeclarationContext:
		return b.action(x, annos)
	case *grammar.ParserDeclarationContext:
		return b.parser(x, annos)
	case *grammar.ControlDeclarationContext:
		return b.control(x, annos)
	case *grammar.PackageDeclarationContext:
		return &ast.PackageDecl{Span: behind(annos, span(x)), Annos: annos, Name: b.ident(x.Name()),
			TypeParams: b.typeParams(x.TypeParameters()), Params: b.params(x.ParameterList())}
	case *grammar.StructDeclarationContext:
		return b.structure(x, annos)
	case *grammar.EnumDeclarationContext:
		return b.enum(x, annos)
	case *grammar.TypedefDeclarationContext:
		return b.typedef(x, annos)
	case *grammar.ErrorDeclarationContext:
		b.noAnnos(annos, "an error declaration")
		return &ast.ErrorDecl{Span: span(x), Names: b.idents(x.IdentifierList())}
	case *grammar.MatchKindDeclarationContext:
		b.noAnnos(annos, "a match_kind declaration")
		return &ast.MatchKindDecl{Span: span(x), Names: b.idents(x.IdentifierList())}
	case *grammar.FunctionOrInstantiationContext:
		return b.functionOrInstantiation(x, annos)
	}
	return nil
}

func (b *builder) noAnnos(annos []*ast.Annotation, what string) {
	if len(annos) > 0 {
		b.errorf(annos[0].Span, CodeMisplaced, "remove the annotation", "%s takes no annotations", what)
	}
}

func (b *builder) idents(c grammar.IIdentifierListContext) []*ast.Ident {
	var out []*ast.Ident
	for _, n := range c.AllName() {
		out = append(out, b.ident(n))
	}
	return out
}

func (b *builder) typeParams(c grammar.ITypeParametersContext) []*ast.Ident {
	if c == nil {
		return nil
	}
	var out []*ast.Ident
	for _, n := range c.AllName() {
		out = append(out, b.ident(n))
	}
	return out
}

func (b *builder) annotations(cs []grammar.IAnnotationContext) []*ast.Annotation {
	if len(cs) == 0 {
		return nil
	}
	out := make([]*ast.Annotation, len(cs))
	for i, c := range cs {
		out[i] = b.annotation(c.(*grammar.AnnotationContext))
	}
	return out
}

func (b *builder) annotation(c *grammar.AnnotationContext) *ast.Annotation {
	a := &ast.Annotation{Span: span(c), Name: b.ident(c.AnnotationName())}
	switch {
	case c.PRAGMA() != nil:
		a.Pragma = true
		for _, t := range c.AllPragmaToken() {
			a.Tokens = append(a.Tokens, b.token(t.GetStart()))
		}
		if n := len(a.Tokens); n > 0 {
			a.HasBody = true
			a.Body = b.text[a.Tokens[0].From-1 : a.Tokens[n-1].To-1]
		}
	case c.LPAREN() != nil:
		a.HasBody = true
		a.Body = b.text[c.LPAREN().GetSymbol().GetStop()+1 : c.RPAREN().GetSymbol().GetStart()]
		a.Tokens = b.annotationTokens(nil, c.AnnotationBody())
	case c.LBRACKET() != nil:
		a.Structured = true
		a.Exprs, a.KVs, _ = b.elements(c.StructuredAnnotationBody().(*grammar.StructuredAnnotationBodyContext).AllElement(), false)
	}
	return a
}

func (b *builder) token(t antlr.Token) ast.Token {
	return ast.Token{Span: tokSpan(t), Text: t.GetText()}
}

func (b *builder) annotationTokens(out []ast.Token, c antlr.Tree) []ast.Token {
	for _, ch := range c.GetChildren() {
		if t, ok := ch.(antlr.TerminalNode); ok {
			out = append(out, b.token(t.GetSymbol()))
		} else {
			out = b.annotationTokens(out, ch)
		}
	}
	return out
}

// elements builds the contents of braces or of a structured annotation: expressions or key-value pairs, and whether they end
// with "...", which dots allows.
func (b *builder) elements(cs []grammar.IElementContext, dots bool) (exprs []ast.Expr, kvs []*ast.KeyValue, hasDots bool) {
	for i, ci := range cs {
		c := ci.(*grammar.ElementContext)
		if n := c.Name(); n != nil {
			kvs = append(kvs, &ast.KeyValue{Span: span(c), Name: b.ident(n), Value: b.expr(c.Expression())})
			continue
		}
		e := b.expr(c.Expression())
		if _, ok := e.(*ast.DotsExpr); ok && dots {
			if i != len(cs)-1 {
				b.errorf(span(c), CodeMisplaced, "move it to the end", "\"...\" must be the last element")
			}
			hasDots = true
			continue
		}
		exprs = append(exprs, e)
	}
	if len(exprs) > 0 && len(kvs) > 0 {
		b.errorf(kvs[0].Span, CodeMixedList, "name every element, or none", "elements with and without a name in one list")
	}
	return exprs, kvs, hasDots
}

func (b *builder) params(ci grammar.IParameterListContext) []*ast.Param {
	var out []*ast.Param
	for _, pi := range ci.AllParameter() {
		c := pi.(*grammar.ParameterContext)
		p := &ast.Param{Annos: b.annotations(c.AllAnnotation()), Span: span(c)}
		p.Type, p.Name = b.declarator(c.TypeRef(), c.Declarator())
		switch {
		case c.IN() != nil:
			p.Dir = ast.In
		case c.OUT() != nil:
			p.Dir = ast.Out
		case c.INOUT() != nil:
			p.Dir = ast.InOut
		}
		if e := c.Expression(); e != nil {
			p.Default = b.expr(e)
		}
		out = append(out, p)
	}
	return out
}

// declarator builds a type and the name it is given to. Dimensions behind the name belong to the type: T x[2][3] is
// T[2][3] x.
func (b *builder) declarator(t grammar.ITypeRefContext, di grammar.IDeclaratorContext) (ast.Type, *ast.Ident) {
	d := di.(*grammar.DeclaratorContext)
	typ, dims := b.typeRef(t), d.AllExpression()
	for _, dim := range dims {
		typ = &ast.ArrayType{Span: toSpan(typ.Pos(), typ.End()), Elem: typ, Size: b.expr(dim)}
	}
	return typ, b.ident(d.Name())
}

func (b *builder) args(ci grammar.IArgumentListContext) []*ast.Arg {
	cs := ci.AllArgument()
	if len(cs) == 0 {
		return nil
	}
	out := make([]*ast.Arg, len(cs))
	for i, ai := range cs {
		c := ai.(*grammar.ArgumentContext)
		a := &ast.Arg{Span: span(c)}
		if n := c.Name(); n != nil {
			a.Name = b.ident(n)
		}
		if d := c.DONTCARE(); d != nil {
			a.Value = &ast.DontCare{Span: tokSpan(d.GetSymbol())}
		} else {
			a.Value = b.expr(c.Expression())
		}
		out[i] = a
	}
	return out
}
