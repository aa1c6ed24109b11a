package controlplane

import (
	"bytes"
	"fmt"
	"net"
	"net/netip"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	p4v1 "github.com/p4lang/p4runtime/go/p4/v1"

	"khop/codegen"
	"khop/fabric"
)

// handlePacketIn answers what a switch can't: ICMP time exceeded, echo requests to the switch, neighbour solicitations.
// A packet that asks for no answer is ignored.
func (c *Controller) handlePacketIn(s *session, p *p4v1.PacketIn) error {
	port, reason := s.prog.Codec.packetInFields(p)
	frame, toPort, err := Reply(c.fabric, s.sw, reason, p.GetPayload())
	if err != nil || frame == nil {
		return err
	}
	if !toPort {
		port = 0 // routed
	}
	c.stats.replies.Add(1)
	return s.packetOut(0, port, frame)
}

// Reply returns the frame that a switch owes for a packet that it sent to its CPU, or nil. toPort tells whether the reply
// leaves by the port that the packet came from, as neighbour discovery does; otherwise it is routed.
func Reply(f *fabric.Fabric, s *fabric.Switch, reason codegen.CPUReason, frame []byte) (reply []byte, toPort bool, err error) {
	packet := gopacket.NewPacket(frame, layers.LayerTypeEthernet, gopacket.NoCopy)
	eth, _ := packet.LinkLayer().(*layers.Ethernet)
	if eth == nil {
		return nil, false, fmt.Errorf("packet-in of %d bytes is no Ethernet frame", len(frame))
	}
	ip4, _ := packet.Layer(layers.LayerTypeIPv4).(*layers.IPv4)
	ip6, _ := packet.Layer(layers.LayerTypeIPv6).(*layers.IPv6)
	switch {
	case ip4 == nil && ip6 == nil:
		return nil, false, nil
	case reason == codegen.CPUTTLExpired && ip4 != nil:
		reply, err = timeExceeded4(s, eth, ip4)
	case reason == codegen.CPUTTLExpired:
		reply, err = timeExceeded6(s, eth, ip6)
	case reason == codegen.CPUGateway && ip4 != nil:
		reply, err = echo4(packet, s, eth, ip4)
	case reason == codegen.CPUGateway, reason == codegen.CPUND:
		if ns, ok := packet.Layer(layers.LayerTypeICMPv6NeighborSolicitation).(*layers.ICMPv6NeighborSolicitation); ok {
			reply, err = advertise(f, s, eth, ip6, ns)
			return reply, true, err
		}
		reply, err = echo6(packet, s, eth, ip6)
	}
	return reply, false, err
}

func serialize(list ...gopacket.SerializableLayer) ([]byte, error) {
	buf := gopacket.NewSerializeBuffer()
	err := gopacket.SerializeLayers(buf, gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}, list...)
	return buf.Bytes(), err
}

func ethernetFrom(s *fabric.Switch, dst net.HardwareAddr, typ layers.EthernetType) *layers.Ethernet {
	return &layers.Ethernet{SrcMAC: bytes.Clone(s.MAC[:]), DstMAC: dst, EthernetType: typ}
}

// cut returns at most n bytes of the packet that starts with head.
func cut(head, payload []byte, n int) gopacket.Payload {
	whole := append(bytes.Clone(head), payload...)
	return whole[:min(len(whole), n)]
}

// timeExceeded4: RFC 792, and RFC 1812 section 4.3.2.3: as much of the packet as fits into 576 bytes. No error about an
// ICMP error, a fragment other than the first, or a source that is no single host (section 4.3.2.7).
func timeExceeded4(s *fabric.Switch, eth *layers.Ethernet, ip *layers.IPv4) ([]byte, error) {
	src, _ := netip.AddrFromSlice(ip.SrcIP.To4())
	if !s.Gateway4.IsValid() || src.IsUnspecified() || src.IsMulticast() || ip.FragOffset != 0 {
		return nil, nil
	}
	if ip.Protocol == layers.IPProtocolICMPv4 && (len(ip.Payload) == 0 || isICMPError4(ip.Payload[0])) {
		return nil, nil
	}
	return serialize(
		ethernetFrom(s, eth.SrcMAC, layers.EthernetTypeIPv4),
		&layers.IPv4{Version: 4, TTL: 64, TOS: 0xc0, Protocol: layers.IPProtocolICMPv4, SrcIP: s.Gateway4.AsSlice(), DstIP: ip.SrcIP},
		&layers.ICMPv4{TypeCode: layers.CreateICMPv4TypeCode(layers.ICMPv4TypeTimeExceeded, layers.ICMPv4CodeTTLExceeded)},
		cut(ip.Contents, ip.Payload, 576-20-8),
	)
}

func isICMPError4(typ uint8) bool {
	switch typ {
	case layers.ICMPv4TypeDestinationUnreachable, layers.ICMPv4TypeSourceQuench, layers.ICMPv4TypeRedirect,
		layers.ICMPv4TypeTimeExceeded, layers.ICMPv4TypeParameterProblem:
		return true
	}
	return false
}

// timeExceeded6: RFC 4443 section 3.3: as much of the packet as fits into 1280 bytes.
func timeExceeded6(s *fabric.Switch, eth *layers.Ethernet, ip *layers.IPv6) ([]byte, error) {
	src, _ := netip.AddrFromSlice(ip.SrcIP.To16())
	if !s.Gateway6.IsValid() || src.IsUnspecified() || src.IsMulticast() {
		return nil, nil
	}
	if ip.NextHeader == layers.IPProtocolICMPv6 && (len(ip.Payload) == 0 || ip.Payload[0] < 128) {
		return nil, nil // an error message (section 2.4)
	}
	out := &layers.IPv6{Version: 6, HopLimit: 64, NextHeader: layers.IPProtocolICMPv6, SrcIP: s.Gateway6.AsSlice(), DstIP: ip.SrcIP}
	icmp := &layers.ICMPv6{TypeCode: layers.CreateICMPv6TypeCode(layers.ICMPv6TypeTimeExceeded, layers.ICMPv6CodeHopLimitExceeded)}
	if err := icmp.SetNetworkLayerForChecksum(out); err != nil {
		return nil, err
	}
	body := append(make([]byte, 4), cut(ip.Contents, ip.Payload, 1280-40-8)...)
	return serialize(ethernetFrom(s, eth.SrcMAC, layers.EthernetTypeIPv6), out, icmp, gopacket.Payload(body))
}

// echo4 answers an echo request (RFC 792).
func echo4(packet gopacket.Packet, s *fabric.Switch, eth *layers.Ethernet, ip *layers.IPv4) ([]byte, error) {
	icmp, _ := packet.Layer(layers.LayerTypeICMPv4).(*layers.ICMPv4)
	if icmp == nil || icmp.TypeCode.Type() != layers.ICMPv4TypeEchoRequest {
		return nil, nil
	}
	return serialize(
		ethernetFrom(s, eth.SrcMAC, layers.EthernetTypeIPv4),
		&layers.IPv4{Version: 4, TTL: 64, Protocol: layers.IPProtocolICMPv4, SrcIP: ip.DstIP, DstIP: ip.SrcIP},
		&layers.ICMPv4{TypeCode: layers.CreateICMPv4TypeCode(layers.ICMPv4TypeEchoReply, 0), Id: icmp.Id, Seq: icmp.Seq},
		gopacket.Payload(icmp.Payload),
	)
}

// echo6 answers an echo request (RFC 4443 section 4.2).
func echo6(packet gopacket.Packet, s *fabric.Switch, eth *layers.Ethernet, ip *layers.IPv6) ([]byte, error) {
	in, _ := packet.Layer(layers.LayerTypeICMPv6).(*layers.ICMPv6)
	if in == nil || in.TypeCode.Type() != layers.ICMPv6TypeEchoRequest {
		return nil, nil
	}
	out := &layers.IPv6{Version: 6, HopLimit: 64, NextHeader: layers.IPProtocolICMPv6, SrcIP: ip.DstIP, DstIP: ip.SrcIP}
	icmp := &layers.ICMPv6{TypeCode: layers.CreateICMPv6TypeCode(layers.ICMPv6TypeEchoReply, 0)}
	if err := icmp.SetNetworkLayerForChecksum(out); err != nil {
		return nil, err
	}
	return serialize(ethernetFrom(s, eth.SrcMAC, layers.EthernetTypeIPv6), out, icmp, gopacket.Payload(in.Payload))
}

// advertise answers a neighbour solicitation (RFC 4861 section 7.2.4) for the gateway, its link-local address, and, since
// the leaf routes between its own hosts, for another host of the leaf. A host that checks its own address for duplicates
// (source ::) hears nothing unless the address is the gateway's.
func advertise(f *fabric.Fabric, s *fabric.Switch, eth *layers.Ethernet, ip *layers.IPv6, ns *layers.ICMPv6NeighborSolicitation) ([]byte, error) {
	if ip.HopLimit != 255 {
		return nil, nil // did not come from the link (section 7.1.1)
	}
	target, _ := netip.AddrFromSlice(ns.TargetAddress)
	src, _ := netip.AddrFromSlice(ip.SrcIP.To16())
	own := target == s.Gateway6 || target == linkLocal(s)
	if !own {
		h := f.HostOf(target)
		if h == nil || h.Leaf != s || src.IsUnspecified() || f.HostOf(src) == h {
			return nil, nil
		}
	}
	dstMAC, dst, flags := eth.SrcMAC, src, uint8(0xc0) // router, solicited
	if own {
		flags |= 0x20 // override
	}
	if src.IsUnspecified() {
		dst = netip.MustParseAddr("ff02::1")
		dstMAC = net.HardwareAddr{0x33, 0x33, 0, 0, 0, 1}
		flags &^= 0x40
	}
	out := &layers.IPv6{Version: 6, HopLimit: 255, NextHeader: layers.IPProtocolICMPv6, SrcIP: target.AsSlice(), DstIP: dst.AsSlice()}
	icmp := &layers.ICMPv6{TypeCode: layers.CreateICMPv6TypeCode(layers.ICMPv6TypeNeighborAdvertisement, 0)}
	if err := icmp.SetNetworkLayerForChecksum(out); err != nil {
		return nil, err
	}
	na := &layers.ICMPv6NeighborAdvertisement{
		Flags: flags, TargetAddress: ns.TargetAddress,
		Options: layers.ICMPv6Options{{Type: layers.ICMPv6OptTargetAddress, Data: bytes.Clone(s.MAC[:])}},
	}
	return serialize(ethernetFrom(s, dstMAC, layers.EthernetTypeIPv6), out, icmp, na)
}

// linkLocal is the switch's link-local address by modified EUI-64 (RFC 4291 appendix A).
func linkLocal(s *fabric.Switch) netip.Addr {
	m := s.MAC
	return netip.AddrFrom16([16]byte{0xfe, 0x80, 8: m[0] ^ 2, m[1], m[2], 0xff, 0xfe, m[3], m[4], m[5]})
}
