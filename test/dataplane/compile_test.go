package dataplane

import (
	"fmt"
	"strings"
	"testing"

	p4configv1 "github.com/p4lang/p4runtime/go/p4/config/v1"

	"khop/bmv2/config"
	"khop/bmv2/pipeline"
	"khop/codegen"
	"khop/fabric"
	"khop/p4"
)

// variants are fabrics of every scheme, k, topology and port map width.
func variants() map[string]string {
	list := map[string]string{}
	for _, scheme := range []string{"ecmp", "hula", "mp-hula"} {
		for k := 0; k <= 8; k++ {
			if (scheme == "mp-hula") != (k > 0) {
				continue
			}
			kinds := map[string]string{"leaf-spine": "{kind: leaf-spine, leaves: 2, spines: 4}", "fat-tree": "{kind: fat-tree, k: 4}"}
			if k == 8 || scheme != "mp-hula" {
				kinds["wide"] = "{kind: leaf-spine, leaves: 40, spines: 3}"
				kinds["widest"] = "{kind: leaf-spine, leaves: 128, spines: 2}"
			}
			for kind, topology := range kinds {
				with := ""
				if k > 0 {
					with = fmt.Sprintf(", k: %d", k)
				}
				list[fmt.Sprintf("%s k=%d %s", scheme, k, kind)] = fmt.Sprintf("name: v\ntopology: %s\nhosts: {per-leaf: [1-3]}\nscheme: {kind: %s%s}\n", topology, scheme, with)
			}
		}
	}
	return list
}

// TestProgramsCompile compiles every program of every variant, without a warning, and holds the names that codegen exports to its P4Info.
func TestProgramsCompile(t *testing.T) {
	done := map[string]bool{}
	for name, text := range variants() {
		f := spec(t, text)
		list, err := codegen.Generate(f)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, p := range list {
			if testing.Short() && done[string(p.Role)+string(f.Scheme)] {
				continue
			}
			done[string(p.Role)+string(f.Scheme)] = true
			t.Run(name+" "+string(p.Role), func(t *testing.T) {
				t.Parallel()
				result, problems := p4.Compile(p.Name, p.Source, p4.Options{})
				for _, d := range problems {
					t.Errorf("%v: %s: %s", d.At, d.Code, d.Message)
				}
				if result == nil {
					t.Fatal("no result")
				}
				c, err := config.Parse(result.JSON)
				if err == nil {
					_, err = pipeline.Link(c)
				}
				if err != nil {
					t.Errorf("the switch refuses it: %v", err)
				}
				checkInfo(t, f, p.Role, result.P4Info)
			})
		}
	}
}

// checkInfo compares names, widths and order with P4Info.
func checkInfo(t *testing.T, f *fabric.Fabric, role fabric.Role, info *p4configv1.P4Info) {
	tables, actions := map[string]*p4configv1.Table{}, map[string]*p4configv1.Action{}
	for _, x := range info.Tables {
		tables[x.Preamble.Name] = x
	}
	for _, x := range info.Actions {
		actions[x.Preamble.Name] = x
	}
	want := codegen.TablesOf(f, role)
	if len(tables) != len(want) {
		t.Errorf("%d tables, %d are named", len(tables), len(want))
	}
	for _, w := range want {
		have := tables[w.Name]
		if have == nil || len(have.MatchFields) != len(w.Keys) {
			t.Errorf("table %s is not as named", w.Name)
			continue
		}
		for i, k := range w.Keys {
			m := have.MatchFields[i]
			kind := map[codegen.MatchKind]p4configv1.MatchField_MatchType{codegen.Exact: p4configv1.MatchField_EXACT, codegen.LPM: p4configv1.MatchField_LPM}[k.Match]
			if m.Name != k.Name || int(m.Bitwidth) != k.Bits || m.GetMatchType() != kind {
				t.Errorf("%s: key %v, named %+v", w.Name, m, k)
			}
		}
		for _, a := range w.Actions {
			act := actions[a.Name]
			if act == nil || len(act.Params) != len(a.Params) {
				t.Errorf("action %s is not as named", a.Name)
				continue
			}
			for i, x := range a.Params {
				if act.Params[i].Name != x.Name || int(act.Params[i].Bitwidth) != x.Bits {
					t.Errorf("%s: parameter %v, named %+v", a.Name, act.Params[i], x)
				}
			}
		}
	}
	counters := map[string]bool{}
	for _, c := range info.Counters {
		counters[c.Preamble.Name] = true
	}
	for _, c := range []string{codegen.CounterIngressDrops, codegen.CounterEgressDrops, codegen.CounterECNMarked, codegen.CounterSelectiveDrops} {
		if !counters[c] {
			t.Errorf("no counter %s", c)
		}
	}
	headers := map[string][]*p4configv1.ControllerPacketMetadata_Metadata{}
	for _, h := range info.ControllerPacketMetadata {
		headers[h.Preamble.Name] = h.Metadata
	}
	for _, h := range []codegen.Action{codegen.PacketIn, codegen.PacketOut} {
		if fmt.Sprint(len(headers[h.Name])) != fmt.Sprint(len(h.Params)) {
			t.Errorf("header %s is %v", h.Name, headers[h.Name])
			continue
		}
		for i, x := range h.Params {
			if m := headers[h.Name][i]; m.Name != x.Name || int(m.Bitwidth) != x.Bits {
				t.Errorf("%s: member %v, named %+v", h.Name, m, x)
			}
		}
	}
	if len(info.Digests) != len(codegen.DigestsOf(f, role)) {
		t.Errorf("%d digests", len(info.Digests))
	}
	for _, d := range codegen.DigestsOf(f, role) {
		s := info.TypeInfo.GetStructs()[d.Name]
		if s == nil || len(s.Members) != len(d.Members) {
			t.Errorf("digest %s is %v", d.Name, s)
			continue
		}
		for i, x := range d.Members {
			if m := s.Members[i]; m.Name != x.Name || int(m.TypeSpec.GetBitstring().GetBit().GetBitwidth()) != x.Bits {
				t.Errorf("%s: member %v, named %+v", d.Name, m, x)
			}
		}
	}
	for _, r := range info.Registers {
		if strings.Contains(r.Preamble.Name, ".") {
			t.Errorf("register %s is not at top level", r.Preamble.Name)
		}
	}
}
