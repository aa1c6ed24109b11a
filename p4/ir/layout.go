package ir

import (
	"fmt"

	"khop/p4/ast"
	"khop/p4/types"
)

// layout allocates storage.
type layout struct {
	l      *lowerer
	p      *Program
	types  map[*types.Struct]*HeaderType
	utypes map[*types.Struct]*UnionType
	vtypes map[int]*HeaderType
	names  map[string]bool // names of header instances, stacks, unions
	tnames map[string]bool // names of header types
	fnames map[string]bool // names of fields of scalars
}

func newLayout(l *lowerer) *layout {
	y := &layout{l: l, p: l.prog, types: map[*types.Struct]*HeaderType{}, utypes: map[*types.Struct]*UnionType{},
		vtypes: map[int]*HeaderType{}, names: map[string]bool{}, tnames: map[string]bool{}, fnames: map[string]bool{}}
	y.p.Scalars = y.instance("scalars", &HeaderType{Name: unique(y.tnames, "scalars_t")}, true)
	y.p.HeaderTypes = append(y.p.HeaderTypes, y.p.Scalars.Type)
	return y
}

// unique returns name, with a suffix if it is taken, and takes it.
func unique(taken map[string]bool, name string) string {
	n := name
	for i := 0; taken[n]; i++ {
		n = fmt.Sprintf("%s_%d", name, i)
	}
	taken[n] = true
	return n
}

func (y *layout) instance(name string, t *HeaderType, meta bool) *Header {
	h := &Header{Name: unique(y.names, name), ID: len(y.p.Headers), Type: t, Metadata: meta}
	y.p.Headers = append(y.p.Headers, h)
	return h
}

// headerType returns the header type for a P4 header or metadata struct.
func (y *layout) headerType(s *types.Struct, n ast.Node) *HeaderType {
	if t := y.types[s]; t != nil {
		return t
	}
	t := &HeaderType{Decl: s, Name: unique(y.tnames, typeName(s))}
	y.types[s] = t
	// add returns the part of the tree for a field.
	var add func(name string, ft types.Type, n ast.Node) any
	add = func(name string, ft types.Type, n ast.Node) any {
		ft = underlying(ft)
		switch u := ft.(type) {
		case *types.Struct:
			if u.Kind == types.StructStruct {
				var tree []any
				for _, f := range u.Fields {
					tree = append(tree, add(name+"."+f.Name(), f.Type(), f.Node()))
				}
				return tree
			}
		case *types.Stack:
			if _, ok := scalarType(u.Elem); ok {
				var tree []any
				for i := range u.Size {
					tree = append(tree, add(fmt.Sprintf("%s[%d]", name, i), u.Elem, n))
				}
				return tree
			}
		}
		fd := &Field{Name: name, Index: len(t.Fields)}
		if v, ok := ft.(*types.Varbit); ok {
			if t.Varbit() != nil {
				y.l.errorf(n, "unsupported-header", "header %s has several varbit fields; the target supports one", s.Name)
			}
			fd.Width, fd.Varbit = v.Width, true
		} else if st, ok := scalarType(ft); ok {
			fd.Width, fd.Signed = st.Width, st.Signed
		} else {
			y.l.errorf(n, "unsupported-header", "a field of type %s inside header %s is not supported by the target", ft, s.Name)
		}
		t.Fields = append(t.Fields, fd)
		return fd
	}
	for _, f := range s.Fields {
		t.tree = append(t.tree, add(f.Name(), f.Type(), f.Node()))
	}
	if s.Kind == types.StructHeader && t.Width()%8 != 0 {
		y.l.errorf(s.Decl, "unsupported-header",
			"header %s is %d bits long; the target supports headers of whole bytes only", s.Name, t.Width())
	}
	y.p.HeaderTypes = append(y.p.HeaderTypes, t)
	return t
}

func typeName(s *types.Struct) string {
	name := s.String()
	if s.Decl != nil {
		if a := nameAnno(declAnnos(s.Decl)); a != "" {
			name = a
		}
	}
	return name
}

func declAnnos(d ast.Decl) []*ast.Annotation {
	switch d := d.(type) {
	case *ast.HeaderDecl:
		return d.Annos
	case *ast.StructDecl:
		return d.Annos
	case *ast.UnionDecl:
		return d.Annos
	}
	return nil
}

func (y *layout) unionType(s *types.Struct, n ast.Node) *UnionType {
	if t := y.utypes[s]; t != nil {
		return t
	}
	t := &UnionType{Name: unique(y.tnames, typeName(s))}
	y.utypes[s] = t
	for _, f := range s.Fields {
		h, ok := underlying(f.Type()).(*types.Struct)
		if !ok || h.Kind != types.StructHeader {
			y.l.errorf(n, "unsupported-header", "field %s of header union %s is no header", f.Name(), s.Name)
			continue
		}
		t.Members = append(t.Members, UnionMember{f.Name(), y.headerType(h, n)})
	}
	y.p.UnionTypes = append(y.p.UnionTypes, t)
	return t
}

func (y *layout) union(name string, s *types.Struct, n ast.Node) *Union {
	t := y.unionType(s, n)
	u := &Union{Name: unique(y.names, name), Type: t}
	for _, m := range t.Members {
		u.Members = append(u.Members, y.instance(u.Name+"."+m.Name, m.Type, false))
	}
	u.ID = len(y.p.Unions)
	y.p.Unions = append(y.p.Unions, u)
	return u
}

// scalar adds a field to the scalars.
func (y *layout) scalar(name string, t Type) *FieldRef {
	ht := y.p.Scalars.Type
	f := &Field{Name: unique(y.fnames, name), Width: max(1, t.Width), Signed: t.Signed, Index: len(ht.Fields)}
	ht.Fields = append(ht.Fields, f)
	return &FieldRef{y.p.Scalars, f, t}
}

// alloc makes storage for a variable. path is the name of the variable, hdrPath the name for headers in it.
func (y *layout) alloc(t types.Type, path, hdrPath string, n ast.Node) Loc {
	u := underlying(t)
	if st, ok := scalarType(u); ok {
		if st.Width == 0 && !st.Bool {
			y.l.errorf(n, "unsupported-type", "a variable of type %s has no representation at run time", t)
			st.Width = 32
		}
		return &scalarLoc{y.scalar(path, st), t}
	}
	switch u := u.(type) {
	case *types.Varbit:
		ht := y.vtypes[u.Width]
		if ht == nil {
			ht = &HeaderType{Name: unique(y.tnames, fmt.Sprintf("varbit%d_t", u.Width)),
				Fields: []*Field{{Name: "field", Width: u.Width, Varbit: true}}}
			y.vtypes[u.Width] = ht
			y.p.HeaderTypes = append(y.p.HeaderTypes, ht)
		}
		h := y.instance(path, ht, true)
		return &varbitLoc{&FieldRef{h, ht.Fields[0], Type{Width: u.Width}}, t}
	case *types.Struct:
		switch u.Kind {
		case types.StructHeader:
			return &headerLoc{hdr: y.instance(hdrPath, y.headerType(u, n), false), typ: u}
		case types.StructUnion:
			return &unionLoc{union: y.union(hdrPath, u, n), typ: u}
		}
		s := &structLoc{typ: u}
		for _, f := range u.Fields {
			hp := f.Name()
			if hdrPath != "" {
				hp = hdrPath + "." + hp
			}
			s.fields = append(s.fields, y.alloc(f.Type(), path+"."+f.Name(), hp, f.Node()))
		}
		return s
	case *types.Tuple:
		s := &structLoc{typ: u}
		for i, e := range u.Elems {
			s.fields = append(s.fields, y.alloc(e, fmt.Sprintf("%s.%d", path, i), fmt.Sprintf("%s.%d", hdrPath, i), n))
		}
		return s
	case *types.Stack:
		return y.array(u, path, hdrPath, n)
	}
	y.l.errorf(n, "unsupported-type", "a variable of type %s has no representation at run time", t)
	return &structLoc{typ: t}
}

func (y *layout) array(u *types.Stack, path, hdrPath string, n ast.Node) Loc {
	if s, ok := underlying(u.Elem).(*types.Struct); ok {
		switch s.Kind {
		case types.StructHeader:
			st := &Stack{Name: unique(y.names, hdrPath), ID: len(y.p.Stacks), Type: y.headerType(s, n)}
			y.p.Stacks = append(y.p.Stacks, st)
			for i := range u.Size {
				st.Elems = append(st.Elems, y.instance(fmt.Sprintf("%s[%d]", st.Name, i), st.Type, false))
			}
			return &stackLoc{st, u}
		case types.StructUnion:
			st := &UnionStack{Name: unique(y.names, hdrPath), ID: len(y.p.UnionStacks), Type: y.unionType(s, n)}
			y.p.UnionStacks = append(y.p.UnionStacks, st)
			for i := range u.Size {
				st.Elems = append(st.Elems, y.union(fmt.Sprintf("%s[%d]", st.Name, i), s, n))
			}
			return &unionStackLoc{st, u}
		}
	}
	s := &structLoc{typ: u}
	for i := range u.Size {
		s.fields = append(s.fields, y.alloc(u.Elem, fmt.Sprintf("%s[%d]", path, i), fmt.Sprintf("%s[%d]", hdrPath, i), n))
	}
	return s
}
