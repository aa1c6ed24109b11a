package types

// subst replaces type variables by types.
type subst map[*TypeParam]Type

func newSubst(params []*TypeParam, args []Type) subst {
	s := subst{}
	for i, p := range params {
		s[p] = args[i]
	}
	return s
}

// apply returns t with the variables of s replaced and bound inference variables looked through.
func (s subst) apply(t Type) Type {
	switch t := t.(type) {
	case *TypeParam:
		if r, ok := s[t]; ok {
			return r
		}
		if t.bound != nil {
			return s.apply(t.bound)
		}
		return t
	case *Stack:
		if e := s.apply(t.Elem); e != t.Elem {
			return &Stack{e, t.Size}
		}
	case *Tuple:
		if es, changed := s.list(t.Elems); changed {
			return &Tuple{es}
		}
	case *Seq:
		if es, changed := s.list(t.Elems); changed {
			return &Seq{es, t.Dots}
		}
	case *Record:
		if es, changed := s.list(t.Elems); changed {
			return &Record{t.Names, es, t.Dots}
		}
	case *List:
		if e := s.apply(t.Elem); e != t.Elem {
			return &List{e}
		}
	case *Set:
		if e := s.apply(t.Elem); e != t.Elem {
			return &Set{e}
		}
	case *Struct:
		if args, changed := s.list(t.TypeArgs); changed {
			return t.Origin.instantiate(args)
		}
	case *Extern:
		if args, changed := s.list(t.TypeArgs); changed {
			return t.Origin.instantiate(args)
		}
	case *Block:
		if args, changed := s.list(t.TypeArgs); changed {
			return t.Origin.instantiate(args)
		}
	case *Package:
		if args, changed := s.list(t.TypeArgs); changed {
			return t.Origin.instantiate(args)
		}
	case *Signature:
		return s.signature(t)
	}
	return t
}

func (s subst) list(ts []Type) ([]Type, bool) {
	var out []Type
	for i, t := range ts {
		r := s.apply(t)
		if r != t && out == nil {
			out = append(make([]Type, 0, len(ts)), ts[:i]...)
		}
		if out != nil {
			out = append(out, r)
		}
	}
	if out == nil {
		return ts, false
	}
	return out, true
}

func (s subst) signature(t *Signature) *Signature {
	r := &Signature{TypeParams: t.TypeParams, Params: s.params(t.Params), Result: t.Result}
	if t.Result != nil {
		r.Result = s.apply(t.Result)
	}
	return r
}

// params returns the parameters with their types replaced; those that change are copies that name their Origin.
func (s subst) params(ps []*Param) []*Param {
	out := make([]*Param, len(ps))
	for i, p := range ps {
		out[i] = p
		if typ := s.apply(p.typ); typ != p.typ {
			q := *p
			q.typ = typ
			q.Origin = p
			if p.Origin != nil {
				q.Origin = p.Origin
			}
			out[i] = &q
		}
	}
	return out
}

func (s subst) fun(f *Func) *Func {
	g := *f
	g.Sig = s.signature(f.Sig)
	g.typ = g.Sig
	g.Origin = f
	if f.Origin != nil {
		g.Origin = f.Origin
	}
	return &g
}

// maxOpen bounds how many instances with arguments still to be inferred are kept: enough for one inference, whose nested instances
// would otherwise be made again and again.
const maxOpen = 256

// writtenAlike compares types without looking through inference variables.
func writtenAlike(a, b []Type) bool {
	if len(a) != len(b) {
		return false
	}
	one := func(x, y Type) bool { return writtenAlike([]Type{x}, []Type{y}) }
	for i, x := range a {
		y := b[i]
		same := x == y
		switch x := x.(type) {
		case *TypeParam:
		case *Tuple:
			z, ok := y.(*Tuple)
			same = same || ok && writtenAlike(x.Elems, z.Elems)
		case *Stack:
			z, ok := y.(*Stack)
			same = same || ok && x.Size == z.Size && one(x.Elem, z.Elem)
		case *List:
			z, ok := y.(*List)
			same = same || ok && one(x.Elem, z.Elem)
		case *Bit, *Int, *Varbit:
			same = same || Identical(x, y)
		}
		if !same {
			return false
		}
	}
	return true
}

// instantiate returns the instance of a generic struct, header or union for type arguments, the same one for the same arguments.
func (t *Struct) instantiate(args []Type) *Struct {
	list := &t.instances
	same := identicalLists
	if mentionInference(args) {
		list, same = &t.open, writtenAlike
	}
	for _, i := range *list {
		if same(i.TypeArgs, args) {
			return i
		}
	}
	n := &Struct{Kind: t.Kind, Name: t.Name, Decl: t.Decl, TypeArgs: args, Origin: t}
	if len(t.open) >= maxOpen {
		t.open = t.open[1:]
	}
	*list = append(*list, n)
	s := newSubst(t.TypeParams, args)
	n.Fields = make([]*Field, len(t.Fields))
	for i, f := range t.Fields {
		g := *f
		g.typ = s.apply(f.typ)
		n.Fields[i] = &g
	}
	return n
}

func (t *Extern) instantiate(args []Type) *Extern {
	if !mentionInference(args) {
		for _, i := range t.instances {
			if identicalLists(i.TypeArgs, args) {
				return i
			}
		}
	}
	n := &Extern{Name: t.Name, Decl: t.Decl, TypeArgs: args, Origin: t}
	if !mentionInference(args) {
		t.instances = append(t.instances, n)
	}
	return n
}

// Ctors returns the constructors of the type, in order of declaration.
func (t *Extern) Ctors() []*Func {
	t.fill()
	return t.ctors
}

// Methods returns the methods of the type, in order of declaration.
func (t *Extern) Methods() []*Func {
	t.fill()
	return t.methods
}

// fill computes the methods of an instance. It does so when they are first asked for, because a method may mention further
// instances of its own type.
func (t *Extern) fill() {
	if t.Origin == nil || t.filled {
		return
	}
	t.filled = true
	s := newSubst(t.Origin.TypeParams, t.TypeArgs)
	for _, f := range t.Origin.ctors {
		g := s.fun(f)
		g.Recv = t
		t.ctors = append(t.ctors, g)
	}
	for _, f := range t.Origin.methods {
		g := s.fun(f)
		g.Recv = t
		t.methods = append(t.methods, g)
	}
}

func (t *Block) instantiate(args []Type) *Block {
	if !mentionInference(args) {
		for _, i := range t.instances {
			if identicalLists(i.TypeArgs, args) {
				return i
			}
		}
	}
	n := &Block{Kind: t.Kind, Name: t.Name, Decl: t.Decl, IsType: t.IsType, TypeArgs: args, Origin: t}
	if !mentionInference(args) {
		t.instances = append(t.instances, n)
	}
	s := newSubst(t.TypeParams, args)
	n.Params = s.params(t.Params)
	n.CtorParams = s.params(t.CtorParams)
	return n
}

func (t *Package) instantiate(args []Type) *Package {
	if !mentionInference(args) {
		for _, i := range t.instances {
			if identicalLists(i.TypeArgs, args) {
				return i
			}
		}
	}
	n := &Package{Name: t.Name, Decl: t.Decl, TypeArgs: args, Origin: t}
	if !mentionInference(args) {
		t.instances = append(t.instances, n)
	}
	n.Params = newSubst(t.TypeParams, args).params(t.Params)
	return n
}

// mentionInference tells whether types mention variables that stand for type arguments still to be inferred. Instances with such
// arguments are not kept: they would stand in for the instance with the arguments found.
func mentionInference(ts []Type) bool {
	for _, t := range ts {
		found := false
		switch t := t.(type) {
		case *TypeParam:
			found = t.infer
		case *Stack:
			found = mentionInference([]Type{t.Elem})
		case *List:
			found = mentionInference([]Type{t.Elem})
		case *Set:
			found = mentionInference([]Type{t.Elem})
		case *Tuple:
			found = mentionInference(t.Elems)
		case *Seq:
			found = mentionInference(t.Elems)
		case *Record:
			found = mentionInference(t.Elems)
		case *Struct, *Extern, *Block, *Package:
			found = mentionInference(typeArgsOf(t))
		}
		if found {
			return true
		}
	}
	return false
}
