package ir

import "khop/p4/types"

// A Val is the value of an expression while it is lowered: an Expr for scalars, a Loc for what stands in storage, an *agg for a
// structure that is given by its parts, or a string.
type Val any

// agg is a structure, tuple, list or header literal. For a header, Valid tells its validity; nil means valid.
type agg struct {
	typ   types.Type
	elems []Val
	valid Expr
}

// Loc is a place in storage.
type Loc interface{ typeOf() types.Type }

type (
	// scalarLoc is a field: a *FieldRef, *ElemField or *LastField. It is an Expr as well.
	scalarLoc struct {
		ref Expr
		typ types.Type
	}
	// sliceLoc is a range of bits of a field.
	sliceLoc struct {
		base   Loc
		hi, lo int
	}
	// structLoc is a struct, tuple, or array of something other than headers: its parts.
	structLoc struct {
		typ    types.Type
		fields []Loc
	}
	// headerLoc is a header. A dynamic one is element index of stack.
	headerLoc struct {
		hdr   *Header
		stack *Stack
		index Expr
		last  bool // the last element of stack, or of ustack with member
		next  bool // the next element
		ust   *UnionStack
		memb  int
		typ   *types.Struct
	}
	stackLoc struct {
		stack *Stack
		typ   *types.Stack
	}
	unionLoc struct {
		union *Union
		typ   *types.Struct
		// a dynamic union is the next or last element of ust, or its element index
		ust   *UnionStack
		index Expr
		last  bool
		next  bool
	}
	unionStackLoc struct {
		stack *UnionStack
		typ   *types.Stack
	}
	// varbitLoc is a field of varying width.
	varbitLoc struct {
		ref *FieldRef
		typ types.Type
	}
)

func (l *scalarLoc) typeOf() types.Type     { return l.typ }
func (l *sliceLoc) typeOf() types.Type      { return &types.Bit{Width: l.hi - l.lo + 1} }
func (l *structLoc) typeOf() types.Type     { return l.typ }
func (l *headerLoc) typeOf() types.Type     { return l.typ }
func (l *stackLoc) typeOf() types.Type      { return l.typ }
func (l *unionLoc) typeOf() types.Type      { return l.typ }
func (l *unionStackLoc) typeOf() types.Type { return l.typ }
func (l *varbitLoc) typeOf() types.Type     { return l.typ }

// static tells whether the header is known at compile time.
func (l *headerLoc) static() bool { return l.hdr != nil }

// headerType returns the type of the header, whichever instance it is.
func (l *headerLoc) headerType() *HeaderType {
	switch {
	case l.hdr != nil:
		return l.hdr.Type
	case l.stack != nil:
		return l.stack.Type
	}
	return l.ust.Type.Members[l.memb].Type
}

// field returns field i of the header.
func (l *headerLoc) field(i int) Loc {
	return l.part(l.headerType().tree[i], l.typ.Fields[i].Type())
}

func (l *headerLoc) part(p any, t types.Type) Loc {
	if sub, ok := p.([]any); ok {
		s := &structLoc{typ: underlying(t)}
		for i, q := range sub {
			s.fields = append(s.fields, l.part(q, elemType(t, i)))
		}
		return s
	}
	f := p.(*Field)
	st, _ := scalarType(t)
	switch {
	case f.Varbit && l.hdr != nil:
		return &varbitLoc{&FieldRef{l.hdr, f, Type{Width: f.Width}}, t}
	case l.hdr != nil:
		return &scalarLoc{&FieldRef{l.hdr, f, st}, t}
	case l.last && l.stack != nil:
		return &scalarLoc{&LastField{Stack: l.stack, Field: f, T: st}, t}
	case l.last:
		return &scalarLoc{&LastField{Union: l.ust, Member: l.ust.Type.Members[l.memb].Name, Field: f, T: st}, t}
	case l.stack != nil && l.index != nil:
		return &scalarLoc{&ElemField{l.stack, l.index, f, st}, t}
	}
	return nil
}

// scalarType returns the type of expressions of a P4 type, or false when values of the type are not scalars.
func scalarType(t types.Type) (Type, bool) {
	switch t := t.(type) {
	case *types.Bit:
		return Type{Width: t.Width}, true
	case *types.Int:
		return Type{Width: t.Width, Signed: true}, true
	case *types.NewType:
		return scalarType(t.Base)
	case *types.Enum:
		if t.Underlying != nil {
			return scalarType(t.Underlying)
		}
		return Type{Width: 32}, true
	case *types.Basic:
		switch t.Kind {
		case types.BoolKind:
			return boolType, true
		case types.ErrorKind, types.MatchKindKind:
			return Type{Width: 32}, true
		case types.InfIntKind:
			return Type{}, true
		}
	}
	return Type{}, false
}

// underlying removes type definitions of the form "type T N".
func underlying(t types.Type) types.Type {
	for {
		n, ok := t.(*types.NewType)
		if !ok {
			return t
		}
		t = n.Base
	}
}

// leaves calls f for the storage below a place: a *Header for each header or metadata instance, a *FieldRef for each field that
// stands alone.
func leaves(l Loc, f func(h *Header, fl *Field)) {
	switch l := l.(type) {
	case *scalarLoc:
		refLeaves(l.ref, f)
	case *sliceLoc:
		leaves(l.base, f)
	case *varbitLoc:
		f(l.ref.Header, l.ref.Field)
	case *structLoc:
		for _, x := range l.fields {
			leaves(x, f)
		}
	case *headerLoc:
		if l.hdr != nil {
			f(l.hdr, nil)
			return
		}
		if l.stack != nil {
			stackLeaves(l.stack, f)
		} else {
			unionStackLeaves(l.ust, f)
		}
		if l.index != nil {
			refLeaves(l.index, f)
		}
	case *stackLoc:
		stackLeaves(l.stack, f)
	case *unionLoc:
		if l.union != nil {
			for _, h := range l.union.Members {
				f(h, nil)
			}
			return
		}
		unionStackLeaves(l.ust, f)
	case *unionStackLoc:
		unionStackLeaves(l.stack, f)
	}
}

func stackLeaves(s *Stack, f func(*Header, *Field)) {
	for _, h := range s.Elems {
		f(h, nil)
	}
}

func unionStackLeaves(s *UnionStack, f func(*Header, *Field)) {
	for _, u := range s.Elems {
		for _, h := range u.Members {
			f(h, nil)
		}
	}
}

// refLeaves calls f for the storage that an expression reads.
func refLeaves(e Expr, f func(*Header, *Field)) {
	switch e := e.(type) {
	case *FieldRef:
		f(e.Header, e.Field)
	case *ElemField:
		stackLeaves(e.Stack, f)
		refLeaves(e.Index, f)
	case *LastField:
		if e.Stack != nil {
			stackLeaves(e.Stack, f)
		} else {
			unionStackLeaves(e.Union, f)
		}
	case *LastIndex:
		stackLeaves(e.Stack, f)
	case *Valid:
		f(e.Header, nil)
	case *Unary:
		refLeaves(e.X, f)
	case *Binary:
		refLeaves(e.X, f)
		refLeaves(e.Y, f)
	case *Cast:
		refLeaves(e.X, f)
	case *Cond:
		refLeaves(e.C, f)
		refLeaves(e.X, f)
		refLeaves(e.Y, f)
	}
}

// valLeaves calls f for the storage that a value reads.
func valLeaves(v Val, f func(*Header, *Field)) {
	switch v := v.(type) {
	case Loc:
		leaves(v, f)
	case Expr:
		refLeaves(v, f)
	case *agg:
		for _, e := range v.elems {
			valLeaves(e, f)
		}
		if v.valid != nil {
			refLeaves(v.valid, f)
		}
	}
}

// storage is a set of headers and fields.
type storage struct {
	headers map[*Header]bool // whole header or any of its fields
	whole   map[*Header]bool
	fields  map[fieldKey]bool
}

type fieldKey struct {
	h *Header
	f *Field
}

func (s *storage) add(h *Header, f *Field) {
	if s.headers == nil {
		s.headers, s.whole, s.fields = map[*Header]bool{}, map[*Header]bool{}, map[fieldKey]bool{}
	}
	s.headers[h] = true
	if f == nil {
		s.whole[h] = true
	} else {
		s.fields[fieldKey{h, f}] = true
	}
}

func (s *storage) has(h *Header, f *Field) bool {
	if f == nil {
		return s.headers[h]
	}
	return s.whole[h] || s.fields[fieldKey{h, f}]
}

// overlaps tells whether a value reads anything of the set.
func (s *storage) overlaps(v Val) bool {
	hit := false
	valLeaves(v, func(h *Header, f *Field) { hit = hit || s.has(h, f) })
	return hit
}
