package preproc

import (
	"fmt"
	"strconv"
	"strings"
)

// evaluate computes the expression of an #if: 64-bit integers with the operators of C, defined(NAME), and 0 for every other
// name that is no macro.
func (p *preprocessor) evaluate(at place, toks []tok) bool {
	e := &expander{p: p, site: at}
	c := &evaluator{toks: e.expand(p.resolveDefined(toks))}
	v := c.ternary()
	if c.err == "" && c.i < len(c.toks) {
		c.err = fmt.Sprintf("unexpected %s", c.toks[c.i].text)
	}
	if c.err != "" {
		p.errorAt(at, CodeCondition, "", "malformed condition: %s", c.err)
		return false
	}
	return v != 0
}

// resolveDefined replaces defined NAME and defined(NAME) by 1 or 0, before macros are expanded.
func (p *preprocessor) resolveDefined(toks []tok) []tok {
	var out []tok
	for i := 0; i < len(toks); i++ {
		if toks[i].text != "defined" {
			out = append(out, toks[i])
			continue
		}
		k := i + 1
		paren := k < len(toks) && toks[k].text == "("
		if paren {
			k++
		}
		if k >= len(toks) || !toks[k].name || paren && (k+1 >= len(toks) || toks[k+1].text != ")") {
			out = append(out, toks[i]) // reported as a malformed condition
			continue
		}
		v := "0"
		if p.macros[toks[k].text] != nil {
			v = "1"
		}
		out = append(out, tok{text: v, space: true, at: toks[i].at})
		if i = k; paren {
			i++
		}
	}
	return out
}

// evaluator is a parser by recursive descent over the tokens of a condition.
type evaluator struct {
	toks  []tok
	i     int
	depth int
	dead  int // inside an operand that is not evaluated, where a division by zero is no error
	err   string
}

func (c *evaluator) fail(format string, args ...any) int64 {
	if c.err == "" {
		c.err = fmt.Sprintf(format, args...)
	}
	return 0
}

func (c *evaluator) peek() string {
	if c.i < len(c.toks) && c.err == "" {
		t := c.toks[c.i].text
		if t == ">" && c.i+1 < len(c.toks) && c.toks[c.i+1].text == ">" && !c.toks[c.i+1].space {
			return ">>"
		}
		return t
	}
	return ""
}

// take advances over the operator that peek returned.
func (c *evaluator) take(op string) {
	if c.i++; op == ">>" {
		c.i++
	}
}

func (c *evaluator) ternary() int64 {
	if c.depth++; c.depth > 200 {
		return c.fail("too deep")
	}
	defer func() { c.depth-- }()
	v := c.binary(1)
	if c.peek() != "?" {
		return v
	}
	c.i++
	a := c.unevaluated(v == 0, c.ternary)
	if c.peek() != ":" {
		return c.fail("? without :")
	}
	c.i++
	b := c.unevaluated(v != 0, c.ternary)
	if v != 0 {
		return a
	}
	return b
}

// unevaluated reads an operand with f, which does not count if dead.
func (c *evaluator) unevaluated(dead bool, f func() int64) int64 {
	if dead {
		c.dead++
		defer func() { c.dead-- }()
	}
	return f()
}

var condPrec = map[string]int{"||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, ">": 7, "<=": 7, ">=": 7,
	"<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10}

func (c *evaluator) binary(min int) int64 {
	x := c.unary()
	for {
		op := c.peek()
		prec := condPrec[op]
		if prec < min || prec == 0 {
			return x
		}
		c.take(op)
		y := c.unevaluated(op == "&&" && x == 0 || op == "||" && x != 0, func() int64 { return c.binary(prec + 1) })
		x = c.apply(op, x, y)
	}
}

func (c *evaluator) apply(op string, x, y int64) int64 {
	is := func(b bool) int64 {
		if b {
			return 1
		}
		return 0
	}
	switch op {
	case "||":
		return is(x != 0 || y != 0)
	case "&&":
		return is(x != 0 && y != 0)
	case "|":
		return x | y
	case "^":
		return x ^ y
	case "&":
		return x & y
	case "==":
		return is(x == y)
	case "!=":
		return is(x != y)
	case "<":
		return is(x < y)
	case ">":
		return is(x > y)
	case "<=":
		return is(x <= y)
	case ">=":
		return is(x >= y)
	case "<<", ">>":
		if y < 0 || y > 63 {
			if c.dead > 0 {
				return 0
			}
			return c.fail("shift by %d", y)
		}
		if op == "<<" {
			return x << y
		}
		return x >> y
	case "+":
		return x + y
	case "-":
		return x - y
	case "*":
		return x * y
	}
	if y == 0 {
		if c.dead > 0 {
			return 0
		}
		return c.fail("division by zero")
	}
	if y == -1 { // the quotient of the smallest number does not fit
		if op == "/" {
			return -x
		}
		return 0
	}
	if op == "/" {
		return x / y
	}
	return x % y
}

func (c *evaluator) unary() int64 {
	if c.depth++; c.depth > 200 {
		return c.fail("too deep")
	}
	defer func() { c.depth-- }()
	t := c.peek()
	switch t {
	case "":
		return c.fail("operand missing")
	case "++": // two plus signs
		c.i++
		return c.unary()
	case "!":
		c.i++
		if c.unary() == 0 {
			return 1
		}
		return 0
	case "~":
		c.i++
		return ^c.unary()
	case "-":
		c.i++
		return -c.unary()
	case "+":
		c.i++
		return c.unary()
	case "(":
		c.i++
		v := c.ternary()
		if c.peek() != ")" {
			return c.fail("missing )")
		}
		c.i++
		return v
	}
	tk := c.toks[c.i]
	if tk.name {
		c.i++
		if c.peek() == "(" {
			return c.fail("%s is no macro with parameters", tk.text)
		}
		return 0
	}
	if !digit(t[0]) {
		return c.fail("unexpected %s", t)
	}
	c.i++
	v, err := strconv.ParseUint(strings.ReplaceAll(strings.TrimRight(t, "uUlL"), "_", ""), 0, 64)
	if err != nil {
		return c.fail("%s is no integer of 64 bits", t)
	}
	return int64(v)
}
