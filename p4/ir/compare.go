package ir

import (
	"khop/p4/ast"
	"khop/p4/types"
)

// valid tells whether a header or union is valid.
func (l *lowerer) valid(v Val, n ast.Node) Expr {
	switch v := v.(type) {
	case *agg:
		if v.valid != nil {
			return v.valid
		}
		return BoolConst(true)
	case *headerLoc:
		if v.static() {
			return &Valid{v.hdr}
		}
		return l.asScalar(l.chooseElem(v, n, func(h *headerLoc) Val { return &Valid{h.hdr} }), n)
	case *unionLoc:
		var out Expr = BoolConst(false)
		for i := range v.typ.Fields {
			out = or(out, l.valid(v.member(i), n))
		}
		return out
	}
	l.errorf(n, "unsupported-expression", "validity of this is not supported")
	return BoolConst(false)
}

// equal compares two values.
func (l *lowerer) equal(a, b Val, n ast.Node) Expr {
	if x, ok := a.(Expr); ok {
		y := l.asScalar(b, n)
		x, y = unify(x, y)
		if tx := x.Type(); tx.Bool != y.Type().Bool {
			y = cast(y, tx)
		}
		if bx, ok := x.(BoolConst); ok {
			x, y = y, bx
		}
		if by, ok := y.(BoolConst); ok {
			if by {
				return x
			}
			return not(x)
		}
		return binary("==", x, y, boolType)
	}
	if va, ok := a.(*varbitLoc); ok {
		if vb, ok := b.(*varbitLoc); ok {
			return binary("==", va.ref, vb.ref, boolType)
		}
	}
	t := valType(a)
	if aa, ok := a.(*agg); ok && aa.typ != nil {
		if bt := valType(b); bt != nil {
			t = bt
		}
	}
	switch u := underlying(t).(type) {
	case *types.Struct:
		var out Expr = BoolConst(true)
		switch u.Kind {
		case types.StructHeader:
			va, vb := l.valid(a, n), l.valid(b, n)
			for i := range u.Fields {
				out = and(out, l.equal(l.fieldOf(a, i, n), l.fieldOf(b, i, n), n))
			}
			return or(and(not(va), not(vb)), and(and(va, vb), out))
		case types.StructUnion:
			for i := range u.Fields {
				out = and(out, l.equal(l.fieldOf(a, i, n), l.fieldOf(b, i, n), n))
			}
			return out
		}
		return l.equalParts(a, b, len(u.Fields), n)
	case *types.Tuple:
		return l.equalParts(a, b, len(u.Elems), n)
	case *types.Stack:
		return l.equalParts(a, b, u.Size, n)
	case *types.Seq:
		return l.equalParts(a, b, len(u.Elems), n)
	}
	l.errorf(n, "unsupported-expression", "comparison of values of type %s is not supported", t)
	return BoolConst(false)
}

func (l *lowerer) equalParts(a, b Val, count int, n ast.Node) Expr {
	var out Expr = BoolConst(true)
	for i := range count {
		out = and(out, l.equal(l.part(a, i, n), l.part(b, i, n), n))
	}
	return out
}

// part returns part i of a structure or element i of a stack.
func (l *lowerer) part(v Val, i int, n ast.Node) Val {
	switch s := v.(type) {
	case *stackLoc:
		return &headerLoc{hdr: s.stack.Elems[i], typ: l.headerOf(s.typ)}
	case *unionStackLoc:
		return &unionLoc{union: s.stack.Elems[i], typ: l.headerOf(s.typ)}
	}
	return l.fieldOf(v, i, n)
}

func valType(v Val) types.Type {
	switch v := v.(type) {
	case *agg:
		return v.typ
	case Loc:
		return v.typeOf()
	case Expr:
		return scalarP4(v.Type())
	}
	return types.InvalidType
}

// hasEffects tells whether evaluating an expression can change anything.
func (l *lowerer) hasEffects(e ast.Expr) bool {
	if v, ok := l.effects[e]; ok {
		return v
	}
	v := l.findEffects(e)
	l.effects[e] = v
	return v
}

func (l *lowerer) findEffects(e ast.Expr) bool {
	any := func(list ...ast.Expr) bool {
		for _, x := range list {
			if x != nil && l.hasEffects(x) {
				return true
			}
		}
		return false
	}
	switch e := e.(type) {
	case *ast.CallExpr:
		c := l.info.Calls[e]
		if c == nil {
			return false
		}
		switch c.Kind {
		case types.CallBuiltin:
			return c.Builtin != types.IsValid && c.Builtin < types.MinSizeInBits || c.Recv != nil && any(c.Recv)
		case types.CallMethod:
			if c.Func != nil && c.Func.Name() == "lookahead" {
				return false
			}
		case types.CallExternFunc:
			return !pureExterns[c.Func.Name()]
		}
		return true
	case *ast.Paren:
		return any(e.X)
	case *ast.Member:
		return any(e.X)
	case *ast.Index:
		return any(e.X, e.Index)
	case *ast.Slice:
		return any(e.X, e.Hi, e.Lo)
	case *ast.Unary:
		return any(e.X)
	case *ast.Binary:
		return any(e.X, e.Y)
	case *ast.Ternary:
		return any(e.Cond, e.Then, e.Else)
	case *ast.Cast:
		return any(e.X)
	case *ast.ListExpr:
		return any(e.Elems...)
	case *ast.StructExpr:
		for _, kv := range e.Fields {
			if any(kv.Value) {
				return true
			}
		}
	}
	return false
}

var pureExterns = map[string]bool{"static_assert": true}
