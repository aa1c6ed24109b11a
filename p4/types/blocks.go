package types

import (
	"khop/p4/ast"
	"khop/p4/diag"
)

func (c *checker) parserDecl(d *ast.ParserDecl) {
	c.annos(d.Annos)
	b := &Block{Kind: ParserBlock, Name: identName(d.Name), Decl: d, IsType: d.IsType}
	c.blockDecl(b, d, d.Name, d.Annos, d.TypeParams, d.Params, d.CtorParams, func() { c.parserBody(d, b) })
}

func (c *checker) controlDecl(d *ast.ControlDecl) {
	c.annos(d.Annos)
	b := &Block{Kind: ControlBlock, Name: identName(d.Name), Decl: d, IsType: d.IsType}
	c.blockDecl(b, d, d.Name, d.Annos, d.TypeParams, d.Params, d.CtorParams, func() { c.controlBody(d, b) })
}

// blockDecl checks the head of a parser or control, declares it, and then checks its body in the scope of its parameters.
func (c *checker) blockDecl(b *Block, d ast.Decl, name *ast.Ident, annos []*ast.Annotation, tps []*ast.Ident, params, ctor []*ast.Param, body func()) {
	outer := c.scope
	inner := newScope(outer)
	c.scope = inner
	b.TypeParams = c.typeParams(tps)
	b.Params = c.params(params, paramsOf{what: b.Kind.String(), proto: b.IsType, block: b.Kind})
	b.CtorParams = c.params(ctor, paramsOf{what: b.Kind.String(), ctor: true, block: b.Kind, inBody: true})
	c.scope = outer
	o := &TypeName{}
	o.typ = b
	c.define(o, name, annos, d)
	c.scope = inner
	if b.IsType {
		c.markUsed(inner)
	} else {
		// The body sees parameters through a scope of its own, so that local names may hide them.
		c.scope = newScope(inner)
		c.in(func(x *context) { *x = context{block: b} }, body)
		c.unused(c.scope)
		c.scope = inner
	}
	c.unused(inner)
	c.scope = outer
}

func (c *checker) parserBody(d *ast.ParserDecl, b *Block) {
	c.ctx.place = inParserLocals
	for _, l := range d.Locals {
		c.local(l, b)
	}
	c.states(d, b)
}

func (c *checker) controlBody(d *ast.ControlDecl, b *Block) {
	c.ctx.place = inControlLocals
	for _, l := range d.Locals {
		c.local(l, b)
	}
	c.ctx.place = inApply
	if d.Apply != nil {
		c.block(d.Apply)
	}
}

// local checks a local declaration of a parser or control.
func (c *checker) local(l ast.Decl, b *Block) {
	switch l := l.(type) {
	case nil:
		return
	case *ast.ConstDecl:
		c.constDecl(l)
	case *ast.VarDecl:
		c.varDecl(l)
	case *ast.Instantiation:
		c.instantiation(l)
	case *ast.ValueSetDecl:
		if b.Kind == ControlBlock {
			c.err(l, CodePlace, "a value set cannot be declared in a control")
		}
		c.valueSetDecl(l)
	case *ast.ActionDecl:
		if b.Kind == ParserBlock {
			c.err(l, CodePlace, "an action cannot be declared in a parser")
		}
		c.actionDecl(l)
	case *ast.TableDecl:
		if b.Kind == ParserBlock {
			c.err(l, CodePlace, "a table cannot be declared in a parser")
		}
		c.tableDecl(l)
	default:
		c.err(l, CodePlace, "this declaration cannot stand in a %s", b.Kind)
		return
	}
	if o := c.info.Defs[l]; o != nil {
		b.Locals = append(b.Locals, o)
	}
}

// states declares all states of a parser, because transitions may lead forward, and then checks them.
func (c *checker) states(d *ast.ParserDecl, b *Block) {
	accept := &State{object: object{name: "accept", typ: &StateType{}}}
	reject := &State{object: object{name: "reject", typ: &StateType{}}}
	hasStart := false
	for _, as := range d.States {
		if as == nil || as.Name == nil {
			continue
		}
		c.annos(as.Annos)
		s := &State{Decl: as}
		s.typ = &StateType{}
		switch as.Name.Name {
		case "accept", "reject":
			c.err(as.Name, CodeBadState, "state %s is built in and cannot be declared", quote(as.Name.Name))
			continue
		case "start":
			hasStart = true
		}
		c.define(s, as.Name, as.Annos, as)
		b.States = append(b.States, s)
	}
	if !hasStart {
		pos := d.From
		end := d.To
		if d.Name != nil {
			pos, end = d.Name.From, d.Name.To
		}
		c.errAt(pos, end, CodeBadState, "parser %s has no state 'start'", quote(identName(d.Name))).
			hint("parsing begins in state start; add one")
	}
	c.scope.names["accept"] = append(c.scope.names["accept"], accept)
	c.scope.names["reject"] = append(c.scope.names["reject"], reject)
	c.ctx.place = inState
	for _, s := range b.States {
		s.used = true // reachable tells which are used
		c.state(s)
	}
	c.reachable(d, b)
}

func (c *checker) state(s *State) {
	d := s.Decl
	done := c.push()
	defer done()
	for _, st := range d.Stmts {
		c.stmt(st)
	}
	switch {
	case d.Select != nil:
		c.selectExpr(d.Select)
	case d.Transition != nil:
		c.target(d.Transition)
	}
}

// target resolves the state that a transition names.
func (c *checker) target(id *ast.Ident) {
	if id == nil {
		return
	}
	isState := func(o Object) bool { _, ok := o.(*State); return ok }
	objs := c.lookup(id.Name, false, isState)
	if len(objs) == 0 {
		if others := c.lookup(id.Name, false, anyObject); len(others) > 0 {
			c.err(id, CodeUnknown, "%s is not a state", describe(others[0])).hintNear(c.near(id.Name, isState))
			return
		}
		c.err(id, CodeUnknown, "unknown state %s", quote(id.Name)).hintNear(c.near(id.Name, isState))
		return
	}
	c.info.Uses[id] = objs[0]
}

// instantiation checks Type(Args) Name;.
func (c *checker) instantiation(d *ast.Instantiation) {
	c.annos(d.Annos)
	t := c.genericTyp(d.Type)
	inst := &Instance{Decl: d}
	inst.typ = InvalidType
	if t == InvalidType {
		for _, a := range d.Args {
			c.arg(a)
		}
	} else {
		call := c.construct(d.Type, t, d.Args, d)
		if call != nil {
			inst.Call = call
			inst.typ = call.Type
			c.instancePlace(d, call.Type)
		}
	}
	name := d.Name
	c.define(inst, name, d.Annos, d)
	if d.HasInit || len(d.Init) > 0 {
		c.objectInit(inst, d)
	} else {
		c.abstractsDone(inst, nil, d)
	}
}

// instancePlace checks where objects of a type may be instantiated (specification appendix F).
func (c *checker) instancePlace(n ast.Node, t Type) {
	p := c.ctx.place
	switch p {
	case inState, inApply, inAction, inFunction, inMethod:
		c.err(n, CodeInstance, "nothing can be instantiated %s", p).hint("move it to the local declarations of the parser or control")
		return
	}
	switch t := t.(type) {
	case *Block:
		switch {
		case t.IsType:
			return
		case p == atTop:
			c.err(n, CodeInstance, "a %s cannot be instantiated at top level", t.Kind).
				hint("pass %s() as an argument to the package, or instantiate it in another %s", t.Name, t.Kind)
		case t.Kind == ControlBlock && p == inParserLocals:
			c.err(n, CodeInstance, "a control cannot be instantiated in a parser")
		case t.Kind == ParserBlock && p == inControlLocals:
			c.err(n, CodeInstance, "a parser cannot be instantiated in a control")
		}
	case *Package:
		if p != atTop {
			c.err(n, CodeInstance, "a package cannot be instantiated %s", p)
		}
	}
}

// objectInit checks the initializer block of an instance: its instances and the abstract methods it implements.
func (c *checker) objectInit(inst *Instance, d *ast.Instantiation) {
	outer := c.scope
	s := newScope(outer)
	c.scope = s
	x, _ := inst.typ.(*Extern)
	if x == nil && inst.typ != InvalidType {
		c.err(d, CodeBadMethod, "only an extern object can have an initializer, not %s", inst.typ)
	}
	if x != nil && len(d.Init) > 0 && !x.implicitCtor() {
		c.errAt(posOf(d.Name, d), d.To, CodeBadMethod, "extern %s has no abstract methods, so it takes no initializer", x)
	}
	outerThis := c.this
	c.this = inst
	done := map[string]*Func{}
	for _, l := range d.Init {
		switch l := l.(type) {
		case *ast.Instantiation:
			c.instantiation(l)
			if o := c.info.Defs[l]; o != nil {
				inst.Locals = append(inst.Locals, o)
			}
		case *ast.FuncDecl:
			if f := c.methodImpl(inst, x, l); f != nil {
				if prev := done[f.name]; prev != nil {
					r := c.err(l.Proto, CodeDuplicate, "method %s is implemented twice", quote(f.name))
					c.note(r, prev.pos, "the other implementation is here")
				}
				done[f.name] = f
				inst.Impls = append(inst.Impls, f)
			}
		case nil:
		default:
			c.err(l, CodePlace, "this declaration cannot stand in an initializer")
		}
	}
	c.this = outerThis
	c.unused(s)
	c.scope = outer
	c.abstractsDone(inst, done, d)
}

// abstractsDone checks that all abstract methods are implemented.
func (c *checker) abstractsDone(inst *Instance, done map[string]*Func, n ast.Node) {
	x, _ := inst.typ.(*Extern)
	if x == nil {
		return
	}
	for _, m := range x.Methods() {
		if m.Abstract && done[m.name] == nil && findAnno(m.annos, "optional") == nil {
			r := c.err(n, CodeAbstract, "%s needs an implementation of abstract method %s", quote(inst.name), quote(m.name)).
				hint("add = { %s } to the instantiation", protoText(m))
			c.note(r, m.pos, "declared here")
		}
	}
}

func protoText(m *Func) string {
	s := m.Sig.Result.String() + " " + m.name + "("
	for i, p := range m.Sig.Params {
		if i > 0 {
			s += ", "
		}
		s += p.describe()
	}
	return s + ") { ... }"
}

// methodImpl checks a function in an initializer block against the abstract method that it implements.
func (c *checker) methodImpl(inst *Instance, x *Extern, d *ast.FuncDecl) *Func {
	p := d.Proto
	if p == nil || p.Name == nil {
		return nil
	}
	f := &Func{Proto: p, Decl: d, Recv: x}
	f.object = object{name: p.Name.Name, pos: p.Name.From, node: d, annos: p.Annos, used: true}
	c.info.Defs[d] = f
	done := c.push()
	defer done()
	f.Sig = c.signature(p, paramsOf{what: "method"})
	f.typ = f.Sig
	if x != nil {
		c.matchesAbstract(f, x)
	}
	c.in(func(k *context) { *k = context{place: inMethod, fun: f.Sig, fn: f, block: k.block} }, func() { c.funcBody(d.Body, f.Sig, p) })
	return f
}

func (c *checker) matchesAbstract(f *Func, x *Extern) {
	var abstract *Func
	near := newNearest(f.name)
	for _, m := range x.Methods() {
		if m.Abstract {
			near.offer(m.name)
			if m.name == f.name {
				abstract = m
			}
		}
	}
	if abstract == nil {
		if x.implicitCtor() {
			c.err(f.Proto.Name, CodeBadMethod, "%s has no abstract method %s to implement", x, quote(f.name)).hintNear(near.best)
		}
		return
	}
	if !implements(f.Sig, abstract.Sig) {
		r := c.errAt(f.Proto.From, f.Proto.To, CodeBadMethod, "%s does not match the abstract method that it implements", quote(f.name)).
			hint("expected %s", protoText(abstract))
		c.note(r, abstract.pos, "declared here")
	}
}

// implements tells whether a method may implement an abstract one: its signature is the same but for @optional parameters at the
// end that it leaves out.
func implements(impl, abstract *Signature) bool {
	n := len(impl.Params)
	if n < len(abstract.Params) && restOptional(impl.Params, abstract.Params) {
		abstract = &Signature{TypeParams: abstract.TypeParams, Params: abstract.Params[:n], Result: abstract.Result}
	}
	return identicalSignatures(abstract, impl)
}

// posOf returns the position of a node, or of another when it is nil.
func posOf(id *ast.Ident, n ast.Node) diag.Pos {
	if id != nil {
		return id.From
	}
	return n.Pos()
}
