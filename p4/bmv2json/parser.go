package bmv2json

import (
	"fmt"
	"math/big"
	"strings"

	"khop/p4/ir"
)

// parser encodes the parser: each block of its code is a state.
func (e *encoder) parser() object {
	f := newFlow(e.p.Parser.Code)
	f.finish(true)
	taken := map[string]bool{}
	top := ""
	for _, b := range f.blocks {
		if b.state != "" {
			top, _, _ = strings.Cut(b.state, ".")
			break
		}
	}
	for _, b := range f.blocks {
		if b.state != "" {
			b.name = unique(taken, strings.TrimPrefix(b.state, top+"."))
		}
	}
	last := "start"
	for _, b := range f.blocks {
		if b.name == "" {
			b.name = unique(taken, last+"_part")
		} else {
			last = b.name
		}
	}
	states := array{}
	for i, b := range f.blocks {
		states = append(states, e.state(f, b, i))
	}
	o := object{{"name", "parser"}, {"id", 0}}
	o = append(o, e.source(e.p.Parser.Node)...)
	return append(o, member{"init_state", f.entry.name}, member{"parse_states", states})
}

// next names the state that a block is; accepting and rejecting are the end.
func next(b *block) any {
	if b.kind == termEnd && len(b.ins) == 0 {
		return nil
	}
	return b.name
}

func (e *encoder) state(f *flow, b *block, id int) object {
	ops := array{}
	for i := range b.ins {
		ops = append(ops, e.parserOp(&b.ins[i]))
	}
	key, trans := array{}, array{}
	def := func(to any) {
		trans = append(trans, object{{"type", "default"}, {"value", nil}, {"mask", nil}, {"next_state", to}})
	}
	switch b.kind {
	case termEnd:
		def(nil)
	case termGoto:
		def(next(b.next))
	case termBranch:
		c, yes, no := b.last.Cond, b.next, b.no
		if u, ok := c.(*ir.Unary); ok {
			c, yes, no = u.X, no, yes
		}
		key = append(key, e.data(c).val)
		trans = append(trans, object{{"type", "hexstr"}, {"value", "0x00"}, {"mask", nil}, {"next_state", next(no)}})
		def(next(yes))
	case termSelect:
		sel := b.last.Sel
		for _, k := range sel.Keys {
			key = append(key, e.data(k).val)
		}
		for _, c := range sel.Cases {
			to := next(f.labels[c.Label])
			switch {
			case c.Set != nil:
				trans = append(trans, object{{"type", "parse_vset"}, {"value", c.Set.Name}, {"mask", nil}, {"next_state", to}})
			case c.Match == nil:
				def(to)
			default:
				value, mask := joinMatch(sel.Keys, c.Match)
				trans = append(trans, object{{"type", "hexstr"}, {"value", value}, {"mask", mask}, {"next_state", to}})
			}
			if c.Match == nil && c.Set == nil {
				break // nothing behind it can match
			}
		}
	default:
		e.fail("application of a table in the parser")
	}
	o := object{{"name", b.name}, {"id", id}}
	if b.start != nil {
		o = append(o, e.source(b.start.Node)...)
	}
	return append(o, member{"parser_ops", ops}, member{"transitions", trans}, member{"transition_key", key})
}

// joinMatch concatenates the parts of a match, each padded to whole bytes.
func joinMatch(keys []ir.Expr, m []ir.Match) (value string, mask any) {
	v, k := new(big.Int), new(big.Int)
	size, masked := 0, false
	for i, part := range m {
		w := keys[i].Type().Width
		n := (w + 7) / 8
		pm := part.Mask
		if pm == nil {
			pm = ir.Mask(w)
		} else {
			masked = true
		}
		v.Or(v.Lsh(v, uint(8*n)), new(big.Int).And(part.Value, pm))
		k.Or(k.Lsh(k, uint(8*n)), new(big.Int).And(pm, ir.Mask(w)))
		size += n
	}
	if masked {
		mask = hex(k, size)
	}
	return hex(v, size), mask
}

func (e *encoder) parserOp(in *ir.Instr) object {
	switch in.Op {
	case ir.OpParse:
		return append(object{{"op", in.Name}, {"parameters", e.parserParams(in)}}, e.source(in.Node)...)
	case ir.OpPrim:
		if dst, ok := firstField(in); ok && in.Name == "assign" {
			x, _ := in.Args[1].(ir.Expr)
			return append(object{{"op", "set"}, {"parameters", array{e.place(dst), wrapParam(e.data(x).val)}}}, e.source(in.Node)...)
		}
		return object{{"op", "primitive"}, {"parameters", array{e.primitive(in)}}}
	}
	e.fail("instruction %d in the parser", in.Op)
	return nil
}

func firstField(in *ir.Instr) (*ir.FieldRef, bool) {
	if len(in.Args) == 0 {
		return nil, false
	}
	f, ok := in.Args[0].(*ir.FieldRef)
	return f, ok
}

func (e *encoder) parserParams(in *ir.Instr) array {
	switch in.Name {
	case "extract", "extract_VL":
		var dst object
		switch a := in.Args[0].(type) {
		case *ir.Header:
			dst = typed("regular", a.Name)
		case *ir.NextElem:
			if a.Stack != nil {
				dst = typed("stack", a.Stack.Name)
			} else {
				dst = typed("union_stack", array{a.Union.Name, a.Member})
			}
		default:
			e.fail("extract to %T", a)
		}
		out := array{dst}
		if len(in.Args) > 1 {
			x, _ := in.Args[1].(ir.Expr)
			v := e.data(x).val
			out = append(out, typed("expression", v))
		}
		return out
	case "advance":
		x, _ := in.Args[0].(ir.Expr)
		return array{wrapParam(e.data(x).val)}
	case "verify":
		cond, _ := in.Args[0].(ir.Expr)
		code, _ := in.Args[1].(ir.Expr)
		return array{e.boolean(cond), e.data(code).val}
	}
	e.fail("parser operation %s", fmt.Sprint(in.Name))
	return array{}
}
