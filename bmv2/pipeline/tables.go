package pipeline

import (
	"fmt"

	"khop/bmv2/config"
	"khop/bmv2/table"
)

// keyPart is where one key field stands: in the PHV, and in the key of a table. Fields of up to 64 bits share words where
// they fit; wide fields and fields matched by range have words of their own.
type keyPart struct {
	slot  int
	words int
	word  int
	shift uint
	width int
	kind  MatchKind
	mask  []uint64 // static mask of the program, or nil
}

type tableProg struct {
	info    TableInfo
	index   int
	parts   []keyPart
	words   int
	single  int // slot of the only, unmasked, one-word key field; else -1
	actions []*action
	byName  map[string]*action
	next    []int // by action index
	onHit   int   // used when byHit
	onMiss  int
	byHit   bool
	base    int // next when no action ran
	counted bool
	profile *profileProg
	meter   *meterProg
	color   func(s *State, c uint64)
	initial target
	entries []config.Entry
	src     config.SourceInfo
}

// target is a Target in executable form.
type target struct {
	kind TargetKind
	act  *action
	args []uint64
	ref  Handle // member or group
	next int
}

type entry struct {
	target
	prio    int
	timeout int64
	lastHit int64
	counter Counter
	meter   *meter
	rule    table.Rule
}

type tableState struct {
	prog       *tableProg
	exact      *table.Exact      // exact tables
	space      *table.TupleSpace // the others; longest-prefix tables use it for writes only
	lpm        *table.LPM
	entries    []*entry
	handles    table.Handles
	n          int
	def        target
	defInitial bool
	key        []uint64
}

func (t *tableProg) nextOf(a *action, hit bool) int {
	switch {
	case t.byHit && hit:
		return t.onHit
	case t.byHit:
		return t.onMiss
	case a == nil:
		return t.base
	}
	return t.next[a.index]
}

// apply looks the packet up, runs the action and returns the next node.
func (t *tableProg) apply(s *State) int {
	ts := &s.in.tables[t.index]
	id := table.None
	switch {
	case t.words == 0:
	case t.single >= 0 && ts.n > 0:
		ts.key[0] = s.W[t.single]
		id = ts.find()
	case ts.n > 0:
		ts.buildKey(s)
		id = ts.find()
	}
	if s.in.tracer != nil {
		s.traceTable(ts, id)
	}
	if id == table.None {
		return ts.run(s, &ts.def, false)
	}
	e := ts.entries[id]
	if t.counted {
		e.counter.add(s.InLength)
	}
	if t.info.Timeout {
		e.lastHit = s.Now
	}
	if t.meter != nil {
		c := uint64(green)
		if e.meter != nil {
			c = e.meter.execute(s.Now, meterUnits(t.meter.info.Bytes, s.InLength))
		}
		t.color(s, c)
	}
	return ts.run(s, &e.target, true)
}

func (ts *tableState) find() uint32 {
	switch {
	case ts.exact != nil:
		return ts.exact.Lookup(ts.key)
	case ts.lpm != nil:
		return ts.lpm.Lookup(ts.key)
	}
	return ts.space.Lookup(ts.key)
}

func (ts *tableState) buildKey(s *State) {
	key := ts.key
	clear(key)
	for i := range ts.prog.parts {
		p := &ts.prog.parts[i]
		if p.words == 1 {
			v := s.W[p.slot]
			if p.mask != nil {
				v &= p.mask[0]
			}
			key[p.word] |= v << p.shift
			continue
		}
		for j := range p.words {
			v := s.W[p.slot+j]
			if p.mask != nil {
				v &= p.mask[j]
			}
			key[p.word+j] = v
		}
	}
}

func (ts *tableState) run(s *State, t *target, hit bool) int {
	switch t.kind {
	case TargetAction:
		t.act.run(s, t.args)
		return t.next
	case TargetNone:
		return ts.prog.nextOf(nil, hit)
	}
	ps := &s.in.profiles[ts.prog.profile.index]
	m := ps.choose(s, t)
	if m == nil {
		s.in.EmptyGroup++
		return ts.prog.nextOf(nil, hit)
	}
	m.act.run(s, m.args)
	return ts.prog.nextOf(m.act, hit)
}

func (l *linker) linkTable(ct *config.Table, pipe string) (*tableProg, error) {
	t := &tableProg{index: len(l.prog.tables), single: -1, byName: map[string]*action{}, base: -1, onHit: -1, onMiss: -1,
		entries: ct.Entries, src: ct.Source,
		info: TableInfo{Name: ct.Name, ID: ct.ID, Pipeline: pipe, Size: ct.MaxSize, Const: ct.HasEntries,
			Timeout: ct.Timeout, Selector: ct.Type == "indirect_ws"}}
	switch ct.MatchType {
	case "lpm":
		t.info.Kind = LPM
	case "ternary":
		t.info.Kind = Ternary
	case "range":
		t.info.Kind = Range
	}
	if err := l.linkKey(t, ct); err != nil {
		return nil, err
	}
	for i, name := range ct.Actions {
		var a *action
		if ct.ActionIDs != nil {
			a = l.actionByID[ct.ActionIDs[i]]
			if a != nil && a.info.Name != name {
				a = nil
			}
		} else {
			for _, x := range l.prog.actions {
				if x.info.Name == name {
					a = x
					break
				}
			}
		}
		if a == nil {
			return nil, fmt.Errorf("no action %q", name)
		}
		t.actions = append(t.actions, a)
		t.byName[name] = a
		t.info.Actions = append(t.info.Actions, a.info)
	}
	if ct.Type != "simple" {
		t.profile = l.profiles[ct.Profile]
		if t.profile == nil {
			return nil, fmt.Errorf("no action profile %q", ct.Profile)
		}
		if t.info.Selector && !t.profile.info.Selector {
			return nil, fmt.Errorf("action profile %q has no selector", ct.Profile)
		}
		t.info.Profile = ct.Profile
		t.profile.addTable(t)
	}
	if d := ct.Default; d != nil {
		t.info.ConstDefaultAction, t.info.ConstDefaultEntry = d.ActionConst, d.ActionEntryConst
	}
	return t, nil
}

func (l *linker) linkKey(t *tableProg, ct *config.Table) error {
	used := uint(64) // bits taken of the last word
	lpms := 0
	for i := range ct.Key {
		k := &ct.Key[i]
		p := keyPart{words: 1, width: 1}
		ki := KeyInfo{Name: k.Name}
		if ki.Name == "" {
			ki.Name = k.Target[0] + "." + k.Target[1]
		}
		switch k.MatchType {
		case "lpm":
			p.kind = LPM
			lpms++
		case "ternary":
			p.kind = Ternary
		case "range":
			p.kind = Range
		}
		if p.kind > t.info.Kind {
			return fmt.Errorf("key field %q is matched by %s in a table of match type %s", ki.Name, p.kind, t.info.Kind)
		}
		if k.MatchType == "valid" {
			h := l.headers[k.Target[0]]
			if h == nil {
				return fmt.Errorf("key field %q: no header %q", ki.Name, k.Target[0])
			}
			p.slot = h.base
		} else {
			h, f, err := l.lookupField(k.Target[0], k.Target[1])
			if err != nil {
				return fmt.Errorf("key field %q: %w", ki.Name, err)
			}
			if f == nil {
				p.slot = h.base
			} else {
				if f.varbit {
					return fmt.Errorf("key field %q is a varbit field", ki.Name)
				}
				p.slot, p.width, p.words = h.slot(f), f.width, f.words
			}
		}
		if k.Mask != nil {
			p.mask = make([]uint64, p.words)
			if !setBytes(p.mask, k.Mask, p.width) {
				return fmt.Errorf("key field %q: the mask is wider than %d bits", ki.Name, p.width)
			}
		}
		if p.words > 1 || p.kind == Range || used+uint(p.width) > 64 {
			p.word = t.words
			t.words += p.words
			used = uint(p.width)
			if p.words > 1 || p.kind == Range {
				used = 64
			}
		} else {
			p.word, p.shift = t.words-1, used
			used += uint(p.width)
		}
		t.parts = append(t.parts, p)
		ki.Kind, ki.Width = p.kind, p.width
		t.info.Keys = append(t.info.Keys, ki)
	}
	if lpms > 1 && t.info.Kind == LPM {
		return fmt.Errorf("%d key fields are matched by lpm, at most one may be", lpms)
	}
	if len(t.parts) == 1 && t.parts[0].words == 1 && t.parts[0].mask == nil {
		t.single = t.parts[0].slot
	}
	return nil
}

// linkNext resolves where a table leads; nodes are known by then.
func (l *linker) linkNext(t *tableProg, ct *config.Table, nodes map[string]int) error {
	find := func(name string) (int, error) {
		if name == "" {
			return -1, nil
		}
		n, ok := nodes[name]
		if !ok {
			return 0, fmt.Errorf("next_tables: no table, conditional or action call %q", name)
		}
		return n, nil
	}
	var err error
	if t.base, err = find(ct.BaseNext); err != nil {
		return err
	}
	t.next = make([]int, len(l.prog.actions))
	for i := range t.next {
		t.next[i] = t.base
	}
	actions := t.actions
	if t.profile != nil { // by name: tables that share a profile may have copies of an action
		actions = l.prog.actions
	}
	for _, a := range actions {
		if name, ok := ct.NextTables[a.info.Name]; ok && t.byName[a.info.Name] != nil {
			if t.next[a.index], err = find(name); err != nil {
				return err
			}
		}
	}
	hit, isHit := ct.NextTables["__HIT__"]
	miss, isMiss := ct.NextTables["__MISS__"]
	if isHit || isMiss {
		t.byHit = true
		if t.onHit, err = find(hit); err != nil {
			return err
		}
		if t.onMiss, err = find(miss); err != nil {
			return err
		}
	}
	for name := range ct.NextTables {
		if name != "__HIT__" && name != "__MISS__" && t.byName[name] == nil {
			return fmt.Errorf("next_tables: %q is not an action of the table", name)
		}
	}
	return nil
}
