package pipeline

import (
	"fmt"

	"khop/bmv2/config"
)

// maxStates bounds the states that one packet visits: a loop that extracts nothing ends with ParserTimeout.
const maxStates = 1 << 14

// parseOp reports whether parsing goes on; if not, it has set the error.
type parseOp func(*State) bool

type parser struct {
	states []*parseState
	init   int // -1: accept at once
}

type parseState struct {
	name    string
	index   int
	ops     []parseOp
	key     []keyItem
	words   int // of the key
	cases   []parseCase
	src     config.SourceInfo
	select1 numFn // the key when it is one field
	look    int   // bits that lookaheads of the key need
}

type keyItem struct {
	n     *num
	into  wideFn
	width int // bits, padded to whole bytes in the key
}

type parseCase struct {
	kind  config.TransitionKind
	value []uint64 // masked
	mask  []uint64
	set   int // use of a value set
	next  int // -1: accept
}

// core.p4 errors that the parser itself raises.
const (
	errNone = iota
	errPacketTooShort
	errNoMatch
	errStackOutOfBounds
	errHeaderTooShort
	errParserTimeout
	errParserInvalidArgument
	numErrors
)

var coreErrors = [numErrors]string{"NoError", "PacketTooShort", "NoMatch", "StackOutOfBounds", "HeaderTooShort",
	"ParserTimeout", "ParserInvalidArgument"}

func (s *State) parseError(code int) bool {
	s.HasErr, s.ParserErr = true, s.in.prog.errors[code]
	return false
}

// Parse runs the parser from s.Off, then verifies checksums. Off ends behind what was parsed, even after an error.
func (p *Program) Parse(s *State) {
	s.HasErr, s.ChecksumErr, s.ParserErr = false, false, p.errors[errNone]
	s.parse(p.parser)
	for i := range p.verify {
		if !p.verify[i].ok(s) {
			s.ChecksumErr = true
		}
	}
}

func (s *State) parse(p *parser) {
	steps := 0
	for n := p.init; n >= 0; {
		st := p.states[n]
		if s.in.tracer != nil {
			s.traceState(st)
		}
		for _, op := range st.ops {
			if !op(s) {
				return
			}
		}
		if steps++; steps > maxStates {
			s.parseError(errParserTimeout)
			return
		}
		var ok bool
		if n, ok = st.next(s); !ok {
			return
		}
	}
}

func (st *parseState) next(s *State) (int, bool) {
	if len(st.cases) == 0 {
		return -1, true
	}
	if s.Off*8+st.look > s.End*8 {
		return 0, s.parseError(errPacketTooShort)
	}
	if st.select1 != nil {
		k := st.select1(s)
		for i := range st.cases {
			c := &st.cases[i]
			switch c.kind {
			case config.TransitionDefault:
				return c.next, true
			case config.TransitionValue:
				if k&c.mask[0] == c.value[0] {
					return c.next, true
				}
			case config.TransitionSet:
				for _, m := range s.in.setKeys[c.set] {
					if (k^m[0])&c.mask[0] == 0 {
						return c.next, true
					}
				}
			}
		}
		return 0, s.parseError(errNoMatch)
	}
	top := s.top
	key := s.alloc(st.words)
	for i := range st.key {
		it := &st.key[i]
		t := s.alloc(st.words)
		it.into(s, t)
		truncate(t, it.width)
		shlWords(key, uint64((it.width+7)/8*8))
		for j := range key {
			key[j] |= t[j]
		}
	}
	next, ok := st.choose(s, key)
	s.top = top
	if !ok {
		return 0, s.parseError(errNoMatch)
	}
	return next, true
}

func (st *parseState) choose(s *State, key []uint64) (int, bool) {
	masked := func(c *parseCase, v []uint64) bool {
		for j, k := range key {
			if (k^v[j])&c.mask[j] != 0 {
				return false
			}
		}
		return true
	}
	for i := range st.cases {
		c := &st.cases[i]
		switch c.kind {
		case config.TransitionDefault:
			return c.next, true
		case config.TransitionValue:
			if masked(c, c.value) {
				return c.next, true
			}
		case config.TransitionSet:
			for _, m := range s.in.setKeys[c.set] {
				if masked(c, m) {
					return c.next, true
				}
			}
		}
	}
	return 0, false
}

func (l *linker) linkParser(cp *config.Parser) (*parser, error) {
	p := &parser{init: -1}
	index := map[string]int{}
	for i, cs := range cp.States {
		if _, dup := index[cs.Name]; dup {
			return nil, fmt.Errorf("state %q is declared twice", cs.Name)
		}
		index[cs.Name] = i
	}
	if cp.Init != "" {
		i, ok := index[cp.Init]
		if !ok {
			return nil, fmt.Errorf("no initial state %q", cp.Init)
		}
		p.init = i
	}
	for i := range cp.States {
		st, err := l.linkState(&cp.States[i], index)
		if err != nil {
			return nil, fmt.Errorf("state %q: %w", cp.States[i].Name, err)
		}
		st.index = i
		p.states = append(p.states, st)
	}
	return p, nil
}

func (l *linker) linkState(cs *config.State, index map[string]int) (*parseState, error) {
	st := &parseState{name: cs.Name, src: cs.Source}
	for i := range cs.Ops {
		op, err := l.parserOp(&cs.Ops[i])
		if err != nil {
			return nil, fmt.Errorf("operation %d, %s: %w", i, cs.Ops[i].Op, err)
		}
		st.ops = append(st.ops, op)
	}
	bits := 0
	var fields []int
	for i := range cs.Key {
		v := &cs.Key[i]
		n, err := l.num(v, nil)
		if err != nil {
			return nil, fmt.Errorf("transition key: %w", err)
		}
		width := n.hi.BitLen()
		if v.Kind == config.KindLookahead {
			width = v.Width
			st.look = max(st.look, v.Offset+v.Width)
		} else if n.lo.Sign() < 0 {
			width = n.hi.BitLen() + 1
		}
		st.key = append(st.key, keyItem{n: n, into: n.into(), width: width})
		fields = append(fields, width)
		bits += (width + 7) / 8 * 8
	}
	st.words = max(1, words(bits))
	if len(st.key) == 1 && st.words == 1 {
		st.select1 = st.key[0].n.low
		if n := st.key[0].n; n.lo.Sign() < 0 {
			low, mask := n.low, ^uint64(0)>>uint(64-st.key[0].width)
			st.select1 = func(s *State) uint64 { return low(s) & mask }
		}
	} else if len(st.key) == 0 {
		st.select1 = func(*State) uint64 { return 0 }
	}
	for i := range cs.Transitions {
		ct := &cs.Transitions[i]
		c := parseCase{kind: ct.Kind, next: -1, value: make([]uint64, st.words), mask: make([]uint64, st.words)}
		if ct.Next != "" {
			n, ok := index[ct.Next]
			if !ok {
				return nil, fmt.Errorf("transition %d: no state %q", i, ct.Next)
			}
			c.next = n
		}
		for j := range c.mask {
			c.mask[j] = ^uint64(0)
		}
		if ct.Mask != nil && !setBytes(c.mask, ct.Mask, 64*st.words) {
			return nil, fmt.Errorf("transition %d: the mask is wider than the key of %d bits", i, bits)
		}
		if !setBytes(c.value, ct.Value, 64*st.words) {
			return nil, fmt.Errorf("transition %d: the value is wider than the key of %d bits", i, bits)
		}
		for j := range c.value {
			c.value[j] &= c.mask[j]
		}
		if ct.Kind == config.TransitionSet {
			vs, ok := l.valueSets[ct.Set]
			if !ok {
				return nil, fmt.Errorf("transition %d: no value set %q", i, ct.Set)
			}
			var err error
			if c.set, err = l.useValueSet(vs, fields); err != nil {
				return nil, err
			}
		}
		st.cases = append(st.cases, c)
	}
	return st, nil
}

// setUse is a key that a value set is compared with: the widths of its fields.
type setUse struct {
	set    int
	fields []int
}

func (l *linker) useValueSet(i int, fields []int) (int, error) {
	vs := &l.prog.valueSets[i]
	sum := 0
	for _, w := range fields {
		sum += w
	}
	if sum != vs.Width {
		return 0, fmt.Errorf("value set %q has %d bits, the transition key has %d", vs.Name, vs.Width, sum)
	}
	if vs.Fields == nil {
		vs.Fields = fields
	}
	l.prog.setUses = append(l.prog.setUses, setUse{i, fields})
	return len(l.prog.setUses) - 1, nil
}
