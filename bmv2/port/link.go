package port

import (
	"context"
	"errors"
	"sync"
)

// linkQueue is the number of frames that each direction of an in-memory link holds.
const linkQueue = 1024

// Link makes an in-memory link: what is sent on one end is received on the other, in order. A direction whose receiver is
// 1024 frames behind loses frames.
func Link() (a, b Port) {
	x, y := newQueue(), newQueue()
	return &linkEnd{in: x, out: y}, &linkEnd{in: y, out: x}
}

// queue is a bounded ring of frames whose storage is reused.
type queue struct {
	mu     sync.Mutex
	frames [][]byte // ring; storage of taken frames stays for later ones
	head   int
	n      int
	closed bool
	signal chan struct{} // has a token while the queue may hold something
}

func newQueue() *queue {
	return &queue{frames: make([][]byte, linkQueue), signal: make(chan struct{}, 1)}
}

var errClosed = errors.New("the link is closed")

func (q *queue) put(frame []byte) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.closed:
		return errClosed
	case q.n == len(q.frames):
		return errFull
	}
	slot := &q.frames[(q.head+q.n)%len(q.frames)]
	*slot = append((*slot)[:0], frame...)
	q.n++
	q.wake()
	return nil
}

func (q *queue) wake() {
	select {
	case q.signal <- struct{}{}:
	default:
	}
}

// take moves the first frame into buf.
func (q *queue) take(buf []byte) (frame []byte, ok, closed bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.n == 0 {
		return buf, false, q.closed
	}
	slot := &q.frames[q.head]
	// Swapping storage saves the copy.
	frame, *slot = *slot, buf[:0]
	q.head = (q.head + 1) % len(q.frames)
	q.n--
	return frame, true, false
}

func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	q.wake()
	q.mu.Unlock()
}

type linkEnd struct {
	counters
	in, out *queue
}

func (l *linkEnd) Send(frame []byte) error {
	err := l.out.put(frame)
	l.tx(len(frame), err)
	return err
}

func (l *linkEnd) Run(ctx context.Context, recv func(frame []byte)) error {
	var buf []byte
	for {
		frame, ok, closed := l.in.take(buf)
		buf = frame
		switch {
		case ok:
			l.rx(len(frame))
			recv(frame)
			continue
		case closed:
			return nil
		}
		select {
		case <-l.in.signal:
		case <-ctx.Done():
			return nil
		}
	}
}

// Close closes both directions.
func (l *linkEnd) Close() error {
	l.in.close()
	l.out.close()
	return nil
}
