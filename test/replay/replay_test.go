package replay

import (
	"net/netip"
	"strings"
	"testing"

	"khop/fabric"
)

func frameOf(etherType uint16, ip ...byte) []byte {
	f := append(make([]byte, 12), byte(etherType>>8), byte(etherType))
	return append(f, ip...)
}

func ipv4Frame(src, dst string) []byte {
	ip := make([]byte, 20)
	ip[0] = 0x45
	copy(ip[12:], netip.MustParseAddr(src).AsSlice())
	copy(ip[16:], netip.MustParseAddr(dst).AsSlice())
	return frameOf(etherIPv4, ip...)
}

func ipv6Frame(src, dst string, next byte, payload ...byte) []byte {
	ip := make([]byte, 40)
	ip[0], ip[6] = 0x60, next
	copy(ip[8:], netip.MustParseAddr(src).AsSlice())
	copy(ip[24:], netip.MustParseAddr(dst).AsSlice())
	return frameOf(etherIPv6, append(ip, payload...)...)
}

func TestClassify(t *testing.T) {
	f, err := fabric.LoadFile("leafspine-2x4-mp-hula")
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name   string
		frame  []byte
		host   string // that sends it
		reason string // why it is not forwarded
	}{
		{"between leaves", ipv4Frame("10.0.1.5", "10.0.2.1"), "h1-2", ""},
		{"an address of no host", ipv4Frame("10.0.1.99", "10.0.2.1"), "h1-1", ""},
		{"IPv6", ipv6Frame("fd00:2::9", "fd00:1::1", 6), "h2-3", ""},
		{"ping over IPv6", ipv6Frame("fd00:2::9", "fd00:1::1", 58, 128, 0), "h2-3", ""},
		{"foreign source", ipv4Frame("192.0.2.1", "10.0.2.1"), "", "source outside the fabric"},
		{"ARP", frameOf(etherARP, make([]byte, 28)...), "", "ARP"},
		{"solicitation", ipv6Frame("fd00:2::9", "fd00:2::fe", 58, 135, 0), "", "neighbour discovery"},
		{"link-local source", ipv6Frame("fe80::1", "fd00:1::1", 6), "", "link-local"},
		{"link-local destination", ipv4Frame("10.0.1.1", "169.254.0.1"), "", "link-local"},
		{"group", ipv4Frame("10.0.1.1", "224.0.0.251"), "", "multicast"},
		{"broadcast", ipv4Frame("10.0.1.1", "255.255.255.255"), "", "broadcast"},
		{"another protocol", frameOf(0x88cc, 1, 2, 3), "", "not IP"},
		{"short", []byte{1, 2, 3}, "", "short frame"},
		{"short IP", frameOf(etherIPv6, 0x60), "", "short frame"},
	}
	for _, tt := range tests {
		h, _, reason := classify(f, &Packet{Data: tt.frame})
		name := ""
		if h != nil {
			name = h.Name
		}
		if name != tt.host || reason != tt.reason {
			t.Errorf("%s: host %q, reason %q; want %q, %q", tt.name, name, reason, tt.host, tt.reason)
		}
	}
	given := f.Host("h2-1")
	if h, _, _ := classify(f, &Packet{Data: ipv4Frame("10.0.1.1", "10.0.2.1"), Host: given}); h != given {
		t.Error("the host that a port names does not count")
	}
}

func TestSerialisation(t *testing.T) {
	for _, tt := range []struct {
		bytes int
		rate  fabric.BitRate
		want  int64
	}{{1500, 10e9, 1200}, {1, 3e9, 3}, {64, 0, 0}} {
		if got := serialisation(tt.bytes, tt.rate); got != tt.want {
			t.Errorf("%d bytes at %v take %d ns, want %d", tt.bytes, tt.rate, got, tt.want)
		}
	}
}

func TestByTimeIsStable(t *testing.T) {
	list := []Packet{{Time: 2, Data: []byte("c")}, {Time: 1, Data: []byte("a")}, {Time: 1, Data: []byte("b")}}
	byTime(list)
	var order []string
	for _, p := range list {
		order = append(order, string(p.Data))
	}
	if strings.Join(order, "") != "abc" {
		t.Error(order)
	}
}
