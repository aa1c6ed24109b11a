package synth

import (
	"bytes"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/google/gopacket/pcapgo"

	"khop/mptcp"
)

func example(version uint8) Connection {
	return Connection{
		Version: version, ClientKey: 0x0102030405060708, ServerKey: 0x1122334455667788,
		Clients: Addrs("10.0.1.1", 4), Servers: Addrs("10.0.2.1", 1), ServerPort: 5001, FirstPort: 40000,
		Subflows: 4, Segments: 3,
	}
}

// The correlator, fed with the frames of a connection, finds what was written.
func TestCorrelatorAgrees(t *testing.T) {
	tests := []struct {
		name string
		conn Connection
		a, b uint32 // tokens
	}{
		{"v0", example(0), 0xdd5783bc, 0xbdc04c09},
		{"v1", example(1), 0x66840dda, 0x1dce6604},
	}
	fromServer, many := example(1), example(0)
	fromServer.FromServer = true
	fromServer.Clients, fromServer.Servers = Addrs("10.0.1.1", 1), Addrs("10.0.2.1", 4) // who joins knows this address only
	many.Subflows = 32
	ipv6 := example(1)
	ipv6.Clients, ipv6.Servers = Addrs("fd00:1::1", 2), Addrs("fd00:2::1", 1)
	for _, more := range []struct {
		name string
		conn Connection
	}{{"joins from the server", fromServer}, {"32 subflows", many}, {"IPv6", ipv6}} {
		a, b := uint32(0x66840dda), uint32(0x1dce6604)
		if more.conn.Version == 0 {
			a, b = 0xdd5783bc, 0xbdc04c09
		}
		tests = append(tests, struct {
			name string
			conn Connection
			a, b uint32
		}{more.name, more.conn, a, b})
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			packets, err := test.conn.Packets()
			if err != nil {
				t.Fatal(err)
			}
			c := mptcp.NewCorrelator(mptcp.Config{})
			subflows := 0
			for _, p := range packets {
				var seg mptcp.Segment
				if _, err := seg.ParseIP(p.Frame[14:]); err != nil {
					t.Fatal(err)
				}
				seg.Time = int64(p.At)
				c.Observe(&seg)
				for _, conn := range c.Connections() {
					subflows = max(subflows, len(conn.Subflows))
					if a, b := conn.ID.Tokens(); a != test.a || b != test.b {
						t.Fatalf("tokens %08x, %08x, want %08x, %08x", a, b, test.a, test.b)
					}
				}
			}
			if subflows != test.conn.Subflows {
				t.Errorf("%d subflows, want %d", subflows, test.conn.Subflows)
			}
		})
	}
}

func TestWriteMergesByTime(t *testing.T) {
	one, two := example(0), example(1)
	two.FirstPort, two.Start = 50000, Interval/2
	two.Clients = []netip.Addr{netip.MustParseAddr("10.0.1.9")}
	var out bytes.Buffer
	if err := Write(&out, time.Unix(1, 0), one, two); err != nil {
		t.Fatal(err)
	}
	r, err := pcapgo.NewReader(&out)
	if err != nil {
		t.Fatal(err)
	}
	var last time.Time
	n := 0
	for ; ; n++ {
		_, info, err := r.ReadPacketData()
		if err != nil {
			break
		}
		if info.Timestamp.Before(last) {
			t.Fatalf("packet %d at %v, after one at %v", n, info.Timestamp, last)
		}
		last = info.Timestamp
	}
	// A connection: 3 + 3*4 of handshakes, 4*3*2 of data, 4*3 of FINs.
	if want := 2 * (3 + 12 + 24 + 12); n != want {
		t.Errorf("%d packets, want %d", n, want)
	}
}

func TestChecksums(t *testing.T) {
	packets, err := example(1).Packets()
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range packets {
		decoded := gopacket.NewPacket(p.Frame, layers.LayerTypeEthernet, gopacket.Default)
		if fail := decoded.ErrorLayer(); fail != nil {
			t.Errorf("packet %d: %v", i, fail.Error())
		}
	}
}

// Wireshark's dissector, where it is installed, finds no fault and computes the same tokens.
func TestDissector(t *testing.T) {
	tshark, err := exec.LookPath("tshark")
	if err != nil {
		t.Skip("tshark is not installed")
	}
	file := filepath.Join(t.TempDir(), "v0.pcap")
	out, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := Write(out, time.Unix(1, 0), example(0)); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) string {
		cmd := exec.Command(tshark, append([]string{"-r", file, "-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"}, args...)...)
		printed, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(printed))
	}
	if bad := run("-Y", "_ws.malformed || tcp.checksum.status == 0 || ip.checksum.status == 0"); bad != "" {
		t.Errorf("bad packets:\n%s", bad)
	}
	joins := run("-Y", "tcp.flags.syn == 1 && tcp.flags.ack == 0 && tcp.options.mptcp.subtype == 1", "-T", "fields", "-e", "tcp.options.mptcp.recvtok")
	if want := strings.Repeat("3183496201\n", 3); joins+"\n" != want { // 0xbdc04c09
		t.Errorf("tokens of the joins: %q, want %q", joins, want)
	}
}
