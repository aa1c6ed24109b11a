package e2e

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"khop/fabric"
	"khop/test/replay"
	"khop/test/synth"
)

// connection i of some: version, direction of the joins and IP version alternate.
func connection(i, subflows int, pace time.Duration) synth.Connection {
	c := synth.Connection{
		Version: uint8(i % 2), ClientKey: 0x1122334455667788 + uint64(i), ServerKey: 0x8877665544332211 + uint64(i)<<32,
		Clients: synth.Addrs("10.0.1.1", 4), Servers: synth.Addrs("10.0.2.1", 4), ServerPort: 5001, FirstPort: uint16(40000 + 100*i),
		Subflows: subflows, Segments: 3, FromServer: i%4 >= 2, Pace: pace, Start: time.Duration(i) * 37 * time.Microsecond,
	}
	if i%3 == 2 {
		c.Clients, c.Servers = synth.Addrs("fd00:1::1", 4), synth.Addrs("fd00:2::1", 4)
	}
	if c.FromServer {
		c.Clients = c.Clients[:1] // the address that the server knows
	} else {
		c.Servers = c.Servers[:1]
	}
	return c
}

func packetsOf(t *testing.T, conns ...synth.Connection) []replay.Packet {
	t.Helper()
	var b bytes.Buffer
	if err := synth.Write(&b, time.Unix(1e9, 0), conns...); err != nil {
		t.Fatal(err)
	}
	list, err := replay.ReadCapture(&b)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// replayAll replays packets through a shipped fabric, all of which must arrive.
func replayAll(t *testing.T, spec string, list []replay.Packet) *replay.Result {
	t.Helper()
	f, programs := load(t, spec)
	r, err := replay.Run(t.Context(), f, list, replay.Options{
		Programs:   programs,
		OnDelivery: func(h *fabric.Host, injected, frame []byte) { checkDelivery(t, f, h, injected, frame) },
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.PacketsIn != len(list) || r.PacketsDelivered != len(list) || len(r.PacketsLost) > 0 {
		t.Errorf("%d packets: %d in, %d delivered, lost %v", len(list), r.PacketsIn, r.PacketsDelivered, r.PacketsLost)
	}
	return r
}

// Whatever the rate, the number of connections and subflows, the versions and who joins: all is found, and no two live
// subflows share a next hop that they need not share.
func TestSpreadingAtEveryRate(t *testing.T) {
	for _, spec := range []string{"leafspine-2x4-mp-hula", "fattree-k4-mp-hula"} {
		for _, tt := range []struct {
			conns, subflows int
			pace            time.Duration
		}{
			{1, 1, 5 * time.Microsecond}, {4, 3, 20 * time.Microsecond}, {6, 4, 150 * time.Microsecond}, {2, 32, 50 * time.Microsecond},
			{3, 8, 700 * time.Microsecond}, {6, 2, 3 * time.Millisecond},
		} {
			t.Run(fmt.Sprintf("%s/%dx%d/%v", spec, tt.conns, tt.subflows, tt.pace), func(t *testing.T) {
				var conns []synth.Connection
				for i := range tt.conns {
					conns = append(conns, connection(i, tt.subflows, tt.pace))
				}
				r := replayAll(t, spec, packetsOf(t, conns...))
				if r.Collisions != 0 {
					t.Errorf("%d collisions", r.Collisions)
				}
				if len(r.Connections) != tt.conns || r.Found.Connections != tt.conns || r.Found.Subflows != tt.conns*tt.subflows {
					t.Errorf("%d connections, found %+v", len(r.Connections), r.Found)
				}
				for i, c := range r.Connections {
					if len(c.Subflows) != tt.subflows || c.Version != uint8(i%2) {
						t.Errorf("connection %d: version %d, %d subflows", i, c.Version, len(c.Subflows))
					}
				}
			})
		}
	}
}

// tcpFrame is a SYN between the leaves with the given options, padded with end-of-list to a multiple of four bytes.
func tcpFrame(port uint16, options ...byte) []byte {
	for len(options)%4 != 0 {
		options = append(options, 0)
	}
	ip := make([]byte, 20, 80)
	ip[0], ip[6], ip[8], ip[9] = 0x45, 0x40, 64, 6
	binary.BigEndian.PutUint16(ip[2:], uint16(40+len(options)))
	copy(ip[12:], netip.MustParseAddr("10.0.1.1").AsSlice())
	copy(ip[16:], netip.MustParseAddr("10.0.2.1").AsSlice())
	binary.BigEndian.PutUint16(ip[10:], checksum(ip))
	tcp := make([]byte, 20)
	binary.BigEndian.PutUint16(tcp, port)
	binary.BigEndian.PutUint16(tcp[2:], 5001)
	tcp[12], tcp[13] = byte(5+len(options)/4)<<4, 2
	return append(append(append(make([]byte, 12), 8, 0), ip...), append(tcp, options...)...)
}

// Options that are malformed, or that name nothing known, make a packet plain TCP: it arrives, and nothing is found.
func TestMalformedOptionsArrive(t *testing.T) {
	capable := func(n byte) []byte { return append([]byte{30, n, 0x01, 0x01}, make([]byte, 16)...) }
	frames := [][]byte{
		tcpFrame(1, bytes.Repeat([]byte{1}, 40)...),
		tcpFrame(2, 30, 0, 0, 1), tcpFrame(3, 30, 1, 0, 1), tcpFrame(4, 30), tcpFrame(5, 1, 1, 1, 30),
		tcpFrame(6, 30, 255, 0, 1), tcpFrame(7, capable(5)...), tcpFrame(8, capable(21)...), tcpFrame(9, capable(40)...),
		tcpFrame(10, 30, 12, 0x10, 1, 0xde, 0xad, 0xbe, 0xef, 1, 2, 3, 4), // a join of an unknown token
		tcpFrame(11, 30, 11, 0x10, 1, 0xde, 0xad, 0xbe, 0xef, 1, 2, 3),
		tcpFrame(12, 0, 30, 0, 0), tcpFrame(13, 2, 0, 0, 0), tcpFrame(14, 8, 10, 0, 0), tcpFrame(15, 30, 4, 0xf1, 1),
		tcpFrame(16, append(bytes.Repeat([]byte{1}, 36), 30, 12, 0x10, 1)...),
	}
	short := tcpFrame(17, 1, 1, 1, 1)
	short[14+20+12] = 0xf0 // the header claims 60 bytes, 24 are there
	tiny := tcpFrame(18)
	tiny[14+20+12] = 0x10 // and here 4
	var list []replay.Packet
	for i, f := range append(frames, short, tiny) {
		list = append(list, replay.Packet{Time: int64(i) * 40_000, Data: f})
	}
	for _, spec := range []string{"leafspine-2x4-mp-hula", "leafspine-2x4-hula", "fattree-k4-mp-hula"} {
		r := replayAll(t, spec, list)
		if len(r.Connections) != 0 || r.Found.Connections != 0 || r.Collisions != 0 {
			t.Errorf("%s: found %+v, %d collisions", spec, r.Found, r.Collisions)
		}
	}
}

// A SYN that is sent again changes nothing, and ports that are used again after the end make another connection.
func TestAgain(t *testing.T) {
	first, second := connection(0, 4, 0), connection(1, 4, 0)
	second.FirstPort, second.Start = first.FirstPort, 100*time.Millisecond
	var list []replay.Packet
	syns := 0
	for _, p := range packetsOf(t, first, second) {
		list = append(list, p)
		if p.Data[14+20+13] == 2 {
			syns++
			p.Time += 30_000
			list = append(list, p)
		}
	}
	r := replayAll(t, "leafspine-2x4-mp-hula", list)
	if syns != 8 || len(r.Connections) != 2 || r.Found.Connections != 2 || r.Found.Subflows != 8 || r.Collisions != 0 {
		t.Errorf("%d SYNs: %d connections, found %+v, %d collisions", syns, len(r.Connections), r.Found, r.Collisions)
	}
}
