package config

// Bounds that keep a hostile file from claiming absurd memory.
const (
	maxHex   = 1 << 16 // digits of one constant
	maxWidth = 1 << 16 // bits of one field, register cell or parameter
	maxSize  = 1 << 28 // cells of one array, entries of one table
	maxDepth = 4096    // nesting of one expression
)

// Parse reads bmv2 JSON. Errors are of type *Error, except for malformed JSON. References between objects are left to
// pipeline.Link.
func Parse(data []byte) (c *Config, err error) {
	v, err := readJSON(data)
	if err != nil {
		return nil, err
	}
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*Error)
			if !ok {
				panic(r)
			}
			c, err = nil, e
		}
	}()
	return parseConfig(&node{v: &v, index: -1}), nil
}

func list[T any](n *node, f func(*node) T) []T {
	it := n.items()
	if len(it) == 0 {
		return nil
	}
	out := make([]T, len(it))
	for i, x := range it {
		out[i] = f(x)
	}
	return out
}

func parseConfig(n *node) *Config {
	c := &Config{}
	c.Name = n.opt("program").strOr()
	if m := n.opt("__meta__"); m != nil {
		v := m.get("version").tuple(2, 2)
		c.Version = [2]int{v[0].natural(1 << 20), v[1].natural(1 << 20)}
		if c.Version[0] != 2 {
			m.get("version").fail("format version %d.%d is not supported, want 2.x", c.Version[0], c.Version[1])
		}
		c.Compiler = m.opt("compiler").strOr()
	}
	c.HeaderTypes = list(n.get("header_types"), parseHeaderType)
	c.Headers = list(n.get("headers"), func(n *node) Header {
		return Header{Name: n.get("name").str(), ID: n.get("id").integer(), Type: n.get("header_type").str(),
			Metadata: n.opt("metadata").boolOr(false)}
	})
	c.Stacks = list(n.opt("header_stacks"), func(n *node) Stack {
		return Stack{Name: n.get("name").str(), ID: n.get("id").integer(), Type: n.get("header_type").str(),
			Headers: list(n.get("header_ids"), (*node).integer)}
	})
	parseUnions(n, c)
	c.FieldLists = list(n.opt("field_lists"), parseFieldList)
	c.LearnLists = list(n.opt("learn_lists"), parseFieldList)
	named := func(n *node) NamedValue {
		it := n.tuple(2, 2)
		return NamedValue{Name: it[0].str(), Value: int64(it[1].natural(1<<31 - 2))}
	}
	c.Errors = list(n.opt("errors"), named)
	c.Enums = list(n.opt("enums"), func(n *node) Enum {
		return Enum{Name: n.get("name").str(), Entries: list(n.get("entries"), named)}
	})
	c.Parsers = list(n.get("parsers"), parseParser)
	c.ValueSets = list(n.opt("parse_vsets"), func(n *node) ValueSet {
		return ValueSet{Name: n.get("name").str(), ID: n.get("id").integer(),
			Width: n.get("compressed_bitwidth").natural(maxWidth)}
	})
	c.Deparsers = list(n.get("deparsers"), func(n *node) Deparser {
		return Deparser{Name: n.get("name").str(), ID: n.get("id").integer(), Order: list(n.get("order"), (*node).str),
			Primitives: list(n.opt("primitives"), parsePrimitive)}
	})
	parseArrays(n, c)
	c.Calcs = list(n.opt("calculations"), func(n *node) Calculation {
		return Calculation{Name: n.get("name").str(), ID: n.get("id").integer(), Algo: n.get("algo").str(),
			Input: list(n.get("input"), parseCalcInput)}
	})
	c.Actions = list(n.get("actions"), parseAction)
	c.Pipelines = list(n.get("pipelines"), parsePipeline)
	c.Checksums = list(n.opt("checksums"), parseChecksum)
	c.Externs = list(n.opt("extern_instances"), func(n *node) Extern {
		return Extern{Name: n.get("name").str(), ID: n.get("id").integer(), Type: n.get("type").str()}
	})
	c.Aliases = list(n.opt("field_aliases"), func(n *node) Alias {
		it := n.tuple(2, 2)
		return Alias{Name: it[0].str(), Target: it[1].pair()}
	})
	return c
}

func parseSource(n *node) SourceInfo {
	s := n.opt("source_info")
	if s == nil {
		return SourceInfo{}
	}
	return SourceInfo{File: s.opt("filename").strOr(), Line: s.opt("line").intOr(0), Column: s.opt("column").intOr(0),
		Fragment: s.opt("source_fragment").strOr()}
}

func parseHeaderType(n *node) HeaderType {
	t := HeaderType{Name: n.get("name").str(), ID: n.get("id").integer()}
	vl := false
	t.Fields = list(n.get("fields"), func(n *node) Field {
		it := n.tuple(2, 3)
		f := Field{Name: it[0].str()}
		if it[1].v.kind == jsonString {
			if s := it[1].str(); s != "*" {
				it[1].fail("%q is not a width, want a number of bits or \"*\"", s)
			}
			if vl {
				n.fail("is the second variable-length field, a header may have one")
			}
			f.VarBit, vl = true, true
		} else {
			f.Width = it[1].natural(maxWidth)
			if f.Width == 0 {
				it[1].fail("a field needs at least 1 bit")
			}
		}
		if len(it) == 3 {
			if it[2].v.kind == jsonNumber { // p4c writes 0 for a bool field
				f.Signed = it[2].natural(1) == 1
			} else {
				f.Signed = it[2].boolean()
			}
		}
		return f
	})
	t.MaxLength = n.opt("max_length").intOr(0)
	if t.MaxLength < 0 || t.MaxLength > maxWidth {
		n.get("max_length").fail("%d is out of range, want 0 to %d bytes", t.MaxLength, maxWidth)
	}
	if e := n.opt("length_exp"); e != nil {
		t.LengthExp = parseValue(e)
	}
	return t
}

func parseUnions(n *node, c *Config) {
	c.UnionTypes = list(n.opt("header_union_types"), func(n *node) UnionType {
		return UnionType{Name: n.get("name").str(), ID: n.get("id").integer(),
			Members: list(n.get("headers"), func(n *node) UnionMember {
				p := n.pair()
				return UnionMember{Name: p[0], Type: p[1]}
			})}
	})
	c.Unions = list(n.opt("header_unions"), func(n *node) Union {
		return Union{Name: n.get("name").str(), ID: n.get("id").integer(), Type: n.get("union_type").str(),
			Headers: list(n.get("header_ids"), (*node).integer)}
	})
	c.UnionStacks = list(n.opt("header_union_stacks"), func(n *node) UnionStack {
		return UnionStack{Name: n.get("name").str(), ID: n.get("id").integer(), Type: n.get("union_type").str(),
			Unions: list(n.get("header_union_ids"), (*node).integer)}
	})
}

func parseFieldList(n *node) FieldList {
	return FieldList{Name: n.opt("name").strOr(), ID: n.get("id").integer(),
		Elements: list(n.get("elements"), func(n *node) Value { return *parseValue(n) })}
}

func parseArrays(n *node, c *Config) {
	c.Meters = list(n.opt("meter_arrays"), func(n *node) Meter {
		m := Meter{Name: n.get("name").str(), ID: n.get("id").integer(), RateCount: n.opt("rate_count").intOr(2),
			Size: n.opt("size").intOr(0), Direct: n.opt("is_direct").boolOr(false), Binding: n.opt("binding").strOr()}
		switch t := n.get("type"); t.str() {
		case "bytes":
			m.Bytes = true
		case "packets":
		default:
			t.fail("meter type %q is unknown, want bytes or packets", t.str())
		}
		if m.RateCount != 2 {
			n.get("rate_count").fail("meters with %d rates are not supported, want 2", m.RateCount)
		}
		checkSize(n, m.Size)
		if t := n.opt("result_target"); t != nil {
			m.Target = t.pair()
		}
		return m
	})
	c.Counters = list(n.opt("counter_arrays"), func(n *node) Counter {
		k := Counter{Name: n.get("name").str(), ID: n.get("id").integer(), Size: n.opt("size").intOr(0),
			Direct: n.opt("is_direct").boolOr(false), Binding: n.opt("binding").strOr()}
		checkSize(n, k.Size)
		return k
	})
	c.Registers = list(n.opt("register_arrays"), func(n *node) Register {
		r := Register{Name: n.get("name").str(), ID: n.get("id").integer(), Size: n.get("size").natural(maxSize),
			Width: n.get("bitwidth").natural(maxWidth)}
		if r.Width == 0 {
			n.get("bitwidth").fail("a register cell needs at least 1 bit")
		}
		if r.Size*((r.Width+63)/64) > maxSize {
			n.fail("register of %d cells of %d bits is too large", r.Size, r.Width)
		}
		return r
	})
}

func checkSize(n *node, size int) {
	if size < 0 || size > maxSize {
		n.get("size").fail("%d is out of range, want 0 to %d", size, maxSize)
	}
}

func parseAction(n *node) Action {
	return Action{Name: n.get("name").str(), ID: n.get("id").integer(),
		Params: list(n.get("runtime_data"), func(n *node) Param {
			return Param{Name: n.get("name").str(), Width: n.get("bitwidth").natural(maxWidth)}
		}),
		Primitives: list(n.get("primitives"), parsePrimitive)}
}

func parsePrimitive(n *node) Primitive {
	return Primitive{Op: n.get("op").str(),
		Params: list(n.opt("parameters"), func(n *node) Value { return *parseValue(n) }), Source: parseSource(n)}
}

func parseChecksum(n *node) Checksum {
	c := Checksum{Name: n.get("name").str(), ID: n.get("id").integer(), Target: n.get("target").pair(),
		Type: n.get("type").str(), Calc: n.get("calculation").str(), Update: n.opt("update").boolOr(true),
		Verify: n.opt("verify").boolOr(true)}
	if c.Type != "generic" {
		n.get("type").fail("checksum type %q is not supported, want generic", c.Type)
	}
	if e := n.opt("if_cond"); e != nil {
		c.If = parseValue(e)
	}
	return c
}
