package controlplane

import (
	"net"
	"net/netip"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"khop/codegen"
	"khop/fabric"
)

func loadSpec(t *testing.T, name string) *fabric.Fabric {
	t.Helper()
	f, err := fabric.LoadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func build(t *testing.T, list ...gopacket.SerializableLayer) []byte {
	t.Helper()
	b, err := serialize(list...)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

var hostMAC = net.HardwareAddr{2, 0, 0, 0, 9, 9}

func ether(f *fabric.Fabric, typ layers.EthernetType) *layers.Ethernet {
	return &layers.Ethernet{SrcMAC: hostMAC, DstMAC: f.Leaves()[0].MAC[:], EthernetType: typ}
}

func ip4(src, dst string, ttl uint8, proto layers.IPProtocol) *layers.IPv4 {
	return &layers.IPv4{Version: 4, TTL: ttl, Protocol: proto, SrcIP: net.ParseIP(src).To4(), DstIP: net.ParseIP(dst).To4()}
}

func ip6(src, dst string, hops uint8) *layers.IPv6 {
	return &layers.IPv6{Version: 6, HopLimit: hops, NextHeader: layers.IPProtocolICMPv6, SrcIP: net.ParseIP(src), DstIP: net.ParseIP(dst)}
}

func icmp6(t *testing.T, ip *layers.IPv6, typ uint8) *layers.ICMPv6 {
	t.Helper()
	x := &layers.ICMPv6{TypeCode: layers.CreateICMPv6TypeCode(typ, 0)}
	if err := x.SetNetworkLayerForChecksum(ip); err != nil {
		t.Fatal(err)
	}
	return x
}

func TestReply(t *testing.T) {
	f := loadSpec(t, "leafspine-2x4-mp-hula")
	leaf := f.Leaves()[0]
	gateway4, gateway6 := leaf.Gateway4.String(), leaf.Gateway6.String()
	udp := gopacket.Payload([]byte{0, 1, 0x82, 0x9a, 0, 8, 0, 0}) // a UDP header without checksum
	echo := &layers.ICMPv4{TypeCode: layers.CreateICMPv4TypeCode(layers.ICMPv4TypeEchoRequest, 0), Id: 7, Seq: 3}
	exceeded := &layers.ICMPv4{TypeCode: layers.CreateICMPv4TypeCode(layers.ICMPv4TypeTimeExceeded, 0)}
	echo6IP := ip6("fd00:1::1", gateway6, 64)
	v6IP := ip6("fd00:1::1", "fd00:2::1", 1)
	solicit := func(src, target string, hops uint8) []byte {
		ip := ip6(src, "ff02::1:ff00:fe", hops)
		return build(t, ether(f, layers.EthernetTypeIPv6), ip, icmp6(t, ip, layers.ICMPv6TypeNeighborSolicitation),
			&layers.ICMPv6NeighborSolicitation{TargetAddress: net.ParseIP(target)})
	}
	tests := []struct {
		name   string
		reason codegen.CPUReason
		frame  []byte
		src    string // of the reply; "" for none
		dst    string
		typ    uint8 // ICMP type of the reply
		toPort bool
	}{
		{"TTL", codegen.CPUTTLExpired, build(t, ether(f, layers.EthernetTypeIPv4), ip4("10.0.1.1", "10.0.2.1", 1, layers.IPProtocolUDP), udp), gateway4, "10.0.1.1", layers.ICMPv4TypeTimeExceeded, false},
		{"no error about an error", codegen.CPUTTLExpired, build(t, ether(f, layers.EthernetTypeIPv4), ip4("10.0.1.1", "10.0.2.1", 1, layers.IPProtocolICMPv4), exceeded), "", "", 0, false},
		{"no error to a group", codegen.CPUTTLExpired, build(t, ether(f, layers.EthernetTypeIPv4), ip4("224.0.0.5", "10.0.2.1", 1, layers.IPProtocolUDP), udp), "", "", 0, false},
		{"ping", codegen.CPUGateway, build(t, ether(f, layers.EthernetTypeIPv4), ip4("10.0.1.1", gateway4, 64, layers.IPProtocolICMPv4), echo, gopacket.Payload("abc")), gateway4, "10.0.1.1", layers.ICMPv4TypeEchoReply, false},
		{"no service", codegen.CPUGateway, build(t, ether(f, layers.EthernetTypeIPv4), ip4("10.0.1.1", gateway4, 64, layers.IPProtocolUDP), udp), "", "", 0, false},
		{"hop limit", codegen.CPUTTLExpired, build(t, ether(f, layers.EthernetTypeIPv6), v6IP, icmp6(t, v6IP, layers.ICMPv6TypeEchoRequest), gopacket.Payload("abcd")), gateway6, "fd00:1::1", layers.ICMPv6TypeTimeExceeded, false},
		{"ping6", codegen.CPUGateway, build(t, ether(f, layers.EthernetTypeIPv6), echo6IP, icmp6(t, echo6IP, layers.ICMPv6TypeEchoRequest), gopacket.Payload("abcd")), gateway6, "fd00:1::1", layers.ICMPv6TypeEchoReply, false},
		{"solicitation for the gateway", codegen.CPUND, solicit("fd00:1::1", gateway6, 255), gateway6, "fd00:1::1", layers.ICMPv6TypeNeighborAdvertisement, true},
		{"solicitation for another host", codegen.CPUND, solicit("fd00:1::1", "fd00:1::5", 255), "fd00:1::5", "fd00:1::1", layers.ICMPv6TypeNeighborAdvertisement, true},
		{"solicitation for itself", codegen.CPUND, solicit("fd00:1::1", "fd00:1::2", 255), "", "", 0, true},
		{"duplicate detection", codegen.CPUND, solicit("::", "fd00:1::5", 255), "", "", 0, true},
		{"duplicate of the gateway", codegen.CPUND, solicit("::", gateway6, 255), gateway6, "ff02::1", layers.ICMPv6TypeNeighborAdvertisement, true},
		{"solicitation from elsewhere", codegen.CPUND, solicit("fd00:1::1", gateway6, 254), "", "", 0, true},
	}
	for _, tt := range tests {
		reply, toPort, err := Reply(f, leaf, tt.reason, tt.frame)
		if err != nil || toPort != tt.toPort {
			t.Errorf("%s: to port %v, %v", tt.name, toPort, err)
		}
		if (reply == nil) != (tt.src == "") {
			t.Errorf("%s: reply %x", tt.name, reply)
		}
		if reply == nil {
			continue
		}
		p := gopacket.NewPacket(reply, layers.LayerTypeEthernet, gopacket.Default)
		if p.ErrorLayer() != nil {
			t.Errorf("%s: %v", tt.name, p.ErrorLayer().Error())
			continue
		}
		n := p.NetworkLayer().NetworkFlow()
		src, _ := netip.AddrFromSlice(n.Src().Raw())
		dst, _ := netip.AddrFromSlice(n.Dst().Raw())
		if src.String() != tt.src || dst.String() != tt.dst {
			t.Errorf("%s: reply from %v to %v, want %s to %s", tt.name, src, dst, tt.src, tt.dst)
		}
		var typ uint8
		if x, ok := p.Layer(layers.LayerTypeICMPv4).(*layers.ICMPv4); ok {
			typ = x.TypeCode.Type()
		} else if x, ok := p.Layer(layers.LayerTypeICMPv6).(*layers.ICMPv6); ok {
			typ = x.TypeCode.Type()
		}
		if typ != tt.typ {
			t.Errorf("%s: ICMP type %d, want %d", tt.name, typ, tt.typ)
		}
	}
	if _, _, err := Reply(f, leaf, codegen.CPUGateway, []byte{1, 2, 3}); err == nil {
		t.Error("a frame of three bytes: no error")
	}
}

func FuzzReply(f *testing.F) {
	spec, err := fabric.LoadFile("leafspine-2x4-mp-hula")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(uint8(1), []byte("\x02\x00\x00\x00\x01\xfe\x02\x00\x00\x00\x09\x09\x08\x00\x45\x00\x00\x14"))
	f.Fuzz(func(t *testing.T, reason uint8, frame []byte) {
		_, _, _ = Reply(spec, spec.Leaves()[0], codegen.CPUReason(reason%4), frame)
	})
}
