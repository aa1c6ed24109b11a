package pipeline

import (
	"fmt"

	"khop/bmv2/config"
)

// arity is the number of parameters of each primitive.
var arity = map[string]int{
	"assign": 2, "modify_field": 2, "assign_VL": 2, "assign_header": 2, "copy_header": 2, "assign_union": 2,
	"assign_header_stack": 2, "assign_union_stack": 2, "push": 2, "pop": 2, "_jump": 1, "_jump_if_zero": 2, "exit": 0,
	"assert": 1, "assume": 1, "log_msg": 2, "modify_field_rng_uniform": 3, "add_to_field": 2, "subtract_from_field": 2,
	"add": 3, "subtract": 3, "bit_xor": 3, "bit_or": 3, "bit_and": 3, "shift_left": 3, "shift_right": 3, "drop": 0,
	"mark_to_drop": 1, "generate_digest": 2, "add_header": 1, "add_header_fast": 1, "remove_header": 1,
	"clone_ingress_pkt_to_egress": 2, "clone_egress_pkt_to_egress": 2, "resubmit": 1, "recirculate": 1,
	"modify_field_with_hash_based_offset": 4, "no_op": 0, "execute_meter": 3, "count": 2, "register_read": 3,
	"register_write": 3, "truncate": 1,
}

var arith3 = map[string]string{
	"add": "+", "subtract": "-", "bit_xor": "^", "bit_or": "|", "bit_and": "&", "shift_left": "<<", "shift_right": ">>",
}

// primitive compiles one call. total is the number of primitives of the action: the end that exit jumps to.
func (l *linker) primitive(p *config.Primitive, e *env, total int) (instr, error) {
	want, ok := arity[p.Op]
	if !ok {
		return instr{}, fmt.Errorf("unknown primitive (the v1model primitives of simple_switch are supported; extern " +
			"methods are not)")
	}
	if len(p.Params) != want && !(p.Op == "mark_to_drop" && len(p.Params) == 0) {
		return instr{}, fmt.Errorf("%d parameters, want %d", len(p.Params), want)
	}
	a := make([]*config.Value, len(p.Params))
	for i := range p.Params {
		a[i] = &p.Params[i]
	}
	switch p.Op {
	case "_jump", "_jump_if_zero":
		return l.jump(p.Op, a, e, total)
	case "exit":
		return instr{jump: func(s *State) int { s.Exit = true; return total }}, nil
	case "assert", "assume":
		// A failure ends the action, the control and, in the end, the packet.
		ok, err := l.boolean(a[0], e)
		if err != nil {
			return instr{}, err
		}
		return instr{jump: func(s *State) int {
			if ok(s) {
				return -1
			}
			s.Exit, s.Failed = true, true
			s.in.logf(s.Now, "%s failed%s", p.Op, at(p.Source))
			return total
		}}, nil
	}
	fn, err := l.plainPrimitive(p, a, e)
	return instr{fn: fn}, err
}

func at(si config.SourceInfo) string {
	if si.Line == 0 {
		return ""
	}
	return fmt.Sprintf(" at %s:%d: %s", si.File, si.Line, si.Fragment)
}

func (l *linker) jump(op string, a []*config.Value, e *env, total int) (instr, error) {
	to, err := l.num(a[len(a)-1], e)
	if err != nil {
		return instr{}, err
	}
	target := indexFn(to, total+1)
	if to.cst != nil {
		t := target(nil)
		if t < 0 {
			return instr{}, fmt.Errorf("jump to primitive %s, the action has %d", to.cst, total)
		}
		target = func(*State) int { return t }
	}
	dyn := func(s *State) int {
		if t := target(s); t >= 0 {
			return t
		}
		return total
	}
	if op == "_jump" {
		return instr{jump: dyn}, nil
	}
	cond, err := l.boolean(a[0], e)
	if err != nil {
		return instr{}, err
	}
	return instr{jump: func(s *State) int {
		if cond(s) {
			return -1
		}
		return dyn(s)
	}}, nil
}

func (l *linker) plainPrimitive(p *config.Primitive, a []*config.Value, e *env) (stmt, error) {
	switch p.Op {
	case "assign", "modify_field":
		return l.assign(a[0], a[1], e)
	case "assign_VL":
		return l.assignVarBit(a[0], a[1])
	case "add_to_field", "subtract_from_field":
		op := "+"
		if p.Op == "subtract_from_field" {
			op = "-"
		}
		return l.assign(a[0], &config.Value{Kind: config.KindExpr, Op: op, Left: a[0], Right: a[1]}, e)
	case "add", "subtract", "bit_xor", "bit_or", "bit_and", "shift_left", "shift_right":
		return l.assign(a[0], &config.Value{Kind: config.KindExpr, Op: arith3[p.Op], Left: a[1], Right: a[2]}, e)
	case "assign_header", "copy_header", "assign_union", "assign_header_stack", "assign_union_stack", "push", "pop",
		"add_header", "add_header_fast", "remove_header":
		return l.headerPrimitive(p.Op, a, e)
	case "no_op":
		return func(*State) {}, nil
	case "log_msg":
		return l.logMsg(p, a, e)
	case "drop", "mark_to_drop":
		return l.markToDrop(a)
	case "generate_digest":
		return l.digestPrimitive(a, e)
	case "clone_ingress_pkt_to_egress", "clone_egress_pkt_to_egress", "resubmit", "recirculate", "truncate":
		return l.requestPrimitive(p.Op, a, e)
	case "modify_field_with_hash_based_offset":
		return l.hashPrimitive(a, e)
	case "modify_field_rng_uniform":
		return l.randomPrimitive(a, e)
	}
	return l.statePrimitive(p.Op, a, e)
}

// markToDrop compiles mark_to_drop, which works on the header that it is given: a copy of standard metadata, where an
// action takes it as a parameter. Without one, and for the P4_14 primitive drop, it is standard metadata itself.
func (l *linker) markToDrop(a []*config.Value) (stmt, error) {
	spec, mask, grp := l.std("standard_metadata.egress_spec"), l.stdMask("standard_metadata.egress_spec"),
		l.std("intrinsic_metadata.mcast_grp")
	if len(a) > 0 {
		h, f, err := l.lookupField(a[0].Names[0], "egress_spec")
		if err != nil || a[0].Kind != config.KindHeader || f == nil || f.words > 1 || !h.meta {
			return nil, fmt.Errorf("%q is not standard metadata: it has no egress_spec", a[0].Names[0])
		}
		spec, mask, grp = h.slot(f), ^uint64(0)>>uint(64-f.width), -1
		if _, f, err := l.lookupField(h.name, "mcast_grp"); err == nil && f != nil && f.words == 1 {
			grp = h.slot(f)
		}
	}
	if grp < 0 {
		return func(s *State) { s.W[spec] = s.DropPort & mask }, nil
	}
	return func(s *State) { s.W[spec], s.W[grp] = s.DropPort&mask, 0 }, nil
}

func (l *linker) digestPrimitive(a []*config.Value, e *env) (stmt, error) {
	n, err := l.num(a[1], e)
	if err != nil {
		return nil, err
	}
	if n.cst == nil || !n.cst.IsInt64() {
		return nil, fmt.Errorf("the learn list must be a constant")
	}
	for i, d := range l.cfg.LearnLists {
		if int64(d.ID) == n.cst.Int64() {
			return func(s *State) { s.Digest = i }, nil
		}
	}
	return nil, fmt.Errorf("no learn list with id %s", n.cst)
}

func (l *linker) requestPrimitive(op string, a []*config.Value, e *env) (stmt, error) {
	x, err := l.num(a[0], e)
	if err != nil {
		return nil, err
	}
	low := x.low
	switch op {
	case "truncate":
		return func(s *State) { // the smallest of several counts
			if n := int(min(low(s), 1<<30)); s.Truncate < 0 || n < s.Truncate {
				s.Truncate = n
			}
		}, nil
	case "resubmit", "recirculate":
		list, err := l.listID(x)
		if err != nil {
			return nil, err
		}
		if list == 0 { // the id means "not requested" in bmv2
			list = -1
		}
		if op == "resubmit" {
			return func(s *State) { s.Resubmit = list }, nil
		}
		return func(s *State) { s.Recirculate = list }, nil
	}
	y, err := l.num(a[1], e)
	if err != nil {
		return nil, err
	}
	list, err := l.listID(y)
	if err != nil {
		return nil, err
	}
	return func(s *State) { s.CloneSession, s.CloneList = int(low(s)&0x7fff), list }, nil
}

// listID checks a field list id. 0 is the empty list when the program declares none with that id.
func (l *linker) listID(n *num) (int, error) {
	if n.cst == nil || !n.cst.IsInt64() {
		return 0, fmt.Errorf("the field list must be a constant")
	}
	id := int(n.cst.Int64())
	if _, ok := l.prog.lists[id]; !ok && id != 0 {
		return 0, fmt.Errorf("no field list with id %d", id)
	}
	return id, nil
}

func (l *linker) hashPrimitive(a []*config.Value, e *env) (stmt, error) {
	base, err := l.num(a[1], e)
	if err != nil {
		return nil, err
	}
	size, err := l.num(a[3], e)
	if err != nil {
		return nil, err
	}
	c := l.calcs[a[2].Names[0]]
	if a[2].Kind != config.KindCalculation || c == nil {
		return nil, fmt.Errorf("no calculation %q", a[2].Names[0])
	}
	d, err := l.dest(a[0], e)
	if err != nil {
		return nil, err
	}
	bl, sl := base.low, size.low
	return d.store(&num{span: unsignedSpan(64), slot: -1, low: func(s *State) uint64 {
		// bmv2: base + H % max, and max 0 means 1
		return c.compute(s)%max(1, sl(s)) + bl(s)
	}}), nil
}

func (l *linker) randomPrimitive(a []*config.Value, e *env) (stmt, error) {
	lo, err := l.num(a[1], e)
	if err != nil {
		return nil, err
	}
	hi, err := l.num(a[2], e)
	if err != nil {
		return nil, err
	}
	d, err := l.dest(a[0], e)
	if err != nil {
		return nil, err
	}
	ll, hl := lo.low, hi.low
	set := d.store(&num{span: unsignedSpan(64), slot: -1, low: func(s *State) uint64 {
		return s.in.random(ll(s), hl(s))
	}})
	return func(s *State) {
		if ll(s) <= hl(s) { // otherwise the destination stays as it is
			set(s)
		}
	}, nil
}

func (l *linker) logMsg(p *config.Primitive, a []*config.Value, e *env) (stmt, error) {
	if a[0].Kind != config.KindString || a[1].Kind != config.KindVector {
		return nil, fmt.Errorf("log_msg takes a format string and a vector of values")
	}
	format, err := parseFormat(a[0].Str, len(a[1].List))
	if err != nil {
		return nil, err
	}
	var vals []*num
	for i := range a[1].List {
		n, err := l.num(&a[1].List[i], e)
		if err != nil {
			return nil, err
		}
		vals = append(vals, n)
	}
	return func(s *State) {
		if s.in.onLog != nil {
			s.in.onLog(s.Now, format(s, vals))
		}
	}, nil
}
