package types

import (
	"khop/p4/ast"
)

// paramsOf says whose parameters are being checked.
type paramsOf struct {
	what   string // for messages: "parser", "control", "action", "function", "extern function", "method", "package", "extern"
	ctor   bool   // constructor parameters
	proto  bool   // there is no body
	block  BlockKind
	inBody bool // constructor parameters of a parser or control
}

// optionalAllowed tells whether parameters may be @optional (specification section 6.8.2).
func (p paramsOf) optionalAllowed() bool {
	return p.what != "action" && p.what != "function" && !p.inBody
}

// params checks parameters and declares them in the current scope.
func (c *checker) params(list []*ast.Param, of paramsOf) []*Param {
	var out []*Param
	dataSeen := false
	for _, ap := range list {
		c.annos(ap.Annos)
		p := &Param{Dir: ap.Dir, Default: ap.Default, Ctor: of.ctor}
		p.typ = c.genericParamType(ap)
		what := of.what + " parameter " + quote(identName(ap.Name))
		if p.typ != InvalidType {
			if why := paramTypeProblem(p.typ, ap.Dir, of); why != "" {
				c.err(ap.Type, CodeParamType, "%s cannot have type %s: %s", what, p.typ, why)
				p.typ = InvalidType
			}
		}
		if of.ctor && ap.Dir != ast.None {
			c.err(ap, CodeDirection, "constructor parameter %s cannot have a direction", quote(identName(ap.Name))).
				hint("leave out %s: the argument is known at compile time", ap.Dir)
			p.Dir = ast.None
		}
		if of.what == "action" {
			if ap.Dir == ast.None {
				dataSeen = true
			} else if dataSeen {
				c.err(ap, CodeDirection, "parameter %s has a direction but follows a directionless one", quote(identName(ap.Name))).
					hint("put the directionless parameters, which the control plane supplies, last")
			}
		}
		p.Optional = findAnno(ap.Annos, "optional") != nil
		if p.Optional && !of.optionalAllowed() {
			c.err(ap, CodeAnnotation, "a parameter of %s cannot be @optional", article(of.what)).
				hint("that is for packages, parsers, controls and externs")
		}
		if ap.Default != nil {
			c.paramDefault(ap, p)
		}
		c.define(p, ap.Name, ap.Annos, ap)
		if ap.Name == nil {
			c.info.Defs[ap] = p
		}
		out = append(out, p)
	}
	return out
}

func (c *checker) genericParamType(ap *ast.Param) Type {
	return c.typ(ap.Type)
}

func (c *checker) paramDefault(ap *ast.Param, p *Param) {
	x := c.expr(ap.Default)
	switch {
	case p.Dir == ast.Out || p.Dir == ast.InOut:
		c.err(ap.Default, CodeDirection, "a parameter with direction %s cannot have a default value", p.Dir)
		return
	case p.Optional:
		c.err(ap.Default, CodeAnnotation, "an @optional parameter cannot have a default value")
		return
	}
	if x.mode != ConstMode && x.typ != InvalidType {
		c.err(ap.Default, CodeNotConst, "the default value of parameter %s is not known at compile time", quote(identName(ap.Name)))
		return
	}
	if isObjectType(p.typ) {
		// The argument may fix type variables of the package; the call checks it.
		return
	}
	c.assign(&x, p.typ, "the default value of "+quote(identName(ap.Name)))
}

// paramTypeProblem says why a parameter cannot have a type, or "" (specification section 6.8 and appendix F).
func paramTypeProblem(t Type, dir ast.Direction, of paramsOf) string {
	switch t := resolve(t).(type) {
	case *Basic:
		switch t.Kind {
		case VoidKind:
			return "it has no values"
		case StringKind, InfIntKind:
			if dir != ast.None {
				return "values of that type exist at compile time only; leave out " + dir.String()
			}
			if of.what == "action" && t.Kind == InfIntKind {
				return "an int has no width; use bit<W> or int<W>"
			}
		case MatchKindKind:
			if dir != ast.None {
				return "values of that type exist at compile time only; leave out " + dir.String()
			}
		case DontCareKind:
			return "a type is needed"
		}
	case *List:
		if dir != ast.None {
			return "lists exist at compile time only; leave out " + dir.String()
		}
	case *Extern:
		if of.what == "action" {
			return "actions cannot take extern objects"
		}
		if dir != ast.None {
			return "extern objects are passed without direction; leave out " + dir.String()
		}
	case *Block:
		switch {
		case !of.ctor:
			return "a " + t.Kind.String() + " can only be a constructor parameter"
		case of.what == "extern":
			return "externs cannot call parsers or controls"
		case !t.IsType:
			return "name a " + t.Kind.String() + " type, declared without body"
		case of.inBody && t.Kind != of.block:
			return "a " + of.block.String() + " cannot call a " + t.Kind.String()
		}
	case *Package:
		if of.what != "package" {
			return "packages can only be parameters of packages"
		}
	}
	return ""
}

func (c *checker) externFunc(d *ast.ExternFunc) {
	if d.Proto == nil {
		return
	}
	c.annos(d.Proto.Annos)
	done := c.push()
	f := &Func{Proto: d.Proto}
	f.Sig = c.signature(d.Proto, paramsOf{what: "extern function", proto: true})
	f.typ = f.Sig
	c.markUsed(c.scope)
	done()
	c.define(f, d.Proto.Name, d.Proto.Annos, d)
}

// signature checks the head of a function or method; its type variables and parameters are declared in the current scope.
func (c *checker) signature(p *ast.FuncProto, of paramsOf) *Signature {
	s := &Signature{Result: VoidType}
	s.TypeParams = c.typeParams(p.TypeParams)
	if p.Result != nil {
		s.Result = c.typ(p.Result)
		if _, factory := s.Result.(*Extern); isObjectType(s.Result) && (!factory || of.what == "function") {
			c.err(p.Result, CodeBadType, "%s cannot return %s", article(of.what), s.Result)
			s.Result = InvalidType
		}
		if s.Result == InfIntType || s.Result == StringType {
			c.err(p.Result, CodeBadType, "%s cannot return %s, whose values exist at compile time only", article(of.what), s.Result)
			s.Result = InvalidType
		}
	}
	s.Params = c.params(p.Params, of)
	return s
}

func (c *checker) externDecl(d *ast.ExternDecl) {
	c.annos(d.Annos)
	x := &Extern{Name: identName(d.Name), Decl: d}
	done := c.push()
	x.TypeParams = c.typeParams(d.TypeParams)
	for _, p := range d.Methods {
		c.externMethod(x, p)
	}
	c.markUsed(c.scope)
	done()
	o := &TypeName{}
	o.typ = x
	c.define(o, d.Name, d.Annos, d)
}

func (c *checker) externMethod(x *Extern, p *ast.FuncProto) {
	if p == nil || p.Name == nil {
		return
	}
	c.annos(p.Annos)
	f := &Func{Proto: p, Recv: x, Abstract: p.Abstract, Ctor: p.Result == nil}
	f.object = object{name: p.Name.Name, pos: p.Name.From, node: p, annos: p.Annos}
	c.info.Defs[p] = f
	done := c.push()
	of := paramsOf{what: "method", proto: true}
	if f.Ctor {
		of = paramsOf{what: "extern", ctor: true, proto: true}
		if f.name != x.Name {
			c.err(p.Name, CodeBadMethod, "method %s has no return type, and only a constructor, named %s, may have none", quote(f.name), quote(x.Name)).
				hint("write void %s(...)", f.name)
			f.Ctor = false
		} else if len(p.TypeParams) > 0 {
			c.err(p, CodeBadMethod, "a constructor cannot have type parameters")
		} else if p.Abstract {
			c.err(p, CodeBadMethod, "a constructor cannot be abstract")
		}
	} else if f.name == x.Name {
		c.err(p.Name, CodeBadMethod, "method %s is named like its extern and is no constructor, because it has a return type", quote(f.name))
	}
	f.Sig = c.signature(p, of)
	f.typ = f.Sig
	c.markUsed(c.scope)
	done()
	list := &x.methods
	if f.Ctor {
		list = &x.ctors
	}
	for _, g := range *list {
		if g.name != f.name {
			continue
		}
		if sameCall(f.Sig, g.Sig) || f.Abstract && g.Abstract {
			r := c.err(p.Name, CodeDuplicate, "method %s is declared twice", quote(f.name))
			c.note(r, g.pos, "the other declaration is here")
			return
		}
	}
	*list = append(*list, f)
}

func (c *checker) funcDecl(d *ast.FuncDecl) {
	p := d.Proto
	if p == nil {
		return
	}
	c.annos(p.Annos)
	f := &Func{Proto: p, Decl: d}
	inner := newScope(c.scope)
	outer := c.scope
	c.scope = inner
	f.Sig = c.signature(p, paramsOf{what: "function"})
	f.typ = f.Sig
	f.name = identName(p.Name)
	c.in(func(x *context) { *x = context{place: inFunction, fun: f.Sig, fn: f} }, func() { c.funcBody(d.Body, f.Sig, p) })
	c.unused(inner)
	c.scope = outer
	// Only now, because a function cannot call itself: its name in its body is that of an earlier one.
	c.define(f, p.Name, p.Annos, d)
}

// funcBody checks a body, and that it returns a value on every path when it must.
func (c *checker) funcBody(body *ast.BlockStmt, sig *Signature, p *ast.FuncProto) {
	if body == nil {
		return
	}
	c.block(body)
	if sig.Result != VoidType && sig.Result != InvalidType && !terminates(body) {
		c.err(p, CodeMissingReturn, "function %s does not return a value on every path", quote(identName(p.Name))).
			hint("end it with return VALUE; of type %s", sig.Result)
	}
}

func (c *checker) actionDecl(d *ast.ActionDecl) *Action {
	c.annos(d.Annos)
	a := &Action{Decl: d, Owner: c.ctx.block}
	inner := newScope(c.scope)
	outer := c.scope
	c.scope = inner
	a.Params = c.params(d.Params, paramsOf{what: "action"})
	a.typ = &Signature{Params: a.Params, Result: VoidType}
	a.name = identName(d.Name)
	c.in(func(x *context) { *x = context{place: inAction, block: x.block, action: a} }, func() {
		if d.Body != nil {
			c.block(d.Body)
		}
	})
	c.unused(inner)
	c.scope = outer
	c.define(a, d.Name, d.Annos, d) // only now, because an action cannot call itself
	return a
}
