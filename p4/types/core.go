package types

import (
	"khop/p4/ast"
)

// coreMethod checks what the core library asks of the arguments of its methods beyond their types (specification sections 13.8
// and 16.1).
func (c *checker) coreMethod(e *ast.CallExpr, call *Call) {
	if call.Kind != CallMethod {
		return
	}
	switch call.Func.Recv.Name + "." + call.Func.name {
	case "packet_in.extract":
		c.extract(e, call)
	case "packet_in.lookahead":
		if t := call.Result; t != InvalidType && !c.fixedSize(t) {
			c.err(e, CodeCoreMethod, "lookahead needs a type of fixed size, not %s", t)
		}
	case "packet_out.emit":
		if len(call.Args) == 1 && !c.emittable(call.Args[0].Type) {
			c.err(e, CodeCoreMethod, "emit takes a header, a header stack, a header_union, or a struct of these, not %s", call.Args[0].Type)
		}
	}
}

func (c *checker) extract(e *ast.CallExpr, call *Call) {
	t := call.Args[0].Type
	if isTypeParam(t) || t == InvalidType || t == DontCareType {
		return
	}
	if !IsHeader(t) {
		c.err(call.Args[0].Expr, CodeCoreMethod, "extract takes a header, not %s", t)
		return
	}
	n := 0
	for _, f := range resolve(t).(*Struct).Fields {
		if _, ok := underlying(f.typ).(*Varbit); ok {
			n++
		}
	}
	switch {
	case len(call.Args) == 1 && n > 0:
		c.err(e, CodeCoreMethod, "header %s has a varbit field, so extract needs its size in bits as a second argument", t)
	case len(call.Args) == 2 && n != 1:
		c.err(e, CodeCoreMethod, "extract with two arguments needs a header with one varbit field, and %s has %d", t, n)
	}
}

// fixedSize tells whether values of a type always have the same number of bits.
func (c *checker) fixedSize(t Type) bool {
	if isTypeParam(t) {
		return true
	}
	if IsUnion(resolve(t)) {
		return false
	}
	s := c.sizeOf(t)
	return s != nil && s.min.Cmp(s.max) == 0
}

// emittable tells whether a deparser can emit a value.
func (c *checker) emittable(t Type) bool {
	switch t := resolve(t).(type) {
	case *TypeParam:
		return true
	case *Basic:
		return t.Kind == Invalid
	case *Struct:
		if t.Kind != StructStruct {
			return true
		}
		return c.structHolds(c.emittables, t, c.emittable)
	case *Stack:
		return isHeaderStack(t)
	case *Tuple:
		for _, e := range t.Elems {
			if !c.emittable(e) {
				return false
			}
		}
		return true
	case *Seq:
		for _, e := range t.Elems {
			if !c.emittable(e) {
				return false
			}
		}
		return true
	}
	return false
}
