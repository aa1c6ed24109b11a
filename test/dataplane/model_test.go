package dataplane

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"khop/codegen"
	"khop/fabric"
	"khop/probe"
)

// modelSpec is a small fabric: few slots, so that flowlets and connections collide.
func modelSpec(scheme string, k, spines int, rate string) string {
	s := fmt.Sprintf(`name: model
topology: {kind: leaf-spine, leaves: 4, spines: %d}
hosts: {per-leaf: [1-9]}
scheme: {kind: %s, seed: 99`, spines, scheme)
	if k > 0 {
		s += fmt.Sprintf(", k: %d", k)
	}
	s += "}\ntiming: {probe-interval: 100us, tau: 256us, flowlet-gap: 60us, subflow-live: 240us, keep-alive: 400us, link-timeout: 350us}\n"
	s += "links: {fabric: {rate: " + rate + "}}\nsizes: {flowlets: 32, connections: 16}\n"
	if scheme == "mp-hula" {
		s += "mptcp: {max-subflows: 4}\n"
	}
	return s
}

// modelOf returns the reference model of a switch.
func modelOf(f *fabric.Fabric, s *fabric.Switch) *probe.Switch {
	us := func(d interface{ Microseconds() int64 }) uint64 { return uint64(d.Microseconds()) }
	return probe.NewSwitch(probe.Params{
		Leaf: s.Role == fabric.Leaf, K: f.K, TauExp: uint(f.Timing.TauExp()),
		KeepAlive: us(f.Timing.KeepAlive), FlowletGap: us(f.Timing.FlowletGap), LinkTimeout: us(f.Timing.LinkTimeout), SubflowLive: us(f.Timing.SubflowLive),
		Flowlets: f.Sizes.Flowlets, Connections: f.Sizes.Connections, Subflows: codegen.SubflowSlots(f),
		Seed: codegen.SwitchSeed(f, s), HashShift: uint(8 * (s.Role.Tier() - 1)),
	})
}

// differ drives a switch and its model with the same probes, packets, times and failures.
type differ struct {
	*rig
	m        *probe.Switch
	rng      *rand.Rand
	nextHops map[uint32]probe.Ports // by ToR, those in service
	group    map[uint32]uint8
	down     uint32
	seed     uint64
	step     int
}

func newDiffer(t *testing.T, f *fabric.Fabric, name string, seed uint64) *differ {
	r := newRig(t, f, name)
	d := &differ{rig: r, m: modelOf(f, r.sw), rng: rand.New(rand.NewPCG(seed, 5)), group: map[uint32]uint8{}, seed: seed}
	for _, n := range codegen.NextHopsOf(f, r.sw) {
		d.group[n.ToR] = n.Group
	}
	d.drain(0)
	return d
}

func (d *differ) fail(format string, args ...any) {
	d.t.Helper()
	d.t.Fatalf("seed %d step %d at %d us: %s", d.seed, d.step, d.us, fmt.Sprintf(format, args...))
}

// drain takes a port out of service, or none.
func (d *differ) drain(port uint32) {
	d.down = port
	d.nextHops = map[uint32]probe.Ports{}
	if port != 0 {
		d.setDown(port)
	} else {
		d.setDown()
	}
	for _, n := range codegen.NextHopsOf(d.f, d.sw) {
		var set probe.Ports
		for _, p := range n.Ports {
			if p != port {
				set.Add(uint16(p))
			}
		}
		d.nextHops[n.ToR] = set
	}
}

// sent accounts for what left the switch.
func (d *differ) sent() {
	for _, o := range d.outs {
		d.m.Util[o.port].Sent(d.us, uint32(len(o.frame)), d.m.TauExp)
	}
}

// probe lets a probe come in by a port and compares what becomes of it and what the switch then knows.
func (d *differ) probe(port uint32, p probe.Probe) {
	outs := d.send(port, probeFrame(p.DstToR, p.PathUtil, p.Round))
	if p.DstToR == d.sw.ToR || !d.nextHops[p.DstToR].Has(uint16(port)) {
		d.m.Hear(d.us, uint16(port))
		if len(outs) != 0 {
			d.fail("probe %+v by port %d goes on", p, port)
		}
		return
	}
	scale := codegen.UtilScale(d.sw.Port(port).Link.Rate, d.f.Timing)
	next, outcome := d.m.Probe(d.us, uint16(port), p, scale, d.nextHops[p.DstToR])
	var want []uint32
	if outcome == probe.SentOn {
		want = d.sw.ProbePorts(port)
	}
	if len(outs) != len(want) {
		d.fail("probe %+v by port %d: %d copies, the model has %v to %v", p, port, len(outs), outcome, want)
	}
	for i, o := range outs {
		got, err := probe.Parse(o.frame[14:])
		if err != nil || got != next || o.port != want[i] {
			d.fail("probe %+v by port %d goes to %d as %+v, the model has %d, %+v", p, port, o.port, got, want[i], next)
		}
	}
	for slot, s := range d.m.Destination(p.DstToR).Slots {
		at := codegen.KBestIndex(d.f, p.DstToR, slot)
		got := probe.Slot{
			Port: uint16(d.register(codegen.RegisterKBestPort, at)), Util: uint8(d.register(codegen.RegisterKBestUtil, at)),
			Time: d.register(codegen.RegisterKBestTime, at), Round: uint32(d.register(codegen.RegisterKBestRound, at)),
		}
		if got != s {
			d.fail("probe %+v by port %d: slot %d is %+v, the model has %+v", p, port, slot, got, s)
		}
	}
	d.sent()
}

// data sends a data packet in and compares the port that it leaves by and its mark.
func (d *differ) data(in uint32, s segment, p probe.Packet) {
	p.NextHops, p.Group = d.nextHops[p.ToR], d.group[p.ToR]
	p.FlowHash = codegen.FlowHash(s.src, s.dst, s.protocol, s.srcPort, s.dstPort)
	if p.NextHops.Len() == 0 {
		d.dropped(in, s.frame(), codegen.DropNoNextHop)
		return
	}
	o := d.one(in, s.frame())
	if want := d.m.Forward(d.us, &p); o.port != uint32(want) {
		d.fail("packet %+v leaves by port %d, the model has %d; slots %+v", p, o.port, want, d.m.Destination(p.ToR).Slots)
	}
	_, mark := markOf(d.t, o.frame)
	switch {
	case p.ID == 0 && mark != nil:
		d.fail("plain packet is marked %+v", mark)
	case p.ID != 0 && (mark == nil || mark.ID != p.ID || mark.Subflow != p.Subflow):
		d.fail("mark %+v, want %x %d", mark, p.ID, p.Subflow)
	}
	d.sent()
	if got, want := d.register(codegen.RegisterUtilBytes, o.port), d.m.Util[o.port].Bytes; got != uint64(want) {
		d.fail("estimator of port %d has %d bytes, the model %d", o.port, got, want)
	}
}

// randomProbe is a probe of a random leaf by a random port, of a round close to the newest.
func (d *differ) randomProbe(round uint32) {
	port := uint32(1 + d.rng.IntN(d.sw.FabricPorts()))
	util := uint8(d.rng.IntN(256))
	if d.rng.IntN(3) == 0 {
		util = uint8(d.rng.IntN(3)) * 64 // ties
	}
	d.probe(port, probe.Probe{DstToR: uint32(1 + d.rng.IntN(len(d.f.Leaves()))), PathUtil: util, Round: round - uint32(d.rng.IntN(2))})
}

// quiet passes time: mostly less than a flowlet gap, sometimes long enough that all is stale.
func (d *differ) quiet() {
	switch d.rng.IntN(200) {
	case 0:
		d.us += 1000
	case 1, 2, 3:
		d.us += uint64(d.rng.IntN(400))
	default:
		d.us += uint64(d.rng.IntN(20))
	}
}

func steps(t *testing.T) int {
	if testing.Short() {
		return 500
	}
	return 4000
}

// conn is a connection of the leaf test.
type conn struct {
	id    uint64
	slot  uint16
	first uint32
}

func runLeaf(t *testing.T, f *fabric.Fabric, seed uint64) {
	d := newDiffer(t, f, "leaf2", seed)
	host := f.Switch("leaf2").Ports[f.Switch("leaf2").FabricPorts()]
	flow := func(n int) (segment, uint32) {
		leaf := []int{1, 3, 4}[n%3]
		return segment{
			src: ip(fmt.Sprintf("10.0.2.%d", 1+n%9)), dst: ip(fmt.Sprintf("10.0.%d.%d", leaf, 1+n%7)), protocol: 6,
			srcPort: uint16(1000 + n), dstPort: 5001, flags: 0x10, payload: make([]byte, 100*(n%14)),
		}, uint32(leaf)
	}
	const flows = 40
	packet := make([]probe.Packet, flows)
	if f.Scheme.Marks() {
		var conns []conn
		for i := range 3 {
			s, _ := flow(i * 10)
			c := conn{0x1000000100000001 * uint64(i+1), uint16(i * 5), codegen.FlowletIndex(f, codegen.FlowHash(s.src, s.dst, 6, s.srcPort, s.dstPort))}
			conns = append(conns, c)
			d.insert(codegen.TableMPTCPConn, exact(u64(c.id)), call(codegen.ActionSetConn, u64(uint64(c.slot)), u64(uint64(c.first))))
		}
		for n := range flows {
			c := conns[min(n/10, 2)]
			if n >= 30 {
				break // the rest is plain
			}
			s, _ := flow(n)
			sub, backup := uint8(1+n%10), uint64(0)
			if n%10 == 7 {
				backup = 1
			}
			src, dst := codegen.Addr128(s.src), codegen.Addr128(s.dst)
			install := func() {
				d.insert(codegen.TableMPTCPFlow, exact(src[:], dst[:], u64(uint64(s.srcPort)), u64(uint64(s.dstPort))),
					call(codegen.ActionSetFlow, u64(c.id), u64(uint64(sub)), u64(backup)))
			}
			if sub == 1 {
				// Starts as plain TCP, becomes known later.
				packet[n] = probe.Packet{}
				for range 3 {
					seg, tor := flow(n)
					d.data(host.Number, seg, probe.Packet{ToR: tor})
					d.us += 5
				}
			}
			install()
			packet[n] = probe.Packet{ID: c.id, Subflow: sub, Backup: backup == 1, Conn: c.slot, FirstFlowlet: c.first}
		}
	}
	round := uint32(1<<32 - 40)
	for d.step = range steps(t) {
		d.quiet()
		if d.rng.IntN(20) == 0 {
			round++
		}
		switch x := d.rng.IntN(100); {
		case x == 0:
			d.drain(uint32(d.rng.IntN(2 * d.sw.FabricPorts())))
		case x < 45:
			d.randomProbe(round)
		default:
			n := d.rng.IntN(flows)
			s, tor := flow(n)
			p := packet[n]
			p.ToR = tor
			d.data(host.Number, s, p)
		}
	}
}

func runSpine(t *testing.T, f *fabric.Fabric, name string, seed uint64) {
	d := newDiffer(t, f, name, seed)
	round := uint32(1<<32 - 40)
	leaves := len(f.Leaves())
	for d.step = range steps(t) {
		d.quiet()
		if d.rng.IntN(20) == 0 {
			round++
		}
		switch x := d.rng.IntN(100); {
		case x == 0:
			d.drain(uint32(d.rng.IntN(2 * d.sw.FabricPorts())))
		case x < 45:
			d.randomProbe(round)
		default:
			tor := 1 + d.rng.IntN(leaves)
			n := d.rng.IntN(30)
			s := segment{
				src: ip("10.0.200.1"), dst: ip(fmt.Sprintf("10.0.%d.1", tor)), protocol: 6, srcPort: uint16(n), dstPort: 5001, flags: 0x10,
				payload: make([]byte, 100*(n%14)),
			}
			p := probe.Packet{ToR: uint32(tor)}
			if f.Scheme.Marks() && n < 24 {
				// Many connections in 16 slots: some collide.
				p.ID, p.Subflow = uint64(n/4+1)*0x0123456789abcdef, uint8(1+n%6)
				s.mark = &probe.Mark{ID: p.ID, Subflow: p.Subflow}
				p.Conn = connSlot(d.f, d.group[uint32(tor)], p.ID)
			}
			d.data(uint32(1+d.rng.IntN(d.sw.FabricPorts())), s, p)
		}
	}
}

// connSlot is the connection slot at an upper tier: a hash of next-hop group and MPTCP id.
func connSlot(f *fabric.Fabric, group uint8, id uint64) uint16 {
	b := binary.BigEndian.AppendUint64([]byte{group}, id)
	return uint16(crc32IEEE(b) % uint32(f.Sizes.Connections))
}

// crc32IEEE is written out here so that the test does not share the generator's tables: reflected polynomial 0xedb88320.
func crc32IEEE(b []byte) uint32 {
	crc := ^uint32(0)
	for _, x := range b {
		crc ^= uint32(x)
		for range 8 {
			crc = crc>>1 ^ 0xedb88320&-(crc&1)
		}
	}
	return ^crc
}

func seeds() uint64 {
	if testing.Short() {
		return 1
	}
	return 3
}

// TestLeafMatchesModel and TestSpineMatchesModel compare every decision of the generated programs with the reference model.
func TestLeafMatchesModel(t *testing.T) {
	for _, c := range []struct {
		scheme    string
		k, spines int
	}{{"hula", 0, 4}, {"mp-hula", 1, 3}, {"mp-hula", 2, 4}, {"mp-hula", 3, 5}, {"mp-hula", 4, 4}, {"mp-hula", 8, 6}, {"mp-hula", 8, 100}} {
		t.Run(fmt.Sprintf("%s-k%d-%d", c.scheme, c.k, c.spines), func(t *testing.T) {
			t.Parallel()
			f := spec(t, modelSpec(c.scheme, c.k, c.spines, "1Gbps"))
			for seed := range seeds() {
				runLeaf(t, f, seed)
			}
		})
	}
}

func TestSpineMatchesModel(t *testing.T) {
	for _, c := range []struct {
		scheme string
		k      int
	}{{"hula", 0}, {"mp-hula", 2}, {"mp-hula", 3}} {
		t.Run(fmt.Sprintf("%s-k%d", c.scheme, c.k), func(t *testing.T) {
			t.Parallel()
			text := modelSpec(c.scheme, c.k, 1, "1Gbps")
			text = fatTree(text)
			f := spec(t, text)
			for seed := range seeds() {
				runSpine(t, f, "spine1", seed)
				runSpine(t, f, "core1", seed)
			}
		})
	}
}

// fatTree turns the leaf-spine of modelSpec into a fat-tree of 6-port switches: 3 next hops up.
func fatTree(text string) string {
	const old = "topology: {kind: leaf-spine, leaves: 4, spines: 1}"
	i := len("name: model\n")
	return text[:i] + "topology: {kind: fat-tree, k: 6}" + text[i+len(old):]
}

// TestOneSlotEqualsHULA: mp-hula with k = 1 and unmarked traffic decides as hula does, packet by packet.
func TestOneSlotEqualsHULA(t *testing.T) {
	a := newDiffer(t, spec(t, modelSpec("hula", 0, 4, "1Gbps")), "leaf2", 7)
	b := newDiffer(t, spec(t, modelSpec("mp-hula", 1, 4, "1Gbps")), "leaf2", 7)
	rng := rand.New(rand.NewPCG(7, 7))
	for step := range steps(t) {
		a.us += uint64(rng.IntN(25))
		b.us = a.us
		var in uint32
		var frame []byte
		if rng.IntN(2) == 0 {
			in, frame = uint32(1+rng.IntN(4)), probeFrame(uint32(1+rng.IntN(4)), uint8(rng.IntN(256)), uint32(step/30))
		} else {
			n := rng.IntN(40)
			in, frame = 5, segment{src: ip("10.0.2.1"), dst: ip(fmt.Sprintf("10.0.%d.1", []int{1, 3, 4}[n%3])), srcPort: uint16(n), flags: 0x10}.frame()
		}
		x, y := a.send(in, frame), b.send(in, frame)
		if fmt.Sprint(x) != fmt.Sprint(y) {
			t.Fatalf("step %d: hula %v, mp-hula with k = 1 %v", step, x, y)
		}
	}
}
