package dataplane

import (
	"bytes"
	"encoding/hex"
	"math/rand/v2"
	"testing"

	"khop/codegen"
	"khop/fabric"
	"khop/probe"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestForwarding sends packets of many kinds through leaf, spine and leaf of each scheme and compares every byte.
func TestForwarding(t *testing.T) {
	nops := bytes.Repeat([]byte{1}, 40)
	timestamp := unhex(t, "0101080a0102030405060708")
	dss := unhex(t, "1e14200501020304050607080000000a000500000000")[:20]
	kinds := map[string]segment{
		"tcp":                       {src: ip("10.0.1.1"), dst: ip("10.0.2.8"), srcPort: 1, dstPort: 2, flags: 0x10, payload: []byte("hello")},
		"tcp options":               {src: ip("10.0.1.1"), dst: ip("10.0.2.8"), srcPort: 1, dstPort: 2, flags: 0x10, options: timestamp},
		"tcp 40 nops":               {src: ip("10.0.1.1"), dst: ip("10.0.2.8"), flags: 0x10, options: nops, payload: []byte("x")},
		"tcp dss":                   {src: ip("10.0.1.1"), dst: ip("10.0.2.8"), flags: 0x10, options: append(append([]byte{}, timestamp...), dss...), payload: []byte("x")},
		"option of length 0":        {src: ip("10.0.1.1"), dst: ip("10.0.2.8"), flags: 2, options: unhex(t, "020405b41e000000")},
		"option of length 1":        {src: ip("10.0.1.1"), dst: ip("10.0.2.8"), flags: 2, options: unhex(t, "1e010000")},
		"option past the header":    {src: ip("10.0.1.1"), dst: ip("10.0.2.8"), flags: 2, options: unhex(t, "1e0c0081"), payload: []byte("payload that is no option")},
		"option of length 200":      {src: ip("10.0.1.1"), dst: ip("10.0.2.8"), flags: 2, options: unhex(t, "1ec80081"), payload: make([]byte, 300)},
		"kind without length":       {src: ip("10.0.1.1"), dst: ip("10.0.2.8"), flags: 2, options: unhex(t, "0101011e")},
		"mptcp without subtype":     {src: ip("10.0.1.1"), dst: ip("10.0.2.8"), flags: 2, options: unhex(t, "1e020101")},
		"end of options, then junk": {src: ip("10.0.1.1"), dst: ip("10.0.2.8"), flags: 2, options: unhex(t, "00ff1eff")},
		"join of unknown token":     {src: ip("10.0.1.1"), dst: ip("10.0.2.8"), flags: 2, options: unhex(t, "020405b41e0c1001aabbccdd01020304")},
		"tcp6":                      {src: ip("fd00:1::1"), dst: ip("fd00:2::5"), flags: 0x18, options: timestamp, payload: []byte("v6")},
		"udp":                       {src: ip("10.0.1.9"), dst: ip("10.0.2.5"), protocol: 17, srcPort: 53, dstPort: 53, payload: []byte("u")},
		"udp6":                      {src: ip("fd00:1::9"), dst: ip("fd00:2::5"), protocol: 17, srcPort: 53, dstPort: 53, payload: []byte("u6")},
		"icmp":                      {src: ip("10.0.1.1"), dst: ip("10.0.2.2"), protocol: 1, payload: unhex(t, "0800f7ff00000000")},
		"icmpv6 echo":               {src: ip("fd00:1::1"), dst: ip("fd00:2::2"), protocol: 58, payload: unhex(t, "8000000000010001")},
		"other protocol":            {src: ip("10.0.1.1"), dst: ip("10.0.2.2"), protocol: 47, payload: []byte("gre")},
		"ipv6 hop-by-hop":           {src: ip("fd00:1::1"), dst: ip("fd00:2::2"), protocol: 0xfe, payload: []byte("ext")},
		"ipv4 options":              {src: ip("10.0.1.1"), dst: ip("10.0.2.2"), flags: 0x10, ipOptions: unhex(t, "94040000"), payload: []byte("router alert")},
		"40 bytes of ipv4 options":  {src: ip("10.0.1.1"), dst: ip("10.0.2.2"), flags: 0x10, ipOptions: bytes.Repeat([]byte{1}, 40), options: nops},
		"first fragment":            {src: ip("10.0.1.1"), dst: ip("10.0.2.2"), fragment: 0x2000, options: timestamp, payload: make([]byte, 100)},
		"later fragment":            {src: ip("10.0.1.1"), dst: ip("10.0.2.2"), protocol: 6, fragment: 0x0010, payload: make([]byte, 100)},
		"ecn":                       {src: ip("10.0.1.1"), dst: ip("10.0.2.2"), flags: 0xc2, ecn: 2},
		"tcp of 8 bytes":            {src: ip("10.0.1.1"), dst: ip("10.0.2.2"), protocol: 6, fragment: 0, payload: nil},
	}
	for _, name := range fabric.ShippedNames() {
		f := shipped(t, name)
		if f.Name == "fattree-k4-mp-hula" {
			continue // three tiers have a test of their own
		}
		leaf1, leaf2 := newRig(t, f, "leaf1"), newRig(t, f, "leaf2")
		spines := map[uint32]*rig{}
		for i := uint32(1); i <= 4; i++ {
			spines[i] = newRig(t, f, f.Switch("leaf1").Port(i).Peer.Name)
		}
		for kind, s := range kinds {
			s.srcMAC = f.HostOf(s.src).MAC
			s.dstMAC = leaf1.sw.MAC
			frame := s.frame()
			if kind == "tcp of 8 bytes" {
				frame = frame[:14+20+8]
				frame[17] = 28
				frame[24], frame[25] = 0, 0
				sum := checksum(frame[14:34])
				frame[24], frame[25] = byte(sum>>8), byte(sum)
			}
			o := leaf1.one(hostPort(f, s.src), frame)
			spine := spines[o.port]
			if spine == nil {
				t.Fatalf("%s, %s: leaf1 sends it by port %d", name, kind, o.port)
			}
			want := routed(frame, spine.sw.MAC, leaf1.sw.MAC)
			if !bytes.Equal(o.frame, want) {
				t.Errorf("%s, %s after leaf1:\n%x, want\n%x", name, kind, o.frame, want)
			}
			o = spine.one(1, o.frame)
			want = routed(want, leaf2.sw.MAC, spine.sw.MAC)
			if o.port != 2 || !bytes.Equal(o.frame, want) {
				t.Errorf("%s, %s after the spine, port %d:\n%x, want\n%x", name, kind, o.port, o.frame, want)
			}
			o = leaf2.one(f.Switch("leaf2").Ports[0].Number, o.frame)
			host := f.HostOf(s.dst)
			want = routed(want, host.MAC, leaf2.sw.MAC)
			if o.port != host.Port || !bytes.Equal(o.frame, want) {
				t.Errorf("%s, %s after leaf2, port %d:\n%x, want\n%x", name, kind, o.port, o.frame, want)
			}
		}
	}
}

func TestLocalAndDrops(t *testing.T) {
	for _, name := range []string{"leafspine-2x4-ecmp", "leafspine-2x4-hula", "leafspine-2x4-mp-hula"} {
		f := shipped(t, name)
		r := newRig(t, f, "leaf1")
		good := segment{src: ip("10.0.1.1"), dst: ip("10.0.1.5"), flags: 0x10, srcMAC: f.Host("h1-1").MAC, dstMAC: r.sw.MAC}
		// Between hosts of one leaf.
		if o := r.one(5, good.frame()); o.port != 6 || !bytes.Equal(o.frame, routed(good.frame(), f.Host("h1-2").MAC, r.sw.MAC)) {
			t.Errorf("%s: local packet by port %d: %x", name, o.port, o.frame)
		}
		with := func(change func(*segment)) []byte {
			s := good
			change(&s)
			return s.frame()
		}
		r.dropped(5, with(func(s *segment) { s.dst = ip("192.168.0.1") }), codegen.DropNoRoute)
		r.dropped(5, with(func(s *segment) { s.dst = ip("10.0.1.77") }), codegen.DropNoHost)
		r.dropped(1, with(func(s *segment) { s.dst = ip("10.0.2.1") }), codegen.DropTransit)
		r.dropped(99, good.frame(), codegen.DropUnknownPort)
		r.dropped(5, []byte{1, 2, 3}, codegen.DropParse)
		bad := good.frame()
		bad[24] ^= 1
		r.dropped(5, bad, codegen.DropChecksum)
		bad = good.frame()
		bad[14] = 0x44
		r.dropped(5, bad, codegen.DropParse)
		bad[14] = 0x65
		r.dropped(5, bad, codegen.DropParse)
		bad = good.frame()
		bad[12] = 0x99
		r.dropped(5, bad, codegen.DropEtherType)
		if f.Scheme.Probes() {
			r.dropped(5, probeFrame(2, 0, 1), codegen.DropSpoofed)
			r.dropped(1, probeFrame(1, 0, 1), codegen.DropProbeOwn)
			r.dropped(1, probeFrame(2, 0, 1), codegen.DropProbeConsumed)
			r.dropped(1, probeFrame(9, 0, 1), codegen.DropProbeOffPath)
		}
		if f.Scheme.Marks() {
			r.dropped(5, with(func(s *segment) { s.mark = &probe.Mark{ID: 1, Subflow: 1} }), codegen.DropSpoofed)
		}
		// TTL: to the CPU as it came, with reason and port.
		last := with(func(s *segment) { s.ttl = 1; s.dst = ip("10.0.2.1") })
		if o := r.one(5, last); o.port != f.Target.CPUPort || !bytes.Equal(o.frame, append([]byte{0, 5, byte(codegen.CPUTTLExpired)}, last...)) {
			t.Errorf("%s: TTL 1 leaves by %d: %x", name, o.port, o.frame)
		}
		last6 := segment{src: ip("fd00:1::1"), dst: ip("fd00:2::1"), flags: 0x10, ttl: 1}.frame()
		if o := r.one(5, last6); o.port != f.Target.CPUPort || !bytes.Equal(o.frame, append([]byte{0, 5, byte(codegen.CPUTTLExpired)}, last6...)) {
			t.Errorf("%s: hop limit 1 leaves by %d: %x", name, o.port, o.frame)
		}
		// The gateway's own address.
		echo := with(func(s *segment) { s.dst = ip("10.0.1.254"); s.protocol = 1; s.payload = unhex(t, "0800f7ff00000000") })
		if o := r.one(5, echo); o.port != f.Target.CPUPort || !bytes.Equal(o.frame, append([]byte{0, 5, byte(codegen.CPUGateway)}, echo...)) {
			t.Errorf("%s: echo to the gateway leaves by %d: %x", name, o.port, o.frame)
		}
		// Neighbour solicitation.
		ns := segment{src: ip("fd00:1::1"), dst: ip("ff02::1:ff00:fe"), protocol: 58, ttl: 255, payload: unhex(t, "8700000000000000fd0001000000000000000000000000fe0101020000000101")}.frame()
		if o := r.one(5, ns); o.port != f.Target.CPUPort || o.frame[2] != byte(codegen.CPUND) {
			t.Errorf("%s: NS leaves by %d: %x", name, o.port, o.frame)
		}
	}
}

func TestARP(t *testing.T) {
	f := shipped(t, "leafspine-2x4-hula")
	r := newRig(t, f, "leaf1")
	host := f.Host("h1-1").MAC
	request := func(sender, target string) []byte {
		b := append(append(bytes.Repeat([]byte{0xff}, 6), host[:]...), 0x08, 0x06, 0, 1, 8, 0, 6, 4, 0, 1)
		b = append(append(b, host[:]...), ip(sender).AsSlice()...)
		b = append(append(b, 0, 0, 0, 0, 0, 0), ip(target).AsSlice()...)
		return append(b, make([]byte, 18)...)
	}
	for _, target := range []string{"10.0.1.254", "10.0.1.5"} { // the gateway, and a neighbour that the leaf routes to
		o := r.one(5, request("10.0.1.1", target))
		want := append(append(append([]byte{}, host[:]...), r.sw.MAC[:]...), 0x08, 0x06, 0, 1, 8, 0, 6, 4, 0, 2)
		want = append(append(want, r.sw.MAC[:]...), ip(target).AsSlice()...)
		want = append(append(want, host[:]...), ip("10.0.1.1").AsSlice()...)
		want = append(want, make([]byte, 18)...)
		if o.port != 5 || !bytes.Equal(o.frame, want) {
			t.Errorf("%s: port %d\n%x, want\n%x", target, o.port, o.frame, want)
		}
	}
	r.dropped(5, request("10.0.1.1", "10.0.1.1"), codegen.DropARP) // gratuitous
	r.dropped(5, request("0.0.0.0", "10.0.1.5"), codegen.DropARP)  // probe (RFC 5227)
	r.dropped(5, request("10.0.1.1", "10.0.1.99"), codegen.DropARP)
	r.dropped(1, request("10.0.1.1", "10.0.1.254"), codegen.DropARP)
}

func TestPacketOut(t *testing.T) {
	f := shipped(t, "leafspine-2x4-hula")
	r := newRig(t, f, "leaf1")
	cpu := f.Target.CPUPort
	// A probe to the group of all uplinks, as it is.
	frame := codegen.ProbeFrame(f, r.sw, 77)
	outs := r.send(cpu, append([]byte{0, byte(codegen.ProbeGroup(0)), 0, 0}, frame...))
	if len(outs) != 4 {
		t.Fatalf("%d copies", len(outs))
	}
	for i, o := range outs {
		if o.port != uint32(i+1) || !bytes.Equal(o.frame, frame) {
			t.Errorf("copy %d by port %d: %x", i, o.port, o.frame)
		}
	}
	// To a port.
	if o := r.one(cpu, append([]byte{0, 0, 0, 6}, frame...)); o.port != 6 || !bytes.Equal(o.frame, frame) {
		t.Errorf("by port %d: %x", o.port, o.frame)
	}
	// Routed.
	s := segment{src: r.sw.Gateway4, dst: ip("10.0.1.1"), protocol: 1, payload: []byte("icmp")}
	if o := r.one(cpu, append([]byte{0, 0, 0, 0}, s.frame()...)); o.port != 5 || !bytes.Equal(o.frame, routed(s.frame(), f.Host("h1-1").MAC, r.sw.MAC)) {
		t.Errorf("by port %d: %x", o.port, o.frame)
	}
}

// TestHostileFrames: random bytes and mangled packets never stall the switch, and what leaves is what a router may send.
func TestHostileFrames(t *testing.T) {
	f := shipped(t, "leafspine-2x4-mp-hula")
	r := newRig(t, f, "leaf1")
	rng := rand.New(rand.NewPCG(1, 1))
	base := segment{src: ip("10.0.1.1"), dst: ip("10.0.2.1"), flags: 2, options: bytes.Repeat([]byte{1}, 40), payload: make([]byte, 20)}.frame()
	for range 3000 {
		frame := bytes.Clone(base)
		for i := 54; i < 94; i++ {
			frame[i] = byte(rng.Uint32())
			if rng.IntN(3) == 0 {
				frame[i] = []byte{30, 12, 4, 1, 2, 0, 20}[rng.IntN(7)]
			}
		}
		frame[46] = byte(rng.IntN(16)) << 4 // data offset
		frame = frame[:54+rng.IntN(len(frame)-53)]
		r.us += 3
		outs := r.send(5, frame)
		if len(outs) != 1 || outs[0].port < 1 || outs[0].port > 4 {
			t.Fatalf("%x: %d frames left", frame, len(outs))
		}
		plain, mark := markOf(t, outs[0].frame)
		if mark != nil {
			t.Fatalf("%x is marked %+v", frame, mark)
		}
		if want := routed(frame, r.f.Switch("leaf1").Port(outs[0].port).Peer.MAC, r.sw.MAC); !bytes.Equal(plain, want) {
			t.Fatalf("%x left as %x", frame, plain)
		}
	}
	for range 3000 {
		frame := make([]byte, rng.IntN(120))
		for i := range frame {
			frame[i] = byte(rng.Uint32())
		}
		if len(frame) > 14 && rng.IntN(2) == 0 {
			copy(frame[12:], [][]byte{{8, 0}, {0x86, 0xdd}, {8, 6}, {0x88, 0xb5}, {0x88, 0xb6}}[rng.IntN(5)])
		}
		r.send(uint32(1+rng.IntN(8)), frame)
	}
}
