package ir

import (
	"math/big"

	"khop/p4/ast"
	"khop/p4/types"
)

// lvalue lowers an expression to the place that it stands for.
func (l *lowerer) lvalue(e ast.Expr) Loc {
	defer l.enter(e)()
	switch e := e.(type) {
	case *ast.Paren:
		return l.lvalue(e.X)
	case *ast.Name:
		if loc, ok := l.lookup(l.info.Uses[e]).(Loc); ok {
			return loc
		}
	case *ast.Slice:
		hi, lo, ok := l.bounds(e)
		base := l.lvalue(e.X)
		if base == nil {
			return nil
		}
		if !ok {
			l.errorf(e, "not-constant", "the bounds of a slice that is written must be known at compile time")
			return nil
		}
		if b, ok := base.(*sliceLoc); ok {
			return &sliceLoc{b.base, b.lo + hi, b.lo + lo}
		}
		return &sliceLoc{base, hi, lo}
	case *ast.Member, *ast.Index:
		if m, ok := e.(*ast.Member); ok {
			if sel := l.info.Selections[m]; sel != nil && sel.Kind == types.SelField {
				return l.fieldLoc(l.lvalue(m.X), sel.Index, e)
			}
		}
		if i, ok := e.(*ast.Index); ok {
			if s, ok := l.lvalue(i.X).(*structLoc); ok {
				return l.elemLoc(s, i)
			}
		}
		switch v := l.rawExpr(e).(type) {
		case Loc:
			return v
		case *FieldRef, *LastField:
			return &scalarLoc{v.(Expr), l.typeOf(e)}
		}
	}
	l.errorf(e, "unsupported-expression", "this cannot be written")
	return nil
}

func (l *lowerer) fieldLoc(base Loc, i int, n ast.Node) Loc {
	switch b := base.(type) {
	case *structLoc:
		return b.fields[i]
	case *headerLoc:
		if f := b.field(i); f != nil {
			return f
		}
		l.errorf(n, "unsupported-expression", "a field of a union in a stack whose index is computed at run time cannot be written")
	case *unionLoc:
		return b.member(i)
	case nil:
	default:
		l.errorf(n, "unsupported-expression", "cannot write a field of this")
	}
	return nil
}

func (l *lowerer) elemLoc(s *structLoc, e *ast.Index) Loc {
	if k, ok := l.constInt(e.Index); ok {
		if k >= 0 && k < len(s.fields) {
			return s.fields[k]
		}
		l.errorf(e, "index-out-of-range", "index %d is out of range: there are %d elements", k, len(s.fields))
		return nil
	}
	l.errorf(e, "unsupported-expression", "an array of this type cannot be written at an index computed at run time")
	return nil
}

// assign adds code for dst = v.
func (l *lowerer) assign(dst Loc, v Val, n ast.Node) {
	if dst == nil || v == nil {
		return
	}
	pairs := l.pairs(nil, dst, v, n)
	if len(pairs) > 1 {
		l.untangle(pairs, n)
	}
	for _, p := range pairs {
		p.emit(l, n)
	}
}

// pair is the assignment of a scalar, header, stack or union.
type pair struct {
	dst Loc
	src Val
}

// pairs splits an assignment into those that the target can do.
func (l *lowerer) pairs(out []pair, dst Loc, v Val, n ast.Node) []pair {
	switch d := dst.(type) {
	case *structLoc:
		for i, f := range d.fields {
			out = l.pairs(out, f, l.part(v, i, n), n)
		}
		return out
	case *stackLoc:
		if a, ok := v.(*agg); ok {
			for i, h := range d.stack.Elems {
				out = l.pairs(out, &headerLoc{hdr: h, typ: l.headerOf(d.typ)}, l.part(a, i, n), n)
			}
			return out
		}
	case *unionStackLoc:
		if a, ok := v.(*agg); ok {
			for i, u := range d.stack.Elems {
				out = l.pairs(out, &unionLoc{union: u, typ: l.headerOf(d.typ)}, l.part(a, i, n), n)
			}
			return out
		}
	case *unionLoc:
		if _, ok := v.(*agg); ok {
			for i := range d.typ.Fields {
				out = append(out, pair{d.member(i), &agg{typ: d.member(i).typ, valid: BoolConst(false)}})
			}
			return out
		}
	}
	return append(out, pair{dst, v})
}

// untangle saves sources that an earlier pair overwrites.
func (l *lowerer) untangle(pairs []pair, n ast.Node) {
	var written storage
	for i := range pairs {
		p := &pairs[i]
		if i > 0 && written.overlaps(p.src) {
			p.src = l.save(p.src, n)
		}
		leaves(p.dst, written.add)
	}
}

func (p pair) emit(l *lowerer, n ast.Node) {
	switch d := p.dst.(type) {
	case *scalarLoc:
		src := l.asScalar(p.src, n)
		if t := d.ref.Type(); src.Type() != t {
			src = cast(src, t)
		}
		if same(d.ref, src) {
			return
		}
		l.store(d.ref, src, n)
	case *sliceLoc:
		l.assignSlice(d, l.asScalar(p.src, n), n)
	case *varbitLoc:
		s, ok := p.src.(*varbitLoc)
		if !ok {
			l.errorf(n, "unsupported-expression", "only a varbit value can be assigned to a varbit field")
			return
		}
		if *s.ref != *d.ref {
			l.code.prim(n, "assign_VL", d.ref, s.ref)
		}
	case *headerLoc:
		l.assignHeader(d, p.src, n)
	case *stackLoc:
		if s, ok := p.src.(*stackLoc); ok && s.stack != d.stack {
			l.code.prim(n, "assign_header_stack", d.stack, s.stack)
		}
	case *unionStackLoc:
		if s, ok := p.src.(*unionStackLoc); ok && s.stack != d.stack {
			l.code.prim(n, "assign_union_stack", d.stack, s.stack)
		}
	case *unionLoc:
		s, ok := p.src.(*unionLoc)
		if !ok {
			l.errorf(n, "unsupported-expression", "this cannot be assigned to a header union")
			return
		}
		l.assignUnion(d, s, n)
	}
}

func (l *lowerer) assignUnion(d, s *unionLoc, n ast.Node) {
	switch {
	case d.union == nil:
		l.eachUnion(d, n, func(u *unionLoc) { l.assignUnion(u, s, n) })
	case s.union == nil:
		l.eachUnion(s, n, func(u *unionLoc) { l.assignUnion(d, u, n) })
	case s.union != d.union:
		l.code.prim(n, "assign_union", d.union, s.union)
	}
}

// eachUnion runs f for the element of a stack of unions that an index chooses at run time.
func (l *lowerer) eachUnion(u *unionLoc, n ast.Node, f func(*unionLoc)) {
	if u.index == nil {
		l.errorf(n, "unsupported-expression", "the next or last element of a stack of unions cannot be used here")
		return
	}
	l.eachIndex(u.index, len(u.ust.Elems), n, func(k int) { f(&unionLoc{union: u.ust.Elems[k], typ: u.typ}) })
}

func same(a, b Expr) bool {
	x, ok := a.(*FieldRef)
	if !ok {
		return false
	}
	y, ok := b.(*FieldRef)
	return ok && x.Header == y.Header && x.Field == y.Field
}

func (l *lowerer) assignSlice(d *sliceLoc, src Expr, n ast.Node) {
	base, ok := d.base.(*scalarLoc)
	if !ok {
		l.errorf(n, "unsupported-expression", "a slice of this cannot be written")
		return
	}
	t := base.ref.Type()
	u := Type{Width: t.Width}
	w := d.hi - d.lo + 1
	src = cast(cast(src, Type{Width: w}), u)
	if d.lo > 0 {
		src = binary("<<", src, intConst(int64(d.lo), Type{Width: 32}), u)
	}
	keep := new(big.Int).AndNot(Mask(t.Width), new(big.Int).Lsh(Mask(w), uint(d.lo)))
	if keep.Sign() != 0 {
		src = binary("|", binary("&", cast(base.ref, u), newConst(keep, u), u), src, u)
	}
	l.store(base.ref, cast(src, t), n)
}

// store writes a field. A write to an element beyond the end of its stack does nothing.
func (l *lowerer) store(dst, src Expr, n ast.Node) {
	if e, ok := dst.(*ElemField); ok {
		if c := inRange(e); c != BoolConst(true) {
			end := l.code.NewLabel()
			l.branch(c, end, n)
			l.code.prim(n, "assign", dst, src)
			l.code.place(end)
			return
		}
	}
	l.code.prim(n, "assign", dst, src)
}

func (l *lowerer) assignHeader(d *headerLoc, v Val, n ast.Node) {
	if d.index != nil {
		l.eachElem(d, n, func(h *headerLoc) { l.assignHeader(h, v, n) })
		return
	}
	if !d.static() {
		l.errorf(n, "unsupported-expression", "the next or last element of a stack of unions cannot be written here")
		return
	}
	switch s := v.(type) {
	case *headerLoc:
		switch {
		case s.hdr == d.hdr && s.static():
		case s.static():
			l.code.prim(n, "assign_header", d.hdr, s.hdr)
		case s.index != nil:
			l.eachElem(s, n, func(h *headerLoc) { l.assignHeader(d, h, n) })
		default:
			l.errorf(n, "unsupported-expression", "the next or last element of a stack of unions cannot be read here")
		}
	case *agg:
		if b, ok := s.valid.(BoolConst); ok && !bool(b) {
			l.code.prim(n, "remove_header", d.hdr)
			return
		}
		pairs := []pair{}
		for i, e := range s.elems {
			pairs = l.pairs(pairs, d.field(i), e, n)
		}
		l.untangle(pairs, n)
		l.code.prim(n, "add_header", d.hdr)
		for _, p := range pairs {
			p.emit(l, n)
		}
	default:
		l.errorf(n, "unsupported-expression", "this cannot be assigned to a header")
	}
}

// eachElem runs f for the element of a stack that an index chooses at run time.
func (l *lowerer) eachElem(h *headerLoc, n ast.Node, f func(*headerLoc)) {
	l.eachIndex(h.index, h.size(), n, func(k int) { f(h.elem(k)) })
}

// eachIndex runs f for the value that an index has at run time.
func (l *lowerer) eachIndex(index Expr, size int, n ast.Node, f func(int)) {
	idx, _ := l.save(index, n).(Expr) // f may write the index
	end := l.code.NewLabel()
	for k := range size {
		next := l.code.NewLabel()
		l.branch(binary("==", idx, intConst(int64(k), idx.Type()), boolType), next, n)
		f(k)
		l.code.jump(end)
		l.code.place(next)
	}
	l.code.place(end)
}
