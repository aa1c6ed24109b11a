package format

import (
	"sort"

	"khop/p4/ast"
	"khop/p4/diag"
	"khop/p4/parser"
)

// marks is what the tree says about tokens, by their offset.
type marks struct {
	text string
	toks []parser.Token // with comments
	code []int          // offsets of the tokens without comments

	bol       map[int]int  // the token starts a line; the level of indentation
	blank     map[int]bool // an empty line stands in front of it
	binary    map[int]bool // a binary operator
	unary     map[int]bool // a prefix operator
	list      map[int]bool // the '{' of a list or structure expression
	colon     map[int]bool // the ':' of a slice, which has no spaces, or '+:'
	ternary   map[int]bool // the ':' of a conditional expression, which has two
	castClose map[int]bool // the ')' of a cast
	annoEnd   map[int]int  // an annotation starts here: where it ends
	pragma    map[int]bool // an @pragma starts here
	global    map[int]bool // the dot in front of a name at top level
	drop      map[int]bool // a semicolon without meaning
}

func newMarks(text string) *marks {
	m := &marks{text: text, toks: parser.Tokens(text), bol: map[int]int{}, blank: map[int]bool{}, binary: map[int]bool{},
		unary: map[int]bool{}, list: map[int]bool{}, colon: map[int]bool{}, ternary: map[int]bool{}, castClose: map[int]bool{},
		annoEnd: map[int]int{}, pragma: map[int]bool{}, global: map[int]bool{}, drop: map[int]bool{}}
	for _, t := range m.toks {
		if t.Kind != parser.LineComment && t.Kind != parser.BlockComment {
			m.code = append(m.code, t.Start)
		}
	}
	return m
}

func off(p diag.Pos) int { return int(p) - 1 }

// before returns the offset of the last token in front of an offset.
func (m *marks) before(at int) int {
	i := sort.SearchInts(m.code, at) - 1
	return m.code[max(i, 0)]
}

func (m *marks) line(p diag.Pos, level int) { m.bol[off(p)] = level }

func (m *marks) annos(list []*ast.Annotation) {
	for _, a := range list {
		m.annoEnd[off(a.From)] = off(a.To)
		m.pragma[off(a.From)] = a.Pragma
	}
}

func (m *marks) program(p *ast.Program) {
	end := 0
	for i, d := range p.Decls {
		m.dropSemis(end, off(d.Pos()))
		m.line(d.Pos(), 0)
		if i > 0 && (big(d) || big(p.Decls[i-1])) {
			m.blank[off(d.Pos())] = true
		}
		m.decl(d, 0)
		end = off(d.End())
	}
	m.dropSemis(end, len(m.text))
}

// dropSemis drops the semicolons between two declarations.
func (m *marks) dropSemis(from, to int) {
	for i := sort.SearchInts(m.code, from); i < len(m.code) && m.code[i] < to; i++ {
		m.drop[m.code[i]] = true
	}
}

// big tells whether a declaration is set apart from its neighbours by empty lines.
func big(d ast.Decl) bool {
	switch d := d.(type) {
	case *ast.ConstDecl, *ast.VarDecl, *ast.ExternFunc, *ast.ValueSetDecl, *ast.PackageDecl:
		return false
	case *ast.Instantiation:
		return d.HasInit
	case *ast.TypedefDecl:
		return d.Derived != nil
	case *ast.ParserDecl:
		return !d.IsType
	case *ast.ControlDecl:
		return !d.IsType
	}
	return true
}

func (m *marks) decl(d ast.Decl, level int) {
	switch d := d.(type) {
	case *ast.ConstDecl:
		m.annos(d.Annos)
		m.typ(d.Type)
		m.expr(d.Value)
	case *ast.VarDecl:
		m.annos(d.Annos)
		m.typ(d.Type)
		m.expr(d.Init)
	case *ast.Instantiation:
		m.annos(d.Annos)
		m.typ(d.Type)
		m.args(d.Args)
		m.decls(d.Init, level+1)
	case *ast.ErrorDecl:
		m.idents(d.Names, level+1)
	case *ast.MatchKindDecl:
		m.idents(d.Names, level+1)
	case *ast.ExternDecl:
		m.annos(d.Annos)
		for _, p := range d.Methods {
			m.line(p.Pos(), level+1)
			m.proto(p)
		}
	case *ast.ExternFunc:
		m.proto(d.Proto)
	case *ast.FuncDecl:
		m.proto(d.Proto)
		m.block(d.Body, level)
	case *ast.ActionDecl:
		m.annos(d.Annos)
		m.params(d.Params)
		m.block(d.Body, level)
	case *ast.ParserDecl:
		m.annos(d.Annos)
		m.params(d.Params)
		m.params(d.CtorParams)
		m.decls(d.Locals, level+1)
		for i, s := range d.States {
			m.line(s.Pos(), level+1)
			m.blank[off(s.Pos())] = i > 0 || len(d.Locals) > 0
			m.state(s, level+1)
		}
	case *ast.ControlDecl:
		m.annos(d.Annos)
		m.params(d.Params)
		m.params(d.CtorParams)
		m.decls(d.Locals, level+1)
		if d.Apply != nil {
			apply := m.before(off(d.Apply.From))
			m.bol[apply] = level + 1
			m.blank[apply] = len(d.Locals) > 0
			m.block(d.Apply, level+1)
		}
	case *ast.PackageDecl:
		m.annos(d.Annos)
		m.params(d.Params)
	case *ast.HeaderDecl:
		m.annos(d.Annos)
		m.fields(d.Fields, level+1)
	case *ast.UnionDecl:
		m.annos(d.Annos)
		m.fields(d.Fields, level+1)
	case *ast.StructDecl:
		m.annos(d.Annos)
		m.fields(d.Fields, level+1)
	case *ast.EnumDecl:
		m.annos(d.Annos)
		m.typ(d.Type)
		for _, e := range d.Members {
			m.line(e.Pos(), level+1)
			m.expr(e.Value)
		}
	case *ast.TypedefDecl:
		m.annos(d.Annos)
		m.typ(d.Type)
		if d.Derived != nil {
			m.decl(d.Derived, level)
		}
	case *ast.ValueSetDecl:
		m.annos(d.Annos)
		m.typ(d.Type)
		m.expr(d.Size)
	case *ast.TableDecl:
		m.annos(d.Annos)
		for _, p := range d.Props {
			m.line(p.Pos(), level+1)
			m.prop(p, level+1)
		}
	}
}

func (m *marks) decls(list []ast.Decl, level int) {
	for i, d := range list {
		m.line(d.Pos(), level)
		if i > 0 && (big(d) || big(list[i-1])) {
			m.blank[off(d.Pos())] = true
		}
		m.decl(d, level)
	}
}

func (m *marks) idents(list []*ast.Ident, level int) {
	for _, n := range list {
		m.line(n.Pos(), level)
	}
}

func (m *marks) fields(list []*ast.Field, level int) {
	for _, f := range list {
		m.line(f.Pos(), level)
		m.annos(f.Annos)
		m.typ(f.Type)
	}
}

func (m *marks) params(list []*ast.Param) {
	for _, p := range list {
		m.annos(p.Annos)
		m.typ(p.Type)
		m.expr(p.Default)
	}
}

func (m *marks) proto(p *ast.FuncProto) {
	m.annos(p.Annos)
	m.typ(p.Result)
	m.params(p.Params)
}

func (m *marks) state(s *ast.ParserState, level int) {
	m.annos(s.Annos)
	m.stmts(s.Stmts, level+1)
	switch {
	case s.Transition != nil:
		m.bol[m.before(off(s.Transition.From))] = level + 1
	case s.Select != nil:
		m.bol[m.before(off(s.Select.From))] = level + 1
		m.exprs(s.Select.Exprs)
		for _, c := range s.Select.Cases {
			m.line(c.Pos(), level+2)
			m.exprs(c.Keys)
		}
	}
}

func (m *marks) prop(p ast.TableProp, level int) {
	switch p := p.(type) {
	case *ast.KeyProp:
		for _, k := range p.Elems {
			m.line(k.Pos(), level+1)
			m.expr(k.Expr)
			m.annos(k.Annos)
		}
	case *ast.ActionsProp:
		for _, a := range p.Actions {
			m.line(a.Pos(), level+1)
			m.annos(a.Annos)
			m.action(a)
		}
	case *ast.EntriesProp:
		m.annos(p.Annos)
		for _, e := range p.Entries {
			m.line(e.Pos(), level+1)
			m.expr(e.Priority)
			m.exprs(e.Keys)
			m.action(e.Action)
			m.annos(e.Annos)
		}
	case *ast.Property:
		m.annos(p.Annos)
		m.expr(p.Value)
	}
}

func (m *marks) action(a *ast.ActionRef) {
	if a.Global {
		m.global[m.before(off(a.Name.From))] = true
	}
	m.args(a.Args)
}

func (m *marks) stmts(list []ast.Stmt, level int) {
	for _, s := range list {
		m.line(s.Pos(), level)
		m.stmt(s, level)
	}
}

func (m *marks) block(b *ast.BlockStmt, level int) {
	m.annos(b.Annos)
	m.stmts(b.List, level+1)
}

// body marks the statement of an if or a loop: a block goes on the line, anything else gets one of its own.
func (m *marks) body(s ast.Stmt, level int) {
	if b, ok := s.(*ast.BlockStmt); ok {
		m.block(b, level)
		return
	}
	m.line(s.Pos(), level+1)
	m.stmt(s, level+1)
}

func (m *marks) stmt(s ast.Stmt, level int) {
	switch s := s.(type) {
	case *ast.AssignStmt:
		m.expr(s.LHS)
		m.expr(s.RHS)
	case *ast.CallStmt:
		m.expr(s.Call)
	case *ast.DeclStmt:
		m.decl(s.Decl, level)
	case *ast.IfStmt:
		m.expr(s.Cond)
		m.body(s.Then, level)
		if s.Else == nil {
			return
		}
		if _, ok := s.Then.(*ast.BlockStmt); !ok {
			m.bol[m.before(off(s.Else.Pos()))] = level
		}
		if e, ok := s.Else.(*ast.IfStmt); ok {
			m.stmt(e, level)
		} else {
			m.body(s.Else, level)
		}
	case *ast.BlockStmt:
		m.block(s, level)
	case *ast.ReturnStmt:
		m.expr(s.Value)
	case *ast.SwitchStmt:
		m.expr(s.Tag)
		for _, c := range s.Cases {
			m.line(c.Pos(), level+1)
			m.expr(c.Label)
			if c.Body != nil {
				m.block(c.Body, level+1)
			}
		}
	case *ast.ForStmt:
		m.annos(s.Annos)
		for _, i := range s.Init {
			m.stmt(i, level)
		}
		m.expr(s.Cond)
		for _, u := range s.Update {
			m.stmt(u, level)
		}
		m.body(s.Body, level)
	case *ast.ForInStmt:
		m.annos(s.Annos)
		m.annos(s.VarAnnos)
		m.typ(s.Type)
		m.expr(s.Collection)
		m.body(s.Body, level)
	}
}

func (m *marks) args(list []*ast.Arg) {
	for _, a := range list {
		m.expr(a.Value)
	}
}

func (m *marks) exprs(list []ast.Expr) {
	for _, e := range list {
		m.expr(e)
	}
}

func (m *marks) types(list []ast.Type) {
	for _, t := range list {
		m.typ(t)
	}
}

func (m *marks) typ(t ast.Type) {
	switch t := t.(type) {
	case *ast.BaseType:
		m.expr(t.Width)
	case *ast.TypeName:
		m.global[off(t.From)] = t.Global
	case *ast.SpecializedType:
		m.typ(t.Base)
		m.types(t.Args)
	case *ast.ArrayType:
		m.typ(t.Elem)
		m.expr(t.Size)
	case *ast.TupleType:
		m.types(t.Args)
	case *ast.ListType:
		m.typ(t.Elem)
	}
}

func (m *marks) expr(e ast.Expr) {
	switch e := e.(type) {
	case *ast.Name:
		m.global[off(e.From)] = e.Global
	case *ast.Member:
		m.expr(e.X)
	case *ast.TypeExpr:
		m.typ(e.Type)
	case *ast.Index:
		m.expr(e.X)
		m.expr(e.Index)
	case *ast.Slice:
		m.expr(e.X)
		m.expr(e.Hi)
		m.expr(e.Lo)
		m.colon[m.before(off(e.Lo.Pos()))] = true
	case *ast.Unary:
		m.unary[off(e.From)] = true
		m.expr(e.X)
	case *ast.Binary:
		m.binary[off(e.OpPos)] = true
		m.expr(e.X)
		m.expr(e.Y)
	case *ast.Ternary:
		m.ternary[m.before(off(e.Else.Pos()))] = true
		m.expr(e.Cond)
		m.expr(e.Then)
		m.expr(e.Else)
	case *ast.Cast:
		m.castClose[m.before(off(e.X.Pos()))] = true
		m.typ(e.Type)
		m.expr(e.X)
	case *ast.CallExpr:
		m.expr(e.Fun)
		m.types(e.TypeArgs)
		m.args(e.Args)
	case *ast.ListExpr:
		m.list[off(e.From)] = true
		m.exprs(e.Elems)
	case *ast.StructExpr:
		m.list[off(e.From)] = true
		for _, kv := range e.Fields {
			m.expr(kv.Value)
		}
	case *ast.Paren:
		m.expr(e.X)
	case *ast.MaskExpr:
		m.expr(e.X)
		m.expr(e.Mask)
	case *ast.RangeExpr:
		m.expr(e.Lo)
		m.expr(e.Hi)
	}
}
