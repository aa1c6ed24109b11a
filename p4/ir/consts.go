package ir

import (
	"math/big"

	"khop/p4/ast"
	"khop/p4/types"
)

// constVal turns a compile-time value of type t into a Val.
func (l *lowerer) constVal(v types.Value, t types.Type, n ast.Node) Val {
	u := underlying(t)
	switch v := v.(type) {
	case *big.Int:
		st, ok := scalarType(u)
		if !ok {
			st = Type{}
		}
		if st.Bool {
			return BoolConst(v.Sign() != 0)
		}
		return newConst(v, st)
	case bool:
		return cast(BoolConst(v), mustScalar(u, boolType))
	case string:
		return v
	case *types.EnumMember:
		if v.Value != nil {
			return newConst(v.Value, mustScalar(u, Type{Width: 32}))
		}
		return intConst(int64(v.Index), Type{Width: 32})
	case *types.ErrorMember:
		return intConst(int64(v.Index), Type{Width: 32})
	case *types.MatchKindMember:
		return intConst(int64(v.Index), Type{Width: 32})
	case []types.Value:
		a := &agg{typ: u}
		for i, e := range v {
			if e == nil {
				l.errorf(n, "not-constant", "part %d of this value is not known at compile time", i)
				return nil
			}
			a.elems = append(a.elems, l.constVal(e, elemType(u, i), n))
		}
		return a
	}
	return nil
}

func mustScalar(t types.Type, otherwise Type) Type {
	if st, ok := scalarType(t); ok {
		return st
	}
	return otherwise
}

// elemType returns the type of part i of a structured type, or the invalid type.
func elemType(t types.Type, i int) types.Type {
	switch t := underlying(t).(type) {
	case *types.Struct:
		if i < len(t.Fields) {
			return t.Fields[i].Type()
		}
	case *types.Tuple:
		if i < len(t.Elems) {
			return t.Elems[i]
		}
	case *types.Seq:
		if i < len(t.Elems) {
			return t.Elems[i]
		}
	case *types.Record:
		if i < len(t.Elems) {
			return t.Elems[i]
		}
	case *types.List:
		return t.Elem
	case *types.Stack:
		return t.Elem
	}
	return types.InvalidType
}

// allConst tells whether every part of a compile-time value is known.
func allConst(v types.Value) bool {
	switch v := v.(type) {
	case nil:
		return false
	case []types.Value:
		for _, e := range v {
			if !allConst(e) {
				return false
			}
		}
	}
	return true
}

// zero returns the default value of a type (specification section 7.3): zero, false, error.NoError, the first member of an enum,
// an invalid header.
func (l *lowerer) zero(t types.Type, n ast.Node) Val {
	u := underlying(t)
	if st, ok := scalarType(u); ok {
		if st.Bool {
			return BoolConst(false)
		}
		return intConst(0, st)
	}
	a := &agg{typ: u}
	switch u := u.(type) {
	case *types.Struct:
		if u.Kind != types.StructStruct {
			a.valid = BoolConst(false)
			return a
		}
		for _, f := range u.Fields {
			a.elems = append(a.elems, l.zero(f.Type(), n))
		}
	case *types.Tuple:
		for _, e := range u.Elems {
			a.elems = append(a.elems, l.zero(e, n))
		}
	case *types.Stack:
		for range u.Size {
			a.elems = append(a.elems, l.zero(u.Elem, n))
		}
	default:
		l.errorf(n, "no-default-value", "type %s has no default value", t)
	}
	return a
}
