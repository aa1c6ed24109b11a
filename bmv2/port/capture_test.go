package port

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
)

// ngBlock builds a pcapng block.
func ngBlock(o binary.AppendByteOrder, typ uint32, body []byte) []byte {
	for len(body)%4 != 0 {
		body = append(body, 0)
	}
	n := uint32(len(body) + 12)
	b := o.AppendUint32(nil, typ)
	b = o.AppendUint32(b, n)
	b = append(b, body...)
	return o.AppendUint32(b, n)
}

type ngOrder interface {
	binary.AppendByteOrder
	binary.ByteOrder
}

func ngSectionBlock(o ngOrder) []byte {
	b := o.AppendUint32(nil, ngByteOrder)
	b = o.AppendUint16(b, 1)
	b = o.AppendUint16(b, 0)
	return ngBlock(o, ngSection, o.AppendUint64(b, ^uint64(0)))
}

func ngInterfaceBlock(o ngOrder, link uint16, options ...byte) []byte {
	b := o.AppendUint16(nil, link)
	b = o.AppendUint16(b, 0)
	b = o.AppendUint32(b, 0)
	return ngBlock(o, ngInterface, append(b, options...))
}

func ngPacket(o ngOrder, iface uint32, ts uint64, data string, length int) []byte {
	b := o.AppendUint32(nil, iface)
	b = o.AppendUint32(b, uint32(ts>>32))
	b = o.AppendUint32(b, uint32(ts))
	b = o.AppendUint32(b, uint32(len(data)))
	b = o.AppendUint32(b, uint32(length))
	return ngBlock(o, ngEnhanced, append(b, data...))
}

func readAll(t *testing.T, data []byte) (out []Frame, err error) {
	t.Helper()
	r, err := NewReader(bytes.NewReader(data))
	for err == nil {
		var f Frame
		if f, err = r.Next(); err == nil {
			f.Data = bytes.Clone(f.Data)
			out = append(out, f)
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return out, err
}

func TestPcapByteOrdersAndUnits(t *testing.T) {
	for _, o := range []ngOrder{binary.LittleEndian, binary.BigEndian} {
		for magic, unit := range map[uint32]int64{pcapMagicMicro: 1000, pcapMagicNano: 1} {
			b := o.AppendUint32(nil, magic)
			b = o.AppendUint16(b, 2)
			b = o.AppendUint16(b, 4)
			b = o.AppendUint64(b, 0)
			b = o.AppendUint32(b, 65535)
			b = o.AppendUint32(b, linkEthernet)
			for _, v := range []uint32{1700000000, 7, 3, 90} {
				b = o.AppendUint32(b, v)
			}
			got, err := readAll(t, append(b, "abc"...))
			if err != nil || len(got) != 1 || got[0].Time != 1700000000e9+7*unit || string(got[0].Data) != "abc" || got[0].Length != 90 {
				t.Errorf("%v, magic %x: %+v, error %v", o, magic, got, err)
			}
		}
	}
}

func TestPcapng(t *testing.T) {
	le, be := binary.LittleEndian, binary.BigEndian
	b := ngSectionBlock(le)
	b = append(b, ngInterfaceBlock(le, 1)...)                                                                    // microseconds
	b = append(b, ngInterfaceBlock(le, 1, 9, 0, 1, 0, 9, 0, 0, 0)...)                                            // nanoseconds
	b = append(b, ngInterfaceBlock(le, 1, 9, 0, 1, 0, 0x80|2, 0, 0, 0, 14, 0, 8, 0, 10, 0, 0, 0, 0, 0, 0, 0)...) // quarters of a second, 10 s later
	b = append(b, ngPacket(le, 0, 1700000000_000001, "one", 3)...)
	b = append(b, ngBlock(le, 0xbad, []byte("skipped"))...)
	b = append(b, ngPacket(le, 1, 1700000000_000000002, "two", 1500)...)
	b = append(b, ngPacket(le, 2, 7, "three", 5)...)
	b = append(b, ngBlock(le, ngSimple, append(le.AppendUint32(nil, 4), "four"...))...)
	// A second section has its own byte order and interfaces.
	b = append(b, ngSectionBlock(be)...)
	b = append(b, ngInterfaceBlock(be, 1)...)
	b = append(b, ngPacket(be, 0, 5, "five", 5)...)
	want := []Frame{
		{1700000000_000001000, []byte("one"), 3},
		{1700000000_000000002, []byte("two"), 1500},
		{11_750000000, []byte("three"), 5},
		{0, []byte("four"), 4},
		{5000, []byte("five"), 5},
	}
	got, err := readAll(t, b)
	if err != nil || len(got) != len(want) {
		t.Fatalf("%d frames, error %v", len(got), err)
	}
	for i, w := range want {
		if got[i].Time != w.Time || !bytes.Equal(got[i].Data, w.Data) || got[i].Length != w.Length {
			t.Errorf("frame %d: %+v, want %+v", i, got[i], w)
		}
	}
}

func TestCaptureErrors(t *testing.T) {
	le := binary.LittleEndian
	pcap := func(link, n uint32, data string) []byte {
		b := le.AppendUint32(nil, pcapMagicNano)
		b = append(b, make([]byte, 16)...)
		b = le.AppendUint32(b, link)
		b = append(b, make([]byte, 8)...)
		b = le.AppendUint32(b, n)
		return append(le.AppendUint32(b, n), data...)
	}
	section := ngSectionBlock(le)
	with := func(blocks ...[]byte) []byte { return bytes.Join(append([][]byte{section}, blocks...), nil) }
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"empty", nil, "less than 4 bytes"},
		{"text", []byte("this is no capture, only some text"), "begins with 74686973"},
		{"short header", le.AppendUint32(nil, pcapMagicMicro), "ends within the header"},
		{"link type", pcap(101, 0, ""), "link type 101"},
		{"huge frame", pcap(1, 1<<31, ""), "frame 1: it claims 2147483648 bytes"},
		{"cut frame", pcap(1, 10, "short"), "frame 1: the file ends within it"},
		{"byte order", append(bytes.Clone(section[:8]), make([]byte, 20)...), "byte-order magic is 00000000"},
		{"unknown interface", with(ngPacket(le, 0, 0, "x", 1)), "block 2: interface 0 has not been described"},
		{"not Ethernet", with(ngInterfaceBlock(le, 101), ngPacket(le, 0, 0, "x", 1)), "interface 0 is not Ethernet"},
		{"odd length", with(le.AppendUint32(le.AppendUint32(nil, 6), 13)), "block 2: its length is 13"},
		{"huge block", with(le.AppendUint32(le.AppendUint32(nil, 6), 1<<31)), "block 2: its length is 2147483648"},
		{"cut block", with(ngInterfaceBlock(le, 1)[:16]), "block 2: the file ends within it"},
		{"resolution", with(ngInterfaceBlock(le, 1, 9, 0, 1, 0, 20, 0, 0, 0)), "finer than 10^-19"},
		{"long option", with(ngInterfaceBlock(le, 1, 9, 0, 200, 0)), "option is longer"},
	} {
		if _, err := readAll(t, c.data); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
	}
}

func FuzzReader(f *testing.F) {
	var b bytes.Buffer
	w, err := NewWriter(&b)
	if err == nil {
		err = w.Write(time.Unix(1, 2), []byte("frame"))
	}
	if err := errors.Join(err, w.Close()); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	le := binary.LittleEndian
	f.Add(append(append(ngSectionBlock(le), ngInterfaceBlock(le, 1, 9, 0, 1, 0, 9, 0, 0, 0)...), ngPacket(le, 0, 1, "x", 1)...))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := NewReader(bytes.NewReader(data))
		for err == nil {
			var fr Frame
			if fr, err = r.Next(); len(fr.Data) > MaxFrame {
				t.Fatalf("a frame of %d bytes", len(fr.Data))
			}
		}
	})
}
