package types

// Identical tells whether two types are the same. Type variables that inference has bound are looked through; the invalid type
// is identical to none but itself.
func Identical(a, b Type) bool {
	a, b = resolve(a), resolve(b)
	if a == b {
		return true
	}
	switch a := a.(type) {
	case *Bit:
		b, ok := b.(*Bit)
		return ok && a.Width == b.Width
	case *Int:
		b, ok := b.(*Int)
		return ok && a.Width == b.Width
	case *Varbit:
		b, ok := b.(*Varbit)
		return ok && a.Width == b.Width
	case *Stack:
		b, ok := b.(*Stack)
		return ok && a.Size == b.Size && Identical(a.Elem, b.Elem)
	case *Tuple:
		b, ok := b.(*Tuple)
		return ok && identicalLists(a.Elems, b.Elems)
	case *Seq:
		b, ok := b.(*Seq)
		return ok && a.Dots == b.Dots && identicalLists(a.Elems, b.Elems)
	case *Record:
		b, ok := b.(*Record)
		if !ok || a.Dots != b.Dots || !identicalLists(a.Elems, b.Elems) {
			return false
		}
		for i := range a.Names {
			if a.Names[i] != b.Names[i] {
				return false
			}
		}
		return true
	case *List:
		b, ok := b.(*List)
		return ok && Identical(a.Elem, b.Elem)
	case *Set:
		b, ok := b.(*Set)
		return ok && Identical(a.Elem, b.Elem)
	case *Meta:
		b, ok := b.(*Meta)
		return ok && Identical(a.Of, b.Of)
	case *Struct:
		b, ok := b.(*Struct)
		return ok && a.Origin != nil && a.Origin == b.Origin && identicalLists(a.TypeArgs, b.TypeArgs)
	case *Extern:
		b, ok := b.(*Extern)
		return ok && a.Origin != nil && a.Origin == b.Origin && identicalLists(a.TypeArgs, b.TypeArgs)
	case *Block:
		b, ok := b.(*Block)
		return ok && a.Origin != nil && a.Origin == b.Origin && identicalLists(a.TypeArgs, b.TypeArgs)
	case *Package:
		b, ok := b.(*Package)
		return ok && a.Origin != nil && a.Origin == b.Origin && identicalLists(a.TypeArgs, b.TypeArgs)
	case *TableType:
		b, ok := b.(*TableType)
		return ok && a.Table == b.Table
	case *TableResult:
		b, ok := b.(*TableResult)
		return ok && a.Table == b.Table
	case *ActionEnum:
		b, ok := b.(*ActionEnum)
		return ok && a.Table == b.Table
	case *Signature:
		b, ok := b.(*Signature)
		return ok && identicalSignatures(a, b)
	}
	return false
}

// identicalSignatures compares signatures up to the names of their type variables and parameters.
func identicalSignatures(a, b *Signature) bool {
	if len(a.TypeParams) != len(b.TypeParams) || len(a.Params) != len(b.Params) {
		return false
	}
	s := subst{}
	for i, p := range b.TypeParams {
		s[p] = a.TypeParams[i]
	}
	for i, p := range a.Params {
		q := b.Params[i]
		if p.Dir != q.Dir || !Identical(p.typ, s.apply(q.typ)) {
			return false
		}
	}
	if a.Result == nil || b.Result == nil {
		return a.Result == b.Result
	}
	return Identical(a.Result, s.apply(b.Result))
}

func identicalLists(a, b []Type) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !Identical(a[i], b[i]) {
			return false
		}
	}
	return true
}

// resolve follows bound type variables.
func resolve(t Type) Type {
	for {
		v, ok := t.(*TypeParam)
		if !ok || v.bound == nil {
			return t
		}
		t = v.bound
	}
}

// underlying looks through types introduced by "type".
func underlying(t Type) Type {
	for {
		switch u := resolve(t).(type) {
		case *NewType:
			t = u.Base
		default:
			return u
		}
	}
}
