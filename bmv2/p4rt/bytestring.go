package p4rt

import (
	"encoding/hex"
	"math/big"
	"math/bits"
	"strings"

	"google.golang.org/grpc/codes"
)

// byteLen is the number of bytes that hold a value of width bits.
func byteLen(width int) int { return (width + 7) / 8 }

// canonical is the shortest big-endian bytestring of an unsigned value (P4Runtime specification, section
// "Bytestrings"): no leading zero bytes, and one zero byte for zero. It returns a part of b where it can.
func canonical(b []byte) []byte {
	for len(b) > 1 && b[0] == 0 {
		b = b[1:]
	}
	if len(b) == 0 {
		return []byte{0}
	}
	return b
}

// bitLen is the position of the highest set bit of a big-endian value, 0 for the value 0.
func bitLen(b []byte) int {
	for i, x := range b {
		if x != 0 {
			return (len(b)-i-1)*8 + bits.Len8(x)
		}
	}
	return 0
}

// appendValue decodes the bytestring of a bit<width> and appends its big-endian value of byteLen(width) bytes to dst.
// An empty bytestring and a value that does not fit are OUT_OF_RANGE.
func appendValue(dst, b []byte, width int) ([]byte, error) {
	if len(b) == 0 {
		return dst, errorf(codes.OutOfRange, "the value is an empty bytestring; a bit<%d> needs at least one byte", width)
	}
	if n := bitLen(b); n > width {
		return dst, errorf(codes.OutOfRange, "the value %s needs %d bits; the type is bit<%d>", hexString(b), n, width)
	}
	want := byteLen(width)
	if len(b) > want {
		b = b[len(b)-want:]
	}
	for i := len(b); i < want; i++ {
		dst = append(dst, 0)
	}
	return append(dst, b...), nil
}

// decodeUint decodes the bytestring of a bit<width>, width <= 64.
func decodeUint(b []byte, width int) (uint64, error) {
	var buf [8]byte
	v, err := appendValue(buf[:0], b, width)
	if err != nil {
		return 0, err
	}
	var n uint64
	for _, x := range v {
		n = n<<8 | uint64(x)
	}
	return n, nil
}

// encodeUint is the canonical bytestring of an unsigned value.
func encodeUint(v uint64) []byte {
	n := max(1, (bits.Len64(v)+7)/8)
	b := make([]byte, n)
	for i := n - 1; i >= 0; i-- {
		b[i] = byte(v)
		v >>= 8
	}
	return b
}

// decodeSigned decodes the bytestring of an int<width>: two's complement, sign-extended to any length.
func decodeSigned(b []byte, width int) (*big.Int, error) {
	if len(b) == 0 {
		return nil, errorf(codes.OutOfRange, "the value is an empty bytestring; an int<%d> needs at least one byte", width)
	}
	v := new(big.Int).SetBytes(b)
	if b[0]&0x80 != 0 {
		v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	if signedBits(v) > width {
		return nil, errorf(codes.OutOfRange, "the value %s (%s) does not fit int<%d>", hexString(b), v, width)
	}
	return v, nil
}

// signedBits is the fewest bits that hold v in two's complement.
func signedBits(v *big.Int) int {
	if v.Sign() >= 0 {
		return v.BitLen() + 1
	}
	// -2^(A-1) <= v, so A-1 is the bit length of -v-1.
	return new(big.Int).Not(v).BitLen() + 1
}

// encodeSigned is the canonical bytestring of an int<W>: the shortest sign-extended two's complement.
func encodeSigned(v *big.Int) []byte {
	n := byteLen(signedBits(v))
	out := make([]byte, n)
	if v.Sign() < 0 {
		v = new(big.Int).Add(v, new(big.Int).Lsh(big.NewInt(1), uint(8*n)))
	}
	return v.FillBytes(out)
}

// hexString writes a bytestring for a message; long ones are cut.
func hexString(b []byte) string {
	const most = 24
	if len(b) > most {
		return "0x" + hex.EncodeToString(b[:most]) + "..."
	}
	return "0x" + hex.EncodeToString(b)
}

// trailingZeros counts the zero bits at the low end of a big-endian value; all of them for the value 0.
func trailingZeros(b []byte) int {
	for i := len(b) - 1; i >= 0; i-- {
		if b[i] != 0 {
			return (len(b)-1-i)*8 + bits.TrailingZeros8(b[i])
		}
	}
	return 8 * len(b)
}

// options joins the valid choices of something for a message, a few of them at most.
func options(names []string) string {
	const most = 12
	switch {
	case len(names) == 0:
		return "none"
	case len(names) > most:
		return strings.Join(names[:most], ", ") + ", ..."
	}
	return strings.Join(names, ", ")
}
