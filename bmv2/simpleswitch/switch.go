// Package simpleswitch is the v1model architecture around a linked pipeline: parser, ingress, packet replication, queues,
// egress, deparser, clone, resubmit, recirculate and digest, with the semantics of bmv2's simple_switch.
//
// A Switch does no I/O, starts no goroutine and reads no clock. Drivers tell it the time in nanoseconds since the switch
// started; it is not safe for concurrent use. Times must not go back.
package simpleswitch

import (
	"fmt"

	"khop/bmv2/pipeline"
)

// Switch is one v1model switch.
type Switch struct {
	prog *pipeline.Program
	in   *pipeline.Instance
	st   *pipeline.State
	opt  Options
	std  stdFields

	pool   *packet
	spare  []uint64 // PHV to build the next pass's metadata in
	lastID uint64
	seq    uint64

	ports  []*port // by number, small ones
	far    map[uint32]*port
	heap   []*port // ports with queued packets, by next departure
	groups map[uint32][]Replica
	clones map[uint32]CloneSession

	drops      [NumReasons]uint64
	digestBuf  []byte
	digestVals [][]byte
}

// stdFields are the metadata fields that the architecture touches. Those of type optField may be missing.
type stdFields struct {
	ingressPort, packetLength, instanceType, egressSpec, egressPort pipeline.FieldRef

	parserError, checksumError, ingressTime, egressTime, mcastGrp, egressRid, priority, enqTime, enqDepth, deqDelta,
	deqDepth, qid optField
}

type optField struct {
	pipeline.FieldRef
	ok bool
}

func (f optField) set(w []uint64, v uint64) {
	if f.ok {
		f.Set(w, v)
	}
}

func (f optField) get(w []uint64) uint64 {
	if f.ok {
		return f.Get(w)
	}
	return 0
}

// Instance types, as standard_metadata.instance_type has them.
const (
	instanceNormal       = 0
	instanceIngressClone = 1
	instanceEgressClone  = 2
	instanceRecirc       = 4
	instanceReplication  = 5
	instanceResubmit     = 6
)

// New makes a switch that runs p. With a nil p it drops everything (DropNoProgram) until Swap.
func New(p *pipeline.Program, o Options) (*Switch, error) {
	if o.DropPort == 0 {
		o.DropPort = 511
	}
	if o.PriorityQueues == 0 {
		o.PriorityQueues = 1
	}
	if o.PriorityQueues < 1 || o.PriorityQueues > 8 {
		return nil, fmt.Errorf("%d priority queues: %w, want 1 to 8", o.PriorityQueues, pipeline.ErrInvalid)
	}
	if o.QueueDepth == 0 {
		o.QueueDepth = 64
	}
	if o.QueueDepth < 1 {
		return nil, fmt.Errorf("queue depth %d: %w, want at least 1", o.QueueDepth, pipeline.ErrInvalid)
	}
	if o.MaxPasses == 0 {
		o.MaxPasses = 256
	}
	s := &Switch{opt: o, far: map[uint32]*port{}}
	return s, s.Swap(p)
}

// Swap replaces the program; all state of tables, registers, queues, groups and sessions is reset. Port and queue
// configuration, statistics and drop counters stay. Queued packets are dropped and counted (DropSwap).
func (s *Switch) Swap(p *pipeline.Program) error {
	if s.in != nil {
		d := s.Drops()
		s.drops = d
	}
	for len(s.heap) > 0 {
		pt := s.heap[0]
		for _, q := range pt.queues {
			for x := q.pop(); x != nil; x = q.pop() {
				s.drops[DropSwap]++
			}
			q.free = 0
		}
		pt.free = 0
		s.reschedule(pt)
	}
	s.prog, s.pool = p, nil
	s.in = pipeline.NewInstance(p)
	s.in.Seed(s.opt.Seed)
	s.in.SetTracer(s.opt.Tracer)
	s.in.SetLog(s.opt.OnLog)
	s.in.SetPortStatus(s.portUp)
	s.st = s.in.State()
	s.st.DropPort = uint64(s.opt.DropPort)
	s.groups, s.clones = map[uint32][]Replica{}, map[uint32]CloneSession{}
	if p == nil {
		return nil
	}
	s.spare = make([]uint64, p.Words())
	must := func(name string) pipeline.FieldRef {
		f, _ := p.Std(name) // Link has checked that it is there
		return f
	}
	opt := func(name string) optField {
		f, ok := p.Std(name)
		return optField{f, ok}
	}
	s.std = stdFields{
		ingressPort:   must("standard_metadata.ingress_port"),
		packetLength:  must("standard_metadata.packet_length"),
		instanceType:  must("standard_metadata.instance_type"),
		egressSpec:    must("standard_metadata.egress_spec"),
		egressPort:    must("standard_metadata.egress_port"),
		parserError:   opt("standard_metadata.parser_error"),
		checksumError: opt("standard_metadata.checksum_error"),
		ingressTime:   opt("intrinsic_metadata.ingress_global_timestamp"),
		egressTime:    opt("intrinsic_metadata.egress_global_timestamp"),
		mcastGrp:      opt("intrinsic_metadata.mcast_grp"),
		egressRid:     opt("intrinsic_metadata.egress_rid"),
		priority:      opt("intrinsic_metadata.priority"),
		enqTime:       opt("queueing_metadata.enq_timestamp"),
		enqDepth:      opt("queueing_metadata.enq_qdepth"),
		deqDelta:      opt("queueing_metadata.deq_timedelta"),
		deqDepth:      opt("queueing_metadata.deq_qdepth"),
		qid:           opt("queueing_metadata.qid"),
	}
	return nil
}

// Program returns the program, nil if there is none.
func (s *Switch) Program() *pipeline.Program { return s.prog }

// Options returns the options with their defaults filled in.
func (s *Switch) Options() Options { return s.opt }

// SetTracer sets or removes (nil) the tracer.
func (s *Switch) SetTracer(t pipeline.Tracer) {
	s.opt.Tracer = t
	s.in.SetTracer(t)
}

// Drops returns the counters of dropped packets and of ignored operations by reason, indexed by Reason.
func (s *Switch) Drops() [NumReasons]uint64 {
	d := s.drops
	d[IgnoredIndex] += s.in.BadIndex
	d[IgnoredEmptyGroup] += s.in.EmptyGroup
	return d
}
