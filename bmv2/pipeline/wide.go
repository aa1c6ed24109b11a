package pipeline

import (
	"math/big"
	"math/bits"
)

// Values wider than 64 bits are vectors of words, least significant first, in two's complement modulo 2^(64 n).

func negative(a []uint64) bool { return len(a) > 0 && int64(a[len(a)-1]) < 0 }

func addWords(dst, a, b []uint64) {
	var c uint64
	for i := range dst {
		dst[i], c = bits.Add64(a[i], b[i], c)
	}
}

func subWords(dst, a, b []uint64) {
	var c uint64
	for i := range dst {
		dst[i], c = bits.Sub64(a[i], b[i], c)
	}
}

// mulWords sets dst, which must not overlap a or b and be zero, to a*b.
func mulWords(dst, a, b []uint64) {
	for i, x := range a {
		if x == 0 {
			continue
		}
		var carry uint64
		for j := 0; i+j < len(dst); j++ {
			hi, lo := bits.Mul64(x, b[j])
			var c uint64
			lo, c = bits.Add64(lo, carry, 0)
			hi += c
			dst[i+j], c = bits.Add64(dst[i+j], lo, 0)
			carry = hi + c
		}
	}
}

// shlWords shifts in place.
func shlWords(a []uint64, n uint64) {
	if n >= uint64(64*len(a)) {
		clear(a)
		return
	}
	w, s := int(n/64), uint(n%64)
	for i := len(a) - 1; i >= 0; i-- {
		var v uint64
		if i-w >= 0 {
			v = a[i-w] << s
			if s > 0 && i-w-1 >= 0 {
				v |= a[i-w-1] >> (64 - s)
			}
		}
		a[i] = v
	}
}

// shrWords shifts right arithmetically in place.
func shrWords(a []uint64, n uint64) {
	fill := uint64(int64(a[len(a)-1]) >> 63)
	if n >= uint64(64*len(a)) {
		for i := range a {
			a[i] = fill
		}
		return
	}
	w, s := int(n/64), uint(n%64)
	at := func(i int) uint64 {
		if i < len(a) {
			return a[i]
		}
		return fill
	}
	for i := range a {
		v := at(i+w) >> s
		if s > 0 {
			v |= at(i+w+1) << (64 - s)
		}
		a[i] = v
	}
}

// cmpSigned compares two values of the same length.
func cmpSigned(a, b []uint64) int {
	if n := len(a) - 1; n >= 0 && a[n] != b[n] {
		if int64(a[n]) < int64(b[n]) {
			return -1
		}
		return 1
	}
	for i := len(a) - 1; i >= 0; i-- {
		if a[i] != b[i] {
			if a[i] < b[i] {
				return -1
			}
			return 1
		}
	}
	return 0
}

// extend keeps the low width bits of a, as a signed number if signed.
func extend(a []uint64, width int, signed bool) {
	truncate(a, width)
	if !signed || width <= 0 || width > 64*len(a) {
		return
	}
	if a[(width-1)/64]>>(uint(width-1)%64)&1 == 0 {
		return
	}
	for i := range a {
		switch n := width - 64*i; {
		case n <= 0:
			a[i] = ^uint64(0)
		case n < 64:
			a[i] |= ^uint64(0) << uint(n)
		}
	}
}

func bigToWords(dst []uint64, v *big.Int) {
	t := v
	if v.Sign() < 0 {
		t = new(big.Int).Lsh(big1, uint(64*len(dst)))
		t.Add(t, new(big.Int).Rem(v, t))
		if t.BitLen() > 64*len(dst) {
			t = big0
		}
	}
	clear(dst)
	for i := range dst {
		dst[i] = new(big.Int).And(new(big.Int).Rsh(t, uint(64*i)), maxU64).Uint64()
	}
}

func wordsToBig(a []uint64) *big.Int {
	v := new(big.Int)
	for i := len(a) - 1; i >= 0; i-- {
		v.Lsh(v, 64).Or(v, new(big.Int).SetUint64(a[i]))
	}
	if negative(a) {
		v.Sub(v, new(big.Int).Lsh(big1, uint(64*len(a))))
	}
	return v
}
