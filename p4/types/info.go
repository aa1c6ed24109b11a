package types

import (
	"math/big"

	"khop/p4/ast"
)

// Value is a compile-time value: a *big.Int (any integer type), bool, string, *EnumMember, *ErrorMember, *MatchKindMember,
// InvalidHeader, NoError, or []Value (tuple, list, struct, valid header, stack: one element per field in order). A value of a
// serializable enum that no member has is a *big.Int.
type Value any

// InvalidHeader is the value of an invalid header or header union.
type InvalidHeader struct{}

// DefaultValue is the value of "..." before its context gives it a type.
type DefaultValue struct{}

// Mode says what an expression denotes.
type Mode uint8

// The modes.
const (
	NoValue   Mode = iota // a call that returns void
	RValue                // a value computed at run time
	LValue                // a place that can be written
	ConstMode             // a compile-time known value; Value may still be unknown (constructor parameters)
	TypeMode              // the name of a type
	Builtin               // a method, action, table or function: may be called only
)

// TypeAndValue is what is known of an expression.
type TypeAndValue struct {
	Mode  Mode
	Type  Type  // the expression's own type
	Value Value // its value if it is known at compile time, otherwise nil; before conversion to Conv
	// Conv is the type to which the context converts the expression; nil when it stays as it is.
	Conv Type
}

// Info holds what the checker found.
type Info struct {
	// Types holds every expression of the program, keysets and table properties included.
	Types map[ast.Expr]TypeAndValue
	// TypeExprs holds the type of every type as written.
	TypeExprs map[ast.Type]Type
	// Defs maps declaring nodes (ast.Decl, *ast.Param, *ast.Field, *ast.EnumMember, *ast.ParserState, the *ast.Ident of an error
	// or match kind, *ast.ForInStmt for its variable) to what they declare.
	Defs map[ast.Node]Object
	// Uses maps names in use to what they stand for: *ast.Name, *ast.TypeName, *ast.ActionRef, the *ast.Ident of a transition or
	// a match kind, and *ast.Member where it selects an object (an enum member, error, field, method).
	Uses map[ast.Node]Object
	// Selections says what a Member expression selects.
	Selections map[*ast.Member]*Selection
	// Calls holds every resolved call, constructor calls included.
	Calls map[*ast.CallExpr]*Call
	// Keysets holds the labels of select cases.
	Keysets map[*ast.SelectCase][]*Keyset
	// Errors and MatchKinds are all errors and match kinds of the program in order of declaration.
	Errors     []*ErrorMember
	MatchKinds []*MatchKindMember
	// Globals are the objects declared at top level, in order.
	Globals []Object
	// Main is the package instance named main, nil if there is none.
	Main *Instance
}

// TypeOf returns the type of an expression as its context sees it (after implicit conversion), or nil if it was not checked.
func (i *Info) TypeOf(e ast.Expr) Type {
	tv, ok := i.Types[e]
	if !ok {
		return nil
	}
	if tv.Conv != nil {
		return tv.Conv
	}
	return tv.Type
}

// ValueOf returns the compile-time value of an expression as its context sees it, or nil. An integer is reduced to the width of
// the type it is converted to; a serializable enum member converted to its underlying type is an integer.
func (i *Info) ValueOf(e ast.Expr) Value {
	tv, ok := i.Types[e]
	if !ok || tv.Value == nil {
		return nil
	}
	if tv.Conv == nil {
		return tv.Value
	}
	return convertValue(tv.Value, tv.Type, tv.Conv)
}

// IntOf returns the compile-time integer value of an expression as its context sees it, or nil.
func (i *Info) IntOf(e ast.Expr) *big.Int {
	v, _ := i.ValueOf(e).(*big.Int)
	return v
}

// SelKind says what a Member expression selects.
type SelKind uint8

// The kinds of selection.
const (
	SelField     SelKind = iota // a field of a struct, header or union; Index is its number
	SelEnum                     // a member of an enum; Obj is the *EnumMember
	SelError                    // an error; Obj is the *ErrorMember
	SelMethod                   // a method of an extern; Obj is the *Func
	SelBuiltin                  // a built-in method of a header, union or stack
	SelApply                    // apply of a table, parser or control
	SelNext                     // stack.next
	SelLast                     // stack.last
	SelLastIndex                // stack.lastIndex
	SelStackSize                // stack.size
	SelHit                      // t.apply().hit
	SelMiss                     // t.apply().miss
	SelActionRun                // t.apply().action_run
)

// Selection is what a Member expression selects.
type Selection struct {
	Kind  SelKind
	Index int
	Obj   Object // may be nil
}

// CallKind says what a call calls.
type CallKind uint8

// The kinds of call.
const (
	CallFunc        CallKind = iota // a function with a body; Func
	CallExternFunc                  // an extern function; Func
	CallMethod                      // a method of an extern object; Func and Recv
	CallAction                      // an action called directly; Action
	CallTable                       // table.apply(); Table
	CallBlock                       // parser.apply(...) or control.apply(...) on an instance; Block and Recv
	CallDirect                      // T.apply(...) on a parser or control type: an anonymous instance (section 15.1); Block
	CallBuiltin                     // a built-in method; Builtin and Recv
	CallConstructor                 // T(...): Type is an *Extern, *Block or *Package; Func for an extern's constructor
)

// BuiltinKind names a built-in method.
type BuiltinKind uint8

// The built-in methods (specification sections 8.18, 8.20, 8.21 and 9).
const (
	NoBuiltin BuiltinKind = iota
	IsValid
	SetValid
	SetInvalid
	PushFront
	PopFront
	MinSizeInBits
	MinSizeInBytes
	MaxSizeInBits
	MaxSizeInBytes
)

// String returns the method's name.
func (b BuiltinKind) String() string {
	return [...]string{"", "isValid", "setValid", "setInvalid", "push_front", "pop_front",
		"minSizeInBits", "minSizeInBytes", "maxSizeInBits", "maxSizeInBytes"}[b]
}

// Arg is an argument bound to a parameter.
type Arg struct {
	Param *Param
	// Type is the parameter's type with type variables replaced.
	Type Type
	// Expr is the argument. Without one, the parameter's Default applies if it has one (Default is then set to it), else the
	// parameter is @optional and absent, or, in a TableAction, supplied by the control plane.
	Expr    ast.Expr
	Default bool
	// DontCare is set for an out argument written _.
	DontCare bool
}

// Call is a resolved call.
type Call struct {
	Kind    CallKind
	Expr    *ast.CallExpr // nil for an Instantiation
	Func    *Func
	Action  *Action
	Table   *Table
	Block   *Block
	Builtin BuiltinKind
	Recv    ast.Expr // the object a method is called on, nil for functions and actions
	// Instance is the object a method or apply is called on when it is named directly; nil for a parameter.
	Instance *Instance
	// Type is what a constructor constructs, instantiated.
	Type Type
	// TypeArgs are the type arguments, written or inferred, in the order of the callee's type parameters.
	TypeArgs []Type
	// Args has one element per parameter, in parameter order.
	Args   []Arg
	Result Type
}

// KeysetKind says what a keyset matches.
type KeysetKind uint8

// The kinds of keyset (specification section 8.16).
const (
	KeyValue    KeysetKind = iota // Lo
	KeyMask                       // Lo &&& Hi
	KeyRange                      // Lo .. Hi
	KeyAny                        // default or _
	KeyValueSet                   // a value set
)

// Keyset is one component of a select label or of an entry's key.
type Keyset struct {
	Kind KeysetKind
	Expr ast.Expr
	// Type is the type of the key that it is compared with.
	Type Type
	// Lo and Hi are the values in Type where they are known at compile time: value and none, value and mask, or first and last.
	Lo, Hi Value
	// Set is the value set of a KeyValueSet.
	Set *ValueSet
}
