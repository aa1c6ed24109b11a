package controlplane

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"

	p4v1 "github.com/p4lang/p4runtime/go/p4/v1"

	"khop/codegen"
	"khop/fabric"
)

// Change is one step of a plan.
type Change struct {
	Op   byte   // '+' insert, '~' modify, '-' delete
	What string // readable
	old  string // readable, for '~'
	up   *p4v1.Update
	or   *p4v1.Update // tried when up fails because the server could not be read
}

// Plan is the difference between what a switch should hold and what it holds.
type Plan struct {
	Switch   string
	Address  string
	Pipeline bool // the program is set, and with it all state starts afresh
	Program  string
	Changes  []Change
	session  *session
}

// Empty reports whether the switch is as it should be.
func (p *Plan) Empty() bool { return !p.Pipeline && len(p.Changes) == 0 }

// Counts returns the numbers of insertions, modifications and deletions.
func (p *Plan) Counts() (insert, modify, remove int) {
	for _, c := range p.Changes {
		switch c.Op {
		case '+':
			insert++
		case '~':
			modify++
		default:
			remove++
		}
	}
	return insert, modify, remove
}

// Print writes the plan, one line a change.
func (p *Plan) Print(w io.Writer) {
	if p.Empty() {
		fmt.Fprintf(w, "%s (%s): up to date\n", p.Switch, p.Address)
		return
	}
	i, m, d := p.Counts()
	fmt.Fprintf(w, "%s (%s): %d to insert, %d to modify, %d to delete\n", p.Switch, p.Address, i, m, d)
	if p.Pipeline {
		fmt.Fprintf(w, "  ~ pipeline: %s\n", p.Program)
	}
	for _, c := range p.Changes {
		if c.old != "" {
			fmt.Fprintf(w, "  %c %s (was %s)\n", c.Op, c.What, c.old)
		} else {
			fmt.Fprintf(w, "  %c %s\n", c.Op, c.What)
		}
	}
}

// Plan reads a switch and returns what has to change.
func (c *Controller) Plan(ctx context.Context, name string) (*Plan, error) {
	s, err := c.session(name)
	if err != nil {
		return nil, err
	}
	p := &Plan{Switch: name, Address: s.addr, Program: s.prog.Name, session: s}
	cookie, loaded, err := s.client.Cookie(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	want := IntentOf(c.fabric, s.sw)
	if p.Pipeline = !loaded || cookie != s.prog.Config().GetCookie().GetCookie(); p.Pipeline {
		p.fromNothing(&want)
		return p, nil
	}
	if err := p.diffEntries(ctx, &want); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := p.diffGroups(ctx, &want); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	p.diffDigests(ctx)
	return p, nil
}

// Entries returns all that a switch without entries has to be told: default actions, table entries, multicast groups and
// digests, in the order of a push. No switch has to run.
func (c *Controller) Entries(sw *fabric.Switch) *p4v1.WriteRequest {
	p := &Plan{Switch: sw.Name, session: &session{sw: sw, prog: c.programs[sw.Role]}}
	want := IntentOf(c.fabric, sw)
	p.fromNothing(&want)
	r := &p4v1.WriteRequest{DeviceId: sw.DeviceID}
	for _, ch := range p.Changes {
		r.Updates = append(r.Updates, ch.up)
	}
	return r
}

func (p *Plan) fromNothing(want *Intent) {
	codec := p.session.prog.Codec
	for i := range want.Entries {
		e := &want.Entries[i]
		typ, op := p4v1.Update_INSERT, byte('+')
		if e.Default {
			typ, op = p4v1.Update_MODIFY, '~'
		}
		p.Changes = append(p.Changes, Change{Op: op, What: codec.describe(e), up: codec.update(typ, e)})
	}
	for _, g := range want.Groups {
		p.insertGroup(g)
	}
	for _, d := range codec.digests {
		p.insertDigest(d)
	}
}

func (p *Plan) diffEntries(ctx context.Context, want *Intent) error {
	codec := p.session.prog.Codec
	have := map[string]*Entry{}
	var order []*Entry
	for i := range codec.tables {
		t := &codec.tables[i]
		if isDynamic(t.table.Name) {
			continue
		}
		got, err := codec.readTable(ctx, p.session.client, t, len(t.table.Keys) == 0)
		if err != nil {
			return err
		}
		for j := range got {
			have[got[j].key()] = &got[j]
			order = append(order, &got[j])
		}
	}
	wanted := map[string]bool{}
	for i := range want.Entries {
		e := &want.Entries[i]
		wanted[e.key()] = true
		old := have[e.key()]
		switch {
		case old != nil && old.sameAction(e):
		case old != nil || e.Default:
			ch := Change{Op: '~', What: codec.describe(e), up: codec.update(p4v1.Update_MODIFY, e)}
			if old != nil {
				ch.old = codec.describeAction(old)
			}
			p.Changes = append(p.Changes, ch)
		default:
			p.Changes = append(p.Changes, Change{Op: '+', What: codec.describe(e), up: codec.update(p4v1.Update_INSERT, e)})
		}
	}
	var removals []Change
	for _, e := range order {
		if !wanted[e.key()] && !e.Default {
			removals = append(removals, Change{Op: '-', What: codec.describe(e), up: codec.update(p4v1.Update_DELETE, e)})
		}
	}
	p.Changes = append(removals, p.Changes...)
	return nil
}

// readTable reads all entries of a table, or its default action.
func (c *Codec) readTable(ctx context.Context, client *Client, t *tableIDs, defaultAction bool) ([]Entry, error) {
	got, err := client.Read(ctx, &p4v1.Entity{Entity: &p4v1.Entity_TableEntry{TableEntry: &p4v1.TableEntry{
		TableId: t.id, IsDefaultAction: defaultAction,
	}}})
	if err != nil {
		return nil, fmt.Errorf("table %s: %w", t.table.Name, err)
	}
	var list []Entry
	for _, g := range got {
		te := g.GetTableEntry()
		if te.GetIsDefaultAction() != defaultAction {
			continue
		}
		e, err := c.entry(te)
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	slices.SortFunc(list, func(a, b Entry) int { return strings.Compare(a.key(), b.key()) })
	return list, nil
}

func groupEntity(g codegen.Group) *p4v1.Entity {
	m := &p4v1.MulticastGroupEntry{MulticastGroupId: uint32(g.ID)}
	for _, port := range g.Ports {
		m.Replicas = append(m.Replicas, &p4v1.Replica{PortKind: &p4v1.Replica_Port{Port: canonical(num(uint64(port), 32))}, Instance: 1})
	}
	return &p4v1.Entity{Entity: &p4v1.Entity_PacketReplicationEngineEntry{PacketReplicationEngineEntry: &p4v1.PacketReplicationEngineEntry{
		Type: &p4v1.PacketReplicationEngineEntry_MulticastGroupEntry{MulticastGroupEntry: m},
	}}}
}

func (p *Plan) groupChange(op byte, typ p4v1.Update_Type, g codegen.Group) *Change {
	p.Changes = append(p.Changes, Change{
		Op: op, What: fmt.Sprintf("multicast group %d: ports %v", g.ID, g.Ports), up: &p4v1.Update{Type: typ, Entity: groupEntity(g)},
	})
	return &p.Changes[len(p.Changes)-1]
}

func (p *Plan) insertGroup(g codegen.Group) { p.groupChange('+', p4v1.Update_INSERT, g) }

// diffGroups reads the multicast groups first: bmv2 adds replicas when a group is inserted twice. Where a server cannot
// be asked, a group is inserted, and modified if that fails.
func (p *Plan) diffGroups(ctx context.Context, want *Intent) error {
	got, err := p.session.client.Read(ctx, &p4v1.Entity{Entity: &p4v1.Entity_PacketReplicationEngineEntry{
		PacketReplicationEngineEntry: &p4v1.PacketReplicationEngineEntry{
			Type: &p4v1.PacketReplicationEngineEntry_MulticastGroupEntry{MulticastGroupEntry: &p4v1.MulticastGroupEntry{}},
		},
	}})
	if err != nil && !isUnsupported(err) {
		return fmt.Errorf("multicast groups: %w", err)
	}
	blind := err != nil
	have := map[uint16][]uint32{}
	for _, e := range got {
		m := e.GetPacketReplicationEngineEntry().GetMulticastGroupEntry()
		ports := []uint32{}
		for _, r := range m.GetReplicas() {
			ports = append(ports, uint32(toUint(r.GetPort())))
		}
		slices.Sort(ports)
		have[uint16(m.GetMulticastGroupId())] = ports
	}
	for _, g := range want.Groups {
		old, ok := have[g.ID]
		delete(have, g.ID)
		switch {
		case blind:
			p.groupChange('+', p4v1.Update_INSERT, g).or = &p4v1.Update{Type: p4v1.Update_MODIFY, Entity: groupEntity(g)}
		case !ok:
			p.insertGroup(g)
		case !slices.Equal(old, g.Ports):
			p.groupChange('~', p4v1.Update_MODIFY, g).old = fmt.Sprintf("ports %v", old)
		}
	}
	var rest []uint16
	for id := range have {
		rest = append(rest, id)
	}
	slices.Sort(rest)
	for _, id := range rest {
		p.groupChange('-', p4v1.Update_DELETE, codegen.Group{ID: id, Ports: have[id]})
	}
	return nil
}

// digestConfig sends each digest at once: a join follows its handshake within a round trip.
func digestConfig(id uint32) *p4v1.Entity {
	return &p4v1.Entity{Entity: &p4v1.Entity_DigestEntry{DigestEntry: &p4v1.DigestEntry{
		DigestId: id,
		Config:   &p4v1.DigestEntry_Config{MaxTimeoutNs: 0, MaxListSize: 1, AckTimeoutNs: 1_000_000_000},
	}}}
}

func (p *Plan) insertDigest(d digestIDs) *Change {
	p.Changes = append(p.Changes, Change{
		Op: '+', What: "digest " + d.digest.Name, up: &p4v1.Update{Type: p4v1.Update_INSERT, Entity: digestConfig(d.id)},
	})
	return &p.Changes[len(p.Changes)-1]
}

func (p *Plan) diffDigests(ctx context.Context) {
	for _, d := range p.session.prog.Codec.digests {
		got, err := p.session.client.Read(ctx, &p4v1.Entity{Entity: &p4v1.Entity_DigestEntry{DigestEntry: &p4v1.DigestEntry{DigestId: d.id}}})
		if err != nil || len(got) == 0 {
			// Not configured, or a server that can't tell.
			p.insertDigest(d).or = &p4v1.Update{Type: p4v1.Update_MODIFY, Entity: digestConfig(d.id)}
		}
	}
}

// describe renders an entry as "table key=value ... -> action(param=value, ...)".
func (c *Codec) describe(e *Entry) string {
	var b strings.Builder
	b.WriteString(short(e.Table))
	if e.Default {
		b.WriteString(" default")
	}
	for i, k := range c.byName[e.Table].table.Keys {
		if i < len(e.Match) {
			fmt.Fprintf(&b, " %s=%s", short(k.Name), renderMatch(k, e.Match[i]))
		}
	}
	b.WriteString(" -> ")
	b.WriteString(c.describeAction(e))
	return b.String()
}

func (c *Codec) describeAction(e *Entry) string {
	a, ok := c.byName[e.Table].actions[e.Action]
	var args []string
	if ok {
		for i, p := range a.action.Params {
			if i < len(e.Params) {
				args = append(args, p.Name+"="+render(p, e.Params[i]))
			}
		}
	}
	return short(e.Action) + "(" + strings.Join(args, ", ") + ")"
}

// short strips the control's name.
func short(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

func renderMatch(k codegen.Key, m Match) string {
	if k.Match == codegen.LPM {
		return fmt.Sprintf("%s/%d", render(k.Field, m.Value), m.PrefixLen)
	}
	return render(k.Field, m.Value)
}

// render prints a value as an engineer reads it: addresses, MAC addresses, port maps, numbers.
func render(f codegen.Field, v []byte) string {
	isAddr := strings.HasSuffix(f.Name, "addr") || strings.HasSuffix(f.Name, "target_ip")
	switch {
	case isAddr && len(v) == 4:
		return netip.AddrFrom4([4]byte(v)).String()
	case isAddr && len(v) == 16:
		return netip.AddrFrom16([16]byte(v)).Unmap().String()
	case f.Bits == 48 && strings.HasSuffix(f.Name, "mac"):
		return fmt.Sprintf("%02x:%02x:%02x:%02x:%02x:%02x", v[0], v[1], v[2], v[3], v[4], v[5])
	case f.Name == "mptcp_id" || f.Name == "meta.mptcp_id":
		return fmt.Sprintf("%x", v)
	case f.Name == "ports" || f.Name == "down_ports":
		return fmt.Sprint(portsOf(v))
	case len(bytes.TrimLeft(v, "\x00")) > 8:
		return fmt.Sprintf("0x%x", v)
	}
	return fmt.Sprint(toUint(v))
}

// portsOf is the inverse of codegen.PortMap.
func portsOf(bitmap []byte) []uint32 {
	list := []uint32{}
	for p := range uint32(len(bitmap) * 8) {
		if bitmap[len(bitmap)-1-int(p/8)]>>(p%8)&1 == 1 {
			list = append(list, p+1)
		}
	}
	return list
}

// PlanAll plans all connected switches, in order.
func (c *Controller) PlanAll(ctx context.Context) ([]*Plan, error) {
	var plans []*Plan
	for _, s := range c.connected() {
		p, err := c.Plan(ctx, s.sw.Name)
		if err != nil {
			return nil, err
		}
		plans = append(plans, p)
	}
	return plans, nil
}
