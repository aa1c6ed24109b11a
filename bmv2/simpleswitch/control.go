package simpleswitch

import "khop/bmv2/pipeline"

// The control API. Objects are named as in the bmv2 JSON (which is the P4 control-plane name). Slices and structs that
// describe the program (Tables, Actions, ...) are shared and must not be modified. Errors wrap the sentinels of package
// pipeline. A switch without a program has no objects: everything is ErrNotFound.

// Tables lists the tables of the program, in the order of the JSON.
func (s *Switch) Tables() []pipeline.TableInfo { return s.in.Tables() }

// Table describes one table.
func (s *Switch) Table(name string) (*pipeline.TableInfo, error) { return s.in.Table(name) }

// InsertEntry adds an entry. LastHit starts at now.
func (s *Switch) InsertEntry(table string, e pipeline.Entry, now int64) (pipeline.Handle, error) {
	return s.in.InsertEntry(table, e, now)
}

// ModifyEntry replaces target and idle timeout of an entry; the match stays. Direct counters and meters are kept.
func (s *Switch) ModifyEntry(table string, h pipeline.Handle, t pipeline.Target, idleTimeout, now int64) error {
	return s.in.ModifyEntry(table, h, t, idleTimeout, now)
}

// DeleteEntry removes an entry with its direct counter and meter.
func (s *Switch) DeleteEntry(table string, h pipeline.Handle) error {
	return s.in.DeleteEntry(table, h)
}

// FindEntry looks an entry up by its match (and priority, if the table has priorities).
func (s *Switch) FindEntry(table string, match []pipeline.FieldMatch, priority int) (pipeline.Handle, error) {
	return s.in.FindEntry(table, match, priority)
}

// Entry reads one entry.
func (s *Switch) Entry(table string, h pipeline.Handle) (pipeline.Entry, error) {
	return s.in.Entry(table, h)
}

// EachEntry calls fn for each entry by ascending handle, until it returns false.
func (s *Switch) EachEntry(table string, fn func(pipeline.Entry) bool) error {
	return s.in.EachEntry(table, fn)
}

// EntryCount returns the number of entries of a table.
func (s *Switch) EntryCount(table string) (int, error) { return s.in.EntryCount(table) }

// ClearTable removes all entries of a table that may be modified; the default entry stays.
func (s *Switch) ClearTable(table string) error { return s.in.ClearTable(table) }

// SetDefault replaces the default entry.
func (s *Switch) SetDefault(table string, t pipeline.Target) error { return s.in.SetDefault(table, t) }

// ResetDefault restores the default entry that the program came with.
func (s *Switch) ResetDefault(table string) error { return s.in.ResetDefault(table) }

// Default reads the default entry. initial reports whether it is the one the program came with.
func (s *Switch) Default(table string) (t pipeline.Target, initial bool, err error) {
	return s.in.Default(table)
}

// IdleEntries calls fn for each entry that has an idle timeout and was not hit for at least that long, by table and
// ascending handle. fn must not write to tables.
func (s *Switch) IdleEntries(now int64, fn func(table string, h pipeline.Handle, e pipeline.Entry)) {
	s.in.IdleEntries(now, fn)
}

// Actions lists all actions of the program.
func (s *Switch) Actions() []pipeline.ActionInfo { return s.in.Actions() }

// Profiles lists the action profiles.
func (s *Switch) Profiles() []pipeline.ProfileInfo { return s.in.Profiles() }

// AddMember adds a member to an action profile.
func (s *Switch) AddMember(profile string, c pipeline.ActionCall) (pipeline.Handle, error) {
	return s.in.AddMember(profile, c)
}

// ModifyMember replaces a member's action.
func (s *Switch) ModifyMember(profile string, h pipeline.Handle, c pipeline.ActionCall) error {
	return s.in.ModifyMember(profile, h, c)
}

// DeleteMember removes a member that no group and no entry refers to (else ErrInUse).
func (s *Switch) DeleteMember(profile string, h pipeline.Handle) error {
	return s.in.DeleteMember(profile, h)
}

// Member reads one member.
func (s *Switch) Member(profile string, h pipeline.Handle) (pipeline.Member, error) {
	return s.in.Member(profile, h)
}

// EachMember calls fn for each member by ascending handle, until it returns false.
func (s *Switch) EachMember(profile string, fn func(pipeline.Member) bool) error {
	return s.in.EachMember(profile, fn)
}

// AddGroup creates a group of a profile with a selector.
func (s *Switch) AddGroup(profile string, members []pipeline.GroupMember) (pipeline.Handle, error) {
	return s.in.AddGroup(profile, members)
}

// ModifyGroup replaces the members of a group.
func (s *Switch) ModifyGroup(profile string, h pipeline.Handle, members []pipeline.GroupMember) error {
	return s.in.ModifyGroup(profile, h, members)
}

// DeleteGroup removes a group that no entry refers to (else ErrInUse).
func (s *Switch) DeleteGroup(profile string, h pipeline.Handle) error {
	return s.in.DeleteGroup(profile, h)
}

// Group reads one group.
func (s *Switch) Group(profile string, h pipeline.Handle) (pipeline.Group, error) {
	return s.in.Group(profile, h)
}

// EachGroup calls fn for each group by ascending handle, until it returns false.
func (s *Switch) EachGroup(profile string, fn func(pipeline.Group) bool) error {
	return s.in.EachGroup(profile, fn)
}

// Counters lists the counter arrays, direct ones included.
func (s *Switch) Counters() []pipeline.CounterInfo { return s.in.Counters() }

// Counter reads a cell of an indirect counter.
func (s *Switch) Counter(name string, index int) (pipeline.Counter, error) {
	return s.in.Counter(name, index)
}

// SetCounter writes a cell of an indirect counter.
func (s *Switch) SetCounter(name string, index int, c pipeline.Counter) error {
	return s.in.SetCounter(name, index, c)
}

// ResetCounters sets all cells of a counter, direct or indirect, to zero.
func (s *Switch) ResetCounters(name string) error { return s.in.ResetCounters(name) }

// DirectCounter reads the counter of an entry.
func (s *Switch) DirectCounter(table string, h pipeline.Handle) (pipeline.Counter, error) {
	return s.in.DirectCounter(table, h)
}

// SetDirectCounter writes the counter of an entry.
func (s *Switch) SetDirectCounter(table string, h pipeline.Handle, c pipeline.Counter) error {
	return s.in.SetDirectCounter(table, h, c)
}

// Meters lists the meter arrays, direct ones included.
func (s *Switch) Meters() []pipeline.MeterInfo { return s.in.Meters() }

// Meter reads a cell of an indirect meter; ok is false when it is not configured (everything is green).
func (s *Switch) Meter(name string, index int) (c pipeline.MeterConfig, ok bool, err error) {
	return s.in.Meter(name, index)
}

// SetMeter configures a cell of an indirect meter and fills its buckets; nil resets it to unconfigured.
func (s *Switch) SetMeter(name string, index int, c *pipeline.MeterConfig, now int64) error {
	return s.in.SetMeter(name, index, c, now)
}

// DirectMeter reads the meter of an entry.
func (s *Switch) DirectMeter(table string, h pipeline.Handle) (c pipeline.MeterConfig, ok bool, err error) {
	return s.in.DirectMeter(table, h)
}

// SetDirectMeter configures the meter of an entry and fills its buckets; nil resets it to unconfigured.
func (s *Switch) SetDirectMeter(table string, h pipeline.Handle, c *pipeline.MeterConfig, now int64) error {
	return s.in.SetDirectMeter(table, h, c, now)
}

// Registers lists the register arrays.
func (s *Switch) Registers() []pipeline.RegisterInfo { return s.in.Registers() }

// Register reads a cell, big-endian, in the register's full width rounded up to bytes.
func (s *Switch) Register(name string, index int) ([]byte, error) { return s.in.Register(name, index) }

// RegisterUint reads a cell of a register of at most 64 bits.
func (s *Switch) RegisterUint(name string, index int) (uint64, error) {
	return s.in.RegisterUint(name, index)
}

// SetRegister writes a cell, big-endian.
func (s *Switch) SetRegister(name string, index int, value []byte) error {
	return s.in.SetRegister(name, index, value)
}

// ResetRegister sets all cells of a register to zero.
func (s *Switch) ResetRegister(name string) error { return s.in.ResetRegister(name) }

// ValueSets lists the parser value sets.
func (s *Switch) ValueSets() []pipeline.ValueSetInfo { return s.in.ValueSets() }

// ValueSet reads the members of a value set, each big-endian in (Width+7)/8 bytes, ascending.
func (s *Switch) ValueSet(name string) ([][]byte, error) { return s.in.ValueSet(name) }

// SetValueSet replaces the members of a value set. Each is Width bits, big-endian, without padding between fields.
func (s *Switch) SetValueSet(name string, members [][]byte) error {
	return s.in.SetValueSet(name, members)
}

// Digests lists the digests (learn lists).
func (s *Switch) Digests() []pipeline.DigestInfo { return s.in.Digests() }
