package ir

import (
	"fmt"
	"strings"

	"khop/p4/ast"
	"khop/p4/types"
)

// extern makes an instance of an extern type.
func (l *lowerer) extern(o *types.Instance, t *types.Extern, path string, scope *Scope) *Extern {
	x := l.externObject(controlName(path, o.Name(), o.Annos()), t, o.Call, o.Node())
	if x != nil {
		x.Inst = o
		scope.Externs = append(scope.Externs, x)
	}
	return x
}

// externObject makes the object that a constructor call describes.
func (l *lowerer) externObject(name string, t *types.Extern, c *types.Call, n ast.Node) *Extern {
	x := &Extern{Name: name, Kind: t.Name, Type: t, Call: c}
	for _, a := range c.Args {
		if a.Expr == nil {
			continue
		}
		switch a.Param.Name() {
		case "size":
			if v, ok := l.constInt(a.Expr); ok {
				x.Size = int64(v)
			} else {
				l.errorf(a.Expr, "not-constant", "the size of %s must be known at compile time", name)
			}
		case "type":
			x.Unit = l.enumName(a.Expr)
		case "algorithm":
			x.Algorithm = l.enumName(a.Expr)
		}
	}
	switch t.Name {
	case "register":
		var st Type
		ok := len(t.TypeArgs) > 0
		if ok {
			st, ok = scalarType(t.TypeArgs[0])
		}
		if !ok {
			l.errorf(n, "unsupported-type", "register %s holds values of type %s; the target supports bit<> and int<>", name, t)
		}
		if x.Size <= 0 && ok {
			l.errorf(n, "unsupported-instance", "register %s has no cells", name)
		}
		x.Width, x.Signed = max(1, st.Width), st.Signed
		l.prog.Registers = append(l.prog.Registers, x)
	case "counter", "direct_counter":
		l.prog.Counters = append(l.prog.Counters, x)
	case "meter", "direct_meter":
		l.prog.Meters = append(l.prog.Meters, x)
	case "action_profile", "action_selector":
	default:
		l.errorf(n, "unsupported-extern", "extern type %s is not supported by the target (counter, direct_counter, meter, direct_meter, "+
			"register, action_profile, action_selector)", t.Name)
		return nil
	}
	return x
}

// enumName returns the name of the enum member that an expression denotes at compile time.
func (l *lowerer) enumName(e ast.Expr) string {
	if m, ok := l.info.ValueOf(e).(*types.EnumMember); ok {
		return m.Name()
	}
	t, _ := underlying(l.typeOf(e)).(*types.Enum)
	if c, ok := l.expr(e).(*Const); ok && t != nil && c.Val.IsInt64() && c.Val.Int64() < int64(len(t.Members)) {
		return t.Members[c.Val.Int64()].Name()
	}
	l.errorf(e, "not-constant", "this must be a member of an enum that is known at compile time")
	return ""
}

// method lowers a call of an extern object's method as a statement.
func (l *lowerer) method(c *types.Call, n ast.Stmt) {
	var recv any
	if c.Instance != nil {
		recv = l.lookup(c.Instance)
	}
	if recv == nil && c.Recv != nil {
		recv = l.expr(c.Recv)
	}
	name := c.Func.Name()
	switch r := recv.(type) {
	case packetIn:
		l.packetIn(name, c, n)
		return
	case packetOut:
		l.emit(c, n)
		return
	case *Extern:
		if r == nil {
			return // reported where it is declared
		}
		if l.block != inIngress && l.block != inEgress {
			l.errorf(n, "unsupported-call", "%s.%s can be called in ingress and egress only", r.Kind, name)
			return
		}
		switch r.Kind + "." + name {
		case "counter.count":
			l.code.prim(n, "count", r, l.index32(c, 0))
			return
		case "direct_counter.count":
			return // the target counts every hit
		case "meter.execute_meter":
			idx := l.index32(c, 0)
			l.out(c, 1, n, func(d Expr) { l.code.prim(n, "execute_meter", r, idx, d) })
			return
		case "direct_meter.read":
			l.readMeter(r, c, n)
			return
		case "register.read":
			idx := l.index32(c, 1)
			l.out(c, 0, n, func(d Expr) { l.code.prim(n, "register_read", d, r, idx) })
			return
		case "register.write":
			idx := l.index32(c, 0)
			v := l.scalar(c.Args[1].Expr)
			l.code.prim(n, "register_write", r, idx, cast(v, mustScalar(l.typ(c.Args[1].Type), v.Type())))
			return
		}
		l.errorf(n, "unsupported-extern", "method %s of %s is not supported by the target", name, r.Kind)
		return
	}
	l.errorf(n, "unsupported-call", "method %s cannot be called here", name)
}

func (l *lowerer) index32(c *types.Call, i int) Expr {
	v := l.scalar(c.Args[i].Expr)
	return cast(v, mustScalar(l.typ(c.Args[i].Type), v.Type()))
}

// out lowers an out argument: f gets a field to write, which is then copied to a place that is no field.
func (l *lowerer) out(c *types.Call, i int, n ast.Node, f func(Expr)) {
	a := c.Args[i]
	if a.DontCare || a.Expr == nil {
		f(l.temp(mustScalar(l.typ(a.Type), Type{Width: 32})).ref)
		return
	}
	d := l.lvalue(a.Expr)
	if d == nil {
		return
	}
	if s, ok := d.(*scalarLoc); ok {
		if _, ok := s.ref.(*FieldRef); ok {
			f(s.ref)
			return
		}
	}
	st, ok := scalarType(d.typeOf())
	if !ok {
		l.errorf(n, "unsupported-type", "a value of type %s cannot be written by the target", d.typeOf())
		return
	}
	t := l.temp(st)
	f(t.ref)
	l.assign(d, t.ref, n)
}

// readMeter reads the colour that the target stored when the table was hit.
func (l *lowerer) readMeter(r *Extern, c *types.Call, n ast.Node) {
	if r.Result == nil {
		r.Result = l.y.scalar(joinPath(r.Name, "color"), mustScalar(l.typ(c.Args[0].Type), Type{Width: 32}))
	}
	d := l.lvalue(c.Args[0].Expr)
	if d == nil {
		return
	}
	l.assign(d, cast(r.Result, mustScalar(d.typeOf(), r.Result.T)), n)
}

// externFunc lowers a call of an extern function as a statement.
func (l *lowerer) externFunc(c *types.Call, n ast.Stmt) {
	name := c.Func.Name()
	if name == "static_assert" {
		return
	}
	if l.block != inParser {
		l.prog.CallsExtern = true
	}
	switch name {
	case "verify":
		if l.block != inParser {
			l.errorf(n, "unsupported-call", "verify can be called in parsers only")
			return
		}
		cond := l.scalar(c.Args[0].Expr)
		l.code.add(Instr{Op: OpParse, Name: "verify", Args: []Arg{cond, l.scalar(c.Args[1].Expr)}, Node: n})
		return
	case "assert", "assume":
		l.code.prim(n, name, l.scalar(c.Args[0].Expr))
		return
	case "log_msg":
		l.logMsg(c, n)
		return
	case "verify_checksum", "verify_checksum_with_payload", "update_checksum", "update_checksum_with_payload":
		l.checksum(c, n)
		return
	}
	if l.block != inIngress && l.block != inEgress {
		l.errorf(n, "unsupported-call", "%s can be called in ingress and egress only", name)
		return
	}
	switch name {
	case "mark_to_drop":
		l.code.prim(n, "mark_to_drop", l.prog.Standard)
	case "truncate":
		l.code.prim(n, "truncate", l.scalar(c.Args[0].Expr))
	case "random":
		lo, hi := l.scalar(c.Args[1].Expr), l.scalar(c.Args[2].Expr)
		l.out(c, 0, n, func(d Expr) { l.code.prim(n, "modify_field_rng_uniform", d, lo, hi) })
	case "hash":
		l.hash(c, n)
	case "digest":
		l.digest(c, n)
	case "clone", "clone_preserving_field_list":
		l.clone(c, n)
	case "resubmit_preserving_field_list", "recirculate_preserving_field_list":
		l.again(c, n)
	default:
		l.errorf(n, "unsupported-extern", "extern function %s is not supported by the target", name)
	}
}

func (l *lowerer) logMsg(c *types.Call, n ast.Node) {
	text, ok := l.expr(c.Args[0].Expr).(string)
	if !ok {
		l.errorf(n, "not-constant", "the format of log_msg must be a string literal")
		return
	}
	var vals []Expr
	if len(c.Args) > 1 && c.Args[1].Expr != nil {
		v := l.expr(c.Args[1].Expr)
		parts := []Val{v}
		switch a := v.(type) {
		case *agg:
			parts = a.elems
		case *structLoc:
			parts = nil
			for _, f := range a.fields {
				parts = append(parts, plain(f))
			}
		}
		text = l.logFormat(text, parts)
		for _, x := range parts {
			l.flatten(x, n, func(x Expr) { vals = append(vals, x) })
		}
	}
	l.code.prim(n, "log_msg", Text(text), vals)
}

// logFormat replaces each {} that stands for a structure by the names of its fields with a {} each.
func (l *lowerer) logFormat(text string, parts []Val) string {
	var b strings.Builder
	for _, v := range parts {
		before, after, ok := strings.Cut(text, "{}")
		if !ok {
			break
		}
		b.WriteString(before)
		b.WriteString(l.logFields(v))
		text = after
	}
	return b.String() + text
}

func (l *lowerer) logFields(v Val) string {
	s, ok := underlying(valType(v)).(*types.Struct)
	if _, scalar := v.(Expr); scalar || !ok {
		return "{}"
	}
	var fields []string
	for i, f := range s.Fields {
		fields = append(fields, f.Name()+":"+l.logFields(l.fieldOf(v, i, l.at)))
	}
	return "(" + strings.Join(fields, ",") + ")"
}

// flatten calls f for every scalar of a value.
func (l *lowerer) flatten(v Val, n ast.Node, f func(Expr)) {
	switch v := v.(type) {
	case Expr:
		f(v)
	case *varbitLoc:
		f(v.ref)
	case *agg:
		for _, e := range v.elems {
			l.flatten(e, n, f)
		}
	case *structLoc:
		for _, x := range v.fields {
			l.flatten(plain(x), n, f)
		}
	case *headerLoc:
		for i := range v.typ.Fields {
			l.flatten(l.fieldOf(v, i, n), n, f)
		}
	case *unionLoc:
		for i := range v.typ.Fields {
			l.flatten(v.member(i), n, f)
		}
	case *stackLoc:
		for i := range v.stack.Elems {
			l.flatten(l.part(v, i, n), n, f)
		}
	default:
		l.errorf(n, "unsupported-expression", "a value of this type cannot be used here")
	}
}

// calcInput returns the fields and constants that a calculation reads. What is neither is computed first.
func (l *lowerer) calcInput(v Val, n ast.Node) []Expr {
	var in []Expr
	l.flatten(v, n, func(x Expr) {
		switch x.(type) {
		case *FieldRef:
		case *Const:
			if x.Type().Width == 0 {
				l.errorf(n, "unsupported-expression", "a constant here needs a width, such as 16w1")
			}
		default:
			t := l.temp(x.Type())
			l.assign(t, x, n)
			x = t.ref
		}
		in = append(in, x)
	})
	return in
}

func (l *lowerer) calculation(algo string, in []Expr, payload bool, n ast.Node) *Calculation {
	c := &Calculation{ID: len(l.prog.Calculations), Algorithm: algo, Input: in, Payload: payload, Node: n}
	c.Name = fmt.Sprintf("calc_%d", c.ID)
	l.prog.Calculations = append(l.prog.Calculations, c)
	return c
}

var hashAlgorithms = map[string]bool{"crc32": true, "crc32_custom": true, "crc16": true, "crc16_custom": true, "identity": true,
	"csum16": true, "xor16": true}

func (l *lowerer) hash(c *types.Call, n ast.Node) {
	algo := l.enumName(c.Args[1].Expr)
	if algo != "" && !hashAlgorithms[algo] {
		l.errorf(c.Args[1].Expr, "unsupported-extern",
			"hash algorithm %s is not supported by the target (crc32, crc32_custom, crc16, crc16_custom, csum16, xor16, identity)", algo)
		return
	}
	base := l.scalar(c.Args[2].Expr)
	calc := l.calculation(algo, l.calcInput(l.expr(c.Args[3].Expr), n), false, n)
	size := l.scalar(c.Args[4].Expr)
	l.out(c, 0, n, func(d Expr) { l.code.prim(n, "modify_field_with_hash_based_offset", d, base, calc, size) })
}

// digest sends a message to the control plane. The target reads the fields at the end of the pipeline, so they are copied. All
// calls with the same type share one list, since the control plane knows one digest by that name.
func (l *lowerer) digest(c *types.Call, n ast.Node) {
	v := l.expr(c.Args[1].Expr)
	t := l.typ(c.Args[1].Type)
	name := ""
	if s, ok := underlying(t).(*types.Struct); ok {
		name = controlName("", typeName(s), nil)
	}
	var vals []Expr
	l.flatten(v, n, func(x Expr) { vals = append(vals, x) })
	var list *FieldList
	if name != "" {
		if i, ok := l.learn[name]; ok {
			list = l.prog.LearnLists[i]
		}
	} else {
		list = l.digests[c.Expr]
	}
	if list == nil {
		if name == "" {
			name = fmt.Sprintf("digest_%d", len(l.digests))
		}
		list = &FieldList{Name: name, ID: len(l.prog.LearnLists) + 1}
		for i, x := range vals {
			list.Elements = append(list.Elements, l.y.scalar(fmt.Sprintf("digest.%s.%d", name, i), x.Type()))
		}
		l.learn[name] = len(l.prog.LearnLists)
		l.digests[c.Expr] = list
		l.prog.LearnLists = append(l.prog.LearnLists, list)
	}
	if f := l.instFrame(); f != nil {
		l.noteDigest(f.inst.scope, &Digest{name, t, list})
	} else {
		l.noteDigest(l.prog.Root, &Digest{name, t, list})
	}
	for i, x := range vals {
		if i < len(list.Elements) {
			ref, _ := list.Elements[i].(*FieldRef)
			l.assign(&scalarLoc{ref, scalarP4(ref.T)}, x, n)
		}
	}
	l.code.prim(n, "generate_digest", l.scalar(c.Args[0].Expr), intConst(int64(list.ID), Type{Width: 32}))
}

func (l *lowerer) noteDigest(s *Scope, d *Digest) {
	if d.Name == "" {
		d.Name = d.List.Name
	}
	for _, o := range s.Digests {
		if o.List == d.List {
			return
		}
	}
	s.Digests = append(s.Digests, d)
}

func (l *lowerer) clone(c *types.Call, n ast.Node) {
	name := c.Func.Name()
	op := ""
	switch kind := l.enumName(c.Args[0].Expr); {
	case kind == "I2E" && l.block == inIngress:
		op = "clone_ingress_pkt_to_egress"
	case kind == "E2E" && l.block == inEgress:
		op = "clone_egress_pkt_to_egress"
	case kind == "I2E":
		l.errorf(n, "unsupported-call", "%s(I2E, ...) can be called in ingress only", name)
		return
	case kind == "E2E":
		l.errorf(n, "unsupported-call", "%s(E2E, ...) can be called in egress only", name)
		return
	default:
		return
	}
	session := l.scalar(c.Args[1].Expr)
	index := int64(-1)
	if len(c.Args) > 2 {
		k, ok := l.constInt(c.Args[2].Expr)
		if !ok {
			l.errorf(c.Args[2].Expr, "not-constant", "the field list must be known at compile time")
			return
		}
		index = int64(k)
	}
	l.code.prim(n, op, session, intConst(int64(l.fieldList(index, n).ID), Type{Width: 32}))
}

// again lowers resubmit and recirculate.
func (l *lowerer) again(c *types.Call, n ast.Node) {
	op, where := "resubmit", inIngress
	if c.Func.Name()[:3] == "rec" {
		op, where = "recirculate", inEgress
	}
	if l.block != where {
		l.errorf(n, "unsupported-call", "%s can be called in %s only", c.Func.Name(), map[blockKind]string{inIngress: "ingress", inEgress: "egress"}[where])
		return
	}
	k, ok := l.constInt(c.Args[0].Expr)
	if !ok {
		l.errorf(n, "not-constant", "the field list must be known at compile time")
		return
	}
	l.code.prim(n, op, intConst(int64(l.fieldList(int64(k), n).ID), Type{Width: 32}))
}

// fieldList returns the list of the metadata fields annotated with @field_list(index); -1 is the empty list.
func (l *lowerer) fieldList(index int64, n ast.Node) *FieldList {
	if f := l.lists[index]; f != nil {
		return f
	}
	f := &FieldList{ID: len(l.prog.FieldLists) + 1, Name: "field_list_none"}
	if index >= 0 {
		f.Name = fmt.Sprintf("field_list%d", index)
		l.warnf(n, "empty-field-list", "no user metadata field is annotated with @field_list(%d)", index)
	}
	l.lists[index] = f
	l.prog.FieldLists = append(l.prog.FieldLists, f)
	return f
}

// fieldLists collects the fields of the user metadata that carry @field_list. The annotation of a struct holds for all its fields.
func (l *lowerer) fieldLists(meta Loc, t types.Type) {
	var visit func(p Loc, t types.Type, annos []*ast.Annotation)
	add := func(p Loc, a *ast.Annotation) {
		for _, tok := range a.Tokens {
			k, ok := l.annoInt(tok)
			if !ok {
				continue
			}
			f := l.lists[k]
			if f == nil {
				f = &FieldList{ID: len(l.prog.FieldLists) + 1, Name: fmt.Sprintf("field_list%d", k)}
				l.lists[k] = f
				l.prog.FieldLists = append(l.prog.FieldLists, f)
			}
			l.flatten(plain(p), a, func(x Expr) { f.Elements = append(f.Elements, x) })
		}
	}
	visit = func(p Loc, t types.Type, annos []*ast.Annotation) {
		if a := findAnno(annos, "field_list"); a != nil {
			add(p, a)
		}
		s, ok := p.(*structLoc)
		st, isStruct := underlying(t).(*types.Struct)
		if !ok || !isStruct {
			return
		}
		for i, f := range st.Fields {
			visit(s.fields[i], f.Type(), f.Annos())
		}
	}
	visit(meta, t, nil)
}
