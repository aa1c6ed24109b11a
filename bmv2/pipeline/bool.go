package pipeline

import (
	"fmt"

	"khop/bmv2/config"
)

// valueType is what an expression yields.
type valueType uint8

const (
	typeNum valueType = iota
	typeBool
	typeHeader
	typeUnion
	typeStack
)

func typeOf(v *config.Value) valueType {
	switch v.Kind {
	case config.KindBool:
		return typeBool
	case config.KindHeader:
		return typeHeader
	case config.KindUnion:
		return typeUnion
	case config.KindStack, config.KindUnionStack:
		return typeStack
	case config.KindExpr:
		switch v.Op {
		case "dereference_header_stack", "dereference_stack", "access_union_header":
			return typeHeader
		case "dereference_union_stack":
			return typeUnion
		case "?":
			return typeOf(v.Left)
		}
		if isBoolOp(v.Op) {
			return typeBool
		}
	}
	return typeNum
}

func (l *linker) boolean(v *config.Value, e *env) (boolFn, error) {
	switch {
	case v.Kind == config.KindBool:
		c := v.Bool
		return func(*State) bool { return c }, nil
	case typeOf(v) == typeNum:
		n, err := l.num(v, e)
		if err != nil {
			return nil, err
		}
		return nonZero(n), nil
	case v.Kind != config.KindExpr:
		return nil, fmt.Errorf("value of this type is not a condition")
	}
	switch v.Op {
	case "not":
		f, err := l.boolean(v.Right, e)
		if err != nil {
			return nil, err
		}
		return func(s *State) bool { return !f(s) }, nil
	case "and", "or":
		a, err := l.boolean(v.Left, e)
		if err != nil {
			return nil, err
		}
		b, err := l.boolean(v.Right, e)
		if err != nil {
			return nil, err
		}
		// bmv2 evaluates both sides; expressions have no side effects, so this is the same.
		if v.Op == "and" {
			return func(s *State) bool { return a(s) && b(s) }, nil
		}
		return func(s *State) bool { return a(s) || b(s) }, nil
	case "d2b":
		n, err := l.num(v.Right, e)
		if err != nil {
			return nil, err
		}
		return nonZero(n), nil
	case "valid":
		ref, err := l.headerRef(v.Right, e)
		if err != nil {
			return nil, err
		}
		return ref.valid(), nil
	case "valid_union":
		u, err := l.unionRef(v.Right, e)
		if err != nil {
			return nil, err
		}
		return func(s *State) bool {
			if u := u(s); u != nil {
				for _, h := range u.members {
					if s.W[h.base] != 0 {
						return true
					}
				}
			}
			return false
		}, nil
	case "?":
		c, err := l.boolean(v.Cond, e)
		if err != nil {
			return nil, err
		}
		a, err := l.boolean(v.Left, e)
		if err != nil {
			return nil, err
		}
		b, err := l.boolean(v.Right, e)
		if err != nil {
			return nil, err
		}
		return func(s *State) bool {
			if c(s) {
				return a(s)
			}
			return b(s)
		}, nil
	case "==", "!=":
		eq, err := l.equality(v, e)
		if err != nil || v.Op == "==" {
			return eq, err
		}
		return func(s *State) bool { return !eq(s) }, nil
	case "<", "<=", ">", ">=":
		a, err := l.num(v.Left, e)
		if err != nil {
			return nil, err
		}
		b, err := l.num(v.Right, e)
		if err != nil {
			return nil, err
		}
		return order(v.Op, a, b), nil
	}
	return nil, fmt.Errorf("operator %q does not give a condition", v.Op)
}

func nonZero(n *num) boolFn {
	if n.small() {
		if n.slot >= 0 {
			slot := n.slot
			return func(s *State) bool { return s.W[slot] != 0 }
		}
		low := n.low
		return func(s *State) bool { return low(s) != 0 }
	}
	limbs, w := n.limbs(), n.into()
	return func(s *State) bool {
		top := s.top
		t := s.alloc(limbs)
		w(s, t)
		s.top = top
		for _, x := range t {
			if x != 0 {
				return true
			}
		}
		return false
	}
}

func (l *linker) equality(v *config.Value, e *env) (boolFn, error) {
	lt, rt := typeOf(v.Left), typeOf(v.Right)
	switch {
	case lt == typeHeader && rt == typeHeader:
		a, err := l.headerRef(v.Left, e)
		if err != nil {
			return nil, err
		}
		b, err := l.headerRef(v.Right, e)
		if err != nil {
			return nil, err
		}
		if a.typ != b.typ {
			return nil, fmt.Errorf("headers of types %q and %q are compared", a.typ.name, b.typ.name)
		}
		return func(s *State) bool { return s.sameHeader(a.get(s), b.get(s)) }, nil
	case lt == typeUnion && rt == typeUnion:
		a, err := l.unionRef(v.Left, e)
		if err != nil {
			return nil, err
		}
		b, err := l.unionRef(v.Right, e)
		if err != nil {
			return nil, err
		}
		return func(s *State) bool {
			x, y := a(s), b(s)
			if x == nil || y == nil || len(x.members) != len(y.members) {
				return x == y
			}
			for i, h := range x.members {
				if !s.sameHeader(h, y.members[i]) {
					return false
				}
			}
			return true
		}, nil
	case lt == typeBool || rt == typeBool:
		a, err := l.boolean(v.Left, e)
		if err != nil {
			return nil, err
		}
		b, err := l.boolean(v.Right, e)
		if err != nil {
			return nil, err
		}
		return func(s *State) bool { return a(s) == b(s) }, nil
	case lt != typeNum || rt != typeNum:
		return nil, fmt.Errorf("values of different or incomparable types are compared")
	}
	a, err := l.num(v.Left, e)
	if err != nil {
		return nil, err
	}
	b, err := l.num(v.Right, e)
	if err != nil {
		return nil, err
	}
	return equalNums(a, b), nil
}

// sameHeader is the header equality of P4_16 8.17: both invalid, or both valid with equal fields. As invalid headers are
// all zero, the words decide.
func (s *State) sameHeader(a, b *header) bool {
	if a == nil || b == nil || a.typ != b.typ {
		return a == b
	}
	x, y := s.W[a.base:a.base+a.typ.words], s.W[b.base:b.base+b.typ.words]
	for i, w := range x {
		if w != y[i] {
			return false
		}
	}
	return true
}

func equalNums(a, b *num) boolFn {
	if a.cst != nil {
		a, b = b, a
	}
	if a.u64() && b.u64() || a.i64() && b.i64() {
		al, bl, as, bs := a.low, b.low, a.slot, b.slot
		switch {
		case b.cst != nil && as >= 0:
			c := bl(nil)
			return func(s *State) bool { return s.W[as] == c }
		case b.cst != nil:
			c := bl(nil)
			return func(s *State) bool { return al(s) == c }
		case as >= 0 && bs >= 0:
			return func(s *State) bool { return s.W[as] == s.W[bs] }
		}
		return func(s *State) bool { return al(s) == bl(s) }
	}
	// a wide field and a field or constant: compare in place
	if a.slot >= 0 && (b.slot >= 0 && b.words == a.words || b.cst != nil && b.cst.Sign() >= 0) {
		if b.slot >= 0 {
			as, bs, n := a.slot, b.slot, a.words
			return func(s *State) bool {
				for i := range n {
					if s.W[as+i] != s.W[bs+i] {
						return false
					}
				}
				return true
			}
		}
		c := make([]uint64, max(a.words, b.limbs()))
		bigToWords(c, b.cst)
		as, n := a.slot, a.words
		fits := true
		for _, x := range c[n:] {
			fits = fits && x == 0
		}
		return func(s *State) bool {
			for i := range n {
				if s.W[as+i] != c[i] {
					return false
				}
			}
			return fits
		}
	}
	c := compare(a, b)
	return func(s *State) bool { return c(s) == 0 }
}

// compare compiles a three-way comparison of exact values.
func compare(a, b *num) func(*State) int {
	limbs := max(a.limbs(), b.limbs())
	aw, bw := a.into(), b.into()
	return func(s *State) int {
		top := s.top
		x, y := s.alloc(limbs), s.alloc(limbs)
		aw(s, x)
		bw(s, y)
		s.top = top
		return cmpSigned(x, y)
	}
}

func order(op string, a, b *num) boolFn {
	al, bl := a.low, b.low
	switch {
	case a.u64() && b.u64():
		if b.cst != nil {
			c := bl(nil)
			switch op {
			case "<":
				return func(s *State) bool { return al(s) < c }
			case "<=":
				return func(s *State) bool { return al(s) <= c }
			case ">":
				return func(s *State) bool { return al(s) > c }
			}
			return func(s *State) bool { return al(s) >= c }
		}
		switch op {
		case "<":
			return func(s *State) bool { return al(s) < bl(s) }
		case "<=":
			return func(s *State) bool { return al(s) <= bl(s) }
		case ">":
			return func(s *State) bool { return al(s) > bl(s) }
		}
		return func(s *State) bool { return al(s) >= bl(s) }
	case a.i64() && b.i64():
		switch op {
		case "<":
			return func(s *State) bool { return int64(al(s)) < int64(bl(s)) }
		case "<=":
			return func(s *State) bool { return int64(al(s)) <= int64(bl(s)) }
		case ">":
			return func(s *State) bool { return int64(al(s)) > int64(bl(s)) }
		}
		return func(s *State) bool { return int64(al(s)) >= int64(bl(s)) }
	}
	c := compare(a, b)
	switch op {
	case "<":
		return func(s *State) bool { return c(s) < 0 }
	case "<=":
		return func(s *State) bool { return c(s) <= 0 }
	case ">":
		return func(s *State) bool { return c(s) > 0 }
	}
	return func(s *State) bool { return c(s) >= 0 }
}
