package p4rt

import (
	"context"
	"sync"

	p4v1 "github.com/p4lang/p4runtime/go/p4/v1"
	"google.golang.org/grpc/codes"

	"khop/bmv2/pipeline"
	"khop/bmv2/simpleswitch"
)

// Target is the device behind an [Agent]. Its owner serialises access to the switch and tells it the time.
type Target interface {
	// Do calls fn with exclusive access to the switch and the present switch time in nanoseconds. fn must not call Do.
	Do(fn func(sw *simpleswitch.Switch, now int64))
	// Load replaces the program of the switch; all state is reset. It is called inside Do and returns the switch.
	Load(p *pipeline.Program) (*simpleswitch.Switch, error)
	// Detached makes a switch like the target's own that no port reaches, to try a program on.
	Detached(p *pipeline.Program) (*simpleswitch.Switch, error)
	// CPUPort is the port for packet-in and packet-out; false if there is none.
	CPUPort() (port uint32, ok bool)
	// HasPort tells whether a port exists on the device.
	HasPort(port uint32) bool
}

// AgentOptions configure an [Agent]. The zero value is usable.
type AgentOptions struct {
	// Epoch is the time of day at switch time 0, in nanoseconds since the Unix epoch. It appears in the time stamps of
	// digest lists and idle timeout notifications.
	Epoch int64
	// MaxStreams is the number of streams that each role may have; 0 means 64.
	MaxStreams int
	// MaxQueued is the number of messages that may wait for a stream's client before packet-ins, digest lists and
	// notifications are dropped (and counted); 0 means 65536.
	MaxQueued int
	// IdleScan is the time between two looks at the entries with an idle timeout, in nanoseconds; 0 means 10 ms.
	IdleScan int64
}

// Agent is the P4Runtime server's side of one device. The methods that the owner of the device calls ([Agent.PacketIn],
// [Agent.Digest], [Agent.NextTimer], [Agent.Advance]) must be called with exclusive access to the switch, as inside
// Target.Do; they never block and never call back into the Target.
type Agent struct {
	id     uint64
	target Target
	opts   AgentOptions
	arb    *arbiter
	stats  statsBox

	// requests serialises Write, Read and pipeline requests; a batch may give up the switch in between.
	requests sync.RWMutex

	// The rest changes only with both requests and the switch held, so either is enough to read it.
	active *state // committed pipeline and its entities; nil before the first
	saved  *state // saved but not yet committed, on a switch of its own; nil if none
}

func newAgent(id uint64, t Target, o AgentOptions) *Agent {
	if o.MaxStreams == 0 {
		o.MaxStreams = 64
	}
	if o.MaxQueued == 0 {
		o.MaxQueued = 65536
	}
	if o.IdleScan == 0 {
		o.IdleScan = 10_000_000
	}
	a := &Agent{id: id, target: t, opts: o}
	a.arb = newArbiter(id, o.MaxStreams, &a.stats)
	return a
}

// DeviceID is the id that P4Runtime clients use.
func (a *Agent) DeviceID() uint64 { return a.id }

// Stats returns the counts so far.
func (a *Agent) Stats() Stats { return a.stats.get() }

// Wait returns when ok holds for the counts, or the context ends (with its error and the counts at that moment). ok is
// called at once and after each change; it must not block.
func (a *Agent) Wait(ctx context.Context, ok func(Stats) bool) (Stats, error) {
	return a.stats.wait(ctx, ok)
}

// PacketIn takes a frame that left the switch through the CPU port, splits off the packet_in header by P4Info, and sends
// it to the primaries. The frame is copied. A frame that cannot be sent is counted in Stats.PacketInsDropped.
func (a *Agent) PacketIn(frame []byte) {
	var buf [4]*outbox
	to := a.arb.primaries(buf[:0])
	var m *p4v1.StreamMessageResponse
	if a.active != nil && len(to) > 0 {
		p, err := &p4v1.PacketIn{Payload: append([]byte(nil), frame...)}, error(nil)
		if h := a.active.info.packetIn; h != nil {
			p, err = h.decode(frame)
		}
		if err == nil {
			m = &p4v1.StreamMessageResponse{Update: &p4v1.StreamMessageResponse_Packet{Packet: p}}
		}
	}
	a.stats.update(func(s *Stats) { // a client that has the message must find it counted
		sent := uint64(0)
		for _, o := range to {
			if m != nil && o.offer(m) {
				sent++
			}
		}
		s.PacketIns += sent
		if sent == 0 {
			s.PacketInsDropped++
		}
	})
}

// packetOut injects a packet-out of a primary at the CPU port.
func (a *Agent) packetOut(p *p4v1.PacketOut) error {
	port, ok := a.target.CPUPort()
	if !ok {
		return errorf(codes.FailedPrecondition, "the device has no CPU port; start the switch with one (--cpu-port)")
	}
	var err error
	a.target.Do(func(sw *simpleswitch.Switch, now int64) {
		if a.active == nil {
			err = errorf(codes.FailedPrecondition, "device %d has no forwarding pipeline; set one first", a.id)
			return
		}
		frame := p.GetPayload()
		if h := a.active.info.packetOut; h != nil {
			var head []byte
			if head, err = h.encode(p.GetMetadata()); err != nil {
				return
			}
			frame = append(head, frame...)
		} else if len(p.GetMetadata()) > 0 {
			err = errorf(codes.InvalidArgument, "the pipeline has no packet_out header, so packet-outs carry no metadata")
			return
		}
		sw.Receive(now, port, frame)
	})
	return err
}

// NextTimer is the earliest switch time at which Advance has something to do.
func (a *Agent) NextTimer() (at int64, ok bool) {
	if a.active == nil {
		return 0, false
	}
	at = min(a.active.nextDigest(), a.active.nextIdle(a.opts.IdleScan))
	return at, at != never
}

// Advance does what is due by now: digest lists whose buffering delay is over, acknowledgements that did not come, entries
// that have been idle for their timeout.
func (a *Agent) Advance(now int64) {
	if a.active == nil {
		return
	}
	a.advanceDigests(now)
	if a.active.nextIdle(a.opts.IdleScan) <= now {
		a.scanIdle(now)
	}
}
