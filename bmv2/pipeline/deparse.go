package pipeline

import (
	"fmt"

	"khop/bmv2/config"
)

type checksum struct {
	h     *header
	field *num
	set   func(s *State, v uint64)
	calc  *calculation
	cond  boolFn // nil: always
}

// ok verifies; a checksum whose header is invalid or whose condition fails is right.
func (c *checksum) ok(s *State) bool {
	if s.W[c.h.base] == 0 || c.cond != nil && !c.cond(s) {
		return true
	}
	return c.field.low(s) == c.calc.compute(s)
}

func (c *checksum) update(s *State) {
	if c.cond == nil || c.cond(s) {
		c.set(s, c.calc.compute(s))
	}
}

func (l *linker) linkChecksums() error {
	for i := range l.cfg.Checksums {
		cc := &l.cfg.Checksums[i]
		h, f, err := l.lookupField(cc.Target[0], cc.Target[1])
		if err != nil || f == nil || f.varbit {
			return fmt.Errorf("checksum %q: no field %q of header %q", cc.Name, cc.Target[1], cc.Target[0])
		}
		calc := l.calcs[cc.Calc]
		if calc == nil {
			return fmt.Errorf("checksum %q: no calculation %q", cc.Name, cc.Calc)
		}
		c := checksum{h: h, field: fieldNum(h, f), calc: calc}
		slot, mask := h.slot(f), ^uint64(0)>>uint(64-min(64, f.width))
		valid := h.base
		c.set = func(s *State, v uint64) {
			if s.W[valid] != 0 {
				s.W[slot] = v & mask
			}
		}
		if cc.If != nil {
			if c.cond, err = l.boolean(cc.If, nil); err != nil {
				return fmt.Errorf("checksum %q: condition: %w", cc.Name, err)
			}
		}
		if cc.Verify {
			l.prog.verify = append(l.prog.verify, c)
		}
		if cc.Update {
			l.prog.update = append(l.prog.update, c)
		}
	}
	return nil
}

type deparser struct {
	order []*header
	ops   []stmt
}

func (l *linker) linkDeparser(cd *config.Deparser) (*deparser, error) {
	d := &deparser{}
	for _, name := range cd.Order {
		h := l.headers[name]
		if h == nil {
			return nil, fmt.Errorf("no header %q", name)
		}
		if h.meta {
			return nil, fmt.Errorf("%q is metadata", name)
		}
		d.order = append(d.order, h)
		n := h.typ.bytes()
		if vl := h.typ.vl; vl >= 0 {
			n += h.typ.fields[vl].width / 8
		}
		l.prog.headroom += n
	}
	for i := range cd.Primitives {
		in, err := l.primitive(&cd.Primitives[i], nil, 1)
		if err != nil {
			return nil, fmt.Errorf("primitive %d, %s: %w", i, cd.Primitives[i].Op, err)
		}
		if in.fn == nil {
			jump := in.jump
			in.fn = func(s *State) { jump(s) }
		}
		d.ops = append(d.ops, in.fn)
	}
	return d, nil
}

// Deparse updates checksums and puts the valid headers before the payload: Off moves back to the first of them. The buffer
// must have Headroom() bytes before Off.
func (p *Program) Deparse(s *State) {
	for i := range p.update {
		p.update[i].update(s)
	}
	for _, op := range p.deparser.ops {
		op(s)
	}
	n := 0
	for _, h := range p.deparser.order {
		if s.W[h.base] != 0 {
			n += s.headerBytes(h)
		}
	}
	s.Off -= n
	at := s.Off
	for _, h := range p.deparser.order {
		if s.W[h.base] != 0 {
			at += s.emit(h, s.Buf[at:cap(s.Buf)])
		}
	}
}

// emit writes a valid header and returns its length.
func (s *State) emit(h *header, b []byte) int {
	t := h.typ
	w := s.W[h.base : h.base+t.words]
	store(t.extract, w, b)
	if t.vl < 0 {
		return t.bytes()
	}
	f := &t.fields[t.vl]
	n := int(w[f.lenRel])
	b = b[f.bit/8:]
	var p bitWriter
	p.putWide(b, w[f.rel:f.rel+f.words], n)
	store(t.after, w, b[p.flush(b):])
	return t.bytes() + n/8
}
