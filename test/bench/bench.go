// Package bench measures one embedded switch in memory: no ports, no scheduler, no wall clock in the data path.
package bench

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"time"

	p4v1 "github.com/p4lang/p4runtime/go/p4/v1"

	"khop/bmv2/config"
	"khop/bmv2/p4rt"
	"khop/bmv2/pipeline"
	"khop/bmv2/simpleswitch"
)

// Options say what is measured.
type Options struct {
	Config  *p4v1.ForwardingPipelineConfig // bmv2 JSON, and P4Info if there are entries
	Entries *p4v1.WriteRequest             // applied before the packets; device, role and election id are not looked at
	Frames  [][]byte                       // fed in turn, again and again
	InPort  uint32
	CPUPort uint32 // 0 means none
	// Packets is how many packets are fed; 0 means as many as Duration allows.
	Packets  uint64
	Duration time.Duration
}

// PortCount is what left by a port.
type PortCount struct {
	Port    uint32 `json:"port"`
	Packets uint64 `json:"packets"`
}

// DropCount is how many packets a reason dropped, or for the last reasons how many operations were ignored.
type DropCount struct {
	Reason  string `json:"reason"`
	Packets uint64 `json:"packets"`
}

// Result holds the measurements. Packets are those that were fed, and the rates are by them. Allocations and bytes are of
// the Go heap, rounded to a thousandth. The stages are timed in a second, shorter run, since reading the clock costs time.
type Result struct {
	Packets          uint64      `json:"packets"`
	Seconds          float64     `json:"seconds"`
	PacketsPerSecond float64     `json:"packets_per_second"`
	NsPerPacket      float64     `json:"ns_per_packet"`
	AllocsPerPacket  float64     `json:"allocs_per_packet"`
	BytesPerPacket   float64     `json:"bytes_per_packet"`
	IngressNs        float64     `json:"ingress_ns_per_packet"` // parser, ingress, replication, queue in
	EgressNs         float64     `json:"egress_ns_per_packet"`  // queue out, egress, deparser
	PacketsOut       uint64      `json:"packets_out"`
	Ports            []PortCount `json:"ports"`
	Drops            []DropCount `json:"drops"`
	Digests          uint64      `json:"digests"`
}

// target is the switch as a P4Runtime agent sees it; nothing else uses it at the same time.
type target struct {
	sw   *simpleswitch.Switch
	opts simpleswitch.Options
	now  int64
}

func (t *target) Do(fn func(sw *simpleswitch.Switch, now int64)) { fn(t.sw, t.now) }

func (t *target) Load(p *pipeline.Program) (*simpleswitch.Switch, error) { return t.sw, t.sw.Swap(p) }

func (t *target) Detached(p *pipeline.Program) (*simpleswitch.Switch, error) {
	return simpleswitch.New(p, simpleswitch.Options{CPUPort: t.opts.CPUPort})
}

func (t *target) CPUPort() (uint32, bool) { return t.opts.CPUPort, t.opts.CPUPort != 0 }

func (t *target) HasPort(port uint32) bool { return port < 511 }

// packetTime is the switch time between two packets, in nanoseconds.
const packetTime = 1000

// run feeds packets, one each microsecond of switch time.
type run struct {
	target
	o     Options
	next  int
	ports [512]uint64
	emit  func(port uint32, frame []byte)
}

// Run measures.
func Run(o Options) (*Result, error) {
	if len(o.Frames) == 0 {
		return nil, errors.New("the capture holds no packets")
	}
	if o.Packets == 0 && o.Duration <= 0 {
		return nil, errors.New("neither a number of packets nor a duration is given")
	}
	cfg, err := config.Parse(o.Config.GetP4DeviceConfig())
	if err != nil {
		return nil, err
	}
	prog, err := pipeline.Link(cfg)
	if err != nil {
		return nil, err
	}
	var digests uint64
	r := &run{o: o}
	r.opts = simpleswitch.Options{CPUPort: o.CPUPort, OnDigest: func(simpleswitch.Digest) { digests++ }}
	if r.sw, err = simpleswitch.New(prog, r.opts); err != nil {
		return nil, err
	}
	r.emit = func(port uint32, _ []byte) {
		if port < uint32(len(r.ports)) {
			r.ports[port]++
		}
	}
	if err := r.program(); err != nil {
		return nil, err
	}

	r.feed(uint64(len(o.Frames)), 0) // warms up: pools grow to their size
	r.ports, digests = [512]uint64{}, 0
	before := r.sw.Drops()
	var m0, m1 runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m0)
	start := time.Now()
	n := r.feed(o.Packets, o.Duration)
	took := time.Since(start)
	runtime.ReadMemStats(&m1)

	each := func(v float64) float64 { return v / float64(n) }
	thousandth := func(v float64) float64 { return math.Round(v*1000) / 1000 }
	res := &Result{
		Packets: n, Seconds: took.Seconds(), PacketsPerSecond: float64(n) / took.Seconds(), NsPerPacket: each(float64(took.Nanoseconds())),
		AllocsPerPacket: thousandth(each(float64(m1.Mallocs - m0.Mallocs))), BytesPerPacket: thousandth(each(float64(m1.TotalAlloc - m0.TotalAlloc))),
		Ports: []PortCount{}, Drops: []DropCount{}, Digests: digests,
	}
	for p, c := range r.ports {
		if c > 0 {
			res.Ports = append(res.Ports, PortCount{uint32(p), c})
			res.PacketsOut += c
		}
	}
	for i, c := range r.sw.Drops() {
		if c -= before[i]; c > 0 {
			res.Drops = append(res.Drops, DropCount{simpleswitch.Reason(i).String(), c})
		}
	}
	in, out := r.stages(max(n/8, 1))
	res.IngressNs, res.EgressNs = in, out
	return res, nil
}

// program installs pipeline and entries over the P4Runtime agent.
func (r *run) program() error {
	if r.o.Config.GetP4Info() == nil {
		if len(r.o.Entries.GetUpdates()) > 0 {
			return errors.New("entries need a P4Info")
		}
		return nil
	}
	agent, err := p4rt.NewServer(p4rt.Options{}).AddDevice(1, r, p4rt.AgentOptions{})
	if err != nil {
		return err
	}
	if err := agent.Install(r.o.Config); err != nil {
		return err
	}
	if err := agent.Apply(r.o.Entries); err != nil {
		return fmt.Errorf("entries: %w", err)
	}
	return nil
}

func (r *run) frame() []byte {
	f := r.o.Frames[r.next]
	if r.next++; r.next == len(r.o.Frames) {
		r.next = 0
	}
	r.now += packetTime
	return f
}

// feed feeds n packets, or with 0 as many as the time allows, and returns how many.
func (r *run) feed(n uint64, d time.Duration) uint64 {
	end := time.Now().Add(d)
	i := uint64(0)
	for ; n == 0 || i < n; i++ {
		if n == 0 && i%256 == 255 && !time.Now().Before(end) {
			break
		}
		f := r.frame()
		r.sw.Receive(r.now, r.o.InPort, f)
		r.sw.Transmit(r.now, r.emit)
	}
	return i
}

// stages feeds n packets and returns the nanoseconds a packet of ingress and of egress.
func (r *run) stages(n uint64) (ingress, egress float64) {
	var in, out time.Duration
	for range n {
		f := r.frame()
		t0 := time.Now()
		r.sw.Receive(r.now, r.o.InPort, f)
		t1 := time.Now()
		r.sw.Transmit(r.now, r.emit)
		in, out = in+t1.Sub(t0), out+time.Since(t1)
	}
	return float64(in.Nanoseconds()) / float64(n), float64(out.Nanoseconds()) / float64(n)
}
