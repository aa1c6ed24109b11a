package pipeline

import (
	"fmt"
	"slices"

	"khop/bmv2/table"
)

type profileProg struct {
	info   ProfileInfo
	index  int
	hash   *calculation // of the selector
	byName map[string]*action
}

func (pp *profileProg) addTable(t *tableProg) {
	if pp.byName == nil {
		pp.byName = map[string]*action{}
	}
	pp.info.Tables = append(pp.info.Tables, t.info.Name)
	for _, a := range t.actions {
		if pp.byName[a.info.Name] == nil {
			pp.byName[a.info.Name] = a
			pp.info.Actions = append(pp.info.Actions, a.info)
		}
	}
}

// A selector picks the (hash mod n)-th of the active members of a group in ascending order of handles, as bmv2 with PI
// does. A member of weight w counts w times, each time with a handle of its own: its copies take handles from the same
// space when the weight first asks for them.
type member struct {
	act    *action
	args   []uint64
	copies []Handle // beyond the member's own handle
	refs   int      // of groups and entries
}

type group struct {
	members []GroupMember
	active  []Handle // own handles of the members, in the order of the handles of their copies
	refs    int
}

type profileState struct {
	prog         *profileProg
	members      []*member // by handle; nil where the handle is free or a copy
	groups       []*group
	handles      table.Handles
	groupHandles table.Handles
	used         int // handles in use, copies included
}

func (ps *profileState) choose(s *State, t *target) *member {
	if t.kind == TargetMember {
		return ps.members[t.ref]
	}
	g := ps.groups[t.ref]
	if len(g.active) == 0 {
		return nil
	}
	return ps.members[g.active[ps.prog.hash.compute(s)%uint64(len(g.active))]]
}

func (in *Instance) profile(name string) (*profileState, error) {
	for i := range in.profiles {
		if in.profiles[i].prog.info.Name == name {
			return &in.profiles[i], nil
		}
	}
	return nil, fmt.Errorf("action profile %q: %w (profiles: %q)", name, ErrNotFound, profileNames(in.Profiles()))
}

func profileNames(ps []ProfileInfo) []string {
	var out []string
	for _, p := range ps {
		out = append(out, p.Name)
	}
	return out
}

// Profiles lists the action profiles.
func (in *Instance) Profiles() []ProfileInfo {
	out := make([]ProfileInfo, len(in.prog.profiles))
	for i, p := range in.prog.profiles {
		out[i] = p.info
	}
	return out
}

func (ps *profileState) name() string { return ps.prog.info.Name }

func (ps *profileState) take() (Handle, error) {
	if size := ps.prog.info.Size; size > 0 && ps.used >= size {
		return 0, fmt.Errorf("action profile %q: %w: it holds %d members", ps.name(), ErrFull, size)
	}
	ps.used++
	h := ps.handles.Get()
	for int(h) >= len(ps.members) {
		ps.members = append(ps.members, nil)
	}
	return h, nil
}

func (ps *profileState) free(h Handle) {
	ps.handles.Put(h)
	ps.members[h] = nil
	ps.used--
}

func (ps *profileState) member(h Handle) (*member, error) {
	if int(h) >= len(ps.members) || ps.members[h] == nil {
		return nil, fmt.Errorf("action profile %q: member %d: %w", ps.name(), h, ErrNotFound)
	}
	return ps.members[h], nil
}

func (ps *profileState) group(h Handle) (*group, error) {
	if int(h) >= len(ps.groups) || ps.groups[h] == nil {
		return nil, fmt.Errorf("action profile %q: group %d: %w", ps.name(), h, ErrNotFound)
	}
	return ps.groups[h], nil
}

func (ps *profileState) resolve(c *ActionCall) (*action, []uint64, error) {
	a, args, err := resolveCall(c, ps.prog.byName, ps.prog.info.Actions)
	if err != nil {
		return nil, nil, fmt.Errorf("action profile %q: %w", ps.name(), err)
	}
	return a, args, nil
}

// AddMember adds a member.
func (in *Instance) AddMember(profile string, c ActionCall) (Handle, error) {
	ps, err := in.profile(profile)
	if err != nil {
		return 0, err
	}
	a, args, err := ps.resolve(&c)
	if err != nil {
		return 0, err
	}
	h, err := ps.take()
	if err != nil {
		return 0, err
	}
	ps.members[h] = &member{act: a, args: args}
	return h, nil
}

// ModifyMember replaces a member's action.
func (in *Instance) ModifyMember(profile string, h Handle, c ActionCall) error {
	ps, err := in.profile(profile)
	if err != nil {
		return err
	}
	m, err := ps.member(h)
	if err != nil {
		return err
	}
	a, args, err := ps.resolve(&c)
	if err != nil {
		return err
	}
	m.act, m.args = a, args
	return nil
}

// DeleteMember removes a member that nothing refers to.
func (in *Instance) DeleteMember(profile string, h Handle) error {
	ps, err := in.profile(profile)
	if err != nil {
		return err
	}
	m, err := ps.member(h)
	if err != nil {
		return err
	}
	if m.refs > 0 {
		return fmt.Errorf("action profile %q: member %d: %w by %d groups or entries", profile, h, ErrInUse, m.refs)
	}
	for _, c := range m.copies {
		ps.free(c)
	}
	ps.free(h)
	return nil
}

// Member reads a member.
func (in *Instance) Member(profile string, h Handle) (Member, error) {
	ps, err := in.profile(profile)
	if err != nil {
		return Member{}, err
	}
	m, err := ps.member(h)
	if err != nil {
		return Member{}, err
	}
	return Member{Handle: h, Call: callOf(m.act, m.args)}, nil
}

// EachMember calls fn by ascending handle.
func (in *Instance) EachMember(profile string, fn func(Member) bool) error {
	ps, err := in.profile(profile)
	if err != nil {
		return err
	}
	for h, m := range ps.members {
		if m != nil && !fn(Member{Handle: Handle(h), Call: callOf(m.act, m.args)}) {
			break
		}
	}
	return nil
}

func (ps *profileState) checkGroup(members []GroupMember) error {
	if !ps.prog.info.Selector {
		return fmt.Errorf("action profile %q: %w: it has no selector, so no groups", ps.name(), ErrInvalid)
	}
	seen := map[Handle]bool{}
	extra := 0
	for _, gm := range members {
		m, err := ps.member(gm.Member)
		if err != nil {
			return err
		}
		if gm.Weight < 1 {
			return fmt.Errorf("action profile %q: %w: weight %d of member %d, want at least 1", ps.name(), ErrInvalid,
				gm.Weight, gm.Member)
		}
		if seen[gm.Member] {
			return fmt.Errorf("action profile %q: %w: member %d is twice in the group", ps.name(), ErrInvalid, gm.Member)
		}
		seen[gm.Member] = true
		extra += max(0, gm.Weight-1-len(m.copies))
	}
	if size := ps.prog.info.Size; size > 0 && ps.used+extra > size || extra > 1<<20 {
		return fmt.Errorf("action profile %q: %w: the weights need more than %d members", ps.name(), ErrFull, size)
	}
	return nil
}

func (ps *profileState) setGroup(g *group, members []GroupMember, up func(uint32) bool) error {
	for _, gm := range members {
		m := ps.members[gm.Member]
		for len(m.copies) < gm.Weight-1 {
			c, err := ps.take()
			if err != nil {
				return err
			}
			m.copies = append(m.copies, c)
		}
	}
	for _, gm := range g.members {
		ps.members[gm.Member].refs--
	}
	g.members = slices.Clone(members)
	for _, gm := range g.members {
		ps.members[gm.Member].refs++
	}
	ps.activate(g, up)
	return nil
}

// activate works out the members that take part.
func (ps *profileState) activate(g *group, up func(uint32) bool) {
	type place struct{ at, member Handle }
	var places []place
	for _, gm := range g.members {
		if gm.WatchPort >= 0 && !up(uint32(gm.WatchPort)) {
			continue
		}
		places = append(places, place{gm.Member, gm.Member})
		for _, c := range ps.members[gm.Member].copies[:gm.Weight-1] {
			places = append(places, place{c, gm.Member})
		}
	}
	slices.SortFunc(places, func(a, b place) int { return int(a.at) - int(b.at) })
	g.active = g.active[:0]
	for _, p := range places {
		g.active = append(g.active, p.member)
	}
}

// PortStatusChanged makes groups whose members watch ports look at the ports again.
func (in *Instance) PortStatusChanged() {
	for i := range in.profiles {
		ps := &in.profiles[i]
		for _, g := range ps.groups {
			if g != nil {
				ps.activate(g, in.portUp)
			}
		}
	}
}

// AddGroup creates a group.
func (in *Instance) AddGroup(profile string, members []GroupMember) (Handle, error) {
	ps, err := in.profile(profile)
	if err != nil {
		return 0, err
	}
	if err := ps.checkGroup(members); err != nil {
		return 0, err
	}
	g := &group{}
	if err := ps.setGroup(g, members, in.portUp); err != nil {
		return 0, err
	}
	h := ps.groupHandles.Get()
	for int(h) >= len(ps.groups) {
		ps.groups = append(ps.groups, nil)
	}
	ps.groups[h] = g
	return h, nil
}

// ModifyGroup replaces the members of a group.
func (in *Instance) ModifyGroup(profile string, h Handle, members []GroupMember) error {
	ps, err := in.profile(profile)
	if err != nil {
		return err
	}
	g, err := ps.group(h)
	if err != nil {
		return err
	}
	if err := ps.checkGroup(members); err != nil {
		return err
	}
	return ps.setGroup(g, members, in.portUp)
}

// DeleteGroup removes a group that no entry refers to.
func (in *Instance) DeleteGroup(profile string, h Handle) error {
	ps, err := in.profile(profile)
	if err != nil {
		return err
	}
	g, err := ps.group(h)
	if err != nil {
		return err
	}
	if g.refs > 0 {
		return fmt.Errorf("action profile %q: group %d: %w by %d entries", profile, h, ErrInUse, g.refs)
	}
	for _, gm := range g.members {
		ps.members[gm.Member].refs--
	}
	ps.groups[h] = nil
	ps.groupHandles.Put(h)
	return nil
}

// Group reads a group.
func (in *Instance) Group(profile string, h Handle) (Group, error) {
	ps, err := in.profile(profile)
	if err != nil {
		return Group{}, err
	}
	g, err := ps.group(h)
	if err != nil {
		return Group{}, err
	}
	return Group{Handle: h, Members: slices.Clone(g.members)}, nil
}

// EachGroup calls fn by ascending handle.
func (in *Instance) EachGroup(profile string, fn func(Group) bool) error {
	ps, err := in.profile(profile)
	if err != nil {
		return err
	}
	for h, g := range ps.groups {
		if g != nil && !fn(Group{Handle: Handle(h), Members: slices.Clone(g.members)}) {
			break
		}
	}
	return nil
}
