package pipeline

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"khop/bmv2/config"
	ct "khop/bmv2/config/configtest"
)

// exprGen makes random expressions over the scalars, as text-free config values.
type exprGen struct {
	rng    *rand.Rand
	widths []int
}

func (g *exprGen) num(depth int) config.Value {
	if depth == 0 || g.rng.IntN(6) == 0 {
		if g.rng.IntN(3) == 0 {
			v := new(big.Int).SetUint64(g.rng.Uint64() >> g.rng.IntN(64))
			return config.Value{Kind: config.KindConst, Int: v}
		}
		return ct.S(g.rng.IntN(len(g.widths)))
	}
	sub := func() config.Value { return g.num(depth - 1) }
	switch op := []string{"+", "-", "*", "&", "|", "^", "<<", ">>", "~", "?", "two_comp_mod", "sat_cast", "usat_cast", "mask",
		"/", "%", "b2d", "neg", "shift"}[g.rng.IntN(19)]; op {
	case "<<", ">>":
		return ct.Op(op, sub(), ct.S(0)) // s0 is narrow: shifts stay small
	case "shift":
		return ct.Op([]string{"<<", ">>"}[g.rng.IntN(2)], sub(), ct.N(g.rng.Int64N(140)))
	case "~":
		return ct.Op("~", sub())
	case "neg":
		v := ct.Op("-", sub())
		return v
	case "b2d":
		return ct.Op("b2d", g.cond(depth-1))
	case "?":
		v := ct.Op("?", sub(), sub())
		c := g.cond(depth - 1)
		v.Cond = &c
		return v
	case "two_comp_mod", "sat_cast", "usat_cast":
		return ct.Op(op, sub(), ct.N(1+g.rng.Int64N(140)))
	case "mask":
		m := new(big.Int).Lsh(big1, uint(1+g.rng.IntN(140)))
		return ct.Op("&", sub(), config.Value{Kind: config.KindConst, Int: m.Sub(m, big1)})
	default:
		return ct.Op(op, sub(), sub())
	}
}

func (g *exprGen) cond(depth int) config.Value {
	if depth <= 0 {
		return ct.Op("d2b", g.num(0))
	}
	switch op := []string{"==", "!=", "<", "<=", ">", ">=", "and", "or", "not"}[g.rng.IntN(9)]; op {
	case "and", "or":
		return ct.Op(op, g.cond(depth-1), g.cond(depth-1))
	case "not":
		return ct.Op(op, g.cond(depth-1))
	default:
		return ct.Op(op, g.num(depth-1), g.num(depth-1))
	}
}

// oracle evaluates with math/big and nothing else.
func oracle(v *config.Value, vals []*big.Int) *big.Int {
	if v.Kind == config.KindConst {
		return v.Int
	}
	if v.Kind == config.KindField {
		var i int
		fmt.Sscanf(v.Names[1], "s%d", &i)
		return vals[i]
	}
	num := func(x *config.Value) *big.Int { return oracle(x, vals) }
	flag := func(b bool) *big.Int {
		if b {
			return big1
		}
		return big0
	}
	z := new(big.Int)
	if v.Op == "-" && v.Left == nil {
		return z.Neg(num(v.Right))
	}
	if v.Op == "?" {
		if num(v.Cond).Sign() != 0 {
			return num(v.Left)
		}
		return num(v.Right)
	}
	r := num(v.Right)
	switch v.Op {
	case "~":
		return z.Not(r)
	case "b2d", "d2b":
		return flag(r.Sign() != 0)
	case "not":
		return flag(r.Sign() == 0)
	}
	l := num(v.Left)
	width := func() uint { return uint(r.Int64()) }
	switch v.Op {
	case "+":
		return z.Add(l, r)
	case "-":
		return z.Sub(l, r)
	case "*":
		return z.Mul(l, r)
	case "&":
		return z.And(l, r)
	case "|":
		return z.Or(l, r)
	case "^":
		return z.Xor(l, r)
	case "<<":
		return z.Lsh(l, width())
	case ">>":
		return z.Rsh(l, width())
	case "/":
		if r.Sign() == 0 {
			return z
		}
		return z.Quo(l, r)
	case "%":
		if r.Sign() == 0 {
			return z
		}
		return z.Rem(l, r)
	case "two_comp_mod":
		m := new(big.Int).Lsh(big1, width())
		z.Mod(l, m)
		if z.Bit(int(width())-1) == 1 {
			z.Sub(z, m)
		}
		return z
	case "sat_cast":
		return clampBig(l, signedSpan(int(width())))
	case "usat_cast":
		return clampBig(l, unsignedSpan(int(width())))
	case "and":
		return flag(l.Sign() != 0 && r.Sign() != 0)
	case "or":
		return flag(l.Sign() != 0 || r.Sign() != 0)
	}
	c := l.Cmp(r)
	return flag(map[string]bool{"==": c == 0, "!=": c != 0, "<": c < 0, "<=": c <= 0, ">": c > 0, ">=": c >= 0}[v.Op])
}

func clampBig(v *big.Int, s span) *big.Int {
	if v.Cmp(s.lo) < 0 {
		return s.lo
	}
	if v.Cmp(s.hi) > 0 {
		return s.hi
	}
	return v
}

// TestExpressionsAgainstOracle assigns random expressions to fields of several widths and compares with exact arithmetic
// that is truncated in the end.
func TestExpressionsAgainstOracle(t *testing.T) {
	widths := []int{5, 8, 16, 32, 33, 64, 65, 128, 200}
	signed := map[int]bool{2: true, 6: true}
	rng := rand.New(rand.NewPCG(7, 11))
	g := &exprGen{rng: rng, widths: widths}
	for round := range 400 {
		c := ct.Base(append(append([]int{}, widths...), widths...)...)
		for i := range c.HeaderTypes[1].Fields {
			c.HeaderTypes[1].Fields[i].Signed = signed[i]
		}
		exprs := make([]config.Value, len(widths))
		var prims []config.Primitive
		for i := range widths {
			exprs[i] = g.num(1 + rng.IntN(4))
			prims = append(prims, ct.Assign(ct.S(len(widths)+i), exprs[i]))
		}
		ct.Run(c, "ingress", prims...)
		p, err := Link(c)
		if err != nil {
			t.Fatal(err)
		}
		in := NewInstance(p)
		s := in.State()
		s.W = make([]uint64, p.Words())
		for range 5 {
			p.ResetPHV(s.W)
			vals := make([]*big.Int, len(widths))
			for i, w := range widths {
				v := new(big.Int)
				switch rng.IntN(4) {
				case 0:
					v.Sub(v.Lsh(big1, uint(w)), big1) // all ones
				case 1:
					v.SetUint64(rng.Uint64N(4))
				default:
					for range 4 {
						v.Or(v.Lsh(v, 64), new(big.Int).SetUint64(rng.Uint64()))
					}
				}
				v.And(v, unsignedSpan(w).hi)
				h, f := p.headers[1], &p.headers[1].typ.fields[i]
				bigToWords(s.W[h.slot(f):h.slot(f)+f.words], v)
				if signed[i] && v.Bit(w-1) == 1 {
					v.Sub(v, new(big.Int).Lsh(big1, uint(w)))
				}
				vals[i] = v
			}
			s.ResetRequests()
			p.Ingress(s)
			for i, w := range widths {
				h, f := p.headers[1], &p.headers[1].typ.fields[len(widths)+i]
				got := new(big.Int)
				for j := f.words - 1; j >= 0; j-- {
					got.Or(got.Lsh(got, 64), new(big.Int).SetUint64(s.W[h.slot(f)+j]))
				}
				want := new(big.Int).And(oracle(&exprs[i], vals), unsignedSpan(w).hi)
				if got.Cmp(want) != 0 {
					t.Fatalf("round %d: bit<%d> = %s with %v: got %x, want %x", round, w, show(&exprs[i]), vals, got, want)
				}
			}
		}
	}
}

func show(v *config.Value) string {
	switch {
	case v == nil:
		return ""
	case v.Kind == config.KindConst:
		return "0x" + v.Int.Text(16)
	case v.Kind == config.KindField:
		return v.Names[1]
	case v.Cond != nil:
		return "(" + show(v.Cond) + " ? " + show(v.Left) + " : " + show(v.Right) + ")"
	}
	return "(" + show(v.Left) + " " + v.Op + " " + show(v.Right) + ")"
}
