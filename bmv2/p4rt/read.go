package p4rt

import (
	"maps"
	"slices"

	p4v1 "github.com/p4lang/p4runtime/go/p4/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"khop/bmv2/simpleswitch"
)

const (
	readChunk    = 4096    // entities read before packets may pass
	maxReadBytes = 1 << 20 // bytes of entities in one response; clients take 4 MB by default
)

// Read implements P4Runtime. Writes wait until everything has been read, but not until the client has taken it.
func (s *Server) Read(r *p4v1.ReadRequest, stream p4v1.P4Runtime_ReadServer) error {
	a, err := s.agent(r.GetDeviceId())
	if err != nil {
		return err
	}
	entities, errs, err := a.read(r)
	if err != nil {
		return err
	}
	resp, size := &p4v1.ReadResponse{}, 0
	for _, e := range entities {
		n := proto.Size(e)
		if size+n > maxReadBytes && len(resp.Entities) > 0 {
			if err := stream.Send(resp); err != nil {
				return err
			}
			resp, size = &p4v1.ReadResponse{}, 0
		}
		resp.Entities = append(resp.Entities, e)
		size += n
	}
	if len(resp.Entities) > 0 {
		if err := stream.Send(resp); err != nil {
			return err
		}
	}
	return batchStatus("read requests", errs, clientLimit(stream.Context()))
}

func (a *Agent) read(r *p4v1.ReadRequest) ([]*p4v1.Entity, []error, error) {
	a.requests.RLock()
	defer a.requests.RUnlock()
	a.stats.update(func(s *Stats) { s.Reads++ })
	st := a.current()
	if st == nil {
		return nil, nil, status.Errorf(codes.FailedPrecondition, "device %d has no forwarding pipeline; set one first", a.id)
	}
	rd := &reader{st: st, target: a.target}
	errs := make([]error, len(r.GetEntities()))
	for i, e := range r.GetEntities() {
		n := len(rd.out)
		if errs[i] = rd.read(e); errs[i] != nil {
			rd.out = rd.out[:n]
		}
	}
	return rd.out, errs, nil
}

// reader collects the entities that read requests select.
type reader struct {
	st     *state
	target Target
	now    int64 // switch time of the present piece
	out    []*p4v1.Entity
}

// do runs a piece of the work with exclusive access to the switch.
func (rd *reader) do(fn func() error) (err error) {
	rd.target.Do(func(_ *simpleswitch.Switch, now int64) {
		rd.now = now
		err = fn()
	})
	return err
}

func (rd *reader) read(e *p4v1.Entity) error {
	switch e := e.GetEntity().(type) {
	case *p4v1.Entity_TableEntry:
		return rd.tables(e.TableEntry)
	case *p4v1.Entity_ActionProfileMember:
		return rd.members(e.ActionProfileMember)
	case *p4v1.Entity_ActionProfileGroup:
		return rd.groups(e.ActionProfileGroup)
	case *p4v1.Entity_CounterEntry:
		return rd.counters(e.CounterEntry)
	case *p4v1.Entity_DirectCounterEntry:
		return rd.directCounters(e.DirectCounterEntry)
	case *p4v1.Entity_MeterEntry:
		return rd.meters(e.MeterEntry)
	case *p4v1.Entity_DirectMeterEntry:
		return rd.directMeters(e.DirectMeterEntry)
	case *p4v1.Entity_PacketReplicationEngineEntry:
		return rd.pre(e.PacketReplicationEngineEntry)
	case *p4v1.Entity_ValueSetEntry:
		return rd.valueSets(e.ValueSetEntry)
	case *p4v1.Entity_RegisterEntry:
		return rd.registers(e.RegisterEntry)
	case *p4v1.Entity_DigestEntry:
		return rd.digests(e.DigestEntry)
	case *p4v1.Entity_ExternEntry:
		if x := e.ExternEntry; x.GetExternTypeId() == 0 && x.GetExternId() == 0 {
			return nil // all instances of all types: there are none
		}
		return errorf(codes.Unimplemented, "v1model has no other externs than those with entities of their own")
	}
	return errEmptyEntity
}

// selected lists the tables of a request: one, or all of the program.
func (rd *reader) selected(id uint32) ([]*tableState, error) {
	if id != 0 {
		ts, err := rd.st.table(id)
		return []*tableState{ts}, err
	}
	var all []*tableState
	for _, ts := range rd.st.tableOrder {
		if ts.core != nil {
			all = append(all, ts)
		}
	}
	return all, nil
}

// tables reads table entries (specification, section "Wildcard Reads").
func (rd *reader) tables(m *p4v1.TableEntry) error {
	list, err := rd.selected(m.GetTableId())
	if err != nil {
		return err
	}
	for _, ts := range list {
		filter := m
		if m.GetTableId() == 0 {
			// No other filter applies; what is to be shown of an entry does.
			filter = &p4v1.TableEntry{MeterConfig: m.GetMeterConfig(), CounterData: m.GetCounterData(),
				MeterCounterData: m.GetMeterCounterData(), TimeSinceLastHit: m.GetTimeSinceLastHit()}
			if !ts.info.idle {
				filter.TimeSinceLastHit = nil
			}
		}
		if err := rd.table(ts, filter); err != nil {
			return wrap(err, "table %s", ts.info.name)
		}
	}
	return nil
}

func (rd *reader) table(ts *tableState, m *p4v1.TableEntry) error {
	if m.GetMeterCounterData() != nil && ts.core.DirectMeter != "" {
		return errorf(codes.Unimplemented, "meter_counter_data: meters keep no counters by colour")
	}
	if m.GetIsDefaultAction() {
		return rd.do(func() error { return rd.defaultEntry(ts, m) })
	}
	if m.GetTimeSinceLastHit() != nil && !ts.info.idle {
		return errorf(codes.InvalidArgument, "time_since_last_hit is set, but the table does not support idle timeouts (support_timeout)")
	}
	if a := m.GetAction(); a != nil {
		act, ok := a.GetType().(*p4v1.TableAction_Action)
		if !ok || ts.info.profile != nil {
			return errorf(codes.InvalidArgument, "only the action of a table without action profile can be a filter")
		}
		if _, err := ts.info.action(act.Action.GetActionId()); err != nil {
			return err
		}
	}
	list := ts.handles
	if len(m.GetMatch()) > 0 {
		key, err := ts.info.key.decode(m.GetMatch())
		if err != nil {
			return err
		}
		id := ts.info.key.identity(key, m.GetPriority())
		list = nil
		if e := ts.entries[id]; e != nil {
			list = append(list, e)
		} else if m.GetPriority() == 0 && ts.info.prioritised {
			const prefix = 4 // bytes of the priority in an identity
			for _, e := range ts.handles {
				if e != nil && e.identity[prefix:] == id[prefix:] {
					list = append(list, e)
				}
			}
		}
	}
	for chunk := range slices.Chunk(list, readChunk) {
		if err := rd.do(func() error {
			for _, e := range chunk {
				if e == nil || !selects(m, e) {
					continue
				}
				te, err := rd.entry(ts, e, m)
				if err != nil {
					return err
				}
				rd.out = append(rd.out, &p4v1.Entity{Entity: &p4v1.Entity_TableEntry{TableEntry: te}})
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// selects applies the filters other than the match.
func selects(m *p4v1.TableEntry, e *entry) bool {
	if m.GetPriority() != 0 && m.GetPriority() != e.priority {
		return false
	}
	if c := cookieOf(m); c != 0 && c != e.cookie {
		return false
	}
	if len(m.GetMetadata()) > 0 && string(m.GetMetadata()) != string(e.metadata) {
		return false
	}
	return m.GetAction() == nil || m.GetAction().GetAction().GetActionId() == e.action.GetAction().GetActionId()
}

// entry is the message of an entry, with the direct resources that the request asks for.
func (rd *reader) entry(ts *tableState, e *entry, m *p4v1.TableEntry) (*p4v1.TableEntry, error) {
	te := &p4v1.TableEntry{TableId: ts.info.id, Match: e.match, Action: e.action, Priority: e.priority,
		Metadata: e.metadata, IdleTimeoutNs: e.timeout, IsConst: e.isConst}
	setCookie(te, e.cookie)
	if m.GetCounterData() != nil && ts.core.DirectCounter != "" {
		c, err := rd.st.sw.DirectCounter(ts.info.name, e.handle)
		if err != nil {
			return nil, switchError(err)
		}
		te.CounterData = counterData(c)
	}
	if m.GetMeterConfig() != nil && ts.core.DirectMeter != "" {
		c, ok, err := rd.st.sw.DirectMeter(ts.info.name, e.handle)
		if err != nil {
			return nil, switchError(err)
		}
		if ok {
			te.MeterConfig = meterConfig(c)
		}
	}
	if m.GetTimeSinceLastHit() != nil {
		ce, err := rd.st.sw.Entry(ts.info.name, e.handle)
		if err != nil {
			return nil, switchError(err)
		}
		te.TimeSinceLastHit = &p4v1.TableEntry_IdleTimeout{ElapsedNs: max(0, rd.now-ce.LastHit)}
	}
	return te, nil
}

func (rd *reader) defaultEntry(ts *tableState, m *p4v1.TableEntry) error {
	switch {
	case len(m.GetMatch()) > 0:
		return errorf(codes.InvalidArgument, "is_default_action is set, so match must be empty")
	case m.GetPriority() != 0:
		return errorf(codes.InvalidArgument, "is_default_action is set, so priority must be zero")
	case m.GetIdleTimeoutNs() != 0 || m.GetTimeSinceLastHit() != nil:
		return errorf(codes.InvalidArgument, "a default entry has no idle timeout")
	}
	t, _, err := rd.st.sw.Default(ts.info.name)
	if err != nil {
		return switchError(err)
	}
	action, err := ts.actionOf(t)
	if err != nil {
		return err
	}
	e := &entry{cookie: ts.def.cookie, metadata: ts.def.metadata, action: action}
	if !selects(m, e) {
		return nil
	}
	te := &p4v1.TableEntry{TableId: ts.info.id, IsDefaultAction: true, Action: action, Metadata: e.metadata,
		IsConst: ts.core.ConstDefaultEntry || ts.info.msg.GetConstDefaultActionId() != 0}
	setCookie(te, e.cookie)
	rd.out = append(rd.out, &p4v1.Entity{Entity: &p4v1.Entity_TableEntry{TableEntry: te}})
	return nil
}

// eachProfile calls fn for the action profile with the given id, or for all with id 0, in the order of P4Info.
func (rd *reader) eachProfile(id uint32, fn func(id uint32, ps *profileState)) error {
	if id != 0 {
		if _, err := rd.st.profile(id); err != nil {
			return err
		}
	}
	for _, pi := range rd.st.info.profileOrder {
		if ps := rd.st.profiles[pi.id]; ps != nil && (id == 0 || id == pi.id) {
			fn(pi.id, ps)
		}
	}
	return nil
}

func (rd *reader) members(m *p4v1.ActionProfileMember) error {
	return rd.eachProfile(m.GetActionProfileId(), func(profile uint32, ps *profileState) {
		for _, id := range slices.Sorted(maps.Keys(ps.members)) {
			if m.GetMemberId() == 0 || m.GetMemberId() == id {
				rd.out = append(rd.out, &p4v1.Entity{Entity: &p4v1.Entity_ActionProfileMember{ActionProfileMember: &p4v1.ActionProfileMember{
					ActionProfileId: profile, MemberId: id, Action: ps.members[id].action}}})
			}
		}
	})
}

func (rd *reader) groups(m *p4v1.ActionProfileGroup) error {
	return rd.eachProfile(m.GetActionProfileId(), func(_ uint32, ps *profileState) {
		for _, id := range slices.Sorted(maps.Keys(ps.groups)) {
			if m.GetGroupId() == 0 || m.GetGroupId() == id {
				rd.out = append(rd.out, &p4v1.Entity{Entity: &p4v1.Entity_ActionProfileGroup{ActionProfileGroup: ps.groups[id].msg}})
			}
		}
	})
}

// arrays reads the cells of one array, or of all, with fn.
func (rd *reader) arrays(kind string, id uint32, index *p4v1.Index, infos map[uint32]*arrayInfo, order []*arrayInfo, sizes map[uint32]int,
	fn func(a *arrayInfo, i int) (*p4v1.Entity, error)) error {
	list := order
	if id != 0 {
		a, _, err := array(kind, id, infos, sizes)
		if err != nil {
			return err
		}
		list = []*arrayInfo{a}
	}
	for _, a := range list {
		size, ok := sizes[a.id]
		if !ok {
			continue
		}
		sel := index
		if id == 0 {
			sel = nil
		}
		from, to, err := cells(sel, size)
		if err != nil {
			return wrap(err, "%s %s", kind, a.name)
		}
		for ; from < to; from += readChunk {
			if err := rd.do(func() error {
				for i := from; i < min(to, from+readChunk); i++ {
					e, err := fn(a, i)
					if err != nil {
						return switchError(err)
					}
					rd.out = append(rd.out, e)
				}
				return nil
			}); err != nil {
				return wrap(err, "%s %s", kind, a.name)
			}
		}
	}
	return nil
}

func index(i int) *p4v1.Index { return &p4v1.Index{Index: int64(i)} }

func (rd *reader) counters(m *p4v1.CounterEntry) error {
	in := rd.st.info
	return rd.arrays("counter", m.GetCounterId(), m.GetIndex(), in.counters, in.counterOrder, rd.st.counters, func(a *arrayInfo, i int) (*p4v1.Entity, error) {
		c, err := rd.st.sw.Counter(a.name, i)
		return &p4v1.Entity{Entity: &p4v1.Entity_CounterEntry{CounterEntry: &p4v1.CounterEntry{CounterId: a.id, Index: index(i), Data: counterData(c)}}}, err
	})
}

func (rd *reader) meters(m *p4v1.MeterEntry) error {
	if m.GetCounterData() != nil {
		return errorf(codes.Unimplemented, "counter_data: meters keep no counters by colour")
	}
	in := rd.st.info
	return rd.arrays("meter", m.GetMeterId(), m.GetIndex(), in.meters, in.meterOrder, rd.st.meters, func(a *arrayInfo, i int) (*p4v1.Entity, error) {
		c, ok, err := rd.st.sw.Meter(a.name, i)
		e := &p4v1.MeterEntry{MeterId: a.id, Index: index(i)}
		if ok {
			e.Config = meterConfig(c)
		}
		return &p4v1.Entity{Entity: &p4v1.Entity_MeterEntry{MeterEntry: e}}, err
	})
}

func (rd *reader) registers(m *p4v1.RegisterEntry) error {
	in := rd.st.info
	return rd.arrays("register", m.GetRegisterId(), m.GetIndex(), in.registers, in.regOrder, rd.st.registers, func(a *arrayInfo, i int) (*p4v1.Entity, error) {
		v, err := rd.st.sw.Register(a.name, i)
		if err != nil {
			return nil, err
		}
		d, _ := a.elem.toData([][]byte{v})
		return &p4v1.Entity{Entity: &p4v1.Entity_RegisterEntry{RegisterEntry: &p4v1.RegisterEntry{RegisterId: a.id, Index: index(i), Data: d}}}, nil
	})
}

// direct reads the direct resource of one entry, or of all entries of one or all tables that have it.
func (rd *reader) direct(m *p4v1.TableEntry, kind string, has func(*tableState) bool, fn func(ts *tableState, e *entry, id *p4v1.TableEntry) (*p4v1.Entity, error)) error {
	list, err := rd.selected(m.GetTableId())
	if err != nil {
		return wrap(err, "%s", kind)
	}
	if m.GetTableId() != 0 && !has(list[0]) {
		return errorf(codes.InvalidArgument, "table %s has no %s", list[0].info.name, kind)
	}
	for _, ts := range list {
		if !has(ts) {
			continue
		}
		entries := ts.handles
		if len(m.GetMatch()) > 0 || m.GetIsDefaultAction() {
			_, e, err := rd.st.entryOf(m)
			if err != nil {
				return err
			}
			entries = []*entry{e}
		}
		for chunk := range slices.Chunk(entries, readChunk) {
			if err := rd.do(func() error {
				for _, e := range chunk {
					if e == nil || m.GetPriority() != 0 && m.GetPriority() != e.priority {
						continue
					}
					x, err := fn(ts, e, &p4v1.TableEntry{TableId: ts.info.id, Match: e.match, Priority: e.priority})
					if err != nil {
						return switchError(err)
					}
					rd.out = append(rd.out, x)
				}
				return nil
			}); err != nil {
				return wrap(err, "table %s", ts.info.name)
			}
		}
	}
	return nil
}

func (rd *reader) directCounters(m *p4v1.DirectCounterEntry) error {
	return rd.direct(m.GetTableEntry(), "direct counter", func(ts *tableState) bool { return ts.core.DirectCounter != "" },
		func(ts *tableState, e *entry, id *p4v1.TableEntry) (*p4v1.Entity, error) {
			c, err := rd.st.sw.DirectCounter(ts.info.name, e.handle)
			return &p4v1.Entity{Entity: &p4v1.Entity_DirectCounterEntry{DirectCounterEntry: &p4v1.DirectCounterEntry{TableEntry: id, Data: counterData(c)}}}, err
		})
}

func (rd *reader) directMeters(m *p4v1.DirectMeterEntry) error {
	if m.GetCounterData() != nil {
		return errorf(codes.Unimplemented, "direct meter: counter_data: meters keep no counters by colour")
	}
	return rd.direct(m.GetTableEntry(), "direct meter", func(ts *tableState) bool { return ts.core.DirectMeter != "" },
		func(ts *tableState, e *entry, id *p4v1.TableEntry) (*p4v1.Entity, error) {
			c, ok, err := rd.st.sw.DirectMeter(ts.info.name, e.handle)
			d := &p4v1.DirectMeterEntry{TableEntry: id}
			if ok {
				d.Config = meterConfig(c)
			}
			return &p4v1.Entity{Entity: &p4v1.Entity_DirectMeterEntry{DirectMeterEntry: d}}, err
		})
}

func (rd *reader) pre(m *p4v1.PacketReplicationEngineEntry) error {
	add := func(e *p4v1.PacketReplicationEngineEntry) {
		rd.out = append(rd.out, &p4v1.Entity{Entity: &p4v1.Entity_PacketReplicationEngineEntry{PacketReplicationEngineEntry: e}})
	}
	switch t := m.GetType().(type) {
	case *p4v1.PacketReplicationEngineEntry_MulticastGroupEntry:
		want := t.MulticastGroupEntry.GetMulticastGroupId()
		for _, id := range slices.Sorted(maps.Keys(rd.st.multicast)) {
			if want == 0 || want == id {
				add(&p4v1.PacketReplicationEngineEntry{Type: &p4v1.PacketReplicationEngineEntry_MulticastGroupEntry{MulticastGroupEntry: rd.st.multicast[id]}})
			}
		}
		return nil
	case *p4v1.PacketReplicationEngineEntry_CloneSessionEntry:
		want := t.CloneSessionEntry.GetSessionId()
		for _, id := range slices.Sorted(maps.Keys(rd.st.clones)) {
			if want == 0 || want == id {
				add(&p4v1.PacketReplicationEngineEntry{Type: &p4v1.PacketReplicationEngineEntry_CloneSessionEntry{CloneSessionEntry: rd.st.clones[id]}})
			}
		}
		return nil
	}
	return errorf(codes.InvalidArgument, "the packet replication engine entry is empty; it holds a multicast_group_entry or a clone_session_entry")
}

func (rd *reader) valueSets(m *p4v1.ValueSetEntry) error {
	if len(m.GetMembers()) > 0 {
		return errorf(codes.InvalidArgument, "value set: members must be empty in a read")
	}
	if id := m.GetValueSetId(); id != 0 {
		vs, err := rd.st.valueSet(id)
		if err != nil {
			return err
		}
		rd.out = append(rd.out, &p4v1.Entity{Entity: &p4v1.Entity_ValueSetEntry{ValueSetEntry: vs.entry()}})
		return nil
	}
	for _, vi := range rd.st.info.vsetOrder {
		if vs := rd.st.valueSets[vi.id]; vs != nil {
			rd.out = append(rd.out, &p4v1.Entity{Entity: &p4v1.Entity_ValueSetEntry{ValueSetEntry: vs.entry()}})
		}
	}
	return nil
}

func (rd *reader) digests(m *p4v1.DigestEntry) error {
	if id := m.GetDigestId(); id != 0 {
		if _, err := lookup("digest", id, rd.st.info.digests, func(d *digestInfo) string { return d.name }); err != nil {
			return err
		}
	}
	for _, di := range rd.st.info.digestOrder {
		ds := rd.st.digests[di.id]
		if ds == nil || ds.config == nil || m.GetDigestId() != 0 && m.GetDigestId() != di.id {
			continue
		}
		rd.out = append(rd.out, &p4v1.Entity{Entity: &p4v1.Entity_DigestEntry{DigestEntry: &p4v1.DigestEntry{DigestId: di.id, Config: ds.config}}})
	}
	return nil
}
