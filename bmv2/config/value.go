package config

// nameKinds are the types whose value is just a name.
var nameKinds = map[string]Kind{
	"header": KindHeader, "header_stack": KindStack, "header_union": KindUnion, "header_union_stack": KindUnionStack,
	"calculation": KindCalculation, "meter_array": KindMeter, "counter_array": KindCounter,
	"register_array": KindRegisterArray, "extern": KindExtern,
	// the first parameter of an extract has types of its own
	"regular": KindHeader, "stack": KindStack,
}

// binary and unary operators; those of one operand have it in "right", except for the stack operators that p4c writes
// with either.
var binaryOps = map[string]bool{
	"+": true, "-": true, "*": true, "/": true, "%": true, "<<": true, ">>": true, "==": true, "!=": true, ">": true,
	">=": true, "<": true, "<=": true, "and": true, "or": true, "&": true, "|": true, "^": true, "two_comp_mod": true,
	"sat_cast": true, "usat_cast": true, "?": true, "dereference_header_stack": true, "dereference_stack": true,
	"dereference_union_stack": true, "access_field": true, "access_union_header": true,
}

var unaryOps = map[string]bool{
	"not": true, "~": true, "valid": true, "valid_union": true, "d2b": true, "b2d": true, "last_stack_index": true,
	"size_stack": true,
}

func parseValue(n *node) *Value { return parseValueAt(n, 0) }

func parseValueAt(n *node, depth int) *Value {
	if depth > maxDepth {
		n.fail("nested more than %d deep", maxDepth)
	}
	if n.opt("op") != nil { // a bare operator, without its type-value wrapping
		return parseOp(n, depth)
	}
	typ := n.get("type").str()
	v := &Value{}
	if typ == "payload" {
		v.Kind = KindPayload
		return v
	}
	val := n.get("value")
	if k, ok := nameKinds[typ]; ok {
		v.Kind = k
		v.Names[0] = val.str()
		return v
	}
	switch typ {
	case "field":
		v.Kind = KindField
		p := val.pair()
		v.Names[0], v.Names[1] = p[0], p[1]
	case "hexstr":
		v.Kind = KindConst
		v.Int = val.bigInt()
		if w := n.opt("bitwidth"); w != nil {
			v.Width = w.natural(maxWidth)
		}
	case "bool":
		v.Kind = KindBool
		v.Bool = val.boolean()
	case "string":
		v.Kind = KindString
		v.Str = val.str()
	case "lookahead":
		it := val.tuple(2, 2)
		v.Kind = KindLookahead
		v.Offset, v.Width = it[0].natural(1<<24), it[1].natural(maxWidth)
	case "local", "runtime_data":
		v.Kind = KindLocal
		v.Offset = val.natural(1 << 20)
	case "register":
		it := val.tuple(2, 2)
		v.Kind = KindRegister
		v.Names[0] = it[0].str()
		v.Index = parseValueAt(it[1], depth+1)
	case "stack_field":
		v.Kind = KindStackField
		p := val.pair()
		v.Names[0], v.Names[1] = p[0], p[1]
	case "union_stack_field":
		v.Kind = KindUnionStackField
		it := val.tuple(3, 3)
		v.Names = [3]string{it[0].str(), it[1].str(), it[2].str()}
	case "union_stack":
		v.Kind = KindUnionStack
		p := val.pair()
		v.Names[0], v.Names[1] = p[0], p[1]
	case "expression":
		return parseValueAt(val, depth+1)
	case "parameters_vector":
		v.Kind = KindVector
		if val.v.kind == jsonObject && len(val.v.members) == 0 { // how p4c writes a vector without values
			return v
		}
		v.List = list(val, func(n *node) Value { return *parseValueAt(n, depth+1) })
	default:
		n.get("type").fail("value type %q is unknown", typ)
	}
	return v
}

func parseOp(n *node, depth int) *Value {
	v := &Value{Kind: KindExpr, Op: n.get("op").str()}
	operand := func(key string) *Value {
		c := n.opt(key)
		if c == nil {
			return nil
		}
		return parseValueAt(c, depth+1)
	}
	switch {
	case v.Op == "access_field" || v.Op == "access_union_header":
		// right is a bare integer: the index of a field or member
		v.Offset = n.get("right").natural(1 << 20)
		v.Left = operand("left")
		if v.Left == nil {
			n.fail("operator %q has no left operand", v.Op)
		}
		return v
	case binaryOps[v.Op]:
		v.Left, v.Right = operand("left"), operand("right")
		if v.Left == nil && v.Op == "-" && v.Right != nil {
			// unary minus
			return v
		}
		if v.Left == nil || v.Right == nil {
			n.fail("operator %q needs a left and a right operand", v.Op)
		}
		if v.Op == "?" {
			if v.Cond = operand("cond"); v.Cond == nil {
				n.fail("operator \"?\" has no cond")
			}
		}
	case unaryOps[v.Op]:
		v.Right = operand("right")
		if v.Right == nil {
			v.Right = operand("left")
		}
		if v.Right == nil {
			n.fail("operator %q has no operand", v.Op)
		}
	default:
		n.get("op").fail("operator %q is unknown", v.Op)
	}
	return v
}

func parseCalcInput(n *node) Value {
	v := *parseValue(n)
	switch v.Kind {
	case KindField, KindHeader, KindPayload:
	case KindConst:
		if v.Width == 0 {
			n.fail("a constant in a calculation needs a bitwidth")
		}
		if v.Int.Sign() < 0 || v.Int.BitLen() > v.Width {
			n.get("value").fail("value does not fit in %d bits", v.Width)
		}
	default:
		n.get("type").fail("a calculation takes field, hexstr, header or payload, not %q", n.get("type").str())
	}
	return v
}
