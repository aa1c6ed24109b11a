package expect

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"khop/bmv2/port"
	"khop/test/replay"
)

func write(t *testing.T, name string, frames ...string) {
	t.Helper()
	w, err := port.CreateFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range frames {
		if err := w.Write(time.Unix(1, int64(i)), []byte(f)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestDirs(t *testing.T) {
	got, want := t.TempDir(), t.TempDir()
	write(t, filepath.Join(got, "same.pcap"), "abc", "def")
	write(t, filepath.Join(want, "same.pcap"), "abc", "def")
	write(t, filepath.Join(got, "differs.pcap"), "abc", "dXf")
	write(t, filepath.Join(want, "differs.pcap"), "abc", "def", "ghi")
	write(t, filepath.Join(got, "more.pcap"))
	write(t, filepath.Join(want, "less.pcap"))
	diffs, err := Dirs(got, want, Options{})
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(diffs, "\n")
	wantText := "differs.pcap: frame 2: byte 1 is 0x58, expected 0x65\ndiffers.pcap: 2 frames, expected 3\nless.pcap: is missing\nmore.pcap: is not expected"
	if text != wantText {
		t.Errorf("got\n%s\nwant\n%s", text, wantText)
	}
	if _, err := Dirs(got, filepath.Join(want, "nowhere"), Options{}); err == nil || !strings.Contains(err.Error(), "no directory") {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(want, "same.pcap"), []byte("junk"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Dirs(got, want, Options{}); err == nil || !strings.Contains(err.Error(), "same.pcap") {
		t.Error(err)
	}
}

func TestPackets(t *testing.T) {
	a := []replay.Packet{{Time: 1, Data: []byte("abc")}}
	b := []replay.Packet{{Time: 2, Data: []byte("aXc")}}
	if d := Packets(a, b, Options{Masks: []Mask{{1, 1}}}); len(d) != 1 || !strings.Contains(d[0], "-1 ns later") {
		t.Error(d)
	}
	if d := Packets(a, b, Options{Masks: []Mask{{1, 1}}, IgnoreTimes: true}); len(d) != 0 {
		t.Error(d)
	}
	if d := Packets(a, b, Options{}); len(d) != 1 || !strings.Contains(d[0], "byte 1") {
		t.Error(d)
	}
}

func TestParseMask(t *testing.T) {
	if m, err := ParseMask("22:2"); err != nil || m != (Mask{22, 2}) {
		t.Error(m, err)
	}
	for _, bad := range []string{"", "5", "a:1", "1:0", "-1:2"} {
		if _, err := ParseMask(bad); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}
