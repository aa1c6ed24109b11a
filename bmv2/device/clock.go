package device

import "time"

// Clock tells the switch time, nanoseconds since some start, and calls back. Implementations are safe for concurrent use.
type Clock interface {
	// Now never goes back.
	Now() int64
	// Epoch is the time of day at 0, in nanoseconds since the Unix epoch.
	Epoch() int64
	// AfterFunc calls f on a goroutine of its own once d nanoseconds have passed, unless stop is called first.
	AfterFunc(d int64, f func()) (stop func())
}

type realClock struct{ start time.Time }

// NewClock is the machine's monotonic clock, from 0 now.
func NewClock() Clock { return realClock{time.Now()} }

func (c realClock) Now() int64   { return int64(time.Since(c.start)) }
func (c realClock) Epoch() int64 { return c.start.UnixNano() }

func (c realClock) AfterFunc(d int64, f func()) func() {
	t := time.AfterFunc(time.Duration(d), f)
	return func() { t.Stop() }
}
