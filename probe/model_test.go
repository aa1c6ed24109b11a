package probe

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestEstimator(t *testing.T) {
	// tau = 2^10 us. 1000 bytes, half a tau later 500 are left; a whole tau later none.
	var e Estimator
	e.Sent(100, 1000, 10)
	for _, c := range []struct {
		now  uint64
		want uint32
	}{{50, 1000}, {100, 1000}, {356, 750}, {612, 500}, {1123, 1000 - 1000*1023/1024}, {1124, 0}, {1 << 40, 0}} {
		if got := e.At(c.now, 10); got != c.want {
			t.Errorf("at %d: %d bytes, want %d", c.now, got, c.want)
		}
	}
	e.Sent(612, 300, 10)
	if e.Bytes != 800 || e.Time != 612 {
		t.Errorf("after the second packet %+v", e)
	}
	e.Sent(600, 1, 10) // time runs backwards between the pipelines: no decay, and the clock stays
	if e.Bytes != 801 || e.Time != 612 {
		t.Errorf("after a packet out of order %+v", e)
	}
	big := Estimator{Bytes: 1<<32 - 100, Time: 5}
	big.Sent(5, 1500, 30)
	if big.Bytes != 1<<32-1 {
		t.Errorf("overflow gives %d", big.Bytes)
	}
	// The 64-bit product: U * dt needs 62 bits here.
	wide := Estimator{Bytes: 1 << 31}
	if got := wide.At(1<<29, 30); got != 1<<30 {
		t.Errorf("half of 2^31 after half a tau of 2^30 us is %d", got)
	}
}

func TestSteadyStateUtilisation(t *testing.T) {
	// 10 Gb/s is 1250 bytes a us; tau = 1024 us, so a full link has U near 1280000 bytes, which is 255.
	const full = 1250 * 1024
	scale := uint32(255 * (1 << 32) / full)
	var e Estimator
	for now := uint64(0); now < 20000; now += 6 {
		e.Sent(now, 7500, 10) // 7500 bytes in 6 us: line rate
	}
	if u := Quantise(e.At(19998, 10), scale); u < 253 {
		t.Errorf("a full link is at %d of 255", u)
	}
	if u := Quantise(full/2, scale); u < 126 || u > 128 {
		t.Errorf("half a link is at %d of 255", u)
	}
	if u := Quantise(1<<32-1, scale); u != 255 {
		t.Errorf("more than a link is at %d", u)
	}
}

func always(s Slot) bool { return s.Port != 0 }

func TestUpdateRules(t *testing.T) {
	type step struct {
		port  uint16
		util  uint8
		round uint32
		want  Outcome
		sent  uint8    // utilisation told, if sent on
		slots []uint16 // ports, best first
	}
	d := NewDestination(2)
	for i, s := range []step{
		{3, 50, 1, SentOn, 50, []uint16{3, 0}},    // first
		{2, 70, 1, Suppressed, 0, []uint16{3, 2}}, // fills the empty slot, best unchanged
		{1, 60, 1, Suppressed, 0, []uint16{3, 1}}, // evicts the worst
		{4, 60, 1, Suppressed, 0, []uint16{3, 1}}, // not better than the worst
		{4, 10, 0, Suppressed, 0, []uint16{3, 1}}, // better, but of an older round
		{3, 80, 2, SentOn, 60, []uint16{1, 3}},    // the best gets worse: refreshed in place, new round
		{3, 10, 1, Old, 0, []uint16{1, 3}},        // old news of the same port
		{3, 20, 2, SentOn, 20, []uint16{3, 1}},    // same round, best changed
		{3, 20, 2, Suppressed, 0, []uint16{3, 1}}, // once a round
		{1, 20, 2, Suppressed, 0, []uint16{1, 3}}, // a tie is ordered by port
		{1, 20, 3, SentOn, 20, []uint16{1, 3}},    // new round
		{3, 9, 2, SentOn, 9, []uint16{3, 1}},      // best changed by a late probe of the round before: told with the newest round
	} {
		p, got := d.Update(uint64(i), s.port, s.util, s.round, always)
		var ports []uint16
		for _, e := range d.Slots {
			ports = append(ports, e.Port)
		}
		if got != s.want || got == SentOn && p.PathUtil != s.sent || !slices.Equal(ports, s.slots) {
			t.Fatalf("step %d: %v with %+v, slots %v; want %v with %d, slots %v", i, got, p, ports, s.want, s.sent, s.slots)
		}
	}
	if d.SentRound != 3 {
		t.Errorf("round %d was told last", d.SentRound)
	}
}

func TestUpdateAgesBySlot(t *testing.T) {
	fresh := func(now uint64) func(Slot) bool {
		return func(s Slot) bool { return s.Port != 0 && now-s.Time <= 100 }
	}
	d := NewDestination(2)
	d.Update(0, 1, 10, 1, fresh(0))
	d.Update(50, 2, 90, 1, fresh(50))
	// At 120 port 1 is stale: port 3 takes its slot although it is worse, and the stale slot is not the worst to evict.
	if p, o := d.Update(120, 3, 95, 2, fresh(120)); o != SentOn || p.PathUtil != 90 {
		t.Errorf("%v %+v", o, p)
	}
	if d.Slots[0].Port != 2 || d.Slots[1].Port != 3 {
		t.Errorf("slots %+v", d.Slots)
	}
	// After an outage an old round is news: the ToR's controller may have started again.
	if p, o := d.Update(1000, 2, 30, 0, fresh(1000)); o != SentOn || p.Round != 0 || p.PathUtil != 30 {
		t.Errorf("%v %+v", o, p)
	}
}

// hula is HULA's rule as the paper has it, with rounds: one best hop.
type hula struct {
	port  uint16
	util  uint8
	time  uint64
	round uint32
}

func (h *hula) update(now uint64, port uint16, util uint8, round uint32, keepAlive uint64) {
	aged := h.port == 0 || now-h.time > keepAlive
	if aged || (util < h.util || port == h.port) && !older(round, h.round) {
		*h = hula{port, util, now, round}
	}
}

func TestOneSlotIsHULA(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 1))
		d, h := NewDestination(1), hula{}
		now, round := uint64(0), uint32(1<<32-50) // rounds wrap
		for step := range 2000 {
			now += rng.Uint64N(60)
			if rng.IntN(4) == 0 {
				round++
			}
			port, util, r := uint16(1+rng.IntN(4)), uint8(rng.IntN(256)), round-uint32(rng.IntN(2))
			d.Update(now, port, util, r, func(s Slot) bool { return s.Port != 0 && now-s.Time <= 200 })
			h.update(now, port, util, r, 200)
			if s := d.Slots[0]; (hula{s.Port, s.Util, s.Time, s.Round}) != h {
				t.Fatalf("seed %d step %d: %+v, HULA has %+v", seed, step, s, h)
			}
		}
	}
}

// TestUpdateInvariants: no port twice, stale slots last, fresh ones sorted, and with no more neighbours than slots the table holds the last
// value of each fresh neighbour.
func TestUpdateInvariants(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 2))
		k := 1 + rng.IntN(8)
		neighbours := 1 + rng.IntN(8)
		d := NewDestination(k)
		last := map[uint16]Slot{}
		now, round := uint64(0), uint32(1)
		for step := range 1000 {
			now += rng.Uint64N(50)
			if rng.IntN(neighbours) == 0 {
				round++
			}
			port, util := uint16(1+rng.IntN(neighbours)), uint8(rng.IntN(256))
			fresh := func(s Slot) bool { return s.Port != 0 && now-s.Time <= 300 }
			d.Update(now, port, util, round, fresh)
			last[port] = Slot{port, util, now, round}
			seen := map[uint16]bool{}
			stale := false
			for i, s := range d.Slots {
				if s.Port == 0 {
					stale = true
					continue
				}
				if seen[s.Port] {
					t.Fatalf("seed %d step %d: port %d twice in %+v", seed, step, s.Port, d.Slots)
				}
				seen[s.Port] = true
				if !fresh(s) {
					stale = true
				} else if stale && d.Slots[0].Time == now {
					t.Fatalf("seed %d step %d: stale slot before a fresh one in %+v", seed, step, d.Slots)
				}
				if i > 0 && fresh(d.Slots[i-1]) && fresh(s) && d.Slots[i-1].Util > s.Util {
					t.Fatalf("seed %d step %d: not sorted: %+v", seed, step, d.Slots)
				}
				if k >= neighbours && s != last[s.Port] {
					t.Fatalf("seed %d step %d: slot %+v, last value %+v", seed, step, s, last[s.Port])
				}
			}
		}
	}
}

func testSwitch(k int) *Switch {
	return NewSwitch(Params{
		Leaf: true, K: k, TauExp: 10, KeepAlive: 2500, FlowletGap: 200, LinkTimeout: 2500, SubflowLive: 2000,
		Flowlets: 64, Connections: 4, Subflows: 8, Seed: 7,
	})
}

func TestFlowletsStayAndMove(t *testing.T) {
	s := testSwitch(2)
	hops := PortSet(1, 2, 3, 4)
	tell := func(now uint64, port uint16, util uint8, round uint32) {
		s.Probe(now, port, Probe{DstToR: 2, PathUtil: util, Round: round}, 0, hops)
	}
	tell(1000, 1, 10, 1)
	tell(1000, 2, 20, 1)
	p := &Packet{ToR: 2, NextHops: hops, FlowHash: 5}
	if got := s.Forward(1001, p); got != 1 {
		t.Fatalf("first packet by port %d", got)
	}
	tell(1100, 2, 5, 2)
	if got := s.Forward(1201, p); got != 1 {
		t.Errorf("flowlet moved to %d within the gap", got)
	}
	if got := s.Forward(1402, p); got != 2 {
		t.Errorf("new flowlet by port %d, the best is 2", got)
	}
	// Port 2 goes silent: the flowlet moves although its gap is not over.
	tell(3500, 1, 10, 3)
	for now := uint64(1500); now <= 3600; now += 100 {
		s.Forward(now, p)
	}
	if got := s.Forward(3601, p); got != 1 {
		t.Errorf("flowlet stays on dead port %d", got)
	}
	// A drained port is left at once.
	if got := s.Forward(3602, &Packet{ToR: 2, NextHops: PortSet(3), FlowHash: 5}); got != 3 {
		t.Errorf("flowlet stays on drained port %d", got)
	}
	// Another destination in the same slot takes the best without overwriting.
	other := &Packet{ToR: 3, NextHops: hops, FlowHash: 5}
	s.Forward(3603, other)
	if e := s.flows[5]; e.tor != 2 {
		t.Errorf("collision overwrote the flowlet: %+v", e)
	}
}

func TestTiesSpread(t *testing.T) {
	s := testSwitch(4)
	hops := PortSet(1, 2, 3, 4)
	for port := uint16(1); port <= 4; port++ {
		s.Probe(1000, port, Probe{DstToR: 2, PathUtil: 0, Round: 1}, 0, hops)
	}
	count := map[uint16]int{}
	for h := range uint32(64) {
		count[s.Forward(1000, &Packet{ToR: 2, NextHops: hops, FlowHash: h})]++
	}
	if len(count) != 4 || count[1] != 16 {
		t.Errorf("64 flows over equal next hops: %v", count)
	}
}

// TestDistinctNextHops drives a connection with random subflows, utilisation, silences and failures, and holds the invariant: no packet leaves by
// a port on which a live sibling is pinned while a fresh next hop is free.
func TestDistinctNextHops(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 3))
		ports := 2 + rng.IntN(5)
		s := testSwitch(ports)
		s.Leaf = rng.IntN(2) == 0
		var all Ports
		for p := 1; p <= ports; p++ {
			all.Add(uint16(p))
		}
		subflows := 1 + rng.IntN(8)
		pinned := map[uint8]struct {
			port uint16
			time uint64
		}{}
		dead := uint16(0)
		now, round := uint64(1000), uint32(0)
		for step := range 3000 {
			now += rng.Uint64N(80)
			switch rng.IntN(40) {
			case 0:
				dead = uint16(rng.IntN(2 * ports)) // a port fails, or none
			case 1, 2, 3, 4, 5, 6, 7, 8, 9, 10:
				round++
				for p := uint16(1); int(p) <= ports; p++ {
					if p != dead {
						s.Probe(now, p, Probe{DstToR: 2, PathUtil: uint8(rng.IntN(3) * 40), Round: round}, 0, all)
					}
				}
			default:
				n := uint8(1 + rng.IntN(subflows))
				port := s.Forward(now, &Packet{ToR: 2, NextHops: all, FlowHash: uint32(n) * 77, ID: 0x1234, Subflow: n, Conn: 1, FirstFlowlet: 1 << 31})
				fresh := s.fresh(now, all)
				free := false
				taken := false
				for _, e := range s.Destination(2).Slots {
					if !fresh(e) {
						continue
					}
					held := false
					for m, x := range pinned {
						held = held || m != n && now-x.time < s.SubflowLive && x.port == e.Port
					}
					free = free || !held
				}
				for m, x := range pinned {
					taken = taken || m != n && now-x.time < s.SubflowLive && x.port == port
				}
				if taken && free {
					t.Fatalf("seed %d step %d: subflow %d leaves by port %d, which a sibling holds, though a next hop is free", seed, step, n, port)
				}
				pinned[n] = struct {
					port uint16
					time uint64
				}{port, now}
			}
		}
	}
}

// TestJoinAvoidsFirstFlowlet: subflow 1 is plain TCP until the keys are known; a join that comes before its first marked packet must not
// take its next hop, and its first marked packet stays where the flowlet is.
func TestJoinAvoidsFirstFlowlet(t *testing.T) {
	for first := range uint32(16) {
		s := testSwitch(4)
		hops := PortSet(1, 2, 3, 4)
		for port := uint16(1); port <= 4; port++ {
			s.Probe(1000, port, Probe{DstToR: 2, Round: 1}, 0, hops)
		}
		one := Packet{ToR: 2, NextHops: hops, FlowHash: first}
		was := s.Forward(1001, &one)
		join := Packet{ToR: 2, NextHops: hops, FlowHash: 40, ID: 0xabcdef, Subflow: 2, Conn: 1, FirstFlowlet: first}
		if got := s.Forward(1002, &join); got == was {
			t.Errorf("the join takes port %d of subflow 1", got)
		}
		one.ID, one.Subflow, one.Conn, one.FirstFlowlet = 0xabcdef, 1, 1, first
		if got := s.Forward(1003, &one); got != was {
			t.Errorf("subflow 1 moved from port %d to %d when it was marked", was, got)
		}
	}
}
