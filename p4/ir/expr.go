package ir

import "math/big"

// Type is the type of a scalar expression: bool, or an integer of Width bits. Width 0 is an integer of arbitrary precision.
type Type struct {
	Width  int
	Signed bool
	Bool   bool
}

var boolType = Type{Width: 1, Bool: true}

// Expr is a scalar expression. Its value always lies in the range of its type: results wrap around as the language says, whatever
// the target computes with.
type Expr interface{ Type() Type }

type (
	// Const is an integer constant.
	Const struct {
		Val *big.Int
		T   Type
	}
	// BoolConst is true or false.
	BoolConst bool
	// FieldRef is a field of a header or metadata instance. T.Bool is set for a bool, which is stored in one bit.
	FieldRef struct {
		Header *Header
		Field  *Field
		T      Type
	}
	// ElemField is a field of a header that an index computed at run time chooses.
	ElemField struct {
		Stack *Stack
		Index Expr
		Field *Field
		T     Type
	}
	// LastField is a field of the last element of a stack, or of a member of the last element of a union stack.
	LastField struct {
		Stack  *Stack
		Union  *UnionStack
		Member string
		Field  *Field
		T      Type
	}
	// LastIndex is the index of the last element of a stack.
	LastIndex struct{ Stack *Stack }
	// ParamRef is a run-time parameter of the enclosing action.
	ParamRef struct {
		Index int
		T     Type
	}
	// Valid tells whether a header is valid.
	Valid struct{ Header *Header }
	// Unary is ~ or not.
	Unary struct {
		Op string
		X  Expr
		T  Type
	}
	// Binary is + - * / % & | ^ << >> |+| |-| == != < <= > >= and or.
	Binary struct {
		Op   string
		X, Y Expr
		T    Type
	}
	// Cast converts between integer types, or between bool and bit<1>.
	Cast struct {
		X Expr
		T Type
	}
	// Cond is C ? X : Y.
	Cond struct {
		C, X, Y Expr
		T       Type
	}
	// Lookahead is bits of the packet that are not yet parsed. Offset and T.Width are in bits.
	Lookahead struct {
		Offset int
		T      Type
	}
)

// Type implements Expr.
func (e *Const) Type() Type { return e.T }

// Type implements Expr.
func (e BoolConst) Type() Type { return boolType }

// Type implements Expr.
func (e *FieldRef) Type() Type { return e.T }

// Type implements Expr.
func (e *ElemField) Type() Type { return e.T }

// Type implements Expr.
func (e *LastField) Type() Type { return e.T }

// Type implements Expr.
func (e *LastIndex) Type() Type { return Type{Width: 32} }

// Type implements Expr.
func (e *ParamRef) Type() Type { return e.T }

// Type implements Expr.
func (e *Valid) Type() Type { return boolType }

// Type implements Expr.
func (e *Unary) Type() Type { return e.T }

// Type implements Expr.
func (e *Binary) Type() Type { return e.T }

// Type implements Expr.
func (e *Cast) Type() Type { return e.T }

// Type implements Expr.
func (e *Cond) Type() Type { return e.T }

// Type implements Expr.
func (e *Lookahead) Type() Type { return e.T }

// Wrap reduces v to the range of an integer type.
func Wrap(v *big.Int, t Type) *big.Int {
	if t.Width == 0 {
		return v
	}
	if v.Sign() >= 0 {
		n := v.BitLen()
		if n < t.Width || n == t.Width && !t.Signed {
			return v
		}
	}
	m := new(big.Int).And(v, Mask(t.Width))
	if t.Signed && m.Bit(t.Width-1) == 1 {
		m.Sub(m, new(big.Int).Lsh(big.NewInt(1), uint(t.Width)))
	}
	return m
}

// Mask returns 2^width - 1.
func Mask(width int) *big.Int {
	m := new(big.Int).Lsh(big.NewInt(1), uint(width))
	return m.Sub(m, big.NewInt(1))
}

func newConst(v *big.Int, t Type) *Const { return &Const{Val: Wrap(v, t), T: t} }

func intConst(v int64, t Type) *Const { return newConst(big.NewInt(v), t) }

// cast converts an expression to a type, folding constants and dropping conversions that change nothing.
func cast(x Expr, t Type) Expr {
	from := x.Type()
	if from == t {
		return x
	}
	switch c := x.(type) {
	case *Const:
		if t.Bool {
			return BoolConst(c.Val.Sign() != 0)
		}
		return newConst(c.Val, t)
	case BoolConst:
		if t.Bool {
			return x
		}
		v := int64(0)
		if c {
			v = 1
		}
		return intConst(v, t)
	}
	if from.Bool && !t.Bool && t.Width > 1 {
		x = &Cast{x, Type{Width: 1}}
	}
	return &Cast{x, t}
}

func not(x Expr) Expr {
	switch x := x.(type) {
	case BoolConst:
		return !x
	case *Unary:
		if x.Op == "not" {
			return x.X
		}
	}
	return &Unary{"not", x, boolType}
}

func and(x, y Expr) Expr {
	if c, ok := x.(BoolConst); ok {
		if c {
			return y
		}
		return c
	}
	if c, ok := y.(BoolConst); ok && bool(c) {
		return x
	}
	return &Binary{"and", x, y, boolType}
}

func or(x, y Expr) Expr {
	if c, ok := x.(BoolConst); ok {
		if c {
			return c
		}
		return y
	}
	if c, ok := y.(BoolConst); ok && !bool(c) {
		return x
	}
	return &Binary{"or", x, y, boolType}
}

// binary builds an arithmetic or comparison expression of two operands of the same type (but for shifts).
func binary(op string, x, y Expr, t Type) Expr {
	switch op {
	case "&&":
		return and(x, y)
	case "||":
		return or(x, y)
	case "==", "!=", "<", "<=", ">", ">=":
		t = boolType
	}
	a, okA := x.(*Const)
	b, okB := y.(*Const)
	if okA && okB {
		if r := fold(op, a.Val, b.Val, t); r != nil {
			return r
		}
	}
	if a, ok := x.(BoolConst); ok {
		if b, ok := y.(BoolConst); ok && (op == "==" || op == "!=") {
			return BoolConst((a == b) == (op == "=="))
		}
	}
	if okB && (op == "<<" || op == ">>") {
		switch {
		case b.Val.Sign() == 0:
			return x
		case !b.Val.IsInt64() || b.Val.Int64() >= int64(t.Width):
			if op == "<<" || !t.Signed {
				return intConst(0, t)
			}
			y = intConst(int64(t.Width-1), b.T)
		}
	}
	return &Binary{op, x, y, t}
}

// fold computes an operation on constants, or returns nil when it cannot.
func fold(op string, a, b *big.Int, t Type) Expr {
	r := new(big.Int)
	switch op {
	case "+":
		r.Add(a, b)
	case "-":
		r.Sub(a, b)
	case "*":
		r.Mul(a, b)
	case "/", "%":
		if b.Sign() == 0 {
			return nil
		}
		if op == "/" {
			r.Quo(a, b)
		} else {
			r.Rem(a, b)
		}
	case "&":
		r.And(a, b)
	case "|":
		r.Or(a, b)
	case "^":
		r.Xor(a, b)
	case "<<", ">>":
		if b.Sign() < 0 || !b.IsInt64() || b.Int64() > 1<<16 {
			return nil
		}
		if op == "<<" {
			r.Lsh(a, uint(b.Int64()))
		} else {
			r.Rsh(a, uint(b.Int64()))
		}
	case "|+|", "|-|":
		if op == "|+|" {
			r.Add(a, b)
		} else {
			r.Sub(a, b)
		}
		return &Const{Val: saturate(r, t), T: t}
	case "==":
		return BoolConst(a.Cmp(b) == 0)
	case "!=":
		return BoolConst(a.Cmp(b) != 0)
	case "<":
		return BoolConst(a.Cmp(b) < 0)
	case "<=":
		return BoolConst(a.Cmp(b) <= 0)
	case ">":
		return BoolConst(a.Cmp(b) > 0)
	case ">=":
		return BoolConst(a.Cmp(b) >= 0)
	default:
		return nil
	}
	return newConst(r, t)
}

func saturate(v *big.Int, t Type) *big.Int {
	lo, hi := new(big.Int), Mask(t.Width)
	if t.Signed {
		hi = Mask(t.Width - 1)
		lo = new(big.Int).Sub(new(big.Int).Neg(hi), big.NewInt(1))
	}
	if v.Cmp(lo) < 0 {
		return lo
	}
	if v.Cmp(hi) > 0 {
		return hi
	}
	return v
}

// slice builds x[hi:lo].
func slice(x Expr, hi, lo int) Expr {
	t := x.Type()
	out := Type{Width: hi - lo + 1}
	if c, ok := x.(*Const); ok {
		return newConst(new(big.Int).Rsh(new(big.Int).And(c.Val, Mask(hi+1)), uint(lo)), out)
	}
	if t.Signed {
		t.Signed = false
		x = cast(x, t)
	}
	if l, ok := x.(*Lookahead); ok {
		return &Lookahead{Offset: l.Offset + t.Width - 1 - hi, T: out}
	}
	if lo > 0 {
		x = binary(">>", x, intConst(int64(lo), Type{Width: 32}), t)
	}
	return cast(x, out)
}

// concat builds x ++ y.
func concat(x, y Expr, t Type) Expr {
	tx, ty := x.Type(), y.Type()
	if tx.Width == 0 {
		return cast(y, t)
	}
	if ty.Width == 0 {
		return cast(x, t)
	}
	u := Type{Width: t.Width}
	wide := func(e Expr, w int) Expr { return cast(cast(e, Type{Width: w}), u) }
	hi := binary("<<", wide(x, tx.Width), intConst(int64(ty.Width), Type{Width: 32}), u)
	if c, ok := hi.(*Const); ok && c.Val.Sign() == 0 {
		return cast(wide(y, ty.Width), t)
	}
	return cast(binary("|", hi, wide(y, ty.Width), u), t)
}
