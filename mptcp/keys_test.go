package mptcp

import (
	"encoding/hex"
	"testing"
)

func TestDerivations(t *testing.T) {
	tests := []struct {
		key     uint64
		version uint8
		token   uint32
		idsn    uint64
	}{
		{0x0000000000000001, 0, 0xcb473678, 0x38f11011007ad27d},
		{0x0000000000000001, 1, 0xcd266215, 0x19ec509083d00a50},
		{0x0102030405060708, 0, 0xdd5783bc, 0x3a95ed6e4ebb4ad5},
		{0x0102030405060708, 1, 0x66840dda, 0xf5a101d3d29d6f72},
		{0x1122334455667788, 0, 0xbdc04c09, 0xd0549cc0405811d5},
		{0x1122334455667788, 1, 0x1dce6604, 0x62815714b76ae9a5},
		{0xdeadbeefcafebabe, 0, 0x9f48de0e, 0xac7a6783e39ed492},
		{0xdeadbeefcafebabe, 1, 0x3f8a286a, 0x33a8062a61d417f8},
	}
	for _, tt := range tests {
		if got, err := Token(tt.version, tt.key); err != nil || got != tt.token {
			t.Errorf("Token(%d, %#x) = %#x, %v; want %#x", tt.version, tt.key, got, err, tt.token)
		}
		if got, err := IDSN(tt.version, tt.key); err != nil || got != tt.idsn {
			t.Errorf("IDSN(%d, %#x) = %#x, %v; want %#x", tt.version, tt.key, got, err, tt.idsn)
		}
	}
	if _, err := Token(2, 1); err == nil {
		t.Error("Token of version 2: no error")
	}
}

func TestJoinHMAC(t *testing.T) {
	const keyA, keyB, nonceA, nonceB = 0x0102030405060708, 0x1122334455667788, 0x01020304, 0x0a0b0c0d
	tests := []struct {
		version uint8
		a, b    string // leftmost 160 and 64 bits
	}{
		{0, "5c952749b2dc801d01f69516b65977ff2b186aaa", "9bfacecf8bd758af"},
		{1, "04e8cbf3893c50ccf2ba6eb042ec407f2e61754c", "ccbb0f21334f8687"},
	}
	for _, tt := range tests {
		a, err := JoinHMAC(tt.version, keyA, keyB, nonceA, nonceB)
		if err != nil || hex.EncodeToString(a[:20]) != tt.a {
			t.Errorf("version %d HMAC-A = %x, %v; want %s", tt.version, a, err, tt.a)
		}
		b, err := JoinHMAC(tt.version, keyB, keyA, nonceB, nonceA)
		if err != nil || hex.EncodeToString(b[:8]) != tt.b {
			t.Errorf("version %d HMAC-B = %x, %v; want %s", tt.version, b, err, tt.b)
		}
	}
}

func TestID(t *testing.T) {
	id := MakeID(0x51d8ca3a, 0x92a9e081)
	if a, b := id.Tokens(); a != 0x51d8ca3a || b != 0x92a9e081 || id.String() != "51d8ca3a92a9e081" {
		t.Errorf("ID %v has tokens %#x %#x", id, a, b)
	}
}
