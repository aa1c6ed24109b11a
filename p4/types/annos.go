package types

import (
	"strings"

	"khop/p4/ast"
)

// annos checks annotations: a name is not used both in structured and in unstructured form on one element, structured bodies
// are compile-time expressions, and the predefined ones have the body that they need (specification section 20).
func (c *checker) annos(list []*ast.Annotation) {
	for i, a := range list {
		if a.Name == nil {
			continue
		}
		for _, b := range list[:i] {
			if b.Name != nil && b.Name.Name == a.Name.Name {
				switch {
				case a.Structured || b.Structured:
					r := c.err(a, CodeAnnotation, "@%s stands twice on this element", a.Name.Name)
					c.note(r, b.From, "the other one is here")
				}
			}
		}
		c.structured(a)
		c.predefined(a)
	}
}

func (c *checker) structured(a *ast.Annotation) {
	for _, e := range a.Exprs {
		c.annoExpr(a, e)
	}
	seen := map[string]bool{}
	for _, kv := range a.KVs {
		n := identName(kv.Name)
		if seen[n] {
			c.err(kv, CodeDuplicate, "key %s stands twice in @%s", quote(n), a.Name.Name)
		}
		seen[n] = true
		c.annoExpr(a, kv.Value)
	}
}

func (c *checker) annoExpr(a *ast.Annotation, e ast.Expr) {
	x := c.expr(e)
	if x.typ == InvalidType {
		return
	}
	switch resolve(x.typ) {
	case BoolType, InfIntType, StringType:
	default:
		if !isInteger(x.typ) {
			c.err(e, CodeAnnotation, "the body of @%s[...] holds integers, strings and bools, not %s", a.Name.Name, x.typ)
			return
		}
	}
	if x.val == nil {
		c.err(e, CodeNotConst, "the body of @%s[...] must be known at compile time", a.Name.Name)
	}
}

// predefined checks the annotations that the specification defines.
func (c *checker) predefined(a *ast.Annotation) {
	switch a.Name.Name {
	case "name", "deprecated", "noWarn", "match":
		want := "a string"
		if a.Name.Name == "match" {
			if a.Structured || len(a.Tokens) != 1 {
				c.err(a, CodeAnnotation, "@match takes a match kind: @match(ternary)")
			}
			return
		}
		if _, ok := AnnoString(a); a.Structured || !ok {
			c.err(a, CodeAnnotation, "@%s takes %s: @%s(\"...\")", a.Name.Name, want, a.Name.Name)
		}
	case "pkginfo":
		if !a.HasBody && !a.Structured {
			c.err(a, CodeAnnotation, "@pkginfo takes keys and values: @pkginfo(name=\"...\", version=\"...\")")
		}
	case "p4runtime_translation":
		if !translation(a.Tokens) {
			c.err(a, CodeAnnotation, "@p4runtime_translation takes a URI and the type that the control plane sees: "+
				"@p4runtime_translation(\"...\", string), bit<W> or W in place of string")
		}
	case "tableonly", "defaultonly", "hidden", "atomic", "optional", "pure", "noSideEffects":
		if len(a.Tokens) > 0 || len(a.Exprs) > 0 || len(a.KVs) > 0 {
			c.err(a, CodeAnnotation, "@%s takes no body", a.Name.Name)
		}
	}
}

// translation tells whether a body is that of @p4runtime_translation (P4Runtime specification section 8.4.6): a string and
// string, bit<W> or W, where W is a literal.
func translation(body []ast.Token) bool {
	if len(body) < 3 || !strings.HasPrefix(body[0].Text, `"`) || body[1].Text != "," {
		return false
	}
	number := func(s string) bool { return s != "" && s[0] >= '0' && s[0] <= '9' }
	switch t := body[2:]; {
	case len(t) == 1:
		return t[0].Text == "string" || number(t[0].Text)
	case len(t) == 4:
		return t[0].Text == "bit" && t[1].Text == "<" && number(t[2].Text) && t[3].Text == ">"
	}
	return false
}

// deprecated warns of the use of what is declared @deprecated.
func (c *checker) deprecated(n ast.Node, o Object) {
	a := findAnno(o.Annos(), "deprecated")
	if a == nil || c.opts.System != nil && c.opts.System(n.Pos()) {
		return
	}
	r := c.warn(n, CodeDeprecated, "%s is deprecated", describe(o))
	if s := strings.TrimSpace(annoString(a)); s != "" {
		r.hint("%s", s)
	}
}
