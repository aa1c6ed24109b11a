package p4rt

import (
	"math/big"
	"slices"

	configv1 "github.com/p4lang/p4runtime/go/p4/config/v1"
	p4v1 "github.com/p4lang/p4runtime/go/p4/v1"
	"google.golang.org/grpc/codes"
)

// typeKind says how a P4 type is written in P4Data.
type typeKind uint8

const (
	typeBit typeKind = iota
	typeInt
	typeBool
	typeSerializableEnum
	typeEnum
	typeError
	typeStruct
	typeTuple
	typeHeader
)

// typeSpec is a P4 type of the kinds that registers and digests hold. Its leaves are the scalar values in order, the
// form in which the switch keeps them.
type typeSpec struct {
	kind    typeKind
	name    string      // of a struct, header, enum
	width   int         // bits of a leaf
	names   []string    // of the values of an enum or error: the value is the index
	members []*typeSpec // of a struct, tuple, header
	fields  []string    // names of members
}

// enumWidth is the width in bits that the bmv2 back end gives to an enum without a type, and to error.
const enumWidth = 32

// newType resolves a P4Info type.
func (in *info) newType(s *configv1.P4DataTypeSpec) (*typeSpec, error) {
	b := typeBuilder{types: in.types}
	return b.build(s, 0)
}

// typeBuilder resolves one type, and guards against types that hold themselves, once or many times.
type typeBuilder struct {
	types *configv1.P4TypeInfo
	size  int // types resolved
}

func (in *typeBuilder) build(s *configv1.P4DataTypeSpec, depth int) (*typeSpec, error) {
	const maxDepth, maxSize = 32, 4096
	if in.size++; depth > maxDepth || in.size > maxSize {
		return nil, errorf(codes.InvalidArgument, "the type is nested deeper than %d levels or has more than %d members, or holds itself", maxDepth, maxSize)
	}
	switch x := s.GetTypeSpec().(type) {
	case *configv1.P4DataTypeSpec_Bitstring:
		return bitstringType(x.Bitstring)
	case *configv1.P4DataTypeSpec_Bool:
		return &typeSpec{kind: typeBool, width: 1}, nil
	case *configv1.P4DataTypeSpec_SerializableEnum:
		e := in.types.GetSerializableEnums()[x.SerializableEnum.GetName()]
		if e == nil {
			return nil, errorf(codes.InvalidArgument, "there is no serializable enum %q in type_info", x.SerializableEnum.GetName())
		}
		return &typeSpec{kind: typeSerializableEnum, name: x.SerializableEnum.GetName(), width: int(e.GetUnderlyingType().GetBitwidth())}, nil
	case *configv1.P4DataTypeSpec_Enum:
		e := in.types.GetEnums()[x.Enum.GetName()]
		if e == nil {
			return nil, errorf(codes.InvalidArgument, "there is no enum %q in type_info", x.Enum.GetName())
		}
		t := &typeSpec{kind: typeEnum, name: x.Enum.GetName(), width: enumWidth}
		for _, m := range e.GetMembers() {
			t.names = append(t.names, m.GetName())
		}
		return t, nil
	case *configv1.P4DataTypeSpec_Error:
		return &typeSpec{kind: typeError, name: "error", width: enumWidth, names: in.types.GetError().GetMembers()}, nil
	case *configv1.P4DataTypeSpec_NewType:
		n := in.types.GetNewTypes()[x.NewType.GetName()]
		if n == nil {
			return nil, errorf(codes.InvalidArgument, "there is no new type %q in type_info", x.NewType.GetName())
		}
		if tr := n.GetTranslatedType(); tr != nil {
			if tr.GetSdnBitwidth() <= 0 {
				return nil, errorf(codes.Unimplemented, "type %q is translated to strings, which digests and registers do not support here", x.NewType.GetName())
			}
			return &typeSpec{kind: typeBit, width: int(tr.GetSdnBitwidth())}, nil
		}
		return in.build(n.GetOriginalType(), depth+1)
	case *configv1.P4DataTypeSpec_Tuple:
		t := &typeSpec{kind: typeTuple}
		for i, m := range x.Tuple.GetMembers() {
			mt, err := in.build(m, depth+1)
			if err != nil {
				return nil, wrap(err, "tuple member %d", i)
			}
			t.members = append(t.members, mt)
			t.fields = append(t.fields, "")
		}
		return t, nil
	case *configv1.P4DataTypeSpec_Struct:
		st := in.types.GetStructs()[x.Struct.GetName()]
		if st == nil {
			return nil, errorf(codes.InvalidArgument, "there is no struct %q in type_info", x.Struct.GetName())
		}
		t := &typeSpec{kind: typeStruct, name: x.Struct.GetName()}
		for _, m := range st.GetMembers() {
			mt, err := in.build(m.GetTypeSpec(), depth+1)
			if err != nil {
				return nil, wrap(err, "struct %q, member %q", t.name, m.GetName())
			}
			t.members = append(t.members, mt)
			t.fields = append(t.fields, m.GetName())
		}
		return t, nil
	case *configv1.P4DataTypeSpec_Header:
		h := in.types.GetHeaders()[x.Header.GetName()]
		if h == nil {
			return nil, errorf(codes.InvalidArgument, "there is no header %q in type_info", x.Header.GetName())
		}
		t := &typeSpec{kind: typeHeader, name: x.Header.GetName()}
		for _, m := range h.GetMembers() {
			mt, err := bitstringType(m.GetTypeSpec())
			if err != nil {
				return nil, wrap(err, "header %q, field %q", t.name, m.GetName())
			}
			t.members = append(t.members, mt)
			t.fields = append(t.fields, m.GetName())
		}
		return t, nil
	}
	return nil, errorf(codes.Unimplemented, "registers and digests support bit<W>, int<W>, bool, enums, error, structs, tuples and headers")
}

func bitstringType(s *configv1.P4BitstringLikeTypeSpec) (*typeSpec, error) {
	t := &typeSpec{kind: typeBit, width: int(s.GetBit().GetBitwidth())}
	if i := s.GetInt(); i != nil {
		t = &typeSpec{kind: typeInt, width: int(i.GetBitwidth())}
	}
	if s.GetVarbit() != nil {
		return nil, errorf(codes.Unimplemented, "varbit is not supported in registers and digests")
	}
	if t.width <= 0 {
		return nil, errorf(codes.InvalidArgument, "the bit width is %d; it must be at least 1", t.width)
	}
	return t, nil
}

// leaves appends the widths in bits of the scalars that a value consists of.
func (t *typeSpec) leaves(dst []int) []int {
	if t.members == nil {
		return append(dst, t.width)
	}
	for _, m := range t.members {
		dst = m.leaves(dst)
	}
	return dst
}

// toData builds the P4Data of a value from its leaves, each big-endian in any number of bytes, and returns what is left
// of them. The number of leaves has been checked when the pipeline was bound.
func (t *typeSpec) toData(leaves [][]byte) (*p4v1.P4Data, [][]byte) {
	if t.members != nil {
		if t.kind == typeHeader {
			h := &p4v1.P4Header{IsValid: true}
			for _, m := range t.members {
				h.Bitstrings = append(h.Bitstrings, m.bitstring(leaves[0]))
				leaves = leaves[1:]
			}
			return &p4v1.P4Data{Data: &p4v1.P4Data_Header{Header: h}}, leaves
		}
		s := &p4v1.P4StructLike{}
		for _, m := range t.members {
			var d *p4v1.P4Data
			d, leaves = m.toData(leaves)
			s.Members = append(s.Members, d)
		}
		if t.kind == typeTuple {
			return &p4v1.P4Data{Data: &p4v1.P4Data_Tuple{Tuple: s}}, leaves
		}
		return &p4v1.P4Data{Data: &p4v1.P4Data_Struct{Struct: s}}, leaves
	}
	v := leaves[0]
	leaves = leaves[1:]
	switch t.kind {
	case typeBool:
		return &p4v1.P4Data{Data: &p4v1.P4Data_Bool{Bool: bitLen(v) > 0}}, leaves
	case typeSerializableEnum:
		return &p4v1.P4Data{Data: &p4v1.P4Data_EnumValue{EnumValue: t.bitstring(v)}}, leaves
	case typeEnum, typeError:
		name := ""
		if n, err := decodeUint(v, 64); err == nil && n < uint64(len(t.names)) {
			name = t.names[n]
		}
		if t.kind == typeEnum {
			return &p4v1.P4Data{Data: &p4v1.P4Data_Enum{Enum: name}}, leaves
		}
		return &p4v1.P4Data{Data: &p4v1.P4Data_Error{Error: name}}, leaves
	}
	return &p4v1.P4Data{Data: &p4v1.P4Data_Bitstring{Bitstring: t.bitstring(v)}}, leaves
}

// bitstring is the canonical form of a scalar, a copy.
func (t *typeSpec) bitstring(v []byte) []byte {
	if t.kind != typeInt {
		return slices.Clone(canonical(v))
	}
	n := new(big.Int).SetBytes(v)
	if n.Bit(t.width-1) == 1 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(t.width)))
	}
	return encodeSigned(n)
}

// fromData appends the leaves of a value, big-endian of byteLen(width) bytes each. A value of another shape than the type
// is INVALID_ARGUMENT, one that does not fit its width OUT_OF_RANGE.
func (t *typeSpec) fromData(dst [][]byte, d *p4v1.P4Data) ([][]byte, error) {
	mismatch := func(want string) error {
		return errorf(codes.InvalidArgument, "the data must be a %s", want)
	}
	switch t.kind {
	case typeStruct, typeTuple:
		s, want := d.GetStruct(), "struct "+t.name
		if t.kind == typeTuple {
			s, want = d.GetTuple(), "tuple"
		}
		if s == nil {
			return dst, mismatch(want)
		}
		if len(s.GetMembers()) != len(t.members) {
			return dst, errorf(codes.InvalidArgument, "the %s has %d members; the data has %d", want, len(t.members), len(s.GetMembers()))
		}
		var err error
		for i, m := range t.members {
			if dst, err = m.fromData(dst, s.Members[i]); err != nil {
				return dst, wrap(err, "member %d %s", i, t.fields[i])
			}
		}
		return dst, nil
	case typeHeader:
		h := d.GetHeader()
		if h == nil || !h.GetIsValid() {
			return dst, mismatch("valid header " + t.name)
		}
		if len(h.GetBitstrings()) != len(t.members) {
			return dst, errorf(codes.InvalidArgument, "the header %s has %d fields; the data has %d", t.name, len(t.members), len(h.GetBitstrings()))
		}
		for i, m := range t.members {
			v, err := m.scalar(h.Bitstrings[i])
			if err != nil {
				return dst, wrap(err, "field %s", t.fields[i])
			}
			dst = append(dst, v)
		}
		return dst, nil
	case typeBool:
		b, ok := d.GetData().(*p4v1.P4Data_Bool)
		if !ok {
			return dst, mismatch("bool")
		}
		v := []byte{0}
		if b.Bool {
			v[0] = 1
		}
		return append(dst, v), nil
	case typeEnum, typeError:
		name := d.GetEnum()
		if t.kind == typeError {
			name = d.GetError()
		}
		i := slices.Index(t.names, name)
		if i < 0 {
			return dst, errorf(codes.InvalidArgument, "%q is no value of %s; the valid ones are: %s", name, t.name, options(t.names))
		}
		return append(dst, []byte{byte(i >> 24), byte(i >> 16), byte(i >> 8), byte(i)}), nil
	case typeSerializableEnum:
		e, ok := d.GetData().(*p4v1.P4Data_EnumValue)
		if !ok {
			return dst, mismatch("enum_value of " + t.name)
		}
		v, err := t.scalar(e.EnumValue)
		return append(dst, v), err
	}
	b, ok := d.GetData().(*p4v1.P4Data_Bitstring)
	if !ok {
		return dst, mismatch("bitstring")
	}
	v, err := t.scalar(b.Bitstring)
	return append(dst, v), err
}

// scalar decodes one bytestring to byteLen(width) bytes; a negative int<W> in two's complement of width bits.
func (t *typeSpec) scalar(b []byte) ([]byte, error) {
	if t.kind != typeInt {
		return appendValue(nil, b, t.width)
	}
	n, err := decodeSigned(b, t.width)
	if err != nil {
		return nil, err
	}
	if n.Sign() < 0 {
		n.Add(n, new(big.Int).Lsh(big.NewInt(1), uint(t.width)))
	}
	return n.FillBytes(make([]byte, byteLen(t.width))), nil
}
