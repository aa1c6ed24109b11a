package p4rt

import (
	"context"
	"sync"
)

// Stats counts what the server of one device sent and received, and what it is waiting for. Everything but the two
// states at the end only grows.
type Stats struct {
	Writes       uint64 // Write calls that reached the device, also failed ones
	Updates      uint64 // updates in them that succeeded
	UpdateErrors uint64 // updates in them that failed
	Reads        uint64
	Pipelines    uint64 // pipelines committed

	PacketOuts       uint64 // injected at the CPU port
	PacketOutErrors  uint64 // refused: no primary, or metadata against P4Info
	PacketIns        uint64 // queued to a primary
	PacketInsDropped uint64 // no primary to take it, stream too slow, or shorter than its header

	Digests          uint64 // digest messages of the data plane, before duplicates are filtered
	DigestDuplicates uint64 // filtered: in the list under way, or sent and not yet acknowledged
	DigestsDropped   uint64 // messages not sent: digest not enabled, or no primary
	DigestLists      uint64 // queued to a primary
	DigestListsAcked uint64
	DigestListsLate  uint64 // acknowledgement timed out

	IdleNotifications uint64 // stream messages
	StreamErrors      uint64 // StreamError messages sent

	Streams int  // streams that have done arbitration
	Primary bool // some role has a primary
}

// DigestsPending is the number of digest lists that await their acknowledgement.
func (s Stats) DigestsPending() uint64 { return s.DigestLists - s.DigestListsAcked - s.DigestListsLate }

// statsBox holds Stats and wakes those who wait for them to change.
type statsBox struct {
	mu      sync.Mutex
	s       Stats
	changed chan struct{} // closed and replaced at a change; nil while nobody waits
}

func (b *statsBox) update(f func(*Stats)) {
	b.mu.Lock()
	f(&b.s)
	if b.changed != nil {
		close(b.changed)
		b.changed = nil
	}
	b.mu.Unlock()
}

func (b *statsBox) get() Stats {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.s
}

func (b *statsBox) wait(ctx context.Context, ok func(Stats) bool) (Stats, error) {
	for {
		b.mu.Lock()
		s := b.s
		if ok(s) {
			b.mu.Unlock()
			return s, nil
		}
		if b.changed == nil {
			b.changed = make(chan struct{})
		}
		ch := b.changed
		b.mu.Unlock()
		select {
		case <-ch:
		case <-ctx.Done():
			return s, ctx.Err()
		}
	}
}
