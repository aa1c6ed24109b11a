package types

import (
	"fmt"

	"khop/p4/ast"
)

// assign converts an operand to a type as in an assignment, and reports when it cannot. What names the destination. The result
// tells whether the operand now has the type; it is false without a report when either type is invalid.
func (c *checker) assign(x *operand, to Type, what string) bool {
	to = resolve(to)
	if x.typ == InvalidType || to == InvalidType {
		return false
	}
	if why := c.convertible(x.typ, to); why != "" {
		r := c.err(x.expr, CodeMismatch, "%s must have type %s, not %s", what, to, x.typ)
		if why != "-" {
			r.Message += ": " + why
		}
		c.castHint(r, x, to)
		return false
	}
	c.convert(x.expr, to)
	return true
}

// castHint suggests a cast where one is legal.
func (c *checker) castHint(r *report, x *operand, to Type) {
	switch resolve(x.typ).(type) {
	case *Bit, *Int, *Enum, *NewType, *Basic:
		if x.typ != NoHeaderType && x.typ != DotsType && c.castable(x.typ, to) {
			r.hint("cast it: (%s)(...)", to)
		}
	}
}

// convertible says why a value of a type does not convert implicitly to another, "-" when there is no more to say, or "" when
// it does (specification section 8.12.2).
func (c *checker) convertible(from, to Type) string {
	from, to = resolve(from), resolve(to)
	if from == InvalidType || to == InvalidType || Identical(from, to) {
		return ""
	}
	if to == DontCareType {
		return ""
	}
	switch f := from.(type) {
	case *Bit, *Int:
		if to == InfIntType {
			return ""
		}
	case *Basic:
		switch f.Kind {
		case InfIntKind:
			// To a new type too: the specification asks for a cast there, the reference compiler does not.
			switch underlying(to).(type) {
			case *Bit, *Int:
				return ""
			}
		case NoHeaderKind:
			if IsHeader(to) || IsUnion(to) {
				return ""
			}
			return "{#} is an invalid header or header_union"
		case DotsKind:
			if c.hasDefault(to) {
				return ""
			}
			return "that type has no default value"
		}
	case *Enum:
		if f.Underlying != nil && Identical(f.Underlying, to) {
			return ""
		}
	case *Seq:
		return c.seqConvertible(f.Elems, f.Dots, to)
	case *Record:
		return c.recordConvertible(f, to)
	case *Block:
		if t, ok := to.(*Block); ok {
			return blockMatches(f, t)
		}
	case *Extern, *Package:
		if compatible(from, to) {
			return ""
		}
	}
	return "-"
}

// blockMatches says why a parser or control cannot stand for one of another type: its parameters must agree.
func blockMatches(f, t *Block) string {
	if f.Kind != t.Kind {
		return "-"
	}
	if !t.IsType {
		return "-"
	}
	if len(f.TypeParams) > 0 {
		return "-"
	}
	if len(f.Params) != len(t.Params) {
		if !restOptional(f.Params, t.Params) {
			return fmt.Sprintf("it has %d %s instead of %d", len(f.Params), plural(len(f.Params), "parameter"), len(t.Params))
		}
	}
	for i, p := range f.Params {
		if i >= len(t.Params) {
			break
		}
		q := t.Params[i]
		if p.Dir != q.Dir {
			return fmt.Sprintf("parameter %s has direction %s instead of %s", quote(p.name), dirName(p.Dir), dirName(q.Dir))
		}
		if !compatible(p.typ, q.typ) {
			return fmt.Sprintf("parameter %s has type %s instead of %s", quote(p.name), p.typ, q.typ)
		}
	}
	return ""
}

// restOptional tells whether parameters agree in number but for @optional ones at the end of the longer list.
func restOptional(a, b []*Param) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	for _, p := range b[len(a):] {
		if !p.Optional && p.Default == nil {
			return false
		}
	}
	return true
}

// compatible is Identical, where _ and the invalid type match anything.
func compatible(a, b Type) bool {
	a, b = resolve(a), resolve(b)
	if a == DontCareType || b == DontCareType || a == InvalidType || b == InvalidType {
		return true
	}
	switch x := a.(type) {
	case *Struct:
		y, ok := b.(*Struct)
		return ok && (x == y || x.Origin != nil && x.Origin == y.Origin && compatibleLists(x.TypeArgs, y.TypeArgs))
	case *Extern:
		y, ok := b.(*Extern)
		return ok && (x == y || x.Origin != nil && x.Origin == y.Origin && compatibleLists(x.TypeArgs, y.TypeArgs))
	case *Block:
		y, ok := b.(*Block)
		if !ok {
			return false
		}
		return x == y || x.Origin != nil && x.Origin == y.Origin && compatibleLists(x.TypeArgs, y.TypeArgs) || blockMatches(x, y) == ""
	case *Package:
		y, ok := b.(*Package)
		return ok && (x == y || x.Origin != nil && x.Origin == y.Origin && compatibleLists(x.TypeArgs, y.TypeArgs))
	}
	return Identical(a, b)
}

func compatibleLists(a, b []Type) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !compatible(a[i], b[i]) {
			return false
		}
	}
	return true
}

func dirName(d ast.Direction) string {
	if d == ast.None {
		return "none"
	}
	return d.String()
}

func (c *checker) seqConvertible(elems []Type, dots bool, to Type) string {
	var want []Type
	what := "field"
	switch t := to.(type) {
	case *Tuple:
		want = t.Elems
		what = "element"
	case *Struct:
		if t.Kind == StructUnion {
			return "-"
		}
		for _, f := range t.Fields {
			want = append(want, f.typ)
		}
	case *Stack:
		for range t.Size {
			want = append(want, t.Elem)
		}
		what = "element"
	case *List:
		if dots {
			return "a list has no default elements"
		}
		for range elems {
			want = append(want, t.Elem)
		}
	default:
		return "-"
	}
	if len(elems) > len(want) || len(elems) < len(want) && !dots {
		return fmt.Sprintf("it has %d %s, %s has %d %s", len(elems), plural(len(elems), "element"), to, len(want), plural(len(want), what))
	}
	for i, e := range elems {
		if why := c.convertible(e, want[i]); why != "" {
			return fmt.Sprintf("element %d has type %s instead of %s", i+1, e, want[i])
		}
	}
	for i := len(elems); i < len(want); i++ {
		if !c.hasDefault(want[i]) {
			return fmt.Sprintf("type %s, of element %d, has no default value", want[i], i+1)
		}
	}
	return ""
}

func (c *checker) recordConvertible(f *Record, to Type) string {
	t, ok := to.(*Struct)
	if !ok || t.Kind == StructUnion {
		return "-"
	}
	for i, n := range f.Names {
		fl, _ := t.Field(n)
		if fl == nil {
			near := newNearest(n)
			for _, g := range t.Fields {
				near.offer(g.name)
			}
			s := t.String() + " has no field " + quote(n)
			if near.best != "" {
				s += "; did you mean " + quote(near.best) + "?"
			}
			return s
		}
		if why := c.convertible(f.Elems[i], fl.typ); why != "" {
			s := fmt.Sprintf("field %s has type %s instead of %s", quote(n), f.Elems[i], fl.typ)
			if why != "-" {
				s += ": " + why
			}
			return s
		}
	}
	var missing []string
	for _, fl := range t.Fields {
		found := false
		for _, n := range f.Names {
			found = found || n == fl.name
		}
		if found {
			continue
		}
		if !f.Dots {
			missing = append(missing, fl.name)
		} else if !c.hasDefault(fl.typ) {
			return "field " + quote(fl.name) + " has no default value"
		}
	}
	if len(missing) > 0 {
		return "no value for " + joinNames(missing, "and") + "; end it with ... for default values"
	}
	return ""
}

// hasDefault tells whether a type has a default value (specification section 7.3).
func (c *checker) hasDefault(t Type) bool {
	switch t := resolve(t).(type) {
	case *NewType:
		return c.hasDefault(t.Base)
	case *Bit, *Int, *Enum, *Varbit:
		return true
	case *Basic:
		switch t.Kind {
		case Invalid, InfIntKind, BoolKind, StringKind, ErrorKind:
			return true
		}
		return false
	case *Struct:
		if t.Kind != StructStruct {
			return true
		}
		return c.structHolds(c.defaults, t, c.hasDefault)
	case *Tuple:
		for _, e := range t.Elems {
			if !c.hasDefault(e) {
				return false
			}
		}
		return true
	case *Stack:
		return c.hasDefault(t.Elem)
	}
	return false
}

// structHolds tells whether a predicate holds for all fields of a struct; memo keeps the answers, because structs nest.
func (c *checker) structHolds(memo map[*Struct]bool, t *Struct, pred func(Type) bool) bool {
	if v, ok := memo[t]; ok {
		return v
	}
	ok := true
	for _, f := range t.Fields {
		if !pred(f.typ) {
			ok = false
			break
		}
	}
	memo[t] = ok
	return ok
}

// convert records that an expression is converted to a type it is convertible to, together with its parts.
func (c *checker) convert(e ast.Expr, to Type) {
	to = resolve(to)
	tv := c.info.Types[e]
	if tv.Type == nil || tv.Type == InvalidType || to == InvalidType || to == DontCareType {
		return
	}
	from := resolve(tv.Type)
	if !Identical(from, to) {
		tv.Conv = to
		c.info.Types[e] = tv
	}
	switch e := e.(type) {
	case *ast.Paren:
		c.convert(e.X, to)
		return
	case *ast.Ternary:
		c.convert(e.Then, to)
		c.convert(e.Else, to)
		return
	case *ast.ListExpr:
		for i, el := range e.Elems {
			if t := elemType(to, i); t != nil {
				c.convert(el, t)
			}
		}
		return
	case *ast.StructExpr:
		s, ok := to.(*Struct)
		if !ok {
			return
		}
		for _, kv := range e.Fields {
			if f, _ := s.Field(identName(kv.Name)); f != nil {
				c.convert(kv.Value, f.typ)
			}
		}
		return
	}
	if i, ok := tv.Value.(*bigInt); ok && from == InfIntType && !fits(i, to) {
		v := convertValue(i, InfIntType, to)
		c.warn(e, CodeOverflow, "%s does not fit in %s and becomes %s", i, to, v)
	}
}

// castable tells whether an explicit cast is legal (specification section 8.12.1).
func (c *checker) castable(from, to Type) bool {
	from, to = resolve(from), resolve(to)
	if c.convertible(from, to) == "" {
		return true
	}
	if isNewType(from) || isNewType(to) {
		// Only the types that they are declared from count; nothing else is cast on the way.
		return c.convertible(underlying(from), underlying(to)) == ""
	}
	switch t := to.(type) {
	case *Bit:
		switch f := from.(type) {
		case *Bit:
			return true
		case *Int:
			return f.Width == t.Width
		case *Basic:
			return f.Kind == BoolKind && t.Width == 1
		case *Enum:
			return f.Underlying != nil && c.castable(f.Underlying, to)
		}
	case *Int:
		switch f := from.(type) {
		case *Int:
			return true
		case *Bit:
			return f.Width == t.Width
		case *Enum:
			return f.Underlying != nil && c.castable(f.Underlying, to)
		}
	case *Enum:
		if t.Underlying == nil {
			return false
		}
		switch f := from.(type) {
		case *Enum:
			return f.Underlying != nil && Identical(f.Underlying, t.Underlying)
		case *Basic:
			return f.Kind == InfIntKind
		}
		return Identical(from, t.Underlying)
	case *Basic:
		switch t.Kind {
		case BoolKind:
			b, ok := from.(*Bit)
			return ok && b.Width == 1 || from == InfIntType
		case InfIntKind:
			switch f := from.(type) {
			case *Bit, *Int:
				return true
			case *Enum:
				return f.Underlying != nil
			}
		}
	}
	return false
}

func isNewType(t Type) bool { _, ok := t.(*NewType); return ok }

func (c *checker) cast(e *ast.Cast) operand {
	to := c.typ(e.Type)
	x := c.expr(e.X)
	if to == InvalidType || x.typ == InvalidType {
		return bad(e)
	}
	if isObjectType(to) || to == VoidType || to == DontCareType {
		c.err(e.Type, CodeCast, "cannot cast to %s", to)
		return bad(e)
	}
	if !c.castable(x.typ, to) {
		r := c.err(e, CodeCast, "cannot cast %s to %s", x.typ, to)
		c.explainCast(r, x.typ, to)
		return bad(e)
	}
	if c.convertible(x.typ, to) == "" {
		c.convertQuietly(e.X, x.typ, to)
	}
	y := operand{mode: RValue, typ: to}
	if x.mode == ConstMode {
		y.mode = ConstMode
		y.val = convertValue(x.val, x.typ, to)
		if i, ok := x.val.(*bigInt); ok && to == BoolType && x.typ == InfIntType && i.CmpAbs(bigOne) > 0 {
			c.err(e, CodeCast, "cannot cast %s to bool: only 0 and 1 can be", i)
			return bad(e)
		}
	}
	return y
}

// convertQuietly records the conversion of a cast's operand: of its parts, where it is a list or structure expression.
func (c *checker) convertQuietly(e ast.Expr, from, to Type) {
	switch resolve(from).(type) {
	case *Seq, *Record:
		c.convert(e, to)
	case *Basic:
		if from != InfIntType {
			c.convert(e, to)
		}
	}
}

func (c *checker) explainCast(r *report, from, to Type) {
	f, ok1 := resolve(from).(*Bit)
	t, ok2 := resolve(to).(*Int)
	if ok1 && ok2 {
		r.hint("a cast cannot change sign and width at once; write (int<%d>)(bit<%d>) or (int<%d>)(int<%d>)", t.Width, t.Width, t.Width, f.Width)
		return
	}
	g, ok1 := resolve(from).(*Int)
	u, ok2 := resolve(to).(*Bit)
	if ok1 && ok2 {
		r.hint("a cast cannot change sign and width at once; write (bit<%d>)(int<%d>) or (bit<%d>)(bit<%d>)", u.Width, u.Width, u.Width, g.Width)
		return
	}
	if why := c.convertible(from, to); why != "-" && why != "" {
		r.Message += ": " + why
	}
	if resolve(to) == BoolType {
		r.hint("compare it instead, for instance with != 0")
	}
}
