package types

import (
	"khop/p4/ast"
)

func unparen(e ast.Expr) ast.Expr {
	for {
		p, ok := e.(*ast.Paren)
		if !ok {
			return e
		}
		e = p.X
	}
}

// call checks a call. Calls that return nothing have mode NoValue.
func (c *checker) call(e *ast.CallExpr) operand {
	fun := unparen(e.Fun)
	var x operand
	if m, ok := fun.(*ast.Member); ok {
		x = c.member(m, true)
		x.expr = m
		x = c.set(x)
	} else {
		x = c.rawExpr(fun)
	}
	if p, ok := e.Fun.(*ast.Paren); ok {
		y := x
		y.expr = p
		c.set(y)
	}
	switch {
	case x.typ == InvalidType:
		c.ignoreArgs(e)
		return bad(e)
	case x.mode == TypeMode:
		return c.constructorCall(e, x.typ.(*Meta).Of)
	case x.mode != Builtin:
		c.ignoreArgs(e)
		c.err(e.Fun, CodeNotCallable, "an expression of type %s cannot be called", x.typ)
		return bad(e)
	}
	if len(x.objs) > 0 {
		switch o := x.objs[0].(type) {
		case *Table:
			return c.tableCall(e, o)
		case *Action:
			return c.actionCall(e, o)
		case *Func:
			return c.funcCall(e, fun, x.objs)
		}
	}
	m, ok := fun.(*ast.Member)
	if !ok {
		return bad(e)
	}
	if s := c.info.Selections[m]; s != nil && s.Kind == SelApply {
		return c.applyCall(e, m)
	}
	return c.builtinCall(e, m, x.typ.(*Signature))
}

// ignoreArgs checks the arguments of a call that is wrong already.
func (c *checker) ignoreArgs(e *ast.CallExpr) {
	for _, t := range e.TypeArgs {
		c.typ(t)
	}
	c.args(e.Args)
}

// typeArguments resolves the type arguments of a call; ok is false after a report.
func (c *checker) typeArguments(n ast.Node, callee string, tps []*TypeParam, args []ast.Type) (ts []Type, ok bool) {
	ok = true
	for _, a := range args {
		t := c.typ(a)
		if t == VoidType {
			c.err(a, CodeBadType, "void cannot be a type argument")
			t = InvalidType
		}
		if t == InvalidType {
			ok = false
		}
		ts = append(ts, t)
	}
	if len(args) > 0 && len(args) != len(tps) {
		c.err(n, CodeTypeArgs, "%s takes %d type %s, not %d", callee, len(tps), plural(len(tps), "argument"), len(args))
		return nil, false
	}
	return ts, ok
}

// pick chooses the function that a call means among overloaded ones.
func (c *checker) pick(n ast.Node, objs []Object, args []*ast.Arg) *Func {
	if len(objs) == 1 {
		return objs[0].(*Func)
	}
	var fit []*Func
	for _, o := range objs {
		if f, ok := o.(*Func); ok && accepts(f.Sig.Params, args) {
			fit = append(fit, f)
		}
	}
	if len(fit) == 1 {
		return fit[0]
	}
	name := objs[0].Name()
	if len(fit) == 0 {
		r := c.err(n, CodeArgCount, "no %s can be called with these arguments", describe(objs[0]))
		for _, o := range objs {
			c.note(r, o.Pos(), "%s %s", name, o.Type())
		}
		return nil
	}
	r := c.err(n, CodeAmbiguous, "the call of %s is ambiguous: %d declarations take these arguments", quote(name), len(fit))
	for _, f := range fit {
		c.note(r, f.pos, "%s %s", name, f.Sig)
	}
	return nil
}

func (c *checker) funcCall(e *ast.CallExpr, fun ast.Expr, objs []Object) operand {
	xs := c.args(e.Args)
	f := c.pick(e, objs, e.Args)
	if f == nil {
		c.typeArgsOnly(e.TypeArgs)
		return bad(e)
	}
	f.used = true
	if f.Origin != nil {
		f.Origin.used = true
	}
	c.info.Uses[fun] = f
	call := &Call{Expr: e, Func: f}
	if len(objs) > 1 {
		c.deprecated(fun, f)
	}
	kind := CallExternFunc
	switch {
	case f.Recv != nil:
		kind = CallMethod
		if m, ok := fun.(*ast.Member); ok {
			call.Recv = m.X
			call.Instance = c.instanceOf(m.X)
			c.info.Selections[m] = &Selection{Kind: SelMethod, Obj: f}
			c.deprecated(m.Name, f)
		}
		if c.this != nil && c.ctx.fn != nil && c.ctx.fn.name == f.name && call.Instance == c.this {
			c.err(e, CodeRecursion, "method %s calls itself", quote(f.name))
		}
	case f.Decl != nil:
		kind = CallFunc
	}
	call.Kind = kind
	c.callPlace(e, call)
	callee := kindOf(f) + " " + quote(f.name)
	bound, ok := c.bind(e, callee, f.Sig.Params, e.Args, xs, nil)
	targs, ok2 := c.typeArguments(e, callee, f.Sig.TypeParams, e.TypeArgs)
	res := f.Sig.Result
	if !ok || !ok2 {
		if len(f.Sig.TypeParams) > 0 {
			return bad(e)
		}
		return result(e, res)
	}
	s, ok := c.infer(e, callee, f.Sig.TypeParams, targs, bound, false)
	if !ok {
		return bad(e)
	}
	// Whether an extern needs a directionless argument at compile time is its own affair.
	// A factory's arguments are those of a constructor.
	call.Args, ok = c.finishArgs(bound, s, argRules{runtime: !isObjectType(res), body: kind == CallFunc})
	call.Result = s.apply(res)
	for _, p := range f.Sig.TypeParams {
		call.TypeArgs = append(call.TypeArgs, s.apply(p))
	}
	c.info.Calls[e] = call
	c.wellFormed(e, call)
	if ok {
		c.coreMethod(e, call)
	}
	y := result(e, call.Result)
	if kind == CallFunc && c.ctx.place == atTop {
		return bad(e) // reported by callPlace
	}
	if isObjectType(call.Result) || c.ctx.inCtor && constArgs(bound) {
		y.mode = ConstMode // a factory: the object, or the argument of a constructor, is made at compile time
	}
	if ok && f.Decl == nil && f.Recv == nil && f.name == "static_assert" {
		c.staticAssert(e, call, &y)
	}
	return y
}

func constArgs(bound []boundArg) bool {
	for _, b := range bound {
		if b.given && b.x.mode != ConstMode {
			return false
		}
	}
	return true
}

// typeArgsOnly checks the type arguments of a call that is wrong already.
func (c *checker) typeArgsOnly(ts []ast.Type) {
	for _, t := range ts {
		c.typ(t)
	}
}

// result is the operand of a call that returns a type.
func result(e ast.Expr, t Type) operand {
	if t == InvalidType {
		return bad(e)
	}
	x := operand{expr: e, mode: RValue, typ: t}
	if t == VoidType || t == nil {
		x.mode = NoValue
		x.typ = VoidType
	}
	return x
}

// wellFormed reports parameter types that type arguments made illegal.
func (c *checker) wellFormed(n ast.Node, call *Call) {
	for _, a := range call.Args {
		if a.Type == InvalidType || a.Type == DontCareType {
			continue
		}
		if _, generic := a.Param.typ.(*TypeParam); generic && a.Type != MatchKindType {
			if why := paramTypeProblem(a.Type, a.Param.Dir, paramsOf{what: "function", proto: true}); why != "" {
				r := c.err(n, CodeParamType, "parameter %s would have type %s: %s", quote(a.Param.name), a.Type, why)
				if a.Type == InfIntType {
					r.Message = "parameter " + quote(a.Param.name) + " would have type int, which has no width"
					r.hint("give the value a width, for instance 32w1")
				}
				return
			}
		}
		if holdsInt(a.Type) && a.Param.Dir != ast.None {
			c.err(n, CodeInfer, "parameter %s would have type %s, where int has no width", quote(a.Param.name), a.Type).
				hint("give the numbers in it a width, for instance 32w1")
			continue
		}
		if why := c.illFormed(a.Type); why != "" {
			c.err(n, CodeBadType, "parameter %s would have type %s: %s", quote(a.Param.name), a.Type, why)
		}
	}
	if call.Result == InfIntType && call.Func != nil && call.Func.Sig.Result != InfIntType {
		c.err(n, CodeInfer, "the result would have type int, which has no width").hint("give the argument a width, for instance 32w1")
		return
	}
	if call.Result != nil {
		if why := c.illFormed(call.Result); why != "" {
			c.err(n, CodeBadType, "the result would have type %s: %s", call.Result, why)
		}
	}
}

// holdsInt tells whether a tuple type has an element of type int.
func holdsInt(t Type) bool {
	tup, ok := resolve(t).(*Tuple)
	if !ok {
		return false
	}
	for _, e := range tup.Elems {
		if resolve(e) == InfIntType || holdsInt(e) {
			return true
		}
	}
	return false
}

// staticAssert evaluates static_assert(check, message) (specification section 19).
func (c *checker) staticAssert(e *ast.CallExpr, call *Call, y *operand) {
	if len(call.Args) == 0 || call.Args[0].Expr == nil {
		return
	}
	ok, known := c.info.ValueOf(call.Args[0].Expr).(bool)
	if !known {
		return
	}
	y.mode, y.val = ConstMode, ok
	if ok {
		return
	}
	msg := "static assertion failed"
	if len(call.Args) > 1 && call.Args[1].Expr != nil {
		if s, ok := c.info.ValueOf(call.Args[1].Expr).(string); ok && s != "" {
			msg += ": " + s
		}
	}
	c.err(e, CodeStaticAssert, "%s", msg)
}

// instanceOf returns the instance that an expression names, or nil.
func (c *checker) instanceOf(e ast.Expr) *Instance {
	switch e := unparen(e).(type) {
	case *ast.Name:
		i, _ := c.info.Uses[e].(*Instance)
		return i
	case *ast.This:
		return c.this
	}
	return nil
}

func (c *checker) tableCall(e *ast.CallExpr, t *Table) operand {
	xs := c.args(e.Args)
	t.used = true
	call := &Call{Kind: CallTable, Expr: e, Table: t, Result: &TableResult{t}}
	if m, ok := unparen(e.Fun).(*ast.Member); ok {
		call.Recv = m.X
	} else {
		c.err(e, CodeNotCallable, "table %s cannot be called", quote(t.name)).hint("write %s.apply()", t.name)
		return bad(e)
	}
	if len(xs) > 0 {
		c.err(e.Args[0], CodeArgCount, "apply of a table takes no arguments")
	}
	c.typeArgsOnly(e.TypeArgs)
	if len(e.TypeArgs) > 0 {
		c.err(e, CodeTypeArgs, "apply takes no type arguments")
	}
	if c.ctx.table == t {
		c.err(e, CodeRecursion, "table %s applies itself", quote(t.name))
	}
	c.callPlace(e, call)
	c.info.Calls[e] = call
	return operand{mode: RValue, typ: call.Result}
}

func (c *checker) actionCall(e *ast.CallExpr, a *Action) operand {
	xs := c.args(e.Args)
	call := &Call{Kind: CallAction, Expr: e, Action: a, Result: VoidType}
	c.info.Uses[unparen(e.Fun)] = a
	c.callPlace(e, call)
	callee := describe(a)
	if _, ok := c.typeArguments(e, callee, nil, e.TypeArgs); ok {
		if bound, ok := c.bind(e, callee, a.Params, e.Args, xs, nil); ok {
			call.Args, _ = c.finishArgs(bound, nil, argRules{runtime: true})
		}
	}
	c.info.Calls[e] = call
	return operand{mode: NoValue, typ: VoidType}
}

// applyCall checks apply of a parser or control: of an instance, or of a type (direct invocation, section 15.1).
func (c *checker) applyCall(e *ast.CallExpr, m *ast.Member) operand {
	xs := c.args(e.Args)
	x := c.operandOf(m.X)
	call := &Call{Kind: CallBlock, Expr: e, Recv: m.X, Result: VoidType}
	b, _ := resolve(x.typ).(*Block)
	if meta, ok := x.typ.(*Meta); ok {
		call.Kind = CallDirect
		b, _ = resolve(meta.Of).(*Block)
		call.Recv = nil
		if b == nil {
			return bad(e)
		}
		switch {
		case b.IsType:
			c.err(e, CodeNotCallable, "%s is a type without body and cannot be applied", quote(b.Name))
			return bad(e)
		case needsArgs(b.CtorParams):
			c.err(e, CodeNotCallable, "%s has constructor parameters and cannot be applied directly", quote(b.Name)).
				hint("instantiate it first: %s(...) name;", b.Name)
			return bad(e)
		}
		if c.ctx.block == b || c.ctx.block != nil && b.Origin == c.ctx.block {
			c.err(e, CodeRecursion, "%s %s applies itself", b.Kind, quote(b.Name))
		}
	} else {
		call.Instance = c.instanceOf(m.X)
	}
	if b == nil {
		return bad(e)
	}
	c.callPlaceBlock(e, b)
	callee := b.Kind.String() + " " + quote(b.Name)
	tps := b.TypeParams
	targs, ok := c.typeArguments(e, callee, tps, e.TypeArgs)
	bound, ok2 := c.bind(e, callee, b.Params, e.Args, xs, nil)
	call.Block = b
	if ok && ok2 {
		if s, ok := c.infer(e, callee, tps, targs, bound, false); ok {
			call.Args, _ = c.finishArgs(bound, s, argRules{})
			if len(tps) > 0 {
				for _, p := range tps {
					call.TypeArgs = append(call.TypeArgs, s.apply(p))
				}
				call.Block = b.instantiate(call.TypeArgs)
			}
		}
	}
	c.info.Calls[e] = call
	return operand{mode: NoValue, typ: VoidType}
}

func needsArgs(ps []*Param) bool {
	for _, p := range ps {
		if p.Default == nil && !p.Optional {
			return true
		}
	}
	return false
}

// builtinCall checks a built-in method.
func (c *checker) builtinCall(e *ast.CallExpr, m *ast.Member, sig *Signature) operand {
	xs := c.args(e.Args)
	k := builtins[m.Name.Name]
	call := &Call{Kind: CallBuiltin, Expr: e, Builtin: k, Recv: m.X, Result: sig.Result}
	c.info.Calls[e] = call
	callee := "method " + quote(m.Name.Name)
	x := c.operandOf(m.X)
	y := result(e, sig.Result)
	if _, ok := c.typeArguments(e, callee, nil, e.TypeArgs); !ok {
		return y
	}
	bound, ok := c.bind(e, callee, sig.Params, e.Args, xs, nil)
	if !ok {
		return y
	}
	if call.Args, ok = c.finishArgs(bound, nil, argRules{}); !ok {
		return y
	}
	switch k {
	case SetValid, SetInvalid, PushFront, PopFront:
		if x.mode != LValue {
			c.err(m.X, CodeNotLValue, "%s changes its header, which cannot be assigned here", quote(m.Name.Name))
		}
		c.written(m.X)
		if k == PushFront || k == PopFront {
			if v := c.localIntArg(&xs[0], m.Name.Name); v != nil && v.Sign() <= 0 {
				c.err(xs[0].expr, CodeMismatch, "the argument of %s must be positive, not %s", m.Name.Name, v)
			}
		}
	case IsValid:
	default:
		c.sizeCall(e, x, k, &y)
	}
	return y
}

// localIntArg returns the value of a count, nil when it depends on constructor parameters.
func (c *checker) localIntArg(x *operand, name string) *bigInt {
	if x.mode == ConstMode && x.val == nil {
		return nil
	}
	return c.localInt(x, "the argument of "+name)
}
