package bmv2json

import (
	"fmt"
	"math/big"
	"strings"

	"khop/p4/ir"
)

// typed is the type-value object.
func typed(typ string, v any) object { return object{{"type", typ}, {"value", v}} }

func op(name string, left, right any) object {
	return typed("expression", object{{"op", name}, {"left", left}, {"right", right}})
}

func field(h *ir.Header, f *ir.Field) object { return typed("field", array{h.Name, f.Name}) }

func hexConst(v *big.Int) object { return typed("hexstr", hex(v, 0)) }

func intHex(v int64) object { return hexConst(big.NewInt(v)) }

// hex writes an integer in hexadecimal, padded to a number of bytes.
func hex(v *big.Int, size int) string {
	s := new(big.Int).Abs(v).Text(16)
	if len(s)%2 == 1 {
		s = "0" + s
	}
	if n := 2*size - len(s); n > 0 {
		s = strings.Repeat("0", n) + s
	}
	if v.Sign() < 0 {
		return "-0x" + s
	}
	return "0x" + s
}

// num is an encoded number. bits bounds its value: 0 <= value < 2^bits, or, with signed, that it is in the range of its type; bits
// below 0 means that the value can be anything.
type num struct {
	val  object
	bits int
	// local is what the value is called at the top of a primitive's parameter: run-time data.
	local bool
}

// data encodes an expression as a number; a bool becomes 0 or 1.
func (e *encoder) data(x ir.Expr) num {
	t := x.Type()
	if t.Bool {
		switch b := x.(type) {
		case *ir.FieldRef:
			return num{val: field(b.Header, b.Field), bits: 1}
		case *ir.Valid:
			return num{val: typed("field", array{b.Header.Name, "$valid$"}), bits: 1}
		case ir.BoolConst:
			if b {
				return num{val: intHex(1), bits: 1}
			}
			return num{val: intHex(0), bits: 0}
		case *ir.ParamRef:
			return num{val: typed("local", b.Index), bits: 1, local: true}
		case *ir.ElemField, *ir.LastField:
			return num{val: e.place(x), bits: 1}
		}
		return num{val: op("b2d", nil, e.boolean(x)), bits: 1}
	}
	bits := t.Width
	if t.Signed {
		bits = -1
	}
	switch x := x.(type) {
	case *ir.Const:
		b := x.Val.BitLen()
		if x.Val.Sign() < 0 {
			b = -1
		}
		return num{val: hexConst(x.Val), bits: b}
	case *ir.FieldRef, *ir.ElemField, *ir.LastField:
		return num{val: e.place(x), bits: bits}
	case *ir.ParamRef:
		v := num{val: typed("local", x.Index), bits: bits, local: true}
		if t.Signed {
			v.local = false
			v.val = op("two_comp_mod", v.val, intHex(int64(t.Width)))
		}
		return v
	case *ir.LastIndex:
		return num{val: op("last_stack_index", nil, typed("header_stack", x.Stack.Name)), bits: -1}
	case *ir.Lookahead:
		return num{val: typed("lookahead", array{x.Offset, t.Width}), bits: bits}
	case *ir.Unary:
		return e.wrap(num{val: op("~", nil, e.data(x.X).val), bits: -1}, t)
	case *ir.Cond:
		a, b := e.data(x.X), e.data(x.Y)
		n := max(a.bits, b.bits)
		if a.bits < 0 || b.bits < 0 {
			n = -1
		}
		return num{val: typed("expression", object{{"op", "?"}, {"left", a.val}, {"right", b.val}, {"cond", e.boolean(x.C)}}), bits: n}
	case *ir.Cast:
		return e.cast(x)
	case *ir.Binary:
		return e.arith(x)
	}
	e.fail("expression of type %T", x)
	return num{val: intHex(0)}
}

// place encodes a field of a header.
func (e *encoder) place(x ir.Expr) object {
	switch x := x.(type) {
	case *ir.FieldRef:
		return field(x.Header, x.Field)
	case *ir.ElemField:
		elem := op("dereference_header_stack", typed("header_stack", x.Stack.Name), e.data(x.Index).val)
		return typed("expression", object{{"op", "access_field"}, {"left", elem}, {"right", x.Field.Index}})
	case *ir.LastField:
		if x.Stack != nil {
			return typed("stack_field", array{x.Stack.Name, x.Field.Name})
		}
		return typed("union_stack_field", array{x.Union.Name, x.Member, x.Field.Name})
	}
	e.fail("place of type %T", x)
	return nil
}

// wrap reduces a value to the range of a type, if it can be out of it.
func (e *encoder) wrap(v num, t ir.Type) num {
	if t.Signed {
		if v.bits >= 0 && v.bits < t.Width {
			return v
		}
		return num{val: op("two_comp_mod", v.val, intHex(int64(t.Width))), bits: -1}
	}
	if v.bits >= 0 && v.bits <= t.Width {
		return v
	}
	return num{val: op("&", v.val, hexConst(ir.Mask(t.Width))), bits: t.Width}
}

func (e *encoder) cast(x *ir.Cast) num {
	from, t := x.X.Type(), x.T
	v := e.data(x.X)
	if from.Bool {
		return v
	}
	if from.Signed && t.Signed && from.Width <= t.Width {
		return num{val: v.val, bits: -1}
	}
	return e.wrap(v, t)
}

func (e *encoder) arith(x *ir.Binary) num {
	a, b := e.data(x.X), e.data(x.Y)
	t := x.T
	bits := -1
	known := a.bits >= 0 && b.bits >= 0
	switch x.Op {
	case "|+|", "|-|":
		cast := "usat_cast"
		if t.Signed {
			cast = "sat_cast"
		}
		return num{val: op(cast, op(x.Op[1:2], a.val, b.val), intHex(int64(t.Width))), bits: t.Width - b2i(t.Signed)*(t.Width+1)}
	case "&":
		switch {
		case known:
			bits = min(a.bits, b.bits)
		case a.bits >= 0:
			bits = a.bits
		case b.bits >= 0:
			bits = b.bits
		}
	case "|", "^":
		if known {
			bits = max(a.bits, b.bits)
		}
	case "+":
		if known {
			bits = max(a.bits, b.bits) + 1
		}
	case "*":
		if known {
			bits = a.bits + b.bits
		}
	case "/":
		if known {
			bits = a.bits
		}
	case "%":
		if known {
			bits = b.bits
		}
	case ">>":
		bits = a.bits
		if c, ok := x.Y.(*ir.Const); ok && a.bits >= 0 && c.Val.IsInt64() {
			bits = max(0, a.bits-int(c.Val.Int64()))
		}
	case "<<":
		if c, ok := x.Y.(*ir.Const); ok && a.bits >= 0 && c.Val.IsInt64() {
			bits = a.bits + int(c.Val.Int64())
		}
	}
	v := num{val: op(x.Op, a.val, b.val), bits: bits}
	if t.Signed && (x.Op == "&" || x.Op == "|" || x.Op == "^" || x.Op == ">>" || x.Op == "/" || x.Op == "%") {
		return num{val: v.val, bits: -1} // the operands are in range, so the result is
	}
	return e.wrap(v, t)
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// boolean encodes an expression of type bool as a condition.
func (e *encoder) boolean(x ir.Expr) object {
	switch x := x.(type) {
	case ir.BoolConst:
		return typed("bool", bool(x))
	case *ir.FieldRef, *ir.ElemField, *ir.LastField, *ir.Valid, *ir.ParamRef:
		return op("d2b", nil, e.data(x).val)
	case *ir.Unary:
		return op("not", nil, e.boolean(x.X))
	case *ir.Cast:
		return op("d2b", nil, e.data(x.X).val)
	case *ir.Cond:
		v := typed("expression", object{{"op", "?"}, {"left", e.data(x.X).val}, {"right", e.data(x.Y).val}, {"cond", e.boolean(x.C)}})
		return op("d2b", nil, v)
	case *ir.Binary:
		switch x.Op {
		case "and", "or":
			return op(x.Op, e.boolean(x.X), e.boolean(x.Y))
		}
		return op(x.Op, e.data(x.X).val, e.data(x.Y).val)
	}
	e.fail("condition of type %T", x)
	return typed("bool", false)
}

// param encodes an expression as a parameter of a primitive: there, an expression is wrapped once more, and run-time data has a name
// of its own.
func (e *encoder) param(x ir.Expr) object {
	v := e.data(x)
	if v.local {
		return typed("runtime_data", v.val[1].val)
	}
	return wrapParam(v.val)
}

func wrapParam(v object) object {
	switch v[0].val {
	case "expression", "stack_field", "union_stack_field":
		return typed("expression", v)
	}
	return v
}

// arg encodes an argument of a primitive.
func (e *encoder) arg(a ir.Arg) any {
	switch a := a.(type) {
	case *ir.Header:
		return typed("header", a.Name)
	case *ir.Stack:
		return typed("header_stack", a.Name)
	case *ir.Union:
		return typed("header_union", a.Name)
	case *ir.UnionStack:
		return typed("header_union_stack", a.Name)
	case *ir.Calculation:
		return typed("calculation", a.Name)
	case *ir.Extern:
		switch a.Kind {
		case "counter":
			return typed("counter_array", a.Name)
		case "meter":
			return typed("meter_array", a.Name)
		}
		return typed("register_array", a.Name)
	case ir.Text:
		return typed("string", string(a))
	case []ir.Expr:
		list := array{}
		for _, x := range a {
			list = append(list, e.param(x))
		}
		return typed("parameters_vector", list)
	case ir.Expr:
		return e.param(a)
	}
	e.fail("argument of type %T", a)
	return nil
}

func (e *encoder) fail(format string, args ...any) {
	if e.err == nil {
		e.err = fmt.Errorf("cannot write "+format, args...)
	}
}
