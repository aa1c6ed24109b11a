package types

import (
	"khop/p4/ast"
)

func (c *checker) tableDecl(d *ast.TableDecl) {
	c.annos(d.Annos)
	t := &Table{Decl: d, Owner: c.ctx.block, LargestPriorityWins: true, PriorityDelta: bigOne}
	t.typ = &TableType{t}
	// The name is declared first, so that a table that applies itself is found out.
	c.define(t, d.Name, d.Annos, d)
	c.in(func(x *context) { x.table = t }, func() { c.tableProps(t, d) })
}

func (c *checker) tableProps(t *Table, d *ast.TableDecl) {
	var entries *ast.EntriesProp
	var defaultAction *ast.Property
	seen := map[string]ast.Node{}
	hasActions := false
	once := func(name string, p ast.Node) bool {
		if prev := seen[name]; prev != nil {
			r := c.err(p, CodeDuplicate, "property %s is given twice", quote(name))
			c.note(r, prev.Pos(), "the other one is here")
			return false
		}
		seen[name] = p
		return true
	}
	for _, p := range d.Props {
		switch p := p.(type) {
		case *ast.KeyProp:
			if once("key", p) {
				c.keys(t, p)
			}
		case *ast.ActionsProp:
			if once("actions", p) {
				hasActions = true
				c.actionList(t, p)
			}
		case *ast.EntriesProp:
			c.annos(p.Annos)
			if once("entries", p) {
				if seen["key"] == nil && hasKey(d) {
					c.err(p, CodeTable, "entries must stand behind key")
				}
				entries = p
			}
		case *ast.Property:
			c.annos(p.Annos)
			name := identName(p.Name)
			switch {
			case !once(name, p):
			case name == "default_action":
				if !hasActions {
					c.err(p, CodeTable, "default_action must stand behind actions")
				}
				defaultAction = p
			default:
				c.property(t, p, name)
			}
		}
	}
	if !hasActions {
		c.err(tableName(d), CodeTable, "table %s has no actions", quote(t.name)).hint("add actions = { ... }")
	}
	c.defaultAction(t, defaultAction, hasActions)
	if entries != nil {
		c.entries(t, entries)
	}
}

func hasKey(d *ast.TableDecl) bool {
	for _, p := range d.Props {
		if _, ok := p.(*ast.KeyProp); ok {
			return true
		}
	}
	return false
}

func tableName(d *ast.TableDecl) ast.Node {
	if d.Name != nil {
		return d.Name
	}
	return d
}

func (c *checker) keys(t *Table, p *ast.KeyProp) {
	c.in(func(x *context) { x.inKey = true }, func() {
		for _, k := range p.Elems {
			c.annos(k.Annos)
			x := c.expr(k.Expr)
			key := &TableKey{Elem: k, Expr: k.Expr, Type: x.typ}
			if x.typ != InvalidType && !keyable(x.typ) {
				r := c.err(k.Expr, CodeKey, "a key cannot have type %s", x.typ)
				if resolve(x.typ) == InfIntType {
					r.hint("give it a width, for instance 8w1")
				}
				key.Type = InvalidType
			}
			key.MatchKind = c.matchKind(k.MatchKind)
			t.Keys = append(t.Keys, key)
		}
	})
}

// keyable tells whether a value can be looked up.
func keyable(t Type) bool {
	switch t := underlying(t).(type) {
	case *Bit, *Int, *Enum, *Varbit:
		return true
	case *Basic:
		return t.Kind == BoolKind || t.Kind == ErrorKind || t.Kind == Invalid
	}
	return false
}

func (c *checker) matchKind(id *ast.Ident) *MatchKindMember {
	if id == nil {
		return nil
	}
	isKind := func(o Object) bool { _, ok := o.(*MatchKindMember); return ok }
	objs := c.lookup(id.Name, false, isKind)
	if len(objs) == 0 {
		r := c.err(id, CodeUnknown, "unknown match kind %s", quote(id.Name))
		if best := c.near(id.Name, isKind); best != "" {
			r.hintNear(best)
		} else {
			var names []string
			for _, m := range c.info.MatchKinds {
				names = append(names, m.name)
			}
			if len(names) > 0 {
				r.hint("the match kinds are %s", joinNames(names, "and"))
			} else {
				r.hint("include core.p4 or an architecture file")
			}
		}
		return nil
	}
	m := objs[0].(*MatchKindMember)
	c.info.Uses[id] = m
	return m
}

// resolveAction finds the action of a reference and reports an unknown one.
func (c *checker) resolveAction(n ast.Node, name string, global bool) *Action {
	isAction := func(o Object) bool { _, ok := o.(*Action); return ok }
	objs := c.lookup(name, global, isAction)
	if len(objs) == 0 {
		if others := c.lookup(name, global, anyObject); len(others) > 0 {
			c.err(n, CodeUnknown, "%s is not an action", describe(others[0])).hintNear(c.near(name, isAction))
			return nil
		}
		c.err(n, CodeUnknown, "unknown action %s", quote(name)).hintNear(c.near(name, isAction))
		return nil
	}
	c.deprecated(n, objs[0])
	return objs[0].(*Action)
}

func (c *checker) actionList(t *Table, p *ast.ActionsProp) {
	for _, ref := range p.Actions {
		if ref == nil || ref.Name == nil {
			continue
		}
		c.annos(ref.Annos)
		a := c.resolveAction(ref.Name, ref.Name.Name, ref.Global)
		var xs []operand
		c.in(func(x *context) { x.inArgs = true }, func() { xs = c.args(ref.Args) })
		if a == nil {
			continue
		}
		c.info.Uses[ref] = a
		if prev := t.action(a.name); prev != nil {
			r := c.err(ref, CodeDuplicate, "action %s stands twice in the list", quote(a.name))
			c.note(r, prev.Ref.Pos(), "the other one is here")
			continue
		}
		ta := &TableAction{Ref: ref, Action: a}
		ta.TableOnly = findAnno(ref.Annos, "tableonly") != nil
		ta.DefaultOnly = findAnno(ref.Annos, "defaultonly") != nil
		ta.Args = c.actionArgs(ref, a, ref.Args, xs, true)
		t.Actions = append(t.Actions, ta)
	}
}

// actionArgs binds the arguments of an action in a table. In the action list the parameters with a direction must be bound, and
// those without cannot be: the control plane supplies them. Elsewhere all must be bound.
func (c *checker) actionArgs(n ast.Node, a *Action, args []*ast.Arg, xs []operand, list bool) []Arg {
	supplied := func(p *Param) bool { return list && p.Dir == ast.None }
	bound, ok := c.bind(n, describe(a), a.Params, args, xs, supplied)
	if !ok {
		return c.unboundArgs(a)
	}
	if list {
		for _, b := range bound {
			if b.given && b.param.Dir == ast.None {
				c.err(b.x.expr, CodeActionArg, "parameter %s of action %s cannot be bound here", quote(b.param.name), quote(a.name)).
					hint("it has no direction: the control plane supplies it with each entry")
				return c.unboundArgs(a)
			}
		}
	}
	out, _ := c.finishArgs(bound, nil, argRules{runtime: true})
	return out
}

func (c *checker) unboundArgs(a *Action) []Arg {
	out := make([]Arg, len(a.Params))
	for i, p := range a.Params {
		out[i] = Arg{Param: p, Type: p.typ}
	}
	return out
}

// action returns the action of that name in the table's list, or nil.
func (t *Table) action(name string) *TableAction {
	for _, a := range t.Actions {
		if a.Action.name == name {
			return a
		}
	}
	return nil
}

// defaultAction checks the property default_action (specification section 14.2.1.3), or takes NoAction when there is none.
func (c *checker) defaultAction(t *Table, p *ast.Property, hasActions bool) {
	if p == nil {
		c.impliedDefault(t)
		return
	}
	t.HasDefault, t.ConstDefault = true, p.Const
	var name *ast.Name
	var args []*ast.Arg
	call, isCall := unparen(p.Value).(*ast.CallExpr)
	if isCall {
		name, _ = unparen(call.Fun).(*ast.Name)
		args = call.Args
	} else {
		name, _ = unparen(p.Value).(*ast.Name)
	}
	if name == nil {
		c.err(p.Value, CodeTable, "default_action must name an action of the table")
		c.rawExpr(p.Value)
		return
	}
	ref := c.tableActionRef(t, p.Value, name, name.Name, name.Global, args, isCall, hasActions)
	if ref == nil {
		return
	}
	c.info.Uses[name] = ref.Action
	c.setAll(p.Value, operand{mode: NoValue, typ: VoidType})
	if isCall {
		c.setAll(call.Fun, operand{mode: Builtin, typ: ref.Action.typ})
		c.info.Calls[call] = &Call{Kind: CallAction, Expr: call, Action: ref.Action, Args: ref.Args, Result: VoidType}
	}
	if listed := t.action(ref.Action.name); listed != nil && listed.TableOnly {
		c.err(p.Value, CodeTable, "action %s is @tableonly and cannot be the default action", quote(ref.Action.name))
	}
	t.Default = ref
}

func (c *checker) impliedDefault(t *Table) {
	objs := c.global.names["NoAction"]
	if len(objs) == 0 {
		c.err(tableName(t.Decl), CodeTable, "table %s has no default_action, and there is no action NoAction to take its place", quote(t.name)).
			hint("include core.p4, which declares NoAction")
		return
	}
	a, ok := objs[0].(*Action)
	if !ok || len(a.Params) > 0 {
		c.errAt(objs[0].Pos(), objs[0].Pos(), CodeTable, "NoAction must be an action without parameters, not %s", describe(objs[0]))
		return
	}
	a.used = true
	t.Default = &TableAction{Action: a, Args: c.unboundArgs(a)}
}

// tableActionRef checks an action named by default_action or an entry: it must be in the list, with the same arguments for the
// parameters that are bound there, and all others bound.
func (c *checker) tableActionRef(t *Table, n, at ast.Node, name string, global bool, args []*ast.Arg, hasArgs, hasActions bool) *TableAction {
	var xs []operand
	c.in(func(x *context) { x.inArgs = true }, func() { xs = c.args(args) })
	a := c.resolveAction(at, name, global)
	if a == nil {
		return nil
	}
	listed := t.action(a.name)
	if listed == nil || listed.Action != a {
		if hasActions {
			near := newNearest(name)
			for _, ta := range t.Actions {
				near.offer(ta.Action.name)
			}
			c.err(at, CodeActionList, "action %s is not in the action list of table %s", quote(name), quote(t.name)).hintNear(near.best)
		}
		return nil
	}
	ta := &TableAction{Ref: n, Action: a, TableOnly: listed.TableOnly, DefaultOnly: listed.DefaultOnly}
	if !hasArgs || len(args) == 0 && needsArgs(a.Params) {
		// Written without arguments: those of the list apply, and there must be nothing left to supply.
		ta.Args = append([]Arg(nil), listed.Args...)
		var missing []string
		for i, b := range ta.Args {
			if b.Expr == nil && a.Params[i].Default == nil {
				missing = append(missing, a.Params[i].name)
			}
		}
		if len(missing) > 0 || hasArgs && dirCount(a.Params) > 0 {
			if len(missing) == 0 {
				for _, p := range a.Params {
					missing = append(missing, p.name)
				}
			}
			c.err(n, CodeActionArg, "action %s needs %s for %s", quote(name), plural(len(missing), "argument"), joinNames(missing, "and"))
			return nil
		}
		return ta
	}
	if len(args) == dataCount(a.Params) && dirCount(a.Params) > 0 && len(args) > 0 && args[0].Name == nil && len(args) < len(a.Params) {
		c.err(n, CodeActionArg, "action %s needs its bound arguments as well: %d in all, not %d", quote(name), len(a.Params), len(args)).
			hint("repeat the arguments of the action list")
		return nil
	}
	ta.Args = c.actionArgs(n, a, args, xs, false)
	for i, p := range a.Params {
		if p.Dir == ast.None || ta.Args[i].Expr == nil || listed.Args[i].Expr == nil {
			continue
		}
		if !c.sameExpr(ta.Args[i].Expr, listed.Args[i].Expr) {
			r := c.err(ta.Args[i].Expr, CodeActionArg, "the argument for %s differs from that in the action list", quote(p.name))
			c.note(r, listed.Args[i].Expr.Pos(), "which is here")
		}
	}
	for i, p := range a.Params {
		if x := ta.Args[i]; p.Dir == ast.None && x.Expr != nil && !x.Default {
			if tv := c.info.Types[x.Expr]; tv.Type != InvalidType && tv.Mode != ConstMode {
				c.err(x.Expr, CodeNotConst, "the argument for %s must be known at compile time", quote(p.name)).
					hint("it has no direction: its value is part of the entry")
			}
		}
	}
	return ta
}

func dirCount(ps []*Param) int { return len(ps) - dataCount(ps) }

func dataCount(ps []*Param) int {
	n := 0
	for _, p := range ps {
		if p.Dir == ast.None {
			n++
		}
	}
	return n
}

// sameExpr tells whether two expressions are written the same and mean the same.
func (c *checker) sameExpr(a, b ast.Expr) bool {
	a, b = unparen(a), unparen(b)
	if va, vb := c.info.ValueOf(a), c.info.ValueOf(b); va != nil || vb != nil {
		eq, known := equalValues(va, vb)
		return eq && known
	}
	switch a := a.(type) {
	case *ast.Name:
		b, ok := b.(*ast.Name)
		return ok && c.info.Uses[a] == c.info.Uses[b]
	case *ast.Member:
		b, ok := b.(*ast.Member)
		return ok && identName(a.Name) == identName(b.Name) && c.sameExpr(a.X, b.X)
	case *ast.TypeExpr:
		b, ok := b.(*ast.TypeExpr)
		return ok && Identical(c.info.TypeExprs[a.Type], c.info.TypeExprs[b.Type])
	case *ast.Index:
		b, ok := b.(*ast.Index)
		return ok && c.sameExpr(a.X, b.X) && c.sameExpr(a.Index, b.Index)
	case *ast.Slice:
		b, ok := b.(*ast.Slice)
		return ok && a.Plus == b.Plus && c.sameExpr(a.X, b.X) && c.sameExpr(a.Hi, b.Hi) && c.sameExpr(a.Lo, b.Lo)
	case *ast.Unary:
		b, ok := b.(*ast.Unary)
		return ok && a.Op == b.Op && c.sameExpr(a.X, b.X)
	case *ast.Binary:
		b, ok := b.(*ast.Binary)
		return ok && a.Op == b.Op && c.sameExpr(a.X, b.X) && c.sameExpr(a.Y, b.Y)
	case *ast.Ternary:
		b, ok := b.(*ast.Ternary)
		return ok && c.sameExpr(a.Cond, b.Cond) && c.sameExpr(a.Then, b.Then) && c.sameExpr(a.Else, b.Else)
	case *ast.Cast:
		b, ok := b.(*ast.Cast)
		return ok && Identical(c.info.TypeExprs[a.Type], c.info.TypeExprs[b.Type]) && c.sameExpr(a.X, b.X)
	case *ast.CallExpr:
		b, ok := b.(*ast.CallExpr)
		if !ok || len(a.Args) != len(b.Args) || !c.sameExpr(a.Fun, b.Fun) {
			return false
		}
		for i := range a.Args {
			if identName(a.Args[i].Name) != identName(b.Args[i].Name) || !c.sameExpr(a.Args[i].Value, b.Args[i].Value) {
				return false
			}
		}
		return true
	case *ast.StructExpr:
		b, ok := b.(*ast.StructExpr)
		if !ok || len(a.Fields) != len(b.Fields) {
			return false
		}
		values := map[string]ast.Expr{}
		for _, kv := range b.Fields {
			values[identName(kv.Name)] = kv.Value
		}
		for _, kv := range a.Fields {
			if v := values[identName(kv.Name)]; v == nil || !c.sameExpr(kv.Value, v) {
				return false
			}
		}
		return true
	case *ast.ListExpr:
		b, ok := b.(*ast.ListExpr)
		if !ok || len(a.Elems) != len(b.Elems) {
			return false
		}
		for i := range a.Elems {
			if !c.sameExpr(a.Elems[i], b.Elems[i]) {
				return false
			}
		}
		return true
	}
	return false
}

// property checks any other property.
func (c *checker) property(t *Table, p *ast.Property, name string) {
	tp := &TableProp{Decl: p, Name: name, Const: p.Const, Expr: p.Value}
	if p.Value == nil {
		return
	}
	x := c.expr(p.Value)
	tp.Type, tp.Value = x.typ, x.val
	tp.Instance = c.instanceOf(p.Value)
	if call, ok := unparen(p.Value).(*ast.CallExpr); ok && isObjectType(x.typ) {
		tp.New = c.info.Calls[call]
	}
	switch name {
	case "size":
		t.Size = c.constSize(&x, "the size of table "+quote(t.name))
		return
	case "largest_priority_wins":
		b, ok := x.val.(bool)
		if x.typ != InvalidType && !ok {
			c.err(p.Value, CodeTable, "largest_priority_wins must be true or false")
		} else if ok {
			t.LargestPriorityWins = b
		}
	case "priority_delta":
		if v := c.localInt(&x, "priority_delta"); v != nil {
			if v.Sign() <= 0 {
				c.err(p.Value, CodeTable, "priority_delta must be positive, not %s", v)
			} else {
				t.PriorityDelta = v
			}
		}
	default:
		if x.typ != InvalidType && x.mode != ConstMode {
			c.err(p.Value, CodeNotConst, "property %s must be known at compile time", quote(name))
		}
	}
	t.Props = append(t.Props, tp)
}
