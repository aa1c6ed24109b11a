package types

import (
	"strings"

	"khop/p4/ast"
)

// scope is a lexical scope. Only functions share a name.
type scope struct {
	parent *scope
	names  map[string][]Object
	order  []Object
}

func newScope(parent *scope) *scope { return &scope{parent: parent, names: map[string][]Object{}} }

// push opens a scope; the function that it returns closes it and reports what was declared in it and never used.
func (c *checker) push() func() {
	c.scope = newScope(c.scope)
	s := c.scope
	return func() {
		c.unused(s)
		c.scope = s.parent
	}
}

// declare adds an object to the current scope. It reports a second declaration of a name and one that hides another.
func (c *checker) declare(o Object) {
	s := c.scope
	name := o.Name()
	if prev := s.names[name]; len(prev) > 0 {
		if c.sibling(prev[0], o) {
			c.info.Globals = append(c.info.Globals, o)
			return
		}
		if !overloads(prev, o) {
			r := c.errAt(o.Pos(), o.Pos(), CodeDuplicate, "%s is declared twice in this scope", quote(name))
			c.note(r, prev[0].Pos(), "the other declaration is here")
			if _, ok := prev[0].(*Func); !ok {
				return
			}
		}
	} else if s.parent != nil {
		c.shadows(o)
	}
	s.names[name] = append(s.names[name], o)
	s.order = append(s.order, o)
	if s == c.global {
		c.info.Globals = append(c.info.Globals, o)
	}
}

// shadows warns when a local name hides one of an enclosing scope other than the top level.
func (c *checker) shadows(o Object) {
	switch o.(type) {
	case *Var, *Const, *Instance, *Action, *Table, *ValueSet:
	default:
		return
	}
	for s := c.scope.parent; s != nil && s.parent != nil; s = s.parent {
		if prev := s.names[o.Name()]; len(prev) > 0 {
			local := c.ctx.place == inControlLocals || c.ctx.place == inParserLocals
			if p, ok := prev[0].(*Param); ok && !p.Ctor && !local {
				r := c.errAt(o.Pos(), o.Pos()+posLen(o.Name()), CodeShadow, "%s hides the parameter of that name", quote(o.Name()))
				c.note(r, p.pos, "declared here")
				return
			}
			r := c.warnObj(o, CodeShadow, "%s hides the %s of that name", quote(o.Name()), kindOf(prev[0]))
			c.note(r, prev[0].Pos(), "declared here")
			return
		}
	}
}

// overloads tells whether o may be declared beside prev: both are functions.
func overloads(prev []Object, o Object) bool {
	// Functions that no call can tell apart are found out when they are called.
	if _, ok := o.(*Func); !ok {
		return false
	}
	_, ok := prev[0].(*Func)
	return ok
}

// sibling notes a parser, control or package that shares its name with another and is told from it by its constructor
// parameters.
func (c *checker) sibling(first, o Object) bool {
	a, ok1 := first.(*TypeName)
	b, ok2 := o.(*TypeName)
	if !ok1 || !ok2 {
		return false
	}
	ps := ctorParams(b.typ)
	all := c.siblings[a.typ]
	if all == nil {
		all = []Type{a.typ}
	}
	for _, s := range all {
		q := ctorParams(s)
		if len(ps) == 0 && len(q) == 0 || sameCall(&Signature{Params: ps}, &Signature{Params: q}) {
			return false
		}
	}
	c.siblings[a.typ] = append(all, b.typ)
	return true
}

// sameCall tells whether no call can tell two functions apart: they have as many parameters of the same names.
func sameCall(a, b *Signature) bool {
	if len(a.Params) != len(b.Params) {
		return false
	}
	for i, p := range a.Params {
		if p.name != b.Params[i].name {
			return false
		}
	}
	return true
}

// lookup returns the objects of a name that accept takes, from the innermost scope that has one.
func (c *checker) lookup(name string, global bool, accept func(Object) bool) []Object {
	s := c.scope
	if global {
		s = c.global
	}
	for s != nil {
		var found []Object
		for _, o := range s.names[name] {
			if accept(o) {
				found = append(found, o)
			}
		}
		if len(found) > 0 {
			for _, o := range found {
				o.base().used = true
			}
			return found
		}
		s = s.parent
	}
	return nil
}

func anyObject(Object) bool { return true }

func typeOnly(o Object) bool { _, ok := o.(*TypeName); return ok }

func noState(o Object) bool { _, ok := o.(*State); return !ok }

// near returns a name like the one given among those that accept takes in all open scopes, or "".
func (c *checker) near(name string, accept func(Object) bool) string {
	n := newNearest(name)
	for s := c.scope; s != nil; s = s.parent {
		for _, k := range sortedKeys(s.names) {
			for _, o := range s.names[k] {
				if accept(o) {
					n.offer(k)
				}
			}
		}
	}
	return n.best
}

// unused warns of what was declared in a scope and never used.
func (c *checker) unused(s *scope) {
	for _, o := range s.order {
		b := o.base()
		if b.used || c.system(o) || s == c.global && c.res.Position(b.pos).File != c.mainFile || noWarn(b.annos, "unused") || strings.HasPrefix(b.name, "_") {
			continue
		}
		switch o := o.(type) {
		case *Var:
			if !o.Loop {
				c.warnObj(o, CodeUnused, "variable %s is never used", quote(b.name))
			}
		case *Action, *Table, *ValueSet:
			c.warnObj(o, CodeUnused, "%s %s is never used", kindOf(o), quote(b.name))
		case *Instance:
			if s != c.global {
				c.warnObj(o, CodeUnused, "instance %s is never used", quote(b.name))
			}
		case *Const:
			if s != c.global {
				c.warnObj(o, CodeUnused, "constant %s is never used", quote(b.name))
			}
		case *Func:
			if o.Decl != nil {
				c.warnObj(o, CodeUnused, "function %s is never used", quote(b.name))
			}
		case *TypeName:
			if blk, ok := o.typ.(*Block); ok && !blk.IsType && c.info.Main != nil {
				c.warnObj(o, CodeUnused, "%s %s is never used", blk.Kind, quote(b.name))
			}
		}
	}
}

func (c *checker) warnObj(o Object, code Code, format string, args ...any) *report {
	to := o.Pos()
	if to > 0 {
		to += posLen(o.Name())
	}
	return c.warnAt(o.Pos(), to, code, format, args...)
}

// noWarn tells whether annotations hold @noWarn of that kind of warning. Kinds are codes; the specification spells some with
// underscores.
func noWarn(annos []*ast.Annotation, kind string) bool {
	for _, a := range annos {
		if a.Name != nil && a.Name.Name == "noWarn" && strings.ReplaceAll(annoString(a), "_", "-") == kind {
			return true
		}
	}
	return false
}
