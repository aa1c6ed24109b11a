package probe

import "slices"

// Slot is a next hop of the k-best table.
type Slot struct {
	Port  uint16 // 0: empty
	Util  uint8
	Time  uint64 // of the last probe, microseconds
	Round uint32
}

// older reports whether round a comes before b, as serial numbers (RFC 1982) that wrap.
func older(a, b uint32) bool { return int32(a-b) < 0 }

// Outcome is what became of a probe.
type Outcome uint8

// The outcomes.
const (
	SentOn     Outcome = iota + 1 // goes on, with the probe that [Destination.Update] returns
	Suppressed                    // told nothing new
	Old                           // of an older round than its port's slot has
)

// String names the outcome.
func (o Outcome) String() string {
	return [...]string{"none", "sent on", "suppressed", "old round"}[min(o, Old)]
}

// Destination is what a switch knows about one ToR: the k best next hops towards it, best first, and what it last told others.
type Destination struct {
	Slots     []Slot // k of them, sorted by (stale, utilisation, port) when they last changed
	SentRound uint32
	SentUtil  uint8
}

// NewDestination returns a destination without next hops.
func NewDestination(k int) *Destination { return &Destination{Slots: make([]Slot, k)} }

// Update takes a probe that came in by port at a time. util is the larger of the probe's utilisation and the load of the port; fresh tells
// which slots count as next hops: not empty, not aged, port alive.
//
// The rule is present-first: the slot of the port is refreshed in place, better or worse; else the first stale slot is taken; else the
// worst is evicted if the probe is better. A probe of an older round never overwrites a fresh slot. With k = 1 this is HULA: a probe is
// accepted if it is better, comes by the best hop, or the entry has aged.
//
// The returned probe is due to the other switches if the outcome is SentOn: once for each new round, and whenever the best
// utilisation changes. After an outage (no slot was fresh) any round is new.
func (d *Destination) Update(now uint64, port uint16, util uint8, round uint32, fresh func(Slot) bool) (Probe, Outcome) {
	hadFresh := slices.ContainsFunc(d.Slots, fresh)
	stale := func(s Slot) bool { return !fresh(s) }
	at := slices.IndexFunc(d.Slots, func(s Slot) bool { return s.Port == port })
	if at >= 0 {
		if s := d.Slots[at]; fresh(s) && older(round, s.Round) {
			return Probe{}, Old
		}
	} else if at = slices.IndexFunc(d.Slots, stale); at < 0 {
		if worst := d.Slots[len(d.Slots)-1]; util < worst.Util && !older(round, worst.Round) {
			at = len(d.Slots) - 1
		}
	}
	if at >= 0 {
		d.Slots[at] = Slot{Port: port, Util: util, Time: now, Round: round}
		slices.SortStableFunc(d.Slots, func(a, b Slot) int {
			// The probe's own slot is fresh by definition; so it is for the caller's rule, since the port has just seen a probe.
			if fa, fb := fresh(a), fresh(b); fa != fb {
				if fa {
					return -1
				}
				return 1
			}
			if a.Util != b.Util {
				return int(a.Util) - int(b.Util)
			}
			return int(a.Port) - int(b.Port)
		})
	}
	newRound := !hadFresh || round != d.SentRound && !older(round, d.SentRound)
	if newRound {
		d.SentRound = round
	}
	best := d.Slots[0].Util
	if !newRound && best == d.SentUtil {
		return Probe{}, Suppressed
	}
	d.SentUtil = best
	return Probe{PathUtil: best, Round: d.SentRound}, SentOn
}
