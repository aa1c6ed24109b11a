package pipeline

import (
	"fmt"

	"khop/bmv2/config"
)

func (l *linker) parserOp(op *config.ParserOp) (parseOp, error) {
	switch op.Op {
	case "extract":
		return l.extract(&op.Params[0], nil)
	case "extract_VL":
		n, err := l.num(&op.Params[1], nil)
		if err != nil {
			return nil, err
		}
		return l.extract(&op.Params[0], n)
	case "set":
		return l.parserSet(op)
	case "verify":
		cond, err := l.boolean(&op.Params[0], nil)
		if err != nil {
			return nil, err
		}
		code, err := l.num(&op.Params[1], nil)
		if err != nil {
			return nil, err
		}
		low := code.low
		return func(s *State) bool {
			if cond(s) {
				return true
			}
			s.HasErr, s.ParserErr = true, uint32(low(s))
			return false
		}, nil
	case "shift":
		n := op.Params[0].Offset
		return func(s *State) bool {
			if s.End-s.Off < n {
				return s.parseError(errPacketTooShort)
			}
			s.Off += n
			return true
		}, nil
	case "advance":
		n, err := l.num(&op.Params[0], nil)
		if err != nil {
			return nil, err
		}
		amount := shiftAmount(n)
		return func(s *State) bool {
			a := amount(s)
			if a%8 != 0 {
				return s.parseError(errParserInvalidArgument)
			}
			if uint64(s.End-s.Off) < a/8 {
				return s.parseError(errPacketTooShort)
			}
			s.Off += int(a / 8)
			return true
		}, nil
	}
	// primitive
	in, err := l.primitive(op.Call, nil, 1)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op.Call.Op, err)
	}
	if in.jump != nil { // assert, assume, exit: the architecture looks at the flags
		jump := in.jump
		return func(s *State) bool { jump(s); return true }, nil
	}
	fn := in.fn
	return func(s *State) bool { fn(s); return true }, nil
}

func (l *linker) parserSet(op *config.ParserOp) (parseOp, error) {
	dst, src := &op.Params[0], &op.Params[1]
	if src.Kind == config.KindField && dst.Kind == config.KindField {
		if _, f, err := l.lookupField(src.Names[0], src.Names[1]); err == nil && f != nil && f.varbit {
			fn, err := l.assignVarBit(dst, src)
			return func(s *State) bool { fn(s); return true }, err
		}
	}
	fn, err := l.assign(dst, src, nil)
	if err != nil {
		return nil, err
	}
	if look := lookaheadBits(src); look > 0 {
		return func(s *State) bool {
			if s.Off*8+look > s.End*8 {
				return s.parseError(errPacketTooShort)
			}
			fn(s)
			return true
		}, nil
	}
	return func(s *State) bool { fn(s); return true }, nil
}

// lookaheadBits is how many bits beyond the current position an expression reads.
func lookaheadBits(v *config.Value) int {
	if v == nil {
		return 0
	}
	n := 0
	if v.Kind == config.KindLookahead {
		n = v.Offset + v.Width
	}
	return max(n, lookaheadBits(v.Left), lookaheadBits(v.Right), lookaheadBits(v.Cond), lookaheadBits(v.Index))
}

// extract compiles an extraction into a header, the next element of a stack or of a union stack. vl is the length in bits
// of the varbit field when the operation gives it.
func (l *linker) extract(target *config.Value, vl *num) (parseOp, error) {
	switch target.Kind {
	case config.KindHeader:
		h := l.headers[target.Names[0]]
		if h == nil {
			return nil, fmt.Errorf("no header %q", target.Names[0])
		}
		if h.meta {
			return nil, fmt.Errorf("%q is metadata", h.name)
		}
		return l.extractTo(h, vl)
	case config.KindStack:
		st := l.stacks[target.Names[0]]
		if st == nil {
			return nil, fmt.Errorf("no header stack %q", target.Names[0])
		}
		return l.extractNext(st.next, st.elems, vl)
	case config.KindUnionStack:
		us := l.unionStacks[target.Names[0]]
		if us == nil {
			return nil, fmt.Errorf("no header union stack %q", target.Names[0])
		}
		m := us.member(target.Names[1])
		if m < 0 {
			return nil, fmt.Errorf("header union stack %q has no member %q", target.Names[0], target.Names[1])
		}
		var elems []*header
		for _, u := range us.unions {
			elems = append(elems, u.members[m])
		}
		return l.extractNext(us.next, elems, vl)
	}
	return nil, fmt.Errorf("target is not a header, stack or union stack")
}

func (l *linker) extractNext(next int, elems []*header, vl *num) (parseOp, error) {
	ops := make([]parseOp, len(elems))
	for i, h := range elems {
		op, err := l.extractTo(h, vl)
		if err != nil {
			return nil, err
		}
		ops[i] = op
	}
	return func(s *State) bool {
		i := s.W[next]
		if i >= uint64(len(ops)) {
			return s.parseError(errStackOutOfBounds)
		}
		if !ops[i](s) {
			return false
		}
		s.W[next]++
		return true
	}, nil
}

func (l *linker) extractTo(h *header, vl *num) (parseOp, error) {
	t := h.typ
	size, base, end := t.bytes(), h.base, h.base+t.words
	if t.vl < 0 {
		ops := t.extract
		if h.siblings == nil {
			return func(s *State) bool {
				if s.End-s.Off < size {
					return s.parseError(errPacketTooShort)
				}
				w := s.W[base:end]
				w[0] = 1
				load(ops, w, s.Buf[s.Off:cap(s.Buf)])
				s.Off += size
				return true
			}, nil
		}
		return func(s *State) bool {
			if s.End-s.Off < size {
				return s.parseError(errPacketTooShort)
			}
			s.validate(h)
			load(ops, s.W[base:end], s.Buf[s.Off:cap(s.Buf)])
			s.Off += size
			return true
		}, nil
	}
	var length numFn
	switch {
	case vl != nil:
		length = shiftAmount(vl)
	case t.lenExp != nil: // P4_14: an expression over the header's own fields
		n, err := l.num(t.lenExp, &env{local: t, base: h})
		if err != nil {
			return nil, fmt.Errorf("length_exp of header type %q: %w", t.name, err)
		}
		length = shiftAmount(n)
	default:
		return nil, fmt.Errorf("header type %q has a varbit field of unknown length", t.name)
	}
	f := &t.fields[t.vl]
	early := vl == nil
	return func(s *State) bool {
		// With extract_VL the length refers to what was there before.
		var n uint64
		if !early {
			n = length(s)
		}
		if s.End-s.Off < size {
			return s.parseError(errPacketTooShort)
		}
		w, b := s.W[base:end], s.Buf[s.Off:cap(s.Buf)]
		if early {
			valid := w[0]
			w[0] = 1
			load(t.extract, w, b)
			n = length(s)
			w[0] = valid
		}
		ok := n%8 == 0
		switch {
		case !ok:
			s.parseError(errParserInvalidArgument)
		case n/8 > uint64(s.End-s.Off-size):
			ok = s.parseError(errPacketTooShort)
		case n > uint64(f.width):
			ok = s.parseError(errHeaderTooShort)
		}
		if !ok {
			if early && w[0] == 0 {
				clear(w)
			}
			return false
		}
		s.validate(h)
		load(t.extract, w, b)
		getBits(w[f.rel:f.rel+f.words], b, f.bit, int(n))
		w[f.lenRel] = n
		load(t.after, w, b[n/8:])
		s.Off += size + int(n/8)
		return true
	}, nil
}
