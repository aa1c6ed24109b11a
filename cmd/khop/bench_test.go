package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"khop/test/bench"
)

// TestBenchLeaf measures the shipped MP-HULA leaf with the entries that push --write leaves.
func TestBenchLeaf(t *testing.T) {
	dir := t.TempDir()
	khop := func(args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		if code := run(t.Context(), args, nil, &out, &errs); code != exitOK {
			t.Fatalf("%v: exit %d: %s", args, code, &errs)
		}
		return out.String()
	}
	first, second := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	khop("push", "-f", "leafspine-2x4-mp-hula", "--dry-run", "--write", first)
	khop("push", "-f", "leafspine-2x4-mp-hula", "--dry-run", "--write", second)
	files, err := filepath.Glob(filepath.Join(first, "*.txtpb"))
	if err != nil || len(files) < 2 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	for _, name := range files {
		a, _ := os.ReadFile(name)
		b, _ := os.ReadFile(filepath.Join(second, filepath.Base(name)))
		if len(a) == 0 || !bytes.Equal(a, b) {
			t.Errorf("%s differs from run to run", filepath.Base(name))
		}
	}
	khop("generate", "-f", "leafspine-2x4-mp-hula", "-o", dir)
	text := khop("bench", filepath.Join(dir, "leaf.p4"), "--entries", filepath.Join(first, "leaf1.txtpb"),
		"--pcap", "../../test/testdata/pcaps/mptcp-v1-4subflows.pcap", "--in-port", "5", "--packets", "20000", "-o", "json")
	var r bench.Result
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	if r.Packets != 20000 || r.PacketsOut == 0 || r.AllocsPerPacket != 0 || r.PacketsPerSecond <= 0 || r.NsPerPacket <= 0 || r.IngressNs <= 0 || r.EgressNs <= 0 {
		t.Errorf("%+v", r)
	}
}

func TestBenchMisuse(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"bench x.json", "--pcap is missing"},
		{"bench x.json --pcap y --in-port 511", "ports are 0 to 510"},
		{"bench x.json --pcap y --duration 0s", "more than nothing"},
		{"bench " + miniJSON + " --pcap y --entries z", "--entries needs --p4info"},
		{"push -f leafspine-2x4-mp-hula --write d", "--write goes with --dry-run"},
	} {
		var out, errs bytes.Buffer
		if code := run(t.Context(), strings.Fields(c.args), nil, &out, &errs); code != exitMisuse || !strings.Contains(errs.String(), c.want) {
			t.Errorf("%s: exit %d: %s", c.args, code, &errs)
		}
	}
}
