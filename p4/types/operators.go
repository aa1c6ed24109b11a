package types

import (
	"khop/p4/ast"
)

// number looks through a serializable enum: the operand is converted to the underlying type, as arithmetic does.
func (c *checker) number(x *operand) {
	if e, ok := resolve(x.typ).(*Enum); ok && e.Underlying != nil {
		c.convert(x.expr, e.Underlying)
		x.val = convertValue(x.val, x.typ, e.Underlying)
		x.typ = e.Underlying
		x.mode = valueMode(x.mode)
	}
}

func valueMode(m Mode) Mode {
	if m == ConstMode {
		return ConstMode
	}
	return RValue
}

// both returns the mode of an operation on operands.
func both(x, y operand) Mode {
	if x.mode == ConstMode && y.mode == ConstMode {
		return ConstMode
	}
	return RValue
}

func (c *checker) unary(e *ast.Unary) operand {
	x := c.expr(e.X)
	if x.typ == InvalidType {
		return bad(e)
	}
	y := operand{mode: valueMode(x.mode)}
	if e.Op == "!" {
		if resolve(x.typ) != BoolType {
			r := c.err(e, CodeOperand, "! needs a bool, not %s", x.typ)
			if isInteger(x.typ) {
				r.hint("write ~ for the bitwise complement, or compare with == 0")
			}
			return bad(e)
		}
		y.typ = BoolType
		if b, ok := x.val.(bool); ok {
			y.val = !b
		}
		return y
	}
	c.number(&x)
	t := resolve(x.typ)
	if !isInteger(t) || e.Op == "~" && t == InfIntType {
		r := c.err(e, CodeOperand, "%s is not defined on %s", e.Op, x.typ)
		switch {
		case t == InfIntType:
			r.hint("give the number a width, for instance %s32w1", e.Op)
		case t == BoolType && e.Op == "~":
			r.hint("write ! for the negation of a bool")
		}
		return bad(e)
	}
	y.typ = t
	if v, ok := x.val.(*bigInt); ok {
		switch e.Op {
		case "-":
			y.val = reduce(new(bigInt).Neg(v), t)
		case "+":
			y.val = v
		case "~":
			y.val = reduce(new(bigInt).Not(v), t)
		}
	}
	return y
}

// reduce brings an integer into the range of a type.
func reduce(v *bigInt, t Type) *bigInt {
	switch t := t.(type) {
	case *Bit:
		return wrap(v, t.Width, false)
	case *Int:
		return wrap(v, t.Width, true)
	}
	return v
}

func (c *checker) binary(e *ast.Binary) operand {
	x := c.expr(e.X)
	y := c.expr(e.Y)
	if x.typ == InvalidType || y.typ == InvalidType {
		switch e.Op {
		case "==", "!=", "<", "<=", ">", ">=", "&&", "||":
			return operand{mode: RValue, typ: BoolType}
		}
		return bad(e)
	}
	return c.binaryOp(e, e.Op, x, y)
}

// binaryOp checks an operation on two operands; n is where to report.
func (c *checker) binaryOp(n ast.Expr, op string, x, y operand) operand {
	switch op {
	case "&&", "||":
		return c.logical(n, op, x, y)
	case "==", "!=":
		return c.equality(n, op, x, y)
	case "<<", ">>":
		return c.shift(n, op, x, y)
	case "++":
		return c.concat(n, x, y)
	}
	return c.arithmetic(n, op, x, y)
}

func (c *checker) logical(n ast.Expr, op string, x, y operand) operand {
	r := operand{mode: both(x, y), typ: BoolType}
	for _, z := range []operand{x, y} {
		if resolve(z.typ) != BoolType {
			rep := c.err(z.expr, CodeOperand, "%s needs bools, not %s", op, z.typ)
			if isInteger(z.typ) {
				rep.hint("compare it, for instance with != 0")
			}
			r.mode = RValue
			return r
		}
	}
	a, ok1 := x.val.(bool)
	b, ok2 := y.val.(bool)
	if ok1 && ok2 {
		if op == "&&" {
			r.val = a && b
		} else {
			r.val = a || b
		}
	}
	return r
}

// match converts operands to a common type: an int to the other's width, a serializable enum to its underlying type, a list or
// structure expression to the other's type. It returns nil when there is none.
func (c *checker) match(x, y *operand) Type {
	a, b := resolve(x.typ), resolve(y.typ)
	if Identical(a, b) {
		if isUntyped(a) {
			return c.matchUntyped(x, y)
		}
		return a
	}
	ea, aEnum := a.(*Enum)
	eb, bEnum := b.(*Enum)
	switch {
	case aEnum && bEnum && ea.Underlying != nil && eb.Underlying != nil && Identical(ea.Underlying, eb.Underlying):
		c.warn(y.expr, CodeMixedEnums, "%s and %s are different enums; both are converted to %s", a, b, ea.Underlying)
		c.number(x)
		c.number(y)
		return ea.Underlying
	case aEnum && ea.Underlying != nil && b == InfIntType:
		c.number(x)
	case bEnum && eb.Underlying != nil && a == InfIntType:
		c.number(y)
	}
	a, b = resolve(x.typ), resolve(y.typ)
	if a == InfIntType && isInteger(b) {
		c.take(x, b)
		return b
	}
	if b == InfIntType && isInteger(a) {
		c.take(y, a)
		return a
	}
	if c.convertible(b, a) == "" && !isUntyped(a) {
		c.take(y, a)
		return a
	}
	if c.convertible(a, b) == "" && !isUntyped(b) {
		c.take(x, b)
		return b
	}
	return nil
}

// take converts an operand, its value included.
func (c *checker) take(x *operand, to Type) {
	c.convert(x.expr, to)
	x.val = convertValue(x.val, x.typ, to)
	x.typ = to
}

// isUntyped tells whether a type is that of a list or structure expression without context.
func isUntyped(t Type) bool {
	switch t := resolve(t).(type) {
	case *Seq, *Record:
		return true
	case *Basic:
		return t.Kind == DotsKind || t.Kind == NoHeaderKind
	}
	return false
}

// matchUntyped gives two list expressions of one shape the tuple type that they have.
func (c *checker) matchUntyped(x, y *operand) Type {
	s, ok := resolve(x.typ).(*Seq)
	if !ok || s.Dots {
		return nil
	}
	t := &Tuple{s.Elems}
	c.take(x, t)
	c.take(y, t)
	return t
}

func (c *checker) equality(n ast.Expr, op string, x, y operand) operand {
	r := operand{mode: both(x, y), typ: BoolType}
	t := c.match(&x, &y)
	if t == nil {
		c.mismatch(n, op, x, y)
		r.mode = RValue
		return r
	}
	if !c.canCompare(t) {
		c.err(n, CodeOperand, "%s is not defined on %s", op, t)
		r.mode = RValue
		return r
	}
	if eq, known := equalValues(x.val, y.val); known && r.mode == ConstMode {
		r.val = eq == (op == "==")
	}
	return r
}

// mismatch reports operands without a common type.
func (c *checker) mismatch(n ast.Expr, op string, x, y operand) {
	r := c.err(n, CodeOperand, "the operands of %s have different types, %s and %s", op, x.typ, y.typ)
	switch {
	case c.castable(y.typ, x.typ) && !isUntyped(y.typ):
		r.hint("cast one of them, for instance (%s)(...)", resolve(x.typ))
	case c.castable(x.typ, y.typ) && !isUntyped(x.typ):
		r.hint("cast one of them, for instance (%s)(...)", resolve(y.typ))
	}
}

// canCompare tells whether == is defined on a type.
func (c *checker) canCompare(t Type) bool {
	switch t := resolve(t).(type) {
	case *NewType:
		return c.canCompare(t.Base)
	case *Bit, *Int, *Varbit, *Enum:
		return true
	case *Basic:
		switch t.Kind {
		case Invalid, BoolKind, InfIntKind, ErrorKind, MatchKindKind, StringKind:
			return true
		}
		return false
	case *Struct:
		return c.structHolds(c.comparable, t, c.canCompare)
	case *Tuple:
		for _, e := range t.Elems {
			if !c.canCompare(e) {
				return false
			}
		}
		return true
	case *Stack:
		return c.canCompare(t.Elem)
	}
	return false
}

func (c *checker) shift(n ast.Expr, op string, x, y operand) operand {
	c.number(&x)
	c.number(&y)
	if !isInteger(x.typ) {
		c.err(n, CodeOperand, "%s is not defined on %s", op, x.typ)
		return bad(n)
	}
	r := operand{mode: both(x, y), typ: resolve(x.typ)}
	by, _ := y.val.(*bigInt)
	switch t := resolve(y.typ).(type) {
	case *Bit:
	case *Int:
		if by == nil {
			c.err(y.expr, CodeShift, "the amount of a shift cannot be signed").hint("cast it: (bit<%d>)(...)", t.Width)
			return r
		}
	default:
		if t != InfIntType {
			c.err(y.expr, CodeShift, "the amount of a shift must be bit<W> or a constant, not %s", y.typ)
			return r
		}
	}
	if by != nil && by.Sign() < 0 {
		c.err(y.expr, CodeShift, "the amount of a shift cannot be negative (%s)", by)
		return r
	}
	if r.typ == InfIntType && y.mode != ConstMode {
		c.err(n, CodeShift, "an int cannot be shifted by an amount that is not known at compile time").
			hint("give the left operand a width, for instance 32w1")
		return bad(n)
	}
	if w := widthOf(r.typ); w >= 0 && by != nil && by.CmpAbs(newInt(w)) >= 0 {
		c.warn(y.expr, CodeOverflow, "shift by %s, but the value has only %d bits", by, w)
	}
	v, _ := x.val.(*bigInt)
	if v == nil || by == nil {
		return r
	}
	if by.CmpAbs(newInt(maxWidth)) > 0 {
		if op == "<<" && r.typ == InfIntType && v.Sign() != 0 {
			c.err(y.expr, CodeShift, "an int cannot be shifted left by more than %d", maxWidth)
			return r
		}
		by = newInt(maxWidth)
	}
	k := uint(by.Uint64())
	if op == "<<" {
		r.val = c.bounded(n, reduce(new(bigInt).Lsh(v, k), r.typ))
	} else {
		r.val = reduce(new(bigInt).Rsh(v, k), r.typ) // big.Int shifts negative numbers arithmetically
	}
	return r
}

func newInt(n int) *bigInt { return new(bigInt).SetInt64(int64(n)) }

// widthOf returns the width of a fixed-width integer type, or -1.
func widthOf(t Type) int {
	switch t := resolve(t).(type) {
	case *Bit:
		return t.Width
	case *Int:
		return t.Width
	}
	return -1
}

// bounded reports a compile-time integer that grew beyond all use, and returns an unknown value then.
func (c *checker) bounded(n ast.Node, v *bigInt) Value {
	if v.BitLen() > 2*maxWidth {
		c.err(n, CodeTooDeep, "the value has more than %d bits", 2*maxWidth)
		return nil
	}
	return v
}

func (c *checker) concat(n ast.Expr, x, y operand) operand {
	if resolve(x.typ) == StringType && resolve(y.typ) == StringType {
		r := operand{mode: both(x, y), typ: StringType}
		a, ok1 := x.val.(string)
		b, ok2 := y.val.(string)
		if ok1 && ok2 {
			if len(a)+len(b) > maxWidth {
				c.err(n, CodeTooDeep, "the string is longer than %d bytes", maxWidth)
				return r
			}
			r.val = a + b
		}
		return r
	}
	c.number(&x)
	c.number(&y)
	a, b := widthOf(x.typ), widthOf(y.typ)
	for _, z := range []operand{x, y} {
		if widthOf(z.typ) < 0 {
			r := c.err(z.expr, CodeOperand, "++ needs operands of type bit<W> or int<W>, not %s", z.typ)
			if resolve(z.typ) == InfIntType {
				r.hint("give the number a width, for instance 8w1")
			}
			return bad(n)
		}
	}
	if a+b > maxWidth {
		c.err(n, CodeWidth, "the width of a concatenation cannot be larger than %d", maxWidth)
		return bad(n)
	}
	r := operand{mode: both(x, y), typ: &Bit{a + b}}
	if _, signed := resolve(x.typ).(*Int); signed {
		r.typ = &Int{a + b}
	}
	hi, ok1 := x.val.(*bigInt)
	lo, ok2 := y.val.(*bigInt)
	if ok1 && ok2 {
		v := new(bigInt).Lsh(wrap(hi, a, false), uint(b))
		r.val = reduce(v.Or(v, wrap(lo, b, false)), r.typ)
	}
	return r
}

func (c *checker) arithmetic(n ast.Expr, op string, x, y operand) operand {
	c.number(&x)
	c.number(&y)
	if (op == "/" || op == "%") && !c.dividend(n, op, x, y) {
		return bad(n)
	}
	t := c.match(&x, &y)
	if t == nil {
		c.mismatch(n, op, x, y)
		return bad(n)
	}
	compare := op == "<" || op == "<=" || op == ">" || op == ">="
	if !isInteger(t) {
		r := c.err(n, CodeOperand, "%s is not defined on %s", op, t)
		if _, ok := t.(*NewType); ok {
			r.hint("cast the operands to the type that %s is declared from", t)
		}
		if t == BoolType && (op == "&" || op == "|") {
			r.hint("write %s%s", op, op)
		}
		return bad(n)
	}
	switch op {
	case "&", "|", "^":
		if t == InfIntType {
			c.warn(n, CodeIntBits, "%s is not defined on int; both numbers are taken as two's complement of unlimited width", op).
				hint("give one of the numbers a width, for instance 32w1")
		}
	case "|+|", "|-|":
		if t == InfIntType {
			c.err(n, CodeOperand, "%s is not defined on int, which cannot overflow", op)
			return bad(n)
		}
	case "/", "%":
		if !c.division(n, op, x, y, t) {
			return bad(n)
		}
	}
	r := operand{mode: both(x, y), typ: t}
	if compare {
		r.typ = BoolType
	}
	a, ok1 := x.val.(*bigInt)
	b, ok2 := y.val.(*bigInt)
	if ok1 && ok2 {
		r.val = evalArithmetic(op, a, b, t)
		if i, ok := r.val.(*bigInt); ok {
			r.val = c.bounded(n, i)
		}
	}
	return r
}

// dividend checks the values of / and % before they are converted to a common type.
func (c *checker) dividend(n ast.Expr, op string, x, y operand) bool {
	if v, known := y.val.(*bigInt); known && v.Sign() == 0 {
		c.err(n, CodeDivision, "division by zero")
		return false
	}
	for _, z := range []operand{x, y} {
		if v, known := z.val.(*bigInt); known && v.Sign() < 0 {
			c.err(n, CodeDivision, "%s is not defined on negative values (%s)", op, v)
			return false
		}
	}
	return true
}

// division checks / and %. The specification defines them on int, at compile time (section 8.9). On bit<W> they are beyond doubt
// when both operands are known at compile time, or the right one is a power of two, so that they are a shift or a mask.
func (c *checker) division(n ast.Expr, op string, x, y operand, t Type) bool {
	if _, signed := t.(*Int); signed {
		c.err(n, CodeDivision, "%s is not defined on signed values", op)
		return false
	}
	if x.mode == ConstMode && y.mode == ConstMode {
		return true
	}
	v, known := y.val.(*bigInt)
	if known && v.Sign() > 0 && v.TrailingZeroBits() == uint(v.BitLen()-1) {
		return true
	}
	c.warn(n, CodeRuntimeDivision, "%s at run time is not defined by the language; few targets have it", op).
		hint("divide by a constant power of two, or look the result up in a table")
	return true
}

func evalArithmetic(op string, a, b *bigInt, t Type) Value {
	switch op {
	case "<":
		return a.Cmp(b) < 0
	case "<=":
		return a.Cmp(b) <= 0
	case ">":
		return a.Cmp(b) > 0
	case ">=":
		return a.Cmp(b) >= 0
	}
	v := new(bigInt)
	switch op {
	case "+":
		v.Add(a, b)
	case "-":
		v.Sub(a, b)
	case "*":
		v.Mul(a, b)
	case "/":
		v.Quo(a, b)
	case "%":
		v.Rem(a, b)
	case "&":
		v.And(a, b)
	case "|":
		v.Or(a, b)
	case "^":
		v.Xor(a, b)
	case "|+|":
		return saturate(v.Add(a, b), t)
	case "|-|":
		return saturate(v.Sub(a, b), t)
	default:
		return nil
	}
	return reduce(v, t)
}

// saturate brings an integer to the nearest value of a type.
func saturate(v *bigInt, t Type) *bigInt {
	lo, hi := new(bigInt), new(bigInt)
	switch t := t.(type) {
	case *Bit:
		hi.Sub(hi.Lsh(bigOne, uint(t.Width)), bigOne)
	case *Int:
		hi.Sub(hi.Lsh(bigOne, uint(t.Width-1)), bigOne)
		lo.Neg(lo.Lsh(bigOne, uint(t.Width-1)))
	}
	if v.Cmp(lo) < 0 {
		return lo
	}
	if v.Cmp(hi) > 0 {
		return hi
	}
	return v
}

func (c *checker) ternary(e *ast.Ternary) operand {
	cond := c.expr(e.Cond)
	x := c.expr(e.Then)
	y := c.expr(e.Else)
	c.condition(cond, "?:")
	if x.typ == InvalidType || y.typ == InvalidType {
		return bad(e)
	}
	var t Type
	if Identical(x.typ, y.typ) {
		t = resolve(x.typ) // two list expressions keep their shape: the context gives both their type
	} else {
		t = c.match(&x, &y)
	}
	if t == nil {
		c.mismatch(e, "?:", x, y)
		return bad(e)
	}
	if t == InfIntType && cond.mode != ConstMode && cond.typ != InvalidType {
		c.err(e, CodeOperand, "both branches of ?: are int, so its width is not known").
			hint("give one of them a width, for instance 8w1")
		return bad(e)
	}
	r := operand{mode: both(x, y), typ: t}
	if cond.mode != ConstMode {
		r.mode = RValue
	}
	if b, ok := cond.val.(bool); ok && r.mode == ConstMode {
		if b {
			r.val = x.val
		} else {
			r.val = y.val
		}
	}
	return r
}

// condition reports a condition that is not a bool.
func (c *checker) condition(x operand, what string) {
	if x.typ == InvalidType || resolve(x.typ) == BoolType {
		return
	}
	r := c.err(x.expr, CodeOperand, "the condition of %s must be a bool, not %s", what, x.typ)
	if isInteger(x.typ) {
		r.hint("compare it, for instance with != 0")
	}
}
