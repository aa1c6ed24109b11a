package fabric

import (
	"fmt"
	"os"
	"time"
)

// Limits of a fabric.
const (
	maxToRs  = 1024 // leaves
	maxPorts = 128  // ports of a switch
	maxTau   = 1 << 30 * time.Microsecond
)

// LoadFile reads a spec from a file. A name without a directory that is no file but a shipped spec's (with or without ".yaml") reads that
// spec.
func LoadFile(path string) (*Fabric, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		if shipped, ok := Shipped(path); ok && os.IsNotExist(err) {
			return Load(path, shipped)
		}
		return nil, err
	}
	return Load(path, data)
}

// Load reads, validates and derives a spec; filename is for messages. The error is of type [Errors] and holds all that is wrong.
func Load(filename string, data []byte) (*Fabric, error) {
	r := &reader{file: filename, at: map[string]position{"": {1, 1}}}
	root := r.parse(data)
	if root == nil {
		return nil, r.sorted()
	}
	s := r.read(root)
	if len(r.errs) > 0 {
		return nil, r.sorted()
	}
	f := r.derive(s)
	if len(r.errs) > 0 {
		return nil, r.sorted()
	}
	return f, nil
}

// derive fills in the defaults, checks what can be checked only together, and builds the fabric.
func (r *reader) derive(s *spec) *Fabric {
	f := &Fabric{
		Name: s.name, File: r.file, Scheme: Scheme(s.scheme.kind), Seed: uint32(s.scheme.seed),
		byName: map[string]*Switch{}, hostName: map[string]*Host{},
	}
	r.deriveScheme(s, f)
	r.deriveTarget(s, f)
	before := len(r.errs)
	r.deriveTopology(s, f)
	if len(r.errs) > before {
		return nil // what follows needs a whole topology
	}
	r.deriveTiming(s, f)
	r.deriveCongestion(s, f)
	f.computeReach()
	r.checkMTU(f)
	r.checkReach(f)
	return f
}

func (r *reader) deriveScheme(s *spec, f *Fabric) {
	f.K = s.scheme.k
	switch f.Scheme {
	case ECMP:
		if f.K != 0 {
			r.fail("scheme.k", "ecmp keeps no k-best table: leave k out, or use the scheme mp-hula")
		}
	case HULA:
		if f.K > 1 {
			r.fail("scheme.k", "hula keeps one best next hop (k = 1): leave k out, or use the scheme mp-hula")
		}
		f.K = 1
	case MPHULA:
		if f.K == 0 {
			f.K = 3
		}
	}
	if f.Scheme != MPHULA {
		if _, given := r.at["mptcp"]; given {
			r.fail("mptcp", "%s treats MPTCP as plain TCP: leave this section out, or use the scheme mp-hula", f.Scheme)
		}
	}
	f.MPTCP = MPTCP{Correlation: Correlation(s.mptcp.correlation), MaxSubflows: s.mptcp.maxSubflows}
	if f.MPTCP.Correlation == "" {
		f.MPTCP.Correlation = ControlPlane
	}
	if f.MPTCP.MaxSubflows == 0 {
		f.MPTCP.MaxSubflows = 8
	}
	versions := s.mptcp.versions
	if versions == nil {
		versions = []int{0, 1}
	}
	for v := 0; v <= 1; v++ {
		count := 0
		for _, x := range versions {
			if x == v {
				count++
			}
		}
		if count > 1 {
			r.fail("mptcp.versions", "lists version %d twice", v)
		}
		if count > 0 {
			f.MPTCP.Versions = append(f.MPTCP.Versions, uint8(v))
		}
	}
	f.Wire = Wire{ProbeEtherType: uint16(s.wire.probe), MarkEtherType: uint16(s.wire.mark)}
	if f.Wire.ProbeEtherType == 0 {
		f.Wire.ProbeEtherType = 0x88b5
	}
	if f.Wire.MarkEtherType == 0 {
		f.Wire.MarkEtherType = 0x88b6
	}
	if f.Wire.ProbeEtherType == f.Wire.MarkEtherType {
		r.fail("wire", "probe and mark need different EtherTypes, both are %#04x", f.Wire.ProbeEtherType)
	}
	for _, known := range []struct {
		value uint16
		name  string
	}{{0x0800, "IPv4"}, {0x0806, "ARP"}, {0x86dd, "IPv6"}, {0x8100, "802.1Q"}} {
		if f.Wire.ProbeEtherType == known.value {
			r.fail("wire.probe-ethertype", "%#04x is the EtherType of %s; 0x88b5 and 0x88b6 are for local use", known.value, known.name)
		}
		if f.Wire.MarkEtherType == known.value {
			r.fail("wire.mark-ethertype", "%#04x is the EtherType of %s; 0x88b5 and 0x88b6 are for local use", known.value, known.name)
		}
	}
	size := func(dst *int, v, fallback int, key string) {
		*dst = v
		if v == 0 {
			*dst = fallback
		} else if v&(v-1) != 0 && key != "flows" {
			r.fail("sizes."+key, "%d is no power of two (the slots are indexed by the low bits of a hash)", v)
		}
	}
	size(&f.Sizes.Flowlets, s.sizes.flowlets, 1<<14, "flowlets")
	size(&f.Sizes.Connections, s.sizes.connections, 1<<10, "connections")
	size(&f.Sizes.Flows, s.sizes.flows, 1<<13, "flows")
	size(&f.Sizes.Learned, s.sizes.learned, 1<<12, "learned")
}

func (r *reader) deriveTarget(s *spec, f *Fabric) {
	f.Target = Target{Kind: TargetKind(s.target.kind), CPUPort: uint32(s.target.cpuPort), DropPort: 511, QueuePackets: uint32(s.target.queuePackets)}
	if f.Target.Kind == "" {
		f.Target.Kind = Embedded
	}
	if f.Target.CPUPort == 0 {
		f.Target.CPUPort = 255
	}
	if f.Target.CPUPort <= maxPorts {
		r.fail("target.cpu-port", "%d may be a port of the fabric; the CPU port is one of %d to 510", f.Target.CPUPort, maxPorts+1)
	}
	if f.Target.QueuePackets == 0 {
		f.Target.QueuePackets = 64 // bmv2's default
	}
}

func (r *reader) deriveTiming(s *spec, f *Fabric) {
	t := s.timing
	given := t
	if t.ProbeInterval == 0 {
		t.ProbeInterval = 500 * time.Microsecond
	}
	shortest, longest := t.ProbeInterval, t.ProbeInterval
	f.ProbeInterval = map[string]time.Duration{}
	for _, li := range s.intervals {
		if w := f.byName[li.leaf]; w == nil || w.Role != Leaf {
			r.fail(li.path, "%q is no leaf; the leaves are %s", li.leaf, names(f.Leaves()))
			continue
		}
		if _, twice := f.ProbeInterval[li.leaf]; twice {
			r.fail(li.path, "the interval of %s is given twice", li.leaf)
		}
		f.ProbeInterval[li.leaf] = li.interval
		shortest, longest = min(shortest, li.interval), max(longest, li.interval)
	}
	if t.Tau == 0 {
		for t.Tau = time.Microsecond; t.Tau < 2*longest; t.Tau *= 2 {
		}
	}
	if t.FlowletGap == 0 {
		t.FlowletGap = (t.ProbeInterval * 2 / 5).Truncate(time.Microsecond)
	}
	if t.SubflowLive == 0 {
		t.SubflowLive = 10 * t.FlowletGap
	}
	if t.KeepAlive == 0 {
		t.KeepAlive = 5 * longest
	}
	if t.LinkTimeout == 0 {
		t.LinkTimeout = t.KeepAlive
	}
	if t.LearnTimeout == 0 {
		t.LearnTimeout = 30 * time.Second
	}
	f.Timing = t
	if f.Scheme == ECMP {
		for _, k := range []struct {
			key   string
			value time.Duration
		}{{"probe-interval", given.ProbeInterval}, {"tau", given.Tau}, {"flowlet-gap", given.FlowletGap}, {"subflow-live", given.SubflowLive}, {"keep-alive", given.KeepAlive}, {"link-timeout", given.LinkTimeout}, {"learn-timeout", given.LearnTimeout}} {
			if k.value != 0 {
				r.fail("timing."+k.key, "ecmp has no probes and no flowlets: leave it out, or use the scheme hula or mp-hula")
			}
		}
		return
	}
	for _, p := range t.Check(shortest, longest) {
		r.fail("timing."+p.Key, "%s", p.Reason)
	}
	for _, l := range f.Links {
		bytes := float64(l.Rate) / 8 * t.Tau.Seconds()
		switch {
		case bytes > 1<<31:
			r.fail("timing.tau", "%v at %v (link %s) is %.3g bytes, more than the 32-bit estimator holds: shorten tau to at most %.3g s", t.Tau, l.Rate, l.Name(), bytes, float64(1<<31)*8/float64(l.Rate))
		case bytes < 256:
			r.fail("timing.tau", "%v at %v (link %s) is %.3g bytes, too few to tell 256 levels of utilisation apart", t.Tau, l.Rate, l.Name(), bytes)
		default:
			continue
		}
		return // one link is enough: the others have the same cause
	}
}

// Problem is a time constant that does not work, with the reason.
type Problem struct {
	Key    string // key within "timing", such as "keep-alive"
	Reason string
}

// Check tells which time constants do not work for probe intervals between shortest and longest. The live knobs are held to it as well.
func (t Timing) Check(shortest, longest time.Duration) []Problem {
	var list []Problem
	bad := func(key, format string, args ...any) { list = append(list, Problem{key, fmt.Sprintf(format, args...)}) }
	if shortest < 10*time.Microsecond || longest > 10*time.Second {
		bad("probe-interval", "must be 10us to 10s")
	}
	us := t.Tau.Microseconds()
	switch {
	case us <= 0 || us&(us-1) != 0:
		bad("tau", "%v is no power of two in microseconds (the estimator divides by shifting): take %v", t.Tau, powerOfTwo(max(t.Tau, 2*longest)))
	case t.Tau < 2*longest:
		bad("tau", "%v is less than two probe intervals of %v, so the estimate would miss traffic between probes: take %v", t.Tau, longest, powerOfTwo(2*longest))
	case t.Tau > maxTau:
		bad("tau", "%v is too long: at most %v", t.Tau, maxTau)
	}
	if t.FlowletGap < time.Microsecond {
		bad("flowlet-gap", "must be at least 1us")
	}
	if t.SubflowLive <= t.FlowletGap {
		bad("subflow-live", "%v is not longer than the flowlet gap of %v: a subflow would lose its next hop while its flowlet still uses it", t.SubflowLive, t.FlowletGap)
	}
	if t.KeepAlive < 3*longest {
		bad("keep-alive", "%v is less than three probe intervals of %v: one late probe would age the best next hop out, and the last probe would win instead of the best", t.KeepAlive, longest)
	}
	if t.LinkTimeout < 3*longest {
		bad("link-timeout", "%v is less than three probe intervals of %v: one late probe would kill a live link", t.LinkTimeout, longest)
	}
	if t.LearnTimeout < t.SubflowLive {
		bad("learn-timeout", "%v is shorter than subflow-live (%v)", t.LearnTimeout, t.SubflowLive)
	}
	return list
}

func powerOfTwo(d time.Duration) time.Duration {
	p := time.Microsecond
	for p < d {
		p *= 2
	}
	return p
}

func (r *reader) deriveCongestion(s *spec, f *Fabric) {
	mtu := f.HostMTU
	packets := func(size Size) uint32 { return uint32((size + mtu - 1) / mtu) }
	if e := s.congestion.ecn; e != nil {
		if e.kmin > e.kmax {
			r.fail("congestion.ecn.kmin", "%v is above kmax (%v)", e.kmin, e.kmax)
		}
		f.Congestion.ECN = &ECN{KMin: e.kmin, KMax: e.kmax, KMinPackets: packets(e.kmin), KMaxPackets: packets(e.kmax), PMax: e.pmax}
		if p := packets(e.kmin); p >= f.Target.QueuePackets {
			r.fail("congestion.ecn.kmin", "%v is %d packets of %v, but the queue holds %d: nothing would ever be marked", e.kmin, p, mtu, f.Target.QueuePackets)
		}
	}
	if d := s.congestion.drop; d != nil {
		f.Congestion.SelectiveDrop = &SelectiveDrop{Threshold: d.threshold, ThresholdPackets: packets(d.threshold)}
		if p := packets(d.threshold); p >= f.Target.QueuePackets {
			r.fail("congestion.selective-drop.threshold", "%v is %d packets of %v, but the queue holds %d: nothing would ever be dropped", d.threshold, p, mtu, f.Target.QueuePackets)
		}
	}
}

// checkMTU checks that links between switches can carry what hosts send, with the mark.
func (r *reader) checkMTU(f *Fabric) {
	need := f.HostMTU
	why := "the hosts' MTU"
	if f.Scheme.Marks() {
		need += MarkBytes
		why = fmt.Sprintf("the hosts' MTU of %d bytes and %d bytes of mark", f.HostMTU, MarkBytes)
	}
	for _, l := range f.Links {
		if l.Host == nil && l.MTU < need {
			r.fail("links", "link %s has an MTU of %d bytes but must carry %d: %s", l.Name(), l.MTU, need, why)
			return
		}
	}
}

func names(switches []*Switch) string {
	list := ""
	for i, s := range switches {
		if i == 8 {
			return fmt.Sprintf("%s, ... (%d)", list, len(switches))
		}
		if i > 0 {
			list += ", "
		}
		list += s.Name
	}
	return list
}
