package stf

import (
	"strings"
	"testing"

	"khop/bmv2/pipeline"
)

func TestParse(t *testing.T) {
	list, err := Parse("t.stf", `
# a comment
ADD test1 100 data.f2:0x0404**** data.$valid:0b1 c4_6(val4:0x40, port:2) = A
add tab1 dstAddr : 0xa1a2a3a4a5a6 "ingress.act" ( port : 2 )   # another
setdefault ethertype_match l2_packet()
packet 0 0102 03AB
expect 1 *1 02 $
expect	5
wait
mc_node_create 1 2 3`)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 8 {
		t.Fatalf("%d statements", len(list))
	}
	a := list[0]
	if a.Command != "add" || a.Table != "test1" || a.Priority != "100" || len(a.Match) != 2 || a.Match[0] != (Pair{"data.f2", "0x0404****"}) ||
		a.Action != "c4_6" || len(a.Args) != 2 || a.Args[1] != (Pair{"port", "2"}) {
		t.Errorf("add: %+v", a)
	}
	if b := list[1]; b.Priority != "" || b.Action != "ingress.act" || b.Match[0] != (Pair{"dstAddr", "0xa1a2a3a4a5a6"}) {
		t.Errorf("add: %+v", b)
	}
	if p := list[3]; p.Port != "0" || p.Data != "010203ab" {
		t.Errorf("packet: %+v", p)
	}
	if e := list[4]; e.Data != "*102$" {
		t.Errorf("expect: %+v", e)
	}
	if e := list[5]; e.Command != "expect" || e.Port != "5" || e.Data != "" {
		t.Errorf("expect: %+v", e)
	}
	if n := list[7]; strings.Join(n.Words, " ") != "1 2 3" {
		t.Errorf("mc_node_create: %+v", n)
	}
}

func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"bogus 1":                    `unknown command "bogus"`,
		"packet":                     "needs a port",
		"packet x 00":                "no decimal number",
		"packet 0":                   "needs data",
		"packet 0 0g":                "characters other than",
		"packet 0 0*":                "characters other than",
		"expect 0 0$0":               "characters other than",
		"add":                        "the line ends where a table should be",
		"add t k:":                   "has no value",
		"add t k:1 act":              "not followed by (",
		"add t k:1 act(a)":           "not followed by a colon",
		"add t k:1 act(a:1 b:2)":     "not by , or )",
		"add t k:1 act() x":          "too much",
		"add t \"k:1 act()":          "quote is not closed",
		"setdefault t act(a:1) more": "too much",
		"add t k:{} act()":           "illegal character",
	} {
		_, err := Parse("t.stf", "\n"+text)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "t.stf:2: ") {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
}

func TestMatch(t *testing.T) {
	tests := []struct {
		kind        pipeline.MatchKind
		width       int
		text        string
		value, mask string // bytes
		prefix      int
	}{
		{pipeline.Exact, 16, "258", "\x01\x02", "", 0},
		{pipeline.Exact, 8, "-1", "\xff", "", 0},
		{pipeline.LPM, 32, "0x0a00****", "\x0a\x00\x00\x00", "", 16},
		{pipeline.LPM, 32, "0x0a000001", "\x0a\x00\x00\x01", "", 32},
		{pipeline.LPM, 8, "0b01******", "\x40", "", 2},
		{pipeline.LPM, 32, "0x0a000000/8", "\x0a\x00\x00\x00", "", 8},
		{pipeline.Ternary, 16, "0x1*3", "\x01\x03", "\x0f\x0f", 0},
		{pipeline.Ternary, 8, "0b1*1", "\x05", "\x05", 0},
		{pipeline.Ternary, 9, "5", "\x00\x05", "\x01\xff", 0},
		{pipeline.Ternary, 16, "0x12&&&0xf0", "\x00\x12", "\x00\xf0", 0},
	}
	for _, tt := range tests {
		m, err := match(pipeline.KeyInfo{Name: "k", Kind: tt.kind, Width: tt.width}, tt.text)
		if err != nil || string(m.Value) != tt.value || string(m.Mask) != tt.mask || m.PrefixLen != tt.prefix {
			t.Errorf("%v<%d> %s: %x &&& %x / %d, %v", tt.kind, tt.width, tt.text, m.Value, m.Mask, m.PrefixLen, err)
		}
	}
	for _, text := range []string{"0x100", "zz", "", "0x"} {
		if _, err := match(pipeline.KeyInfo{Name: "k", Kind: pipeline.Exact, Width: 8}, text); err == nil {
			t.Errorf("exact %q: no error", text)
		}
	}
}

func TestCompare(t *testing.T) {
	for _, tt := range []struct {
		want, got string
		same      bool
	}{
		{"", "anything", true},
		{"01*2", "01f2", true},
		{"01", "0102", true},
		{"01$", "0102", false},
		{"0102$", "0102", true},
		{"0102", "01", false},
		{"01", "02", false},
	} {
		if got := compare(tt.want, tt.got) == ""; got != tt.same {
			t.Errorf("compare(%q, %q) = %v", tt.want, tt.got, got)
		}
	}
}

func TestUnique(t *testing.T) {
	all := []string{"ingress.t", "egress.t", "ingress.only"}
	if n, err := unique("table", "only", all); n != "ingress.only" || err != nil {
		t.Error(n, err)
	}
	if n, err := unique("table", "egress.t", all); n != "egress.t" || err != nil {
		t.Error(n, err)
	}
	if _, err := unique("table", "t", all); err == nil || !strings.Contains(err.Error(), "ambiguous") {
		t.Error(err)
	}
	if _, err := unique("table", "x", all); err == nil || !strings.Contains(err.Error(), "there are ingress.t") {
		t.Error(err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("add t 1 k:0x1* act(a:1) = A\npacket 0 00\nexpect 1 *$\nmc_node_create 1 2")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := Parse("f", text)
		if err == nil {
			for _, s := range list {
				if s.Command == "" {
					t.Fatal("empty command")
				}
			}
		}
	})
}
