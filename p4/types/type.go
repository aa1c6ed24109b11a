package types

import (
	"fmt"
	"strings"

	"khop/p4/ast"
)

// Type is a resolved P4 type.
type Type interface {
	// String spells the type as P4 source would.
	String() string
	isType()
}

// BasicKind names a type without parameters.
type BasicKind uint8

// The types without parameters. Invalid stands in for the type of what could not be checked; it is compatible with everything,
// so that one mistake is reported once.
const (
	Invalid BasicKind = iota
	BoolKind
	InfIntKind // int: integers of arbitrary precision, compile time only
	StringKind
	ErrorKind
	MatchKindKind
	VoidKind
	DontCareKind // the type _ and the argument _
	DotsKind     // "..." before its context gives it a type
	NoHeaderKind // {#} before its context gives it a type
	AnyKind      // anything matches: default and _ as keysets
)

// Basic is a type without parameters. There is one of each kind; compare pointers.
type Basic struct {
	Kind BasicKind
	name string
}

// The types without parameters.
var (
	InvalidType   = &Basic{Invalid, "<invalid>"}
	BoolType      = &Basic{BoolKind, "bool"}
	InfIntType    = &Basic{InfIntKind, "int"}
	StringType    = &Basic{StringKind, "string"}
	ErrorType     = &Basic{ErrorKind, "error"}
	MatchKindType = &Basic{MatchKindKind, "match_kind"}
	VoidType      = &Basic{VoidKind, "void"}
	DontCareType  = &Basic{DontCareKind, "_"}
	DotsType      = &Basic{DotsKind, "..."}
	NoHeaderType  = &Basic{NoHeaderKind, "{#}"}
	AnyType       = &Basic{AnyKind, "_"}
)

type (
	// Bit is bit<Width>, an unsigned integer of Width bits.
	Bit struct{ Width int }
	// Int is int<Width>, a two's complement integer of Width bits.
	Int struct{ Width int }
	// Varbit is varbit<Width>, a bit string of at most Width bits.
	Varbit struct{ Width int }

	// Enum is an enum; Underlying is a *Bit or *Int for a serializable one (specification section 7.2.1), otherwise nil.
	Enum struct {
		Name       string
		Decl       *ast.EnumDecl
		Underlying Type
		Members    []*EnumMember
	}

	// Struct is a struct, header or header_union; Kind tells which.
	Struct struct {
		Kind       StructKind
		Name       string
		Decl       ast.Decl // *ast.StructDecl, *ast.HeaderDecl or *ast.UnionDecl
		Fields     []*Field
		TypeParams []*TypeParam // of a generic declaration; empty on an instance
		TypeArgs   []Type       // of an instance of a generic declaration
		Origin     *Struct      // the generic declaration of an instance, otherwise nil
		instances  []*Struct
		open       []*Struct // instances with arguments still to be inferred, the latest maxOpen
	}

	// Stack is an array of headers or header unions, Elem[Size]. Since language version 1.2.5 Elem may be any type.
	Stack struct {
		Elem Type
		Size int
	}

	// Tuple is tuple<Elems>.
	Tuple struct{ Elems []Type }

	// List is list<Elem>, a compile-time list.
	List struct{ Elem Type }

	// Seq is the type of a list expression { a, b, ... } before its context gives it one. Dots is set when it ends with "...".
	Seq struct {
		Elems []Type
		Dots  bool
	}

	// Record is the type of a structure expression { a = x, ... } before its context gives it one.
	Record struct {
		Names []string
		Elems []Type
		Dots  bool
	}

	// NewType is a type declared by "type Base Name".
	NewType struct {
		Name string
		Decl *ast.TypedefDecl
		Base Type
	}

	// Extern is an extern object type. See Ctors and Methods.
	Extern struct {
		Name       string
		Decl       *ast.ExternDecl
		TypeParams []*TypeParam
		TypeArgs   []Type
		Origin     *Extern
		ctors      []*Func
		methods    []*Func
		filled     bool // of an instance: ctors and methods are computed
		instances  []*Extern
	}

	// Block is a parser or control, or the type of one (IsType).
	Block struct {
		Kind       BlockKind
		Name       string
		Decl       ast.Decl // *ast.ParserDecl or *ast.ControlDecl
		IsType     bool
		TypeParams []*TypeParam
		TypeArgs   []Type
		Origin     *Block
		Params     []*Param // of apply
		CtorParams []*Param
		// Locals are the constants, variables, instances, actions, tables and value sets declared in the block, in order, and
		// States the states of a parser. An instance of a generic block has neither.
		Locals    []Object
		States    []*State
		instances []*Block
	}

	// Package is a package type.
	Package struct {
		Name       string
		Decl       *ast.PackageDecl
		TypeParams []*TypeParam
		TypeArgs   []Type
		Origin     *Package
		Params     []*Param
		instances  []*Package
	}

	// Signature is the type of a function, method, action, or constructor.
	Signature struct {
		TypeParams []*TypeParam
		Params     []*Param
		Result     Type // VoidType if there is none
	}

	// TypeParam is a type variable. Owner names the declaration that binds it.
	TypeParam struct {
		Name  string
		Ident *ast.Ident
		infer bool // stands for a type argument that is still to be inferred
		bound Type // what inference found for it
	}

	// Set is the type of a keyset whose elements have type Elem.
	Set struct{ Elem Type }

	// TableType is the type of a table.
	TableType struct{ Table *Table }

	// TableResult is what a table's apply returns: hit, miss and action_run.
	TableResult struct{ Table *Table }

	// ActionEnum is the type of t.apply().action_run; its values are the actions of the table.
	ActionEnum struct{ Table *Table }

	// StateType is the type of a parser state.
	StateType struct{}

	// Meta is the type of an expression that names a type, such as the X of X.member.
	Meta struct{ Of Type }
)

// StructKind tells a struct from a header and a header union.
type StructKind uint8

// The kinds of Struct.
const (
	StructStruct StructKind = iota
	StructHeader
	StructUnion
)

// String returns the keyword.
func (k StructKind) String() string { return [...]string{"struct", "header", "header_union"}[k] }

// BlockKind tells a parser from a control.
type BlockKind uint8

// The kinds of Block.
const (
	ParserBlock BlockKind = iota
	ControlBlock
)

// String returns the keyword.
func (k BlockKind) String() string { return [...]string{"parser", "control"}[k] }

func (*Basic) isType()       {}
func (*Bit) isType()         {}
func (*Int) isType()         {}
func (*Varbit) isType()      {}
func (*Enum) isType()        {}
func (*Struct) isType()      {}
func (*Stack) isType()       {}
func (*Tuple) isType()       {}
func (*List) isType()        {}
func (*Seq) isType()         {}
func (*Record) isType()      {}
func (*NewType) isType()     {}
func (*Extern) isType()      {}
func (*Block) isType()       {}
func (*Package) isType()     {}
func (*Signature) isType()   {}
func (*TypeParam) isType()   {}
func (*Set) isType()         {}
func (*TableType) isType()   {}
func (*TableResult) isType() {}
func (*ActionEnum) isType()  {}
func (*StateType) isType()   {}
func (*Meta) isType()        {}

// IsHeader tells whether the type is a header.
func IsHeader(t Type) bool { s, ok := t.(*Struct); return ok && s.Kind == StructHeader }

// IsUnion tells whether the type is a header union.
func IsUnion(t Type) bool { s, ok := t.(*Struct); return ok && s.Kind == StructUnion }

// Field returns the field of that name and its index, or nil and -1.
func (s *Struct) Field(name string) (*Field, int) {
	for i, f := range s.Fields {
		if f.name == name {
			return f, i
		}
	}
	return nil, -1
}

// Member returns the member of that name, or nil.
func (e *Enum) Member(name string) *EnumMember {
	for _, m := range e.Members {
		if m.name == name {
			return m
		}
	}
	return nil
}

// MinArgs returns how many of the parameters need an argument: those without default that are not @optional.
func (s *Signature) MinArgs() int {
	n := 0
	for _, p := range s.Params {
		if p.Default == nil && !p.Optional {
			n++
		}
	}
	return n
}

func (t *Basic) String() string  { return t.name }
func (t *Bit) String() string    { return fmt.Sprintf("bit<%d>", t.Width) }
func (t *Int) String() string    { return fmt.Sprintf("int<%d>", t.Width) }
func (t *Varbit) String() string { return fmt.Sprintf("varbit<%d>", t.Width) }
func (t *Enum) String() string   { return t.Name }
func (t *Struct) String() string { return withArgs(t.Name, t.TypeArgs) }
func (t *Stack) String() string  { return fmt.Sprintf("%s[%d]", t.Elem, t.Size) }
func (t *Tuple) String() string  { return "tuple<" + typeList(t.Elems) + ">" }
func (t *List) String() string   { return "list<" + t.Elem.String() + ">" }

func (t *Seq) String() string {
	s := typeList(t.Elems)
	switch {
	case t.Dots && s != "":
		s += ", ..."
	case t.Dots:
		s = "..."
	}
	return "{ " + s + " }"
}

func (t *Record) String() string {
	var parts []string
	for i, n := range t.Names {
		parts = append(parts, n+" = "+t.Elems[i].String())
	}
	if t.Dots {
		parts = append(parts, "...")
	}
	return "{ " + strings.Join(parts, ", ") + " }"
}

func (t *NewType) String() string { return t.Name }
func (t *Extern) String() string  { return withArgs(t.Name, t.TypeArgs) }
func (t *Block) String() string   { return withArgs(t.Name, t.TypeArgs) }
func (t *Package) String() string { return withArgs(t.Name, t.TypeArgs) }

func (t *Signature) String() string {
	var b strings.Builder
	if t.Result != nil {
		b.WriteString(t.Result.String())
	}
	if len(t.TypeParams) > 0 {
		b.WriteByte('<')
		for i, p := range t.TypeParams {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(p.Name)
		}
		b.WriteByte('>')
	}
	b.WriteByte('(')
	for i, p := range t.Params {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(p.describe())
	}
	b.WriteByte(')')
	return b.String()
}

func (t *TypeParam) String() string {
	if t.bound != nil {
		return t.bound.String()
	}
	return t.Name
}
func (t *Set) String() string         { return "set<" + t.Elem.String() + ">" }
func (t *TableType) String() string   { return "table " + t.Table.name }
func (t *TableResult) String() string { return "apply_result(" + t.Table.name + ")" }
func (t *ActionEnum) String() string  { return "action_list(" + t.Table.name + ")" }
func (t *StateType) String() string   { return "state" }
func (t *Meta) String() string        { return "type " + t.Of.String() }

func withArgs(name string, args []Type) string {
	if len(args) == 0 {
		return name
	}
	return name + "<" + typeList(args) + ">"
}

func typeList(ts []Type) string {
	var parts []string
	for _, t := range ts {
		parts = append(parts, t.String())
	}
	return strings.Join(parts, ", ")
}
