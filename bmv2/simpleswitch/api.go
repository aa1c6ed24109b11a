package simpleswitch

import "khop/bmv2/pipeline"

// Options configure a Switch. The zero value is usable.
type Options struct {
	// DropPort is the egress_spec value that means drop; 0 means 511, simple_switch's default.
	DropPort uint32
	// CPUPort is the port of the controller. It only matters to the driver (packets for it leave through Transmit like any
	// other) and to port status: it is always up. 0 means none.
	CPUPort uint32
	// PriorityQueues is the number of queues of each port, 1 to 8; 0 means 1. Higher numbers are served first.
	PriorityQueues int
	// QueueDepth is the depth in packets of each queue until SetQueue changes it; 0 means 64, simple_switch's.
	QueueDepth int
	// MaxPasses bounds how often one packet may be resubmitted or recirculated; 0 means 256. One more is a counted drop.
	MaxPasses int
	// Seed seeds the random source of random().
	Seed uint64
	// OnDigest receives each digest when ingress ends. May be nil.
	OnDigest func(Digest)
	// OnLog receives the text of log_msg() and of failed assert()/assume(). May be nil. It is called with a fresh string.
	OnLog func(now int64, msg string)
	// Tracer, when set, is told each step of each packet. nil costs nothing.
	Tracer pipeline.Tracer
}

// Digest is one digest message. Values are the fields in the order of pipeline.DigestInfo.Fields, big-endian, each in its
// full width rounded up to bytes; they are valid only during the call.
type Digest struct {
	List   int // index into Digests()
	ID     int // the learn list's id in the bmv2 JSON
	Values [][]byte
	Now    int64
}

// Replica is one copy that the packet replication engine makes.
type Replica struct {
	Port     uint32
	Instance uint16 // egress_rid
}

// CloneSession says what becomes of a clone.
type CloneSession struct {
	Replicas []Replica
	// Class is the queue (priority) of the clones when the switch has several.
	Class int
	// TruncateTo is the length in bytes to which clones are cut when they are made; 0 means not at all.
	TruncateTo int
}

// QueueConfig configures one queue of a port.
type QueueConfig struct {
	Depth   int    // packets; 0 means Options.QueueDepth
	RatePPS uint64 // packets a second; 0 means unlimited
}

// PortConfig configures the link behind a port. The rates are shared by all queues of the port.
type PortConfig struct {
	RateBPS uint64 // bits of frame a second (no preamble, gap or FCS); 0 means unlimited
	RatePPS uint64 // packets a second; 0 means unlimited
	Down    bool   // received frames and departing packets are dropped and counted
}

// PortStats counts frames and bytes of a port.
type PortStats struct {
	RxFrames, RxBytes uint64
	TxFrames, TxBytes uint64
}
