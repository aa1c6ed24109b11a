package p4info

import (
	"math/big"

	p4configv1 "github.com/p4lang/p4runtime/go/p4/config/v1"

	"khop/p4/ast"
	"khop/p4/ir"
	"khop/p4/types"
)

// typeSpec describes a type and adds what it refers to to the type information.
func (b *builder) typeSpec(t types.Type) *p4configv1.P4DataTypeSpec {
	s := &p4configv1.P4DataTypeSpec{}
	switch t := t.(type) {
	case *types.Bit, *types.Int, *types.Varbit:
		s.TypeSpec = &p4configv1.P4DataTypeSpec_Bitstring{Bitstring: bitstring(t)}
	case *types.Basic:
		switch t.Kind {
		case types.BoolKind:
			s.TypeSpec = &p4configv1.P4DataTypeSpec_Bool{Bool: &p4configv1.P4BoolType{}}
		case types.ErrorKind:
			s.TypeSpec = &p4configv1.P4DataTypeSpec_Error{Error: &p4configv1.P4ErrorType{}}
			b.errorSpec()
		}
	case *types.Tuple:
		s.TypeSpec = &p4configv1.P4DataTypeSpec_Tuple{Tuple: b.tuple(t.Elems)}
	case *types.Seq:
		s.TypeSpec = &p4configv1.P4DataTypeSpec_Tuple{Tuple: b.tuple(t.Elems)}
	case *types.NewType:
		s.TypeSpec = &p4configv1.P4DataTypeSpec_NewType{NewType: &p4configv1.P4NamedType{Name: b.newType(t)}}
	case *types.Enum:
		named := &p4configv1.P4NamedType{Name: b.enum(t)}
		if t.Underlying != nil {
			s.TypeSpec = &p4configv1.P4DataTypeSpec_SerializableEnum{SerializableEnum: named}
		} else {
			s.TypeSpec = &p4configv1.P4DataTypeSpec_Enum{Enum: named}
		}
	case *types.Struct:
		named := &p4configv1.P4NamedType{Name: b.structType(t)}
		switch t.Kind {
		case types.StructHeader:
			s.TypeSpec = &p4configv1.P4DataTypeSpec_Header{Header: named}
		case types.StructUnion:
			s.TypeSpec = &p4configv1.P4DataTypeSpec_HeaderUnion{HeaderUnion: named}
		default:
			s.TypeSpec = &p4configv1.P4DataTypeSpec_Struct{Struct: named}
		}
	case *types.Stack:
		if e, ok := t.Elem.(*types.Struct); ok {
			named := &p4configv1.P4NamedType{Name: b.structType(e)}
			if e.Kind == types.StructUnion {
				s.TypeSpec = &p4configv1.P4DataTypeSpec_HeaderUnionStack{
					HeaderUnionStack: &p4configv1.P4HeaderUnionStackTypeSpec{HeaderUnion: named, Size: int32(t.Size)}}
			} else {
				s.TypeSpec = &p4configv1.P4DataTypeSpec_HeaderStack{
					HeaderStack: &p4configv1.P4HeaderStackTypeSpec{Header: named, Size: int32(t.Size)}}
			}
		}
	}
	return s
}

func (b *builder) info() *p4configv1.P4TypeInfo {
	if b.out.TypeInfo == nil {
		b.out.TypeInfo = &p4configv1.P4TypeInfo{}
	}
	return b.out.TypeInfo
}

func bitstring(t types.Type) *p4configv1.P4BitstringLikeTypeSpec {
	s := &p4configv1.P4BitstringLikeTypeSpec{}
	switch t := t.(type) {
	case *types.Bit:
		s.TypeSpec = &p4configv1.P4BitstringLikeTypeSpec_Bit{Bit: &p4configv1.P4BitTypeSpec{Bitwidth: int32(t.Width)}}
	case *types.Int:
		s.TypeSpec = &p4configv1.P4BitstringLikeTypeSpec_Int{Int: &p4configv1.P4IntTypeSpec{Bitwidth: int32(t.Width)}}
	case *types.Varbit:
		s.TypeSpec = &p4configv1.P4BitstringLikeTypeSpec_Varbit{Varbit: &p4configv1.P4VarbitTypeSpec{MaxBitwidth: int32(t.Width)}}
	case *types.NewType:
		return bitstring(t.Base)
	case *types.Enum:
		if t.Underlying != nil {
			return bitstring(t.Underlying)
		}
	}
	return s
}

func (b *builder) tuple(elems []types.Type) *p4configv1.P4TupleTypeSpec {
	t := &p4configv1.P4TupleTypeSpec{}
	for _, e := range elems {
		t.Members = append(t.Members, b.typeSpec(e))
	}
	return t
}

func (b *builder) errorSpec() {
	if b.info().Error != nil {
		return
	}
	e := &p4configv1.P4ErrorTypeSpec{}
	for _, m := range b.p.Info.Errors {
		e.Members = append(e.Members, m.Name())
	}
	b.out.TypeInfo.Error = e
}

func (b *builder) newType(t *types.NewType) string {
	name := t.Name
	info := b.info()
	if info.NewTypes[name] != nil {
		return name
	}
	s := &p4configv1.P4NewTypeSpec{}
	var annos []*ast.Annotation
	if t.Decl != nil {
		annos = t.Decl.Annos
	}
	base := t.Base
	for {
		n, ok := base.(*types.NewType)
		if !ok {
			break
		}
		base = n.Base
	}
	spec := b.typeSpec(base)
	s.Annotations, s.StructuredAnnotations = annotations(annos, "p4runtime_translation")
	if a := find(annos, "p4runtime_translation"); a != nil && len(a.Tokens) >= 3 {
		tr := &p4configv1.P4NewTypeTranslation{Uri: ir.Unquote(a.Tokens[0].Text)}
		last := a.Tokens[2].Text
		if w, ok := tokenInt(last); ok {
			tr.SdnType = &p4configv1.P4NewTypeTranslation_SdnBitwidth{SdnBitwidth: int32(w)}
		} else if last == "bit" && len(a.Tokens) >= 5 {
			w, _ := tokenInt(a.Tokens[4].Text)
			tr.SdnType = &p4configv1.P4NewTypeTranslation_SdnBitwidth{SdnBitwidth: int32(w)}
		} else {
			tr.SdnType = &p4configv1.P4NewTypeTranslation_SdnString_{SdnString: &p4configv1.P4NewTypeTranslation_SdnString{}}
		}
		if _, ok := base.(*types.Bit); !ok {
			b.errorf(t.Decl, "unsupported-type", "a type with @p4runtime_translation must be made from bit<W>, not %s", base)
		}
		s.Representation = &p4configv1.P4NewTypeSpec_TranslatedType{TranslatedType: tr}
	} else {
		s.Representation = &p4configv1.P4NewTypeSpec_OriginalType{OriginalType: spec}
	}
	if info.NewTypes == nil {
		info.NewTypes = map[string]*p4configv1.P4NewTypeSpec{}
	}
	info.NewTypes[name] = s
	return name
}

func (b *builder) enum(t *types.Enum) string {
	info := b.info()
	if t.Underlying == nil {
		if info.Enums[t.Name] == nil {
			e := &p4configv1.P4EnumTypeSpec{}
			for _, m := range t.Members {
				e.Members = append(e.Members, &p4configv1.P4EnumTypeSpec_Member{Name: m.Name()})
			}
			if info.Enums == nil {
				info.Enums = map[string]*p4configv1.P4EnumTypeSpec{}
			}
			info.Enums[t.Name] = e
		}
		return t.Name
	}
	if info.SerializableEnums[t.Name] == nil {
		w := width(t)
		e := &p4configv1.P4SerializableEnumTypeSpec{UnderlyingType: &p4configv1.P4BitTypeSpec{Bitwidth: int32(w)}}
		for _, m := range t.Members {
			v := m.Value
			if v == nil {
				v = new(big.Int)
			}
			e.Members = append(e.Members, &p4configv1.P4SerializableEnumTypeSpec_Member{Name: m.Name(), Value: bytesOf(v, w)})
		}
		if info.SerializableEnums == nil {
			info.SerializableEnums = map[string]*p4configv1.P4SerializableEnumTypeSpec{}
		}
		info.SerializableEnums[t.Name] = e
	}
	return t.Name
}

func (b *builder) structType(t *types.Struct) string {
	info := b.info()
	name := t.Name
	switch t.Kind {
	case types.StructHeader:
		if info.Headers[name] != nil {
			return name
		}
		h := &p4configv1.P4HeaderTypeSpec{}
		flattenHeader(t, "", nil, func(f headerField) {
			h.Members = append(h.Members, &p4configv1.P4HeaderTypeSpec_Member{Name: f.name, TypeSpec: bitstring(f.typ)})
		})
		if info.Headers == nil {
			info.Headers = map[string]*p4configv1.P4HeaderTypeSpec{}
		}
		info.Headers[name] = h
	case types.StructUnion:
		if info.HeaderUnions[name] != nil {
			return name
		}
		u := &p4configv1.P4HeaderUnionTypeSpec{}
		for _, f := range t.Fields {
			if h, ok := f.Type().(*types.Struct); ok {
				u.Members = append(u.Members, &p4configv1.P4HeaderUnionTypeSpec_Member{Name: fieldName(f),
					Header: &p4configv1.P4NamedType{Name: b.structType(h)}})
			}
		}
		if info.HeaderUnions == nil {
			info.HeaderUnions = map[string]*p4configv1.P4HeaderUnionTypeSpec{}
		}
		info.HeaderUnions[name] = u
	default:
		if info.Structs[name] != nil {
			return name
		}
		s := &p4configv1.P4StructTypeSpec{}
		for _, f := range t.Fields {
			s.Members = append(s.Members, &p4configv1.P4StructTypeSpec_Member{Name: fieldName(f), TypeSpec: b.typeSpec(f.Type())})
		}
		if info.Structs == nil {
			info.Structs = map[string]*p4configv1.P4StructTypeSpec{}
		}
		info.Structs[name] = s
	}
	return name
}

func fieldName(f *types.Field) string {
	if a := text(find(f.Annos(), "name")); a != "" {
		return a
	}
	return f.Name()
}

// headerField is a field of a header whose nested structs are flattened.
type headerField struct {
	name  string
	typ   types.Type
	annos []*ast.Annotation
}

// flattenHeader calls f for the fields of a header. A field of a nested struct has the annotations of the structs around it as well;
// of two with the same name the inner one counts.
func flattenHeader(t *types.Struct, path string, outer []*ast.Annotation, f func(headerField)) {
	for _, fd := range t.Fields {
		annos := append([]*ast.Annotation(nil), fd.Annos()...)
		for _, a := range outer {
			if find(annos, a.Name.Name) == nil {
				annos = append(annos, a)
			}
		}
		if s, ok := fd.Type().(*types.Struct); ok {
			flattenHeader(s, path+fd.Name()+".", annos, f)
			continue
		}
		name := path + fd.Name()
		if path == "" {
			name = fieldName(fd)
		}
		f(headerField{name, fd.Type(), annos})
	}
}

// width returns the width in bits of a type as P4Runtime sees it: that of the translated type, and 0 for what is a string there.
func width(t types.Type) int {
	switch t := t.(type) {
	case *types.Bit:
		return t.Width
	case *types.Int:
		return t.Width
	case *types.Varbit:
		return t.Width
	case *types.Basic:
		if t.Kind == types.BoolKind {
			return 1
		}
	case *types.Enum:
		if t.Underlying != nil {
			return width(t.Underlying)
		}
	case *types.NewType:
		if t.Decl != nil {
			if a := find(t.Decl.Annos, "p4runtime_translation"); a != nil && len(a.Tokens) >= 3 {
				last := a.Tokens[2].Text
				if w, ok := tokenInt(last); ok {
					return int(w)
				}
				if last == "bit" && len(a.Tokens) >= 5 {
					w, _ := tokenInt(a.Tokens[4].Text)
					return int(w)
				}
				return 0
			}
		}
		// Only the outermost translation counts.
		base := t.Base
		for {
			n, ok := base.(*types.NewType)
			if !ok {
				return width(base)
			}
			base = n.Base
		}
	}
	return 0
}

// bytesOf writes an integer in the bytes that width bits take, as the reference compiler does (not the shortest form).
func bytesOf(v *big.Int, width int) []byte {
	v = ir.Wrap(v, ir.Type{Width: max(1, width)})
	return v.FillBytes(make([]byte, (max(1, width)+7)/8))
}

// namedType returns the name of a type that P4Runtime may translate, or nil.
func namedType(t types.Type) *p4configv1.P4NamedType {
	if n, ok := t.(*types.NewType); ok {
		return &p4configv1.P4NamedType{Name: n.Name}
	}
	return nil
}
