package controlplane

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	p4configv1 "github.com/p4lang/p4runtime/go/p4/config/v1"
	p4v1 "github.com/p4lang/p4runtime/go/p4/v1"

	"khop/codegen"
	"khop/fabric"
)

// Match is the value of one key of an entry, big-endian in whole bytes; PrefixLen counts for LPM keys only.
type Match struct {
	Value     []byte
	PrefixLen int
}

// Entry is a table entry, or the default action of a table (then it has no matches).
type Entry struct {
	Table   string
	Default bool
	Match   []Match // in the order of the table's keys
	Action  string  // "" in a deletion
	Params  [][]byte
}

// key identifies an entry within a switch.
func (e *Entry) key() string {
	var b strings.Builder
	b.WriteString(e.Table)
	if e.Default {
		b.WriteString("\x00default")
	}
	for _, m := range e.Match {
		fmt.Fprintf(&b, "\x00%x/%d", m.Value, m.PrefixLen)
	}
	return b.String()
}

func (e *Entry) sameAction(o *Entry) bool {
	return e.Action == o.Action && slices.EqualFunc(e.Params, o.Params, bytes.Equal)
}

// num returns v as a big-endian bit string of bits bits in whole bytes.
func num(v uint64, bits int) []byte {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], v)
	n := (bits + 7) / 8
	if n > 8 {
		return append(make([]byte, n-8), b[:]...)
	}
	return bytes.Clone(b[8-n:])
}

// canonical strips leading zero bytes (P4Runtime specification, section "Bytestrings").
func canonical(b []byte) []byte {
	for len(b) > 1 && b[0] == 0 {
		b = b[1:]
	}
	return b
}

// padded is the inverse of canonical: b in exactly the bytes that bits need.
func padded(b []byte, bits int) []byte {
	n := (bits + 7) / 8
	if len(b) >= n {
		return b[len(b)-n:]
	}
	return append(make([]byte, n-len(b)), b...)
}

// tableIDs are the ids of a table, its keys and its actions in a P4Info.
type tableIDs struct {
	table   codegen.Table
	id      uint32
	keys    []uint32
	actions map[string]actionIDs
}

type actionIDs struct {
	action codegen.Action
	id     uint32
	params []uint32
}

type digestIDs struct {
	digest codegen.DigestType
	id     uint32
}

// Codec translates between names of a role's program and the ids of its P4Info.
type Codec struct {
	tables      []tableIDs // in the order of codegen.TablesOf
	byName      map[string]*tableIDs
	byID        map[uint32]*tableIDs
	actionNames map[uint32]string
	digests     []digestIDs
	registers   map[string]uint32
	counters    map[string]uint32
	packetOut   []uint32 // ids of the fields of codegen.PacketOut
	packetIn    map[uint32]string
}

// NewCodec checks that a P4Info has all that the controller needs for a role, and notes the ids.
func NewCodec(f *fabric.Fabric, role fabric.Role, info *p4configv1.P4Info) (*Codec, error) {
	c := &Codec{
		byName: map[string]*tableIDs{}, byID: map[uint32]*tableIDs{}, actionNames: map[uint32]string{},
		registers: map[string]uint32{}, counters: map[string]uint32{}, packetIn: map[uint32]string{},
	}
	missing := func(kind, name string) error {
		return fmt.Errorf("the P4Info of the %s program has no %s %q; was the program generated from another spec?", role, kind, name)
	}
	tables := map[string]*p4configv1.Table{}
	for _, t := range info.GetTables() {
		tables[t.GetPreamble().GetName()] = t
	}
	actions := map[string]*p4configv1.Action{}
	for _, a := range info.GetActions() {
		actions[a.GetPreamble().GetName()] = a
		c.actionNames[a.GetPreamble().GetId()] = a.GetPreamble().GetName()
	}
	for _, want := range codegen.TablesOf(f, role) {
		t := tables[want.Name]
		if t == nil {
			return nil, missing("table", want.Name)
		}
		ids := tableIDs{table: want, id: t.GetPreamble().GetId(), actions: map[string]actionIDs{}}
		for _, k := range want.Keys {
			i := slices.IndexFunc(t.GetMatchFields(), func(m *p4configv1.MatchField) bool { return m.GetName() == k.Name })
			if i < 0 {
				return nil, missing("key", want.Name+": "+k.Name)
			}
			ids.keys = append(ids.keys, t.GetMatchFields()[i].GetId())
		}
		for _, a := range want.Actions {
			pa := actions[a.Name]
			if pa == nil {
				return nil, missing("action", a.Name)
			}
			act := actionIDs{action: a, id: pa.GetPreamble().GetId()}
			for _, p := range a.Params {
				i := slices.IndexFunc(pa.GetParams(), func(x *p4configv1.Action_Param) bool { return x.GetName() == p.Name })
				if i < 0 {
					return nil, missing("parameter", a.Name+"."+p.Name)
				}
				act.params = append(act.params, pa.GetParams()[i].GetId())
			}
			ids.actions[a.Name] = act
		}
		c.tables = append(c.tables, ids)
	}
	for i := range c.tables {
		c.byName[c.tables[i].table.Name] = &c.tables[i]
		c.byID[c.tables[i].id] = &c.tables[i]
	}
	for _, want := range codegen.DigestsOf(f, role) {
		i := slices.IndexFunc(info.GetDigests(), func(d *p4configv1.Digest) bool { return d.GetPreamble().GetName() == want.Name })
		if i < 0 {
			return nil, missing("digest", want.Name)
		}
		c.digests = append(c.digests, digestIDs{digest: want, id: info.GetDigests()[i].GetPreamble().GetId()})
	}
	for _, r := range info.GetRegisters() {
		c.registers[r.GetPreamble().GetName()] = r.GetPreamble().GetId()
	}
	for _, x := range info.GetCounters() {
		c.counters[x.GetPreamble().GetName()] = x.GetPreamble().GetId()
	}
	return c, c.controllerHeaders(info, missing)
}

func (c *Codec) controllerHeaders(info *p4configv1.P4Info, missing func(kind, name string) error) error {
	header := func(name string) *p4configv1.ControllerPacketMetadata {
		for _, h := range info.GetControllerPacketMetadata() {
			if h.GetPreamble().GetName() == name {
				return h
			}
		}
		return nil
	}
	out, in := header(codegen.PacketOut.Name), header(codegen.PacketIn.Name)
	if out == nil || in == nil {
		return missing("controller header", codegen.PacketOut.Name+" or "+codegen.PacketIn.Name)
	}
	for _, want := range codegen.PacketOut.Params {
		i := slices.IndexFunc(out.GetMetadata(), func(m *p4configv1.ControllerPacketMetadata_Metadata) bool { return m.GetName() == want.Name })
		if i < 0 {
			return missing("field of packet_out", want.Name)
		}
		c.packetOut = append(c.packetOut, out.GetMetadata()[i].GetId())
	}
	for _, m := range in.GetMetadata() {
		c.packetIn[m.GetId()] = m.GetName()
	}
	return nil
}

// update encodes an entry as a P4Runtime update.
func (c *Codec) update(typ p4v1.Update_Type, e *Entry) *p4v1.Update {
	t := c.byName[e.Table]
	te := &p4v1.TableEntry{TableId: t.id, IsDefaultAction: e.Default}
	for i, m := range e.Match {
		fm := &p4v1.FieldMatch{FieldId: t.keys[i]}
		if t.table.Keys[i].Match == codegen.LPM {
			if m.PrefixLen == 0 {
				continue // don't care must be omitted
			}
			fm.FieldMatchType = &p4v1.FieldMatch_Lpm{Lpm: &p4v1.FieldMatch_LPM{Value: canonical(m.Value), PrefixLen: int32(m.PrefixLen)}}
		} else {
			fm.FieldMatchType = &p4v1.FieldMatch_Exact_{Exact: &p4v1.FieldMatch_Exact{Value: canonical(m.Value)}}
		}
		te.Match = append(te.Match, fm)
	}
	if typ != p4v1.Update_DELETE {
		a := t.actions[e.Action]
		act := &p4v1.Action{ActionId: a.id}
		for i, p := range e.Params {
			act.Params = append(act.Params, &p4v1.Action_Param{ParamId: a.params[i], Value: canonical(p)})
		}
		te.Action = &p4v1.TableAction{Type: &p4v1.TableAction_Action{Action: act}}
	}
	return &p4v1.Update{Type: typ, Entity: &p4v1.Entity{Entity: &p4v1.Entity_TableEntry{TableEntry: te}}}
}

// entry decodes a table entry that a server returned. The action of an entry that the controller does not know (NoAction
// in a default entry) is kept by name.
func (c *Codec) entry(te *p4v1.TableEntry) (Entry, error) {
	t := c.byID[te.GetTableId()]
	if t == nil {
		return Entry{}, fmt.Errorf("the switch returned an entry of table id %d, which nobody asked for", te.GetTableId())
	}
	e := Entry{Table: t.table.Name, Default: te.GetIsDefaultAction()}
	if !e.Default {
		e.Match = make([]Match, len(t.keys))
		for i, k := range t.table.Keys {
			e.Match[i].Value = make([]byte, (k.Bits+7)/8)
		}
		for _, fm := range te.GetMatch() {
			i := slices.Index(t.keys, fm.GetFieldId())
			if i < 0 {
				return Entry{}, fmt.Errorf("table %s: the switch returned an entry with unknown key id %d", e.Table, fm.GetFieldId())
			}
			bits := t.table.Keys[i].Bits
			if l := fm.GetLpm(); l != nil {
				e.Match[i] = Match{Value: padded(l.GetValue(), bits), PrefixLen: int(l.GetPrefixLen())}
			} else {
				e.Match[i].Value = padded(fm.GetExact().GetValue(), bits)
			}
		}
	}
	act := te.GetAction().GetAction()
	e.Action = c.actionNames[act.GetActionId()]
	if a, ok := t.actions[e.Action]; ok {
		e.Params = make([][]byte, len(a.params))
		for _, p := range act.GetParams() {
			if i := slices.Index(a.params, p.GetParamId()); i >= 0 {
				e.Params[i] = padded(p.GetValue(), a.action.Params[i].Bits)
			}
		}
	}
	return e, nil
}

// packetOutMessage encodes a packet-out: to a multicast group, to a port, or (both 0) to be routed.
func (c *Codec) packetOutMessage(group uint16, port uint32, frame []byte) *p4v1.PacketOut {
	values := []uint64{uint64(group), uint64(port)}
	p := &p4v1.PacketOut{Payload: frame}
	for i, f := range codegen.PacketOut.Params {
		p.Metadata = append(p.Metadata, &p4v1.PacketMetadata{MetadataId: c.packetOut[i], Value: canonical(num(values[i], f.Bits))})
	}
	return p
}

// packetInFields decodes the metadata of a packet-in.
func (c *Codec) packetInFields(p *p4v1.PacketIn) (port uint32, reason codegen.CPUReason) {
	for _, m := range p.GetMetadata() {
		v := toUint(m.GetValue())
		switch c.packetIn[m.GetMetadataId()] {
		case codegen.PacketIn.Params[0].Name:
			port = uint32(v)
		case codegen.PacketIn.Params[1].Name:
			reason = codegen.CPUReason(v)
		}
	}
	return port, reason
}

// toUint reads a big-endian number; of one longer than 8 bytes the low 64 bits.
func toUint(b []byte) uint64 {
	var v uint64
	for _, x := range b {
		v = v<<8 | uint64(x)
	}
	return v
}
