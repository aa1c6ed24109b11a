package bmv2json

import (
	"fmt"
	"math/big"
	"path"
	"strings"

	"khop/p4/ast"
	"khop/p4/diag"
	"khop/p4/ir"
	"khop/p4/types"
)

// Options say what the JSON tells about the source.
type Options struct {
	// File is the name of the program.
	File string
	// Pos and Text, the preprocessed text, give objects their place in the source; without them the JSON has none.
	Pos  diag.Resolver
	Text []byte
}

// Encode writes a lowered program. It fails when the graph cannot be expressed in the format.
func Encode(p *ir.Program, o Options) (out []byte, list diag.List) {
	e := &encoder{p: p, o: o, nodes: map[string]bool{}, actions: map[*ir.Action]int{}}
	v := e.program()
	if e.err != nil {
		e.list = append(e.list, diag.Diagnostic{Severity: diag.Error, Code: "internal", Message: e.err.Error(),
			At: diag.Position{File: o.File}})
	}
	if e.list.HasErrors() {
		return nil, e.list
	}
	return encode(v), e.list
}

type encoder struct {
	p       *ir.Program
	o       Options
	err     error
	list    diag.List
	nodes   map[string]bool // names of tables and conditionals
	names   map[string]bool // names of actions
	actions map[*ir.Action]int
	extra   array // actions made here
	count   int   // actions so far
	tables  int
	conds   int
}

func (e *encoder) errorf(n ast.Node, code diag.Code, format string, args ...any) {
	d := diag.Diagnostic{Severity: diag.Error, Code: code, Message: fmt.Sprintf(format, args...)}
	if n != nil && e.o.Pos != nil {
		d.At, d.End = e.o.Pos.Position(n.Pos()), e.o.Pos.Position(n.End())
	}
	e.list = append(e.list, d)
}

// maxFragment is how much of the source an object quotes.
const maxFragment = 80

// source returns the source_info member, or nothing.
func (e *encoder) source(n ast.Node) object {
	if n == nil || e.o.Pos == nil || n.Pos() == diag.NoPos {
		return nil
	}
	at := e.o.Pos.Position(n.Pos())
	if at.Line == 0 {
		return nil
	}
	info := object{{"filename", at.File}, {"line", at.Line}, {"column", at.Column - 1}}
	from, to := int(n.Pos())-1, int(n.End())-1
	if from >= 0 && to >= from && to <= len(e.o.Text) {
		s := string(e.o.Text[from:to])
		if i := strings.IndexByte(s, '\n'); i >= 0 {
			s = s[:i]
		}
		if len(s) > maxFragment {
			s = s[:maxFragment]
		}
		info = append(info, member{"source_fragment", strings.TrimSpace(s)})
	}
	return object{{"source_info", info}}
}

func (e *encoder) program() object {
	e.names = map[string]bool{}
	for _, a := range e.p.Actions {
		e.actions[a] = a.ID
		e.names[a.Name] = true
	}
	e.count = len(e.p.Actions)
	for _, p := range []*ir.Pipeline{e.p.Ingress, e.p.Egress} {
		for _, t := range p.Tables {
			e.nodes[t.Name] = true
		}
	}
	actions := array{}
	for _, a := range e.p.Actions {
		actions = append(actions, e.action(a))
	}
	parser := e.parser()
	ingress := e.pipeline(e.p.Ingress, 0)
	egress := e.pipeline(e.p.Egress, 1)
	actions = append(actions, e.extra...)
	return object{
		{"header_types", e.headerTypes()},
		{"headers", e.headers()},
		{"header_stacks", e.stacks()},
		{"header_union_types", e.unionTypes()},
		{"header_unions", e.unions()},
		{"header_union_stacks", e.unionStacks()},
		{"field_lists", e.fieldLists(e.p.FieldLists)},
		{"errors", e.errors()},
		{"enums", e.enums()},
		{"parsers", array{parser}},
		{"parse_vsets", e.valueSets()},
		{"deparsers", array{e.deparser()}},
		{"meter_arrays", e.meters()},
		{"counter_arrays", e.counters()},
		{"register_arrays", e.registers()},
		{"calculations", e.calculations()},
		{"learn_lists", e.fieldLists(e.p.LearnLists)},
		{"actions", actions},
		{"pipelines", array{ingress, egress}},
		{"checksums", e.checksums()},
		{"force_arith", array{}},
		{"extern_instances", array{}},
		{"field_aliases", e.aliases()},
		{"program", e.o.File},
		{"__meta__", object{{"version", array{2, 23}}, {"compiler", "khop"}}},
	}
}

func (e *encoder) headerTypes() array {
	out := array{}
	for i, t := range e.p.HeaderTypes {
		fields := array{}
		for _, f := range t.Fields {
			if f.Varbit {
				fields = append(fields, array{f.Name, "*"})
			} else {
				fields = append(fields, array{f.Name, f.Width, f.Signed})
			}
		}
		o := object{{"name", t.Name}, {"id", i}, {"fields", fields}}
		if t.Varbit() != nil {
			o = append(o, member{"length_exp", nil}, member{"max_length", (t.Width() + 7) / 8})
		}
		out = append(out, o)
	}
	return out
}

func (e *encoder) headers() array {
	out := array{}
	for _, h := range e.p.Headers {
		out = append(out, object{{"name", h.Name}, {"id", h.ID}, {"header_type", h.Type.Name}, {"metadata", h.Metadata},
			{"pi_omit", true}})
	}
	return out
}

func (e *encoder) stacks() array {
	out := array{}
	for _, s := range e.p.Stacks {
		ids := array{}
		for _, h := range s.Elems {
			ids = append(ids, h.ID)
		}
		out = append(out, object{{"name", s.Name}, {"id", s.ID}, {"header_type", s.Type.Name}, {"size", len(ids)}, {"header_ids", ids}})
	}
	return out
}

func (e *encoder) unionTypes() array {
	out := array{}
	for i, t := range e.p.UnionTypes {
		hs := array{}
		for _, m := range t.Members {
			hs = append(hs, array{m.Name, m.Type.Name})
		}
		out = append(out, object{{"name", t.Name}, {"id", i}, {"headers", hs}})
	}
	return out
}

func (e *encoder) unions() array {
	out := array{}
	for _, u := range e.p.Unions {
		ids := array{}
		for _, h := range u.Members {
			ids = append(ids, h.ID)
		}
		out = append(out, object{{"name", u.Name}, {"id", u.ID}, {"union_type", u.Type.Name}, {"header_ids", ids}, {"pi_omit", true}})
	}
	return out
}

func (e *encoder) unionStacks() array {
	out := array{}
	for _, s := range e.p.UnionStacks {
		ids := array{}
		for _, u := range s.Elems {
			ids = append(ids, u.ID)
		}
		out = append(out, object{{"name", s.Name}, {"id", s.ID}, {"union_type", s.Type.Name}, {"size", len(ids)}, {"header_union_ids", ids}})
	}
	return out
}

func (e *encoder) fieldLists(lists []*ir.FieldList) array {
	out := array{}
	for _, l := range lists {
		el := array{}
		for _, x := range l.Elements {
			el = append(el, e.data(x).val)
		}
		out = append(out, object{{"id", l.ID}, {"name", l.Name}, {"elements", el}})
	}
	return out
}

func (e *encoder) errors() array {
	out := array{}
	for i, m := range e.p.Info.Errors {
		out = append(out, array{m.Name(), i})
	}
	return out
}

func (e *encoder) enums() array {
	out := array{}
	for _, t := range e.p.Enums {
		entries := array{}
		for _, m := range t.Members {
			entries = append(entries, array{m.Name(), m.Index})
		}
		out = append(out, object{{"name", t.Name}, {"entries", entries}})
	}
	return out
}

func (e *encoder) valueSets() array {
	out := array{}
	for i, v := range e.p.ValueSets {
		w := 0
		for _, n := range v.Widths {
			w += n
		}
		out = append(out, object{{"name", v.Name}, {"id", i}, {"compressed_bitwidth", w}, {"max_size", v.Size}})
	}
	return out
}

func (e *encoder) aliases() array {
	out := array{}
	for _, a := range e.p.Aliases {
		out = append(out, array{a.Name, array{a.Header.Name, a.Field.Name}})
	}
	return out
}

func (e *encoder) counters() array {
	out := array{}
	for _, c := range e.p.Counters {
		o := object{{"name", c.Name}, {"id", len(out)}}
		if c.Kind == "direct_counter" {
			if c.Table == nil {
				continue
			}
			o = append(o, member{"is_direct", true}, member{"binding", c.Table.Name})
		} else {
			o = append(o, member{"size", c.Size}, member{"is_direct", false})
		}
		out = append(out, append(o, e.externSource(c)...))
	}
	return out
}

func (e *encoder) externSource(x *ir.Extern) object {
	switch {
	case x.Inst != nil:
		return e.source(x.Inst.Node())
	case x.Prop != nil:
		return e.source(x.Prop.Decl)
	}
	return nil
}

func (e *encoder) meters() array {
	out := array{}
	for _, m := range e.p.Meters {
		o := object{{"name", m.Name}, {"id", len(out)}}
		o = append(o, e.externSource(m)...)
		o = append(o, member{"is_direct", m.Kind == "direct_meter"}, member{"rate_count", 2}, member{"type", m.Unit})
		if m.Kind == "direct_meter" {
			if m.Table == nil || m.Result == nil {
				continue
			}
			o = append(o, member{"size", m.Table.Size}, member{"binding", m.Table.Name},
				member{"result_target", array{m.Result.Header.Name, m.Result.Field.Name}})
		} else {
			o = append(o, member{"size", m.Size})
		}
		out = append(out, o)
	}
	return out
}

func (e *encoder) registers() array {
	out := array{}
	for i, r := range e.p.Registers {
		o := object{{"name", r.Name}, {"id", i}}
		o = append(o, e.externSource(r)...)
		out = append(out, append(o, member{"size", r.Size}, member{"bitwidth", r.Width}))
	}
	return out
}

func (e *encoder) calculations() array {
	out := array{}
	for _, c := range e.p.Calculations {
		in := array{}
		for _, x := range c.Input {
			v := e.data(x).val
			if k, ok := x.(*ir.Const); ok {
				w := k.T.Width
				v = object{{"type", "hexstr"}, {"value", hex(ir.Wrap(k.Val, ir.Type{Width: w}), (w+7)/8)}, {"bitwidth", w}}
			}
			in = append(in, v)
		}
		if c.Payload {
			in = append(in, typed("payload", nil))
		}
		o := object{{"name", c.Name}, {"id", c.ID}}
		o = append(o, e.source(c.Node)...)
		out = append(out, append(o, member{"algo", c.Algorithm}, member{"input", in}))
	}
	return out
}

func (e *encoder) checksums() array {
	out := array{}
	for i, c := range e.p.Checksums {
		o := object{{"name", c.Name}, {"id", i}}
		o = append(o, e.source(c.Node)...)
		out = append(out, append(o, member{"target", array{c.Target.Header.Name, c.Target.Field.Name}}, member{"type", "generic"},
			member{"calculation", c.Calc.Name}, member{"verify", c.Verify}, member{"update", !c.Verify},
			member{"if_cond", e.boolean(c.Cond)}))
	}
	return out
}

func (e *encoder) deparser() object {
	d := e.p.Deparser
	order := array{}
	for _, h := range d.Order {
		order = append(order, h.Name)
	}
	prims := array{}
	for _, in := range d.Code.Ins {
		if in.Op == ir.OpPrim {
			prims = append(prims, e.primitive(&in))
		}
	}
	o := object{{"name", "deparser"}, {"id", 0}}
	o = append(o, e.source(d.Node)...)
	return append(o, member{"order", order}, member{"primitives", prims})
}

func (e *encoder) primitive(in *ir.Instr) object {
	params := array{}
	for _, a := range in.Args {
		params = append(params, e.arg(a))
	}
	o := object{{"op", in.Name}, {"parameters", params}}
	return append(o, e.source(in.Node)...)
}

// action encodes an action that tables run: jumps stay jumps, to the number of a primitive.
func (e *encoder) action(a *ir.Action) object {
	params := array{}
	for _, p := range a.Params {
		params = append(params, object{{"name", p.Name}, {"bitwidth", p.Width}})
	}
	return object{{"name", a.Name}, {"id", a.ID}, {"runtime_data", params}, {"primitives", e.actionCode(a)}}
}

func (e *encoder) actionCode(a *ir.Action) array {
	// Drop jumps to the place behind them, until none is left, and find where labels are.
	code := a.Code
	drop := make([]bool, len(code.Ins))
	for changed := true; changed; {
		changed = false
		for i, in := range code.Ins {
			if in.Op != ir.OpJump || drop[i] {
				continue
			}
			for j := i + 1; j < len(code.Ins); j++ {
				n := code.Ins[j]
				if n.Op == ir.OpLabel && n.Label == in.Label {
					drop[i], changed = true, true
					break
				}
				if n.Op != ir.OpLabel && !drop[j] {
					break
				}
			}
		}
	}
	at := make([]int, code.Labels())
	n := 0
	for i, in := range code.Ins {
		switch {
		case in.Op == ir.OpLabel:
			at[in.Label] = n
		case !drop[i]:
			n++
		}
	}
	out := array{}
	for i, in := range code.Ins {
		if drop[i] {
			continue
		}
		var o object
		switch in.Op {
		case ir.OpPrim:
			o = e.primitive(&in)
		case ir.OpJump:
			o = append(object{{"op", "_jump"}, {"parameters", array{intHex(int64(at[in.Label]))}}}, e.source(in.Node)...)
		case ir.OpBranch:
			o = append(object{{"op", "_jump_if_zero"}, {"parameters", array{wrapParam(e.condData(in.Cond)), intHex(int64(at[in.Label]))}}},
				e.source(in.Node)...)
		case ir.OpExit:
			o = append(object{{"op", "exit"}, {"parameters", array{}}}, e.source(in.Node)...)
		case ir.OpLabel:
			continue
		default:
			e.fail("instruction %d in action %s", in.Op, a.Name)
			continue
		}
		out = append(out, o)
	}
	return out
}

// condData encodes a condition as a number, for _jump_if_zero.
func (e *encoder) condData(x ir.Expr) object {
	v := e.data(x)
	if v.local {
		return op("b2d", nil, op("d2b", nil, v.val))
	}
	return v.val
}

// made adds an action that has no name in the program and returns its name and number.
func (e *encoder) made(ins []ir.Instr) (string, int) {
	name := unique(e.names, e.origin(ins))
	prims := array{}
	for i := range ins {
		prims = append(prims, e.primitive(&ins[i]))
	}
	id := e.count
	e.count++
	e.extra = append(e.extra, object{{"name", name}, {"id", id}, {"runtime_data", array{}}, {"primitives", prims}})
	return name, id
}

// origin names code after the place in the source that it comes from.
func (e *encoder) origin(ins []ir.Instr) string {
	for _, in := range ins {
		if in.Node != nil && e.o.Pos != nil {
			at := e.o.Pos.Position(in.Node.Pos())
			if at.Line > 0 {
				base := strings.TrimSuffix(path.Base(at.File), ".p4")
				return fmt.Sprintf("%sl%d", identifier(base), at.Line)
			}
		}
	}
	return "act"
}

func identifier(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_':
			return r
		}
		return '_'
	}, s)
}

func unique(taken map[string]bool, name string) string {
	n := name
	for i := 0; taken[n]; i++ {
		n = fmt.Sprintf("%s_%d", name, i)
	}
	taken[n] = true
	return n
}

// intValue returns a compile-time value as an integer.
func intValue(v types.Value) *big.Int {
	switch v := v.(type) {
	case *big.Int:
		return v
	case bool:
		return big.NewInt(int64(b2i(v)))
	case *types.EnumMember:
		if v.Value != nil {
			return v.Value
		}
		return big.NewInt(int64(v.Index))
	case *types.ErrorMember:
		return big.NewInt(int64(v.Index))
	}
	return new(big.Int)
}
