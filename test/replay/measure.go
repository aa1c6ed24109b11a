package replay

import (
	"cmp"
	"slices"
	"time"

	"khop/fabric"
	"khop/mptcp"
)

// Measure judges how a scheme spread the subflows of MPTCP connections, from the packets alone. It knows connections from
// the captured handshakes (package mptcp) and ports from what leaves each switch, so it judges every scheme alike and
// asks no program.
//
// At a switch that has two or more next hops towards a packet's destination leaf, a subflow is pinned to the port by
// which its last packet left, separately for each direction of the connection. It is live there while that packet came in
// less than subflow_live (of the spec) ago, by the microseconds of the switch's clock, which is all that any program can
// see. A next hop is fresh while its link is up and, under a scheme with probes, a probe came in by it within
// link_timeout. A next hop is unused while no live subflow of the connection is pinned to it.
//
// The packets of the initial handshake count as the first subflow's, though it is known for what it is only later.
//
// Collisions counts the packets that left a switch by a port on which another live subflow of their connection was pinned
// while a fresh next hop stood unused.
//
// MeanDistinctNextHops is taken where packets enter the fabric, at the leaf of their source: for each packet of a
// connection, the number of distinct ports to which the live subflows of the connection were pinned in that direction as
// the packet left, its own included; and of these the mean over all packets of all connections.
type Measure struct {
	Collisions  int
	distinctSum int
	distinctN   int
	conns       []*connView
	byConn      map[*mptcp.Connection]*connView
	correlator  *mptcp.Correlator
	live        int64 // subflow_live in microseconds
	segment     mptcp.Segment
}

// connView is what is measured of one connection.
type connView struct {
	conn     *mptcp.Connection
	nextHops map[*mptcp.Subflow]map[string]int // packets by next hop, at the leaves where they entered
	pins     map[pinPlace][]pin
}

// pinPlace is where subflows compete for next hops: a switch and a direction.
type pinPlace struct {
	sw      *fabric.Switch
	forward bool // from the initiator
}

type pin struct {
	sub  *mptcp.Subflow
	port uint32
	last int64 // when the subflow's last packet came in at the switch, in microseconds of its clock
}

func newMeasure(f *fabric.Fabric) *Measure {
	return &Measure{
		byConn:     map[*mptcp.Connection]*connView{},
		correlator: mptcp.NewCorrelator(mptcp.Config{}),
		live:       f.Timing.SubflowLive.Microseconds(),
	}
}

// assign tells, for packets in the order in which they enter, which connection, subflow and direction each belongs to. The
// packets of the initial handshake, which come before the keys are known, belong to the initial subflow like the rest.
func (m *Measure) assign(list []*injection) {
	handshakes := map[mptcp.Tuple][]*injection{} // since the SYN, by the tuple of the SYN
	for _, rec := range list {
		m.segment.Time = rec.at
		if ok, _ := m.segment.ParseIP(rec.frame[etherLen:]); !ok {
			continue
		}
		t := m.segment.Tuple
		switch {
		case m.segment.Flags&(mptcp.SYN|mptcp.ACK) == mptcp.SYN:
			handshakes[t] = []*injection{rec}
		case handshakes[t] != nil:
			handshakes[t] = append(handshakes[t], rec)
		case handshakes[t.Reverse()] != nil:
			handshakes[t.Reverse()] = append(handshakes[t.Reverse()], rec)
		}
		// A segment that ends its subflow still belongs to it, unless it opens another.
		conn, sub := m.correlator.Lookup(t)
		for _, e := range m.correlator.Observe(&m.segment) {
			switch e.Kind {
			case mptcp.ConnectionOpened:
				v := &connView{conn: e.Conn, nextHops: map[*mptcp.Subflow]map[string]int{}, pins: map[pinPlace][]pin{}}
				m.byConn[e.Conn] = v
				m.conns = append(m.conns, v)
				for _, early := range handshakes[e.Subflow.Tuple] {
					early.conn, early.sub, early.forward = v, e.Subflow, early.from == handshakes[e.Subflow.Tuple][0].from
				}
				delete(handshakes, e.Subflow.Tuple)
			case mptcp.FellBack:
				delete(handshakes, t.Reverse())
			}
		}
		if c, s := m.correlator.Lookup(t); c != nil {
			conn, sub = c, s
		}
		if conn != nil {
			delete(handshakes, t)
			rec.conn, rec.sub, rec.forward = m.byConn[conn], sub, slices.Contains(conn.Addrs(true), t.Src.Addr())
		}
	}
}

// leave takes a packet that leaves a switch: rec is what assign said of it, arrived when it came in at the switch, first
// whether it entered the fabric there, nextHops the ports that lead to its destination leaf.
func (m *Measure) leave(x *node, rec *injection, arrived int64, port uint32, first bool, nextHops []uint32, fresh func(port uint32) bool) {
	arrived /= int64(time.Microsecond)
	v := rec.conn
	if first {
		name := "none"
		if p := x.sw.Port(port); p != nil && p.Peer != nil {
			name = p.Peer.Name
		} else if p != nil {
			name = p.Host.Name
		}
		if v.nextHops[rec.sub] == nil {
			v.nextHops[rec.sub] = map[string]int{}
		}
		v.nextHops[rec.sub][name]++
	}
	if !slices.Contains(nextHops, port) {
		return
	}
	place := pinPlace{x.sw, rec.forward}
	pins := v.pins[place]
	own := slices.IndexFunc(pins, func(p pin) bool { return p.sub == rec.sub })
	if own < 0 {
		own = len(pins)
		pins = append(pins, pin{sub: rec.sub})
	}
	pins[own].port, pins[own].last = port, arrived
	v.pins[place] = pins
	var used []uint32
	shared := false
	for i, p := range pins {
		if i != own && arrived-p.last >= m.live {
			continue
		}
		shared = shared || i != own && p.port == port
		if !slices.Contains(used, p.port) {
			used = append(used, p.port)
		}
	}
	if first {
		m.distinctSum += len(used)
		m.distinctN++
	}
	if shared && len(nextHops) > 1 && slices.ContainsFunc(nextHops, func(h uint32) bool { return !slices.Contains(used, h) && fresh(h) }) {
		m.Collisions++
	}
}

// MeanDistinctNextHops is explained at Measure. It is 0 if there was no packet of a connection.
func (m *Measure) MeanDistinctNextHops() float64 {
	if m.distinctN == 0 {
		return 0
	}
	return float64(m.distinctSum) / float64(m.distinctN)
}

// connections renders what was found, in the order of opening.
func (m *Measure) connections() []Connection {
	list := []Connection{}
	for _, v := range m.conns {
		a, b := v.conn.ID.Tokens()
		c := Connection{ID: v.conn.ID.String(), Version: v.conn.Version, Tokens: [2]uint32{a, b}, Subflows: []Subflow{}}
		subs := slices.Clone(v.conn.Subflows)
		slices.SortStableFunc(subs, func(x, y *mptcp.Subflow) int { return cmp.Compare(x.Number, y.Number) })
		for _, s := range subs {
			hops := v.nextHops[s]
			if hops == nil {
				hops = map[string]int{}
			}
			c.Subflows = append(c.Subflows, Subflow{Number: s.Number, FiveTuple: s.Tuple.String(), NextHops: hops})
		}
		list = append(list, c)
	}
	return list
}
