package p4rt

import (
	"bytes"
	"cmp"
	"math"
	"slices"

	configv1 "github.com/p4lang/p4runtime/go/p4/config/v1"
	p4v1 "github.com/p4lang/p4runtime/go/p4/v1"
	"google.golang.org/grpc/codes"

	"khop/bmv2/pipeline"
	"khop/bmv2/simpleswitch"
)

// tableState is a table and the entries that clients wrote to it.
type tableState struct {
	info    *tableInfo
	core    *pipeline.TableInfo // nil if the program does not have the table
	entries map[string]*entry   // by identity of match key and priority
	handles []*entry            // by handle; nil where there is none
	def     defaultEntry
}

// entry is what the switch does not know of a table entry, in the form in which it is read back.
type entry struct {
	identity string
	match    []*p4v1.FieldMatch
	priority int32
	handle   pipeline.Handle
	target   pipeline.Target
	action   *p4v1.TableAction
	shot     *oneShot // members and group that exist only for this entry; nil if none
	cookie   uint64   // controller_metadata
	metadata []byte
	timeout  int64 // idle timeout in nanoseconds
	due      int64 // earliest switch time at which the entry may be idle, as known; only with a timeout
	isConst  bool
}

// defaultEntry is what clients attached to a default entry.
type defaultEntry struct {
	cookie   uint64
	metadata []byte
}

// table finds a table of the program for reading or writing.
func (st *state) table(id uint32) (*tableState, error) {
	ti, err := lookup("table", id, st.info.tables, func(t *tableInfo) string { return t.name })
	if err != nil {
		return nil, err
	}
	ts := st.tables[ti.id]
	if ts.core == nil {
		return nil, errorf(codes.NotFound, "table %s is in P4Info, but not in the device config", ti.name)
	}
	return ts, nil
}

// switchPriority maps between P4Runtime, where the larger priority wins, and the switch, where the lower one does; it is
// its own inverse.
func switchPriority(p int32) int { return math.MaxInt32 - int(p) }

// applyTable writes a table entry (specification, section "TableEntry").
func (st *state) applyTable(x *txn, typ p4v1.Update_Type, m *p4v1.TableEntry) error {
	ts, err := st.table(m.GetTableId())
	if err != nil {
		return err
	}
	if err := st.applyEntry(x, ts, typ, m); err != nil {
		return wrap(err, "table %s", ts.info.name)
	}
	return nil
}

func (st *state) applyEntry(x *txn, ts *tableState, typ p4v1.Update_Type, m *p4v1.TableEntry) error {
	if m.GetIsConst() {
		return errorf(codes.InvalidArgument, "is_const must be false in a write")
	}
	if m.GetIsDefaultAction() {
		return st.applyDefault(x, ts, typ, m)
	}
	if len(ts.info.key.fields) == 0 {
		return errorf(codes.InvalidArgument, "the table has no key, so it has no entries but the default entry (is_default_action)")
	}
	key, err := ts.decodeKey(m)
	if err != nil {
		return err
	}
	id := ts.info.key.identity(key, m.GetPriority())
	e := ts.entries[id]
	readOnly := ts.core.Const || ts.info.msg.GetIsConstTable() || e != nil && e.isConst
	if readOnly && (typ != p4v1.Update_MODIFY || m.GetAction() != nil) {
		return errorf(codes.PermissionDenied, "the entries come with the program and are constant; only the direct resources of an entry may be modified, without an action")
	}
	switch {
	case typ == p4v1.Update_INSERT && e != nil:
		return errorf(codes.AlreadyExists, "there is an entry with this match key%s already", ts.withPriority(m))
	case typ != p4v1.Update_INSERT && e == nil:
		return errorf(codes.NotFound, "there is no entry with this match key%s", ts.withPriority(m))
	}
	if typ == p4v1.Update_DELETE {
		return st.deleteEntry(x, ts, e)
	}
	if err := ts.checkResources(m); err != nil {
		return err
	}
	if typ == p4v1.Update_MODIFY {
		return st.modifyEntry(x, ts, e, m)
	}
	return st.insertEntry(x, ts, id, key, m)
}

// decodeKey checks match and priority.
func (ts *tableState) decodeKey(m *p4v1.TableEntry) ([]matchValue, error) {
	key, err := ts.info.key.decode(m.GetMatch())
	if err != nil {
		return nil, err
	}
	switch {
	case ts.info.prioritised && m.GetPriority() <= 0:
		return nil, errorf(codes.InvalidArgument, "the priority is %d; it must be above zero, because the key has a ternary, range or optional field (the larger priority wins)", m.GetPriority())
	case !ts.info.prioritised && m.GetPriority() != 0:
		return nil, errorf(codes.InvalidArgument, "the priority is %d; it must be zero, because the key has no ternary, range or optional field", m.GetPriority())
	}
	return key, nil
}

func (ts *tableState) withPriority(m *p4v1.TableEntry) string {
	if ts.info.prioritised {
		return " and priority"
	}
	return ""
}

// checkResources checks what an insert or modify says about direct resources and ageing.
func (ts *tableState) checkResources(m *p4v1.TableEntry) error {
	if m.GetCounterData() != nil {
		if ts.core.DirectCounter == "" {
			return errorf(codes.InvalidArgument, "counter_data is set, but the table has no direct counter")
		}
		if err := checkCounter(m.CounterData); err != nil {
			return err
		}
	}
	if m.GetMeterConfig() != nil {
		if ts.core.DirectMeter == "" || ts.info.directMeter == nil {
			return errorf(codes.InvalidArgument, "meter_config is set, but the table has no direct meter")
		}
		if err := checkMeter(ts.info.directMeter.spec, m.MeterConfig); err != nil {
			return err
		}
	}
	if m.GetMeterCounterData() != nil {
		return errorf(codes.Unimplemented, "meter_counter_data: meters keep no counters by colour")
	}
	if m.GetTimeSinceLastHit() != nil {
		return errorf(codes.InvalidArgument, "time_since_last_hit must be unset in a write")
	}
	switch {
	case m.GetIdleTimeoutNs() < 0:
		return errorf(codes.InvalidArgument, "idle_timeout_ns is %d; it must not be negative", m.GetIdleTimeoutNs())
	case m.GetIdleTimeoutNs() > 0 && !(ts.info.idle && ts.core.Timeout):
		return errorf(codes.InvalidArgument, "idle_timeout_ns is set, but the table does not support idle timeouts (support_timeout)")
	}
	return nil
}

// coreMatch is the key in the form of the switch.
func (ts *tableState) coreMatch(key []matchValue) []pipeline.FieldMatch {
	out := make([]pipeline.FieldMatch, len(key))
	for i, v := range key {
		f := &out[i]
		f.Value = v.value
		switch ts.info.key.fields[i].kind {
		case configv1.MatchField_LPM:
			f.PrefixLen = v.prefix
		case configv1.MatchField_TERNARY, configv1.MatchField_OPTIONAL:
			f.Mask = v.mask
		case configv1.MatchField_RANGE:
			f.High = v.mask
		}
	}
	return out
}

func (st *state) insertEntry(x *txn, ts *tableState, id string, key []matchValue, m *p4v1.TableEntry) error {
	if m.GetAction() == nil {
		return errorf(codes.InvalidArgument, "the action is missing")
	}
	e := &entry{identity: id, match: ts.info.key.encode(key), priority: m.GetPriority()}
	var err error
	if e.target, e.action, e.shot, err = st.decodeTarget(x, ts, m.GetAction()); err != nil {
		return err
	}
	e.describe(m)
	st.age(e, x.now)
	ce := pipeline.Entry{Match: ts.coreMatch(key), Target: e.target, IdleTimeout: e.timeout}
	if ts.info.prioritised {
		ce.Priority = switchPriority(e.priority)
	}
	if e.handle, err = st.sw.InsertEntry(ts.info.name, ce, x.now); err != nil {
		st.dropShot(ts, e.shot)
		return switchError(err)
	}
	ts.add(e)
	if err = st.setResources(x, ts, e, m, true); err != nil {
		st.removeEntry(ts, e)
		return err
	}
	x.done(func() { st.removeEntry(ts, e) })
	return nil
}

// describe takes over what the switch does not keep.
func (e *entry) describe(m *p4v1.TableEntry) {
	e.cookie = cookieOf(m)
	e.metadata = m.GetMetadata()
	e.timeout = m.GetIdleTimeoutNs()
}

func (ts *tableState) add(e *entry) {
	ts.entries[e.identity] = e
	for int(e.handle) >= len(ts.handles) {
		ts.handles = append(ts.handles, nil)
	}
	ts.handles[e.handle] = e
}

// removeEntry takes an entry out of switch and state. It cannot fail for an entry of the state, except if the switch lost
// it, which leaves nothing to remove.
func (st *state) removeEntry(ts *tableState, e *entry) {
	_ = st.sw.DeleteEntry(ts.info.name, e.handle)
	ts.handles[e.handle] = nil
	delete(ts.entries, e.identity)
	st.dropShot(ts, e.shot)
}

// setResources writes counter and meter of an entry. A meter that is not mentioned becomes unconfigured, a counter that is
// not mentioned keeps its value (specification, section "Direct Resources").
func (st *state) setResources(x *txn, ts *tableState, e *entry, m *p4v1.TableEntry, fresh bool) error {
	if d := m.GetCounterData(); d != nil {
		if err := st.sw.SetDirectCounter(ts.info.name, e.handle, coreCounter(d)); err != nil {
			return switchError(err)
		}
	}
	if ts.core.DirectMeter != "" && (m.GetMeterConfig() != nil || !fresh) {
		if err := st.sw.SetDirectMeter(ts.info.name, e.handle, coreMeter(m.GetMeterConfig()), x.now); err != nil {
			return switchError(err)
		}
	}
	return nil
}

func (st *state) modifyEntry(x *txn, ts *tableState, e *entry, m *p4v1.TableEntry) error {
	old := *e
	resources := st.saveResources(ts, e)
	if m.GetAction() != nil {
		var err error
		if e.target, e.action, e.shot, err = st.decodeTarget(x, ts, m.GetAction()); err != nil {
			*e = old
			return err
		}
	}
	if !e.isConst {
		e.describe(m)
		st.age(e, x.now)
		if err := st.sw.ModifyEntry(ts.info.name, e.handle, e.target, e.timeout, x.now); err != nil {
			if e.shot != old.shot {
				st.dropShot(ts, e.shot)
			}
			*e = old
			return switchError(err)
		}
	}
	back := func() {
		if !e.isConst {
			old.target = st.resolveTarget(ts, old.action, old.target)
			_ = st.sw.ModifyEntry(ts.info.name, e.handle, old.target, old.timeout, x.now)
		}
		resources(x.now)
		if e.shot != old.shot {
			st.dropShot(ts, e.shot)
		}
		*e = old
	}
	if err := st.setResources(x, ts, e, m, false); err != nil {
		back()
		return err
	}
	if old.shot == nil || e.shot == old.shot {
		x.done(back)
		return nil
	}
	// The members and group of the old one-shot go last: the undo log makes them anew.
	st.dropShot(ts, old.shot)
	x.done(func() {
		old.target, old.shot = st.remakeShot(ts, old.action)
		back()
	})
	return nil
}

func (st *state) deleteEntry(x *txn, ts *tableState, e *entry) error {
	resources := func(int64) {}
	if x.record {
		resources = st.saveResources(ts, e)
	}
	ce, err := st.sw.Entry(ts.info.name, e.handle)
	if err != nil {
		return switchError(err)
	}
	if err := st.sw.DeleteEntry(ts.info.name, e.handle); err != nil {
		return switchError(err)
	}
	ts.handles[e.handle] = nil
	delete(ts.entries, e.identity)
	st.dropShot(ts, e.shot)
	x.done(func() {
		if e.shot != nil {
			e.target, e.shot = st.remakeShot(ts, e.action)
		}
		e.target = st.resolveTarget(ts, e.action, e.target)
		ce.Target = e.target
		if h, err := st.sw.InsertEntry(ts.info.name, ce, x.now); err == nil {
			e.handle = h
			ts.add(e)
			resources(x.now)
		}
	})
	return nil
}

// resolveTarget is the target of an entry with the present handle of its member or group, which a rollback may have made
// anew.
func (st *state) resolveTarget(ts *tableState, m *p4v1.TableAction, t pipeline.Target) pipeline.Target {
	switch a := m.GetType().(type) {
	case *p4v1.TableAction_ActionProfileMemberId:
		if ms := st.profiles[ts.info.profile.id].members[a.ActionProfileMemberId]; ms != nil {
			t.Member = ms.handle
		}
	case *p4v1.TableAction_ActionProfileGroupId:
		if g := st.profiles[ts.info.profile.id].groups[a.ActionProfileGroupId]; g != nil {
			t.Group = g.handle
		}
	}
	return t
}

// saveResources returns a function that writes the present counter and meter of an entry back to it.
func (st *state) saveResources(ts *tableState, e *entry) func(now int64) {
	name := ts.info.name
	var counter *pipeline.Counter
	var meter *pipeline.MeterConfig
	if ts.core.DirectCounter != "" {
		if c, err := st.sw.DirectCounter(name, e.handle); err == nil {
			counter = &c
		}
	}
	if ts.core.DirectMeter != "" {
		if c, ok, err := st.sw.DirectMeter(name, e.handle); err == nil && ok {
			meter = &c
		}
	}
	return func(now int64) {
		if counter != nil {
			_ = st.sw.SetDirectCounter(name, e.handle, *counter)
		}
		if ts.core.DirectMeter != "" {
			_ = st.sw.SetDirectMeter(name, e.handle, meter, now)
		}
	}
}

// applyDefault writes the default entry (specification, section "Default Entry").
func (st *state) applyDefault(x *txn, ts *tableState, typ p4v1.Update_Type, m *p4v1.TableEntry) error {
	name := ts.info.name
	switch {
	case typ != p4v1.Update_MODIFY:
		return errorf(codes.InvalidArgument, "the default entry always exists; it can only be modified")
	case len(m.GetMatch()) > 0:
		return errorf(codes.InvalidArgument, "is_default_action is set, so match must be empty")
	case m.GetPriority() != 0:
		return errorf(codes.InvalidArgument, "is_default_action is set, so priority must be zero")
	case m.GetIdleTimeoutNs() != 0 || m.GetTimeSinceLastHit() != nil:
		return errorf(codes.InvalidArgument, "a default entry has no idle timeout")
	case m.GetMeterConfig() != nil || m.GetCounterData() != nil || m.GetMeterCounterData() != nil:
		return errorf(codes.Unimplemented, "a default entry has no direct counter or meter: they count hits only")
	case ts.info.profile != nil:
		return errorf(codes.PermissionDenied, "the default entry of a table with an action profile is constant")
	case ts.core.ConstDefaultEntry || ts.info.msg.GetConstDefaultActionId() != 0:
		return errorf(codes.PermissionDenied, "the default entry is constant")
	}
	before, initial, err := st.sw.Default(name)
	if err != nil {
		return switchError(err)
	}
	old := ts.def
	if m.GetAction() == nil {
		err = st.sw.ResetDefault(name)
		ts.def = defaultEntry{}
	} else {
		act, ok := m.GetAction().GetType().(*p4v1.TableAction_Action)
		if !ok {
			return errorf(codes.InvalidArgument, "a default entry takes an action, no member, group or action set")
		}
		ref, args, aerr := ts.decodeAction(act.Action, configv1.ActionRef_TABLE_ONLY)
		if aerr != nil {
			return aerr
		}
		err = st.sw.SetDefault(name, pipeline.Target{Kind: pipeline.TargetAction, Call: pipeline.ActionCall{Action: ref.name, Args: args}})
		ts.def = defaultEntry{cookieOf(m), m.GetMetadata()}
	}
	if err != nil {
		ts.def = old
		return switchError(err)
	}
	x.done(func() {
		ts.def = old
		if initial {
			_ = st.sw.ResetDefault(name)
		} else {
			_ = st.sw.SetDefault(name, before)
		}
	})
	return nil
}

// decodeAction checks an action of this table; an action of the forbidden scope is PERMISSION_DENIED.
func (ts *tableState) decodeAction(m *p4v1.Action, forbidden configv1.ActionRef_Scope) (*actionRef, [][]byte, error) {
	ref, err := ts.info.action(m.GetActionId())
	if err != nil {
		return nil, nil, err
	}
	if ref.scope == forbidden {
		if forbidden == configv1.ActionRef_TABLE_ONLY {
			return nil, nil, errorf(codes.PermissionDenied, "action %s is for entries only (@tableonly), not for the default entry", ref.name)
		}
		return nil, nil, errorf(codes.PermissionDenied, "action %s is for the default entry only (@defaultonly)", ref.name)
	}
	args, err := ref.decode(m)
	return ref, args, err
}

// loadInitial takes over the entries that came with the program. Their P4Runtime priorities count down to 1 in the order in
// which they win (specification, section "Constant Tables").
func (ts *tableState) loadInitial(sw *simpleswitch.Switch) error {
	var list []pipeline.Entry
	if err := sw.EachEntry(ts.info.name, func(e pipeline.Entry) bool {
		list = append(list, e)
		return true
	}); err != nil {
		return switchError(err)
	}
	if ts.info.prioritised {
		slices.SortStableFunc(list, func(a, b pipeline.Entry) int { return cmp.Compare(a.Priority, b.Priority) })
	}
	for i, ce := range list {
		e := &entry{handle: ce.Handle, target: ce.Target, isConst: true}
		if ts.info.prioritised {
			e.priority = int32(len(list) - i)
		}
		key, err := ts.keyOf(ce.Match)
		if err != nil {
			return err
		}
		e.identity, e.match = ts.info.key.identity(key, e.priority), ts.info.key.encode(key)
		if e.action, err = ts.actionOf(ce.Target); err != nil {
			return err
		}
		ts.add(e)
	}
	return nil
}

// keyOf is the key of an entry of the switch.
func (ts *tableState) keyOf(match []pipeline.FieldMatch) ([]matchValue, error) {
	key := make([]matchValue, len(match))
	for i, m := range match {
		f := &ts.info.key.fields[i]
		v := &key[i]
		var err error
		if v.value, err = appendValue(nil, append([]byte{0}, m.Value...), f.width); err != nil {
			return nil, wrap(err, "match field %s", f.name)
		}
		switch f.kind {
		case configv1.MatchField_LPM:
			v.prefix, v.wild = m.PrefixLen, m.PrefixLen == 0
			v.mask = make([]byte, len(v.value))
		case configv1.MatchField_TERNARY, configv1.MatchField_OPTIONAL:
			v.mask, err = appendValue(nil, append([]byte{0}, m.Mask...), f.width)
			v.wild = bitLen(v.mask) == 0
		case configv1.MatchField_RANGE:
			v.mask, err = appendValue(nil, append([]byte{0}, m.High...), f.width)
			v.wild = bitLen(v.value) == 0 && bytes.Equal(v.mask, maxValue(f.width))
		}
		if err != nil {
			return nil, wrap(err, "match field %s", f.name)
		}
	}
	return key, nil
}

// actionOf is the message of an action that the switch holds; nil for none.
func (ts *tableState) actionOf(t pipeline.Target) (*p4v1.TableAction, error) {
	if t.Kind != pipeline.TargetAction {
		return nil, nil
	}
	for _, ref := range ts.info.actions {
		if ref.name != t.Call.Action {
			continue
		}
		args := make([][]byte, len(t.Call.Args))
		for i, a := range t.Call.Args {
			v, err := appendValue(nil, append([]byte{0}, a...), ref.params[i].width)
			if err != nil {
				return nil, wrap(err, "action %s, parameter %s", ref.name, ref.params[i].name)
			}
			args[i] = v
		}
		return &p4v1.TableAction{Type: &p4v1.TableAction_Action{Action: ref.encode(args)}}, nil
	}
	return nil, errorf(codes.InvalidArgument, "the device config uses action %s, which is none of the table's actions in P4Info", t.Call.Action)
}
