package ir

import (
	"math/big"

	"khop/p4/ast"
	"khop/p4/types"
)

// maxUnroll is the greatest number of iterations of a loop over constants that is unrolled.
const maxUnroll = 64

func (l *lowerer) stmts(list []ast.Stmt) {
	for i, s := range list {
		if l.code.dead() {
			l.noteCalls(list[i:])
			return
		}
		l.stmt(s)
	}
}

// noteCalls tells the control plane of actions whose calls cannot be reached.
func (l *lowerer) noteCalls(list []ast.Stmt) {
	for _, s := range list {
		walk(s, func(n ast.Node) bool {
			if c, ok := n.(*ast.CallExpr); ok {
				if call := l.info.Calls[c]; call != nil && call.Kind == types.CallAction {
					l.noteCall(call.Action)
				}
			}
			return true
		})
	}
}

func (l *lowerer) stmt(s ast.Stmt) {
	if l.code.dead() {
		return // cannot be reached
	}
	defer l.enter(s)()
	switch s := s.(type) {
	case *ast.BlockStmt:
		l.stmts(s.List)
	case *ast.AssignStmt:
		l.assignStmt(s)
	case *ast.CallStmt:
		l.call(s.Call, s)
	case *ast.DeclStmt:
		l.localDecl(s.Decl)
	case *ast.IfStmt:
		l.ifStmt(s)
	case *ast.SwitchStmt:
		l.switchStmt(s)
	case *ast.ExitStmt:
		for f := l.fr; f != nil; f = f.caller {
			l.runCopyOut(f)
		}
		l.code.add(Instr{Op: OpExit, Node: s})
	case *ast.ReturnStmt:
		if s.Value != nil && l.fr.result != nil {
			l.assign(l.fr.result, l.expr(s.Value), s)
		}
		l.code.jump(l.fr.ret)
	case *ast.BreakStmt:
		l.code.jump(l.loops[len(l.loops)-1].brk)
	case *ast.ContinueStmt:
		l.code.jump(l.loops[len(l.loops)-1].cont)
	case *ast.ForStmt:
		l.forStmt(s)
	case *ast.ForInStmt:
		l.forIn(s)
	}
}

func (l *lowerer) runCopyOut(f *frame) {
	for _, c := range f.copyOut {
		l.assign(c.dst, plain(c.src), c.node)
	}
}

func (l *lowerer) assignStmt(s *ast.AssignStmt) {
	dst := l.lvalue(s.LHS)
	if dst == nil {
		return
	}
	if s.Op != "=" {
		op := s.Op[:len(s.Op)-1]
		x := l.asScalar(l.read(dst, s), s)
		y := l.scalar(s.RHS)
		t := x.Type()
		var v Expr
		switch op {
		case "<<", ">>":
			v = l.shift(op, x, y, s)
		default:
			v = binary(op, x, cast(y, t), t)
		}
		l.assign(dst, v, s)
		return
	}
	if v := l.lookahead(s.RHS); v != nil {
		l.assign(dst, l.coerce(v, l.typeOf(s.RHS), s), s)
		return
	}
	if f := l.intoCall(s.RHS); f != nil {
		l.inlineFunc(f, dst, s)
		return
	}
	l.assign(dst, l.expr(s.RHS), s)
}

// read returns the value at a place.
func (l *lowerer) read(p Loc, n ast.Node) Val {
	if s, ok := p.(*sliceLoc); ok {
		return slice(l.asScalar(l.read(s.base, n), n), s.hi, s.lo)
	}
	return guarded(plain(p))
}

func (l *lowerer) localDecl(d ast.Decl) {
	switch d := d.(type) {
	case *ast.VarDecl:
		o, _ := l.info.Defs[d].(*types.Var)
		if o == nil {
			return
		}
		l.declare(o, d.Init, d)
	case *ast.ConstDecl:
		if o, _ := l.info.Defs[d].(*types.Const); o != nil && !allConst(o.Value) {
			l.fr.vars[o] = l.coerce(l.expr(d.Value), l.typ(o.Type()), d)
		}
	case *ast.Instantiation:
		if o, _ := l.info.Defs[d].(*types.Instance); o != nil {
			if f := l.instFrame(); f != nil && f.vars[o] == nil {
				f.vars[o] = l.instantiate(o, f.path, f.inst)
			}
		}
	}
}

// declare gives a variable its storage and first value. A header starts invalid.
func (l *lowerer) declare(o types.Object, init ast.Expr, n ast.Node) {
	loc := l.storageFor(o, n)
	l.fr.vars[o] = loc
	switch {
	case init == nil:
		l.invalidate(loc, n)
	default:
		if v := l.lookahead(init); v != nil {
			l.assign(loc, l.coerce(v, l.typeOf(init), n), n)
			return
		}
		if f := l.intoCall(init); f != nil {
			l.inlineFunc(f, loc, n)
			return
		}
		l.assign(loc, l.expr(init), n)
	}
}

// storageFor returns the storage of a local variable or parameter, which all inlined copies of its body share: they are never
// live at the same time, since P4 has no recursion.
func (l *lowerer) storageFor(o types.Object, n ast.Node) Loc {
	t := l.typ(o.Type())
	name := o.Name()
	if p := l.pathOf(); p != "" {
		name = p + "." + name
	}
	f := l.fr
	for f != nil && f.inst == nil {
		if f.outer != nil {
			f = f.outer
		} else {
			f = f.caller
		}
	}
	if f == nil {
		return l.y.alloc(t, name, name, n)
	}
	if loc, ok := f.inst.vars[o]; ok && types.Identical(loc.typeOf(), t) {
		return loc
	}
	loc := l.y.alloc(t, name, name, n)
	f.inst.vars[o] = loc
	return loc
}

// invalidate makes the headers at a place invalid.
func (l *lowerer) invalidate(p Loc, n ast.Node) {
	seen := map[*Header]bool{}
	leaves(p, func(h *Header, f *Field) {
		if f == nil && !h.Metadata && !seen[h] {
			seen[h] = true
			l.code.prim(n, "remove_header", h)
		}
	})
}

func (l *lowerer) ifStmt(s *ast.IfStmt) {
	if l.block == inVerify || l.block == inCompute {
		l.checksumIf(s)
		return
	}
	if c, ok := l.info.ValueOf(s.Cond).(bool); ok {
		if c {
			l.stmt(s.Then)
		} else if s.Else != nil {
			l.stmt(s.Else)
		}
		return
	}
	no := l.code.NewLabel()
	l.jumpIf(s.Cond, false, no)
	l.stmt(s.Then)
	if s.Else == nil {
		l.code.place(no)
		return
	}
	end := l.code.NewLabel()
	l.code.jump(end)
	l.code.place(no)
	l.stmt(s.Else)
	l.code.place(end)
}

// condJump goes on when a condition holds, else to a label.
func (l *lowerer) condJump(e ast.Expr, ifFalse Label) { l.jumpIf(e, false, ifFalse) }

// jumpIf goes to a label when a condition has the value want, and else goes on.
func (l *lowerer) jumpIf(e ast.Expr, want bool, to Label) {
	if l.code.dead() {
		return
	}
	if v, ok := l.info.ValueOf(e).(bool); ok {
		if v == want {
			l.code.jump(to)
		}
		return
	}
	switch x := e.(type) {
	case *ast.Paren:
		l.jumpIf(x.X, want, to)
		return
	case *ast.Unary:
		if x.Op == "!" {
			l.jumpIf(x.X, !want, to)
			return
		}
	case *ast.Binary:
		if (x.Op == "&&" || x.Op == "||") && l.hasEffects(x) {
			if (x.Op == "&&") == want {
				skip := l.code.NewLabel()
				l.jumpIf(x.X, !want, skip)
				l.jumpIf(x.Y, want, to)
				l.code.place(skip)
			} else {
				l.jumpIf(x.X, want, to)
				l.jumpIf(x.Y, want, to)
			}
			return
		}
	case *ast.Member:
		if sel := l.info.Selections[x]; sel != nil && (sel.Kind == types.SelHit || sel.Kind == types.SelMiss) {
			a := &Apply{Hit: -1, Miss: -1, ByHit: true}
			if (sel.Kind == types.SelHit) == want {
				a.Hit = to
			} else {
				a.Miss = to
			}
			l.applyTable(x.X, a)
			return
		}
	}
	c := l.scalar(e)
	if want {
		c = not(c)
	}
	if b, ok := c.(BoolConst); ok {
		if !bool(b) {
			l.code.jump(to)
		}
		return
	}
	l.branch(c, to, e)
}

func (l *lowerer) switchStmt(s *ast.SwitchStmt) {
	end := l.code.NewLabel()
	labels := make([]Label, len(s.Cases))
	for i := len(s.Cases) - 1; i >= 0; i-- {
		switch {
		case s.Cases[i].Body != nil:
			labels[i] = l.code.NewLabel()
		case i+1 < len(s.Cases):
			labels[i] = labels[i+1]
		default:
			labels[i] = end
		}
	}
	if m, ok := unparen(s.Tag).(*ast.Member); ok && l.isActionRun(m) {
		l.switchAction(s, m, labels, end)
	} else {
		l.switchValue(s, labels, end)
	}
	for i, c := range s.Cases {
		if c.Body == nil {
			continue
		}
		l.code.place(labels[i])
		l.stmt(c.Body)
		l.code.jump(end)
	}
	l.code.place(end)
}

func (l *lowerer) isActionRun(m *ast.Member) bool {
	sel := l.info.Selections[m]
	return sel != nil && sel.Kind == types.SelActionRun
}

func (l *lowerer) switchAction(s *ast.SwitchStmt, m *ast.Member, labels []Label, end Label) {
	a := &Apply{Hit: -1, Miss: -1, Default: end, ByAction: true}
	t := l.tableOf(m.X)
	if t == nil {
		return
	}
	for i, c := range s.Cases {
		if _, ok := c.Label.(*ast.DefaultExpr); ok {
			a.Default = labels[i]
			continue
		}
		name, _ := unparen(c.Label).(*ast.Name)
		var act *types.Action
		if name != nil {
			act, _ = l.info.Uses[name].(*types.Action)
		}
		found := false
		for _, ta := range t.Actions {
			if act != nil && ta.Action.Decl == act {
				a.Cases = append(a.Cases, Case{ta.Action, labels[i]})
				found = true
			}
		}
		if !found {
			l.errorf(c.Label, "unknown-action", "this is no action of table %s", t.Name)
		}
	}
	l.applyTable(m.X, a)
	l.code.add(Instr{Op: OpJump, Label: a.Default})
}

func (l *lowerer) switchValue(s *ast.SwitchStmt, labels []Label, end Label) {
	tag, _ := l.save(l.scalar(s.Tag), s.Tag).(Expr)
	def := end
	for i, c := range s.Cases {
		if _, ok := c.Label.(*ast.DefaultExpr); ok {
			def = labels[i]
			continue
		}
		x, y := unify(tag, l.scalar(c.Label))
		y = cast(y, x.Type())
		ne := not(l.equal(x, y, c.Label))
		if b, ok := ne.(BoolConst); ok {
			if !bool(b) {
				l.code.jump(labels[i])
				return
			}
			continue
		}
		if u, ok := ne.(*Unary); ok {
			if b, ok := u.X.(*Binary); ok && b.Op == "==" {
				ne = &Binary{"!=", b.X, b.Y, boolType}
			}
		}
		l.branch(ne, labels[i], c.Label)
	}
	l.code.jump(def)
}

func (l *lowerer) forStmt(s *ast.ForStmt) {
	l.stmts(s.Init)
	top, cont, brk := l.code.NewLabel(), l.code.NewLabel(), l.code.NewLabel()
	l.code.place(top)
	if s.Cond != nil {
		l.jumpIf(s.Cond, false, brk)
	}
	l.loopBody(s.Body, brk, cont)
	l.code.place(cont)
	l.stmts(s.Update)
	l.code.jump(top)
	l.code.place(brk)
}

func (l *lowerer) loopBody(s ast.Stmt, brk, cont Label) {
	l.loops = append(l.loops, loop{brk, cont})
	l.stmt(s)
	l.loops = l.loops[:len(l.loops)-1]
}

func (l *lowerer) forIn(s *ast.ForInStmt) {
	o := l.info.Defs[s]
	if o == nil {
		return
	}
	t := l.typ(o.Type())
	st, isScalar := scalarType(t)
	if r, ok := unparen(s.Collection).(*ast.RangeExpr); ok && isScalar {
		lo, hi := cast(l.scalar(r.Lo), st), cast(l.scalar(r.Hi), st)
		a, aok := lo.(*Const)
		b, bok := hi.(*Const)
		if aok && bok {
			n := new(big.Int).Sub(b.Val, a.Val)
			if n.Sign() < 0 {
				return
			}
			if n.Cmp(big.NewInt(maxUnroll)) < 0 {
				var vals []Val
				for i := range int(n.Int64()) + 1 {
					vals = append(vals, newConst(new(big.Int).Add(a.Val, big.NewInt(int64(i))), st))
				}
				l.unroll(s, o, vals)
				return
			}
		}
		l.countLoop(s, o, lo, hi, st)
		return
	}
	v := l.expr(s.Collection)
	var vals []Val
	switch c := v.(type) {
	case *agg:
		vals = c.elems
	case *stackLoc:
		for i := range c.stack.Elems {
			vals = append(vals, l.part(c, i, s))
		}
	case *unionStackLoc:
		for i := range c.stack.Elems {
			vals = append(vals, l.part(c, i, s))
		}
	case *structLoc:
		for _, f := range c.fields {
			vals = append(vals, plain(f))
		}
	default:
		l.errorf(s.Collection, "unsupported-statement", "a loop over this is not supported")
		return
	}
	for i := range vals {
		vals[i] = l.coerce(vals[i], t, s)
	}
	l.unroll(s, o, vals)
}

func (l *lowerer) unroll(s *ast.ForInStmt, o types.Object, vals []Val) {
	brk := l.code.NewLabel()
	for _, v := range vals {
		if l.code.dead() {
			break
		}
		if k, ok := v.(*Const); ok {
			l.fr.vars[o] = k
		} else {
			loc := l.storageFor(o, s)
			l.assign(loc, v, s)
			l.fr.vars[o] = loc
		}
		cont := l.code.NewLabel()
		l.loopBody(s.Body, brk, cont)
		l.code.place(cont)
	}
	l.code.place(brk)
}

// countLoop runs a body for every value from lo to hi.
func (l *lowerer) countLoop(s *ast.ForInStmt, o types.Object, lo, hi Expr, t Type) {
	loc := l.storageFor(o, s)
	last, _ := l.save(hi, s).(Expr)
	l.assign(loc, lo, s)
	l.fr.vars[o] = loc
	i, _ := plain(loc).(Expr)
	top, cont, brk := l.code.NewLabel(), l.code.NewLabel(), l.code.NewLabel()
	l.branch(binary("<=", i, last, boolType), brk, s)
	l.code.place(top)
	l.loopBody(s.Body, brk, cont)
	l.code.place(cont)
	l.branch(binary("!=", i, last, boolType), brk, s)
	l.assign(loc, binary("+", i, intConst(1, t), t), s)
	l.code.jump(top)
	l.code.place(brk)
}
