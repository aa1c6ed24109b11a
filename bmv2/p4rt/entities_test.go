//lint:file-ignore SA1019 controller_metadata is deprecated in P4Runtime, but still part of it.

package p4rt

import (
	"strings"
	"testing"

	p4v1 "github.com/p4lang/p4runtime/go/p4/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
)

// action builds a table action; parameters get the ids 1, 2, ...
func act(id uint32, params ...string) *p4v1.Action {
	a := &p4v1.Action{ActionId: id}
	for i, p := range params {
		a.Params = append(a.Params, &p4v1.Action_Param{ParamId: uint32(i + 1), Value: []byte(p)})
	}
	return a
}

func tact(id uint32, params ...string) *p4v1.TableAction {
	return &p4v1.TableAction{Type: &p4v1.TableAction_Action{Action: act(id, params...)}}
}

func memberRef(id uint32) *p4v1.TableAction {
	return &p4v1.TableAction{Type: &p4v1.TableAction_ActionProfileMemberId{ActionProfileMemberId: id}}
}

func groupRef(id uint32) *p4v1.TableAction {
	return &p4v1.TableAction{Type: &p4v1.TableAction_ActionProfileGroupId{ActionProfileGroupId: id}}
}

func exact(id uint32, v string) *p4v1.FieldMatch {
	return &p4v1.FieldMatch{FieldId: id, FieldMatchType: &p4v1.FieldMatch_Exact_{Exact: &p4v1.FieldMatch_Exact{Value: []byte(v)}}}
}

func ternary(id uint32, v, mask string) *p4v1.FieldMatch {
	return &p4v1.FieldMatch{FieldId: id, FieldMatchType: &p4v1.FieldMatch_Ternary_{Ternary: &p4v1.FieldMatch_Ternary{Value: []byte(v), Mask: []byte(mask)}}}
}

func lpm(id uint32, v string, n int32) *p4v1.FieldMatch {
	return &p4v1.FieldMatch{FieldId: id, FieldMatchType: &p4v1.FieldMatch_Lpm{Lpm: &p4v1.FieldMatch_LPM{Value: []byte(v), PrefixLen: n}}}
}

func ranged(id uint32, low, high string) *p4v1.FieldMatch {
	return &p4v1.FieldMatch{FieldId: id, FieldMatchType: &p4v1.FieldMatch_Range_{Range: &p4v1.FieldMatch_Range{Low: []byte(low), High: []byte(high)}}}
}

func optional(id uint32, v string) *p4v1.FieldMatch {
	return &p4v1.FieldMatch{FieldId: id, FieldMatchType: &p4v1.FieldMatch_Optional_{Optional: &p4v1.FieldMatch_Optional{Value: []byte(v)}}}
}

func match(m ...*p4v1.FieldMatch) []*p4v1.FieldMatch { return m }

func mac(dst string, a *p4v1.TableAction) *p4v1.TableEntry {
	return &p4v1.TableEntry{TableId: tMac, Match: match(exact(1, dst)), Action: a}
}

// with changes a copy of a message.
func with[M proto.Message](m M, f func(M)) M {
	m = proto.CloneOf(m)
	f(m)
	return m
}

func TestTableEntriesReadAsWritten(t *testing.T) {
	l := newLab(t)
	l.primary()
	e1 := &p4v1.TableEntry{TableId: tMac, Match: match(exact(1, "\x02\x00\x00\x00\x00\x01")), Action: tact(aFwd, "\x01"),
		ControllerMetadata: 11, Metadata: []byte("cookie"), IdleTimeoutNs: 5}
	e2 := mac("\x01", tact(aFlood, "\x12\x34"))
	l.write(insert(e1), insert(e2))
	l.reads(&p4v1.TableEntry{TableId: tMac}, e1, e2)
	// Leading zeros are dropped: what is read is canonical.
	l.write(insert(mac("\x00\x00\x02", tact(aFwd, "\x00\x03"))))
	l.reads(mac("\x02", nil), mac("\x02", tact(aFwd, "\x03")))

	// Filters.
	l.reads(&p4v1.TableEntry{TableId: tMac, ControllerMetadata: 11}, e1)
	l.reads(&p4v1.TableEntry{TableId: tMac, Metadata: []byte("cookie")}, e1)
	l.reads(&p4v1.TableEntry{TableId: tMac, Metadata: []byte("other")})
	l.reads(&p4v1.TableEntry{TableId: tMac, Action: tact(aFlood)}, e2)
	l.reads(mac("\x07", nil))
	l.readFails(codes.InvalidArgument, &p4v1.TableEntry{TableId: tMac, Action: tact(aMark)})
	l.readFails(codes.InvalidArgument, &p4v1.TableEntry{TableId: 0x02ffffff})

	// Modify replaces the rest of the entry; without an action the action stays.
	e1 = with(e1, func(e *p4v1.TableEntry) { e.Action, e.Metadata, e.IdleTimeoutNs = tact(aDrop), []byte("new"), 0 })
	l.write(modify(e1))
	l.reads(mac("\x02\x00\x00\x00\x00\x01", nil), e1)
	l.write(modify(with(e1, func(e *p4v1.TableEntry) { e.Action = nil; e.ControllerMetadata = 0 })))
	l.reads(mac("\x02\x00\x00\x00\x00\x01", nil), with(e1, func(e *p4v1.TableEntry) { e.ControllerMetadata = 0 }))

	// Only the key counts in a delete.
	l.write(remove(with(e2, func(e *p4v1.TableEntry) { e.Action = tact(0xbad, "nonsense"); e.IdleTimeoutNs = -1 })))
	l.reads(mac("\x01", nil))
	l.fails(codes.NotFound, remove(e2))
	l.fails(codes.NotFound, modify(e2))
	l.fails(codes.AlreadyExists, insert(e1))
}

func TestMatchKindsPrioritiesAndDefaults(t *testing.T) {
	l := newLab(t)
	l.primary()
	acl := func(prio int32, m ...*p4v1.FieldMatch) *p4v1.TableEntry {
		return &p4v1.TableEntry{TableId: tACL, Match: m, Priority: prio, Action: tact(aDrop)}
	}
	e1 := acl(10, ternary(1, "\xaa\x00", "\xff\x00"), optional(2, "\x08\x00"), ranged(3, "\x01", "\x01\xfe"))
	e2 := acl(20, ternary(1, "\xaa\x00", "\xff\x00"), optional(2, "\x08\x00"), ranged(3, "\x01", "\x01\xfe")) // another priority: another entry
	e3 := acl(5)                                                                                              // don't care everywhere
	l.write(insert(e1), insert(e2), insert(e3))
	l.reads(&p4v1.TableEntry{TableId: tACL}, e1, e2, e3)
	l.reads(&p4v1.TableEntry{TableId: tACL, Priority: 20}, e2)
	l.reads(&p4v1.TableEntry{TableId: tACL, Match: e1.Match}, e1, e2)
	l.reads(&p4v1.TableEntry{TableId: tACL, Match: e1.Match, Priority: 10}, e1)
	// Fields come back in the order of P4Info.
	l.write(insert(acl(7, ranged(3, "\x02", "\x02"), ternary(1, "\x01", "\x01"))))
	l.reads(&p4v1.TableEntry{TableId: tACL, Priority: 7}, acl(7, ternary(1, "\x01", "\x01"), ranged(3, "\x02", "\x02")))

	// Const entries: priorities from the number of entries down.
	c1 := &p4v1.TableEntry{TableId: tFixed, Match: match(ternary(1, "\x08\x00", "\xff\xff")), Priority: 2, Action: tact(aMark, "\x04"), IsConst: true}
	c2 := &p4v1.TableEntry{TableId: tFixed, Priority: 1, Action: tact(aMark, "\xff"), IsConst: true}
	l.reads(&p4v1.TableEntry{TableId: tFixed}, c1, c2)
	plain := with(c1, func(e *p4v1.TableEntry) { e.IsConst = false })
	l.fails(codes.InvalidArgument, modify(c1))
	l.fails(codes.PermissionDenied, modify(plain))
	l.fails(codes.PermissionDenied, remove(plain))
	l.fails(codes.PermissionDenied, insert(with(plain, func(e *p4v1.TableEntry) { e.Priority = 9 })))

	// Default entries.
	def := func(table uint32, a *p4v1.TableAction) *p4v1.TableEntry {
		return &p4v1.TableEntry{TableId: table, IsDefaultAction: true, Action: a}
	}
	l.reads(def(tMac, nil), def(tMac, tact(aNone)))
	l.reads(def(tACL, nil), with(def(tACL, tact(aNone)), func(e *p4v1.TableEntry) { e.IsConst = true }))
	d := with(def(tMac, tact(aFlood, "\x05")), func(e *p4v1.TableEntry) { e.Metadata, e.ControllerMetadata = []byte("d"), 3 })
	l.write(modify(d))
	l.reads(def(tMac, nil), d)
	l.write(modify(def(tMac, nil))) // back to the program's own
	l.reads(def(tMac, nil), def(tMac, tact(aNone)))
	l.fails(codes.InvalidArgument, insert(d))
	l.fails(codes.InvalidArgument, remove(d))
	l.fails(codes.PermissionDenied, modify(def(tACL, tact(aDrop))))
	l.fails(codes.PermissionDenied, modify(def(tMac, tact(aDrop)))) // @tableonly
	l.fails(codes.PermissionDenied, insert(mac("\x05", tact(aLearn))))
	l.fails(codes.InvalidArgument, modify(with(d, func(e *p4v1.TableEntry) { e.Match = match(exact(1, "\x01")) })))
	l.fails(codes.InvalidArgument, modify(with(d, func(e *p4v1.TableEntry) { e.Priority = 1 })))
	l.fails(codes.InvalidArgument, modify(with(d, func(e *p4v1.TableEntry) { e.IdleTimeoutNs = 1 })))

	// All entries of all tables.
	got, err := l.tryRead(&p4v1.TableEntry{})
	if err != nil || len(got) != 6 {
		t.Fatalf("%d entries, error %v; want the 4 of acl and the 2 of fixed", len(got), err)
	}
}

func TestBadTableEntries(t *testing.T) {
	l := newLab(t)
	l.primary()
	ok := mac("\x01", tact(aFwd, "\x01"))
	acl := &p4v1.TableEntry{TableId: tACL, Priority: 1, Action: tact(aDrop)}
	route := &p4v1.TableEntry{TableId: tRoute, Action: memberRef(1)}
	for _, c := range []struct {
		name string
		code codes.Code
		e    *p4v1.TableEntry
		want string // part of the message
	}{
		{"no table id", codes.InvalidArgument, &p4v1.TableEntry{}, "ing.mac (0x2000001)"},
		{"unknown table", codes.InvalidArgument, &p4v1.TableEntry{TableId: 5}, "there is no table with id 0x5; this pipeline has: ing.acl"},
		{"is_const", codes.InvalidArgument, with(ok, func(e *p4v1.TableEntry) { e.IsConst = true }), "is_const"},
		{"no match", codes.InvalidArgument, with(ok, func(e *p4v1.TableEntry) { e.Match = nil }), "eth.dst (1, exact bit<48>)"},
		{"unknown field", codes.InvalidArgument, with(ok, func(e *p4v1.TableEntry) { e.Match = match(exact(9, "\x01")) }), "no match field with id 9; the key has: eth.dst"},
		{"field twice", codes.InvalidArgument, with(ok, func(e *p4v1.TableEntry) { e.Match = append(e.Match, e.Match[0]) }), "given twice"},
		{"wrong kind", codes.InvalidArgument, with(ok, func(e *p4v1.TableEntry) { e.Match = match(lpm(1, "\x01", 48)) }), "matched exact, the entry says lpm"},
		{"no kind", codes.InvalidArgument, with(ok, func(e *p4v1.TableEntry) { e.Match = match(&p4v1.FieldMatch{FieldId: 1}) }), "no exact value"},
		{"too wide", codes.OutOfRange, with(ok, func(e *p4v1.TableEntry) { e.Match = match(exact(1, "\x01\x00\x00\x00\x00\x00\x00")) }), "needs 49 bits"},
		{"empty value", codes.OutOfRange, with(ok, func(e *p4v1.TableEntry) { e.Match = match(exact(1, "")) }), "empty bytestring"},
		{"priority without need", codes.InvalidArgument, with(ok, func(e *p4v1.TableEntry) { e.Priority = 1 }), "must be zero"},
		{"no action", codes.InvalidArgument, with(ok, func(e *p4v1.TableEntry) { e.Action = nil }), "action is missing"},
		{"foreign action", codes.InvalidArgument, with(ok, func(e *p4v1.TableEntry) { e.Action = tact(aMark, "\x01") }), "ing.fwd (0x1000001)"},
		{"member for a direct table", codes.InvalidArgument, with(ok, func(e *p4v1.TableEntry) { e.Action = memberRef(1) }), "no action profile"},
		{"missing parameter", codes.InvalidArgument, with(ok, func(e *p4v1.TableEntry) { e.Action = tact(aFwd) }), "port (1, bit<9>)"},
		{"extra parameter", codes.InvalidArgument, with(ok, func(e *p4v1.TableEntry) { e.Action = tact(aFwd, "\x01", "\x02") }), "no parameter with id 2"},
		{"parameter too wide", codes.InvalidArgument, with(ok, func(e *p4v1.TableEntry) { e.Action = tact(aFwd, "\x02\x00") }), "needs 10 bits; the type is bit<9>"},
		{"empty parameter", codes.InvalidArgument, with(ok, func(e *p4v1.TableEntry) { e.Action = tact(aFwd, "") }), "empty bytestring"},
		{"time since last hit", codes.InvalidArgument, with(ok, func(e *p4v1.TableEntry) { e.TimeSinceLastHit = &p4v1.TableEntry_IdleTimeout{} }), "time_since_last_hit"},
		{"negative timeout", codes.InvalidArgument, with(ok, func(e *p4v1.TableEntry) { e.IdleTimeoutNs = -1 }), "must not be negative"},
		{"meter without meter", codes.InvalidArgument, with(ok, func(e *p4v1.TableEntry) { e.MeterConfig = &p4v1.MeterConfig{} }), "no direct meter"},
		{"negative counter", codes.InvalidArgument, with(ok, func(e *p4v1.TableEntry) { e.CounterData = &p4v1.CounterData{PacketCount: -1} }), "must not be negative"},
		{"meter counters", codes.Unimplemented, with(ok, func(e *p4v1.TableEntry) { e.MeterCounterData = &p4v1.MeterCounterData{} }), "colour"},
		{"no priority", codes.InvalidArgument, with(acl, func(e *p4v1.TableEntry) { e.Priority = 0 }), "above zero"},
		{"counter without counter", codes.InvalidArgument, with(acl, func(e *p4v1.TableEntry) { e.CounterData = &p4v1.CounterData{} }), "no direct counter"},
		{"timeout not supported", codes.InvalidArgument, with(acl, func(e *p4v1.TableEntry) { e.IdleTimeoutNs = 1 }), "support_timeout"},
		{"zero mask", codes.InvalidArgument, with(acl, func(e *p4v1.TableEntry) { e.Match = match(ternary(1, "\x00", "\x00")) }), "don't care"},
		{"value beyond mask", codes.InvalidArgument, with(acl, func(e *p4v1.TableEntry) { e.Match = match(ternary(1, "\x03", "\x02")) }), "mask 0x02"},
		{"ternary without mask", codes.OutOfRange, with(acl, func(e *p4v1.TableEntry) { e.Match = match(ternary(1, "\x03", "")) }), "mask"},
		{"range upside down", codes.InvalidArgument, with(acl, func(e *p4v1.TableEntry) { e.Match = match(ranged(3, "\x02", "\x01")) }), "above the high bound"},
		{"full range", codes.InvalidArgument, with(acl, func(e *p4v1.TableEntry) { e.Match = match(ranged(3, "\x00", "\x01\xff")) }), "don't care"},
		{"lpm length 0", codes.InvalidArgument, with(route, func(e *p4v1.TableEntry) { e.Match = match(lpm(1, "\x00", 0)) }), "1 to 48"},
		{"lpm too long", codes.InvalidArgument, with(route, func(e *p4v1.TableEntry) { e.Match = match(lpm(1, "\x00", 49)) }), "1 to 48"},
		{"lpm bits beyond", codes.InvalidArgument, with(route, func(e *p4v1.TableEntry) { e.Match = match(lpm(1, "\x01", 40)) }), "beyond its prefix"},
		{"no such member", codes.NotFound, route, "no member 1"},
		{"action for an indirect table", codes.InvalidArgument, with(route, func(e *p4v1.TableEntry) { e.Action = tact(aFwd, "\x01") }), "a member, a group or an action set"},
		{"default of an indirect table", codes.PermissionDenied, with(route, func(e *p4v1.TableEntry) { e.IsDefaultAction = true }), "constant"},
	} {
		typ := p4v1.Update_INSERT
		if c.e.IsDefaultAction {
			typ = p4v1.Update_MODIFY
		}
		if msg := l.fails(c.code, update(typ, c.e)); !strings.Contains(msg, c.want) {
			t.Errorf("%s: message %q does not contain %q", c.name, msg, c.want)
		}
	}
	for _, u := range []*p4v1.Update{update(0, ok), insert(nil), {Type: p4v1.Update_INSERT}} {
		l.fails(codes.InvalidArgument, u)
	}
	l.fails(codes.Unimplemented, insert(&p4v1.ExternEntry{ExternTypeId: 0x81}))
	l.readFails(codes.InvalidArgument, nil)
	l.reads(&p4v1.TableEntry{TableId: tMac}) // nothing was written

	// The table holds 8 entries.
	for i := range 8 {
		l.write(insert(mac(string(rune('a'+i)), tact(aDrop))))
	}
	l.fails(codes.ResourceExhausted, insert(mac("z", tact(aDrop))))
}

func member(id uint32, a *p4v1.Action) *p4v1.ActionProfileMember {
	return &p4v1.ActionProfileMember{ActionProfileId: pSel, MemberId: id, Action: a}
}

// group has members in pairs of id and weight.
func group(id uint32, members ...uint32) *p4v1.ActionProfileGroup {
	g := &p4v1.ActionProfileGroup{ActionProfileId: pSel, GroupId: id, MaxSize: 4}
	for i := 0; i < len(members); i += 2 {
		g.Members = append(g.Members, &p4v1.ActionProfileGroup_Member{MemberId: members[i], Weight: int32(members[i+1])})
	}
	return g
}

func TestActionProfile(t *testing.T) {
	l := newLab(t)
	l.primary()
	m1, m2 := member(10, act(aFwd, "\x01")), member(20, act(aFwd, "\x02"))
	l.write(insert(m1), insert(m2))
	l.reads(&p4v1.ActionProfileMember{}, m1, m2)
	l.reads(member(20, nil), m2)
	m2 = member(20, act(aDrop))
	l.write(modify(m2))
	l.reads(&p4v1.ActionProfileMember{ActionProfileId: pSel, MemberId: 20}, m2)

	g := group(10, 10, 1, 20, 2) // the scopes of members and groups are apart
	g.Members[0].WatchKind = &p4v1.ActionProfileGroup_Member_WatchPort{WatchPort: []byte("\x01")}
	l.write(insert(g))
	l.reads(&p4v1.ActionProfileGroup{}, g)
	route := func(a *p4v1.TableAction, dst string, n int32) *p4v1.TableEntry {
		return &p4v1.TableEntry{TableId: tRoute, Match: match(lpm(1, dst, n)), Action: a}
	}
	r1, r2 := route(groupRef(10), "\x02\x00\x00\x00\x00\x00", 40), route(memberRef(20), "\x02\x00\x00\x00\x01\x00", 40)
	l.write(insert(r1), insert(r2))
	l.reads(&p4v1.TableEntry{TableId: tRoute}, r1, r2)
	l.reads(&p4v1.TableEntry{TableId: tRoute, IsDefaultAction: true}, &p4v1.TableEntry{TableId: tRoute, IsDefaultAction: true})

	l.fails(codes.AlreadyExists, insert(m1))
	l.fails(codes.AlreadyExists, insert(g))
	l.fails(codes.FailedPrecondition, remove(m1))        // in a group
	l.fails(codes.FailedPrecondition, remove(group(10))) // in an entry
	l.fails(codes.NotFound, modify(member(99, act(aDrop))))
	l.fails(codes.NotFound, remove(member(99, nil)))
	l.fails(codes.NotFound, insert(group(11, 99, 1))) // no such member
	l.fails(codes.NotFound, insert(route(groupRef(11), "\x80\x00\x00\x00\x00\x00", 1)))
	l.fails(codes.InvalidArgument, insert(member(0, act(aDrop))))
	l.fails(codes.InvalidArgument, insert(member(30, nil)))
	l.fails(codes.PermissionDenied, insert(member(30, act(aNone)))) // @defaultonly
	l.fails(codes.InvalidArgument, insert(member(30, act(aMark, "\x01"))))
	l.fails(codes.InvalidArgument, insert(group(0, 10, 1)))
	l.fails(codes.InvalidArgument, insert(group(11, 10, 0)))        // weight 0
	l.fails(codes.InvalidArgument, insert(group(11, 10, 1, 10, 1))) // twice
	l.fails(codes.ResourceExhausted, insert(group(11, 10, 5)))      // above max_size
	l.fails(codes.InvalidArgument, insert(with(group(11, 10, 1), func(g *p4v1.ActionProfileGroup) { g.MaxSize = 5 })))
	l.fails(codes.InvalidArgument, insert(with(group(11, 10, 1), func(g *p4v1.ActionProfileGroup) { g.MaxSize = 0 })))
	l.fails(codes.InvalidArgument, modify(with(group(10, 10, 1), func(g *p4v1.ActionProfileGroup) { g.MaxSize = 3 })))
	l.fails(codes.InvalidArgument, insert(with(group(11, 10, 1), func(g *p4v1.ActionProfileGroup) {
		g.Members[0].WatchKind = &p4v1.ActionProfileGroup_Member_WatchPort{WatchPort: []byte("\x44")}
	})))
	set := &p4v1.TableAction{Type: &p4v1.TableAction_ActionProfileActionSet{ActionProfileActionSet: &p4v1.ActionProfileActionSet{}}}
	l.fails(codes.InvalidArgument, insert(route(set, "\x80\x00\x00\x00\x00\x00", 1))) // mixed styles

	l.write(modify(group(10, 20, 1)), remove(m1), remove(r1))
	l.write(remove(group(10)), remove(r2))
	l.write(remove(m2))
	l.reads(&p4v1.ActionProfileMember{})
	l.reads(&p4v1.ActionProfileGroup{})
}

func oneShotOf(weights ...int32) *p4v1.TableAction {
	s := &p4v1.ActionProfileActionSet{}
	for i, w := range weights {
		s.ActionProfileActions = append(s.ActionProfileActions, &p4v1.ActionProfileAction{Action: act(aFwd, string(rune(i+1))), Weight: w,
			WatchKind: &p4v1.ActionProfileAction_WatchPort{WatchPort: []byte{byte(i + 1)}}})
	}
	return &p4v1.TableAction{Type: &p4v1.TableAction_ActionProfileActionSet{ActionProfileActionSet: s}}
}

func TestOneShotActionSets(t *testing.T) {
	l := newLab(t)
	l.primary()
	e := &p4v1.TableEntry{TableId: tRoute, Match: match(lpm(1, "\x80\x00\x00\x00\x00\x00", 1)), Action: oneShotOf(1, 2)}
	l.write(insert(e))
	l.reads(&p4v1.TableEntry{TableId: tRoute}, e)
	l.reads(&p4v1.ActionProfileMember{}) // not desugared
	l.reads(&p4v1.ActionProfileGroup{})
	l.fails(codes.InvalidArgument, insert(member(1, act(aDrop)))) // mixed styles
	l.fails(codes.InvalidArgument, insert(group(1)))
	bad := func(f func(*p4v1.ActionProfileActionSet)) *p4v1.TableEntry {
		return with(e, func(e *p4v1.TableEntry) {
			e.Match = match(lpm(1, "\x40\x00\x00\x00\x00\x00", 2))
			f(e.Action.GetActionProfileActionSet())
		})
	}
	l.fails(codes.InvalidArgument, insert(bad(func(s *p4v1.ActionProfileActionSet) { s.ActionProfileActions[0].Weight = 3 }))) // 5 > max_group_size
	l.fails(codes.InvalidArgument, insert(bad(func(s *p4v1.ActionProfileActionSet) { s.ActionProfileActions[0].Weight = 0 })))
	l.fails(codes.InvalidArgument, insert(bad(func(s *p4v1.ActionProfileActionSet) { s.ActionProfileActions[0].Action = act(aMark, "\x01") })))
	l.fails(codes.Unimplemented, insert(bad(func(s *p4v1.ActionProfileActionSet) { s.ActionSelectionMode = p4v1.ActionProfileActionSet_RANDOM })))
	l.fails(codes.Unimplemented, insert(bad(func(s *p4v1.ActionProfileActionSet) { s.SizeSemantics = p4v1.ActionProfileActionSet_SUM_OF_MEMBERS })))
	// The members of replaced and deleted sets are gone: the profile of 8 never fills up.
	for i := range 20 {
		e.Action = oneShotOf(1, 1, int32(i%2+1))
		l.write(modify(e))
		l.reads(&p4v1.TableEntry{TableId: tRoute}, e)
	}
	l.write(remove(e))
	l.write(insert(member(1, act(aDrop))))
	l.write(insert(&p4v1.TableEntry{TableId: tRoute, Match: e.Match, Action: memberRef(1)}))
}

func TestCountersMetersRegisters(t *testing.T) {
	l := newLab(t)
	l.primary()
	at := func(i int64) *p4v1.Index { return &p4v1.Index{Index: i} }
	cnt := func(i *p4v1.Index, bytes, packets int64) *p4v1.CounterEntry {
		return &p4v1.CounterEntry{CounterId: cCnt, Index: i, Data: &p4v1.CounterData{ByteCount: bytes, PacketCount: packets}}
	}
	l.write(modify(cnt(at(2), 100, 3)))
	all := []proto.Message{cnt(at(0), 0, 0), cnt(at(1), 0, 0), cnt(at(2), 100, 3), cnt(at(3), 0, 0)}
	l.reads(&p4v1.CounterEntry{}, all...)
	l.reads(&p4v1.CounterEntry{CounterId: cCnt}, all...)
	l.reads(&p4v1.CounterEntry{CounterId: cCnt, Index: at(2)}, cnt(at(2), 100, 3))
	l.write(modify(&p4v1.CounterEntry{CounterId: cCnt, Index: at(2)})) // no data: no change
	l.write(modify(cnt(nil, 5, 6)))                                    // all cells
	l.reads(&p4v1.CounterEntry{CounterId: cCnt, Index: at(3)}, cnt(at(3), 5, 6))
	l.fails(codes.InvalidArgument, insert(cnt(at(0), 1, 1)))
	l.fails(codes.InvalidArgument, remove(cnt(at(0), 1, 1)))
	l.fails(codes.InvalidArgument, modify(cnt(at(-1), 1, 1)))
	l.fails(codes.OutOfRange, modify(cnt(at(4), 1, 1)))
	l.fails(codes.InvalidArgument, modify(cnt(at(0), -1, 1)))
	l.fails(codes.InvalidArgument, modify(&p4v1.CounterEntry{CounterId: 1}))
	l.readFails(codes.OutOfRange, &p4v1.CounterEntry{CounterId: cCnt, Index: at(4)})

	mtr := func(i *p4v1.Index, c *p4v1.MeterConfig) *p4v1.MeterEntry {
		return &p4v1.MeterEntry{MeterId: mMtr, Index: i, Config: c}
	}
	cfg := &p4v1.MeterConfig{Cir: 1000, Cburst: 100, Pir: 2000, Pburst: 200}
	l.write(modify(mtr(at(1), cfg)))
	l.reads(&p4v1.MeterEntry{MeterId: mMtr}, mtr(at(0), nil), mtr(at(1), cfg), mtr(at(2), nil), mtr(at(3), nil))
	l.write(modify(mtr(at(1), nil))) // back to green for all
	l.reads(mtr(at(1), nil), mtr(at(1), nil))
	l.fails(codes.InvalidArgument, insert(mtr(at(0), cfg)))
	l.fails(codes.OutOfRange, modify(mtr(at(9), cfg)))
	l.fails(codes.InvalidArgument, modify(mtr(at(0), &p4v1.MeterConfig{Cir: -1})))
	l.fails(codes.InvalidArgument, modify(mtr(at(0), &p4v1.MeterConfig{Eburst: 1})))
	l.fails(codes.Unimplemented, modify(with(mtr(at(0), cfg), func(m *p4v1.MeterEntry) { m.CounterData = &p4v1.MeterCounterData{} })))

	reg := func(i *p4v1.Index, v string) *p4v1.RegisterEntry {
		return &p4v1.RegisterEntry{RegisterId: rReg, Index: i, Data: &p4v1.P4Data{Data: &p4v1.P4Data_Bitstring{Bitstring: []byte(v)}}}
	}
	l.write(modify(reg(nil, "\x01")), modify(reg(at(4), "\x0f\xff")))
	l.reads(&p4v1.RegisterEntry{RegisterId: rReg, Index: at(4)}, reg(at(4), "\x0f\xff"))
	l.reads(&p4v1.RegisterEntry{}, reg(at(0), "\x01"), reg(at(1), "\x01"), reg(at(2), "\x01"), reg(at(3), "\x01"), reg(at(4), "\x0f\xff"), reg(at(5), "\x01"))
	l.fails(codes.OutOfRange, modify(reg(at(0), "\x10\x00")))
	l.fails(codes.OutOfRange, modify(reg(at(6), "\x01")))
	l.fails(codes.InvalidArgument, modify(reg(at(-1), "\x01")))
	l.fails(codes.InvalidArgument, insert(reg(at(0), "\x01")))
	l.fails(codes.InvalidArgument, modify(&p4v1.RegisterEntry{RegisterId: rReg, Index: at(0)}))
	l.fails(codes.InvalidArgument, modify(&p4v1.RegisterEntry{RegisterId: rReg, Index: at(0), Data: &p4v1.P4Data{Data: &p4v1.P4Data_Bool{Bool: true}}}))
}

func TestDirectResources(t *testing.T) {
	l := newLab(t)
	l.primary()
	one := &p4v1.CounterData{ByteCount: 10, PacketCount: 1}
	e := mac("\x01", tact(aDrop))
	l.write(insert(with(e, func(e *p4v1.TableEntry) { e.CounterData = one })), insert(mac("\x02", tact(aDrop))))
	ask := &p4v1.CounterData{}
	l.reads(mac("\x01", nil), e) // not asked for, not shown
	l.reads(with(mac("\x01", nil), func(e *p4v1.TableEntry) { e.CounterData = ask }), with(e, func(e *p4v1.TableEntry) { e.CounterData = one }))
	key := func(dst string) *p4v1.TableEntry { return mac(dst, nil) }
	dc := func(dst string, d *p4v1.CounterData) *p4v1.DirectCounterEntry {
		return &p4v1.DirectCounterEntry{TableEntry: key(dst), Data: d}
	}
	l.reads(dc("\x01", nil), dc("\x01", one))
	l.write(modify(e)) // counter unset: unchanged
	l.reads(dc("\x01", nil), dc("\x01", one))
	two := &p4v1.CounterData{ByteCount: 20, PacketCount: 2}
	l.write(modify(dc("\x02", two)))
	for _, all := range []*p4v1.DirectCounterEntry{{}, {TableEntry: &p4v1.TableEntry{}}, {TableEntry: &p4v1.TableEntry{TableId: tMac}}} {
		l.reads(all, dc("\x01", one), dc("\x02", two))
	}
	l.fails(codes.InvalidArgument, insert(dc("\x02", two)))
	l.fails(codes.NotFound, modify(dc("\x03", two)))
	l.fails(codes.InvalidArgument, modify(&p4v1.DirectCounterEntry{Data: two}))
	l.readFails(codes.NotFound, dc("\x03", nil))
	l.readFails(codes.InvalidArgument, &p4v1.DirectCounterEntry{TableEntry: &p4v1.TableEntry{TableId: tACL}})

	acl := &p4v1.TableEntry{TableId: tACL, Priority: 1, Match: match(optional(2, "\x01")), Action: tact(aDrop)}
	cfg := &p4v1.MeterConfig{Cir: 1, Cburst: 2, Pir: 3, Pburst: 4}
	l.write(insert(with(acl, func(e *p4v1.TableEntry) { e.MeterConfig = cfg })))
	dm := &p4v1.DirectMeterEntry{TableEntry: &p4v1.TableEntry{TableId: tACL, Priority: 1, Match: acl.Match}, Config: cfg}
	l.reads(&p4v1.DirectMeterEntry{TableEntry: dm.TableEntry}, dm)
	l.reads(&p4v1.DirectMeterEntry{}, dm)
	l.reads(&p4v1.TableEntry{TableId: tACL, MeterConfig: &p4v1.MeterConfig{}}, with(acl, func(e *p4v1.TableEntry) { e.MeterConfig = cfg }))
	l.write(modify(acl)) // meter unset: reset
	l.reads(&p4v1.TableEntry{TableId: tACL, MeterConfig: &p4v1.MeterConfig{}}, acl)
	l.write(modify(dm))
	l.reads(&p4v1.DirectMeterEntry{}, dm)
	l.fails(codes.InvalidArgument, remove(dm))
	l.fails(codes.InvalidArgument, modify(with(dm, func(m *p4v1.DirectMeterEntry) { m.Config.Eburst = 1 })))
	l.write(remove(acl))
	l.fails(codes.NotFound, modify(dm))
}

func replicas(pairs ...uint32) (out []*p4v1.Replica) {
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, &p4v1.Replica{PortKind: &p4v1.Replica_Port{Port: encodeUint(uint64(pairs[i]))}, Instance: pairs[i+1]})
	}
	return out
}

func TestPacketReplicationEngine(t *testing.T) {
	l := newLab(t)
	l.primary()
	g1 := &p4v1.MulticastGroupEntry{MulticastGroupId: 5, Replicas: replicas(1, 1, 2, 0, 1, 2), Metadata: []byte("m")}
	g2 := &p4v1.MulticastGroupEntry{MulticastGroupId: 3}
	l.write(insert(g1), insert(g2))
	l.reads(&p4v1.MulticastGroupEntry{}, g2, g1)
	g1 = &p4v1.MulticastGroupEntry{MulticastGroupId: 5, Replicas: replicas(3, 0)}
	l.write(modify(g1), remove(&p4v1.MulticastGroupEntry{MulticastGroupId: 3}))
	l.reads(&p4v1.MulticastGroupEntry{MulticastGroupId: 5, Metadata: []byte("ignored")}, g1)
	l.reads(&p4v1.MulticastGroupEntry{MulticastGroupId: 3})
	l.fails(codes.AlreadyExists, insert(g1))
	l.fails(codes.NotFound, modify(g2))
	l.fails(codes.NotFound, remove(g2))
	for _, bad := range []*p4v1.MulticastGroupEntry{
		{},
		{MulticastGroupId: 1 << 16},
		{MulticastGroupId: 1, Replicas: replicas(1, 1, 1, 1)},
		{MulticastGroupId: 1, Replicas: replicas(1, 1<<16)},
		{MulticastGroupId: 1, Replicas: replicas(512, 0)},
		{MulticastGroupId: 1, Replicas: []*p4v1.Replica{{}}},
	} {
		l.fails(codes.InvalidArgument, insert(bad))
	}
	l.fails(codes.Unimplemented, insert(&p4v1.MulticastGroupEntry{MulticastGroupId: 1, Replicas: []*p4v1.Replica{
		{PortKind: &p4v1.Replica_Port{Port: []byte{1}}, BackupReplicas: []*p4v1.BackupReplica{{Port: []byte{2}}}}}}))

	c1 := &p4v1.CloneSessionEntry{SessionId: 100, Replicas: replicas(0xfffffffd, 1), ClassOfService: 1, PacketLengthBytes: 64} // to the CPU
	l.write(insert(c1))
	l.reads(&p4v1.CloneSessionEntry{}, c1)
	c1 = &p4v1.CloneSessionEntry{SessionId: 100, Replicas: replicas(2, 0, 3, 0)}
	l.write(modify(c1))
	l.reads(&p4v1.CloneSessionEntry{SessionId: 100}, c1)
	l.fails(codes.AlreadyExists, insert(c1))
	l.fails(codes.InvalidArgument, insert(&p4v1.CloneSessionEntry{}))
	l.fails(codes.InvalidArgument, insert(&p4v1.CloneSessionEntry{SessionId: 1 << 15}))
	l.fails(codes.InvalidArgument, insert(&p4v1.CloneSessionEntry{SessionId: 1, ClassOfService: 2}))
	l.fails(codes.InvalidArgument, insert(&p4v1.CloneSessionEntry{SessionId: 1, PacketLengthBytes: -1}))
	l.write(remove(c1))
	l.fails(codes.NotFound, remove(c1))
	l.reads(&p4v1.CloneSessionEntry{})
}

func TestValueSets(t *testing.T) {
	l := newLab(t)
	l.primary()
	set := func(values ...string) *p4v1.ValueSetEntry {
		e := &p4v1.ValueSetEntry{ValueSetId: vTypes}
		for _, v := range values {
			e.Members = append(e.Members, &p4v1.ValueSetMember{Match: match(exact(1, v))})
		}
		return e
	}
	l.reads(&p4v1.ValueSetEntry{}, set())
	l.write(modify(set("\x22\xf3", "\x01")))
	l.reads(&p4v1.ValueSetEntry{}, set("\x22\xf3", "\x01"))
	l.reads(&p4v1.ValueSetEntry{ValueSetId: vTypes}, set("\x22\xf3", "\x01"))
	l.fails(codes.InvalidArgument, insert(set("\x02")))
	l.fails(codes.InvalidArgument, remove(set()))
	l.fails(codes.ResourceExhausted, modify(set("\x01", "\x02", "\x03")))
	l.fails(codes.AlreadyExists, modify(set("\x01", "\x00\x01")))
	l.fails(codes.OutOfRange, modify(set("\x01\x00\x00")))
	l.fails(codes.InvalidArgument, modify(&p4v1.ValueSetEntry{ValueSetId: 1}))
	l.readFails(codes.InvalidArgument, set("\x01"))
	l.reads(&p4v1.ValueSetEntry{}, set("\x22\xf3", "\x01"))
	l.write(modify(set()))
	l.reads(&p4v1.ValueSetEntry{}, set())
}

func TestDigestConfig(t *testing.T) {
	l := newLab(t)
	l.primary()
	d := &p4v1.DigestEntry{DigestId: dLearn, Config: &p4v1.DigestEntry_Config{MaxTimeoutNs: 1, MaxListSize: 2, AckTimeoutNs: 3}}
	l.reads(&p4v1.DigestEntry{})
	l.fails(codes.NotFound, modify(d))
	l.fails(codes.NotFound, remove(d))
	l.write(insert(d))
	l.reads(&p4v1.DigestEntry{}, d)
	l.fails(codes.AlreadyExists, insert(d))
	d.Config.MaxListSize = 9
	l.write(modify(d))
	l.reads(&p4v1.DigestEntry{DigestId: dLearn}, d)
	l.fails(codes.InvalidArgument, modify(with(d, func(d *p4v1.DigestEntry) { d.Config.MaxListSize = -1 })))
	l.fails(codes.InvalidArgument, insert(&p4v1.DigestEntry{DigestId: 1}))
	l.write(remove(d))
	l.reads(&p4v1.DigestEntry{})
}
