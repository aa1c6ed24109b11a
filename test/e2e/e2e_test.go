// Package e2e holds the end-to-end tests: spec to program to switch to packets, over real gRPC.
package e2e

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"testing"

	p4configv1 "github.com/p4lang/p4runtime/go/p4/config/v1"

	"khop/controlplane"
	"khop/fabric"
	"khop/p4"
	"khop/test"
	"khop/test/expect"
	"khop/test/replay"
)

func compile(name string, source []byte) (*p4configv1.P4Info, []byte, error) {
	r, list := p4.Compile(name, source, p4.Options{})
	if err := list.Err(); err != nil {
		return nil, nil, err
	}
	return r.P4Info, r.JSON, nil
}

// built caches the programs of a spec: many tests share them.
var built = struct {
	sync.Mutex
	fabrics  map[string]*fabric.Fabric
	programs map[string][]*controlplane.Program
}{fabrics: map[string]*fabric.Fabric{}, programs: map[string][]*controlplane.Program{}}

func load(t testing.TB, spec string) (*fabric.Fabric, []*controlplane.Program) {
	t.Helper()
	built.Lock()
	defer built.Unlock()
	if f := built.fabrics[spec]; f != nil {
		return f, built.programs[spec]
	}
	f, err := fabric.LoadFile(spec)
	if err != nil {
		t.Fatal(err)
	}
	programs, err := controlplane.BuildPrograms(f, compile)
	if err != nil {
		t.Fatal(err)
	}
	built.fabrics[spec], built.programs[spec] = f, programs
	return f, programs
}

func capture(t testing.TB, name string) []replay.Packet {
	t.Helper()
	data, err := test.Captures.ReadFile("testdata/pcaps/" + name + ".pcap")
	if err != nil {
		t.Fatal(err)
	}
	list, err := replay.ReadCapture(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

const etherLen = 14

// checkDelivery checks one delivered frame against the frame that was captured: the right host, its MAC addresses, no mark,
// TTL or hop limit lower by the switches on the way, a right IPv4 checksum, and nothing else changed.
func checkDelivery(t *testing.T, f *fabric.Fabric, h *fabric.Host, injected, frame []byte) {
	t.Helper()
	if injected == nil {
		t.Fatalf("%s got a frame that nobody sent, or one twice: %x", h.Name, frame)
	}
	want := bytes.Clone(injected)
	copy(want, h.MAC[:])
	copy(want[6:], h.Leaf.MAC[:])
	ip := want[etherLen:]
	var src, dst netip.Addr
	ttl := 8
	if binary.BigEndian.Uint16(want[12:]) == 0x0800 {
		src, dst = netip.AddrFrom4([4]byte(ip[12:])), netip.AddrFrom4([4]byte(ip[16:]))
	} else {
		src, dst = netip.AddrFrom16([16]byte(ip[8:])), netip.AddrFrom16([16]byte(ip[24:]))
		ttl = 7
	}
	if f.HostOf(dst) != h {
		t.Fatalf("a packet to %v came to %s", dst, h.Name)
	}
	ip[ttl] -= hops(f, f.LeafOf(src), h.Leaf)
	if ttl == 8 {
		ip[10], ip[11] = 0, 0
		binary.BigEndian.PutUint16(ip[10:], checksum(ip[:int(ip[0]&15)*4]))
	}
	if !bytes.Equal(frame, want) {
		t.Fatalf("delivered to %s\n got %x\nwant %x", h.Name, frame, want)
	}
}

// hops counts the switches from leaf to leaf: one, or up to the lowest common tier and down.
func hops(f *fabric.Fabric, a, b *fabric.Switch) byte {
	n := byte(1)
	for s := a; s != b; n++ {
		s = s.Port(f.NextHops(s, b)[0]).Peer
	}
	return n
}

// checksum is RFC 1071's, written again here so that the check is independent.
func checksum(b []byte) uint16 {
	var sum uint32
	for i := 0; i+1 < len(b); i += 2 {
		sum += uint32(b[i])<<8 | uint32(b[i+1])
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return ^uint16(sum)
}

func run(t *testing.T, spec, name, out string) *replay.Result {
	t.Helper()
	f, programs := load(t, spec)
	r, err := replay.Run(t.Context(), f, capture(t, name), replay.Options{
		Programs: programs, OutDir: out,
		OnDelivery: func(h *fabric.Host, injected, frame []byte) { checkDelivery(t, f, h, injected, frame) },
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.PacketsIn == 0 || r.PacketsDelivered != r.PacketsIn || len(r.PacketsLost) != 0 {
		t.Errorf("%s through %s: %d in, %d delivered, lost %v", name, spec, r.PacketsIn, r.PacketsDelivered, r.PacketsLost)
	}
	return r
}

func TestCaptures(t *testing.T) {
	type conn struct {
		subflows int
		tokens   [2]uint32
	}
	four := []conn{{4, [2]uint32{1373169210, 2460604289}}}
	tests := []struct {
		capture  string
		packets  int // that a router forwards
		excluded int
		conns    []conn
	}{
		{"mptcp-v1-4subflows", 2067, 1, four},
		{"mptcp-v1-ipv6", 628, 4, []conn{{2, [2]uint32{0, 3783073081}}}},
		{"mptcp-fallback-to-tcp", 76, 0, nil},
		{"tcp-plain", 537, 0, nil},
	}
	for _, tt := range tests {
		t.Run(tt.capture, func(t *testing.T) {
			mean := map[string]float64{}
			for _, scheme := range []string{"ecmp", "hula", "mp-hula"} {
				r := run(t, "leafspine-2x4-"+scheme, tt.capture, "")
				mean[scheme] = r.MeanDistinctNextHops
				if r.PacketsIn != tt.packets || r.NotForwarded != tt.excluded {
					t.Errorf("%s: %d packets, %d not forwarded; want %d, %d", scheme, r.PacketsIn, r.NotForwarded, tt.packets, tt.excluded)
				}
				if (scheme == "ecmp") != (r.ProbesSent == 0) {
					t.Errorf("%s: %d probes", scheme, r.ProbesSent)
				}
				if len(r.Connections) != len(tt.conns) {
					t.Fatalf("%s: %d connections, want %d", scheme, len(r.Connections), len(tt.conns))
				}
				for i, c := range tt.conns {
					got := r.Connections[i]
					if got.Version != 1 || len(got.Subflows) != c.subflows || got.Tokens[1] != c.tokens[1] || c.tokens[0] != 0 && got.Tokens[0] != c.tokens[0] {
						t.Errorf("%s: connection %+v, want %+v", scheme, got, c)
					}
					sum := 0
					for n, s := range got.Subflows {
						if s.Number != n+1 {
							t.Errorf("%s: subflow %d has number %d", scheme, n+1, s.Number)
						}
						for _, k := range s.NextHops {
							sum += k
						}
					}
					if sum == 0 || sum > r.PacketsIn {
						t.Errorf("%s: %d packets by next hop", scheme, sum)
					}
				}
				if scheme != "mp-hula" {
					continue
				}
				subflows := 0
				for _, c := range tt.conns {
					subflows += c.subflows
				}
				if r.Collisions != 0 || r.Found.Connections != len(tt.conns) || r.Found.Subflows != subflows {
					t.Errorf("mp-hula: %d collisions, found %+v", r.Collisions, r.Found)
				}
			}
			if tt.capture == "mptcp-v1-4subflows" && (mean["mp-hula"] < 1.1*mean["ecmp"] || mean["mp-hula"] < 1.5*mean["hula"]) {
				t.Errorf("mean distinct next hops: %v", mean)
			}
		})
	}
}

func TestCollisionsOfTheBaselines(t *testing.T) {
	for _, scheme := range []string{"ecmp", "hula"} {
		if r := run(t, "leafspine-2x4-"+scheme, "mptcp-v1-4subflows", ""); r.Collisions == 0 {
			t.Errorf("%s: no collisions", scheme)
		}
	}
}

func TestFatTree(t *testing.T) {
	r := run(t, "fattree-k4-mp-hula", "mptcp-v1-ipv6", "")
	if r.Collisions != 0 || r.Found.Subflows != 2 {
		t.Errorf("%d collisions, found %+v", r.Collisions, r.Found)
	}
}

func TestTwoRunsGiveIdenticalBytes(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	run(t, "leafspine-2x4-mp-hula", "mptcp-v1-ipv6", a)
	run(t, "leafspine-2x4-mp-hula", "mptcp-v1-ipv6", b)
	files, err := os.ReadDir(a)
	if err != nil || len(files) != 6 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	packets := 0
	for _, f := range files {
		x, err := os.ReadFile(filepath.Join(a, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		y, err := os.ReadFile(filepath.Join(b, f.Name()))
		if err != nil || !bytes.Equal(x, y) {
			t.Errorf("%s differs (%v)", f.Name(), err)
		}
		list, err := replay.ReadCaptureFile(filepath.Join(a, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		packets += len(list)
	}
	if packets != 628 {
		t.Errorf("%d packets were written", packets)
	}
	if diffs, err := expect.Dirs(a, b, expect.Options{}); err != nil || len(diffs) > 0 {
		t.Error(diffs, err)
	}
}
