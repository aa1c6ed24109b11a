package ast

// Stmt is a statement.
type Stmt interface {
	Node
	stmtNode()
}

type (
	// AssignStmt is LHS Op RHS; Op is "=" or a compound operator such as "+=" or "|+|=".
	AssignStmt struct {
		Span
		LHS Expr
		Op  string
		RHS Expr
	}
	// CallStmt is a method, function, action or table call as a statement. A direct application T.apply(...) of a parser or
	// control type is a CallStmt whose callee is a Member of a TypeExpr.
	CallStmt struct {
		Span
		Call *CallExpr
	}
	// DeclStmt is a local variable, constant or instantiation.
	DeclStmt struct {
		Span
		Decl Decl
	}
	// IfStmt is if (Cond) Then [else Else].
	IfStmt struct {
		Span
		Cond Expr
		Then Stmt
		Else Stmt // nil if there is none
	}
	// BlockStmt is { List }.
	BlockStmt struct {
		Span
		Annos []*Annotation
		List  []Stmt
	}
	// EmptyStmt is a lone semicolon.
	EmptyStmt struct{ Span }
	// ExitStmt is exit;
	ExitStmt struct{ Span }
	// ReturnStmt is return [Value];
	ReturnStmt struct {
		Span
		Value Expr // nil if there is none
	}
	// BreakStmt is break;
	BreakStmt struct{ Span }
	// ContinueStmt is continue;
	ContinueStmt struct{ Span }
	// SwitchStmt is switch (Tag) { Cases }.
	SwitchStmt struct {
		Span
		Tag   Expr
		Cases []*SwitchCase
	}
	// SwitchCase is Label : Body; a nil Body falls through. Label is a DefaultExpr for default.
	SwitchCase struct {
		Span
		Label Expr
		Body  *BlockStmt
	}
	// ForStmt is for (Init; Cond; Update) Body.
	ForStmt struct {
		Span
		Annos  []*Annotation
		Init   []Stmt // DeclStmt, AssignStmt, CallStmt
		Cond   Expr
		Update []Stmt // AssignStmt, CallStmt
		Body   Stmt
	}
	// ForInStmt is for (Type Name in Collection) Body. Collection is a RangeExpr for lo .. hi.
	ForInStmt struct {
		Span
		Annos      []*Annotation
		VarAnnos   []*Annotation
		Type       Type
		Name       *Ident
		Collection Expr
		Body       Stmt
	}
)

func (*AssignStmt) stmtNode()   {}
func (*CallStmt) stmtNode()     {}
func (*DeclStmt) stmtNode()     {}
func (*IfStmt) stmtNode()       {}
func (*BlockStmt) stmtNode()    {}
func (*EmptyStmt) stmtNode()    {}
func (*ExitStmt) stmtNode()     {}
func (*ReturnStmt) stmtNode()   {}
func (*BreakStmt) stmtNode()    {}
func (*ContinueStmt) stmtNode() {}
func (*SwitchStmt) stmtNode()   {}
func (*ForStmt) stmtNode()      {}
func (*ForInStmt) stmtNode()    {}
