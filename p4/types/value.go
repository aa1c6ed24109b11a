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

// convertValue converts a compile-time value of type from to a type that from converts to, implicitly or by a legal cast. It
// returns nil when a part of the result is not known.
func convertValue(v Value, from, to Type) Value {
	from, to = resolve(from), resolve(to)
	if v == nil || from == to {
		return v
	}
	switch from := from.(type) {
	case *NewType:
		return convertValue(v, from.Base, to)
	case *Basic:
		if from.Kind == DotsKind {
			return defaultValue(to)
		}
	}
	switch to := to.(type) {
	case *NewType:
		return convertValue(v, from, to.Base)
	case *Bit:
		if i := intValue(v); i != nil {
			return wrap(i, to.Width, false)
		}
		return nil
	case *Int:
		if i := intValue(v); i != nil {
			return wrap(i, to.Width, true)
		}
		return nil
	case *Basic:
		switch to.Kind {
		case InfIntKind:
			if i := intValue(v); i != nil {
				return i
			}
			return nil
		case BoolKind:
			if i, ok := v.(*big.Int); ok {
				return i.Sign() != 0
			}
		}
	case *Enum:
		if i := intValue(v); i != nil && to.Underlying != nil {
			i = convertValue(i, InfIntType, to.Underlying).(*big.Int)
			for _, m := range to.Members {
				if m.Value != nil && m.Value.Cmp(i) == 0 {
					return m
				}
			}
			return i
		}
	case *Struct:
		if r, ok := from.(*Record); ok {
			return convertRecord(v, r, to)
		}
		return convertElems(v, from, len(to.Fields), func(i int) Type { return to.Fields[i].typ })
	case *Tuple:
		return convertElems(v, from, len(to.Elems), func(i int) Type { return to.Elems[i] })
	case *List:
		if l, ok := v.([]Value); ok {
			return convertElems(v, from, len(l), func(int) Type { return to.Elem })
		}
	case *Stack:
		return convertElems(v, from, to.Size, func(int) Type { return to.Elem })
	}
	return v
}

// convertElems converts a list of values element by element, n of them; where from ends with "...", defaults fill the rest.
func convertElems(v Value, from Type, n int, elem func(int) Type) Value {
	l, ok := v.([]Value)
	if !ok {
		return v
	}
	out := make([]Value, 0, len(l))
	for i, e := range l {
		if i >= n {
			return nil
		}
		ft := elemType(from, i)
		if ft == nil {
			return nil
		}
		e = convertValue(e, ft, elem(i))
		if e == nil {
			return nil
		}
		out = append(out, e)
	}
	if s, ok := from.(*Seq); ok && s.Dots {
		for i := len(l); i < n; i++ {
			d := defaultValue(elem(i))
			if d == nil {
				return nil
			}
			out = append(out, d)
		}
	}
	if len(out) != n {
		return nil
	}
	return out
}

func convertRecord(v Value, from *Record, to *Struct) Value {
	l, ok := v.([]Value)
	if !ok || len(l) != len(from.Names) {
		return nil
	}
	out := make([]Value, len(to.Fields))
	for i, n := range from.Names {
		f, k := to.Field(n)
		if f == nil {
			return nil
		}
		out[k] = convertValue(l[i], from.Elems[i], f.typ)
	}
	for i, f := range to.Fields {
		if out[i] == nil && from.Dots {
			out[i] = defaultValue(f.typ)
		}
		if out[i] == nil {
			return nil
		}
	}
	return out
}

// elemType returns the type of element i of a compound type, or nil.
func elemType(t Type, i int) Type {
	switch t := t.(type) {
	case *Seq:
		if i < len(t.Elems) {
			return t.Elems[i]
		}
	case *Tuple:
		if i < len(t.Elems) {
			return t.Elems[i]
		}
	case *Record:
		if i < len(t.Elems) {
			return t.Elems[i]
		}
	case *Struct:
		if i < len(t.Fields) {
			return t.Fields[i].typ
		}
	case *List:
		return t.Elem
	case *Stack:
		return t.Elem
	}
	return nil
}

// maxValueElems bounds how many elements a default value may have; types beyond it have no compile-time default.
const maxValueElems = 1 << 16

// defaultValue returns the default value of a type (specification section 7.3), or nil if it has none.
func defaultValue(t Type) Value {
	n := maxValueElems
	return defaultOf(t, &n)
}

func defaultOf(t Type, budget *int) Value {
	if *budget--; *budget < 0 {
		return nil
	}
	list := func(n int, elem func(int) Type) Value {
		if n > *budget {
			return nil
		}
		out := make([]Value, n)
		for i := range out {
			if out[i] = defaultOf(elem(i), budget); out[i] == nil {
				return nil
			}
		}
		return out
	}
	switch t := resolve(t).(type) {
	case *NewType:
		return defaultOf(t.Base, budget)
	case *Bit, *Int:
		return bigZero
	case *Basic:
		switch t.Kind {
		case InfIntKind:
			return bigZero
		case BoolKind:
			return false
		case StringKind:
			return ""
		case ErrorKind:
			return NoError{}
		}
	case *Enum:
		if t.Underlying != nil {
			return convertValue(bigZero, InfIntType, t)
		}
		if len(t.Members) > 0 {
			return t.Members[0]
		}
	case *Struct:
		if t.Kind != StructStruct {
			return InvalidHeader{}
		}
		return list(len(t.Fields), func(i int) Type { return t.Fields[i].typ })
	case *Tuple:
		return list(len(t.Elems), func(i int) Type { return t.Elems[i] })
	case *Stack:
		return list(t.Size, func(int) Type { return t.Elem })
	}
	return nil
}

// NoError is the default value of type error: the error of that name, which core.p4 declares.
type NoError struct{}

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
	a, b = plainError(a), plainError(b)
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

// plainError turns the error member NoError into the default value of that name.
func plainError(v Value) Value {
	if m, ok := v.(*ErrorMember); ok && m.name == "NoError" {
		return NoError{}
	}
	return v
}
