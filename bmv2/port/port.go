// Package port holds the drivers that move Ethernet frames between a device and the world: in-memory links, UDP tunnels,
// pcap files, and network interfaces by AF_PACKET.
package port

import (
	"context"
	"errors"
	"sync/atomic"
)

// MaxFrame is the longest frame in bytes that ports carry, without FCS.
const MaxFrame = 65535

// Port sends and receives frames. Send and Close may be called while Run runs; Run is called once.
type Port interface {
	// Send sends a frame, which is valid during the call only. It never blocks for long: a frame that cannot be sent at
	// once is lost, with an error.
	Send(frame []byte) error
	// Run receives frames and calls recv for each, with a frame that is valid during the call, until the context ends, the
	// port is closed (nil is returned for both), or receiving fails.
	Run(ctx context.Context, recv func(frame []byte)) error
	// Close releases the port. Run returns.
	Close() error
	// Stats returns the counts so far.
	Stats() Stats
}

// Stats counts frames and bytes of a port.
type Stats struct {
	RxFrames, RxBytes uint64
	TxFrames, TxBytes uint64
	RxDropped         uint64 // arrived, but there was no room for them or they were no frames
	TxDropped         uint64 // could not be sent
}

// errFull is the error of a port whose queue has no room.
var errFull = errors.New("the queue of the port is full")

// counters keeps Stats for concurrent use.
type counters struct {
	rxFrames, rxBytes, txFrames, txBytes, rxDropped, txDropped atomic.Uint64
}

func (c *counters) rx(n int) {
	c.rxFrames.Add(1)
	c.rxBytes.Add(uint64(n))
}

// tx counts a frame that was sent, or not.
func (c *counters) tx(n int, err error) {
	if err != nil {
		c.txDropped.Add(1)
		return
	}
	c.txFrames.Add(1)
	c.txBytes.Add(uint64(n))
}

// Stats implements [Port].
func (c *counters) Stats() Stats {
	return Stats{c.rxFrames.Load(), c.rxBytes.Load(), c.txFrames.Load(), c.txBytes.Load(), c.rxDropped.Load(), c.txDropped.Load()}
}
