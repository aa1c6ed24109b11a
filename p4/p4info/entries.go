package p4info

import (
	"math/big"
	"sort"

	p4v1 "github.com/p4lang/p4runtime/go/p4/v1"

	"khop/p4/ir"
	"khop/p4/types"
)

// entries returns the initial entries of all tables as INSERT updates, or nil when there are none.
func (b *builder) entries() *p4v1.WriteRequest {
	out := &p4v1.WriteRequest{}
	for _, list := range b.items {
		for _, it := range list {
			if t, ok := it.(*ir.Table); ok && !hidden(t.Decl.Annos()) {
				b.tableEntries(out, t)
			}
		}
	}
	if len(out.Updates) == 0 {
		return nil
	}
	return out
}

func (b *builder) tableEntries(out *p4v1.WriteRequest, t *ir.Table) {
	ranked := false
	for _, k := range t.Keys {
		switch k.MatchKind {
		case "ternary", "range", "optional":
			ranked = true
		}
	}
	list := t.Entries
	if !t.Decl.ConstEntries && ranked {
		list = append([]*ir.Entry(nil), list...)
		sort.SliceStable(list, func(i, j int) bool { return list[i].Priority < list[j].Priority })
	}
	for i, e := range list {
		entry := &p4v1.TableEntry{TableId: b.sym.id(prefixTable, t.Name), IsConst: t.Decl.ConstEntries || e.Decl.Const}
		if ranked {
			entry.Priority = int32(len(list) - i)
			if !t.Decl.ConstEntries && e.Decl.Priority != nil {
				entry.Priority = int32(e.Decl.Priority.Int64())
			}
		}
		id := uint32(0)
		for j, k := range e.Keys {
			if j >= len(t.Keys) || t.Keys[j].MatchKind == "selector" {
				continue
			}
			id++
			if m := match(id, t.Keys[j], k); m != nil {
				entry.Match = append(entry.Match, m)
			}
		}
		act := &p4v1.Action{ActionId: b.sym.id(prefixAction, e.Action.Action.Name)}
		for j, v := range e.Action.Args {
			act.Params = append(act.Params, &p4v1.Action_Param{ParamId: uint32(j + 1),
				Value: bytesOf(v, valueWidth(e.Action.Action.Params[j]))})
		}
		entry.Action = &p4v1.TableAction{Type: &p4v1.TableAction_Action{Action: act}}
		out.Updates = append(out.Updates, &p4v1.Update{Type: p4v1.Update_INSERT,
			Entity: &p4v1.Entity{Entity: &p4v1.Entity_TableEntry{TableEntry: entry}}})
	}
}

// match describes one component of an entry's key; nil is a component that matches everything.
func match(id uint32, k *ir.Key, s *types.Keyset) *p4v1.FieldMatch {
	w := width(k.Decl.Type)
	if w == 0 {
		w = k.Width
	}
	u := ir.Type{Width: w}
	lo, hi := ir.Wrap(value(s.Lo), u), ir.Wrap(value(s.Hi), u)
	m := &p4v1.FieldMatch{FieldId: id}
	if s.Kind == types.KeyAny && k.MatchKind != "exact" {
		return nil
	}
	switch k.MatchKind {
	case "exact":
		m.FieldMatchType = &p4v1.FieldMatch_Exact_{Exact: &p4v1.FieldMatch_Exact{Value: bytesOf(lo, w)}}
	case "lpm":
		prefix := w
		if s.Kind == types.KeyMask {
			if hi.Sign() == 0 {
				return nil
			}
			prefix = w - int(hi.TrailingZeroBits())
			lo = new(big.Int).And(lo, hi)
		}
		m.FieldMatchType = &p4v1.FieldMatch_Lpm{Lpm: &p4v1.FieldMatch_LPM{Value: bytesOf(lo, w), PrefixLen: int32(prefix)}}
	case "ternary":
		mask := ir.Mask(w)
		if s.Kind == types.KeyMask {
			if hi.Sign() == 0 {
				return nil
			}
			mask = hi
			lo = new(big.Int).And(lo, hi)
		}
		m.FieldMatchType = &p4v1.FieldMatch_Ternary_{Ternary: &p4v1.FieldMatch_Ternary{Value: bytesOf(lo, w), Mask: bytesOf(mask, w)}}
	case "range":
		if s.Kind != types.KeyRange {
			hi = lo
		} else if lo.Sign() == 0 && hi.Cmp(ir.Mask(w)) == 0 {
			return nil
		}
		m.FieldMatchType = &p4v1.FieldMatch_Range_{Range: &p4v1.FieldMatch_Range{Low: bytesOf(lo, w), High: bytesOf(hi, w)}}
	case "optional":
		m.FieldMatchType = &p4v1.FieldMatch_Optional_{Optional: &p4v1.FieldMatch_Optional{Value: bytesOf(lo, w)}}
	}
	return m
}

// value returns a compile-time value as an integer.
func value(v types.Value) *big.Int {
	switch v := v.(type) {
	case *big.Int:
		return v
	case bool:
		if v {
			return big.NewInt(1)
		}
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
