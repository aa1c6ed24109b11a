package p4info

import (
	"strings"
	"testing"

	p4configv1 "github.com/p4lang/p4runtime/go/p4/config/v1"
	p4v1 "github.com/p4lang/p4runtime/go/p4/v1"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
)

func TestHash(t *testing.T) {
	// The id that every P4Info has for NoAction.
	if got := hash("NoAction")&0xffffff | uint32(prefixAction)<<24; got != 21257015 {
		t.Errorf("NoAction: %d", got)
	}
	if got := hash(""); got != 0 {
		t.Errorf("empty name: %d", got)
	}
}

func TestIDs(t *testing.T) {
	s := newSymbols()
	s.add(prefixTable, "a.t", 0)
	s.add(prefixTable, "b.t", 7)
	s.add(prefixAction, "a.t", 0)
	s.add(prefixTable, "a.t", 0) // again: nothing happens
	if _, ok := s.add(prefixTable, "c", 7); ok {
		t.Error("the same @id twice was accepted")
	}
	s.finish()
	if got := s.id(prefixTable, "b.t"); got != 0x02000007 {
		t.Errorf("@id(7): %#x", got)
	}
	if got, want := s.id(prefixTable, "a.t"), hash("a.t")&0xffffff|0x02000000; got != want {
		t.Errorf("a.t: %#x, want %#x", got, want)
	}
	if got, want := s.id(prefixAction, "a.t"), hash("a.t")&0xffffff|0x01000000; got != want {
		t.Errorf("action a.t: %#x, want %#x", got, want)
	}
}

// TestCollision takes away the id that a name hashes to: the next one is used.
func TestCollision(t *testing.T) {
	s := newSymbols()
	h := hash("x") & 0xffffff
	s.add(prefixTable, "taken", h)
	s.add(prefixTable, "x", 0)
	s.finish()
	if got := s.id(prefixTable, "x"); got != h+1|0x02000000 {
		t.Errorf("got %#x, want %#x", got, h+1|0x02000000)
	}
}

func TestAlias(t *testing.T) {
	s := newSymbols()
	for _, n := range []string{"d.a.c", "e.b.c", "e.only", "c2", "x.c2"} {
		s.add(prefixTable, n, 0)
	}
	for name, want := range map[string]string{"d.a.c": "a.c", "e.b.c": "b.c", "e.only": "only", "c2": "c2", "x.c2": "x.c2"} {
		if got := s.alias(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestBytes(t *testing.T) {
	// Whole bytes for the width, as the reference compiler writes them.
	info, _, list := compile("t.p4", []byte(strings.Replace(source, "set(5,", "set(0x105,", 1)))
	if info == nil {
		t.Fatal(list)
	}
	v := info.Tables[0].InitialDefaultAction.Arguments[0].Value
	if string(v) != "\x01\x05" {
		t.Errorf("value % x", v)
	}
}

const source = `
#include <core.p4>
#include <v1model.p4>

@p4runtime_translation("example.com/port", string)
type bit<9> port_t;
type bit<12> vlan_t;
enum bit<8> kind_t { one = 1, two = 2 }

header h_t { bit<8> a; bit<16> b; bit<12> vlan; bit<4> pad; kind_t kind; }

@controller_header("packet_in")
header in_t { @id(4) bit<9> port; bit<7> rest; }

struct headers { h_t h; in_t i; }
struct meta_t { vlan_t v; bit<8> m; }
struct note_t { bit<8> x; vlan_t v; }

parser P(packet_in pkt, out headers hdr, inout meta_t meta, inout standard_metadata_t sm) {
    @id(3) value_set<bit<8>>(4) vs;
    state start {
        pkt.extract(hdr.h);
        transition select(hdr.h.a) { vs: accept; default: accept; }
    }
}
control V(inout headers hdr, inout meta_t meta) { apply {} }
control I(inout headers hdr, inout meta_t meta, inout standard_metadata_t sm) {
    counter(16, CounterType.bytes) total;
    direct_counter(CounterType.packets_and_bytes) hits;
    register<bit<32>>(8) reg;
    action_selector(HashAlgorithm.crc16, 32w64, 32w16) sel;

    @brief("Sets.") @my(1, x) action set(@id(9) bit<12> vlan, kind_t kind) { hdr.h.vlan = vlan; hdr.h.kind = kind; }
    action unused() {}
    action tell() { digest<note_t>(1, { hdr.h.a, meta.v }); }

    @description("Two\nlines")
    table t {
        key = { hdr.h.a: exact @name("key"); hdr.h.b: ternary; meta.v: range; }
        actions = { set; @tableonly tell; }
        default_action = set(5, kind_t.two);
        counters = hits;
        size = 12;
        support_timeout = true;
        const entries = {
            (1, 0x1200 &&& 0xff00, 5 .. 6): set(7, kind_t.one);
            (2, _, _): tell();
        }
    }
    table u {
        key = { hdr.h.a: exact; hdr.h.b: selector; }
        actions = { set; }
        implementation = sel;
    }
    @hidden table secret { actions = { NoAction; } default_action = NoAction; }
    apply { t.apply(); u.apply(); secret.apply(); total.count(1); reg.write(0, 1); }
}
control E(inout headers hdr, inout meta_t meta, inout standard_metadata_t sm) { apply {} }
control C(inout headers hdr, inout meta_t meta) { apply {} }
control D(packet_out pkt, in headers hdr) { apply { pkt.emit(hdr); } }

@pkginfo(name="demo", version="1.2")
V1Switch(P(), V(), I(), E(), C(), D()) main;
`

func TestBuild(t *testing.T) {
	src := strings.Replace(source, "meta.v: range", "meta.m: range", 1)
	info, entries, list := compile("t.p4", []byte(src))
	if info == nil {
		t.Fatal(list)
	}
	// Ids are written as names hash; all else is worked out from the program.
	id := func(p prefix, name string) uint32 { return hash(name)&0xffffff | uint32(p)<<24 }
	set, tell, no := id(prefixAction, "I.set"), id(prefixAction, "I.tell"), uint32(21257015)
	want := &p4configv1.P4Info{}
	text := `
pkg_info { arch: "v1model" name: "demo" version: "1.2" }
tables {
  preamble { id: T name: "I.t" alias: "t" doc { description: "Two\nlines" } }
  match_fields { id: 1 name: "key" bitwidth: 8 match_type: EXACT }
  match_fields { id: 2 name: "hdr.h.b" bitwidth: 16 match_type: TERNARY }
  match_fields { id: 3 name: "meta.m" bitwidth: 8 match_type: RANGE }
  action_refs { id: SET }
  action_refs { id: TELL scope: TABLE_ONLY annotations: "@tableonly" }
  initial_default_action { action_id: SET arguments { param_id: 9 value: "\000\005" } arguments { param_id: 2 value: "\002" } }
  direct_resource_ids: HITS
  size: 12
  idle_timeout_behavior: NOTIFY_CONTROL
  is_const_table: true
  has_initial_entries: true
}
tables {
  preamble { id: U name: "I.u" alias: "u" }
  match_fields { id: 1 name: "hdr.h.a" bitwidth: 8 match_type: EXACT }
  action_refs { id: SET }
  action_refs { id: NO scope: DEFAULT_ONLY annotations: "@defaultonly" }
  initial_default_action { action_id: NO }
  implementation_id: SEL
  size: 1024
}
actions { preamble { id: NO name: "NoAction" alias: "NoAction" annotations: "@noWarn(\"unused\")" } }
actions {
  preamble { id: SET name: "I.set" alias: "set" annotations: "@my(1 , x)" doc { brief: "Sets." } }
  params { id: 9 name: "vlan" bitwidth: 12 }
  params { id: 2 name: "kind" bitwidth: 8 }
}
actions { preamble { id: TELL name: "I.tell" alias: "tell" } }
action_profiles { preamble { id: SEL name: "I.sel" alias: "sel" } table_ids: U with_selector: true size: 64 }
counters { preamble { id: TOTAL name: "I.total" alias: "total" } spec { unit: BYTES } size: 16 }
direct_counters { preamble { id: HITS name: "I.hits" alias: "hits" } spec { unit: BOTH } direct_table_id: T }
controller_packet_metadata {
  preamble { id: IN name: "packet_in" alias: "packet_in" annotations: "@controller_header(\"packet_in\")" }
  metadata { id: 4 name: "port" bitwidth: 9 }
  metadata { id: 2 name: "rest" bitwidth: 7 }
}
value_sets { preamble { id: 50331651 name: "P.vs" alias: "vs" } match { id: 1 bitwidth: 8 match_type: EXACT } size: 4 }
registers { preamble { id: REG name: "I.reg" alias: "reg" } type_spec { bitstring { bit { bitwidth: 32 } } } size: 8 }
digests { preamble { id: NOTE name: "note_t" alias: "note_t" } type_spec { struct { name: "note_t" } } }
type_info {
  structs {
    key: "note_t"
    value {
      members { name: "x" type_spec { bitstring { bit { bitwidth: 8 } } } }
      members { name: "v" type_spec { new_type { name: "vlan_t" } } }
    }
  }
  serializable_enums {
    key: "kind_t"
    value { underlying_type { bitwidth: 8 } members { name: "one" value: "\001" } members { name: "two" value: "\002" } }
  }
  new_types { key: "vlan_t" value { original_type { bitstring { bit { bitwidth: 12 } } } } }
}`
	for word, v := range map[string]uint32{" T ": id(prefixTable, "I.t"), " U ": id(prefixTable, "I.u"), " SET ": set, " TELL ": tell,
		" NO ": no, " HITS": id(prefixDirectCounter, "I.hits"), " SEL": id(prefixActionProfile, "I.sel"),
		" TOTAL ": id(prefixCounter, "I.total"), " IN ": id(prefixControllerHeader, "in_t"), " REG ": id(prefixRegister, "I.reg"),
		" NOTE ": id(prefixDigest, "note_t")} {
		text = strings.ReplaceAll(text, word, " "+itoa(v)+" ")
	}
	if err := prototext.Unmarshal([]byte(text), want); err != nil {
		t.Fatal(err)
	}
	if !proto.Equal(info, want) {
		t.Errorf("-want +got:\n%s", lineDiff(want, info))
	}
	wantEntries := &p4v1.WriteRequest{}
	text = `
updates { type: INSERT entity { table_entry {
  table_id: T
  match { field_id: 1 exact { value: "\001" } }
  match { field_id: 2 ternary { value: "\022\000" mask: "\377\000" } }
  match { field_id: 3 range { low: "\005" high: "\006" } }
  action { action { action_id: SET params { param_id: 1 value: "\000\007" } params { param_id: 2 value: "\001" } } }
  priority: 2
  is_const: true
} } }
updates { type: INSERT entity { table_entry {
  table_id: T
  match { field_id: 1 exact { value: "\002" } }
  action { action { action_id: TELL } }
  priority: 1
  is_const: true
} } }`
	for word, v := range map[string]uint32{" T\n": id(prefixTable, "I.t"), " SET ": set, " TELL ": tell} {
		text = strings.ReplaceAll(text, word, " "+itoa(v)+" ")
	}
	if err := prototext.Unmarshal([]byte(text), wantEntries); err != nil {
		t.Fatal(err)
	}
	if !proto.Equal(entries, wantEntries) {
		t.Errorf("entries -want +got:\n%s", lineDiff(wantEntries, entries))
	}
}

func itoa(v uint32) string {
	s := ""
	for ; v > 0; v /= 10 {
		s = string(rune('0'+v%10)) + s
	}
	return s
}

func TestTranslation(t *testing.T) {
	src := strings.Replace(source, "bit<8> m; }", "port_t p; bit<8> m; }", 1)
	src = strings.Replace(src, "meta.v: range", "meta.p: exact", 1)
	src = strings.Replace(src, "5 .. 6", "(port_t) 5", 1)
	src = strings.Replace(src, "(2, _, _)", "(2, _, (port_t) 6)", 1)
	info, _, list := compile("t.p4", []byte(src))
	if info == nil {
		t.Fatal(list)
	}
	f := info.Tables[0].MatchFields[2]
	if f.TypeName.GetName() != "port_t" || f.Bitwidth != 0 {
		t.Errorf("field %v", f)
	}
	tr := info.TypeInfo.NewTypes["port_t"].GetTranslatedType()
	if tr.GetUri() != "example.com/port" || tr.GetSdnString() == nil {
		t.Errorf("translation %v", tr)
	}
}

func TestBadID(t *testing.T) {
	twice := strings.Replace(strings.Replace(source, "@description", "@id(1) @description", 1), "table u {", "@id(1) table u {", 1)
	prefix := strings.Replace(source, "@description", "@id(0x05000001) @description", 1)
	for _, src := range []string{twice, prefix} {
		info, _, list := compile("t.p4", []byte(src))
		if info != nil || len(list) == 0 || list[0].Code != "bad-id" || list[0].At.Line == 0 {
			t.Errorf("got %v", list)
		}
	}
}
