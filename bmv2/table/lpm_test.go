package table

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

func TestLPMAgainstScan(t *testing.T) {
	for _, x := range []struct {
		f     Field
		words int
		exact bool
	}{
		{Field{Words: 1, Width: 32}, 1, false},
		{Field{Words: 1, Width: 9, Shift: 7}, 1, true},
		{Field{Words: 1, Width: 64}, 1, false},
		{Field{Word: 1, Words: 2, Width: 128}, 3, true},
		{Field{Words: 2, Width: 67}, 2, false},
		{Field{Words: 3, Width: 130}, 3, false},
	} {
		t.Run(fmt.Sprintf("%+v", x), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(8, uint64(x.f.Width)))
			lpm := NewLPM(x.words, x.f)
			if x.exact {
				lpm.Exactly()
			}
			ref := NewTupleSpace(x.words)
			mask := func(plen int) []uint64 {
				m := make([]uint64, x.words)
				if x.exact {
					copy(m, lpm.rest)
				}
				for b := x.f.Width - plen; b < x.f.Width; b++ {
					at := b + int(x.f.Shift)
					m[x.f.Word+at/64] |= 1 << (at % 64)
				}
				return m
			}
			// Few distinct bits at all heights, so that prefixes nest.
			key := func() []uint64 {
				k := make([]uint64, x.words)
				for range 3 {
					at := rng.IntN(x.f.Width) + int(x.f.Shift)
					k[x.f.Word+at/64] |= 1 << (at % 64)
				}
				if x.exact {
					k[0] |= rng.Uint64N(3) & lpm.rest[0]
				}
				return k
			}
			var rules []Rule
			var h Handles
			for range 4000 {
				if len(rules) > 0 && rng.IntN(5) < 2 {
					i := rng.IntN(len(rules))
					lpm.Delete(rules[i].Value, int(-rules[i].Priority))
					ref.Delete(&rules[i])
					h.Put(rules[i].ID)
					rules[i] = rules[len(rules)-1]
					rules = rules[:len(rules)-1]
				} else {
					plen := rng.IntN(x.f.Width + 1)
					r := Rule{Mask: mask(plen), Value: key(), Priority: int64(-plen)}
					for i := range r.Value {
						r.Value[i] &= r.Mask[i]
					}
					if ref.Find(&r) == None {
						r.ID = h.Get()
						ref.Insert(&r)
						lpm.Insert(r.Value, plen, r.ID)
						rules = append(rules, r)
					}
				}
				for range 8 {
					k := key()
					if got, want := lpm.Lookup(k), ref.Lookup(k); got != want {
						t.Fatalf("Lookup(%x) = %d, want %d", k, got, want)
					}
				}
			}
			for i := range rules {
				lpm.Delete(rules[i].Value, int(-rules[i].Priority))
			}
			if live := len(lpm.nodes) - len(lpm.spare); live != 0 {
				t.Errorf("%d nodes are left of an empty table", live)
			}
		})
	}
}

func BenchmarkLPM(b *testing.B) {
	for _, n := range []int{100, 100000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			lpm := NewLPM(1, Field{Words: 1, Width: 32})
			rng := rand.New(rand.NewPCG(5, 6))
			have := map[[2]uint64]bool{}
			for len(have) < n {
				plen := 8 + rng.IntN(17)
				v := rng.Uint64() & (^uint64(0) << (32 - plen) & 0xffffffff)
				if k := [2]uint64{v, uint64(plen)}; !have[k] {
					have[k] = true
					lpm.Insert([]uint64{v}, plen, uint32(len(have)))
				}
			}
			key := []uint64{0}
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				key[0] = uint64(i) * 2654435761 & 0xffffffff
				lpm.Lookup(key)
			}
		})
	}
}
