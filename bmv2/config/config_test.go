package config

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

//go:embed testdata/mini.json
var mini []byte

func TestParse(t *testing.T) {
	c, err := Parse(mini)
	if err != nil {
		t.Fatal(err)
	}
	if c.Name != "mini.p4" || c.Version != [2]int{2, 23} || len(c.Headers) != 6 || len(c.HeaderTypes[2].Fields) != 3 {
		t.Errorf("program %q %v, %d headers", c.Name, c.Version, len(c.Headers))
	}
	if f := c.HeaderTypes[3].Fields[1]; !f.VarBit || c.HeaderTypes[3].MaxLength != 5 {
		t.Errorf("varbit field %+v", f)
	}
	if f := c.HeaderTypes[4].Fields[0]; !f.Signed || f.Width != 7 {
		t.Errorf("signed field %+v", f)
	}
	tr := c.Parsers[0].States[0].Transitions
	if tr[0].Value[1] != 0x11 || tr[1].Mask[0] != 0xff || tr[2].Kind != TransitionSet || tr[3].Next != "" {
		t.Errorf("transitions %+v", tr)
	}
	if d := c.Parsers[0].States[1].Transitions[0]; d.Kind != TransitionDefault {
		t.Errorf("old form of a default transition: %+v", d)
	}
	p := c.Actions[1].Primitives
	if p[0].Source.Line != 12 || p[0].Params[1].Kind != KindLocal {
		t.Errorf("primitive %+v", p[0])
	}
	v := p[1].Params[2]
	if v.Op != "?" || v.Cond.Op != "d2b" || v.Right.Int.Int64() != -5 {
		t.Errorf("nested expression %+v", v)
	}
	tb := c.Pipelines[0].Tables[0]
	if !tb.HasEntries || tb.Entries[0].Match[0].Key[5] != 1 || tb.Key[1].Target[1] != "$valid$" || tb.ActionIDs[0] != 1 {
		t.Errorf("table %+v", tb)
	}
	if e := c.Pipelines[0].Conditionals[0].Expr; e.Left.Op != "access_field" || e.Left.Left.Right.Names[1] != "idx" {
		t.Errorf("condition %+v", e)
	}
}

// TestParseErrors damages the program in one place at a time.
func TestParseErrors(t *testing.T) {
	for _, x := range []struct{ old, new, want string }{
		{`[2, 23]`, `[3, 0]`, `$.__meta__.version: format version 3.0 is not supported`},
		{`["dst", 48]`, `["dst"]`, `$.header_types[2].fields[0]: has 1 items, want 2 to 3`},
		{`["dst", 48]`, `["dst", "48"]`, `$.header_types[2].fields[0][1]: "48" is not a width`},
		{`["dst", 48]`, `["dst", 0]`, `$.header_types[2].fields[0][1]: a field needs at least 1 bit`},
		{`["dst", 48]`, `["dst", 1e3]`, `$.header_types[2].fields[0][1]: 1e3 is not an integer`},
		{`["len", 8, false]`, `["len", "*"]`, `$.header_types[3].fields[1]: is the second variable-length field`},
		{`"id": 2, "header_type": "eth_t"`, `"id": "2", "header_type": "eth_t"`, `$.headers[2].id: is a string, want an integer`},
		{`"header_ids": [4, 5]`, `"header_ids": 4`, `$.header_stacks[0].header_ids: is a number, want an array`},
		{`["NoMatch", 2]`, `["NoMatch", -2]`, `$.errors[2][1]: -2 is out of range`},
		{`"op": "verify"`, `"op": "check"`, `$.parsers[0].parse_states[1].parser_ops[1].op: parser operation "check" is unknown`},
		{`"op": "extract_VL"`, `"op": "extract"`, `$.parsers[0].parse_states[1].parser_ops[2].parameters: has 2 items, want 1`},
		{`"value": "0x1111"`, `"value": "0xzz"`, `$.parsers[0].parse_states[0].transitions[0].value: "0xzz" is not a hexadecimal`},
		{`"type": "parse_vset"`, `"type": "set"`, `transitions[2].type: transition type "set" is unknown`},
		{`"type": "stack_field", "value": ["lab", "bos"]`, `"type": "hexstr", "value": "0x1"`, `transition_key[0].type: a transition key takes`},
		{`"type": "bytes"`, `"type": "bits"`, `$.meter_arrays[0].type: meter type "bits" is unknown`},
		{`"bitwidth": 130`, `"bitwidth": 0`, `$.register_arrays[0].bitwidth: a register cell needs`},
		{`"size": 8, "bitwidth": 130`, `"size": 268435456, "bitwidth": 130`, `$.register_arrays[0]: register of 268435456 cells of 130 bits is too large`},
		{`"value": "0x1", "bitwidth": 4`, `"value": "0x1f", "bitwidth": 4`, `$.calculations[0].input[1].value: value does not fit in 4 bits`},
		{`"value": "0x1", "bitwidth": 4`, `"value": "0x1"`, `$.calculations[0].input[1]: a constant in a calculation needs a bitwidth`},
		{`"op": "d2b"`, `"op": "d3b"`, `.op: operator "d3b" is unknown`},
		{`"op": "?",`, `"op": "+",`, ``}, // an extra cond does no harm
		{`{"type": "runtime_data", "value": 0}`, `{"type": "parameters_vector", "value": {}}`, ``},
		{`{"type": "runtime_data", "value": 0}`, `{"type": "parameters_vector", "value": {"a": 1}}`, `.value: is an object, want an array`},
		{`"type": "runtime_data", "value": 0`, `"type": "runtime_data", "value": -1`, `$.actions[1].primitives[0].parameters[1].value: -1 is out of range`},
		{`"type": "runtime_data", "value": 0`, `"type": "what", "value": 0`, `value type "what" is unknown`},
		{`"value": "-0x5"`, `"value": "5x"`, `"5x" is not a hexadecimal number`},
		{`"match_type": "ternary", "type": "simple"`, `"match_type": "fuzzy", "type": "simple"`, `$.pipelines[0].tables[0].match_type: match type "fuzzy" is unknown, want one of`},
		{`"action_ids": [1, 0]`, `"action_ids": [1]`, `$.pipelines[0].tables[0].action_ids: has 1 items, want 2 as in actions`},
		{`"next_tables": {`, `"next_tables": [], "x": {`, `$.pipelines[0].tables[0].next_tables: is an array, want an object`},
		{`"max_size": 1024`, `"max_size": -1`, `$.pipelines[0].tables[0].max_size: -1 is out of range`},
		{`"action_data": ["0x3"]`, `"action_data": [3]`, `entries[0].action_entry.action_data[0]: is a number, want a string`},
		{`"type": "simple"`, `"type": "indirect"`, `$.pipelines[0].tables[0]: table of type indirect has no action_profile`},
		{`"deparsers"`, `"departers"`, `$: has no "deparsers"`},
		{`"init_table": null`, `"init_table": 3`, `$.pipelines[1].init_table: is a number, want a string`},
	} {
		text := strings.Replace(string(mini), x.old, x.new, 1)
		if text == string(mini) {
			t.Fatalf("%s is not in the program", x.old)
		}
		_, err := Parse([]byte(text))
		switch {
		case x.want == "":
			if err != nil {
				t.Errorf("%s -> %s: %v", x.old, x.new, err)
			}
		case err == nil || !strings.Contains(err.Error(), x.want):
			t.Errorf("%s -> %s: error %v\nwant %s", x.old, x.new, err, x.want)
		default:
			var e *Error
			if !errors.As(err, &e) || e.Path == "" {
				t.Errorf("%s -> %s: error without a path: %v", x.old, x.new, err)
			}
		}
	}
	for _, x := range []struct{ text, want string }{
		{"", "unexpected end"}, {"{\n\"a\": }", "line 2: unexpected '}', want a value"}, {"[]", "$: is an array, want an object"}, {"{} {}", "more data"},
		{strings.Repeat("[", 20000), "nested more than"},
	} {
		if _, err := Parse([]byte(x.text)); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%.20q: error %v, want one with %q", x.text, err, x.want)
		}
	}
}

// TestReadJSON compares with encoding/json.
func TestReadJSON(t *testing.T) {
	for _, text := range []string{`null`, ` true `, `[false,1,-2.5e+3,0,"a\u00e9\n\"\/\ud83d\ude00\ud83dx\ud83d\u0041"]`, `{"a":{},"b":[[],{"c":null}]}`,
		`"\ud83d"`, string(mini), `[1,]`, `{"a"}`, `{"a":1,}`, `01`, `-`, `1.`, `1e`, `"\x"`, `"\u12g4"`, "\"\n\"", `"`, `nul`, `[1 2]`, `{1:2}`, `+1`,
		`1 2`, ``} {
		compareJSON(t, []byte(text))
	}
}

// compareJSON reads a document with both readers.
func compareJSON(t *testing.T, data []byte) {
	t.Helper()
	if !utf8.Valid(data) {
		return // encoding/json replaces what is not UTF-8, we keep it
	}
	v, err := readJSON(data)
	var want any
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	werr := dec.Decode(&want)
	if werr == nil {
		if _, e := dec.Token(); e != io.EOF {
			werr = errors.New("more data")
		}
	}
	if (err == nil) != (werr == nil) {
		t.Errorf("%.100q: error %v, encoding/json %v", data, err, werr)
	} else if err == nil {
		if got := v.plain(); !reflect.DeepEqual(got, want) {
			t.Errorf("%.100q: %v, encoding/json %v", data, got, want)
		}
	}
}

func (v *jsonValue) plain() any {
	switch v.kind {
	case jsonBool:
		return v.truth
	case jsonNumber:
		return json.Number(v.text)
	case jsonString:
		return v.text
	case jsonArray:
		a := []any{}
		for i := range v.items {
			a = append(a, v.items[i].plain())
		}
		return a
	case jsonObject:
		m := map[string]any{}
		for i := range v.members {
			m[v.members[i].key] = v.members[i].val.plain()
		}
		return m
	}
	return nil
}

func FuzzJSON(f *testing.F) {
	f.Add([]byte(`{"a":[1,-2.5e+3,"\u00e9\n",true,null]}`))
	f.Fuzz(compareJSON)
}

func FuzzParse(f *testing.F) {
	f.Add(mini)
	f.Add([]byte(`{"header_types":[],"headers":[],"parsers":[],"deparsers":[],"actions":[],"pipelines":[]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Parse(data)
		if (c == nil) == (err == nil) {
			t.Errorf("config %v, error %v", c, err)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	b.SetBytes(int64(len(mini)))
	b.ReportAllocs()
	for range b.N {
		if _, err := Parse(mini); err != nil {
			b.Fatal(err)
		}
	}
}
