package types

import (
	"khop/p4/ast"
)

func (c *checker) args(list []*ast.Arg) []operand {
	var out []operand
	for _, a := range list {
		out = append(out, c.arg(a))
	}
	return out
}

// arg checks an argument.
func (c *checker) arg(a *ast.Arg) operand {
	if a == nil || a.Value == nil {
		return operand{mode: ConstMode, typ: InvalidType}
	}
	if d, ok := a.Value.(*ast.DontCare); ok {
		x := operand{expr: d, mode: LValue, typ: DontCareType, dontCare: true}
		return c.set(x)
	}
	return c.expr(a.Value)
}

// boundArg is an argument with its parameter.
type boundArg struct {
	param *Param
	x     operand
	given bool
}

// accepts tells whether parameters can take arguments by number and names (specification section 7.2.11.2).
func accepts(params []*Param, args []*ast.Arg) bool {
	if len(args) > len(params) {
		return false
	}
	given := make([]bool, len(params))
	for i, a := range args {
		if a.Name == nil {
			given[i] = true
			continue
		}
		k := paramIndex(params, a.Name.Name)
		if k < 0 {
			return false
		}
		given[k] = true
	}
	for i, p := range params {
		if !given[i] && p.Default == nil && !p.Optional {
			return false
		}
	}
	return true
}

func paramIndex(params []*Param, name string) int {
	for i, p := range params {
		if p.name == name {
			return i
		}
	}
	return -1
}

// bind matches arguments with parameters and reports what does not fit. supplied tells which parameters the control plane may
// supply; nil means none.
func (c *checker) bind(n ast.Node, callee string, params []*Param, args []*ast.Arg, xs []operand, supplied func(*Param) bool) ([]boundArg, bool) {
	out := make([]boundArg, len(params))
	for i, p := range params {
		out[i].param = p
	}
	named, positional := 0, 0
	ok := true
	for i, a := range args {
		if a.Name == nil {
			positional++
			if i >= len(params) {
				if ok {
					c.err(a, CodeArgCount, "%s takes %d %s, not %d", callee, len(params), plural(len(params), "argument"), len(args))
				}
				ok = false
				continue
			}
			out[i].x, out[i].given = xs[i], true
			continue
		}
		named++
		k := paramIndex(params, a.Name.Name)
		if k < 0 {
			near := newNearest(a.Name.Name)
			for _, p := range params {
				near.offer(p.name)
			}
			c.err(a.Name, CodeArgName, "%s has no parameter %s", callee, quote(a.Name.Name)).hintNear(near.best)
			ok = false
			continue
		}
		if out[k].given {
			c.err(a, CodeArgName, "parameter %s is given twice", quote(a.Name.Name))
			ok = false
			continue
		}
		out[k].x, out[k].given = xs[i], true
	}
	if named > 0 && positional > 0 {
		c.err(n, CodeArgName, "some arguments are named and some are not").hint("name all of them or none")
		return out, false
	}
	if !ok {
		return out, false
	}
	var missing []string
	for i := range out {
		p := out[i].param
		if !out[i].given && p.Default == nil && !p.Optional && (supplied == nil || !supplied(p)) {
			missing = append(missing, p.name)
		}
	}
	if len(missing) > 0 {
		c.err(n, CodeArgCount, "%s needs %s for %s", callee, plural(len(missing), "argument"), joinNames(missing, "and"))
		return out, false
	}
	return out, true
}

// finishArgs checks bound arguments against their parameters' types (type variables replaced by s) and directions.
func (c *checker) finishArgs(bound []boundArg, s subst, of argRules) ([]Arg, bool) {
	out := make([]Arg, len(bound))
	ok := true
	for i, b := range bound {
		p := b.param
		t := s.apply(p.typ)
		out[i] = Arg{Param: p, Type: t}
		if !b.given {
			if p.Default != nil {
				out[i].Expr, out[i].Default = p.Default, true
			}
			continue
		}
		out[i].Expr = b.x.expr
		if b.x.dontCare {
			out[i].DontCare = true
			if p.Dir != ast.Out {
				c.err(b.x.expr, CodeNotLValue, "_ can only be the argument of an out parameter, and %s has direction %s", quote(p.name), dirName(p.Dir))
				ok = false
			} else if t != InvalidType {
				c.info.Types[b.x.expr] = TypeAndValue{Mode: LValue, Type: t}
			}
			continue
		}
		if !c.oneArg(p, b.x, t, of) {
			ok = false
		}
	}
	return out, ok
}

// argRules says what a callee asks of its directionless parameters.
type argRules struct {
	// runtime is set where directionless parameters take run-time values: for actions and externs.
	runtime bool
	// body is set for functions: those with a body cannot take run-time values for an int or a string.
	body bool
}

func (c *checker) oneArg(p *Param, x operand, t Type, of argRules) bool {
	if x.typ == InvalidType || t == InvalidType {
		return x.typ != InvalidType
	}
	if resolve(t) == DontCareType {
		c.err(x.expr, CodeInfer, "the type of parameter %s is not known: _ stands for it", quote(p.name))
		return false
	}
	what := "argument " + quote(p.name)
	switch p.Dir {
	case ast.Out, ast.InOut:
		if x.mode != LValue {
			c.err(x.expr, CodeNotLValue, "the argument of %s parameter %s must be something that can be assigned", p.Dir, quote(p.name)).
				hint("pass a variable, a field, or an out or inout parameter")
			return false
		}
		if !Identical(x.typ, t) {
			r := c.err(x.expr, CodeMismatch, "%s must have type %s, not %s", what, t, x.typ)
			r.hint("arguments of %s parameters are not converted", p.Dir)
			return false
		}
		c.written(x.expr)
		return true
	}
	if !c.assign(&x, t, what) {
		return false
	}
	if p.Dir == ast.None && x.mode != ConstMode && (!of.runtime || of.body && compileTimeOnly(t)) {
		c.err(x.expr, CodeNotConst, "%s must be known at compile time, because its parameter has no direction", what)
		return false
	}
	return true
}
