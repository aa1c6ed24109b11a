package replay

import (
	"khop/bmv2/p4rt"
	"khop/bmv2/pipeline"
	"khop/bmv2/simpleswitch"
	"khop/controlplane"
	"khop/fabric"
)

// node is one switch in virtual time. It implements p4rt.Target; the P4Runtime server calls it on goroutines of its own
// while virtual time stands still.
type node struct {
	net    *network
	sw     *fabric.Switch
	sim    *simpleswitch.Switch
	opts   simpleswitch.Options
	agent  *p4rt.Agent
	server *p4rt.Server
	client *controlplane.Client
	probed []int64 // by port: when the last probe came in, -1 if none did
}

func newNode(n *network, sw *fabric.Switch) (*node, error) {
	x := &node{net: n, sw: sw, probed: make([]int64, len(sw.Ports)+1)}
	for i := range x.probed {
		x.probed[i] = -1
	}
	x.opts = simpleswitch.Options{
		DropPort:   n.fabric.Target.DropPort,
		CPUPort:    n.fabric.Target.CPUPort,
		QueueDepth: int(n.fabric.Target.QueuePackets),
		Seed:       sw.DeviceID,
		OnDigest:   func(d simpleswitch.Digest) { x.agent.Digest(d) },
	}
	var err error
	if x.sim, err = simpleswitch.New(nil, x.opts); err != nil {
		return nil, err
	}
	for _, p := range sw.Ports {
		x.sim.SetPort(p.Number, simpleswitch.PortConfig{RateBPS: uint64(p.Link.Rate)})
	}
	return x, nil
}

// Do implements p4rt.Target.
func (x *node) Do(fn func(sw *simpleswitch.Switch, now int64)) {
	x.net.mu.Lock()
	defer x.net.mu.Unlock()
	fn(x.sim, x.net.now)
}

// Load implements p4rt.Target.
func (x *node) Load(p *pipeline.Program) (*simpleswitch.Switch, error) {
	return x.sim, x.sim.Swap(p)
}

// Detached implements p4rt.Target.
func (x *node) Detached(p *pipeline.Program) (*simpleswitch.Switch, error) {
	o := x.opts
	o.OnDigest = nil
	return simpleswitch.New(p, o)
}

// CPUPort implements p4rt.Target.
func (x *node) CPUPort() (uint32, bool) { return x.opts.CPUPort, x.opts.CPUPort != 0 }

// HasPort implements p4rt.Target.
func (x *node) HasPort(n uint32) bool { return x.sw.Port(n) != nil || n == x.opts.CPUPort }
