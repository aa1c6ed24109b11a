package mptcp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
)

// TCP flags (RFC 9293 section 3.1), as in byte 13 of the TCP header.
const (
	FIN = 0x01
	SYN = 0x02
	RST = 0x04
	ACK = 0x10
)

// Tuple is the directed 4-tuple of a TCP segment.
type Tuple struct {
	Src, Dst netip.AddrPort
}

// Reverse returns the tuple of the opposite direction.
func (t Tuple) Reverse() Tuple { return Tuple{Src: t.Dst, Dst: t.Src} }

// String renders the 5-tuple as "tcp SRC > DST".
func (t Tuple) String() string { return fmt.Sprintf("tcp %v > %v", t.Src, t.Dst) }

// Segment is what a switch can see of one TCP segment.
type Segment struct {
	Time    int64 // nanoseconds, from any origin, never decreasing
	Tuple   Tuple
	Flags   uint8
	Options []Option // its MPTCP options
	Payload int      // bytes of TCP payload
	Number  int      // subflow number that a switch gave to a join; 0: none
}

// ErrNotTCP is returned by ParseIP for a packet that carries no complete TCP header: another protocol, or a fragment
// other than the first.
var ErrNotTCP = errors.New("mptcp: not a TCP segment")

// ParseIP reads a segment from an IPv4 or IPv6 packet (RFC 791, RFC 8200; IPv6 extension headers are not followed, as in
// the generated parsers). s.Options is reused. A malformed options area is no error of the packet: the segment then
// holds the options before the fault, as in a switch that stops reading there, and the *OptionError is returned with
// complete true.
func (s *Segment) ParseIP(packet []byte) (complete bool, err error) {
	if len(packet) == 0 {
		return false, ErrNotTCP
	}
	var src, dst netip.Addr
	var tcp []byte
	switch packet[0] >> 4 {
	case 4:
		ihl := int(packet[0]&0x0f) * 4
		if ihl < 20 || len(packet) < ihl || packet[9] != 6 || binary.BigEndian.Uint16(packet[6:])&0x1fff != 0 {
			return false, ErrNotTCP
		}
		total := int(binary.BigEndian.Uint16(packet[2:]))
		if total < ihl || total > len(packet) {
			return false, ErrNotTCP
		}
		src, dst = netip.AddrFrom4([4]byte(packet[12:16])), netip.AddrFrom4([4]byte(packet[16:20]))
		tcp = packet[ihl:total]
	case 6:
		if len(packet) < 40 || packet[6] != 6 {
			return false, ErrNotTCP
		}
		total := 40 + int(binary.BigEndian.Uint16(packet[4:]))
		if total > len(packet) {
			return false, ErrNotTCP
		}
		src, dst = netip.AddrFrom16([16]byte(packet[8:24])), netip.AddrFrom16([16]byte(packet[24:40]))
		tcp = packet[40:total]
	default:
		return false, ErrNotTCP
	}
	if len(tcp) < 20 {
		return false, ErrNotTCP
	}
	offset := int(tcp[12]>>4) * 4
	if offset < 20 || offset > len(tcp) {
		return false, ErrNotTCP
	}
	s.Tuple = Tuple{
		Src: netip.AddrPortFrom(src, binary.BigEndian.Uint16(tcp)),
		Dst: netip.AddrPortFrom(dst, binary.BigEndian.Uint16(tcp[2:])),
	}
	s.Flags = tcp[13]
	s.Payload = len(tcp) - offset
	s.Options, err = ParseOptions(s.Options[:0], tcp[20:offset])
	return true, err
}
