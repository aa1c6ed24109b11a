package simpleswitch

import (
	"fmt"
	"strings"
	"testing"

	"khop/bmv2/config"
	"khop/bmv2/pipeline"
	"khop/p4"
)

// A program with a header stack, a register, a hash, IPv6 addresses and a digest.
const source = `
#include <core.p4>
#include <v1model.p4>
header eth_t { bit<48> dst; bit<48> src; bit<16> type; }
header lab_t { bit<7> v; bit<1> bos; }
header v6_t  { bit<128> src; bit<128> dst; }
struct headers { eth_t eth; lab_t[3] lab; v6_t v6; }
struct meta { bit<16> n; bit<32> h; }
struct seen_t { bit<48> mac; bit<16> n; }
parser P(packet_in pkt, out headers hdr, inout meta m, inout standard_metadata_t sm) {
    state start { pkt.extract(hdr.eth); transition select(hdr.eth.type) { 0x8847: labels; 0x86dd: v6; default: accept; } }
    state labels { pkt.extract(hdr.lab.next); transition select(hdr.lab.last.bos) { 0: labels; default: v6; } }
    state v6 { pkt.extract(hdr.v6); transition accept; }
}
control V(inout headers hdr, inout meta m) { apply { } }
control U(inout headers hdr, inout meta m) { apply { } }
control I(inout headers hdr, inout meta m, inout standard_metadata_t sm) {
    register<bit<16>>(4) seen;
    action to(bit<9> port, bit<128> src) { sm.egress_spec = port; hdr.v6.src = src; }
    action drop() { mark_to_drop(sm); }
    table route {
        key = { hdr.v6.dst : lpm; }
        actions = { to; drop; }
        default_action = drop();
        size = 64;
    }
    apply {
        seen.read(m.n, 1);
        m.n = m.n + 1;
        seen.write(1, m.n);
        hash(m.h, HashAlgorithm.crc32, 32w0, { hdr.eth.src }, 32w0x10000);
        if (hdr.lab[0].isValid()) { hdr.lab.pop_front(1); }
        if (hdr.v6.isValid()) { route.apply(); } else { sm.egress_spec = 4; }
        hdr.eth.dst = m.n ++ m.h;
        digest<seen_t>(1, { hdr.eth.src, m.n });
    }
}
control E(inout headers hdr, inout meta m, inout standard_metadata_t sm) { apply { } }
control D(packet_out pkt, in headers hdr) { apply { pkt.emit(hdr); } }
V1Switch(P(), V(), I(), E(), U(), D()) main;
`

func TestCompiledProgram(t *testing.T) {
	r, list := p4.Compile("test.p4", []byte(source), p4.Options{})
	if r == nil {
		t.Fatal(list)
	}
	c, err := config.Parse(r.JSON)
	if err != nil {
		t.Fatal(err)
	}
	var digests []string
	s := start(t, c, Options{OnDigest: func(d Digest) { digests = append(digests, fmt.Sprintf("%x", d.Values)) }})
	add(t, s, "I.route", "I.to", pipeline.FieldMatch{Value: append([]byte{0xfd}, make([]byte, 15)...), PrefixLen: 8},
		[]byte{2}, append(make([]byte, 15), 0x77))
	const mac = "313233343536" // "123456", whose CRC-32 is 0972d361
	v6 := func(first string) string { return first + strings.Repeat("00", 14) + "01" }
	expect(t, send(t, s, 0, 1, "000000000000"+mac+"0000 99"), out{4, "0001 0000d361" + mac + "0000 99"})
	expect(t, send(t, s, 0, 1, "000000000000"+mac+"86dd"+v6("fe")+v6("fd")),
		out{2, "0002 0000d361" + mac + "86dd" + v6("00")[:30] + "77" + v6("fd")})
	expect(t, send(t, s, 0, 1, "000000000000"+mac+"8847 0205"+v6("fe")+v6("fd")),
		out{2, "0003 0000d361" + mac + "8847 05" + v6("00")[:30] + "77" + v6("fd")})
	expect(t, send(t, s, 0, 1, "000000000000"+mac+"86dd"+v6("fe")+v6("fc"))) // no route
	if v, err := s.RegisterUint("I.seen", 1); err != nil || v != 4 {
		t.Errorf("seen[1] = %d, %v", v, err)
	}
	if want := "[" + mac + " 0004]"; len(digests) != 4 || digests[3] != want {
		t.Errorf("digests %q, want 4 that end with %q", digests, want)
	}
	expectDrops(t, s, map[Reason]uint64{DropIngress: 1})
}
