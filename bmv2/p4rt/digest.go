package p4rt

import (
	"math"

	p4v1 "github.com/p4lang/p4runtime/go/p4/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"khop/bmv2/simpleswitch"
)

// never is a switch time that does not come.
const never = math.MaxInt64

// anyListSize is the size of digest lists when the client leaves it to the server (max_list_size 0).
const anyListSize = 1024

// digestState is a digest: its configuration, the list under way, and what has been sent and not acknowledged
// (specification, section "DigestEntry").
type digestState struct {
	info   *digestInfo
	config *p4v1.DigestEntry_Config // nil while the digest is disabled

	buffer  []*p4v1.P4Data
	keys    []string // of buffer
	firstAt int64    // switch time of the first message in buffer
	known   map[string]bool

	lastList uint64
	sent     []sentList // by time
}

// sentList is a list that awaits its acknowledgement.
type sentList struct {
	id   uint64
	at   int64
	keys []string
}

func newDigestState(di *digestInfo) *digestState {
	return &digestState{info: di, known: map[string]bool{}}
}

// applyDigest configures a digest.
func (st *state) applyDigest(x *txn, typ p4v1.Update_Type, m *p4v1.DigestEntry, stats *statsBox) error {
	di, err := lookup("digest", m.GetDigestId(), st.info.digests, func(d *digestInfo) string { return d.name })
	if err != nil {
		return err
	}
	ds := st.digests[di.id]
	if ds == nil {
		return errorf(codes.NotFound, "digest %s is in P4Info, but not in the device config", di.name)
	}
	if err := exists(typ, ds.config != nil); err != nil {
		return wrap(err, "digest %s: the configuration", di.name)
	}
	old := ds.config
	if typ == p4v1.Update_DELETE {
		ds.config = nil
		ds.drop(stats)
	} else {
		c := m.GetConfig()
		if c.GetMaxTimeoutNs() < 0 || c.GetMaxListSize() < 0 || c.GetAckTimeoutNs() < 0 {
			return errorf(codes.InvalidArgument, "digest %s: max_timeout_ns, max_list_size and ack_timeout_ns must not be negative", di.name)
		}
		ds.config = &p4v1.DigestEntry_Config{}
		if c != nil {
			ds.config = proto.CloneOf(c)
		}
	}
	x.done(func() { ds.config = old })
	return nil
}

// Digest takes a digest message of the data plane. Its values are copied.
func (a *Agent) Digest(d simpleswitch.Digest) {
	a.stats.update(func(s *Stats) { s.Digests++ })
	var ds *digestState
	if a.active != nil && d.List < len(a.active.byDigest) {
		ds = a.active.byDigest[d.List]
	}
	if ds == nil || ds.config == nil {
		a.stats.update(func(s *Stats) { s.DigestsDropped++ })
		return
	}
	var k []byte
	for _, v := range d.Values {
		k = append(k, v...)
	}
	key := string(k)
	if ds.known[key] {
		a.stats.update(func(s *Stats) { s.DigestDuplicates++ })
		return
	}
	data, _ := ds.info.elem.toData(d.Values)
	if len(ds.buffer) == 0 {
		ds.firstAt = d.Now
	}
	ds.buffer = append(ds.buffer, data)
	ds.keys = append(ds.keys, key)
	ds.known[key] = true
	if ds.config.GetMaxTimeoutNs() == 0 || len(ds.buffer) >= ds.listSize() {
		a.sendDigest(ds, d.Now)
	}
}

func (ds *digestState) listSize() int {
	if n := int(ds.config.GetMaxListSize()); n > 0 {
		return n
	}
	return anyListSize
}

// sendDigest sends the list under way to the primaries.
func (a *Agent) sendDigest(ds *digestState, now int64) {
	n := len(ds.buffer)
	ds.lastList++
	m := &p4v1.StreamMessageResponse{Update: &p4v1.StreamMessageResponse_Digest{Digest: &p4v1.DigestList{
		DigestId: ds.info.id, ListId: ds.lastList, Data: ds.buffer, Timestamp: a.opts.Epoch + now}}}
	keys := ds.keys
	ds.buffer, ds.keys = nil, nil
	// Counted before it is queued, so that an acknowledgement never comes first.
	a.stats.update(func(s *Stats) { s.DigestLists++ })
	var buf [4]*outbox
	sent := false
	for _, o := range a.arb.primaries(buf[:0]) {
		sent = o.offer(m) || sent
	}
	switch {
	case !sent:
		ds.forget(keys)
		a.stats.update(func(s *Stats) {
			s.DigestLists--
			s.DigestsDropped += uint64(n)
		})
	case ds.config.GetAckTimeoutNs() == 0:
		ds.forget(keys)
		a.stats.update(func(s *Stats) { s.DigestListsLate++ })
	default:
		ds.sent = append(ds.sent, sentList{ds.lastList, now, keys})
	}
}

func (ds *digestState) forget(keys []string) {
	for _, k := range keys {
		delete(ds.known, k)
	}
}

// drop empties buffer and cache.
func (ds *digestState) drop(stats *statsBox) {
	buffered, late := len(ds.buffer), len(ds.sent)
	if buffered+late == 0 {
		return
	}
	ds.buffer, ds.keys, ds.sent = nil, nil, nil
	clear(ds.known)
	stats.update(func(s *Stats) {
		s.DigestsDropped += uint64(buffered)
		s.DigestListsLate += uint64(late)
	})
}

// forgetDigests empties the cache of every digest; the lists under way stay.
func (st *state) forgetDigests(stats *statsBox) {
	for _, ds := range st.byDigest {
		if ds == nil || len(ds.sent) == 0 {
			continue
		}
		late := len(ds.sent)
		for _, l := range ds.sent {
			ds.forget(l.keys)
		}
		ds.sent = nil
		stats.update(func(s *Stats) { s.DigestListsLate += uint64(late) })
	}
}

// nextDigest is the earliest switch time at which a list is due or an acknowledgement late.
func (st *state) nextDigest() int64 {
	at := int64(never)
	for _, ds := range st.byDigest {
		if ds == nil || ds.config == nil {
			continue
		}
		if len(ds.buffer) > 0 {
			at = min(at, addTime(ds.firstAt, ds.config.GetMaxTimeoutNs()))
		}
		if len(ds.sent) > 0 {
			at = min(at, addTime(ds.sent[0].at, ds.config.GetAckTimeoutNs()))
		}
	}
	return at
}

// addTime adds a duration to a time without overflow.
func addTime(t, d int64) int64 {
	if d > never-t {
		return never
	}
	return t + d
}

func (a *Agent) advanceDigests(now int64) {
	for _, ds := range a.active.byDigest {
		if ds == nil || ds.config == nil {
			continue
		}
		late := 0
		for len(ds.sent) > 0 && addTime(ds.sent[0].at, ds.config.GetAckTimeoutNs()) <= now {
			ds.forget(ds.sent[0].keys)
			ds.sent = ds.sent[1:]
			late++
		}
		if late > 0 {
			a.stats.update(func(s *Stats) { s.DigestListsLate += uint64(late) })
		}
		if len(ds.buffer) > 0 && addTime(ds.firstAt, ds.config.GetMaxTimeoutNs()) <= now {
			a.sendDigest(ds, now)
		}
	}
}

// ackDigest takes the acknowledgement of a list. One that comes too late is no error.
func (a *Agent) ackDigest(m *p4v1.DigestListAck) error {
	var err error
	a.target.Do(func(*simpleswitch.Switch, int64) {
		if a.active == nil {
			err = errorf(codes.FailedPrecondition, "device %d has no forwarding pipeline", a.id)
			return
		}
		if _, err = lookup("digest", m.GetDigestId(), a.active.info.digests, func(d *digestInfo) string { return d.name }); err != nil {
			return
		}
		ds := a.active.digests[m.GetDigestId()]
		if ds == nil {
			return
		}
		for i, l := range ds.sent {
			if l.id == m.GetListId() {
				ds.forget(l.keys)
				ds.sent = append(ds.sent[:i], ds.sent[i+1:]...)
				a.stats.update(func(s *Stats) { s.DigestListsAcked++ })
				return
			}
		}
	})
	return err
}
