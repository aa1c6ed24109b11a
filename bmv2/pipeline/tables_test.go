package pipeline

import (
	"errors"
	"math/big"
	"math/rand/v2"
	"reflect"
	"testing"

	"khop/bmv2/config"
	ct "khop/bmv2/config/configtest"
)

// matching has a header h with fields of several widths and a table t over some of them; its action sets h.out.
func matching(kind string, size int, keys ...config.KeyField) *config.Config {
	c := ct.Base(8)
	ct.AddHeader(c, "h", 0, ct.Bits("out", 8), ct.Bits("a", 8), ct.Bits("b", 16), ct.Bits("w", 128))
	c.Parsers[0].States[0].Ops = []config.ParserOp{ct.Extract("h")}
	ct.AddAction(c, "set", []config.Param{{Name: "v", Width: 8}}, ct.Assign(ct.F("h", "out"), ct.Arg(0)))
	ct.AddAction(c, "other", nil)
	ct.AddTable(c, "ingress", config.Table{Name: "t", MatchType: kind, MaxSize: size, Key: keys, Actions: []string{"set", "other"},
		Timeout: true, Default: &config.DefaultEntry{ActionID: 0, ActionData: []*big.Int{big.NewInt(0xdf)}}}, "")
	return c
}

func key(kind, field string) config.KeyField {
	return config.KeyField{Name: field, MatchType: kind, Target: [2]string{"h", field}}
}

func set(v byte) Target {
	return Target{Kind: TargetAction, Call: ActionCall{Action: "set", Args: [][]byte{{v}}}}
}

// apply sends (a, b, w) through the table and returns h.out.
func apply(t testing.TB, in *Instance, a byte, b uint16, w ...byte) byte {
	t.Helper()
	p := append([]byte{0, a, byte(b >> 8), byte(b)}, append(make([]byte, 16-len(w)), w...)...)
	out, _ := process(t, in, hexOf(p))
	return unhex(t, out)[0]
}

func TestExactTable(t *testing.T) {
	in := mustLink(t, matching("exact", 2, key("exact", "a"), key("exact", "w"), key("exact", "b")))
	m := func(a byte, b uint16, w ...byte) []FieldMatch {
		return []FieldMatch{{Value: []byte{a}}, {Value: w}, {Value: []byte{byte(b >> 8), byte(b)}}}
	}
	h, err := in.InsertEntry("t", Entry{Match: m(1, 2, 3, 4), Target: set(11), IdleTimeout: 100}, 50)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := in.InsertEntry("t", Entry{Match: m(1, 2, 3, 4), Target: set(12)}, 0); !errors.Is(err, ErrExists) {
		t.Errorf("duplicate: %v", err)
	}
	h2, _ := in.InsertEntry("t", Entry{Match: m(1, 2, 3), Target: set(13)}, 0)
	if _, err := in.InsertEntry("t", Entry{Match: m(9, 9), Target: set(14)}, 0); !errors.Is(err, ErrFull) {
		t.Errorf("third of two: %v", err)
	}
	if got := apply(t, in, 1, 2, 3, 4); got != 11 {
		t.Errorf("first entry: %d", got)
	}
	if got := apply(t, in, 1, 2, 3); got != 13 {
		t.Errorf("second entry: %d", got)
	}
	if got := apply(t, in, 1, 3, 3); got != 0xdf {
		t.Errorf("miss: %#x", got)
	}
	if f, err := in.FindEntry("t", m(1, 2, 3), 77); err != nil || f != h2 {
		t.Errorf("FindEntry = %d, %v", f, err)
	}
	e, err := in.Entry("t", h)
	want := Entry{Handle: h, Match: []FieldMatch{{Value: []byte{1}}, {Value: append(make([]byte, 14), 3, 4)}, {Value: []byte{0, 2}}},
		Target: set(11), IdleTimeout: 100, LastHit: 0}
	if err != nil || !reflect.DeepEqual(e, want) { // LastHit: the packet came at 0
		t.Errorf("Entry = %+v, %v\nwant %+v", e, err, want)
	}
	if err := in.ModifyEntry("t", h, Target{Kind: TargetAction, Call: ActionCall{Action: "other"}}, 0, 7); err != nil {
		t.Fatal(err)
	}
	if got := apply(t, in, 1, 2, 3, 4); got != 0 {
		t.Errorf("modified entry: %d", got)
	}
	if err := in.DeleteEntry("t", h); err != nil {
		t.Fatal(err)
	}
	if err := in.DeleteEntry("t", h); !errors.Is(err, ErrNotFound) {
		t.Errorf("second delete: %v", err)
	}
	if got := apply(t, in, 1, 2, 3, 4); got != 0xdf {
		t.Errorf("deleted entry: %d", got)
	}
	if n, _ := in.EntryCount("t"); n != 1 {
		t.Errorf("count %d", n)
	}
	if err := in.ClearTable("t"); err != nil {
		t.Fatal(err)
	}
	if got := apply(t, in, 1, 2, 3); got != 0xdf {
		t.Errorf("cleared table: %d", got)
	}
}

func TestLPMTable(t *testing.T) {
	in := mustLink(t, matching("lpm", 10, key("exact", "a"), key("lpm", "w")))
	add := func(a byte, plen int, v byte, w ...byte) {
		t.Helper()
		m := []FieldMatch{{Value: []byte{a}}, {Value: append(append([]byte{}, w...), make([]byte, 16-len(w))...), PrefixLen: plen}}
		if _, err := in.InsertEntry("t", Entry{Match: m, Target: set(v)}, 0); err != nil {
			t.Fatal(err)
		}
	}
	add(1, 0, 10)
	add(1, 16, 11, 0xfd, 0x00)
	add(1, 17, 12, 0xfd, 0x00, 0xff) // bits beyond the prefix are cleared
	add(1, 128, 13, 0xfd, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)
	add(2, 64, 14, 0xfd)
	long := func(b ...byte) []byte { return append(b, make([]byte, 16-len(b))...) }
	for _, x := range []struct {
		a    byte
		w    []byte
		want byte
	}{
		{1, long(1), 10}, {1, long(0xfd), 11}, {1, long(0xfd, 0, 0x80), 12}, {1, append(long(0xfd, 0, 0x80)[:15], 1), 13},
		{2, long(0xfd), 14}, {2, long(0xfe), 0xdf}, {3, long(0xfd), 0xdf},
	} {
		if got := apply(t, in, x.a, 0, x.w...); got != x.want {
			t.Errorf("a=%d w=%x: %d, want %d", x.a, x.w, got, x.want)
		}
	}
	e, _ := in.Entry("t", 2)
	if e.Match[1].PrefixLen != 17 || e.Match[1].Value[2] != 0x80 {
		t.Errorf("read back %+v", e.Match[1])
	}
}

func TestTernaryAndRange(t *testing.T) {
	in := mustLink(t, matching("range", 100, key("ternary", "a"), key("range", "b"), key("lpm", "w")))
	type rule struct {
		a, mask byte
		lo, hi  uint16
		plen    int
		prio    int
	}
	rng := rand.New(rand.NewPCG(3, 9))
	var rules []rule
	u16 := func(v uint16) []byte { return []byte{byte(v >> 8), byte(v)} }
	for i := range 80 {
		r := rule{a: byte(rng.IntN(8)), mask: byte(rng.IntN(8)), lo: uint16(rng.IntN(60)), plen: rng.IntN(3), prio: rng.IntN(20)}
		r.a &= r.mask
		r.hi = r.lo + uint16(rng.IntN(20))
		if rng.IntN(5) == 0 {
			r.lo, r.hi = 0, 0xffff
		}
		var m FieldMatch
		if r.mask != 0 {
			m = FieldMatch{Value: []byte{r.a}, Mask: []byte{r.mask}}
		}
		h, err := in.InsertEntry("t", Entry{Priority: r.prio, Target: set(byte(i)), Match: []FieldMatch{m,
			{Value: u16(r.lo), High: u16(r.hi)}, {PrefixLen: r.plen}}}, 0)
		if errors.Is(err, ErrExists) {
			rules = append(rules, rule{a: 1, mask: 0}) // matches nothing
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		rules = append(rules, r)
		e, err := in.Entry("t", h)
		if err != nil || e.Priority != r.prio || (e.Match[0].Mask == nil) != (r.mask == 0) || e.Match[2].PrefixLen != r.plen ||
			!reflect.DeepEqual(e.Match[1], FieldMatch{Value: u16(r.lo), High: u16(r.hi)}) {
			t.Fatalf("read back %+v, %v, want %+v", e, err, r)
		}
	}
	for range 2000 {
		a, b := byte(rng.IntN(8)), uint16(rng.IntN(90))
		top := byte(rng.IntN(4)) << 6
		want, best := byte(0xdf), 1<<30
		for i, r := range rules {
			if a&r.mask == r.a && r.lo <= b && b <= r.hi && top>>(8-r.plen) == 0 && r.prio < best {
				want, best = byte(i), r.prio
			}
		}
		if got := apply(t, in, a, b, append([]byte{top}, make([]byte, 15)...)...); got != want {
			t.Fatalf("a=%d b=%d top=%#x: %d, want %d", a, b, top, got, want)
		}
	}
}

func TestStaticMaskAndValidKey(t *testing.T) {
	masked := key("exact", "a")
	masked.Mask = []byte{0x0f}
	in := mustLink(t, matching("exact", 10, masked, config.KeyField{Name: "v", MatchType: "valid", Target: [2]string{"h", ""}}))
	if _, err := in.InsertEntry("t", Entry{Match: []FieldMatch{{Value: []byte{3}}, {Value: []byte{1}}}, Target: set(9)}, 0); err != nil {
		t.Fatal(err)
	}
	if got := apply(t, in, 0xf3, 0); got != 9 {
		t.Errorf("masked key: %d", got)
	}
	if got := apply(t, in, 0xf4, 0); got != 0xdf {
		t.Errorf("masked key, miss: %d", got)
	}
}

func TestDefaults(t *testing.T) {
	in := mustLink(t, matching("exact", 10, key("exact", "a")))
	if err := in.SetDefault("t", set(7)); err != nil {
		t.Fatal(err)
	}
	if got := apply(t, in, 0, 0); got != 7 {
		t.Errorf("new default: %d", got)
	}
	if d, initial, _ := in.Default("t"); initial || !reflect.DeepEqual(d, set(7)) {
		t.Errorf("Default = %+v, %v", d, initial)
	}
	if err := in.ResetDefault("t"); err != nil {
		t.Fatal(err)
	}
	if d, initial, _ := in.Default("t"); !initial || !reflect.DeepEqual(d, set(0xdf)) {
		t.Errorf("Default after reset = %+v, %v", d, initial)
	}
	c := matching("exact", 10, key("exact", "a"))
	d := c.Pipelines[0].Tables[0].Default
	d.ActionConst = true
	in = mustLink(t, c)
	if err := in.SetDefault("t", Target{Kind: TargetAction, Call: ActionCall{Action: "other"}}); !errors.Is(err, ErrConst) {
		t.Errorf("const default action replaced: %v", err)
	}
	if err := in.SetDefault("t", set(8)); err != nil {
		t.Errorf("new arguments for a const action: %v", err)
	}
	d.ActionEntryConst = true
	if err := mustLink(t, c).SetDefault("t", set(8)); !errors.Is(err, ErrConst) {
		t.Errorf("const default entry changed: %v", err)
	}
}

func TestConstEntries(t *testing.T) {
	c := matching("ternary", 1, key("ternary", "a"))
	ct := &c.Pipelines[0].Tables[0]
	ct.HasEntries = true
	arg := func(v int64) []*big.Int { return []*big.Int{big.NewInt(v)} }
	ct.Entries = []config.Entry{
		{Match: []config.EntryMatch{{Type: "ternary", Key: []byte{0}, Mask: []byte{0}}}, ActionData: arg(1), Priority: 2},
		{Match: []config.EntryMatch{{Type: "ternary", Key: []byte{5}, Mask: []byte{0xff}}}, ActionData: arg(2), Priority: 1}}
	in := mustLink(t, c)
	if a, b := apply(t, in, 5, 0), apply(t, in, 6, 0); a != 2 || b != 1 {
		t.Errorf("const entries: %d, %d", a, b)
	}
	for _, err := range []error{errOf(in.InsertEntry("t", Entry{}, 0)), in.DeleteEntry("t", 0), in.ClearTable("t"),
		in.ModifyEntry("t", 0, set(1), 0, 0)} {
		if !errors.Is(err, ErrConst) {
			t.Errorf("write to a const table: %v", err)
		}
	}
	ct.Entries[1].Match[0] = ct.Entries[0].Match[0]
	ct.Entries[1].Priority = 2
	if _, err := Link(c); !errors.Is(err, ErrExists) {
		t.Errorf("duplicate const entries: %v", err)
	}
}

func TestWriteErrors(t *testing.T) {
	in := mustLink(t, matching("ternary", 10, key("ternary", "a"), key("lpm", "w")))
	ok := []FieldMatch{{Value: []byte{1}, Mask: []byte{1}}, {}}
	for _, x := range []struct {
		name string
		e    Entry
		want error
	}{
		{"too few fields", Entry{Match: ok[:1], Target: set(1)}, ErrInvalid},
		{"value too wide", Entry{Match: []FieldMatch{{Value: []byte{1, 0}}, {}}, Target: set(1)}, ErrInvalid},
		{"mask too wide", Entry{Match: []FieldMatch{{Mask: []byte{1, 0}}, {}}, Target: set(1)}, ErrInvalid},
		{"prefix too long", Entry{Match: []FieldMatch{{}, {PrefixLen: 129}}, Target: set(1)}, ErrInvalid},
		{"prefix negative", Entry{Match: []FieldMatch{{}, {PrefixLen: -1}}, Target: set(1)}, ErrInvalid},
		{"unknown action", Entry{Match: ok, Target: Target{Kind: TargetAction, Call: ActionCall{Action: "x"}}}, ErrNotFound},
		{"missing argument", Entry{Match: ok, Target: Target{Kind: TargetAction, Call: ActionCall{Action: "set"}}}, ErrInvalid},
		{"wide argument", Entry{Match: ok, Target: Target{Kind: TargetAction,
			Call: ActionCall{Action: "set", Args: [][]byte{{1, 0}}}}}, ErrInvalid},
		{"member", Entry{Match: ok, Target: Target{Kind: TargetMember}}, ErrInvalid},
		{"negative timeout", Entry{Match: ok, Target: set(1), IdleTimeout: -1}, ErrInvalid},
	} {
		if _, err := in.InsertEntry("t", x.e, 0); !errors.Is(err, x.want) {
			t.Errorf("%s: %v, want %v", x.name, err, x.want)
		}
	}
	if n, _ := in.EntryCount("t"); n != 0 {
		t.Errorf("%d entries after failed inserts", n)
	}
	// Leading zero bytes do no harm.
	if _, err := in.InsertEntry("t", Entry{Match: []FieldMatch{{Value: []byte{0, 0, 1}, Mask: []byte{0, 1}}, {}}, Target: set(1)}, 0); err != nil {
		t.Errorf("leading zeros: %v", err)
	}
	if _, err := in.InsertEntry("u", Entry{}, 0); !errors.Is(err, ErrNotFound) {
		t.Errorf("unknown table: %v", err)
	}
}

func TestIdle(t *testing.T) {
	in := mustLink(t, matching("exact", 10, key("exact", "a")))
	for i, timeout := range []int64{100, 0, 200} {
		if _, err := in.InsertEntry("t", Entry{Match: []FieldMatch{{Value: []byte{byte(i)}}}, Target: set(1), IdleTimeout: timeout}, 1000); err != nil {
			t.Fatal(err)
		}
	}
	idle := func(now int64) (hs []Handle) {
		in.IdleEntries(now, func(_ string, h Handle, _ Entry) { hs = append(hs, h) })
		return
	}
	if got := idle(1099); got != nil {
		t.Errorf("idle at 1099: %v", got)
	}
	if got := idle(1200); !reflect.DeepEqual(got, []Handle{0, 2}) {
		t.Errorf("idle at 1200: %v", got)
	}
	in.State().Now = 1150
	apply(t, in, 0, 0)
	if got := idle(1249); !reflect.DeepEqual(got, []Handle{2}) {
		t.Errorf("idle at 1249: %v", got)
	}
}

func TestDirectCounterAndMeter(t *testing.T) {
	c := matching("exact", 10, key("exact", "a"))
	c.Counters = []config.Counter{{Name: "n", Direct: true, Binding: "t"}}
	c.Meters = []config.Meter{{Name: "m", Direct: true, Binding: "t", RateCount: 2, Target: [2]string{"scalars", "s0"}}}
	in := mustLink(t, c)
	if info, _ := in.Table("t"); info.DirectCounter != "n" || info.DirectMeter != "m" {
		t.Errorf("table info %+v", info)
	}
	h, err := in.InsertEntry("t", Entry{Match: []FieldMatch{{Value: []byte{1}}}, Target: set(1)}, 0)
	if err != nil {
		t.Fatal(err)
	}
	apply(t, in, 1, 0)
	apply(t, in, 2, 0) // misses do not count
	if got, err := in.DirectCounter("t", h); err != nil || got != (Counter{Packets: 1, Bytes: 20}) {
		t.Errorf("counter %+v, %v", got, err)
	}
	if err := in.SetDirectMeter("t", h, &MeterConfig{PIR: 1}, 0); err != nil {
		t.Fatal(err)
	}
	apply(t, in, 1, 0)
	if s := in.State(); s.W[in.prog.headers[1].base+1] != red {
		t.Errorf("colour %d, want red (no burst)", s.W[in.prog.headers[1].base+1])
	}
	if cfg, ok, err := in.DirectMeter("t", h); err != nil || !ok || cfg.PIR != 1 {
		t.Errorf("meter %+v, %v, %v", cfg, ok, err)
	}
	if err := in.ResetCounters("n"); err != nil {
		t.Fatal(err)
	}
	if got, _ := in.DirectCounter("t", h); got != (Counter{}) {
		t.Errorf("counter after reset %+v", got)
	}
	if _, err := in.Counter("n", 0); !errors.Is(err, ErrInvalid) {
		t.Errorf("direct counter by index: %v", err)
	}
}

// selecting has a table over h.a whose entries lead to members or groups chosen by h.b.
func selecting() *config.Config {
	c := matching("exact", 10, key("exact", "a"))
	tb := &c.Pipelines[0].Tables[0]
	tb.Type, tb.Profile, tb.Default = "indirect_ws", "ap", nil
	c.Pipelines[0].Profiles = []config.Profile{{Name: "ap", MaxSize: 6, Selector: &config.Selector{Algo: "identity",
		Input: []config.Value{ct.F("h", "b")}}}}
	return c
}

func TestSelector(t *testing.T) {
	in := mustLink(t, selecting())
	member := func(v byte) Handle {
		t.Helper()
		h, err := in.AddMember("ap", set(v).Call)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	m0, m1, m2 := member(10), member(11), member(12)
	g, err := in.AddGroup("ap", []GroupMember{{m1, 1, -1}, {m0, 2, -1}, {m2, 1, 5}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := in.InsertEntry("t", Entry{Match: []FieldMatch{{Value: []byte{1}}}, Target: Target{Kind: TargetGroup, Group: g}}, 0); err != nil {
		t.Fatal(err)
	}
	picks := func(n uint16) (got []byte) {
		for b := range n {
			got = append(got, apply(t, in, 1, b))
		}
		return
	}
	// Ascending handles: m0, m1, m2, and then the second copy of m0.
	if got := picks(5); !reflect.DeepEqual(got, []byte{10, 11, 12, 10, 10}) {
		t.Errorf("picks %v", got)
	}
	in.SetPortStatus(func(p uint32) bool { return p != 5 })
	in.PortStatusChanged()
	if got := picks(3); !reflect.DeepEqual(got, []byte{10, 11, 10}) {
		t.Errorf("picks with port 5 down %v", got)
	}
	for _, x := range []struct {
		err  error
		want error
	}{
		{in.DeleteMember("ap", m0), ErrInUse}, {in.DeleteGroup("ap", g), ErrInUse}, {in.DeleteMember("ap", 77), ErrNotFound},
		{errOf(in.AddGroup("ap", []GroupMember{{m0, 0, -1}})), ErrInvalid},
		{errOf(in.AddGroup("ap", []GroupMember{{m0, 1, -1}, {m0, 1, -1}})), ErrInvalid},
		{errOf(in.AddGroup("ap", []GroupMember{{99, 1, -1}})), ErrNotFound},
		{errOf(in.AddGroup("ap", []GroupMember{{m0, 9, -1}})), ErrFull},
		{in.ModifyEntry("t", 0, set(1), 0, 0), ErrInvalid},
		{in.ModifyEntry("t", 0, Target{Kind: TargetGroup, Group: 9}, 0, 0), ErrNotFound},
	} {
		if !errors.Is(x.err, x.want) {
			t.Errorf("error %v, want %v", x.err, x.want)
		}
	}
	if err := in.ModifyGroup("ap", g, nil); err != nil {
		t.Fatal(err)
	}
	if got := apply(t, in, 1, 0); got != 0 || in.EmptyGroup != 1 {
		t.Errorf("empty group: %d, counted %d", got, in.EmptyGroup)
	}
	if got := apply(t, in, 2, 0); got != 0 { // a miss, and no default entry
		t.Errorf("miss: %d", got)
	}
	if err := in.ModifyEntry("t", 0, Target{Kind: TargetMember, Member: m2}, 0, 0); err != nil {
		t.Fatal(err)
	}
	if got := apply(t, in, 1, 0); got != 12 {
		t.Errorf("member: %d", got)
	}
	if err := in.ModifyMember("ap", m2, set(99).Call); err != nil {
		t.Fatal(err)
	}
	if got := apply(t, in, 1, 0); got != 99 {
		t.Errorf("modified member: %d", got)
	}
	for _, err := range []error{in.DeleteGroup("ap", g), in.DeleteMember("ap", m0), in.DeleteEntry("t", 0), in.DeleteMember("ap", m2)} {
		if err != nil {
			t.Error(err)
		}
	}
	var left []Handle
	if err := in.EachMember("ap", func(m Member) bool { left = append(left, m.Handle); return true }); err != nil || !reflect.DeepEqual(left, []Handle{m1}) {
		t.Errorf("members left %v, %v", left, err)
	}
}

func TestHitMissNext(t *testing.T) {
	c := matching("exact", 10, key("exact", "a"))
	ct.AddAction(c, "hit", nil, ct.Assign(ct.F("h", "out"), ct.N(1)))
	ct.AddAction(c, "miss", nil, ct.Assign(ct.F("h", "out"), ct.N(2)))
	p := &c.Pipelines[0]
	p.Tables[0].NextTables = map[string]string{"__HIT__": "h", "__MISS__": "m"}
	p.ActionCalls = []config.ActionCall{{Name: "h", ActionID: 2}, {Name: "m", ActionID: 3}}
	in := mustLink(t, c)
	if _, err := in.InsertEntry("t", Entry{Match: []FieldMatch{{Value: []byte{1}}}, Target: set(9)}, 0); err != nil {
		t.Fatal(err)
	}
	if a, b := apply(t, in, 1, 0), apply(t, in, 2, 0); a != 1 || b != 2 {
		t.Errorf("hit %d, miss %d", a, b)
	}
}
