package pipeline

import (
	"fmt"
	"math/big"

	"khop/bmv2/config"
)

type stmt func(*State)

// dest is something that can be assigned: a field of a known header, a field of a header chosen at run time, or a
// register cell.
type dest struct {
	width int
	// static field
	h *header
	f *field
	// else: the words to write, nil to ignore the write
	at func(*State) []uint64
}

func (l *linker) dest(v *config.Value, e *env) (dest, error) {
	fromRef := func(r headerRef, f *field, err error) (dest, error) {
		if err != nil {
			return dest{}, err
		}
		if r.static != nil {
			return dest{width: f.width, h: r.static, f: f}, nil
		}
		dyn, rel, n := r.dyn, f.rel, f.words
		return dest{width: f.width, at: func(s *State) []uint64 {
			h := dyn(s)
			if h == nil {
				s.in.BadIndex++
				return nil
			}
			if s.W[h.base] == 0 {
				return nil
			}
			return s.W[h.base+rel : h.base+rel+n]
		}}, nil
	}
	switch v.Kind {
	case config.KindField:
		h, f, err := l.lookupField(v.Names[0], v.Names[1])
		if err != nil {
			return dest{}, err
		}
		if f == nil {
			return dest{}, fmt.Errorf("$valid$ of header %q cannot be assigned", h.name)
		}
		return dest{width: f.width, h: h, f: f}, nil
	case config.KindStackField:
		st, f, err := l.stackField(v)
		if err != nil {
			return dest{}, err
		}
		return fromRef(st.last(), f, nil)
	case config.KindRegister:
		r, err := l.register(v.Names[0])
		if err != nil {
			return dest{}, err
		}
		idx, err := l.num(v.Index, e)
		if err != nil {
			return dest{}, err
		}
		return dest{width: r.info.Width, at: r.at(idx)}, nil
	case config.KindExpr:
		if v.Op == "access_field" {
			ref, err := l.headerRef(v.Left, e)
			if err != nil {
				return dest{}, err
			}
			if v.Offset >= len(ref.typ.fields) {
				return dest{}, fmt.Errorf("header type %q has no field %d", ref.typ.name, v.Offset)
			}
			return fromRef(ref, &ref.typ.fields[v.Offset], nil)
		}
	}
	return dest{}, fmt.Errorf("value cannot be assigned to")
}

// strip removes masks that storing into width bits makes superfluous.
func strip(v *config.Value, width int) *config.Value {
	for v.Kind == config.KindExpr && v.Op == "&" && v.Right.Kind == config.KindConst && isMask(v.Right.Int) &&
		v.Right.Int.BitLen() >= width && typeOf(v.Left) == typeNum {
		v = v.Left
	}
	return v
}

// assign compiles dst = src, truncated to dst's width.
func (l *linker) assign(dst, src *config.Value, e *env) (stmt, error) {
	d, err := l.dest(dst, e)
	if err != nil {
		return nil, err
	}
	n, err := l.num(strip(src, d.width), e)
	if err != nil {
		return nil, err
	}
	return d.store(n), nil
}

// store compiles the assignment of a number.
func (d dest) store(n *num) stmt {
	if d.h == nil || d.f.varbit {
		return d.storeAt(n)
	}
	slot, valid, meta := d.h.slot(d.f), d.h.base, d.h.meta
	if d.f.words == 1 {
		mask := ^uint64(0) >> uint(64-d.width)
		exact := n.lo.Sign() >= 0 && n.hi.Cmp(new(big.Int).SetUint64(mask)) <= 0
		low, src := n.low, n.slot
		switch {
		case n.cst != nil:
			c := low(nil) & mask
			if meta {
				return func(s *State) { s.W[slot] = c }
			}
			return func(s *State) {
				if s.W[valid] != 0 {
					s.W[slot] = c
				}
			}
		case meta && src >= 0 && exact:
			return func(s *State) { s.W[slot] = s.W[src] }
		case meta && src >= 0:
			return func(s *State) { s.W[slot] = s.W[src] & mask }
		case meta && exact:
			return func(s *State) { s.W[slot] = low(s) }
		case meta:
			return func(s *State) { s.W[slot] = low(s) & mask }
		}
		return func(s *State) {
			if s.W[valid] != 0 {
				s.W[slot] = low(s) & mask
			}
		}
	}
	k, width := d.f.words, d.width
	if n.slot >= 0 && n.words == k && n.hi.BitLen() <= width {
		src := n.slot
		return func(s *State) {
			if s.W[valid] != 0 {
				copy(s.W[slot:slot+k], s.W[src:src+k])
			}
		}
	}
	w := n.into()
	return func(s *State) {
		if s.W[valid] == 0 {
			return
		}
		top := s.top
		t := s.alloc(k)
		w(s, t)
		truncate(t, width)
		copy(s.W[slot:slot+k], t)
		s.top = top
	}
}

func (d dest) storeAt(n *num) stmt {
	at, width := d.at, d.width
	if d.h != nil {
		slot, k, valid := d.h.slot(d.f), d.f.words, d.h.base
		at = func(s *State) []uint64 {
			if s.W[valid] == 0 {
				return nil
			}
			return s.W[slot : slot+k]
		}
	}
	k := max(1, words(width))
	if k == 1 {
		low := n.low
		mask := ^uint64(0) >> uint(64-max(1, width))
		return func(s *State) {
			v := low(s) & mask
			if w := at(s); w != nil {
				w[0] = v
			}
		}
	}
	w := n.into()
	return func(s *State) {
		top := s.top
		t := s.alloc(k)
		w(s, t)
		truncate(t, width)
		copy(at(s), t)
		s.top = top
	}
}

// assignVarBit compiles the assignment of varbit fields, which takes the length along.
func (l *linker) assignVarBit(dst, src *config.Value) (stmt, error) {
	dh, df, err := l.lookupField(dst.Names[0], dst.Names[1])
	if err != nil {
		return nil, err
	}
	sh, sf, err := l.lookupField(src.Names[0], src.Names[1])
	if err != nil {
		return nil, err
	}
	if dst.Kind != config.KindField || src.Kind != config.KindField || df == nil || sf == nil || !df.varbit || !sf.varbit {
		return nil, fmt.Errorf("assign_VL takes two varbit fields")
	}
	return func(s *State) {
		if s.W[dh.base] == 0 {
			return
		}
		a := s.W[dh.slot(df) : dh.slot(df)+df.words]
		clear(a)
		copy(a, s.W[sh.slot(sf):sh.slot(sf)+sf.words])
		s.W[dh.base+df.lenRel] = min(s.W[sh.base+sf.lenRel], uint64(df.width))
	}, nil
}
