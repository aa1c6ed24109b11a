package ast

// Type is a type as written.
type Type interface {
	Node
	typeNode()
}

// BaseKind names a built-in type.
type BaseKind uint8

// The built-in types. TBit, TInt and TVarbit carry a width when one is written; TInt without width is the
// arbitrary-precision int.
const (
	TBool BaseKind = iota
	TMatchKind
	TError
	TString
	TBit
	TInt
	TVarbit
	TVoid
)

// String returns the keyword.
func (k BaseKind) String() string {
	return [...]string{"bool", "match_kind", "error", "string", "bit", "int", "varbit", "void"}[k]
}

type (
	// BaseType is bool, error, match_kind, string, void, bit, bit<W>, int, int<W> or varbit<W>. Width is nil when none is
	// written (bit is then bit<1>).
	BaseType struct {
		Span
		Kind  BaseKind
		Width Expr
	}
	// TypeName is a type referred to by name; Global is set for the form with a leading dot.
	TypeName struct {
		Span
		Global bool
		Name   *Ident
	}
	// SpecializedType is Name<Args>.
	SpecializedType struct {
		Span
		Base *TypeName
		Args []Type
	}
	// ArrayType is a header stack, Elem[Size].
	ArrayType struct {
		Span
		Elem Type
		Size Expr
	}
	// TupleType is tuple<Args>.
	TupleType struct {
		Span
		Args []Type
	}
	// ListType is list<Elem>.
	ListType struct {
		Span
		Elem Type
	}
	// DontCareType is _ as a type argument.
	DontCareType struct{ Span }
)

func (*BaseType) typeNode()        {}
func (*TypeName) typeNode()        {}
func (*SpecializedType) typeNode() {}
func (*ArrayType) typeNode()       {}
func (*TupleType) typeNode()       {}
func (*ListType) typeNode()        {}
func (*DontCareType) typeNode()    {}
