package bmv2json

import (
	"bytes"
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"khop/p4/diag"
	"khop/p4/ir"
	"khop/p4/parser"
	"khop/p4/preproc"
	"khop/p4/types"
	"khop/p4src"
)

const head = `
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<16> c; int<8> s; bit<7> odd; bool flag; bit<64> d; }
struct headers { h_t h; h_t[2] st; }
struct meta_t { bit<8> m; bool f; bit<3> three; }
`

func program(states, locals, body string) string {
	if states == "" {
		states = "state start { transition accept; }"
	}
	return head + `
parser P(packet_in pkt, out headers hdr, inout meta_t meta, inout standard_metadata_t sm) { ` + states + ` }
control V(inout headers hdr, inout meta_t meta) { apply { verify_checksum(hdr.h.isValid(), { hdr.h.a, 8w1 }, hdr.h.c, HashAlgorithm.csum16); } }
control I(inout headers hdr, inout meta_t meta, inout standard_metadata_t sm) { ` + locals + ` apply { ` + body + ` } }
control E(inout headers hdr, inout meta_t meta, inout standard_metadata_t sm) { apply {} }
control C(inout headers hdr, inout meta_t meta) { apply { update_checksum_with_payload(true, { hdr.h }, hdr.h.c, HashAlgorithm.csum16); } }
control D(packet_out pkt, in headers hdr) { apply { pkt.emit(hdr); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
`
}

func compile(src string) ([]byte, diag.List) {
	out, list := preproc.Run("t.p4", []byte(src), preproc.Options{Builtin: p4src.Include})
	if list.HasErrors() {
		return nil, list
	}
	prog, list := parser.Parse(out.Text, out.Map)
	if list.HasErrors() {
		return nil, list
	}
	info, list := types.Check(prog, out.Map, types.Options{NoWarnings: true})
	if list.HasErrors() {
		return nil, list
	}
	p, list := ir.Build(info, out.Map)
	if p == nil {
		return nil, list
	}
	return Encode(p, Options{File: "t.p4", Pos: out.Map, Text: []byte(out.Text)})
}

// load compiles a program and reads the JSON back.
func load(t *testing.T, src string) map[string]any {
	t.Helper()
	js, list := compile(src)
	if js == nil {
		t.Fatal(list)
	}
	var v map[string]any
	if err := json.Unmarshal(js, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// at follows a path of keys, indexes and name=value selectors.
func at(t *testing.T, v any, path ...any) any {
	t.Helper()
	for _, p := range path {
		switch p := p.(type) {
		case int:
			v = v.([]any)[p]
		case string:
			key, want, ok := strings.Cut(p, "=")
			if !ok {
				v = v.(map[string]any)[p]
				continue
			}
			found := false
			for _, e := range v.([]any) {
				if e.(map[string]any)[key] == want {
					v, found = e, true
					break
				}
			}
			if !found {
				t.Fatalf("nothing with %s", p)
			}
		}
	}
	return v
}

// show spells an expression of the JSON.
func show(v any) string {
	m, ok := v.(map[string]any)
	if !ok {
		b, _ := json.Marshal(v)
		return string(b)
	}
	if o, ok := m["op"]; ok {
		s := "(" + show(m["left"]) + " " + o.(string) + " " + show(m["right"]) + ")"
		if c, ok := m["cond"]; ok {
			return show(c) + s
		}
		return strings.Replace(s, "(null ", "(", 1)
	}
	switch m["type"] {
	case "expression":
		return show(m["value"])
	case "field", "stack_field":
		p := m["value"].([]any)
		return p[0].(string) + "." + p[1].(string)
	case "hexstr":
		return m["value"].(string)
	case "local", "runtime_data":
		return m["type"].(string) + show(m["value"])
	}
	b, _ := json.Marshal(m["value"])
	return string(b)
}

func TestExpressions(t *testing.T) {
	for _, tt := range []struct{ body, want string }{
		{"hdr.h.a = hdr.h.b + 1;", "((h.b + 0x01) & 0xff)"},
		{"hdr.h.a = hdr.h.b - hdr.h.a;", "((h.b - h.a) & 0xff)"},
		{"hdr.h.a = ~hdr.h.b;", "((~ h.b) & 0xff)"},
		{"hdr.h.a = hdr.h.b & 3;", "(h.b & 0x03)"},
		{"hdr.h.c = (bit<16>) hdr.h.a + 1;", "(h.a + 0x01)"},
		{"hdr.h.a = hdr.h.c[7:0];", "(h.c & 0xff)"},
		{"hdr.h.a = hdr.h.c[15:8];", "(h.c >> 0x08)"},
		{"hdr.h.c = hdr.h.a ++ hdr.h.b;", "((h.a << 0x08) | h.b)"},
		{"hdr.h.s = hdr.h.s + 1;", "((h.s + 0x01) two_comp_mod 0x08)"},
		{"hdr.h.s = (int<8>) hdr.h.a;", "(h.a two_comp_mod 0x08)"},
		{"hdr.h.a = (bit<8>) hdr.h.s;", "(h.s & 0xff)"},
		{"hdr.h.a = hdr.h.a |+| hdr.h.b;", "((h.a + h.b) usat_cast 0x08)"},
		{"hdr.h.s = hdr.h.s |-| 3;", "((h.s - 0x03) sat_cast 0x08)"},
		{"meta.f = hdr.h.flag;", "h.flag"},
		{"meta.f = hdr.h.isValid() || hdr.h.a == 3;", "(b2d ((d2b h.$valid$) or (h.a == 0x03)))"},
		{"meta.f = !meta.f;", "(b2d (not (d2b scalars.userMetadata.f)))"},
		{"hdr.h.a = meta.f ? hdr.h.b : 8w4;", "(d2b scalars.userMetadata.f)(h.b ? 0x04)"},
		{"hdr.h.a = hdr.st[hdr.h.b[0:0]].a;", `(("st" dereference_header_stack scalars.I.tmp) access_field 0)`},
		{"hdr.h.a = hdr.h.b << hdr.h.a;", "((h.b << h.a) & 0xff)"},
	} {
		v := load(t, program("", "", tt.body))
		acts := v["actions"].([]any)
		prims := at(t, acts[len(acts)-1], "primitives").([]any)
		prim := prims[len(prims)-1]
		if op := at(t, prim, "op"); op != "assign" {
			t.Errorf("%s: op %v", tt.body, op)
		}
		if got := show(at(t, prim, "parameters", 1)); got != tt.want {
			t.Errorf("%s\ngot  %s\nwant %s", tt.body, got, tt.want)
		}
	}
}

// TestWrapping checks the two levels of "expression" that a primitive's parameter needs and a condition must not have.
func TestWrapping(t *testing.T) {
	v := load(t, program("", "", "if (hdr.h.a == 1) { hdr.h.a = hdr.h.b + 1; hdr.h.b = hdr.h.a; }"))
	cond := at(t, v, "pipelines", 0, "conditionals", 0, "expression")
	if at(t, cond, "type") != "expression" || at(t, cond, "value", "op") != "==" {
		t.Errorf("condition %v", cond)
	}
	prims := at(t, v, "actions", 0, "primitives")
	if p := at(t, prims, 0, "parameters", 1); at(t, p, "type") != "expression" || at(t, p, "value", "type") != "expression" {
		t.Errorf("expression %v", p)
	}
	if p := at(t, prims, 1, "parameters", 1); at(t, p, "type") != "field" {
		t.Errorf("field %v", p)
	}
}

func TestGraph(t *testing.T) {
	v := load(t, program("", `
action set(bit<8> x) { hdr.h.a = x; }
action nop() {}
table t { key = { hdr.h.a: exact; } actions = { set; nop; } default_action = nop; }
`, `hdr.h.a = 1; hdr.h.b = 2;
if (hdr.h.c == 3) { hdr.h.b = 3; }
switch (t.apply().action_run) { set: { hdr.h.c = 4; } }
hdr.h.c = 5;`))
	ing := at(t, v, "pipelines", 0)
	name := at(t, ing, "init_table").(string)
	first := at(t, ing, "tables", "name="+name)
	if n := len(at(t, v, "actions", "name="+at(t, first, "actions", 0).(string), "primitives").([]any)); n != 2 {
		t.Errorf("first action has %d primitives, want 2: neighbours are one action", n)
	}
	cond := at(t, ing, "conditionals", "name="+at(t, first, "base_default_next").(string))
	if at(t, cond, "false_next") != "I.t" {
		t.Errorf("false goes to %v", at(t, cond, "false_next"))
	}
	if then := at(t, ing, "tables", "name="+at(t, cond, "true_next").(string)); at(t, then, "base_default_next") != "I.t" {
		t.Errorf("then goes on to %v", at(t, then, "base_default_next"))
	}
	tb := at(t, ing, "tables", "name=I.t")
	last := at(t, tb, "base_default_next").(string)
	if at(t, tb, "next_tables", "I.nop") != last || at(t, tb, "next_tables", "I.set") == last {
		t.Errorf("next_tables %v", at(t, tb, "next_tables"))
	}
	if at(t, ing, "tables", "name="+last, "base_default_next") != nil {
		t.Error("the last table must end the pipeline")
	}
}

// TestTableTwice checks that a table stands in the JSON once though it is applied twice, with the place remembered in a field.
func TestTableTwice(t *testing.T) {
	v := load(t, program("", `action nop() {} table t { key = { hdr.h.a: exact; } actions = { nop; } default_action = nop; }`,
		"t.apply(); hdr.h.b = 1; t.apply(); hdr.h.b = 2;"))
	ing := at(t, v, "pipelines", 0)
	n := 0
	for _, tb := range at(t, ing, "tables").([]any) {
		if at(t, tb, "name") == "I.t" {
			n++
		}
	}
	if n != 1 {
		t.Errorf("table stands %d times", n)
	}
	next := at(t, ing, "tables", "name=I.t", "base_default_next").(string)
	cond := at(t, ing, "conditionals", "name="+next)
	if got := show(at(t, cond, "expression")); got != "(scalars.I.t.site == 0x00)" {
		t.Errorf("condition %s", got)
	}
}

func TestEntries(t *testing.T) {
	v := load(t, program("", `
action set(bit<12> x) { hdr.h.c = 4w0 ++ x; }
table t {
    key = { hdr.h.a: exact; hdr.h.c: lpm; }
    actions = { set; }
    default_action = set(1);
    const entries = { (1, 0x1200 &&& 0xff00): set(2); (2, _): set(3); }
}
table u {
    key = { hdr.h.a: ternary; hdr.h.c: range; hdr.h.flag: optional; }
    actions = { set; NoAction; }
    const default_action = NoAction();
    const entries = { (1 &&& 3, 5..6, true): set(2); (_, 7, _): set(3); }
}`, "t.apply(); u.apply();"))
	js, _ := json.Marshal(at(t, v, "pipelines", 0, "tables", "name=I.t", "entries"))
	for _, want := range []string{
		`"match_key":[{"key":"0x01","match_type":"exact"},{"key":"0x1200","match_type":"lpm","prefix_length":8}]`,
		`{"key":"0x0000","match_type":"lpm","prefix_length":0}`, `"action_data":["0x0002"]`, `"priority":1`, `"priority":2`,
	} {
		if !strings.Contains(string(js), want) {
			t.Errorf("t: no %s in %s", want, js)
		}
	}
	u := at(t, v, "pipelines", 0, "tables", "name=I.u")
	js, _ = json.Marshal(at(t, u, "entries"))
	for _, want := range []string{
		`{"key":"0x01","mask":"0x03","match_type":"ternary"}`, `{"end":"0x0006","match_type":"range","start":"0x0005"}`,
		`{"key":"0x01","mask":"0x01","match_type":"ternary"}`, `{"key":"0x00","mask":"0x00","match_type":"ternary"}`,
		`{"end":"0x0007","match_type":"range","start":"0x0007"}`,
	} {
		if !strings.Contains(string(js), want) {
			t.Errorf("u: no %s in %s", want, js)
		}
	}
	if at(t, u, "match_type") != "range" || at(t, u, "default_entry", "action_const") != true {
		t.Errorf("u: %v %v", at(t, u, "match_type"), at(t, u, "default_entry"))
	}
}

func TestParserStates(t *testing.T) {
	v := load(t, program(`state start { pkt.extract(hdr.h); transition select(hdr.h.odd, hdr.h.c) { (1, 0x0203): two; (7w4 &&& 7w4, _): accept; } }
state two { pkt.extract(hdr.st.next); meta.f = hdr.h.a > 2; meta.m = pkt.lookahead<bit<8>>(); transition accept; }`, "", ""))
	p := at(t, v, "parsers", 0)
	start := at(t, p, "parse_states", "name="+at(t, p, "init_state").(string))
	tr := at(t, start, "transitions").([]any)
	if len(tr) != 2 {
		t.Fatalf("%d transitions: a select without default has no match there", len(tr))
	}
	if at(t, tr[0], "value") != "0x010203" || at(t, tr[0], "mask") != nil || at(t, tr[0], "next_state") != "two" {
		t.Errorf("first transition %v", tr[0])
	}
	if at(t, tr[1], "value") != "0x040000" || at(t, tr[1], "mask") != "0x040000" || at(t, tr[1], "next_state") != nil {
		t.Errorf("second transition %v", tr[1])
	}
	ops := at(t, p, "parse_states", "name=two", "parser_ops")
	if at(t, ops, 0, "parameters", 0, "type") != "stack" || at(t, ops, 1, "op") != "set" ||
		at(t, ops, 2, "parameters", 1, "type") != "lookahead" {
		t.Errorf("operations %v", ops)
	}
}

func TestActionJumps(t *testing.T) {
	v := load(t, program("", `
action a(bit<8> x, bool y) {
    if (x == 1) { hdr.h.a = x; return; }
    if (y) { exit; }
    hdr.h.b = 2;
}
table t { actions = { a; } default_action = a(1, true); }`, "t.apply();"))
	act := at(t, v, "actions", "name=I.a")
	var ops []string
	for _, p := range at(t, act, "primitives").([]any) {
		s := at(t, p, "op").(string)
		ps := at(t, p, "parameters").([]any)
		if strings.HasPrefix(s, "_jump") {
			s += " " + show(ps[len(ps)-1])
		}
		ops = append(ops, s)
	}
	if got, want := strings.Join(ops, ", "), "_jump_if_zero 0x03, assign, _jump 0x06, _jump_if_zero 0x05, exit, assign"; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if at(t, act, "primitives", 1, "parameters", 1, "type") != "runtime_data" {
		t.Error("a parameter by itself is runtime_data")
	}
	js, _ := json.Marshal(at(t, v, "pipelines", 0, "tables", 0, "default_entry", "action_data"))
	if string(js) != `["0x01","0x01"]` {
		t.Errorf("action data %s", js)
	}
}

func TestHeaders(t *testing.T) {
	v := load(t, program("", "", "meta.three = 1;"))
	bits := 0
	for _, f := range at(t, v, "header_types", "name=scalars_t", "fields").([]any) {
		bits += int(f.([]any)[1].(float64))
	}
	if bits%8 != 0 {
		t.Errorf("scalars are %d bits", bits)
	}
	if at(t, v, "headers", "name=standard_metadata", "metadata") != true {
		t.Error("standard_metadata must be metadata")
	}
	order, _ := json.Marshal(at(t, v, "deparsers", 0, "order"))
	if string(order) != `["h","st[0]","st[1]"]` {
		t.Errorf("deparser order %s", order)
	}
	calc, _ := json.Marshal(at(t, v, "calculations", 0, "input", 1))
	if string(calc) != `{"bitwidth":8,"type":"hexstr","value":"0x01"}` {
		t.Errorf("constant in a calculation: %s", calc)
	}
	in := at(t, v, "calculations", 1, "input").([]any)
	if at(t, in[len(in)-1], "type") != "payload" {
		t.Error("the payload must be the last input")
	}
	if at(t, v, "checksums", 0, "verify") != true || at(t, v, "checksums", 1, "update") != true {
		t.Errorf("checksums %v", at(t, v, "checksums"))
	}
}

func TestDeterministic(t *testing.T) {
	src := program("", "action a(bit<8> x) { hdr.h.a = x; } table t { key = { hdr.h.a: exact; } actions = { a; NoAction; } }",
		"t.apply(); if (hdr.h.a > 3) { hdr.h.b = 1; }")
	a, list := compile(src)
	if a == nil {
		t.Fatal(list)
	}
	for range 5 {
		if b, _ := compile(src); !bytes.Equal(a, b) {
			t.Fatal("two runs differ")
		}
	}
}

func TestHitAndActionRun(t *testing.T) {
	_, list := compile(program("", `action nop() {} table t { actions = { nop; } default_action = nop; }`,
		"if (t.apply().hit) { hdr.h.a = 1; } switch (t.apply().action_run) { nop: { hdr.h.a = 2; } }"))
	if len(list) != 1 || list[0].Code != "unsupported-statement" || list[0].At.Line == 0 {
		t.Errorf("got %v", list)
	}
}

func TestHex(t *testing.T) {
	for _, tt := range []struct {
		v    int64
		size int
		want string
	}{{0, 0, "0x00"}, {0xabc, 0, "0x0abc"}, {1, 4, "0x00000001"}, {-5, 0, "-0x05"}} {
		if got := hex(big.NewInt(tt.v), tt.size); got != tt.want {
			t.Errorf("%d: %s, want %s", tt.v, got, tt.want)
		}
	}
}
