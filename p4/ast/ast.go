// Package ast declares the syntax tree of P4_16 (language 1.2.5).
//
// The tree is what the parser builds, the formatter prints and the checker reads. It holds syntax only: names are
// unresolved, types are spelled as written, and nothing is folded. The checker keeps what it finds in types.Info, keyed by
// node identity, and never changes a tree.
package ast

import "khop/p4/diag"

// Node is any node of the tree. Pos is the first character, End the position just behind the last one.
type Node interface {
	Pos() diag.Pos
	End() diag.Pos
}

// Span is embedded in every node and holds where it stands.
type Span struct{ From, To diag.Pos }

// Pos returns the position of the node's first character.
func (s Span) Pos() diag.Pos { return s.From }

// End returns the position just behind the node's last character.
func (s Span) End() diag.Pos { return s.To }

// Program is one translation unit after preprocessing.
type Program struct {
	Span
	Decls []Decl
}

// Ident is a name at a place where it is declared or used as a bare name (member, parameter, state, ...).
type Ident struct {
	Span
	Name string
}

// Annotation is @name, @name(body) or @name[structured body] (specification section 20).
type Annotation struct {
	Span
	Name *Ident
	// HasBody tells @name() from @name. Body is the text between the parentheses of an unstructured annotation, as written,
	// and Tokens its lexical tokens.
	HasBody bool
	Body    string
	Tokens  []Token
	// Structured is set for @name[...]; Exprs or KVs then hold the body, at most one of them non-empty.
	Structured bool
	Exprs      []Expr
	KVs        []*KeyValue
	// Pragma is set for the old form @pragma name tokens, which ends with its line. Body and Tokens hold what follows the name.
	Pragma bool
}

// Token is one lexical token of an unstructured annotation body; string literals keep their quotes.
type Token struct {
	Span
	Text string
}

// KeyValue is name = value in a structured annotation or in a structure-valued expression.
type KeyValue struct {
	Span
	Name  *Ident
	Value Expr
}

// Direction of a parameter (specification section 6.8).
type Direction uint8

// The four directions. None is a directionless parameter.
const (
	None Direction = iota
	In
	Out
	InOut
)

// String returns the keyword, or "" for a directionless parameter.
func (d Direction) String() string { return [...]string{"", "in", "out", "inout"}[d] }

// Param is a parameter of a parser, control, action, function, method, package or constructor.
type Param struct {
	Span
	Annos   []*Annotation
	Dir     Direction
	Type    Type
	Name    *Ident
	Default Expr // nil if there is none
}

// Arg is an argument of a call or instantiation. Value is a *DontCare for "_".
type Arg struct {
	Span
	Name  *Ident // nil for a positional argument
	Value Expr
}
