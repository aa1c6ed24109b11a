package fabric

import (
	"fmt"
	"net/netip"
	"time"
)

// Scheme is how a fabric balances load.
type Scheme string

// The schemes.
const (
	ECMP   Scheme = "ecmp"    // 5-tuple hash over the next hops, no probes
	HULA   Scheme = "hula"    // one best next hop per destination ToR, flowlets (Katta et al., SOSR 2016)
	MPHULA Scheme = "mp-hula" // k best next hops, MPTCP subflows kept apart (Hernandez Benet et al., NetCompute 2018)
)

// Schemes lists every scheme that a spec may name.
var Schemes = []Scheme{ECMP, HULA, MPHULA}

// Probes reports whether ToRs send probes under the scheme.
func (s Scheme) Probes() bool { return s == HULA || s == MPHULA }

// Marks reports whether packets of MPTCP subflows carry the mark between leaves.
func (s Scheme) Marks() bool { return s == MPHULA }

// Role is a switch's place in the fabric. Each role runs a program of its own.
type Role string

// The roles, from the bottom tier up.
const (
	Leaf  Role = "leaf"  // top of rack (tier 1): has hosts; the edge of a fat-tree
	Spine Role = "spine" // tier 2: the spine of a leaf-spine fabric, the aggregation of a fat-tree
	Core  Role = "core"  // tier 3
)

// Roles lists the roles from the bottom tier up.
var Roles = []Role{Leaf, Spine, Core}

// Tier returns 1 for a leaf, 2 for a spine, 3 for a core.
func (r Role) Tier() int {
	switch r {
	case Leaf:
		return 1
	case Spine:
		return 2
	case Core:
		return 3
	}
	return 0
}

// BitRate is a rate in bits a second.
type BitRate uint64

// String prints the rate in the largest decimal unit that shows it exactly.
func (r BitRate) String() string { return unitString(uint64(r), rateUnits) }

// Size is a number of bytes. KB, MB and GB are powers of 1000; KiB, MiB and GiB of 1024.
type Size uint64

// String prints the size in the largest decimal unit that shows it exactly.
func (s Size) String() string { return unitString(uint64(s), sizeUnits) }

// Fabric is a validated fabric with everything that follows from its spec. It is immutable.
type Fabric struct {
	Name   string // name of the spec
	File   string // file that it was read from, for messages
	Scheme Scheme
	K      int    // slots of the k-best table, 1..8; 1 for hula, 0 for ecmp
	Seed   uint32 // seed of the ECMP hash; each switch adds its device id

	Timing     Timing
	MPTCP      MPTCP
	Wire       Wire
	Congestion Congestion
	Sizes      Sizes
	Target     Target
	HostMTU    Size // IP packet size that hosts may send

	Switches []*Switch // leaves, spines, cores
	Hosts    []*Host   // in the order of leaves and ports
	Links    []*Link   // switch-to-switch links, then host links, in the order of lower switch and port

	ProbeInterval map[string]time.Duration // probe interval of a leaf that differs from Timing.ProbeInterval, by leaf name

	byName   map[string]*Switch
	hostName map[string]*Host
	hostAddr map[netip.Addr]*Host
	down     map[*Switch]leafSet // leaves below a switch
	reach    map[*Switch]leafSet // leaves that a switch reaches up and then down
}

// Timing holds the time constants. Every one is a whole number of microseconds, the resolution of bmv2's clock.
type Timing struct {
	ProbeInterval time.Duration // a ToR sends one probe each interval
	Tau           time.Duration // time constant of the utilisation estimator: a power of two in microseconds, >= 2 intervals
	FlowletGap    time.Duration // a flow that pauses longer starts a new flowlet
	SubflowLive   time.Duration // a subflow holds its next hop until it has been silent for so long
	KeepAlive     time.Duration // a k-best slot is stale once it is older
	LinkTimeout   time.Duration // a port is dead once it has seen no probe for longer
	LearnTimeout  time.Duration // a subflow learned by the data plane alone is forgotten once it has been silent for longer
}

// TauExp returns the exponent of tau: tau = 2^TauExp microseconds.
func (t Timing) TauExp() int {
	exp := 0
	for us := t.Tau.Microseconds(); us > 1; us >>= 1 {
		exp++
	}
	return exp
}

// Correlation is where MPTCP joins are matched with their connections.
type Correlation string

// ControlPlane correlation: keys go to the controller in a digest; it hashes them and installs token entries.
const ControlPlane Correlation = "control-plane"

// MPTCP says which MPTCP the leaves recognise. Used by mp-hula only.
type MPTCP struct {
	Versions    []uint8 // 0 (RFC 6824), 1 (RFC 8684), ascending
	Correlation Correlation
	MaxSubflows int // subflows of a connection whose next hops are kept apart, 1..32; further ones go round robin
}

// Wire holds the EtherTypes of the fabric's own headers.
type Wire struct {
	ProbeEtherType uint16
	MarkEtherType  uint16
}

// MarkBytes is the length of the mark, which a fabric link carries beyond the hosts' MTU.
const MarkBytes = 12

// Congestion holds the thresholds of the egress queues; nil means that the mechanism is off.
type Congestion struct {
	ECN           *ECN
	SelectiveDrop *SelectiveDrop
}

// ECN is RED marking on the instantaneous queue: no mark up to KMin, probability PMax*(q-KMin)/(KMax-KMin) up to KMax, and always
// beyond. DCTCP is KMin = KMax = K. The switch counts its queue in packets: the Packets fields hold the thresholds so
// converted, rounded up to whole packets of the port's MTU.
type ECN struct {
	KMin, KMax               Size
	KMinPackets, KMaxPackets uint32
	PMax                     float64
}

// SelectiveDrop is Aeolus' rule: while the queue is longer than the threshold, an unscheduled (Non-ECT) packet is dropped.
type SelectiveDrop struct {
	Threshold        Size
	ThresholdPackets uint32
}

// Sizes are capacities that are fixed when a program is generated. All but PortLimit are powers of two.
type Sizes struct {
	Flowlets    int // flowlet slots of a switch
	Connections int // MPTCP connections of a switch whose subflows are kept apart
	Flows       int // entries of the flow table of a leaf (two a subflow and leaf at most)
	Learned     int // flows that a leaf learns from marks and joins without the controller
}

// TargetKind is the kind of switch that runs the programs.
type TargetKind string

// The targets.
const (
	Embedded TargetKind = "embedded" // khop's own switch
	BMv2     TargetKind = "bmv2"     // simple_switch_grpc
)

// Target describes the switches that run the programs.
type Target struct {
	Kind         TargetKind
	CPUPort      uint32 // port of packet-in and packet-out
	DropPort     uint32 // 511, v1model's drop port
	QueuePackets uint32 // depth of an egress queue
}

// Switch is one switch.
type Switch struct {
	Name     string
	Role     Role
	Index    int    // 1, 2, ... within its role
	DeviceID uint64 // P4Runtime device id
	ToR      uint32 // ToR id of a leaf (24 bits, from 1); 0 for other switches
	GRPC     string // host:port of its P4Runtime server
	MAC      [6]byte
	Gateway4 netip.Addr   // leaf: the hosts' IPv4 gateway; others: the address ICMP errors come from
	Gateway6 netip.Addr   // the same for IPv6
	Prefix4  netip.Prefix // leaf only: what it owns
	Prefix6  netip.Prefix
	Ports    []*Port // Ports[i] has number i+1
}

// Port returns the port with the given number, or nil.
func (s *Switch) Port(number uint32) *Port {
	if number == 0 || int(number) > len(s.Ports) {
		return nil
	}
	return s.Ports[number-1]
}

// FabricPorts returns the number of ports that lead to switches; they are the ports 1..FabricPorts.
func (s *Switch) FabricPorts() int {
	n := 0
	for _, p := range s.Ports {
		if p.Kind != HostPort {
			n++
		}
	}
	return n
}

// PortKind is what a port leads to.
type PortKind uint8

// The kinds of port.
const (
	UpPort   PortKind = iota + 1 // a switch of the tier above
	DownPort                     // a switch of the tier below
	HostPort                     // a host
)

// String names the kind.
func (k PortKind) String() string {
	switch k {
	case UpPort:
		return "up"
	case DownPort:
		return "down"
	case HostPort:
		return "host"
	}
	return fmt.Sprintf("PortKind(%d)", uint8(k))
}

// Port is one end of a link at a switch.
type Port struct {
	Number   uint32
	Kind     PortKind
	Link     *Link
	Peer     *Switch // nil at a host port
	PeerPort uint32  // port number at the peer
	Host     *Host   // nil at a port to a switch
}

// Host is one host: one network interface with one or more addresses.
type Host struct {
	Name  string
	Leaf  *Switch
	Port  uint32 // port number at the leaf
	MAC   [6]byte
	Addrs []netip.Addr // IPv4 first, each family ascending
}

// Link joins two switches, or a switch and a host.
type Link struct {
	Lower     *Switch // the leaf of a host link, else the end of the lower tier
	LowerPort uint32
	Upper     *Switch // nil for a host link
	UpperPort uint32
	Host      *Host // nil for a link between switches
	Rate      BitRate
	Delay     time.Duration
	MTU       Size // largest IP packet with the mark, where links carry it
}

// Name returns the link as "lower-upper", the way the spec's overrides name it.
func (l *Link) Name() string {
	if l.Host != nil {
		return l.Lower.Name + "-" + l.Host.Name
	}
	return l.Lower.Name + "-" + l.Upper.Name
}

// Switch returns the switch with the given name, or nil.
func (f *Fabric) Switch(name string) *Switch { return f.byName[name] }

// Host returns the host with the given name, or nil.
func (f *Fabric) Host(name string) *Host { return f.hostName[name] }

// HostOf returns the host that owns an address, or nil.
func (f *Fabric) HostOf(addr netip.Addr) *Host { return f.hostAddr[addr] }

// LeafOf returns the leaf whose prefix holds the address, or nil.
func (f *Fabric) LeafOf(addr netip.Addr) *Switch {
	for _, s := range f.Switches {
		if s.Role == Leaf && (s.Prefix4.Contains(addr) || s.Prefix6.Contains(addr)) {
			return s
		}
	}
	return nil
}

// OfRole returns the switches of a role, in order.
func (f *Fabric) OfRole(role Role) []*Switch {
	var list []*Switch
	for _, s := range f.Switches {
		if s.Role == role {
			list = append(list, s)
		}
	}
	return list
}

// Leaves returns the leaves in the order of their ToR ids.
func (f *Fabric) Leaves() []*Switch { return f.OfRole(Leaf) }

// MaxToR returns the highest ToR id.
func (f *Fabric) MaxToR() uint32 {
	max := uint32(0)
	for _, s := range f.Switches {
		if s.ToR > max {
			max = s.ToR
		}
	}
	return max
}

// IntervalOf returns the probe interval of a leaf.
func (f *Fabric) IntervalOf(leaf string) time.Duration {
	if d, ok := f.ProbeInterval[leaf]; ok {
		return d
	}
	return f.Timing.ProbeInterval
}
