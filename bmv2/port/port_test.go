package port

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// run starts Run and returns a channel of what it receives, and a function that waits for its end.
func run(t *testing.T, p Port) (<-chan string, func() error) {
	t.Helper()
	got := make(chan string, 2000)
	done := make(chan error, 1)
	go func() { done <- p.Run(t.Context(), func(f []byte) { got <- string(f) }) }()
	return got, func() error { return <-done }
}

func TestLinkCarriesFramesInOrderBothWays(t *testing.T) {
	a, b := Link()
	fromA, endB := run(t, b)
	fromB, endA := run(t, a)
	for i := range 500 {
		if err := a.Send(fmt.Appendf(nil, "a%d", i)); err != nil {
			t.Fatal(err)
		}
		if err := b.Send(fmt.Appendf(nil, "b%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 500 {
		if got, want := <-fromA, fmt.Sprintf("a%d", i); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
		if got, want := <-fromB, fmt.Sprintf("b%d", i); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(endA(), endB()); err != nil {
		t.Fatal(err)
	}
	if err := b.Send([]byte("x")); err == nil {
		t.Error("a closed link took a frame")
	}
	if s := a.Stats(); s.TxFrames != 500 || s.RxFrames != 500 {
		t.Errorf("stats %+v", s)
	}
}

func TestLinkLosesWhatDoesNotFit(t *testing.T) {
	a, b := Link()
	lost := 0
	for range linkQueue + 10 {
		if a.Send([]byte("frame")) != nil {
			lost++
		}
	}
	if s := a.Stats(); lost != 10 || s.TxDropped != 10 || s.TxFrames != linkQueue {
		t.Errorf("lost %d, stats %+v", lost, s)
	}
	b.Close()
}

func TestUDPTunnel(t *testing.T) {
	b0, err := NewUDP("127.0.0.1:0", "127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	a, err := NewUDP("127.0.0.1:0", b0.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	local := b0.LocalAddr().String()
	b0.Close()
	b, err := NewUDP(local, a.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	stranger, err := NewUDP("127.0.0.1:0", local)
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Close()
	got, end := run(t, b)
	if err := stranger.Send([]byte("not from the peer")); err != nil {
		t.Fatal(err)
	}
	if err := a.Send([]byte("frame")); err != nil {
		t.Fatal(err)
	}
	if f := <-got; f != "frame" {
		t.Errorf("got %q", f)
	}
	if s := b.Stats(); s.RxFrames != 1 || s.RxBytes != 5 || s.RxDropped != 1 {
		t.Errorf("stats %+v", s)
	}
	a.Close()
	b.Close()
	if err := end(); err != nil {
		t.Fatal(err)
	}
}

func TestUDPRefusesWrongAddresses(t *testing.T) {
	for _, c := range [][2]string{{"127.0.0.1:0", "127.0.0.1"}, {"nonsense", "127.0.0.1:1"}, {"127.0.0.1:0", "127.0.0.1:0"}, {"127.0.0.1:0", ":5000"}} {
		if u, err := NewUDP(c[0], c[1]); err == nil {
			u.Close()
			t.Errorf("NewUDP(%q, %q) gave no error", c[0], c[1])
		}
	}
}

func TestFilePortAndRecorder(t *testing.T) {
	dir := t.TempDir()
	name := func(s string) string { return filepath.Join(dir, s) }
	at := time.Unix(1700000000, 123456789).UTC()
	w, err := CreateFile(name("in.pcap"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{"first frame", "second"} {
		if err := w.Write(at, []byte(f)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := NewFile(name("in.pcap"), name("out.pcap"), func() time.Time { return at })
	if err != nil {
		t.Fatal(err)
	}
	rec, err := CreateFile(name("both.pcap"))
	if err != nil {
		t.Fatal(err)
	}
	p := NewRecorder(f, rec, func() time.Time { return at.Add(time.Nanosecond) })
	got, end := run(t, p)
	if a, b := <-got, <-got; a != "first frame" || b != "second" {
		t.Errorf("received %q, %q", a, b)
	}
	if err := p.Send([]byte("answer")); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if err := end(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		file string
		at   time.Time
		want []string
	}{{"out.pcap", at, []string{"answer"}}, {"both.pcap", at.Add(1), []string{"first frame", "second", "answer"}}} {
		data, err := os.ReadFile(name(c.file))
		if err != nil {
			t.Fatal(err)
		}
		r, err := NewReader(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range c.want {
			f, err := r.Next()
			if err != nil || string(f.Data) != want || f.Time != c.at.UnixNano() || f.Length != len(want) {
				t.Errorf("%s: frame %q at %d, error %v; want %q at %d", c.file, f.Data, f.Time, err, want, c.at.UnixNano())
			}
		}
		if _, err := r.Next(); err != io.EOF {
			t.Errorf("%s: error %v at the end, want EOF", c.file, err)
		}
	}
}

func TestReaderRefusesWhatIsNoCapture(t *testing.T) {
	for _, s := range []string{"", "abc", "this is no capture at all, only text"} {
		if _, err := NewReader(bytes.NewReader([]byte(s))); err == nil {
			t.Errorf("NewReader(%q) gave no error", s)
		}
	}
	if _, err := NewFile(filepath.Join(t.TempDir(), "none.pcap"), "", time.Now); err == nil {
		t.Error("a missing file gave no error")
	}
}

func TestRunEndsWithTheContext(t *testing.T) {
	a, _ := Link()
	u, err := NewUDP("127.0.0.1:0", "127.0.0.1:9")
	if err != nil {
		t.Fatal(err)
	}
	f, err := NewFile("", "", time.Now)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []Port{a, u, f} {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- p.Run(ctx, func([]byte) {}) }()
		cancel()
		if err := <-done; err != nil {
			t.Errorf("%T: %v", p, err)
		}
		if err := p.Close(); err != nil {
			t.Errorf("%T: Close: %v", p, err)
		}
	}
}
