package pipeline

import (
	"math/rand/v2"
	"testing"

	"khop/bmv2/config"
	ct "khop/bmv2/config/configtest"
)

// TestChecksumOfPHV compares the checksum computed from the PHV with the one over the serialised input, for random inputs,
// validity and payloads.
func TestChecksumOfPHV(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 1))
	short := 0
	for round := range 300 {
		c := ct.Base(12, 48, 64, 128)
		ct.AddHeader(c, "a", 0, ct.Bits("x", 4), ct.Bits("y", 12), ct.Bits("z", 64), ct.Bits("w", 128))
		ct.AddHeader(c, "b", 0, ct.Bits("x", 8), ct.Bits("y", 16), ct.Bits("z", 49), ct.Bits("w", 7))
		var input []config.Value
		for range 1 + rng.IntN(6) {
			switch rng.IntN(8) {
			case 0:
				input = append(input, ct.S(rng.IntN(4)))
			case 1:
				input = append(input, ct.Named(config.KindHeader, "a"))
			case 2:
				input = append(input, ct.F("a", "x"), ct.F("a", "y"))
			case 3:
				input = append(input, ct.F("b", "x"), ct.F("b", "z"), ct.F("b", "w"))
			default:
				input = append(input, ct.F([]string{"a", "b"}[rng.IntN(2)], []string{"x", "y", "z", "w"}[rng.IntN(4)]))
			}
		}
		// bmv2 requires whole headers to start at a byte; so does this test.
		bit := 0
		for _, v := range input {
			if v.Kind == config.KindHeader && bit%8 != 0 {
				bit = -1
				break
			}
			bit += map[string]int{"x": 4, "y": 4, "z": 1, "w": 0}[v.Names[1]] // widths modulo 8 of header a
			if v.Names[0] == "b" {
				bit++ // never whole again, unless by chance
			}
		}
		if bit < 0 {
			continue
		}
		if rng.IntN(2) == 0 {
			input = append(input, config.Value{Kind: config.KindPayload})
		}
		c.Calcs = []config.Calculation{{Name: "c", Algo: "csum16", Input: input}}
		c.Checksums = []config.Checksum{{Name: "c", Target: [2]string{"b", "y"}, Type: "generic", Calc: "c", Verify: true}}
		p, err := Link(c)
		if err != nil {
			t.Fatal(err)
		}
		fast := p.verify[0].calc
		if fast.sum == nil {
			continue
		}
		short++
		slow := *fast
		slow.sum = nil
		in := NewInstance(p)
		s := in.State()
		s.W = make([]uint64, p.Words())
		for range 10 {
			p.ResetPHV(s.W)
			for _, h := range p.headers {
				if !h.meta && rng.IntN(3) == 0 {
					continue
				}
				s.W[h.base] = 1
				for i := range h.typ.fields {
					f := &h.typ.fields[i]
					w := s.W[h.slot(f) : h.slot(f)+f.words]
					for j := range w {
						if w[j] = rng.Uint64(); rng.IntN(4) == 0 {
							w[j] = -uint64(rng.IntN(2))
						}
					}
					truncate(w, f.width)
				}
			}
			s.Buf = make([]byte, 64)
			s.End = rng.IntN(40)
			for i := range s.End {
				s.Buf[i] = byte(rng.Uint32())
			}
			if got, want := fast.compute(s), slow.compute(s); got != want {
				t.Fatalf("round %d, input %+v: %#x, want %#x", round, input, got, want)
			}
		}
	}
	if short < 50 {
		t.Errorf("only %d inputs took the short way", short)
	}
}
