package pipeline

import (
	"fmt"

	"khop/bmv2/config"
)

// headerRef is a header that is known when linking, or chosen by an index at run time. Out of range, it is nil: reads
// give zero and invalid, writes do nothing and are counted.
type headerRef struct {
	typ    *headerType
	static *header
	dyn    func(*State) *header
}

func (r headerRef) get(s *State) *header {
	if r.static != nil {
		return r.static
	}
	return r.dyn(s)
}

func (r headerRef) valid() boolFn {
	if r.static != nil {
		slot := r.static.base
		return func(s *State) bool { return s.W[slot] != 0 }
	}
	dyn := r.dyn
	return func(s *State) bool {
		h := dyn(s)
		return h != nil && s.W[h.base] != 0
	}
}

// refNum reads a field of a header that may be chosen at run time.
func refNum(r headerRef, f *field) *num {
	if r.static != nil {
		return fieldNum(r.static, f)
	}
	dyn, rel, n, width, signed := r.dyn, 0, 1, 1, false
	if f != nil {
		rel, n, width, signed = f.rel, f.words, max(1, f.width), f.signed
	}
	return wordsNum(width, signed, func(s *State) []uint64 {
		h := dyn(s)
		if h == nil {
			return nil
		}
		return s.W[h.base+rel : h.base+rel+n]
	})
}

// last is the last header of a stack that was extracted: P4's stack.last.
func (st *stack) last() headerRef {
	next, elems := st.next, st.elems
	return headerRef{typ: st.typ, dyn: func(s *State) *header {
		if i := s.W[next]; i > 0 {
			return elems[i-1]
		}
		return nil
	}}
}

func (l *linker) stackField(v *config.Value) (*stack, *field, error) {
	st := l.stacks[v.Names[0]]
	if st == nil {
		return nil, nil, fmt.Errorf("no header stack %q", v.Names[0])
	}
	i, ok := st.typ.byName[v.Names[1]]
	if !ok {
		return nil, nil, fmt.Errorf("header stack %q has no field %q", v.Names[0], v.Names[1])
	}
	return st, &st.typ.fields[i], nil
}

func (l *linker) unionStackField(v *config.Value) (headerRef, *field, error) {
	us := l.unionStacks[v.Names[0]]
	if us == nil {
		return headerRef{}, nil, fmt.Errorf("no header union stack %q", v.Names[0])
	}
	m := us.member(v.Names[1])
	if m < 0 {
		return headerRef{}, nil, fmt.Errorf("header union stack %q has no member %q", v.Names[0], v.Names[1])
	}
	t := us.unions[0].members[m].typ
	i, ok := t.byName[v.Names[2]]
	if !ok {
		return headerRef{}, nil, fmt.Errorf("header type %q has no field %q", t.name, v.Names[2])
	}
	return headerRef{typ: t, dyn: func(s *State) *header {
		if i := s.W[us.next]; i > 0 {
			return us.unions[i-1].members[m]
		}
		return nil
	}}, &t.fields[i], nil
}

func (us *unionStack) member(name string) int {
	for i, n := range us.unions[0].names {
		if n == name {
			return i
		}
	}
	return -1
}

func (l *linker) headerRef(v *config.Value, e *env) (headerRef, error) {
	switch v.Kind {
	case config.KindHeader:
		h := l.headers[v.Names[0]]
		if h == nil {
			return headerRef{}, fmt.Errorf("no header %q", v.Names[0])
		}
		return headerRef{typ: h.typ, static: h}, nil
	case config.KindStackField: // p4c writes stack.last as if it were a field
		if st := l.stacks[v.Names[0]]; st != nil && v.Names[1] == "last" {
			return st.last(), nil
		}
	case config.KindExpr:
		switch v.Op {
		case "dereference_header_stack", "dereference_stack":
			if v.Left.Kind != config.KindStack {
				return headerRef{}, fmt.Errorf("operator %q needs a header stack", v.Op)
			}
			st := l.stacks[v.Left.Names[0]]
			if st == nil {
				return headerRef{}, fmt.Errorf("no header stack %q", v.Left.Names[0])
			}
			idx, err := l.num(v.Right, e)
			if err != nil {
				return headerRef{}, err
			}
			at := indexFn(idx, len(st.elems))
			if idx.cst != nil && idx.u64() && at(nil) >= 0 {
				return headerRef{typ: st.typ, static: st.elems[at(nil)]}, nil
			}
			return headerRef{typ: st.typ, dyn: func(s *State) *header {
				if i := at(s); i >= 0 {
					return st.elems[i]
				}
				return nil
			}}, nil
		case "access_union_header":
			return l.unionHeader(v, e)
		}
	}
	return headerRef{}, fmt.Errorf("value is not a header")
}

func (l *linker) unionHeader(v *config.Value, e *env) (headerRef, error) {
	if v.Left.Kind == config.KindUnion {
		u := l.unions[v.Left.Names[0]]
		if u == nil {
			return headerRef{}, fmt.Errorf("no header union %q", v.Left.Names[0])
		}
		if v.Offset >= len(u.members) {
			return headerRef{}, fmt.Errorf("header union %q has no member %d", u.name, v.Offset)
		}
		h := u.members[v.Offset]
		return headerRef{typ: h.typ, static: h}, nil
	}
	if v.Left.Kind == config.KindExpr && v.Left.Op == "dereference_union_stack" && v.Left.Left.Kind == config.KindUnionStack {
		us := l.unionStacks[v.Left.Left.Names[0]]
		if us == nil {
			return headerRef{}, fmt.Errorf("no header union stack %q", v.Left.Left.Names[0])
		}
		if v.Offset >= len(us.unions[0].members) {
			return headerRef{}, fmt.Errorf("header union stack %q has no member %d", us.name, v.Offset)
		}
		u, err := l.unionRef(v.Left, e)
		if err != nil {
			return headerRef{}, err
		}
		m := v.Offset
		return headerRef{typ: us.unions[0].members[m].typ, dyn: func(s *State) *header {
			if u := u(s); u != nil {
				return u.members[m]
			}
			return nil
		}}, nil
	}
	return headerRef{}, fmt.Errorf("operator access_union_header needs a header union")
}

func (l *linker) unionRef(v *config.Value, e *env) (func(*State) *union, error) {
	if v.Kind == config.KindUnion {
		u := l.unions[v.Names[0]]
		if u == nil {
			return nil, fmt.Errorf("no header union %q", v.Names[0])
		}
		return func(*State) *union { return u }, nil
	}
	if v.Kind == config.KindExpr && v.Op == "dereference_union_stack" && v.Left.Kind == config.KindUnionStack {
		us := l.unionStacks[v.Left.Names[0]]
		if us == nil {
			return nil, fmt.Errorf("no header union stack %q", v.Left.Names[0])
		}
		idx, err := l.num(v.Right, e)
		if err != nil {
			return nil, err
		}
		at := indexFn(idx, len(us.unions))
		return func(s *State) *union {
			if i := at(s); i >= 0 {
				return us.unions[i]
			}
			return nil
		}, nil
	}
	return nil, fmt.Errorf("value is not a header union")
}

// indexFn evaluates an index; out of range it gives -1.
func indexFn(idx *num, size int) func(*State) int {
	low := shiftAmount(idx) // exact up to 2^64-1, and that for negative values
	n := uint64(size)
	return func(s *State) int {
		if i := low(s); i < n {
			return int(i)
		}
		return -1
	}
}

// countedIndex is indexFn for state: out of range is counted.
func countedIndex(idx *num, size int) func(*State) int {
	at := indexFn(idx, size)
	return func(s *State) int {
		i := at(s)
		if i < 0 {
			s.in.BadIndex++
		}
		return i
	}
}

// stackNext resolves the word with the next index of a stack, and the stack's size.
func (l *linker) stackNext(v *config.Value) (next, size int, err error) {
	if st := l.stacks[v.Names[0]]; v.Kind == config.KindStack && st != nil {
		return st.next, len(st.elems), nil
	}
	if us := l.unionStacks[v.Names[0]]; v.Kind == config.KindUnionStack && us != nil {
		return us.next, len(us.unions), nil
	}
	return 0, 0, fmt.Errorf("no header stack %q", v.Names[0])
}
