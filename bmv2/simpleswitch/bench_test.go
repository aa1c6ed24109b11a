package simpleswitch

import (
	"encoding/binary"
	"fmt"
	"testing"

	"khop/bmv2/config"
	ct "khop/bmv2/config/configtest"
	"khop/bmv2/pipeline"
)

// router is an IPv4 router: Ethernet and IPv4 with checksum, a longest-prefix table, an exact table of next hops, and an
// exact table of outgoing ports in egress.
func router(size int) *config.Config {
	c := ct.Base(32)
	ct.AddHeader(c, "ethernet", 0, ct.Bits("dst", 48), ct.Bits("src", 48), ct.Bits("type", 16))
	ct.AddHeader(c, "ipv4", 0, ct.Bits("version", 4), ct.Bits("ihl", 4), ct.Bits("dscp", 8), ct.Bits("len", 16),
		ct.Bits("id", 16), ct.Bits("flags", 3), ct.Bits("frag", 13), ct.Bits("ttl", 8), ct.Bits("proto", 8),
		ct.Bits("csum", 16), ct.Bits("src", 32), ct.Bits("dst", 32))
	c.Parsers[0].States = []config.State{
		{Name: "start", Ops: []config.ParserOp{ct.Extract("ethernet")}, Key: []config.Value{ct.F("ethernet", "type")},
			Transitions: []config.Transition{{Kind: config.TransitionValue, Value: []byte{8, 0}, Next: "ipv4"}, {}}},
		{Name: "ipv4", Ops: []config.ParserOp{ct.Extract("ipv4")}},
	}
	var input []config.Value
	for _, f := range []string{"version", "ihl", "dscp", "len", "id", "flags", "frag", "ttl", "proto", "src", "dst"} {
		input = append(input, ct.F("ipv4", f))
	}
	c.Calcs = []config.Calculation{{Name: "sum", Algo: "csum16", Input: input}}
	c.Checksums = []config.Checksum{{Name: "sum", Target: [2]string{"ipv4", "csum"}, Type: "generic", Calc: "sum", Update: true,
		Verify: true, If: ptr(ct.Op("valid", ct.Named(config.KindHeader, "ipv4")))}}
	ct.AddAction(c, "drop", nil, ct.P("mark_to_drop", ct.Named(config.KindHeader, "standard_metadata")))
	ct.AddAction(c, "set_nhop", []config.Param{{Name: "nhop", Width: 32}, {Name: "port", Width: 9}},
		ct.Assign(ct.S(0), ct.Arg(0)), ct.Assign(ct.Std("egress_spec"), ct.Arg(1)),
		ct.Assign(ct.F("ipv4", "ttl"), ct.Op("&", ct.Op("+", ct.F("ipv4", "ttl"), ct.N(255)), ct.N(255))))
	ct.AddAction(c, "set_dmac", []config.Param{{Name: "mac", Width: 48}}, ct.Assign(ct.F("ethernet", "dst"), ct.Arg(0)))
	ct.AddAction(c, "rewrite", []config.Param{{Name: "mac", Width: 48}}, ct.Assign(ct.F("ethernet", "src"), ct.Arg(0)))
	drop := &config.DefaultEntry{ActionID: 0}
	ct.AddTable(c, "ingress", config.Table{Name: "forward", MatchType: "exact", MaxSize: 1 << 20, Default: drop,
		Actions: []string{"set_dmac", "drop"}, Key: []config.KeyField{{MatchType: "exact", Target: [2]string{"scalars", "s0"}}}}, "")
	ct.AddTable(c, "ingress", config.Table{Name: "lpm", MatchType: "lpm", MaxSize: size, Default: drop,
		Actions: []string{"set_nhop", "drop"}, Key: []config.KeyField{{MatchType: "lpm", Target: [2]string{"ipv4", "dst"}}}},
		"forward")
	c.Pipelines[0].Init = "if"
	c.Pipelines[0].Conditionals = []config.Conditional{{Name: "if", TrueNext: "lpm",
		Expr: ptr(ct.Op("and", ct.Op("valid", ct.Named(config.KindHeader, "ipv4")), ct.Op(">", ct.F("ipv4", "ttl"), ct.N(0))))}}
	ct.AddTable(c, "egress", config.Table{Name: "frame", MatchType: "exact", MaxSize: 256, Default: drop,
		Actions: []string{"rewrite", "drop"}, Key: []config.KeyField{{MatchType: "exact",
			Target: [2]string{"standard_metadata", "egress_port"}}}}, "")
	return c
}

func add(tb testing.TB, s *Switch, table, action string, m pipeline.FieldMatch, args ...[]byte) {
	tb.Helper()
	_, err := s.InsertEntry(table, pipeline.Entry{Match: []pipeline.FieldMatch{m}, Target: pipeline.Target{
		Kind: pipeline.TargetAction, Call: pipeline.ActionCall{Action: action, Args: args}}}, 0)
	if err != nil {
		tb.Fatal(err)
	}
}

// routes fills the router: n /24 prefixes 10.x.y.0, all to next hop 1 on port 2.
func routes(tb testing.TB, s *Switch, n int) {
	for i := range n {
		add(tb, s, "lpm", "set_nhop", pipeline.FieldMatch{Value: []byte{10, byte(i >> 8), byte(i), 0}, PrefixLen: 24},
			[]byte{1}, []byte{2})
	}
	add(tb, s, "forward", "set_dmac", pipeline.FieldMatch{Value: []byte{1}}, []byte{2, 0, 0, 0, 0, 1})
	add(tb, s, "frame", "rewrite", pipeline.FieldMatch{Value: []byte{2}}, []byte{2, 0, 0, 0, 0, 2})
}

func ipPacket(n, size int) []byte {
	f := make([]byte, size)
	f[12] = 8
	copy(f[14:], []byte{0x45, 0, 0, byte(size - 14), 0, 1, 0, 0, 64, 17, 0, 0, 192, 0, 2, 1, 10, byte(n >> 8), byte(n), 9})
	sum := uint32(0)
	for i := 14; i < 34; i += 2 {
		sum += uint32(binary.BigEndian.Uint16(f[i:]))
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	binary.BigEndian.PutUint16(f[24:], ^uint16(sum))
	return f
}

func TestRouter(t *testing.T) {
	s := start(t, router(1024), Options{})
	routes(t, s, 300)
	f := ipPacket(257, 64)
	s.Receive(0, 1, f)
	want := append([]byte{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2}, f[12:]...)
	want[22]--                                                                   // TTL
	binary.BigEndian.PutUint16(want[24:], binary.BigEndian.Uint16(f[24:])+0x100) // RFC 1624: one less in the high byte
	expect(t, drain(s, 0), out{2, fmt.Sprintf("%x", want)})
	s.Receive(0, 1, ipPacket(300, 64))
	expect(t, drain(s, 0))
	expectDrops(t, s, map[Reason]uint64{DropIngress: 1})
}

// forward is one packet through the switch.
func forward(s *Switch, now int64, f []byte, emit func(uint32, []byte)) {
	s.Receive(now, 1, f)
	s.Transmit(now, emit)
}

// TestNoAllocations holds the promise that a forwarded packet costs no heap allocation.
func TestNoAllocations(t *testing.T) {
	s := start(t, router(1024), Options{})
	routes(t, s, 100)
	f := ipPacket(5, 64)
	sent := 0
	emit := func(uint32, []byte) { sent++ }
	forward(s, 0, f, emit)
	if n := testing.AllocsPerRun(1000, func() { forward(s, 0, f, emit) }); n != 0 || sent < 1000 {
		t.Errorf("%v allocations a packet, %d packets sent", n, sent)
	}

	// The same for replication, clones, recirculation and digests.
	c := tagged(16, 128)
	c.FieldLists = []config.FieldList{{ID: 1, Elements: []config.Value{ct.S(0)}}}
	c.LearnLists = []config.FieldList{{ID: 1, Name: "d", Elements: []config.Value{ct.F("tag", "a"), ct.S(1)}}}
	ct.Run(c, "ingress", ct.P("clone_ingress_pkt_to_egress", ct.N(1), ct.N(1)), ct.Assign(ct.Std("mcast_grp"), ct.N(1)),
		ct.P("generate_digest", ct.N(0), ct.N(1)),
		ct.Assign(ct.S(1), ct.Op("*", ct.Op("<<", ct.F("tag", "c"), ct.N(90)), ct.S(1))))
	digests := 0
	s = start(t, c, Options{OnDigest: func(Digest) { digests++ }})
	for _, err := range []error{s.SetMulticastGroup(1, []Replica{{1, 1}, {2, 2}, {3, 3}}),
		s.SetCloneSession(1, CloneSession{Replicas: []Replica{{4, 0}}})} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		forward(s, 0, f, emit)
	}
	sent = 0
	if n := testing.AllocsPerRun(100, func() { forward(s, 0, f, emit) }); n != 0 || sent != 404 || digests < 100 {
		t.Errorf("%v allocations a packet, %d packets sent, %d digests", n, sent, digests)
	}
}

func BenchmarkRouter(b *testing.B) {
	for _, n := range []int{3, 10000} {
		for _, size := range []int{64, 1500} {
			b.Run(fmt.Sprintf("routes=%d/bytes=%d", n, size), func(b *testing.B) {
				s := start(b, router(1<<16), Options{})
				routes(b, s, n)
				var frames [][]byte
				for i := range 256 {
					frames = append(frames, ipPacket(i*97%n, size))
				}
				sent := 0
				emit := func(uint32, []byte) { sent++ }
				forward(s, 0, frames[0], emit)
				b.ReportAllocs()
				b.ResetTimer()
				for i := range b.N {
					forward(s, int64(i), frames[i&255], emit)
				}
				if sent != b.N+1 {
					b.Fatalf("%d of %d packets sent", sent, b.N+1)
				}
			})
		}
	}
}

func BenchmarkInsert(b *testing.B) {
	s := start(b, router(1<<30), Options{})
	args := [][]byte{{2, 0, 0, 0, 0, 1}}
	m := []pipeline.FieldMatch{{}}
	b.ReportAllocs()
	for i := range b.N {
		m[0].Value = binary.BigEndian.AppendUint32(nil, uint32(i))
		_, err := s.InsertEntry("forward", pipeline.Entry{Match: m, Target: pipeline.Target{Kind: pipeline.TargetAction,
			Call: pipeline.ActionCall{Action: "set_dmac", Args: args}}}, 0)
		if err != nil && i < 1<<20 {
			b.Fatal(err)
		}
	}
}
