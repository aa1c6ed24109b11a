// Package device runs a simpleswitch.Switch in real time: it owns the switch, serialises access to it, tells it the time,
// moves frames between it and its ports, and wakes it when a queued packet may leave.
package device

import (
	"context"
	"log/slog"
	"sync"

	"khop/bmv2/pipeline"
	"khop/bmv2/port"
	"khop/bmv2/simpleswitch"
)

// Agent is the control plane's side of a device; p4rt.Agent implements it. All methods are called with exclusive access
// to the switch and must not call back into the device.
type Agent interface {
	// PacketIn takes a frame that left through the CPU port; it is valid during the call.
	PacketIn(frame []byte)
	// Digest takes a digest message; its values are valid during the call.
	Digest(d simpleswitch.Digest)
	// NextTimer is the switch time at which Advance wants to be called.
	NextTimer() (at int64, ok bool)
	// Advance does what is due by now.
	Advance(now int64)
}

// Options configure a [Device]. The zero value is usable.
type Options struct {
	// Switch configures the switch. OnDigest and OnLog are the device's own and must be nil.
	Switch simpleswitch.Options
	// Clock tells the time; nil means [NewClock].
	Clock Clock
	// Log gets what the program logs and what ports report; nil discards.
	Log *slog.Logger
}

// Device is a running switch. Its methods are safe for concurrent use.
type Device struct {
	opts  simpleswitch.Options
	clock Clock
	log   *slog.Logger
	ctx   context.Context // ends when the device closes
	stop  context.CancelFunc
	wg    sync.WaitGroup // the goroutines of the ports

	mu     sync.Mutex
	sw     *simpleswitch.Switch
	agent  Agent // nil until SetAgent
	ports  map[uint32]*attached
	closed bool
	wakeAt int64  // switch time of the timer that is set; never if none
	disarm func() // stops that timer
	lost   Stats
	emit   func(port uint32, frame []byte)
}

// Stats counts the frames that left the switch and went no further.
type Stats struct {
	NoPort  uint64 // for a port that is not attached
	NoAgent uint64 // for the CPU port of a device without an agent
	Unsent  uint64 // the port could not send
}

// attached is a port of the device.
type attached struct {
	port.Port
	stop   context.CancelFunc
	done   chan struct{} // closed when the receiving goroutine has ended
	unsent uint64        // frames that the port could not send
}

const never = 1<<63 - 1

// New makes a device. Without a program it drops all packets (and counts them as no_program) until Load.
func New(p *pipeline.Program, o Options) (*Device, error) {
	d := &Device{opts: o.Switch, clock: o.Clock, log: o.Log, ports: map[uint32]*attached{}, wakeAt: never}
	if d.clock == nil {
		d.clock = NewClock()
	}
	if d.log == nil {
		d.log = slog.New(slog.DiscardHandler)
	}
	d.opts.OnDigest = func(x simpleswitch.Digest) {
		if d.agent != nil {
			d.agent.Digest(x)
		}
	}
	d.opts.OnLog = func(now int64, msg string) { d.log.Info(msg, "switch_time_ns", now) }
	sw, err := simpleswitch.New(p, d.opts)
	if err != nil {
		return nil, err
	}
	d.sw = sw
	d.emit = d.send
	d.ctx, d.stop = context.WithCancel(context.Background())
	return d, nil
}

// Epoch is the time of day at switch time 0, in nanoseconds since the Unix epoch.
func (d *Device) Epoch() int64 { return d.clock.Epoch() }

// SetAgent sets the control plane. It must be called before packets flow.
func (d *Device) SetAgent(a Agent) {
	d.mu.Lock()
	d.agent = a
	d.mu.Unlock()
}

// Do calls fn with exclusive access to the switch and the present switch time in nanoseconds; afterwards everything that is
// due is sent. fn must not call methods of the device other than Load, Detached, CPUPort and HasPort.
func (d *Device) Do(fn func(sw *simpleswitch.Switch, now int64)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	fn(d.sw, d.clock.Now())
	d.pump()
}

// Load replaces the program; all state of the switch is reset. It must be called inside Do.
func (d *Device) Load(p *pipeline.Program) (*simpleswitch.Switch, error) {
	return d.sw, d.sw.Swap(p)
}

// Detached makes a switch with the options of this one that no port reaches, to try a program on.
func (d *Device) Detached(p *pipeline.Program) (*simpleswitch.Switch, error) {
	o := d.opts
	o.OnDigest, o.OnLog, o.Tracer = nil, nil, nil
	return simpleswitch.New(p, o)
}

// CPUPort is the port of the controller; false if the device has none.
func (d *Device) CPUPort() (port uint32, ok bool) { return d.opts.CPUPort, d.opts.CPUPort != 0 }

// HasPort tells whether a port is attached, or is the CPU port. It must be called inside Do.
func (d *Device) HasPort(n uint32) bool {
	return d.ports[n] != nil || n == d.opts.CPUPort && n != 0
}

// Receive takes a frame that arrived on a port; the frame is copied.
func (d *Device) Receive(n uint32, frame []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return
	}
	d.sw.Receive(d.clock.Now(), n, frame)
	d.pump()
}

// pump sends what is due, lets the agent do what is due, and sets the timer for what comes next. The lock is held.
func (d *Device) pump() {
	if d.closed {
		return
	}
	now := d.clock.Now()
	next := int64(never)
	d.sw.Transmit(now, d.emit)
	if d.agent != nil {
		if at, ok := d.agent.NextTimer(); ok && at <= now {
			d.agent.Advance(now)
		}
		if at, ok := d.agent.NextTimer(); ok {
			next = at
		}
	}
	if at, ok := d.sw.NextDeparture(); ok {
		next = min(next, at)
	}
	// A timer that comes too early does no harm: it sets the right one.
	if next >= d.wakeAt {
		return
	}
	if d.disarm != nil {
		d.disarm()
	}
	d.wakeAt = next
	d.disarm = d.clock.AfterFunc(max(0, next-now), d.wake)
}

func (d *Device) wake() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.wakeAt, d.disarm = never, nil
	d.pump()
}

// send hands a departing frame to its port or to the agent. The lock is held.
func (d *Device) send(n uint32, frame []byte) {
	if n == d.opts.CPUPort && n != 0 {
		if d.agent != nil {
			d.agent.PacketIn(frame)
		} else {
			d.lost.NoAgent++
		}
		return
	}
	a := d.ports[n]
	if a == nil {
		d.lost.NoPort++
		return
	}
	if err := a.Send(frame); err != nil {
		a.unsent++
		d.lost.Unsent++
		if a.unsent == 1 {
			d.log.Warn("frames are lost at a port", "port", n, "error", err)
		}
	}
}
