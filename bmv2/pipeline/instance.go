package pipeline

import (
	"fmt"
	"math/rand/v2"
)

// Instance is the state of one switch that runs a Program. It is not safe for concurrent use.
type Instance struct {
	// BadIndex counts accesses to registers, counters, meters and stacks that were ignored because the index was out of
	// range.
	BadIndex uint64
	// EmptyGroup counts hits on a selector group without an active member.
	EmptyGroup uint64

	prog       *Program
	state      State
	registers  [][]uint64
	counters   [][]Counter
	meters     [][]meter
	tables     []tableState
	profiles   []profileState
	setMembers [][][]byte   // of each value set: (Width+7)/8 bytes each, ascending
	setKeys    [][][]uint64 // the members as transition keys, for each use of a value set
	rng        *rand.Rand
	pcg        *rand.PCG
	tracer     Tracer
	onLog      func(now int64, msg string)
	portUp     func(port uint32) bool
	// what register_read and execute_meter looked up, for the assignment that follows
	cell      []uint64
	meterCell int
}

// NewInstance makes the state for p, with the initial entries in place. A nil p gives an instance without objects.
func NewInstance(p *Program) *Instance {
	if p == nil {
		p = &Program{}
	}
	in := &Instance{prog: p, portUp: func(uint32) bool { return true }}
	in.Seed(0)
	in.state = State{in: in, tmp: make([]uint64, 64), hash: make([]byte, 256)}
	in.state.ResetRequests()
	for _, r := range p.registers {
		in.registers = append(in.registers, make([]uint64, r.info.Size*r.words))
	}
	for _, c := range p.counters {
		in.counters = append(in.counters, make([]Counter, c.info.Size))
	}
	for _, m := range p.meters {
		in.meters = append(in.meters, make([]meter, m.info.Size))
	}
	in.profiles = make([]profileState, len(p.profiles))
	for i, pp := range p.profiles {
		in.profiles[i].prog = pp
	}
	in.setMembers, in.setKeys = make([][][]byte, len(p.valueSets)), make([][][]uint64, len(p.setUses))
	in.tables = make([]tableState, len(p.tables))
	for i, t := range p.tables {
		in.tables[i].init(t)
	}
	return in
}

// State returns the instance's execution state.
func (in *Instance) State() *State { return &in.state }

// Seed restarts the random source.
func (in *Instance) Seed(seed uint64) {
	in.pcg = rand.NewPCG(seed, 0x6b686f70)
	in.rng = rand.New(in.pcg)
}

// SetTracer sets or removes the tracer.
func (in *Instance) SetTracer(t Tracer) { in.tracer = t }

// SetLog sets the receiver of log_msg and of failed assertions.
func (in *Instance) SetLog(f func(now int64, msg string)) { in.onLog = f }

// SetPortStatus sets the function that says whether a port is up, for groups whose members watch ports. Call
// PortStatusChanged after a change.
func (in *Instance) SetPortStatus(up func(port uint32) bool) { in.portUp = up }

func (in *Instance) logf(now int64, format string, args ...any) {
	if in.onLog != nil {
		in.onLog(now, fmt.Sprintf(format, args...))
	}
}

// random draws uniformly from lo to hi, both inclusive.
func (in *Instance) random(lo, hi uint64) uint64 {
	if n := hi - lo + 1; n != 0 {
		return lo + in.rng.Uint64N(n)
	}
	return in.rng.Uint64()
}
