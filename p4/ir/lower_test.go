package ir

import (
	"strings"
	"testing"
)

func TestStatements(t *testing.T) {
	const ends = "0:\n" // the label that return goes to
	for _, tt := range []struct{ name, decls, locals, body, want string }{
		{name: "assignment", body: "hdr.h.a = hdr.h.b + 1;", want: "assign h.a, (h.b + 1)\n"},
		{name: "constant folding", body: "hdr.h.c = 16w0xff00 | (16w3 << 2);", want: "assign h.c, 65292\n"},
		{name: "wraps around", body: "hdr.h.a = 8w255 + 8w2;", want: "assign h.a, 1\n"},
		{name: "compound", body: "hdr.h.a += 5;", want: "assign h.a, (h.a + 5)\n"},
		{name: "itself", body: "hdr.h.a = hdr.h.a;", want: ""},
		{name: "slice read", body: "hdr.h.a = hdr.h.c[11:4];", want: "assign h.a, bit8((h.c >> 4))\n"},
		{name: "slice written", body: "hdr.h.c[11:4] = hdr.h.a;",
			want: "assign h.c, ((h.c & 61455) | (bit16(h.a) << 4))\n"},
		{name: "concatenation", body: "hdr.h.c = hdr.h.a ++ hdr.h.b;", want: "assign h.c, ((bit16(h.a) << 8) | bit16(h.b))\n"},
		{name: "signed", body: "hdr.h.s = (int<8>) hdr.h.a >> 1;", want: "assign h.s, (int8(h.a) >> 1)\n"},
		{name: "shift beyond the width", body: "hdr.h.a = hdr.h.a << 9;", want: "assign h.a, 0\n"},
		{name: "wide shift distance", body: "hdr.h.a = hdr.h.a << hdr.h.c;",
			want: "assign h.a, ((h.c > 255) ? 0 : (h.a << bit8(h.c)))\n"},
		{name: "boolean", body: "meta.f = hdr.h.isValid() && !meta.f;", want: "assign userMetadata.f, (h.valid and not userMetadata.f)\n"},
		{name: "bool to bit", body: "hdr.h.a = 7w0 ++ (bit<1>) meta.f;", want: "assign h.a, bit8(bit1(userMetadata.f))\n"},
		{name: "struct swap", body: "meta.p = { meta.p.r, meta.p.l };",
			want: "assign I.tmp, userMetadata.p.l\nassign userMetadata.p.l, userMetadata.p.r\nassign userMetadata.p.r, I.tmp\n"},
		{name: "header copy", body: "hdr.g = hdr.h;", want: "assign_header g, h\n"},
		{name: "header literal", decls: "header k_t { bit<8> x; bit<8> y; }",
			locals: "k_t k;", body: "k = { 1, hdr.h.a }; hdr.h.a = k.y;",
			want: "remove_header I.k\nadd_header I.k\nassign I.k.x, 1\nassign I.k.y, h.a\nassign h.a, I.k.y\n"},
		{name: "invalid header", body: "hdr.h = {#};", want: "remove_header h\n"},
		{name: "validity", body: "hdr.h.setValid(); hdr.g.setInvalid();", want: "add_header h\nremove_header g\n"},
		{name: "stack", body: "hdr.st.push_front(1); hdr.st.pop_front(2); hdr.st[1].a = hdr.st[0].b;",
			want: "push st, 1\npop st, 2\nassign st[1].a, st[0].b\n"},
		{name: "index at run time", body: "hdr.st[hdr.h.a].a = hdr.st[hdr.h.b].b;",
			want: "unless (h.a < 3) goto 1\nassign st[h.a].a, ((h.b < 3) ? st[h.b].b : 0)\n1:\n"},
		{name: "union member", body: "hdr.u.x.setValid(); hdr.u.x.a = 1;", want: "add_header u.x\nassign u.x.a, 1\n"},
		{name: "if", body: "if (hdr.h.a == 1) { hdr.h.b = 2; } else { hdr.h.b = 3; }",
			want: "unless (h.a == 1) goto 1\nassign h.b, 2\ngoto 2\n1:\nassign h.b, 3\n2:\n"},
		{name: "if constant", body: "if (8w1 == 8w2) { hdr.h.b = 2; } else { hdr.h.b = 3; }", want: "assign h.b, 3\n"},
		{name: "return", body: "if (meta.f) { return; } hdr.h.a = 1;",
			want: "unless userMetadata.f goto 1\ngoto 0\n1:\nassign h.a, 1\n"},
		{name: "exit ends what follows", body: "exit; hdr.h.a = 1;", want: "exit\n"},
		{name: "switch on a value", body: "switch (hdr.h.a) { 1: 2: { hdr.h.b = 1; } default: { hdr.h.b = 2; } }",
			want: "assign I.tmp, h.a\nunless (I.tmp != 1) goto 3\nunless (I.tmp != 2) goto 3\ngoto 2\n3:\nassign h.b, 1\ngoto 1\n2:\n" +
				"assign h.b, 2\ngoto 1\n1:\n"},
		{name: "for", body: "for (bit<8> i = 0; i < hdr.h.a; i += 1) { if (i == 3) { break; } hdr.h.b += i; }",
			want: "assign I.i, 0\n1:\nunless (I.i < h.a) goto 3\nunless (I.i == 3) goto 4\ngoto 3\n4:\nassign h.b, (h.b + I.i)\n2:\n" +
				"assign I.i, (I.i + 1)\ngoto 1\n3:\n"},
		{name: "for in constants is unrolled", body: "for (bit<8> i in 8w1 .. 8w3) { hdr.h.b = hdr.h.b + i; }",
			want: "assign h.b, (h.b + 1)\n2:\nassign h.b, (h.b + 2)\n3:\nassign h.b, (h.b + 3)\n4:\n1:\n"},
		{name: "for in a range", body: "for (bit<8> i in hdr.h.a .. hdr.h.b) { hdr.h.c += 1; }",
			want: "assign I.tmp, h.b\nassign I.i, h.a\nunless (I.i <= I.tmp) goto 3\n1:\nassign h.c, (h.c + 1)\n2:\n" +
				"unless (I.i != I.tmp) goto 3\nassign I.i, (I.i + 1)\ngoto 1\n3:\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := mustBuild(t, program(tt.decls, "", tt.locals, tt.body))
			if got := listing(p.Ingress.Code); got != tt.want+ends {
				t.Errorf("got\n%swant\n%s", got, tt.want+ends)
			}
		})
	}
}

func TestCalls(t *testing.T) {
	for _, tt := range []struct{ name, decls, locals, body, want string }{
		{"function", "bit<8> inc(in bit<8> x) { return x + 1; }", "", "hdr.h.a = inc(hdr.h.b);",
			"assign h.a, (h.b + 1)\ngoto 1\n1:\n"},
		{"argument in use", "bit<8> inc(in bit<8> x) { return x + 1; }", "", "hdr.h.a = inc(hdr.h.a);",
			"assign I.tmp, (h.a + 1)\ngoto 1\n1:\nassign h.a, I.tmp\n"},
		{"inout by reference", "void swap(inout bit<8> x, inout bit<8> y) { bit<8> z = x; x = y; y = z; }", "", "swap(hdr.h.a, hdr.h.b);",
			"assign swap.z, h.a\nassign h.a, h.b\nassign h.b, swap.z\n1:\n"},
		{"inout twice the same is copied", "void f(inout bit<8> x, inout bit<8> y) { x = 1; y = 2; }", "", "f(hdr.h.a, hdr.h.a);",
			"assign f.x, h.a\nassign f.y, h.a\nassign f.x, 1\nassign f.y, 2\n1:\nassign h.a, f.x\nassign h.a, f.y\n"},
		{"slice as inout", "void f(inout bit<4> x) { x = 1; }", "", "f(hdr.h.a[3:0]);",
			"assign f.x, bit4(h.a)\nassign f.x, 1\n1:\nassign h.a, ((h.a & 240) | bit8(f.x))\n"},
		{"order of effects", "bit<8> set(inout bit<8> x) { x = 7; return x; }", "", "hdr.h.b = hdr.h.a + set(hdr.h.a);",
			"assign I.tmp, h.a\nassign h.a, 7\nassign I.tmp_0, h.a\ngoto 1\n1:\nassign h.b, (I.tmp + I.tmp_0)\n"},
		{"short circuit", "bool yes(inout bit<8> x) { x = 7; return true; }", "", "if (meta.f && yes(hdr.h.a)) { hdr.h.b = 1; }",
			"unless userMetadata.f goto 1\nassign h.a, 7\nassign I.tmp, true\ngoto 2\n2:\nunless I.tmp goto 1\nassign h.b, 1\n1:\n"},
		{"action", "", "action set(in bit<8> x, bit<8> y) { hdr.h.a = x; hdr.h.b = y; }", "set(hdr.h.c[7:0], 3);",
			"assign I.set.x, bit8(h.c)\nassign h.a, I.set.x\nassign h.b, 3\n1:\n"},
		{"action sees what it is given", "", "action set(in bit<8> x) { hdr.h.a = 9; hdr.h.b = x; }", "set(hdr.h.a);",
			"assign I.set.x, h.a\nassign h.a, 9\nassign h.b, I.set.x\n1:\n"},
		{"copy out before exit", "", "action stop(inout bit<8> x) { x = 1; hdr.h.b = hdr.h.a; exit; }", "stop(hdr.h.a);",
			"assign I.stop.x, h.a\nassign I.stop.x, 1\nassign h.b, h.a\nassign h.a, I.stop.x\nexit\n"},
		{"control", "control Sub(inout headers h, in bit<8> n) { apply { if (n == 0) { return; } h.h.a = n; } }", "Sub() sub;",
			"sub.apply(hdr, hdr.g.a);", "assign I.sub.n, g.a\nunless (I.sub.n == 0) goto 2\ngoto 1\n2:\nassign h.a, I.sub.n\n1:\n"},
		{"constructor parameter", "control Sub(inout bit<8> x)(bit<8> k) { apply { x = k + 1; } }", "Sub(4) sub;",
			"sub.apply(hdr.h.a);", "assign h.a, 5\n1:\n"},
		{"direct application", "control Sub(inout bit<8> x) { apply { x = 2; } }", "", "Sub.apply(hdr.h.a);", "assign h.a, 2\n1:\n"},
		{"generic function", "T pick<T>(in T x, in T y) { return x; }", "", "hdr.h.a = pick<bit<8>>(hdr.h.b, 1);",
			"assign h.a, h.b\ngoto 1\n1:\n"},
		{"register", "register<bit<8>>(4) r;", "", "r.read(hdr.h.a, 1); r.write((bit<32>) hdr.h.b, hdr.h.a);",
			"register_read h.a, r, 1\nregister_write r, bit32(h.b), h.a\n"},
		{"register into a slice", "register<bit<4>>(4) r;", "", "r.read(hdr.h.a[7:4], 1);",
			"register_read I.tmp, r, 1\nassign h.a, ((h.a & 15) | (bit8(I.tmp) << 4))\n"},
		{"counter and meter", "", "counter(8, CounterType.packets) c; meter(8, MeterType.bytes) m;", "c.count(2); m.execute_meter(3, meta.w);",
			"count I.c, 2\nexecute_meter I.m, 3, userMetadata.w\n"},
		{"hash", "", "", "hash(hdr.h.c, HashAlgorithm.crc16, 16w1, { hdr.h.a, 8w3, hdr.h.b + 1 }, 32w7);",
			"assign I.tmp, (h.b + 1)\nmodify_field_with_hash_based_offset h.c, 1, calc_0, 7\n"},
		{"clone keeps a list", "", "", "clone_preserving_field_list(CloneType.I2E, 5, 1);", "clone_ingress_pkt_to_egress 5, 1\n"},
		{"clone keeps nothing", "", "", "clone(CloneType.I2E, 5);", "clone_ingress_pkt_to_egress 5, 2\n"},
		{"drop", "", "", "mark_to_drop(sm);", "mark_to_drop standard_metadata\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := mustBuild(t, program(tt.decls, "", tt.locals, tt.body))
			if got := listing(p.Ingress.Code); !strings.HasPrefix(got, tt.want) {
				t.Errorf("got\n%swant\n%s", got, tt.want)
			}
		})
	}
}

func TestTables(t *testing.T) {
	const locals = `
action set(bit<8> x) { hdr.h.a = x; }
action nop() {}
direct_counter(CounterType.packets) dc;
direct_meter<bit<2>>(MeterType.packets) dm;
action color() { dm.read(hdr.h.b[1:0]); }
table t {
    key = { hdr.h.a: exact; hdr.h.c & 0xff0: ternary @name("masked"); hdr.g.isValid(): exact; hdr.h.b + 1: exact @name("sum"); }
    actions = { set; nop; color; }
    default_action = set(7);
    counters = dc;
    meters = dm;
    size = 12;
}`
	p := mustBuild(t, program("", "", locals, `
if (t.apply().hit) { hdr.h.b = 1; }
switch (t.apply().action_run) { set: { hdr.h.b = 2; } default: { hdr.h.b = 3; } }`))
	want := `assign I.t.key, (h.b + 1)
apply I.t hit -1 miss 1
assign h.b, 1
1:
assign I.t.key, (h.b + 1)
apply I.t I.set 4 default 3
goto 3
4:
assign h.b, 2
goto 2
3:
assign h.b, 3
goto 2
2:
0:
`
	if got := listing(p.Ingress.Code); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	tb := p.Ingress.Tables[0]
	if tb.Name != "I.t" || tb.Size != 12 || tb.Sites != 2 || tb.Site == nil || tb.Counter.Name != "I.dc" || tb.Meter.Name != "I.dm" {
		t.Errorf("table %+v", tb)
	}
	names := ""
	for _, k := range tb.Keys {
		names += k.Name + " "
	}
	if names != "hdr.h.a masked hdr.g.$valid$ sum " {
		t.Errorf("keys %q", names)
	}
	if m := tb.Keys[1].Mask; m == nil || m.Int64() != 0xff0 {
		t.Errorf("mask %v", m)
	}
	if tb.Keys[2].Valid == nil || tb.Keys[2].Valid.Name != "g" {
		t.Errorf("key 2 %+v", tb.Keys[2])
	}
	if len(tb.Default.Args) != 1 || tb.Default.Args[0].Int64() != 7 {
		t.Errorf("default %+v", tb.Default)
	}
	if got := listing(tb.Actions[0].Action.Code); got != "assign h.a, param0\n0:\n" {
		t.Errorf("set: %q", got)
	}
	if got := listing(tb.Actions[2].Action.Code); got != "assign h.b, ((h.b & 252) | bit8(I.dm.color))\n0:\n" {
		t.Errorf("color: %q", got)
	}
}

func TestParser(t *testing.T) {
	for _, tt := range []struct{ name, decls, states, want string }{
		{"extract and select", "", `state start { pkt.extract(hdr.h); transition select(hdr.h.a, hdr.h.b) {
			(1, 2): more; (8w4 &&& 8w0xc, _): accept; default: reject; } }
			state more { pkt.extract(hdr.st.next); transition select(hdr.st.last.a) { 0: more; default: accept; } }`,
			`1: state P.start
extract h
select h.a h.b (1 2 -> 2) (4&12 0&0 -> 0) (-> 3)
2: state P.more
extract st.next
select st.last.a (0 -> 2) (-> 0)
3:
accept
0:
accept
`},
		{"range becomes prefixes", "", `state start { pkt.extract(hdr.h); transition select(hdr.h.a) { 8w3 .. 8w8: accept; default: accept; } }`,
			`1: state P.start
extract h
select h.a (3 -> 0) (4&252 -> 0) (8 -> 0) (-> 0)
0:
accept
`},
		{"lookahead", "", `state start { meta.w = pkt.lookahead<bit<32>>(); meta.m = pkt.lookahead<bit<16>>()[7:0];
			transition select(pkt.lookahead<bit<8>>()) { 1: accept; } }`,
			`1: state P.start
assign userMetadata.w, lookahead(0,32)
assign userMetadata.m, lookahead(8,8)
select lookahead(0,8) (1 -> 0)
0:
accept
`},
		{"varbit, advance and verify", "", `state start { pkt.extract(hdr.v, 32w16); pkt.advance(8); verify(hdr.v.n == 2, error.NoMatch); transition accept; }`,
			`1: state P.start
extract_VL v, 16
advance 8
verify (v.n == 2), 2
goto 0
0:
accept
`},
		{"condition", "", `state start { pkt.extract(hdr.h); if (hdr.h.a > 3) { meta.m = 1; } transition accept; }`,
			`1: state P.start
extract h
assign P.tmp, (h.a > 3)
unless P.tmp goto 2
assign userMetadata.m, 1
2:
goto 0
0:
accept
`},
		{"sub-parser", `parser Sub(packet_in p, out h_t h, inout bit<8> n) { state start { p.extract(h); n = n + 1; transition accept; } }`,
			`Sub() sub; state start { sub.apply(pkt, hdr.h, meta.m); transition accept; }`,
			`1: state P.start
remove_header h
3: state P.sub.start
extract h
assign userMetadata.m, (userMetadata.m + 1)
goto 2
2:
goto 0
0:
accept
`},
		{"value set", "", `value_set<bit<8>>(4) vs; state start { pkt.extract(hdr.h); transition select(hdr.h.a) { vs: accept; default: reject; } }`,
			`1: state P.start
extract h
select h.a (P.vs -> 0) (-> 2)
2:
accept
0:
accept
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := mustBuild(t, program(tt.decls, tt.states, "", ""))
			if got := listing(p.Parser.Code); got != tt.want {
				t.Errorf("got\n%swant\n%s", got, tt.want)
			}
		})
	}
}

// TestErrors checks that what the target cannot do is told, not done wrong.
func TestErrors(t *testing.T) {
	for _, tt := range []struct{ code, states, decls, locals, body string }{
		{code: "unsupported-header", decls: "header odd { bit<7> x; } struct s2 { odd o; }", locals: "odd o;", body: "o.setValid();"},
		{code: "unsupported-header", decls: "header two { varbit<8> x; varbit<8> y; }", locals: "two o;", body: "o.setValid();"},
		{code: "unsupported-type", locals: "register<pair>(4) r;", body: "pair p; r.read(p, 0);"},
		{code: "unsupported-instance", locals: "register<bit<8>>(0) r;", body: "r.write(0, 1);"},
		{code: "unsupported-call", body: "clone(CloneType.E2E, 1);"},
		{code: "unsupported-call", body: "recirculate_preserving_field_list(0);"},
		{code: "unsupported-extern", body: "bit<32> x; hash(x, HashAlgorithm.random, 32w0, { hdr.h.a }, 32w8);"},
		{code: "unsupported-extern", states: "state start { meta.w = pkt.length(); transition accept; }"},
		{code: "unsupported-key", decls: "match_kind { fuzzy }", locals: "action n() {} table t { key = { hdr.h.a: fuzzy; } actions = { n; } default_action = n; }",
			body: "t.apply();"},
		{code: "unsupported-instance", locals: "direct_meter<bit<2>>(MeterType.packets) m; bit<2> c; action n() { m.read(c); } " +
			"table t { actions = { n; } default_action = n; }", body: "t.apply();"},
		{code: "wrong-property", locals: "counter(3, CounterType.packets) c; action n() {} table t { actions = { n; } default_action = n; counters = c; }",
			body: "t.apply();"},
	} {
		p, list := build(t, program(tt.decls, tt.states, tt.locals, tt.body))
		if p != nil || len(list) == 0 {
			t.Errorf("%s: no error for %s%s", tt.code, tt.locals, tt.body)
			continue
		}
		found := false
		for _, d := range list {
			found = found || string(d.Code) == tt.code
			if d.At.Line == 0 {
				t.Errorf("no position: %v", d)
			}
		}
		if !found {
			t.Errorf("%s%s: got %v, want code %s", tt.locals, tt.body, list, tt.code)
		}
	}
}

// TestLinear checks that code does not grow faster than the program: each step uses the results of earlier ones twice.
func TestLinear(t *testing.T) {
	size := func(n int) int {
		var b strings.Builder
		for range n {
			b.WriteString("meta.w = (meta.w ^ (meta.w << 3)) + meta.w;\n")
		}
		p := mustBuild(t, program("", "", "", b.String()))
		return len(listing(p.Ingress.Code))
	}
	if a, b := size(200), size(400); b > 2*a+10 {
		t.Errorf("200 steps give %d bytes, 400 give %d", a, b)
	}
}

func TestWrap(t *testing.T) {
	for _, tt := range []struct {
		v    int64
		t    Type
		want int64
	}{
		{256, Type{Width: 8}, 0}, {-1, Type{Width: 8}, 255}, {128, Type{Width: 8, Signed: true}, -128},
		{-129, Type{Width: 8, Signed: true}, 127}, {127, Type{Width: 8, Signed: true}, 127}, {5, Type{}, 5},
	} {
		if got := intConst(tt.v, tt.t).Val.Int64(); got != tt.want {
			t.Errorf("%d as %+v: %d, want %d", tt.v, tt.t, got, tt.want)
		}
	}
}
