package mptcp

import (
	"encoding/hex"
	"errors"
	"net/netip"
	"reflect"
	"strings"
	"testing"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestParseOptions(t *testing.T) {
	const keyA, keyB = 0x0102030405060708, 0x1122334455667788
	hmac8 := unhex(t, "ccbb0f21334f8687")
	hmac20 := unhex(t, "04e8cbf3893c50ccf2ba6eb042ec407f2e61754c")
	tests := []struct {
		name, hex string
		want      []Option
	}{
		{"empty", "", nil},
		{"EOL ends the walk", "00 1e04 0181", nil},
		{"padding and other kinds", "0101 020405b4 0402 1e04 0181 030307", []Option{{Subtype: MPCapable, Version: 1, Flags: 0x81}}},
		{"capable v0 SYN", "1e0c 0081 0102030405060708", []Option{{Subtype: MPCapable, Flags: 0x81, HasSenderKey: true, SenderKey: keyA}}},
		{"capable v0 third ACK", "1e14 0001 0102030405060708 1122334455667788",
			[]Option{{Subtype: MPCapable, Flags: 1, HasSenderKey: true, SenderKey: keyA, HasReceiverKey: true, ReceiverKey: keyB}}},
		{"capable v1 first data", "1e16 0101 0102030405060708 1122334455667788 05b4",
			[]Option{{Subtype: MPCapable, Version: 1, Flags: 1, HasSenderKey: true, SenderKey: keyA, HasReceiverKey: true, ReceiverKey: keyB, DataLen: 0x5b4}}},
		{"capable v1 first data with checksum", "1e18 0181 0102030405060708 1122334455667788 05b4 abcd",
			[]Option{{Subtype: MPCapable, Version: 1, Flags: 0x81, HasSenderKey: true, SenderKey: keyA, HasReceiverKey: true, ReceiverKey: keyB, DataLen: 0x5b4, HasChecksum: true, Checksum: 0xabcd}}},
		{"join SYN, backup", "1e0c 1102 1dce6604 01020304", []Option{{Subtype: MPJoin, Join: JoinSYN, Backup: true, AddrID: 2, Token: 0x1dce6604, Nonce: 0x01020304}}},
		{"join SYN/ACK", "1e10 1000 ccbb0f21334f8687 0a0b0c0d", []Option{{Subtype: MPJoin, Join: JoinSYNACK, HMAC: hmac8, Nonce: 0x0a0b0c0d}}},
		{"join third ACK", "1e18 1000 04e8cbf3893c50ccf2ba6eb042ec407f2e61754c", []Option{{Subtype: MPJoin, Join: JoinACK, HMAC: hmac20}}},
		{"DSS, 64-bit ack only", "1e0c 2003 0000000000000007", []Option{{Subtype: DSS, HasDataACK: true, DataACK64: true, DataACK: 7}}},
		{"DSS, 32-bit ack and mapping, FIN, checksum", "1e14 2015 00000007 00000009 0000000b 000c 000d",
			[]Option{{Subtype: DSS, HasDataACK: true, DataACK: 7, HasMapping: true, DSN: 9, SubflowSeq: 11, DataLen: 12, HasChecksum: true, Checksum: 13, DataFIN: true}}},
		{"add address v0", "1e08 3405 0a000203", []Option{{Subtype: AddAddr, AddrID: 5, Addr: netip.MustParseAddr("10.0.2.3")}}},
		{"add address v1, port, HMAC", "1e12 3005 0a000203 1389 ccbb0f21334f8687",
			[]Option{{Subtype: AddAddr, AddrID: 5, Addr: netip.MustParseAddr("10.0.2.3"), Port: 5001, HMAC: hmac8}}},
		{"add address v1, IPv6 echo", "1e14 3105 fd000002000000000000000000000003",
			[]Option{{Subtype: AddAddr, AddrID: 5, Addr: netip.MustParseAddr("fd00:2::3"), Echo: true}}},
		{"remove addresses", "1e05 40 0507", []Option{{Subtype: RemoveAddr, AddrIDs: []byte{5, 7}}}},
		{"priority", "1e03 51", []Option{{Subtype: MPPrio, Backup: true}}},
		{"priority v0 with address", "1e04 5109", []Option{{Subtype: MPPrio, Backup: true, HasAddrID: true, AddrID: 9}}},
		{"fail", "1e0c 6000 0000000000000009", []Option{{Subtype: MPFail, DSN: 9, DSN64: true}}},
		{"fastclose", "1e0c 7000 1122334455667788", []Option{{Subtype: MPFastclose, HasReceiverKey: true, ReceiverKey: keyB}}},
		{"reset", "1e04 8103", []Option{{Subtype: MPTCPRst, Flags: 1, Reason: 3}}},
		{"unassigned subtype", "1e04 f000", []Option{{Subtype: 15}}},
		{"forty bytes of NOP", strings.Repeat("01", 40), nil},
	}
	for _, tt := range tests {
		got, err := ParseOptions(nil, unhex(t, tt.hex))
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s:\n got %+v\nwant %+v", tt.name, got, tt.want)
		}
	}
}

func TestParseOptionsErrors(t *testing.T) {
	tests := []struct {
		name, hex string
		offset    int
		text      string
		before    int // options found before the fault
	}{
		{"no length", "01 1e", 1, "before the length byte", 0},
		{"zero length", "0400", 0, "length 0 is below", 0},
		{"length one", "1e04 0181 0801", 4, "length 1 is below", 1},
		{"past the end", "1e0c 0181", 0, "4 bytes are left", 0},
		{"two bytes", "1e02", 0, "at least 3", 0},
		{"keyless v0", "1e04 0001", 0, "version 0 has length 4", 0},
		{"v0 with data length", "1e16 0001 0102030405060708 1122334455667788 05b4", 0, "12 and 20", 0},
		{"capable of 13", "1e0d 0101 010203040506070809", 0, "4, 12, 20, 22 and 24", 0},
		{"join of 13", "1e0d 1002 1dce6604 01020304 00", 0, "24 (third ACK)", 0},
		{"DSS too short for its flags", "1e08 2007 00000007", 0, "needs 22", 0},
		{"DSS too long", "1e06 2000 0000", 0, "needs 4", 0},
		{"add address of 9", "1e09 3005 0a00020300", 0, "ADD_ADDR has length 9", 0},
		{"no address to remove", "1e03 40", 0, "4 and more", 0},
		{"long priority", "1e05 51 0900", 0, "3 and 4", 0},
		{"short fail", "1e04 6000", 0, "MP_FAIL has length 4", 0},
		{"short fastclose", "1e04 7000", 0, "MP_FASTCLOSE has length 4", 0},
		{"long reset", "1e05 800000", 0, "MP_TCPRST has length 5", 0},
		{"41 bytes", strings.Repeat("01", 41), 40, "41 bytes", 0},
	}
	for _, tt := range tests {
		got, err := ParseOptions(nil, unhex(t, tt.hex))
		var oe *OptionError
		if !errors.As(err, &oe) {
			t.Errorf("%s: error %v", tt.name, err)
			continue
		}
		if oe.Offset != tt.offset || !strings.Contains(err.Error(), tt.text) || len(got) != tt.before {
			t.Errorf("%s: offset %d, %d options, %q; want offset %d, %d options, text %q", tt.name, oe.Offset, len(got), err, tt.offset, tt.before, tt.text)
		}
	}
}

func FuzzOptions(f *testing.F) {
	f.Add([]byte{1, 1, 30, 4, 1, 0x81})
	f.Add(unhex(f, "1e14 2015 00000007 00000009 0000000b 000c 000d"))
	f.Add(unhex(f, "1e0c 1102 1dce6604 01020304 00"))
	f.Fuzz(func(t *testing.T, area []byte) {
		options, err := ParseOptions(nil, area)
		if len(options) > MaxOptionsLen/3 {
			t.Fatalf("%d options in %d bytes", len(options), len(area))
		}
		var oe *OptionError
		if err != nil && (!errors.As(err, &oe) || oe.Offset > len(area)) {
			t.Fatalf("error %v", err)
		}
	})
}

func FuzzParseIP(f *testing.F) {
	f.Add(unhex(f, "45000028000000004006000a0a0001010a000201e83a13890000000000000000500200000000 0000"))
	f.Fuzz(func(t *testing.T, packet []byte) {
		var s Segment
		complete, err := s.ParseIP(packet)
		if !complete && !errors.Is(err, ErrNotTCP) {
			t.Fatalf("incomplete with error %v", err)
		}
		if s.Payload < 0 || s.Payload > len(packet) {
			t.Fatalf("payload %d of %d bytes", s.Payload, len(packet))
		}
	})
}
