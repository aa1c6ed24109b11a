package config

func parseParser(n *node) Parser {
	return Parser{Name: n.get("name").str(), ID: n.get("id").integer(), Init: n.opt("init_state").strOr(),
		States: list(n.get("parse_states"), parseState)}
}

func parseState(n *node) State {
	return State{Name: n.get("name").str(), ID: n.get("id").integer(), Source: parseSource(n),
		Ops: list(n.opt("parser_ops"), parseParserOp),
		Key: list(n.opt("transition_key"), func(n *node) Value {
			v := *parseValue(n)
			switch v.Kind {
			case KindField, KindStackField, KindUnionStackField, KindLookahead:
			default:
				n.get("type").fail("a transition key takes field, stack_field, union_stack_field or lookahead, not %q",
					n.get("type").str())
			}
			return v
		}),
		Transitions: list(n.opt("transitions"), parseTransition)}
}

func parseParserOp(n *node) ParserOp {
	op := ParserOp{Op: n.get("op").str(), Source: parseSource(n)}
	params := n.get("parameters")
	count := 1
	switch op.Op {
	case "extract", "advance":
	case "extract_VL", "set", "verify":
		count = 2
	case "shift":
		it := params.tuple(1, 1)
		op.Params = []Value{{Kind: KindConst, Offset: it[0].natural(1 << 24)}}
		return op
	case "primitive":
		p := parsePrimitive(params.tuple(1, 1)[0])
		op.Call = &p
		return op
	default:
		n.get("op").fail("parser operation %q is unknown, want extract, extract_VL, set, verify, shift, advance or "+
			"primitive", op.Op)
	}
	for _, p := range params.tuple(count, count) {
		op.Params = append(op.Params, *parseValue(p))
	}
	return op
}

func parseTransition(n *node) Transition {
	t := Transition{Next: n.opt("next_state").strOr()}
	typ := n.opt("type").strOr()
	val := n.opt("value")
	if typ == "" { // older files: only a value, which may be the word default
		typ = "hexstr"
		if val == nil || val.v.kind == jsonString && val.v.text == "default" {
			typ = "default"
		}
	}
	switch typ {
	case "default":
		return t
	case "hexstr":
		t.Kind = TransitionValue
		t.Value = n.get("value").bytes()
	case "parse_vset":
		t.Kind = TransitionSet
		t.Set = n.get("value").str()
	default:
		n.get("type").fail("transition type %q is unknown, want default, hexstr or parse_vset", typ)
	}
	if m := n.opt("mask"); m != nil {
		t.Mask = m.bytes()
	}
	return t
}
