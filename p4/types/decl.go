package types

import (
	"khop/p4/ast"
)

// topDecl checks a top-level declaration.
func (c *checker) topDecl(d ast.Decl) {
	if d == nil {
		return
	}
	switch d := d.(type) {
	case *ast.ConstDecl:
		c.constDecl(d)
	case *ast.VarDecl:
		c.err(d, CodePlace, "a variable cannot be declared at top level").
			hint("declare a constant, or move the variable into a parser, control, action or function")
		c.recoverDecl(d.Name, &Var{object: object{typ: InvalidType}}, d)
	case *ast.Instantiation:
		c.instantiation(d)
	case *ast.ErrorDecl:
		c.errorDecl(d)
	case *ast.MatchKindDecl:
		c.matchKindDecl(d)
	case *ast.ExternDecl:
		c.externDecl(d)
	case *ast.ExternFunc:
		c.externFunc(d)
	case *ast.FuncDecl:
		c.funcDecl(d)
	case *ast.ActionDecl:
		c.actionDecl(d)
	case *ast.ParserDecl:
		c.parserDecl(d)
	case *ast.ControlDecl:
		c.controlDecl(d)
	case *ast.PackageDecl:
		c.packageDecl(d)
	case *ast.HeaderDecl:
		c.structDecl(d, StructHeader, d.Name, d.Annos, d.TypeParams, d.Fields)
	case *ast.UnionDecl:
		c.structDecl(d, StructUnion, d.Name, d.Annos, d.TypeParams, d.Fields)
	case *ast.StructDecl:
		c.structDecl(d, StructStruct, d.Name, d.Annos, d.TypeParams, d.Fields)
	case *ast.EnumDecl:
		c.enumDecl(d)
	case *ast.TypedefDecl:
		c.typedefDecl(d)
	case *ast.ValueSetDecl:
		c.valueSetDecl(d)
	case *ast.TableDecl:
		c.err(d, CodePlace, "a table cannot be declared at top level").hint("declare it in a control")
		c.recoverDecl(d.Name, &Var{object: object{typ: InvalidType}}, d)
	}
}

// recoverDecl declares a name with an object whose declaration is wrong, so that its uses are not reported as well.
func (c *checker) recoverDecl(id *ast.Ident, o Object, node ast.Node) {
	b := o.base()
	b.used = true
	c.define(o, id, nil, node)
}

// define fills in what all objects have, records the object as the definition of its node, and declares it.
func (c *checker) define(o Object, id *ast.Ident, annos []*ast.Annotation, node ast.Node) {
	if id == nil {
		return
	}
	b := o.base()
	b.name, b.pos, b.annos, b.node = id.Name, id.From, annos, node
	c.info.Defs[node] = o
	c.declare(o)
}

func (c *checker) constDecl(d *ast.ConstDecl) {
	c.annos(d.Annos)
	t := c.typ(d.Type)
	switch {
	case t == VoidType:
		c.err(d.Type, CodeBadType, "a constant cannot have type void")
		t = InvalidType
	case isObjectType(t):
		c.err(d.Type, CodeBadType, "a constant cannot have type %s", t)
		t = InvalidType
	}
	o := &Const{}
	o.typ = t
	if d.Value != nil {
		x := c.expr(d.Value)
		if t == InvalidType {
		} else if c.assign(&x, t, "the value of constant "+identName(d.Name)) {
			if x.mode == ConstMode {
				o.Value = c.info.ValueOf(d.Value)
			}
			if o.Value == nil && x.typ != InvalidType && !c.mentionsTypeParam(x) {
				c.err(d.Value, CodeNotConst, "the value of constant %s is not known at compile time", quote(identName(d.Name)))
			}
		}
	}
	c.define(o, d.Name, d.Annos, d)
}

func identName(id *ast.Ident) string {
	if id == nil {
		return ""
	}
	return id.Name
}

// varDecl checks a variable of a block, parser, control, action or function.
func (c *checker) varDecl(d *ast.VarDecl) *Var {
	c.annos(d.Annos)
	t := c.varType(d.Type, "variable "+quote(identName(d.Name)))
	o := &Var{Init: d.Init}
	o.typ = t
	if d.Init != nil {
		x := c.expr(d.Init)
		c.assign(&x, t, "the initial value of "+quote(identName(d.Name)))
	}
	c.define(o, d.Name, d.Annos, d)
	return o
}

// varType resolves the type of a variable, which must be one that run-time values can have.
func (c *checker) varType(te ast.Type, what string) Type {
	t := c.typ(te)
	if t == InvalidType {
		return t
	}
	why := ""
	switch u := underlying(t).(type) {
	case *Basic:
		switch u.Kind {
		case InfIntKind:
			why = "it has no width; use bit<W> or int<W>"
		case StringKind, VoidKind, MatchKindKind:
			why = "values of that type exist at compile time only"
			if u.Kind == VoidKind {
				why = "it has no values"
			}
		}
	case *List:
		why = "lists exist at compile time only"
	case *Extern, *Block, *Package:
		why = "objects of that type are made by instantiation: " + t.String() + "(...) name;"
	}
	if why != "" {
		c.err(te, CodeBadType, "%s cannot have type %s: %s", what, t, why)
		return InvalidType
	}
	return t
}

func (c *checker) errorDecl(d *ast.ErrorDecl) {
	for _, id := range d.Names {
		if id == nil {
			continue
		}
		if prev := c.errorsByName[id.Name]; prev != nil {
			r := c.err(id, CodeDuplicate, "error %s is declared twice", quote(id.Name))
			c.note(r, prev.pos, "the other declaration is here")
			continue
		}
		m := &ErrorMember{Index: len(c.info.Errors)}
		m.object = object{name: id.Name, pos: id.From, typ: ErrorType, node: id}
		c.errorsByName[id.Name] = m
		c.info.Errors = append(c.info.Errors, m)
		c.info.Defs[id] = m
	}
}

func (c *checker) matchKindDecl(d *ast.MatchKindDecl) {
	for _, id := range d.Names {
		if id == nil {
			continue
		}
		m := &MatchKindMember{Index: len(c.info.MatchKinds)}
		m.typ = MatchKindType
		c.info.MatchKinds = append(c.info.MatchKinds, m)
		c.define(m, id, nil, id)
	}
}

func (c *checker) enumDecl(d *ast.EnumDecl) {
	c.annos(d.Annos)
	e := &Enum{Name: identName(d.Name), Decl: d}
	if d.Type != nil {
		switch t := c.typ(d.Type); t := t.(type) {
		case *Bit, *Int:
			e.Underlying = t
		default:
			if t != InvalidType {
				c.err(d.Type, CodeBadType, "the underlying type of an enum must be bit<W> or int<W>, not %s", t)
			}
			e.Underlying = InvalidType
		}
	}
	done := c.push() // a value may name the members before it
	seen := map[string]*EnumMember{}
	for i, am := range d.Members {
		m := &EnumMember{Index: i}
		m.object = object{name: identName(am.Name), pos: am.Pos(), typ: e, node: am}
		c.info.Defs[am] = m
		switch {
		case am.Value == nil && d.Type != nil:
			c.err(am, CodeEnumValue, "member %s needs a value, because %s has an underlying type", quote(m.name), quote(e.Name)).
				hint("write %s = VALUE", m.name)
		case am.Value != nil && d.Type == nil:
			c.expr(am.Value)
			c.err(am, CodeEnumValue, "member %s cannot have a value, because %s has no underlying type", quote(m.name), quote(e.Name)).
				hint("write enum bit<W> %s { ... }", e.Name)
		case am.Value != nil:
			m.Value = c.enumValue(am, e)
		}
		if prev := seen[m.name]; prev != nil {
			r := c.err(am, CodeDuplicate, "enum member %s is declared twice", quote(m.name))
			c.note(r, prev.pos, "the other declaration is here")
			continue
		}
		seen[m.name] = m
		e.Members = append(e.Members, m)
		c.scope.names[m.name] = []Object{m}
	}
	done()
	if e.Underlying == InvalidType {
		e.Underlying = &Bit{1}
		c.recoverDecl(d.Name, &TypeName{object: object{typ: InvalidType}}, d)
		return
	}
	o := &TypeName{}
	o.typ = e
	c.define(o, d.Name, d.Annos, d)
}

// enumValue checks the value of a member of a serializable enum.
func (c *checker) enumValue(am *ast.EnumMember, e *Enum) (v *bigInt) {
	x := c.expr(am.Value)
	if e.Underlying == InvalidType || x.typ == InvalidType {
		return nil
	}
	if i, ok := x.val.(*bigInt); ok && x.typ == InfIntType && !fits(i, e.Underlying) {
		c.err(am.Value, CodeEnumValue, "%s does not fit in %s, the underlying type of %s", i, e.Underlying, quote(e.Name))
		return nil
	}
	if !c.assign(&x, e.Underlying, "the value of enum member "+quote(identName(am.Name))) {
		return nil
	}
	i := c.info.IntOf(am.Value)
	if i == nil {
		c.err(am.Value, CodeNotConst, "the value of enum member %s is not known at compile time", quote(identName(am.Name)))
	}
	return i
}

func (c *checker) typedefDecl(d *ast.TypedefDecl) {
	c.annos(d.Annos)
	var base Type
	if d.Derived != nil {
		c.topDecl(d.Derived)
		base = InvalidType
		if o := c.info.Defs[d.Derived]; o != nil {
			base = o.Type()
		}
	} else {
		base = c.typ(d.Type)
	}
	word := "typedef"
	if d.IsNew {
		word = "type"
	}
	var pos ast.Node = d
	if d.Type != nil {
		pos = d.Type
	}
	bad := false
	if d.IsNew {
		switch underlying(base).(type) {
		case *Bit, *Int:
		default:
			bad = base != InvalidType && underlying(base) != BoolType && !isTypeParam(base)
		}
	} else {
		switch b := base.(type) {
		case *Basic:
			bad = b.Kind == VoidKind || b.Kind == StringKind || b.Kind == MatchKindKind
		}
	}
	if bad {
		r := c.err(pos, CodeBadType, "%s cannot be declared from %s", word, base)
		if d.IsNew {
			r.hint("type takes bit<W>, int<W>, bool, or a type declared from them")
		}
		base = InvalidType
	}
	o := &TypeName{Alias: !d.IsNew}
	o.typ = base
	if d.IsNew && base != InvalidType {
		o.typ = &NewType{Name: identName(d.Name), Decl: d, Base: base}
	}
	c.define(o, d.Name, d.Annos, d)
}

func isTypeParam(t Type) bool { _, ok := t.(*TypeParam); return ok }

// structDecl checks a struct, header or header union.
func (c *checker) structDecl(d ast.Decl, kind StructKind, name *ast.Ident, annos []*ast.Annotation, tps []*ast.Ident, fields []*ast.Field) {
	c.annos(annos)
	s := &Struct{Kind: kind, Name: identName(name), Decl: d}
	done := c.push()
	s.TypeParams = c.typeParams(tps)
	s.Fields = c.fields(kind, fields)
	done()
	o := &TypeName{}
	o.typ = s
	c.define(o, name, annos, d)
}

func (c *checker) fields(kind StructKind, list []*ast.Field) []*Field {
	var out []*Field
	seen := map[string]*Field{}
	for _, af := range list {
		c.annos(af.Annos)
		t := c.typ(af.Type)
		if why := c.cannotHold(kind.String(), t); why != "" {
			c.err(af.Type, CodeBadType, "field %s of a %s cannot have type %s: %s", quote(identName(af.Name)), kind, t, why)
			t = InvalidType
		}
		f := &Field{Index: len(out)}
		f.object = object{name: identName(af.Name), pos: af.Pos(), typ: t, node: af, annos: af.Annos}
		if af.Name != nil {
			f.pos = af.Name.From
		}
		c.info.Defs[af] = f
		if prev := seen[f.name]; prev != nil {
			r := c.err(af, CodeDuplicate, "field %s is declared twice", quote(f.name))
			c.note(r, prev.pos, "the other declaration is here")
			continue
		}
		seen[f.name] = f
		out = append(out, f)
	}
	return out
}

// typeParams declares type variables in the current scope.
func (c *checker) typeParams(ids []*ast.Ident) []*TypeParam {
	var out []*TypeParam
	for _, id := range ids {
		if id == nil {
			continue
		}
		p := &TypeParam{Name: id.Name, Ident: id}
		o := &TypeName{}
		o.typ = p
		c.define(o, id, nil, id)
		out = append(out, p)
	}
	return out
}

func (c *checker) packageDecl(d *ast.PackageDecl) {
	c.annos(d.Annos)
	p := &Package{Name: identName(d.Name), Decl: d}
	done := c.push()
	p.TypeParams = c.typeParams(d.TypeParams)
	p.Params = c.params(d.Params, paramsOf{what: "package", ctor: true, proto: true})
	c.markUsed(c.scope)
	done()
	o := &TypeName{}
	o.typ = p
	c.define(o, d.Name, d.Annos, d)
}

// markUsed keeps a scope's names from being reported as unused: those of prototypes.
func (c *checker) markUsed(s *scope) {
	for _, o := range s.order {
		o.base().used = true
	}
}

func (c *checker) valueSetDecl(d *ast.ValueSetDecl) {
	c.annos(d.Annos)
	t := c.typ(d.Type)
	if t != InvalidType && !c.validSetElem(t) {
		c.err(d.Type, CodeBadType, "a value set cannot hold %s", t).
			hint("its elements are bit<W>, int<W>, bool, an enum, a tuple or a struct of these")
		t = InvalidType
	}
	o := &ValueSet{Decl: d}
	o.typ = &Set{t}
	if d.Size != nil {
		x := c.expr(d.Size)
		o.Size = c.constSize(&x, "the size of value set "+quote(identName(d.Name)))
	}
	c.define(o, d.Name, d.Annos, d)
}

// validSetElem tells whether a value set can hold values of a type.
func (c *checker) validSetElem(t Type) bool {
	switch t := underlying(t).(type) {
	case *Bit, *Int, *Enum, *TypeParam:
		return true
	case *Basic:
		return t.Kind == BoolKind || t.Kind == ErrorKind || t.Kind == Invalid
	case *Tuple:
		for _, e := range t.Elems {
			if !c.validSetElem(e) {
				return false
			}
		}
		return true
	case *Struct:
		if t.Kind != StructStruct {
			return false
		}
		return c.structHolds(c.setElems, t, c.validSetElem)
	}
	return false
}
