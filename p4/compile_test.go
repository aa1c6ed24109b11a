package p4

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"khop/p4/diag"
)

// program is a small v1model program; the arguments are put into its headers, ingress locals and ingress body.
func program(headers, locals, body string) string {
	return `#include <core.p4>
#include <v1model.p4>
header eth_t { bit<48> dst; bit<48> src; bit<16> type; }
struct headers_t { eth_t eth; }
struct meta_t { bit<8> x; }
` + headers + `
parser P(packet_in b, out headers_t h, inout meta_t m, inout standard_metadata_t sm) {
    state start { b.extract(h.eth); transition accept; }
}
control V(inout headers_t h, inout meta_t m) { apply {} }
control I(inout headers_t h, inout meta_t m, inout standard_metadata_t sm) {
    action forward(bit<9> port) { sm.egress_spec = port; }
` + locals + `
    table t {
        key = { h.eth.dst: exact; }
        actions = { forward; NoAction; }
        default_action = NoAction();
        const entries = { 48w1: forward(2); }
    }
    apply { t.apply(); ` + body + ` }
}
control E(inout headers_t h, inout meta_t m, inout standard_metadata_t sm) { apply {} }
control C(inout headers_t h, inout meta_t m) { apply {} }
control D(packet_out b, in headers_t h) { apply { b.emit(h.eth); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
`
}

func TestCompile(t *testing.T) {
	src := []byte(program("", "", "m.x = 1;"))
	r, list := Compile("prog.p4", src, Options{})
	if list.HasErrors() || r == nil {
		t.Fatal(list)
	}
	if got := r.P4Info.GetPkgInfo().GetArch(); got != "v1model" {
		t.Errorf("architecture %q, want v1model", got)
	}
	if n := len(r.P4Info.GetTables()); n != 1 || r.P4Info.Tables[0].GetPreamble().GetName() != "I.t" {
		t.Errorf("tables %v, want I.t", r.P4Info.GetTables())
	}
	if n := len(r.Entries.GetUpdates()); n != 1 {
		t.Errorf("%d const entries, want 1", n)
	}
	if !bytes.Contains(r.JSON, []byte(`"I.t"`)) {
		t.Error("the JSON has no table I.t")
	}
	again, _ := Compile("prog.p4", src, Options{})
	if !bytes.Equal(again.JSON, r.JSON) || !proto.Equal(again.P4Info, r.P4Info) || !proto.Equal(again.Entries, r.Entries) {
		t.Error("a second run gives another result")
	}
}

func TestShippedPrograms(t *testing.T) {
	files, _ := filepath.Glob("../p4src/*/*.p4")
	if len(files) == 0 {
		t.Fatal("no shipped programs")
	}
	for _, f := range files {
		src, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if _, list, text := CompileSource(f, src, Options{}); len(list) > 0 {
			t.Errorf("%s", diag.Render(list, text, diag.RenderOptions{Max: 5}))
		}
	}
}

// TestMistakes: each program has one; all stages report with position, source line and caret.
func TestMistakes(t *testing.T) {
	tests := []struct{ name, src, line, want string }{
		{"missing file", "#include <no.p4>\n", "#include <no.p4>", "file no.p4 is not found"},
		{"macro", program("#if 1 +\n#endif", "", ""), "#if 1 +", "malformed condition"},
		{"syntax", program("", "", "m.x = ;"), "m.x = ;", "unexpected ';'"},
		{"unknown name", program("", "", "m.y = 1;"), "m.y = 1;", "y"},
		{"unknown type", program("", "Foo z;", ""), "Foo z;", "Foo"},
		{"width", program("", "", "m.x = h.eth.dst;"), "m.x = h.eth.dst;", "bit<48>"},
		{"direction", program("", "action f(in bit<8> a) { a = 1; }", ""), "action f(in", "a"},
		{"no main", "#include <v1model.p4>\n", "", "main"},
		{"no keys of @pkginfo", program("@pkginfo const bit<8> v = 1;", "", ""), "@pkginfo", "takes keys and values"},
		{"translation", program("@p4runtime_translation(\"u\", bool) type bit<9> q_t;", "", ""), "bool", "takes a URI and the type"},
		{"width of a translation", program("@p4runtime_translation(\"u\", bit<5+3>) type bit<9> q_t;", "", ""), "5+3", "takes a URI and the type"},
		{"in a macro", program("#define SET(a) m.a = 1;", "", "SET(q)"), "SET(q)", "q"},
	}
	for _, tt := range tests {
		r, list, src := CompileSource("prog.p4", []byte(tt.src), Options{})
		if r != nil || !list.HasErrors() {
			t.Errorf("%s: compiles", tt.name)
			continue
		}
		var first diag.Diagnostic
		for _, d := range list {
			if d.Severity == diag.Error {
				first = d
				break
			}
		}
		text := diag.Render(diag.List{first}, src, diag.RenderOptions{})
		if !strings.Contains(first.Message, tt.want) || first.Code == "" || first.Code == CodeInternal {
			t.Errorf("%s: message %q, want %q in it", tt.name, first.Message, tt.want)
		}
		if tt.line != "" && (!strings.Contains(text, tt.line) || !strings.Contains(text, "^")) {
			t.Errorf("%s: the rendering does not show %q:\n%s", tt.name, tt.line, text)
		}
	}
}

func TestOptions(t *testing.T) {
	read := func(files map[string]string) func(string) ([]byte, error) {
		return func(name string) ([]byte, error) {
			if s, ok := files[name]; ok {
				return []byte(s), nil
			}
			return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		}
	}
	src := []byte(program(`#if defined(__TARGET_BMV2__) && X == 3
#include "own.h"
#endif
const bit<8> y = OWN;`, "", "m.x = y;"))
	if _, list := Compile("dir/prog.p4", src, Options{Defines: []string{"X=3"}, ReadFile: read(map[string]string{"dir/own.h": "#define OWN 7\n"})}); list.HasErrors() {
		t.Errorf("-D and an own header: %v", list)
	}
	// A core.p4 in an include directory takes the place of the built-in one.
	_, list := Compile("prog.p4", src, Options{IncludeDirs: []string{"inc"}, ReadFile: read(map[string]string{"inc/core.p4": "#error mine\n"})})
	if !list.HasErrors() || list[0].Message != "mine" || list[0].At.File != "inc/core.p4" {
		t.Errorf("-I: %v, want the error of inc/core.p4", list)
	}
	_, list = Compile("prog.p4", src, Options{Defines: []string{"X=3"}, ReadFile: func(string) ([]byte, error) { return nil, errors.New("disk on fire") }})
	if !list.HasErrors() || !strings.Contains(list[0].Message, "disk on fire") {
		t.Errorf("an error of ReadFile: %v", list)
	}
}

// TestArchitectureVersions compiles against both forms of v1model.
func TestArchitectureVersions(t *testing.T) {
	for _, version := range []string{"20180101", "20200408"} {
		index := map[string]string{"20180101": "", "20200408": ", bit<32>"}[version]
		src := program("", "register<bit<8>"+index+">(4) r;", "r.read(m.x, 1); r.write(1, m.x);")
		if _, list := Compile("prog.p4", []byte(src), Options{Defines: []string{"V1MODEL_VERSION=" + version}}); list.HasErrors() {
			t.Errorf("%s: %v", version, list)
		}
	}
	for _, version := range []string{"20180100", "20200409", "-1"} {
		_, list := Compile("prog.p4", []byte(program("", "", "")), Options{Defines: []string{"V1MODEL_VERSION=" + version}})
		if !list.HasErrors() || !strings.Contains(list.Error(), "versions go from 20180101 to 20200408") {
			t.Errorf("%s: %v", version, list)
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	src, err := os.ReadFile("../p4src/leafspine-2x4-mp-hula/leaf.p4")
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		if r, list := Compile("leaf.p4", src, Options{}); r == nil {
			b.Fatal(list)
		}
	}
}
