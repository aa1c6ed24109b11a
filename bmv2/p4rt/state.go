package p4rt

import (
	"errors"

	configv1 "github.com/p4lang/p4runtime/go/p4/config/v1"
	p4v1 "github.com/p4lang/p4runtime/go/p4/v1"
	"google.golang.org/grpc/codes"

	"khop/bmv2/pipeline"
	"khop/bmv2/simpleswitch"
)

// state is a pipeline and what clients wrote to it. The switch holds what packets need; the state holds what clients want
// to read back (metadata, ids of members, one-shot groups) and how one maps to the other.
type state struct {
	info   *info
	prog   *pipeline.Program
	config *p4v1.ForwardingPipelineConfig
	sw     *simpleswitch.Switch

	tables     map[uint32]*tableState
	tableOrder []*tableState
	byName     map[string]*tableState
	profiles   map[uint32]*profileState
	counters   map[uint32]int // sizes by id, of those that the program has
	meters     map[uint32]int
	registers  map[uint32]int
	valueSets  map[uint32]*valueSetState
	multicast  map[uint32]*p4v1.MulticastGroupEntry
	clones     map[uint32]*p4v1.CloneSessionEntry
	digests    map[uint32]*digestState
	byDigest   []*digestState // by index into Switch.Digests; nil for one that P4Info does not have

	idleDue  int64 // earliest switch time at which an entry may be idle for its timeout; never if none has one
	idleLast int64 // switch time of the last scan
}

// txn is what the updates of one batch share.
type txn struct {
	target Target
	now    int64    // switch time
	record bool     // keep an undo log
	undo   []func() // in the order of the updates; each undoes one step
}

// done notes how to take back a step that has succeeded.
func (x *txn) done(undo func()) {
	if x.record {
		x.undo = append(x.undo, undo)
	}
}

// rollback takes back all steps, latest first.
func (x *txn) rollback() {
	for i := len(x.undo) - 1; i >= 0; i-- {
		x.undo[i]()
	}
	x.undo = nil
}

// switchError maps an error of the switch core to a canonical code.
func switchError(err error) error {
	if err == nil {
		return nil
	}
	code := codes.InvalidArgument
	for _, m := range [...]struct {
		err  error
		code codes.Code
	}{
		{pipeline.ErrNotFound, codes.NotFound},
		{pipeline.ErrExists, codes.AlreadyExists},
		{pipeline.ErrFull, codes.ResourceExhausted},
		{pipeline.ErrConst, codes.PermissionDenied},
		{pipeline.ErrInUse, codes.FailedPrecondition},
	} {
		if errors.Is(err, m.err) {
			code = m.code
		}
	}
	return &entityError{code, err.Error()}
}

// newState binds a P4Info to a program on a switch that runs it. P4Info and program must describe the same tables; an
// object that only P4Info has is accepted (compilers drop what no packet can reach) unless no table is shared at all.
func newState(in *info, cfg *p4v1.ForwardingPipelineConfig, prog *pipeline.Program, sw *simpleswitch.Switch) (*state, error) {
	st := &state{info: in, prog: prog, config: cfg, sw: sw,
		tables:    map[uint32]*tableState{},
		byName:    map[string]*tableState{},
		profiles:  map[uint32]*profileState{},
		counters:  map[uint32]int{},
		meters:    map[uint32]int{},
		registers: map[uint32]int{},
		valueSets: map[uint32]*valueSetState{},
		multicast: map[uint32]*p4v1.MulticastGroupEntry{},
		clones:    map[uint32]*p4v1.CloneSessionEntry{},
		digests:   map[uint32]*digestState{},
		idleDue:   never,
		idleLast:  never,
	}
	if err := st.bindTables(); err != nil {
		return nil, err
	}
	for _, p := range sw.Profiles() {
		for _, pi := range in.profileOrder {
			if pi.name == p.Name {
				if pi.msg.GetWithSelector() != p.Selector {
					return nil, errorf(codes.InvalidArgument, "action profile %q: P4Info and device config differ about its selector", pi.name)
				}
				st.profiles[pi.id] = newProfileState(pi)
			}
		}
	}
	for _, c := range sw.Counters() {
		bindArray(st.counters, in.counterOrder, c.Name, c.Size)
	}
	for _, m := range sw.Meters() {
		bindArray(st.meters, in.meterOrder, m.Name, m.Size)
	}
	for _, r := range sw.Registers() {
		for _, a := range in.regOrder {
			// The switch keeps one number a cell; a register of another type cannot be accessed.
			if w := a.elem.leaves(nil); a.name == r.Name && len(w) == 1 && w[0] == r.Width {
				st.registers[a.id] = r.Size
			}
		}
	}
	for _, v := range sw.ValueSets() {
		for _, vi := range in.vsetOrder {
			if vi.name == v.Name {
				st.valueSets[vi.id] = &valueSetState{info: vi, width: v.Width}
			}
		}
	}
	digests := sw.Digests()
	st.byDigest = make([]*digestState, len(digests))
	for i, d := range digests {
		for _, di := range in.digestOrder {
			if di.name != d.Name {
				continue
			}
			if w := di.elem.leaves(nil); len(w) != len(d.Fields) {
				return nil, errorf(codes.InvalidArgument, "digest %q has %d fields in P4Info and %d in the device config", d.Name, len(w), len(d.Fields))
			}
			ds := newDigestState(di)
			st.digests[di.id], st.byDigest[i] = ds, ds
		}
	}
	return st, nil
}

func bindArray(sizes map[uint32]int, infos []*arrayInfo, name string, size int) {
	for _, a := range infos {
		if a.name == name {
			sizes[a.id] = size
		}
	}
}

func (st *state) bindTables() error {
	found := 0
	for _, ti := range st.info.tableOrder {
		ts := &tableState{info: ti, entries: map[string]*entry{}}
		st.tables[ti.id] = ts
		st.tableOrder = append(st.tableOrder, ts)
		st.byName[ti.name] = ts
		core, err := st.sw.Table(ti.name)
		if err != nil {
			continue
		}
		found++
		if err := ts.bind(core); err != nil {
			return wrap(err, "table %q: P4Info and device config differ", ti.name)
		}
		if err := ts.loadInitial(st.sw); err != nil {
			return wrap(err, "table %q: initial entries", ti.name)
		}
	}
	if found == 0 && len(st.info.tableOrder) > 0 && len(st.sw.Tables()) > 0 {
		return errorf(codes.InvalidArgument, "P4Info and device config belong to different programs: they share no table; P4Info has %s, the device config has %s",
			options(names(st.info.tableOrder, func(t *tableInfo) string { return t.name })),
			options(names(st.sw.Tables(), func(t pipeline.TableInfo) string { return t.Name })))
	}
	return nil
}

func names[T any](list []T, name func(T) string) []string {
	out := make([]string, len(list))
	for i, x := range list {
		out[i] = name(x)
	}
	return out
}

// bind checks that P4Info and program describe the same table.
func (ts *tableState) bind(core *pipeline.TableInfo) error {
	ts.core = core
	fields := ts.info.key.fields
	if len(fields) != len(core.Keys) {
		return errorf(codes.InvalidArgument, "the key has %d fields in P4Info and %d in the device config", len(fields), len(core.Keys))
	}
	for i, f := range fields {
		k := core.Keys[i]
		if f.width != k.Width && !f.trans {
			return errorf(codes.InvalidArgument, "match field %s has %d bits in P4Info and %d in the device config", f.name, f.width, k.Width)
		}
		if want := coreKind(f.kind); want != k.Kind {
			return errorf(codes.InvalidArgument, "match field %s is %s in P4Info and %s in the device config", f.name, kindName(f.kind), k.Kind)
		}
	}
	if ts.info.prioritised != core.HasPriority() {
		return errorf(codes.InvalidArgument, "the table is matched %s in the device config, which does not go with its match fields in P4Info", core.Kind)
	}
	if (ts.info.profile != nil) != (core.Profile != "") {
		return errorf(codes.InvalidArgument, "only one of them gives the table an action profile")
	}
	for _, c := range core.Actions {
		for _, a := range ts.info.actions {
			if a.name != c.Name {
				continue
			}
			if len(a.params) != len(c.Params) {
				return errorf(codes.InvalidArgument, "action %s has %d parameters in P4Info and %d in the device config", a.name, len(a.params), len(c.Params))
			}
			for i, p := range a.params {
				if p.width != c.Params[i].Width && !p.trans {
					return errorf(codes.InvalidArgument, "action %s, parameter %s has %d bits in P4Info and %d in the device config", a.name, p.name, p.width, c.Params[i].Width)
				}
			}
		}
	}
	return nil
}

// coreKind is the match kind of the switch for one of P4Info; optional is a ternary match with a full or empty mask.
func coreKind(k configv1.MatchField_MatchType) pipeline.MatchKind {
	switch k {
	case configv1.MatchField_LPM:
		return pipeline.LPM
	case configv1.MatchField_TERNARY, configv1.MatchField_OPTIONAL:
		return pipeline.Ternary
	case configv1.MatchField_RANGE:
		return pipeline.Range
	}
	return pipeline.Exact
}
