package probe

import (
	"bytes"
	"encoding/hex"
	"testing"
)

func TestProbeWire(t *testing.T) {
	p := Probe{DstToR: 0x010203, PathUtil: 0xfe, Round: 0x0a0b0c0d}
	b := p.Append(nil)
	if got := hex.EncodeToString(b); got != "010203fe0a0b0c0d" {
		t.Errorf("probe is %s", got)
	}
	if q, err := Parse(b); err != nil || q != p {
		t.Errorf("parsed %+v, %v", q, err)
	}
	if _, err := Parse(b[:7]); err == nil {
		t.Error("a probe of 7 bytes parses")
	}
	frame := p.AppendFrame(nil, [6]byte{2, 0, 0, 0, 1, 0xfe}, EtherType)
	if len(frame) != MinFrame || hex.EncodeToString(frame[:22]) != "0180c200000e0200000001fe88b5010203fe0a0b0c0d" {
		t.Errorf("frame is %x", frame)
	}
}

func TestMarkWire(t *testing.T) {
	// 0x2f: low four bits in subflow, high four in flags; then the EtherType and the reserved byte.
	m := Mark{ID: 0x1122334455667788, Subflow: 0x2f, NextEtherType: 0x86dd}
	b := m.Append(nil)
	if got := hex.EncodeToString(b); got != "1122334455667788f286dd00" {
		t.Errorf("mark is %s", got)
	}
	if q, err := ParseMark(b); err != nil || q != m {
		t.Errorf("parsed %+v, %v", q, err)
	}
	if _, err := ParseMark(b[:11]); err == nil {
		t.Error("a mark of 11 bytes parses")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if p, err := Parse(b); err == nil && !bytes.Equal(p.Append(nil), b[:Size]) {
			t.Errorf("probe %x reads as %+v", b[:Size], p)
		}
		if m, err := ParseMark(b); err == nil && !bytes.Equal(m.Append(nil)[:MarkSize-1], b[:MarkSize-1]) {
			t.Errorf("mark %x reads as %+v", b[:MarkSize], m)
		}
	})
}
