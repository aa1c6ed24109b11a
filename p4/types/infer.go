package types

import (
	"khop/p4/ast"
)

// infer finds the type arguments of a call from written ones or from the types of its arguments. The substitution maps the
// callee's type variables to types; ok is false after a report. With open, what cannot be inferred here stays a variable, for
// the call whose argument this one is to bind.
func (c *checker) infer(n ast.Node, callee string, tps []*TypeParam, written []Type, bound []boundArg, open bool) (subst, bool) {
	if len(tps) == 0 {
		for _, b := range bound {
			if b.given && mentionInference([]Type{b.x.typ}) {
				c.unify(b.param.typ, b.x.typ)
			}
		}
		return nil, true
	}
	vars := make([]Type, len(tps))
	for i, p := range tps {
		v := &TypeParam{Name: p.Name, infer: true}
		if i < len(written) && written[i] != DontCareType {
			v.bound = written[i]
		}
		vars[i] = v
	}
	s := newSubst(tps, vars)
	// Arguments with a type of their own come first, then list and structure expressions, then ints without width.
	for pass := range 3 {
		for i := range bound {
			b := &bound[i]
			if !b.given {
				if b.param.Default != nil && pass == 0 {
					c.unify(s.apply(b.param.typ), s.apply(c.operandOf(b.param.Default).typ))
				}
				continue
			}
			if b.x.dontCare || b.x.typ == InvalidType || passOf(b.x.typ) != pass {
				continue
			}
			c.unify(s.apply(b.param.typ), b.x.typ)
		}
	}
	final := subst{}
	for i, p := range tps {
		v := vars[i].(*TypeParam)
		if v.bound == nil {
			if c.optionalOnly(p, bound) {
				final[p] = DontCareType
				continue
			}
			for j := range bound {
				if bound[j].given && bound[j].x.typ == InvalidType {
					return nil, false
				}
			}
			if open {
				final[p] = v
				continue
			}
			c.cannotInfer(n, callee, p, bound)
			return nil, false
		}
		final[p] = subst{}.apply(v)
	}
	return final, true
}

// cannotInfer reports a type variable that stays unknown: because an argument that should fix it has a type of another form, or for
// want of an argument.
func (c *checker) cannotInfer(n ast.Node, callee string, p *TypeParam, bound []boundArg) {
	for _, b := range bound {
		if b.given && !b.x.dontCare && !isUntyped(b.x.typ) && mentions(b.param.typ, p) && !isTypeParam(b.param.typ) {
			c.err(b.x.expr, CodeMismatch, "argument %s must have type %s, not %s", quote(b.param.name), b.param.typ, b.x.typ)
			return
		}
	}
	c.err(n, CodeInfer, "cannot infer type argument %s of %s", quote(p.Name), callee).hint("write it: NAME<...>(...)")
}

// optionalOnly tells whether a type variable occurs only in the types of optional parameters that were left out.
func (c *checker) optionalOnly(p *TypeParam, bound []boundArg) bool {
	used := false
	for _, b := range bound {
		if mentions(b.param.typ, p) {
			used = true
			if b.given || !b.param.Optional {
				return false
			}
		}
	}
	return used
}

// mentions tells whether a type variable occurs in a type.
func mentions(t Type, p *TypeParam) bool {
	probe := subst{p: InvalidType}
	return probe.apply(t) != t
}

func passOf(t Type) int {
	switch {
	case resolve(t) == InfIntType:
		return 2
	case isUntyped(t):
		return 1
	}
	return 0
}

// unify binds inference variables in the parameter type p so that it becomes the argument type a where that is possible. What does not
// fit is reported later, when the argument is converted.
func (c *checker) unify(p, a Type) {
	p, a = resolve(p), resolve(a)
	if p == a || a == InvalidType || a == DontCareType || p == DontCareType {
		return
	}
	if v, ok := p.(*TypeParam); ok && v.infer {
		c.bindVar(v, a)
		return
	}
	if v, ok := a.(*TypeParam); ok && v.infer {
		c.bindVar(v, p)
		return
	}
	switch p := p.(type) {
	case *Stack:
		switch a := a.(type) {
		case *Stack:
			c.unify(p.Elem, a.Elem)
		case *Seq:
			for _, e := range a.Elems {
				c.unify(p.Elem, e)
			}
		}
	case *List:
		switch a := a.(type) {
		case *List:
			c.unify(p.Elem, a.Elem)
		case *Seq:
			for _, e := range a.Elems {
				c.unify(p.Elem, e)
			}
		}
	case *Tuple:
		if es := elemsOf(a); len(es) == len(p.Elems) {
			for i, e := range es {
				c.unify(p.Elems[i], e)
			}
		}
	case *Struct:
		c.unifyStruct(p, a)
	case *Extern:
		if b, ok := a.(*Extern); ok && b.Origin != nil && b.Origin == p.Origin {
			c.unifyLists(p.TypeArgs, b.TypeArgs)
		}
	case *Package:
		if b, ok := a.(*Package); ok && b.Origin != nil && b.Origin == p.Origin {
			c.unifyLists(p.TypeArgs, b.TypeArgs)
		}
	case *Block:
		b, ok := a.(*Block)
		if !ok || b.Kind != p.Kind {
			return
		}
		if b.Origin != nil && b.Origin == p.Origin {
			c.unifyLists(p.TypeArgs, b.TypeArgs)
			return
		}
		for i, q := range p.Params {
			if i < len(b.Params) {
				c.unify(q.typ, b.Params[i].typ)
			}
		}
	}
}

func (c *checker) unifyStruct(p *Struct, a Type) {
	switch a := a.(type) {
	case *Struct:
		if a.Origin != nil && a.Origin == p.Origin {
			c.unifyLists(p.TypeArgs, a.TypeArgs)
		}
	case *Record:
		for i, n := range a.Names {
			if f, _ := p.Field(n); f != nil {
				c.unify(f.typ, a.Elems[i])
			}
		}
	case *Seq, *Tuple:
		for i, e := range elemsOf(a) {
			if i < len(p.Fields) {
				c.unify(p.Fields[i].typ, e)
			}
		}
	}
}

func elemsOf(t Type) []Type {
	switch t := t.(type) {
	case *Seq:
		return t.Elems
	case *Tuple:
		return t.Elems
	}
	return nil
}

func (c *checker) unifyLists(a, b []Type) {
	for i := range a {
		if i < len(b) {
			c.unify(a[i], b[i])
		}
	}
}

// bindVar binds an inference variable. A list expression binds it to the tuple of its elements' types.
func (c *checker) bindVar(v *TypeParam, a Type) {
	if occurs(v, a) {
		return
	}
	switch t := a.(type) {
	case *Seq:
		if t.Dots {
			return
		}
		v.bound = tupleOf(t)
		return
	case *Record:
		return // a structure expression has no type of its own
	case *Basic:
		if t.Kind == DotsKind || t.Kind == NoHeaderKind || t.Kind == VoidKind {
			return
		}
	}
	v.bound = a
}

// tupleOf returns the tuple type of a list expression, nested ones included.
func tupleOf(s *Seq) Type {
	t := &Tuple{}
	for _, e := range s.Elems {
		if n, ok := resolve(e).(*Seq); ok && !n.Dots {
			e = tupleOf(n)
		}
		t.Elems = append(t.Elems, e)
	}
	return t
}

// occurs tells whether a variable occurs in a type, which would make it infinite.
func occurs(v *TypeParam, t Type) bool {
	if resolve(t) == Type(v) {
		return true
	}
	found := false
	each := func(ts []Type) {
		for _, e := range ts {
			found = found || occurs(v, e)
		}
	}
	switch t := resolve(t).(type) {
	case *Stack:
		return occurs(v, t.Elem)
	case *List:
		return occurs(v, t.Elem)
	case *Tuple:
		each(t.Elems)
	case *Seq:
		each(t.Elems)
	case *Record:
		each(t.Elems)
	case *Struct, *Extern, *Block, *Package:
		each(typeArgsOf(t))
	}
	return found
}
