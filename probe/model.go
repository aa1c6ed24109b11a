package probe

// Params are the constants of a switch. Times are microseconds.
type Params struct {
	Leaf        bool
	K           int
	TauExp      uint
	KeepAlive   uint64
	FlowletGap  uint64
	LinkTimeout uint64
	SubflowLive uint64
	Flowlets    int    // flowlet slots, a power of two
	Connections int    // connection slots, a power of two
	Subflows    int    // subflow slots of a connection, a power of two
	Seed        uint32 // of the hash
	HashShift   uint   // low bits of the hash that are left to other tiers
}

// Switch is the model of one switch: all that decides where probes and packets go, and nothing else.
type Switch struct {
	Params
	Util   []Estimator // by port
	seen   []uint64    // by port: time of the last probe; 0 never
	dests  map[uint32]*Destination
	flows  []flowlet
	subs   []subflow
	shared []bool
}

type flowlet struct {
	time uint64
	port uint16
	tor  uint32
}

type subflow struct {
	group  uint8
	id     uint64
	number uint8
	port   uint16
	time   uint64
}

// NewSwitch returns a switch that has heard nothing yet.
func NewSwitch(p Params) *Switch {
	return &Switch{
		Params: p,
		Util:   make([]Estimator, 512),
		seen:   make([]uint64, 512),
		dests:  map[uint32]*Destination{},
		flows:  make([]flowlet, p.Flowlets),
		subs:   make([]subflow, p.Connections*p.Subflows),
		shared: make([]bool, p.Connections),
	}
}

// Destination returns what the switch knows about a ToR.
func (s *Switch) Destination(tor uint32) *Destination {
	d := s.dests[tor]
	if d == nil {
		d = NewDestination(s.K)
		s.dests[tor] = d
	}
	return d
}

// Hear records that a probe came in by a port, whatever it tells.
func (s *Switch) Hear(now uint64, port uint16) { s.seen[port] = now }

// alive reports whether a port sees probes.
func (s *Switch) alive(now uint64, port uint16) bool {
	return s.seen[port] != 0 && now-s.seen[port] <= s.LinkTimeout
}

// usable reports whether a port is alive and leads to the destination.
func (s *Switch) usable(now uint64, port uint16, nextHops Ports) bool {
	return nextHops.Has(port) && s.alive(now, port)
}

func (s *Switch) fresh(now uint64, nextHops Ports) func(Slot) bool {
	return func(e Slot) bool {
		return e.Port != 0 && now-e.Time <= s.KeepAlive && s.usable(now, e.Port, nextHops)
	}
}

// Probe takes a probe of another ToR that came in by one of the next hops towards it. scale is that of the port (see [Quantise]).
func (s *Switch) Probe(now uint64, port uint16, p Probe, scale uint32, nextHops Ports) (Probe, Outcome) {
	s.Hear(now, port)
	util := max(p.PathUtil, Quantise(s.Util[port].At(now, s.TauExp), scale))
	out, outcome := s.Destination(p.DstToR).Update(now, port, util, p.Round, s.fresh(now, nextHops))
	out.DstToR = p.DstToR
	return out, outcome
}

// Packet is what a switch knows about a data packet when it chooses the next hop.
type Packet struct {
	ToR          uint32 // destination
	NextHops     Ports  // ports that lead there and are in service; at least one
	Group        uint8  // next-hop group of the destination
	FlowHash     uint32
	ID           uint64 // MPTCP id; 0: plain
	Subflow      uint8  // from 1, if ID is not 0
	Backup       bool   // leaf only: the subflow has no rank of its own
	Conn         uint16 // connection slot
	FirstFlowlet uint32 // leaf only: flowlet slot of subflow 1
}

// Forward returns the port that a packet leaves by, and remembers it.
func (s *Switch) Forward(now uint64, p *Packet) uint16 {
	var (
		port      uint16
		floating  bool // has no place of its own among the subflows: plain, a backup, or the place is taken
		own       bool
		collision bool
	)
	marked := p.ID != 0
	base := int(p.Conn) * s.Subflows
	at := base
	if !marked {
		floating = true
	} else {
		at = base + int(p.Subflow-1)&(s.Subflows-1)
		e := &s.subs[at]
		mine := e.group == p.Group && e.id == p.ID
		switch {
		case s.Leaf && p.Backup:
			floating = true
		case mine && e.number == p.Subflow:
			own = true
			if now-e.time <= s.FlowletGap && s.usable(now, e.port, p.NextHops) {
				port = e.port
			}
		case e.port != 0 && now-e.time < s.SubflowLive && (mine || !s.Leaf):
			floating = true
		}
	}
	// Subflow 1 was plain TCP until the keys were known: it stays where its flowlet is, unless a sibling has come there.
	fi := p.FlowHash & uint32(s.Flowlets-1)
	if floating || !own && p.Subflow == 1 {
		if e := &s.flows[fi]; e.port != 0 && now-e.time <= s.FlowletGap {
			switch {
			case e.tor != p.ToR:
				collision = true
			case s.usable(now, e.port, p.NextHops):
				port = e.port
			}
		}
	}
	pick := port == 0
	var held Ports
	sharing := false
	recheck := marked && (pick || s.shared[p.Conn] || !own)
	if recheck {
		held, sharing = s.held(now, p, base, at, floating)
	}
	if pick || recheck {
		candidates, rank := s.candidates(now, p)
		choice, free := choose(candidates, rank, held)
		if pick || held.Has(port) && free {
			port = choice
		}
	}
	if marked && !floating {
		if e := &s.subs[at]; !own {
			*e = subflow{group: p.Group, id: p.ID, number: p.Subflow}
		}
		s.subs[at].port, s.subs[at].time = port, now
		if recheck {
			s.shared[p.Conn] = sharing || held.Has(port)
		}
	} else if !collision {
		s.flows[fi] = flowlet{time: now, port: port, tor: p.ToR}
	}
	return port
}

// held returns the ports on which live siblings of a packet's subflow are pinned, and whether two of them share one.
func (s *Switch) held(now uint64, p *Packet, base, at int, floating bool) (held Ports, sharing bool) {
	hold := func(port uint16) {
		sharing = sharing || held.Has(port)
		held.Add(port)
	}
	for i := base; i < base+s.Subflows; i++ {
		e := &s.subs[i]
		if (i != at || floating) && e.group == p.Group && e.id == p.ID && e.port != 0 && now-e.time < s.SubflowLive {
			hold(e.port)
		}
	}
	// Before its first marked packet subflow 1 was plain TCP, so it is where its flowlet is.
	first := &s.subs[base]
	if s.Leaf && p.Subflow != 1 && !(first.group == p.Group && first.id == p.ID && first.number == 1) && p.FirstFlowlet < uint32(s.Flowlets) {
		if e := &s.flows[p.FirstFlowlet]; e.port != 0 && now-e.time < s.SubflowLive {
			hold(e.port)
		}
	}
	return held, sharing
}

// candidates returns the next hops to choose from and where to start: the fresh slots of the destination, best first, or if there is none
// the ports that see probes, or all.
func (s *Switch) candidates(now uint64, p *Packet) (ports []uint16, rank int) {
	spread := p.FlowHash
	if p.ID != 0 {
		spread = uint32(p.ID>>32) ^ uint32(p.ID)
	}
	spread = (spread ^ s.Seed) >> s.HashShift
	subflow := p.Subflow
	if p.ID == 0 {
		subflow = 0
	}
	fresh := s.fresh(now, p.NextHops)
	ties, best := 0, uint8(0)
	for _, e := range s.Destination(p.ToR).Slots {
		if !fresh(e) {
			continue
		}
		if len(ports) == 0 {
			best = e.Util
		}
		if e.Util == best {
			ties++
		}
		ports = append(ports, e.Port)
	}
	if len(ports) > 0 {
		return ports, startRank(len(ports), ties, subflow, spread)
	}
	for _, n := range p.NextHops.list() {
		if s.alive(now, n) {
			ports = append(ports, n)
		}
	}
	if len(ports) == 0 {
		ports = p.NextHops.list()
	}
	if subflow != 0 {
		spread += uint32(subflow - 1)
	}
	return ports, int(spread % uint32(len(ports)))
}
