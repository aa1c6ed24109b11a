package replay

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"math"
	"os"
	"path/filepath"
	"time"

	"khop/bmv2/port"
	"khop/bmv2/simpleswitch"
	"khop/codegen"
	"khop/controlplane"
	"khop/fabric"
	"khop/mptcp"
)

// Options configure a replay.
type Options struct {
	// Compile compiles the generated programs. Required unless Programs is set.
	Compile  controlplane.CompileFunc
	Programs []*controlplane.Program
	// OutDir gets one capture per host, HOST.pcap with nanoseconds, of all that reached it. "": none is written.
	OutDir string
	// Warmup is the virtual time in which probes converge before the first packet enters. 0: 20 probe intervals.
	Warmup time.Duration
	// OnDelivery, when set, is told each delivery. injected is the packet as it was captured, nil for a frame that the
	// fabric itself made (ICMP errors and the like). Both frames are valid during the call.
	OnDelivery func(h *fabric.Host, injected, frame []byte)
}

// injection is a packet of the capture on its way.
type injection struct {
	at      int64  // virtual time
	frame   []byte // as captured
	from    *fabric.Host
	to      *fabric.Host // nil if nobody has the address
	dstLeaf *fabric.Switch
	conn    *connView // nil: no MPTCP connection
	sub     *mptcp.Subflow
	forward bool // from the initiator
}

// runner is a replay under way.
type runner struct {
	opts    Options
	fabric  *fabric.Fabric
	net     *network
	result  *Result
	measure *Measure
	seed    maphash.Seed
	flying  map[uint64][]*injection // by identity, in order of entering
	arrived map[arrival][]int64     // when packets came in at switches, in order
	hops    map[[2]*fabric.Switch][]uint32
	writers map[*fabric.Host]*port.Writer
	base    int64 // capture time at virtual time 0
	before  [simpleswitch.NumReasons]uint64
	current bool // a packet of the capture is being received
}

type arrival struct {
	node     *node
	identity uint64
}

// Run replays packets through a fabric.
func Run(ctx context.Context, f *fabric.Fabric, packets []Packet, o Options) (*Result, error) {
	r := &runner{
		opts: o, fabric: f, measure: newMeasure(f), seed: maphash.MakeSeed(),
		result: &Result{
			Scheme: string(f.Scheme), NotForwardedBy: map[string]int{}, PacketsLost: map[string]int{}, Connections: []Connection{},
		},
		flying: map[uint64][]*injection{}, arrived: map[arrival][]int64{},
		hops: map[[2]*fabric.Switch][]uint32{}, writers: map[*fabric.Host]*port.Writer{},
	}
	var err error
	r.net, err = newNetwork(ctx, f, controlplane.Options{Compile: o.Compile, Programs: o.Programs}, r)
	if err != nil {
		return nil, err
	}
	defer r.net.close()
	if err := r.openWriters(); err != nil {
		return nil, r.closeWriters(err)
	}
	err = r.run(ctx, packets)
	if err := r.closeWriters(err); err != nil {
		return nil, err
	}
	return r.result, nil
}

// partial is the ending of a capture's name while it is being written.
const partial = ".partial"

func (r *runner) outFile(h *fabric.Host) string {
	return filepath.Join(r.opts.OutDir, h.Name+".pcap")
}

// closeWriters closes the captures and gives them their names; none keeps one if the run failed, so that a capture that is
// there is always whole.
func (r *runner) closeWriters(err error) error {
	for _, h := range r.fabric.Hosts {
		if w := r.writers[h]; w != nil {
			err = errors.Join(err, w.Close())
		}
	}
	for _, h := range r.fabric.Hosts {
		if r.writers[h] == nil {
			continue
		}
		if err == nil {
			err = os.Rename(r.outFile(h)+partial, r.outFile(h))
		}
		if err != nil {
			os.Remove(r.outFile(h) + partial)
		}
	}
	return err
}

func (r *runner) openWriters() error {
	if r.opts.OutDir == "" {
		return nil
	}
	if err := os.MkdirAll(r.opts.OutDir, 0o777); err != nil {
		return err
	}
	for _, h := range r.fabric.Hosts {
		w, err := port.CreateFile(r.outFile(h) + partial)
		if err != nil {
			return err
		}
		r.writers[h] = w
	}
	return nil
}

// warmup returns the virtual time before the first packet, in nanoseconds.
func (r *runner) warmup() int64 {
	if r.opts.Warmup > 0 {
		return int64(r.opts.Warmup)
	}
	longest := r.fabric.Timing.ProbeInterval
	for _, leaf := range r.fabric.Leaves() {
		longest = max(longest, r.fabric.IntervalOf(leaf.Name))
	}
	return max(20*int64(longest), int64(time.Millisecond))
}

func (r *runner) run(ctx context.Context, packets []Packet) error {
	r.net.ctl.StartProbes()
	begin := r.net.now + r.warmup()
	end := begin
	sorted := append([]Packet(nil), packets...)
	byTime(sorted)
	if len(sorted) > 0 {
		r.base = sorted[0].Time - begin
	}
	var entering []*injection
	for i := range sorted {
		p := &sorted[i]
		from, dst, reason := classify(r.fabric, p)
		if reason != "" {
			r.result.NotForwarded++
			r.result.NotForwardedBy[reason]++
			continue
		}
		end = p.Time - r.base
		inj := &injection{at: end, frame: p.Data, from: from, to: r.fabric.HostOf(dst), dstLeaf: r.fabric.LeafOf(dst)}
		entering = append(entering, inj)
		r.net.push(&event{at: end, node: r.net.byName[from.Leaf.Name], port: from.Port, frame: hostFrame(p.Data, from), enter: inj})
	}
	r.result.PacketsIn = len(entering)
	r.measure.assign(entering)
	// What is in flight at the end arrives within a moment; the controller's answers to it as well.
	if err := r.net.run(ctx, end+int64(10*time.Millisecond)); err != nil {
		return err
	}
	return r.finish(ctx)
}

// hostFrame is a captured packet as the host sends it to its gateway.
func hostFrame(data []byte, from *fabric.Host) []byte {
	frame := bytes.Clone(data)
	copy(frame, from.Leaf.MAC[:])
	copy(frame[6:], from.MAC[:])
	return frame
}

// identity recognises a packet whatever the fabric does to it on the way: it covers what no switch changes. A frame that
// carries no IP packet has identity 0.
func (r *runner) identity(frame []byte) uint64 {
	if len(frame) < etherLen {
		return 0
	}
	typ, ip := binary.BigEndian.Uint16(frame[12:]), frame[etherLen:]
	if typ == r.fabric.Wire.MarkEtherType && len(ip) >= fabric.MarkBytes {
		typ, ip = binary.BigEndian.Uint16(ip[9:]), ip[fabric.MarkBytes:]
	}
	var h maphash.Hash
	h.SetSeed(r.seed)
	switch {
	case typ == etherIPv4 && len(ip) >= 20:
		h.Write(ip[2:8]) // total length, identification, flags
		h.Write(ip[9:10])
		h.Write(ip[12:])
	case typ == etherIPv6 && len(ip) >= 40:
		h.Write(ip[2:7]) // flow label without what ECN may touch, length, next header
		h.Write(ip[8:])
	default:
		return 0
	}
	return max(h.Sum64(), 1)
}

// arrives implements observer.
func (r *runner) arrives(x *node, frame []byte, enter *injection) {
	id := r.identity(frame)
	if enter != nil {
		r.flying[id] = append(r.flying[id], enter)
	}
	r.current = len(r.flying[id]) > 0
	if r.current {
		at := arrival{x, id}
		r.arrived[at] = append(r.arrived[at], r.net.now)
		r.before = x.sim.Drops()
	}
}

// received implements observer. A packet that the program dropped is counted by the program, see finish.
func (r *runner) received(x *node) {
	if !r.current {
		return
	}
	after := x.sim.Drops()
	for i := range after {
		reason := simpleswitch.Reason(i)
		if n := after[i] - r.before[i]; n > 0 && reason.Lost() && reason != simpleswitch.DropIngress && reason != simpleswitch.DropEgress {
			r.result.PacketsLost[reason.String()] += int(n)
		}
	}
}

// take removes the first packet in flight with an identity.
func (r *runner) take(id uint64) *injection {
	list := r.flying[id]
	if len(list) == 0 {
		return nil
	}
	if len(list) == 1 {
		delete(r.flying, id)
	} else {
		r.flying[id] = list[1:]
	}
	return list[0]
}

// packetInBytes is the length of the header before a frame to the CPU.
var packetInBytes = func() (n int) {
	for _, f := range codegen.PacketIn.Params {
		n += f.Bits / 8
	}
	return n
}()

// departs implements observer.
func (r *runner) departs(x *node, port uint32, frame []byte) {
	if port == x.opts.CPUPort {
		if len(frame) > packetInBytes && r.take(r.identity(frame[packetInBytes:])) != nil {
			r.result.PacketsLost["to-cpu: "+codegen.CPUReason(frame[packetInBytes-1]).String()]++
		}
		return
	}
	id := r.identity(frame)
	if len(r.flying[id]) == 0 {
		return
	}
	rec := r.flying[id][0]
	at := arrival{x, id}
	arrived := r.net.now
	if times := r.arrived[at]; len(times) > 0 {
		arrived = times[0]
		if len(times) == 1 {
			delete(r.arrived, at)
		} else {
			r.arrived[at] = times[1:]
		}
	}
	if x.sw.Port(port) == nil {
		r.take(id)
		r.result.PacketsLost["no-such-port"]++
		return
	}
	if rec.conn != nil {
		fresh := func(p uint32) bool {
			return !r.fabric.Scheme.Probes() || x.probed[p] >= 0 && r.net.now-x.probed[p] <= int64(r.fabric.Timing.LinkTimeout)
		}
		r.measure.leave(x, rec, arrived, port, x.sw == rec.from.Leaf, r.nextHops(x.sw, rec.dstLeaf), fresh)
	}
}

// nextHops returns the ports by which a switch may send towards a leaf.
func (r *runner) nextHops(from, to *fabric.Switch) []uint32 {
	if from == to || to == nil {
		return nil
	}
	key := [2]*fabric.Switch{from, to}
	list, ok := r.hops[key]
	if !ok {
		list = r.fabric.NextHops(from, to)
		r.hops[key] = list
	}
	return list
}

// delivered implements observer.
func (r *runner) delivered(h *fabric.Host, at int64, frame []byte) error {
	rec := r.take(r.identity(frame))
	var injected []byte
	if rec != nil {
		injected = rec.frame
		if rec.to == h {
			r.result.PacketsDelivered++
		} else {
			r.result.PacketsLost["wrong-host"]++
		}
	}
	if r.opts.OnDelivery != nil {
		r.opts.OnDelivery(h, injected, frame)
	}
	if w := r.writers[h]; w != nil {
		return w.Write(time.Unix(0, r.base+at), frame)
	}
	return nil
}

// finish collects the rest of the result. What programs dropped they counted; whatever is then still missing is told as
// "unaccounted".
func (r *runner) finish(ctx context.Context) error {
	res := r.result
	for _, x := range r.net.nodes {
		counts, err := r.net.ctl.DropCounts(ctx, x.sw.Name)
		if err != nil {
			return fmt.Errorf("drop counters: %w", err)
		}
		for i, n := range counts {
			if reason := codegen.DropReason(i); n > 0 && !reason.IsProbe() {
				res.PacketsLost[reason.String()] += int(n)
			}
		}
	}
	missing := res.PacketsIn - res.PacketsDelivered
	for _, n := range res.PacketsLost {
		missing -= n
	}
	if missing != 0 {
		res.PacketsLost["unaccounted"] = missing
	}
	res.ProbesSent = r.net.ctl.ProbesSent()
	res.Collisions = r.measure.Collisions
	res.MeanDistinctNextHops = math.Round(r.measure.MeanDistinctNextHops()*1000) / 1000
	res.Connections = r.measure.connections()
	found := r.net.ctl.MPTCPFound()
	res.Found = Found{Connections: found.Connections, Subflows: found.Subflows}
	return nil
}
