package pipeline

import (
	"fmt"
	"math/big"
	"slices"

	"khop/bmv2/config"
	"khop/bmv2/table"
)

func (ts *tableState) init(t *tableProg) {
	*ts = tableState{prog: t, def: t.initial, defInitial: true, key: make([]uint64, t.words)}
	if t.info.Kind == Exact {
		ts.exact = table.NewExact(t.words)
	} else {
		ts.space = table.NewTupleSpace(t.words)
	}
	if t.info.Kind == LPM {
		for i := range t.parts {
			if p := &t.parts[i]; p.kind == LPM {
				ts.lpm = table.NewLPM(t.words, table.Field{Word: p.word, Words: p.words, Shift: p.shift, Width: p.width})
			}
		}
		if ts.lpm != nil && len(t.parts) > 1 {
			ts.lpm.Exactly()
		}
	}
	for i := range t.entries {
		e, err := t.constEntry(&t.entries[i])
		if err == nil {
			_, err = ts.insert(e)
		}
		if err != nil {
			panic("initial entry checked by Link: " + err.Error())
		}
	}
}

// linkEntries checks the default entry and the entries that come with the program.
func (l *linker) linkEntries(t *tableProg, ct *config.Table) error {
	if d := ct.Default; d != nil && t.profile == nil {
		a, args, err := t.resolveID(d.ActionID, d.ActionData)
		if err != nil {
			return fmt.Errorf("default entry: %w", err)
		}
		t.initial = target{kind: TargetAction, act: a, args: args, next: t.nextOf(a, false)}
	}
	if len(t.entries) > 0 && t.words == 0 {
		return fmt.Errorf("a table without a key has entries")
	}
	// Duplicates only show when the entries meet.
	var trial tableState
	es := t.entries
	t.entries = nil
	trial.init(t)
	t.entries = es
	for i := range es {
		e, err := t.constEntry(&es[i])
		if err == nil {
			_, err = trial.insert(e)
		}
		if err != nil {
			return fmt.Errorf("entry %d: %w", i, err)
		}
	}
	return nil
}

func (t *tableProg) resolveID(id int, data []*big.Int) (*action, []uint64, error) {
	for _, a := range t.actions {
		if a.info.ID != id {
			continue
		}
		if len(data) != len(a.params) {
			return nil, nil, fmt.Errorf("action %q has %d arguments, want %d", a.info.Name, len(data), len(a.params))
		}
		args := make([]uint64, a.words)
		for i, p := range a.params {
			if data[i].Sign() < 0 || data[i].BitLen() > p.width {
				return nil, nil, fmt.Errorf("action %q: argument %q does not fit in %d bits", a.info.Name, p.name, p.width)
			}
			bigToWords(args[p.off:p.off+p.words], data[i])
		}
		return a, args, nil
	}
	return nil, nil, fmt.Errorf("no action of the table has id %d", id)
}

func (t *tableProg) constEntry(ce *config.Entry) (*entry, error) {
	a, args, err := t.resolveID(ce.ActionID, ce.ActionData)
	if err != nil {
		return nil, err
	}
	var ms []FieldMatch
	for _, m := range ce.Match {
		ms = append(ms, FieldMatch{Value: m.Key, Mask: m.Mask, High: m.End, PrefixLen: m.PrefixLen})
	}
	e := &entry{target: target{kind: TargetAction, act: a, args: args, next: t.nextOf(a, true)}}
	return e, t.rule(e, ms, ce.Priority)
}

// resolveCall turns a call into an action and its laid-out arguments.
func resolveCall(c *ActionCall, byName map[string]*action, all []ActionInfo) (*action, []uint64, error) {
	a := byName[c.Action]
	if a == nil {
		var names []string
		for _, x := range all {
			names = append(names, x.Name)
		}
		return nil, nil, fmt.Errorf("action %q: %w (actions: %q)", c.Action, ErrNotFound, names)
	}
	if len(c.Args) != len(a.params) {
		return nil, nil, fmt.Errorf("action %q: %w: %d arguments, want %d", c.Action, ErrInvalid, len(c.Args), len(a.params))
	}
	args := make([]uint64, a.words)
	for i, p := range a.params {
		if !setBytes(args[p.off:p.off+p.words], c.Args[i], p.width) {
			return nil, nil, fmt.Errorf("action %q: %w: argument %q does not fit in %d bits", c.Action, ErrInvalid, p.name, p.width)
		}
	}
	return a, args, nil
}

func callOf(a *action, args []uint64) ActionCall {
	c := ActionCall{Action: a.info.Name}
	for _, p := range a.params {
		c.Args = append(c.Args, appendBytes(nil, args[p.off:p.off+p.words], p.width))
	}
	return c
}

// rule fills e.rule and e.prio from a match.
func (t *tableProg) rule(e *entry, ms []FieldMatch, prio int) error {
	if len(ms) != len(t.parts) {
		return fmt.Errorf("%w: %d match fields, want %d", ErrInvalid, len(ms), len(t.parts))
	}
	r := &e.rule
	ternary := t.info.Kind != Exact
	r.Value = make([]uint64, t.words)
	if ternary {
		r.Mask = make([]uint64, t.words)
	}
	for i := range t.parts {
		p := &t.parts[i]
		if err := t.matchPart(r, p, &ms[i]); err != nil {
			return fmt.Errorf("match field %q: %w", t.info.Keys[i].Name, err)
		}
	}
	switch t.info.Kind {
	case LPM:
		// one prefix length, one priority: the longest wins
		n := 0
		for i, p := range t.parts {
			if p.kind == LPM {
				n = ms[i].PrefixLen
			}
		}
		r.Priority = int64(-n)
	case Ternary, Range:
		e.prio = prio
		r.Priority = int64(prio)
	}
	return nil
}

func (t *tableProg) matchPart(r *table.Rule, p *keyPart, m *FieldMatch) error {
	v, mask := make([]uint64, p.words), make([]uint64, p.words)
	if !setBytes(v, m.Value, p.width) {
		return fmt.Errorf("%w: value does not fit in %d bits", ErrInvalid, p.width)
	}
	switch p.kind {
	case Exact:
		for j := range mask {
			mask[j] = ^uint64(0)
		}
		truncate(mask, p.width)
	case LPM:
		if m.PrefixLen < 0 || m.PrefixLen > p.width {
			return fmt.Errorf("%w: prefix length %d, want 0 to %d", ErrInvalid, m.PrefixLen, p.width)
		}
		for j := range mask {
			mask[j] = ^uint64(0)
		}
		shlWords(mask, uint64(p.width-m.PrefixLen))
		truncate(mask, p.width)
	case Ternary:
		if !setBytes(mask, m.Mask, p.width) {
			return fmt.Errorf("%w: mask does not fit in %d bits", ErrInvalid, p.width)
		}
	case Range:
		hi, top := make([]uint64, p.words), make([]uint64, p.words)
		if !setBytes(hi, m.High, p.width) {
			return fmt.Errorf("%w: upper bound does not fit in %d bits", ErrInvalid, p.width)
		}
		for j := range top {
			top[j] = ^uint64(0)
		}
		truncate(top, p.width)
		switch {
		case slices.Equal(v, hi):
			mask = top
		case wordsLess(hi, v):
			return fmt.Errorf("%w: the upper bound is less than the lower", ErrInvalid)
		case allZero(v) && slices.Equal(hi, top):
		default:
			r.Spans = append(r.Spans, table.Span{Word: p.word, Lo: slices.Clone(v), Hi: hi})
		}
	}
	for j := range v {
		v[j] &= mask[j]
		r.Value[p.word+j] |= v[j] << p.shift
		if r.Mask != nil {
			r.Mask[p.word+j] |= mask[j] << p.shift
		}
	}
	return nil
}

func wordsLess(a, b []uint64) bool {
	for i := len(a) - 1; i >= 0; i-- {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return false
}

func allZero(a []uint64) bool {
	for _, w := range a {
		if w != 0 {
			return false
		}
	}
	return true
}

// matchOf is the inverse of rule.
func (t *tableProg) matchOf(r *table.Rule) []FieldMatch {
	out := make([]FieldMatch, len(t.parts))
	for i := range t.parts {
		p := &t.parts[i]
		field := func(w []uint64) []uint64 {
			f := slices.Clone(w[p.word : p.word+p.words])
			if p.words == 1 {
				f[0] >>= p.shift
			}
			truncate(f, p.width)
			return f
		}
		v := field(r.Value)
		m := &out[i]
		m.Value = appendBytes(nil, v, p.width)
		if p.kind == Exact {
			continue
		}
		mask := field(r.Mask)
		switch p.kind {
		case LPM:
			for _, w := range mask {
				for ; w != 0; w &= w - 1 {
					m.PrefixLen++
				}
			}
		case Ternary:
			if !allZero(mask) {
				m.Mask = appendBytes(nil, mask, p.width)
			}
		case Range:
			m.High = m.Value
			if allZero(mask) {
				for j := range mask {
					mask[j] = ^uint64(0)
				}
				truncate(mask, p.width)
				m.High = appendBytes(nil, mask, p.width)
			}
			for _, sp := range r.Spans {
				if sp.Word == p.word {
					m.Value, m.High = appendBytes(nil, sp.Lo, p.width), appendBytes(nil, sp.Hi, p.width)
				}
			}
		}
	}
	return out
}

func (ts *tableState) lookup(e *entry) uint32 {
	if ts.exact != nil {
		return ts.exact.Lookup(e.rule.Value)
	}
	return ts.space.Find(&e.rule)
}

func (ts *tableState) insert(e *entry) (Handle, error) {
	if ts.lookup(e) != table.None {
		return 0, fmt.Errorf("%w: an entry with this match%s", ErrExists, map[bool]string{true: " and priority"}[ts.prog.info.HasPriority()])
	}
	if !ts.prog.info.Const && ts.prog.info.Size > 0 && ts.n >= ts.prog.info.Size {
		return 0, fmt.Errorf("%w: it holds %d entries", ErrFull, ts.prog.info.Size)
	}
	h := ts.handles.Get()
	for int(h) >= len(ts.entries) {
		ts.entries = append(ts.entries, nil)
	}
	ts.entries[h] = e
	e.rule.ID = h
	if ts.exact != nil {
		ts.exact.Set(e.rule.Value, h)
	} else {
		ts.space.Insert(&e.rule)
	}
	if ts.lpm != nil {
		ts.lpm.Insert(e.rule.Value, int(-e.rule.Priority), h)
	}
	ts.n++
	return h, nil
}

func (ts *tableState) remove(h Handle) {
	e := ts.entries[h]
	if ts.exact != nil {
		ts.exact.Delete(e.rule.Value)
	} else {
		ts.space.Delete(&e.rule)
	}
	if ts.lpm != nil {
		ts.lpm.Delete(e.rule.Value, int(-e.rule.Priority))
	}
	ts.entries[h] = nil
	ts.handles.Put(h)
	ts.n--
}
