package dataplane

import (
	"encoding/binary"
	"net/netip"
	"testing"

	"khop/fabric"
	"khop/probe"
)

// segment describes a packet; zero fields get usual values.
type segment struct {
	src, dst         netip.Addr
	protocol         uint8 // TCP
	srcPort, dstPort uint16
	flags            uint8
	options          []byte // TCP options, padded to a multiple of 4 with zeros
	ipOptions        []byte // IPv4 options, a multiple of 4
	payload          []byte
	ttl              uint8 // 64
	ecn              uint8
	fragment         uint16 // flags and offset field of IPv4
	mark             *probe.Mark
	dstMAC, srcMAC   [6]byte
}

func ip(s string) netip.Addr { return netip.MustParseAddr(s) }

// frame builds the packet, checksums included.
func (s segment) frame() []byte {
	if s.protocol == 0 {
		s.protocol = 6
	}
	if s.ttl == 0 {
		s.ttl = 64
	}
	var l4 []byte
	switch s.protocol {
	case 6:
		options := append([]byte{}, s.options...)
		for len(options)%4 != 0 {
			options = append(options, 0)
		}
		l4 = binary.BigEndian.AppendUint16(l4, s.srcPort)
		l4 = binary.BigEndian.AppendUint16(l4, s.dstPort)
		l4 = append(l4, 0, 0, 0, 1, 0, 0, 0, 2, byte(5+len(options)/4)<<4, s.flags, 0x10, 0, 0, 0, 0, 0)
		l4 = append(l4, options...)
	case 17:
		l4 = binary.BigEndian.AppendUint16(l4, s.srcPort)
		l4 = binary.BigEndian.AppendUint16(l4, s.dstPort)
		l4 = binary.BigEndian.AppendUint16(l4, uint16(8+len(s.payload)))
		l4 = append(l4, 0, 0)
	}
	l4 = append(l4, s.payload...)
	if at := map[uint8]int{6: 16, 17: 6, 58: 2}[s.protocol]; at > 0 && at+2 <= len(l4) && s.fragment&0x1fff == 0 {
		pseudo := append(append([]byte{}, s.src.AsSlice()...), s.dst.AsSlice()...)
		pseudo = binary.BigEndian.AppendUint32(pseudo, uint32(len(l4)))
		pseudo = append(pseudo, 0, 0, 0, s.protocol)
		binary.BigEndian.PutUint16(l4[at:], checksum(pseudo, l4))
	}
	etherType := uint16(0x0800)
	var l3 []byte
	if s.src.Is4() {
		ihl := 5 + len(s.ipOptions)/4
		l3 = append(l3, byte(0x40|ihl), s.ecn)
		l3 = binary.BigEndian.AppendUint16(l3, uint16(ihl*4+len(l4)))
		l3 = append(l3, 0x12, 0x34)
		l3 = binary.BigEndian.AppendUint16(l3, s.fragment)
		l3 = append(l3, s.ttl, s.protocol, 0, 0)
		l3 = append(l3, s.src.AsSlice()...)
		l3 = append(l3, s.dst.AsSlice()...)
		l3 = append(l3, s.ipOptions...)
		binary.BigEndian.PutUint16(l3[10:], checksum(l3))
	} else {
		etherType = 0x86dd
		l3 = append(l3, 0x60, s.ecn<<4, 0, 0)
		l3 = binary.BigEndian.AppendUint16(l3, uint16(len(l4)))
		l3 = append(l3, s.protocol, s.ttl)
		l3 = append(l3, s.src.AsSlice()...)
		l3 = append(l3, s.dst.AsSlice()...)
	}
	b := append(append([]byte{}, s.dstMAC[:]...), s.srcMAC[:]...)
	if s.mark != nil {
		m := *s.mark
		m.NextEtherType = etherType
		b = binary.BigEndian.AppendUint16(b, probe.MarkEtherType)
		b = m.Append(b)
	} else {
		b = binary.BigEndian.AppendUint16(b, etherType)
	}
	return append(append(b, l3...), l4...)
}

// checksum is the Internet checksum (RFC 1071) over several parts of even length but the last.
func checksum(parts ...[]byte) uint16 {
	var sum uint32
	for _, p := range parts {
		for i := 0; i < len(p); i += 2 {
			v := uint32(p[i]) << 8
			if i+1 < len(p) {
				v |= uint32(p[i+1])
			}
			sum += v
		}
	}
	for sum>>16 != 0 {
		sum = sum&0xffff + sum>>16
	}
	return ^uint16(sum)
}

// probeFrame builds a probe as a neighbour sends it.
func probeFrame(tor uint32, util uint8, round uint32) []byte {
	return probe.Probe{DstToR: tor, PathUtil: util, Round: round}.AppendFrame(nil, [6]byte{2, 0, 1, 0, 1, 0xfe}, probe.EtherType)
}

// markOf splits the mark off a frame: the frame without it, and the mark or nil.
func markOf(t testing.TB, frame []byte) ([]byte, *probe.Mark) {
	t.Helper()
	if binary.BigEndian.Uint16(frame[12:]) != probe.MarkEtherType {
		return frame, nil
	}
	m, err := probe.ParseMark(frame[14:])
	if err != nil {
		t.Fatal(err)
	}
	plain := append([]byte{}, frame[:12]...)
	plain = binary.BigEndian.AppendUint16(plain, m.NextEtherType)
	return append(plain, frame[14+probe.MarkSize:]...), &m
}

// routed returns what a frame looks like after one router: MAC addresses, TTL one lower, IPv4 checksum.
func routed(frame []byte, dst, src [6]byte) []byte {
	b := append([]byte{}, frame...)
	copy(b, dst[:])
	copy(b[6:], src[:])
	if b[12] == 0x08 {
		b[22]--
		header := b[14 : 14+int(b[14]&15)*4]
		header[10], header[11] = 0, 0
		binary.BigEndian.PutUint16(header[10:], checksum(header))
	} else {
		b[21]--
	}
	return b
}

// hostPort returns the port of the host that owns an address.
func hostPort(f *fabric.Fabric, addr netip.Addr) uint32 { return f.HostOf(addr).Port }
