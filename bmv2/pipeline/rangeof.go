package pipeline

import "math/big"

// The arithmetic of bmv2 JSON is exact and only truncated when stored. A node therefore knows the range of its values:
// whether 64 bits hold it exactly decides how it is compiled.

var (
	big0     = big.NewInt(0)
	big1     = big.NewInt(1)
	maxU64   = new(big.Int).SetUint64(^uint64(0))
	minI64   = big.NewInt(-1 << 63)
	maxI64   = big.NewInt(1<<63 - 1)
	rangeCap = new(big.Int).Lsh(big1, maxRangeBits)
)

// maxRangeBits bounds the values that an expression can have before it is stored: a shift by a run-time amount can ask for
// any number of bits. Beyond it, values are taken modulo 2^maxRangeBits.
const maxRangeBits = 8192

type span struct{ lo, hi *big.Int }

func unsignedSpan(width int) span {
	hi := new(big.Int).Lsh(big1, uint(width))
	return span{big0, hi.Sub(hi, big1)}
}

func signedSpan(width int) span {
	hi := new(big.Int).Lsh(big1, uint(width-1))
	lo := new(big.Int).Neg(hi)
	return span{lo, hi.Sub(hi, big1)}
}

func (r span) u64() bool { return r.lo.Sign() >= 0 && r.hi.Cmp(maxU64) <= 0 }
func (r span) i64() bool { return r.lo.Cmp(minI64) >= 0 && r.hi.Cmp(maxI64) <= 0 }

// limbs is how many words hold every value of the range in two's complement.
func (r span) limbs() int {
	n := r.hi.BitLen()
	if r.lo.Sign() < 0 {
		n = max(n, new(big.Int).Not(r.lo).BitLen())
	}
	return n/64 + 1
}

func (r span) join(o span) span {
	if o.lo.Cmp(r.lo) < 0 {
		r.lo = o.lo
	}
	if o.hi.Cmp(r.hi) > 0 {
		r.hi = o.hi
	}
	return r
}

func (r span) capped() span {
	if r.hi.Cmp(rangeCap) > 0 {
		r.hi = rangeCap
	}
	if neg := new(big.Int).Neg(rangeCap); r.lo.Cmp(neg) < 0 {
		r.lo = neg
	}
	return r
}

func hull(vs ...*big.Int) span {
	r := span{vs[0], vs[0]}
	for _, v := range vs[1:] {
		r = r.join(span{v, v})
	}
	return r
}

func spanOf(op string, a, b span) span {
	bin := func(f func(z, x, y *big.Int) *big.Int) span {
		z := func(x, y *big.Int) *big.Int { return f(new(big.Int), x, y) }
		return hull(z(a.lo, b.lo), z(a.lo, b.hi), z(a.hi, b.lo), z(a.hi, b.hi)).capped()
	}
	switch op {
	case "+":
		return bin((*big.Int).Add)
	case "-":
		return bin((*big.Int).Sub)
	case "*":
		return bin((*big.Int).Mul)
	case "<<":
		amount := uint(maxRangeBits)
		if b.hi.IsUint64() && b.hi.Uint64() < maxRangeBits {
			amount = uint(b.hi.Uint64())
		}
		return hull(big0, a.lo, a.hi, new(big.Int).Lsh(a.lo, amount), new(big.Int).Lsh(a.hi, amount)).capped()
	case ">>":
		least := uint(0)
		if b.lo.Sign() > 0 {
			least = maxRangeBits
			if b.lo.IsUint64() && b.lo.Uint64() < maxRangeBits {
				least = uint(b.lo.Uint64())
			}
		}
		r := hull(new(big.Int).Rsh(a.lo, least), new(big.Int).Rsh(a.hi, least))
		if b.lo.Sign() < 0 || b.lo.Cmp(b.hi) != 0 { // a larger amount brings values nearer to 0 or -1
			r = r.join(span{big0, big0})
			if a.lo.Sign() < 0 {
				r = r.join(span{big.NewInt(-1), big0})
			}
		}
		return r
	case "&":
		switch {
		case a.lo.Sign() >= 0 && b.lo.Sign() >= 0:
			return span{big0, hull(a.hi, b.hi).lo}
		case a.lo.Sign() >= 0:
			return span{big0, a.hi}
		case b.lo.Sign() >= 0:
			return span{big0, b.hi}
		}
		return bitSpan(a, b)
	case "|", "^":
		return bitSpan(a, b)
	case "/":
		// exact enough: no quotient of integers is farther from 0 than the dividend
		m := new(big.Int).Abs(a.lo)
		if h := new(big.Int).Abs(a.hi); h.Cmp(m) > 0 {
			m = h
		}
		if a.lo.Sign() >= 0 && b.lo.Sign() >= 0 {
			return span{big0, m}
		}
		return span{new(big.Int).Neg(m), m}
	case "%":
		if a.lo.Sign() >= 0 && b.lo.Sign() >= 0 {
			return span{big0, hull(a.hi, b.hi).lo}
		}
		return a.join(span{big0, big0})
	}
	return a.join(b)
}

// bitSpan covers every value with as many bits as the operands have.
func bitSpan(a, b span) span {
	n := max(a.hi.BitLen(), b.hi.BitLen())
	if a.lo.Sign() >= 0 && b.lo.Sign() >= 0 {
		return unsignedSpan(n)
	}
	n = max(n, new(big.Int).Not(a.lo).BitLen(), new(big.Int).Not(b.lo).BitLen())
	return signedSpan(n + 1)
}
