package replay

import (
	"bytes"
	"container/heap"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"net"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	"khop/bmv2/p4rt"
	"khop/controlplane"
	"khop/fabric"
)

// startTime is the virtual time at which a fabric starts, in nanoseconds: switches take time 0 for "never".
const startTime = int64(time.Millisecond)

// restTimeout is how long, in real time, the controller may take to answer before a run is given up.
const restTimeout = 60 * time.Second

// observer sees what happens in the network, in order of virtual time.
type observer interface {
	// arrives: a frame comes in at a switch; enter is the packet of the capture that it is, if it enters the fabric here.
	arrives(x *node, frame []byte, enter *injection)
	// received: the switch has taken the frame that arrived last.
	received(x *node)
	// departs: a frame leaves a switch, before it is delivered or arrives at the next one.
	departs(x *node, port uint32, frame []byte)
	// delivered: a frame reaches a host at the given time.
	delivered(h *fabric.Host, at int64, frame []byte) error
}

// network is a fabric in virtual time.
type network struct {
	fabric *fabric.Fabric
	ctl    *controlplane.Controller
	nodes  []*node
	byName map[string]*node
	watch  observer

	mu  sync.Mutex // held while an event is worked on; released while the controller works
	now int64      // nanoseconds

	events eventHeap
	seq    uint64
	clean  []func()
	err    error // of the observer
}

// event is a frame on its way to a switch or a host.
type event struct {
	at    int64
	seq   uint64
	node  *node // nil: to the host
	port  uint32
	host  *fabric.Host
	frame []byte
	enter *injection // a packet of the capture enters
}

type eventHeap []*event

func (h eventHeap) Len() int { return len(h) }
func (h eventHeap) Less(i, j int) bool {
	return h[i].at < h[j].at || h[i].at == h[j].at && h[i].seq < h[j].seq
}
func (h eventHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *eventHeap) Push(x any)   { *h = append(*h, x.(*event)) }
func (h *eventHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return x
}

func (n *network) push(e *event) {
	n.seq++
	e.seq = n.seq
	heap.Push(&n.events, e)
}

// newNetwork starts the switches of a fabric, their P4Runtime servers, and the controller, and pushes everything.
func newNetwork(ctx context.Context, f *fabric.Fabric, o controlplane.Options, watch observer) (n *network, err error) {
	n = &network{fabric: f, byName: map[string]*node{}, watch: watch, now: startTime}
	defer func() {
		if err != nil {
			n.close()
		}
	}()
	o.Now = n.time
	if n.ctl, err = controlplane.New(f, o); err != nil {
		return n, err
	}
	for _, sw := range f.Switches {
		x, err := newNode(n, sw)
		if err != nil {
			return n, fmt.Errorf("switch %s: %w", sw.Name, err)
		}
		n.nodes = append(n.nodes, x)
		n.byName[sw.Name] = x
		if err := n.connect(ctx, x); err != nil {
			return n, err
		}
	}
	if _, err = n.ctl.Push(ctx); err != nil {
		return n, err
	}
	return n, n.rest()
}

// connect gives a switch its P4Runtime server and the controller a session with it, over a connection in memory.
func (n *network) connect(ctx context.Context, x *node) error {
	x.server = p4rt.NewServer(p4rt.Options{})
	var err error
	if x.agent, err = x.server.AddDevice(x.sw.DeviceID, x, p4rt.AgentOptions{}); err != nil {
		return err
	}
	l := bufconn.Listen(1 << 20)
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = x.server.Serve(l) // ends with Shutdown
	}()
	conn, err := grpc.NewClient("passthrough:///"+x.sw.Name,
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return l.DialContext(ctx) }),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	n.clean = append(n.clean, func() {
		conn.Close()
		gone, cancel := context.WithCancel(context.Background())
		cancel()
		x.server.Shutdown(gone)
		<-served
	})
	if err := n.ctl.Connect(ctx, x.sw.Name, "in memory", conn); err != nil {
		return err
	}
	x.client = n.ctl.Client(x.sw.Name)
	return nil
}

func (n *network) close() {
	if n.ctl != nil {
		n.ctl.Close()
	}
	for _, f := range n.clean {
		f()
	}
}

func (n *network) time() int64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.now
}

// rest waits until the controller has handled every message of every switch, and until everything that it sent is in
// force.
func (n *network) rest() error {
	for quiet := false; !quiet; {
		quiet = true
		for _, x := range n.nodes {
			if n.atRest(x) {
				continue
			}
			quiet = false
			if err := n.settle(x); err != nil {
				return fmt.Errorf("%s: the controller does not come to rest: %w", x.sw.Name, err)
			}
		}
	}
	return nil
}

// messages is the number of stream messages that a switch has sent to its controller.
func messages(s p4rt.Stats) uint64 {
	return s.PacketIns + s.DigestLists + s.IdleNotifications + s.StreamErrors
}

// settled tells whether the switch has taken all that its controller sent.
func settled(s p4rt.Stats, sent uint64) bool {
	return s.PacketOuts+s.PacketOutErrors >= sent && s.DigestsPending() == 0
}

func (n *network) atRest(x *node) bool {
	s := x.agent.Stats()
	// What a handler sends, it sends before it counts as done.
	return x.client.Handled() >= messages(s) && settled(s, x.client.PacketOuts())
}

func (n *network) settle(x *node) error {
	ctx, cancel := context.WithTimeout(context.Background(), restTimeout)
	defer cancel()
	if err := x.client.WaitHandled(ctx, messages(x.agent.Stats())); err != nil {
		return err
	}
	sent := x.client.PacketOuts()
	_, err := x.agent.Wait(ctx, func(s p4rt.Stats) bool { return settled(s, sent) })
	return err
}

// run works on events until virtual time reaches end, which it leaves as the time, or ctx ends. Probes are sent on the way.
func (n *network) run(ctx context.Context, end int64) error {
	for {
		if ctx.Err() != nil {
			return fmt.Errorf("stopped at %v of virtual time: %w", time.Duration(n.now), context.Cause(ctx))
		}
		if err := n.rest(); err != nil {
			return err
		}
		n.mu.Lock()
		n.transmit()
		at, kind, which := n.next()
		if at > end {
			n.now = max(n.now, end)
			n.mu.Unlock()
			return n.err
		}
		n.now = max(n.now, at)
		switch kind {
		case stepEvent:
			n.work(heap.Pop(&n.events).(*event))
		case stepTimer:
			n.nodes[which].agent.Advance(n.now)
		case stepDeparture: // transmit does it, after rest
		}
		n.transmit()
		n.mu.Unlock()
		if n.err != nil {
			return n.err
		}
		if kind == stepProbe {
			if err := n.ctl.SendProbes(); err != nil {
				return err
			}
		}
	}
}

// The kinds of step, in the order in which they are taken at the same time.
const (
	stepDeparture = iota
	stepTimer
	stepEvent
	stepProbe
)

// next returns the earliest thing that is due.
func (n *network) next() (at int64, kind, which int) {
	at = math.MaxInt64
	take := func(t int64, k, w int) {
		if t < at {
			at, kind, which = t, k, w
		}
	}
	for i, x := range n.nodes {
		if t, ok := x.sim.NextDeparture(); ok {
			take(t, stepDeparture, i)
		}
	}
	for i, x := range n.nodes {
		if t, ok := x.agent.NextTimer(); ok {
			take(t, stepTimer, i)
		}
	}
	if len(n.events) > 0 {
		take(n.events[0].at, stepEvent, 0)
	}
	if t, ok := n.ctl.NextProbe(); ok {
		take(t, stepProbe, 0)
	}
	return at, kind, which
}

func (n *network) work(e *event) {
	if e.host != nil {
		if err := n.watch.delivered(e.host, e.at, e.frame); err != nil && n.err == nil {
			n.err = err
		}
		return
	}
	if n.isProbe(e.frame) {
		e.node.probed[e.port] = n.now
	}
	n.watch.arrives(e.node, e.frame, e.enter)
	e.node.sim.Receive(n.now, e.port, e.frame)
	n.watch.received(e.node)
}

func (n *network) isProbe(frame []byte) bool {
	return len(frame) >= etherLen && binary.BigEndian.Uint16(frame[12:]) == n.fabric.Wire.ProbeEtherType
}

// transmit sends what is due at every switch. The lock is held.
func (n *network) transmit() {
	for _, x := range n.nodes {
		if t, ok := x.sim.NextDeparture(); !ok || t > n.now {
			continue
		}
		x.sim.Transmit(n.now, func(port uint32, frame []byte) { n.depart(x, port, frame) })
	}
}

func (n *network) depart(x *node, port uint32, frame []byte) {
	n.watch.departs(x, port, frame)
	if port == x.opts.CPUPort {
		x.agent.PacketIn(frame)
		return
	}
	p := x.sw.Port(port)
	if p == nil {
		return // the observer has counted it
	}
	e := &event{at: n.now + serialisation(len(frame), p.Link.Rate) + int64(p.Link.Delay), frame: bytes.Clone(frame)}
	if p.Host != nil {
		e.host = p.Host
	} else {
		e.node, e.port = n.byName[p.Peer.Name], p.PeerPort
	}
	n.push(e)
}

// serialisation is the time that a frame takes on a link, in nanoseconds, rounded up.
func serialisation(bytes int, rate fabric.BitRate) int64 {
	if rate == 0 {
		return 0
	}
	return int64((uint64(bytes)*8*1e9 + uint64(rate) - 1) / uint64(rate))
}
