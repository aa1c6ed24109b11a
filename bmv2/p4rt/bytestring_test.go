package p4rt

import (
	"bytes"
	"math/big"
	"testing"

	"google.golang.org/grpc/codes"
)

// The tables of the specification, section "Bytestrings".
func TestBytestringTables(t *testing.T) {
	for _, c := range []struct {
		signed    bool
		width     int
		value     int64
		in        string
		symmetric bool // the string is canonical
	}{
		{false, 8, 99, "\x63", true},
		{false, 16, 99, "\x00\x63", false},
		{false, 16, 99, "\x63", true},
		{false, 16, 12388, "\x30\x64", true},
		{false, 16, 12388, "\x00\x30\x64", false},
		{false, 12, 99, "\x00\x63", false},
		{false, 12, 99, "\x63", true},
		{false, 12, 99, "\x00\x00\x63", false},
		{true, 8, 99, "\x63", true},
		{true, 8, -99, "\x9d", true},
		{true, 8, -99, "\xff\x9d", false},
		{true, 12, -739, "\xfd\x1d", true},
		{true, 16, 0, "\x00\x00", false},
		{true, 16, 0, "\x00", true},
	} {
		var canon []byte
		if c.signed {
			v, err := decodeSigned([]byte(c.in), c.width)
			if err != nil || v.Int64() != c.value {
				t.Errorf("int<%d> %x: %v, error %v; want %d", c.width, c.in, v, err, c.value)
				continue
			}
			canon = encodeSigned(v)
		} else {
			v, err := decodeUint([]byte(c.in), c.width)
			if err != nil || int64(v) != c.value {
				t.Errorf("bit<%d> %x: %v, error %v; want %d", c.width, c.in, v, err, c.value)
				continue
			}
			canon = encodeUint(v)
		}
		if (string(canon) == c.in) != c.symmetric {
			t.Errorf("width %d: %x is written as %x; symmetric should be %v", c.width, c.in, canon, c.symmetric)
		}
	}
	for _, c := range []struct {
		signed bool
		width  int
		in     string
	}{
		{false, 8, "\x01\x63"}, {false, 8, ""}, {false, 16, "\x01\x00\x63"}, {false, 12, "\x10\x63"}, {false, 12, "\x01\x00\x63"},
		{false, 12, "\x00\x40\x63"}, {true, 8, "\x00\x9d"}, {true, 12, "\x8d\x1d"}, {true, 16, ""},
	} {
		var err error
		if c.signed {
			_, err = decodeSigned([]byte(c.in), c.width)
		} else {
			_, err = decodeUint([]byte(c.in), c.width)
		}
		if err == nil || codeOf(err) != codes.OutOfRange {
			t.Errorf("width %d, signed %v, %x: error %v, want OUT_OF_RANGE", c.width, c.signed, c.in, err)
		}
	}
}

func TestSignedRoundTrip(t *testing.T) {
	for v := int64(-70000); v < 70000; v += 7 {
		b := encodeSigned(big.NewInt(v))
		got, err := decodeSigned(b, 18)
		if err != nil || got.Int64() != v {
			t.Fatalf("%d is written as %x and read as %v, error %v", v, b, got, err)
		}
	}
}

func TestBitsOfHeaders(t *testing.T) {
	// bit<9> 0x1fe, bit<7> 0x05, bit<48> 0x0102030405fe, bit<3> 6, bit<5> 1
	want := []byte{0xff, 0x05, 1, 2, 3, 4, 5, 0xfe, 0xc1}
	got := make([]byte, len(want))
	at := 0
	for _, f := range []struct {
		width int
		value []byte
	}{{9, []byte{1, 0xfe}}, {7, []byte{5}}, {48, []byte{1, 2, 3, 4, 5, 0xfe}}, {3, []byte{6}}, {5, []byte{1}}} {
		putBits(got, at, f.width, f.value)
		at += f.width
	}
	if !bytes.Equal(got, want) {
		t.Fatalf("got %x, want %x", got, want)
	}
	at = 0
	for _, f := range []struct {
		width int
		value []byte
	}{{9, []byte{1, 0xfe}}, {7, []byte{5}}, {48, []byte{1, 2, 3, 4, 5, 0xfe}}, {3, []byte{6}}, {5, []byte{1}}} {
		if v := getBits(want, at, f.width); !bytes.Equal(v, f.value) {
			t.Errorf("bits %d to %d: got %x, want %x", at, at+f.width, v, f.value)
		}
		at += f.width
	}
}
