package ir

import (
	"fmt"
	"strings"

	"khop/p4/ast"
	"khop/p4/diag"
	"khop/p4/types"
)

// Build lowers a checked program. The result is nil when the list holds an error.
func Build(info *types.Info, pos diag.Resolver) (prog *Program, list diag.List) {
	l := &lowerer{info: info, pos: pos, prog: &Program{Info: info, Root: &Scope{}}, insts: map[*types.Instance]any{},
		effects: map[ast.Node]bool{}, actions: map[actionKey]*Action{}, digests: map[ast.Node]*FieldList{},
		learn: map[string]int{}}
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(tooMany); !ok {
				// A program that the checker accepts must not get here; if one does, it is an error like any other.
				l.errorf(l.at, "internal", "the compiler cannot handle this construct (%v)", r)
			}
			prog, list = nil, l.list
		}
	}()
	l.program()
	if l.list.HasErrors() {
		return nil, l.list
	}
	return l.prog, l.list
}

// maxErrors is how many errors are reported before lowering gives up.
const maxErrors = 50

// tooMany ends lowering.
type tooMany struct{}

// lowerer is the state of lowering.
type lowerer struct {
	info *types.Info
	pos  diag.Resolver
	prog *Program
	list diag.List
	y    *layout
	at   ast.Node // what is being lowered, for the report of a failure

	code  *Code
	fr    *frame
	block blockKind
	pipe  *Pipeline
	loops []loop

	insts   map[*types.Instance]any // global instances
	effects map[ast.Node]bool
	actions map[actionKey]*Action
	digests map[ast.Node]*FieldList
	learn   map[string]int
	lists   map[int64]*FieldList
	order   []*Header // what the deparser emits
	conds   []Expr    // conditions around a checksum
	calls   int
}

type blockKind uint8

const (
	inParser blockKind = iota
	inVerify
	inIngress
	inEgress
	inCompute
	inDeparser
)

// frame holds what names stand for in a body.
type frame struct {
	outer  *frame // lexically enclosing
	caller *frame // whoever called
	vars   map[types.Object]any
	params []*types.TypeParam
	args   []types.Type
	ret    Label
	hasRet bool
	result Loc
	// copyOut are the assignments that end the call.
	copyOut []copyOut
	inst    *blockInst // set for the frame of an instance of a parser or control
	action  bool       // body of an action that a table runs
	called  bool       // body of an action that is called
	path    string
}

type copyOut struct {
	dst, src Loc
	node     ast.Node
}

type loop struct{ brk, cont Label }

// blockInst is an instance of a parser or control.
type blockInst struct {
	block  *types.Block // the declaration
	fr     *frame
	scope  *Scope
	tables map[*types.Table]*Table
	sites  int // how many places apply it
	// vars is the storage of local variables, which every inlined copy of the body shares.
	vars map[types.Object]Loc
	// direct are the anonymous instances that T.apply() makes.
	direct map[*ast.CallExpr]*blockInst
}

type (
	packetIn  struct{}
	packetOut struct{}
)

func (l *lowerer) errorf(n ast.Node, code diag.Code, format string, args ...any) {
	l.report(diag.Error, n, code, format, args...)
	if len(l.list) >= maxErrors {
		panic(tooMany{})
	}
}

func (l *lowerer) warnf(n ast.Node, code diag.Code, format string, args ...any) {
	l.report(diag.Warning, n, code, format, args...)
}

func (l *lowerer) report(sev diag.Severity, n ast.Node, code diag.Code, format string, args ...any) {
	d := diag.Diagnostic{Severity: sev, Code: code, Message: fmt.Sprintf(format, args...)}
	if n != nil && l.pos != nil {
		d.At, d.End = l.pos.Position(n.Pos()), l.pos.Position(n.End())
	}
	for _, e := range l.list {
		if e.At == d.At && e.Message == d.Message {
			return // the same body, inlined elsewhere
		}
	}
	l.list = append(l.list, d)
}

// typ replaces type variables of the enclosing generic declarations.
func (l *lowerer) typ(t types.Type) types.Type {
	for f := l.fr; f != nil; f = f.outer {
		if len(f.params) > 0 {
			t = types.Substitute(f.params, f.args, t)
		}
	}
	return t
}

func (l *lowerer) typeOf(e ast.Expr) types.Type {
	t := l.info.TypeOf(e)
	if t == nil {
		return types.InvalidType
	}
	return l.typ(t)
}

// lookup returns what an object stands for: a Val, *Extern, *blockInst, packetIn, packetOut; nil if it has no meaning at run time.
func (l *lowerer) lookup(o types.Object) any {
	for f := l.fr; f != nil; f = f.outer {
		if b, ok := f.vars[o]; ok {
			return b
		}
	}
	switch o := o.(type) {
	case *types.Const:
		return l.constVal(o.Value, l.typ(o.Type()), o.Node())
	case *types.Instance:
		return l.insts[o]
	}
	return nil
}

// instFrame returns the frame of the enclosing parser or control instance, or nil.
func (l *lowerer) instFrame() *frame {
	for f := l.fr; f != nil; f = f.outer {
		if f.inst != nil {
			return f
		}
	}
	return nil
}

func (l *lowerer) pathOf() string {
	for f := l.fr; f != nil; f = f.outer {
		if f.path != "" {
			return f.path
		}
	}
	return ""
}

// temp makes a variable for an intermediate value.
func (l *lowerer) temp(t Type) *scalarLoc {
	name := "tmp"
	if p := l.pathOf(); p != "" {
		name = p + ".tmp"
	}
	return &scalarLoc{l.y.scalar(name, t), scalarP4(t)}
}

func scalarP4(t Type) types.Type {
	switch {
	case t.Bool:
		return types.BoolType
	case t.Signed:
		return &types.Int{Width: t.Width}
	}
	return &types.Bit{Width: t.Width}
}

// tempOf makes a variable of a P4 type.
func (l *lowerer) tempOf(t types.Type, n ast.Node) Loc {
	name := "tmp"
	if p := l.pathOf(); p != "" {
		name = p + ".tmp"
	}
	return l.y.alloc(t, name, name, n)
}

// controlName joins the path of an instance and a local name, which annotation @name may replace; with a leading dot the
// annotation is the whole name.
func controlName(path, name string, annos []*ast.Annotation) string {
	if a := nameAnno(annos); a != "" {
		name = a
	}
	if strings.HasPrefix(name, ".") {
		return name[1:]
	}
	if path == "" {
		return name
	}
	return path + "." + name
}

// nameAnno returns the text of annotation @name("..."), or "".
func nameAnno(annos []*ast.Annotation) string {
	for _, a := range annos {
		if a.Name.Name == "name" && len(a.Tokens) == 1 {
			return Unquote(a.Tokens[0].Text)
		}
	}
	return ""
}

// Unquote returns the value of a string literal token, or the token itself when it is none.
func Unquote(s string) string {
	if len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' {
		return s
	}
	s = s[1 : len(s)-1]
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
			switch s[i] {
			case 'n':
				b.WriteByte('\n')
				continue
			case 't':
				b.WriteByte('\t')
				continue
			case 'r':
				b.WriteByte('\r')
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func unparen(e ast.Expr) ast.Expr {
	for {
		p, ok := e.(*ast.Paren)
		if !ok {
			return e
		}
		e = p.X
	}
}

// branch goes on if a condition holds, else to a label. A parser can only decide by a field.
func (l *lowerer) branch(cond Expr, ifFalse Label, n ast.Node) {
	if l.block == inParser {
		x := cond
		if u, ok := x.(*Unary); ok {
			x = u.X
		}
		if _, ok := x.(*FieldRef); !ok {
			t := l.temp(boolType)
			l.assign(t, cond, n)
			cond = t.ref
		}
	}
	l.code.branch(cond, ifFalse, n)
}
