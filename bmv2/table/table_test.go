package table

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

func TestExactAgainstMap(t *testing.T) {
	for _, words := range []int{0, 1, 2, 3, 7} {
		t.Run(fmt.Sprint(words), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, uint64(words)))
			e := NewExact(words)
			ref := map[[7]uint64]uint32{}
			for i := range 20000 {
				var k [7]uint64
				for j := range words {
					k[j] = rng.Uint64N(12) << (8 * j)
				}
				switch rng.IntN(3) {
				case 0, 1:
					e.Set(k[:words], uint32(i))
					ref[k] = uint32(i)
				case 2:
					_, had := ref[k]
					if got := e.Delete(k[:words]); got != had {
						t.Fatalf("Delete(%v) = %v, want %v", k, got, had)
					}
					delete(ref, k)
				}
				if e.Len() != len(ref) {
					t.Fatalf("Len = %d, want %d", e.Len(), len(ref))
				}
				want, ok := ref[k]
				if !ok {
					want = None
				}
				if got := e.Lookup(k[:words]); got != want {
					t.Fatalf("Lookup(%v) = %d, want %d", k, got, want)
				}
			}
			for k, id := range ref {
				if got := e.Lookup(k[:words]); got != id {
					t.Fatalf("Lookup(%v) = %d, want %d", k, got, id)
				}
			}
		})
	}
}

// scan is the specification of TupleSpace: look at every rule.
func scan(rules []Rule, key []uint64) uint32 {
	best := -1
next:
	for i, r := range rules {
		for j := range key {
			if key[j]&r.Mask[j] != r.Value[j] {
				continue next
			}
		}
		for _, s := range r.Spans {
			if !s.contains(key) {
				continue next
			}
		}
		if best < 0 || r.Priority < rules[best].Priority || r.Priority == rules[best].Priority && r.ID < rules[best].ID {
			best = i
		}
	}
	if best < 0 {
		return None
	}
	return rules[best].ID
}

func TestTupleSpaceAgainstScan(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 3))
	ts := NewTupleSpace(2)
	var rules []Rule
	var h Handles
	masks := []uint64{0, 0xff, 0xf0, 0x0f, 0xfe}
	for range 6000 {
		if len(rules) > 0 && rng.IntN(5) < 2 {
			i := rng.IntN(len(rules))
			if !ts.Delete(&rules[i]) {
				t.Fatal("rule not found on Delete")
			}
			h.Put(rules[i].ID)
			rules[i] = rules[len(rules)-1]
			rules = rules[:len(rules)-1]
		} else {
			r := Rule{Mask: []uint64{masks[rng.IntN(5)], masks[rng.IntN(5)]}, Priority: rng.Int64N(20)}
			r.Value = []uint64{rng.Uint64N(256) & r.Mask[0], rng.Uint64N(256) & r.Mask[1]}
			if r.Mask[1] == 0 && rng.IntN(2) == 0 {
				lo := rng.Uint64N(256)
				r.Spans = []Span{{Word: 1, Lo: []uint64{lo}, Hi: []uint64{lo + rng.Uint64N(64)}}}
			}
			if ts.Find(&r) != None {
				continue
			}
			r.ID = h.Get()
			ts.Insert(&r)
			if ts.Find(&r) != r.ID {
				t.Fatal("rule not found after Insert")
			}
			rules = append(rules, r)
		}
		for range 10 {
			key := []uint64{rng.Uint64N(256), rng.Uint64N(256)}
			if got, want := ts.Lookup(key), scan(rules, key); got != want {
				t.Fatalf("Lookup(%v) = %d, want %d", key, got, want)
			}
		}
	}
	if ts.Len() != len(rules) {
		t.Fatalf("Len = %d, want %d", ts.Len(), len(rules))
	}
}

func TestHandlesLowestFree(t *testing.T) {
	var h Handles
	for i := range uint32(130) {
		if got := h.Get(); got != i {
			t.Fatalf("Get = %d, want %d", got, i)
		}
	}
	h.Put(100)
	h.Put(3)
	if h.Has(3) || !h.Has(4) || h.Has(500) {
		t.Fatal("Has is wrong")
	}
	for _, want := range []uint32{3, 100, 130} {
		if got := h.Get(); got != want {
			t.Fatalf("Get = %d, want %d", got, want)
		}
	}
}

func BenchmarkExact(b *testing.B) {
	for _, n := range []int{100, 100000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			e := NewExact(2)
			for i := range n {
				e.Set([]uint64{uint64(i), 7}, uint32(i))
			}
			key := []uint64{0, 7}
			b.ReportAllocs()
			for i := range b.N {
				key[0] = uint64(i) * 2654435761 % uint64(n)
				if e.Lookup(key) == None {
					b.Fatal("miss")
				}
			}
		})
	}
}

func BenchmarkTupleSpace(b *testing.B) {
	for _, n := range []int{100, 100000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			ts := NewTupleSpace(1)
			rng := rand.New(rand.NewPCG(5, 6))
			var id uint32
			for ts.Len() < n {
				plen := 8 + rng.IntN(17)
				m := ^uint64(0) << (32 - plen) & 0xffffffff
				r := Rule{Value: []uint64{rng.Uint64() & m}, Mask: []uint64{m}, Priority: int64(32 - plen), ID: id}
				if ts.Find(&r) == None {
					ts.Insert(&r)
					id++
				}
			}
			key := []uint64{0}
			b.ReportAllocs()
			for i := range b.N {
				key[0] = uint64(i) * 2654435761 & 0xffffffff
				ts.Lookup(key)
			}
		})
	}
}
