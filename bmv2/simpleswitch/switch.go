// Package simpleswitch is the v1model architecture around a linked pipeline: parser, ingress, packet replication, queues,
// egress, deparser, clone, resubmit, recirculate and digest, with the semantics of bmv2's simple_switch.
//
// A Switch does no I/O, starts no goroutine and reads no clock. Drivers tell it the time in nanoseconds since the switch
// started; it is not safe for concurrent use.
package simpleswitch

import "khop/bmv2/pipeline"

// Switch is one v1model switch.
type Switch struct {
	prog *pipeline.Program
	in   *pipeline.Instance
	opt  Options
}

// New makes a switch that runs p. With a nil p it drops everything (DropNoProgram) until Swap.
func New(p *pipeline.Program, o Options) (*Switch, error) {
	s := &Switch{opt: o}
	return s, s.Swap(p)
}

// Swap replaces the program; all state of tables, registers, queues, groups and sessions is reset. Port configuration and
// statistics, and drop counters, stay.
func (s *Switch) Swap(p *pipeline.Program) error {
	s.prog = p
	s.in = pipeline.NewInstance(p)
	return nil
}

// Program returns the program, nil if there is none.
func (s *Switch) Program() *pipeline.Program { return s.prog }

// Options returns the options with their defaults filled in.
func (s *Switch) Options() Options { return s.opt }

// Receive takes a frame that arrived on a port: parser and ingress run at once and copies are queued. The frame is copied.
func (s *Switch) Receive(now int64, port uint32, frame []byte) {}

// NextDeparture returns the earliest time at which a queued packet may leave its queue.
func (s *Switch) NextDeparture() (at int64, ok bool) { return 0, false }

// Transmit runs egress for every packet that is due by now, in order of departure time, and emits what leaves. The frame
// is valid during the call; emit must not call into the switch.
func (s *Switch) Transmit(now int64, emit func(port uint32, frame []byte)) {}

// SetMulticastGroup creates or replaces a group, 1..65535. Copies are made in the order of replicas.
func (s *Switch) SetMulticastGroup(id uint32, replicas []Replica) error { return nil }

// DeleteMulticastGroup removes a group.
func (s *Switch) DeleteMulticastGroup(id uint32) error { return nil }

// MulticastGroup reads a group.
func (s *Switch) MulticastGroup(id uint32) ([]Replica, bool) { return nil, false }

// MulticastGroups lists the ids of all groups, ascending.
func (s *Switch) MulticastGroups() []uint32 { return nil }

// SetCloneSession creates or replaces a clone session, 0..32767.
func (s *Switch) SetCloneSession(id uint32, c CloneSession) error { return nil }

// DeleteCloneSession removes a session.
func (s *Switch) DeleteCloneSession(id uint32) error { return nil }

// CloneSession reads a session.
func (s *Switch) CloneSession(id uint32) (CloneSession, bool) { return CloneSession{}, false }

// CloneSessions lists the ids of all sessions, ascending.
func (s *Switch) CloneSessions() []uint32 { return nil }

// SetPort configures a port.
func (s *Switch) SetPort(port uint32, c PortConfig) {}

// Port reads a port's configuration.
func (s *Switch) Port(port uint32) PortConfig { return PortConfig{} }

// PortStats reads a port's counters.
func (s *Switch) PortStats(port uint32) PortStats { return PortStats{} }

// SetQueue configures one queue of a port.
func (s *Switch) SetQueue(port uint32, priority int, c QueueConfig) error { return nil }

// Queue reads one queue's configuration.
func (s *Switch) Queue(port uint32, priority int) (QueueConfig, error) { return QueueConfig{}, nil }

// QueueLen returns the number of packets in one queue.
func (s *Switch) QueueLen(port uint32, priority int) int { return 0 }

// Drops returns the counters of dropped packets and of ignored operations by reason, indexed by Reason.
func (s *Switch) Drops() [NumReasons]uint64 { return [NumReasons]uint64{} }
