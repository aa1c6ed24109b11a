package types_test

import (
	"math/big"
	"strings"
	"testing"

	"khop/p4/ast"
	"khop/p4/types"
)

// parse checks a program that includes core.p4 and is held to have no errors.
func parse(t *testing.T, src string) *checked {
	t.Helper()
	c := check(t, "test.p4", "#include <core.p4>\n"+src, types.Options{})
	if err := c.list.Err(); err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
	return c
}

// block returns the parser or control of that name.
func (c *checked) block(t *testing.T, name string) *types.Block {
	t.Helper()
	for _, o := range c.info.Globals {
		if tn, ok := o.(*types.TypeName); ok && o.Name() == name {
			if b, ok := tn.Type().(*types.Block); ok {
				return b
			}
		}
	}
	t.Fatalf("no block %s", name)
	return nil
}

func local[T types.Object](t *testing.T, b *types.Block, name string) T {
	t.Helper()
	for _, o := range b.Locals {
		if x, ok := o.(T); ok && o.Name() == name {
			return x
		}
	}
	t.Fatalf("no local %s", name)
	panic("unreachable")
}

// applyStmts returns the statements of a control's apply block.
func applyStmts(b *types.Block) []ast.Stmt { return b.Decl.(*ast.ControlDecl).Apply.List }

func TestConstants(t *testing.T) {
	c := parse(t, `
const bit<8> a = 3;
const int<8> b = -1;
const int big = 1 << 70;
enum bit<8> e_t { one = 1, two = 2 }
enum p_t { x, y }
struct s_t { bit<8> n; bool b; e_t e; p_t p; }
header h_t { bit<8> n; }
const s_t s = { 7, true, e_t.two, p_t.y };
const s_t d = ...;
const s_t part = { p = p_t.y, n = 9, ... };
const bit<8> member = s.n + e_t.one;
const tuple<bit<8>, h_t> tup = { 1, {#} };
const bit<8> under = e_t.two;
const error err = error.NoMatch;
const string str = "a" ++ "b";
`)
	values := map[string]types.Value{}
	for _, o := range c.info.Globals {
		if k, ok := o.(*types.Const); ok {
			values[k.Name()] = k.Value
		}
	}
	for name, want := range map[string]string{
		"a": "3", "b": "-1", "big": "1180591620717411303424", "s": "[7 true two y]", "d": "[0 false 0 x]",
		"part": "[9 false 0 y]", "member": "8", "tup": "[1 {#}]", "under": "2", "err": "NoMatch", "str": "ab",
	} {
		if got := show(values[name]); got != want {
			t.Errorf("%s = %s, want %s", name, got, want)
		}
	}
}

func show(v types.Value) string {
	switch v := v.(type) {
	case *big.Int:
		return v.String()
	case types.Object:
		return v.Name()
	case bool:
		if v {
			return "true"
		}
		return "false"
	case string:
		return v
	case types.InvalidHeader:
		return "{#}"
	case []types.Value:
		var parts []string
		for _, e := range v {
			parts = append(parts, show(e))
		}
		return "[" + strings.Join(parts, " ") + "]"
	}
	return "?"
}

func TestConversions(t *testing.T) {
	c := parse(t, `
enum bit<8> e_t { one = 1 }
struct s_t { bit<8> n; bit<16> m; }
control c(inout bit<8> x, inout s_t s, inout bool b) {
    apply {
        x = 300;
        x = e_t.one;
        s = { 1, x ++ x };
        s = { m = 5, n = e_t.one };
        b = x == 4;
    }
}`)
	stmts := applyStmts(c.block(t, "c"))
	rhs := func(i int) ast.Expr { return stmts[i].(*ast.AssignStmt).RHS }
	tv := c.info.Types[rhs(0)]
	if tv.Type != types.InfIntType || tv.Conv.String() != "bit<8>" || c.info.TypeOf(rhs(0)).String() != "bit<8>" {
		t.Errorf("300 has type %v, converted to %v", tv.Type, tv.Conv)
	}
	if v := c.info.IntOf(rhs(0)); v.Int64() != 44 {
		t.Errorf("300 becomes %v, want 44", v)
	}
	if v := c.info.IntOf(rhs(1)); v.Int64() != 1 || c.info.Types[rhs(1)].Type.String() != "e_t" {
		t.Errorf("e_t.one becomes %v", v)
	}
	list := rhs(2).(*ast.ListExpr)
	if c.info.TypeOf(list).String() != "s_t" || c.info.TypeOf(list.Elems[0]).String() != "bit<8>" || c.info.Types[list.Elems[1]].Conv != nil {
		t.Error("the list expression is not converted element by element")
	}
	rec := rhs(3).(*ast.StructExpr)
	if c.info.TypeOf(rec).String() != "s_t" || c.info.TypeOf(rec.Fields[0].Value).String() != "bit<16>" || show(c.info.ValueOf(rec)) != "[1 5]" {
		t.Errorf("the structure expression has value %s", show(c.info.ValueOf(rec)))
	}
	eq := rhs(4).(*ast.Binary)
	if c.info.TypeOf(eq) != types.BoolType || c.info.TypeOf(eq.Y).String() != "bit<8>" {
		t.Error("the operand of == is not converted")
	}
}

func TestCalls(t *testing.T) {
	c := parse(t, `
extern reg<T> { reg(bit<32> size); void read(out T v, in bit<32> i); }
extern void f<A>(in A a, in bit<8> b = 7, @optional in bool o);
header h_t { bit<8> x; }
bit<8> fun(in bit<8> x) { return x; }
control inner(inout h_t h)(bit<8> k) { apply { h.x = k; } }
control direct(inout h_t h) { apply { h.x = 1; } }
control c(inout h_t h) {
    reg<bit<8>>(16) r;
    inner(3) i;
    action a(inout bit<8> x, bit<8> d) { x = d; }
    table t { actions = { a(h.x); NoAction; } default_action = a(h.x, 5); }
    apply {
        r.read(i = 1, v = h.x);
        f(h.x);
        i.apply(h);
        direct.apply(h);
        a(h.x, 3);
        t.apply();
        h.setValid();
        h.x = fun(2);
    }
}`)
	b := c.block(t, "c")
	stmts := applyStmts(b)
	call := func(i int) *types.Call {
		switch s := stmts[i].(type) {
		case *ast.CallStmt:
			return c.info.Calls[s.Call]
		case *ast.AssignStmt:
			return c.info.Calls[s.RHS.(*ast.CallExpr)]
		}
		return nil
	}
	for i, want := range []types.CallKind{types.CallMethod, types.CallExternFunc, types.CallBlock, types.CallDirect, types.CallAction,
		types.CallTable, types.CallBuiltin, types.CallFunc} {
		if got := call(i); got == nil || got.Kind != want {
			t.Fatalf("statement %d: call %+v, want kind %d", i, got, want)
		}
	}
	read := call(0)
	if read.Instance == nil || read.Instance.Name() != "r" || read.Args[0].Param.Name() != "v" || read.Args[0].Type.String() != "bit<8>" ||
		c.info.IntOf(read.Args[1].Expr).Int64() != 1 {
		t.Errorf("r.read: %+v", read)
	}
	f := call(1)
	if len(f.TypeArgs) != 1 || f.TypeArgs[0].String() != "bit<8>" || !f.Args[1].Default || c.info.IntOf(f.Args[1].Expr).Int64() != 7 ||
		f.Args[2].Expr != nil {
		t.Errorf("f: %+v", f)
	}
	if i := call(2).Instance; i.Call.Kind != types.CallConstructor || c.info.IntOf(i.Call.Args[0].Expr).Int64() != 3 {
		t.Errorf("instance i: %+v", i.Call)
	}
	if d := call(3); d.Block != c.block(t, "direct") {
		t.Error("direct.apply does not name its control")
	}
	if a := call(4); a.Action.Owner != b || len(a.Args) != 2 {
		t.Errorf("a: %+v", a)
	}
	if x := call(6); x.Builtin != types.SetValid {
		t.Errorf("setValid: %+v", x)
	}
	tab := local[*types.Table](t, b, "t")
	if len(tab.Actions) != 2 || tab.Actions[0].Args[0].Expr == nil || tab.Actions[0].Args[1].Expr != nil {
		t.Errorf("action list: %+v", tab.Actions)
	}
	if d := tab.Default; d == nil || d.Action.Name() != "a" || c.info.IntOf(d.Args[1].Expr).Int64() != 5 || !tab.HasDefault || tab.ConstDefault {
		t.Errorf("default action: %+v", d)
	}
}

func TestTable(t *testing.T) {
	c := parse(t, `
match_kind { range }
extern profile { profile(bit<32> n); }
header h_t { bit<8> x; bit<16> y; }
control c(inout h_t h) {
    profile(4) prof;
    action a(bit<8> d) { h.x = d; }
    table one {
        key = { h.x: exact; h.y: ternary; }
        actions = { a; @defaultonly NoAction; }
        size = 64;
        implementation = prof;
        entries = {
            (1, 2 &&& 0xF0): a(3);
            const (2, _): a(4);
            _: a(5);
        }
    }
    table two {
        key = { h.x: range; }
        actions = { a; }
        const default_action = a(1);
        largest_priority_wins = false;
        priority_delta = 10;
        entries = {
            priority = 10: 1 .. 3: a(1);
            4: a(2);
            priority = 40: 5: a(3);
            6: a(4);
        }
    }
    apply { one.apply(); two.apply(); }
}`)
	b := c.block(t, "c")
	one := local[*types.Table](t, b, "one")
	if one.Keys[0].MatchKind.Name() != "exact" || one.Keys[1].Type.String() != "bit<16>" || one.Size.Int64() != 64 || one.ConstEntries {
		t.Errorf("table one: %+v", one)
	}
	if p := one.Prop("implementation"); p == nil || p.Instance == nil || p.Instance.Name() != "prof" {
		t.Errorf("implementation: %+v", p)
	}
	if one.Default.Action.Name() != "NoAction" || one.HasDefault {
		t.Errorf("the implied default action is %+v", one.Default)
	}
	if !one.Actions[1].DefaultOnly {
		t.Error("@defaultonly is lost")
	}
	// Without written priorities they count from the last entry: 3, 2, 1.
	for i, want := range []int64{3, 2, 1} {
		if got := one.Entries[i].Priority.Int64(); got != want {
			t.Errorf("one: priority of entry %d is %d, want %d", i, got, want)
		}
	}
	k := one.Entries[0].Keys
	if k[0].Kind != types.KeyValue || show(k[0].Lo) != "1" || k[1].Kind != types.KeyMask || show(k[1].Lo) != "2" || show(k[1].Hi) != "240" {
		t.Errorf("keys of entry 0: %+v %+v", k[0], k[1])
	}
	if !one.Entries[1].Const || one.Entries[0].Const || one.Entries[1].Keys[1].Kind != types.KeyAny {
		t.Errorf("entry 1: %+v", one.Entries[1])
	}
	if all := one.Entries[2].Keys; len(all) != 1 || all[0].Kind != types.KeyAny {
		t.Errorf("entry 2: %+v", all)
	}
	two := local[*types.Table](t, b, "two")
	for i, want := range []int64{10, 20, 40, 50} {
		if got := two.Entries[i].Priority.Int64(); got != want {
			t.Errorf("two: priority of entry %d is %d, want %d", i, got, want)
		}
	}
	if r := two.Entries[0].Keys[0]; r.Kind != types.KeyRange || show(r.Lo) != "1" || show(r.Hi) != "3" || !two.ConstDefault {
		t.Errorf("two: %+v", r)
	}
}

func TestMainPackage(t *testing.T) {
	c := parse(t, `
parser P<H>(packet_in b, out H h);
control C<H>(inout H h);
package top<H>(P<H> p, C<H> c);
header h_t { bit<8> x; }
parser p(packet_in b, out h_t h) {
    state start { b.extract(h); transition select(h.x) { 1: more; default: accept; } }
    state more { transition reject; }
}
control c<T>(inout T h) { apply {} }
top(p(), c()) main;`)
	m := c.info.Main
	if m == nil || m.Type().String() != "top<h_t>" {
		t.Fatalf("main is %+v", m)
	}
	inner := c.info.Calls[m.Call.Args[1].Expr.(*ast.CallExpr)]
	if inner.Type.String() != "c<h_t>" || len(inner.TypeArgs) != 1 {
		t.Errorf("the control is %s: its type argument comes from the package", inner.Type)
	}
	p := c.block(t, "p")
	sel := p.States[0].Decl.Select
	if ks := c.info.Keysets[sel.Cases[0]]; len(ks) != 1 || show(ks[0].Lo) != "1" {
		t.Errorf("first case: %+v", ks)
	}
	if s, ok := c.info.Uses[sel.Cases[0].Next].(*types.State); !ok || s != p.States[1] {
		t.Error("the transition does not name its state")
	}
	for i, want := range []string{"NoError", "PacketTooShort"} {
		if got := c.info.Errors[i].Name(); got != want {
			t.Errorf("error %d is %s, want %s", i, got, want)
		}
	}
}
