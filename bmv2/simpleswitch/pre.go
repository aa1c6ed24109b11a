package simpleswitch

import (
	"fmt"
	"maps"
	"slices"

	"khop/bmv2/pipeline"
)

// SetMulticastGroup creates or replaces a group, 1..65535. Copies are made in the order of replicas.
func (s *Switch) SetMulticastGroup(id uint32, replicas []Replica) error {
	if id == 0 || id > 0xffff {
		return fmt.Errorf("multicast group %d: %w, want 1 to 65535", id, pipeline.ErrInvalid)
	}
	s.groups[id] = slices.Clone(replicas)
	return nil
}

// DeleteMulticastGroup removes a group.
func (s *Switch) DeleteMulticastGroup(id uint32) error {
	if _, ok := s.groups[id]; !ok {
		return fmt.Errorf("multicast group %d: %w", id, pipeline.ErrNotFound)
	}
	delete(s.groups, id)
	return nil
}

// MulticastGroup reads a group.
func (s *Switch) MulticastGroup(id uint32) ([]Replica, bool) {
	rs, ok := s.groups[id]
	return slices.Clone(rs), ok
}

// MulticastGroups lists the ids of all groups, ascending.
func (s *Switch) MulticastGroups() []uint32 { return slices.Sorted(maps.Keys(s.groups)) }

// SetCloneSession creates or replaces a clone session, 0..32767.
func (s *Switch) SetCloneSession(id uint32, c CloneSession) error {
	if id > 0x7fff {
		return fmt.Errorf("clone session %d: %w, want 0 to 32767", id, pipeline.ErrInvalid)
	}
	if c.Class < 0 || c.Class >= s.opt.PriorityQueues {
		return fmt.Errorf("clone session %d: class of service %d: %w, want 0 to %d", id, c.Class, pipeline.ErrInvalid,
			s.opt.PriorityQueues-1)
	}
	if c.TruncateTo < 0 {
		return fmt.Errorf("clone session %d: length %d: %w", id, c.TruncateTo, pipeline.ErrInvalid)
	}
	c.Replicas = slices.Clone(c.Replicas)
	s.clones[id] = c
	return nil
}

// DeleteCloneSession removes a session.
func (s *Switch) DeleteCloneSession(id uint32) error {
	if _, ok := s.clones[id]; !ok {
		return fmt.Errorf("clone session %d: %w", id, pipeline.ErrNotFound)
	}
	delete(s.clones, id)
	return nil
}

// CloneSession reads a session.
func (s *Switch) CloneSession(id uint32) (CloneSession, bool) {
	c, ok := s.clones[id]
	c.Replicas = slices.Clone(c.Replicas)
	return c, ok
}

// CloneSessions lists the ids of all sessions, ascending.
func (s *Switch) CloneSessions() []uint32 { return slices.Sorted(maps.Keys(s.clones)) }
