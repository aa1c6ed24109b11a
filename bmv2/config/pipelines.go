package config

import (
	"math/big"
	"slices"
)

func parsePipeline(n *node) Pipeline {
	p := Pipeline{Name: n.get("name").str(), ID: n.get("id").integer(), Init: n.opt("init_table").strOr()}
	p.Profiles = list(n.opt("action_profiles"), func(n *node) Profile {
		ap := Profile{Name: n.get("name").str(), ID: n.get("id").integer(), MaxSize: n.opt("max_size").intOr(0)}
		if ap.MaxSize < 0 || ap.MaxSize > maxSize {
			n.get("max_size").fail("%d is out of range, want 0 to %d", ap.MaxSize, maxSize)
		}
		if s := n.opt("selector"); s != nil {
			ap.Selector = &Selector{Algo: s.get("algo").str(), Input: list(s.get("input"), parseCalcInput)}
		}
		return ap
	})
	p.Tables = list(n.get("tables"), parseTable)
	p.Conditionals = list(n.opt("conditionals"), func(n *node) Conditional {
		return Conditional{Name: n.get("name").str(), ID: n.get("id").integer(), Source: parseSource(n),
			Expr: parseValue(n.get("expression")), TrueNext: n.opt("true_next").strOr(),
			FalseNext: n.opt("false_next").strOr()}
	})
	p.ActionCalls = list(n.opt("action_calls"), func(n *node) ActionCall {
		return ActionCall{Name: n.get("name").str(), ID: n.get("id").integer(), ActionID: n.get("action_id").integer(),
			Next: n.opt("next_node").strOr()}
	})
	return p
}

// oneOf reads a string that must be one of a few.
func oneOf(n *node, what string, want ...string) string {
	s := n.str()
	if !slices.Contains(want, s) {
		n.fail("%s %q is unknown, want one of %q", what, s, want)
	}
	return s
}

func parseTable(n *node) Table {
	t := Table{Name: n.get("name").str(), ID: n.get("id").integer(), Source: parseSource(n),
		MatchType: oneOf(n.get("match_type"), "match type", "exact", "lpm", "ternary", "range"), Type: "simple",
		Profile: n.opt("action_profile").strOr(), MaxSize: n.opt("max_size").intOr(1024),
		WithCounters: n.opt("with_counters").boolOr(false), Timeout: n.opt("support_timeout").boolOr(false),
		BaseNext: n.opt("base_default_next").strOr(), DirectMeter: n.opt("direct_meters").strOr()}
	if t.MaxSize < 0 || t.MaxSize > maxSize {
		n.get("max_size").fail("%d is out of range, want 0 to %d", t.MaxSize, maxSize)
	}
	if c := n.opt("type"); c != nil {
		t.Type = oneOf(c, "table type", "simple", "indirect", "indirect_ws")
	}
	if p := n.opt("action_profile"); p == nil && t.Type != "simple" {
		n.fail("table of type %s has no action_profile", t.Type)
	}
	t.Key = list(n.opt("key"), func(n *node) KeyField {
		k := KeyField{Name: n.opt("name").strOr(),
			MatchType: oneOf(n.get("match_type"), "match type", "valid", "exact", "lpm", "ternary", "range")}
		target := n.get("target")
		if target.v.kind == jsonString && k.MatchType == "valid" {
			k.Target[0] = target.str()
		} else {
			k.Target = target.pair()
		}
		if m := n.opt("mask"); m != nil {
			k.Mask = m.bytes()
		}
		return k
	})
	t.Actions = list(n.get("actions"), (*node).str)
	t.ActionIDs = list(n.opt("action_ids"), (*node).integer)
	if t.ActionIDs != nil && len(t.ActionIDs) != len(t.Actions) {
		n.get("action_ids").fail("has %d items, want %d as in actions", len(t.ActionIDs), len(t.Actions))
	}
	if nt := n.opt("next_tables"); nt != nil {
		nt.want(jsonObject, "an object")
		t.NextTables = make(map[string]string, len(nt.v.members))
		for i := range nt.v.members {
			k := nt.v.members[i].key
			t.NextTables[k] = nt.opt(k).strOr()
		}
	}
	if d := n.opt("default_entry"); d != nil {
		t.Default = &DefaultEntry{ActionID: d.get("action_id").integer(), ActionConst: d.opt("action_const").boolOr(false),
			ActionData: list(d.opt("action_data"), (*node).bigInt), ActionEntryConst: d.opt("action_entry_const").boolOr(false)}
	}
	if e := n.opt("entries"); e != nil {
		t.HasEntries = true
		t.Entries = list(e, parseEntry)
	}
	return t
}

func parseEntry(n *node) Entry {
	e := Entry{Source: parseSource(n), Priority: n.opt("priority").intOr(0)}
	e.Match = list(n.opt("match_key"), func(n *node) EntryMatch {
		m := EntryMatch{Type: oneOf(n.get("match_type"), "match type", "valid", "exact", "lpm", "ternary", "range")}
		switch m.Type {
		case "valid":
			m.Key = []byte{0}
			if n.get("key").boolean() {
				m.Key[0] = 1
			}
		case "exact":
			m.Key = n.get("key").bytes()
		case "lpm":
			m.Key = n.get("key").bytes()
			m.PrefixLen = n.get("prefix_length").natural(maxWidth)
		case "ternary":
			m.Key = n.get("key").bytes()
			m.Mask = n.get("mask").bytes()
		case "range":
			m.Key = n.get("start").bytes()
			m.End = n.get("end").bytes()
		}
		return m
	})
	a := n.get("action_entry")
	e.ActionID = a.get("action_id").integer()
	e.ActionData = list(a.opt("action_data"), func(n *node) *big.Int { return n.bigInt() })
	return e
}
