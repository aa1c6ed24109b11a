package types

import (
	"strings"

	"khop/p4/ast"
)

// block checks the statements of a block in a scope of their own.
func (c *checker) block(b *ast.BlockStmt) {
	c.annos(b.Annos)
	done := c.push()
	c.stmts(b.List)
	done()
}

func (c *checker) stmts(list []ast.Stmt) {
	for i, s := range list {
		c.stmt(s)
		if i < len(list)-1 && jumps(s) {
			c.warn(list[i+1], CodeUnreachable, "this statement is never reached")
		}
	}
}

// jumps tells whether control never passes a statement.
func jumps(s ast.Stmt) bool {
	switch s.(type) {
	case *ast.ExitStmt, *ast.ReturnStmt, *ast.BreakStmt, *ast.ContinueStmt:
		return true
	}
	return false
}

func (c *checker) stmt(s ast.Stmt) {
	if s == nil {
		return
	}
	if c.enter(s) {
		c.stmtKind(s)
	}
	c.leave()
}

func (c *checker) stmtKind(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.AssignStmt:
		c.assignStmt(s)
	case *ast.CallStmt:
		if s.Call != nil {
			x := c.rawExpr(s.Call)
			if x.mode == ConstMode && isObjectType(x.typ) && x.typ != InvalidType {
				c.err(s, CodeInstance, "the object constructed here has no name").hint("write %s(...) name;", x.typ)
			}
		}
	case *ast.DeclStmt:
		c.declStmt(s.Decl)
	case *ast.IfStmt:
		c.condition(c.expr(s.Cond), "if")
		c.inner(s.Then)
		c.inner(s.Else)
	case *ast.BlockStmt:
		c.block(s)
	case *ast.EmptyStmt:
	case *ast.ExitStmt:
		if p := c.ctx.place; p == inFunction || p == inState || p == inMethod {
			c.err(s, CodePlace, "exit cannot stand %s", p)
		}
	case *ast.ReturnStmt:
		c.returnStmt(s)
	case *ast.BreakStmt:
		if c.ctx.loops == 0 {
			c.err(s, CodePlace, "break can only stand in a loop")
		}
	case *ast.ContinueStmt:
		if c.ctx.loops == 0 {
			c.err(s, CodePlace, "continue can only stand in a loop")
		}
	case *ast.SwitchStmt:
		c.switchStmt(s)
	case *ast.ForStmt:
		c.forStmt(s)
	case *ast.ForInStmt:
		c.forInStmt(s)
	}
}

// inner checks the branch of a statement, whose declarations are seen only there.
func (c *checker) inner(s ast.Stmt) {
	if s == nil {
		return
	}
	done := c.push()
	c.stmt(s)
	done()
}

func (c *checker) declStmt(d ast.Decl) {
	switch d := d.(type) {
	case nil:
	case *ast.VarDecl:
		c.varDecl(d)
	case *ast.ConstDecl:
		c.constDecl(d)
	case *ast.Instantiation:
		c.instantiation(d)
	default:
		c.err(d, CodePlace, "this declaration cannot stand in a block")
	}
}

// lvalue checks the target of an assignment.
func (c *checker) lvalue(e ast.Expr) (operand, bool) {
	x := c.expr(e)
	if x.typ == InvalidType {
		return x, false
	}
	if x.mode == LValue {
		return x, true
	}
	r := c.err(e, CodeNotLValue, "this cannot be assigned")
	if o := c.rootObject(e); o != nil {
		r.Message = describe(o) + " cannot be assigned"
		switch o := o.(type) {
		case *Param:
			switch {
			case o.Dir == ast.In:
				r.hint("it is an in parameter; declare it inout to change it")
			case o.Dir == ast.None:
				r.hint("it has no direction; copy it into a variable to change it")
			}
		case *Var:
			r.hint("it is the variable of a for loop")
		}
		c.note(r, o.Pos(), "declared here")
	}
	return x, false
}

// rootObject returns the object at the root of a place such as a.b[1].c, or nil.
func (c *checker) rootObject(e ast.Expr) Object {
	for {
		switch x := e.(type) {
		case *ast.Name:
			return c.info.Uses[x]
		case *ast.Member:
			e = x.X
		case *ast.Index:
			e = x.X
		case *ast.Slice:
			e = x.X
		case *ast.Paren:
			e = x.X
		default:
			return nil
		}
	}
}

// written notes that a place is written.
func (c *checker) written(e ast.Expr) {
	if o := c.rootObject(e); o != nil {
		o.base().used = true
	}
}

func (c *checker) assignStmt(s *ast.AssignStmt) {
	l, ok := c.lvalue(s.LHS)
	r := c.expr(s.RHS)
	if !ok || r.typ == InvalidType {
		return
	}
	c.written(s.LHS)
	if isObjectType(l.typ) {
		c.err(s, CodeMismatch, "an object of type %s cannot be assigned", l.typ)
		return
	}
	if s.Op == "=" || s.Op == "" {
		c.assign(&r, l.typ, "the assigned value")
		return
	}
	op := strings.TrimSuffix(s.Op, "=")
	switch op {
	case "+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "|+|", "|-|":
	default:
		c.err(s, CodeOperand, "%s is not an assignment operator", s.Op)
		return
	}
	// The left operand keeps its type: the result must convert back to it.
	z := c.binaryOp(s.LHS, op, l, r)
	if z.typ == InvalidType {
		return
	}
	if why := c.convertible(z.typ, l.typ); why != "" {
		c.err(s, CodeMismatch, "the result of %s has type %s and cannot be assigned to %s", op, z.typ, l.typ)
	}
}

func (c *checker) returnStmt(s *ast.ReturnStmt) {
	var x operand
	if s.Value != nil {
		x = c.expr(s.Value)
	}
	switch c.ctx.place {
	case inState:
		c.err(s, CodePlace, "return cannot stand in a parser state").hint("end the state with a transition")
		return
	case inApply, inAction:
		if s.Value != nil {
			what := "a control"
			if c.ctx.place == inAction {
				what = "an action"
			}
			c.err(s, CodeReturn, "%s returns no value", what)
		}
		return
	}
	if c.ctx.fun == nil {
		c.err(s, CodePlace, "return cannot stand here")
		return
	}
	res := c.ctx.fun.Result
	switch {
	case s.Value == nil && res != VoidType && res != InvalidType:
		c.err(s, CodeReturn, "the function must return a value of type %s", res)
	case s.Value != nil && res == VoidType:
		c.err(s, CodeReturn, "the function is void and returns no value")
	case s.Value != nil:
		c.assign(&x, res, "the returned value")
	}
}

// terminates tells whether every path through a statement ends in a return or exit.
func terminates(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.ReturnStmt, *ast.ExitStmt:
		return true
	case *ast.BlockStmt:
		for _, x := range s.List {
			if terminates(x) {
				return true
			}
		}
	case *ast.IfStmt:
		return s.Else != nil && terminates(s.Then) && terminates(s.Else)
	case *ast.SwitchStmt:
		hasDefault := false
		for i, k := range s.Cases {
			if _, ok := k.Label.(*ast.DefaultExpr); ok {
				hasDefault = true
			}
			if k.Body == nil {
				if i == len(s.Cases)-1 {
					return false
				}
				continue
			}
			if !terminates(k.Body) {
				return false
			}
		}
		return hasDefault
	}
	return false
}

func (c *checker) switchStmt(s *ast.SwitchStmt) {
	if c.ctx.place == inState {
		c.err(s, CodePlace, "switch cannot stand in a parser state").hint("use transition select")
	}
	tag := c.expr(s.Tag)
	if run, ok := tag.typ.(*ActionEnum); ok {
		c.actionSwitch(s, run.Table)
	} else {
		c.valueSwitch(s, tag)
	}
	for i, k := range s.Cases {
		if _, ok := k.Label.(*ast.DefaultExpr); ok && i < len(s.Cases)-1 {
			c.err(s.Cases[i+1].Label, CodeSwitch, "default must be the last label of a switch")
		}
		if k.Body != nil {
			c.block(k.Body)
		}
	}
}

func (c *checker) actionSwitch(s *ast.SwitchStmt, t *Table) {
	if c.ctx.place != inApply {
		c.err(s, CodePlace, "a switch on action_run can only stand in the apply block of a control")
	}
	if m, ok := unparen(s.Tag).(*ast.Member); ok {
		if _, ok := unparen(m.X).(*ast.CallExpr); !ok {
			c.err(s.Tag, CodeSwitch, "the tag must be of the form %s.apply().action_run", t.name)
		}
	}
	seen := map[*Action]ast.Node{}
	for i, k := range s.Cases {
		switch l := k.Label.(type) {
		case *ast.DefaultExpr:
			c.defaultLabel(s.Cases[:i], l)
		case *ast.Name:
			ta := t.action(l.Name)
			if ta == nil {
				near := newNearest(l.Name)
				for _, a := range t.Actions {
					near.offer(a.Action.name)
				}
				c.err(l, CodeSwitch, "%s is not an action of table %s", quote(l.Name), quote(t.name)).hintNear(near.best)
				c.set(bad(l))
				continue
			}
			c.info.Uses[l] = ta.Action
			c.set(operand{expr: l, mode: ConstMode, typ: t.actionEnum()})
			c.duplicateLabel(seen, ta.Action, l)
		default:
			c.err(l, CodeSwitch, "the labels of a switch on action_run must be names of actions, or default")
		}
	}
}

func (c *checker) duplicateLabel(seen map[*Action]ast.Node, a *Action, l ast.Node) {
	if prev := seen[a]; prev != nil {
		r := c.err(l, CodeDuplicate, "label %s stands twice", quote(a.name))
		c.note(r, prev.Pos(), "the other one is here")
		return
	}
	seen[a] = l
}

func (c *checker) defaultLabel(before []*ast.SwitchCase, l *ast.DefaultExpr) {
	c.set(operand{expr: l, mode: ConstMode, typ: AnyType})
	for _, k := range before {
		if prev, ok := k.Label.(*ast.DefaultExpr); ok {
			r := c.err(l, CodeDuplicate, "label default stands twice")
			c.note(r, prev.From, "the other one is here")
			return
		}
	}
}

func (c *checker) valueSwitch(s *ast.SwitchStmt, tag operand) {
	ok := tag.typ != InvalidType
	if ok {
		switch t := resolve(tag.typ).(type) {
		case *Bit, *Int, *Enum:
		case *Basic:
			ok = t.Kind == ErrorKind
		default:
			ok = false
		}
		if !ok {
			r := c.err(s.Tag, CodeSwitch, "a switch cannot be on %s", tag.typ).
				hint("it takes bit<W>, int<W>, an enum, an error, or t.apply().action_run")
			if _, isNew := tag.typ.(*NewType); isNew {
				r.hint("cast it to the type that it is declared from")
			}
		}
	}
	var labels []operand
	for i, k := range s.Cases {
		if l, isDefault := k.Label.(*ast.DefaultExpr); isDefault {
			c.defaultLabel(s.Cases[:i], l)
			continue
		}
		x := c.expr(k.Label)
		if !ok || !c.assign(&x, tag.typ, "the label") {
			continue
		}
		if x.mode != ConstMode {
			c.err(k.Label, CodeNotConst, "the label of a switch must be known at compile time")
			continue
		}
		x.val = c.info.ValueOf(k.Label)
		for _, y := range labels {
			if eq, known := equalValues(x.val, y.val); eq && known {
				r := c.err(k.Label, CodeDuplicate, "two labels of the switch have this value")
				c.note(r, y.expr.Pos(), "the other one is here")
			}
		}
		labels = append(labels, x)
	}
}

func (c *checker) forStmt(s *ast.ForStmt) {
	c.annos(s.Annos)
	done := c.push()
	for _, i := range s.Init {
		c.stmt(i)
	}
	if s.Cond != nil {
		c.condition(c.expr(s.Cond), "for")
	}
	c.in(func(x *context) { x.loops++ }, func() {
		c.inner(s.Body)
		for _, u := range s.Update {
			c.stmt(u)
		}
	})
	done()
}

func (c *checker) forInStmt(s *ast.ForInStmt) {
	c.annos(s.Annos)
	c.annos(s.VarAnnos)
	var t Type = InvalidType
	if s.Type != nil {
		t = c.varType(s.Type, "loop variable "+quote(identName(s.Name)))
	}
	elem := c.collection(s.Collection, t)
	if t != InvalidType && elem != InvalidType && c.convertible(elem, t) != "" {
		c.err(s.Collection, CodeMismatch, "the elements have type %s, but the loop variable has type %s", elem, t)
	}
	done := c.push()
	v := &Var{Loop: true}
	v.typ = t
	c.define(v, s.Name, s.VarAnnos, s)
	c.in(func(x *context) { x.loops++ }, func() { c.inner(s.Body) })
	done()
}

// collection checks what a for-in loop runs over and returns its element type. A range and a list of ints take the type of the
// loop variable.
func (c *checker) collection(e ast.Expr, t Type) Type {
	if r, ok := unparen(e).(*ast.RangeExpr); ok {
		lo := c.expr(r.Lo)
		hi := c.expr(r.Hi)
		if lo.typ == InvalidType || hi.typ == InvalidType {
			return InvalidType
		}
		c.number(&lo)
		c.number(&hi)
		elem := c.match(&lo, &hi)
		if elem == nil || !isInteger(elem) {
			c.mismatch(e, "..", lo, hi)
			return InvalidType
		}
		if elem == InfIntType && widthOf(t) >= 0 {
			c.convert(r.Lo, t)
			c.convert(r.Hi, t)
			elem = t
		}
		c.set(operand{expr: r, mode: RValue, typ: &Set{elem}})
		return elem
	}
	x := c.expr(e)
	switch k := resolve(x.typ).(type) {
	case *Stack:
		return k.Elem
	case *List:
		c.convert(e, k)
		return k.Elem
	case *Seq:
		if t == InvalidType {
			return InvalidType
		}
		to := &List{t}
		if why := c.convertible(k, to); why != "" {
			c.err(e, CodeMismatch, "the elements must have type %s: %s", t, why)
			return InvalidType
		}
		c.convert(e, to)
		return t
	case *Tuple:
		for _, el := range k.Elems {
			if c.convertible(el, t) != "" {
				return el
			}
		}
		return t
	}
	if x.typ != InvalidType {
		c.err(e, CodeMismatch, "a for loop cannot run over %s", x.typ).hint("it takes a range (a .. b), a list, or an array")
	}
	return InvalidType
}
