package p4rt

import (
	"fmt"
	"slices"
	"strings"

	configv1 "github.com/p4lang/p4runtime/go/p4/config/v1"
	"google.golang.org/grpc/codes"
)

// info is the index of a P4Info: entities by id, with what the server needs of each worked out once. It is immutable.
type info struct {
	tables       map[uint32]*tableInfo
	tableOrder   []*tableInfo
	actions      map[uint32]*actionInfo
	profiles     map[uint32]*profileInfo
	profileOrder []*profileInfo
	counters     map[uint32]*arrayInfo
	meters       map[uint32]*arrayInfo
	registers    map[uint32]*arrayInfo
	counterOrder []*arrayInfo
	meterOrder   []*arrayInfo
	regOrder     []*arrayInfo
	valueSets    map[uint32]*valueSetInfo
	vsetOrder    []*valueSetInfo
	digests      map[uint32]*digestInfo
	digestOrder  []*digestInfo
	packetIn     *headerInfo
	packetOut    *headerInfo
	types        *configv1.P4TypeInfo
}

// fieldInfo is one match field of a table or value set.
type fieldInfo struct {
	id    uint32
	name  string
	kind  configv1.MatchField_MatchType
	width int    // bits
	sdn   string // name of a type that is translated to strings, else empty
	trans bool   // the type is translated, so the width in the data plane may be another
}

// keyInfo is the match key of a table or value set.
type keyInfo struct {
	fields []fieldInfo
	byID   map[uint32]int
}

type tableInfo struct {
	id            uint32
	name          string
	msg           *configv1.Table
	key           keyInfo
	prioritised   bool // the key has a ternary, range or optional field, so entries have a priority
	actions       map[uint32]*actionRef
	profile       *profileInfo
	directCounter *directInfo
	directMeter   *directInfo
	idle          bool
}

type actionRef struct {
	*actionInfo
	scope configv1.ActionRef_Scope
}

type actionInfo struct {
	id     uint32
	name   string
	params []paramInfo
	byID   map[uint32]int
}

type paramInfo struct {
	id    uint32
	name  string
	width int
	sdn   string
	trans bool
}

type profileInfo struct {
	id     uint32
	name   string
	msg    *configv1.ActionProfile
	tables []*tableInfo
}

// directInfo is a direct counter or direct meter.
type directInfo struct {
	id   uint32
	name string
	spec *configv1.MeterSpec // of a meter
}

// arrayInfo is an indexed counter, meter or register.
type arrayInfo struct {
	id   uint32
	name string
	size int64
	spec *configv1.MeterSpec // of a meter
	elem *typeSpec           // of a register
}

type valueSetInfo struct {
	id   uint32
	name string
	size int
	key  keyInfo
}

type digestInfo struct {
	id   uint32
	name string
	elem *typeSpec
}

// newInfo checks and indexes a P4Info. Its errors are INVALID_ARGUMENT.
func newInfo(p *configv1.P4Info) (*info, error) {
	in := &info{
		tables:    map[uint32]*tableInfo{},
		actions:   map[uint32]*actionInfo{},
		profiles:  map[uint32]*profileInfo{},
		counters:  map[uint32]*arrayInfo{},
		meters:    map[uint32]*arrayInfo{},
		registers: map[uint32]*arrayInfo{},
		valueSets: map[uint32]*valueSetInfo{},
		digests:   map[uint32]*digestInfo{},
		types:     p.GetTypeInfo(),
	}
	seen := map[uint32]string{}
	declare := func(kind string, pre *configv1.Preamble) error {
		what := fmt.Sprintf("%s %q", kind, pre.GetName())
		if pre.GetId() == 0 {
			return errorf(codes.InvalidArgument, "P4Info: %s has no id", what)
		}
		if pre.GetName() == "" {
			return errorf(codes.InvalidArgument, "P4Info: the %s with id %#x has no name", kind, pre.GetId())
		}
		if other, ok := seen[pre.GetId()]; ok {
			return errorf(codes.InvalidArgument, "P4Info: %s and %s have the same id %#x", other, what, pre.GetId())
		}
		seen[pre.GetId()] = what
		return nil
	}
	for _, a := range p.GetActions() {
		if err := declare("action", a.GetPreamble()); err != nil {
			return nil, err
		}
		ai := &actionInfo{id: a.Preamble.Id, name: a.Preamble.Name, byID: map[uint32]int{}}
		for i, x := range a.GetParams() {
			if _, dup := ai.byID[x.GetId()]; dup || x.GetId() == 0 {
				return nil, errorf(codes.InvalidArgument, "P4Info: action %q: parameter %q has the id %d, which is zero or taken", ai.name, x.GetName(), x.GetId())
			}
			w, sdn, err := in.width(x.GetBitwidth(), x.GetTypeName())
			if err != nil {
				return nil, wrap(err, "P4Info: action %q, parameter %q", ai.name, x.GetName())
			}
			ai.byID[x.GetId()] = i
			ai.params = append(ai.params, paramInfo{x.GetId(), x.GetName(), w, sdn, in.translated(x.GetTypeName())})
		}
		in.actions[ai.id] = ai
	}
	for _, x := range p.GetActionProfiles() {
		if err := declare("action profile", x.GetPreamble()); err != nil {
			return nil, err
		}
		pi := &profileInfo{id: x.Preamble.Id, name: x.Preamble.Name, msg: x}
		in.profiles[pi.id] = pi
		in.profileOrder = append(in.profileOrder, pi)
	}
	for _, t := range p.GetTables() {
		if err := declare("table", t.GetPreamble()); err != nil {
			return nil, err
		}
		if err := in.addTable(t); err != nil {
			return nil, err
		}
	}
	if err := in.addArrays(p, declare); err != nil {
		return nil, err
	}
	for _, x := range p.GetDirectCounters() {
		if err := declare("direct counter", x.GetPreamble()); err != nil {
			return nil, err
		}
		t := in.tables[x.GetDirectTableId()]
		if t == nil {
			return nil, errorf(codes.InvalidArgument, "P4Info: direct counter %q names no table: id %#x", x.Preamble.Name, x.GetDirectTableId())
		}
		t.directCounter = &directInfo{id: x.Preamble.Id, name: x.Preamble.Name}
	}
	for _, x := range p.GetDirectMeters() {
		if err := declare("direct meter", x.GetPreamble()); err != nil {
			return nil, err
		}
		t := in.tables[x.GetDirectTableId()]
		if t == nil {
			return nil, errorf(codes.InvalidArgument, "P4Info: direct meter %q names no table: id %#x", x.Preamble.Name, x.GetDirectTableId())
		}
		t.directMeter = &directInfo{x.Preamble.Id, x.Preamble.Name, x.GetSpec()}
	}
	for _, x := range p.GetValueSets() {
		if err := declare("value set", x.GetPreamble()); err != nil {
			return nil, err
		}
		key, err := in.newKey(x.GetMatch())
		if err != nil {
			return nil, wrap(err, "P4Info: value set %q", x.Preamble.Name)
		}
		v := &valueSetInfo{x.Preamble.Id, x.Preamble.Name, int(x.GetSize()), key}
		in.valueSets[v.id] = v
		in.vsetOrder = append(in.vsetOrder, v)
	}
	for _, x := range p.GetDigests() {
		if err := declare("digest", x.GetPreamble()); err != nil {
			return nil, err
		}
		elem, err := in.newType(x.GetTypeSpec())
		if err != nil {
			return nil, wrap(err, "P4Info: digest %q", x.Preamble.Name)
		}
		d := &digestInfo{x.Preamble.Id, x.Preamble.Name, elem}
		in.digests[d.id] = d
		in.digestOrder = append(in.digestOrder, d)
	}
	for _, x := range p.GetControllerPacketMetadata() {
		if err := declare("controller header", x.GetPreamble()); err != nil {
			return nil, err
		}
		h, err := in.newHeader(x)
		if err != nil {
			return nil, wrap(err, "P4Info: controller header %q", x.Preamble.Name)
		}
		switch x.Preamble.Name {
		case "packet_in":
			in.packetIn = h
		case "packet_out":
			in.packetOut = h
		default:
			return nil, errorf(codes.InvalidArgument, `P4Info: controller header %q is unknown; the valid names are "packet_in" and "packet_out"`, x.Preamble.Name)
		}
	}
	return in, nil
}

// width is the number of bits of a match field, parameter or controller metadata field, and the name of its type if the
// controller sees it as a string.
func (in *info) width(bitwidth int32, name *configv1.P4NamedType) (int, string, error) {
	if n := name.GetName(); n != "" {
		if tr := in.types.GetNewTypes()[n].GetTranslatedType(); tr != nil {
			if tr.GetSdnString() != nil {
				return int(bitwidth), n, nil
			}
			if w := tr.GetSdnBitwidth(); w > 0 && bitwidth == 0 {
				bitwidth = w
			}
		}
	}
	if bitwidth <= 0 {
		return 0, "", errorf(codes.InvalidArgument, "the bit width is %d; it must be at least 1", bitwidth)
	}
	return int(bitwidth), "", nil
}

func (in *info) translated(name *configv1.P4NamedType) bool {
	return in.types.GetNewTypes()[name.GetName()].GetTranslatedType() != nil
}

func (in *info) newKey(fields []*configv1.MatchField) (keyInfo, error) {
	k := keyInfo{byID: map[uint32]int{}}
	for i, f := range fields {
		if _, dup := k.byID[f.GetId()]; dup || f.GetId() == 0 {
			return k, errorf(codes.InvalidArgument, "match field %q has the id %d, which is zero or taken", f.GetName(), f.GetId())
		}
		switch f.GetMatchType() {
		case configv1.MatchField_EXACT, configv1.MatchField_LPM, configv1.MatchField_TERNARY, configv1.MatchField_RANGE, configv1.MatchField_OPTIONAL:
		default:
			return k, errorf(codes.InvalidArgument, "match field %q has the match type %q; the valid ones are EXACT, LPM, TERNARY, RANGE, OPTIONAL",
				f.GetName(), f.GetMatchType().String()+f.GetOtherMatchType())
		}
		w, sdn, err := in.width(f.GetBitwidth(), f.GetTypeName())
		if err != nil {
			return k, wrap(err, "match field %q", f.GetName())
		}
		k.byID[f.GetId()] = i
		k.fields = append(k.fields, fieldInfo{f.GetId(), f.GetName(), f.GetMatchType(), w, sdn, in.translated(f.GetTypeName())})
	}
	return k, nil
}

func (in *info) addTable(t *configv1.Table) error {
	name := t.Preamble.Name
	key, err := in.newKey(t.GetMatchFields())
	if err != nil {
		return wrap(err, "P4Info: table %q", name)
	}
	ti := &tableInfo{id: t.Preamble.Id, name: name, msg: t, key: key, actions: map[uint32]*actionRef{},
		idle: t.GetIdleTimeoutBehavior() == configv1.Table_NOTIFY_CONTROL}
	for _, f := range key.fields {
		switch f.kind {
		case configv1.MatchField_TERNARY, configv1.MatchField_RANGE, configv1.MatchField_OPTIONAL:
			ti.prioritised = true
		}
	}
	for _, r := range t.GetActionRefs() {
		a := in.actions[r.GetId()]
		if a == nil {
			return errorf(codes.InvalidArgument, "P4Info: table %q refers to an action with id %#x, which does not exist", name, r.GetId())
		}
		ti.actions[a.id] = &actionRef{a, r.GetScope()}
	}
	if id := t.GetImplementationId(); id != 0 {
		ti.profile = in.profiles[id]
		if ti.profile == nil {
			return errorf(codes.InvalidArgument, "P4Info: table %q has an implementation with id %#x, which is no action profile", name, id)
		}
		ti.profile.tables = append(ti.profile.tables, ti)
	}
	in.tables[ti.id] = ti
	in.tableOrder = append(in.tableOrder, ti)
	return nil
}

func (in *info) addArrays(p *configv1.P4Info, declare func(string, *configv1.Preamble) error) error {
	for _, x := range p.GetCounters() {
		if err := declare("counter", x.GetPreamble()); err != nil {
			return err
		}
		a := &arrayInfo{id: x.Preamble.Id, name: x.Preamble.Name, size: x.GetSize()}
		in.counters[a.id] = a
		in.counterOrder = append(in.counterOrder, a)
	}
	for _, x := range p.GetMeters() {
		if err := declare("meter", x.GetPreamble()); err != nil {
			return err
		}
		a := &arrayInfo{id: x.Preamble.Id, name: x.Preamble.Name, size: x.GetSize(), spec: x.GetSpec()}
		in.meters[a.id] = a
		in.meterOrder = append(in.meterOrder, a)
	}
	for _, x := range p.GetRegisters() {
		if err := declare("register", x.GetPreamble()); err != nil {
			return err
		}
		elem, err := in.newType(x.GetTypeSpec())
		if err != nil {
			return wrap(err, "P4Info: register %q", x.Preamble.Name)
		}
		a := &arrayInfo{id: x.Preamble.Id, name: x.Preamble.Name, size: int64(x.GetSize()), elem: elem}
		in.registers[a.id] = a
		in.regOrder = append(in.regOrder, a)
	}
	return nil
}

func arrayName(a *arrayInfo) string { return a.name }

// lookup finds an entity by id. An unknown id is INVALID_ARGUMENT: it is not that the object is missing now, it can never
// exist under this P4Info.
func lookup[V any](kind string, id uint32, m map[uint32]V, name func(V) string) (V, error) {
	v, ok := m[id]
	if ok {
		return v, nil
	}
	if id == 0 {
		return v, errorf(codes.InvalidArgument, "the %s id is 0; this pipeline has: %s", kind, idList(m, name))
	}
	return v, errorf(codes.InvalidArgument, "there is no %s with id %#x; this pipeline has: %s", kind, id, idList(m, name))
}

// idList lists "name (id)" sorted by name.
func idList[V any](m map[uint32]V, name func(V) string) string {
	out := make([]string, 0, len(m))
	for id, v := range m {
		out = append(out, fmt.Sprintf("%s (%#x)", name(v), id))
	}
	slices.Sort(out)
	return options(out)
}

// kindName writes a match type as P4 does.
func kindName(k configv1.MatchField_MatchType) string { return strings.ToLower(k.String()) }
