package types

import (
	"khop/p4/ast"
)

// selectExpr checks select (Exprs) { Cases }.
func (c *checker) selectExpr(s *ast.SelectExpr) {
	var want []Type
	for _, e := range s.Exprs {
		x := c.expr(e)
		t := x.typ
		if resolve(t) == InfIntType {
			c.err(e, CodeSelect, "the argument of select has type int, so its width is not known").
				hint("give it a width, for instance 8w1")
			t = InvalidType
		} else if seq, ok := resolve(t).(*Seq); ok {
			t = tupleOf(seq)
			c.convert(e, t)
		}
		if t != InvalidType && !selectable(t) {
			c.err(e, CodeSelect, "select cannot be on %s", t).
				hint("it takes bit<W>, int<W>, bool, an enum, or a tuple of these")
			t = InvalidType
		}
		want = append(want, t)
	}
	var any ast.Node
	for _, k := range s.Cases {
		if any != nil {
			r := c.warn(k, CodeUnreachable, "this case is never reached")
			c.note(r, any.Pos(), "this one matches everything")
		}
		sets := c.keysets(k.Keys, want, k, "the select")
		c.info.Keysets[k] = sets
		if any == nil && c.matchesAll(k) {
			any = k
		}
		c.target(k.Next)
	}
}

// selectable tells whether a value can be compared with keysets.
func selectable(t Type) bool {
	switch t := underlying(t).(type) {
	case *Bit, *Int, *Enum:
		return true
	case *Basic:
		return t.Kind == BoolKind || t.Kind == ErrorKind || t.Kind == Invalid
	case *Tuple:
		for _, e := range t.Elems {
			if !selectable(e) {
				return false
			}
		}
		return true
	}
	return false
}

// keysets checks the components of a label or of an entry's key against the types that they are compared with. A single
// default, _ or value set covers all of them.
func (c *checker) keysets(keys []ast.Expr, want []Type, n ast.Node, what string) (sets []*Keyset) {
	c.in(func(x *context) { x.label = true }, func() { sets = c.labels(keys, want, n, what) })
	return sets
}

func (c *checker) labels(keys []ast.Expr, want []Type, n ast.Node, what string) []*Keyset {
	if len(keys) == 1 && len(want) != 1 {
		switch k := unparen(keys[0]).(type) {
		case *ast.DefaultExpr, *ast.DontCare:
			return []*Keyset{c.keyset(keys[0], &Tuple{want})}
		case *ast.Name:
			if objs := c.lookup(k.Name, k.Global, noState); len(objs) > 0 {
				if _, ok := objs[0].(*ValueSet); ok {
					return []*Keyset{c.keyset(keys[0], &Tuple{want})}
				}
			}
		}
	}
	if len(keys) == 1 && len(want) > 0 {
		// A list expression stands for its elements, unless the one key is a tuple itself.
		if l, ok := unparen(keys[0]).(*ast.ListExpr); ok && len(l.Elems) == len(want) && !(len(want) == 1 && isCompound(want[0])) {
			out := c.labels(l.Elems, want, n, what)
			c.setAll(keys[0], operand{mode: RValue, typ: &Set{&Tuple{want}}})
			return out
		}
	}
	if len(keys) != len(want) {
		for _, k := range keys {
			c.keyset(k, InvalidType)
		}
		c.err(n, CodeKeysetCount, "%s has %d %s, but this label has %d %s", what, len(want), plural(len(want), "key"),
			len(keys), plural(len(keys), "component"))
		return nil
	}
	out := make([]*Keyset, len(keys))
	for i, k := range keys {
		out[i] = c.keyset(k, want[i])
	}
	return out
}

// isCompound tells whether a key consists of components itself.
func isCompound(t Type) bool {
	switch underlying(t).(type) {
	case *Tuple, *Struct:
		return true
	}
	return false
}

// keyset checks one component (specification section 8.16).
func (c *checker) keyset(e ast.Expr, want Type) *Keyset {
	ks := &Keyset{Expr: e, Type: want}
	switch k := unparen(e).(type) {
	case *ast.DefaultExpr, *ast.DontCare:
		ks.Kind = KeyAny
		c.setAll(e, operand{mode: ConstMode, typ: &Set{want}})
		return ks
	case *ast.MaskExpr:
		ks.Kind = KeyMask
		c.pairKeyset(ks, e, k.X, k.Mask, "&&&")
		return ks
	case *ast.RangeExpr:
		ks.Kind = KeyRange
		c.pairKeyset(ks, e, k.Lo, k.Hi, "..")
		return ks
	case *ast.Name:
		if objs := c.lookup(k.Name, k.Global, noState); len(objs) > 0 {
			if vs, ok := objs[0].(*ValueSet); ok {
				c.rawExpr(e)
				ks.Kind, ks.Set = KeyValueSet, vs
				c.valueSetFits(e, vs, want)
				return ks
			}
		}
	}
	x := c.expr(e)
	if x.typ == InvalidType || want == InvalidType {
		return ks
	}
	if c.keyValue(&x, want) {
		ks.Lo = c.info.ValueOf(e)
	}
	return ks
}

// keyValue converts a keyset's value to the key's type. A list matches a tuple or a struct of keys component by component.
func (c *checker) keyValue(x *operand, want Type) bool {
	return c.assign(x, want, "the label")
}

// setAll records an operand for an expression and the parentheses around it.
func (c *checker) setAll(e ast.Expr, x operand) {
	for {
		x.expr = e
		c.set(x)
		p, ok := e.(*ast.Paren)
		if !ok {
			return
		}
		e = p.X
	}
}

func (c *checker) pairKeyset(ks *Keyset, e, lo, hi ast.Expr, op string) {
	x := c.expr(lo)
	y := c.expr(hi)
	c.setAll(e, operand{mode: both(x, y), typ: &Set{ks.Type}})
	if x.typ == InvalidType || y.typ == InvalidType || ks.Type == InvalidType {
		return
	}
	c.number(&x)
	c.number(&y)
	want := ks.Type
	if en, ok := resolve(want).(*Enum); ok && en.Underlying != nil {
		want = en.Underlying
	}
	base := underlying(want)
	if !isInteger(base) {
		c.err(e, CodeKeyset, "%s is not defined on %s", op, want)
		return
	}
	if resolve(want) != base && c.convertible(x.typ, want) != "" {
		want = base // the bounds of a new type may be written as numbers
	}
	okX := c.assign(&x, want, "the label")
	okY := c.assign(&y, want, "the label")
	if !okX || !okY {
		return
	}
	for _, z := range []operand{x, y} {
		if z.mode != ConstMode {
			c.err(z.expr, CodeNotConst, "the operands of %s must be known at compile time", op)
			return
		}
	}
	ks.Lo, ks.Hi = c.info.ValueOf(lo), c.info.ValueOf(hi)
	if op == ".." {
		a, _ := ks.Lo.(*bigInt)
		b, _ := ks.Hi.(*bigInt)
		if a != nil && b != nil && a.Cmp(b) > 0 {
			c.warn(e, CodeEmptyRange, "the range is empty: %s is larger than %s", a, b)
		}
	}
}

// valueSetFits checks a value set against the key that it is compared with. A struct with one field stands for its field, and
// one with several for a tuple.
func (c *checker) valueSetFits(e ast.Expr, vs *ValueSet, want Type) {
	elem := vs.typ.(*Set).Elem
	if elem == InvalidType || want == InvalidType || Identical(elem, want) {
		return
	}
	n := maxTypeNodes
	if identicalLists(leaves(elem, &n), leaves(want, &n)) && n > 0 {
		return
	}
	c.err(e, CodeKeyset, "value set %s holds %s, but the key has type %s", quote(vs.name), elem, want)
}

// leaves returns the scalar types in a struct or tuple in order, as many as the budget allows.
func leaves(t Type, budget *int) []Type {
	if *budget--; *budget <= 0 {
		return nil
	}
	var out []Type
	switch t := resolve(t).(type) {
	case *Struct:
		for _, f := range t.Fields {
			out = append(out, leaves(f.typ, budget)...)
		}
	case *Tuple:
		for _, e := range t.Elems {
			out = append(out, leaves(e, budget)...)
		}
	default:
		return []Type{t}
	}
	return out
}
