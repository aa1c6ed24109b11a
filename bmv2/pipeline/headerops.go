package pipeline

import (
	"fmt"

	"khop/bmv2/config"
)

func (l *linker) headerPrimitive(op string, a []*config.Value, e *env) (stmt, error) {
	switch op {
	case "assign_header", "copy_header":
		return l.assignHeader(a, e)
	case "assign_union":
		x, err := l.unionRef(a[0], e)
		if err != nil {
			return nil, err
		}
		y, err := l.unionRef(a[1], e)
		if err != nil {
			return nil, err
		}
		return func(s *State) { s.copyUnion(x(s), y(s)) }, nil
	case "assign_header_stack":
		x, y := l.stacks[a[0].Names[0]], l.stacks[a[1].Names[0]]
		if x == nil || y == nil || x.typ != y.typ || len(x.elems) != len(y.elems) {
			return nil, fmt.Errorf("%q and %q are not header stacks of one type and size", a[0].Names[0], a[1].Names[0])
		}
		return func(s *State) {
			s.W[x.next] = s.W[y.next]
			for i, h := range x.elems {
				s.copyHeader(h, y.elems[i])
			}
		}, nil
	case "assign_union_stack":
		x, y := l.unionStacks[a[0].Names[0]], l.unionStacks[a[1].Names[0]]
		if x == nil || y == nil || len(x.unions) != len(y.unions) ||
			len(x.unions[0].members) != len(y.unions[0].members) {
			return nil, fmt.Errorf("%q and %q are not union stacks of one type and size", a[0].Names[0], a[1].Names[0])
		}
		return func(s *State) {
			s.W[x.next] = s.W[y.next]
			for i, u := range x.unions {
				s.copyUnion(u, y.unions[i])
			}
		}, nil
	case "push", "pop":
		return l.pushPop(op, a, e)
	}
	ref, err := l.headerRef(a[0], e)
	if err != nil {
		return nil, err
	}
	get := ref.get
	switch op {
	case "add_header", "add_header_fast":
		return func(s *State) {
			h := get(s)
			if h == nil {
				s.in.BadIndex++
				return
			}
			if s.W[h.base] == 0 {
				s.validate(h)
				s.Length += h.typ.bytes()
			}
		}, nil
	}
	return func(s *State) { // remove_header
		h := get(s)
		if h == nil {
			s.in.BadIndex++
			return
		}
		if s.W[h.base] != 0 && !h.meta {
			s.Length -= s.headerBytes(h)
			s.clearHeader(h)
		}
	}, nil
}

func (l *linker) assignHeader(a []*config.Value, e *env) (stmt, error) {
	x, err := l.headerRef(a[0], e)
	if err != nil {
		return nil, err
	}
	y, err := l.headerRef(a[1], e)
	if err != nil {
		return nil, err
	}
	if x.typ != y.typ {
		return nil, fmt.Errorf("a header of type %q is assigned to one of type %q", y.typ.name, x.typ.name)
	}
	if x.static != nil && y.static != nil {
		dst, src := x.static, y.static
		return func(s *State) { s.copyHeader(dst, src) }, nil
	}
	return func(s *State) {
		dst, src := x.get(s), y.get(s)
		switch {
		case dst == nil:
			s.in.BadIndex++
		case src == nil:
			s.clearHeader(dst)
		default:
			s.copyHeader(dst, src)
		}
	}, nil
}

func (s *State) copyUnion(dst, src *union) {
	if dst == nil {
		s.in.BadIndex++
		return
	}
	if dst == src {
		return
	}
	for i, h := range dst.members {
		if src == nil || i >= len(src.members) || src.members[i].typ != h.typ {
			s.clearHeader(h)
			continue
		}
		// at most one member of src is valid: plain copies keep the invariant
		o := src.members[i]
		copy(s.W[h.base:h.base+h.typ.words], s.W[o.base:o.base+h.typ.words])
	}
}

// pushPop compiles P4_16's push_front and pop_front.
func (l *linker) pushPop(op string, a []*config.Value, e *env) (stmt, error) {
	n, err := l.num(a[1], e)
	if err != nil {
		return nil, err
	}
	next, size, err := l.stackNext(a[0])
	if err != nil {
		return nil, err
	}
	var rows [][]*header // the headers at each index
	if st := l.stacks[a[0].Names[0]]; a[0].Kind == config.KindStack {
		for _, h := range st.elems {
			rows = append(rows, []*header{h})
		}
	} else {
		for _, u := range l.unionStacks[a[0].Names[0]].unions {
			rows = append(rows, u.members)
		}
	}
	move := func(s *State, to, from int) {
		for i, h := range rows[to] {
			if from < 0 || from >= size {
				s.clearHeader(h)
				continue
			}
			o := rows[from][i]
			copy(s.W[h.base:h.base+h.typ.words], s.W[o.base:o.base+h.typ.words])
		}
	}
	amount := shiftAmount(n)
	if op == "push" {
		return func(s *State) {
			k := int(min(amount(s), uint64(size)))
			s.W[next] = min(s.W[next]+uint64(k), uint64(size))
			for i := size - 1; i >= 0; i-- {
				move(s, i, i-k)
			}
		}, nil
	}
	return func(s *State) {
		k := int(min(amount(s), uint64(size)))
		s.W[next] -= min(s.W[next], uint64(k))
		for i := range size {
			move(s, i, i+k)
		}
	}, nil
}
