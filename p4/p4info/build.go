package p4info

import (
	"fmt"
	"sort"
	"strings"

	p4configv1 "github.com/p4lang/p4runtime/go/p4/config/v1"
	p4v1 "github.com/p4lang/p4runtime/go/p4/v1"

	"khop/p4/ast"
	"khop/p4/diag"
	"khop/p4/ir"
	"khop/p4/types"
)

// Build describes a lowered program. The WriteRequest holds its initial entries; it is nil when there are none.
func Build(p *ir.Program, pos diag.Resolver) (*p4configv1.P4Info, *p4v1.WriteRequest, diag.List) {
	b := &builder{p: p, pos: pos, sym: newSymbols(), out: &p4configv1.P4Info{}, done: map[symbol]bool{}}
	b.collect()
	b.sym.finish()
	b.describe()
	entries := b.entries()
	if b.list.HasErrors() {
		return nil, nil, b.list
	}
	return b.out, entries, b.list
}

type builder struct {
	p    *ir.Program
	pos  diag.Resolver
	list diag.List
	sym  *symbols
	out  *p4configv1.P4Info
	done map[symbol]bool
	// items are the objects of each parser and control that main names, in order.
	items [][]any
	root  []any
}

func (b *builder) errorf(n ast.Node, code diag.Code, format string, args ...any) {
	b.report(diag.Error, n, code, format, args...)
}

func (b *builder) report(sev diag.Severity, n ast.Node, code diag.Code, format string, args ...any) {
	d := diag.Diagnostic{Severity: sev, Code: code, Message: fmt.Sprintf(format, args...)}
	if n != nil && b.pos != nil {
		d.At, d.End = b.pos.Position(n.Pos()), b.pos.Position(n.End())
	}
	b.list = append(b.list, d)
}

// collect lists what the control plane sees and gives it symbols.
func (b *builder) collect() {
	for _, x := range b.p.Root.Externs {
		b.root = append(b.root, x)
	}
	for _, s := range b.p.Root.Children {
		b.items = append(b.items, scopeItems(s))
	}
	for _, list := range append([][]any{b.root}, b.items...) {
		for _, it := range list {
			b.addSymbol(it)
		}
	}
	for _, h := range b.controllerHeaders() {
		b.add(prefixControllerHeader, h.Name, annosOf(h.Decl), h.Decl)
	}
}

// scopeItems lists the actions, tables, externs, value sets and digests of a scope and those inside it: *ir.Action, *ir.Table,
// *ir.Extern, *ir.ValueSet, *ir.Digest.
func scopeItems(s *ir.Scope) []any {
	var out []any
	seen := map[*ir.Action]bool{}
	var global func(s *ir.Scope)
	global = func(s *ir.Scope) {
		for _, t := range s.Tables {
			for _, a := range tableActions(t) {
				if a.Action.Decl.Owner == nil && !seen[a.Action] {
					seen[a.Action] = true
					out = append(out, a.Action)
				}
			}
		}
		for _, a := range s.Called {
			if a.Decl.Owner == nil && !seen[a] {
				seen[a] = true
				out = append(out, a)
			}
		}
		for _, c := range s.Children {
			global(c)
		}
	}
	global(s)
	return append(out, localItems(s)...)
}

func localItems(s *ir.Scope) []any {
	var out []any
	used := map[*types.Action][]*ir.Action{}
	for _, t := range s.Tables {
		for _, a := range tableActions(t) {
			used[a.Action.Decl] = append(used[a.Action.Decl], a.Action)
		}
	}
	for _, a := range s.Called {
		used[a.Decl] = append(used[a.Decl], a)
	}
	expanded := map[*ir.Scope]bool{}
	for _, o := range s.Block.Locals {
		switch o := o.(type) {
		case *types.Action:
			if l := used[o]; len(l) > 0 {
				out = append(out, l[0])
			}
		case *types.Table:
			for _, t := range s.Tables {
				if t.Decl == o {
					out = append(out, t)
				}
			}
		case *types.Instance:
			for _, x := range s.Externs {
				if x.Inst == o {
					out = append(out, x)
				}
			}
			for _, c := range s.Children {
				if c.Inst == o {
					expanded[c] = true
					out = append(out, localItems(c)...)
				}
			}
		case *types.ValueSet:
			for _, v := range s.ValueSets {
				if v.Decl == o {
					out = append(out, v)
				}
			}
		}
	}
	for _, c := range s.Children {
		if !expanded[c] {
			out = append(out, localItems(c)...)
		}
	}
	for _, d := range s.Digests {
		out = append(out, d)
	}
	return out
}

// tableActions returns the actions of a table, with an implied default.
func tableActions(t *ir.Table) []*ir.TableAction {
	if t.Default == nil || t.Default.Action == nil {
		return t.Actions
	}
	for _, a := range t.Actions {
		if a.Action.Name == t.Default.Action.Name {
			return t.Actions
		}
	}
	return append(t.Actions[:len(t.Actions):len(t.Actions)], t.Default)
}

func (b *builder) add(p prefix, name string, annos []*ast.Annotation, n ast.Node) {
	id, _ := number(find(annos, "id"))
	if top := uint32(id) >> 24; top != 0 && top != uint32(p) {
		b.errorf(n, "bad-id", "@id of %s begins with %#02x; ids of its kind begin with %#02x", name, top, uint32(p))
		id = 0
	}
	if other, ok := b.sym.add(p, name, uint32(id)); !ok {
		b.errorf(n, "bad-id", "@id %#x of %s is that of %s already", uint32(id), name, other.name)
	}
}

func (b *builder) addSymbol(it any) {
	switch it := it.(type) {
	case *ir.Action:
		if !hidden(it.Decl.Annos()) {
			b.add(prefixAction, it.Name, it.Decl.Annos(), it.Node)
		}
	case *ir.Table:
		if hidden(it.Decl.Annos()) {
			return
		}
		b.add(prefixTable, it.Name, it.Decl.Annos(), it.Decl.Node())
		for _, x := range []*ir.Extern{it.Profile, it.Counter, it.Meter} {
			if x != nil && x.Inst == nil {
				b.add(externPrefix(x), x.Name, externAnnos(x), it.Decl.Node())
			}
		}
	case *ir.Extern:
		b.add(externPrefix(it), it.Name, externAnnos(it), externNode(it))
	case *ir.ValueSet:
		b.add(prefixValueSet, it.Name, it.Decl.Annos(), it.Decl.Node())
	case *ir.Digest:
		b.add(prefixDigest, it.Name, nil, nil)
	}
}

func hidden(annos []*ast.Annotation) bool { return find(annos, "hidden") != nil }

func externPrefix(x *ir.Extern) prefix {
	switch x.Kind {
	case "counter":
		return prefixCounter
	case "direct_counter":
		return prefixDirectCounter
	case "meter":
		return prefixMeter
	case "direct_meter":
		return prefixDirectMeter
	case "register":
		return prefixRegister
	}
	return prefixActionProfile
}

func externAnnos(x *ir.Extern) []*ast.Annotation {
	switch {
	case x.Inst != nil:
		return x.Inst.Annos()
	case x.Prop != nil:
		return x.Prop.Decl.Annos
	}
	return nil
}

func externNode(x *ir.Extern) ast.Node {
	if x.Inst != nil {
		return x.Inst.Node()
	}
	return nil
}

// describe fills the P4Info.
func (b *builder) describe() {
	for _, list := range b.items {
		for _, it := range list {
			switch it := it.(type) {
			case *ir.Action:
				b.action(it)
			case *ir.Digest:
				b.digest(it)
			}
		}
	}
	if b.p.CallsExtern {
		// The reference compiler then has the type information even if it is empty.
		b.info()
	}
	for _, it := range b.root {
		b.object(it)
	}
	for _, list := range b.items {
		for _, it := range list {
			b.object(it)
		}
	}
	for _, h := range b.controllerHeaders() {
		b.controllerHeader(h)
	}
	b.pkgInfo()
}

func (b *builder) object(it any) {
	switch it := it.(type) {
	case *ir.Table:
		b.table(it)
	case *ir.Extern:
		b.extern(it)
	case *ir.ValueSet:
		b.valueSet(it)
	}
}

// first tells whether an object is described for the first time.
func (b *builder) first(p prefix, name string) bool {
	k := symbol{p, name}
	if b.done[k] {
		return false
	}
	b.done[k] = true
	return true
}

func (b *builder) preamble(p prefix, name string, annos []*ast.Annotation, skip ...string) *p4configv1.Preamble {
	out := &p4configv1.Preamble{Id: b.sym.id(p, name), Name: name, Alias: b.sym.alias(name), Doc: doc(annos)}
	out.Annotations, out.StructuredAnnotations = annotations(annos, skip...)
	return out
}

func (b *builder) action(a *ir.Action) {
	if hidden(a.Decl.Annos()) || !b.first(prefixAction, a.Name) {
		return
	}
	out := &p4configv1.Action{Preamble: b.preamble(prefixAction, a.Name, a.Decl.Annos())}
	var annos [][]*ast.Annotation
	for _, p := range a.Params {
		annos = append(annos, p.Decl.Annos())
	}
	ids := fieldIDs(annos)
	for i, p := range a.Params {
		t := p.Decl.Type()
		param := &p4configv1.Action_Param{Id: ids[i], Name: p.Name, Bitwidth: int32(width(t)), Doc: doc(annos[i]), TypeName: namedType(t)}
		param.Annotations, param.StructuredAnnotations = annotations(annos[i])
		b.info()
		b.typeSpec(t)
		if e, ok := t.(*types.Enum); ok && e.Underlying == nil {
			param.TypeName = &p4configv1.P4NamedType{Name: e.Name}
		}
		out.Params = append(out.Params, param)
	}
	b.out.Actions = append(b.out.Actions, out)
}

func (b *builder) table(t *ir.Table) {
	annos := t.Decl.Annos()
	if hidden(annos) || !b.first(prefixTable, t.Name) {
		return
	}
	b.info()
	out := &p4configv1.Table{Preamble: b.preamble(prefixTable, t.Name, annos), Size: t.Size}
	var keyAnnos [][]*ast.Annotation
	for _, k := range t.Keys {
		keyAnnos = append(keyAnnos, k.Decl.Elem.Annos)
	}
	ids := fieldIDs(keyAnnos)
	for i, k := range t.Keys {
		if k.MatchKind == "selector" {
			continue
		}
		typ := k.Decl.Type
		f := &p4configv1.MatchField{Id: ids[i], Name: k.Name, Bitwidth: int32(width(typ)), Doc: doc(keyAnnos[i]), TypeName: namedType(typ)}
		f.Annotations, f.StructuredAnnotations = annotations(keyAnnos[i])
		b.typeSpec(typ)
		f.Match = &p4configv1.MatchField_MatchType_{MatchType: matchTypes[k.MatchKind]}
		out.MatchFields = append(out.MatchFields, f)
	}
	for _, a := range tableActions(t) {
		out.ActionRefs = append(out.ActionRefs, b.actionRef(t, a))
	}
	if t.Default != nil && t.Default.Action != nil {
		id := b.sym.id(prefixAction, t.Default.Action.Name)
		if t.ConstDefault {
			out.ConstDefaultActionId = id
		}
		out.InitialDefaultAction = b.initialAction(t.Default, id)
	}
	if t.Profile != nil {
		out.ImplementationId = b.sym.id(prefixActionProfile, t.Profile.Name)
		if t.Profile.Inst == nil {
			b.profile(t.Profile)
		}
	}
	if t.Counter != nil {
		out.DirectResourceIds = append(out.DirectResourceIds, b.sym.id(prefixDirectCounter, t.Counter.Name))
		b.out.DirectCounters = append(b.out.DirectCounters, &p4configv1.DirectCounter{
			Preamble: b.preamble(prefixDirectCounter, t.Counter.Name, externAnnos(t.Counter)),
			Spec:     &p4configv1.CounterSpec{Unit: counterUnit(t.Counter.Unit)}, DirectTableId: b.sym.id(prefixTable, t.Name)})
	}
	if t.Meter != nil {
		out.DirectResourceIds = append(out.DirectResourceIds, b.sym.id(prefixDirectMeter, t.Meter.Name))
		b.out.DirectMeters = append(b.out.DirectMeters, &p4configv1.DirectMeter{
			Preamble: b.preamble(prefixDirectMeter, t.Meter.Name, externAnnos(t.Meter)),
			Spec:     &p4configv1.MeterSpec{Unit: meterUnit(t.Meter.Unit)}, DirectTableId: b.sym.id(prefixTable, t.Name)})
	}
	if t.Timeout {
		out.IdleTimeoutBehavior = p4configv1.Table_NOTIFY_CONTROL
	}
	out.IsConstTable = t.HasEntries && t.Decl.ConstEntries
	out.HasInitialEntries = len(t.Entries) > 0
	b.out.Tables = append(b.out.Tables, out)
}

var matchTypes = map[string]p4configv1.MatchField_MatchType{
	"exact": p4configv1.MatchField_EXACT, "lpm": p4configv1.MatchField_LPM, "ternary": p4configv1.MatchField_TERNARY,
	"range": p4configv1.MatchField_RANGE, "optional": p4configv1.MatchField_OPTIONAL,
}

func (b *builder) actionRef(t *ir.Table, a *ir.TableAction) *p4configv1.ActionRef {
	ref := &p4configv1.ActionRef{Id: b.sym.id(prefixAction, a.Action.Name)}
	if a == t.Default {
		ref.Annotations, ref.Scope = []string{"@defaultonly"}, p4configv1.ActionRef_DEFAULT_ONLY
		return ref
	}
	if r, ok := a.Decl.Ref.(*ast.ActionRef); ok {
		ref.Annotations, ref.StructuredAnnotations = annotations(r.Annos)
	}
	switch {
	case a.Decl.TableOnly && a.Decl.DefaultOnly:
		b.errorf(a.Decl.Ref, "bad-annotation", "action %s of table %s cannot be both @tableonly and @defaultonly", a.Action.Name, t.Name)
	case a.Decl.TableOnly:
		ref.Scope = p4configv1.ActionRef_TABLE_ONLY
	case a.Decl.DefaultOnly:
		ref.Scope = p4configv1.ActionRef_DEFAULT_ONLY
	}
	return ref
}

func (b *builder) initialAction(a *ir.TableAction, id uint32) *p4configv1.TableActionCall {
	out := &p4configv1.TableActionCall{ActionId: id}
	for i, p := range a.Action.Params {
		if i >= len(a.Args) {
			break
		}
		pid := uint32(i + 1)
		if v, ok := number(find(p.Decl.Annos(), "id")); ok {
			pid = uint32(v)
		}
		out.Arguments = append(out.Arguments, &p4configv1.TableActionCall_Argument{ParamId: pid,
			Value: bytesOf(a.Args[i], valueWidth(p))})
	}
	return out
}

// valueWidth returns the width in bits of a parameter's value.
func valueWidth(p *ir.Param) int {
	if w := width(p.Decl.Type()); w > 0 {
		return w
	}
	return p.Width
}

func counterUnit(u string) p4configv1.CounterSpec_Unit {
	switch u {
	case "packets":
		return p4configv1.CounterSpec_PACKETS
	case "bytes":
		return p4configv1.CounterSpec_BYTES
	case "packets_and_bytes":
		return p4configv1.CounterSpec_BOTH
	}
	return p4configv1.CounterSpec_UNSPECIFIED
}

func meterUnit(u string) p4configv1.MeterSpec_Unit {
	switch u {
	case "packets":
		return p4configv1.MeterSpec_PACKETS
	case "bytes":
		return p4configv1.MeterSpec_BYTES
	}
	return p4configv1.MeterSpec_UNSPECIFIED
}

func (b *builder) extern(x *ir.Extern) {
	if x.Inst == nil {
		return // described with its table
	}
	b.info()
	p := externPrefix(x)
	if !b.first(p, x.Name) {
		return
	}
	annos := externAnnos(x)
	switch x.Kind {
	case "counter":
		b.out.Counters = append(b.out.Counters, &p4configv1.Counter{Preamble: b.preamble(p, x.Name, annos),
			Spec: &p4configv1.CounterSpec{Unit: counterUnit(x.Unit)}, Size: x.Size})
	case "meter":
		b.out.Meters = append(b.out.Meters, &p4configv1.Meter{Preamble: b.preamble(p, x.Name, annos),
			Spec: &p4configv1.MeterSpec{Unit: meterUnit(x.Unit)}, Size: x.Size})
	case "register":
		b.out.Registers = append(b.out.Registers, &p4configv1.Register{Preamble: b.preamble(p, x.Name, annos),
			TypeSpec: b.typeSpec(x.Type.TypeArgs[0]), Size: int32(x.Size)})
	case "action_profile", "action_selector":
		b.profile(x)
	}
}

func (b *builder) profile(x *ir.Extern) {
	annos := externAnnos(x)
	selector := x.Kind == "action_selector"
	out := &p4configv1.ActionProfile{WithSelector: selector, Size: x.Size,
		Preamble: b.preamble(prefixActionProfile, x.Name, annos, "max_group_size", "selector_size_semantics", "max_member_weight")}
	if v, ok := number(find(annos, "max_group_size")); ok && selector {
		out.MaxGroupSize = int32(v)
	}
	if a := find(annos, "selector_size_semantics"); a != nil && selector {
		switch s := strings.ToUpper(text(a)); s {
		case "SUM_OF_WEIGHTS":
			out.SelectorSizeSemantics = &p4configv1.ActionProfile_SumOfWeights_{SumOfWeights: &p4configv1.ActionProfile_SumOfWeights{}}
		case "SUM_OF_MEMBERS":
			m := &p4configv1.ActionProfile_SumOfMembers{}
			if v, ok := number(find(annos, "max_member_weight")); ok {
				m.MaxMemberWeight = int32(v)
			}
			out.SelectorSizeSemantics = &p4configv1.ActionProfile_SumOfMembers_{SumOfMembers: m}
		default:
			b.errorf(a, "bad-annotation", "@selector_size_semantics must be \"sum_of_weights\" or \"sum_of_members\"")
		}
	}
	var names []string
	for _, list := range b.items {
		for _, it := range list {
			if t, ok := it.(*ir.Table); ok && t.Profile == x {
				names = append(names, t.Name)
			}
		}
	}
	sort.Strings(names)
	for _, n := range names {
		out.TableIds = append(out.TableIds, b.sym.id(prefixTable, n))
	}
	b.out.ActionProfiles = append(b.out.ActionProfiles, out)
}

func (b *builder) digest(d *ir.Digest) {
	if !b.first(prefixDigest, d.Name) {
		return
	}
	b.out.Digests = append(b.out.Digests, &p4configv1.Digest{Preamble: b.preamble(prefixDigest, d.Name, nil), TypeSpec: b.typeSpec(d.Type)})
}

func (b *builder) valueSet(v *ir.ValueSet) {
	if !b.first(prefixValueSet, v.Name) {
		return
	}
	out := &p4configv1.ValueSet{Preamble: b.preamble(prefixValueSet, v.Name, v.Decl.Annos()), Size: int32(v.Size)}
	t := v.Decl.Type()
	if s, ok := t.(*types.Set); ok {
		t = s.Elem
	}
	exact := &p4configv1.MatchField_MatchType_{MatchType: p4configv1.MatchField_EXACT}
	switch t := t.(type) {
	case *types.Bit:
		out.Match = append(out.Match, &p4configv1.MatchField{Id: 1, Bitwidth: int32(t.Width), Match: exact})
	case *types.Enum:
		for i, m := range t.Members {
			out.Match = append(out.Match, &p4configv1.MatchField{Id: uint32(i + 1), Name: m.Name(), Bitwidth: int32(width(t)), Match: exact})
		}
	case *types.Struct:
		var annos [][]*ast.Annotation
		for _, f := range t.Fields {
			annos = append(annos, f.Annos())
		}
		ids := fieldIDs(annos)
		for i, f := range t.Fields {
			if _, ok := f.Type().(*types.Bit); !ok {
				b.errorf(f.Node(), "unsupported-type", "field %s of a value set has type %s; P4Runtime takes bit<W> fields only", f.Name(), f.Type())
				continue
			}
			m := &p4configv1.MatchField{Id: ids[i], Name: fieldName(f), Bitwidth: int32(width(f.Type())), Match: exact, Doc: doc(annos[i])}
			if a := find(annos[i], "match"); a != nil && len(a.Tokens) == 1 {
				kind, ok := matchTypes[a.Tokens[0].Text]
				if !ok {
					b.errorf(a, "bad-annotation", "match kind %s is unknown", a.Tokens[0].Text)
				}
				m.Match = &p4configv1.MatchField_MatchType_{MatchType: kind}
			}
			m.Annotations, m.StructuredAnnotations = annotations(annos[i], "match")
			out.Match = append(out.Match, m)
		}
	default:
		b.errorf(v.Decl.Node(), "unsupported-type", "P4Runtime takes value sets of bit<W>, of a struct of these, or of a serializable enum, not of %s", t)
	}
	b.out.ValueSets = append(b.out.ValueSets, out)
}
