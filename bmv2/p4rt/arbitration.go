package p4rt

import (
	"cmp"
	"fmt"
	"sync"

	p4v1 "github.com/p4lang/p4runtime/go/p4/v1"
	rpcstatus "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// electionID is a 128-bit number; the zero number is a valid id, an unset one is nil.
type electionID struct{ high, low uint64 }

func newElectionID(m *p4v1.Uint128) *electionID {
	if m == nil {
		return nil
	}
	return &electionID{m.GetHigh(), m.GetLow()}
}

func (e *electionID) proto() *p4v1.Uint128 {
	if e == nil {
		return nil
	}
	return &p4v1.Uint128{High: e.high, Low: e.low}
}

// compare orders ids; an unset one is lower than any.
func (e *electionID) compare(f *electionID) int {
	switch {
	case e == nil && f == nil:
		return 0
	case e == nil:
		return -1
	case f == nil:
		return 1
	}
	return cmp.Or(cmp.Compare(e.high, f.high), cmp.Compare(e.low, f.low))
}

// session is one StreamChannel.
type session struct {
	out      *outbox
	live     bool // has sent a successful MasterArbitrationUpdate
	role     string
	election *electionID
}

// role is the arbitration state of one (device, role). Sessions are in the order in which they came.
type role struct {
	name     string
	sessions []*session
	highest  *electionID // highest id ever seen; survives its session
	primary  *session
	writes   int // Write calls under way that the primary, or its predecessor, was allowed to make
}

// arbiter decides who is the primary of each role of one device (specification, section "Client Arbitration and
// Controller Replication"). A primary that leaves is not replaced until a client comes with an id at least as high as the
// highest ever seen.
type arbiter struct {
	device uint64
	limit  int // streams a role may have
	stats  *statsBox

	order sync.Mutex // serialises changes, which may wait for writes under way
	mu    sync.Mutex // guards all below, and the sessions
	idle  sync.Cond  // some role has no write under way
	roles map[string]*role
}

func newArbiter(device uint64, limit int, stats *statsBox) *arbiter {
	a := &arbiter{device: device, limit: limit, stats: stats, roles: map[string]*role{"": {}}}
	a.idle.L = &a.mu
	return a
}

// update handles a MasterArbitrationUpdate for this device. An error ends the stream. changed tells that the primary of
// the role is now another client than before, or none.
func (a *arbiter) update(s *session, m *p4v1.MasterArbitrationUpdate) (changed bool, err error) {
	name := m.GetRole().GetName()
	id := newElectionID(m.GetElectionId())
	if m.GetRole().GetConfig() != nil {
		return false, status.Errorf(codes.InvalidArgument, "role %q: no scheme for role.config has been agreed upon with this server; leave it unset for full pipeline access", name)
	}
	if name == "" && roleID(m.GetRole()) != 0 {
		return false, status.Error(codes.InvalidArgument, "role.id is deprecated since P4Runtime 1.4.0 and not supported; use role.name")
	}
	a.order.Lock()
	defer a.order.Unlock()
	a.mu.Lock()
	defer a.mu.Unlock()
	if s.live && s.role != name {
		return false, status.Errorf(codes.FailedPrecondition, "this stream has the role %q and cannot change it to %q; open another stream", s.role, name)
	}
	r := a.roles[name]
	if r == nil {
		r = &role{name: name}
		a.roles[name] = r
	}
	if id != nil {
		for _, other := range r.sessions {
			if other != s && other.election != nil && *other.election == *id {
				return false, status.Errorf(codes.InvalidArgument, "election id (%d, %d) is in use by another client of device %d, role %q", id.high, id.low, a.device, name)
			}
		}
	}
	if !s.live {
		if len(r.sessions) >= a.limit {
			return false, status.Errorf(codes.ResourceExhausted, "device %d, role %q has %d streams, which is the limit", a.device, name, a.limit)
		}
		s.live, s.role = true, name
		r.sessions = append(r.sessions, s)
	}
	s.election = id
	before := r.primary
	switch {
	case id != nil && id.compare(r.highest) >= 0:
		hadPrimary := r.primary != nil || r.writes > 0
		r.primary = nil // no write is accepted from here
		r.highest = id
		if hadPrimary {
			for _, other := range r.sessions {
				if other != s {
					a.notify(r, other, codes.AlreadyExists)
				}
			}
			for r.writes > 0 {
				a.idle.Wait()
			}
		}
		r.primary = s
		if hadPrimary {
			a.notify(r, s, codes.OK)
		} else {
			a.notifyAll(r)
		}
	case r.primary == s:
		r.primary = nil
		a.notifyAll(r)
	default:
		a.notifyAs(r, s)
	}
	a.count()
	return r.primary != before, nil
}

// leave ends a session. If it was the primary, the role is without one, and all others are told.
func (a *arbiter) leave(s *session) (wasPrimary bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !s.live {
		return false
	}
	r := a.roles[s.role]
	for i, other := range r.sessions {
		if other == s {
			r.sessions = append(r.sessions[:i], r.sessions[i+1:]...)
			break
		}
	}
	if r.primary == s {
		r.primary = nil
		a.notifyAll(r)
		wasPrimary = true
	}
	a.count()
	return wasPrimary
}

// notifyAll tells every client of a role how things stand.
func (a *arbiter) notifyAll(r *role) {
	for _, s := range r.sessions {
		a.notifyAs(r, s)
	}
}

func (a *arbiter) notifyAs(r *role, s *session) {
	switch r.primary {
	case s:
		a.notify(r, s, codes.OK)
	case nil:
		a.notify(r, s, codes.NotFound)
	default:
		a.notify(r, s, codes.AlreadyExists)
	}
}

func (a *arbiter) notify(r *role, s *session, code codes.Code) {
	m := &p4v1.MasterArbitrationUpdate{DeviceId: a.device, ElectionId: r.highest.proto(), Status: &rpcstatus.Status{Code: int32(code)}}
	if r.name != "" {
		m.Role = &p4v1.Role{Name: r.name}
	}
	switch code {
	case codes.OK:
		m.Status.Message = "you are the primary"
	case codes.AlreadyExists:
		m.Status.Message = "another client is the primary"
	default:
		m.Status.Message = "there is no primary"
	}
	s.out.put(&p4v1.StreamMessageResponse{Update: &p4v1.StreamMessageResponse_Arbitration{Arbitration: m}})
}

// beginWrite checks that a client may write, by its role and election id; done must be called after the write.
func (a *arbiter) beginWrite(name string, m *p4v1.Uint128) (done func(), err error) {
	id := newElectionID(m)
	a.mu.Lock()
	defer a.mu.Unlock()
	r := a.roles[name]
	if r == nil {
		return nil, status.Errorf(codes.NotFound, "device %d has no role %q; a client must first send a MasterArbitrationUpdate for it", a.device, name)
	}
	switch {
	case r.primary == nil:
		return nil, status.Errorf(codes.PermissionDenied, "device %d, role %q has no primary; send a MasterArbitrationUpdate with an election id of at least %s", a.device, name, r.highest)
	case id == nil:
		return nil, status.Error(codes.PermissionDenied, "the request has no election_id; only the primary may write")
	case id.compare(r.primary.election) != 0:
		return nil, status.Errorf(codes.PermissionDenied, "election id %s is not the primary's of device %d, role %q, which is %s", id, a.device, name, r.primary.election)
	}
	r.writes++
	return func() {
		a.mu.Lock()
		if r.writes--; r.writes == 0 {
			a.idle.Broadcast()
		}
		a.mu.Unlock()
	}, nil
}

// primaries returns the outboxes of the primaries of all roles, the default role first, then by name.
func (a *arbiter) primaries(dst []*outbox) []*outbox {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, name := range a.roleNames() {
		if p := a.roles[name].primary; p != nil {
			dst = append(dst, p.out)
		}
	}
	return dst
}

// isPrimary tells whether a stream belongs to a primary.
func (a *arbiter) isPrimary(s *session) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return s.live && a.roles[s.role].primary == s
}

func (a *arbiter) roleNames() []string {
	if len(a.roles) == 1 {
		return defaultRoleOnly
	}
	return sortedNames(a.roles, func(r *role) string { return r.name })
}

var defaultRoleOnly = []string{""}

func (a *arbiter) count() {
	streams, primary := 0, false
	for _, r := range a.roles {
		streams += len(r.sessions)
		primary = primary || r.primary != nil
	}
	a.stats.update(func(s *Stats) { s.Streams, s.Primary = streams, primary })
}

// String writes an id for a message.
func (e *electionID) String() string {
	switch {
	case e == nil:
		return "(0, 0)"
	default:
		return fmt.Sprintf("(%d, %d)", e.high, e.low)
	}
}
