package p4rt

import (
	"sync"

	p4v1 "github.com/p4lang/p4runtime/go/p4/v1"
)

// outbox is the queue of messages to one stream. Putting never blocks, so that the switch never waits for a client; the
// messages that may be lost (packet-ins, digests, notifications) are refused when the client is too far behind.
type outbox struct {
	mu     sync.Mutex
	limit  int // messages; what may be lost is refused beyond it
	queue  []*p4v1.StreamMessageResponse
	signal chan struct{} // has a token while the queue may hold something
}

func newOutbox(limit int) *outbox {
	return &outbox{limit: limit, signal: make(chan struct{}, 1)}
}

func (o *outbox) setLimit(n int) {
	o.mu.Lock()
	o.limit = n
	o.mu.Unlock()
}

// put queues a message that must not be lost.
func (o *outbox) put(m *p4v1.StreamMessageResponse) {
	o.mu.Lock()
	o.queue = append(o.queue, m)
	o.mu.Unlock()
	o.wake()
}

// offer queues a message if there is room.
func (o *outbox) offer(m *p4v1.StreamMessageResponse) bool {
	o.mu.Lock()
	if len(o.queue) >= o.limit {
		o.mu.Unlock()
		return false
	}
	o.queue = append(o.queue, m)
	o.mu.Unlock()
	o.wake()
	return true
}

func (o *outbox) wake() {
	select {
	case o.signal <- struct{}{}:
	default:
	}
}

// take empties the queue into dst and takes dst's storage for the next messages.
func (o *outbox) take(dst []*p4v1.StreamMessageResponse) []*p4v1.StreamMessageResponse {
	clear(dst)
	o.mu.Lock()
	dst, o.queue = o.queue, dst[:0]
	o.mu.Unlock()
	return dst
}
