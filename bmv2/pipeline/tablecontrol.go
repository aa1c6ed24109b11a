package pipeline

import (
	"fmt"
	"slices"
)

// Tables lists the tables.
func (in *Instance) Tables() []TableInfo { return in.prog.tableInfos }

// Actions lists the actions.
func (in *Instance) Actions() []ActionInfo { return in.prog.actionInfos }

// Digests lists the digests.
func (in *Instance) Digests() []DigestInfo { return in.prog.digests }

func (in *Instance) table(name string) (*tableState, error) {
	if i, ok := in.prog.tableByName[name]; ok {
		return &in.tables[i], nil
	}
	var names []string
	for i := range in.tables {
		names = append(names, in.tables[i].prog.info.Name)
	}
	return nil, fmt.Errorf("table %q: %w (tables: %q)", name, ErrNotFound, names)
}

// Table describes a table.
func (in *Instance) Table(name string) (*TableInfo, error) {
	ts, err := in.table(name)
	if err != nil {
		return nil, err
	}
	return &in.prog.tableInfos[ts.prog.index], nil
}

// mutable returns a table whose entries may be written.
func (in *Instance) mutable(name string) (*tableState, error) {
	ts, err := in.table(name)
	if err != nil {
		return nil, err
	}
	if ts.prog.info.Const {
		return nil, fmt.Errorf("table %q: %w: its entries are const", name, ErrConst)
	}
	return ts, nil
}

func (ts *tableState) at(h Handle) (*entry, error) {
	if int(h) >= len(ts.entries) || ts.entries[h] == nil {
		return nil, fmt.Errorf("table %q: entry %d: %w", ts.prog.info.Name, h, ErrNotFound)
	}
	return ts.entries[h], nil
}

// target resolves a Target of a table.
func (in *Instance) target(t *tableProg, x *Target, hit bool) (target, error) {
	if t.profile == nil {
		if x.Kind != TargetAction {
			return target{}, fmt.Errorf("%w: the table takes actions, not members or groups", ErrInvalid)
		}
		a, args, err := resolveCall(&x.Call, t.byName, t.info.Actions)
		if err != nil {
			return target{}, err
		}
		return target{kind: TargetAction, act: a, args: args, next: t.nextOf(a, hit)}, nil
	}
	ps := &in.profiles[t.profile.index]
	switch x.Kind {
	case TargetMember:
		_, err := ps.member(x.Member)
		return target{kind: TargetMember, ref: x.Member}, err
	case TargetGroup:
		if !t.info.Selector {
			return target{}, fmt.Errorf("%w: the table has no selector, so it takes members, not groups", ErrInvalid)
		}
		_, err := ps.group(x.Group)
		return target{kind: TargetGroup, ref: x.Group}, err
	}
	return target{}, fmt.Errorf("%w: the table takes members or groups of profile %q", ErrInvalid, t.info.Profile)
}

// hold counts the references of a target to its member or group.
func (in *Instance) hold(t *tableProg, x *target, n int) {
	if t.profile == nil {
		return
	}
	ps := &in.profiles[t.profile.index]
	switch x.kind {
	case TargetMember:
		ps.members[x.ref].refs += n
	case TargetGroup:
		ps.groups[x.ref].refs += n
	}
}

func (t *target) public() Target {
	switch t.kind {
	case TargetAction:
		return Target{Kind: TargetAction, Call: callOf(t.act, t.args)}
	case TargetMember:
		return Target{Kind: TargetMember, Member: t.ref}
	case TargetGroup:
		return Target{Kind: TargetGroup, Group: t.ref}
	}
	return Target{}
}

func (t *tableProg) checkTimeout(timeout int64) error {
	if timeout < 0 || timeout > 0 && !t.info.Timeout {
		return fmt.Errorf("table %q: %w: idle timeout %d ns (the table has support_timeout = %v)", t.info.Name, ErrInvalid,
			timeout, t.info.Timeout)
	}
	return nil
}

// InsertEntry adds an entry.
func (in *Instance) InsertEntry(name string, e Entry, now int64) (Handle, error) {
	ts, err := in.mutable(name)
	if err != nil {
		return 0, err
	}
	t := ts.prog
	if t.words == 0 {
		return 0, fmt.Errorf("table %q: %w: it has no key, so no entries", name, ErrInvalid)
	}
	if err := t.checkTimeout(e.IdleTimeout); err != nil {
		return 0, err
	}
	x := &entry{timeout: e.IdleTimeout, lastHit: now}
	if err := t.rule(x, e.Match, e.Priority); err != nil {
		return 0, fmt.Errorf("table %q: %w", name, err)
	}
	if x.target, err = in.target(t, &e.Target, true); err != nil {
		return 0, fmt.Errorf("table %q: %w", name, err)
	}
	h, err := ts.insert(x)
	if err != nil {
		return 0, fmt.Errorf("table %q: %w", name, err)
	}
	in.hold(t, &x.target, 1)
	return h, nil
}

// ModifyEntry replaces target and timeout of an entry.
func (in *Instance) ModifyEntry(name string, h Handle, target Target, idleTimeout, now int64) error {
	ts, err := in.mutable(name)
	if err != nil {
		return err
	}
	e, err := ts.at(h)
	if err != nil {
		return err
	}
	if err := ts.prog.checkTimeout(idleTimeout); err != nil {
		return err
	}
	x, err := in.target(ts.prog, &target, true)
	if err != nil {
		return fmt.Errorf("table %q: %w", name, err)
	}
	in.hold(ts.prog, &x, 1)
	in.hold(ts.prog, &e.target, -1)
	e.target, e.timeout, e.lastHit = x, idleTimeout, now
	return nil
}

// DeleteEntry removes an entry.
func (in *Instance) DeleteEntry(name string, h Handle) error {
	ts, err := in.mutable(name)
	if err != nil {
		return err
	}
	e, err := ts.at(h)
	if err != nil {
		return err
	}
	in.hold(ts.prog, &e.target, -1)
	ts.remove(h)
	return nil
}

// FindEntry looks an entry up by its match.
func (in *Instance) FindEntry(name string, match []FieldMatch, priority int) (Handle, error) {
	ts, err := in.table(name)
	if err != nil {
		return 0, err
	}
	var e entry
	if err := ts.prog.rule(&e, match, priority); err != nil {
		return 0, fmt.Errorf("table %q: %w", name, err)
	}
	h := ts.lookup(&e)
	if int(h) >= len(ts.entries) {
		return 0, fmt.Errorf("table %q: entry with this match: %w", name, ErrNotFound)
	}
	return h, nil
}

func (ts *tableState) public(h Handle, e *entry) Entry {
	return Entry{Handle: h, Match: ts.prog.matchOf(&e.rule), Priority: e.prio, Target: e.target.public(),
		IdleTimeout: e.timeout, LastHit: e.lastHit}
}

// Entry reads one entry.
func (in *Instance) Entry(name string, h Handle) (Entry, error) {
	ts, err := in.table(name)
	if err != nil {
		return Entry{}, err
	}
	e, err := ts.at(h)
	if err != nil {
		return Entry{}, err
	}
	return ts.public(h, e), nil
}

// EachEntry calls fn by ascending handle.
func (in *Instance) EachEntry(name string, fn func(Entry) bool) error {
	ts, err := in.table(name)
	if err != nil {
		return err
	}
	for h, e := range ts.entries {
		if e != nil && !fn(ts.public(Handle(h), e)) {
			break
		}
	}
	return nil
}

// EntryCount returns the number of entries.
func (in *Instance) EntryCount(name string) (int, error) {
	ts, err := in.table(name)
	if err != nil {
		return 0, err
	}
	return ts.n, nil
}

// ClearTable removes all entries.
func (in *Instance) ClearTable(name string) error {
	ts, err := in.mutable(name)
	if err != nil {
		return err
	}
	for h, e := range slices.Clone(ts.entries) {
		if e != nil {
			in.hold(ts.prog, &e.target, -1)
			ts.remove(Handle(h))
		}
	}
	return nil
}

// SetDefault replaces the default entry.
func (in *Instance) SetDefault(name string, x Target) error {
	ts, err := in.table(name)
	if err != nil {
		return err
	}
	t := ts.prog
	n, err := in.target(t, &x, false)
	if err != nil {
		return fmt.Errorf("table %q: %w", name, err)
	}
	if t.info.ConstDefaultAction && n.act != t.initial.act {
		return fmt.Errorf("table %q: %w: the default action is const", name, ErrConst)
	}
	if t.info.ConstDefaultEntry && !slices.Equal(n.args, t.initial.args) {
		return fmt.Errorf("table %q: %w: the default entry is const", name, ErrConst)
	}
	in.hold(t, &n, 1)
	in.hold(t, &ts.def, -1)
	ts.def, ts.defInitial = n, false
	return nil
}

// ResetDefault restores the default entry that the program came with.
func (in *Instance) ResetDefault(name string) error {
	ts, err := in.table(name)
	if err != nil {
		return err
	}
	in.hold(ts.prog, &ts.def, -1)
	ts.def, ts.defInitial = ts.prog.initial, true
	return nil
}

// Default reads the default entry.
func (in *Instance) Default(name string) (Target, bool, error) {
	ts, err := in.table(name)
	if err != nil {
		return Target{}, false, err
	}
	return ts.def.public(), ts.defInitial, nil
}

// IdleEntries calls fn for each entry that has been idle for its timeout.
func (in *Instance) IdleEntries(now int64, fn func(name string, h Handle, e Entry)) {
	for i := range in.tables {
		ts := &in.tables[i]
		if !ts.prog.info.Timeout {
			continue
		}
		for h, e := range ts.entries {
			if e != nil && e.timeout > 0 && now-e.lastHit >= e.timeout {
				fn(ts.prog.info.Name, Handle(h), ts.public(Handle(h), e))
			}
		}
	}
}
