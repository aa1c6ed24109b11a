package p4rt

import (
	configv1 "github.com/p4lang/p4runtime/go/p4/config/v1"
	p4v1 "github.com/p4lang/p4runtime/go/p4/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"khop/bmv2/pipeline"
)

// profileState is an action profile and what clients put into it. A profile is programmed either with members and groups or
// with one-shot action sets, not both (specification, section "One Shot Action Selector Programming").
type profileState struct {
	info    *profileInfo
	members map[uint32]*memberState
	groups  map[uint32]*groupState
	shots   int // table entries with a one-shot action set
}

type memberState struct {
	handle pipeline.Handle
	action *p4v1.Action
}

type groupState struct {
	handle  pipeline.Handle
	members []pipeline.GroupMember
	msg     *p4v1.ActionProfileGroup
}

// oneShot is the group and the members behind the action set of one entry.
type oneShot struct {
	group   pipeline.Handle
	members []pipeline.Handle
}

func newProfileState(pi *profileInfo) *profileState {
	return &profileState{info: pi, members: map[uint32]*memberState{}, groups: map[uint32]*groupState{}}
}

func (st *state) profile(id uint32) (*profileState, error) {
	pi, err := lookup("action profile", id, st.info.profiles, func(p *profileInfo) string { return p.name })
	if err != nil {
		return nil, err
	}
	ps := st.profiles[pi.id]
	if ps == nil {
		return nil, errorf(codes.NotFound, "action profile %s is in P4Info, but not in the device config", pi.name)
	}
	return ps, nil
}

// decodeAction checks an action for a member: one of the actions of the tables that share the profile.
func (ps *profileState) decodeAction(m *p4v1.Action) (*actionRef, [][]byte, error) {
	if m == nil {
		return nil, nil, errorf(codes.InvalidArgument, "the action is missing")
	}
	for _, t := range ps.info.tables {
		if ref := t.actions[m.GetActionId()]; ref != nil {
			if ref.scope == configv1.ActionRef_DEFAULT_ONLY {
				return nil, nil, errorf(codes.PermissionDenied, "action %s is for the default entry only (@defaultonly)", ref.name)
			}
			args, err := ref.decode(m)
			return ref, args, err
		}
	}
	if len(ps.info.tables) == 0 {
		return nil, nil, errorf(codes.InvalidArgument, "no table uses the profile, so it has no actions")
	}
	_, err := ps.info.tables[0].action(m.GetActionId())
	return nil, nil, err
}

// decodeTarget checks the action of an entry and makes what it needs in the switch.
func (st *state) decodeTarget(x *txn, ts *tableState, m *p4v1.TableAction) (pipeline.Target, *p4v1.TableAction, *oneShot, error) {
	none := pipeline.Target{}
	pi := ts.info.profile
	if act, ok := m.GetType().(*p4v1.TableAction_Action); ok {
		if pi != nil {
			return none, nil, nil, errorf(codes.InvalidArgument, "the table is implemented by action profile %s; an entry takes a member%s, not an action", pi.name, selectorChoices(pi))
		}
		ref, args, err := ts.decodeAction(act.Action, configv1.ActionRef_DEFAULT_ONLY)
		if err != nil {
			return none, nil, nil, err
		}
		t := pipeline.Target{Kind: pipeline.TargetAction, Call: pipeline.ActionCall{Action: ref.name, Args: args}}
		return t, &p4v1.TableAction{Type: &p4v1.TableAction_Action{Action: ref.encode(args)}}, nil, nil
	}
	if pi == nil {
		return none, nil, nil, errorf(codes.InvalidArgument, "the table has no action profile; an entry takes an action")
	}
	ps := st.profiles[pi.id]
	if ps == nil {
		return none, nil, nil, errorf(codes.NotFound, "action profile %s is in P4Info, but not in the device config", pi.name)
	}
	switch t := m.GetType().(type) {
	case *p4v1.TableAction_ActionProfileMemberId:
		mem := ps.members[t.ActionProfileMemberId]
		if mem == nil {
			return none, nil, nil, errorf(codes.NotFound, "action profile %s has no member %d", pi.name, t.ActionProfileMemberId)
		}
		return pipeline.Target{Kind: pipeline.TargetMember, Member: mem.handle}, proto.CloneOf(m), nil, nil
	case *p4v1.TableAction_ActionProfileGroupId:
		if !pi.msg.GetWithSelector() {
			return none, nil, nil, errorf(codes.InvalidArgument, "action profile %s has no selector; an entry takes a member", pi.name)
		}
		g := ps.groups[t.ActionProfileGroupId]
		if g == nil {
			return none, nil, nil, errorf(codes.NotFound, "action profile %s has no group %d", pi.name, t.ActionProfileGroupId)
		}
		return pipeline.Target{Kind: pipeline.TargetGroup, Group: g.handle}, proto.CloneOf(m), nil, nil
	case *p4v1.TableAction_ActionProfileActionSet:
		if !pi.msg.GetWithSelector() {
			return none, nil, nil, errorf(codes.InvalidArgument, "action profile %s has no selector; an entry takes a member", pi.name)
		}
		if len(ps.members)+len(ps.groups) > 0 {
			return none, nil, nil, errorf(codes.InvalidArgument, "action profile %s is programmed with members and groups; it cannot take one-shot action sets as well", pi.name)
		}
		return st.makeShot(x, ps, t.ActionProfileActionSet)
	}
	return none, nil, nil, errorf(codes.InvalidArgument, "the action is empty; an entry takes a member%s", selectorChoices(pi))
}

func selectorChoices(pi *profileInfo) string {
	if pi.msg.GetWithSelector() {
		return ", a group or an action set"
	}
	return ""
}

// makeShot checks a one-shot action set and makes its members and group in the switch.
func (st *state) makeShot(x *txn, ps *profileState, m *p4v1.ActionProfileActionSet) (pipeline.Target, *p4v1.TableAction, *oneShot, error) {
	none := pipeline.Target{}
	if m.GetActionSelectionMode() == p4v1.ActionProfileActionSet_RANDOM {
		return none, nil, nil, errorf(codes.Unimplemented, "action_selection_mode RANDOM is not supported; use DEFAULT_MODE_DETERMINED_BY_ACTION_SELECTOR or HASH")
	}
	byMembers := ps.info.msg.GetSumOfMembers() != nil
	switch s := m.GetSizeSemantics(); {
	case s == p4v1.ActionProfileActionSet_SUM_OF_MEMBERS && !byMembers, s == p4v1.ActionProfileActionSet_SUM_OF_WEIGHTS && byMembers:
		return none, nil, nil, errorf(codes.Unimplemented, "size_semantics %s is not that of the action selector, and cannot be set by group", s)
	}
	set := &p4v1.ActionProfileActionSet{ActionSelectionMode: m.GetActionSelectionMode(), SizeSemantics: m.GetSizeSemantics()}
	shot := &oneShot{}
	var members []pipeline.GroupMember
	var calls []pipeline.ActionCall
	size := 0
	for i, a := range m.GetActionProfileActions() {
		ref, args, err := ps.decodeAction(a.GetAction())
		if err != nil {
			return none, nil, nil, wrap(err, "action %d of the set", i)
		}
		port, err := ps.checkMember(x, a.GetWeight(), watched(a))
		if err != nil {
			return none, nil, nil, wrap(err, "action %d of the set", i)
		}
		size += ps.memberSize(a.GetWeight())
		members = append(members, pipeline.GroupMember{Weight: max(1, int(a.GetWeight())), WatchPort: port})
		calls = append(calls, pipeline.ActionCall{Action: ref.name, Args: args})
		c := proto.CloneOf(a)
		c.Action = ref.encode(args)
		set.ActionProfileActions = append(set.ActionProfileActions, c)
	}
	if most := int(ps.info.msg.GetMaxGroupSize()); most > 0 && size > most {
		return none, nil, nil, errorf(codes.InvalidArgument, "the set has size %d (%s); max_group_size of action profile %s is %d", size, ps.sizeName(), ps.info.name, most)
	}
	name := ps.info.name
	for i, c := range calls {
		h, err := st.sw.AddMember(name, c)
		if err != nil {
			st.dropMembers(name, shot.members)
			return none, nil, nil, switchError(err)
		}
		shot.members = append(shot.members, h)
		members[i].Member = h
	}
	g, err := st.sw.AddGroup(name, members)
	if err != nil {
		st.dropMembers(name, shot.members)
		return none, nil, nil, switchError(err)
	}
	shot.group = g
	ps.shots++
	return pipeline.Target{Kind: pipeline.TargetGroup, Group: g},
		&p4v1.TableAction{Type: &p4v1.TableAction_ActionProfileActionSet{ActionProfileActionSet: set}}, shot, nil
}

func (st *state) dropMembers(profile string, members []pipeline.Handle) {
	for _, h := range members {
		_ = st.sw.DeleteMember(profile, h)
	}
}

// dropShot removes the group and members of a one-shot set that no entry uses any more.
func (st *state) dropShot(ts *tableState, shot *oneShot) {
	if shot == nil {
		return
	}
	_ = st.sw.DeleteGroup(ts.info.profile.name, shot.group)
	st.dropMembers(ts.info.profile.name, shot.members)
	st.profiles[ts.info.profile.id].shots--
}

// remakeShot makes a one-shot set that existed before once more. The room that it had is free, so it cannot fail; if it did,
// the entry would be left without an action.
func (st *state) remakeShot(ts *tableState, m *p4v1.TableAction) (pipeline.Target, *oneShot) {
	t, _, shot, _ := st.makeShot(&txn{target: anyPort{}}, st.profiles[ts.info.profile.id], m.GetActionProfileActionSet())
	return t, shot
}

// anyPort is a target that has every port: for what has been checked before.
type anyPort struct{ Target }

func (anyPort) HasPort(uint32) bool     { return true }
func (anyPort) CPUPort() (uint32, bool) { return 0, false }

// checkMember checks weight and watch port of a group member and returns the port, -1 for none.
func (ps *profileState) checkMember(x *txn, weight int32, watch []byte) (int64, error) {
	msg := ps.info.msg
	switch {
	case msg.GetWeightsDisallowed() && weight != 0:
		return -1, errorf(codes.InvalidArgument, "the weight is %d; action profile %s allows no weights, so it must be 0", weight, ps.info.name)
	case !msg.GetWeightsDisallowed() && weight <= 0:
		return -1, errorf(codes.InvalidArgument, "the weight is %d; it must be at least 1", weight)
	case msg.GetSumOfMembers().GetMaxMemberWeight() > 0 && weight > msg.GetSumOfMembers().GetMaxMemberWeight():
		return -1, errorf(codes.InvalidArgument, "the weight is %d; max_member_weight of action profile %s is %d", weight, ps.info.name, msg.GetSumOfMembers().GetMaxMemberWeight())
	}
	if watch == nil {
		return -1, nil
	}
	p, err := decodePort(x.target, watch)
	if err != nil {
		return -1, errorf(codes.InvalidArgument, "watch_port: %s", err)
	}
	if !x.target.HasPort(p) {
		return -1, errorf(codes.InvalidArgument, "watch_port: the device has no port %d", p)
	}
	return int64(p), nil
}

// memberSize is what a member counts for in the size of its group.
func (ps *profileState) memberSize(weight int32) int {
	if ps.info.msg.GetSumOfMembers() != nil {
		return 1
	}
	return max(1, int(weight))
}

func (ps *profileState) sizeName() string {
	if ps.info.msg.GetSumOfMembers() != nil {
		return "sum of members"
	}
	return "sum of weights"
}

// applyMember writes a member (specification, section "Member Programming").
func (st *state) applyMember(x *txn, typ p4v1.Update_Type, m *p4v1.ActionProfileMember) error {
	ps, err := st.profile(m.GetActionProfileId())
	if err != nil {
		return err
	}
	return wrap(st.member(x, ps, typ, m), "action profile %s, member %d", ps.info.name, m.GetMemberId())
}

func (st *state) member(x *txn, ps *profileState, typ p4v1.Update_Type, m *p4v1.ActionProfileMember) error {
	id, name := m.GetMemberId(), ps.info.name
	if id == 0 {
		return errorf(codes.InvalidArgument, "the member id must not be 0")
	}
	old := ps.members[id]
	switch {
	case typ == p4v1.Update_INSERT && old != nil:
		return errorf(codes.AlreadyExists, "the member exists already")
	case typ != p4v1.Update_INSERT && old == nil:
		return errorf(codes.NotFound, "the member does not exist")
	}
	if typ == p4v1.Update_DELETE {
		call, err := st.sw.Member(name, old.handle)
		if err == nil {
			err = st.sw.DeleteMember(name, old.handle)
		}
		if err != nil {
			return switchError(err)
		}
		delete(ps.members, id)
		x.done(func() {
			if h, err := st.sw.AddMember(name, call.Call); err == nil {
				ps.members[id] = &memberState{h, old.action}
			}
		})
		return nil
	}
	if ps.shots > 0 {
		return errorf(codes.InvalidArgument, "the profile is programmed with one-shot action sets; it cannot take members and groups as well")
	}
	ref, args, err := ps.decodeAction(m.GetAction())
	if err != nil {
		return err
	}
	call := pipeline.ActionCall{Action: ref.name, Args: args}
	if typ == p4v1.Update_INSERT {
		h, err := st.sw.AddMember(name, call)
		if err != nil {
			return switchError(err)
		}
		ps.members[id] = &memberState{h, ref.encode(args)}
		x.done(func() {
			_ = st.sw.DeleteMember(name, h)
			delete(ps.members, id)
		})
		return nil
	}
	before, err := st.sw.Member(name, old.handle)
	if err == nil {
		err = st.sw.ModifyMember(name, old.handle, call)
	}
	if err != nil {
		return switchError(err)
	}
	action := old.action
	old.action = ref.encode(args)
	x.done(func() {
		_ = st.sw.ModifyMember(name, old.handle, before.Call)
		old.action = action
	})
	return nil
}

// applyGroup writes a group (specification, section "Group Programming").
func (st *state) applyGroup(x *txn, typ p4v1.Update_Type, m *p4v1.ActionProfileGroup) error {
	ps, err := st.profile(m.GetActionProfileId())
	if err != nil {
		return err
	}
	return wrap(st.group(x, ps, typ, m), "action profile %s, group %d", ps.info.name, m.GetGroupId())
}

func (st *state) group(x *txn, ps *profileState, typ p4v1.Update_Type, m *p4v1.ActionProfileGroup) error {
	id, name := m.GetGroupId(), ps.info.name
	if !ps.info.msg.GetWithSelector() {
		return errorf(codes.InvalidArgument, "the profile has no selector, so it has no groups")
	}
	if id == 0 {
		return errorf(codes.InvalidArgument, "the group id must not be 0")
	}
	old := ps.groups[id]
	switch {
	case typ == p4v1.Update_INSERT && old != nil:
		return errorf(codes.AlreadyExists, "the group exists already")
	case typ != p4v1.Update_INSERT && old == nil:
		return errorf(codes.NotFound, "the group does not exist")
	}
	if typ == p4v1.Update_DELETE {
		if err := st.sw.DeleteGroup(name, old.handle); err != nil {
			return switchError(err)
		}
		delete(ps.groups, id)
		x.done(func() {
			// Members that the batch deleted and made again may have other handles now.
			old.members = ps.resolve(old)
			if h, err := st.sw.AddGroup(name, old.members); err == nil {
				old.handle = h
				ps.groups[id] = old
			}
		})
		return nil
	}
	if ps.shots > 0 {
		return errorf(codes.InvalidArgument, "the profile is programmed with one-shot action sets; it cannot take members and groups as well")
	}
	members, err := ps.decodeGroup(x, m, old)
	if err != nil {
		return err
	}
	if typ == p4v1.Update_INSERT {
		h, err := st.sw.AddGroup(name, members)
		if err != nil {
			return switchError(err)
		}
		ps.groups[id] = &groupState{h, members, proto.CloneOf(m)}
		x.done(func() {
			_ = st.sw.DeleteGroup(name, h)
			delete(ps.groups, id)
		})
		return nil
	}
	if err := st.sw.ModifyGroup(name, old.handle, members); err != nil {
		return switchError(err)
	}
	before := *old
	old.members, old.msg = members, proto.CloneOf(m)
	x.done(func() {
		before.members = ps.resolve(&before)
		_ = st.sw.ModifyGroup(name, old.handle, before.members)
		*old = groupState{old.handle, before.members, before.msg}
	})
	return nil
}

// resolve is the member list of a group with the present handles of its members.
func (ps *profileState) resolve(g *groupState) []pipeline.GroupMember {
	out := make([]pipeline.GroupMember, len(g.members))
	for i, m := range g.members {
		if ms := ps.members[g.msg.GetMembers()[i].GetMemberId()]; ms != nil {
			m.Member = ms.handle
		}
		out[i] = m
	}
	return out
}

// decodeGroup checks the members and the size of a group.
func (ps *profileState) decodeGroup(x *txn, m *p4v1.ActionProfileGroup, old *groupState) ([]pipeline.GroupMember, error) {
	most := ps.info.msg.GetMaxGroupSize()
	switch {
	case m.GetMaxSize() < 0:
		return nil, errorf(codes.InvalidArgument, "max_size is %d; it must not be negative", m.GetMaxSize())
	case old != nil && old.msg.GetMaxSize() != m.GetMaxSize():
		return nil, errorf(codes.InvalidArgument, "max_size is %d; it was %d when the group was inserted and cannot change", m.GetMaxSize(), old.msg.GetMaxSize())
	case most > 0 && (m.GetMaxSize() == 0 || m.GetMaxSize() > most):
		return nil, errorf(codes.InvalidArgument, "max_size is %d; it must be 1 to %d (max_group_size in P4Info)", m.GetMaxSize(), most)
	}
	size := 0
	seen := map[uint32]bool{}
	var out []pipeline.GroupMember
	for _, gm := range m.GetMembers() {
		id := gm.GetMemberId()
		ms := ps.members[id]
		if ms == nil {
			return nil, errorf(codes.NotFound, "the profile has no member %d", id)
		}
		if seen[id] {
			return nil, errorf(codes.InvalidArgument, "member %d is given twice; use its weight", id)
		}
		seen[id] = true
		port, err := ps.checkMember(x, gm.GetWeight(), watched(gm))
		if err != nil {
			return nil, wrap(err, "member %d", id)
		}
		size += ps.memberSize(gm.GetWeight())
		out = append(out, pipeline.GroupMember{Member: ms.handle, Weight: max(1, int(gm.GetWeight())), WatchPort: port})
	}
	if m.GetMaxSize() > 0 && size > int(m.GetMaxSize()) {
		return nil, errorf(codes.ResourceExhausted, "the group has size %d (%s); its max_size is %d", size, ps.sizeName(), m.GetMaxSize())
	}
	return out, nil
}
