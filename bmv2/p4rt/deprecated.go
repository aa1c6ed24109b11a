//lint:file-ignore SA1019 The fields here are deprecated in P4Runtime, but still part of it: clients send and read them.

package p4rt

import (
	p4v1 "github.com/p4lang/p4runtime/go/p4/v1"
)

// cookieOf is the controller_metadata of an entry (deprecated in favour of metadata).
func cookieOf(m *p4v1.TableEntry) uint64 { return m.GetControllerMetadata() }

func setCookie(m *p4v1.TableEntry, v uint64) { m.ControllerMetadata = v }

// roleID is the number of a role (deprecated in 1.4.0 in favour of its name).
func roleID(m *p4v1.Role) uint64 { return m.GetId() }

// watchOf is what a group member watches; both fields are bytes of a port number, the older one as a number.
type watchOf interface {
	GetWatchPort() []byte
	GetWatch() int32
}

// watched is the port that a member depends on, in the form of watch_port; nil for none.
func watched(m watchOf) []byte {
	if p := m.GetWatchPort(); len(p) > 0 {
		return p
	}
	if p := m.GetWatch(); p > 0 {
		return encodeUint(uint64(p))
	}
	return nil
}

// replicaPort is the port of a replica in the form of port; nil if it is not set.
func replicaPort(r *p4v1.Replica) []byte {
	switch k := r.GetPortKind().(type) {
	case *p4v1.Replica_Port:
		return k.Port
	case *p4v1.Replica_EgressPort:
		return encodeUint(uint64(k.EgressPort))
	}
	return nil
}
