package pipeline

import (
	"fmt"
	"math/big"

	"khop/bmv2/config"
)

type (
	numFn  func(*State) uint64
	wideFn func(*State, []uint64)
	boolFn func(*State) bool
)

// num is a compiled arithmetic expression. low gives the value modulo 2^64. wide stores it modulo 2^(64 n) in n words; it
// is nil when the range fits 64 bits, signed or unsigned, so that low can be extended.
type num struct {
	span
	low   numFn
	wide  wideFn
	slot  int      // first word of the PHV when the value is that of a static unsigned field, else -1
	words int      // of that field
	cst   *big.Int // set when constant
}

func (n *num) small() bool { return n.u64() || n.i64() }

// into returns the function that stores the value in any number of words.
func (n *num) into() wideFn {
	if n.wide != nil {
		return n.wide
	}
	low := n.low
	if n.u64() {
		return func(s *State, dst []uint64) {
			clear(dst)
			dst[0] = low(s)
		}
	}
	return func(s *State, dst []uint64) {
		v := low(s)
		dst[0] = v
		fill := uint64(int64(v) >> 63)
		for i := 1; i < len(dst); i++ {
			dst[i] = fill
		}
	}
}

func constNum(v *big.Int) *num {
	n := &num{span: span{v, v}, slot: -1, cst: v}
	ws := make([]uint64, n.limbs())
	bigToWords(ws, v)
	c := ws[0]
	n.low = func(*State) uint64 { return c }
	if !n.small() {
		fill := uint64(0)
		if v.Sign() < 0 {
			fill = ^fill
		}
		n.wide = func(_ *State, dst []uint64) {
			k := copy(dst, ws)
			for i := k; i < len(dst); i++ {
				dst[i] = fill
			}
		}
	}
	return n
}

// env is what an expression may refer to besides the program's objects.
type env struct {
	params []param     // run-time parameters of the action
	local  *headerType // header whose fields the locals of a P4_14 length expression are
	base   *header
}

type param struct {
	name  string
	off   int // word in the arguments
	words int
	width int
}

// wordsNum reads an unsigned or signed value of width bits that stands in words at(s), which may be nil (zero).
func wordsNum(width int, signed bool, at func(*State) []uint64) *num {
	n := &num{span: unsignedSpan(width), slot: -1}
	if signed {
		n.span = signedSpan(width)
	}
	if width <= 64 {
		sh := uint(64 - width)
		n.low = func(s *State) uint64 {
			w := at(s)
			if w == nil {
				return 0
			}
			if signed {
				return uint64(int64(w[0]<<sh) >> sh)
			}
			return w[0]
		}
		return n
	}
	n.low = func(s *State) uint64 {
		if w := at(s); w != nil {
			return w[0]
		}
		return 0
	}
	n.wide = func(s *State, dst []uint64) {
		k := copy(dst, at(s))
		clear(dst[k:])
		if signed {
			extend(dst, width, true)
		}
	}
	return n
}

// fieldNum reads a field of a static header.
func fieldNum(h *header, f *field) *num {
	if f == nil { // $valid$
		slot := h.base
		return &num{span: unsignedSpan(1), slot: slot, words: 1, low: func(s *State) uint64 { return s.W[slot] }}
	}
	slot, n := h.slot(f), f.words
	if f.signed {
		if f.width <= 64 {
			sh := uint(64 - f.width)
			return &num{span: signedSpan(f.width), slot: -1,
				low: func(s *State) uint64 { return uint64(int64(s.W[slot]<<sh) >> sh) }}
		}
		return wordsNum(f.width, true, func(s *State) []uint64 { return s.W[slot : slot+n] })
	}
	r := &num{span: unsignedSpan(max(1, f.width)), slot: slot, words: n, low: func(s *State) uint64 { return s.W[slot] }}
	if n > 1 {
		r.wide = func(s *State, dst []uint64) {
			k := copy(dst, s.W[slot:slot+n])
			clear(dst[k:])
		}
	}
	return r
}

func (l *linker) num(v *config.Value, e *env) (*num, error) {
	switch v.Kind {
	case config.KindConst:
		return constNum(v.Int), nil
	case config.KindField:
		h, f, err := l.lookupField(v.Names[0], v.Names[1])
		if err != nil {
			return nil, err
		}
		return fieldNum(h, f), nil
	case config.KindLocal:
		return l.local(v, e)
	case config.KindStackField:
		st, f, err := l.stackField(v)
		if err != nil {
			return nil, err
		}
		return refNum(st.last(), f), nil
	case config.KindUnionStackField:
		ref, f, err := l.unionStackField(v)
		if err != nil {
			return nil, err
		}
		return refNum(ref, f), nil
	case config.KindRegister:
		return l.registerNum(v, e)
	case config.KindLookahead:
		return lookaheadNum(v.Offset, v.Width)
	case config.KindExpr:
		if isBoolOp(v.Op) {
			break
		}
		return l.opNum(v, e)
	case config.KindBool:
	default:
		return nil, fmt.Errorf("value of this type is not a number")
	}
	b, err := l.boolean(v, e)
	if err != nil {
		return nil, err
	}
	return boolNum(b), nil
}

func boolNum(b boolFn) *num {
	return &num{span: unsignedSpan(1), slot: -1, low: func(s *State) uint64 {
		if b(s) {
			return 1
		}
		return 0
	}}
}

func (l *linker) local(v *config.Value, e *env) (*num, error) {
	if e != nil && e.local != nil {
		if v.Offset >= len(e.local.fields) || e.local.fields[v.Offset].varbit {
			return nil, fmt.Errorf("header type %q has no fixed field %d", e.local.name, v.Offset)
		}
		return fieldNum(e.base, &e.local.fields[v.Offset]), nil
	}
	if e == nil || v.Offset >= len(e.params) {
		return nil, fmt.Errorf("no run-time parameter %d", v.Offset)
	}
	p := e.params[v.Offset]
	if p.words == 1 {
		off := p.off
		return &num{span: unsignedSpan(p.width), slot: -1, low: func(s *State) uint64 { return s.args[off] }}, nil
	}
	return wordsNum(p.width, false, func(s *State) []uint64 { return s.args[p.off : p.off+p.words] }), nil
}

func (l *linker) registerNum(v *config.Value, e *env) (*num, error) {
	r, err := l.register(v.Names[0])
	if err != nil {
		return nil, err
	}
	idx, err := l.num(v.Index, e)
	if err != nil {
		return nil, err
	}
	at := r.at(idx)
	return wordsNum(r.info.Width, false, at), nil
}

func lookaheadNum(offset, width int) (*num, error) {
	if width == 0 {
		return nil, fmt.Errorf("lookahead of 0 bits")
	}
	n := &num{span: unsignedSpan(width), slot: -1}
	k := words(width)
	low := min(width, 64)
	at := offset + width - low
	n.low = func(s *State) uint64 { return bits64(s.Buf[s.Off:cap(s.Buf)], at, low) }
	if k > 1 {
		n.wide = func(s *State, dst []uint64) { getBits(dst, s.Buf[s.Off:cap(s.Buf)], offset, width) }
	}
	return n, nil
}

func isBoolOp(op string) bool {
	switch op {
	case "==", "!=", "<", "<=", ">", ">=", "and", "or", "not", "valid", "valid_union", "d2b":
		return true
	}
	return false
}

func (l *linker) opNum(v *config.Value, e *env) (*num, error) {
	switch v.Op {
	case "b2d":
		b, err := l.boolean(v.Right, e)
		if err != nil {
			return nil, err
		}
		return boolNum(b), nil
	case "access_field":
		ref, err := l.headerRef(v.Left, e)
		if err != nil {
			return nil, err
		}
		if v.Offset >= len(ref.typ.fields) {
			return nil, fmt.Errorf("header type %q has no field %d", ref.typ.name, v.Offset)
		}
		return refNum(ref, &ref.typ.fields[v.Offset]), nil
	case "last_stack_index", "size_stack":
		next, size, err := l.stackNext(v.Right)
		if err != nil {
			return nil, err
		}
		if v.Op == "size_stack" {
			return &num{span: span{big0, big.NewInt(int64(size))}, slot: -1, low: func(s *State) uint64 { return s.W[next] }}, nil
		}
		return &num{span: span{big.NewInt(-1), big.NewInt(int64(size))}, slot: -1,
			low: func(s *State) uint64 { return s.W[next] - 1 }}, nil
	case "~":
		x, err := l.num(v.Right, e)
		if err != nil {
			return nil, err
		}
		return notNum(x), nil
	case "?":
		return l.ternary(v, e)
	}
	if v.Op == "-" && v.Left == nil {
		x, err := l.num(v.Right, e)
		if err != nil {
			return nil, err
		}
		return binaryOp("-", constNum(big0), x), nil
	}
	a, err := l.num(v.Left, e)
	if err != nil {
		return nil, err
	}
	b, err := l.num(v.Right, e)
	if err != nil {
		return nil, err
	}
	switch v.Op {
	case "+", "-", "*", "&", "|", "^", "<<", ">>", "/", "%":
		return binaryOp(v.Op, a, b), nil
	case "two_comp_mod", "sat_cast", "usat_cast":
		if b.cst == nil || !b.cst.IsInt64() || b.cst.Int64() < 1 || b.cst.Int64() > maxRangeBits {
			return nil, fmt.Errorf("operator %q needs a constant width of 1 to %d bits", v.Op, maxRangeBits)
		}
		w := int(b.cst.Int64())
		if v.Op == "two_comp_mod" {
			return twoCompMod(a, w), nil
		}
		r := unsignedSpan(w)
		if v.Op == "sat_cast" {
			r = signedSpan(w)
		}
		return saturate(a, r), nil
	}
	return nil, fmt.Errorf("operator %q does not give a number", v.Op)
}

func (l *linker) ternary(v *config.Value, e *env) (*num, error) {
	c, err := l.boolean(v.Cond, e)
	if err != nil {
		return nil, err
	}
	a, err := l.num(v.Left, e)
	if err != nil {
		return nil, err
	}
	b, err := l.num(v.Right, e)
	if err != nil {
		return nil, err
	}
	n := &num{span: a.span.join(b.span), slot: -1}
	al, bl := a.low, b.low
	n.low = func(s *State) uint64 {
		if c(s) {
			return al(s)
		}
		return bl(s)
	}
	if !n.small() {
		aw, bw := a.into(), b.into()
		n.wide = func(s *State, dst []uint64) {
			if c(s) {
				aw(s, dst)
			} else {
				bw(s, dst)
			}
		}
	}
	return n, nil
}
