package ir

import (
	"math/big"
	"strings"

	"khop/p4/ast"
	"khop/p4/types"
)

// actionKey identifies an action that tables run: the same action with other bound arguments, or of another instance, has other
// code.
type actionKey struct {
	decl *types.Action
	inst *blockInst
	ref  ast.Node // the reference that binds arguments, nil if none does
}

// tableOf returns the instance of the table that e applies.
func (l *lowerer) tableOf(e ast.Expr) *Table {
	call, ok := unparen(e).(*ast.CallExpr)
	if !ok {
		l.errorf(e, "unsupported-call", "this must be the application of a table")
		return nil
	}
	c := l.info.Calls[call]
	if c == nil || c.Kind != types.CallTable {
		l.errorf(e, "unsupported-call", "this must be the application of a table")
		return nil
	}
	f := l.instFrame()
	if f == nil || l.pipe == nil || (l.block != inIngress && l.block != inEgress) {
		l.errorf(e, "unsupported-call", "a table can be applied in ingress and egress only")
		return nil
	}
	if t := f.inst.tables[c.Table]; t != nil {
		return t
	}
	return l.table(c.Table, f.inst)
}

// applyTable applies a table; e is the call.
func (l *lowerer) applyTable(e ast.Expr, a *Apply) {
	t := l.tableOf(e)
	if t == nil {
		return
	}
	if l.inAction() {
		l.errorf(e, "unsupported-call", "a table cannot be applied in an action")
		return
	}
	l.computeKeys(t, e)
	a.Table = t
	a.Site = t.Sites
	t.Sites++
	l.code.add(Instr{Op: OpApply, Apply: a, Node: e})
}

func (l *lowerer) inAction() bool {
	for f := l.fr; f != nil; f = f.caller {
		if f.action {
			return true
		}
	}
	return false
}

func (l *lowerer) table(d *types.Table, bi *blockInst) *Table {
	t := &Table{Decl: d, Name: controlName(bi.fr.path, d.Name(), d.Annos()), Scope: bi.scope, Pipeline: l.pipe, Size: 1024,
		ConstDefault: d.ConstDefault}
	bi.tables[d] = t
	bi.scope.Tables = append(bi.scope.Tables, t)
	l.pipe.Tables = append(l.pipe.Tables, t)
	old := l.fr
	l.fr = bi.fr
	defer func() { l.fr = old }()
	l.tableProps(t, bi)
	for _, k := range d.Keys {
		if k.MatchKind == nil {
			continue
		}
		st, ok := scalarType(l.typ(k.Type))
		if !ok {
			l.errorf(k.Elem, "unsupported-key", "a key of type %s is not supported by the target", k.Type)
		}
		kind := k.MatchKind.Name()
		switch kind {
		case "exact", "ternary", "lpm", "range", "optional", "selector":
		default:
			l.errorf(k.Elem, "unsupported-key", "match kind %s is not supported by the target (exact, ternary, lpm, range, optional, selector)", kind)
		}
		name := l.keyName(k)
		if name == "" {
			l.errorf(k.Elem, "missing-name", "a key that is not a field needs a name for the control plane")
		}
		t.Keys = append(t.Keys, &Key{Name: name, MatchKind: kind, Width: max(1, st.Width), Decl: k})
	}
	for _, a := range d.Actions {
		if act := l.tableAction(a, bi); act != nil {
			t.Actions = append(t.Actions, &TableAction{Action: act, Decl: a})
		}
	}
	if d.Default != nil {
		t.Default = l.boundAction(t, d.Default, bi)
	}
	t.HasEntries = d.HasEntries
	for i, e := range d.Entries {
		l.entry(t, e, i, bi)
	}
	return t
}

// keyName returns the name by which the control plane knows a key: that of @name, or the expression as the P4Runtime specification
// spells it.
func (l *lowerer) keyName(k *types.TableKey) string {
	if a := nameAnno(k.Elem.Annos); a != "" {
		return a
	}
	return l.keyText(k.Expr)
}

func (l *lowerer) keyText(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Paren:
		return l.keyText(e.X)
	case *ast.Name:
		if e.Global {
			return "." + e.Name
		}
		return e.Name
	case *ast.Member:
		name := e.Name.Name
		if sel := l.info.Selections[e]; sel != nil && sel.Kind == types.SelField {
			if st, ok := underlying(l.typeOf(e.X)).(*types.Struct); ok && sel.Index < len(st.Fields) {
				if a := nameAnno(st.Fields[sel.Index].Annos()); a != "" {
					name = a
				}
			}
		}
		return controlName(l.keyText(e.X), name, nil)
	case *ast.Index:
		return l.keyText(e.X) + "[" + l.keyText(e.Index) + "]"
	case *ast.IntLit:
		if e.Value == nil {
			return e.Text
		}
		if strings.Contains(strings.ToLower(e.Text), "0x") {
			return "0x" + e.Value.Text(16)
		}
		return e.Value.String()
	case *ast.Slice:
		return l.keyText(e.X) + "[" + l.keyText(e.Hi) + ":" + l.keyText(e.Lo) + "]"
	case *ast.CallExpr:
		if m, ok := e.Fun.(*ast.Member); ok && m.Name.Name == "isValid" {
			return l.keyText(m.X) + ".$valid$"
		}
	case *ast.Binary:
		if e.Op == "&" {
			return l.keyText(e.X) + " & " + l.keyText(e.Y)
		}
	}
	return ""
}

// tableAction returns the lowered action of a table's list.
func (l *lowerer) tableAction(a *types.TableAction, bi *blockInst) *Action {
	key := actionKey{decl: a.Action, inst: bi}
	if a.Action.Owner == nil {
		key.inst = nil
	}
	for i, p := range a.Action.Params {
		if p.Dir != ast.None && i < len(a.Args) && a.Args[i].Expr != nil {
			key.ref, key.inst = a.Ref, bi
		}
	}
	if act := l.actions[key]; act != nil {
		return act
	}
	act := &Action{Decl: a.Action, ID: len(l.prog.Actions), Code: &Code{}}
	path := ""
	if a.Action.Owner != nil {
		path = bi.fr.path
	}
	act.Name = controlName(path, a.Action.Name(), a.Action.Annos())
	if a.Action.Decl != nil {
		act.Node = a.Action.Decl
	}
	l.actions[key] = act
	l.prog.Actions = append(l.prog.Actions, act)
	if a.Action.Decl == nil {
		return act // the implied NoAction
	}
	oldCode, oldFr, oldLoops := l.code, l.fr, l.loops
	l.code, l.loops = act.Code, nil
	nf := &frame{outer: bi.fr, vars: map[types.Object]any{}, ret: l.code.NewLabel(), hasRet: true, action: true,
		path: joinPath(bi.fr.path, a.Action.Name())}
	if a.Action.Owner == nil {
		nf.outer, nf.caller = nil, &frame{inst: bi, path: bi.fr.path}
	}
	l.actionParams(act, a, nf, bi)
	l.fr = nf
	l.stmts(a.Action.Decl.Body.List)
	l.code.place(nf.ret)
	for _, c := range nf.copyOut {
		l.assign(c.dst, plain(c.src), act.Node)
	}
	l.code, l.fr, l.loops = oldCode, oldFr, oldLoops
	return act
}

// actionParams binds the parameters of an action: those with a direction to the arguments in the table, the others to what the
// control plane supplies.
func (l *lowerer) actionParams(act *Action, a *types.TableAction, nf *frame, bi *blockInst) {
	var bound []types.Arg
	for i, p := range a.Action.Params {
		if i < len(a.Args) && p.Dir != ast.None && a.Args[i].Expr != nil {
			arg := a.Args[i]
			arg.Param = p
			bound = append(bound, arg)
			continue
		}
		nf.vars[p] = l.runtimeParam(act, p, p.Name(), l.typ(p.Type()))
	}
	if len(bound) > 0 {
		l.fr = bi.fr
		nf.caller = nil
		l.bind(nf, bound, a.Action.Decl.Body, a.Action.Decl)
	}
}

func (l *lowerer) runtimeParam(act *Action, p *types.Param, name string, t types.Type) Val {
	if st, ok := scalarType(t); ok {
		act.Params = append(act.Params, &Param{Name: controlName("", name, p.Annos()), Width: max(1, st.Width),
			Signed: st.Signed, Bool: st.Bool, Decl: p})
		return &ParamRef{len(act.Params) - 1, st}
	}
	l.errorf(p.Node(), "unsupported-parameter",
		"parameter %s has type %s; the control plane can supply bit<>, int<>, bool, enum and error values", p.Name(), t)
	return intConst(0, Type{Width: 1})
}

// boundAction returns an action with its arguments, as a default action or entry has it.
func (l *lowerer) boundAction(t *Table, a *types.TableAction, bi *blockInst) *TableAction {
	out := &TableAction{Decl: a}
	for _, ta := range t.Actions {
		if ta.Action.Decl == a.Action {
			out.Action = ta.Action
			break
		}
	}
	if out.Action == nil {
		// NoAction as the implied default, which the list need not hold.
		out.Action = l.tableAction(a, bi)
	}
	for i, p := range a.Action.Params {
		if p.Dir != ast.None {
			continue
		}
		if i >= len(a.Args) || a.Args[i].Expr == nil {
			l.errorf(a.Ref, "missing-argument", "parameter %s of action %s needs an argument", p.Name(), a.Action.Name())
			continue
		}
		v := l.asScalar(l.coerce(l.expr(a.Args[i].Expr), l.typ(p.Type()), a.Args[i].Expr), a.Args[i].Expr)
		switch c := v.(type) {
		case *Const:
			out.Args = append(out.Args, c.Val)
		case BoolConst:
			b := big.NewInt(0)
			if c {
				b = big.NewInt(1)
			}
			out.Args = append(out.Args, b)
		default:
			l.errorf(a.Args[i].Expr, "not-constant", "the argument for %s must be known at compile time", p.Name())
		}
	}
	return out
}

func (l *lowerer) entry(t *Table, e *types.TableEntry, i int, bi *blockInst) {
	prio := int64(i + 1)
	if e.Priority != nil && e.Priority.IsInt64() {
		prio = e.Priority.Int64()
		if t.Decl.LargestPriorityWins {
			prio = 1<<30 - prio
		}
	}
	if a := findAnno(e.Decl.Annos, "priority"); a != nil && len(a.Tokens) == 1 {
		if v, ok := new(big.Int).SetString(a.Tokens[0].Text, 0); ok {
			prio = v.Int64()
		}
	}
	if t.Decl.ConstEntries && findAnno(e.Decl.Annos, "priority") == nil {
		prio = int64(i + 1)
	}
	if e.Action == nil || e.Action.Action == nil {
		return
	}
	for _, k := range e.Keys {
		if k.Kind == types.KeyRange && k.Lo == nil || k.Kind == types.KeyValue && k.Lo == nil || k.Kind == types.KeyMask && k.Hi == nil {
			l.errorf(k.Expr, "not-constant", "the key of an entry must be known at compile time")
			return
		}
	}
	t.Entries = append(t.Entries, &Entry{Keys: e.Keys, Action: l.boundAction(t, e.Action, bi), Priority: prio, Decl: e})
}

func findAnno(annos []*ast.Annotation, name string) *ast.Annotation {
	for _, a := range annos {
		if a.Name.Name == name {
			return a
		}
	}
	return nil
}

// computeKeys resolves the keys of a table where it is applied. A key that is no field is computed into one.
func (l *lowerer) computeKeys(t *Table, n ast.Node) {
	sel := 0
	for i, k := range t.Keys {
		d := k.Decl
		if l.at != nil {
			l.at = d.Elem
		}
		v := l.asScalar(l.expr(d.Expr), d.Expr)
		if k.MatchKind == "selector" {
			l.selectorInput(t, v, sel, d)
			sel++
			continue
		}
		var mask *big.Int
		if b, ok := v.(*Binary); ok && b.Op == "&" {
			f, fok := b.X.(*FieldRef)
			if c, ok := b.Y.(*Const); ok && fok && c.Val.Sign() > 0 {
				mask, v = c.Val, f
			}
		}
		switch x := v.(type) {
		case *FieldRef:
			if k.Field == nil && k.Valid == nil {
				k.Field, k.Mask = x, mask
				continue
			}
			if k.Field != nil && same(k.Field, x) && (mask == nil) == (k.Mask == nil) && (mask == nil || mask.Cmp(k.Mask) == 0) {
				continue
			}
		case *Valid:
			if k.Field == nil && k.Valid == nil {
				k.Valid = x.Header
				continue
			}
			if k.Valid == x.Header {
				continue
			}
		}
		if t.Sites > 0 && (k.Valid != nil || k.Field != nil && k.Field.Header != l.prog.Scalars) {
			l.errorf(n, "unsupported-key", "table %s is applied again with another place for key %d", t.Name, i)
			continue
		}
		if k.Field == nil {
			k.Field = &FieldRef{}
			*k.Field = *l.y.scalar(joinPath(t.Name, "key"), v.Type())
		}
		if mask != nil {
			v = binary("&", v, newConst(mask, v.Type()), v.Type())
		}
		l.assign(&scalarLoc{k.Field, l.typ(d.Type)}, v, d.Elem)
	}
}

func (l *lowerer) selectorInput(t *Table, v Expr, i int, d *types.TableKey) {
	if t.Profile == nil || t.Profile.Kind != "action_selector" {
		l.warnf(d.Elem, "unused-key", "a selector key has no effect: the table has no action selector")
		return
	}
	if _, ok := v.(*FieldRef); !ok {
		tmp := l.temp(v.Type())
		l.assign(tmp, v, d.Elem)
		v = tmp.ref
	}
	in := t.Profile.Selector
	switch {
	case t.Profile.Table == t || t.Profile.Table == nil:
		t.Profile.Table = t
		if i == len(in) {
			t.Profile.Selector = append(in, v)
		}
	case i >= len(in) || !same(in[i], v):
		l.errorf(d.Elem, "unsupported-key", "tables that share action selector %s must have the same selector keys", t.Profile.Name)
	}
}

// tableProps resolves the properties that refer to externs.
func (l *lowerer) tableProps(t *Table, bi *blockInst) {
	if t.Decl.Size != nil && t.Decl.Size.IsInt64() && t.Decl.Size.Sign() > 0 {
		t.Size = t.Decl.Size.Int64()
	}
	for _, p := range t.Decl.Props {
		switch p.Name {
		case "size":
			if t.Decl.Size == nil {
				if n, ok := l.constInt(p.Expr); ok && n > 0 {
					t.Size = int64(n)
				}
			}
		case "support_timeout":
			v, ok := l.expr(p.Expr).(BoolConst)
			if !ok {
				l.errorf(p.Decl, "not-constant", "support_timeout must be true or false")
			}
			t.Timeout = bool(v)
		case "implementation", "counters", "meters":
			l.resource(t, p, bi)
		}
	}
}

func (l *lowerer) resource(t *Table, p *types.TableProp, bi *blockInst) {
	var x *Extern
	if p.New != nil {
		ext, ok := p.New.Type.(*types.Extern)
		if ok {
			// A property is no declaration: the path of the control is not part of its name.
			name := controlName("", t.Name+"."+p.Name, p.Decl.Annos)
			x = l.externObject(name, ext, p.New, p.Decl)
		}
		if x != nil {
			x.Prop = p
			bi.scope.Externs = append(bi.scope.Externs, x)
		}
	} else if v, ok := l.expr(p.Expr).(*Extern); ok {
		x = v
	}
	if x == nil {
		l.errorf(p.Decl, "wrong-property", "property %s must name or construct an extern object", p.Name)
		return
	}
	want := map[string][]string{"implementation": {"action_profile", "action_selector"}, "counters": {"direct_counter"},
		"meters": {"direct_meter"}}[p.Name]
	ok := false
	for _, k := range want {
		ok = ok || k == x.Kind
	}
	if !ok {
		l.errorf(p.Decl, "wrong-property", "property %s takes a %s, not a %s", p.Name, want[0], x.Kind)
		return
	}
	switch p.Name {
	case "implementation":
		t.Profile = x
		for _, q := range l.pipe.Profiles {
			if q == x {
				return
			}
		}
		l.pipe.Profiles = append(l.pipe.Profiles, x)
		return
	case "counters":
		t.Counter = x
	case "meters":
		t.Meter = x
	}
	if x.Table != nil && x.Table != t {
		l.errorf(p.Decl, "wrong-property", "%s %s belongs to table %s already", x.Kind, x.Name, x.Table.Name)
	}
	x.Table = t
}
