package parser

import (
	"khop/p4/ast"
	"khop/p4/grammar"
)

func (b *builder) constant(c *grammar.ConstantDeclarationContext, annos []*ast.Annotation) *ast.ConstDecl {
	d := &ast.ConstDecl{Span: behind(annos, span(c)), Annos: annos, Value: b.expr(c.Expression())}
	d.Type, d.Name = b.declarator(c.TypeRef(), c.Declarator())
	return d
}

func (b *builder) action(c *grammar.ActionDeclarationContext, annos []*ast.Annotation) *ast.ActionDecl {
	return &ast.ActionDecl{Span: behind(annos, span(c)), Annos: annos, Name: b.ident(c.Name()),
		Params: b.params(c.ParameterList()), Body: b.blockStatement(c.BlockStatement())}
}

func (b *builder) extern(c *grammar.ExternDeclarationContext, annos []*ast.Annotation) ast.Decl {
	s := behind(annos, span(c))
	if p := c.FunctionPrototype(); p != nil {
		proto := b.prototype(p.(*grammar.FunctionPrototypeContext))
		proto.Annos = annos
		return &ast.ExternFunc{Span: s, Proto: proto}
	}
	d := &ast.ExternDecl{Span: s, Annos: annos, Name: b.ident(c.Name()), TypeParams: b.typeParams(c.TypeParameters())}
	for _, mi := range c.AllMethodPrototype() {
		m := mi.(*grammar.MethodPrototypeContext)
		ma := b.annotations(m.AllAnnotation())
		var p *ast.FuncProto
		if f := m.FunctionPrototype(); f != nil {
			p = b.prototype(f.(*grammar.FunctionPrototypeContext))
			p.Abstract = m.ABSTRACT() != nil
		} else {
			t := m.TYPE_IDENTIFIER().GetSymbol()
			p = &ast.FuncProto{Name: &ast.Ident{Span: tokSpan(t), Name: t.GetText()}, Params: b.params(m.ParameterList())}
			if p.Name.Name != d.Name.Name {
				b.errorf(p.Name.Span, CodeMisplaced, "write the result type in front of the name, or name the constructor "+d.Name.Name,
					"constructor %s in extern %s", p.Name.Name, d.Name.Name)
			}
		}
		p.Annos = ma
		p.Span = span(m)
		d.Methods = append(d.Methods, p)
	}
	return d
}

func (b *builder) prototype(c *grammar.FunctionPrototypeContext) *ast.FuncProto {
	t := c.TypeOrVoid().(*grammar.TypeOrVoidContext)
	p := &ast.FuncProto{Span: span(c), Name: b.ident(c.Name()), TypeParams: b.typeParams(c.TypeParameters()),
		Params: b.params(c.ParameterList())}
	switch {
	case t.TypeRef() != nil:
		p.Result = b.typeRef(t.TypeRef())
	case t.VOID() != nil:
		p.Result = &ast.BaseType{Span: span(t), Kind: ast.TVoid}
	default:
		p.Result = &ast.TypeName{Span: span(t), Name: b.ident(t.NonTypeName())}
	}
	return p
}

func (b *builder) functionOrInstantiation(c *grammar.FunctionOrInstantiationContext, annos []*ast.Annotation) ast.Decl {
	s := behind(annos, span(c))
	if body := c.BlockStatement(); body != nil {
		p := &ast.FuncProto{Annos: annos, Name: b.ident(c.Name()), TypeParams: b.typeParams(c.TypeParameters()),
			Params: b.params(c.ParameterList())}
		switch {
		case c.TypeRef() != nil:
			p.Result = b.typeRef(c.TypeRef())
		case c.VOID() != nil:
			p.Result = &ast.BaseType{Span: tokSpan(c.VOID().GetSymbol()), Kind: ast.TVoid}
		default:
			n := b.ident(c.NonTypeName())
			p.Result = &ast.TypeName{Span: n.Span, Name: n}
		}
		p.Span = ast.Span{From: s.From, To: tokSpan(c.RPAREN().GetSymbol()).To}
		return &ast.FuncDecl{Span: s, Proto: p, Body: b.blockStatement(body)}
	}
	return b.instantiation(s, annos, c.TypeRef(), c.ArgumentList(), c.Declarator(), c.ObjInitializer())
}

func (b *builder) instantiation(s ast.Span, annos []*ast.Annotation, t grammar.ITypeRefContext, args grammar.IArgumentListContext,
	di grammar.IDeclaratorContext, init grammar.IObjInitializerContext) *ast.Instantiation {
	decl := di.(*grammar.DeclaratorContext)
	d := &ast.Instantiation{Span: s, Annos: annos, Type: b.typeRef(t), Args: b.args(args), Name: b.ident(decl.Name())}
	if decl.LBRACKET(0) != nil {
		b.errorf(span(decl), CodeMisplaced, "declare the instances one by one", "arrays of instances are no part of P4_16")
	}
	switch d.Type.(type) {
	case *ast.TypeName, *ast.SpecializedType:
	default:
		b.errorf(span(t), CodeNotInstantiable, "only parsers, controls, packages and extern objects are instantiated",
			"this type has no constructor")
	}
	if init != nil {
		d.HasInit = true
		for _, oi := range init.AllObjDeclaration() {
			o := oi.(*grammar.ObjDeclarationContext)
			d.Init = append(d.Init, b.functionOrInstantiation(o.FunctionOrInstantiation().(*grammar.FunctionOrInstantiationContext),
				b.annotations(o.AllAnnotation())))
		}
	}
	return d
}

// variableOrInstantiation builds the declaration c; s spans it with its annotations and semicolon.
func (b *builder) variableOrInstantiation(ci grammar.IVariableOrInstantiationContext, s ast.Span, annos []*ast.Annotation) ast.Decl {
	c := ci.(*grammar.VariableOrInstantiationContext)
	if c.LPAREN() != nil {
		return b.instantiation(s, annos, c.TypeRef(), c.ArgumentList(), c.Declarator(), c.ObjInitializer())
	}
	return b.variable(s, annos, c.TypeRef(), c.Declarator(), c.Expression())
}

func (b *builder) variable(s ast.Span, annos []*ast.Annotation, t grammar.ITypeRefContext, d grammar.IDeclaratorContext,
	init grammar.IExpressionContext) *ast.VarDecl {
	v := &ast.VarDecl{Span: s, Annos: annos}
	v.Type, v.Name = b.declarator(t, d)
	if init != nil {
		v.Init = b.expr(init)
	}
	return v
}

func (b *builder) parser(c *grammar.ParserDeclarationContext, annos []*ast.Annotation) *ast.ParserDecl {
	lists := c.AllParameterList()
	d := &ast.ParserDecl{Span: behind(annos, span(c)), Annos: annos, Name: b.ident(c.Name()),
		TypeParams: b.typeParams(c.TypeParameters()), Params: b.params(lists[0]), IsType: c.SEMI() != nil}
	if d.IsType {
		return d
	}
	if d.HasCtor = len(lists) > 1; d.HasCtor {
		d.CtorParams = b.params(lists[1])
	}
	for _, ei := range c.AllParserElement() {
		e := ei.(*grammar.ParserElementContext)
		ea := b.annotations(e.AllAnnotation())
		if st := e.ParserState(); st != nil {
			d.States = append(d.States, b.state(st.(*grammar.ParserStateContext), ea))
			continue
		}
		var l ast.Decl
		switch {
		case e.ConstantDeclaration() != nil:
			l = b.constant(e.ConstantDeclaration().(*grammar.ConstantDeclarationContext), ea)
		case e.ValueSetDeclaration() != nil:
			v := e.ValueSetDeclaration().(*grammar.ValueSetDeclarationContext)
			l = &ast.ValueSetDecl{Span: behind(ea, span(v)), Annos: ea, Type: b.typeRef(v.TypeRef()), Size: b.expr(v.Expression()),
				Name: b.ident(v.Name())}
		default:
			l = b.variableOrInstantiation(e.VariableOrInstantiation(), span(e), ea)
		}
		if len(d.States) > 0 {
			b.errorf(span(e), CodeMisplaced, "move it in front of the first state", "declaration behind a parser state")
		}
		d.Locals = append(d.Locals, l)
	}
	if len(d.States) == 0 {
		b.errorf(d.Name.Span, CodeNoStates, "add a state start", "parser %s has no states", d.Name.Name)
	}
	return d
}

func (b *builder) state(c *grammar.ParserStateContext, annos []*ast.Annotation) *ast.ParserState {
	s := &ast.ParserState{Span: behind(annos, span(c)), Annos: annos, Name: b.ident(c.Name())}
	b.inState = true
	s.Stmts = b.statements(c.AllStatement())
	b.inState = false
	t := c.TransitionStatement()
	if t == nil {
		return s
	}
	tr := t.(*grammar.TransitionStatementContext)
	if n := tr.Name(); n != nil {
		s.Transition = b.ident(n)
		return s
	}
	sel := tr.SelectExpression().(*grammar.SelectExpressionContext)
	s.Select = &ast.SelectExpr{Span: span(sel)}
	for _, e := range sel.ExpressionList().AllExpression() {
		s.Select.Exprs = append(s.Select.Exprs, b.expr(e))
	}
	for _, ci := range sel.AllSelectCase() {
		k := ci.(*grammar.SelectCaseContext)
		s.Select.Cases = append(s.Select.Cases, &ast.SelectCase{Span: span(k), Keys: b.keysets(k.Keyset()), Next: b.ident(k.Name())})
	}
	return s
}

func (b *builder) control(c *grammar.ControlDeclarationContext, annos []*ast.Annotation) *ast.ControlDecl {
	lists := c.AllParameterList()
	d := &ast.ControlDecl{Span: behind(annos, span(c)), Annos: annos, Name: b.ident(c.Name()),
		TypeParams: b.typeParams(c.TypeParameters()), Params: b.params(lists[0]), IsType: c.SEMI() != nil}
	if d.IsType {
		return d
	}
	if d.HasCtor = len(lists) > 1; d.HasCtor {
		d.CtorParams = b.params(lists[1])
	}
	for _, ei := range c.AllControlElement() {
		e := ei.(*grammar.ControlElementContext)
		ea := b.annotations(e.AllAnnotation())
		switch {
		case e.ConstantDeclaration() != nil:
			d.Locals = append(d.Locals, b.constant(e.ConstantDeclaration().(*grammar.ConstantDeclarationContext), ea))
		case e.ActionDeclaration() != nil:
			d.Locals = append(d.Locals, b.action(e.ActionDeclaration().(*grammar.ActionDeclarationContext), ea))
		case e.TableDeclaration() != nil:
			d.Locals = append(d.Locals, b.table(e.TableDeclaration().(*grammar.TableDeclarationContext), ea))
		default:
			d.Locals = append(d.Locals, b.variableOrInstantiation(e.VariableOrInstantiation(), span(e), ea))
		}
	}
	d.Apply = b.blockStatement(c.BlockStatement())
	return d
}

func (b *builder) table(c *grammar.TableDeclarationContext, annos []*ast.Annotation) *ast.TableDecl {
	d := &ast.TableDecl{Span: behind(annos, span(c)), Annos: annos, Name: b.ident(c.Name())}
	for _, pi := range c.AllTableProperty() {
		d.Props = append(d.Props, b.property(pi.(*grammar.TablePropertyContext)))
	}
	return d
}

func (b *builder) property(c *grammar.TablePropertyContext) ast.TableProp {
	s := span(c)
	annos := b.annotations(c.AllAnnotation())
	switch {
	case c.KEY() != nil:
		p := &ast.KeyProp{Span: s}
		for _, ki := range c.AllKeyElement() {
			k := ki.(*grammar.KeyElementContext)
			p.Elems = append(p.Elems, &ast.KeyElem{Span: span(k), Expr: b.expr(k.Expression()), MatchKind: b.ident(k.Name()),
				Annos: b.annotations(k.AllAnnotation())})
		}
		return p
	case c.ACTIONS() != nil:
		p := &ast.ActionsProp{Span: s}
		for _, ai := range c.AllActionListElement() {
			a := ai.(*grammar.ActionListElementContext)
			ref := b.actionRef(a.ActionRef().(*grammar.ActionRefContext))
			ref.Annos = b.annotations(a.AllAnnotation())
			ref.Span = behind(ref.Annos, ref.Span)
			p.Actions = append(p.Actions, ref)
		}
		return p
	case c.ENTRIES() != nil:
		p := &ast.EntriesProp{Span: s, Annos: annos, Const: c.CONST() != nil}
		for _, ei := range c.AllEntry() {
			p.Entries = append(p.Entries, b.entry(ei.(*grammar.EntryContext)))
		}
		return p
	}
	return &ast.Property{Span: s, Annos: annos, Const: c.CONST() != nil, Name: b.ident(c.NonTableKwName()), Value: b.expr(c.Expression())}
}

func (b *builder) entry(c *grammar.EntryContext) *ast.TableEntry {
	e := &ast.TableEntry{Span: span(c), Const: c.CONST() != nil, Keys: b.keysets(c.Keyset()),
		Action: b.actionRef(c.ActionRef().(*grammar.ActionRefContext)), Annos: b.annotations(c.AllAnnotation())}
	if n := c.INTEGER(); n != nil {
		e.Priority = b.integer(n.GetSymbol())
	} else if x := c.Expression(); x != nil {
		inner := b.expr(x)
		e.Priority = &ast.Paren{Span: ast.Span{From: tokSpan(c.LPAREN().GetSymbol()).From, To: tokSpan(c.RPAREN().GetSymbol()).To}, X: inner}
	}
	return e
}

func (b *builder) actionRef(c *grammar.ActionRefContext) *ast.ActionRef {
	r := &ast.ActionRef{Span: span(c), Global: c.DOT() != nil, Name: b.ident(c.Name())}
	if r.HasArgs = c.LPAREN() != nil; r.HasArgs {
		r.Args = b.args(c.ArgumentList())
	}
	return r
}
