package mptcp

import (
	"encoding/binary"
	"fmt"
	"net/netip"
)

// OptionKind is the TCP option kind of MPTCP (RFC 8684 section 3).
const OptionKind = 30

// MaxOptionsLen is the largest options area that a TCP header can hold, in bytes.
const MaxOptionsLen = 40

// Subtype is the MPTCP option subtype, 4 bits (RFC 8684 section 8.2).
type Subtype uint8

// The subtypes. MP_TCPRST exists in version 1 only.
const (
	MPCapable Subtype = iota
	MPJoin
	DSS
	AddAddr
	RemoveAddr
	MPPrio
	MPFail
	MPFastclose
	MPTCPRst
)

var subtypeNames = [...]string{"MP_CAPABLE", "MP_JOIN", "DSS", "ADD_ADDR", "REMOVE_ADDR", "MP_PRIO", "MP_FAIL", "MP_FASTCLOSE", "MP_TCPRST"}

// String returns the name that the RFC uses.
func (s Subtype) String() string {
	if int(s) < len(subtypeNames) {
		return subtypeNames[s]
	}
	return fmt.Sprintf("subtype %d", uint8(s))
}

// Flags of MP_CAPABLE (RFC 8684 section 3.1).
const (
	FlagChecksum   = 0x80 // A: DSS checksums are required
	FlagExtension  = 0x40 // B: extensibility, must be 0
	FlagNoJoinHere = 0x20 // C: no subflows to this address (version 1)
	FlagCrypto     = 0x01 // H: HMAC-SHA1 (version 0) or HMAC-SHA256 (version 1)
)

// JoinSegment says which segment of the MP_JOIN handshake an option belongs to. The option's length tells.
type JoinSegment uint8

// Segments of the MP_JOIN handshake, in order. JoinNone is the zero value of options other than MP_JOIN.
const (
	JoinNone JoinSegment = iota
	JoinSYN
	JoinSYNACK
	JoinACK
)

// Option is one MPTCP option. Which fields hold a value depends on the subtype; the rest are zero.
type Option struct {
	Subtype Subtype

	Version        uint8 // MP_CAPABLE
	Flags          uint8 // MP_CAPABLE flags A..H; MP_TCPRST flags U V W T in the low nibble
	HasSenderKey   bool  // MP_CAPABLE of 12 bytes and more
	HasReceiverKey bool  // MP_CAPABLE of 20 bytes and more
	SenderKey      uint64
	ReceiverKey    uint64 // also MP_FASTCLOSE

	Join   JoinSegment // MP_JOIN
	Backup bool        // MP_JOIN in SYN and SYN/ACK; MP_PRIO
	AddrID uint8       // MP_JOIN, ADD_ADDR; MP_PRIO when HasAddrID
	Token  uint32      // MP_JOIN in the SYN: the token of the receiver of that SYN
	Nonce  uint32      // MP_JOIN in SYN and SYN/ACK
	HMAC   []byte      // MP_JOIN: 8 bytes in the SYN/ACK, 20 in the third ACK; ADD_ADDR: 8 or none. Aliases the input.

	HasAddrID bool       // MP_PRIO of 4 bytes (version 0)
	Addr      netip.Addr // ADD_ADDR
	Port      uint16     // ADD_ADDR; 0 when the option carries none
	Echo      bool       // ADD_ADDR, version 1
	AddrIDs   []byte     // REMOVE_ADDR. Aliases the input.

	HasDataACK  bool   // DSS
	DataACK     uint64 // DSS; the low 32 bits only unless DataACK64
	DataACK64   bool   // DSS
	HasMapping  bool   // DSS
	DSN         uint64 // DSS mapping (low 32 bits only unless DSN64); MP_FAIL
	DSN64       bool   // DSS
	SubflowSeq  uint32 // DSS mapping
	DataLen     uint16 // DSS mapping; MP_CAPABLE of 22 bytes and more
	HasChecksum bool   // DSS; MP_CAPABLE of 24 bytes
	Checksum    uint16
	DataFIN     bool  // DSS
	Reason      uint8 // MP_TCPRST
}

// OptionError says what is wrong with an options area.
type OptionError struct {
	Offset int   // of the offending option in the area, in bytes
	Kind   uint8 // its TCP option kind
	Reason string
}

func (e *OptionError) Error() string {
	return fmt.Sprintf("mptcp: TCP option kind %d at byte %d: %s", e.Kind, e.Offset, e.Reason)
}

// ParseOptions walks a TCP options area (the bytes between the fixed header and the data offset) and appends its MPTCP
// options to dst, in order. Other kinds are skipped, in any order; NOP is padding, and EOL ends the walk. A malformed
// area gives an *OptionError and the options that stood before the fault. Slices in the result alias area.
func ParseOptions(dst []Option, area []byte) ([]Option, error) {
	if len(area) > MaxOptionsLen {
		return dst, &OptionError{Offset: MaxOptionsLen, Kind: area[MaxOptionsLen], Reason: fmt.Sprintf("the options area has %d bytes, more than the %d that a TCP header can hold", len(area), MaxOptionsLen)}
	}
	for i := 0; i < len(area); {
		kind := area[i]
		switch kind {
		case 0: // EOL
			return dst, nil
		case 1: // NOP
			i++
			continue
		}
		if i+1 >= len(area) {
			return dst, &OptionError{Offset: i, Kind: kind, Reason: "the area ends before the length byte"}
		}
		n := int(area[i+1])
		if n < 2 {
			return dst, &OptionError{Offset: i, Kind: kind, Reason: fmt.Sprintf("length %d is below the minimum of 2", n)}
		}
		if i+n > len(area) {
			return dst, &OptionError{Offset: i, Kind: kind, Reason: fmt.Sprintf("length %d passes the end of the area, %d bytes are left", n, len(area)-i)}
		}
		if kind == OptionKind {
			var o Option
			if reason := o.parse(area[i : i+n]); reason != "" {
				return dst, &OptionError{Offset: i, Kind: kind, Reason: reason}
			}
			dst = append(dst, o)
		}
		i += n
	}
	return dst, nil
}

// parse fills o from a whole option, kind and length included. It returns what is wrong, or "".
func (o *Option) parse(b []byte) string {
	if len(b) < 3 {
		return "an MPTCP option needs at least 3 bytes"
	}
	o.Subtype = Subtype(b[2] >> 4)
	low := b[2] & 0x0f
	bad := func(valid string) string {
		return fmt.Sprintf("%v has length %d; valid lengths are %s", o.Subtype, len(b), valid)
	}
	switch o.Subtype {
	case MPCapable:
		return o.parseCapable(b, low)
	case MPJoin:
		return o.parseJoin(b, low)
	case DSS:
		return o.parseDSS(b)
	case AddAddr:
		return o.parseAddAddr(b, low)
	case RemoveAddr:
		if len(b) < 4 {
			return bad("4 and more")
		}
		o.AddrIDs = b[3:]
	case MPPrio:
		if len(b) != 3 && len(b) != 4 {
			return bad("3 and 4")
		}
		o.Backup = low&1 != 0
		if len(b) == 4 {
			o.HasAddrID, o.AddrID = true, b[3]
		}
	case MPFail:
		if len(b) != 12 {
			return bad("12")
		}
		o.DSN, o.DSN64 = binary.BigEndian.Uint64(b[4:]), true
	case MPFastclose:
		if len(b) != 12 {
			return bad("12")
		}
		o.ReceiverKey, o.HasReceiverKey = binary.BigEndian.Uint64(b[4:]), true
	case MPTCPRst:
		if len(b) != 4 {
			return bad("4")
		}
		o.Flags, o.Reason = low, b[3]
	default:
		// Unassigned or experimental: kept with its subtype so that a caller can count it.
	}
	return ""
}

func (o *Option) parseCapable(b []byte, low uint8) string {
	o.Version = low
	switch len(b) {
	case 4:
		if o.Version == 0 {
			return "MP_CAPABLE of version 0 has length 4; valid lengths are 12 and 20"
		}
	case 12, 20:
	case 22, 24:
		if o.Version == 0 {
			return fmt.Sprintf("MP_CAPABLE of version 0 has length %d; valid lengths are 12 and 20", len(b))
		}
	default:
		return fmt.Sprintf("MP_CAPABLE has length %d; valid lengths are 4, 12, 20, 22 and 24", len(b))
	}
	o.Flags = b[3]
	if len(b) >= 12 {
		o.HasSenderKey, o.SenderKey = true, binary.BigEndian.Uint64(b[4:])
	}
	if len(b) >= 20 {
		o.HasReceiverKey, o.ReceiverKey = true, binary.BigEndian.Uint64(b[12:])
	}
	if len(b) >= 22 {
		o.DataLen = binary.BigEndian.Uint16(b[20:])
	}
	if len(b) == 24 {
		o.HasChecksum, o.Checksum = true, binary.BigEndian.Uint16(b[22:])
	}
	return ""
}

func (o *Option) parseJoin(b []byte, low uint8) string {
	switch len(b) {
	case 12:
		o.Join, o.Backup, o.AddrID = JoinSYN, low&1 != 0, b[3]
		o.Token, o.Nonce = binary.BigEndian.Uint32(b[4:]), binary.BigEndian.Uint32(b[8:])
	case 16:
		o.Join, o.Backup, o.AddrID = JoinSYNACK, low&1 != 0, b[3]
		o.HMAC, o.Nonce = b[4:12], binary.BigEndian.Uint32(b[12:])
	case 24:
		o.Join, o.HMAC = JoinACK, b[4:24]
	default:
		return fmt.Sprintf("MP_JOIN has length %d; valid lengths are 12 (SYN), 16 (SYN/ACK) and 24 (third ACK)", len(b))
	}
	return ""
}

// parseDSS reads flags F m M a A and the fields that they announce (RFC 8684 section 3.3). The checksum is present when
// two bytes are left after the mapping.
func (o *Option) parseDSS(b []byte) string {
	if len(b) < 4 {
		return fmt.Sprintf("DSS has length %d; it needs at least 4", len(b))
	}
	f := b[3]
	o.DataFIN, o.DSN64, o.HasMapping, o.DataACK64, o.HasDataACK = f&0x10 != 0, f&0x08 != 0, f&0x04 != 0, f&0x02 != 0, f&0x01 != 0
	need := 4
	if o.HasDataACK {
		need += width(o.DataACK64)
	}
	if o.HasMapping {
		need += width(o.DSN64) + 6
	}
	if len(b) != need && (!o.HasMapping || len(b) != need+2) {
		return fmt.Sprintf("DSS with flags %#02x has length %d; it needs %d", f, len(b), need)
	}
	at := 4
	if o.HasDataACK {
		o.DataACK, at = number(b[at:], o.DataACK64), at+width(o.DataACK64)
	}
	if o.HasMapping {
		o.DSN, at = number(b[at:], o.DSN64), at+width(o.DSN64)
		o.SubflowSeq, o.DataLen = binary.BigEndian.Uint32(b[at:]), binary.BigEndian.Uint16(b[at+4:])
		if len(b) == need+2 {
			o.HasChecksum, o.Checksum = true, binary.BigEndian.Uint16(b[at+6:])
		}
	}
	return ""
}

func width(is64 bool) int {
	if is64 {
		return 8
	}
	return 4
}

func number(b []byte, is64 bool) uint64 {
	if is64 {
		return binary.BigEndian.Uint64(b)
	}
	return uint64(binary.BigEndian.Uint32(b))
}

// parseAddAddr reads both layouts. In version 0 the low nibble is the IP version, in version 1 its last bit is the echo
// flag and an option that is no echo ends with a 64-bit HMAC; the length tells the address family in either.
func (o *Option) parseAddAddr(b []byte, low uint8) string {
	at := 4
	switch len(b) {
	case 8, 10, 16, 18:
		o.Addr = netip.AddrFrom4([4]byte(b[4:8]))
		at += 4
	case 20, 22, 28, 30:
		o.Addr = netip.AddrFrom16([16]byte(b[4:20]))
		at += 16
	default:
		return fmt.Sprintf("ADD_ADDR has length %d; valid lengths are 8, 10, 16, 18 (IPv4), 20, 22, 28 and 30 (IPv6)", len(b))
	}
	o.AddrID = b[3]
	o.Echo = low == 1
	if rest := len(b) - at; rest == 2 || rest == 10 {
		o.Port, at = binary.BigEndian.Uint16(b[at:]), at+2
	}
	if at < len(b) {
		o.HMAC = b[at:]
	}
	return ""
}
