package types

import (
	"math/big"

	"khop/p4/ast"
)

// sizeRange is the smallest and largest size of a type in bits; nil when it has none.
type sizeRange struct{ min, max *big.Int }

// sizeOf returns the size of a type (specification section 9), or nil when it is not defined.
func (c *checker) sizeOf(t Type) *sizeRange {
	fixed := func(n int) *sizeRange { return &sizeRange{newInt(n), newInt(n)} }
	switch t := resolve(t).(type) {
	case *NewType:
		return c.sizeOf(t.Base)
	case *Bit:
		return fixed(t.Width)
	case *Int:
		return fixed(t.Width)
	case *Varbit:
		return &sizeRange{newInt(0), newInt(t.Width)}
	case *Basic:
		if t.Kind == BoolKind {
			return fixed(1)
		}
	case *Enum:
		if t.Underlying != nil {
			return c.sizeOf(t.Underlying)
		}
	case *Tuple:
		return c.sumSizes(len(t.Elems), func(i int) Type { return t.Elems[i] })
	case *Stack:
		s := c.sizeOf(t.Elem)
		if s == nil {
			return nil
		}
		n := newInt(t.Size)
		return &sizeRange{new(big.Int).Mul(n, s.min), new(big.Int).Mul(n, s.max)}
	case *Struct:
		if s, ok := c.sizes[t]; ok {
			return s
		}
		var s *sizeRange
		if t.Kind == StructUnion {
			s = c.maxSizes(t)
		} else {
			s = c.sumSizes(len(t.Fields), func(i int) Type { return t.Fields[i].typ })
		}
		c.sizes[t] = s
		return s
	}
	return nil
}

func (c *checker) sumSizes(n int, elem func(int) Type) *sizeRange {
	sum := &sizeRange{newInt(0), newInt(0)}
	for i := range n {
		s := c.sizeOf(elem(i))
		if s == nil {
			return nil
		}
		sum.min.Add(sum.min, s.min)
		sum.max.Add(sum.max, s.max)
	}
	return sum
}

// maxSizes gives a union the largest of its members' sizes, for both bounds, as the specification's table says.
func (c *checker) maxSizes(t *Struct) *sizeRange {
	m := &sizeRange{newInt(0), newInt(0)}
	for _, f := range t.Fields {
		s := c.sizeOf(f.typ)
		if s == nil {
			return nil
		}
		if s.min.Cmp(m.min) > 0 {
			m.min = s.min
		}
		if s.max.Cmp(m.max) > 0 {
			m.max = s.max
		}
	}
	return m
}

// sizeCall evaluates minSizeInBits and its like.
func (c *checker) sizeCall(e *ast.CallExpr, x operand, k BuiltinKind, y *operand) {
	t := x.typ
	if m, ok := t.(*Meta); ok {
		t = m.Of
	}
	s := c.sizeOf(t)
	if s == nil {
		c.err(e, CodeNoSize, "%s has no size", t)
		return
	}
	v := s.max
	if k == MinSizeInBits || k == MinSizeInBytes {
		v = s.min
	}
	if k == MinSizeInBytes || k == MaxSizeInBytes {
		v = new(big.Int).Add(v, newInt(7))
		v.Rsh(v, 3)
	}
	y.mode, y.val = ConstMode, v
}
