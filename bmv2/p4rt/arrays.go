package p4rt

import (
	"math"
	"slices"

	configv1 "github.com/p4lang/p4runtime/go/p4/config/v1"
	p4v1 "github.com/p4lang/p4runtime/go/p4/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"khop/bmv2/pipeline"
)

// checkCounter checks the values of a counter to be written.
func checkCounter(d *p4v1.CounterData) error {
	if d.GetByteCount() < 0 || d.GetPacketCount() < 0 {
		return errorf(codes.InvalidArgument, "the counter value (%d bytes, %d packets) must not be negative", d.GetByteCount(), d.GetPacketCount())
	}
	return nil
}

func coreCounter(d *p4v1.CounterData) pipeline.Counter {
	return pipeline.Counter{Packets: uint64(d.GetPacketCount()), Bytes: uint64(d.GetByteCount())}
}

func counterData(c pipeline.Counter) *p4v1.CounterData {
	return &p4v1.CounterData{ByteCount: clampInt(c.Bytes), PacketCount: clampInt(c.Packets)}
}

func clampInt(v uint64) int64 { return int64(min(v, math.MaxInt64)) }

// checkMeter checks a meter configuration against the meter's type (specification, section "MeterEntry &
// DirectMeterEntry").
func checkMeter(spec *configv1.MeterSpec, c *p4v1.MeterConfig) error {
	if c.GetCir() < 0 || c.GetCburst() < 0 || c.GetPir() < 0 || c.GetPburst() < 0 || c.GetEburst() < 0 {
		return errorf(codes.InvalidArgument, "rates and bursts of a meter must not be negative")
	}
	t := spec.GetType()
	if t != configv1.MeterSpec_TWO_RATE_THREE_COLOR && (c.GetPir() != c.GetCir() || c.GetPburst() != c.GetCburst()) {
		return errorf(codes.InvalidArgument, "the meter has a single rate, so pir must equal cir and pburst must equal cburst")
	}
	switch {
	case c.GetEburst() == 0:
		return nil
	case t == configv1.MeterSpec_SINGLE_RATE_THREE_COLOR:
		return errorf(codes.Unimplemented, "eburst: the switch has two-rate meters only")
	}
	return errorf(codes.InvalidArgument, "eburst is for single-rate three-colour meters only")
}

// coreMeter is a meter configuration of the switch; nil means unconfigured.
func coreMeter(c *p4v1.MeterConfig) *pipeline.MeterConfig {
	if c == nil {
		return nil
	}
	return &pipeline.MeterConfig{CIR: uint64(c.GetCir()), CBurst: uint64(c.GetCburst()), PIR: uint64(c.GetPir()), PBurst: uint64(c.GetPburst())}
}

func meterConfig(c pipeline.MeterConfig) *p4v1.MeterConfig {
	return &p4v1.MeterConfig{Cir: clampInt(c.CIR), Cburst: clampInt(c.CBurst), Pir: clampInt(c.PIR), Pburst: clampInt(c.PBurst)}
}

// array finds an array by id, with its size in the program.
func array(kind string, id uint32, infos map[uint32]*arrayInfo, sizes map[uint32]int) (*arrayInfo, int, error) {
	a, err := lookup(kind, id, infos, arrayName)
	if err != nil {
		return nil, 0, err
	}
	n, ok := sizes[id]
	if !ok {
		if kind == "register" {
			return nil, 0, errorf(codes.Unimplemented, "register %s holds no plain bit<W>, int<W>, bool or enum in the device config", a.name)
		}
		return nil, 0, errorf(codes.NotFound, "%s %s is in P4Info, but not in the device config", kind, a.name)
	}
	return a, n, nil
}

// cells is the range of indexes that an Index selects: one cell, or all when it is unset.
func cells(i *p4v1.Index, size int) (from, to int, err error) {
	switch {
	case i == nil:
		return 0, size, nil
	case i.GetIndex() < 0:
		return 0, 0, errorf(codes.InvalidArgument, "the index is %d; it must not be negative", i.GetIndex())
	case i.GetIndex() >= int64(size):
		return 0, 0, errorf(codes.OutOfRange, "the index is %d; the array has %d cells", i.GetIndex(), size)
	}
	return int(i.GetIndex()), int(i.GetIndex()) + 1, nil
}

func modifyOnly(typ p4v1.Update_Type) error {
	if typ != p4v1.Update_MODIFY {
		return errorf(codes.InvalidArgument, "the update type is %s; only MODIFY is valid", typ)
	}
	return nil
}

func (st *state) applyCounter(x *txn, typ p4v1.Update_Type, m *p4v1.CounterEntry) error {
	a, size, err := array("counter", m.GetCounterId(), st.info.counters, st.counters)
	if err != nil {
		return err
	}
	if err := st.counter(x, typ, m, a.name, size); err != nil {
		return wrap(err, "counter %s", a.name)
	}
	return nil
}

func (st *state) counter(x *txn, typ p4v1.Update_Type, m *p4v1.CounterEntry, name string, size int) error {
	if err := modifyOnly(typ); err != nil {
		return err
	}
	from, to, err := cells(m.GetIndex(), size)
	if err != nil {
		return err
	}
	if m.GetData() == nil {
		return nil
	}
	if err := checkCounter(m.Data); err != nil {
		return err
	}
	for i := from; i < to; i++ {
		before, err := st.sw.Counter(name, i)
		if err == nil {
			err = st.sw.SetCounter(name, i, coreCounter(m.Data))
		}
		if err != nil {
			return switchError(err)
		}
		if x.record {
			x.done(func() { _ = st.sw.SetCounter(name, i, before) })
		}
	}
	return nil
}

func (st *state) applyMeter(x *txn, typ p4v1.Update_Type, m *p4v1.MeterEntry) error {
	a, size, err := array("meter", m.GetMeterId(), st.info.meters, st.meters)
	if err != nil {
		return err
	}
	if err := st.meter(x, typ, m, a, size); err != nil {
		return wrap(err, "meter %s", a.name)
	}
	return nil
}

func (st *state) meter(x *txn, typ p4v1.Update_Type, m *p4v1.MeterEntry, a *arrayInfo, size int) error {
	if err := modifyOnly(typ); err != nil {
		return err
	}
	if m.GetCounterData() != nil {
		return errorf(codes.Unimplemented, "counter_data: meters keep no counters by colour")
	}
	from, to, err := cells(m.GetIndex(), size)
	if err != nil {
		return err
	}
	if m.GetConfig() != nil {
		if err := checkMeter(a.spec, m.Config); err != nil {
			return err
		}
	}
	for i := from; i < to; i++ {
		c, ok, err := st.sw.Meter(a.name, i)
		if err == nil {
			err = st.sw.SetMeter(a.name, i, coreMeter(m.GetConfig()), x.now)
		}
		if err != nil {
			return switchError(err)
		}
		if x.record {
			before := &c
			if !ok {
				before = nil
			}
			x.done(func() { _ = st.sw.SetMeter(a.name, i, before, x.now) })
		}
	}
	return nil
}

// entryOf finds the table entry that a direct resource belongs to.
func (st *state) entryOf(m *p4v1.TableEntry) (*tableState, *entry, error) {
	if m == nil {
		return nil, nil, errorf(codes.InvalidArgument, "table_entry is missing")
	}
	ts, err := st.table(m.GetTableId())
	if err != nil {
		return nil, nil, err
	}
	if m.GetIsDefaultAction() {
		return ts, nil, errorf(codes.Unimplemented, "table %s: a default entry has no direct counter or meter: they count hits only", ts.info.name)
	}
	key, err := ts.decodeKey(m)
	if err != nil {
		return ts, nil, wrap(err, "table %s", ts.info.name)
	}
	e := ts.entries[ts.info.key.identity(key, m.GetPriority())]
	if e == nil {
		return ts, nil, errorf(codes.NotFound, "table %s: there is no entry with this match key%s", ts.info.name, ts.withPriority(m))
	}
	return ts, e, nil
}

func (st *state) applyDirectCounter(x *txn, typ p4v1.Update_Type, m *p4v1.DirectCounterEntry) error {
	if err := modifyOnly(typ); err != nil {
		return wrap(err, "direct counter")
	}
	ts, e, err := st.entryOf(m.GetTableEntry())
	if err != nil {
		return wrap(err, "direct counter")
	}
	if ts.core.DirectCounter == "" {
		return errorf(codes.InvalidArgument, "table %s has no direct counter", ts.info.name)
	}
	if m.GetData() == nil {
		return nil
	}
	if err := checkCounter(m.Data); err != nil {
		return wrap(err, "table %s: direct counter", ts.info.name)
	}
	back := st.saveResources(ts, e)
	if err := st.sw.SetDirectCounter(ts.info.name, e.handle, coreCounter(m.Data)); err != nil {
		return switchError(err)
	}
	x.done(func() { back(x.now) })
	return nil
}

func (st *state) applyDirectMeter(x *txn, typ p4v1.Update_Type, m *p4v1.DirectMeterEntry) error {
	if err := modifyOnly(typ); err != nil {
		return wrap(err, "direct meter")
	}
	ts, e, err := st.entryOf(m.GetTableEntry())
	if err != nil {
		return wrap(err, "direct meter")
	}
	if ts.core.DirectMeter == "" || ts.info.directMeter == nil {
		return errorf(codes.InvalidArgument, "table %s has no direct meter", ts.info.name)
	}
	if m.GetCounterData() != nil {
		return errorf(codes.Unimplemented, "table %s: direct meter: counter_data: meters keep no counters by colour", ts.info.name)
	}
	if m.GetConfig() != nil {
		if err := checkMeter(ts.info.directMeter.spec, m.Config); err != nil {
			return wrap(err, "table %s: direct meter", ts.info.name)
		}
	}
	back := st.saveResources(ts, e)
	if err := st.sw.SetDirectMeter(ts.info.name, e.handle, coreMeter(m.GetConfig()), x.now); err != nil {
		return switchError(err)
	}
	x.done(func() { back(x.now) })
	return nil
}

// applyRegister writes one cell of a register, or all when the index is unset.
func (st *state) applyRegister(x *txn, typ p4v1.Update_Type, m *p4v1.RegisterEntry) error {
	a, size, err := array("register", m.GetRegisterId(), st.info.registers, st.registers)
	if err != nil {
		return err
	}
	if err := st.register(x, typ, m, a, size); err != nil {
		return wrap(err, "register %s", a.name)
	}
	return nil
}

func (st *state) register(x *txn, typ p4v1.Update_Type, m *p4v1.RegisterEntry, a *arrayInfo, size int) error {
	if err := modifyOnly(typ); err != nil {
		return err
	}
	from, to, err := cells(m.GetIndex(), size)
	if err != nil {
		return err
	}
	if m.GetData() == nil {
		return errorf(codes.InvalidArgument, "the data is missing")
	}
	v, err := a.elem.fromData(nil, m.Data)
	if err != nil {
		return err
	}
	for i := from; i < to; i++ {
		before, err := st.sw.Register(a.name, i)
		if err == nil {
			before = slices.Clone(before)
			err = st.sw.SetRegister(a.name, i, v[0])
		}
		if err != nil {
			return switchError(err)
		}
		if x.record {
			x.done(func() { _ = st.sw.SetRegister(a.name, i, before) })
		}
	}
	return nil
}

// valueSetState is a parser value set as it was written.
type valueSetState struct {
	info    *valueSetInfo
	width   int // bits of a member in the program
	members []*p4v1.ValueSetMember
}

func (st *state) valueSet(id uint32) (*valueSetState, error) {
	vi, err := lookup("value set", id, st.info.valueSets, func(v *valueSetInfo) string { return v.name })
	if err != nil {
		return nil, err
	}
	vs := st.valueSets[vi.id]
	if vs == nil {
		return nil, errorf(codes.NotFound, "value set %s is in P4Info, but not in the device config", vi.name)
	}
	return vs, nil
}

// applyValueSet replaces the members of a value set (specification, section "ValueSetEntry").
func (st *state) applyValueSet(x *txn, typ p4v1.Update_Type, m *p4v1.ValueSetEntry) error {
	vs, err := st.valueSet(m.GetValueSetId())
	if err != nil {
		return err
	}
	if err := st.setMembers(x, vs, typ, m); err != nil {
		return wrap(err, "value set %s", vs.info.name)
	}
	return nil
}

func (st *state) setMembers(x *txn, vs *valueSetState, typ p4v1.Update_Type, m *p4v1.ValueSetEntry) error {
	if err := modifyOnly(typ); err != nil {
		return err
	}
	if len(m.GetMembers()) > vs.info.size {
		return errorf(codes.ResourceExhausted, "%d members are given; the size is %d", len(m.GetMembers()), vs.info.size)
	}
	width := 0
	for _, f := range vs.info.key.fields {
		if f.kind != configv1.MatchField_EXACT {
			return errorf(codes.Unimplemented, "match field %s is %s; the switch matches value sets exactly only", f.name, kindName(f.kind))
		}
		width += f.width
	}
	if width != vs.width {
		return errorf(codes.FailedPrecondition, "a member has %d bits in P4Info and %d in the device config", width, vs.width)
	}
	seen := map[string]int{}
	var raw [][]byte
	var canon []*p4v1.ValueSetMember
	for i, mem := range m.GetMembers() {
		key, err := vs.info.key.decode(mem.GetMatch())
		if err != nil {
			return wrap(err, "member %d", i)
		}
		// The value stands at the low end of whole bytes.
		v := make([]byte, byteLen(width))
		at := 8*len(v) - width
		for j, f := range vs.info.key.fields {
			putBits(v, at, f.width, key[j].value)
			at += f.width
		}
		if j, dup := seen[string(v)]; dup {
			return errorf(codes.AlreadyExists, "members %d and %d are the same", j, i)
		}
		seen[string(v)] = i
		raw = append(raw, v)
		canon = append(canon, &p4v1.ValueSetMember{Match: vs.info.key.encode(key)})
	}
	before, err := st.sw.ValueSet(vs.info.name)
	if err == nil {
		err = st.sw.SetValueSet(vs.info.name, raw)
	}
	if err != nil {
		return switchError(err)
	}
	old := vs.members
	vs.members = canon
	x.done(func() {
		_ = st.sw.SetValueSet(vs.info.name, before)
		vs.members = old
	})
	return nil
}

// entry is the message of a value set.
func (vs *valueSetState) entry() *p4v1.ValueSetEntry {
	e := &p4v1.ValueSetEntry{ValueSetId: vs.info.id}
	for _, m := range vs.members {
		e.Members = append(e.Members, proto.CloneOf(m))
	}
	return e
}
