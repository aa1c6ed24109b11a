package types

import (
	"math/big"

	"khop/p4/ast"
)

// maxPriority is the largest priority that P4Runtime can carry (a positive int32).
const maxPriority = 1<<31 - 1

// entries checks the initial entries of a table (specification section 14.2.1.4).
func (c *checker) entries(t *Table, p *ast.EntriesProp) {
	t.HasEntries, t.ConstEntries = true, p.Const
	if len(t.Keys) == 0 && len(p.Entries) > 0 {
		r := c.err(tableName(t.Decl), CodeEntry, "table %s has no key, so it cannot have entries", quote(t.name))
		c.note(r, p.From, "the entries are here")
	}
	want := make([]Type, len(t.Keys))
	for i, k := range t.Keys {
		want[i] = k.Type
	}
	for _, e := range p.Entries {
		if e == nil {
			continue
		}
		c.annos(e.Annos)
		te := &TableEntry{Decl: e, Const: e.Const || p.Const}
		if e.Priority != nil {
			te.Priority = c.priority(t, e, p.Const)
		}
		if len(t.Keys) > 0 {
			te.Keys = c.keysets(e.Keys, want, e, "table "+quote(t.name))
			c.matchKinds(t, te.Keys)
		}
		if ref := e.Action; ref != nil && ref.Name != nil {
			c.annos(ref.Annos)
			te.Action = c.tableActionRef(t, ref, ref.Name, ref.Name.Name, ref.Global, ref.Args, ref.HasArgs, true)
			if te.Action != nil {
				c.info.Uses[ref] = te.Action.Action
				if te.Action.DefaultOnly {
					c.err(ref, CodeEntry, "action %s is @defaultonly and cannot be in an entry", quote(te.Action.Action.name))
				}
			}
		}
		t.Entries = append(t.Entries, te)
	}
	c.priorities(t, p)
	c.duplicateEntries(t)
}

// matchKinds reports keysets that a key's match kind cannot express.
func (c *checker) matchKinds(t *Table, sets []*Keyset) {
	if len(sets) != len(t.Keys) {
		return
	}
	for i, ks := range sets {
		mk := t.Keys[i].MatchKind
		if mk == nil || ks == nil {
			continue
		}
		switch {
		case ks.Kind == KeyValueSet:
			c.err(ks.Expr, CodeEntry, "a value set cannot be part of an entry")
		case mk.name == "exact" && (ks.Kind == KeyMask || ks.Kind == KeyRange):
			c.warn(ks.Expr, CodeInexact, "key %d has match kind exact and takes a single value", i+1)
		case mk.name == "lpm" && ks.Kind == KeyRange, mk.name == "ternary" && ks.Kind == KeyRange:
			c.err(ks.Expr, CodeEntry, "key %d has match kind %s and takes no range", i+1, mk.name).hint("write value &&& mask")
		case mk.name == "lpm" && ks.Kind == KeyMask:
			if m, ok := ks.Hi.(*big.Int); ok && !isPrefix(m, widthOf(underlying(ks.Type))) {
				c.err(ks.Expr, CodeEntry, "the mask of an lpm key must be ones followed by zeros")
			}
		case mk.name == "optional" && (ks.Kind == KeyMask || ks.Kind == KeyRange):
			c.err(ks.Expr, CodeEntry, "key %d has match kind optional and takes a single value or _", i+1)
		case mk.name == "range" && ks.Kind == KeyMask:
			c.err(ks.Expr, CodeEntry, "key %d has match kind range and takes no mask", i+1).hint("write first .. last")
		}
		if ks.Kind == KeyValue && ks.Lo == nil {
			if tv := c.info.Types[ks.Expr]; tv.Type != InvalidType && tv.Type != nil && tv.Mode != ConstMode {
				c.err(ks.Expr, CodeNotConst, "the key of an entry must be known at compile time")
			}
		}
	}
}

// isPrefix tells whether a mask of that width is ones followed by zeros.
func isPrefix(m *big.Int, width int) bool {
	if width < 0 || m.Sign() < 0 {
		return true
	}
	seenZero := false
	for i := width - 1; i >= 0; i-- {
		if m.Bit(i) == 0 {
			seenZero = true
		} else if seenZero {
			return false
		}
	}
	return true
}

func (c *checker) priority(t *Table, e *ast.TableEntry, constEntries bool) *big.Int {
	x := c.expr(e.Priority)
	if constEntries {
		c.err(e.Priority, CodePriority, "an entry of const entries cannot have a priority").
			hint("const entries match in the order in which they are written")
		return nil
	}
	if !prioritised(t) && len(t.Keys) > 0 {
		c.err(e.Priority, CodePriority, "the entries of table %s have no priorities: all its keys are exact or lpm", quote(t.name))
		return nil
	}
	v := c.localInt(&x, "the priority of an entry")
	if v == nil {
		return nil
	}
	return c.priorityRange(e.Priority, v)
}

func (c *checker) priorityRange(n ast.Node, v *big.Int) *big.Int {
	if v.Sign() < 0 || v.Cmp(big.NewInt(maxPriority)) > 0 {
		c.err(n, CodePriority, "priority %s is out of range (0 to %d)", v, maxPriority)
		return nil
	}
	return v
}

// prioritised tells whether entries of a table need priorities: when a key may match a value in more than one way.
func prioritised(t *Table) bool {
	for _, k := range t.Keys {
		if k.MatchKind != nil && k.MatchKind.name != "exact" && k.MatchKind.name != "lpm" {
			return true
		}
	}
	return false
}

// priorities computes the priorities that are not written (specification section 14.2.1.4, entry priorities).
func (c *checker) priorities(t *Table, p *ast.EntriesProp) {
	n := len(t.Entries)
	if n == 0 {
		return
	}
	written := 0
	for _, e := range t.Entries {
		if e.Decl.Priority != nil {
			written++
		}
	}
	switch {
	case written == 0 && !prioritised(t):
		return
	case written == 0 && !p.Const:
		v := big.NewInt(1)
		for i := range n {
			e := t.Entries[i]
			if t.LargestPriorityWins {
				e = t.Entries[n-1-i]
			}
			e.Priority = c.priorityRange(e.Decl, v)
			v = new(big.Int).Add(v, t.PriorityDelta)
		}
		return
	case written == 0 || p.Const:
		return
	case t.Entries[0].Decl.Priority == nil:
		c.err(t.Entries[0].Decl, CodePriority, "the first entry needs a priority, because another one has one")
		return
	}
	v := t.Entries[0].Priority
	for _, e := range t.Entries[1:] {
		switch {
		case e.Decl.Priority != nil:
			v = e.Priority
		case v == nil:
		case t.LargestPriorityWins:
			v = c.priorityRange(e.Decl, new(big.Int).Sub(v, t.PriorityDelta))
			e.Priority = v
		default:
			v = c.priorityRange(e.Decl, new(big.Int).Add(v, t.PriorityDelta))
			e.Priority = v
		}
	}
	c.priorityOrder(t, p)
}

func (c *checker) priorityOrder(t *Table, p *ast.EntriesProp) {
	seen := map[string]*TableEntry{}
	for i, e := range t.Entries {
		if e.Priority == nil {
			continue
		}
		if prev := seen[e.Priority.String()]; prev != nil && !noWarn(p.Annos, string(CodeDuplicatePriority)) {
			r := c.warn(e.Decl, CodeDuplicatePriority, "two entries have priority %s; which one wins is not specified", e.Priority)
			c.note(r, prev.Decl.Pos(), "the other one is here")
		}
		seen[e.Priority.String()] = e
		if i == 0 || t.Entries[i-1].Priority == nil || noWarn(p.Annos, string(CodePriorityOrder)) {
			continue
		}
		d := t.Entries[i-1].Priority.Cmp(e.Priority)
		if t.LargestPriorityWins && d < 0 || !t.LargestPriorityWins && d > 0 {
			c.warn(e.Decl, CodePriorityOrder, "this entry has a higher priority than the one before it")
		}
	}
}

// duplicateEntries reports two entries of an exact table with the same key: the second could never match.
func (c *checker) duplicateEntries(t *Table) {
	for _, k := range t.Keys {
		if k.MatchKind == nil || k.MatchKind.name != "exact" {
			return
		}
	}
	seen := map[string]*TableEntry{}
	for _, e := range t.Entries {
		key := ""
		for _, ks := range e.Keys {
			if ks == nil || ks.Kind != KeyValue || ks.Lo == nil {
				key = ""
				break
			}
			key += valueKey(ks.Lo) + ";"
		}
		if key == "" {
			continue
		}
		if prev := seen[key]; prev != nil {
			r := c.err(e.Decl, CodeDuplicateEntry, "an entry with this key stands before")
			c.note(r, prev.Decl.Pos(), "here")
		}
		seen[key] = e
	}
}

func valueKey(v Value) string {
	if i := intValue(v); i != nil {
		return i.String()
	}
	switch v := v.(type) {
	case *EnumMember:
		return v.name
	case *ErrorMember:
		return v.name
	}
	return "?"
}
