package controlplane

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	p4v1 "github.com/p4lang/p4runtime/go/p4/v1"
	"google.golang.org/grpc"

	"khop/codegen"
	"khop/fabric"
)

// Options configure a Controller.
type Options struct {
	// Compile compiles the generated programs. Required.
	Compile CompileFunc
	// Now tells the time in nanoseconds from any origin. Required; it may be virtual.
	Now func() int64
	// ElectionID is the low half of the election id; 0 means 1.
	ElectionID uint64
	// Log gets what goes wrong on the stream, where no caller waits; nil discards.
	Log *slog.Logger
	// Programs, when set, are the already built programs of the fabric (BuildPrograms).
	Programs []*Program
}

// Controller programs and steers the switches of one fabric. Its methods are safe for concurrent use.
type Controller struct {
	fabric   *fabric.Fabric
	opts     Options
	log      *slog.Logger
	programs map[fabric.Role]*Program

	sessionsMu sync.RWMutex
	sessions   []*session // in the order of fabric.Switches; nil where not connected

	mptcp  mptcpState
	prober *prober
	knobs  knobState
	stats  counters
}

// counters count what the controller did; see Status.
type counters struct {
	digests, packetIns, replies, errors atomic.Uint64
}

// session is one connected switch.
type session struct {
	sw     *fabric.Switch
	prog   *Program
	client *Client
	addr   string // what the user knows it by

	lastError string // that the handler told
}

// New makes a controller without connections.
func New(f *fabric.Fabric, o Options) (*Controller, error) {
	if o.ElectionID == 0 {
		o.ElectionID = 1
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	c := &Controller{fabric: f, opts: o, log: o.Log, programs: map[fabric.Role]*Program{}, sessions: make([]*session, len(f.Switches))}
	programs := o.Programs
	if programs == nil {
		var err error
		if programs, err = BuildPrograms(f, o.Compile); err != nil {
			return nil, err
		}
	}
	for _, p := range programs {
		c.programs[p.Role] = p
	}
	c.mptcp.init(f)
	c.prober = newProber(f)
	c.knobs.init(f)
	return c, nil
}

// Fabric returns the fabric that the controller steers.
func (c *Controller) Fabric() *fabric.Fabric { return c.fabric }

// Program returns the compiled program of a role, or nil.
func (c *Controller) Program(role fabric.Role) *Program { return c.programs[role] }

// ConnectReader is Connect for a controller that only plans: it opens no session that could take a switch away from the
// controller that steers it.
func (c *Controller) ConnectReader(name, addr string, conn grpc.ClientConnInterface) error {
	sw := c.fabric.Switch(name)
	if sw == nil {
		return fmt.Errorf("the fabric has no switch %q; it has %s", name, c.switchNames())
	}
	c.add(&session{sw: sw, prog: c.programs[sw.Role], addr: addr, client: OpenReader(conn, sw.DeviceID)})
	return nil
}

// Connect starts the session with a switch over a gRPC connection. addr is for messages.
func (c *Controller) Connect(ctx context.Context, name, addr string, conn grpc.ClientConnInterface) error {
	sw := c.fabric.Switch(name)
	if sw == nil {
		return fmt.Errorf("the fabric has no switch %q; it has %s", name, c.switchNames())
	}
	s := &session{sw: sw, prog: c.programs[sw.Role], addr: addr}
	ready := make(chan struct{})
	client, err := Open(ctx, conn, sw.DeviceID, c.opts.ElectionID, func(m *p4v1.StreamMessageResponse) {
		<-ready
		c.handle(s, m)
	})
	if err != nil {
		return fmt.Errorf("%s at %s (device %d): %w", name, addr, sw.DeviceID, err)
	}
	s.client = client
	close(ready)
	c.add(s)
	return nil
}

func (c *Controller) add(s *session) {
	c.sessionsMu.Lock()
	defer c.sessionsMu.Unlock()
	for i, x := range c.fabric.Switches {
		if x == s.sw {
			if old := c.sessions[i]; old != nil {
				old.client.Close()
			}
			c.sessions[i] = s
		}
	}
}

func (c *Controller) switchNames() string {
	text := ""
	for i, s := range c.fabric.Switches {
		if i > 0 {
			text += ", "
		}
		text += s.Name
	}
	return text
}

// Close ends all sessions.
func (c *Controller) Close() {
	c.sessionsMu.Lock()
	defer c.sessionsMu.Unlock()
	for i, s := range c.sessions {
		if s != nil {
			s.client.Close()
			c.sessions[i] = nil
		}
	}
}

// connected returns the sessions in the order of the fabric's switches.
func (c *Controller) connected() []*session {
	c.sessionsMu.RLock()
	defer c.sessionsMu.RUnlock()
	var list []*session
	for _, s := range c.sessions {
		if s != nil {
			list = append(list, s)
		}
	}
	return list
}

// session returns the session of a switch, or an error that names those that there are.
func (c *Controller) session(name string) (*session, error) {
	sw := c.fabric.Switch(name)
	if sw == nil {
		return nil, fmt.Errorf("the fabric has no switch %q; it has %s", name, c.switchNames())
	}
	if s := c.sessionOf(sw); s != nil {
		return s, nil
	}
	return nil, fmt.Errorf("switch %s is not connected", name)
}

func (c *Controller) sessionOf(sw *fabric.Switch) *session {
	c.sessionsMu.RLock()
	defer c.sessionsMu.RUnlock()
	for i, x := range c.fabric.Switches {
		if x == sw {
			return c.sessions[i]
		}
	}
	return nil
}

// Client returns the P4Runtime session of a switch, or nil if it is not connected.
func (c *Controller) Client(name string) *Client {
	if s, err := c.session(name); err == nil {
		return s.client
	}
	return nil
}

// handle takes one stream message of a switch.
func (c *Controller) handle(s *session, m *p4v1.StreamMessageResponse) {
	var err error
	switch u := m.GetUpdate().(type) {
	case *p4v1.StreamMessageResponse_Digest:
		c.stats.digests.Add(1)
		err = c.handleDigest(s, u.Digest)
	case *p4v1.StreamMessageResponse_Packet:
		c.stats.packetIns.Add(1)
		err = c.handlePacketIn(s, u.Packet)
	case *p4v1.StreamMessageResponse_Error:
		err = fmt.Errorf("the switch refused a message: %s", u.Error.GetMessage())
	case *p4v1.StreamMessageResponse_Arbitration:
		err = ErrNotPrimary
	}
	if err == nil {
		return
	}
	c.stats.errors.Add(1)
	// The handler runs on one goroutine per session. What repeats is told once.
	if text := err.Error(); text != s.lastError {
		s.lastError = text
		c.log.Error("stream message", "switch", s.sw.Name, "error", err)
	}
}

// Status is a snapshot of the controller.
type Status struct {
	Fabric      string         `json:"fabric"`
	Scheme      fabric.Scheme  `json:"scheme"`
	Switches    []SwitchStatus `json:"switches"`
	Digests     uint64         `json:"digest_lists"`
	PacketIns   uint64         `json:"packet_ins"`
	Replies     uint64         `json:"packet_in_replies"`
	Errors      uint64         `json:"errors"`
	Connections []ConnStatus   `json:"connections"`
}

// SwitchStatus is one switch in a Status.
type SwitchStatus struct {
	Name      string      `json:"name"`
	Role      fabric.Role `json:"role"`
	DeviceID  uint64      `json:"device_id"`
	Address   string      `json:"address,omitempty"`
	Connected bool        `json:"connected"`
}

// Status returns a snapshot.
func (c *Controller) Status() Status {
	st := Status{
		Fabric: c.fabric.Name, Scheme: c.fabric.Scheme, Switches: []SwitchStatus{},
		Digests: c.stats.digests.Load(), PacketIns: c.stats.packetIns.Load(), Replies: c.stats.replies.Load(), Errors: c.stats.errors.Load(),
		Connections: c.mptcp.status(),
	}
	for _, sw := range c.fabric.Switches {
		x := SwitchStatus{Name: sw.Name, Role: sw.Role, DeviceID: sw.DeviceID}
		if s := c.sessionOf(sw); s != nil {
			x.Address, x.Connected = s.addr, s.client.Primary()
		}
		st.Switches = append(st.Switches, x)
	}
	return st
}

// packetOut sends a frame out of a switch: to a multicast group, to a port, or (both 0) routed.
func (s *session) packetOut(group uint16, port uint32, frame []byte) error {
	return s.client.PacketOut(s.prog.Codec.packetOutMessage(group, port, frame))
}

// Counter reads one cell of an indirect counter of a switch by the names of package codegen.
func (c *Controller) Counter(ctx context.Context, name, counter string, index int64) (packets int64, err error) {
	s, err := c.session(name)
	if err != nil {
		return 0, err
	}
	got, err := s.client.Read(ctx, &p4v1.Entity{Entity: &p4v1.Entity_CounterEntry{CounterEntry: &p4v1.CounterEntry{
		CounterId: s.prog.Codec.counters[counter], Index: &p4v1.Index{Index: index},
	}}})
	if err != nil {
		return 0, err
	}
	for _, e := range got {
		packets += e.GetCounterEntry().GetData().GetPacketCount()
	}
	return packets, nil
}

// DropCounts reads the drop counters of a switch, ingress and egress together, indexed by codegen.DropReason.
func (c *Controller) DropCounts(ctx context.Context, name string) ([]uint64, error) {
	s, err := c.session(name)
	if err != nil {
		return nil, err
	}
	counts := make([]uint64, codegen.DropReasons)
	for _, counter := range []string{codegen.CounterIngressDrops, codegen.CounterEgressDrops} {
		got, err := s.client.Read(ctx, &p4v1.Entity{Entity: &p4v1.Entity_CounterEntry{CounterEntry: &p4v1.CounterEntry{
			CounterId: s.prog.Codec.counters[counter],
		}}})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for _, e := range got {
			if i := e.GetCounterEntry().GetIndex().GetIndex(); i >= 0 && i < int64(len(counts)) {
				counts[i] += uint64(e.GetCounterEntry().GetData().GetPacketCount())
			}
		}
	}
	return counts, nil
}
