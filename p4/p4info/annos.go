package p4info

import (
	"math/big"
	"strings"

	p4configv1 "github.com/p4lang/p4runtime/go/p4/config/v1"

	"khop/p4/ast"
	"khop/p4/ir"
)

func find(annos []*ast.Annotation, name string) *ast.Annotation {
	for _, a := range annos {
		if a.Name.Name == name {
			return a
		}
	}
	return nil
}

// annotations returns the annotations as P4Info holds them: unstructured ones as text, without those that say something P4Info says
// elsewhere or that skip names.
func annotations(annos []*ast.Annotation, skip ...string) (text []string, structured []*p4configv1.StructuredAnnotation) {
next:
	for _, a := range annos {
		if a.Structured {
			structured = append(structured, structuredAnno(a))
			continue
		}
		switch a.Name.Name {
		case "name", "id", "brief", "description":
			continue
		}
		for _, s := range skip {
			if a.Name.Name == s {
				continue next
			}
		}
		text = append(text, annoText(a))
	}
	return text, structured
}

// annoText spells an annotation with a space between tokens.
func annoText(a *ast.Annotation) string {
	s := "@" + a.Name.Name
	if len(a.Tokens) == 0 {
		return s
	}
	var words []string
	for _, t := range a.Tokens {
		words = append(words, t.Text)
	}
	return s + "(" + strings.Join(words, " ") + ")"
}

func structuredAnno(a *ast.Annotation) *p4configv1.StructuredAnnotation {
	s := &p4configv1.StructuredAnnotation{Name: a.Name.Name}
	switch {
	case len(a.KVs) > 0:
		l := &p4configv1.KeyValuePairList{}
		for _, kv := range a.KVs {
			l.KvPairs = append(l.KvPairs, &p4configv1.KeyValuePair{Key: kv.Name.Name, Value: literal(kv.Value)})
		}
		s.Body = &p4configv1.StructuredAnnotation_KvPairList{KvPairList: l}
	case len(a.Exprs) > 0:
		l := &p4configv1.ExpressionList{}
		for _, e := range a.Exprs {
			l.Expressions = append(l.Expressions, literal(e))
		}
		s.Body = &p4configv1.StructuredAnnotation_ExpressionList{ExpressionList: l}
	}
	return s
}

func literal(e ast.Expr) *p4configv1.Expression {
	out := &p4configv1.Expression{}
	switch e := e.(type) {
	case *ast.StringLit:
		out.Value = &p4configv1.Expression_StringValue{StringValue: e.Value}
	case *ast.BoolLit:
		out.Value = &p4configv1.Expression_BoolValue{BoolValue: e.Value}
	default:
		if v, ok := boolLiteral(e); ok {
			out.Value = &p4configv1.Expression_BoolValue{BoolValue: v}
		} else if v := intLiteral(e); v != nil && v.IsInt64() {
			out.Value = &p4configv1.Expression_Int64Value{Int64Value: v.Int64()}
		}
	}
	return out
}

// boolLiteral evaluates a comparison of literals.
func boolLiteral(e ast.Expr) (v, ok bool) {
	switch e := e.(type) {
	case *ast.Paren:
		return boolLiteral(e.X)
	case *ast.BoolLit:
		return e.Value, true
	case *ast.Unary:
		if e.Op == "!" {
			v, ok = boolLiteral(e.X)
			return !v, ok
		}
	case *ast.Binary:
		x, y := intLiteral(e.X), intLiteral(e.Y)
		if x == nil || y == nil {
			return false, false
		}
		c := x.Cmp(y)
		switch e.Op {
		case "==":
			return c == 0, true
		case "!=":
			return c != 0, true
		case "<":
			return c < 0, true
		case "<=":
			return c <= 0, true
		case ">":
			return c > 0, true
		case ">=":
			return c >= 0, true
		}
	}
	return false, false
}

// intLiteral evaluates an integer expression of literals, or returns nil.
func intLiteral(e ast.Expr) *big.Int {
	switch e := e.(type) {
	case *ast.IntLit:
		return e.Value
	case *ast.Paren:
		return intLiteral(e.X)
	case *ast.Unary:
		v := intLiteral(e.X)
		if v != nil && e.Op == "-" {
			return new(big.Int).Neg(v)
		}
		return v
	case *ast.Binary:
		x, y := intLiteral(e.X), intLiteral(e.Y)
		if x == nil || y == nil {
			return nil
		}
		switch e.Op {
		case "+":
			return new(big.Int).Add(x, y)
		case "-":
			return new(big.Int).Sub(x, y)
		case "*":
			return new(big.Int).Mul(x, y)
		}
	}
	return nil
}

// doc returns what @brief and @description say, or nil.
func doc(annos []*ast.Annotation) *p4configv1.Documentation {
	b, d := find(annos, "brief"), find(annos, "description")
	if b == nil && d == nil {
		return nil
	}
	return &p4configv1.Documentation{Brief: text(b), Description: text(d)}
}

// text returns the string that is the body of an annotation; adjacent literals count as one.
func text(a *ast.Annotation) string {
	if a == nil {
		return ""
	}
	s := ""
	for _, t := range a.Tokens {
		s += ir.Unquote(t.Text)
	}
	return s
}

// number returns the integer that is the body of an annotation.
func number(a *ast.Annotation) (int64, bool) {
	if a == nil || len(a.Tokens) != 1 {
		return 0, false
	}
	return tokenInt(a.Tokens[0].Text)
}

func tokenInt(s string) (int64, bool) {
	if _, rest, ok := strings.Cut(s, "w"); ok && !strings.HasPrefix(s, "0x") {
		s = rest
	}
	v, ok := new(big.Int).SetString(s, 0)
	if !ok || !v.IsInt64() {
		return 0, false
	}
	return v.Int64(), true
}

// fieldIDs gives ids to the parts of an object: those that @id says, and the others from 1 in order.
func fieldIDs(annos [][]*ast.Annotation) []uint32 {
	ids := make([]uint32, len(annos))
	used := map[uint32]bool{}
	for i, a := range annos {
		if v, ok := number(find(a, "id")); ok {
			ids[i] = uint32(v)
			used[ids[i]] = true
		}
	}
	next := uint32(1)
	for i := range ids {
		if ids[i] != 0 {
			next++
			continue
		}
		for used[next] {
			next++
		}
		ids[i] = next
		used[next] = true
	}
	return ids
}
