package simpleswitch

import (
	"fmt"
	"math/bits"

	"khop/bmv2/pipeline"
)

// port is a port with its queues. Departures follow simple_switch: strict priority, the higher number first; a packet may
// leave when its queue's and its port's rate allow it.
type port struct {
	num    uint32
	cfg    PortConfig
	stats  PortStats
	queues []*queue
	free   int64 // the port's rate allows the next packet from this time on

	// the next departure, valid while the port is in the heap
	at   int64
	seq  uint64
	from int // queue
	pos  int // in the heap, -1 if not
}

type queue struct {
	cfg        QueueConfig
	head, tail *packet
	n          int
	free       int64
}

func (q *queue) push(p *packet) {
	p.next = nil
	if q.tail == nil {
		q.head = p
	} else {
		q.tail.next = p
	}
	q.tail = p
	q.n++
}

func (q *queue) pop() *packet {
	p := q.head
	if p == nil {
		return nil
	}
	if q.head = p.next; q.head == nil {
		q.tail = nil
	}
	p.next = nil
	q.n--
	return p
}

const (
	nearPorts = 1024    // ports that are found by index; others are in a map
	maxFar    = 1 << 16 // of those others, so that packets cannot make ports without end
)

func (s *Switch) port(n uint32) *port {
	if n < uint32(len(s.ports)) && s.ports[n] != nil {
		return s.ports[n]
	}
	if n >= nearPorts {
		if pt := s.far[n]; pt != nil {
			return pt
		}
	}
	pt := &port{num: n, pos: -1}
	for range s.opt.PriorityQueues {
		pt.queues = append(pt.queues, &queue{})
	}
	if n >= nearPorts {
		s.far[n] = pt
		return pt
	}
	for uint32(len(s.ports)) <= n {
		s.ports = append(s.ports, nil)
	}
	s.ports[n] = pt
	return pt
}

func (s *Switch) portUp(n uint32) bool { return !s.port(n).cfg.Down }

func (s *Switch) enqueue(p *packet, portNo uint32, prio int, now int64) {
	if portNo >= nearPorts && len(s.far) >= maxFar && s.far[portNo] == nil {
		s.drop(p, DropPortDown)
		return
	}
	pt := s.port(portNo)
	if prio < 0 || prio >= len(pt.queues) {
		s.drop(p, DropPriority)
		return
	}
	q := pt.queues[prio]
	depth := q.cfg.Depth
	if depth == 0 {
		depth = s.opt.QueueDepth
	}
	if q.n >= depth {
		s.drop(p, DropTail)
		return
	}
	p.port, p.enqAt = portNo, now
	s.std.enqTime.set(p.w, micros(now))
	s.std.enqDepth.set(p.w, uint64(q.n))
	s.seq++
	p.seq = s.seq
	if s.opt.Tracer != nil {
		s.trace(pipeline.TraceEvent{Kind: pipeline.TraceEnqueue, Packet: p.id, Now: now, Port: portNo})
	}
	q.push(p)
	if q.n == 1 {
		s.reschedule(pt)
	}
}

// reschedule works out the next departure of a port and puts it at its place in the heap.
func (s *Switch) reschedule(pt *port) {
	found := false
	for i := len(pt.queues) - 1; i >= 0; i-- {
		q := pt.queues[i]
		if q.head == nil {
			continue
		}
		at := max(q.head.enqAt, q.free, pt.free)
		if !found || at < pt.at {
			pt.at, pt.seq, pt.from, found = at, q.head.seq, i, true
		}
	}
	switch {
	case found && pt.pos < 0:
		pt.pos = len(s.heap)
		s.heap = append(s.heap, pt)
		s.up(pt.pos)
	case found:
		s.down(pt.pos)
		s.up(pt.pos)
	case pt.pos >= 0:
		i, last := pt.pos, len(s.heap)-1
		s.swap(i, last)
		s.heap[last] = nil
		s.heap = s.heap[:last]
		pt.pos = -1
		if i < last {
			s.down(i)
			s.up(i)
		}
	}
}

func (s *Switch) before(i, j int) bool {
	a, b := s.heap[i], s.heap[j]
	return a.at < b.at || a.at == b.at && a.seq < b.seq
}

func (s *Switch) swap(i, j int) {
	h := s.heap
	h[i], h[j] = h[j], h[i]
	h[i].pos, h[j].pos = i, j
}

func (s *Switch) up(i int) {
	for i > 0 && s.before(i, (i-1)/2) {
		s.swap(i, (i-1)/2)
		i = (i - 1) / 2
	}
}

func (s *Switch) down(i int) {
	for {
		c := 2*i + 1
		if c >= len(s.heap) {
			return
		}
		if c+1 < len(s.heap) && s.before(c+1, c) {
			c++
		}
		if !s.before(c, i) {
			return
		}
		s.swap(i, c)
		i = c
	}
}

// NextDeparture returns the earliest time at which a queued packet may leave its queue.
func (s *Switch) NextDeparture() (at int64, ok bool) {
	if len(s.heap) == 0 {
		return 0, false
	}
	return s.heap[0].at, true
}

// Transmit runs egress for every packet that is due by now, in order of departure time (first queued first among equals),
// and emits what leaves. Egress sees the departure time as its clock, not now. The frame is valid during the call; emit
// must not call into the switch. Recirculated packets enter ingress again at their departure time.
func (s *Switch) Transmit(now int64, emit func(port uint32, frame []byte)) {
	for len(s.heap) > 0 && s.heap[0].at <= now {
		s.depart(s.heap[0], emit)
	}
}

// depart takes the next packet of a port from its queue and through egress.
func (s *Switch) depart(pt *port, emit func(port uint32, frame []byte)) {
	at, from := pt.at, pt.from
	q := pt.queues[from]
	p := q.pop()
	if r := q.cfg.RatePPS; r > 0 {
		q.free = at + gap(1e9, r)
	}
	if r := pt.cfg.RatePPS; r > 0 {
		pt.free = at + gap(1e9, r)
	}
	// Egress may queue packets for this port, so its schedule must be right before.
	s.reschedule(pt)
	sent := s.egress(p, at, q.n, from, emit)
	if r := pt.cfg.RateBPS; r > 0 && sent > 0 {
		pt.free = max(pt.free, at+gap(8e9*uint64(sent), r))
		s.reschedule(pt)
	}
}

// gap is n/rate, rounded up.
func gap(n, rate uint64) int64 {
	hi, lo := uint64(0), n
	lo, c := bits.Add64(lo, rate-1, 0)
	q, _ := bits.Div64(hi+c, lo, rate)
	return int64(q)
}

// SetPort configures a port.
func (s *Switch) SetPort(n uint32, c PortConfig) {
	pt := s.port(n)
	if n == s.opt.CPUPort && n != 0 {
		c.Down = false
	}
	changed := pt.cfg.Down != c.Down
	pt.cfg = c
	if c.RateBPS == 0 && c.RatePPS == 0 {
		pt.free = 0
	}
	if pt.pos >= 0 {
		s.reschedule(pt)
	}
	if changed {
		s.in.PortStatusChanged()
	}
}

// Port reads a port's configuration.
func (s *Switch) Port(n uint32) PortConfig { return s.port(n).cfg }

// PortStats reads a port's counters.
func (s *Switch) PortStats(n uint32) PortStats { return s.port(n).stats }

func (s *Switch) queue(n uint32, priority int) (*queue, error) {
	if priority < 0 || priority >= s.opt.PriorityQueues {
		return nil, fmt.Errorf("port %d: queue %d: %w, want 0 to %d", n, priority, pipeline.ErrInvalid, s.opt.PriorityQueues-1)
	}
	return s.port(n).queues[priority], nil
}

// SetQueue configures one queue of a port. Packets beyond a smaller depth stay.
func (s *Switch) SetQueue(n uint32, priority int, c QueueConfig) error {
	q, err := s.queue(n, priority)
	if err != nil {
		return err
	}
	if c.Depth < 0 {
		return fmt.Errorf("port %d: queue depth %d: %w", n, c.Depth, pipeline.ErrInvalid)
	}
	q.cfg = c
	if c.RatePPS == 0 {
		q.free = 0
	}
	if pt := s.port(n); pt.pos >= 0 {
		s.reschedule(pt)
	}
	return nil
}

// Queue reads one queue's configuration.
func (s *Switch) Queue(n uint32, priority int) (QueueConfig, error) {
	q, err := s.queue(n, priority)
	if err != nil {
		return QueueConfig{}, err
	}
	return q.cfg, nil
}

// QueueLen returns the number of packets in one queue, 0 if there is no such queue.
func (s *Switch) QueueLen(n uint32, priority int) int {
	q, err := s.queue(n, priority)
	if err != nil {
		return 0
	}
	return q.n
}
