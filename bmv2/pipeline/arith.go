package pipeline

import "math/big"

func notNum(x *num) *num {
	n := &num{span: span{new(big.Int).Not(x.hi), new(big.Int).Not(x.lo)}, slot: -1}
	low := x.low
	n.low = func(s *State) uint64 { return ^low(s) }
	if !n.small() {
		w := x.into()
		n.wide = func(s *State, dst []uint64) {
			w(s, dst)
			for i := range dst {
				dst[i] = ^dst[i]
			}
		}
	}
	return n
}

// binaryOp compiles an arithmetic operator.
func binaryOp(op string, a, b *num) *num {
	n := &num{span: spanOf(op, a.span, b.span), slot: -1}
	if a.cst != nil && b.cst != nil {
		if c := foldConst(op, a.cst, b.cst); c != nil {
			return constNum(c)
		}
	}
	if a.cst != nil && b.cst == nil && (op == "+" || op == "*" || op == "&" || op == "|" || op == "^") {
		a, b = b, a
	}
	if op == "&" && b.cst != nil && a.lo.Sign() >= 0 && isMask(b.cst) && a.hi.Cmp(b.cst) <= 0 {
		return a // the mask keeps every bit
	}
	n.low = binaryLow(op, a, b)
	if !n.small() {
		n.wide = binaryWide(op, a, b, n.limbs())
	}
	return n
}

func isMask(v *big.Int) bool {
	return v.Sign() >= 0 && new(big.Int).And(v, new(big.Int).Add(v, big1)).Sign() == 0
}

func foldConst(op string, a, b *big.Int) *big.Int {
	z := new(big.Int)
	shift := b.IsUint64() && b.Uint64() < maxRangeBits
	switch {
	case op == "+":
		return z.Add(a, b)
	case op == "-":
		return z.Sub(a, b)
	case op == "*":
		return z.Mul(a, b)
	case op == "&":
		return z.And(a, b)
	case op == "|":
		return z.Or(a, b)
	case op == "^":
		return z.Xor(a, b)
	case op == "<<" && shift:
		return z.Lsh(a, uint(b.Uint64()))
	case op == ">>" && shift:
		return z.Rsh(a, uint(b.Uint64()))
	case op == "/" && b.Sign() != 0:
		return z.Quo(a, b)
	case op == "%" && b.Sign() != 0:
		return z.Rem(a, b)
	}
	return nil
}

// binaryLow compiles the operator modulo 2^64. Addition, subtraction, multiplication, left shift and the bit operators need
// only the low words of their operands; the others need exact operands.
func binaryLow(op string, a, b *num) numFn {
	al, bl := a.low, b.low
	if b.cst != nil && (b.u64() || op != "<<" && op != ">>") {
		c := bl(nil)
		if f := lowByConst(op, a, c); f != nil {
			return f
		}
	}
	as, bs := a.slot, b.slot
	fields := as >= 0 && bs >= 0
	switch op {
	case "+":
		if fields {
			return func(s *State) uint64 { return s.W[as] + s.W[bs] }
		}
		return func(s *State) uint64 { return al(s) + bl(s) }
	case "-":
		if fields {
			return func(s *State) uint64 { return s.W[as] - s.W[bs] }
		}
		return func(s *State) uint64 { return al(s) - bl(s) }
	case "*":
		return func(s *State) uint64 { return al(s) * bl(s) }
	case "&":
		if fields {
			return func(s *State) uint64 { return s.W[as] & s.W[bs] }
		}
		return func(s *State) uint64 { return al(s) & bl(s) }
	case "|":
		if fields {
			return func(s *State) uint64 { return s.W[as] | s.W[bs] }
		}
		return func(s *State) uint64 { return al(s) | bl(s) }
	case "^":
		if fields {
			return func(s *State) uint64 { return s.W[as] ^ s.W[bs] }
		}
		return func(s *State) uint64 { return al(s) ^ bl(s) }
	case "<<":
		amount := shiftAmount(b)
		return func(s *State) uint64 { return al(s) << amount(s) }
	case ">>":
		amount := shiftAmount(b)
		switch {
		case a.u64():
			return func(s *State) uint64 { return al(s) >> amount(s) }
		case a.i64():
			return func(s *State) uint64 { return uint64(int64(al(s)) >> amount(s)) }
		}
	case "/":
		switch {
		case a.u64() && b.u64():
			return func(s *State) uint64 {
				d := bl(s)
				if d == 0 {
					return 0
				}
				return al(s) / d
			}
		case a.i64() && b.i64():
			return func(s *State) uint64 {
				d := int64(bl(s))
				if d == 0 {
					return 0
				}
				return uint64(int64(al(s)) / d)
			}
		}
	case "%":
		switch {
		case a.u64() && b.u64():
			return func(s *State) uint64 {
				d := bl(s)
				if d == 0 {
					return 0
				}
				return al(s) % d
			}
		case a.i64() && b.i64():
			return func(s *State) uint64 {
				d := int64(bl(s))
				if d == 0 {
					return 0
				}
				return uint64(int64(al(s)) % d)
			}
		}
	}
	// exact operands wider than 64 bits
	limbs := max(a.limbs(), b.limbs())
	w := binaryWide(op, a, b, limbs)
	return func(s *State) uint64 {
		top := s.top
		t := s.alloc(limbs)
		w(s, t)
		v := t[0]
		s.top = top
		return v
	}
}

func lowByConst(op string, a *num, c uint64) numFn {
	al, as := a.low, a.slot
	field := as >= 0
	switch op {
	case "+":
		if field {
			return func(s *State) uint64 { return s.W[as] + c }
		}
		return func(s *State) uint64 { return al(s) + c }
	case "-":
		if field {
			return func(s *State) uint64 { return s.W[as] - c }
		}
		return func(s *State) uint64 { return al(s) - c }
	case "*":
		return func(s *State) uint64 { return al(s) * c }
	case "&":
		if field {
			return func(s *State) uint64 { return s.W[as] & c }
		}
		return func(s *State) uint64 { return al(s) & c }
	case "|":
		return func(s *State) uint64 { return al(s) | c }
	case "^":
		return func(s *State) uint64 { return al(s) ^ c }
	case "<<":
		return func(s *State) uint64 { return al(s) << c }
	case ">>":
		switch {
		case field && a.words == 1:
			return func(s *State) uint64 { return s.W[as] >> c }
		case field:
			return wideFieldShift(as, a.words, c)
		case a.u64():
			return func(s *State) uint64 { return al(s) >> c }
		case a.i64():
			return func(s *State) uint64 { return uint64(int64(al(s)) >> c) }
		}
	}
	return nil
}

// wideFieldShift gives the low word of a wide field shifted right by a constant: what slices of IPv6 addresses become.
func wideFieldShift(slot, n int, c uint64) numFn {
	if c >= uint64(64*n) {
		return func(*State) uint64 { return 0 }
	}
	i, sh := slot+int(c/64), uint(c%64)
	if sh == 0 {
		return func(s *State) uint64 { return s.W[i] }
	}
	if i+1 == slot+n {
		return func(s *State) uint64 { return s.W[i] >> sh }
	}
	return func(s *State) uint64 { return s.W[i]>>sh | s.W[i+1]<<(64-sh) }
}

// shiftAmount is the amount of a shift, saturated: negative and huge amounts shift everything out.
func shiftAmount(b *num) numFn {
	low := b.low
	if b.u64() {
		return low
	}
	limbs := b.limbs()
	w := b.into()
	return func(s *State) uint64 {
		top := s.top
		t := s.alloc(limbs)
		w(s, t)
		v := t[0]
		for _, x := range t[1:] {
			if x != 0 {
				v = ^uint64(0)
			}
		}
		if negative(t) {
			v = ^uint64(0)
		}
		s.top = top
		return v
	}
}

// binaryWide compiles the operator for results of any number of words. limbs holds an exact result.
func binaryWide(op string, a, b *num, limbs int) wideFn {
	aw, bw := a.into(), b.into()
	two := func(f func(dst, x, y []uint64)) wideFn {
		return func(s *State, dst []uint64) {
			top := s.top
			t := s.alloc(len(dst))
			aw(s, dst)
			bw(s, t)
			f(dst, dst, t)
			s.top = top
		}
	}
	bit := func(f func(x, y uint64) uint64) wideFn {
		return two(func(dst, x, y []uint64) {
			for i := range dst {
				dst[i] = f(x[i], y[i])
			}
		})
	}
	switch op {
	case "+":
		return two(addWords)
	case "-":
		return two(subWords)
	case "&":
		return bit(func(x, y uint64) uint64 { return x & y })
	case "|":
		return bit(func(x, y uint64) uint64 { return x | y })
	case "^":
		return bit(func(x, y uint64) uint64 { return x ^ y })
	case "*":
		return func(s *State, dst []uint64) {
			top := s.top
			x, y := s.alloc(len(dst)), s.alloc(len(dst))
			aw(s, x)
			bw(s, y)
			clear(dst)
			mulWords(dst, x, y)
			s.top = top
		}
	case "<<":
		amount := shiftAmount(b)
		return func(s *State, dst []uint64) {
			aw(s, dst)
			shlWords(dst, amount(s))
		}
	case ">>":
		amount := shiftAmount(b)
		exact := a.limbs()
		return func(s *State, dst []uint64) {
			top := s.top
			t := s.alloc(max(exact, len(dst)))
			aw(s, t)
			shrWords(t, amount(s))
			copy(dst, t)
			s.top = top
		}
	}
	// Division of values beyond 64 bits goes through math/big.
	exact := max(a.limbs(), b.limbs(), limbs)
	return func(s *State, dst []uint64) {
		top := s.top
		x, y := s.alloc(exact), s.alloc(exact)
		aw(s, x)
		bw(s, y)
		q := new(big.Int)
		if d := wordsToBig(y); d.Sign() != 0 {
			if op == "/" {
				q.Quo(wordsToBig(x), d)
			} else {
				q.Rem(wordsToBig(x), d)
			}
		}
		bigToWords(dst, q)
		s.top = top
	}
}

// twoCompMod reads the low width bits as a signed number.
func twoCompMod(a *num, width int) *num {
	n := &num{span: signedSpan(max(width, 1)), slot: -1}
	if width == 1 { // a 1-bit signed number is 0 or -1
		n.span = span{big.NewInt(-1), big0}
	}
	low := a.low
	if width <= 64 {
		sh := uint(64 - width)
		n.low = func(s *State) uint64 { return uint64(int64(low(s)<<sh) >> sh) }
		return n
	}
	n.low = low
	w, k := a.into(), words(width)
	n.wide = func(s *State, dst []uint64) {
		top := s.top
		t := s.alloc(max(k, len(dst)))
		w(s, t)
		extend(t, width, true)
		copy(dst, t)
		s.top = top
	}
	return n
}

// saturate clamps a value to a range.
func saturate(a *num, r span) *num {
	n := &num{span: r, slot: -1}
	if a.lo.Cmp(r.lo) >= 0 && a.hi.Cmp(r.hi) <= 0 {
		return a
	}
	low := a.low
	switch {
	case a.i64() && r.i64():
		lo, hi := r.lo.Int64(), r.hi.Int64()
		n.low = func(s *State) uint64 { return uint64(min(max(int64(low(s)), lo), hi)) }
		return n
	case a.u64() && r.u64():
		lo, hi := r.lo.Uint64(), r.hi.Uint64()
		n.low = func(s *State) uint64 { return min(max(low(s), lo), hi) }
		return n
	}
	limbs := max(a.limbs(), r.limbs())
	lo, hi := make([]uint64, limbs), make([]uint64, limbs)
	bigToWords(lo, r.lo)
	bigToWords(hi, r.hi)
	w := a.into()
	clamp := func(s *State) []uint64 {
		t := s.alloc(limbs)
		w(s, t)
		if cmpSigned(t, lo) < 0 {
			return lo
		}
		if cmpSigned(t, hi) > 0 {
			return hi
		}
		return t
	}
	n.low = func(s *State) uint64 {
		top := s.top
		v := clamp(s)[0]
		s.top = top
		return v
	}
	if !n.small() {
		n.wide = func(s *State, dst []uint64) {
			top := s.top
			t := clamp(s)
			fill := uint64(int64(t[limbs-1]) >> 63)
			k := copy(dst, t)
			for i := k; i < len(dst); i++ {
				dst[i] = fill
			}
			s.top = top
		}
	}
	return n
}
