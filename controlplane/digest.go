package controlplane

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"time"

	p4v1 "github.com/p4lang/p4runtime/go/p4/v1"
	"google.golang.org/grpc/codes"

	"khop/codegen"
	"khop/fabric"
	"khop/mptcp"
)

// writeTimeout bounds the writes that follow from a digest, so that a dead switch does not stop the others.
const writeTimeout = 5 * time.Second

// mptcpState is what the controller knows about MPTCP connections, and which entries stand for them.
type mptcpState struct {
	mu         sync.Mutex
	fabric     *fabric.Fabric
	correlator *mptcp.Correlator
	slots      []bool                         // connection slots in use
	held       map[*mptcp.Connection]*holding // of open connections
	refused    uint64                         // connections for which there was no slot
	opened     MPTCPCounts
}

// MPTCPCounts counts what the controller found in the digests so far.
type MPTCPCounts struct {
	Connections int `json:"connections"`
	Subflows    int `json:"subflows"`
}

// MPTCPFound returns the numbers of connections and subflows found so far.
func (c *Controller) MPTCPFound() MPTCPCounts {
	c.mptcp.mu.Lock()
	defer c.mptcp.mu.Unlock()
	return c.mptcp.opened
}

// holding is the entries of one connection.
type holding struct {
	slot    int
	entries []held // in the order of writing
}

type held struct {
	sw    *fabric.Switch
	entry Entry
}

func (h *held) key() string { return h.sw.Name + "\x00" + h.entry.key() }

func (m *mptcpState) init(f *fabric.Fabric) {
	m.fabric = f
	m.correlator = mptcp.NewCorrelator(mptcp.Config{Linger: int64(5 * time.Second)})
	m.slots = make([]bool, f.Sizes.Connections)
	m.held = map[*mptcp.Connection]*holding{}
}

// forget drops the record of entries at a switch whose tables were reset.
func (m *mptcpState) forget(sw *fabric.Switch) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, h := range m.held {
		h.entries = slices.DeleteFunc(h.entries, func(x held) bool { return x.sw == sw })
	}
}

// ConnStatus is one MPTCP connection in a Status.
type ConnStatus struct {
	ID       string          `json:"mptcp_id"`
	Version  uint8           `json:"version"`
	Tokens   [2]uint32       `json:"tokens"`
	Subflows []SubflowStatus `json:"subflows"`
}

// SubflowStatus is one subflow of a ConnStatus.
type SubflowStatus struct {
	Number    int    `json:"number"`
	FiveTuple string `json:"five_tuple"`
	Backup    bool   `json:"backup,omitempty"`
	Closed    bool   `json:"closed,omitempty"`
}

func (m *mptcpState) status() []ConnStatus {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := []ConnStatus{}
	for _, conn := range m.correlator.Connections() {
		a, b := conn.ID.Tokens()
		st := ConnStatus{ID: conn.ID.String(), Version: conn.Version, Tokens: [2]uint32{a, b}, Subflows: []SubflowStatus{}}
		for _, s := range conn.Subflows {
			st.Subflows = append(st.Subflows, SubflowStatus{s.Number, s.Tuple.String(), s.Backup, s.Closed})
		}
		list = append(list, st)
	}
	return list
}

// digestFields reads the members of a digest message by name.
type digestFields struct {
	digest  codegen.DigestType
	members []*p4v1.P4Data
}

func (d digestFields) bytes(name string) []byte {
	for i, f := range d.digest.Members {
		if f.Name == name && i < len(d.members) {
			return padded(d.members[i].GetBitstring(), f.Bits)
		}
	}
	return nil
}

func (d digestFields) num(name string) uint64 { return toUint(d.bytes(name)) }

func (d digestFields) tuple() mptcp.Tuple {
	end := func(addr, port string) netip.AddrPort {
		return netip.AddrPortFrom(netip.AddrFrom16([16]byte(d.bytes(addr))).Unmap(), uint16(d.num(port)))
	}
	return mptcp.Tuple{Src: end("src_addr", "src_port"), Dst: end("dst_addr", "dst_port")}
}

// handleDigest takes a digest list and writes what follows from it. Only then is the list acknowledged.
func (c *Controller) handleDigest(s *session, l *p4v1.DigestList) error {
	i := slices.IndexFunc(s.prog.Codec.digests, func(d digestIDs) bool { return d.id == l.GetDigestId() })
	if i < 0 {
		return fmt.Errorf("digest id %d is unknown", l.GetDigestId())
	}
	var errs []error
	c.mptcp.mu.Lock()
	for _, data := range l.GetData() {
		d := digestFields{s.prog.Codec.digests[i].digest, data.GetStruct().GetMembers()}
		if len(d.members) != len(d.digest.Members) {
			errs = append(errs, fmt.Errorf("digest %s has %d members, not %d", d.digest.Name, len(d.members), len(d.digest.Members)))
			continue
		}
		if err := c.follow(c.observe(d)); err != nil {
			errs = append(errs, err)
		}
	}
	c.mptcp.mu.Unlock()
	return errors.Join(append(errs, s.client.AckDigest(l))...)
}

// observe tells the correlator about one digest message.
func (c *Controller) observe(d digestFields) []mptcp.Event {
	now := c.opts.Now()
	seg := &mptcp.Segment{Time: now, Tuple: d.tuple()}
	switch d.digest.Name {
	case codegen.DigestCapable.Name:
		n := d.num("option_length")
		seg.Flags = uint8(d.num("tcp_flags"))
		seg.Options = []mptcp.Option{{
			Subtype: mptcp.MPCapable, Version: uint8(d.num("version")), Flags: uint8(d.num("option_flags")),
			HasSenderKey: n >= 12, SenderKey: d.num("sender_key"), HasReceiverKey: n >= 20, ReceiverKey: d.num("receiver_key"),
		}}
		if !slices.Contains(c.fabric.MPTCP.Versions, seg.Options[0].Version) {
			return nil // the spec leaves this version alone
		}
	case codegen.DigestJoin.Name:
		seg.Flags, seg.Number = mptcp.SYN, int(d.num("subflow"))
		seg.Options = []mptcp.Option{{
			Subtype: mptcp.MPJoin, Join: mptcp.JoinSYN, Backup: d.num("backup") != 0, AddrID: uint8(d.num("address_id")),
			Token: uint32(d.num("token")), Nonce: uint32(d.num("nonce")),
		}}
	case codegen.DigestPrio.Name:
		seg.Flags = mptcp.ACK
		seg.Options = []mptcp.Option{{Subtype: mptcp.MPPrio, Backup: d.num("backup") != 0}}
	case codegen.DigestEnd.Name:
		switch codegen.EndKind(d.num("kind")) {
		case codegen.EndFIN:
			seg.Flags = mptcp.FIN | mptcp.ACK
		case codegen.EndRST:
			seg.Flags = mptcp.RST
		case codegen.EndFastClose:
			return c.mptcp.correlator.Close(seg.Tuple, now)
		case codegen.EndReused:
			return c.mptcp.correlator.Remove(seg.Tuple, now)
		}
	}
	return c.mptcp.correlator.Observe(seg)
}

// follow writes what events ask for. The mptcp lock is held.
func (c *Controller) follow(events []mptcp.Event) error {
	var conns []*mptcp.Connection
	closed := map[*mptcp.Connection]bool{}
	for _, e := range events {
		if e.Conn != nil && !slices.Contains(conns, e.Conn) {
			conns = append(conns, e.Conn)
		}
		switch e.Kind {
		case mptcp.ConnectionOpened:
			c.mptcp.opened.Connections++
			c.mptcp.opened.Subflows++
		case mptcp.SubflowOpened:
			c.mptcp.opened.Subflows++
		case mptcp.ConnectionClosed:
			closed[e.Conn] = true
		}
	}
	var errs []error
	for _, conn := range conns {
		h := c.mptcp.held[conn]
		if h == nil && !closed[conn] {
			slot := slices.Index(c.mptcp.slots, false)
			if slot < 0 {
				c.mptcp.refused++
				continue // treated as plain TCP
			}
			c.mptcp.slots[slot] = true
			h = &holding{slot: slot}
			c.mptcp.held[conn] = h
		}
		if h == nil {
			continue
		}
		var want []held
		if closed[conn] {
			c.mptcp.slots[h.slot] = false
			delete(c.mptcp.held, conn)
		} else {
			want = c.mptcp.entriesOf(conn, h.slot)
		}
		if err := c.replace(h, want); err != nil {
			errs = append(errs, fmt.Errorf("connection %v: %w", conn.ID, err))
		}
	}
	return errors.Join(errs...)
}

// entriesOf returns the entries of an open connection: at each leaf that has one of its ends, the connection's slot; the
// tokens that the hosts there may ask for; and the flows that leave there.
func (m *mptcpState) entriesOf(conn *mptcp.Connection, slot int) []held {
	var list []held
	id := num(uint64(conn.ID), 64)
	tokenA, tokenB := conn.ID.Tokens()
	add := func(leaf *fabric.Switch, table, action string, match []Match, params ...[]byte) {
		list = append(list, held{leaf, Entry{Table: table, Match: match, Action: action, Params: params}})
	}
	leaves := func(addrs []netip.Addr) (out []*fabric.Switch) {
		for _, a := range addrs {
			if l := m.fabric.LeafOf(a); l != nil && !slices.Contains(out, l) {
				out = append(out, l)
			}
		}
		return out
	}
	first := conn.Subflows[0].Tuple
	leavesA, leavesB := leaves(conn.Addrs(true)), leaves(conn.Addrs(false))
	for _, l := range leaves(append(slices.Clone(conn.Addrs(true)), conn.Addrs(false)...)) {
		t := first
		if !slices.Contains(leavesA, l) {
			t = first.Reverse()
		}
		flowlet := codegen.FlowletIndex(m.fabric, codegen.FlowHash(t.Src.Addr(), t.Dst.Addr(), 6, t.Src.Port(), t.Dst.Port()))
		add(l, codegen.TableMPTCPConn, codegen.ActionSetConn, []Match{{Value: id}}, num(uint64(slot), 16), num(uint64(flowlet), 32))
	}
	tokens := func(at []*fabric.Switch, owner []netip.Addr, token uint32) {
		for _, l := range at {
			for _, a := range owner {
				addr := codegen.Addr128(a)
				add(l, codegen.TableMPTCPToken, codegen.ActionJoin, []Match{{Value: addr[:]}, exact(uint64(token), 32)}, id)
			}
		}
	}
	tokens(leavesA, conn.Addrs(false), tokenB)
	tokens(leavesB, conn.Addrs(true), tokenA)
	for _, s := range conn.Subflows {
		if s.Closed {
			continue
		}
		backup := uint64(0)
		if s.Backup {
			backup = 1
		}
		for _, t := range []mptcp.Tuple{s.Tuple, s.Tuple.Reverse()} {
			if l := m.fabric.LeafOf(t.Src.Addr()); l != nil {
				src, dst := codegen.Addr128(t.Src.Addr()), codegen.Addr128(t.Dst.Addr())
				add(l, codegen.TableMPTCPFlow, codegen.ActionSetFlow,
					[]Match{{Value: src[:]}, {Value: dst[:]}, exact(uint64(t.Src.Port()), 16), exact(uint64(t.Dst.Port()), 16)},
					id, num(uint64(s.Number), 8), num(backup, 8))
			}
		}
	}
	return list
}

// replace makes the switches hold want instead of what h says, and notes it in h.
func (c *Controller) replace(h *holding, want []held) error {
	old := map[string]*held{}
	for i := range h.entries {
		old[h.entries[i].key()] = &h.entries[i]
	}
	updates := map[*fabric.Switch][]*p4v1.Update{}
	plan := func(x *held, typ p4v1.Update_Type) {
		if s := c.sessionOf(x.sw); s != nil {
			updates[x.sw] = append(updates[x.sw], s.prog.Codec.update(typ, &x.entry))
		}
	}
	keep := map[string]bool{}
	for i := range want {
		x := &want[i]
		keep[x.key()] = true
		if o := old[x.key()]; o == nil {
			plan(x, p4v1.Update_INSERT)
		} else if !o.entry.sameAction(&x.entry) {
			plan(x, p4v1.Update_MODIFY)
		}
	}
	for i := len(h.entries) - 1; i >= 0; i-- { // flows before the connection that they name
		if x := &h.entries[i]; !keep[x.key()] {
			plan(x, p4v1.Update_DELETE)
		}
	}
	h.entries = want
	ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
	defer cancel()
	var errs []error
	for _, sw := range c.fabric.Switches {
		if len(updates[sw]) > 0 {
			if err := c.sessionOf(sw).writeTolerant(ctx, updates[sw]); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", sw.Name, err))
			}
		}
	}
	return errors.Join(errs...)
}

// writeTolerant writes entries that an earlier controller may have left or removed: one that is there already is
// modified, and one that is gone need not be deleted.
func (s *session) writeTolerant(ctx context.Context, updates []*p4v1.Update) error {
	err := s.client.Write(ctx, updates)
	var batch *BatchError
	if !errors.As(err, &batch) {
		return err
	}
	var again []*p4v1.Update
	for _, f := range batch.Failed {
		switch {
		case f.Code == codes.AlreadyExists && f.Update.GetType() == p4v1.Update_INSERT:
			again = append(again, &p4v1.Update{Type: p4v1.Update_MODIFY, Entity: f.Update.GetEntity()})
		case f.Code == codes.NotFound && f.Update.GetType() == p4v1.Update_DELETE:
		default:
			return err
		}
	}
	if len(again) == 0 {
		return nil
	}
	return s.client.Write(ctx, again)
}
