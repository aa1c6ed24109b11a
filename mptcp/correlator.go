package mptcp

import (
	"cmp"
	"net/netip"
	"slices"
)

// Config tunes a Correlator. The zero value never expires anything.
type Config struct {
	// IdleTimeout removes subflows that no segment was observed on for so long, in nanoseconds. 0: never.
	IdleTimeout int64
	// Linger is how long, in nanoseconds, the keys of a closed connection are remembered so that a late copy of its
	// handshake (the other leaf's digest) does not open it again. 0: not at all.
	Linger int64
	// MaxPending bounds the handshakes and the early joins that are kept. 0: 65536.
	MaxPending int
}

// Connection is one MPTCP connection whose keys are known.
type Connection struct {
	ID       ID
	Version  uint8
	KeyA     uint64 // of the initiator
	KeyB     uint64 // of the listener
	Subflows []*Subflow
	Fallback bool // MP_FAIL was seen: one subflow with an infinite mapping remains
	addrsA   []netip.Addr
	addrsB   []netip.Addr
	open     int
	highest  int // subflow number given out
}

// MaxNumber is the highest subflow number: the mark has 8 bits for it. Later subflows all have it.
const MaxNumber = 255

// Addrs returns the addresses that an end of the connection is known to own, in the order in which they were learned.
func (c *Connection) Addrs(initiator bool) []netip.Addr {
	if initiator {
		return c.addrsA
	}
	return c.addrsB
}

// Subflow is one TCP connection of an MPTCP connection.
type Subflow struct {
	Number int   // from 1, the initial subflow; then one more than the highest so far, at most MaxNumber
	Tuple  Tuple // from the end that opened it
	Backup bool
	Opened int64 // time of the segment that opened it
	Last   int64 // time of its last observed segment
	Closed bool
	nonce  uint32
	fins   uint8 // bit 0: FIN from the opener, bit 1: from the other end
}

// EventKind says what a segment changed.
type EventKind uint8

// Kinds of events.
const (
	ConnectionOpened EventKind = iota + 1 // both keys are known; Subflow is the initial one
	SubflowOpened                         // an MP_JOIN found its connection
	SubflowChanged                        // MP_PRIO changed its backup state
	SubflowClosed                         // FIN from both ends, RST, idle, or its port was reused
	ConnectionClosed                      // its last subflow closed, or MP_FASTCLOSE
	FellBack                              // a SYN offered MPTCP and the SYN/ACK declined it; Conn and Subflow are nil
)

// Event is one change of the correlator's state.
type Event struct {
	Kind    EventKind
	Conn    *Connection
	Subflow *Subflow
	Tuple   Tuple // of the segment that caused it
}

type tokenOwner struct {
	token uint32
	addr  netip.Addr
}

type handshake struct {
	version    uint8
	keyA, keyB uint64
	hasA, hasB bool
	at         int64
}

type earlyJoin struct {
	tuple  Tuple
	option Option
	number int
	at     int64
}

type tombstone struct {
	keyA, keyB uint64
	at         int64
}

type place struct {
	conn *Connection
	sub  *Subflow
}

// Correlator finds MPTCP connections and their subflows in a stream of segments. The segments may come from a capture or
// from the digests of several switches: the same segment seen twice, or late, changes nothing the second time.
// It is not safe for concurrent use.
type Correlator struct {
	config  Config
	conns   []*Connection // in order of opening, open ones only
	flows   map[Tuple]place
	tokens  map[tokenOwner]*Connection
	pending map[Tuple]handshake // by the initiator's direction
	early   map[tokenOwner][]earlyJoin
	earlyN  int
	closed  map[Tuple]tombstone
	events  []Event
}

// NewCorrelator returns an empty correlator.
func NewCorrelator(config Config) *Correlator {
	if config.MaxPending == 0 {
		config.MaxPending = 65536
	}
	return &Correlator{
		config:  config,
		flows:   map[Tuple]place{},
		tokens:  map[tokenOwner]*Connection{},
		pending: map[Tuple]handshake{},
		early:   map[tokenOwner][]earlyJoin{},
		closed:  map[Tuple]tombstone{},
	}
}

// Connections returns the open connections in the order in which they were opened.
func (c *Correlator) Connections() []*Connection { return c.conns }

// Lookup returns the connection and subflow of a tuple in either direction, or nil.
func (c *Correlator) Lookup(t Tuple) (*Connection, *Subflow) {
	p := c.flows[t]
	return p.conn, p.sub
}

// Token returns the open connection whose end at addr owns the token, or nil.
func (c *Correlator) Token(token uint32, addr netip.Addr) *Connection {
	return c.tokens[tokenOwner{token, addr}]
}

// Observe takes one segment and returns what it changed. The slice is valid until the next call.
func (c *Correlator) Observe(s *Segment) []Event {
	c.events = c.events[:0]
	if p, ok := c.flows[s.Tuple]; ok {
		p.sub.Last = max(p.sub.Last, s.Time)
	}
	if s.Flags&SYN != 0 {
		c.observeSYN(s)
	}
	for i := range s.Options {
		c.observeOption(s, &s.Options[i])
	}
	if p, ok := c.flows[s.Tuple]; ok {
		c.observeEnd(s, p)
	}
	return c.events
}

// observeSYN handles what the absence of an option means.
func (c *Correlator) observeSYN(s *Segment) {
	has := func(st Subtype) bool {
		return slices.ContainsFunc(s.Options, func(o Option) bool { return o.Subtype == st })
	}
	if s.Flags&ACK != 0 {
		if _, offered := c.pending[s.Tuple.Reverse()]; offered && !has(MPCapable) {
			delete(c.pending, s.Tuple.Reverse())
			c.emit(FellBack, nil, nil, s.Tuple)
		}
		return
	}
	if p, ok := c.flows[s.Tuple]; ok && !has(MPCapable) && !has(MPJoin) {
		c.closeSubflow(p.conn, p.sub, s) // the ports were reused by a plain connection
	}
}

func (c *Correlator) observeOption(s *Segment, o *Option) {
	switch o.Subtype {
	case MPCapable:
		c.observeCapable(s, o)
	case MPJoin:
		if o.Join == JoinSYN && s.Flags&SYN != 0 && s.Flags&ACK == 0 {
			c.join(s.Tuple, o, s.Number, s.Time, true)
		}
	case DSS:
		// Version 0 repeats no keys: data from the initiator confirms a handshake whose third ACK was lost.
		if h, ok := c.pending[s.Tuple]; ok && h.version == 0 && h.hasA && h.hasB && s.Flags&SYN == 0 {
			c.open(s.Tuple, h, s.Time)
		}
	case AddAddr:
		if p, ok := c.flows[s.Tuple]; ok && !o.Echo {
			c.learn(p.conn, o.Addr, c.fromInitiator(p, s.Tuple))
		}
	case MPPrio:
		if p, ok := c.flows[s.Tuple]; ok && !o.HasAddrID && p.sub.Backup != o.Backup {
			p.sub.Backup = o.Backup
			c.emit(SubflowChanged, p.conn, p.sub, s.Tuple)
		}
	case MPFail:
		if p, ok := c.flows[s.Tuple]; ok {
			p.conn.Fallback = true
		}
	case MPFastclose:
		if p, ok := c.flows[s.Tuple]; ok {
			// The option carries the receiver's key, so that a blind attacker can't close the connection.
			if want := keyOf(p.conn, !c.fromInitiator(p, s.Tuple)); o.ReceiverKey == want {
				c.closeConnection(p.conn, s)
			}
		}
	}
}

func (c *Correlator) closeConnection(conn *Connection, s *Segment) {
	for _, sub := range conn.Subflows {
		if !sub.Closed {
			c.closeSubflow(conn, sub, s)
		}
	}
}

func keyOf(conn *Connection, initiator bool) uint64 {
	if initiator {
		return conn.KeyA
	}
	return conn.KeyB
}

// fromInitiator reports whether a segment with tuple t of subflow p comes from the end that opened the connection.
func (c *Correlator) fromInitiator(p place, t Tuple) bool {
	return slices.Contains(p.conn.addrsA, t.Src.Addr())
}

func (c *Correlator) observeCapable(s *Segment, o *Option) {
	switch {
	case s.Flags&SYN != 0 && s.Flags&ACK == 0:
		if _, known := c.pending[s.Tuple]; !known && len(c.pending) >= c.config.MaxPending {
			c.dropOldestPending()
		}
		h := c.pending[s.Tuple]
		if h.hasA != o.HasSenderKey || h.keyA != o.SenderKey {
			h = handshake{} // another attempt on the same ports
		}
		h.version, h.keyA, h.hasA, h.at = o.Version, o.SenderKey, o.HasSenderKey, s.Time
		c.pending[s.Tuple] = h
	case s.Flags&SYN != 0:
		if h, ok := c.pending[s.Tuple.Reverse()]; ok && o.HasSenderKey {
			h.version, h.keyB, h.hasB = o.Version, o.SenderKey, true
			c.pending[s.Tuple.Reverse()] = h
		}
	case o.HasSenderKey && o.HasReceiverKey:
		h := handshake{version: o.Version, keyA: o.SenderKey, keyB: o.ReceiverKey, hasA: true, hasB: true}
		if seen, ok := c.pending[s.Tuple]; ok && (seen.hasA && seen.keyA != h.keyA || seen.hasB && seen.keyB != h.keyB) {
			return // contradicts the handshake that was seen: forged, or damaged
		}
		c.open(s.Tuple, h, s.Time)
	}
}

func (c *Correlator) dropOldestPending() {
	var victim Tuple
	best := handshake{at: 1<<63 - 1}
	for t, h := range c.pending {
		if h.at < best.at || h.at == best.at && compareTuples(t, victim) < 0 {
			victim, best = t, h
		}
	}
	delete(c.pending, victim)
}

func compareTuples(a, b Tuple) int {
	return cmp.Or(a.Src.Compare(b.Src), a.Dst.Compare(b.Dst))
}

func (c *Correlator) open(t Tuple, h handshake, now int64) {
	delete(c.pending, t)
	tokenA, err := Token(h.version, h.keyA)
	if err != nil {
		return // a version that nobody has defined: plain TCP
	}
	tokenB, _ := Token(h.version, h.keyB)
	if p, ok := c.flows[t]; ok {
		if p.conn.KeyA == h.keyA && p.conn.KeyB == h.keyB {
			return // a copy of what is known
		}
		c.closeSubflow(p.conn, p.sub, &Segment{Time: now, Tuple: t})
	}
	if dead, ok := c.closed[t]; ok && dead.keyA == h.keyA && dead.keyB == h.keyB && now-dead.at <= c.config.Linger {
		return
	}
	conn := &Connection{ID: MakeID(tokenA, tokenB), Version: h.version, KeyA: h.keyA, KeyB: h.keyB}
	c.conns = append(c.conns, conn)
	sub := c.addSubflow(conn, &Subflow{Tuple: t, Opened: now, Last: now})
	c.emit(ConnectionOpened, conn, sub, t)
	c.learn(conn, t.Src.Addr(), true)
	c.learn(conn, t.Dst.Addr(), false)
}

// learn notes that an end of the connection owns addr, and admits the joins that waited for it.
func (c *Correlator) learn(conn *Connection, addr netip.Addr, initiator bool) {
	addrs, token := &conn.addrsB, uint32(conn.ID)
	if initiator {
		addrs, token = &conn.addrsA, uint32(conn.ID>>32)
	}
	if slices.Contains(*addrs, addr) {
		return
	}
	*addrs = append(*addrs, addr)
	owner := tokenOwner{token, addr}
	if _, taken := c.tokens[owner]; !taken {
		c.tokens[owner] = conn
	}
	waiting := c.early[owner]
	delete(c.early, owner)
	c.earlyN -= len(waiting)
	for i := range waiting {
		c.join(waiting[i].tuple, &waiting[i].option, waiting[i].number, waiting[i].at, false)
	}
}

func (c *Correlator) join(t Tuple, o *Option, number int, now int64, mayWait bool) {
	if p, ok := c.flows[t]; ok {
		if p.sub.nonce == o.Nonce && p.sub.Number != 1 {
			return // retransmitted, or the other leaf's copy
		}
		c.closeSubflow(p.conn, p.sub, &Segment{Time: now, Tuple: t})
	}
	owner := tokenOwner{o.Token, t.Dst.Addr()}
	conn := c.tokens[owner]
	if conn == nil {
		if mayWait && c.earlyN < c.config.MaxPending {
			c.early[owner] = append(c.early[owner], earlyJoin{tuple: t, option: *o, number: number, at: now})
			c.earlyN++
		}
		return
	}
	sub := c.addSubflow(conn, &Subflow{Number: number, Tuple: t, Backup: o.Backup, Opened: now, Last: now, nonce: o.Nonce})
	c.emit(SubflowOpened, conn, sub, t)
	// The joiner is the end that does not own the token.
	c.learn(conn, t.Src.Addr(), o.Token == uint32(conn.ID))
}

func (c *Correlator) addSubflow(conn *Connection, sub *Subflow) *Subflow {
	taken := slices.ContainsFunc(conn.Subflows, func(s *Subflow) bool { return !s.Closed && s.Number == sub.Number })
	if sub.Number == 0 || taken {
		sub.Number = min(conn.highest+1, MaxNumber)
	}
	conn.highest = max(conn.highest, sub.Number)
	conn.Subflows = append(conn.Subflows, sub)
	conn.open++
	c.flows[sub.Tuple] = place{conn, sub}
	c.flows[sub.Tuple.Reverse()] = place{conn, sub}
	return sub
}

func (c *Correlator) observeEnd(s *Segment, p place) {
	if s.Flags&RST != 0 {
		c.closeSubflow(p.conn, p.sub, s)
		return
	}
	if s.Flags&FIN == 0 {
		return
	}
	if s.Tuple == p.sub.Tuple {
		p.sub.fins |= 1
	} else {
		p.sub.fins |= 2
	}
	if p.sub.fins == 3 {
		c.closeSubflow(p.conn, p.sub, s)
	}
}

func (c *Correlator) closeSubflow(conn *Connection, sub *Subflow, s *Segment) {
	sub.Closed = true
	conn.open--
	delete(c.flows, sub.Tuple)
	delete(c.flows, sub.Tuple.Reverse())
	c.emit(SubflowClosed, conn, sub, s.Tuple)
	if conn.open > 0 {
		return
	}
	for _, a := range conn.addrsA {
		c.forget(tokenOwner{uint32(conn.ID >> 32), a}, conn)
	}
	for _, a := range conn.addrsB {
		c.forget(tokenOwner{uint32(conn.ID), a}, conn)
	}
	c.conns = slices.DeleteFunc(c.conns, func(x *Connection) bool { return x == conn })
	if c.config.Linger > 0 {
		c.closed[conn.Subflows[0].Tuple] = tombstone{keyA: conn.KeyA, keyB: conn.KeyB, at: s.Time}
	}
	c.emit(ConnectionClosed, conn, sub, s.Tuple)
}

func (c *Correlator) forget(owner tokenOwner, conn *Connection) {
	if c.tokens[owner] == conn {
		delete(c.tokens, owner)
	}
}

// Remove closes the subflow of a tuple, as when a switch reports its entry idle, and returns what changed. The slice is
// valid until the next call.
func (c *Correlator) Remove(t Tuple, now int64) []Event {
	c.events = c.events[:0]
	if p, ok := c.flows[t]; ok {
		c.closeSubflow(p.conn, p.sub, &Segment{Time: now, Tuple: t})
	}
	return c.events
}

// Close closes the whole connection of a tuple, as when a switch reports MP_FASTCLOSE, and returns what changed. The slice
// is valid until the next call.
func (c *Correlator) Close(t Tuple, now int64) []Event {
	c.events = c.events[:0]
	if p, ok := c.flows[t]; ok {
		c.closeConnection(p.conn, &Segment{Time: now, Tuple: t})
	}
	return c.events
}

// Expire closes subflows that were idle for Config.IdleTimeout and forgets handshakes, early joins and closed
// connections that are too old to matter. The slice is valid until the next call.
func (c *Correlator) Expire(now int64) []Event {
	c.events = c.events[:0]
	if idle := c.config.IdleTimeout; idle > 0 {
		for _, conn := range slices.Clone(c.conns) {
			for _, sub := range conn.Subflows {
				if !sub.Closed && now-sub.Last > idle {
					c.closeSubflow(conn, sub, &Segment{Time: now, Tuple: sub.Tuple})
				}
			}
		}
		for t, h := range c.pending {
			if now-h.at > idle {
				delete(c.pending, t)
			}
		}
		for owner, joins := range c.early {
			kept := slices.DeleteFunc(joins, func(j earlyJoin) bool { return now-j.at > idle })
			c.earlyN -= len(joins) - len(kept)
			if len(kept) == 0 {
				delete(c.early, owner)
			} else {
				c.early[owner] = kept
			}
		}
	}
	for t, dead := range c.closed {
		if now-dead.at > c.config.Linger {
			delete(c.closed, t)
		}
	}
	return c.events
}

func (c *Correlator) emit(kind EventKind, conn *Connection, sub *Subflow, t Tuple) {
	c.events = append(c.events, Event{Kind: kind, Conn: conn, Subflow: sub, Tuple: t})
}
