package pipeline

import (
	"bytes"
	"fmt"
	"slices"
)

type counterProg struct {
	info  CounterInfo
	index int
}

type meterProg struct {
	info   MeterInfo
	index  int
	target [2]string
}

func checkIndex(what, name string, index, size int) error {
	if index < 0 || index >= size {
		return fmt.Errorf("%s %q: %w: index %d, want 0 to %d", what, name, ErrInvalid, index, size-1)
	}
	return nil
}

// Counters lists the counter arrays.
func (in *Instance) Counters() []CounterInfo {
	out := make([]CounterInfo, len(in.prog.counters))
	for i, c := range in.prog.counters {
		out[i] = c.info
	}
	return out
}

func (in *Instance) counter(name string) (*counterProg, error) {
	for _, c := range in.prog.counters {
		if c.info.Name == name {
			return c, nil
		}
	}
	return nil, fmt.Errorf("counter %q: %w", name, ErrNotFound)
}

func (in *Instance) counterCell(name string, index int) (*Counter, error) {
	c, err := in.counter(name)
	if err != nil {
		return nil, err
	}
	if c.info.Table != "" {
		return nil, fmt.Errorf("counter %q: %w: it is direct, its cells belong to the entries of table %q", name, ErrInvalid,
			c.info.Table)
	}
	if err := checkIndex("counter", name, index, c.info.Size); err != nil {
		return nil, err
	}
	return &in.counters[c.index][index], nil
}

// Counter reads a cell.
func (in *Instance) Counter(name string, index int) (Counter, error) {
	c, err := in.counterCell(name, index)
	if err != nil {
		return Counter{}, err
	}
	return *c, nil
}

// SetCounter writes a cell.
func (in *Instance) SetCounter(name string, index int, v Counter) error {
	c, err := in.counterCell(name, index)
	if err == nil {
		*c = v
	}
	return err
}

// ResetCounters sets all cells to zero.
func (in *Instance) ResetCounters(name string) error {
	c, err := in.counter(name)
	if err != nil {
		return err
	}
	if c.info.Table == "" {
		clear(in.counters[c.index])
		return nil
	}
	ts, err := in.table(c.info.Table)
	if err != nil {
		return err
	}
	for _, e := range ts.entries {
		if e != nil {
			e.counter = Counter{}
		}
	}
	return nil
}

func (in *Instance) direct(name string, h Handle, what string, has func(*TableInfo) string) (*entry, error) {
	ts, err := in.table(name)
	if err != nil {
		return nil, err
	}
	if has(&ts.prog.info) == "" {
		return nil, fmt.Errorf("table %q: %w: it has no direct %s", name, ErrInvalid, what)
	}
	return ts.at(h)
}

// DirectCounter reads the counter of an entry.
func (in *Instance) DirectCounter(table string, h Handle) (Counter, error) {
	e, err := in.direct(table, h, "counter", func(t *TableInfo) string { return t.DirectCounter })
	if err != nil {
		return Counter{}, err
	}
	return e.counter, nil
}

// SetDirectCounter writes the counter of an entry.
func (in *Instance) SetDirectCounter(table string, h Handle, v Counter) error {
	e, err := in.direct(table, h, "counter", func(t *TableInfo) string { return t.DirectCounter })
	if err == nil {
		e.counter = v
	}
	return err
}

// Meters lists the meter arrays.
func (in *Instance) Meters() []MeterInfo {
	out := make([]MeterInfo, len(in.prog.meters))
	for i, m := range in.prog.meters {
		out[i] = m.info
	}
	return out
}

func (in *Instance) meterAt(name string, index int) (*meter, error) {
	for _, m := range in.prog.meters {
		if m.info.Name != name {
			continue
		}
		if m.info.Table != "" {
			return nil, fmt.Errorf("meter %q: %w: it is direct, its cells belong to the entries of table %q", name, ErrInvalid,
				m.info.Table)
		}
		if err := checkIndex("meter", name, index, m.info.Size); err != nil {
			return nil, err
		}
		return &in.meters[m.index][index], nil
	}
	return nil, fmt.Errorf("meter %q: %w", name, ErrNotFound)
}

func checkMeter(c *MeterConfig) error {
	if c != nil && c.CIR > c.PIR {
		return fmt.Errorf("%w: committed rate %d is above the peak rate %d", ErrInvalid, c.CIR, c.PIR)
	}
	return nil
}

// Meter reads a cell.
func (in *Instance) Meter(name string, index int) (MeterConfig, bool, error) {
	m, err := in.meterAt(name, index)
	if err != nil {
		return MeterConfig{}, false, err
	}
	return m.cfg, m.configured, nil
}

// SetMeter configures a cell.
func (in *Instance) SetMeter(name string, index int, c *MeterConfig, now int64) error {
	m, err := in.meterAt(name, index)
	if err != nil {
		return err
	}
	if err := checkMeter(c); err != nil {
		return fmt.Errorf("meter %q: %w", name, err)
	}
	m.configure(c, now)
	return nil
}

// DirectMeter reads the meter of an entry.
func (in *Instance) DirectMeter(table string, h Handle) (MeterConfig, bool, error) {
	e, err := in.direct(table, h, "meter", func(t *TableInfo) string { return t.DirectMeter })
	if err != nil || e.meter == nil {
		return MeterConfig{}, false, err
	}
	return e.meter.cfg, e.meter.configured, nil
}

// SetDirectMeter configures the meter of an entry.
func (in *Instance) SetDirectMeter(table string, h Handle, c *MeterConfig, now int64) error {
	e, err := in.direct(table, h, "meter", func(t *TableInfo) string { return t.DirectMeter })
	if err != nil {
		return err
	}
	if err := checkMeter(c); err != nil {
		return fmt.Errorf("table %q: %w", table, err)
	}
	e.meter = nil
	if c != nil {
		e.meter = &meter{}
		e.meter.configure(c, now)
	}
	return nil
}

// Registers lists the register arrays.
func (in *Instance) Registers() []RegisterInfo {
	out := make([]RegisterInfo, len(in.prog.registers))
	for i, r := range in.prog.registers {
		out[i] = r.info
	}
	return out
}

func (in *Instance) register(name string) (*register, error) {
	var names []string
	for _, r := range in.prog.registers {
		if r.info.Name == name {
			return r, nil
		}
		names = append(names, r.info.Name)
	}
	return nil, fmt.Errorf("register %q: %w (registers: %q)", name, ErrNotFound, names)
}

func (in *Instance) registerCell(name string, index int) (*register, []uint64, error) {
	r, err := in.register(name)
	if err != nil {
		return nil, nil, err
	}
	if err := checkIndex("register", name, index, r.info.Size); err != nil {
		return nil, nil, err
	}
	return r, in.registers[r.index][index*r.words : (index+1)*r.words], nil
}

// Register reads a cell.
func (in *Instance) Register(name string, index int) ([]byte, error) {
	r, w, err := in.registerCell(name, index)
	if err != nil {
		return nil, err
	}
	return appendBytes(nil, w, r.info.Width), nil
}

// RegisterUint reads a cell of at most 64 bits.
func (in *Instance) RegisterUint(name string, index int) (uint64, error) {
	r, w, err := in.registerCell(name, index)
	if err != nil {
		return 0, err
	}
	if r.words > 1 {
		return 0, fmt.Errorf("register %q: %w: its cells have %d bits", name, ErrInvalid, r.info.Width)
	}
	return w[0], nil
}

// SetRegister writes a cell.
func (in *Instance) SetRegister(name string, index int, value []byte) error {
	r, w, err := in.registerCell(name, index)
	if err != nil {
		return err
	}
	t := make([]uint64, r.words)
	if !setBytes(t, value, r.info.Width) {
		return fmt.Errorf("register %q: %w: value does not fit in %d bits", name, ErrInvalid, r.info.Width)
	}
	copy(w, t)
	return nil
}

// ResetRegister sets all cells to zero.
func (in *Instance) ResetRegister(name string) error {
	r, err := in.register(name)
	if err == nil {
		clear(in.registers[r.index])
	}
	return err
}

// ValueSets lists the parser value sets.
func (in *Instance) ValueSets() []ValueSetInfo { return in.prog.valueSets }

func (in *Instance) valueSet(name string) (int, error) {
	for i := range in.prog.valueSets {
		if in.prog.valueSets[i].Name == name {
			return i, nil
		}
	}
	return 0, fmt.Errorf("value set %q: %w", name, ErrNotFound)
}

// ValueSet reads the members of a value set.
func (in *Instance) ValueSet(name string) ([][]byte, error) {
	i, err := in.valueSet(name)
	if err != nil {
		return nil, err
	}
	var out [][]byte
	for _, m := range in.setMembers[i] {
		out = append(out, bytes.Clone(m))
	}
	return out, nil
}

// SetValueSet replaces the members of a value set.
func (in *Instance) SetValueSet(name string, members [][]byte) error {
	i, err := in.valueSet(name)
	if err != nil {
		return err
	}
	info := &in.prog.valueSets[i]
	var set [][]byte
	for j, m := range members {
		w := make([]uint64, max(1, words(info.Width)))
		if !setBytes(w, m, info.Width) {
			return fmt.Errorf("value set %q: %w: member %d does not fit in %d bits", name, ErrInvalid, j, info.Width)
		}
		set = append(set, appendBytes(nil, w, info.Width))
	}
	slices.SortFunc(set, bytes.Compare)
	set = slices.CompactFunc(set, bytes.Equal)
	in.setMembers[i] = set
	for u, use := range in.prog.setUses {
		if use.set != i {
			continue
		}
		in.setKeys[u] = nil
		for _, m := range set {
			in.setKeys[u] = append(in.setKeys[u], padFields(m, info.Width, use.fields))
		}
	}
	return nil
}

// padFields turns the concatenated fields of a value set member into a transition key, where each field starts at a byte.
func padFields(member []byte, width int, fields []int) []uint64 {
	padded := 0
	for _, f := range fields {
		padded += (f + 7) / 8 * 8
	}
	n := max(1, words(width), words(padded))
	w, key := make([]uint64, n+1), make([]uint64, n)
	setBytes(w, member, width)
	at := uint64(0)
	for k := len(fields) - 1; k >= 0; k-- { // take the fields off the low end
		f := slices.Clone(w[:n])
		truncate(f, fields[k])
		shlWords(f, at)
		for x := range key {
			key[x] |= f[x]
		}
		shrWords(w, uint64(fields[k]))
		at += uint64((fields[k] + 7) / 8 * 8)
	}
	return key[:max(1, words(padded))]
}
