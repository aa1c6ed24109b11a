package main

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// call runs a command line.
func call(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(t.Context(), args, strings.NewReader(""), &out, &errs)
	return code, out.String(), errs.String()
}

// pcapHeader is a little-endian pcap header with the link type, followed by what is given.
func pcapHeader(link uint32, rest ...byte) string {
	var b bytes.Buffer
	for _, v := range []any{uint32(0xa1b2c3d4), uint16(2), uint16(4), uint32(0), uint32(0), uint32(65535), link} {
		_ = binary.Write(&b, binary.LittleEndian, v)
	}
	return b.String() + string(rest)
}

const goodSpec = `name: t
topology: {kind: leaf-spine, leaves: 2, spines: 2}
addressing: {ipv4: 10.0.0.0/8}
hosts: {per-leaf: [1-2]}
scheme: {kind: hula}
timing: {probe-interval: 500us, tau: 1024us, flowlet-gap: 200us, keep-alive: 2500us, link-timeout: 2500us}
links:
  host: {rate: 10Gbps, delay: 1us, mtu: 1500B}
  fabric: {rate: 40Gbps, delay: 1us, mtu: 1512B}
target: {kind: embedded, cpu-port: 255, queue-packets: 64}
`

const goodP4 = `#include <core.p4>
#include <v1model.p4>
struct h { }
struct m { }
parser P(packet_in p, out h hdr, inout m meta, inout standard_metadata_t s) { state start { transition accept; } }
control V(inout h hdr, inout m meta) { apply { } }
control I(inout h hdr, inout m meta, inout standard_metadata_t s) { apply { s.egress_spec = 2; } }
control E(inout h hdr, inout m meta, inout standard_metadata_t s) { apply { } }
control C(inout h hdr, inout m meta) { apply { } }
control D(packet_out p, in h hdr) { apply { } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
`

// Wrong input of every kind ends with the exit code that the kind of mistake has, and a message that tells what is wrong
// and where.
func TestBadInput(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	spec := func(name, old, new string) string {
		text := strings.Replace(goodSpec, old, new, 1)
		if text == goodSpec {
			t.Fatalf("%s: nothing replaced", name)
		}
		return file(name, text)
	}
	prog := func(name, old, new string) string {
		text := strings.Replace(goodP4, old, new, 1)
		if text == goodP4 {
			t.Fatalf("%s: nothing replaced", name)
		}
		return file(name, text)
	}
	good := file("good.yaml", goodSpec)
	goodProgram := file("good.p4", goodP4)
	goodTest := file("good.stf", "packet 1 00\nexpect 2 00\n")
	out := filepath.Join(dir, "out")
	if code, _, stderr := call(t, "generate", "-f", good, "-o", out); code != exitOK {
		t.Fatalf("the good spec: %d %s", code, stderr)
	}
	if code, stdout, stderr := call(t, "stf", goodProgram, goodTest); code != exitOK || !strings.HasPrefix(stdout, "PASS") {
		t.Fatalf("the good program: %d %s%s", code, stdout, stderr)
	}
	tests := []struct {
		name string
		args []string
		code int
		want string // in standard error
	}{
		// Command lines.
		{"unknown command", []string{"reply"}, exitMisuse, `unknown command "reply"; did you mean replay?`},
		{"unknown subcommand", []string{"probes", "sett"}, exitMisuse, "valid are get, set"},
		{"unknown flag", []string{"replay", "--pcp", "x"}, exitMisuse, "did you mean --pcap?"},
		{"unknown format", []string{"version", "-o", "xml"}, exitMisuse, "valid are text and json"},
		{"no spec", []string{"generate", "-o", out}, exitMisuse, "-f takes a spec file"},
		{"nothing to replay", []string{"replay", "-f", good}, exitMisuse, "what to replay?"},
		{"bad place", []string{"replay", "-f", good, "--in", "leaf1:99=x.pcap"}, exitMisuse, "its host ports are"},
		{"bad switch address", []string{"push", "-f", good, "--switch", "leaf1"}, exitMisuse, "NAME=HOST:PORT"},
		{"bad target", []string{"compile", goodProgram, "--target", "tofino"}, exitMisuse, "valid is bmv2"},
		{"no controller", []string{"probes", "get", "--api", "127.0.0.1:1"}, exitFailed, "no controller answers at 127.0.0.1:1"},
		{"no such spec", []string{"generate", "-f", filepath.Join(dir, "none.yaml"), "-o", out}, exitFailed, "none.yaml"},
		{"STF command", []string{"stf", goodProgram, file("a.stf", "bogus 1")}, exitFailed, "a.stf:1: unknown command"},
		{"STF table", []string{"stf", goodProgram, file("b.stf", "\nadd t k:1 a()")}, exitFailed, "b.stf:2: there is no table"},
	}
	for _, tt := range tests {
		code, _, stderr := call(t, tt.args...)
		if code != tt.code || !strings.Contains(stderr, tt.want) {
			t.Errorf("%s: exit code %d, %q; want %d, %q", tt.name, code, stderr, tt.code, tt.want)
		}
	}
	for _, s := range []struct{ name, old, new, want string }{
		{"unknown key", "scheme: {kind: hula}", "scheme: {kind: hula, kay: 3}", "key.yaml:5:"},
		{"unknown scheme", "kind: hula", "kind: hulla", "mp-hula"},
		{"missing unit", "flowlet-gap: 200us", "flowlet-gap: 200", "unit"},
		{"wrong unit", "rate: 10Gbps", "rate: 10GB", "10GB"},
		{"tau no power of two", "tau: 1024us", "tau: 1000us", "power of two"},
		{"tau too short", "tau: 1024us", "tau: 512us", "tau"},
		{"keep-alive too short", "keep-alive: 2500us", "keep-alive: 600us", "keep-alive"},
		{"no leaves", "leaves: 2", "leaves: 0", "leaves"},
		{"overlapping hosts", "per-leaf: [1-2]", "per-leaf: [1-2, 2-3]", "per-leaf"},
		{"no YAML", "name: t", "name: [t", "key.yaml"},
	} {
		spec("key.yaml", s.old, s.new)
		code, _, stderr := call(t, "generate", "-f", filepath.Join(dir, "key.yaml"), "-o", out)
		if code != exitFailed || !strings.Contains(stderr, s.want) || !strings.Contains(stderr, "key.yaml") {
			t.Errorf("spec, %s: exit code %d, %q; want %d, %q", s.name, code, stderr, exitFailed, s.want)
		}
	}
	for _, p := range []struct{ name, old, new, want string }{
		{"syntax", "struct h { }", "struct h { ", "bad.p4:"},
		{"unknown name", "s.egress_spec = 2", "s.egress_spce = 2", "egress_spec"},
		{"wrong type", "s.egress_spec = 2", "s.egress_spec = true", "bad.p4:7:"},
		{"no main", "V1Switch(", "V1Swich(", "V1Switch"},
		{"missing include", "#include <core.p4>", "#include <cor.p4>", "cor.p4"},
		{"preprocessor", "struct h { }", "#if 1\nstruct h { }", "bad.p4:"},
		{"duplicate", "struct m { }", "struct m { } struct m { }", "bad.p4:4:"},
	} {
		code, _, stderr := call(t, "compile", prog("bad.p4", p.old, p.new), "-o", out)
		if code != exitFailed || !strings.Contains(stderr, p.want) || !strings.Contains(stderr, "bad.p4") {
			t.Errorf("P4, %s: exit code %d, %q; want %d, %q", p.name, code, stderr, exitFailed, p.want)
		}
	}
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "less than 4 bytes"},
		{"no capture", "this is no capture, only text", "not a pcap"},
		{"header cut off", pcapHeader(1)[:20], "header of 24 bytes"},
		{"Wi-Fi", pcapHeader(105), "link type 105"},
		{"packet header cut off", pcapHeader(1, 1, 2, 3), "frame 1"},
		{"packet cut off", pcapHeader(1, 0, 0, 0, 0, 0, 0, 0, 0, 60, 0, 0, 0, 60, 0, 0, 0, 1, 2, 3), "frame 1"},
		{"packet captured short", pcapHeader(1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 60, 0, 0, 0, 1, 2), "only 2 of its 60 bytes"},
		{"giant packet", pcapHeader(1, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 127, 255, 255, 255, 127), "frame 1"},
		{"pcapng cut off", "\x0a\x0d\x0d\x0a\x1c\x00\x00\x00\x4d\x3c\x2b\x1a", "block 1"},
	} {
		code, _, stderr := call(t, "replay", "-f", good, "--pcap", file("bad.pcap", c.text))
		if code != exitFailed || !strings.Contains(stderr, c.want) || !strings.Contains(stderr, "bad.pcap") {
			t.Errorf("capture, %s: exit code %d, %q; want %d, %q", c.name, code, stderr, exitFailed, c.want)
		}
	}
	for _, j := range []struct{ name, text, want string }{
		{"empty", "", "JSON"},
		{"no object", "[]", "object"},
		{"another JSON", `{"a": 1}`, ""},
		{"cut off", `{"program": "x", "header_types": [`, ""},
	} {
		code, _, stderr := call(t, "stf", file("bad.json", j.text), goodTest)
		if code != exitFailed || !strings.Contains(stderr, j.want) || len(stderr) < 20 {
			t.Errorf("JSON, %s: exit code %d, %q; want %d, %q", j.name, code, stderr, exitFailed, j.want)
		}
	}
}
