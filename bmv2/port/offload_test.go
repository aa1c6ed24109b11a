package port

import (
	"bytes"
	"encoding/binary"
	"net"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
)

// build serializes a frame with gopacket, an independent implementation, with right lengths and checksums.
func build(t testing.TB, ls ...gopacket.SerializableLayer) []byte {
	t.Helper()
	b := gopacket.NewSerializeBuffer()
	if err := gopacket.SerializeLayers(b, gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}, ls...); err != nil {
		t.Fatal(err)
	}
	return bytes.Clone(b.Bytes())
}

var (
	ethV4 = &layers.Ethernet{SrcMAC: net.HardwareAddr{2, 0, 0, 0, 0, 1}, DstMAC: net.HardwareAddr{2, 0, 0, 0, 0, 2}, EthernetType: layers.EthernetTypeIPv4}
	ethV6 = &layers.Ethernet{SrcMAC: net.HardwareAddr{2, 0, 0, 0, 0, 1}, DstMAC: net.HardwareAddr{2, 0, 0, 0, 0, 2}, EthernetType: layers.EthernetTypeIPv6}
)

func ip4(proto layers.IPProtocol, id uint16) *layers.IPv4 {
	return &layers.IPv4{Version: 4, TTL: 64, Id: id, Protocol: proto, SrcIP: net.IP{10, 0, 1, 1}, DstIP: net.IP{10, 0, 2, 2}}
}

func ip6(proto layers.IPProtocol) *layers.IPv6 {
	return &layers.IPv6{Version: 6, HopLimit: 64, NextHeader: proto, SrcIP: net.ParseIP("fd00:1::1"), DstIP: net.ParseIP("fd00:2::2")}
}

func tcpSeg(nl gopacket.NetworkLayer, seq uint32, last bool) *layers.TCP {
	h := &layers.TCP{SrcPort: 4000, DstPort: 5000, Seq: seq, Ack: 7, ACK: true, PSH: last, FIN: last, Window: 1000}
	h.SetNetworkLayerForChecksum(nl)
	return h
}

// unfinish puts the pseudo-header sum, as the kernel leaves it, into the checksum field.
func unfinish(frame []byte, l4, offset int, addrs []byte, proto int) {
	binary.BigEndian.PutUint16(frame[l4+offset:], fold(sum(uint64(proto+len(frame)-l4), addrs)))
}

func TestChecksumIsCompleted(t *testing.T) {
	payload := gopacket.Payload("seventeen bytes !")
	v4, v6 := ip4(layers.IPProtocolTCP, 1), ip6(layers.IPProtocolUDP)
	udp := &layers.UDP{SrcPort: 1, DstPort: 2}
	udp.SetNetworkLayerForChecksum(v6)
	for _, c := range []struct {
		name              string
		want              []byte
		l4, offset, proto int
		from, to          int // addresses
	}{
		{"tcp over ipv4", build(t, ethV4, v4, tcpSeg(v4, 9, true), payload), 34, checksumTCP, protocolTCP, 26, 34},
		{"udp over ipv6", build(t, ethV6, v6, udp, payload), 54, checksumUDP, protocolUDP, 22, 54},
	} {
		t.Run(c.name, func(t *testing.T) {
			frame := bytes.Clone(c.want)
			unfinish(frame, c.l4, c.offset, frame[c.from:c.to], c.proto)
			if bytes.Equal(frame, c.want) {
				t.Fatal("the frame was complete before")
			}
			var got []byte
			h := vnetHeader{flags: needsCsum, csumStart: uint16(c.l4), csumOffset: uint16(c.offset)}
			if _, err := h.finish(frame, nil, func(b []byte) { got = bytes.Clone(b) }); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, c.want) {
				t.Errorf("got  %x\nwant %x", got, c.want)
			}
		})
	}
}

func TestSegmentation(t *testing.T) {
	data := make([]byte, 2500)
	for i := range data {
		data[i] = byte(i * 7)
	}
	cut := func(n int) (parts [][]byte) {
		for off := 0; off < len(data); off += n {
			parts = append(parts, data[off:min(off+n, len(data))])
		}
		return parts
	}
	vlan := &layers.Dot1Q{VLANIdentifier: 5, Type: layers.EthernetTypeIPv4}
	ethVLAN := *ethV4
	ethVLAN.EthernetType = layers.EthernetTypeDot1Q
	type frames struct {
		big  []byte
		want [][]byte
	}
	tcp4 := func() (f frames) {
		ip := ip4(layers.IPProtocolTCP, 0xffff)
		f.big = build(t, ethV4, ip, tcpSeg(ip, 0xfffffff0, true), gopacket.Payload(data))
		for i, p := range cut(1000) {
			ip := ip4(layers.IPProtocolTCP, 0xffff+uint16(i))
			f.want = append(f.want, build(t, ethV4, ip, tcpSeg(ip, 0xfffffff0+uint32(i*1000), i == 2), gopacket.Payload(p)))
		}
		return f
	}
	tagged4 := func() (f frames) {
		ip := ip4(layers.IPProtocolTCP, 3)
		f.big = build(t, &ethVLAN, vlan, ip, tcpSeg(ip, 1, true), gopacket.Payload(data))
		for i, p := range cut(1000) {
			ip := ip4(layers.IPProtocolTCP, 3+uint16(i))
			f.want = append(f.want, build(t, &ethVLAN, vlan, ip, tcpSeg(ip, 1+uint32(i*1000), i == 2), gopacket.Payload(p)))
		}
		return f
	}
	tcp6 := func() (f frames) {
		ip := ip6(layers.IPProtocolTCP)
		f.big = build(t, ethV6, ip, tcpSeg(ip, 1, true), gopacket.Payload(data))
		for i, p := range cut(1000) {
			ip := ip6(layers.IPProtocolTCP)
			f.want = append(f.want, build(t, ethV6, ip, tcpSeg(ip, 1+uint32(i*1000), i == 2), gopacket.Payload(p)))
		}
		return f
	}
	udp4 := func() (f frames) {
		seg := func(p []byte, id uint16) []byte {
			ip := ip4(layers.IPProtocolUDP, id)
			u := &layers.UDP{SrcPort: 1, DstPort: 2}
			u.SetNetworkLayerForChecksum(ip)
			return build(t, ethV4, ip, u, gopacket.Payload(p))
		}
		f.big = seg(data, 8)
		for i, p := range cut(1000) {
			f.want = append(f.want, seg(p, 8+uint16(i)))
		}
		return f
	}
	for _, c := range []struct {
		name string
		f    frames
		h    vnetHeader
	}{
		{"tcp over ipv4, sequence number and id wrap", tcp4(), vnetHeader{gsoType: gsoTCPv4, gsoSize: 1000, csumStart: 34, csumOffset: 16}},
		{"tcp over ipv4 in a VLAN", tagged4(), vnetHeader{gsoType: gsoTCPv4 | gsoECN, gsoSize: 1000, csumStart: 38, csumOffset: 16}},
		{"tcp over ipv6", tcp6(), vnetHeader{gsoType: gsoTCPv6, gsoSize: 1000, csumStart: 54, csumOffset: 16}},
		{"udp over ipv4", udp4(), vnetHeader{gsoType: gsoUDP, gsoSize: 1000, csumStart: 34, csumOffset: 6}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got [][]byte
			c.h.flags = needsCsum
			if _, err := c.h.finish(c.f.big, nil, func(b []byte) { got = append(got, bytes.Clone(b)) }); err != nil {
				t.Fatal(err)
			}
			if len(got) != len(c.f.want) {
				t.Fatalf("%d segments, want %d", len(got), len(c.f.want))
			}
			for i := range got {
				if !bytes.Equal(got[i], c.f.want[i]) {
					t.Errorf("segment %d\ngot  %x\nwant %x", i, got[i], c.f.want[i])
				}
			}
		})
	}
}

func TestInsertVLAN(t *testing.T) {
	frame := build(t, ethV4, ip4(layers.IPProtocolTCP, 1), gopacket.Payload("x"))
	got := insertVLAN(nil, frame, typeVLAN, 0x6005)
	want := append(append(bytes.Clone(frame[:12]), 0x81, 0, 0x60, 5), frame[12:]...)
	if !bytes.Equal(got, want) {
		t.Errorf("got %x, want %x", got, want)
	}
}

func FuzzOffload(f *testing.F) {
	ip := ip4(layers.IPProtocolTCP, 1)
	big := build(f, ethV4, ip, tcpSeg(ip, 1, true), gopacket.Payload(make([]byte, 300)))
	f.Add(append([]byte{1, 1, 54, 0, 100, 0, 34, 0, 16, 0}, big...))
	f.Add(append([]byte{1, 4, 54, 0, 100, 0, 54, 0, 16, 0}, big...))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < vnetLen {
			return
		}
		frame := b[vnetLen:]
		n := len(frame)
		_, _ = parseVnet(b).finish(frame, nil, func(s []byte) {
			if len(s) > n {
				t.Fatalf("a segment of %d bytes came out of a frame of %d", len(s), n)
			}
		})
	})
}
