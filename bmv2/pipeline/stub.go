package pipeline

import "khop/bmv2/config"

type Program struct{}
type Tracer interface{}
type Instance struct{}

func Link(c *config.Config) (*Program, error)                                     { return &Program{}, nil }
func NewInstance(p *Program) *Instance                                            { return &Instance{} }
func (in *Instance) Tables() []TableInfo                                          { panic("soon") }
func (in *Instance) Table(name string) (*TableInfo, error)                        { panic("soon") }
func (in *Instance) InsertEntry(table string, e Entry, now int64) (Handle, error) { panic("soon") }
func (in *Instance) ModifyEntry(table string, h Handle, t Target, idleTimeout, now int64) error {
	panic("soon")
}
func (in *Instance) DeleteEntry(table string, h Handle) error { panic("soon") }
func (in *Instance) FindEntry(table string, match []FieldMatch, priority int) (Handle, error) {
	panic("soon")
}
func (in *Instance) Entry(table string, h Handle) (Entry, error)                       { panic("soon") }
func (in *Instance) EachEntry(table string, fn func(Entry) bool) error                 { panic("soon") }
func (in *Instance) EntryCount(table string) (int, error)                              { panic("soon") }
func (in *Instance) ClearTable(table string) error                                     { panic("soon") }
func (in *Instance) SetDefault(table string, t Target) error                           { panic("soon") }
func (in *Instance) ResetDefault(table string) error                                   { panic("soon") }
func (in *Instance) Default(table string) (t Target, initial bool, err error)          { panic("soon") }
func (in *Instance) IdleEntries(now int64, fn func(table string, h Handle, e Entry))   { panic("soon") }
func (in *Instance) Actions() []ActionInfo                                             { panic("soon") }
func (in *Instance) Profiles() []ProfileInfo                                           { panic("soon") }
func (in *Instance) AddMember(profile string, c ActionCall) (Handle, error)            { panic("soon") }
func (in *Instance) ModifyMember(profile string, h Handle, c ActionCall) error         { panic("soon") }
func (in *Instance) DeleteMember(profile string, h Handle) error                       { panic("soon") }
func (in *Instance) Member(profile string, h Handle) (Member, error)                   { panic("soon") }
func (in *Instance) EachMember(profile string, fn func(Member) bool) error             { panic("soon") }
func (in *Instance) AddGroup(profile string, members []GroupMember) (Handle, error)    { panic("soon") }
func (in *Instance) ModifyGroup(profile string, h Handle, members []GroupMember) error { panic("soon") }
func (in *Instance) DeleteGroup(profile string, h Handle) error                        { panic("soon") }
func (in *Instance) Group(profile string, h Handle) (Group, error)                     { panic("soon") }
func (in *Instance) EachGroup(profile string, fn func(Group) bool) error               { panic("soon") }
func (in *Instance) Counters() []CounterInfo                                           { panic("soon") }
func (in *Instance) Counter(name string, index int) (Counter, error)                   { panic("soon") }
func (in *Instance) SetCounter(name string, index int, c Counter) error                { panic("soon") }
func (in *Instance) ResetCounters(name string) error                                   { panic("soon") }
func (in *Instance) DirectCounter(table string, h Handle) (Counter, error)             { panic("soon") }
func (in *Instance) SetDirectCounter(table string, h Handle, c Counter) error          { panic("soon") }
func (in *Instance) Meters() []MeterInfo                                               { panic("soon") }
func (in *Instance) Meter(name string, index int) (c MeterConfig, ok bool, err error)  { panic("soon") }
func (in *Instance) SetMeter(name string, index int, c *MeterConfig, now int64) error  { panic("soon") }
func (in *Instance) DirectMeter(table string, h Handle) (c MeterConfig, ok bool, err error) {
	panic("soon")
}
func (in *Instance) SetDirectMeter(table string, h Handle, c *MeterConfig, now int64) error {
	panic("soon")
}
func (in *Instance) Registers() []RegisterInfo                              { panic("soon") }
func (in *Instance) Register(name string, index int) ([]byte, error)        { panic("soon") }
func (in *Instance) RegisterUint(name string, index int) (uint64, error)    { panic("soon") }
func (in *Instance) SetRegister(name string, index int, value []byte) error { panic("soon") }
func (in *Instance) ResetRegister(name string) error                        { panic("soon") }
func (in *Instance) ValueSets() []ValueSetInfo                              { panic("soon") }
func (in *Instance) ValueSet(name string) ([][]byte, error)                 { panic("soon") }
func (in *Instance) SetValueSet(name string, members [][]byte) error        { panic("soon") }
func (in *Instance) Digests() []DigestInfo                                  { panic("soon") }
