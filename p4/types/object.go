package types

import (
	"math/big"

	"khop/p4/ast"
	"khop/p4/diag"
)

// Object is what a name stands for.
type Object interface {
	// Name returns the name as declared.
	Name() string
	// Pos returns where the name is declared; NoPos for what is predeclared.
	Pos() diag.Pos
	// Type returns the object's type; for a TypeName the type it names.
	Type() Type
	// Node returns the declaration (an ast.Decl, *ast.Param, *ast.Field, *ast.Ident, ...); nil for what is predeclared.
	Node() ast.Node
	// Annos returns the annotations of the declaration.
	Annos() []*ast.Annotation
	base() *object
}

// object is what all objects have in common.
type object struct {
	name  string
	pos   diag.Pos
	typ   Type
	node  ast.Node
	annos []*ast.Annotation
	used  bool
}

func (o *object) Name() string             { return o.name }
func (o *object) Pos() diag.Pos            { return o.pos }
func (o *object) Type() Type               { return o.typ }
func (o *object) Node() ast.Node           { return o.node }
func (o *object) Annos() []*ast.Annotation { return o.annos }
func (o *object) base() *object            { return o }

type (
	// Const is a constant. Value is nil only when its initializer is wrong.
	Const struct {
		object
		Value Value
	}

	// Var is a local variable, a loop variable, or a variable of a parser or control.
	Var struct {
		object
		Init ast.Expr // nil if there is none
		// Loop is set for the variable of a for-in loop, which cannot be assigned.
		Loop bool
	}

	// Param is a parameter. Ctor is set for a constructor parameter. Origin is the declared parameter of one whose type was
	// instantiated.
	Param struct {
		object
		Dir      ast.Direction
		Default  ast.Expr // nil if there is none
		Optional bool     // @optional
		Ctor     bool
		Origin   *Param
	}

	// Instance is an instantiation of an extern, parser, control or package.
	Instance struct {
		object
		Decl *ast.Instantiation
		// Call is the constructor call with its arguments bound to parameters.
		Call *Call
		// Impls are the abstract methods that the instance implements, and Locals the instances in its initializer.
		Impls  []*Func
		Locals []Object
	}

	// Action is an action. Owner is the control it stands in, nil at top level.
	Action struct {
		object
		Decl   *ast.ActionDecl
		Params []*Param
		Owner  *Block
	}

	// Func is a function, extern function, method or constructor of an extern type.
	Func struct {
		object
		Sig      *Signature
		Proto    *ast.FuncProto
		Decl     *ast.FuncDecl // the body; nil for extern functions and methods
		Recv     *Extern       // the extern type of a method or constructor
		Ctor     bool
		Abstract bool
		Origin   *Func // the declared method of one whose receiver type was instantiated
	}

	// State is a parser state. Accept and Reject have a nil Decl.
	State struct {
		object
		Decl *ast.ParserState
	}

	// TypeName is a named type.
	TypeName struct {
		object
		// Alias is set for a typedef.
		Alias bool
	}

	// ValueSet is a parser value set; Type is a *Set.
	ValueSet struct {
		object
		Decl *ast.ValueSetDecl
		Size *big.Int
	}

	// EnumMember is a member of an enum; Value is set for a serializable enum.
	EnumMember struct {
		object
		Index int
		Value *big.Int
	}

	// ErrorMember is an error. Index counts all errors of the program in order of declaration, from 0.
	ErrorMember struct {
		object
		Index int
	}

	// MatchKindMember is a match kind.
	MatchKindMember struct {
		object
		Index int
	}

	// Field is a field of a Struct.
	Field struct {
		object
		Index int
	}

	// Table is a table with its properties resolved.
	Table struct {
		object
		Decl    *ast.TableDecl
		Owner   *Block
		Keys    []*TableKey
		Actions []*TableAction
		// Default is the default action; NoAction when the program writes none, nil when there is no NoAction either.
		Default *TableAction
		// ConstDefault is set when the default action is declared const, HasDefault when it is written at all.
		ConstDefault bool
		HasDefault   bool
		// HasEntries tells an empty list of entries from none; ConstEntries is set for "const entries".
		HasEntries   bool
		ConstEntries bool
		Entries      []*TableEntry
		// LargestPriorityWins and PriorityDelta hold the properties of those names (true and 1 when they are not written).
		LargestPriorityWins bool
		PriorityDelta       *big.Int
		Size                *big.Int // nil if none is written
		// Props are the properties other than key, actions, entries and default_action, in order.
		Props []*TableProp
		run   *ActionEnum
	}

	// TableKey is a key element.
	TableKey struct {
		Elem      *ast.KeyElem
		Expr      ast.Expr
		Type      Type
		MatchKind *MatchKindMember // nil when the match kind is unknown (an error)
	}

	// TableAction is an action in an action list, an entry or a default action, with the arguments written there. Args has one
	// element per parameter of the action; an element without Expr is supplied by the control plane.
	TableAction struct {
		Ref    ast.Node // *ast.ActionRef, or the ast.Expr of a default_action property; nil for an implied NoAction
		Action *Action
		Args   []Arg
		// TableOnly and DefaultOnly hold the annotations of those names.
		TableOnly   bool
		DefaultOnly bool
	}

	// TableEntry is an initial entry.
	TableEntry struct {
		Decl     *ast.TableEntry
		Const    bool
		Priority *big.Int // nil when the table has no priorities; computed as section 14.2.1.4 says when none is written
		Keys     []*Keyset
		Action   *TableAction
	}

	// TableProp is a table property such as implementation, counters, meters or support_timeout.
	TableProp struct {
		Decl  *ast.Property
		Name  string
		Const bool
		Expr  ast.Expr
		Type  Type
		Value Value // nil when it is no compile-time constant
		// Instance is the extern instance that the value names; New the constructor call when the value constructs one.
		Instance *Instance
		New      *Call
	}
)

// Prop returns the property of that name, or nil.
func (t *Table) Prop(name string) *TableProp {
	for _, p := range t.Props {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// Anno returns the object's annotation of that name, or nil.
func Anno(o Object, name string) *ast.Annotation { return findAnno(o.Annos(), name) }

func findAnno(annos []*ast.Annotation, name string) *ast.Annotation {
	for _, a := range annos {
		if a.Name != nil && a.Name.Name == name {
			return a
		}
	}
	return nil
}

func (p *Param) describe() string {
	s := p.Dir.String()
	if s != "" {
		s += " "
	}
	if p.typ != nil {
		s += p.typ.String() + " "
	}
	return s + p.name
}
