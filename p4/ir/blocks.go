package ir

import (
	"math/big"

	"khop/p4/ast"
	"khop/p4/types"
)

// The parameters of the package V1Switch, in order.
const (
	argParser = iota
	argVerify
	argIngress
	argEgress
	argCompute
	argDeparser
	argCount
)

// program lowers the package instance main.
func (l *lowerer) program() {
	main := l.info.Main
	if main == nil || main.Call == nil {
		l.errorf(nil, "no-main", "the program has no package instance named main")
		return
	}
	pkg, ok := main.Call.Type.(*types.Package)
	if !ok || pkg.Name != "V1Switch" || len(main.Call.Args) != argCount {
		l.errorf(main.Node(), "unsupported-architecture",
			"main is no instance of package V1Switch: this compiler supports the v1model architecture")
		return
	}
	l.version()
	l.y = newLayout(l)
	l.lists = map[int64]*FieldList{}
	l.fr = &frame{vars: map[types.Object]any{}}
	for _, o := range l.info.Globals {
		if inst, ok := o.(*types.Instance); ok && inst != main && inst.Call != nil {
			if ext, ok := inst.Call.Type.(*types.Extern); ok {
				l.insts[inst] = l.extern(inst, ext, "", l.prog.Root)
			}
		}
	}
	var insts [argCount]*blockInst
	for i, a := range main.Call.Args {
		insts[i] = l.mainBlock(a)
		if insts[i] == nil {
			return
		}
	}
	l.enums()
	p := insts[argParser].block
	if len(p.Params) != 4 {
		l.errorf(p.Decl, "unsupported-architecture", "the parser of v1model has 4 parameters, this one has %d", len(p.Params))
		return
	}
	pf := insts[argParser].fr
	l.fr = pf
	std := l.standard(l.typ(p.Params[3].Type()), p.Params[3].Node())
	hdr := l.headers(l.typ(p.Params[1].Type()), p.Params[1].Node())
	meta := l.y.alloc(l.typ(p.Params[2].Type()), "userMetadata", "userMetadata", p.Params[2].Node())
	l.fieldLists(meta, l.typ(p.Params[2].Type()))
	l.fr = &frame{vars: map[types.Object]any{}}

	l.mainParser(insts[argParser], packetIn{}, hdr, meta, std)
	l.checksums(insts[argVerify], inVerify, hdr, meta)
	l.prog.Ingress = l.pipeline("ingress", insts[argIngress], inIngress, hdr, meta, std)
	l.prog.Egress = l.pipeline("egress", insts[argEgress], inEgress, hdr, meta, std)
	l.checksums(insts[argCompute], inCompute, hdr, meta)
	l.mainDeparser(insts[argDeparser], hdr)
	l.finish()
}

func (l *lowerer) standard(t types.Type, n ast.Node) Loc {
	st, ok := t.(*types.Struct)
	if !ok || st.Kind != types.StructStruct {
		l.errorf(n, "unsupported-architecture", "the standard metadata must be a struct, not %s", t)
		panic(tooMany{})
	}
	ht := l.y.headerType(st, n)
	ht.Name = "standard_metadata"
	h := l.y.instance("standard_metadata", ht, true)
	if w := ht.Width() % 8; w != 0 {
		ht.Fields = append(ht.Fields, &Field{Name: "_padding", Width: 8 - w, Index: len(ht.Fields)})
	}
	l.prog.Standard = h
	s := &structLoc{typ: t}
	hl := &headerLoc{hdr: h, typ: st}
	for i, f := range st.Fields {
		s.fields = append(s.fields, hl.field(i))
		if a := types.Anno(f, "alias"); a != nil && len(a.Tokens) == 1 {
			if fd, ok := ht.tree[i].(*Field); ok {
				l.prog.Aliases = append(l.prog.Aliases, Alias{Unquote(a.Tokens[0].Text), h, fd})
			}
		}
	}
	return s
}

func (l *lowerer) headers(t types.Type, n ast.Node) Loc {
	path := ""
	if s, ok := underlying(t).(*types.Struct); !ok || s.Kind != types.StructStruct {
		path = "hdr"
	}
	return l.y.alloc(t, "hdr", path, n)
}

// enums notes the enums without underlying type that are not the architecture's.
func (l *lowerer) enums() {
	for _, o := range l.info.Globals {
		if tn, ok := o.(*types.TypeName); ok && !tn.Alias {
			if e, ok := tn.Type().(*types.Enum); ok && e.Underlying == nil {
				l.prog.Enums = append(l.prog.Enums, e)
			}
		}
	}
}

// mainBlock returns the parser or control that is an argument of main.
func (l *lowerer) mainBlock(a types.Arg) *blockInst {
	switch e := unparen(a.Expr).(type) {
	case *ast.CallExpr:
		if c := l.info.Calls[e]; c != nil && c.Kind == types.CallConstructor {
			if b, ok := c.Type.(*types.Block); ok {
				return l.newInst(b, c.Args, b.Name, l.prog.Root, nil)
			}
		}
	case *ast.Name:
		if inst, ok := l.info.Uses[e].(*types.Instance); ok && inst.Call != nil {
			if b, ok := inst.Call.Type.(*types.Block); ok {
				return l.newInst(b, inst.Call.Args, b.Name, l.prog.Root, nil)
			}
		}
	}
	l.errorf(a.Expr, "unsupported-architecture", "the argument for %s is no parser or control", a.Param.Name())
	return nil
}

// newInst makes an instance of a parser or control. Its constructor arguments are evaluated in the current frame.
func (l *lowerer) newInst(b *types.Block, args []types.Arg, path string, scope *Scope, parent *blockInst) *blockInst {
	decl := b
	if b.Origin != nil {
		decl = b.Origin
	}
	bi := &blockInst{block: decl, tables: map[*types.Table]*Table{}, vars: map[types.Object]Loc{},
		direct: map[*ast.CallExpr]*blockInst{},
		scope:  &Scope{Name: path, Block: decl}}
	bi.fr = &frame{vars: map[types.Object]any{}, inst: bi, path: path, params: decl.TypeParams}
	for _, t := range b.TypeArgs {
		bi.fr.args = append(bi.fr.args, l.typ(t))
	}
	for i, a := range args {
		if a.Expr != nil && i < len(decl.CtorParams) {
			v := l.expr(a.Expr)
			bi.fr.vars[decl.CtorParams[i]] = v
			bi.fr.vars[a.Param] = v
		}
	}
	if parent == nil {
		bi.sites = 1
	} else {
		bi.sites = parent.sites
	}
	scope.Children = append(scope.Children, bi.scope)
	old := l.fr
	l.fr = bi.fr
	defer func() { l.fr = old }()
	for _, o := range decl.Locals {
		switch o := o.(type) {
		case *types.Instance:
			bi.fr.vars[o] = l.instantiate(o, path, bi)
		case *types.ValueSet:
			v := l.valueSet(o, path)
			bi.scope.ValueSets = append(bi.scope.ValueSets, v)
			bi.fr.vars[o] = v
		}
	}
	return bi
}

// instantiate makes what an instantiation inside a parser or control declares.
func (l *lowerer) instantiate(o *types.Instance, path string, parent *blockInst) any {
	if o.Call == nil {
		return nil
	}
	switch t := l.typ(o.Call.Type).(type) {
	case *types.Extern:
		return l.extern(o, t, path, parent.scope)
	case *types.Block:
		bi := l.newInst(t, o.Call.Args, controlName(path, o.Name(), o.Annos()), parent.scope, parent)
		bi.scope.Inst = o
		bi.sites = parent.sites * l.countSites(parent.block, o)
		return bi
	}
	l.errorf(o.Node(), "unsupported-instance", "an instance of %s is not supported here", o.Type())
	return nil
}

// countSites counts the places where a block applies one of its instances.
func (l *lowerer) countSites(b *types.Block, o *types.Instance) int {
	n := 0
	visit := func(x ast.Node) bool {
		if c, ok := x.(*ast.CallExpr); ok {
			if call := l.info.Calls[c]; call != nil && call.Kind == types.CallBlock && call.Instance == o {
				n++
			}
		}
		return true
	}
	switch d := b.Decl.(type) {
	case *ast.ControlDecl:
		walk(d.Apply, visit)
	case *ast.ParserDecl:
		for _, s := range d.States {
			for _, st := range s.Stmts {
				walk(st, visit)
			}
		}
	}
	return n
}

func (l *lowerer) valueSet(o *types.ValueSet, path string) *ValueSet {
	v := &ValueSet{Name: controlName(path, o.Name(), o.Annos()), Decl: o}
	if o.Size != nil {
		v.Size = o.Size.Int64()
	} else if n, ok := l.constInt(o.Decl.Size); ok {
		v.Size = int64(n)
	}
	t := l.typ(o.Type())
	if s, ok := t.(*types.Set); ok {
		t = s.Elem
	}
	var add func(t types.Type)
	add = func(t types.Type) {
		if st, ok := scalarType(t); ok {
			v.Widths = append(v.Widths, st.Width)
			return
		}
		switch u := underlying(t).(type) {
		case *types.Struct:
			for _, f := range u.Fields {
				add(f.Type())
			}
		case *types.Tuple:
			for _, e := range u.Elems {
				add(e)
			}
		default:
			l.errorf(o.Node(), "unsupported-type", "a value set of type %s is not supported", t)
		}
	}
	add(t)
	l.prog.ValueSets = append(l.prog.ValueSets, v)
	return v
}

// calledBlock returns the instance that a call applies.
func (l *lowerer) calledBlock(c *types.Call) *blockInst {
	if c.Kind == types.CallBlock {
		var v any
		if c.Instance != nil {
			v = l.lookup(c.Instance)
		} else if c.Recv != nil {
			v = l.expr(c.Recv)
		}
		if b, ok := v.(*blockInst); ok {
			return b
		}
		l.errorf(c.Expr, "unsupported-call", "this instance cannot be applied here")
		return nil
	}
	f := l.instFrame()
	if f == nil {
		l.errorf(c.Expr, "unsupported-call", "a parser or control can be applied in a parser or control only")
		return nil
	}
	if b := f.inst.direct[c.Expr]; b != nil {
		return b
	}
	block, _ := l.typ(c.Block).(*types.Block)
	b := l.newInst(block, nil, controlName(f.path, c.Block.Name, nil), f.inst.scope, f.inst)
	f.inst.direct[c.Expr] = b
	return b
}

// setParams binds the parameters of a block that the architecture calls.
func (bi *blockInst) setParams(args ...any) {
	for i, p := range bi.block.Params {
		if i < len(args) {
			bi.fr.vars[p] = args[i]
		}
	}
}

// applyBlock inlines the application of a parser or control.
func (l *lowerer) applyBlock(bi *blockInst, c *types.Call, n ast.Node) {
	if !l.deeper(n) {
		return
	}
	nf := bi.fr
	nf.caller, nf.copyOut = l.fr, nil
	nf.ret, nf.hasRet = l.code.NewLabel(), true
	args := make([]types.Arg, len(c.Args))
	copy(args, c.Args)
	for i := range args {
		if i < len(bi.block.Params) {
			args[i].Param = bi.block.Params[i]
		}
	}
	if bi.sites > 1 && l.hasTables(bi) {
		l.bindCopies(bi, args, n)
	} else {
		for _, p := range bi.block.Params {
			delete(nf.vars, p)
		}
		l.bind(nf, args, nil, n)
	}
	old, loops := l.fr, l.loops
	l.fr, l.loops = nf, nil
	if bi.block.Kind == types.ParserBlock {
		l.parserBody(bi, nf.ret)
	} else {
		l.controlBody(bi)
	}
	l.fr, l.loops = old, loops
	l.code.place(nf.ret)
	for _, co := range nf.copyOut {
		l.assign(co.dst, plain(co.src), n)
	}
	nf.copyOut = nil
	l.calls--
}

// bindCopies copies arguments into storage of the instance's own, which its tables and actions refer to wherever it is applied.
func (l *lowerer) bindCopies(bi *blockInst, args []types.Arg, n ast.Node) {
	nf := bi.fr
	type copyIn struct {
		dst Loc
		src Val
	}
	var in []copyIn
	for _, a := range args {
		if a.Expr == nil {
			continue
		}
		var v Val
		out := a.Param.Dir == ast.Out || a.Param.Dir == ast.InOut
		var loc Loc
		switch {
		case a.DontCare:
		case out:
			loc = l.lvalue(a.Expr)
		default:
			v = l.argVal(a.Expr)
			if _, ok := v.(Expr); !ok {
				if _, ok := v.(Loc); !ok {
					if _, ok := v.(*agg); !ok {
						nf.vars[a.Param] = v
						continue
					}
				}
			}
		}
		t := l.paramStorage(nf, a)
		nf.vars[a.Param] = t
		switch {
		case loc == nil && v != nil:
			in = append(in, copyIn{t, v})
		case loc != nil && a.Param.Dir == ast.InOut:
			in = append(in, copyIn{t, l.read(loc, n)})
		}
		if loc != nil {
			nf.copyOut = append(nf.copyOut, copyOut{loc, t, n})
		}
	}
	for _, c := range in {
		l.assign(c.dst, c.src, n)
	}
}

// hasTables tells whether an instance, or one inside it, declares tables.
func (l *lowerer) hasTables(bi *blockInst) bool {
	for _, o := range bi.block.Locals {
		switch o := o.(type) {
		case *types.Table:
			return true
		case *types.Instance:
			if sub, ok := bi.fr.vars[o].(*blockInst); ok && l.hasTables(sub) {
				return true
			}
		}
	}
	return false
}

// controlBody lowers the declarations with initial values and the apply block of a control.
func (l *lowerer) controlBody(bi *blockInst) {
	l.localVars(bi)
	if d, ok := bi.block.Decl.(*ast.ControlDecl); ok && d.Apply != nil {
		l.stmts(d.Apply.List)
	}
}

// localVars gives the variables of a parser or control their storage and first values.
func (l *lowerer) localVars(bi *blockInst) {
	for _, o := range bi.block.Locals {
		switch o := o.(type) {
		case *types.Var:
			l.declare(o, o.Init, o.Node())
		case *types.Const:
			if d, ok := o.Node().(*ast.ConstDecl); ok && !allConst(o.Value) {
				l.fr.vars[o] = l.coerce(l.expr(d.Value), l.typ(o.Type()), d)
			}
		}
	}
}

// clashes reports objects of one kind that the control plane would know by the same name.
func (l *lowerer) clashes() {
	type key struct{ kind, name string }
	seen := map[key]ast.Node{}
	check := func(kind, name string, n ast.Node) {
		if first, ok := seen[key{kind, name}]; ok && first != n {
			l.errorf(n, "duplicate-name", "another %s has the name %s as well; @name tells them apart", kind, name)
			return
		}
		seen[key{kind, name}] = n
	}
	for _, a := range l.prog.Actions {
		check("action", a.Name, a.Node)
	}
	for _, p := range []*Pipeline{l.prog.Ingress, l.prog.Egress} {
		done := map[string]bool{}
		for _, t := range p.Tables {
			n := t.Decl.Node()
			if done[t.Name] {
				l.errorf(t.Decl.Node(), "duplicate-name", "another table has the name %s as well; @name tells them apart", t.Name)
				continue
			}
			done[t.Name] = true
			check("table", t.Name, n)
		}
	}
	for _, list := range [][]*Extern{l.prog.Counters, l.prog.Meters, l.prog.Registers} {
		done := map[string]bool{}
		for _, x := range list {
			if done[x.Name] {
				var n ast.Node
				if x.Inst != nil {
					n = x.Inst.Node()
				}
				l.errorf(n, "duplicate-name", "another %s has the name %s as well; @name tells them apart", x.Kind, x.Name)
			}
			done[x.Name] = true
		}
	}
}

// pipeline lowers ingress or egress.
func (l *lowerer) pipeline(name string, bi *blockInst, kind blockKind, args ...any) *Pipeline {
	p := &Pipeline{Name: name, Code: &Code{}, Node: bi.block.Decl}
	l.pipe, l.block, l.code = p, kind, p.Code
	bi.setParams(args...)
	bi.fr.ret, bi.fr.hasRet = l.code.NewLabel(), true
	bi.fr.caller = nil
	l.fr = bi.fr
	l.controlBody(bi)
	l.code.place(bi.fr.ret)
	return p
}

// The versions of v1model.p4 that there are; programs choose one with the macro V1MODEL_VERSION.
const (
	firstVersion  = 20180101
	latestVersion = 20200408
)

// version refuses a program for a version of v1model.p4 that does not exist.
func (l *lowerer) version() {
	for _, o := range l.info.Globals {
		c, ok := o.(*types.Const)
		if !ok || c.Name() != "__v1model_version" {
			continue
		}
		v, ok := c.Value.(*big.Int)
		if !ok || v.Cmp(big.NewInt(firstVersion)) < 0 || v.Cmp(big.NewInt(latestVersion)) > 0 {
			l.errorf(c.Node(), "unsupported-architecture", "version %v of v1model is unknown; versions go from %d to %d", c.Value, firstVersion, latestVersion)
		}
	}
}

// finish completes what depends on the whole program.
func (l *lowerer) finish() {
	l.clashes()
	for _, p := range []*Pipeline{l.prog.Ingress, l.prog.Egress} {
		if p == nil {
			continue
		}
		for _, t := range p.Tables {
			if t.Sites > 1 {
				t.Site = l.y.scalar(t.Name+".site", Type{Width: 16})
			}
		}
	}
	for _, m := range l.prog.Meters {
		if m.Kind == "direct_meter" && m.Table == nil && m.Result != nil {
			l.errorf(m.Inst.Node(), "unsupported-instance", "direct meter %s is read but belongs to no table; a table names it with meters = ...", m.Name)
		}
		if m.Kind == "direct_meter" && m.Table != nil && m.Result == nil {
			// Nothing reads the colour, but the target stores it.
			m.Result = l.y.scalar(joinPath(m.Name, "color"), Type{Width: 2})
		}
	}
	s := l.prog.Scalars.Type
	if w := s.Width() % 8; w != 0 {
		s.Fields = append(s.Fields, &Field{Name: "_padding", Width: 8 - w, Index: len(s.Fields)})
	}
}
