package ast

import (
	"math/big"

	"khop/p4/diag"
)

// Expr is an expression, or a keyset expression where the grammar allows one.
type Expr interface {
	Node
	exprNode()
}

type (
	// IntLit is an integer literal such as 10, 0xFF, 8w255, 4s0b1010 (specification section 6.4.3.2).
	IntLit struct {
		Span
		Text   string // as written
		Value  *big.Int
		Width  int  // bits; 0 for an int of arbitrary precision
		Signed bool // int<Width> rather than bit<Width>
	}
	// BoolLit is true or false.
	BoolLit struct {
		Span
		Value bool
	}
	// StringLit is a string literal; Value has the escapes resolved.
	StringLit struct {
		Span
		Text  string // as written, with quotes
		Value string
	}
	// Name is an identifier used as a value (or as a type, where the grammar cannot tell); Global is set for .name.
	Name struct {
		Span
		Global bool
		Name   string
	}
	// This is the keyword this.
	This struct{ Span }
	// Member is X.Name. X is a TypeExpr for T.member (enums, error, direct application).
	Member struct {
		Span
		X    Expr
		Name *Ident
	}
	// TypeExpr is a type at the place of an expression: before .member, or as the callee of a constructor call.
	TypeExpr struct {
		Span
		Type Type
	}
	// Index is X[Index].
	Index struct {
		Span
		X     Expr
		Index Expr
	}
	// Slice is X[Hi:Lo], or with Plus X[Lo+:Width] (Hi then holds the base, Lo the width).
	Slice struct {
		Span
		X    Expr
		Hi   Expr
		Lo   Expr
		Plus bool
	}
	// Unary is Op X with Op one of ! ~ - +.
	Unary struct {
		Span
		Op string
		X  Expr
	}
	// Binary is X Op Y. Op is one of * / % + - |+| |-| << >> <= >= < > != == & ^ | ++ && ||.
	Binary struct {
		Span
		Op    string
		OpPos diag.Pos
		X, Y  Expr
	}
	// Ternary is Cond ? Then : Else.
	Ternary struct {
		Span
		Cond, Then, Else Expr
	}
	// Cast is (Type) X.
	Cast struct {
		Span
		Type Type
		X    Expr
	}
	// CallExpr is Fun[<TypeArgs>](Args). Fun is a TypeExpr for a constructor call.
	CallExpr struct {
		Span
		Fun      Expr
		TypeArgs []Type
		Args     []*Arg
	}
	// ListExpr is { Elems }.
	ListExpr struct {
		Span
		Elems []Expr
		// Dots is set when the list ends with "..." (remaining fields take their defaults).
		Dots bool
	}
	// StructExpr is { Name = Value, ... }; Dots is set when it ends with "...".
	StructExpr struct {
		Span
		Fields []*KeyValue
		Dots   bool
	}
	// InvalidHeader is {#}.
	InvalidHeader struct{ Span }
	// Paren is ( X ).
	Paren struct {
		Span
		X Expr
	}
	// DontCare is _ as an argument or keyset.
	DontCare struct{ Span }
	// DefaultExpr is default as a keyset or switch label.
	DefaultExpr struct{ Span }
	// DotsExpr is "..." as an expression (default initializer).
	DotsExpr struct{ Span }
	// MaskExpr is X &&& Mask in a keyset.
	MaskExpr struct {
		Span
		X, Mask Expr
	}
	// RangeExpr is Lo .. Hi in a keyset or a for loop.
	RangeExpr struct {
		Span
		Lo, Hi Expr
	}
)

func (*IntLit) exprNode()        {}
func (*BoolLit) exprNode()       {}
func (*StringLit) exprNode()     {}
func (*Name) exprNode()          {}
func (*This) exprNode()          {}
func (*Member) exprNode()        {}
func (*TypeExpr) exprNode()      {}
func (*Index) exprNode()         {}
func (*Slice) exprNode()         {}
func (*Unary) exprNode()         {}
func (*Binary) exprNode()        {}
func (*Ternary) exprNode()       {}
func (*Cast) exprNode()          {}
func (*CallExpr) exprNode()      {}
func (*ListExpr) exprNode()      {}
func (*StructExpr) exprNode()    {}
func (*InvalidHeader) exprNode() {}
func (*Paren) exprNode()         {}
func (*DontCare) exprNode()      {}
func (*DefaultExpr) exprNode()   {}
func (*DotsExpr) exprNode()      {}
func (*MaskExpr) exprNode()      {}
func (*RangeExpr) exprNode()     {}
