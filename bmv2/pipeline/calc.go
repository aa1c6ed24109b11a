package pipeline

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"khop/bmv2/config"
)

// calculation computes a hash or checksum over fields. Fields are concatenated bit by bit, those of invalid headers left
// out, and the end is padded with zeros to a whole byte.
type calculation struct {
	name    string
	hash    hashFn
	items   []calcItem
	payload bool
	need    int       // bytes of the longest input without payload, and slack
	sum     []sumItem // for csum16, if possible
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
	for i := range c.items {
		it := &c.items[i]
		c.need += it.width
		if it.whole {
			c.need += 64 + 64*it.h.typ.words
		}
	}
	c.need = c.need/8 + Slack
	if algo == "csum16" || algo == "cksum16" {
		c.linkSum()
	}
	return c, nil
}

// compute evaluates the calculation on the packet.
func (c *calculation) compute(s *State) uint64 {
	if c.sum != nil {
		return c.checksum(s)
	}
	payload := 0
	if c.payload {
		payload = s.End - s.Off
	}
	if n := c.need + payload; n > len(s.hash) {
		s.hash = make([]byte, 2*n)
	}
	b := s.hash
	var p bitWriter
	for i := range c.items {
		it := &c.items[i]
		switch {
		case it.cst != nil:
			p.putWide(b, it.cst, it.width)
		case it.h != nil && s.W[it.h.base] == 0:
		case it.whole:
			n := p.flush(b)
			p = bitWriter{at: n + s.emit(it.h, b[n:])}
		case it.lenAt > 0:
			p.putWide(b, s.W[it.slot:it.slot+it.words], int(s.W[it.lenAt]))
		case it.words == 1:
			p.put(b, s.W[it.slot], uint(it.width))
		default:
			p.putWide(b, s.W[it.slot:it.slot+it.words], it.width)
		}
	}
	n := p.flush(b)
	if c.payload {
		n += copy(b[n:], s.Buf[s.Off:s.End])
	}
	return c.hash(b[:n])
}

// sumItem is a word that an Internet checksum adds. As 2^16 is 1 in its arithmetic, only the distance of the value's last
// bit from the end of its 16-bit word counts.
type sumItem struct {
	valid int // word of the header's validity, -1: always valid
	slot  int
	shift uint
	fold  bool // too wide to be shifted: add the halves first
}

// linkSum prepares a checksum to be computed from the PHV without serialising it: possible when fields of a header that may
// be invalid come in runs of whole 16-bit words, so that leaving them out moves nothing else.
func (c *calculation) linkSum() {
	var out []sumItem
	bit, run := 0, 0 // bits so far, and of the current header
	var cur *header
	add := func(h *header, slot, words, width int) {
		valid := -1
		if h != nil {
			valid = h.base
		}
		end := bit + width
		for j := range words {
			w := min(64, width-64*j)
			out = append(out, sumItem{valid: valid, slot: slot + j, shift: uint((16 - (end-64*j)%16) % 16), fold: w > 48})
		}
		bit, run = end, run+width
	}
	for i := range c.items {
		it := &c.items[i]
		if it.cst != nil || it.lenAt > 0 {
			return
		}
		if it.h != cur {
			if cur != nil && run%16 != 0 {
				return
			}
			cur, run = it.h, 0
		}
		if !it.whole {
			add(it.h, it.slot, it.words, it.width)
			continue
		}
		if it.h.typ.vl >= 0 || bit%8 != 0 {
			return
		}
		for j := range it.h.typ.fields {
			f := &it.h.typ.fields[j]
			add(it.h, it.h.slot(f), f.words, f.width)
		}
	}
	if cur != nil && run%16 != 0 && c.payload || c.payload && bit%16 != 0 {
		return
	}
	c.sum = out
}

func (c *calculation) checksum(s *State) uint64 {
	var sum, carry uint64
	for i := range c.sum {
		it := &c.sum[i]
		if it.valid >= 0 && s.W[it.valid] == 0 {
			continue
		}
		v := s.W[it.slot]
		if it.fold {
			v = v>>32 + v&0xffffffff
		}
		sum, carry = bits.Add64(sum, v<<it.shift, carry)
	}
	if c.payload {
		b := s.Buf[s.Off:s.End]
		for ; len(b) >= 8; b = b[8:] {
			sum, carry = bits.Add64(sum, binary.BigEndian.Uint64(b), carry)
		}
		var tail [8]byte
		copy(tail[:], b)
		sum, carry = bits.Add64(sum, binary.BigEndian.Uint64(tail[:]), carry)
	}
	return uint64(foldSum(sum, carry))
}
