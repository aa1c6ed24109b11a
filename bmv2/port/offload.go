package port

import (
	"encoding/binary"
	"errors"
)

// Senders on the same machine leave checksums and segmentation to the network card, which a veth pair does not have: frames
// arrive with a checksum of the pseudo-header only, and TCP segments up to 64 KB long. The kernel describes such a frame in a
// virtio_net_hdr (virtio specification 1.2, section 5.1.6), and a switch has to do what the card would have done.

const (
	vnetLen      = 10 // bytes of a virtio_net_hdr without num_buffers
	needsCsum    = 1  // flags
	gsoNone      = 0
	gsoTCPv4     = 1
	gsoTCPv6     = 4
	gsoUDP       = 5    // UDP segmentation: each segment is a datagram of its own
	gsoECN       = 0x80 // flag: CWR is set in the first segment only, as RFC 3168 has it anyway
	etherLen     = 14
	typeIPv4     = 0x0800
	typeIPv6     = 0x86dd
	typeVLAN     = 0x8100
	typeQinQ     = 0x88a8
	tcpFIN       = 0x01
	tcpPSH       = 0x08
	tcpCWR       = 0x80
	protocolTCP  = 6
	protocolUDP  = 17
	ipv6Len      = 40
	udpLen       = 8
	minTCP       = 20
	minIPv4      = 20
	checksumTCP  = 16 // offset of the checksum in its header
	checksumUDP  = 6
	checksumIPv4 = 10
)

// vnetHeader is a virtio_net_hdr; numbers have the byte order of the machine.
type vnetHeader struct {
	flags, gsoType                         uint8
	hdrLen, gsoSize, csumStart, csumOffset uint16
}

func parseVnet(b []byte) vnetHeader {
	e := binary.NativeEndian
	return vnetHeader{b[0], b[1], e.Uint16(b[2:]), e.Uint16(b[4:]), e.Uint16(b[6:]), e.Uint16(b[8:])}
}

var errOffload = errors.New("offload of this kind is not supported")

// finish does what was left to the network card, and calls emit for the frame, or for each of its segments. The frame is
// changed; segments are built in buf, whose storage is returned.
func (h vnetHeader) finish(frame, buf []byte, emit func([]byte)) ([]byte, error) {
	switch h.gsoType &^ gsoECN {
	case gsoNone:
		if h.flags&needsCsum != 0 {
			if err := completeChecksum(frame, int(h.csumStart), int(h.csumOffset)); err != nil {
				return buf, err
			}
		}
		emit(frame)
		return buf, nil
	case gsoTCPv4, gsoTCPv6, gsoUDP:
		return h.segment(frame, buf, emit)
	}
	return buf, errOffload
}

// completeChecksum computes the Internet checksum (RFC 1071) of everything from start on; the checksum field, at offset from
// start, holds the sum of the pseudo-header.
func completeChecksum(frame []byte, start, offset int) error {
	at := start + offset
	if at+2 > len(frame) {
		return errors.New("the checksum lies beyond the frame")
	}
	c := ^fold(sum(0, frame[start:]))
	// A UDP checksum of 0 means none (RFC 768); TCP has no such case, and offset 6 is UDP's.
	if c == 0 && offset == checksumUDP {
		c = 0xffff
	}
	binary.BigEndian.PutUint16(frame[at:], c)
	return nil
}

// sum adds the 16-bit words of b, the last byte padded with zero.
func sum(s uint64, b []byte) uint64 {
	for len(b) >= 2 {
		s += uint64(b[0])<<8 | uint64(b[1])
		b = b[2:]
	}
	if len(b) == 1 {
		s += uint64(b[0]) << 8
	}
	return s
}

func fold(s uint64) uint16 {
	for s>>16 != 0 {
		s = s&0xffff + s>>16
	}
	return uint16(s)
}

// segment cuts a large TCP segment or UDP super-datagram into frames of gsoSize payload bytes.
func (h vnetHeader) segment(frame, buf []byte, emit func([]byte)) ([]byte, error) {
	l3, ethType := etherLen, 0
	if len(frame) < etherLen {
		return buf, errOffload
	}
	ethType = int(binary.BigEndian.Uint16(frame[12:]))
	for (ethType == typeVLAN || ethType == typeQinQ) && len(frame) >= l3+4 {
		ethType = int(binary.BigEndian.Uint16(frame[l3+2:]))
		l3 += 4
	}
	l4 := int(h.csumStart)
	v6 := ethType == typeIPv6
	var addrs []byte
	switch {
	case ethType == typeIPv4 && l4 >= l3+minIPv4 && l4 <= len(frame) && l4 == l3+int(frame[l3]&15)*4:
		addrs = frame[l3+12 : l3+20]
	case v6 && l4 >= l3+ipv6Len && l4 <= len(frame):
		addrs = frame[l3+8 : l3+40]
	default:
		return buf, errOffload
	}
	tcp := h.gsoType&^gsoECN != gsoUDP
	head, protocol, csum := l4+udpLen, uint64(protocolUDP), checksumUDP
	if tcp {
		if len(frame) < l4+minTCP {
			return buf, errOffload
		}
		head, protocol, csum = l4+int(frame[l4+12]>>4)*4, protocolTCP, checksumTCP
	}
	if head < l4+udpLen || tcp && head < l4+minTCP || head > len(frame) || h.gsoSize == 0 {
		return buf, errOffload
	}
	payload := frame[head:]
	size := int(h.gsoSize)
	for i, off := 0, 0; off == 0 || off < len(payload); i, off = i+1, off+size {
		part := payload[off:min(off+size, len(payload))]
		last := off+size >= len(payload)
		buf = append(append(buf[:0], frame[:head]...), part...)
		ip, t := buf[l3:], buf[l4:]
		if v6 {
			binary.BigEndian.PutUint16(ip[4:], uint16(len(ip)-ipv6Len))
		} else {
			binary.BigEndian.PutUint16(ip[2:], uint16(len(ip)))
			binary.BigEndian.PutUint16(ip[4:], binary.BigEndian.Uint16(frame[l3+4:])+uint16(i))
			binary.BigEndian.PutUint16(ip[checksumIPv4:], 0)
			binary.BigEndian.PutUint16(ip[checksumIPv4:], ^fold(sum(0, ip[:l4-l3])))
		}
		if tcp {
			binary.BigEndian.PutUint32(t[4:], binary.BigEndian.Uint32(frame[l4+4:])+uint32(off))
			if !last {
				t[13] &^= tcpFIN | tcpPSH
			}
			if i > 0 {
				t[13] &^= tcpCWR
			}
		} else {
			binary.BigEndian.PutUint16(t[4:], uint16(len(t)))
		}
		binary.BigEndian.PutUint16(t[csum:], 0)
		c := ^fold(sum(sum(protocol+uint64(len(t)), addrs), t))
		if c == 0 && !tcp {
			c = 0xffff
		}
		binary.BigEndian.PutUint16(t[csum:], c)
		emit(buf)
	}
	return buf, nil
}

// insertVLAN puts the tag that the kernel took out of a frame back behind the addresses, in dst.
func insertVLAN(dst, frame []byte, tpid, tci uint16) []byte {
	if len(frame) < 12 {
		return append(dst[:0], frame...)
	}
	dst = append(dst[:0], frame[:12]...)
	dst = binary.BigEndian.AppendUint16(dst, tpid)
	dst = binary.BigEndian.AppendUint16(dst, tci)
	return append(dst, frame[12:]...)
}
