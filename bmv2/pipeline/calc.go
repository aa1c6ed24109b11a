package pipeline

import (
	"fmt"

	"khop/bmv2/config"
)

// calculation computes a hash or checksum over fields. Fields are concatenated bit by bit, those of invalid headers left
// out, and the end is padded with zeros to a whole byte.
type calculation struct {
	name    string
	hash    hashFn
	items   []calcItem
	payload bool
}

type calcItem struct {
	h     *header
	slot  int
	width int
	words int
	lenAt int      // varbit: word of the current length, else 0
	whole bool     // the whole header
	cst   []uint64 // a constant
}

func (l *linker) linkCalcs() error {
	for i := range l.cfg.Calcs {
		cc := &l.cfg.Calcs[i]
		c, err := l.calculation(cc.Name, cc.Algo, cc.Input)
		if err != nil {
			return fmt.Errorf("calculation %q: %w", cc.Name, err)
		}
		l.calcs[cc.Name] = c
	}
	return nil
}

func (l *linker) calculation(name, algo string, input []config.Value) (*calculation, error) {
	f, err := hashByName(algo)
	if err != nil {
		return nil, err
	}
	c := &calculation{name: name, hash: f}
	for i := range input {
		v := &input[i]
		switch v.Kind {
		case config.KindPayload:
			c.payload = true
		case config.KindConst:
			ws := make([]uint64, words(v.Width))
			bigToWords(ws, v.Int)
			c.items = append(c.items, calcItem{width: v.Width, words: len(ws), cst: ws})
		case config.KindHeader:
			h := l.headers[v.Names[0]]
			if h == nil {
				return nil, fmt.Errorf("no header %q", v.Names[0])
			}
			c.items = append(c.items, calcItem{h: h, whole: true})
		default:
			h, fl, err := l.lookupField(v.Names[0], v.Names[1])
			if err != nil {
				return nil, err
			}
			if fl == nil {
				c.items = append(c.items, calcItem{slot: h.base, width: 1, words: 1})
				continue
			}
			it := calcItem{h: h, slot: h.slot(fl), width: fl.width, words: fl.words}
			if fl.varbit {
				it.lenAt = h.base + fl.lenRel
			}
			if h.meta {
				it.h = nil
			}
			c.items = append(c.items, it)
		}
	}
	return c, nil
}

// compute evaluates the calculation on the packet.
func (c *calculation) compute(s *State) uint64 {
	need := 0
	for i := range c.items {
		it := &c.items[i]
		if it.whole {
			need += 8 * (it.h.typ.bytes() + 8*it.h.typ.words)
		} else {
			need += it.width
		}
	}
	payload := 0
	if c.payload {
		payload = s.End - s.Off
	}
	if n := (need+7)/8 + payload + Slack; n > len(s.hash) {
		s.hash = make([]byte, 2*n)
	}
	b := s.hash
	clear(b[:(need+7)/8+Slack])
	bit := 0
	for i := range c.items {
		it := &c.items[i]
		switch {
		case it.cst != nil:
			putBits(b, bit, it.cst, it.width)
			bit += it.width
		case it.h != nil && s.W[it.h.base] == 0:
		case it.whole:
			bit = (bit + 7) &^ 7
			bit += 8 * s.emit(it.h, b[bit/8:])
		case it.lenAt > 0:
			n := int(s.W[it.lenAt])
			putBits(b, bit, s.W[it.slot:it.slot+it.words], n)
			bit += n
		case it.words == 1:
			put64(b, bit, it.width, s.W[it.slot])
			bit += it.width
		default:
			putBits(b, bit, s.W[it.slot:it.slot+it.words], it.width)
			bit += it.width
		}
	}
	n := (bit + 7) / 8
	if c.payload {
		clear(b[n : n+Slack])
		n += copy(b[n:], s.Buf[s.Off:s.End])
	}
	return c.hash(b[:n])
}
