package types

import (
	"khop/p4/ast"
)

// constructorCall checks T(...) as an expression.
func (c *checker) constructorCall(e *ast.CallExpr, t Type) operand {
	if len(e.TypeArgs) > 0 {
		callee := t.String()
		targs, ok := c.typeArguments(e, callee, typeParamsOf(t), e.TypeArgs)
		if !ok {
			c.args(e.Args)
			return bad(e)
		}
		t = instantiate(t, targs)
	}
	call := c.construct(e.Fun, t, e.Args, e)
	if call == nil {
		return bad(e)
	}
	call.Expr = e
	c.info.Calls[e] = call
	if x, ok := call.Type.(*Extern); ok {
		for _, m := range x.Methods() {
			if m.Abstract && findAnno(m.annos, "optional") == nil {
				c.err(e, CodeAbstract, "extern %s has abstract methods and cannot be made by a constructor call", quote(x.Name)).
					hint("instantiate it with an initializer: %s(...) name = { ... };", x.Name)
				break
			}
		}
	}
	c.constructorPlace(e, call.Type)
	return operand{mode: ConstMode, typ: call.Type}
}

// construct checks the constructor arguments of an instantiation or constructor call. It returns nil after a report.
func (c *checker) construct(te ast.Node, t Type, args []*ast.Arg, n ast.Node) *Call {
	var xs []operand
	c.in(func(k *context) { k.inCtor = true }, func() { xs = c.args(args) })
	t = c.overloaded(t, args)
	call := &Call{Kind: CallConstructor, Type: t}
	var params []*Param
	callee := ""
	switch t := t.(type) {
	case *Extern:
		callee = "extern " + quote(t.Name)
		ctors := t.Ctors()
		var objs []Object
		for _, f := range ctors {
			objs = append(objs, f)
		}
		if len(objs) == 0 {
			if len(args) == 0 && t.implicitCtor() {
				if len(t.TypeParams) > 0 {
					c.err(te, CodeTypeArgs, "%s needs %d type %s", t, len(t.TypeParams), plural(len(t.TypeParams), "argument"))
					return nil
				}
				return call
			}
			c.err(n, CodeNotCallable, "extern %s has no constructor and cannot be instantiated", quote(t.Name))
			return nil
		}
		f := c.pick(n, objs, args)
		if f == nil {
			return nil
		}
		call.Func = f
		params = f.Sig.Params
	case *Block:
		callee = t.Kind.String() + " " + quote(t.Name)
		if t.IsType {
			c.err(te, CodeNotCallable, "%s is a %s type without body and cannot be instantiated", quote(t.Name), t.Kind).
				hint("instantiate a %s that is declared with a body", t.Kind)
			return nil
		}
		if b := c.ctx.block; b != nil && (b == t || b == t.Origin) {
			c.err(n, CodeRecursion, "%s %s instantiates itself", t.Kind, quote(t.Name))
			return nil
		}
		params = t.CtorParams
	case *Package:
		callee = "package " + quote(t.Name)
		params = t.Params
	default:
		if t != InvalidType {
			c.err(te, CodeNotCallable, "%s has no constructor", t).
				hint("only externs, parsers, controls and packages are instantiated; to convert a value, write (%s)(...)", t)
		}
		return nil
	}
	bound, ok := c.bind(n, callee, params, args, xs, nil)
	if !ok {
		return nil
	}
	tps := typeParamsOf(t)
	_, isBlock := t.(*Block)
	s, ok := c.infer(n, callee, tps, nil, bound, isBlock && c.ctx.inCtor)
	if !ok {
		return nil
	}
	if len(tps) > 0 {
		for _, p := range tps {
			call.TypeArgs = append(call.TypeArgs, s.apply(p))
		}
		call.Type = instantiate(t, call.TypeArgs)
		if x, ok := call.Type.(*Extern); ok && call.Func != nil {
			call.Func = sameCtor(x, call.Func)
		}
	} else {
		call.TypeArgs = typeArgsOf(t)
	}
	if call.Args, ok = c.finishArgs(bound, s, argRules{}); !ok {
		return nil
	}
	call.Result = call.Type
	if mentionInference(call.TypeArgs) {
		c.open = append(c.open, call)
	}
	if !c.ctx.inCtor {
		ok = c.close()
	}
	if !ok {
		return nil
	}
	return call
}

// close settles the type arguments of constructor calls that only the call around them could infer.
func (c *checker) close() bool {
	ok := true
	for _, call := range c.open {
		args, _ := subst{}.list(call.TypeArgs)
		if mentionInference(args) {
			c.err(call.Expr, CodeInfer, "cannot infer the type arguments of %s", call.Type).hint("write them: NAME<...>(...)")
			ok = false
			continue
		}
		call.TypeArgs = args
		call.Type = subst{}.apply(call.Type)
		for i := range call.Args {
			call.Args[i].Type = subst{}.apply(call.Args[i].Type)
		}
		call.Result = call.Type
		c.set(operand{expr: call.Expr, mode: ConstMode, typ: call.Type})
	}
	c.open = nil
	return ok
}

// overloaded returns the declaration of a control, parser or package whose constructor takes the arguments, when its name is
// declared more than once.
func (c *checker) overloaded(t Type, args []*ast.Arg) Type {
	for _, s := range c.siblings[t] {
		if accepts(ctorParams(s), args) {
			return s
		}
	}
	return t
}

// ctorParams returns the constructor parameters of a parser, control or package.
func ctorParams(t Type) []*Param {
	switch t := t.(type) {
	case *Block:
		return t.CtorParams
	case *Package:
		return t.Params
	}
	return nil
}

// implicitCtor tells whether an extern without constructors may be instantiated without arguments: one with abstract methods
// alone, whose object initializer makes it.
func (t *Extern) implicitCtor() bool {
	for _, m := range t.Methods() {
		if m.Abstract {
			return true
		}
	}
	return false
}

func sameCtor(x *Extern, f *Func) *Func {
	origin := f
	if f.Origin != nil {
		origin = f.Origin
	}
	for _, g := range x.Ctors() {
		if g.Origin == origin {
			return g
		}
	}
	return f
}

func typeArgsOf(t Type) []Type {
	switch t := t.(type) {
	case *Struct:
		return t.TypeArgs
	case *Extern:
		return t.TypeArgs
	case *Block:
		return t.TypeArgs
	case *Package:
		return t.TypeArgs
	}
	return nil
}
