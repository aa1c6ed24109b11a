package device

import (
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"khop/bmv2/config"
	ct "khop/bmv2/config/configtest"
	"khop/bmv2/pipeline"
	"khop/bmv2/port"
	"khop/bmv2/simpleswitch"
)

const cpu = 100

// forwarder is a program that sends everything to one port.
func forwarder(t testing.TB, port int64) *pipeline.Program {
	t.Helper()
	c := ct.Base()
	ct.Run(c, "ingress", ct.Assign(ct.Std("egress_spec"), ct.N(port)))
	return linked(t, c)
}

func linked(t testing.TB, c *config.Config) *pipeline.Program {
	t.Helper()
	p, err := pipeline.Link(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func newDevice(t testing.TB, p *pipeline.Program, o Options) *Device {
	t.Helper()
	d, err := New(p, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d
}

// attach gives a device an in-memory port and returns what comes out of it, and the far end.
func attach(t testing.TB, d *Device, n uint32) (<-chan string, port.Port) {
	t.Helper()
	near, far := port.Link()
	if err := d.Attach(n, near); err != nil {
		t.Fatal(err)
	}
	out := make(chan string, 100)
	go func() { _ = far.Run(t.Context(), func(f []byte) { out <- string(f) }) }()
	return out, far
}

func drops(d *Device, r simpleswitch.Reason) (n uint64) {
	d.Do(func(sw *simpleswitch.Switch, _ int64) { n = sw.Drops()[r] })
	return n
}

func TestWithoutProgramPacketsAreDroppedAndCounted(t *testing.T) {
	d := newDevice(t, nil, Options{Clock: NewManualClock(0)})
	out, _ := attach(t, d, 2)
	d.Receive(1, []byte("frame"))
	if n := drops(d, simpleswitch.DropNoProgram); n != 1 {
		t.Errorf("%d drops without a program, want 1", n)
	}
	d.Do(func(sw *simpleswitch.Switch, _ int64) {
		if _, err := d.Load(forwarder(t, 2)); err != nil {
			t.Error(err)
		}
	})
	d.Receive(1, []byte("frame"))
	if f := <-out; f != "frame" {
		t.Errorf("got %q", f)
	}
}

func TestFramesCrossTwoDevices(t *testing.T) {
	a := newDevice(t, forwarder(t, 2), Options{Clock: NewManualClock(0)})
	b := newDevice(t, forwarder(t, 3), Options{Clock: NewManualClock(0)})
	x, y := port.Link()
	if err := errors.Join(a.Attach(2, x), b.Attach(1, y)); err != nil {
		t.Fatal(err)
	}
	out, _ := attach(t, b, 3)
	_, in := attach(t, a, 1)
	for _, f := range []string{"one", "two", "three"} {
		if err := in.Send([]byte(f)); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"one", "two", "three"} {
		if got := <-out; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	var rx, tx simpleswitch.PortStats
	b.Do(func(sw *simpleswitch.Switch, _ int64) { rx, tx = sw.PortStats(1), sw.PortStats(3) })
	if rx.RxFrames != 3 || tx.TxFrames != 3 || tx.TxBytes != 11 {
		t.Errorf("stats %+v, %+v", rx, tx)
	}
}

func TestQueuedPacketsLeaveWhenTheyAreDue(t *testing.T) {
	clock := NewManualClock(0)
	d := newDevice(t, forwarder(t, 2), Options{Clock: clock})
	out, _ := attach(t, d, 2)
	d.Do(func(sw *simpleswitch.Switch, _ int64) { sw.SetPort(2, simpleswitch.PortConfig{RatePPS: 1000}) })
	for _, f := range []string{"a", "b", "c"} {
		d.Receive(1, []byte(f))
	}
	sent := func() (n uint64) {
		d.Do(func(sw *simpleswitch.Switch, _ int64) { n = sw.PortStats(2).TxFrames })
		return n
	}
	// A packet each millisecond, the first at once.
	for i, want := range []uint64{1, 2, 3, 3} {
		if n := sent(); n != want {
			t.Errorf("after %d ms: %d frames sent, want %d", i, n, want)
		}
		clock.Advance(1_000_000)
	}
	if got := <-out + <-out + <-out; got != "abc" {
		t.Errorf("got %q", got)
	}
}

// recordingAgent notes what the device hands over, and wants to be called each millisecond.
type recordingAgent struct {
	packets []string
	calls   []int64
	next    int64
}

func (a *recordingAgent) PacketIn(f []byte)          { a.packets = append(a.packets, string(f)) }
func (a *recordingAgent) Digest(simpleswitch.Digest) {}
func (a *recordingAgent) NextTimer() (int64, bool)   { return a.next, true }
func (a *recordingAgent) Advance(now int64) {
	a.calls = append(a.calls, now)
	a.next = now + 1_000_000
}

func TestAgentGetsPacketsAndTime(t *testing.T) {
	clock := NewManualClock(77)
	d := newDevice(t, forwarder(t, cpu), Options{Clock: clock, Switch: simpleswitch.Options{CPUPort: cpu}})
	d.Receive(1, []byte("lost"))
	a := &recordingAgent{next: 500_000}
	d.SetAgent(a)
	d.Receive(1, []byte("taken"))
	clock.Advance(3_000_000)
	if !slices.Equal(a.packets, []string{"taken"}) || !slices.Equal(a.calls, []int64{500_000, 1_500_000, 2_500_000}) {
		t.Errorf("packets %q, calls at %v", a.packets, a.calls)
	}
	if s := d.Stats(); s != (Stats{NoAgent: 1}) {
		t.Errorf("stats %+v", s)
	}
	if p, ok := d.CPUPort(); p != cpu || !ok || d.Epoch() != 77 {
		t.Errorf("CPU port %d, %v; epoch %d", p, ok, d.Epoch())
	}
}

// brokenPort sends nothing and stops receiving at once.
type brokenPort struct{ port.Port }

func (brokenPort) Send([]byte) error { return errors.New("cable cut") }

func TestLostFramesAreCounted(t *testing.T) {
	var log strings.Builder
	d := newDevice(t, forwarder(t, 2), Options{Clock: NewManualClock(0), Log: slog.New(slog.NewTextHandler(&syncWriter{w: &log}, nil))})
	d.Receive(1, []byte("to nowhere"))
	near, _ := port.Link()
	if err := d.Attach(2, brokenPort{near}); err != nil {
		t.Fatal(err)
	}
	d.Receive(1, []byte("x"))
	d.Receive(1, []byte("y"))
	if s := d.Stats(); s != (Stats{NoPort: 1, Unsent: 2}) {
		t.Errorf("stats %+v", s)
	}
	if n := strings.Count(log.String(), "cable cut"); n != 1 {
		t.Errorf("the log names the error %d times, want once:\n%s", n, log.String())
	}
}

type syncWriter struct {
	mu sync.Mutex
	w  *strings.Builder
}

func (s *syncWriter) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.w.Write(b)
}

func TestAttachAndDetach(t *testing.T) {
	d := newDevice(t, forwarder(t, 2), Options{Clock: NewManualClock(0), Switch: simpleswitch.Options{CPUPort: cpu}})
	attach(t, d, 5)
	attach(t, d, 2)
	if got := d.Ports(); !slices.Equal(got, []uint32{2, 5}) {
		t.Errorf("ports %v", got)
	}
	near, _ := port.Link()
	for n, want := range map[uint32]string{2: "attached already", cpu: "CPU port"} {
		if err := d.Attach(n, near); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("port %d: error %v, want %q", n, err, want)
		}
	}
	d.Do(func(*simpleswitch.Switch, int64) {
		if !d.HasPort(2) || !d.HasPort(cpu) || d.HasPort(3) || d.HasPort(0) {
			t.Error("HasPort is wrong")
		}
	})
	if err := d.Detach(2); err != nil {
		t.Fatal(err)
	}
	if err := d.Detach(2); err == nil || !strings.Contains(err.Error(), "[5]") {
		t.Errorf("error %v, want one that lists the ports", err)
	}
	d.Close()
	if err := d.Attach(3, near); err == nil {
		t.Error("a closed device took a port")
	}
	d.Receive(1, []byte("late")) // ignored
	if n := d.Stats().NoPort; n != 0 {
		t.Errorf("a closed device forwarded %d frames", n)
	}
}

func TestLinkDown(t *testing.T) {
	d := newDevice(t, forwarder(t, 2), Options{Clock: NewManualClock(0)})
	out, _ := attach(t, d, 2)
	d.SetLink(2, false)
	d.Receive(1, []byte("lost"))
	d.Receive(2, []byte("lost as well"))
	if n := drops(d, simpleswitch.DropPortDown); n != 2 {
		t.Errorf("%d drops, want 2", n)
	}
	d.SetLink(2, true)
	d.Receive(1, []byte("sent"))
	if f := <-out; f != "sent" {
		t.Errorf("got %q", f)
	}
}

func TestRealClockCallsBack(t *testing.T) {
	c := NewClock()
	before := c.Now()
	done := make(chan struct{})
	c.AfterFunc(1000, func() { close(done) })
	<-done
	if d := c.Now() - before; d < 1000 {
		t.Errorf("called back after %d ns, want 1000 or more", d)
	}
	stop := c.AfterFunc(1e15, func() { t.Error("called back though stopped") })
	stop()
}
