package device

import (
	"slices"
	"sync"
)

// ManualClock stands still until [ManualClock.Advance]: for tests that need no sleep, and are the same each time.
type ManualClock struct {
	epoch  int64
	mu     sync.Mutex
	now    int64
	timers []*manualTimer
}

type manualTimer struct {
	at int64
	f  func()
}

// NewManualClock is a clock at 0; epoch is the time of day then, in nanoseconds since the Unix epoch.
func NewManualClock(epoch int64) *ManualClock { return &ManualClock{epoch: epoch} }

// Now implements [Clock].
func (c *ManualClock) Now() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Epoch implements [Clock].
func (c *ManualClock) Epoch() int64 { return c.epoch }

// AfterFunc implements [Clock], except that f runs on the goroutine of Advance.
func (c *ManualClock) AfterFunc(d int64, f func()) func() {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &manualTimer{c.now + d, f}
	c.timers = append(c.timers, t)
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.timers = slices.DeleteFunc(c.timers, func(o *manualTimer) bool { return o == t })
	}
}

// Advance moves the time on by d nanoseconds, and runs the timers that are due, each at its time, in their order.
func (c *ManualClock) Advance(d int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	end := c.now + d
	for {
		var first *manualTimer
		for _, t := range c.timers {
			if t.at <= end && (first == nil || t.at < first.at) {
				first = t
			}
		}
		if first == nil {
			break
		}
		c.timers = slices.DeleteFunc(c.timers, func(o *manualTimer) bool { return o == first })
		c.now = max(c.now, first.at)
		c.mu.Unlock()
		first.f()
		c.mu.Lock()
	}
	c.now = end
}
