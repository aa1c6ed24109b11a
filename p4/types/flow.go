package types

import (
	"khop/p4/ast"
)

// This file warns of variables that are read before they have a value (specification section 8.27). Variables of a body are followed
// path by path; those of a parser or control, which actions and states write in an order not known here, are reported only
// when nothing ever writes them. A write to a part of a variable counts as one of the whole, so that no warning is wrong.

// flow follows the variables of one body.
type flow struct {
	c     *checker
	index map[Object]int
	// wholly are the variables of the enclosing parser or control, with whether anything writes them.
	wholly map[Object]bool
	reads  map[Object]ast.Node // the first read of each
	order  []Object
	warned map[Object]bool
}

// assigned is the set of variables that have a value; nil stands for a place that is never reached, where all have one.
type assigned []uint64

func (a assigned) has(i int) bool { return a == nil || i/64 < len(a) && a[i/64]&(1<<(i%64)) != 0 }

func (a assigned) with(i int) assigned {
	if a == nil || a.has(i) {
		return a
	}
	out := make(assigned, max(len(a), i/64+1))
	copy(out, a)
	out[i/64] |= 1 << (i % 64)
	return out
}

// join is what holds on both of two paths.
func join(a, b assigned) assigned {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	out := make(assigned, min(len(a), len(b)))
	for i := range out {
		out[i] = a[i] & b[i]
	}
	return out
}

// flows checks all bodies of the program.
func (c *checker) flows() {
	for _, o := range c.info.Globals {
		if c.system(o) {
			continue
		}
		switch o := o.(type) {
		case *Func:
			if o.Decl != nil && o.Decl.Body != nil {
				c.flowBody(o.Sig.Params, o.Decl.Body)
			}
		case *Action:
			if o.Decl.Body != nil {
				c.flowBody(o.Params, o.Decl.Body)
			}
		case *TypeName:
			if b, ok := o.typ.(*Block); ok && !b.IsType && b.Origin == nil {
				c.flowBlock(b)
			}
		}
	}
}

func (c *checker) flowBody(params []*Param, body *ast.BlockStmt) {
	f := &flow{c: c, index: map[Object]int{}, warned: map[Object]bool{}}
	for _, p := range params {
		if p.Dir == ast.Out {
			f.declare(p)
		}
	}
	f.stmt(body, assigned{})
}

func (c *checker) flowBlock(b *Block) {
	f := &flow{c: c, index: map[Object]int{}, warned: map[Object]bool{}, wholly: map[Object]bool{}, reads: map[Object]ast.Node{}}
	for _, p := range b.Params {
		if p.Dir == ast.Out && tracked(p.typ) {
			f.whole(p, false)
		}
	}
	for _, l := range b.Locals {
		if v, ok := l.(*Var); ok && tracked(v.typ) {
			f.whole(v, v.Init != nil)
		}
	}
	for _, l := range b.Locals {
		switch l := l.(type) {
		case *Var:
			f.read(l.Init, assigned{})
		case *Action:
			for _, p := range l.Params {
				if p.Dir == ast.Out {
					f.declare(p)
				}
			}
			if l.Decl.Body != nil {
				f.stmt(l.Decl.Body, assigned{})
			}
		case *Table:
			f.table(l)
		case *Instance:
			for _, m := range l.Impls {
				f.stmt(m.Decl.Body, assigned{})
			}
			if l.Call != nil {
				f.args(l.Call.Args, assigned{})
			}
		}
	}
	switch d := b.Decl.(type) {
	case *ast.ControlDecl:
		if d.Apply != nil {
			f.stmt(d.Apply, assigned{})
		}
	case *ast.ParserDecl:
		for _, s := range b.States {
			f.state(s.Decl)
		}
	}
	for _, o := range f.order {
		if n := f.reads[o]; n != nil && !f.wholly[o] {
			c.warnRead(n, o)
		}
	}
}

func (c *checker) warnRead(n ast.Node, o Object) {
	if noWarn(o.Annos(), string(CodeUninitialized)) {
		return
	}
	r := c.warn(n, CodeUninitialized, "%s is read before it has a value", describe(o))
	c.note(r, o.Pos(), "declared here")
}

func (f *flow) whole(o Object, written bool) {
	f.wholly[o] = written
	f.order = append(f.order, o)
}

// tracked tells whether a variable of a type starts without a value: headers start invalid, which is a value.
func tracked(t Type) bool {
	switch t := resolve(t).(type) {
	case *Bit, *Int, *Enum, *NewType, *Varbit:
		return true
	case *Basic:
		return t.Kind == BoolKind || t.Kind == ErrorKind
	}
	return false
}

func (f *flow) declare(o Object) {
	if tracked(o.Type()) {
		f.index[o] = len(f.index)
	}
}

func (f *flow) table(t *Table) {
	for _, k := range t.Keys {
		f.read(k.Expr, assigned{})
	}
	for _, a := range t.Actions {
		f.args(a.Args, assigned{})
	}
}

func (f *flow) state(s *ast.ParserState) {
	a := assigned{}
	for _, st := range s.Stmts {
		a = f.stmt(st, a)
	}
	if s.Select != nil {
		for _, e := range s.Select.Exprs {
			a = f.read(e, a)
		}
	}
}

// stmt follows a statement and returns what is assigned behind it.
func (f *flow) stmt(s ast.Stmt, a assigned) assigned {
	switch s := s.(type) {
	case *ast.AssignStmt:
		if s.Op != "=" && s.Op != "" {
			a = f.read(s.LHS, a)
		}
		a = f.read(s.RHS, a)
		return f.write(s.LHS, a)
	case *ast.CallStmt:
		if s.Call != nil {
			return f.read(s.Call, a)
		}
	case *ast.DeclStmt:
		v, ok := s.Decl.(*ast.VarDecl)
		if !ok {
			return a
		}
		a = f.read(v.Init, a)
		if o := f.c.info.Defs[v]; o != nil {
			f.declare(o)
			if i, ok := f.index[o]; ok && v.Init != nil {
				a = a.with(i)
			}
		}
	case *ast.IfStmt:
		a = f.read(s.Cond, a)
		t := f.stmt(s.Then, a)
		e := a
		if s.Else != nil {
			e = f.stmt(s.Else, a)
		}
		return join(t, e)
	case *ast.BlockStmt:
		if s == nil {
			return a
		}
		for _, x := range s.List {
			a = f.stmt(x, a)
		}
	case *ast.ReturnStmt:
		f.read(s.Value, a)
		return nil
	case *ast.ExitStmt, *ast.BreakStmt, *ast.ContinueStmt:
		return nil
	case *ast.SwitchStmt:
		return f.switchStmt(s, a)
	case *ast.ForStmt:
		for _, x := range s.Init {
			a = f.stmt(x, a)
		}
		a = f.read(s.Cond, a)
		b := f.stmt(s.Body, a)
		for _, x := range s.Update {
			b = f.stmt(x, b)
		}
	case *ast.ForInStmt:
		if r, ok := unparen(s.Collection).(*ast.RangeExpr); ok {
			a = f.read(r.Lo, a)
			a = f.read(r.Hi, a)
		} else {
			a = f.read(s.Collection, a)
		}
		f.stmt(s.Body, a)
	}
	return a
}

func (f *flow) switchStmt(s *ast.SwitchStmt, a assigned) assigned {
	a = f.read(s.Tag, a)
	out := assigned(nil)
	hasDefault := false
	for i, k := range s.Cases {
		if _, ok := k.Label.(*ast.DefaultExpr); ok {
			hasDefault = true
		}
		if k.Body != nil {
			out = join(out, f.stmt(k.Body, a))
		} else if i == len(s.Cases)-1 {
			out = join(out, a)
		}
	}
	if !hasDefault {
		out = join(out, a)
	}
	return out
}

// write notes a write to a place.
func (f *flow) write(e ast.Expr, a assigned) assigned {
	switch x := e.(type) {
	case *ast.Name:
		o := f.c.info.Uses[x]
		if _, ok := f.wholly[o]; ok {
			f.wholly[o] = true
		}
		if i, ok := f.index[o]; ok {
			return a.with(i)
		}
	case *ast.Member:
		return f.write(x.X, a)
	case *ast.Paren:
		return f.write(x.X, a)
	case *ast.Index:
		a = f.read(x.Index, a)
		return f.write(x.X, a)
	case *ast.Slice:
		a = f.read(x.Hi, a)
		a = f.read(x.Lo, a)
		return f.write(x.X, a)
	}
	return a
}

// read follows the evaluation of an expression.
func (f *flow) read(e ast.Expr, a assigned) assigned {
	switch x := e.(type) {
	case nil:
	case *ast.Name:
		f.use(x, a)
	case *ast.Member:
		return f.read(x.X, a)
	case *ast.Index:
		return f.read(x.Index, f.read(x.X, a))
	case *ast.Slice:
		return f.read(x.Lo, f.read(x.Hi, f.read(x.X, a)))
	case *ast.Unary:
		return f.read(x.X, a)
	case *ast.Binary:
		a = f.read(x.X, a)
		b := f.read(x.Y, a)
		if x.Op == "&&" || x.Op == "||" {
			return a
		}
		return b
	case *ast.Ternary:
		a = f.read(x.Cond, a)
		return join(f.read(x.Then, a), f.read(x.Else, a))
	case *ast.Cast:
		return f.read(x.X, a)
	case *ast.Paren:
		return f.read(x.X, a)
	case *ast.ListExpr:
		for _, el := range x.Elems {
			a = f.read(el, a)
		}
	case *ast.StructExpr:
		for _, kv := range x.Fields {
			a = f.read(kv.Value, a)
		}
	case *ast.CallExpr:
		return f.call(x, a)
	}
	return a
}

func (f *flow) use(n *ast.Name, a assigned) {
	o := f.c.info.Uses[n]
	if _, ok := f.wholly[o]; ok && f.reads[o] == nil {
		f.reads[o] = n
	}
	if i, ok := f.index[o]; ok && !a.has(i) && !f.warned[o] {
		f.warned[o] = true
		f.c.warnRead(n, o)
	}
}

func (f *flow) call(e *ast.CallExpr, a assigned) assigned {
	call := f.c.info.Calls[e]
	if call == nil {
		return a
	}
	if call.Kind == CallBuiltin {
		if call.Builtin >= MinSizeInBits {
			return a // the receiver is not evaluated
		}
		if call.Builtin != IsValid {
			return f.write(call.Recv, a)
		}
	}
	if call.Recv != nil {
		a = f.read(call.Recv, a)
	}
	return f.args(call.Args, a)
}

// args follows the evaluation of arguments: what goes in is read before what comes out is written.
func (f *flow) args(args []Arg, a assigned) assigned {
	for _, x := range args {
		if x.Expr != nil && !x.Default && x.Param.Dir != ast.Out {
			a = f.read(x.Expr, a)
		}
	}
	for _, x := range args {
		if x.Expr != nil && !x.Default && (x.Param.Dir == ast.Out || x.Param.Dir == ast.InOut) {
			a = f.write(x.Expr, a)
		}
	}
	return a
}
