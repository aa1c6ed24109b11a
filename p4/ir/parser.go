package ir

import (
	"math/big"

	"khop/p4/ast"
	"khop/p4/types"
)

// mainParser lowers the parser of the architecture.
func (l *lowerer) mainParser(bi *blockInst, args ...any) {
	p := &Parser{Code: &Code{}, Node: bi.block.Decl}
	l.block, l.code, l.pipe = inParser, p.Code, nil
	bi.setParams(args...)
	l.fr = bi.fr
	end := l.code.NewLabel()
	bi.fr.ret, bi.fr.hasRet = end, true
	l.parserBody(bi, end)
	l.code.place(end)
	l.code.add(Instr{Op: OpAccept})
	l.prog.Parser = p
}

// parserBody lowers the states of a parser; accept leads to the label.
func (l *lowerer) parserBody(bi *blockInst, accept Label) {
	l.localVars(bi)
	labels := map[*types.State]Label{}
	var todo []*types.State
	to := func(id *ast.Ident) Label {
		s, _ := l.info.Uses[id].(*types.State)
		if s == nil || s.Decl == nil {
			if id.Name == "accept" {
				return accept
			}
			return -1
		}
		if lb, ok := labels[s]; ok {
			return lb
		}
		lb := l.code.NewLabel()
		labels[s] = lb
		todo = append(todo, s)
		return lb
	}
	var start *types.State
	for _, s := range bi.block.States {
		if s.Name() == "start" {
			start = s
		}
	}
	if start == nil {
		l.errorf(bi.block.Decl, "no-start-state", "parser %s has no state start", bi.block.Name)
		return
	}
	labels[start] = l.code.NewLabel()
	todo = append(todo, start)
	reject := Label(-1)
	target := func(id *ast.Ident) Label {
		lb := to(id)
		if lb < 0 {
			if reject < 0 {
				reject = l.code.NewLabel()
			}
			lb = reject
		}
		return lb
	}
	for len(todo) > 0 {
		s := todo[0]
		todo = todo[1:]
		l.code.add(Instr{Op: OpLabel, Label: labels[s], State: joinPath(bi.fr.path, s.Name()), Node: s.Decl})
		l.stmts(s.Decl.Stmts)
		switch {
		case l.code.dead():
		case s.Decl.Transition != nil:
			l.code.jump(target(s.Decl.Transition))
		case s.Decl.Select != nil:
			l.selectExpr(s.Decl.Select, target)
		default:
			if reject < 0 {
				reject = l.code.NewLabel()
			}
			l.code.jump(reject)
		}
	}
	if reject >= 0 {
		l.code.place(reject)
		l.code.add(Instr{Op: OpAccept})
	}
}

func (l *lowerer) selectExpr(s *ast.SelectExpr, target func(*ast.Ident) Label) {
	sel := &Select{}
	for _, e := range s.Exprs {
		if v := l.lookahead(e); v != nil {
			if x, ok := l.coerce(v, l.typeOf(e), e).(*Lookahead); ok {
				sel.Keys = append(sel.Keys, x)
				continue
			}
		}
		l.flatten(l.expr(e), e, func(x Expr) {
			switch x.(type) {
			case *FieldRef, *LastField:
			default:
				t := x.Type()
				if t.Width == 0 {
					l.errorf(e, "unsupported-expression", "a constant here needs a width, such as 16w1")
					t.Width = 32
				}
				tmp := l.temp(t)
				l.assign(tmp, x, e)
				x = tmp.ref
			}
			sel.Keys = append(sel.Keys, x)
		})
	}
	for _, c := range s.Cases {
		lb := target(c.Next)
		sel.Cases = append(sel.Cases, l.selectCase(c, sel.Keys, lb)...)
	}
	l.code.add(Instr{Op: OpSelect, Sel: sel, Node: s})
}

// selectCase turns a label of a select into one or more matches: ranges become prefixes.
func (l *lowerer) selectCase(c *ast.SelectCase, keys []Expr, lb Label) []SelectCase {
	sets := l.info.Keysets[c]
	if len(sets) == 1 && sets[0].Kind == types.KeyAny {
		return []SelectCase{{Label: lb}}
	}
	if len(sets) == 1 && sets[0].Kind == types.KeyValueSet {
		if v, ok := l.peek(sets[0].Set).(*ValueSet); ok {
			return []SelectCase{{Set: v, Label: lb}}
		}
	}
	var alts [][]Match
	for _, k := range sets {
		alts = append(alts, l.keyset(k)...)
	}
	if len(alts) != len(keys) {
		l.errorf(c, "unsupported-select", "this label has %d parts, the select %d keys", len(alts), len(keys))
		return nil
	}
	out := []SelectCase{{Label: lb, Match: []Match{}}}
	for i, alt := range alts {
		var next []SelectCase
		for _, sc := range out {
			for _, m := range alt {
				t := keys[i].Type()
				m.Value = Wrap(m.Value, Type{Width: t.Width})
				next = append(next, SelectCase{Label: lb, Match: append(sc.Match[:len(sc.Match):len(sc.Match)], m)})
			}
		}
		out = next
	}
	if len(out) > 1<<12 {
		l.errorf(c, "unsupported-select", "the ranges of this label need %d matches", len(out))
		return nil
	}
	all := true
	for _, m := range out[0].Match {
		all = all && m.Mask != nil && m.Mask.Sign() == 0
	}
	if all {
		return []SelectCase{{Label: lb}}
	}
	return out
}

// keyset returns the alternatives of a keyset, per scalar that it matches.
func (l *lowerer) keyset(k *types.Keyset) [][]Match {
	value := func(v types.Value, e ast.Expr) []*big.Int {
		var x Val
		if allConst(v) {
			x = l.constVal(v, l.typ(k.Type), e)
		} else if e != nil {
			x = l.expr(e)
		}
		var out []*big.Int
		l.flatten(x, k.Expr, func(s Expr) {
			switch c := s.(type) {
			case *Const:
				out = append(out, c.Val)
			case BoolConst:
				b := big.NewInt(0)
				if c {
					b = big.NewInt(1)
				}
				out = append(out, b)
			default:
				l.errorf(k.Expr, "not-constant", "a label of a select must be known at compile time")
				out = append(out, new(big.Int))
			}
		})
		return out
	}
	sub := func(i int) ast.Expr {
		switch e := unparen(k.Expr).(type) {
		case *ast.MaskExpr:
			return [...]ast.Expr{e.X, e.Mask}[i]
		case *ast.RangeExpr:
			return [...]ast.Expr{e.Lo, e.Hi}[i]
		}
		return k.Expr
	}
	var out [][]Match
	switch k.Kind {
	case types.KeyAny:
		n := 0
		l.countScalars(l.typ(k.Type), &n)
		for range n {
			out = append(out, []Match{{new(big.Int), new(big.Int)}})
		}
	case types.KeyValue:
		for _, v := range value(k.Lo, k.Expr) {
			out = append(out, []Match{{Value: v}})
		}
	case types.KeyMask:
		lo, hi := value(k.Lo, sub(0)), value(k.Hi, sub(1))
		for i := range lo {
			out = append(out, []Match{{lo[i], hi[i]}})
		}
	case types.KeyRange:
		st := mustScalar(l.typ(k.Type), Type{Width: 32})
		lo, hi := value(k.Lo, sub(0)), value(k.Hi, sub(1))
		for i := range lo {
			if st.Signed && lo[i].Sign() < 0 {
				l.errorf(k.Expr, "unsupported-select", "a range that begins below zero is not supported by the target")
			}
			out = append(out, prefixes(lo[i], hi[i], st.Width))
		}
	default:
		l.errorf(k.Expr, "unsupported-select", "a value set can only be the whole label of a select")
		out = append(out, []Match{{new(big.Int), new(big.Int)}})
	}
	return out
}

func (l *lowerer) countScalars(t types.Type, n *int) {
	switch u := underlying(t).(type) {
	case *types.Struct:
		for _, f := range u.Fields {
			l.countScalars(f.Type(), n)
		}
		return
	case *types.Tuple:
		for _, e := range u.Elems {
			l.countScalars(e, n)
		}
		return
	}
	*n++
}

// prefixes covers the range lo..hi of width bits by values under masks.
func prefixes(lo, hi *big.Int, width int) []Match {
	var out []Match
	one := big.NewInt(1)
	lo = new(big.Int).Set(lo)
	for lo.Cmp(hi) <= 0 {
		n := uint(width)
		if lo.Sign() != 0 {
			n = min(n, lo.TrailingZeroBits())
		}
		for ; n > 0; n-- {
			end := new(big.Int).Add(lo, Mask(int(n)))
			if end.Cmp(hi) <= 0 {
				break
			}
		}
		m := Match{Value: new(big.Int).Set(lo)}
		if n > 0 {
			m.Mask = new(big.Int).AndNot(Mask(width), Mask(int(n)))
		}
		out = append(out, m)
		lo.Add(lo, new(big.Int).Lsh(one, n))
	}
	return out
}

// packetIn lowers a method of packet_in that is called as a statement.
func (l *lowerer) packetIn(name string, c *types.Call, n ast.Node) {
	switch name {
	case "extract":
		l.extract(c, n)
	case "advance":
		v := l.scalar(c.Args[0].Expr)
		l.code.add(Instr{Op: OpParse, Name: "advance", Args: []Arg{cast(v, Type{Width: 32})}, Node: n})
	case "lookahead":
		// Looking without using what is seen still fails at the end of the packet.
		if v := l.lookahead(c.Expr); v != nil {
			l.save(v, n)
		}
	default:
		l.errorf(n, "unsupported-extern", "packet_in.%s is not supported by the target", name)
	}
}

func (l *lowerer) extract(c *types.Call, n ast.Node) {
	a := c.Args[0]
	var d Loc
	if a.DontCare || a.Expr == nil {
		d = l.tempOf(l.typ(a.Type), n)
	} else {
		d = l.lvalue(a.Expr)
	}
	h, ok := d.(*headerLoc)
	if !ok {
		if d != nil {
			l.errorf(n, "unsupported-call", "extract takes a header, not a value of type %s", d.typeOf())
		}
		return
	}
	in := Instr{Op: OpParse, Name: "extract", Node: n}
	var size Expr
	if len(c.Args) > 1 {
		in.Name = "extract_VL"
		size = cast(l.scalar(c.Args[1].Expr), Type{Width: 32})
		if h.headerType().Varbit() == nil {
			l.errorf(n, "unsupported-call", "extract with a size takes a header with a varbit field")
			return
		}
	}
	emit := func(arg Arg) {
		i := in
		i.Args = []Arg{arg}
		if size != nil {
			i.Args = append(i.Args, size)
		}
		l.code.add(i)
	}
	switch {
	case h.static():
		emit(h.hdr)
	case h.next && h.stack != nil:
		emit(&NextElem{Stack: h.stack})
	case h.next:
		emit(&NextElem{Union: h.ust, Member: h.ust.Type.Members[h.memb].Name})
	case h.index != nil:
		l.eachElem(h, n, func(e *headerLoc) { emit(e.hdr) })
	default:
		l.errorf(n, "unsupported-call", "this cannot be extracted")
	}
}

// lookahead returns what packet.lookahead<T>() or a slice of it sees, or nil when the expression is something else. The value must
// be used by itself: the target cannot compute with bits that are not parsed yet.
func (l *lowerer) lookahead(e ast.Expr) Val {
	switch x := unparen(e).(type) {
	case *ast.Slice:
		v, ok := l.lookahead(x.X).(*Lookahead)
		if !ok {
			return nil
		}
		hi, lo, ok := l.bounds(x)
		if !ok || lo >= 8 {
			// The last byte must be there as well.
			s, _ := l.save(v, e).(Expr)
			if !ok {
				l.errorf(e, "not-constant", "the bounds of a slice must be known at compile time")
				return nil
			}
			return slice(s, hi, lo)
		}
		return slice(v, hi, lo)
	case *ast.CallExpr:
		c := l.info.Calls[x]
		if c == nil || c.Kind != types.CallMethod || c.Func.Name() != "lookahead" || len(c.Args) > 0 {
			return nil
		}
		if l.block != inParser {
			return nil
		}
		off := 0
		return l.lookaheadOf(l.typ(c.Result), &off, x)
	}
	return nil
}

func (l *lowerer) lookaheadOf(t types.Type, off *int, n ast.Node) Val {
	if st, ok := scalarType(t); ok && st.Width > 0 {
		v := &Lookahead{Offset: *off, T: Type{Width: st.Width}}
		*off += st.Width
		if st.Bool {
			return cast(l.save(v, n).(Expr), st)
		}
		if st.Signed {
			tmp := l.temp(st)
			l.code.prim(n, "assign", tmp.ref, v)
			return tmp.ref
		}
		return v
	}
	u := underlying(t)
	a := &agg{typ: u}
	switch u := u.(type) {
	case *types.Struct:
		if u.Kind != types.StructUnion {
			for _, f := range u.Fields {
				a.elems = append(a.elems, l.lookaheadOf(f.Type(), off, n))
			}
			return a
		}
	case *types.Tuple:
		for _, e := range u.Elems {
			a.elems = append(a.elems, l.lookaheadOf(e, off, n))
		}
		return a
	case *types.Stack:
		for range u.Size {
			a.elems = append(a.elems, l.lookaheadOf(u.Elem, off, n))
		}
		return a
	}
	l.errorf(n, "unsupported-type", "lookahead of type %s is not supported by the target", t)
	return nil
}
