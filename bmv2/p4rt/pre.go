package p4rt

import (
	"bytes"
	"math"

	p4v1 "github.com/p4lang/p4runtime/go/p4/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"khop/bmv2/simpleswitch"
)

// Limits of the packet replication engine of v1model: standard_metadata.mcast_grp and egress_rid have 16 bits, ports 9, and a
// clone session 15, as in simple_switch.
const (
	maxGroup    = math.MaxUint16
	maxInstance = math.MaxUint16
	maxPort     = 1<<9 - 1
	maxSession  = math.MaxInt16
)

// decodePort is the switch port of an SDN port number. The numbers are the same, except for the reserved number of the CPU
// port (p4.v1.SdnPort).
func decodePort(t Target, b []byte) (uint32, error) {
	v, err := decodeUint(b, 32)
	if err != nil {
		return 0, err
	}
	cpu := p4v1.SdnPort_SDN_PORT_CPU
	if uint32(v) == uint32(cpu) {
		if p, ok := t.CPUPort(); ok {
			return p, nil
		}
		return 0, errorf(codes.InvalidArgument, "the port is SDN_PORT_CPU, but the device has no CPU port")
	}
	if v > maxPort {
		return 0, errorf(codes.InvalidArgument, "the port is %d; ports have 9 bits (0 to %d)", v, maxPort)
	}
	return uint32(v), nil
}

// decodeReplicas checks the replicas of a group or session.
func decodeReplicas(t Target, list []*p4v1.Replica) ([]simpleswitch.Replica, error) {
	out := make([]simpleswitch.Replica, 0, len(list))
	seen := make(map[simpleswitch.Replica]int, len(list))
	for i, r := range list {
		if len(r.GetBackupReplicas()) > 0 {
			return nil, errorf(codes.Unimplemented, "replica %d: backup replicas are not supported", i)
		}
		raw := replicaPort(r)
		if raw == nil {
			return nil, errorf(codes.InvalidArgument, "replica %d: the port is missing", i)
		}
		port, err := decodePort(t, raw)
		if err != nil {
			return nil, errorf(codes.InvalidArgument, "replica %d: %s", i, err)
		}
		if r.GetInstance() > maxInstance {
			return nil, errorf(codes.InvalidArgument, "replica %d: the instance is %d; it has 16 bits (0 to %d)", i, r.GetInstance(), maxInstance)
		}
		c := simpleswitch.Replica{Port: port, Instance: uint16(r.GetInstance())}
		if j, dup := seen[c]; dup {
			return nil, errorf(codes.InvalidArgument, "replicas %d and %d have the same port %d and instance %d", j, i, port, c.Instance)
		}
		seen[c] = i
		out = append(out, c)
	}
	return out, nil
}

func (st *state) applyPRE(x *txn, typ p4v1.Update_Type, m *p4v1.PacketReplicationEngineEntry) error {
	switch t := m.GetType().(type) {
	case *p4v1.PacketReplicationEngineEntry_MulticastGroupEntry:
		return wrap(st.applyMulticast(x, typ, t.MulticastGroupEntry), "multicast group %d", t.MulticastGroupEntry.GetMulticastGroupId())
	case *p4v1.PacketReplicationEngineEntry_CloneSessionEntry:
		return wrap(st.applyClone(x, typ, t.CloneSessionEntry), "clone session %d", t.CloneSessionEntry.GetSessionId())
	}
	return errorf(codes.InvalidArgument, "the packet replication engine entry is empty; it holds a multicast_group_entry or a clone_session_entry")
}

// exists checks an update type against whether its object exists.
func exists(typ p4v1.Update_Type, is bool) error {
	switch {
	case typ == p4v1.Update_INSERT && is:
		return errorf(codes.AlreadyExists, "it exists already")
	case typ != p4v1.Update_INSERT && !is:
		return errorf(codes.NotFound, "it does not exist")
	}
	return nil
}

// applyMulticast writes a multicast group (specification, section "MulticastGroupEntry").
func (st *state) applyMulticast(x *txn, typ p4v1.Update_Type, m *p4v1.MulticastGroupEntry) error {
	id := m.GetMulticastGroupId()
	if id == 0 || id > maxGroup {
		return errorf(codes.InvalidArgument, "the group id must be 1 to %d", maxGroup)
	}
	old := st.multicast[id]
	if err := exists(typ, old != nil); err != nil {
		return err
	}
	before, _ := st.sw.MulticastGroup(id)
	before = append([]simpleswitch.Replica(nil), before...)
	if typ == p4v1.Update_DELETE {
		if err := st.sw.DeleteMulticastGroup(id); err != nil {
			return switchError(err)
		}
		delete(st.multicast, id)
	} else {
		replicas, err := decodeReplicas(x.target, m.GetReplicas())
		if err != nil {
			return err
		}
		if err := st.sw.SetMulticastGroup(id, replicas); err != nil {
			return switchError(err)
		}
		c := proto.CloneOf(m)
		canonicalPorts(c.Replicas)
		st.multicast[id] = c
	}
	x.done(func() {
		if old == nil {
			_ = st.sw.DeleteMulticastGroup(id)
			delete(st.multicast, id)
			return
		}
		_ = st.sw.SetMulticastGroup(id, before)
		st.multicast[id] = old
	})
	return nil
}

// applyClone writes a clone session (specification, section "CloneSessionEntry").
func (st *state) applyClone(x *txn, typ p4v1.Update_Type, m *p4v1.CloneSessionEntry) error {
	id := m.GetSessionId()
	if id == 0 || id > maxSession {
		return errorf(codes.InvalidArgument, "the session id must be 1 to %d", maxSession)
	}
	old := st.clones[id]
	if err := exists(typ, old != nil); err != nil {
		return err
	}
	before, _ := st.sw.CloneSession(id)
	before.Replicas = append([]simpleswitch.Replica(nil), before.Replicas...)
	if typ == p4v1.Update_DELETE {
		if err := st.sw.DeleteCloneSession(id); err != nil {
			return switchError(err)
		}
		delete(st.clones, id)
	} else {
		replicas, err := decodeReplicas(x.target, m.GetReplicas())
		if err != nil {
			return err
		}
		queues := max(1, st.sw.Options().PriorityQueues)
		switch {
		case m.GetClassOfService() >= uint32(queues):
			return errorf(codes.InvalidArgument, "class_of_service is %d; the switch has %d priority queue(s), so it must be 0 to %d", m.GetClassOfService(), queues, queues-1)
		case m.GetPacketLengthBytes() < 0:
			return errorf(codes.InvalidArgument, "packet_length_bytes is %d; it must not be negative", m.GetPacketLengthBytes())
		}
		s := simpleswitch.CloneSession{Replicas: replicas, Class: int(m.GetClassOfService()), TruncateTo: int(m.GetPacketLengthBytes())}
		if err := st.sw.SetCloneSession(id, s); err != nil {
			return switchError(err)
		}
		c := proto.CloneOf(m)
		canonicalPorts(c.Replicas)
		st.clones[id] = c
	}
	x.done(func() {
		if old == nil {
			_ = st.sw.DeleteCloneSession(id)
			delete(st.clones, id)
			return
		}
		_ = st.sw.SetCloneSession(id, before)
		st.clones[id] = old
	})
	return nil
}

// canonicalPorts gives port numbers their shortest form, in place.
func canonicalPorts(list []*p4v1.Replica) {
	for _, r := range list {
		if p, ok := r.GetPortKind().(*p4v1.Replica_Port); ok {
			p.Port = bytes.Clone(canonical(p.Port))
		}
	}
}
