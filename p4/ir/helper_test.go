package ir

import (
	"fmt"
	"strings"
	"testing"

	"khop/p4/diag"
	"khop/p4/parser"
	"khop/p4/preproc"
	"khop/p4/types"
	"khop/p4src"
)

// head declares what the programs of these tests have in common.
const head = `
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<16> c; int<8> s; bit<24> pad; }
header v_t { bit<8> n; varbit<64> v; }
header_union u_t { h_t x; v_t y; }
struct pair { bit<8> l; bit<8> r; }
struct headers { h_t h; h_t g; h_t[3] st; u_t u; v_t v; }
struct meta_t { bit<8> m; bool f; pair p; @field_list(1) bit<9> keep; bit<32> w; }
`

// program makes a whole program around declarations, the states of the parser and the body of ingress.
func program(decls, states, locals, body string) string {
	if states == "" {
		states = "state start { transition accept; }"
	}
	return head + decls + `
parser P(packet_in pkt, out headers hdr, inout meta_t meta, inout standard_metadata_t sm) { ` + states + ` }
control V(inout headers hdr, inout meta_t meta) { apply {} }
control I(inout headers hdr, inout meta_t meta, inout standard_metadata_t sm) { ` + locals + ` apply { ` + body + ` } }
control E(inout headers hdr, inout meta_t meta, inout standard_metadata_t sm) { apply {} }
control C(inout headers hdr, inout meta_t meta) { apply {} }
control D(packet_out pkt, in headers hdr) { apply { pkt.emit(hdr); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
`
}

func build(t *testing.T, src string) (*Program, diag.List) {
	t.Helper()
	out, list := preproc.Run("t.p4", []byte(src), preproc.Options{Builtin: p4src.Include})
	if list.HasErrors() {
		t.Fatal(list)
	}
	prog, list := parser.Parse(out.Text, out.Map)
	if list.HasErrors() {
		t.Fatal(list)
	}
	info, list := types.Check(prog, out.Map, types.Options{NoWarnings: true})
	if list.HasErrors() {
		t.Fatal(list)
	}
	return Build(info, out.Map)
}

func mustBuild(t *testing.T, src string) *Program {
	t.Helper()
	p, list := build(t, src)
	if p == nil {
		t.Fatal(list)
	}
	return p
}

// listing prints code, one instruction a line.
func listing(c *Code) string {
	var b strings.Builder
	for _, in := range c.Ins {
		switch in.Op {
		case OpLabel:
			fmt.Fprintf(&b, "%d:", in.Label)
			if in.State != "" {
				b.WriteString(" state " + in.State)
			}
		case OpJump:
			fmt.Fprintf(&b, "goto %d", in.Label)
		case OpBranch:
			fmt.Fprintf(&b, "unless %s goto %d", show(in.Cond), in.Label)
		case OpApply:
			fmt.Fprintf(&b, "apply %s", in.Apply.Table.Name)
			if in.Apply.ByHit {
				fmt.Fprintf(&b, " hit %d miss %d", in.Apply.Hit, in.Apply.Miss)
			}
			if in.Apply.ByAction {
				for _, c := range in.Apply.Cases {
					fmt.Fprintf(&b, " %s %d", c.Action.Name, c.Label)
				}
				fmt.Fprintf(&b, " default %d", in.Apply.Default)
			}
		case OpExit:
			b.WriteString("exit")
		case OpAccept:
			b.WriteString("accept")
		case OpSelect:
			b.WriteString("select")
			for _, k := range in.Sel.Keys {
				b.WriteString(" " + show(k))
			}
			for _, c := range in.Sel.Cases {
				b.WriteString(" (")
				for _, m := range c.Match {
					b.WriteString(m.Value.String())
					if m.Mask != nil {
						b.WriteString("&" + m.Mask.String())
					}
					b.WriteByte(' ')
				}
				if c.Set != nil {
					b.WriteString(c.Set.Name + " ")
				}
				fmt.Fprintf(&b, "-> %d)", c.Label)
			}
		default:
			b.WriteString(in.Name)
			for i, a := range in.Args {
				if i > 0 {
					b.WriteByte(',')
				}
				b.WriteString(" " + showArg(a))
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func showArg(a Arg) string {
	switch a := a.(type) {
	case *Header:
		return a.Name
	case *Stack:
		return a.Name
	case *Union:
		return a.Name
	case *Extern:
		return a.Name
	case *Calculation:
		return a.Name
	case Text:
		return string(a)
	case *NextElem:
		if a.Stack != nil {
			return a.Stack.Name + ".next"
		}
		return a.Union.Name + ".next." + a.Member
	case Expr:
		return show(a)
	}
	return fmt.Sprintf("%T", a)
}

func show(e Expr) string {
	switch e := e.(type) {
	case *Const:
		return e.Val.String()
	case BoolConst:
		return fmt.Sprint(bool(e))
	case *FieldRef:
		if e.Header.Name == "scalars" {
			return e.Field.Name
		}
		return e.Header.Name + "." + e.Field.Name
	case *ElemField:
		return e.Stack.Name + "[" + show(e.Index) + "]." + e.Field.Name
	case *LastField:
		return e.Stack.Name + ".last." + e.Field.Name
	case *LastIndex:
		return e.Stack.Name + ".lastIndex"
	case *ParamRef:
		return fmt.Sprintf("param%d", e.Index)
	case *Valid:
		return e.Header.Name + ".valid"
	case *Unary:
		return e.Op + " " + show(e.X)
	case *Binary:
		return "(" + show(e.X) + " " + e.Op + " " + show(e.Y) + ")"
	case *Cast:
		t := fmt.Sprintf("bit%d", e.T.Width)
		if e.T.Signed {
			t = fmt.Sprintf("int%d", e.T.Width)
		}
		if e.T.Bool {
			t = "bool"
		}
		return t + "(" + show(e.X) + ")"
	case *Cond:
		return "(" + show(e.C) + " ? " + show(e.X) + " : " + show(e.Y) + ")"
	case *Lookahead:
		return fmt.Sprintf("lookahead(%d,%d)", e.Offset, e.T.Width)
	}
	return fmt.Sprintf("%T", e)
}
