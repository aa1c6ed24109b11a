package ir

import (
	"math/big"

	"khop/p4/ast"
	"khop/p4/types"
)

// expr lowers an expression. Code that must run before the value can be used is added to l.code.
func (l *lowerer) expr(e ast.Expr) Val {
	if !literalParts(e) {
		if v := l.info.ValueOf(e); allConst(v) {
			return l.constVal(v, l.typeOf(e), e)
		}
	}
	return l.coerce(l.rawExpr(e), l.typeOf(e), e)
}

// literalParts tells whether an expression spells the parts of a structure, each of which is lowered by itself: a compile-time value
// does not tell an invalid header from a valid one.
func literalParts(e ast.Expr) bool {
	switch unparen(e).(type) {
	case *ast.ListExpr, *ast.StructExpr, *ast.InvalidHeader:
		return true
	}
	return false
}

// scalar lowers an expression of scalar type.
func (l *lowerer) scalar(e ast.Expr) Expr { return l.asScalar(l.expr(e), e) }

func (l *lowerer) asScalar(v Val, n ast.Node) Expr {
	if x, ok := v.(Expr); ok {
		return x
	}
	l.errorf(n, "unsupported-expression", "this expression has no value that the target can compute")
	return intConst(0, Type{Width: 32})
}

// plain returns the value that stands at a place.
func plain(x Loc) Val {
	if s, ok := x.(*scalarLoc); ok {
		return s.ref
	}
	return x
}

// coerce converts a value to the type that the context wants.
func (l *lowerer) coerce(v Val, t types.Type, n ast.Node) Val {
	switch v := v.(type) {
	case Expr:
		if st, ok := scalarType(t); ok {
			return cast(v, st)
		}
		return v
	case *agg:
		u := underlying(t)
		switch u := u.(type) {
		case *types.Struct:
			if v.valid != nil || u.Kind == types.StructUnion {
				return &agg{typ: u, elems: v.elems, valid: v.valid}
			}
			return l.coerceElems(v, u, len(u.Fields), n)
		case *types.Tuple:
			return l.coerceElems(v, u, len(u.Elems), n)
		case *types.Stack:
			return l.coerceElems(v, u, u.Size, n)
		case *types.List:
			return l.coerceElems(v, u, len(v.elems), n)
		}
		return v
	}
	return v
}

func (l *lowerer) coerceElems(v *agg, t types.Type, want int, n ast.Node) Val {
	a := &agg{typ: t}
	for i := range want {
		et := l.typ(elemType(t, i))
		if i < len(v.elems) && v.elems[i] != nil {
			a.elems = append(a.elems, l.coerce(v.elems[i], et, n))
		} else {
			a.elems = append(a.elems, l.zero(et, n))
		}
	}
	return a
}

func (l *lowerer) rawExpr(e ast.Expr) Val {
	defer l.enter(e)()
	switch e := e.(type) {
	case *ast.Paren:
		return l.expr(e.X)
	case *ast.Name:
		return l.name(e)
	case *ast.StringLit:
		return e.Value
	case *ast.Member:
		return l.member(e)
	case *ast.Index:
		return l.index(e)
	case *ast.Slice:
		return l.slice(e)
	case *ast.Unary:
		return l.unary(e)
	case *ast.Binary:
		return l.binary(e)
	case *ast.Ternary:
		return l.ternary(e)
	case *ast.Cast:
		return l.castExpr(e)
	case *ast.CallExpr:
		return l.callValue(e)
	case *ast.ListExpr:
		a := &agg{typ: l.typeOf(e)}
		l.inOrder(e.Elems, func(i int, v Val) { a.elems = append(a.elems, v) })
		return a
	case *ast.StructExpr:
		return l.structExpr(e)
	case *ast.InvalidHeader:
		return &agg{typ: l.typeOf(e), valid: BoolConst(false)}
	case *ast.DotsExpr:
		return l.zero(l.typeOf(e), e)
	}
	l.errorf(e, "unsupported-expression", "this expression is not supported here")
	return nil
}

// enter notes what is being lowered and returns what restores it.
func (l *lowerer) enter(n ast.Node) func() {
	old := l.at
	l.at = n
	return func() { l.at = old }
}

// inOrder lowers expressions from left to right. A value that a later expression could change is saved first.
func (l *lowerer) inOrder(list []ast.Expr, f func(int, Val)) {
	last := -1
	for i, e := range list {
		if l.hasEffects(e) {
			last = i
		}
	}
	for i, e := range list {
		v := l.expr(e)
		if i < last {
			v = l.save(v, e)
		}
		f(i, v)
	}
}

// save copies a value into a variable of its own, unless it is constant.
func (l *lowerer) save(v Val, n ast.Node) Val {
	switch v := v.(type) {
	case *Const, BoolConst, *ParamRef, string, nil:
		return v
	case Expr:
		t := l.temp(v.Type())
		l.assign(t, v, n)
		return t.ref
	case *agg:
		a := &agg{typ: v.typ}
		for _, e := range v.elems {
			a.elems = append(a.elems, l.save(e, n))
		}
		if v.valid != nil {
			a.valid = l.save(v.valid, n).(Expr)
		}
		return a
	case Loc:
		t := l.tempOf(v.typeOf(), n)
		l.assign(t, plain(v), n)
		return t
	}
	return v
}

func (l *lowerer) structExpr(e *ast.StructExpr) Val {
	t := l.typeOf(e)
	a := &agg{typ: t}
	var vals []ast.Expr
	for _, kv := range e.Fields {
		vals = append(vals, kv.Value)
	}
	st, ok := underlying(t).(*types.Struct)
	if ok {
		a.elems = make([]Val, len(st.Fields))
	}
	l.inOrder(vals, func(i int, v Val) {
		if !ok {
			a.elems = append(a.elems, v)
		} else if _, k := st.Field(e.Fields[i].Name.Name); k >= 0 {
			a.elems[k] = v
		}
	})
	return a
}

func (l *lowerer) name(e *ast.Name) Val {
	o := l.info.Uses[e]
	switch b := l.lookup(o).(type) {
	case Loc:
		return plain(b)
	case nil:
		l.errorf(e, "unsupported-expression", "%s has no value at run time", e.Name)
		return nil
	default:
		return b
	}
}

func (l *lowerer) member(e *ast.Member) Val {
	sel := l.info.Selections[e]
	if sel == nil {
		l.errorf(e, "unsupported-expression", "cannot select %s here", e.Name.Name)
		return nil
	}
	switch sel.Kind {
	case types.SelField:
		return l.fieldOf(l.expr(e.X), sel.Index, e)
	case types.SelEnum, types.SelError:
		switch o := sel.Obj.(type) {
		case *types.EnumMember:
			return l.constVal(o, l.typeOf(e), e)
		case *types.ErrorMember:
			return l.constVal(o, l.typeOf(e), e)
		}
	case types.SelLast, types.SelNext:
		next := sel.Kind == types.SelNext
		switch s := l.expr(e.X).(type) {
		case *stackLoc:
			h := &headerLoc{stack: s.stack, index: &LastIndex{s.stack}, last: !next, next: next, typ: l.headerOf(s.typ)}
			if next {
				h.index = binary("+", h.index, intConst(1, Type{Width: 32}), Type{Width: 32})
			}
			return h
		case *unionStackLoc:
			return &unionLoc{ust: s.stack, last: !next, next: next, typ: l.headerOf(s.typ)}
		}
	case types.SelLastIndex:
		if s, ok := l.expr(e.X).(*stackLoc); ok {
			return &LastIndex{s.stack}
		}
	case types.SelStackSize:
		if s, ok := underlying(l.typeOf(e.X)).(*types.Stack); ok {
			return intConst(int64(s.Size), Type{Width: 32})
		}
	case types.SelHit, types.SelMiss:
		t := l.temp(boolType)
		hit := l.code.NewLabel()
		end := l.code.NewLabel()
		l.condJump(e, hit)
		l.assign(t, BoolConst(true), e)
		l.code.jump(end)
		l.code.place(hit)
		l.assign(t, BoolConst(false), e)
		l.code.place(end)
		return t.ref
	}
	l.errorf(e, "unsupported-expression", "%s is not supported here", e.Name.Name)
	return nil
}

func (l *lowerer) headerOf(t *types.Stack) *types.Struct {
	s, _ := underlying(t.Elem).(*types.Struct)
	return s
}

// fieldOf selects part i of a structure.
func (l *lowerer) fieldOf(v Val, i int, n ast.Node) Val {
	switch v := v.(type) {
	case *structLoc:
		return plain(v.fields[i])
	case *agg:
		if i < len(v.elems) {
			return v.elems[i]
		}
		return l.zero(l.typ(elemType(v.typ, i)), n) // a field of an invalid header
	case *headerLoc:
		if f := v.field(i); f != nil {
			return guarded(plain(f))
		}
		return l.chooseElem(v, n, func(h *headerLoc) Val { return plain(h.field(i)) })
	case *unionLoc:
		return v.member(i)
	}
	l.errorf(n, "unsupported-expression", "cannot select a field of this")
	return nil
}

// inRange is the condition under which the index of an element lies in its stack. A target aborts, or worse, when it does not.
func inRange(e *ElemField) Expr {
	t := e.Index.Type()
	if t.Width < 31 && !t.Signed && 1<<t.Width <= len(e.Stack.Elems) {
		return BoolConst(true)
	}
	return binary("<", e.Index, intConst(int64(len(e.Stack.Elems)), t), boolType)
}

// guarded reads 0 where an index computed at run time is out of range.
func guarded(v Val) Val {
	e, ok := v.(*ElemField)
	if !ok {
		return v
	}
	var none Expr = intConst(0, e.T)
	if e.T.Bool {
		none = BoolConst(false)
	}
	return cond(inRange(e), e, none)
}

// member returns member i of a union.
func (u *unionLoc) member(i int) *headerLoc {
	t, _ := underlying(u.typ.Fields[i].Type()).(*types.Struct)
	if u.union != nil {
		return &headerLoc{hdr: u.union.Members[i], typ: t}
	}
	return &headerLoc{ust: u.ust, memb: i, index: u.index, last: u.last, next: u.next, typ: t}
}

// elem returns element k of the stack that a dynamic header stands in, as a static header.
func (l *headerLoc) elem(k int) *headerLoc {
	if l.stack != nil {
		return &headerLoc{hdr: l.stack.Elems[k], typ: l.typ}
	}
	return &headerLoc{hdr: l.ust.Elems[k].Members[l.memb], typ: l.typ}
}

func (l *headerLoc) size() int {
	if l.stack != nil {
		return len(l.stack.Elems)
	}
	return len(l.ust.Elems)
}

// chooseElem computes a scalar from the element of a stack that an index chooses at run time.
func (l *lowerer) chooseElem(h *headerLoc, n ast.Node, f func(*headerLoc) Val) Val {
	if h.index == nil {
		l.errorf(n, "unsupported-expression", "the next or last element of a stack of unions is not supported here")
		return nil
	}
	idx, _ := l.save(h.index, n).(Expr)
	var out Expr
	for k := h.size() - 1; k >= 0; k-- {
		v := l.asScalar(f(h.elem(k)), n)
		if out == nil {
			out = v
			continue
		}
		out = cond(binary("==", idx, intConst(int64(k), idx.Type()), boolType), v, out)
	}
	return out
}

func cond(c, x, y Expr) Expr {
	if b, ok := c.(BoolConst); ok {
		if b {
			return x
		}
		return y
	}
	return &Cond{c, x, y, x.Type()}
}

func (l *lowerer) index(e *ast.Index) Val {
	v := l.expr(e.X)
	if l.hasEffects(e.Index) {
		if x, ok := v.(Expr); ok {
			v = l.save(x, e)
		}
	}
	idx := l.scalar(e.Index)
	c, isConst := idx.(*Const)
	k := -1
	if isConst && c.Val.IsInt64() && c.Val.Int64() < 1<<20 {
		k = int(c.Val.Int64())
	}
	bad := func(size int) bool {
		if isConst && (k < 0 || k >= size) {
			l.errorf(e, "index-out-of-range", "index %s is out of range: there are %d elements", c.Val, size)
			return true
		}
		return false
	}
	switch v := v.(type) {
	case *stackLoc:
		if bad(len(v.stack.Elems)) {
			return nil
		}
		if isConst {
			return &headerLoc{hdr: v.stack.Elems[k], typ: l.headerOf(v.typ)}
		}
		return &headerLoc{stack: v.stack, index: l.steady(idx, e), typ: l.headerOf(v.typ)}
	case *unionStackLoc:
		if bad(len(v.stack.Elems)) {
			return nil
		}
		if isConst {
			return &unionLoc{union: v.stack.Elems[k], typ: l.headerOf(v.typ)}
		}
		return &unionLoc{ust: v.stack, index: l.steady(idx, e), typ: l.headerOf(v.typ)}
	case *structLoc:
		if bad(len(v.fields)) {
			return nil
		}
		if isConst {
			return plain(v.fields[k])
		}
		return l.chooseLoc(v.fields, idx, e)
	case *agg:
		if bad(len(v.elems)) {
			return nil
		}
		if isConst {
			return v.elems[k]
		}
	}
	l.errorf(e, "unsupported-expression", "an index computed at run time is not supported here")
	return nil
}

// steady makes sure that an index keeps its value while the element it chooses is in use.
func (l *lowerer) steady(idx Expr, n ast.Node) Expr {
	switch idx.(type) {
	case *Const, *FieldRef, *ParamRef:
		return idx
	}
	x, _ := l.save(idx, n).(Expr)
	return x
}

// chooseLoc reads the element of an array that an index chooses at run time.
func (l *lowerer) chooseLoc(elems []Loc, idx Expr, n ast.Node) Val {
	idx = l.steady(idx, n)
	var out Expr
	for k := len(elems) - 1; k >= 0; k-- {
		v := l.asScalar(plain(elems[k]), n)
		if out == nil {
			out = v
			continue
		}
		out = cond(binary("==", idx, intConst(int64(k), idx.Type()), boolType), v, out)
	}
	return out
}

// bounds returns the constant limits of a slice.
func (l *lowerer) bounds(e *ast.Slice) (hi, lo int, ok bool) {
	a, aok := l.constInt(e.Hi)
	b, bok := l.constInt(e.Lo)
	if !aok || !bok {
		return 0, 0, false
	}
	if e.Plus {
		return a + b - 1, a, true
	}
	return a, b, true
}

func (l *lowerer) constInt(e ast.Expr) (int, bool) {
	if v := l.info.IntOf(e); v != nil {
		return int(v.Int64()), v.IsInt64()
	}
	if c, ok := l.expr(e).(*Const); ok && c.Val.IsInt64() {
		return int(c.Val.Int64()), true
	}
	return 0, false
}

func (l *lowerer) slice(e *ast.Slice) Val {
	x := l.scalar(e.X)
	hi, lo, ok := l.bounds(e)
	if ok {
		return slice(x, hi, lo)
	}
	w, isConst := l.constInt(e.Lo)
	if !e.Plus || !isConst {
		l.errorf(e, "not-constant", "the bounds of a slice must be known at compile time")
		return nil
	}
	return slice(l.shift(">>", x, l.scalar(e.Hi), e), w-1, 0)
}

func (l *lowerer) unary(e *ast.Unary) Val {
	x := l.scalar(e.X)
	t := x.Type()
	switch e.Op {
	case "!":
		return not(x)
	case "-":
		if c, ok := x.(*Const); ok {
			return newConst(new(big.Int).Neg(c.Val), t)
		}
		return binary("-", intConst(0, t), x, t)
	case "~":
		if c, ok := x.(*Const); ok {
			return newConst(new(big.Int).Not(c.Val), t)
		}
		return &Unary{"~", x, t}
	}
	return x
}

func (l *lowerer) binary(e *ast.Binary) Val {
	if (e.Op == "&&" || e.Op == "||") && l.hasEffects(e.Y) {
		return l.shortCircuit(e)
	}
	var ops [2]Val
	l.inOrder([]ast.Expr{e.X, e.Y}, func(i int, v Val) { ops[i] = v })
	if e.Op == "==" || e.Op == "!=" {
		eq := l.equal(ops[0], ops[1], e)
		if e.Op == "!=" {
			if b, ok := eq.(*Binary); ok && b.Op == "==" {
				return &Binary{"!=", b.X, b.Y, boolType}
			}
			return not(eq)
		}
		return eq
	}
	x, y := l.asScalar(ops[0], e.X), l.asScalar(ops[1], e.Y)
	t := mustScalar(l.typ(l.info.Types[e].Type), x.Type())
	switch e.Op {
	case "++":
		return concat(x, y, t)
	case "<<", ">>":
		return l.shift(e.Op, cast(x, t), y, e)
	case "<", "<=", ">", ">=":
		x, y = unify(x, y)
		return binary(e.Op, x, y, boolType)
	}
	if !t.Bool {
		x, y = cast(x, t), cast(y, t)
	}
	return binary(e.Op, x, y, t)
}

// unify gives an operand of arbitrary precision the type of the other.
func unify(x, y Expr) (Expr, Expr) {
	tx, ty := x.Type(), y.Type()
	switch {
	case tx.Width == 0 && ty.Width != 0:
		return cast(x, ty), y
	case ty.Width == 0 && tx.Width != 0:
		return x, cast(y, tx)
	}
	return x, y
}

// maxShift is the greatest shift distance that is left to the target, whose integers have no width.
const maxShift = 255

// shift builds x op y. A distance that could be enormous is compared first, since the target would really shift so far.
func (l *lowerer) shift(op string, x, y Expr, n ast.Node) Expr {
	t := x.Type()
	if _, ok := y.(*Const); ok || y.Type().Width <= 8 {
		return binary(op, x, y, t)
	}
	var beyond Expr = intConst(0, t)
	if op == ">>" && t.Signed {
		beyond = binary(op, x, intConst(maxShift, Type{Width: 32}), t)
	}
	y = l.steady(y, n)
	return cond(binary(">", y, intConst(maxShift, y.Type()), boolType), beyond, binary(op, x, cast(y, Type{Width: 8}), t))
}

func (l *lowerer) shortCircuit(e *ast.Binary) Val {
	t := l.temp(boolType)
	end := l.code.NewLabel()
	l.assign(t, l.expr(e.X), e.X)
	if e.Op == "&&" {
		l.branch(t.ref, end, e.X)
	} else {
		l.branch(not(t.ref), end, e.X)
	}
	l.assign(t, l.expr(e.Y), e.Y)
	l.code.place(end)
	return t.ref
}

func (l *lowerer) ternary(e *ast.Ternary) Val {
	c := l.scalar(e.Cond)
	if b, ok := c.(BoolConst); ok {
		if b {
			return l.expr(e.Then)
		}
		return l.expr(e.Else)
	}
	t := l.typeOf(e)
	st, isScalar := scalarType(t)
	if isScalar && !l.hasEffects(e.Then) && !l.hasEffects(e.Else) {
		x, y := l.scalar(e.Then), l.scalar(e.Else)
		return cond(c, cast(x, st), cast(y, st))
	}
	tmp := l.tempOf(t, e)
	no, end := l.code.NewLabel(), l.code.NewLabel()
	l.branch(c, no, e.Cond)
	l.assign(tmp, l.expr(e.Then), e.Then)
	l.code.jump(end)
	l.code.place(no)
	l.assign(tmp, l.expr(e.Else), e.Else)
	l.code.place(end)
	return plain(tmp)
}

func (l *lowerer) castExpr(e *ast.Cast) Val {
	v := l.expr(e.X)
	t := l.typ(l.info.Types[e].Type)
	if x, ok := v.(Expr); ok {
		if st, ok := scalarType(t); ok {
			return cast(x, st)
		}
		return x
	}
	switch x := v.(type) {
	case *agg:
		if st, ok := scalarType(t); ok && len(x.elems) == 1 {
			return cast(l.asScalar(x.elems[0], e), st)
		}
		return l.coerce(x, t, e)
	case *structLoc:
		return &structLoc{typ: underlying(t), fields: x.fields}
	}
	return v
}
