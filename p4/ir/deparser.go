package ir

import (
	"fmt"
	"math/big"

	"khop/p4/ast"
	"khop/p4/types"
)

// mainDeparser lowers the deparser of the architecture.
func (l *lowerer) mainDeparser(bi *blockInst, hdr Loc) {
	d := &Deparser{Code: &Code{}, Node: bi.block.Decl}
	l.block, l.code, l.pipe = inDeparser, d.Code, nil
	bi.setParams(packetOut{}, hdr)
	bi.fr.ret, bi.fr.hasRet = l.code.NewLabel(), true
	l.fr = bi.fr
	l.controlBody(bi)
	for _, i := range d.Code.Ins {
		switch i.Op {
		case OpPrim, OpLabel:
		default:
			l.errorf(i.Node, "unsupported-statement", "a deparser may assign and emit, but not decide, on this target")
		}
	}
	d.Order = l.order
	l.prog.Deparser = d
}

// emit lowers packet_out.emit: every header below the argument, in order.
func (l *lowerer) emit(c *types.Call, n ast.Node) {
	if l.block != inDeparser {
		l.errorf(n, "unsupported-call", "emit can be called in the deparser only")
		return
	}
	for _, i := range l.code.Ins {
		if i.Op == OpBranch {
			l.errorf(n, "unsupported-statement", "emit inside a condition is not supported by the target; an invalid header is not emitted")
			return
		}
	}
	v := l.expr(c.Args[0].Expr)
	loc, ok := v.(Loc)
	if !ok {
		l.errorf(n, "unsupported-call", "emit takes headers, stacks, unions, and structs of these")
		return
	}
	count := len(l.order)
	leaves(loc, func(h *Header, f *Field) {
		if f == nil && !h.Metadata {
			l.order = append(l.order, h)
		}
	})
	if len(l.order) == count {
		if s, ok := loc.(*structLoc); !ok || len(s.fields) > 0 {
			l.errorf(n, "unsupported-call", "emit takes headers, stacks, unions, and structs of these")
		}
	}
}

// checksums lowers a control that verifies or updates checksums.
func (l *lowerer) checksums(bi *blockInst, kind blockKind, args ...any) {
	l.block, l.code, l.pipe = kind, &Code{}, nil
	l.conds = nil
	bi.setParams(args...)
	bi.fr.ret, bi.fr.hasRet = l.code.NewLabel(), true
	l.fr = bi.fr
	l.controlBody(bi)
	for _, i := range l.code.Ins {
		if i.Op != OpLabel {
			l.errorf(i.Node, "unsupported-statement",
				"this control may only call %s on this target", map[blockKind]string{inVerify: "verify_checksum and verify_checksum_with_payload",
					inCompute: "update_checksum and update_checksum_with_payload"}[kind])
			break
		}
	}
}

// checksumIf makes a condition part of that of the checksums inside it.
func (l *lowerer) checksumIf(s *ast.IfStmt) {
	c := l.scalar(s.Cond)
	l.conds = append(l.conds, c)
	l.stmt(s.Then)
	l.conds[len(l.conds)-1] = not(c)
	if s.Else != nil {
		l.stmt(s.Else)
	}
	l.conds = l.conds[:len(l.conds)-1]
}

// checksum lowers a call of verify_checksum or update_checksum.
func (l *lowerer) checksum(c *types.Call, n ast.Node) {
	name := c.Func.Name()
	verify := name[:6] == "verify"
	if verify != (l.block == inVerify) || !verify && l.block != inCompute {
		l.errorf(n, "unsupported-call", "%s can be called in the control that %s checksums only", name,
			map[bool]string{true: "verifies", false: "computes"}[verify])
		return
	}
	var cond Expr = BoolConst(true)
	for _, x := range l.conds {
		cond = and(cond, x)
	}
	cond = and(cond, l.scalar(c.Args[0].Expr))
	var in []Expr
	l.flatten(l.expr(c.Args[1].Expr), n, func(x Expr) {
		switch x.(type) {
		case *FieldRef, *Const:
		default:
			l.errorf(c.Args[1].Expr, "unsupported-expression", "%s takes fields and constants only on this target", name)
		}
		in = append(in, x)
	})
	algo := l.enumName(c.Args[3].Expr)
	if algo != "" && !hashAlgorithms[algo] {
		l.errorf(c.Args[3].Expr, "unsupported-extern", "checksum algorithm %s is not supported by the target", algo)
		return
	}
	target, ok := l.expr(c.Args[2].Expr).(*FieldRef)
	if !ok {
		l.errorf(c.Args[2].Expr, "unsupported-expression", "the checksum must be a field")
		return
	}
	calc := l.calculation(algo, in, name[len(name)-7:] == "payload", n)
	l.prog.Checksums = append(l.prog.Checksums, &Checksum{Name: fmt.Sprintf("cksum_%d", len(l.prog.Checksums)), Verify: verify,
		Target: target, Calc: calc, Cond: cond, Node: n})
}

// annoInt reads a token of an annotation as an integer: a literal or the name of a constant.
func (l *lowerer) annoInt(t ast.Token) (int64, bool) {
	if v, ok := new(big.Int).SetString(t.Text, 0); ok && v.IsInt64() {
		return v.Int64(), true
	}
	for _, o := range l.info.Globals {
		if c, ok := o.(*types.Const); ok && c.Name() == t.Text {
			if v, ok := c.Value.(*big.Int); ok && v.IsInt64() {
				return v.Int64(), true
			}
		}
	}
	return 0, false
}
