package types

import (
	"khop/p4/ast"
)

// maxWidth bounds the width of integer types, maxArray the size of arrays, maxTypeNodes the size of tuple types: far beyond any
// packet, and small enough that no program makes the checker run out of memory.
const (
	maxWidth     = 1 << 20
	maxArray     = 1 << 16
	maxTypeNodes = 10000
)

// typ resolves a type as written. A generic type must have type arguments.
func (c *checker) typ(te ast.Type) Type {
	t := c.genericTyp(te)
	if n := len(typeParamsOf(t)); n > 0 {
		c.err(te, CodeTypeArgs, "%s needs %d type %s", t, n, plural(n, "argument"))
		t = InvalidType
		c.info.TypeExprs[te] = t
	}
	return t
}

func plural(n int, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}

// genericTyp resolves a type as written, which may be a generic type without type arguments.
func (c *checker) genericTyp(te ast.Type) Type {
	if te == nil {
		return InvalidType
	}
	t := Type(InvalidType)
	if c.enter(te) {
		t = c.rawTyp(te)
	}
	c.leave()
	c.info.TypeExprs[te] = t
	return t
}

func (c *checker) rawTyp(te ast.Type) Type {
	switch te := te.(type) {
	case *ast.BaseType:
		return c.baseType(te)
	case *ast.TypeName:
		return c.typeName(te)
	case *ast.SpecializedType:
		return c.specialized(te)
	case *ast.ArrayType:
		return c.arrayType(te)
	case *ast.TupleType:
		t := &Tuple{}
		for _, a := range te.Args {
			e := c.typ(a)
			if why := c.cannotHold("tuple", e); why != "" {
				c.err(a, CodeBadType, "a tuple cannot hold %s: %s", e, why)
				e = InvalidType
			}
			t.Elems = append(t.Elems, e)
		}
		if n := maxTypeNodes; !countNodes(t, &n) {
			c.err(te, CodeTooDeep, "the type is too large")
			return InvalidType
		}
		return t
	case *ast.ListType:
		e := c.typ(te.Elem)
		if why := c.cannotHold("list", e); why != "" {
			c.err(te.Elem, CodeBadType, "a list cannot hold %s: %s", e, why)
			e = InvalidType
		}
		return &List{e}
	case *ast.DontCareType:
		return DontCareType
	}
	return InvalidType
}

// countNodes tells whether a structural type has no more nodes than the budget.
func countNodes(t Type, budget *int) bool {
	if *budget--; *budget < 0 {
		return false
	}
	switch t := t.(type) {
	case *Tuple:
		for _, e := range t.Elems {
			if !countNodes(e, budget) {
				return false
			}
		}
	case *Stack:
		return countNodes(t.Elem, budget)
	case *List:
		return countNodes(t.Elem, budget)
	case *Struct:
		for _, e := range t.TypeArgs {
			if !countNodes(e, budget) {
				return false
			}
		}
	case *Extern:
		for _, e := range t.TypeArgs {
			if !countNodes(e, budget) {
				return false
			}
		}
	}
	return true
}

func (c *checker) baseType(te *ast.BaseType) Type {
	switch te.Kind {
	case ast.TBool:
		return BoolType
	case ast.TMatchKind:
		return MatchKindType
	case ast.TError:
		return ErrorType
	case ast.TString:
		return StringType
	case ast.TVoid:
		return VoidType
	}
	if te.Width == nil {
		if te.Kind == ast.TInt {
			return InfIntType
		}
		return &Bit{1}
	}
	w, ok := c.width(te.Width, te.Kind.String())
	if !ok {
		return InvalidType
	}
	switch te.Kind {
	case ast.TBit:
		return &Bit{w}
	case ast.TInt:
		if w == 0 {
			c.err(te.Width, CodeWidth, "int<0> does not exist: a signed integer has at least one bit")
			return InvalidType
		}
		return &Int{w}
	}
	return &Varbit{w}
}

// width evaluates the width of a type.
func (c *checker) width(e ast.Expr, what string) (int, bool) {
	x := c.expr(e)
	v := c.localInt(&x, "the width of "+what)
	if v == nil {
		return 0, false
	}
	if v.Sign() < 0 {
		c.err(e, CodeWidth, "the width of %s cannot be negative (%s)", what, v)
		return 0, false
	}
	if !v.IsInt64() || v.Int64() > maxWidth {
		c.err(e, CodeWidth, "the width of %s cannot be larger than %d", what, maxWidth)
		return 0, false
	}
	return int(v.Int64()), true
}

func (c *checker) typeName(te *ast.TypeName) Type {
	if te.Name == nil {
		return InvalidType
	}
	name := te.Name.Name
	objs := c.lookup(name, te.Global, typeOnly)
	if len(objs) == 0 {
		if others := c.lookup(name, te.Global, anyObject); len(others) > 0 {
			c.err(te, CodeUnknown, "%s is not a type", describe(others[0]))
			return InvalidType
		}
		c.err(te, CodeUnknown, "unknown type %s", quote(name)).hintNear(c.near(name, typeOnly))
		return InvalidType
	}
	c.info.Uses[te] = objs[0]
	c.deprecated(te, objs[0])
	return objs[0].Type()
}

// typeParamsOf returns the type variables of a generic declaration.
func typeParamsOf(t Type) []*TypeParam {
	switch t := t.(type) {
	case *Struct:
		return t.TypeParams
	case *Extern:
		return t.TypeParams
	case *Block:
		return t.TypeParams
	case *Package:
		return t.TypeParams
	}
	return nil
}

func instantiate(t Type, args []Type) Type {
	switch t := t.(type) {
	case *Struct:
		return t.instantiate(args)
	case *Extern:
		return t.instantiate(args)
	case *Block:
		return t.instantiate(args)
	case *Package:
		return t.instantiate(args)
	}
	return t
}

func (c *checker) specialized(te *ast.SpecializedType) Type {
	base := c.genericTyp(te.Base)
	var args []Type
	bad := false
	for _, a := range te.Args {
		t := c.typ(a)
		if isObjectType(t) {
			if _, ok := base.(*Package); !ok {
				c.err(a, CodeTypeArgs, "%s is an object type and cannot be a type argument", t)
				t = InvalidType
			}
		}
		bad = bad || t == InvalidType
		args = append(args, t)
	}
	if base == InvalidType {
		return base
	}
	tps := typeParamsOf(base)
	if len(tps) == 0 {
		c.err(te, CodeTypeArgs, "%s is not generic and takes no type arguments", base)
		return InvalidType
	}
	if len(tps) != len(args) {
		c.err(te, CodeTypeArgs, "%s takes %d type %s, not %d", base, len(tps), plural(len(tps), "argument"), len(args))
		return InvalidType
	}
	if bad {
		return InvalidType
	}
	for i, t := range args {
		if s, ok := base.(*Struct); ok && t == DontCareType {
			c.err(te.Args[i], CodeTypeArgs, "_ cannot be a type argument of %s", s.Name)
			return InvalidType
		}
	}
	t := instantiate(base, args)
	if n := maxTypeNodes; !countNodes(t, &n) {
		c.err(te, CodeTooDeep, "the type is too large")
		return InvalidType
	}
	if why := c.illFormed(t); why != "" {
		c.err(te, CodeBadType, "%s", why)
		return InvalidType
	}
	return t
}

func (c *checker) arrayType(te *ast.ArrayType) Type {
	elem := c.typ(te.Elem)
	x := c.expr(te.Size)
	v := c.localInt(&x, "the size of an array")
	if elem != InvalidType {
		if why := c.cannotHold("array", elem); why != "" {
			c.err(te.Elem, CodeBadType, "an array cannot hold %s: %s", elem, why)
			elem = InvalidType
		}
	}
	if v == nil || elem == InvalidType {
		return InvalidType
	}
	if v.Sign() < 0 {
		c.err(te.Size, CodeWidth, "the size of an array must be positive, not %s", v)
		return InvalidType
	}
	if v.Sign() == 0 {
		c.warn(te.Size, CodeEmptyArray, "the array has no elements")
	}
	if !v.IsInt64() || v.Int64() > maxArray {
		c.err(te.Size, CodeWidth, "the size of an array cannot be larger than %d", maxArray)
		return InvalidType
	}
	return &Stack{elem, int(v.Int64())}
}

// cannotHold says why a container (header, header_union, struct, tuple, list or array) cannot hold a type, or "" when it can
// (specification section 7.2.9, type nesting rules).
func (c *checker) cannotHold(container string, t Type) string {
	switch u := resolve(t).(type) {
	case *NewType:
		return c.cannotHold(container, u.Base)
	case *TypeParam:
		return ""
	case *Basic:
		switch u.Kind {
		case Invalid:
			return ""
		case BoolKind:
			if container == "header_union" {
				return "a header_union holds headers only"
			}
			return ""
		case InfIntKind:
			if container != "list" && container != "tuple" {
				return "an int has no width; use bit<W> or int<W>"
			}
			return ""
		case StringKind, MatchKindKind:
			if container != "list" && (container != "tuple" || u.Kind == StringKind) {
				return "values of that type exist at compile time only"
			}
			return ""
		case ErrorKind:
			if container == "header" || container == "header_union" {
				return "an error has no representation in packets"
			}
			return ""
		case VoidKind:
			return "it has no values"
		}
		return "it is not a complete type"
	case *Bit, *Int, *Varbit:
		if container == "header_union" {
			return "a header_union holds headers only"
		}
		return ""
	case *Enum:
		switch {
		case container == "header_union":
			return "a header_union holds headers only"
		case container == "header" && u.Underlying == nil:
			return "an enum in a header needs an underlying type (enum bit<W> ...)"
		}
		return ""
	case *Struct:
		switch {
		case u.Kind == StructHeader && container == "header":
			return "headers cannot be nested"
		case u.Kind == StructUnion && (container == "header" || container == "header_union"):
			return "a header_union cannot be nested in it"
		case u.Kind == StructStruct && container == "header_union":
			return "a header_union holds headers only"
		case u.Kind == StructStruct && container == "header":
			return c.structInHeader(u)
		}
		return ""
	case *Stack:
		hs := isHeaderStack(u)
		switch {
		case container == "header_union":
			return "a header_union holds headers only"
		case container == "header" && hs:
			return "headers cannot be nested"
		case container == "array" && hs:
			return "header stacks cannot be nested"
		case container == "header":
			return c.cannotHold("header", u.Elem)
		}
		return ""
	case *Tuple:
		switch container {
		case "header", "header_union":
			return "a tuple has no layout"
		case "array":
			return "use a struct"
		}
		return ""
	case *List:
		if container != "list" {
			return "lists exist at compile time only"
		}
		return ""
	case *Extern:
		if container == "array" {
			return ""
		}
		return "it is an extern object, not a value"
	case *Block:
		return "it is a " + u.Kind.String() + ", not a value"
	case *Package:
		return "it is a package, not a value"
	}
	return "it is not a value type"
}

// structInHeader says why a struct cannot be a field of a header, or "".
func (c *checker) structInHeader(t *Struct) string {
	if why, ok := c.inHeaders[t]; ok {
		return why
	}
	why := ""
	for _, f := range t.Fields {
		if w := c.cannotHold("header", f.typ); w != "" {
			why = "its field " + quote(f.name) + " has type " + f.typ.String() + ": " + w
			break
		}
		if _, ok := underlying(f.typ).(*Varbit); ok {
			why = "its field " + quote(f.name) + " is a varbit"
			break
		}
	}
	c.inHeaders[t] = why
	return why
}

func isHeaderStack(t Type) bool {
	s, ok := resolve(t).(*Stack)
	if !ok {
		return false
	}
	e, ok := resolve(s.Elem).(*Struct)
	return ok && e.Kind != StructStruct
}

// illFormed says what is wrong with a type in which type variables were replaced, or "".
func (c *checker) illFormed(t Type) string {
	switch t := resolve(t).(type) {
	case *Struct:
		if t.Origin == nil {
			return ""
		}
		if why, ok := c.formed[t]; ok {
			return why
		}
		why := c.instanceIllFormed(t)
		c.formed[t] = why
		return why
	case *Tuple:
		for _, e := range t.Elems {
			if why := c.cannotHold("tuple", e); why != "" {
				return "a tuple cannot hold " + e.String() + ": " + why
			}
			if why := c.illFormed(e); why != "" {
				return why
			}
		}
	case *Stack:
		if why := c.cannotHold("array", t.Elem); why != "" {
			return "an array cannot hold " + t.Elem.String() + ": " + why
		}
		return c.illFormed(t.Elem)
	case *List:
		if why := c.cannotHold("list", t.Elem); why != "" {
			return "a list cannot hold " + t.Elem.String() + ": " + why
		}
		return c.illFormed(t.Elem)
	}
	return ""
}

func (c *checker) instanceIllFormed(t *Struct) string {
	for _, f := range t.Fields {
		if why := c.cannotHold(t.Kind.String(), f.typ); why != "" {
			return "field " + quote(f.name) + " of " + t.String() + " would have type " + f.typ.String() + ": " + why
		}
		if why := c.illFormed(f.typ); why != "" {
			return why
		}
	}
	return ""
}

// isObjectType tells whether values of a type are objects made by instantiation.
func isObjectType(t Type) bool {
	switch resolve(t).(type) {
	case *Extern, *Block, *Package:
		return true
	}
	return false
}
