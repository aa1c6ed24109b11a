package pipeline

import (
	"encoding/hex"
	"errors"
	"testing"

	"khop/bmv2/config"
	ct "khop/bmv2/config/configtest"
)

func hexOf(b []byte) string { return hex.EncodeToString(b) }

// TestHashes uses the check values of the CRC catalogue (the CRC of "123456789"), RFC 1071's example, the xxHash
// specification's test values, and values worked out by hand.
func TestHashes(t *testing.T) {
	nine := []byte("123456789")
	for _, x := range []struct {
		algo string
		in   []byte
		want uint64
	}{
		{"crc16", nine, 0xbb3d},    // CRC-16/ARC
		{"crcCCITT", nine, 0x29b1}, // CRC-16/IBM-3740
		{"crc32", nine, 0xcbf43926},
		{"crc8_custom", nine, 0xf4}, // CRC-8/SMBUS
		{"crc16_custom", nine, 0xbb3d},
		{"crc32_custom", nine, 0xcbf43926},
		{"csum16", []byte{0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7}, ^uint64(0xddf2) & 0xffff},
		{"csum16", []byte{0xff, 0xff, 0x00}, 0},
		{"csum16", []byte{0x12}, 0xedff},
		{"xor16", []byte{0x12, 0x34, 0x56, 0x78, 0x9a}, 0xde4c},
		{"xor32", []byte{1, 2, 3, 4, 5}, 0x04020304},
		{"identity", []byte{1, 2, 3}, 0x010203},
		{"identity", []byte{1, 2, 3, 4, 5, 6, 7, 8, 9}, 0x0102030405060708},
		{"xxh64", nil, 0xef46db3751d8e999},
		{"bmv2_hash", []byte("a"), 0xd24ec4f1a98c6e5b},
		{"xxh64", []byte("abc"), 0x44bc2cf5ad770999},
		{"hash_ex", nil, avalanche(2166136261)},
		{"hash_ex", []byte{0x80}, avalanche((2166136261 ^ 0xffffff80) * 16777619 & 0xffffffff)}, // bytes are signed
	} {
		f, err := hashByName(x.algo)
		if err != nil {
			t.Fatal(err)
		}
		if got := f(x.in); got != x.want {
			t.Errorf("%s(%x) = %#x, want %#x", x.algo, x.in, got, x.want)
		}
	}
	if _, err := hashByName("random"); err == nil {
		t.Error("random is accepted as a hash algorithm; bmv2 has none of this name")
	}
}

// avalanche is the end of simple_switch's hash_ex.
func avalanche(v uint64) uint64 {
	h := uint32(v)
	h += h << 13
	h ^= h >> 7
	h += h << 3
	h ^= h >> 17
	h += h << 5
	return uint64(h)
}

// TestHashInput: fields are concatenated bit by bit, those of invalid headers left out, the end padded with zeros.
func TestHashInput(t *testing.T) {
	c := ct.Base(64)
	ct.AddHeader(c, "h", 0, ct.Bits("a", 4), ct.Bits("b", 12))
	ct.AddHeader(c, "gone", 0, ct.Bits("x", 32))
	c.Parsers[0].States[0].Ops = []config.ParserOp{ct.Extract("h")}
	cst := ct.N(5)
	cst.Width = 3
	c.Calcs = []config.Calculation{{Name: "id", Algo: "identity", Input: []config.Value{ct.F("h", "a"), ct.F("gone", "x"),
		cst, ct.F("h", "b"), {Kind: config.KindPayload}}}}
	hash := func(base, size int64) config.Primitive {
		return ct.P("modify_field_with_hash_based_offset", ct.S(0), ct.N(base), ct.Named(config.KindCalculation, "id"), ct.N(size))
	}
	for _, x := range []struct{ base, size, want int64 }{
		// 1010 101 110111100001 + 00000 (padding), then the payload byte ee
		{0, 1 << 62, 0b1010_101_110111100001_00000<<8 | 0xee}, {7, 16, 7 + 14}, {7, 0, 7}, {7, 1, 7},
	} {
		cc := *c
		cc.Pipelines = []config.Pipeline{{Name: "ingress"}, {Name: "egress"}}
		cc.Actions = nil
		ct.Run(&cc, "ingress", hash(x.base, x.size))
		in := mustLink(t, &cc)
		_, s := process(t, in, "ade1 ee")
		if got := s.W[in.prog.headers[1].base+1]; got != uint64(x.want) {
			t.Errorf("base %d, max %d: %#x, want %#x", x.base, x.size, got, x.want)
		}
	}
}

func TestChecksums(t *testing.T) {
	c := ct.Base()
	ct.AddHeader(c, "h", 0, ct.Bits("a", 16), ct.Bits("sum", 16))
	c.Parsers[0].States[0].Ops = []config.ParserOp{ct.Extract("h")}
	c.Calcs = []config.Calculation{{Name: "c", Algo: "csum16", Input: []config.Value{ct.F("h", "a"), {Kind: config.KindPayload}}}}
	cond := ct.Op("!=", ct.F("h", "a"), ct.N(0xdead))
	c.Checksums = []config.Checksum{{Name: "c", Target: [2]string{"h", "sum"}, Type: "generic", Calc: "c", Update: true,
		Verify: true, If: &cond}}
	in := mustLink(t, c)
	for _, x := range []struct {
		packet, want string
		bad          bool
	}{
		{"0001 fffd 0001", "0001 fffd 0001", false}, // ^(1+1)
		{"0001 1111 0001", "0001 fffd 0001", true},
		{"dead 1111 0001", "dead 1111 0001", false},
		{"00", "00", false},
	} {
		got, s := process(t, in, x.packet)
		check(t, got, x.want)
		if s.ChecksumErr != x.bad {
			t.Errorf("%s: checksum error %v, want %v", x.packet, s.ChecksumErr, x.bad)
		}
	}
}

func TestRegisters(t *testing.T) {
	c := ct.Base(8, 600, 20)
	c.Registers = []config.Register{{Name: "narrow", Size: 4, Width: 12}, {Name: "wide", Size: 2, Width: 600}}
	narrow, wide := ct.Named(config.KindRegisterArray, "narrow"), ct.Named(config.KindRegisterArray, "wide")
	cell := ct.N(2)
	ct.Run(c, "ingress",
		ct.P("register_read", ct.S(0), narrow, ct.N(1)),
		ct.P("register_write", narrow, ct.N(1), ct.Op("+", ct.S(0), ct.N(0x1ffe))),
		ct.P("register_write", narrow, ct.N(4), ct.N(1)), // out of range
		ct.Assign(ct.S(2), ct.N(0x55)),
		ct.P("register_read", ct.S(2), narrow, ct.N(99)), // out of range: s2 stays
		ct.P("register_read", ct.S(1), wide, ct.N(1)),
		ct.P("register_write", wide, ct.N(0), ct.Op("+", ct.Op("<<", ct.S(1), ct.N(1)), ct.N(1))),
		ct.Assign(config.Value{Kind: config.KindRegister, Names: [3]string{"narrow"}, Index: &cell},
			ct.Op("+", config.Value{Kind: config.KindRegister, Names: [3]string{"narrow"}, Index: &cell}, ct.N(3))))
	in := mustLink(t, c)
	if err := in.SetRegister("wide", 1, append([]byte{0x80}, make([]byte, 74)...)); err != nil {
		t.Fatal(err)
	}
	_, s := process(t, in, "")
	process(t, in, "")
	if v, err := in.RegisterUint("narrow", 1); err != nil || v != 0x0fc { // 0xffe, then its low 8 bits 0xfe + 0x1ffe
		t.Errorf("narrow[1] = %#x, %v", v, err)
	}
	if v, _ := in.RegisterUint("narrow", 2); v != 6 {
		t.Errorf("narrow[2] = %d, want 6", v)
	}
	if w, _ := in.Register("wide", 0); hexOf(w) != hexOf(append(make([]byte, 74), 1)) {
		t.Errorf("wide[0] = %x", w)
	}
	if in.BadIndex != 4 {
		t.Errorf("%d bad indices, want 4", in.BadIndex)
	}
	h, f := in.prog.headers[1], in.prog.headers[1].typ.fields[2]
	if v := s.W[h.slot(&f)]; v != 0x55 {
		t.Errorf("s2 = %#x after a read out of range", v)
	}
	if err := in.ResetRegister("narrow"); err != nil {
		t.Fatal(err)
	}
	if v, _ := in.RegisterUint("narrow", 2); v != 0 {
		t.Error("reset left a value")
	}
	for _, err := range []error{in.SetRegister("narrow", 4, nil), in.SetRegister("narrow", 0, []byte{0x10, 0}),
		errOf(in.RegisterUint("wide", 0))} {
		if !errors.Is(err, ErrInvalid) {
			t.Errorf("error %v, want ErrInvalid", err)
		}
	}
	if _, err := in.Register("none", 0); !errors.Is(err, ErrNotFound) {
		t.Errorf("unknown register: %v", err)
	}
}

func errOf[T any](_ T, err error) error { return err }

// TestMeter: 1000 packets/s committed with bursts of 2, 2000 peak with bursts of 4.
func TestMeter(t *testing.T) {
	var m meter
	if m.execute(0, 1) != green {
		t.Error("an unconfigured meter is not green")
	}
	m.configure(&MeterConfig{CIR: 1000, CBurst: 2, PIR: 2000, PBurst: 4}, 5_000_000)
	for i, x := range []struct {
		at   int64 // microseconds after configuration
		want uint64
	}{
		{0, green}, {0, green}, {0, yellow}, {0, yellow}, {0, red}, {499, red},
		{500, yellow}, // one peak token, half a committed one
		{1000, green}, // one of each
		{1000, red},
		{100000, green}, {100000, green}, {100000, yellow}, {100000, yellow}, {100000, red}, // buckets hold no more than the bursts
	} {
		if got := m.execute(5_000_000+1000*x.at, 1); got != x.want {
			t.Errorf("packet %d at %d us: colour %d, want %d", i, x.at, got, x.want)
		}
	}
	m.configure(nil, 0)
	if m.execute(0, 1) != green || m.configured {
		t.Error("a reset meter is not green")
	}
	m.configure(&MeterConfig{CIR: ^uint64(0), CBurst: ^uint64(0), PIR: ^uint64(0), PBurst: ^uint64(0)}, 0)
	if m.execute(1<<62, 1<<40) != green {
		t.Error("huge rates overflow")
	}
}

func TestCountersAndMetersInActions(t *testing.T) {
	c := ct.Base(2)
	c.Counters = []config.Counter{{Name: "n", Size: 3}}
	c.Meters = []config.Meter{{Name: "m", Size: 2, Bytes: true, RateCount: 2}}
	n, m := ct.Named(config.KindCounter, "n"), ct.Named(config.KindMeter, "m")
	ct.Run(c, "ingress", ct.P("count", n, ct.N(2)), ct.P("count", n, ct.N(3)), ct.P("execute_meter", m, ct.N(1), ct.S(0)),
		ct.P("execute_meter", m, ct.N(2), ct.S(0)))
	in := mustLink(t, c)
	if err := in.SetMeter("m", 1, &MeterConfig{CIR: 1, CBurst: 4, PIR: 1, PBurst: 6}, 0); err != nil {
		t.Fatal(err)
	}
	var colours []uint64
	for range 3 {
		_, s := process(t, in, "000000")
		colours = append(colours, s.W[in.prog.headers[1].base+1])
	}
	if colours[0] != green || colours[1] != yellow || colours[2] != red {
		t.Errorf("colours %v", colours)
	}
	if got, _ := in.Counter("n", 2); got != (Counter{Packets: 3, Bytes: 9}) {
		t.Errorf("counter %+v", got)
	}
	if in.BadIndex != 6 {
		t.Errorf("%d bad indices, want 6", in.BadIndex)
	}
	if err := in.SetMeter("m", 0, &MeterConfig{CIR: 2, PIR: 1}, 0); !errors.Is(err, ErrInvalid) {
		t.Errorf("CIR above PIR: %v", err)
	}
}

func TestRandom(t *testing.T) {
	c := ct.Base(16)
	ct.Run(c, "ingress", ct.P("modify_field_rng_uniform", ct.S(0), ct.N(10), ct.N(13)))
	in := mustLink(t, c)
	seen := map[uint64]int{}
	var first []uint64
	for range 400 {
		_, s := process(t, in, "")
		v := s.W[in.prog.headers[1].base+1]
		seen[v]++
		first = append(first, v)
	}
	for v := uint64(10); v <= 13; v++ {
		if seen[v] < 50 {
			t.Errorf("%d came %d times of 400", v, seen[v])
		}
	}
	if len(seen) != 4 {
		t.Errorf("values %v", seen)
	}
	in.Seed(0)
	for i := range first {
		_, s := process(t, in, "")
		if s.W[in.prog.headers[1].base+1] != first[i] {
			t.Fatal("the same seed gives other numbers")
		}
	}
}

// TestJumps runs if and else, and a loop that never ends.
func TestJumps(t *testing.T) {
	c := ct.Base(8)
	ct.Run(c, "ingress",
		ct.P("_jump_if_zero", ct.F("standard_metadata", "ingress_port"), ct.N(3)),
		ct.Assign(ct.S(0), ct.N(1)),
		ct.P("_jump", ct.N(4)),
		ct.Assign(ct.S(0), ct.N(2)),
		ct.Assign(ct.S(0), ct.Op("+", ct.S(0), ct.N(0x10))),
		ct.P("exit"),
		ct.Assign(ct.S(0), ct.N(0)))
	in := mustLink(t, c)
	_, s := process(t, in, "")
	if got := s.W[in.prog.headers[1].base+1]; got != 0x12 || !s.Exit {
		t.Errorf("s0 = %#x, exit %v", got, s.Exit)
	}
	c = ct.Base()
	ct.Run(c, "ingress", ct.P("_jump", ct.N(0)))
	if _, s := process(t, mustLink(t, c), ""); !s.OverBudget {
		t.Error("an endless action ended")
	}
}

// TestControlLoop runs a control that goes round until a field has counted down, and one that never ends.
func TestControlLoop(t *testing.T) {
	loop := func(step int64) *Instance {
		c := ct.Base(8)
		ct.Run(c, "ingress", ct.Assign(ct.S(0), ct.Op("+", ct.S(0), ct.N(step))))
		cp := &c.Pipelines[0]
		cond := ct.Op("==", ct.S(0), ct.N(3))
		cp.Conditionals = append(cp.Conditionals, config.Conditional{Name: "again", Expr: &cond, FalseNext: cp.Init})
		for i := range cp.Tables {
			cp.Tables[i].BaseNext = "again"
			for a := range cp.Tables[i].NextTables {
				cp.Tables[i].NextTables[a] = "again"
			}
		}
		return mustLink(t, c)
	}
	in := loop(1)
	if _, s := process(t, in, ""); s.OverBudget || s.W[in.prog.headers[1].base+1] != 3 {
		t.Errorf("s0 = %d, over budget %v", s.W[in.prog.headers[1].base+1], s.OverBudget)
	}
	if _, s := process(t, loop(0), ""); !s.OverBudget {
		t.Error("an endless control ended")
	}
}
