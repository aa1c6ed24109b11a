package p4rt

import (
	"maps"
	"slices"

	p4v1 "github.com/p4lang/p4runtime/go/p4/v1"

	"khop/bmv2/pipeline"
)

// carry lists the updates that bring a fresh state of the pipeline of to, which may be this one's own, to the forwarding
// state of st, in an order in which references resolve: members, groups, entries, and the rest. Cells of arrays that the
// other pipeline does not have are left out, because the data plane fills them; everything that a client wrote is in the
// list, so that it fails if it cannot be kept. It must be called with exclusive access to the switch of st.
func (st *state) carry(to *state) []*p4v1.Update {
	c := &carrier{st: st, to: to}
	c.profiles()
	for _, ts := range st.tableOrder {
		if ts.core != nil {
			c.table(ts)
		}
	}
	c.arrays()
	c.rest()
	return c.out
}

type carrier struct {
	st, to *state
	out    []*p4v1.Update
}

func (c *carrier) add(typ p4v1.Update_Type, e *p4v1.Entity) {
	c.out = append(c.out, &p4v1.Update{Type: typ, Entity: e})
}

func (c *carrier) profiles() {
	for _, pi := range c.st.info.profileOrder {
		ps := c.st.profiles[pi.id]
		if ps == nil {
			continue
		}
		for _, id := range slices.Sorted(maps.Keys(ps.members)) {
			c.add(p4v1.Update_INSERT, &p4v1.Entity{Entity: &p4v1.Entity_ActionProfileMember{ActionProfileMember: &p4v1.ActionProfileMember{
				ActionProfileId: pi.id, MemberId: id, Action: ps.members[id].action}}})
		}
		for _, id := range slices.Sorted(maps.Keys(ps.groups)) {
			c.add(p4v1.Update_INSERT, &p4v1.Entity{Entity: &p4v1.Entity_ActionProfileGroup{ActionProfileGroup: ps.groups[id].msg}})
		}
	}
}

func (c *carrier) table(ts *tableState) {
	if t, initial, err := c.st.sw.Default(ts.info.name); err == nil && !initial && t.Kind == pipeline.TargetAction {
		if a, err := ts.actionOf(t); err == nil {
			m := &p4v1.TableEntry{TableId: ts.info.id, IsDefaultAction: true, Action: a, Metadata: ts.def.metadata}
			setCookie(m, ts.def.cookie)
			c.add(p4v1.Update_MODIFY, &p4v1.Entity{Entity: &p4v1.Entity_TableEntry{TableEntry: m}})
		}
	}
	for _, e := range ts.handles {
		if e == nil {
			continue
		}
		m := &p4v1.TableEntry{TableId: ts.info.id, Match: e.match, Priority: e.priority}
		if ts.core.DirectCounter != "" {
			if v, err := c.st.sw.DirectCounter(ts.info.name, e.handle); err == nil && v != (pipeline.Counter{}) {
				m.CounterData = counterData(v)
			}
		}
		if ts.core.DirectMeter != "" {
			if v, ok, err := c.st.sw.DirectMeter(ts.info.name, e.handle); err == nil && ok {
				m.MeterConfig = meterConfig(v)
			}
		}
		typ := p4v1.Update_INSERT
		if e.isConst {
			// It comes with the new program, or is gone with the old one.
			other := c.to.tables[ts.info.id]
			if other == nil || other.entries[e.identity] == nil || m.CounterData == nil && m.MeterConfig == nil {
				continue
			}
			typ = p4v1.Update_MODIFY
		} else {
			m.Action, m.Metadata, m.IdleTimeoutNs = e.action, e.metadata, e.timeout
			setCookie(m, e.cookie)
		}
		c.add(typ, &p4v1.Entity{Entity: &p4v1.Entity_TableEntry{TableEntry: m}})
	}
}

func (c *carrier) arrays() {
	for _, a := range c.st.info.counterOrder {
		for i := range min(c.st.counters[a.id], c.to.counters[a.id]) {
			if v, err := c.st.sw.Counter(a.name, i); err == nil && v != (pipeline.Counter{}) {
				c.add(p4v1.Update_MODIFY, &p4v1.Entity{Entity: &p4v1.Entity_CounterEntry{CounterEntry: &p4v1.CounterEntry{
					CounterId: a.id, Index: index(i), Data: counterData(v)}}})
			}
		}
	}
	for _, a := range c.st.info.meterOrder {
		for i := range min(c.st.meters[a.id], c.to.meters[a.id]) {
			if v, ok, err := c.st.sw.Meter(a.name, i); err == nil && ok {
				c.add(p4v1.Update_MODIFY, &p4v1.Entity{Entity: &p4v1.Entity_MeterEntry{MeterEntry: &p4v1.MeterEntry{
					MeterId: a.id, Index: index(i), Config: meterConfig(v)}}})
			}
		}
	}
	for _, a := range c.st.info.regOrder {
		for i := range min(c.st.registers[a.id], c.to.registers[a.id]) {
			if v, err := c.st.sw.Register(a.name, i); err == nil && bitLen(v) > 0 {
				d, _ := a.elem.toData([][]byte{v})
				c.add(p4v1.Update_MODIFY, &p4v1.Entity{Entity: &p4v1.Entity_RegisterEntry{RegisterEntry: &p4v1.RegisterEntry{
					RegisterId: a.id, Index: index(i), Data: d}}})
			}
		}
	}
}

func (c *carrier) rest() {
	for _, vi := range c.st.info.vsetOrder {
		if vs := c.st.valueSets[vi.id]; vs != nil && len(vs.members) > 0 {
			c.add(p4v1.Update_MODIFY, &p4v1.Entity{Entity: &p4v1.Entity_ValueSetEntry{ValueSetEntry: vs.entry()}})
		}
	}
	pre := func(e *p4v1.PacketReplicationEngineEntry) {
		c.add(p4v1.Update_INSERT, &p4v1.Entity{Entity: &p4v1.Entity_PacketReplicationEngineEntry{PacketReplicationEngineEntry: e}})
	}
	for _, id := range slices.Sorted(maps.Keys(c.st.multicast)) {
		pre(&p4v1.PacketReplicationEngineEntry{Type: &p4v1.PacketReplicationEngineEntry_MulticastGroupEntry{MulticastGroupEntry: c.st.multicast[id]}})
	}
	for _, id := range slices.Sorted(maps.Keys(c.st.clones)) {
		pre(&p4v1.PacketReplicationEngineEntry{Type: &p4v1.PacketReplicationEngineEntry_CloneSessionEntry{CloneSessionEntry: c.st.clones[id]}})
	}
	for _, di := range c.st.info.digestOrder {
		if ds := c.st.digests[di.id]; ds != nil && ds.config != nil {
			c.add(p4v1.Update_INSERT, &p4v1.Entity{Entity: &p4v1.Entity_DigestEntry{DigestEntry: &p4v1.DigestEntry{DigestId: di.id, Config: ds.config}}})
		}
	}
}
