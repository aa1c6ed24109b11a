package ir

import "khop/p4/ast"

// walk calls f for a statement or expression and everything below it, until f returns false for a node.
func walk(n ast.Node, f func(ast.Node) bool) {
	if n == nil || !f(n) {
		return
	}
	expr := func(e ast.Expr) {
		if e != nil {
			walk(e, f)
		}
	}
	stmt := func(s ast.Stmt) {
		if s != nil {
			walk(s, f)
		}
	}
	switch n := n.(type) {
	case *ast.AssignStmt:
		expr(n.LHS)
		expr(n.RHS)
	case *ast.CallStmt:
		expr(n.Call)
	case *ast.DeclStmt:
		switch d := n.Decl.(type) {
		case *ast.VarDecl:
			expr(d.Init)
		case *ast.ConstDecl:
			expr(d.Value)
		}
	case *ast.IfStmt:
		expr(n.Cond)
		stmt(n.Then)
		stmt(n.Else)
	case *ast.BlockStmt:
		for _, s := range n.List {
			stmt(s)
		}
	case *ast.ReturnStmt:
		expr(n.Value)
	case *ast.SwitchStmt:
		expr(n.Tag)
		for _, c := range n.Cases {
			expr(c.Label)
			if c.Body != nil {
				stmt(c.Body)
			}
		}
	case *ast.ForStmt:
		for _, s := range n.Init {
			stmt(s)
		}
		expr(n.Cond)
		for _, s := range n.Update {
			stmt(s)
		}
		stmt(n.Body)
	case *ast.ForInStmt:
		expr(n.Collection)
		stmt(n.Body)
	default:
		walkExpr(n, expr)
	}
}

func walkExpr(n ast.Node, expr func(ast.Expr)) {
	switch n := n.(type) {
	case *ast.Member:
		expr(n.X)
	case *ast.Index:
		expr(n.X)
		expr(n.Index)
	case *ast.Slice:
		expr(n.X)
		expr(n.Hi)
		expr(n.Lo)
	case *ast.Unary:
		expr(n.X)
	case *ast.Binary:
		expr(n.X)
		expr(n.Y)
	case *ast.Ternary:
		expr(n.Cond)
		expr(n.Then)
		expr(n.Else)
	case *ast.Cast:
		expr(n.X)
	case *ast.CallExpr:
		expr(n.Fun)
		for _, a := range n.Args {
			expr(a.Value)
		}
	case *ast.ListExpr:
		for _, e := range n.Elems {
			expr(e)
		}
	case *ast.StructExpr:
		for _, kv := range n.Fields {
			expr(kv.Value)
		}
	case *ast.Paren:
		expr(n.X)
	case *ast.RangeExpr:
		expr(n.Lo)
		expr(n.Hi)
	}
}
