package simpleswitch

import (
	"os"
	"testing"

	"khop/bmv2/config"
	ct "khop/bmv2/config/configtest"
	"khop/bmv2/pipeline"
)

// hostile is a program that does what can go wrong: stacks, varbit, run-time indices, clones of clones, recirculation for
// ever, jumps, wide arithmetic, all driven by packet bytes.
func hostile() *config.Config {
	c := ct.Base(8, 200, 16)
	ct.AddHeader(c, "h", 0, ct.Bits("kind", 8), ct.Bits("x", 16), ct.Bits("y", 16))
	ct.AddHeader(c, "l", 3, ct.Bits("v", 7), ct.Bits("bos", 1))
	ct.AddHeader(c, "o", 0, ct.Bits("n", 8), config.Field{Name: "d", VarBit: true}, ct.Bits("z", 16))
	c.HeaderTypes[4].MaxLength = 40
	c.FieldLists = []config.FieldList{{ID: 1, Elements: []config.Value{ct.S(2)}}}
	c.LearnLists = []config.FieldList{{ID: 1, Name: "d", Elements: []config.Value{ct.S(1), ct.F("h", "x")}}}
	c.Registers = []config.Register{{Name: "r", Size: 4, Width: 70}}
	look := config.ParserOp{Op: "set", Params: []config.Value{ct.S(0), {Kind: config.KindLookahead, Width: 8}}}
	vl := config.ParserOp{Op: "extract_VL", Params: []config.Value{ct.Named(config.KindHeader, "o"),
		ct.Op("*", ct.S(0), ct.N(4))}}
	c.Parsers[0].States = []config.State{
		{Name: "start", Ops: []config.ParserOp{ct.Extract("h")}, Key: []config.Value{ct.F("h", "kind")},
			Transitions: []config.Transition{
				{Kind: config.TransitionValue, Value: []byte{1}, Mask: []byte{1}, Next: "labels"},
				{Kind: config.TransitionValue, Value: []byte{2}, Mask: []byte{2}, Next: "opts"}, {}}},
		{Name: "labels", Ops: []config.ParserOp{{Op: "extract", Params: []config.Value{ct.Named(config.KindStack, "l")}}},
			Key:         []config.Value{{Kind: config.KindStackField, Names: [3]string{"l", "bos"}}},
			Transitions: []config.Transition{{Kind: config.TransitionValue, Value: []byte{0}, Next: "labels"}, {Next: "opts"}}},
		{Name: "opts", Ops: []config.ParserOp{look, vl}},
	}
	l := ct.Named(config.KindStack, "l")
	el := ct.Op("dereference_header_stack", l, ct.F("h", "x"))
	at := config.Value{Kind: config.KindExpr, Op: "access_field", Left: &el, Offset: 0}
	kind := func(bit int64) config.Value { return ct.Op("&", ct.F("h", "kind"), ct.N(bit)) }
	r := ct.Named(config.KindRegisterArray, "r")
	ct.Run(c, "ingress", ct.Assign(at, ct.F("h", "y")), ct.P("push", l, ct.F("h", "y")), ct.P("pop", l, ct.F("h", "x")),
		ct.P("register_read", ct.S(1), r, ct.F("h", "x")),
		ct.Assign(ct.S(1), ct.Op("-", ct.Op("*", ct.S(1), ct.S(1)), ct.Op("<<", ct.F("h", "x"), ct.F("h", "y")))),
		ct.P("register_write", r, ct.F("h", "x"), ct.Op("/", ct.S(1), ct.F("h", "y"))),
		ct.P("generate_digest", ct.N(0), ct.N(1)), ct.Assign(ct.Std("priority"), ct.F("h", "y")),
		ct.Assign(ct.Std("egress_spec"), ct.F("h", "x")), ct.Assign(ct.Std("mcast_grp"), kind(4)),
		ct.P("truncate", ct.Op("|", ct.F("h", "y"), ct.N(4))),
		ct.P("_jump_if_zero", kind(8), ct.N(13)), ct.P("clone_ingress_pkt_to_egress", ct.F("h", "y"), ct.N(1)),
		ct.P("_jump_if_zero", kind(16), ct.N(15)), ct.P("resubmit", ct.N(1)),
		ct.P("_jump_if_zero", kind(64), ct.N(17)), ct.P("assert", ct.Op("==", ct.F("h", "x"), ct.F("h", "y"))),
		ct.P("_jump", ct.Op("+", ct.N(18), kind(1))))
	ct.Run(c, "egress", ct.P("add_header", ct.Named(config.KindHeader, "h")), ct.P("add_header", ct.Named(config.KindHeader, "o")),
		ct.P("_jump_if_zero", kind(32), ct.N(4)), ct.P("clone_egress_pkt_to_egress", ct.F("h", "x"), ct.N(1)),
		ct.P("_jump_if_zero", kind(128), ct.N(6)), ct.P("recirculate", ct.N(1)))
	return c
}

func hammer(t testing.TB, s *Switch, data []byte) {
	for i := range uint32(8) {
		if err := s.SetMulticastGroup(i+1, []Replica{{i, 1}, {i + 1, 2}}); err != nil {
			t.Fatal(err)
		}
		if err := s.SetCloneSession(i, CloneSession{Replicas: []Replica{{i, 1}}, TruncateTo: int(i) * 7}); err != nil {
			t.Fatal(err)
		}
	}
	emit := func(_ uint32, f []byte) {
		if len(f) > MaxFrame {
			t.Errorf("frame of %d bytes", len(f))
		}
	}
	for now := int64(0); len(data) > 0 && now < 64; now++ {
		n := min(len(data), 1+int(data[0]))
		s.Receive(now, uint32(data[0]&3), data[:n])
		data = data[n:]
		s.Transmit(now, emit)
	}
}

// FuzzPackets sends random packets through a program made to go wrong.
func FuzzPackets(f *testing.F) {
	f.Add([]byte{8, 0xff, 0, 1, 0, 1, 2, 4, 5, 6})
	f.Add([]byte{20, 0xbf, 0, 1, 0, 1, 2, 4, 5, 6, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
	p := link(f, hostile())
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := New(p, Options{MaxPasses: 8, QueueDepth: 8, PriorityQueues: 4, OnDigest: func(Digest) {}})
		if err != nil {
			t.Fatal(err)
		}
		hammer(t, s, data)
	})
}

// FuzzProgram runs whatever links.
func FuzzProgram(f *testing.F) {
	mini, err := os.ReadFile("../config/testdata/mini.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(mini, []byte{20, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 0x11, 0x11, 2, 3, 4})
	f.Fuzz(func(t *testing.T, program, data []byte) {
		c, err := config.Parse(program)
		if err != nil {
			return
		}
		cells := 0
		for _, r := range c.Registers {
			cells += r.Size * (1 + r.Width/64)
		}
		for _, m := range c.Meters {
			cells += 10 * m.Size
		}
		for _, n := range c.Counters {
			cells += 2 * n.Size
		}
		if cells > 1<<16 { // allowed, but slow to make again and again
			return
		}
		p, err := pipeline.Link(c)
		if err != nil {
			return
		}
		s, err := New(p, Options{MaxPasses: 8, QueueDepth: 8, OnDigest: func(Digest) {}})
		if err != nil {
			t.Fatal(err)
		}
		hammer(t, s, data)
	})
}

func TestMiniProgram(t *testing.T) {
	mini, err := os.ReadFile("../config/testdata/mini.json")
	if err != nil {
		t.Fatal(err)
	}
	c, err := config.Parse(mini)
	if err != nil {
		t.Fatal(err)
	}
	s := start(t, c, Options{})
	// The const entry sends dst 1 without an option header to port 3; others miss and go to port 0.
	expect(t, send(t, s, 0, 1, "000000000001 0000000000aa 0000 99"), out{3, "000000000001 0000000000aa 0000 99"})
	expect(t, send(t, s, 0, 1, "000000000001 0000000000aa 1111 02bbcc 99"), out{0, "000000000001 0000000000aa 1111 02bbcc 99"})
	if r, err := s.Register("r", 0); err != nil || r[16] != 0xfb || r[0] != 3 { // -5 in 130 bits
		t.Errorf("r[0] = %x, %v", r, err)
	}
}
