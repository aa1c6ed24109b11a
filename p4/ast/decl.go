package ast

// Decl is a declaration, at top level or local.
type Decl interface {
	Node
	declNode()
}

type (
	// ConstDecl is const Type Name = Value;
	ConstDecl struct {
		Span
		Annos []*Annotation
		Type  Type
		Name  *Ident
		Value Expr
	}
	// VarDecl is Type Name [= Init];
	VarDecl struct {
		Span
		Annos []*Annotation
		Type  Type
		Name  *Ident
		Init  Expr // nil if there is none
	}
	// Instantiation is Type(Args) Name [= { Body }];
	Instantiation struct {
		Span
		Annos []*Annotation
		Type  Type // TypeName or SpecializedType
		Args  []*Arg
		Name  *Ident
		// HasInit is set when an object initializer is written; Init then holds its functions and instantiations.
		HasInit bool
		Init    []Decl
	}
	// ErrorDecl is error { Names }.
	ErrorDecl struct {
		Span
		Names []*Ident
	}
	// MatchKindDecl is match_kind { Names }.
	MatchKindDecl struct {
		Span
		Names []*Ident
	}
	// ExternDecl is an extern object type. Methods and constructors stand in Methods.
	ExternDecl struct {
		Span
		Annos      []*Annotation
		Name       *Ident
		TypeParams []*Ident
		Methods    []*FuncProto
	}
	// ExternFunc is extern Proto;
	ExternFunc struct {
		Span
		Proto *FuncProto
	}
	// FuncProto is the head of a function, an extern function, or a method. Constructor methods have a nil Result.
	FuncProto struct {
		Span
		Annos      []*Annotation
		Abstract   bool
		Result     Type // nil for a constructor
		Name       *Ident
		TypeParams []*Ident
		Params     []*Param
	}
	// FuncDecl is a function with a body.
	FuncDecl struct {
		Span
		Proto *FuncProto
		Body  *BlockStmt
	}
	// ActionDecl is action Name(Params) Body.
	ActionDecl struct {
		Span
		Annos  []*Annotation
		Name   *Ident
		Params []*Param
		Body   *BlockStmt
	}
	// ParserDecl is a parser type (IsType) or a parser.
	ParserDecl struct {
		Span
		Annos      []*Annotation
		Name       *Ident
		TypeParams []*Ident
		Params     []*Param
		// IsType is set for a declaration that ends with a semicolon: a parser type.
		IsType bool
		// HasCtor tells an empty constructor parameter list from none.
		HasCtor    bool
		CtorParams []*Param
		Locals     []Decl // ConstDecl, VarDecl, Instantiation, ValueSetDecl
		States     []*ParserState
	}
	// ControlDecl is a control type (IsType) or a control.
	ControlDecl struct {
		Span
		Annos      []*Annotation
		Name       *Ident
		TypeParams []*Ident
		Params     []*Param
		IsType     bool
		HasCtor    bool
		CtorParams []*Param
		Locals     []Decl // ConstDecl, VarDecl, Instantiation, ActionDecl, TableDecl
		Apply      *BlockStmt
	}
	// PackageDecl is a package type.
	PackageDecl struct {
		Span
		Annos      []*Annotation
		Name       *Ident
		TypeParams []*Ident
		Params     []*Param
	}
	// HeaderDecl is a header type.
	HeaderDecl struct {
		Span
		Annos      []*Annotation
		Name       *Ident
		TypeParams []*Ident
		Fields     []*Field
	}
	// UnionDecl is a header_union type.
	UnionDecl struct {
		Span
		Annos      []*Annotation
		Name       *Ident
		TypeParams []*Ident
		Fields     []*Field
	}
	// StructDecl is a struct type.
	StructDecl struct {
		Span
		Annos      []*Annotation
		Name       *Ident
		TypeParams []*Ident
		Fields     []*Field
	}
	// Field of a header, union or struct.
	Field struct {
		Span
		Annos []*Annotation
		Type  Type
		Name  *Ident
	}
	// EnumDecl is an enum; Type is its underlying type when it is serializable, otherwise nil.
	EnumDecl struct {
		Span
		Annos   []*Annotation
		Type    Type
		Name    *Ident
		Members []*EnumMember
	}
	// EnumMember is Name or Name = Value.
	EnumMember struct {
		Span
		Name  *Ident
		Value Expr // nil in an enum without underlying type
	}
	// TypedefDecl is typedef Type Name; or, with IsNew, type Type Name;. Derived is set instead of Type when a type is
	// declared in place (typedef struct S { ... } T;).
	TypedefDecl struct {
		Span
		Annos   []*Annotation
		IsNew   bool
		Type    Type
		Derived Decl
		Name    *Ident
	}
	// ValueSetDecl is value_set<Type>(Size) Name;
	ValueSetDecl struct {
		Span
		Annos []*Annotation
		Type  Type
		Size  Expr
		Name  *Ident
	}
	// TableDecl is a table; its properties stand in the order written.
	TableDecl struct {
		Span
		Annos []*Annotation
		Name  *Ident
		Props []TableProp
	}
)

func (*ConstDecl) declNode()     {}
func (*VarDecl) declNode()       {}
func (*Instantiation) declNode() {}
func (*ErrorDecl) declNode()     {}
func (*MatchKindDecl) declNode() {}
func (*ExternDecl) declNode()    {}
func (*ExternFunc) declNode()    {}
func (*FuncDecl) declNode()      {}
func (*ActionDecl) declNode()    {}
func (*ParserDecl) declNode()    {}
func (*ControlDecl) declNode()   {}
func (*PackageDecl) declNode()   {}
func (*HeaderDecl) declNode()    {}
func (*UnionDecl) declNode()     {}
func (*StructDecl) declNode()    {}
func (*EnumDecl) declNode()      {}
func (*TypedefDecl) declNode()   {}
func (*ValueSetDecl) declNode()  {}
func (*TableDecl) declNode()     {}

// TableProp is a property of a table.
type TableProp interface {
	Node
	tableProp()
}

type (
	// KeyProp is key = { Elems }.
	KeyProp struct {
		Span
		Elems []*KeyElem
	}
	// KeyElem is Expr : MatchKind Annos;
	KeyElem struct {
		Span
		Expr      Expr
		MatchKind *Ident
		Annos     []*Annotation
	}
	// ActionsProp is actions = { Actions }.
	ActionsProp struct {
		Span
		Actions []*ActionRef
	}
	// ActionRef names an action in a table's action list or in an entry. HasArgs tells a() from a.
	ActionRef struct {
		Span
		Annos   []*Annotation
		Global  bool // written with a leading dot
		Name    *Ident
		HasArgs bool
		Args    []*Arg
	}
	// EntriesProp is [const] entries = { Entries }.
	EntriesProp struct {
		Span
		Annos   []*Annotation
		Const   bool
		Entries []*TableEntry
	}
	// TableEntry is [const] [priority = P :] Keyset : Action Annos;
	TableEntry struct {
		Span
		Const    bool
		Priority Expr   // nil if none is written
		Keys     []Expr // one per key; a keyset that is not a tuple has one
		Action   *ActionRef
		Annos    []*Annotation
	}
	// Property is any other property: [const] Name = Value;
	Property struct {
		Span
		Annos []*Annotation
		Const bool
		Name  *Ident
		Value Expr
	}
)

func (*KeyProp) tableProp()     {}
func (*ActionsProp) tableProp() {}
func (*EntriesProp) tableProp() {}
func (*Property) tableProp()    {}

// ParserState is a state of a parser. Transition and Select are both nil when no transition statement is written (which
// means reject).
type ParserState struct {
	Span
	Annos      []*Annotation
	Name       *Ident
	Stmts      []Stmt
	Transition *Ident
	Select     *SelectExpr
}

// SelectExpr is select (Exprs) { Cases }.
type SelectExpr struct {
	Span
	Exprs []Expr
	Cases []*SelectCase
}

// SelectCase is Keys : Next; with one key an expression of the select (a keyset that is not a tuple has one, which may
// also be a DefaultExpr or DontCare for all of them).
type SelectCase struct {
	Span
	Keys []Expr
	Next *Ident
}
