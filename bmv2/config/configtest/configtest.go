// Package configtest builds small configurations for tests, without JSON and without a compiler.
package configtest

import (
	"math/big"

	"khop/bmv2/config"
)

// Base returns a v1model program with standard metadata and a scalars header, an empty parser, controls and deparser.
// Scalars are the widths in bits of its fields s0, s1, ...
func Base(scalars ...int) *config.Config {
	c := &config.Config{Name: "test", Version: [2]int{2, 23}}
	std := config.HeaderType{Name: "standard_metadata"}
	for _, f := range []struct {
		name  string
		width int
		alias string
	}{
		{"ingress_port", 9, ""}, {"egress_spec", 9, ""}, {"egress_port", 9, ""}, {"instance_type", 32, ""},
		{"packet_length", 32, ""}, {"enq_timestamp", 32, "queueing_metadata"}, {"enq_qdepth", 19, "queueing_metadata"},
		{"deq_timedelta", 32, "queueing_metadata"}, {"deq_qdepth", 19, "queueing_metadata"},
		{"ingress_global_timestamp", 48, "intrinsic_metadata"}, {"egress_global_timestamp", 48, "intrinsic_metadata"},
		{"mcast_grp", 16, "intrinsic_metadata"}, {"egress_rid", 16, "intrinsic_metadata"}, {"checksum_error", 1, ""},
		{"parser_error", 32, ""}, {"priority", 3, "intrinsic_metadata"},
	} {
		std.Fields = append(std.Fields, config.Field{Name: f.name, Width: f.width})
		if f.alias != "" {
			c.Aliases = append(c.Aliases, config.Alias{Name: f.alias + "." + f.name,
				Target: [2]string{"standard_metadata", f.name}})
		}
	}
	c.HeaderTypes = append(c.HeaderTypes, std)
	c.Headers = append(c.Headers, config.Header{Name: "standard_metadata", Type: "standard_metadata", Metadata: true})
	sc := config.HeaderType{Name: "scalars_t"}
	for i, w := range scalars {
		sc.Fields = append(sc.Fields, config.Field{Name: "s" + string(rune('0'+i%10)) + suffix(i), Width: w})
	}
	c.HeaderTypes = append(c.HeaderTypes, sc)
	c.Headers = append(c.Headers, config.Header{Name: "scalars", ID: 1, Type: "scalars_t", Metadata: true})
	for i, e := range []string{"NoError", "PacketTooShort", "NoMatch", "StackOutOfBounds", "HeaderTooShort",
		"ParserTimeout", "ParserInvalidArgument"} {
		c.Errors = append(c.Errors, config.NamedValue{Name: e, Value: int64(i)})
	}
	c.Parsers = []config.Parser{{Name: "parser", Init: "start", States: []config.State{{Name: "start"}}}}
	c.Deparsers = []config.Deparser{{Name: "deparser"}}
	c.Pipelines = []config.Pipeline{{Name: "ingress"}, {Name: "egress"}}
	return c
}

func suffix(i int) string {
	if i < 10 {
		return ""
	}
	return "_" + string(rune('a'+i/10))
}

// AddHeader adds a header type and one instance of it, or several named name[0], name[1] ... as a stack when n > 0.
func AddHeader(c *config.Config, name string, n int, fields ...config.Field) {
	t := config.HeaderType{Name: name + "_t", ID: len(c.HeaderTypes), Fields: fields}
	c.HeaderTypes = append(c.HeaderTypes, t)
	if n == 0 {
		c.Headers = append(c.Headers, config.Header{Name: name, ID: len(c.Headers), Type: t.Name})
		c.Deparsers[0].Order = append(c.Deparsers[0].Order, name)
		return
	}
	s := config.Stack{Name: name, Type: t.Name}
	for i := range n {
		h := config.Header{Name: name + "[" + string(rune('0'+i)) + "]", ID: len(c.Headers), Type: t.Name}
		c.Headers = append(c.Headers, h)
		s.Headers = append(s.Headers, h.ID)
		c.Deparsers[0].Order = append(c.Deparsers[0].Order, h.Name)
	}
	c.Stacks = append(c.Stacks, s)
}

// AddAction adds an action and returns its name.
func AddAction(c *config.Config, name string, params []config.Param, prims ...config.Primitive) string {
	c.Actions = append(c.Actions, config.Action{Name: name, ID: len(c.Actions), Params: params, Primitives: prims})
	return name
}

// Run makes the control named pipe ("ingress" or "egress") run these primitives: an action called by a keyless table.
func Run(c *config.Config, pipe string, prims ...config.Primitive) {
	name := pipe + ".run"
	AddAction(c, name, nil, prims...)
	for i := range c.Pipelines {
		if p := &c.Pipelines[i]; p.Name == pipe {
			p.Init = "tbl_" + name
			p.Tables = append(p.Tables, config.Table{Name: p.Init, MatchType: "exact", Type: "simple", MaxSize: 1,
				Actions: []string{name}, NextTables: map[string]string{name: ""},
				Default: &config.DefaultEntry{ActionID: len(c.Actions) - 1, ActionConst: true, ActionEntryConst: true}})
		}
	}
}

// AddTable adds a table to a control, whose first node it becomes. All actions lead to next.
func AddTable(c *config.Config, pipe string, t config.Table, next string) {
	if t.Type == "" {
		t.Type = "simple"
	}
	t.NextTables = map[string]string{}
	for _, a := range t.Actions {
		t.NextTables[a] = next
	}
	for i := range c.Pipelines {
		if p := &c.Pipelines[i]; p.Name == pipe {
			p.Init = t.Name
			p.Tables = append(p.Tables, t)
		}
	}
}

// Bits is a field of a header type.
func Bits(name string, width int) config.Field { return config.Field{Name: name, Width: width} }

// F is a field value.
func F(hdr, field string) config.Value {
	return config.Value{Kind: config.KindField, Names: [3]string{hdr, field}}
}

// S is the i-th field of scalars.
func S(i int) config.Value { return F("scalars", "s"+string(rune('0'+i%10))+suffix(i)) }

// Std is a field of standard metadata.
func Std(field string) config.Value { return F("standard_metadata", field) }

// N is a constant.
func N(v int64) config.Value { return config.Value{Kind: config.KindConst, Int: big.NewInt(v)} }

// Hex is a constant written in hexadecimal.
func Hex(s string) config.Value {
	v, _ := new(big.Int).SetString(s, 16)
	return config.Value{Kind: config.KindConst, Int: v}
}

// Arg is a run-time parameter.
func Arg(i int) config.Value { return config.Value{Kind: config.KindLocal, Offset: i} }

// Named is a reference by name: header, stack, register array ...
func Named(k config.Kind, name string) config.Value {
	return config.Value{Kind: k, Names: [3]string{name}}
}

// Op is a binary operator, or a unary one with a single operand.
func Op(op string, operands ...config.Value) config.Value {
	v := config.Value{Kind: config.KindExpr, Op: op, Right: &operands[len(operands)-1]}
	if len(operands) > 1 {
		v.Left = &operands[0]
	}
	return v
}

// P is a primitive.
func P(op string, params ...config.Value) config.Primitive {
	return config.Primitive{Op: op, Params: params}
}

// Assign is the primitive dst = src.
func Assign(dst, src config.Value) config.Primitive { return P("assign", dst, src) }

// Extract is the parser operation that extracts a header.
func Extract(name string) config.ParserOp {
	return config.ParserOp{Op: "extract", Params: []config.Value{Named(config.KindHeader, name)}}
}
