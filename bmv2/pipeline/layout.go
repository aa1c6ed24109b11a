package pipeline

import (
	"fmt"

	"khop/bmv2/config"
)

// The PHV is one flat slice of words. Each header instance has a word for its validity (1 or 0), then its fields: one word
// for up to 64 bits, else several, least significant first, always truncated to the field's width. Headers of one type have
// the same relative layout, so that an index chosen at run time only changes the base. The fields of an invalid header
// are always zero: writes to them are ignored, and whatever makes a header invalid clears it.

type field struct {
	name   string
	rel    int // first word, relative to the header's base
	words  int
	width  int // bits; the maximum for a varbit field
	bit    int // offset in the header in bits, without the varbit field
	signed bool
	varbit bool
	lenRel int // varbit: word that holds the current length in bits
}

type headerType struct {
	name    string
	index   int
	fields  []field
	byName  map[string]int
	words   int // including validity
	bits    int // without the varbit field
	vl      int // index of the varbit field, or -1
	lenExp  *config.Value
	extract []moveOp // fixed part up to the varbit field, or all
	after   []moveOp // fields after the varbit field
}

func (t *headerType) bytes() int { return t.bits / 8 }

type header struct {
	name     string
	index    int
	typ      *headerType
	base     int
	meta     bool
	siblings []*header // the other members of its union
}

func (h *header) slot(f *field) int { return h.base + f.rel }

type stack struct {
	name  string
	typ   *headerType
	elems []*header
	next  int // word that holds nextIndex
}

type union struct {
	name    string
	members []*header
	names   []string
}

type unionStack struct {
	name   string
	unions []*union
	next   int
}

func words(width int) int { return (width + 63) / 64 }

// linkLayout resolves header types, headers, stacks and unions, and lays out the PHV.
func (l *linker) linkLayout() error {
	c, p := l.cfg, l.prog
	for i := range c.HeaderTypes {
		t, err := newHeaderType(&c.HeaderTypes[i], i)
		if err != nil {
			return err
		}
		if l.types[t.name] != nil {
			return fmt.Errorf("header type %q is declared twice", t.name)
		}
		l.types[t.name] = t
	}
	// Metadata first, so that it is one block that can be reset.
	byID := map[int]*header{}
	for pass := range 2 {
		for i := range c.Headers {
			ch := &c.Headers[i]
			if ch.Metadata != (pass == 0) {
				continue
			}
			t := l.types[ch.Type]
			if t == nil {
				return fmt.Errorf("header %q: no header type %q", ch.Name, ch.Type)
			}
			if l.headers[ch.Name] != nil || byID[ch.ID] != nil {
				return fmt.Errorf("header %q (id %d) is declared twice", ch.Name, ch.ID)
			}
			if !ch.Metadata && t.bits%8 != 0 {
				return fmt.Errorf("header %q: type %q has %d bits, which is not a whole number of bytes", ch.Name, t.name,
					t.bits)
			}
			h := &header{name: ch.Name, index: len(p.headers), typ: t, base: p.words, meta: ch.Metadata}
			p.words += t.words
			p.headers = append(p.headers, h)
			l.headers[ch.Name], byID[ch.ID] = h, h
		}
		if pass == 0 {
			p.metaWords = p.words
		}
	}
	if err := l.linkStacks(byID); err != nil {
		return err
	}
	if p.words > 1<<22 {
		return fmt.Errorf("headers and metadata take %d words, at most %d are supported", p.words, 1<<22)
	}
	p.initial = make([]uint64, p.words)
	for _, h := range p.headers {
		if h.meta {
			p.initial[h.base] = 1
		}
	}
	for _, a := range c.Aliases {
		h := l.headers[a.Target[0]]
		if h == nil {
			return fmt.Errorf("field alias %q: no header %q", a.Name, a.Target[0])
		}
		if _, ok := h.typ.byName[a.Target[1]]; !ok {
			return fmt.Errorf("field alias %q: header %q has no field %q", a.Name, a.Target[0], a.Target[1])
		}
		l.aliases[a.Name] = a.Target
	}
	return nil
}

func newHeaderType(ct *config.HeaderType, index int) (*headerType, error) {
	t := &headerType{name: ct.Name, index: index, byName: map[string]int{}, vl: -1, lenExp: ct.LengthExp, words: 1}
	fixed := 0
	for _, cf := range ct.Fields {
		fixed += cf.Width
	}
	for i, cf := range ct.Fields {
		f := field{name: cf.Name, rel: t.words, width: cf.Width, bit: t.bits, signed: cf.Signed, varbit: cf.VarBit}
		if _, dup := t.byName[cf.Name]; dup {
			return nil, fmt.Errorf("header type %q: field %q is declared twice", ct.Name, cf.Name)
		}
		t.byName[cf.Name] = i
		if cf.VarBit {
			t.vl = i
			f.width = 8 * (ct.MaxLength - fixed/8)
			if ct.MaxLength == 0 {
				f.width = maxVarBits
			}
			if f.width < 0 {
				return nil, fmt.Errorf("header type %q: max_length of %d bytes is less than its fixed fields", ct.Name,
					ct.MaxLength)
			}
			f.words = max(1, words(f.width))
			f.lenRel = f.rel + f.words
			t.words += f.words + 1
		} else {
			f.words = words(f.width)
			t.words += f.words
			t.bits += f.width
		}
		t.fields = append(t.fields, f)
	}
	for i := range t.fields {
		f := &t.fields[i]
		switch {
		case f.varbit:
		case t.vl >= 0 && i > t.vl:
			t.after = append(t.after, newMove(f, f.bit))
		default:
			t.extract = append(t.extract, newMove(f, f.bit))
		}
	}
	if t.vl >= 0 && t.fields[t.vl].bit%8 != 0 {
		return nil, fmt.Errorf("header type %q: varbit field %q does not start at a whole byte", ct.Name,
			t.fields[t.vl].name)
	}
	return t, nil
}

// maxVarBits bounds a varbit field whose header type has no max_length.
const maxVarBits = 2048

func (l *linker) linkStacks(byID map[int]*header) error {
	c, p := l.cfg, l.prog
	pick := func(what, name string, ids []int) ([]*header, error) {
		var hs []*header
		for _, id := range ids {
			h := byID[id]
			if h == nil {
				return nil, fmt.Errorf("%s %q: no header with id %d", what, name, id)
			}
			hs = append(hs, h)
		}
		return hs, nil
	}
	for _, cs := range c.Stacks {
		hs, err := pick("header stack", cs.Name, cs.Headers)
		if err != nil {
			return err
		}
		t := l.types[cs.Type]
		for _, h := range hs {
			if h.typ != t {
				return fmt.Errorf("header stack %q: element %q is not of type %q", cs.Name, h.name, cs.Type)
			}
		}
		if t == nil || len(hs) == 0 {
			return fmt.Errorf("header stack %q: no header type %q or no elements", cs.Name, cs.Type)
		}
		l.stacks[cs.Name] = &stack{name: cs.Name, typ: t, elems: hs, next: p.words}
		p.words++
	}
	types := map[string]*config.UnionType{}
	for i := range c.UnionTypes {
		types[c.UnionTypes[i].Name] = &c.UnionTypes[i]
	}
	unions := map[int]*union{}
	for _, cu := range c.Unions {
		hs, err := pick("header union", cu.Name, cu.Headers)
		if err != nil {
			return err
		}
		t := types[cu.Type]
		if t == nil || len(t.Members) != len(hs) {
			return fmt.Errorf("header union %q: no union type %q with %d members", cu.Name, cu.Type, len(hs))
		}
		u := &union{name: cu.Name, members: hs}
		for i, m := range t.Members {
			if hs[i].typ.name != m.Type {
				return fmt.Errorf("header union %q: member %q is not of type %q", cu.Name, hs[i].name, m.Type)
			}
			u.names = append(u.names, m.Name)
			for _, o := range hs {
				if o != hs[i] {
					hs[i].siblings = append(hs[i].siblings, o)
				}
			}
		}
		unions[cu.ID], l.unions[cu.Name] = u, u
	}
	for _, cs := range c.UnionStacks {
		us := &unionStack{name: cs.Name, next: p.words}
		for _, id := range cs.Unions {
			u := unions[id]
			if u == nil {
				return fmt.Errorf("header union stack %q: no header union with id %d", cs.Name, id)
			}
			if len(us.unions) > 0 && len(u.members) != len(us.unions[0].members) {
				return fmt.Errorf("header union stack %q: unions %q and %q differ", cs.Name, us.unions[0].name, u.name)
			}
			us.unions = append(us.unions, u)
		}
		if len(us.unions) == 0 {
			return fmt.Errorf("header union stack %q is empty", cs.Name)
		}
		p.words++
		l.unionStacks[cs.Name] = us
	}
	return nil
}

// lookupField resolves a header and field name, an alias of it, or the hidden field $valid$ (which has no *field).
func (l *linker) lookupField(hdr, name string) (*header, *field, error) {
	h := l.headers[hdr]
	if h == nil {
		if t, ok := l.aliases[hdr+"."+name]; ok {
			return l.lookupField(t[0], t[1])
		}
		return nil, nil, fmt.Errorf("no header %q", hdr)
	}
	if name == "$valid$" {
		return h, nil, nil
	}
	i, ok := h.typ.byName[name]
	if !ok {
		if t, ok := l.aliases[hdr+"."+name]; ok && t != [2]string{hdr, name} {
			return l.lookupField(t[0], t[1])
		}
		return nil, nil, fmt.Errorf("header %q has no field %q", hdr, name)
	}
	return h, &h.typ.fields[i], nil
}
