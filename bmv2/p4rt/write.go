package p4rt

import (
	"context"

	p4v1 "github.com/p4lang/p4runtime/go/p4/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"khop/bmv2/simpleswitch"
)

// writeChunk is the number of updates after which a batch lets packets pass, so that a large one does not hold up the switch.
const writeChunk = 256

// Write implements P4Runtime. Updates are processed in their order.
func (s *Server) Write(ctx context.Context, r *p4v1.WriteRequest) (*p4v1.WriteResponse, error) {
	a, err := s.agent(r.GetDeviceId())
	if err != nil {
		return nil, err
	}
	done, err := a.arb.beginWrite(r.GetRole(), r.GetElectionId())
	if err != nil {
		return nil, err
	}
	defer done()
	switch r.GetAtomicity() {
	case p4v1.WriteRequest_CONTINUE_ON_ERROR, p4v1.WriteRequest_ROLLBACK_ON_ERROR, p4v1.WriteRequest_DATAPLANE_ATOMIC:
	default:
		return nil, status.Errorf(codes.InvalidArgument, "atomicity %d is unknown; the valid ones are CONTINUE_ON_ERROR, ROLLBACK_ON_ERROR and DATAPLANE_ATOMIC", r.GetAtomicity())
	}
	a.requests.Lock()
	defer a.requests.Unlock()
	errs, err := a.write(r)
	if err != nil {
		return nil, err
	}
	failed := 0
	for _, e := range errs {
		if e != nil {
			failed++
		}
	}
	a.stats.update(func(s *Stats) {
		s.Writes++
		s.Updates += uint64(len(errs) - failed)
		s.UpdateErrors += uint64(failed)
	})
	if failed > 0 {
		return nil, batchStatus("updates", errs, clientLimit(ctx))
	}
	return &p4v1.WriteResponse{}, nil
}

// current is the state that requests refer to: a saved pipeline that is not yet committed, else the active one; nil before
// the first pipeline.
func (a *Agent) current() *state {
	if a.saved != nil {
		return a.saved
	}
	return a.active
}

// write applies a batch and returns one error, or nil, for each update. An atomic batch runs with the switch held
// throughout; the first error takes everything back.
func (a *Agent) write(r *p4v1.WriteRequest) ([]error, error) {
	st := a.current()
	if st == nil {
		return nil, status.Errorf(codes.FailedPrecondition, "device %d has no forwarding pipeline; set one first", a.id)
	}
	errs := make([]error, len(r.GetUpdates()))
	atomic := r.GetAtomicity() != p4v1.WriteRequest_CONTINUE_ON_ERROR
	chunk := writeChunk
	if atomic {
		chunk = len(errs)
	}
	for from := 0; from < len(errs); from += chunk {
		a.target.Do(func(_ *simpleswitch.Switch, now int64) {
			x := &txn{target: a.target, now: now, record: atomic}
			for i := from; i < min(from+chunk, len(errs)); i++ {
				if errs[i] = a.apply(st, x, r.Updates[i]); errs[i] == nil || !atomic {
					continue
				}
				x.rollback()
				for j := range errs {
					if j != i {
						errs[j] = errorf(codes.Aborted, "not applied: update %d of the atomic batch failed", i)
					}
				}
				return
			}
		})
	}
	return errs, nil
}

// apply makes one update.
func (a *Agent) apply(st *state, x *txn, u *p4v1.Update) error {
	typ := u.GetType()
	switch typ {
	case p4v1.Update_INSERT, p4v1.Update_MODIFY, p4v1.Update_DELETE:
	default:
		return errorf(codes.InvalidArgument, "the update type is %s; the valid ones are INSERT, MODIFY and DELETE", typ)
	}
	switch e := u.GetEntity().GetEntity().(type) {
	case *p4v1.Entity_TableEntry:
		return st.applyTable(x, typ, e.TableEntry)
	case *p4v1.Entity_ActionProfileMember:
		return st.applyMember(x, typ, e.ActionProfileMember)
	case *p4v1.Entity_ActionProfileGroup:
		return st.applyGroup(x, typ, e.ActionProfileGroup)
	case *p4v1.Entity_CounterEntry:
		return st.applyCounter(x, typ, e.CounterEntry)
	case *p4v1.Entity_DirectCounterEntry:
		return st.applyDirectCounter(x, typ, e.DirectCounterEntry)
	case *p4v1.Entity_MeterEntry:
		return st.applyMeter(x, typ, e.MeterEntry)
	case *p4v1.Entity_DirectMeterEntry:
		return st.applyDirectMeter(x, typ, e.DirectMeterEntry)
	case *p4v1.Entity_PacketReplicationEngineEntry:
		return st.applyPRE(x, typ, e.PacketReplicationEngineEntry)
	case *p4v1.Entity_ValueSetEntry:
		return st.applyValueSet(x, typ, e.ValueSetEntry)
	case *p4v1.Entity_RegisterEntry:
		return st.applyRegister(x, typ, e.RegisterEntry)
	case *p4v1.Entity_DigestEntry:
		return st.applyDigest(x, typ, e.DigestEntry, &a.stats)
	case *p4v1.Entity_ExternEntry:
		return errorf(codes.Unimplemented, "v1model has no other externs than those with entities of their own")
	}
	return errEmptyEntity
}

var errEmptyEntity = errorf(codes.InvalidArgument, "the entity is empty; the valid ones are table_entry, action_profile_member, action_profile_group, "+
	"meter_entry, direct_meter_entry, counter_entry, direct_counter_entry, packet_replication_engine_entry, value_set_entry, register_entry and digest_entry")
