package pipeline

import (
	"testing"

	"khop/bmv2/config"
	ct "khop/bmv2/config/configtest"
)

// stateTo is a state that runs operations and goes on.
func stateTo(name, next string, ops ...config.ParserOp) config.State {
	return config.State{Name: name, Ops: ops, Transitions: []config.Transition{{Next: next}}}
}

func op(name string, params ...config.Value) config.ParserOp {
	return config.ParserOp{Op: name, Params: params}
}

// marked has a one-byte header m whose field v shows which state was reached, and a two-byte header h.
func marked(scalars ...int) *config.Config {
	c := ct.Base(scalars...)
	ct.AddHeader(c, "m", 0, ct.Bits("v", 8))
	ct.AddHeader(c, "h", 0, ct.Bits("x", 12), ct.Bits("y", 4))
	return c
}

// mark sets m to v, in a parser state.
func mark(v int64) []config.ParserOp {
	add, set := ct.P("add_header", ct.Named(config.KindHeader, "m")), ct.Assign(ct.F("m", "v"), ct.N(v))
	return []config.ParserOp{{Op: "primitive", Call: &add}, {Op: "primitive", Call: &set}}
}

func TestSelect(t *testing.T) {
	c := marked()
	c.Parsers[0].States = []config.State{
		{Name: "start", Ops: []config.ParserOp{ct.Extract("h")}, Key: []config.Value{ct.F("h", "x"), ct.F("h", "y")},
			Transitions: []config.Transition{
				{Kind: config.TransitionValue, Value: []byte{0x0a, 0xba, 0x03}, Next: "one"},
				{Kind: config.TransitionValue, Value: []byte{0x0f, 0x00, 0x01}, Mask: []byte{0x0f, 0x00, 0x0f}, Next: "two"},
				{Kind: config.TransitionSet, Set: "vs", Next: "three"},
				{Kind: config.TransitionValue, Value: []byte{0x00, 0x01, 0x01}, Next: ""},
			}},
		{Name: "one", Ops: mark(1)}, {Name: "two", Ops: mark(2)}, {Name: "three", Ops: mark(3)},
	}
	c.ValueSets = []config.ValueSet{{Name: "vs", Width: 16}}
	in := mustLink(t, c)
	if err := in.SetValueSet("vs", [][]byte{{0x12, 0x34}, {0xf5, 0x51}, {0x12, 0x34}}); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		packet, want string
		err          uint32
	}{
		{"aba3 99", "01 aba3 99", 0},
		{"f551", "02 f551", 0}, // the earlier case wins
		{"1234", "03 1234", 0},
		{"0011", "0011", 0},
		{"4321", "4321", 2}, // NoMatch
		{"43", "43", 1},     // PacketTooShort
	} {
		got, s := process(t, in, x.packet)
		check(t, got, x.want)
		if s.ParserErr != x.err || s.HasErr != (x.err != 0) {
			t.Errorf("%s: error %d (%v), want %d", x.packet, s.ParserErr, s.HasErr, x.err)
		}
	}
	if got, _ := in.ValueSet("vs"); len(got) != 2 {
		t.Errorf("value set holds %x", got)
	}
}

func TestLookaheadAdvanceVerify(t *testing.T) {
	c := marked(16, 12)
	set := func(v config.Value) config.Value { return v }
	c.Parsers[0].States = []config.State{
		{Name: "start", Ops: []config.ParserOp{
			op("set", ct.S(0), config.Value{Kind: config.KindLookahead, Offset: 4, Width: 12}),
			op("set", ct.S(1), set(ct.Op("+", ct.S(0), ct.N(1)))),
			op("advance", ct.Op("*", ct.N(8), ct.N(1))),
			{Op: "shift", Params: []config.Value{{Kind: config.KindConst, Offset: 1}}},
			op("verify", ct.Op("!=", ct.S(0), ct.N(0x111)), ct.N(77)),
			ct.Extract("h"),
		}, Key: []config.Value{{Kind: config.KindLookahead, Width: 8}},
			Transitions: []config.Transition{{Kind: config.TransitionValue, Value: []byte{5}, Next: "five"}, {}}},
		{Name: "five", Ops: mark(5)},
	}
	ct.Run(c, "ingress", ct.Assign(ct.F("h", "x"), ct.S(1)))
	in := mustLink(t, c)
	// What was advanced over is gone (bmv2 drops it as well).
	for _, x := range []struct {
		packet, want string
		err          uint32
	}{
		{"0fff abcd 05", "05 000d 05", 0}, // 0xfff + 1 does not fit 12 bits
		{"0123 abcd 06", "124d 06", 0},
		{"0111 abcd 06", "abcd 06", 77},
		{"0123 abcd", "124d", 1},
		{"01", "01", 1},
	} {
		got, s := process(t, in, x.packet)
		check(t, got, x.want)
		if s.ParserErr != x.err {
			t.Errorf("%s: error %d, want %d", x.packet, s.ParserErr, x.err)
		}
	}
}

func TestAdvanceNotWholeBytes(t *testing.T) {
	c := marked()
	c.Parsers[0].States[0].Ops = []config.ParserOp{op("advance", ct.N(4))}
	if _, s := process(t, mustLink(t, c), "00"); s.ParserErr != 6 {
		t.Errorf("error %d, want ParserInvalidArgument", s.ParserErr)
	}
}

func TestParserLoopEnds(t *testing.T) {
	c := marked()
	c.Parsers[0].States = []config.State{stateTo("start", "start")}
	if _, s := process(t, mustLink(t, c), "00"); s.ParserErr != 5 {
		t.Errorf("error %d, want ParserTimeout", s.ParserErr)
	}
}

// TestStack parses labels until the bottom bit, as MPLS does, and works on the stack.
func TestStack(t *testing.T) {
	base := func() *config.Config {
		c := ct.Base(8)
		ct.AddHeader(c, "l", 3, ct.Bits("v", 7), ct.Bits("bos", 1))
		c.Parsers[0].States = []config.State{{Name: "start",
			Ops:         []config.ParserOp{op("extract", ct.Named(config.KindStack, "l"))},
			Key:         []config.Value{{Kind: config.KindStackField, Names: [3]string{"l", "bos"}}},
			Transitions: []config.Transition{{Kind: config.TransitionValue, Value: []byte{0}, Next: "start"}, {}}}}
		return c
	}
	l := ct.Named(config.KindStack, "l")
	at := func(i config.Value, field int) config.Value {
		v := ct.Op("dereference_header_stack", l, i)
		return config.Value{Kind: config.KindExpr, Op: "access_field", Left: &v, Offset: field}
	}
	for _, x := range []struct {
		name         string
		prims        []config.Primitive
		packet, want string
		err          uint32
		badIndex     uint64
	}{
		{"plain", nil, "02 04 07 99", "02 04 07 99", 0, 0},
		{"too many", nil, "02 04 06 09", "02 04 06 09", 3, 0},
		{"push", []config.Primitive{ct.P("push", l, ct.N(1)), ct.P("add_header", ct.Named(config.KindHeader, "l[0]")),
			ct.Assign(ct.F("l[0]", "v"), ct.N(0x40))}, "02 05 99", "80 02 05 99", 0, 0},
		{"push over the end", []config.Primitive{ct.P("push", l, ct.N(2))}, "02 04 07 99", "02 99", 0, 0},
		{"push more than all", []config.Primitive{ct.P("push", l, ct.N(7))}, "02 04 07 99", "99", 0, 0},
		{"pop", []config.Primitive{ct.P("pop", l, ct.N(2))}, "02 04 07 99", "07 99", 0, 0},
		{"run-time index", []config.Primitive{ct.Assign(ct.S(0), ct.N(1)), ct.Assign(at(ct.S(0), 0), ct.N(0x7f))},
			"02 04 07", "02 fe 07", 0, 0},
		{"index out of range", []config.Primitive{ct.Assign(ct.S(0), ct.N(9)), ct.Assign(at(ct.S(0), 0), ct.N(0x7f)),
			ct.Assign(ct.F("l[0]", "v"), at(ct.S(0), 0))}, "02 05", "00 05", 0, 1},
		{"last index and size", []config.Primitive{ct.Assign(ct.F("l[0]", "v"), ct.Op("+", ct.Op("last_stack_index", l),
			ct.Op("*", ct.N(16), ct.Op("size_stack", l))))}, "02 05", "42 05", 0, 0}, // 1 + 16*2 = 0x21, shifted by one
		{"remove in the middle", []config.Primitive{ct.P("remove_header", ct.Named(config.KindHeader, "l[1]"))}, "02 04 07",
			"02 07", 0, 0},
		{"write to invalid", []config.Primitive{ct.Assign(ct.F("l[2]", "v"), ct.N(1)),
			ct.Assign(ct.F("l[0]", "v"), ct.F("l[2]", "v"))}, "02 05", "00 05", 0, 0},
	} {
		t.Run(x.name, func(t *testing.T) {
			c := base()
			ct.Run(c, "ingress", x.prims...)
			in := mustLink(t, c)
			got, s := process(t, in, x.packet)
			check(t, got, x.want)
			if s.ParserErr != x.err || in.BadIndex != x.badIndex {
				t.Errorf("error %d, want %d; bad index %d, want %d", s.ParserErr, x.err, in.BadIndex, x.badIndex)
			}
		})
	}
}

func TestVarBit(t *testing.T) {
	c := ct.Base(16)
	ct.AddHeader(c, "o", 0, ct.Bits("n", 8), config.Field{Name: "opts", VarBit: true}, ct.Bits("end", 16))
	c.HeaderTypes[2].MaxLength = 3 + 12
	ct.AddHeader(c, "copy", 0, c.HeaderTypes[2].Fields...)
	c.HeaderTypes[3].MaxLength = 3 + 12
	c.Deparsers[0].Order = []string{"o", "copy"}
	c.Headers[3].Type = "o_t"
	length := ct.Op("*", ct.F("scalars", "s0"), ct.N(8))
	c.Parsers[0].States[0].Ops = []config.ParserOp{
		op("set", ct.S(0), config.Value{Kind: config.KindLookahead, Width: 8}),
		op("extract_VL", ct.Named(config.KindHeader, "o"), length)}
	ct.Run(c, "ingress", ct.P("assign_header", ct.Named(config.KindHeader, "copy"), ct.Named(config.KindHeader, "o")),
		ct.Assign(ct.F("copy", "end"), ct.N(0xeeee)))
	in := mustLink(t, c)
	for _, x := range []struct {
		packet, want string
		err          uint32
		length       int
	}{
		{"03 a1a2a3 0102 99", "03 a1a2a3 0102 03 a1a2a3 eeee 99", 0, 7},
		{"00 0102 99", "00 0102 00 eeee 99", 0, 4},
		{"0c 000102030405060708090a0b 0102", "0c 000102030405060708090a0b 0102 0c 000102030405060708090a0b eeee", 0, 15},
		{"0d 000102030405060708090a0b0c 0102", "0d 000102030405060708090a0b0c 0102", 4, 16}, // HeaderTooShort
		{"05 000102", "05 000102", 1, 4},
	} {
		got, s := process(t, in, x.packet)
		check(t, got, x.want)
		if s.ParserErr != x.err || s.Length != x.length {
			t.Errorf("%s: error %d, want %d; length %d, want %d", x.packet, s.ParserErr, x.err, s.Length, x.length)
		}
	}
}

func TestUnion(t *testing.T) {
	c := ct.Base(8)
	ct.AddHeader(c, "u_a", 0, ct.Bits("v", 8))
	ct.AddHeader(c, "u_b", 0, ct.Bits("v", 16))
	c.UnionTypes = []config.UnionType{{Name: "u_t", Members: []config.UnionMember{{Name: "a", Type: "u_a_t"},
		{Name: "b", Type: "u_b_t"}}}}
	c.Unions = []config.Union{{Name: "u", Type: "u_t", Headers: []int{2, 3}}}
	c.Parsers[0].States[0].Ops = []config.ParserOp{ct.Extract("u_a")}
	u := ct.Named(config.KindUnion, "u")
	ct.Run(c, "ingress",
		ct.Assign(ct.S(0), ct.F("u_a", "v")),
		ct.P("add_header", ct.Named(config.KindHeader, "u_b")), // a becomes invalid
		ct.Assign(ct.F("u_b", "v"), ct.Op("+", ct.Op("<<", ct.Op("b2d", ct.Op("valid", ct.Named(config.KindHeader, "u_a"))),
			ct.N(9)), ct.Op("+", ct.Op("<<", ct.Op("b2d", ct.Op("valid_union", u)), ct.N(8)), ct.S(0)))))
	got, _ := process(t, mustLink(t, c), "7799")
	check(t, got, "0177 99")
}

// TestAssignStackLast copies stack.last in a parser state.
func TestAssignStackLast(t *testing.T) {
	c := ct.Base()
	ct.AddHeader(c, "l", 2, ct.Bits("v", 8))
	ct.AddHeader(c, "copy", 0, ct.Bits("v", 8))
	c.Headers[len(c.Headers)-1].Type = "l_t"
	l := op("extract", ct.Named(config.KindStack, "l"))
	assign := ct.P("assign_header", ct.Named(config.KindHeader, "copy"),
		config.Value{Kind: config.KindStackField, Names: [3]string{"l", "last"}})
	c.Parsers[0].States[0].Ops = []config.ParserOp{l, l, {Op: "primitive", Call: &assign}}
	got, _ := process(t, mustLink(t, c), "0102 99")
	check(t, got, "01 02 02 99")
}

// TestWideUnaligned moves fields that straddle bytes and words.
func TestWideUnaligned(t *testing.T) {
	c := ct.Base(72)
	ct.AddHeader(c, "h", 0, ct.Bits("a", 3), ct.Bits("b", 128), ct.Bits("c", 62), ct.Bits("d", 7), ct.Bits("e", 520))
	c.Parsers[0].States[0].Ops = []config.ParserOp{ct.Extract("h")}
	ct.Run(c, "ingress", ct.Assign(ct.F("h", "b"), ct.Op("+", ct.F("h", "b"), ct.N(1))),
		ct.Assign(ct.F("h", "e"), ct.Op("~", ct.F("h", "e"))), ct.Assign(ct.F("h", "c"), ct.Op("-", ct.F("h", "c"), ct.N(1))))
	in := mustLink(t, c)
	packet := make([]byte, 90)
	for i := range packet {
		packet[i] = 0xff
	}
	got, _ := process(t, in, hexOf(packet))
	// a stays 111, b wraps to zero, c loses its lowest bit, d stays, e is zero
	want := append([]byte{0xe0}, make([]byte, 89)...)
	for i := 3 + 128; i < 3+128+61; i++ {
		want[i/8] |= 0x80 >> (i % 8)
	}
	for i := 3 + 128 + 62; i < 200; i++ {
		want[i/8] |= 0x80 >> (i % 8)
	}
	check(t, got, hexOf(want))
}
