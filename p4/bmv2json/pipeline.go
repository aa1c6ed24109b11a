package bmv2json

import (
	"math/big"

	"khop/p4/ir"
	"khop/p4/types"
)

// pipeline encodes ingress or egress.
func (e *encoder) pipeline(p *ir.Pipeline, id int) object {
	g := &graph{e: e, p: p, flow: newFlow(p.Code), sites: map[*ir.Table][]*block{}}
	g.flow.finish(false)
	for _, b := range g.flow.blocks {
		if b.kind == termApply {
			t := b.last.Apply.Table
			if t.Sites > 1 {
				b.ins = append(b.ins, ir.Instr{Op: ir.OpPrim, Name: "assign", Node: b.last.Node, Args: []ir.Arg{t.Site,
					&ir.Const{Val: big.NewInt(int64(b.last.Apply.Site)), T: t.Site.T}}})
			}
			g.sites[t] = append(g.sites[t], b)
		}
	}
	for _, b := range g.flow.blocks {
		g.name(b)
	}
	tables, profiles := array{}, array{}
	g.conds = array{}
	for _, b := range g.flow.blocks {
		if len(b.ins) > 0 {
			tables = append(tables, g.codeTable(b))
		}
		switch b.kind {
		case termBranch:
			g.conditional(b.cond, b.last.Cond, g.node(b.next), g.node(b.no), e.source(b.last.Node))
		case termApply:
			if t := b.last.Apply.Table; g.sites[t][0] == b {
				tables = append(tables, g.table(t))
			}
		}
	}
	for i, x := range p.Profiles {
		o := object{{"name", x.Name}, {"id", id<<16 + i}}
		o = append(o, e.externSource(x)...)
		o = append(o, member{"max_size", x.Size})
		if x.Kind == "action_selector" {
			in := array{}
			for _, s := range x.Selector {
				in = append(in, e.data(s).val)
			}
			o = append(o, member{"selector", object{{"algo", x.Algorithm}, {"input", in}}})
		}
		profiles = append(profiles, o)
	}
	o := object{{"name", p.Name}, {"id", id}}
	o = append(o, e.source(p.Node)...)
	return append(o, member{"init_table", g.node(g.flow.entry)}, member{"tables", tables}, member{"action_profiles", profiles},
		member{"conditionals", g.conds})
}

type graph struct {
	e     *encoder
	p     *ir.Pipeline
	flow  *flow
	sites map[*ir.Table][]*block
	conds array
}

func (g *graph) name(b *block) {
	if len(b.ins) > 0 {
		b.name = unique(g.e.nodes, "tbl_"+g.e.origin(b.ins))
	}
	if b.kind == termBranch {
		b.cond = g.newCond()
	}
}

func (g *graph) newCond() string {
	return unique(g.e.nodes, "node_"+itoa(g.e.conds+2))
}

func itoa(n int) string { return big.NewInt(int64(n)).String() }

// node names the node that a block begins with; nil is the end of the pipeline.
func (g *graph) node(b *block) any {
	if len(b.ins) > 0 {
		return b.name
	}
	return g.tail(b)
}

// tail names the node that follows the straight-line code of a block.
func (g *graph) tail(b *block) any {
	switch b.kind {
	case termGoto:
		return g.node(b.next)
	case termBranch:
		return b.cond
	case termApply:
		return b.last.Apply.Table.Name
	}
	return nil
}

func (g *graph) conditional(name string, cond ir.Expr, yes, no any, source object) {
	o := object{{"name", name}, {"id", g.e.conds}}
	g.e.conds++
	o = append(o, source...)
	g.conds = append(g.conds, append(o, member{"expression", g.e.boolean(cond)}, member{"true_next", yes}, member{"false_next", no}))
}

// codeTable encodes straight-line code: a table without keys that always runs it.
func (g *graph) codeTable(b *block) object {
	act, id := g.e.made(b.ins)
	next := g.tail(b)
	o := object{{"name", b.name}, {"id", g.tableID()}}
	o = append(o, g.e.source(b.ins[0].Node)...)
	return append(o, member{"key", array{}}, member{"match_type", "exact"}, member{"type", "simple"}, member{"max_size", 1024},
		member{"with_counters", false}, member{"support_timeout", false}, member{"direct_meters", nil}, member{"action_ids", array{id}},
		member{"actions", array{act}}, member{"base_default_next", next}, member{"next_tables", object{{act, next}}},
		member{"default_entry", object{{"action_id", id}, {"action_const", true}, {"action_data", array{}}, {"action_entry_const", true}}})
}

func (g *graph) tableID() int {
	g.e.tables++
	return g.e.tables - 1
}

func (g *graph) table(t *ir.Table) object {
	e := g.e
	keys := array{}
	match := "exact"
	lpm := 0
	for _, k := range t.Keys {
		kind := k.MatchKind
		switch kind {
		case "selector":
			continue
		case "optional":
			kind = "ternary"
		case "lpm":
			lpm++
		}
		match = widerMatch(match, kind)
		o := object{{"match_type", kind}, {"name", k.Name}}
		if k.Valid != nil {
			o = append(o, member{"target", array{k.Valid.Name, "$valid$"}}, member{"mask", nil})
		} else {
			var mask any
			if k.Mask != nil {
				mask = hex(k.Mask, (k.Field.Field.Width+7)/8)
			}
			o = append(o, member{"target", array{k.Field.Header.Name, k.Field.Field.Name}}, member{"mask", mask})
		}
		keys = append(keys, o)
	}
	if lpm > 1 {
		e.errorf(t.Decl.Node(), "unsupported-key", "table %s has %d lpm keys; the target supports one", t.Name, lpm)
	}
	actions := t.Actions
	if t.Default != nil {
		found := false
		for _, a := range actions {
			found = found || a.Action == t.Default.Action
		}
		if !found {
			actions = append(actions[:len(actions):len(actions)], t.Default)
		}
	}
	ids, names := array{}, array{}
	for _, a := range actions {
		ids = append(ids, a.Action.ID)
		names = append(names, a.Action.Name)
	}
	size := max(t.Size, int64(len(t.Entries)))
	var meter any
	if t.Meter != nil {
		meter = t.Meter.Name
	}
	typ := "simple"
	if t.Profile != nil {
		typ = "indirect"
		if t.Profile.Kind == "action_selector" {
			typ = "indirect_ws"
		}
	}
	o := object{{"name", t.Name}, {"id", g.tableID()}}
	o = append(o, e.source(t.Decl.Node())...)
	o = append(o, member{"key", keys}, member{"match_type", match}, member{"type", typ})
	if t.Profile != nil {
		o = append(o, member{"action_profile", t.Profile.Name})
	}
	base, nexts := g.nexts(t, actions)
	o = append(o, member{"max_size", size}, member{"with_counters", t.Counter != nil}, member{"support_timeout", t.Timeout},
		member{"direct_meters", meter}, member{"action_ids", ids}, member{"actions", names}, member{"base_default_next", base},
		member{"next_tables", nexts})
	if t.Profile == nil && t.Default != nil && t.Default.Action != nil {
		o = append(o, member{"default_entry", object{{"action_id", t.Default.Action.ID}, {"action_const", t.ConstDefault},
			{"action_data", data(t.Default)}, {"action_entry_const", t.ConstDefault}}})
	}
	if len(t.Entries) > 0 || t.HasEntries && t.Decl.ConstEntries {
		o = append(o, member{"entries", g.entries(t)})
	}
	return o
}

func data(a *ir.TableAction) array {
	out := array{}
	for i, v := range a.Args {
		p := a.Action.Params[i]
		out = append(out, hex(ir.Wrap(v, ir.Type{Width: p.Width}), (p.Width+7)/8))
	}
	return out
}

func widerMatch(a, b string) string {
	rank := map[string]int{"exact": 0, "lpm": 1, "ternary": 2, "range": 3}
	if rank[b] > rank[a] {
		return b
	}
	return a
}

// nexts encodes what follows a table, by hit and miss or by action. A table that is applied in several places remembers in which,
// and conditions behind it tell them apart.
func (g *graph) nexts(t *ir.Table, actions []*ir.TableAction) (base any, next object) {
	sites := g.sites[t]
	byHit, byAction := false, false
	for _, b := range sites {
		byHit = byHit || b.last.Apply.ByHit
		byAction = byAction || b.last.Apply.ByAction
	}
	if byHit && byAction {
		g.e.errorf(sites[0].last.Node, "unsupported-statement",
			"table %s is asked for hit or miss in one place and for action_run in another; the target can tell one of them", t.Name)
		return nil, object{}
	}
	choose := func(pick func(a *ir.Apply, b *block) any) any {
		out := make([]any, len(sites))
		same := true
		for i, b := range sites {
			out[i] = pick(b.last.Apply, b)
			same = same && out[i] == out[0]
		}
		if same {
			return out[0]
		}
		to := out[len(out)-1]
		for i := len(sites) - 2; i >= 0; i-- {
			name := g.newCond()
			c := &ir.Binary{Op: "==", X: t.Site, Y: &ir.Const{Val: big.NewInt(int64(sites[i].last.Apply.Site)), T: t.Site.T},
				T: ir.Type{Width: 1, Bool: true}}
			g.conditional(name, c, out[i], to, g.e.source(sites[i].last.Node))
			to = name
		}
		return to
	}
	label := func(l ir.Label, b *block) any {
		if l < 0 {
			return g.node(b.next)
		}
		return g.node(g.flow.labels[l])
	}
	if byHit {
		hit := choose(func(a *ir.Apply, b *block) any { return label(pickHit(a, true), b) })
		miss := choose(func(a *ir.Apply, b *block) any { return label(pickHit(a, false), b) })
		return nil, object{{"__HIT__", hit}, {"__MISS__", miss}}
	}
	done := map[string]bool{}
	for _, ta := range actions {
		if done[ta.Action.Name] {
			continue
		}
		done[ta.Action.Name] = true
		next = append(next, member{ta.Action.Name, choose(func(a *ir.Apply, b *block) any { return label(pickAction(a, ta.Action), b) })})
	}
	base = choose(func(a *ir.Apply, b *block) any {
		if !a.ByAction {
			return g.node(b.next)
		}
		if t.Default != nil {
			return label(pickAction(a, t.Default.Action), b)
		}
		return label(a.Default, b)
	})
	return base, next
}

func pickHit(a *ir.Apply, hit bool) ir.Label {
	switch {
	case !a.ByHit:
		return -1
	case hit:
		return a.Hit
	}
	return a.Miss
}

func pickAction(a *ir.Apply, act *ir.Action) ir.Label {
	if !a.ByAction {
		return -1
	}
	for _, c := range a.Cases {
		if c.Action == act || c.Action.Name == act.Name {
			return c.Label
		}
	}
	return a.Default
}

func (g *graph) entries(t *ir.Table) array {
	out := array{}
	for _, en := range t.Entries {
		keys := array{}
		for i, k := range en.Keys {
			if i < len(t.Keys) && t.Keys[i].MatchKind != "selector" {
				keys = append(keys, g.entryKey(t.Keys[i], k))
			}
		}
		o := g.e.source(en.Decl.Decl)
		out = append(out, append(o, member{"match_key", keys},
			member{"action_entry", object{{"action_id", en.Action.Action.ID}, {"action_data", data(en.Action)}}},
			member{"priority", en.Priority}))
	}
	return out
}

func (g *graph) entryKey(k *ir.Key, s *types.Keyset) object {
	size := (k.Width + 7) / 8
	u := ir.Type{Width: k.Width}
	lo, hi := ir.Wrap(intValue(s.Lo), u), ir.Wrap(intValue(s.Hi), u)
	all := ir.Mask(k.Width)
	switch k.MatchKind {
	case "exact":
		if s.Kind != types.KeyValue {
			g.e.errorf(s.Expr, "unsupported-key", "an exact key takes a value")
		}
		return object{{"match_type", "exact"}, {"key", hex(lo, size)}}
	case "lpm":
		prefix := k.Width
		switch s.Kind {
		case types.KeyAny:
			lo, prefix = new(big.Int), 0
		case types.KeyMask:
			prefix = k.Width - int(min(hi.TrailingZeroBits(), uint(k.Width)))
			if hi.Sign() == 0 {
				prefix = 0
			}
			if new(big.Int).AndNot(all, ir.Mask(k.Width-prefix)).Cmp(hi) != 0 {
				g.e.errorf(s.Expr, "unsupported-key", "the mask of an lpm key must be a prefix")
			}
			lo = new(big.Int).And(lo, hi)
		case types.KeyRange:
			g.e.errorf(s.Expr, "unsupported-key", "an lpm key takes no range")
		}
		return object{{"match_type", "lpm"}, {"key", hex(lo, size)}, {"prefix_length", prefix}}
	case "range":
		switch s.Kind {
		case types.KeyAny:
			lo, hi = new(big.Int), all
		case types.KeyValue:
			hi = lo
		case types.KeyMask:
			g.e.errorf(s.Expr, "unsupported-key", "a range key takes no mask")
		}
		return object{{"match_type", "range"}, {"start", hex(lo, size)}, {"end", hex(hi, size)}}
	}
	mask := all
	switch s.Kind {
	case types.KeyAny:
		lo, mask = new(big.Int), new(big.Int)
	case types.KeyMask:
		mask = hi
		lo = new(big.Int).And(lo, hi)
	case types.KeyRange:
		g.e.errorf(s.Expr, "unsupported-key", "a ternary key takes no range")
	}
	return object{{"match_type", "ternary"}, {"key", hex(lo, size)}, {"mask", hex(mask, size)}}
}
