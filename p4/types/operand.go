package types

import (
	"math/big"

	"khop/p4/ast"
)

type bigInt = big.Int

// operand is an expression with what is known of it.
type operand struct {
	expr ast.Expr
	mode Mode
	typ  Type
	val  Value
	// objs are the callable objects that the expression may denote: an overloaded function or method, an action, a table.
	objs []Object
	// dontCare is set for an argument written _.
	dontCare bool
}

func bad(e ast.Expr) operand { return operand{expr: e, mode: ConstMode, typ: InvalidType} }

func (c *checker) set(x operand) operand {
	if x.typ == nil {
		x.typ = InvalidType
	}
	c.info.Types[x.expr] = TypeAndValue{Mode: x.mode, Type: x.typ, Value: x.val}
	return x
}

// operandOf returns an expression that was checked before.
func (c *checker) operandOf(e ast.Expr) operand {
	tv := c.info.Types[e]
	if tv.Type == nil {
		return bad(e)
	}
	return operand{expr: e, mode: tv.Mode, typ: tv.Type, val: tv.Value}
}

// expr checks an expression that must have a value.
func (c *checker) expr(e ast.Expr) operand {
	x := c.rawExpr(e)
	if x.typ == InvalidType {
		return x
	}
	switch x.mode {
	case TypeMode:
		c.err(e, CodeNotValue, "%s is a type, not a value", x.typ.(*Meta).Of)
	case Builtin:
		what := "this"
		if len(x.objs) > 0 {
			what = describe(x.objs[0])
		}
		c.err(e, CodeNotValue, "%s is not a value", what).hint("call it: write (...) behind its name")
	case NoValue:
		c.err(e, CodeNotValue, "the call returns no value")
	default:
		return x
	}
	return c.set(bad(e))
}

// rawExpr checks an expression, which may also name a type or something to call.
func (c *checker) rawExpr(e ast.Expr) operand {
	if e == nil {
		return operand{mode: ConstMode, typ: InvalidType}
	}
	x := bad(e)
	if c.enter(e) {
		x = c.exprKind(e)
	}
	c.leave()
	x.expr = e
	return c.set(x)
}

func (c *checker) exprKind(e ast.Expr) operand {
	switch e := e.(type) {
	case *ast.IntLit:
		return c.intLit(e)
	case *ast.BoolLit:
		return operand{mode: ConstMode, typ: BoolType, val: e.Value}
	case *ast.StringLit:
		return operand{mode: ConstMode, typ: StringType, val: e.Value}
	case *ast.Name:
		return c.name(e)
	case *ast.This:
		if c.this == nil {
			c.err(e, CodePlace, "this is allowed only in the initializer of an extern instance")
			return bad(e)
		}
		c.this.used = true
		return operand{mode: ConstMode, typ: c.this.typ}
	case *ast.Member:
		return c.member(e, false)
	case *ast.TypeExpr:
		t := c.genericTyp(e.Type)
		if t == InvalidType {
			return bad(e)
		}
		return operand{mode: TypeMode, typ: &Meta{t}}
	case *ast.Index:
		return c.index(e)
	case *ast.Slice:
		return c.slice(e)
	case *ast.Unary:
		return c.unary(e)
	case *ast.Binary:
		return c.binary(e)
	case *ast.Ternary:
		return c.ternary(e)
	case *ast.Cast:
		return c.cast(e)
	case *ast.CallExpr:
		return c.call(e)
	case *ast.ListExpr:
		return c.listExpr(e)
	case *ast.StructExpr:
		return c.structExpr(e)
	case *ast.InvalidHeader:
		return operand{mode: ConstMode, typ: NoHeaderType, val: InvalidHeader{}}
	case *ast.Paren:
		return c.rawExpr(e.X)
	case *ast.DotsExpr:
		return operand{mode: ConstMode, typ: DotsType, val: DefaultValue{}}
	case *ast.DontCare:
		c.err(e, CodePlace, "_ is allowed only as an out argument or in a keyset")
	case *ast.DefaultExpr:
		c.err(e, CodePlace, "default is allowed only as a label")
	case *ast.MaskExpr:
		c.rawExpr(e.X)
		c.rawExpr(e.Mask)
		c.err(e, CodePlace, "&&& is allowed only in the keyset of a select case or a table entry")
	case *ast.RangeExpr:
		c.rawExpr(e.Lo)
		c.rawExpr(e.Hi)
		c.err(e, CodePlace, ".. is allowed only in a keyset or in a for loop")
	}
	return bad(e)
}

func (c *checker) intLit(e *ast.IntLit) operand {
	v := e.Value
	if v == nil {
		v = bigZero
	}
	if e.Width == 0 && !e.Signed && !hasWidth(e.Text) {
		return operand{mode: ConstMode, typ: InfIntType, val: v}
	}
	if e.Width > maxWidth {
		c.err(e, CodeWidth, "the width of a literal cannot be larger than %d", maxWidth)
		return bad(e)
	}
	var t Type = &Bit{e.Width}
	if e.Signed {
		if e.Width <= 0 {
			c.err(e, CodeWidth, "int<0> does not exist: a signed integer has at least one bit")
			return bad(e)
		}
		t = &Int{e.Width}
	}
	if !fits(v, t) {
		c.warn(e, CodeOverflow, "%s does not fit in %s and becomes %s", e.Text, t, wrap(v, e.Width, e.Signed))
	}
	return operand{mode: ConstMode, typ: t, val: wrap(v, e.Width, e.Signed)}
}

// hasWidth tells 0w0 from 0.
func hasWidth(text string) bool {
	for _, r := range text {
		switch {
		case r == 'w' || r == 's':
			return true
		case r != '_' && (r < '0' || r > '9'):
			return false
		}
	}
	return false
}

func (c *checker) name(e *ast.Name) operand {
	objs := c.lookup(e.Name, e.Global, noState)
	if len(objs) == 0 {
		if others := c.lookup(e.Name, e.Global, anyObject); len(others) > 0 {
			c.err(e, CodeNotValue, "%s is not a value", describe(others[0]))
			return bad(e)
		}
		if c.callsItself(e.Name) {
			c.err(e, CodeRecursion, "%s cannot call itself", quote(e.Name)).hint("use a for loop")
			return bad(e)
		}
		r := c.err(e, CodeUnknown, "unknown name %s", quote(e.Name)).hintNear(c.near(e.Name, noState))
		if o := c.info.fieldNamed(e.Name); o != "" && r.Hint == "" {
			r.hint("%s", o)
		}
		return bad(e)
	}
	o := objs[0]
	c.info.Uses[e] = o
	if len(objs) == 1 {
		c.deprecated(e, o)
	}
	switch o := o.(type) {
	case *Const:
		return operand{mode: ConstMode, typ: o.typ, val: o.Value}
	case *Var:
		if o.Loop {
			return operand{mode: RValue, typ: o.typ}
		}
		return operand{mode: LValue, typ: o.typ}
	case *Param:
		return operand{mode: c.paramMode(o), typ: o.typ}
	case *Instance:
		return operand{mode: ConstMode, typ: o.typ}
	case *Action, *Func:
		return operand{mode: Builtin, typ: o.Type(), objs: objs}
	case *Table:
		return operand{mode: Builtin, typ: o.typ, objs: objs}
	case *TypeName:
		if o.typ == InvalidType {
			return bad(e)
		}
		return operand{mode: TypeMode, typ: &Meta{o.typ}}
	case *ValueSet:
		return operand{mode: RValue, typ: o.typ}
	case *MatchKindMember:
		return operand{mode: ConstMode, typ: MatchKindType, val: o}
	case *EnumMember:
		return operand{mode: ConstMode, typ: o.typ, val: o}
	}
	return bad(e)
}

// callsItself tells whether a name that is not declared yet is that of the function or action being checked.
func (c *checker) callsItself(name string) bool {
	return c.ctx.fn != nil && c.ctx.place == inFunction && c.ctx.fn.name == name || c.ctx.action != nil && c.ctx.action.name == name
}

// paramMode says what the name of a parameter denotes in the body.
func (c *checker) paramMode(p *Param) Mode {
	switch {
	case p.Ctor:
		return ConstMode
	case p.Dir == ast.In:
		return RValue
	case p.Dir == ast.Out, p.Dir == ast.InOut:
		return LValue
	case c.runtimeParam(p):
		return RValue
	}
	return ConstMode
}

// runtimeParam tells whether a directionless parameter has its value at run time: that of an action, and one of a function unless
// its type exists at compile time only.
func (c *checker) runtimeParam(p *Param) bool {
	switch {
	case c.ctx.action != nil:
		return hasParam(c.ctx.action.Params, p)
	case c.ctx.fn != nil && !compileTimeOnly(p.typ):
		return hasParam(c.ctx.fun.Params, p)
	}
	return false
}

func hasParam(ps []*Param, p *Param) bool {
	for _, q := range ps {
		if p == q {
			return true
		}
	}
	return false
}

// compileTimeOnly tells whether values of a type exist at compile time only.
func compileTimeOnly(t Type) bool {
	switch t := resolve(t).(type) {
	case *Basic:
		return t.Kind == InfIntKind || t.Kind == StringKind || t.Kind == MatchKindKind
	case *List:
		return true
	}
	return isObjectType(t)
}

// fieldNamed is a hook for hints on names that are members of an enum or error: it says how to write them.
func (i *Info) fieldNamed(name string) string {
	for _, m := range i.Errors {
		if m.name == name {
			return "write error." + name
		}
	}
	for _, o := range i.Globals {
		if t, ok := o.(*TypeName); ok {
			if e, ok := t.typ.(*Enum); ok && e.Member(name) != nil {
				return "write " + e.Name + "." + name
			}
		}
	}
	return ""
}

func (c *checker) listExpr(e *ast.ListExpr) operand {
	t := &Seq{Dots: e.Dots}
	vals := make([]Value, 0, len(e.Elems))
	mode := ConstMode
	known := true
	for _, el := range e.Elems {
		if _, ok := el.(*ast.DotsExpr); ok && el == e.Elems[len(e.Elems)-1] && !e.Dots {
			c.set(operand{expr: el, mode: ConstMode, typ: DotsType, val: DefaultValue{}})
			t.Dots = true
			continue
		}
		x := c.expr(el)
		t.Elems = append(t.Elems, x.typ)
		vals = append(vals, x.val)
		if x.mode != ConstMode {
			mode = RValue
		}
		known = known && x.val != nil
	}
	x := operand{mode: mode, typ: t}
	if known && mode == ConstMode {
		x.val = vals
	}
	return x
}

func (c *checker) structExpr(e *ast.StructExpr) operand {
	t := &Record{Dots: e.Dots}
	var vals []Value
	mode := ConstMode
	known := true
	seen := map[string]bool{}
	for _, kv := range e.Fields {
		x := c.expr(kv.Value)
		n := identName(kv.Name)
		if seen[n] {
			c.err(kv, CodeDuplicate, "field %s is given twice", quote(n))
			continue
		}
		seen[n] = true
		t.Names = append(t.Names, n)
		t.Elems = append(t.Elems, x.typ)
		vals = append(vals, x.val)
		if x.mode != ConstMode {
			mode = RValue
		}
		known = known && x.val != nil
	}
	x := operand{mode: mode, typ: t}
	if known && mode == ConstMode {
		x.val = vals
	}
	return x
}

// localInt returns the value of an expression that must be an integer known at compile time in this scope, or nil.
func (c *checker) localInt(x *operand, what string) *bigInt {
	if x.typ == InvalidType {
		return nil
	}
	switch t := resolve(x.typ).(type) {
	case *Bit, *Int:
	case *Enum:
		if t.Underlying == nil {
			c.err(x.expr, CodeMismatch, "%s must be an integer, not %s", what, x.typ)
			return nil
		}
	default:
		if t != InfIntType {
			c.err(x.expr, CodeMismatch, "%s must be an integer, not %s", what, x.typ)
			return nil
		}
	}
	v := intValue(x.val)
	if v == nil {
		r := c.err(x.expr, CodeNotConst, "%s must be known at compile time", what)
		if x.mode == ConstMode {
			r.hint("a constructor parameter is known only when its parser or control is instantiated; use a constant")
		}
	}
	return v
}

// constSize checks a size, which must be compile-time known but may depend on constructor parameters; then the result is nil.
func (c *checker) constSize(x *operand, what string) *bigInt {
	if x.typ != InvalidType && x.mode == ConstMode && x.val == nil && isInteger(x.typ) {
		return nil
	}
	v := c.localInt(x, what)
	if v != nil && v.Sign() < 0 {
		c.err(x.expr, CodeWidth, "%s cannot be negative (%s)", what, v)
		return nil
	}
	return v
}

// isInteger tells whether a type is int, bit<W> or int<W>.
func isInteger(t Type) bool {
	switch t := resolve(t).(type) {
	case *Bit, *Int:
		return true
	case *Basic:
		return t.Kind == InfIntKind
	}
	return false
}

// mentionsTypeParam tells whether a value is unknown only because its type holds type variables.
func (c *checker) mentionsTypeParam(x operand) bool {
	_, ok := resolve(x.typ).(*TypeParam)
	return ok
}
