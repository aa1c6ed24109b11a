package pipeline

import (
	"strings"
	"testing"

	"khop/bmv2/config"
	ct "khop/bmv2/config/configtest"
)

// TestLinkErrors: what is wrong is named, and nothing panics.
func TestLinkErrors(t *testing.T) {
	run := func(prims ...config.Primitive) func(*config.Config) {
		return func(c *config.Config) { ct.Run(c, "ingress", prims...) }
	}
	std := ct.Named(config.KindHeader, "standard_metadata")
	for _, x := range []struct {
		name string
		edit func(*config.Config)
		want string
	}{
		{"unknown header type", func(c *config.Config) { c.Headers[1].Type = "x" }, `header "scalars": no header type "x"`},
		{"header twice", func(c *config.Config) { c.Headers = append(c.Headers, c.Headers[1]) }, "declared twice"},
		{"field twice", func(c *config.Config) {
			c.HeaderTypes[1].Fields = append(c.HeaderTypes[1].Fields, c.HeaderTypes[1].Fields[0])
		}, `field "s0" is declared twice`},
		{"odd header", func(c *config.Config) { ct.AddHeader(c, "h", 0, ct.Bits("a", 9)) }, "not a whole number of bytes"},
		{"no standard metadata", func(c *config.Config) { c.HeaderTypes[0].Fields[1].Name = "x" },
			"no standard_metadata.egress_spec"},
		{"bad alias", func(c *config.Config) {
			c.Aliases = append(c.Aliases, config.Alias{Name: "a.b", Target: [2]string{"scalars", "zz"}})
		}, `has no field "zz"`},
		{"unknown field", run(ct.Assign(ct.F("scalars", "nope"), ct.N(1))), `primitive 0, assign: header "scalars" has no field "nope"`},
		{"unknown header", run(ct.Assign(ct.F("nope", "x"), ct.N(1))), `no header "nope"`},
		{"unknown primitive", run(ct.P("_my_extern_method")), "unknown primitive"},
		{"arity", run(ct.P("assign", ct.S(0))), "1 parameters, want 2"},
		{"assign to constant", run(ct.Assign(ct.N(1), ct.S(0))), "cannot be assigned"},
		{"unknown register", run(ct.P("register_read", ct.S(0), ct.Named(config.KindRegisterArray, "r"), ct.N(0))),
			`no register array "r"`},
		{"unknown calculation", run(ct.P("modify_field_with_hash_based_offset", ct.S(0), ct.N(0),
			ct.Named(config.KindCalculation, "c"), ct.N(1))), `no calculation "c"`},
		{"random hash", func(c *config.Config) {
			c.Calcs = []config.Calculation{{Name: "c", Algo: "random"}}
		}, `hash algorithm "random" is unknown, want one of`},
		{"unknown field list", run(ct.P("resubmit", ct.N(4))), "no field list with id 4"},
		{"unknown digest", run(ct.P("generate_digest", ct.N(0), ct.N(4))), "no learn list with id 4"},
		{"jump out", run(ct.P("_jump", ct.N(5))), "jump to primitive 5"},
		{"log arguments", run(ct.P("log_msg", config.Value{Kind: config.KindString, Str: "{} {}"},
			config.Value{Kind: config.KindVector, List: []config.Value{ct.N(1)}})), "2 {}, but there are 1 values"},
		{"different header types", run(ct.P("assign_header", std, ct.Named(config.KindHeader, "scalars"))), "is assigned to"},
		{"width not constant", run(ct.Assign(ct.S(0), ct.Op("two_comp_mod", ct.S(0), ct.S(0)))), "constant width"},
		{"parameter", run(ct.Assign(ct.S(0), ct.Arg(0))), "no run-time parameter 0"},
		{"unknown state", func(c *config.Config) {
			c.Parsers[0].States[0].Transitions = []config.Transition{{Next: "x"}}
		}, `no state "x"`},
		{"unknown initial state", func(c *config.Config) { c.Parsers[0].Init = "x" }, `no initial state "x"`},
		{"extract metadata", func(c *config.Config) {
			c.Parsers[0].States[0].Ops = []config.ParserOp{ct.Extract("scalars")}
		}, "is metadata"},
		{"deparse nothing", func(c *config.Config) { c.Deparsers[0].Order = []string{"x"} }, `no header "x"`},
		{"unknown init table", func(c *config.Config) { c.Pipelines[0].Init = "x" }, `no table, conditional or action call "x"`},
		{"two lpm", func(c *config.Config) {
			k := config.KeyField{MatchType: "lpm", Target: [2]string{"scalars", "s0"}}
			ct.AddTable(c, "ingress", config.Table{Name: "t", MatchType: "lpm", Key: []config.KeyField{k, k}}, "")
		}, "at most one"},
		{"ternary key in exact table", func(c *config.Config) {
			k := config.KeyField{MatchType: "ternary", Target: [2]string{"scalars", "s0"}}
			ct.AddTable(c, "ingress", config.Table{Name: "t", MatchType: "exact", Key: []config.KeyField{k}}, "")
		}, "matched by ternary in a table of match type exact"},
		{"unknown action", func(c *config.Config) {
			ct.AddTable(c, "ingress", config.Table{Name: "t", MatchType: "exact", Actions: []string{"x"}}, "")
		}, `table "t": no action "x"`},
		{"unknown profile", func(c *config.Config) {
			ct.AddTable(c, "ingress", config.Table{Name: "t", MatchType: "exact", Type: "indirect", Profile: "p"}, "")
		}, `no action profile "p"`},
		{"direct counter without table", func(c *config.Config) {
			c.Counters = []config.Counter{{Name: "n", Direct: true, Binding: "t"}}
		}, `direct counter "n": no table "t"`},
		{"value set width", func(c *config.Config) {
			c.ValueSets = []config.ValueSet{{Name: "v", Width: 9}}
			c.Parsers[0].States[0].Key = []config.Value{ct.S(0)}
			c.Parsers[0].States[0].Transitions = []config.Transition{{Kind: config.TransitionSet, Set: "v"}}
		}, "has 9 bits, the transition key has 8"},
		{"default entry", func(c *config.Config) {
			ct.Run(c, "ingress")
			c.Pipelines[0].Tables[0].Default.ActionID = 44
		}, "no action of the table has id 44"},
	} {
		t.Run(x.name, func(t *testing.T) {
			c := ct.Base(8)
			x.edit(c)
			_, err := Link(c)
			if err == nil || !strings.Contains(err.Error(), x.want) {
				t.Errorf("error %v\nwant one with %q", err, x.want)
			}
		})
	}
	if _, err := Link(nil); err == nil {
		t.Error("Link(nil) succeeds")
	}
}
