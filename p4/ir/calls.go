package ir

import (
	"khop/p4/ast"
	"khop/p4/types"
)

// maxCalls bounds how many calls are inlined within one another.
const maxCalls = 200

// call lowers a call whose value is not used.
func (l *lowerer) call(e *ast.CallExpr, s ast.Stmt) {
	c := l.info.Calls[e]
	if c == nil {
		l.errorf(e, "unsupported-call", "this call is not supported")
		return
	}
	switch c.Kind {
	case types.CallFunc:
		l.inlineFunc(c, nil, s)
	case types.CallAction:
		l.inlineAction(c, s)
	case types.CallTable:
		l.applyTable(e, &Apply{Hit: -1, Miss: -1})
	case types.CallBlock, types.CallDirect:
		if b := l.calledBlock(c); b != nil {
			l.applyBlock(b, c, s)
		}
	case types.CallBuiltin:
		l.builtin(c, s)
	case types.CallExternFunc:
		l.externFunc(c, s)
	case types.CallMethod:
		l.method(c, s)
	default:
		l.errorf(e, "unsupported-call", "this call is not supported here")
	}
}

// callValue lowers a call whose value is used.
func (l *lowerer) callValue(e *ast.CallExpr) Val {
	c := l.info.Calls[e]
	if c == nil {
		l.errorf(e, "unsupported-call", "this call is not supported")
		return nil
	}
	switch c.Kind {
	case types.CallFunc:
		res := l.tempOf(l.typ(c.Result), e)
		l.inlineFunc(c, res, e)
		return plain(res)
	case types.CallBuiltin:
		if c.Builtin == types.IsValid {
			return l.valid(l.expr(c.Recv), e)
		}
	case types.CallMethod:
		if v := l.lookahead(e); v != nil {
			return l.save(v, e)
		}
		l.errorf(e, "unsupported-extern", "the value of %s is not available on the target", c.Func.Name())
		return nil
	case types.CallExternFunc:
		if c.Func.Name() == "static_assert" {
			return BoolConst(true)
		}
		l.errorf(e, "unsupported-extern", "extern function %s is not supported by the target", c.Func.Name())
		return nil
	}
	l.errorf(e, "unsupported-call", "the value of this call is not supported here")
	return nil
}

// intoCall returns the call of a function whose value can go straight to where it is assigned.
func (l *lowerer) intoCall(e ast.Expr) *types.Call {
	x, ok := unparen(e).(*ast.CallExpr)
	if !ok || l.info.Types[e].Conv != nil || allConst(l.info.ValueOf(e)) {
		return nil
	}
	c := l.info.Calls[x]
	if c == nil || c.Kind != types.CallFunc {
		return nil
	}
	for _, a := range c.Args {
		if a.Param.Dir == ast.Out || a.Param.Dir == ast.InOut {
			return nil
		}
	}
	return c
}

func (l *lowerer) deeper(n ast.Node) bool {
	l.calls++
	if l.calls > maxCalls {
		l.errorf(n, "call-too-deep", "calls are nested more than %d deep", maxCalls)
		return false
	}
	return true
}

// inlineFunc inlines a function. Its value goes to dst, if there is one, at the end.
func (l *lowerer) inlineFunc(c *types.Call, dst Loc, n ast.Node) {
	f := c.Func
	if f.Origin != nil {
		f = f.Origin
	}
	if f.Decl == nil || !l.deeper(n) {
		if f.Decl == nil {
			l.errorf(n, "unsupported-call", "function %s has no body", f.Name())
		}
		return
	}
	nf := &frame{vars: map[types.Object]any{}, caller: l.fr, ret: l.code.NewLabel(), hasRet: true, path: f.Name()}
	if f.Sig != nil && len(f.Sig.TypeParams) > 0 {
		nf.params = f.Sig.TypeParams
		for _, t := range c.TypeArgs {
			nf.args = append(nf.args, l.typ(t))
		}
	}
	l.bind(nf, c.Args, nil, n)
	// The body may read what dst holds through a parameter.
	res := dst
	if dst != nil {
		var used storage
		for _, a := range c.Args {
			if v, ok := nf.vars[a.Param]; ok {
				valLeaves(v, used.add)
			}
		}
		clash := false
		leaves(dst, func(h *Header, fl *Field) { clash = clash || used.has(h, fl) })
		if _, ok := dst.(*scalarLoc); !ok || clash {
			res = l.tempOf(l.typ(c.Result), n)
		}
	}
	nf.result = res
	l.inBody(nf, f.Decl.Body.List, n)
	if res != dst && dst != nil {
		l.assign(dst, plain(res), n)
	}
	l.calls--
}

// inBody lowers a body in a frame, with what ends the call.
func (l *lowerer) inBody(nf *frame, body []ast.Stmt, n ast.Node) {
	old, loops := l.fr, l.loops
	l.fr, l.loops = nf, nil
	l.stmts(body)
	l.fr, l.loops = old, loops
	l.code.place(nf.ret)
	for _, c := range nf.copyOut {
		l.assign(c.dst, plain(c.src), n)
	}
}

// inlineAction inlines an action that is called directly.
func (l *lowerer) inlineAction(c *types.Call, n ast.Node) {
	a := c.Action
	if a.Decl == nil || !l.deeper(n) {
		return
	}
	nf := &frame{outer: l.instFrame(), vars: map[types.Object]any{}, caller: l.fr, ret: l.code.NewLabel(), hasRet: true}
	if a.Owner == nil {
		nf.outer = nil
	}
	nf.path = joinPath(l.pathOf(), a.Name())
	l.noteCall(a)
	nf.called = true
	l.bind(nf, c.Args, a.Decl.Body, n)
	l.inBody(nf, a.Decl.Body.List, n)
	l.calls--
}

// noteCall tells the control plane of an action that an apply block calls.
func (l *lowerer) noteCall(a *types.Action) {
	for f := l.fr; f != nil; f = f.caller {
		if f.action || f.called {
			return
		}
	}
	f := l.instFrame()
	if f == nil {
		return
	}
	for _, c := range f.inst.scope.Called {
		if c.Decl == a {
			return
		}
	}
	path := ""
	if a.Owner != nil {
		path = f.path
	}
	f.inst.scope.Called = append(f.inst.scope.Called,
		&Action{Name: controlName(path, a.Name(), a.Annos()), Decl: a, Node: a.Decl, Code: &Code{}})
}

func joinPath(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// bind evaluates the arguments of a call in the caller's frame and binds the parameters in nf. A parameter stands for its argument
// itself where nothing can tell the difference from copying in and out (specification section 6.8.1). body is what else the
// callee can see the caller's variables from; nil if it cannot.
func (l *lowerer) bind(nf *frame, args []types.Arg, body ast.Node, n ast.Node) {
	vals := make([]Val, len(args))
	locs := make([]Loc, len(args))
	last := -1
	for i, a := range args {
		if a.Expr != nil && l.hasEffects(a.Expr) {
			last = i
		}
	}
	for i, a := range args {
		switch {
		case a.Expr == nil || a.DontCare:
		case a.Param.Dir == ast.Out || a.Param.Dir == ast.InOut:
			locs[i] = l.lvalue(a.Expr)
		default:
			vals[i] = l.argVal(a.Expr)
			if i < last {
				vals[i] = l.save(vals[i], n)
			}
		}
	}
	touched, written := l.touches(nf, body)
	outer := l.fr
	type copyIn struct {
		dst Loc
		src Val
	}
	var in []copyIn
	for i, a := range args {
		switch {
		case locs[i] != nil:
			if direct(locs[i]) && !overlapsOthers(i, vals, locs) && !touched.overlaps(locs[i]) {
				nf.vars[a.Param] = locs[i]
				if a.Param.Dir == ast.Out {
					defer l.invalidate(locs[i], n)
				}
				continue
			}
			t := l.paramStorage(nf, a)
			nf.vars[a.Param] = t
			if a.Param.Dir == ast.InOut {
				in = append(in, copyIn{t, l.read(locs[i], n)})
			} else {
				defer l.invalidate(t, n)
			}
			nf.copyOut = append(nf.copyOut, copyOut{locs[i], t, n})
		case a.DontCare:
			nf.vars[a.Param] = l.paramStorage(nf, a)
		case vals[i] != nil:
			v := vals[i]
			if simple(v) && !overlapsOut(v, locs) && !written.overlaps(v) {
				nf.vars[a.Param] = v
				continue
			}
			t := l.paramStorage(nf, a)
			nf.vars[a.Param] = t
			in = append(in, copyIn{t, v})
		}
	}
	l.fr = outer
	for _, c := range in {
		l.assign(c.dst, c.src, n)
	}
}

// argVal lowers an argument that is read, or that names an object.
func (l *lowerer) argVal(e ast.Expr) Val {
	if v := l.lookahead(e); v != nil {
		return l.coerce(l.save(v, e), l.typeOf(e), e)
	}
	return l.expr(e)
}

func (l *lowerer) paramStorage(nf *frame, a types.Arg) Loc {
	old := l.fr
	l.fr = nf
	t := l.storageFor(a.Param, a.Param.Node())
	l.fr = old
	return t
}

// direct tells whether a place stays the same during a call.
func direct(x Loc) bool {
	switch x := x.(type) {
	case *scalarLoc:
		_, ok := x.ref.(*FieldRef)
		return ok
	case *structLoc:
		for _, f := range x.fields {
			if !direct(f) {
				return false
			}
		}
		return true
	case *headerLoc:
		return x.static()
	case *unionLoc:
		return x.union != nil
	case *stackLoc, *unionStackLoc, *varbitLoc:
		return true
	}
	return false
}

// simple tells whether a value may stand in for a parameter wherever that is read.
func simple(v Val) bool {
	switch v := v.(type) {
	case *Const, BoolConst, *ParamRef, *FieldRef:
		return true
	case Loc:
		return direct(v)
	case Expr:
		return false
	case *agg:
		for _, e := range v.elems {
			if !simple(e) {
				return false
			}
		}
		if v.valid != nil {
			_, ok := v.valid.(BoolConst)
			return ok
		}
		return true
	}
	return true // externs, packets, strings
}

func overlapsOut(v Val, locs []Loc) bool {
	for _, o := range locs {
		if o != nil {
			var s storage
			leaves(o, s.add)
			if s.overlaps(v) {
				return true
			}
		}
	}
	return false
}

func overlapsOthers(i int, vals []Val, locs []Loc) bool {
	var s storage
	leaves(locs[i], s.add)
	for j, o := range locs {
		if j != i && o != nil && s.overlaps(o) {
			return true
		}
	}
	return false
}

// touches returns what a body reads or writes, and what it writes, by names that it does not declare itself.
func (l *lowerer) touches(nf *frame, body ast.Node) (all, written storage) {
	if body == nil {
		return
	}
	old := l.fr
	l.fr = nf.outer
	defer func() { l.fr = old }()
	seen := map[ast.Node]bool{}
	add := func(s *storage, e *ast.Name) {
		if loc, ok := l.peek(l.info.Uses[e]).(Loc); ok {
			leaves(loc, s.add)
		}
	}
	var visit func(ast.Node) bool
	visit = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Name:
			add(&all, n)
		case *ast.AssignStmt:
			if r := root(n.LHS); r != nil {
				add(&written, r)
			}
		case *ast.CallExpr:
			c := l.info.Calls[n]
			if c == nil {
				return true
			}
			for _, a := range c.Args {
				if a.Expr != nil && (a.Param.Dir == ast.Out || a.Param.Dir == ast.InOut) {
					if r := root(a.Expr); r != nil {
						add(&written, r)
					}
				}
			}
			if c.Recv != nil && c.Kind == types.CallBuiltin {
				if r := root(c.Recv); r != nil {
					add(&written, r)
				}
			}
			if c.Action != nil && c.Action.Decl != nil && !seen[c.Action.Decl] {
				seen[c.Action.Decl] = true
				walk(c.Action.Decl.Body, visit)
			}
		}
		return true
	}
	walk(body, visit)
	return
}

// peek is lookup without a report of names that have no storage.
func (l *lowerer) peek(o types.Object) any {
	for f := l.fr; f != nil; f = f.outer {
		if b, ok := f.vars[o]; ok {
			return b
		}
	}
	return nil
}

// root returns the name that an lvalue starts with.
func root(e ast.Expr) *ast.Name {
	for {
		switch x := e.(type) {
		case *ast.Name:
			return x
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

// builtin lowers setValid, setInvalid, push_front and pop_front.
func (l *lowerer) builtin(c *types.Call, n ast.Node) {
	switch c.Builtin {
	case types.SetValid, types.SetInvalid:
		v := l.lvalue(c.Recv)
		h, ok := v.(*headerLoc)
		if !ok {
			if v != nil {
				l.errorf(n, "unsupported-call", "%s is for headers only", c.Builtin)
			}
			return
		}
		op := "add_header"
		if c.Builtin == types.SetInvalid {
			op = "remove_header"
		}
		switch {
		case h.static():
			l.code.prim(n, op, h.hdr)
		case h.index != nil:
			l.eachElem(h, n, func(e *headerLoc) { l.code.prim(n, op, e.hdr) })
		default:
			l.errorf(n, "unsupported-call", "the next or last element of a stack of unions cannot be used here")
		}
	case types.PushFront, types.PopFront:
		op := "push"
		if c.Builtin == types.PopFront {
			op = "pop"
		}
		count := l.scalar(c.Args[0].Expr)
		k, ok := count.(*Const)
		if !ok {
			l.errorf(n, "not-constant", "the count must be known at compile time")
			return
		}
		k = newConst(k.Val, Type{Width: 32})
		switch s := l.lvalue(c.Recv).(type) {
		case *stackLoc:
			l.code.prim(n, op, s.stack, k)
		case *unionStackLoc:
			l.code.prim(n, op, s.stack, k)
		}
	case types.IsValid:
	default:
		l.errorf(n, "unsupported-call", "%s has no effect", c.Builtin)
	}
}
