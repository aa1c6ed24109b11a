package probe

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// EtherTypes of the fabric's own headers by default (IEEE 802: local experimental). A spec may choose others.
const (
	EtherType     = 0x88b5 // probe
	MarkEtherType = 0x88b6 // mark
)

// Sizes on the wire, in bytes.
const (
	Size     = 8  // the probe header
	MarkSize = 12 // the mark
	MinFrame = 60 // shortest Ethernet frame, without FCS
	ethSize  = 14
)

// ErrShort tells that a header is cut off.
var ErrShort = errors.New("header is cut off")

// Probe is a HULA probe: dst_tor:24, path_util:8 (Katta et al., SOSR 2016) and round:32, all big-endian.
type Probe struct {
	DstToR   uint32 // ToR that sent the probe, and for which it tells a path; 24 bits
	PathUtil uint8  // highest link utilisation met so far, 255 is a full link
	Round    uint32 // number of the probe, counted by the ToR; compared as serial numbers (RFC 1982)
}

// Append appends the header.
func (p Probe) Append(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, p.DstToR<<8|uint32(p.PathUtil))
	return binary.BigEndian.AppendUint32(b, p.Round)
}

// AppendFrame appends a whole frame from a switch's MAC to the group address 01:80:c2:00:00:0e (nearest bridge: hosts and bridges do not pass
// it on), padded to MinFrame.
func (p Probe) AppendFrame(b []byte, source [6]byte, etherType uint16) []byte {
	start := len(b)
	b = append(b, 0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e)
	b = append(b, source[:]...)
	b = binary.BigEndian.AppendUint16(b, etherType)
	b = p.Append(b)
	for len(b)-start < MinFrame {
		b = append(b, 0)
	}
	return b
}

// Parse reads a probe header.
func Parse(b []byte) (Probe, error) {
	if len(b) < Size {
		return Probe{}, fmt.Errorf("probe: %w: %d of %d bytes", ErrShort, len(b), Size)
	}
	v := binary.BigEndian.Uint32(b)
	return Probe{DstToR: v >> 8, PathUtil: uint8(v), Round: binary.BigEndian.Uint32(b[4:])}, nil
}

// Mark is the shim between Ethernet and IP on fabric links: mptcp_id:64, subflow:4, flags:4, next_ethertype:16 and 8 reserved zero bits,
// 12 bytes, all big-endian. The subflow number has 8 bits: the low four are in the field subflow, the high four in flags.
type Mark struct {
	ID            uint64 // MPTCP id: token of the initiator, token of the responder
	Subflow       uint8  // from 1
	NextEtherType uint16 // EtherType of what follows
}

// Append appends the mark.
func (m Mark) Append(b []byte) []byte {
	b = binary.BigEndian.AppendUint64(b, m.ID)
	b = append(b, m.Subflow<<4|m.Subflow>>4)
	b = binary.BigEndian.AppendUint16(b, m.NextEtherType)
	return append(b, 0)
}

// ParseMark reads a mark.
func ParseMark(b []byte) (Mark, error) {
	if len(b) < MarkSize {
		return Mark{}, fmt.Errorf("mark: %w: %d of %d bytes", ErrShort, len(b), MarkSize)
	}
	return Mark{
		ID:            binary.BigEndian.Uint64(b),
		Subflow:       b[8]>>4 | b[8]<<4,
		NextEtherType: binary.BigEndian.Uint16(b[9:]),
	}, nil
}
