package controlplane

import (
	"context"
	"fmt"

	p4v1 "github.com/p4lang/p4runtime/go/p4/v1"

	"khop/codegen"
	"khop/fabric"
)

// TableDump is what a switch holds, decoded.
type TableDump struct {
	Switch string         `json:"switch"`
	Role   fabric.Role    `json:"role"`
	Tables []TableEntries `json:"tables"`
	// KBest is the k-best next hops by destination; nil when the server has no registers over P4Runtime (stock bmv2), which
	// RegistersError then tells.
	KBest          []KBest `json:"k_best,omitempty"`
	RegistersError string  `json:"registers_error,omitempty"`
}

// TableEntries is one table of a TableDump.
type TableEntries struct {
	Table   string   `json:"table"`
	Entries []string `json:"entries"` // "table key=value ... -> action(param=value, ...)"
}

// KBest is the k-best next hops of one destination ToR, best first.
type KBest struct {
	ToR   string      `json:"tor"`
	Slots []KBestSlot `json:"slots"`
}

// KBestSlot is one slot in use.
type KBestSlot struct {
	Port    uint32 `json:"port"`
	NextHop string `json:"next_hop"`
	Util    uint32 `json:"util"` // 0..255, 255 is a full link
	Round   uint32 `json:"round"`
	TimeUS  uint64 `json:"time_us"` // of its last probe, in microseconds since the switch started
}

// Tables reads and decodes what a switch holds.
func (c *Controller) Tables(ctx context.Context, name string) (*TableDump, error) {
	s, err := c.session(name)
	if err != nil {
		return nil, err
	}
	codec := s.prog.Codec
	dump := &TableDump{Switch: name, Role: s.sw.Role}
	for i := range codec.tables {
		t := &codec.tables[i]
		entries, err := codec.readTable(ctx, s.client, t, len(t.table.Keys) == 0)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		te := TableEntries{Table: short(t.table.Name), Entries: []string{}}
		for j := range entries {
			te.Entries = append(te.Entries, codec.describe(&entries[j]))
		}
		dump.Tables = append(dump.Tables, te)
	}
	if c.fabric.Scheme.Probes() {
		if dump.KBest, err = c.kbest(ctx, s); err != nil {
			dump.RegistersError = err.Error()
		}
	}
	return dump, nil
}

// kbest reads the k-best registers.
func (c *Controller) kbest(ctx context.Context, s *session) ([]KBest, error) {
	read := func(name string) ([]uint64, error) { return s.readRegister(ctx, name) }
	ports, err := read(codegen.RegisterKBestPort)
	if err != nil {
		return nil, err
	}
	utils, err := read(codegen.RegisterKBestUtil)
	if err != nil {
		return nil, err
	}
	rounds, err := read(codegen.RegisterKBestRound)
	if err != nil {
		return nil, err
	}
	times, err := read(codegen.RegisterKBestTime)
	if err != nil {
		return nil, err
	}
	list := []KBest{}
	for _, leaf := range c.fabric.Leaves() {
		if leaf == s.sw {
			continue
		}
		k := KBest{ToR: leaf.Name, Slots: []KBestSlot{}}
		for slot := range c.fabric.K {
			i := int(codegen.KBestIndex(c.fabric, leaf.ToR, slot))
			if i >= len(ports) || i >= len(utils) || i >= len(rounds) || i >= len(times) || ports[i] == 0 {
				continue
			}
			x := KBestSlot{Port: uint32(ports[i]), Util: uint32(utils[i]), Round: uint32(rounds[i]), TimeUS: times[i]}
			if p := s.sw.Port(x.Port); p != nil && p.Peer != nil {
				x.NextHop = p.Peer.Name
			}
			k.Slots = append(k.Slots, x)
		}
		list = append(list, k)
	}
	return list, nil
}

// readRegister reads a whole register array.
func (s *session) readRegister(ctx context.Context, name string) ([]uint64, error) {
	id, ok := s.prog.Codec.registers[name]
	if !ok {
		return nil, fmt.Errorf("the program has no register %s", name)
	}
	got, err := s.client.Read(ctx, &p4v1.Entity{Entity: &p4v1.Entity_RegisterEntry{RegisterEntry: &p4v1.RegisterEntry{RegisterId: id}}})
	if err != nil {
		return nil, fmt.Errorf("register %s: %w", name, err)
	}
	var list []uint64
	for _, e := range got {
		r := e.GetRegisterEntry()
		i := int(r.GetIndex().GetIndex())
		for len(list) <= i {
			list = append(list, 0)
		}
		list[i] = toUint(r.GetData().GetBitstring())
	}
	return list, nil
}
