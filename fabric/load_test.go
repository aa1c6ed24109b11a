package fabric

import (
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"
)

func shipped(t testing.TB, name string) *Fabric {
	t.Helper()
	f, err := LoadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestShippedSpecsLoad(t *testing.T) {
	want := []string{"fattree-k4-mp-hula", "leafspine-2x4-ecmp", "leafspine-2x4-hula", "leafspine-2x4-mp-hula", "leafspine-2x4-mp-hula-bmv2"}
	if got := ShippedNames(); !reflect.DeepEqual(got, want) {
		t.Fatalf("shipped specs %v", got)
	}
	for _, name := range want {
		if f := shipped(t, name); f.Name != name {
			t.Errorf("%s names itself %s", name, f.Name)
		}
		if f, err := LoadFile("specs/" + name + ".yaml"); err != nil || f.Name != name {
			t.Errorf("as a file: %v", err)
		}
		if _, err := LoadFile("fabric/specs/" + name + ".yaml"); err != nil {
			t.Errorf("by its path in the repository: %v", err)
		}
	}
	if _, err := LoadFile("no-such-spec"); err == nil {
		t.Error("a spec that is not there loads")
	}
}

func TestLeafSpine(t *testing.T) {
	f := shipped(t, "leafspine-2x4-mp-hula")
	if f.Scheme != MPHULA || f.K != 4 || f.Timing.TauExp() != 10 || f.Timing.SubflowLive != 2*time.Millisecond {
		t.Errorf("scheme %v, k %d, timing %+v", f.Scheme, f.K, f.Timing)
	}
	if len(f.Switches) != 6 || len(f.Leaves()) != 2 || f.MaxToR() != 2 || len(f.Hosts) != 6 || len(f.Links) != 8+6 {
		t.Fatalf("%d switches, %d hosts, %d links", len(f.Switches), len(f.Hosts), len(f.Links))
	}
	leaf := f.Switch("leaf2")
	if leaf.ToR != 2 || leaf.DeviceID != 2 || leaf.GRPC != "127.0.0.1:9560" || leaf.FabricPorts() != 4 ||
		leaf.Prefix4.String() != "10.0.2.0/24" || leaf.Prefix6.String() != "fd00:2::/64" ||
		leaf.Gateway4.String() != "10.0.2.254" || leaf.Gateway6.String() != "fd00:2::fe" || leaf.MAC != [6]byte{2, 0, 0, 0, 2, 0xfe} {
		t.Errorf("leaf2 is %+v", leaf)
	}
	for i, p := range leaf.Ports {
		if i < 4 && (p.Kind != UpPort || p.Peer.Name != fmt.Sprintf("spine%d", i+1) || p.PeerPort != 2) || i >= 4 && p.Kind != HostPort || p.Number != uint32(i+1) {
			t.Errorf("port %d of leaf2 is %+v", i+1, p)
		}
	}
	h := f.HostOf(netip.MustParseAddr("fd00:2::4"))
	if h == nil || h.Name != "h2-1" || h.Port != 5 || h.MAC != [6]byte{2, 0, 0, 0, 2, 1} || len(h.Addrs) != 8 || !h.Addrs[0].Is4() {
		t.Errorf("fd00:2::4 is %+v", h)
	}
	if f.HostOf(netip.MustParseAddr("10.0.2.9")) != f.Host("h2-3") || f.HostOf(netip.MustParseAddr("10.0.2.10")) != nil {
		t.Error("10.0.2.9 or .10")
	}
	if f.LeafOf(netip.MustParseAddr("10.0.1.200")) != f.Switch("leaf1") || f.LeafOf(netip.MustParseAddr("10.0.3.1")) != nil {
		t.Error("leaf of an address")
	}
	if got := f.NextHops(f.Switch("leaf1"), leaf); !reflect.DeepEqual(got, []uint32{1, 2, 3, 4}) {
		t.Errorf("next hops of leaf1 %v", got)
	}
	if got := f.NextHops(f.Switch("spine3"), leaf); !reflect.DeepEqual(got, []uint32{2}) {
		t.Errorf("next hops of spine3 %v", got)
	}
	if got := leaf.ProbePorts(0); !reflect.DeepEqual(got, []uint32{1, 2, 3, 4}) {
		t.Errorf("origin %v", got)
	}
	if leaf.ProbePorts(1) != nil || !reflect.DeepEqual(f.Switch("spine1").ProbePorts(1), []uint32{2}) {
		t.Error("probe ports")
	}
}

func TestFatTree(t *testing.T) {
	f := shipped(t, "fattree-k4-mp-hula")
	if len(f.OfRole(Leaf)) != 8 || len(f.OfRole(Spine)) != 8 || len(f.OfRole(Core)) != 4 {
		t.Fatalf("%d switches", len(f.Switches))
	}
	for _, s := range f.Switches {
		if want := map[Role]int{Leaf: 2, Spine: 4, Core: 4}[s.Role]; s.FabricPorts() != want {
			t.Errorf("%s has %d fabric ports", s.Name, s.FabricPorts())
		}
	}
	spine, core := f.Switch("spine1"), f.Switch("core1")
	for _, c := range []struct {
		s    *Switch
		leaf string
		want []uint32
	}{
		{f.Switch("leaf1"), "leaf2", []uint32{1, 2}},
		{f.Switch("leaf1"), "leaf8", []uint32{1, 2}},
		{spine, "leaf1", []uint32{3}},    // down
		{spine, "leaf8", []uint32{1, 2}}, // up to its two cores
		{core, "leaf3", []uint32{2}},     // pod 2
	} {
		if got := f.NextHops(c.s, f.Switch(c.leaf)); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s to %s: %v, want %v", c.s.Name, c.leaf, got, c.want)
		}
	}
	for _, c := range []struct {
		s       *Switch
		ingress uint32
		want    []uint32
	}{
		{spine, 3, []uint32{1, 2, 4}}, // from below: all uplinks and the other downlinks
		{spine, 1, []uint32{3, 4}},    // from above: downlinks only
		{core, 2, []uint32{1, 3, 4}},
		{core, 0, nil},
	} {
		if got := c.s.ProbePorts(c.ingress); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s port %d: %v, want %v", c.s.Name, c.ingress, got, c.want)
		}
	}
	// Every path ends at the leaf within 5 links, whatever is chosen.
	var walk func(s, leaf *Switch, hops int)
	walk = func(s, leaf *Switch, hops int) {
		if s == leaf {
			return
		}
		if hops == 4 {
			t.Fatalf("path to %s is at %s after %d links", leaf.Name, s.Name, hops)
		}
		for _, p := range f.NextHops(s, leaf) {
			walk(s.Port(p).Peer, leaf, hops+1)
		}
	}
	for _, a := range f.Leaves() {
		for _, b := range f.Leaves() {
			walk(a, b, 0)
		}
	}
}

// TestLargeFabric: a fat-tree of 32-port switches (512 leaves) is read in well under a second.
func TestLargeFabric(t *testing.T) {
	start := time.Now()
	f, err := Load("big.yaml", []byte("name: big\ntopology: {kind: fat-tree, k: 32}\nhosts: {per-leaf: [1]}\nscheme: {kind: mp-hula, k: 8}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Leaves()) != 512 || len(f.NextHops(f.Switch("leaf1"), f.Switch("leaf512"))) != 16 {
		t.Error("not the fabric that was asked for")
	}
	if a, b := f.Switch("spine1").Gateway4.String(), f.Switch("core256").Gateway4.String(); a != "10.0.0.1" || b != "10.255.253.6" {
		t.Errorf("addresses of switches %s, %s", a, b) // core256 is number 768 of them: 3 * 254 + 6
	}
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("reading it takes %v", d)
	}
}

const explicit = `name: x
topology:
  kind: links
  switches:
    - {name: s1, role: spine}
    - {name: s2, role: spine}
    - {name: a, role: leaf}
    - {name: b, role: leaf, ipv4: 10.9.0.0/16, ipv6: "fd00:99::/64"}
  links:
    - {between: [s1, a]}
    - {between: [a, s1], rate: 1Gbps}
    - {between: [s2, b]}
    - {between: [a, s2]}
    - {between: [b, s1]}
hosts:
  list:
    - {name: web, leaf: b, addresses: ["fd00:99::1", 10.9.3.1], mac: 02:aa:00:00:00:01}
    - {name: db, leaf: a, addresses: [10.0.1.7]}
scheme: {kind: hula}
timing:
  probe-interval: 1ms
  probe-intervals: {a: 2ms}
links:
  overrides:
    - {between: [b, s2], rate: 25Gbps, delay: 3us}
    - {between: [web, b], rate: 1Gbps}
target:
  kind: bmv2
  grpc: {base: "[::1]:50051", addresses: {s2: "10.1.1.1:9559"}}
`

func TestExplicitLinks(t *testing.T) {
	f, err := Load("x.yaml", []byte(explicit))
	if err != nil {
		t.Fatal(err)
	}
	a, b := f.Switch("a"), f.Switch("b")
	if a.ToR != 1 || b.ToR != 2 || f.Switches[0] != a || a.GRPC != "[::1]:50051" || f.Switch("s2").GRPC != "10.1.1.1:9559" {
		t.Errorf("a is %+v", a)
	}
	if len(a.Ports) != 4 || a.Ports[0].Peer.Name != "s1" || a.Ports[1].Peer.Name != "s1" || a.Ports[2].Peer.Name != "s2" || a.Ports[1].Link.Rate != 1e9 {
		t.Errorf("ports of a: parallel links in the order of the spec")
	}
	if a.Ports[1].PeerPort != 2 || f.Switch("s1").Port(2).PeerPort != 2 {
		t.Errorf("peer ports")
	}
	if l := b.Ports[1].Link; l.Rate != 25e9 || l.Delay != 3*time.Microsecond {
		t.Errorf("override: %+v", l)
	}
	if web := f.Host("web"); web.MAC != [6]byte{2, 0xaa, 0, 0, 0, 1} || web.Addrs[0].String() != "10.9.3.1" || b.Ports[2].Link.Rate != 1e9 {
		t.Errorf("web is %+v", web)
	}
	// Derived from the longest interval, 2 ms: tau is the power of two from 4 ms on.
	if f.Timing.Tau != 4096*time.Microsecond || f.Timing.KeepAlive != 10*time.Millisecond || f.Timing.FlowletGap != 400*time.Microsecond || f.Timing.SubflowLive != 4*time.Millisecond {
		t.Errorf("timing %+v", f.Timing)
	}
	if f.IntervalOf("a") != 2*time.Millisecond || f.IntervalOf("b") != time.Millisecond {
		t.Error("intervals")
	}
}

func TestCongestion(t *testing.T) {
	f, err := Load("x.yaml", []byte(explicit+"congestion:\n  ecn: {kmin: 30KB, kmax: 60KB, pmax: 0.5}\n  selective-drop: {threshold: 6KB}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if e := f.Congestion.ECN; e.KMinPackets != 20 || e.KMaxPackets != 40 || e.PMax != 0.5 {
		t.Errorf("ecn %+v", e)
	}
	if d := f.Congestion.SelectiveDrop; d.ThresholdPackets != 4 || d.Threshold != 6000 {
		t.Errorf("drop %+v", d)
	}
}

// A wrong spec is a right one with one text replaced. The message must name the place and say what would be right.
func TestWrongSpecs(t *testing.T) {
	base := string(mustShipped("leafspine-2x4-mp-hula"))
	for _, c := range []struct{ name, old, new, want string }{
		{"unknown key", "scheme:", "sceme:", `x.yaml:18:1: sceme: unknown key; did you mean "scheme"? the keys here are name, description, topology`},
		{"missing section", "scheme:\n  kind: mp-hula\n  k: 4 # one slot a spine\n  seed: 1\n", "", `lacks the key "scheme"`},
		{"unknown scheme", "kind: mp-hula", "kind: letflow2", `x.yaml:19:9: scheme.kind: "letflow2" is none of ecmp, hula, mp-hula`},
		{"k too large", "k: 4", "k: 9", "scheme.k: 9 is out of range: 1 to 8"},
		{"k zero", "k: 4", "k: 0", "scheme.k: 0 is out of range: 1 to 8"},
		{"k no number", "k: 4", "k: four", `"four" is no whole number`},
		{"k for hula", "kind: mp-hula", "kind: hula", "scheme.k: hula keeps one best next hop (k = 1)"},
		{"k for ecmp", "kind: mp-hula", "kind: ecmp", "scheme.k: ecmp keeps no k-best table"},
		{"timing for ecmp", "kind: mp-hula\n  k: 4 # one slot a spine", "kind: ecmp", "timing.tau: ecmp has no probes and no flowlets"},
		{"mptcp for hula", "kind: mp-hula\n  k: 4 # one slot a spine", "kind: hula", "mptcp: hula treats MPTCP as plain TCP"},
		{"no unit", "probe-interval: 500us", "probe-interval: 500", `x.yaml:24:19: timing.probe-interval: "500" lacks a unit: one of s, ms, us`},
		{"wrong unit", "probe-interval: 500us", "probe-interval: 500Gbps", `"500Gbps" has the unknown unit "Gbps": the units are s, ms, us`},
		{"too fine", "probe-interval: 500us", "probe-interval: 0.5us", `"0.5us" is no whole number of microseconds`},
		{"tau no power of two", "tau: 1024us", "tau: 1000us", "timing.tau: 1ms is no power of two in microseconds"},
		{"tau too short", "tau: 1024us", "tau: 512us", "timing.tau: 512µs is less than two probe intervals of 500µs, so the estimate would miss traffic between probes: take 1.024ms"},
		{"tau too long for the estimator", "tau: 1024us", "tau: 1073741824us", "more than the 32-bit estimator holds"},
		{"keep-alive too short", "keep-alive: 2500us", "keep-alive: 1400us", "timing.keep-alive: 1.4ms is less than three probe intervals of 500µs"},
		{"link timeout too short", "link-timeout: 2500us", "link-timeout: 1ms", "timing.link-timeout: 1ms is less than three probe intervals"},
		{"subflow live below the gap", "subflow-live: 2ms", "subflow-live: 100us", "timing.subflow-live: 100µs is not longer than the flowlet gap"},
		{"interval too short", "probe-interval: 500us", "probe-interval: 5us", "timing.probe-interval: must be 10us to 10s"},
		{"interval of no leaf", "tau: 1024us", "probe-intervals: {spine1: 1ms}", `timing.probe-intervals.spine1: "spine1" is no leaf; the leaves are leaf1, leaf2`},
		{"data-plane correlation", "correlation: control-plane", "correlation: data-plane", "mptcp.correlation: data-plane correlation is not available in this version; use control-plane"},
		{"unknown version", "versions: [0, 1]", "versions: [2]", "mptcp.versions[0]: 2 is out of range: 0 to 1"},
		{"version twice", "versions: [0, 1]", "versions: [1, 1]", "mptcp.versions: lists version 1 twice"},
		{"no version", "versions: [0, 1]", "versions: []", "mptcp.versions: is empty"},
		{"max-subflows", "max-subflows: 8", "max-subflows: 33", "33 is out of range: 1 to 32"},
		{"MTU too small for the mark", "mtu: 1512B", "mtu: 1500B", "has an MTU of 1500 bytes but must carry 1512: the hosts' MTU of 1500 bytes and 12 bytes of mark"},
		{"rate without unit", "rate: 40Gbps", "rate: 40", `links.fabric.rate: "40" lacks a unit`},
		{"rate zero", "rate: 40Gbps", "rate: 0Gbps", "a link has 1bps to 1Tbps"},
		{"negative", "rate: 40Gbps", "rate: -1Gbps", `"-1Gbps" is no number with a unit`},
		{"no leaves", "leaves: 2", "leaves: 0", "topology.leaves: 0 is out of range: 1 to 1024"},
		{"too many ports", "spines: 4", "spines: 127", "leaf1 has 130 ports; the limit is 128"},
		{"missing spines", "  spines: 4\n", "", `topology: kind leaf-spine needs the key "spines"`},
		{"key of another kind", "spines: 4", "spines: 4\n  k: 4", "topology.k: does not go with kind leaf-spine"},
		{"odd fat-tree", "kind: leaf-spine\n  leaves: 2\n  spines: 4", "kind: fat-tree\n  k: 3", "3 is odd; a k-ary fat-tree has an even k"},
		{"IPv4 base", "ipv4: 10.0.0.0/8", "ipv4: 10.0.0.0/20", "must be an IPv4 prefix of length 8 to 16"},
		{"host bits", "ipv4: 10.0.0.0/8", "ipv4: 10.0.0.1/8", `"10.0.0.1/8" has host bits set; the prefix is 10.0.0.0/8`},
		{"IPv6 base", "ipv6: fd00::/16", "ipv6: fd00::/20", "must be an IPv6 prefix of length 16, 32 or 48"},
		{"hosts overlap", "[1-4, 5-7, 8-9]", "[1-4, 4-7]", "hosts.per-leaf[1]: 4-7 overlaps 1-4"},
		{"host range", "[1-4, 5-7, 8-9]", "[1-254]", `"1-254" is no range of host numbers: A or A-B with 1 <= A <= B <= 253`},
		{"no hosts", "[1-4, 5-7, 8-9]", "[]", "hosts.per-leaf: is empty"},
		{"hosts twice", "per-leaf: [1-4, 5-7, 8-9]", "per-leaf: [1-4]\n  list: []", "hosts: needs exactly one of per-leaf and list"},
		{"CPU port in the fabric", "cpu-port: 255", "cpu-port: 4", "4 may be a port of the fabric; the CPU port is one of 129 to 510"},
		{"target", "kind: embedded", "kind: tofino", `"tofino" is none of embedded, bmv2`},
		{"grpc", "queue-packets: 64", "grpc: {base: here}", `"here" is no address host:port`},
		{"grpc of no switch", "queue-packets: 64", "grpc: {addresses: {leaf9: \"a:1\"}}", `target.grpc.addresses.leaf9: "leaf9" is no switch`},
		{"same grpc", "queue-packets: 64", "grpc: {addresses: {leaf2: \"127.0.0.1:9559\"}}", "leaf1 and leaf2 have the same address 127.0.0.1:9559"},
		{"same EtherType", "target:", "wire: {mark-ethertype: 0x88b5}\ntarget:", "probe and mark need different EtherTypes"},
		{"EtherType of IP", "target:", "wire: {mark-ethertype: 0x0800}\ntarget:", "0x0800 is the EtherType of IPv4"},
		{"override of no link", "target:", "# \ntarget:", ""},
		{"kmin above kmax", "target:", "congestion: {ecn: {kmin: 60KB, kmax: 30KB}}\ntarget:", "congestion.ecn.kmin: 60KB is above kmax (30KB)"},
		{"kmin beyond the queue", "target:", "congestion: {ecn: {kmin: 96KB, kmax: 96KB}}\ntarget:", "96KB is 64 packets of 1500B, but the queue holds 64: nothing would ever be marked"},
		{"pmax", "target:", "congestion: {ecn: {kmin: 3KB, kmax: 6KB, pmax: 1.5}}\ntarget:", `"1.5" is no number from 0 to 1`},
		{"sizes", "target:", "sizes: {flowlets: 1000}\ntarget:", "sizes.flowlets: 1000 is no power of two"},
		{"empty value", "kind: embedded", "kind:", "target.kind: has no value"},
		{"list for mapping", "scheme:\n  kind: mp-hula\n  k: 4 # one slot a spine\n  seed: 1", "scheme: [mp-hula]", "scheme: must be a mapping of keys to values, not a list"},
		{"anchor", "kind: mp-hula", "kind: &x mp-hula", "an anchor or alias (specs do without)"},
		{"not YAML", "name: leafspine", "name: [leafspine", "not YAML: "},
		{"duplicate key", "  k: 4", "  k: 4\n  k: 4", `x.yaml:21:3: not YAML: mapping key "k" already defined at [20:3]`},
		{"two documents", "target:", "---\ntarget:", "exactly one YAML document"},
		{"bad name", "name: leafspine-2x4-mp-hula", "name: 2x4", `"2x4" is no name`},
	} {
		spec := strings.Replace(base, c.old, c.new, 1)
		if spec == base {
			t.Errorf("%s: %q is not in the spec", c.name, c.old)
			continue
		}
		_, err := Load("x.yaml", []byte(spec))
		if c.want == "" {
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		var list Errors
		if !errors.As(err, &list) {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got\n%v\nwant %s", c.name, err, c.want)
		}
		for _, e := range list {
			if e.Line == 0 {
				t.Errorf("%s: no place in %v", c.name, e)
			}
		}
	}
	for _, c := range []struct{ name, old, new, want string }{
		{"switch twice", "name: s2", "name: s1", `there are two switches named "s1"`},
		{"unknown end", "between: [b, s1]", "between: [b, s9]", `topology.links[4].between: "s9" is no switch; the switches are a, b, s1, s2`},
		{"tiers", "between: [b, s1]", "between: [a, b]", "a (leaf) and b (leaf) are not on neighbouring tiers"},
		{"three ends", "between: [b, s1]", "between: [b, s1, s2]", "names 3 ends; a link has two"},
		{"no path", "{between: [b, s1]}\n", "{between: [a, s2]}\n", ""},
		{"spine in the air", "    - {name: a, role", "    - {name: s3, role: spine}\n    - {name: a, role", "topology: s3 has no link down"},
		{"split fabric", "    - {between: [a, s2]}\n    - {between: [b, s1]}\n", "", "there is no path up and down again from a to b"},
		{"override", "between: [b, s2], rate", "between: [b, s9], rate", `there is no link between "b" and "s9"`},
		{"address elsewhere", "10.9.3.1", "10.8.3.1", "10.8.3.1 is not in the prefixes of b (10.9.0.0/16, fd00:99::/64)"},
		{"gateway's address", "10.0.1.7", "10.0.1.254", "10.0.1.254 is the gateway's address"},
		{"host at a spine", "leaf: a,", "leaf: s1,", `"s1" is no leaf; the leaves are a, b`},
		{"multicast MAC", "02:aa:00:00:00:01", "03:aa:00:00:00:01", "is no unicast MAC address"},
		{"host name taken", "name: db", "name: web", `the name "web" is taken`},
		{"prefixes overlap", "ipv4: 10.9.0.0/16", "ipv4: 10.0.0.0/16", "own overlapping prefixes"},
	} {
		spec := strings.Replace(explicit, c.old, c.new, 1)
		_, err := Load("x.yaml", []byte(spec))
		if spec == explicit || (c.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got\n%v\nwant %s", c.name, err, c.want)
		}
	}
}

func mustShipped(name string) []byte {
	data, ok := Shipped(name)
	if !ok {
		panic(name)
	}
	return data
}

// TestAllErrorsAtOnce: a spec with several mistakes tells all of them, in the order of the file.
func TestAllErrorsAtOnce(t *testing.T) {
	_, err := Load("x.yaml", []byte("name: x\ntopology: {kind: ring}\nhosts: {per-leaf: [0]}\nscheme: {kind: hula, k: 99}\ntiming: {tau: 1h}\n"))
	var list Errors
	if !errors.As(err, &list) || len(list) != 4 {
		t.Fatalf("%v", err)
	}
	for i, e := range list {
		if e.Line != i+2 {
			t.Errorf("error %d is on line %d: %v", i, e.Line, e)
		}
	}
}

func TestUnits(t *testing.T) {
	if d, err := ParseDuration("1.5ms"); err != nil || d != 1500*time.Microsecond {
		t.Errorf("1.5ms is %v, %v", d, err)
	}
	if r, err := ParseRate("2.5Gbps"); err != nil || r != 2.5e9 || r.String() != "2500Mbps" {
		t.Errorf("2.5Gbps is %v, %v", r, err)
	}
	if s, err := ParseSize("6KiB"); err != nil || s != 6144 || s.String() != "6144B" {
		t.Errorf("6KiB is %v, %v", s, err)
	}
	for _, bad := range []string{"", "us", ".5us", "5.us", "1e3us", "5 0us", "99999999999999999999999999us", "2h", "18446744073709551616us"} {
		if _, err := ParseDuration(bad); err == nil {
			t.Errorf("%q is a duration", bad)
		}
	}
}

func FuzzLoad(f *testing.F) {
	for _, name := range ShippedNames() {
		f.Add(mustShipped(name))
	}
	f.Add([]byte(explicit))
	f.Add([]byte("a: &a [*a]"))
	f.Add([]byte("- - - -"))
	f.Fuzz(func(t *testing.T, data []byte) {
		fab, err := Load("fuzz.yaml", data)
		var list Errors
		if (fab == nil) == (err == nil) || err != nil && !errors.As(err, &list) {
			t.Fatalf("fabric %v, error %v", fab != nil, err)
		}
	})
}
