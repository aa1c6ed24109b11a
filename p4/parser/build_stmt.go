package parser

import (
	"github.com/antlr4-go/antlr/v4"

	"khop/p4/ast"
	"khop/p4/grammar"
)

func (b *builder) statements(cs []grammar.IStatementContext) []ast.Stmt {
	if len(cs) == 0 {
		return nil
	}
	out := make([]ast.Stmt, len(cs))
	for i, c := range cs {
		out[i] = b.statement(c)
	}
	return out
}

func (b *builder) blockStatement(ci grammar.IBlockStatementContext) *ast.BlockStmt {
	c := ci.(*grammar.BlockStatementContext)
	return b.block(c.BlockBody(), b.annotations(c.AllAnnotation()))
}

func (b *builder) block(ci grammar.IBlockBodyContext, annos []*ast.Annotation) *ast.BlockStmt {
	c := ci.(*grammar.BlockBodyContext)
	return &ast.BlockStmt{Span: behind(annos, span(c)), Annos: annos, List: b.statements(c.AllStatement())}
}

// notInState reports a statement that a parser state may not hold.
func (b *builder) notInState(s ast.Span, what string) {
	if b.inState {
		b.errorf(s, CodeMisplaced, "a parser state may hold declarations, assignments, calls, if and blocks",
			"%s statement in a parser state", what)
	}
}

func (b *builder) statement(ci grammar.IStatementContext) ast.Stmt {
	c := ci.(*grammar.StatementContext)
	s := span(c)
	switch x := c.GetChild(0).(type) {
	case *grammar.ExpressionStatementContext:
		return b.expressionStatement(x, s)
	case *grammar.IfStatementContext:
		st := &ast.IfStmt{Span: s, Cond: b.expr(x.Expression()), Then: b.statement(x.Statement(0))}
		if x.ELSE() != nil {
			st.Else = b.statement(x.Statement(1))
		}
		return st
	case *grammar.SwitchStatementContext:
		b.notInState(s, "switch")
		return b.switchStatement(x)
	case antlr.TerminalNode:
		switch x.GetSymbol().GetTokenType() {
		case tSemi:
			return &ast.EmptyStmt{Span: s}
		case grammar.P4LexerEXIT:
			b.notInState(s, "exit")
			return &ast.ExitStmt{Span: s}
		case grammar.P4LexerBREAK:
			b.notInState(s, "break")
			return &ast.BreakStmt{Span: s}
		case grammar.P4LexerCONTINUE:
			b.notInState(s, "continue")
			return &ast.ContinueStmt{Span: s}
		}
		b.notInState(s, "return")
		r := &ast.ReturnStmt{Span: s}
		if e := c.Expression(); e != nil {
			r.Value = b.expr(e)
		}
		return r
	}
	annos := b.annotations(c.AllAnnotation())
	switch {
	case c.BlockBody() != nil:
		return b.block(c.BlockBody(), annos)
	case c.ForStatement() != nil:
		b.notInState(s, "for")
		return b.forStatement(c.ForStatement().(*grammar.ForStatementContext), s, annos)
	case c.ConstantDeclaration() != nil:
		return &ast.DeclStmt{Span: s, Decl: b.constant(c.ConstantDeclaration().(*grammar.ConstantDeclarationContext), annos)}
	}
	return b.typeStatement(c.TypeStatement().(*grammar.TypeStatementContext), s, annos)
}

func (b *builder) expressionStatement(c *grammar.ExpressionStatementContext, s ast.Span) ast.Stmt {
	h := c.StatementHead().(*grammar.StatementHeadContext)
	hs := span(h)
	var x ast.Expr
	switch {
	case h.THIS() != nil:
		x = &ast.This{Span: hs}
	case h.LPAREN() != nil:
		x = &ast.Paren{Span: hs, X: b.expr(h.Expression())}
	default:
		x = &ast.Name{Span: hs, Global: h.DOT() != nil, Name: b.ident(h.NonTypeName()).Name}
	}
	for _, op := range c.AllPostfixOp() {
		x = b.postfixOp(x, op.(*grammar.PostfixOpContext))
	}
	op := c.AssignOp()
	if op == nil {
		if call, ok := x.(*ast.CallExpr); ok {
			return &ast.CallStmt{Span: s, Call: call}
		}
		b.errorf(ast.Span{From: x.Pos(), To: x.End()}, CodeNotStatement, "assign it, or call it", "an expression alone is no statement")
		return &ast.EmptyStmt{Span: s}
	}
	if !isLeftValue(x) {
		b.errorf(ast.Span{From: x.Pos(), To: x.End()}, CodeNotAssignable, "only a variable, a field, an element or a slice of one is assigned to",
			"this cannot be assigned to")
	}
	return &ast.AssignStmt{Span: s, LHS: x, Op: op.GetStart().GetText(), RHS: b.expr(c.Expression())}
}

// isLeftValue tells whether x has the form of a left-value (specification section 6.6).
func isLeftValue(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.Name, *ast.This:
		return true
	case *ast.Member:
		return isLeftValue(x.X)
	case *ast.Index:
		return isLeftValue(x.X)
	case *ast.Slice:
		return isLeftValue(x.X)
	case *ast.Paren:
		return isLeftValue(x.X)
	}
	return false
}

func (b *builder) typeStatement(c *grammar.TypeStatementContext, s ast.Span, annos []*ast.Annotation) ast.Stmt {
	switch {
	case c.DOT() != nil:
		t := b.typeRef(c.TypeRef())
		name := b.ident(c.Name())
		if len(annos) > 0 {
			b.noAnnos(annos, "a call")
		}
		if name.Name != "apply" {
			b.errorf(name.Span, CodeNotStatement, "a parser or control type is applied directly with .apply(...)",
				"%s is not apply", name.Name)
		}
		m := &ast.Member{Span: ast.Span{From: t.Pos(), To: name.To}, X: &ast.TypeExpr{Span: ast.Span{From: t.Pos(), To: t.End()}, Type: t}, Name: name}
		return &ast.CallStmt{Span: s, Call: &ast.CallExpr{Span: span(c), Fun: m, Args: b.args(c.ArgumentList())}}
	case c.LPAREN() != nil:
		return &ast.DeclStmt{Span: s, Decl: b.instantiation(s, annos, c.TypeRef(), c.ArgumentList(), c.Declarator(), c.ObjInitializer())}
	}
	return &ast.DeclStmt{Span: s, Decl: b.variable(s, annos, c.TypeRef(), c.Declarator(), c.Expression())}
}

func (b *builder) switchStatement(c *grammar.SwitchStatementContext) *ast.SwitchStmt {
	st := &ast.SwitchStmt{Span: span(c), Tag: b.expr(c.Expression())}
	for _, ci := range c.AllSwitchCase() {
		k := ci.(*grammar.SwitchCaseContext)
		sc := &ast.SwitchCase{Span: span(k)}
		if d := k.DEFAULT(); d != nil {
			sc.Label = &ast.DefaultExpr{Span: tokSpan(d.GetSymbol())}
		} else {
			sc.Label = b.expr(k.Expression())
		}
		if bl := k.BlockStatement(); bl != nil {
			sc.Body = b.blockStatement(bl)
		}
		st.Cases = append(st.Cases, sc)
	}
	return st
}

func (b *builder) forStatement(c *grammar.ForStatementContext, s ast.Span, annos []*ast.Annotation) ast.Stmt {
	if c.IN() != nil {
		f := &ast.ForInStmt{Span: s, Annos: annos, VarAnnos: b.annotations(c.AllAnnotation()), Type: b.typeRef(c.TypeRef()),
			Name: b.ident(c.Name())}
		es := c.AllExpression()
		f.Collection = b.expr(es[0])
		if len(es) > 1 {
			hi := b.expr(es[1])
			f.Collection = &ast.RangeExpr{Span: ast.Span{From: f.Collection.Pos(), To: hi.End()}, Lo: f.Collection, Hi: hi}
		}
		f.Body = b.statement(c.Statement())
		return f
	}
	f := &ast.ForStmt{Span: s, Annos: annos}
	for _, ii := range c.AllForInit() {
		i := ii.(*grammar.ForInitContext)
		is := span(i)
		if es := i.ExpressionStatement(); es != nil {
			f.Init = append(f.Init, b.expressionStatement(es.(*grammar.ExpressionStatementContext), is))
			continue
		}
		f.Init = append(f.Init, &ast.DeclStmt{Span: is, Decl: b.variable(is, b.annotations(i.AllAnnotation()), i.TypeRef(), i.Declarator(), i.Expression())})
	}
	f.Cond = b.expr(c.Expression(0))
	for _, u := range c.AllExpressionStatement() {
		f.Update = append(f.Update, b.expressionStatement(u.(*grammar.ExpressionStatementContext), span(u)))
	}
	f.Body = b.statement(c.Statement())
	return f
}
