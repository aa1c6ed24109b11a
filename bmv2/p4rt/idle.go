package p4rt

import (
	p4v1 "github.com/p4lang/p4runtime/go/p4/v1"
)

// Idle timeouts (specification, sections "Idle-timeout" and "Table Idle Timeout Notification"). The switch notes when an
// entry was last hit; the agent looks at the entries that may be due, not more often than AgentOptions.IdleScan, and sends one
// message for each table.

// age starts the idle clock of an entry anew.
func (st *state) age(e *entry, now int64) {
	if e.timeout > 0 {
		e.due = addTime(now, e.timeout)
		st.idleDue = min(st.idleDue, e.due)
	}
}

// nextIdle is the switch time of the next scan.
func (st *state) nextIdle(interval int64) int64 {
	if st.idleDue == never || st.idleLast == never {
		return st.idleDue
	}
	return max(st.idleDue, addTime(st.idleLast, interval))
}

func (a *Agent) scanIdle(now int64) {
	st := a.active
	st.idleLast, st.idleDue = now, never
	for _, ts := range st.tableOrder {
		if !ts.info.idle || ts.core == nil {
			continue
		}
		var idle []*p4v1.TableEntry
		for _, e := range ts.handles {
			if e == nil || e.timeout == 0 {
				continue
			}
			if e.due <= now {
				ce, err := st.sw.Entry(ts.info.name, e.handle)
				if err != nil {
					continue
				}
				// due counts from the last notification, which may be younger than the last hit.
				if hit := addTime(ce.LastHit, e.timeout); hit > e.due {
					e.due = hit
				}
				if e.due <= now {
					m := &p4v1.TableEntry{TableId: ts.info.id, Match: e.match, Priority: e.priority, Metadata: e.metadata, IdleTimeoutNs: e.timeout}
					setCookie(m, e.cookie)
					idle = append(idle, m)
					e.due = addTime(now, e.timeout)
				}
			}
			st.idleDue = min(st.idleDue, e.due)
		}
		if len(idle) > 0 {
			a.notifyIdle(idle, now)
		}
	}
}

func (a *Agent) notifyIdle(idle []*p4v1.TableEntry, now int64) {
	m := &p4v1.StreamMessageResponse{Update: &p4v1.StreamMessageResponse_IdleTimeoutNotification{
		IdleTimeoutNotification: &p4v1.IdleTimeoutNotification{TableEntry: idle, Timestamp: a.opts.Epoch + now}}}
	var buf [4]*outbox
	to := a.arb.primaries(buf[:0])
	a.stats.update(func(s *Stats) {
		for _, o := range to {
			if o.offer(m) {
				s.IdleNotifications++
			}
		}
	})
}
