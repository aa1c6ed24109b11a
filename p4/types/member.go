package types

import (
	"khop/p4/ast"
)

// builtins are the methods of headers, unions and stacks, and those that all sized types have.
var builtins = map[string]BuiltinKind{
	"isValid": IsValid, "setValid": SetValid, "setInvalid": SetInvalid,
	"push_front": PushFront, "pop_front": PopFront,
	"minSizeInBits": MinSizeInBits, "minSizeInBytes": MinSizeInBytes,
	"maxSizeInBits": MaxSizeInBits, "maxSizeInBytes": MaxSizeInBytes,
}

// member checks X.Name; called tells that it is the callee of a call, where a method goes before a field of its name.
func (c *checker) member(e *ast.Member, called bool) operand {
	x := c.rawExpr(e.X)
	if x.typ == InvalidType || e.Name == nil {
		return bad(e)
	}
	name := e.Name.Name
	if x.mode == NoValue {
		c.err(e.X, CodeNotValue, "the call returns no value")
		return bad(e)
	}
	if m, ok := x.typ.(*Meta); ok && x.mode == TypeMode {
		return c.typeMember(e, m.Of, name, called)
	}
	if x.mode == Builtin {
		if t, ok := x.typ.(*TableType); ok && name == "apply" {
			c.info.Selections[e] = &Selection{Kind: SelApply, Obj: t.Table}
			return operand{mode: Builtin, typ: &Signature{Result: &TableResult{t.Table}}, objs: []Object{t.Table}}
		}
		r := c.err(e, CodeUnknownField, "%s has no member %s", describe(x.objs[0]), quote(name))
		if _, ok := x.typ.(*TableType); ok {
			r.hint("a table has the method apply(), whose result has the members hit, miss and action_run")
		}
		return bad(e)
	}
	if called {
		if y, ok := c.builtinMember(e, x.typ, name); ok {
			return y
		}
	}
	switch t := resolve(x.typ).(type) {
	case *Struct:
		if f, i := t.Field(name); f != nil {
			c.info.Selections[e] = &Selection{Kind: SelField, Index: i, Obj: f}
			c.info.Uses[e] = f
			c.deprecated(e.Name, f)
			y := operand{mode: x.mode, typ: f.typ}
			if l, ok := x.val.([]Value); ok && i < len(l) {
				y.val = l[i]
			}
			if f.typ == InvalidType {
				return bad(e)
			}
			return y
		}
	case *Record:
		for i, n := range t.Names {
			if n == name {
				c.info.Selections[e] = &Selection{Kind: SelField, Index: i}
				y := operand{mode: valueMode(x.mode), typ: t.Elems[i]}
				if l, ok := x.val.([]Value); ok && i < len(l) {
					y.val = l[i]
				}
				return y
			}
		}
	case *Stack:
		if y, ok := c.stackMember(e, x, t, name); ok {
			return y
		}
	case *Extern:
		if y, ok := c.methodMember(e, t, name); ok {
			return y
		}
	case *Block:
		if name == "apply" {
			c.info.Selections[e] = &Selection{Kind: SelApply}
			return operand{mode: Builtin, typ: &Signature{Params: t.Params, Result: VoidType}}
		}
	case *TableResult:
		switch name {
		case "hit", "miss":
			kind := SelHit
			if name == "miss" {
				kind = SelMiss
			}
			c.info.Selections[e] = &Selection{Kind: kind, Obj: t.Table}
			return operand{mode: RValue, typ: BoolType}
		case "action_run":
			c.info.Selections[e] = &Selection{Kind: SelActionRun, Obj: t.Table}
			return operand{mode: RValue, typ: t.Table.actionEnum()}
		}
	}
	if y, ok := c.builtinMember(e, x.typ, name); ok {
		return y
	}
	c.noMember(e, x.typ, name)
	return bad(e)
}

// actionEnum returns the type of action_run, one per table.
func (t *Table) actionEnum() *ActionEnum {
	if t.run == nil {
		t.run = &ActionEnum{t}
	}
	return t.run
}

// typeMember checks T.name on a type: an enum member, an error, apply of a parser or control, or a size.
func (c *checker) typeMember(e *ast.Member, t Type, name string, called bool) operand {
	switch t := resolve(t).(type) {
	case *Enum:
		if called && builtins[name] != NoBuiltin && t.Member(name) == nil {
			break
		}
		m := t.Member(name)
		if m == nil {
			near := newNearest(name)
			for _, m := range t.Members {
				near.offer(m.name)
			}
			c.err(e.Name, CodeUnknownField, "enum %s has no member %s", t.Name, quote(name)).hintNear(near.best)
			return bad(e)
		}
		c.info.Selections[e] = &Selection{Kind: SelEnum, Index: m.Index, Obj: m}
		c.info.Uses[e] = m
		return operand{mode: ConstMode, typ: t, val: m}
	case *Basic:
		if t.Kind == ErrorKind {
			m := c.errorsByName[name]
			if m == nil {
				near := newNearest(name)
				for _, m := range c.info.Errors {
					near.offer(m.name)
				}
				c.err(e.Name, CodeUnknownField, "unknown error %s", quote(name)).hintNear(near.best)
				return bad(e)
			}
			c.info.Selections[e] = &Selection{Kind: SelError, Index: m.Index, Obj: m}
			c.info.Uses[e] = m
			return operand{mode: ConstMode, typ: t, val: m}
		}
	case *Block:
		if name == "apply" {
			c.info.Selections[e] = &Selection{Kind: SelApply}
			return operand{mode: Builtin, typ: &Signature{Params: t.Params, Result: VoidType}}
		}
	}
	if k := builtins[name]; k >= MinSizeInBits {
		c.info.Selections[e] = &Selection{Kind: SelBuiltin}
		return operand{mode: Builtin, typ: &Signature{Result: InfIntType}}
	}
	c.noMember(e, t, name)
	return bad(e)
}

func (c *checker) noMember(e *ast.Member, t Type, name string) {
	near := newNearest(name)
	switch t := resolve(t).(type) {
	case *Struct:
		for _, f := range t.Fields {
			near.offer(f.name)
		}
		if t.Kind != StructStruct {
			near.offer("isValid")
			near.offer("setValid")
			near.offer("setInvalid")
		}
		c.err(e.Name, CodeUnknownField, "%s %s has no field %s", t.Kind, t, quote(name)).hintNear(near.best)
		return
	case *Extern:
		for _, m := range t.Methods() {
			near.offer(m.name)
		}
		c.err(e.Name, CodeUnknownField, "extern %s has no method %s", t, quote(name)).hintNear(near.best)
		return
	case *Stack:
		for _, n := range []string{"next", "last", "lastIndex", "size", "push_front", "pop_front"} {
			near.offer(n)
		}
	case *TableResult:
		for _, n := range []string{"hit", "miss", "action_run"} {
			near.offer(n)
		}
	case *Block:
		near.offer("apply")
	}
	c.err(e.Name, CodeUnknownField, "%s has no member %s", t, quote(name)).hintNear(near.best)
}

// builtinMember resolves a built-in method of a value.
func (c *checker) builtinMember(e *ast.Member, t Type, name string) (operand, bool) {
	k := builtins[name]
	if k == NoBuiltin {
		return operand{}, false
	}
	sig := &Signature{Result: VoidType}
	switch k {
	case IsValid:
		if !IsHeader(resolve(t)) && !IsUnion(resolve(t)) {
			return operand{}, false
		}
		sig.Result = BoolType
	case SetValid, SetInvalid:
		if !IsHeader(resolve(t)) {
			return operand{}, false
		}
	case PushFront, PopFront:
		if !isHeaderStack(t) {
			return operand{}, false
		}
		p := &Param{}
		p.object = object{name: "count", typ: InfIntType}
		sig.Params = []*Param{p}
	default:
		if isObjectType(t) {
			return operand{}, false
		}
		sig.Result = InfIntType
	}
	c.info.Selections[e] = &Selection{Kind: SelBuiltin}
	return operand{mode: Builtin, typ: sig}, true
}

func (c *checker) stackMember(e *ast.Member, x operand, t *Stack, name string) (operand, bool) {
	if !isHeaderStack(t) && name != "size" {
		return operand{}, false
	}
	switch name {
	case "size":
		c.info.Selections[e] = &Selection{Kind: SelStackSize}
		return operand{mode: ConstMode, typ: &Bit{32}, val: newInt(t.Size)}, true
	case "next", "last", "lastIndex":
		if b := c.ctx.block; b == nil || b.Kind != ParserBlock {
			r := c.err(e, CodePlace, "%s may only be used in a parser", quote(name))
			if b != nil {
				r.hint("in a control, write an index")
			}
			return bad(e), true
		}
	}
	switch name {
	case "next":
		c.info.Selections[e] = &Selection{Kind: SelNext}
		m := RValue
		if x.mode == LValue {
			m = LValue
		}
		return operand{mode: m, typ: t.Elem}, true
	case "last":
		c.info.Selections[e] = &Selection{Kind: SelLast}
		return operand{mode: RValue, typ: t.Elem}, true
	case "lastIndex":
		c.info.Selections[e] = &Selection{Kind: SelLastIndex}
		return operand{mode: RValue, typ: &Bit{32}}, true
	}
	return operand{}, false
}

func (c *checker) methodMember(e *ast.Member, t *Extern, name string) (operand, bool) {
	var objs []Object
	for _, m := range t.Methods() {
		if m.name == name {
			objs = append(objs, m)
		}
	}
	if len(objs) == 0 {
		return operand{}, false
	}
	c.info.Selections[e] = &Selection{Kind: SelMethod, Obj: objs[0]}
	return operand{mode: Builtin, typ: objs[0].Type(), objs: objs}, true
}

func (c *checker) index(e *ast.Index) operand {
	x := c.expr(e.X)
	i := c.expr(e.Index)
	if x.typ == InvalidType || i.typ == InvalidType {
		return bad(e)
	}
	c.number(&i)
	v, _ := i.val.(*bigInt)
	switch t := resolve(x.typ).(type) {
	case *Stack:
		if !isInteger(i.typ) {
			c.err(e.Index, CodeIndex, "the index of an array must be an integer, not %s", i.typ)
			return bad(e)
		}
		if v != nil && t.Size > 0 && (v.Sign() < 0 || v.CmpAbs(newInt(t.Size)) >= 0) {
			c.err(e.Index, CodeIndex, "index %s is out of range: %s has elements 0 to %d", v, t, t.Size-1)
			return bad(e)
		}
		y := operand{mode: x.mode, typ: t.Elem}
		if i.mode != ConstMode && x.mode == ConstMode {
			y.mode = RValue
		}
		if l, ok := x.val.([]Value); ok && v != nil && v.CmpAbs(newInt(len(l))) < 0 {
			y.val = l[v.Int64()]
		}
		return y
	case *Tuple:
		return c.tupleIndex(e, x, i, t.Elems)
	case *Seq:
		return c.tupleIndex(e, x, i, t.Elems)
	}
	r := c.err(e, CodeIndex, "%s cannot be indexed", x.typ)
	if widthOf(x.typ) >= 0 && v != nil {
		r.hint("write [%s:%s] to select one bit", v, v)
	}
	return bad(e)
}

func (c *checker) tupleIndex(e *ast.Index, x, i operand, elems []Type) operand {
	v := c.localInt(&i, "the index of a tuple")
	if v == nil {
		return bad(e)
	}
	if v.Sign() < 0 || v.CmpAbs(newInt(len(elems))) >= 0 {
		c.err(e.Index, CodeIndex, "index %s is out of range: the tuple has %d %s", v, len(elems), plural(len(elems), "element"))
		return bad(e)
	}
	k := v.Int64()
	y := operand{mode: x.mode, typ: elems[k]}
	if l, ok := x.val.([]Value); ok && int(k) < len(l) {
		y.val = l[k]
	}
	return y
}

func (c *checker) slice(e *ast.Slice) operand {
	x := c.expr(e.X)
	hi := c.expr(e.Hi)
	lo := c.expr(e.Lo)
	if x.typ == InvalidType || hi.typ == InvalidType || lo.typ == InvalidType {
		return bad(e)
	}
	c.number(&x)
	c.number(&hi)
	c.number(&lo)
	w := widthOf(x.typ)
	if w < 0 && resolve(x.typ) != InfIntType {
		c.err(e, CodeSlice, "%s cannot be sliced: bit<W>, int<W> or int is needed", x.typ)
		return bad(e)
	}
	if e.Plus {
		return c.plusSlice(e, x, hi, lo, w)
	}
	h := c.localInt(&hi, "the upper bound of a slice")
	l := c.localInt(&lo, "the lower bound of a slice")
	if h == nil || l == nil {
		return bad(e)
	}
	switch {
	case l.Sign() < 0 || h.Sign() < 0:
		c.err(e, CodeSlice, "the bounds of a slice cannot be negative")
		return bad(e)
	case h.Cmp(l) < 0:
		c.err(e, CodeSlice, "the bounds of the slice [%s:%s] are in the wrong order", h, l).hint("the higher bit stands first: [%s:%s]", l, h)
		return bad(e)
	case w >= 0 && h.CmpAbs(newInt(w)) >= 0:
		c.err(e, CodeSlice, "bit %s is out of range: %s has bits %d to 0", h, x.typ, w-1)
		return bad(e)
	case h.CmpAbs(newInt(maxWidth)) > 0:
		c.err(e, CodeSlice, "bit %s is out of range", h)
		return bad(e)
	}
	n := int(h.Int64()-l.Int64()) + 1
	y := operand{mode: x.mode, typ: &Bit{n}}
	if v, ok := x.val.(*bigInt); ok {
		y.val = wrap(new(bigInt).Rsh(v, uint(l.Int64())), n, false)
	}
	return y
}

// plusSlice checks X[base+:width]; only the width must be known.
func (c *checker) plusSlice(e *ast.Slice, x, base, width operand, w int) operand {
	n := c.localInt(&width, "the width of a slice")
	if n == nil {
		return bad(e)
	}
	if n.Sign() < 0 || n.CmpAbs(newInt(maxWidth)) > 0 {
		c.err(e.Lo, CodeSlice, "the width of a slice must be between 0 and %d, not %s", maxWidth, n)
		return bad(e)
	}
	if !isInteger(base.typ) {
		c.err(e.Hi, CodeSlice, "the lowest bit of a slice must be an integer, not %s", base.typ)
		return bad(e)
	}
	b, _ := base.val.(*bigInt)
	if _, ok := resolve(base.typ).(*Bit); !ok && b == nil {
		c.err(e.Hi, CodeSlice, "the lowest bit of a slice must be bit<W> or a constant, not %s", base.typ)
		return bad(e)
	}
	if b != nil {
		if b.Sign() < 0 || w >= 0 && b.CmpAbs(newInt(w)) >= 0 || b.CmpAbs(newInt(maxWidth)) > 0 {
			c.err(e.Hi, CodeSlice, "bit %s is out of range of %s", b, x.typ)
			return bad(e)
		}
		if end := new(bigInt).Add(b, n); w >= 0 && end.CmpAbs(newInt(w)) > 0 {
			c.err(e, CodeSlice, "the slice ends at bit %s, but %s has bits %d to 0", end.Sub(end, bigOne), x.typ, w-1)
			return bad(e)
		}
	}
	y := operand{mode: x.mode, typ: &Bit{int(n.Int64())}}
	if x.mode == ConstMode && base.mode != ConstMode {
		y.mode = RValue
	}
	if v, ok := x.val.(*bigInt); ok && b != nil {
		y.val = wrap(new(bigInt).Rsh(v, uint(b.Int64())), int(n.Int64()), false)
	}
	return y
}
