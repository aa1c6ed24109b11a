package parser

import (
	"github.com/antlr4-go/antlr/v4"

	"khop/p4/ast"
	"khop/p4/grammar"
)

func (b *builder) typeRef(ci grammar.ITypeRefContext) ast.Type {
	c := ci.(*grammar.TypeRefContext)
	var t ast.Type
	switch x := c.GetChild(0).(type) {
	case *grammar.BaseTypeContext:
		t = b.baseType(x)
	case *grammar.NamedTypeContext:
		t = b.namedType(x)
	case *grammar.TupleTypeContext:
		t = &ast.TupleType{Span: span(x), Args: b.typeArgs(x.TypeArgumentList())}
	case *grammar.P4listTypeContext:
		t = &ast.ListType{Span: span(x), Elem: b.typeArg(x.TypeArg())}
	}
	closing := c.AllRBRACKET()
	for i, e := range c.AllExpression() {
		t = &ast.ArrayType{Span: ast.Span{From: t.Pos(), To: tokSpan(closing[i].GetSymbol()).To}, Elem: t, Size: b.expr(e)}
	}
	return t
}

func (b *builder) namedType(ci grammar.INamedTypeContext) ast.Type {
	c := ci.(*grammar.NamedTypeContext)
	tn := c.TypeName().(*grammar.TypeNameContext)
	tok := tn.TYPE_IDENTIFIER().GetSymbol()
	base := &ast.TypeName{Span: span(tn), Global: tn.DOT() != nil, Name: &ast.Ident{Span: tokSpan(tok), Name: tok.GetText()}}
	if c.LT() == nil {
		return base
	}
	return &ast.SpecializedType{Span: span(c), Base: base, Args: b.typeArgs(c.TypeArgumentList())}
}

func (b *builder) typeArgs(c grammar.ITypeArgumentListContext) []ast.Type {
	var out []ast.Type
	for _, a := range c.AllTypeArg() {
		out = append(out, b.typeArg(a))
	}
	return out
}

func (b *builder) typeArg(ci grammar.ITypeArgContext) ast.Type {
	c := ci.(*grammar.TypeArgContext)
	switch {
	case c.TypeRef() != nil:
		return b.typeRef(c.TypeRef())
	case c.VOID() != nil:
		return &ast.BaseType{Span: span(c), Kind: ast.TVoid}
	case c.DONTCARE() != nil:
		return &ast.DontCareType{Span: span(c)}
	}
	return &ast.TypeName{Span: span(c), Name: b.ident(c.NonTypeName())}
}

var baseKinds = map[int]ast.BaseKind{
	grammar.P4LexerBOOL: ast.TBool, grammar.P4LexerMATCH_KIND: ast.TMatchKind, grammar.P4LexerERROR: ast.TError,
	grammar.P4LexerSTRING: ast.TString, grammar.P4LexerBIT: ast.TBit, grammar.P4LexerINT: ast.TInt, grammar.P4LexerVARBIT: ast.TVarbit,
}

func (b *builder) baseType(c *grammar.BaseTypeContext) *ast.BaseType {
	t := &ast.BaseType{Span: span(c), Kind: baseKinds[c.GetStart().GetTokenType()]}
	wi := c.Width()
	if wi == nil {
		return t
	}
	t.Width = b.width(wi.(*grammar.WidthContext))
	return t
}

func (b *builder) width(c *grammar.WidthContext) ast.Expr {
	n := c.GetChildCount()
	if c.QUESTION() != nil {
		n -= 4
	}
	x := b.operators(c.GetChildren()[:n])
	if c.QUESTION() == nil {
		return x
	}
	t := &ast.Ternary{Cond: x, Then: b.width(c.Width(0).(*grammar.WidthContext)), Else: b.width(c.Width(1).(*grammar.WidthContext))}
	t.Span = toSpan(x.Pos(), t.Else.End())
	return t
}

func (b *builder) structure(c *grammar.StructDeclarationContext, annos []*ast.Annotation) ast.Decl {
	s, name, tps := behind(annos, span(c)), b.ident(c.Name()), b.typeParams(c.TypeParameters())
	var fields []*ast.Field
	for _, fi := range c.AllStructField() {
		f := fi.(*grammar.StructFieldContext)
		fd := &ast.Field{Span: span(f), Annos: b.annotations(f.AllAnnotation())}
		fd.Type, fd.Name = b.declarator(f.TypeRef(), f.Declarator())
		fields = append(fields, fd)
	}
	switch {
	case c.HEADER() != nil:
		return &ast.HeaderDecl{Span: s, Annos: annos, Name: name, TypeParams: tps, Fields: fields}
	case c.HEADER_UNION() != nil:
		return &ast.UnionDecl{Span: s, Annos: annos, Name: name, TypeParams: tps, Fields: fields}
	}
	return &ast.StructDecl{Span: s, Annos: annos, Name: name, TypeParams: tps, Fields: fields}
}

func (b *builder) enum(c *grammar.EnumDeclarationContext, annos []*ast.Annotation) *ast.EnumDecl {
	d := &ast.EnumDecl{Span: behind(annos, span(c)), Annos: annos, Name: b.ident(c.Name())}
	if t := c.TypeRef(); t != nil {
		d.Type = b.typeRef(t)
	}
	for _, mi := range c.AllEnumMember() {
		m := mi.(*grammar.EnumMemberContext)
		em := &ast.EnumMember{Span: span(m), Name: b.ident(m.Name())}
		e := m.Expression()
		switch {
		case e != nil:
			em.Value = b.expr(e)
			if d.Type == nil {
				b.errorf(em.Span, CodeEnumValue, "give the enum an underlying type, as in enum bit<8> "+d.Name.Name,
					"member %s has a value, but enum %s has no underlying type", em.Name.Name, d.Name.Name)
			}
		case d.Type != nil:
			b.errorf(em.Span, CodeEnumValue, "write "+em.Name.Name+" = value", "member %s of a serializable enum needs a value", em.Name.Name)
		}
		d.Members = append(d.Members, em)
	}
	return d
}

func (b *builder) typedef(c *grammar.TypedefDeclarationContext, annos []*ast.Annotation) *ast.TypedefDecl {
	d := &ast.TypedefDecl{Span: behind(annos, span(c)), Annos: annos, IsNew: c.TYPE() != nil}
	if dc := c.Declarator(); dc != nil {
		d.Type, d.Name = b.declarator(c.TypeRef(), dc)
		return d
	}
	d.Name = b.ident(c.Name())
	if t := c.TypeRef(); t != nil {
		d.Type = b.typeRef(t)
		return d
	}
	da := b.annotations(c.AllAnnotation())
	for _, ch := range c.GetChildren() {
		switch x := ch.(type) {
		case *grammar.StructDeclarationContext:
			d.Derived = b.structure(x, da)
		case *grammar.EnumDeclarationContext:
			d.Derived = b.enum(x, da)
		case antlr.TerminalNode:
		}
	}
	return d
}
