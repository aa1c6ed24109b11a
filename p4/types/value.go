package types

import (
	"math/big"
)

var (
	bigZero = big.NewInt(0)
	bigOne  = big.NewInt(1)
)

// wrap reduces v to the range of bit<width> or, when signed, int<width> (two's complement).
func wrap(v *big.Int, width int, signed bool) *big.Int {
	if width <= 0 {
		return bigZero
	}
	mod := new(big.Int).Lsh(bigOne, uint(width))
	r := new(big.Int).Mod(v, mod) // Euclidean: never negative
	if signed && r.Bit(width-1) == 1 {
		r.Sub(r, mod)
	}
	return r
}

// fits tells whether v is in the range of an integer type.
func fits(v *big.Int, t Type) bool {
	switch t := t.(type) {
	case *Bit:
		return wrap(v, t.Width, false).Cmp(v) == 0
	case *Int:
		return wrap(v, t.Width, true).Cmp(v) == 0
	}
	return true
}

// convertValue converts a compile-time value to a type that its own type converts to, implicitly or by a legal cast.
func convertValue(v Value, to Type) Value {
	switch to := to.(type) {
	case *NewType:
		return convertValue(v, to.Base)
	case *Bit:
		if i := intValue(v); i != nil {
			return wrap(i, to.Width, false)
		}
	case *Int:
		if i := intValue(v); i != nil {
			return wrap(i, to.Width, true)
		}
	case *Basic:
		switch to.Kind {
		case InfIntKind:
			if i := intValue(v); i != nil {
				return i
			}
		case BoolKind:
			if i, ok := v.(*big.Int); ok {
				return i.Sign() != 0
			}
		}
	case *Enum:
		if i, ok := v.(*big.Int); ok {
			for _, m := range to.Members {
				if m.Value != nil && m.Value.Cmp(i) == 0 {
					return m
				}
			}
			return i // a serializable enum may hold a value without a name
		}
	case *Struct:
		return convertElems(v, func(i int) Type {
			if i < len(to.Fields) {
				return to.Fields[i].typ
			}
			return nil
		})
	case *Tuple:
		return convertElems(v, func(i int) Type {
			if i < len(to.Elems) {
				return to.Elems[i]
			}
			return nil
		})
	case *List:
		return convertElems(v, func(int) Type { return to.Elem })
	case *Stack:
		return convertElems(v, func(int) Type { return to.Elem })
	}
	return v
}

func convertElems(v Value, elem func(int) Type) Value {
	l, ok := v.([]Value)
	if !ok {
		return v
	}
	out := make([]Value, len(l))
	for i, e := range l {
		out[i] = e
		if t := elem(i); t != nil && e != nil {
			out[i] = convertValue(e, t)
		}
	}
	return out
}

// intValue returns the integer in v: itself, a bool as 0 or 1, or the value of a serializable enum member. Otherwise nil.
func intValue(v Value) *big.Int {
	switch v := v.(type) {
	case *big.Int:
		return v
	case bool:
		if v {
			return bigOne
		}
		return bigZero
	case *EnumMember:
		return v.Value
	}
	return nil
}

// equalValues compares two values of the same type; known is false when either holds an unknown part.
func equalValues(a, b Value) (equal, known bool) {
	switch a := a.(type) {
	case nil:
		return false, false
	case *big.Int:
		if b, ok := b.(*EnumMember); ok && b.Value != nil {
			return a.Cmp(b.Value) == 0, true
		}
		b, ok := b.(*big.Int)
		return ok && a.Cmp(b) == 0, ok
	case []Value:
		b, ok := b.([]Value)
		if !ok || len(a) != len(b) {
			return false, ok
		}
		equal = true
		for i := range a {
			eq, known := equalValues(a[i], b[i])
			if !known {
				return false, false
			}
			equal = equal && eq
		}
		return equal, true
	case *EnumMember:
		if b, ok := b.(*big.Int); ok && a.Value != nil {
			return a.Value.Cmp(b) == 0, true
		}
		return Value(a) == b, b != nil
	}
	if _, ok := b.([]Value); ok || b == nil {
		return false, false
	}
	return a == b, true
}
