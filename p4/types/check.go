package types

import (
	"fmt"
	"sort"

	"khop/p4/ast"
	"khop/p4/diag"
)

// Options change what Check reports.
type Options struct {
	// MaxErrors ends the run after that many errors; 0 means 100.
	MaxErrors int
	// NoWarnings leaves all warnings out.
	NoWarnings bool
	// RequireMain makes a program without a package instance named main an error. Libraries are checked without.
	RequireMain bool
	// System tells whether a position lies in a library such as core.p4 or an architecture file. Nothing that is only declared there is
	// reported as unused. Nil means that nothing does.
	System func(diag.Pos) bool
}

// Check checks a program. The list holds errors and warnings, sorted by position; res turns positions of the tree into those of
// source files. The Info is never nil, but complete only when the list holds no error.
func Check(prog *ast.Program, res diag.Resolver, opts Options) (*Info, diag.List) {
	c := newChecker(res, opts)
	c.program(prog)
	return c.info, c.list()
}

// maxDepth bounds how deeply expressions, statements and types may nest.
const maxDepth = 2000

type checker struct {
	info    *Info
	res     diag.Resolver
	opts    Options
	reports []*report
	errors  int
	seen    map[reportKey]bool

	global *scope
	scope  *scope
	ctx    context
	depth  int
	// mainFile is the file of the last declaration. What other files declare at top level is not reported as unused: they may
	// be libraries.
	mainFile string

	errorsByName map[string]*ErrorMember
	sizes        map[*Struct]*sizeRange
	comparable   map[*Struct]bool
	defaults     map[*Struct]bool
	emittables   map[*Struct]bool
	setElems     map[*Struct]bool
	inHeaders    map[*Struct]string // why a struct cannot stand in a header
	formed       map[*Struct]string // what illFormed says of an instance
	this         *Instance          // the instance whose initializer is being checked
	open         []*Call            // constructor calls whose type arguments the enclosing call infers
	// siblings holds all declarations of a parser, control or package whose name is declared more than once, keyed by the first.
	siblings map[Type][]Type
}

// context is where in the program the checker is.
type context struct {
	place  place
	block  *Block     // the enclosing parser or control
	fun    *Signature // the enclosing function or method
	fn     *Func
	action *Action
	loops  int  // enclosing loops
	inKey  bool // in a table's key
	inArgs bool // in the arguments of an action in a table
	inCtor bool // in the arguments of a constructor
	label  bool // in the label of a select case or the key of an entry
	table  *Table
}

// place is a kind of place that calls, instantiations and statements may stand in (specification appendix F).
type place uint8

const (
	atTop place = iota
	inParserLocals
	inState
	inControlLocals
	inApply
	inAction
	inFunction
	inMethod // an abstract method's implementation
)

func (p place) String() string {
	return [...]string{"at top level", "among the local declarations of a parser", "in a parser state",
		"among the local declarations of a control", "in the apply block of a control", "in an action", "in a function",
		"in a method"}[p]
}

// report is a diagnostic being built.
type report struct{ diag.Diagnostic }

type reportKey struct {
	pos  diag.Pos
	code diag.Code
}

func newChecker(res diag.Resolver, opts Options) *checker {
	if opts.MaxErrors <= 0 {
		opts.MaxErrors = 100
	}
	c := &checker{
		info: &Info{
			Types:      map[ast.Expr]TypeAndValue{},
			TypeExprs:  map[ast.Type]Type{},
			Defs:       map[ast.Node]Object{},
			Uses:       map[ast.Node]Object{},
			Selections: map[*ast.Member]*Selection{},
			Calls:      map[*ast.CallExpr]*Call{},
			Keysets:    map[*ast.SelectCase][]*Keyset{},
		},
		res:          res,
		opts:         opts,
		seen:         map[reportKey]bool{},
		errorsByName: map[string]*ErrorMember{},
		sizes:        map[*Struct]*sizeRange{},
		comparable:   map[*Struct]bool{},
		defaults:     map[*Struct]bool{},
		emittables:   map[*Struct]bool{},
		setElems:     map[*Struct]bool{},
		inHeaders:    map[*Struct]string{},
		formed:       map[*Struct]string{},
		siblings:     map[Type][]Type{},
	}
	c.global = newScope(nil)
	c.scope = c.global
	return c
}

// tooMany ends the run when there are more errors than Options.MaxErrors.
type tooMany struct{}

func (c *checker) program(prog *ast.Program) {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(tooMany); !ok {
				panic(r)
			}
		}
	}()
	if n := len(prog.Decls); n > 0 && prog.Decls[n-1] != nil {
		c.mainFile = c.res.Position(prog.Decls[n-1].Pos()).File
	}
	for _, d := range prog.Decls {
		c.topDecl(d)
	}
	c.main(prog)
	c.unused(c.global)
	if c.errors == 0 && !c.opts.NoWarnings {
		c.flows()
	}
}

func (c *checker) main(prog *ast.Program) {
	objs := c.global.names["main"]
	if len(objs) == 0 {
		if c.opts.RequireMain {
			c.errAt(prog.End(), prog.End(), CodeMain, "the program has no main package").
				hint("instantiate the architecture's package under the name main")
		}
		return
	}
	if _, isType := objs[0].(*TypeName); isType {
		c.errAt(objs[0].Pos(), objs[0].Pos(), CodeMain, "main must be an instance of a package, not %s", describe(objs[0]))
		return
	}
	inst, ok := objs[0].(*Instance)
	if _, isPkg := objs[0].Type().(*Package); ok && isPkg {
		inst.used = true
		c.info.Main = inst
		return
	}
	if ok && objs[0].Type() != InvalidType {
		c.errAt(objs[0].Pos(), objs[0].Pos(), CodeMain, "main must be an instance of a package, not %s", describe(objs[0]))
	}
}

// err reports an error at a node.
func (c *checker) err(n ast.Node, code diag.Code, format string, args ...any) *report {
	return c.errAt(n.Pos(), n.End(), code, format, args...)
}

func (c *checker) errAt(from, to diag.Pos, code diag.Code, format string, args ...any) *report {
	return c.report(diag.Error, from, to, code, format, args...)
}

// warn reports a warning at a node.
func (c *checker) warn(n ast.Node, code diag.Code, format string, args ...any) *report {
	return c.report(diag.Warning, n.Pos(), n.End(), code, format, args...)
}

func (c *checker) report(sev diag.Severity, from, to diag.Pos, code diag.Code, format string, args ...any) *report {
	r := &report{diag.Diagnostic{Severity: sev, Code: code, Message: fmt.Sprintf(format, args...)}}
	key := reportKey{from, code}
	if c.seen[key] || sev == diag.Warning && c.opts.NoWarnings {
		return r // built, but not kept
	}
	c.seen[key] = true
	r.At = c.res.Position(from)
	if to > from {
		r.End = c.res.Position(to)
	}
	c.reports = append(c.reports, r)
	if sev == diag.Error {
		if c.errors++; c.errors >= c.opts.MaxErrors {
			panic(tooMany{})
		}
	}
	return r
}

// hint says how to mend it.
func (r *report) hint(format string, args ...any) *report {
	r.Hint = fmt.Sprintf(format, args...)
	return r
}

// note adds a further place.
func (c *checker) note(r *report, pos diag.Pos, format string, args ...any) {
	if pos != diag.NoPos {
		r.Notes = append(r.Notes, diag.Note{At: c.res.Position(pos), Message: fmt.Sprintf(format, args...)})
	}
}

func (c *checker) list() diag.List {
	l := make(diag.List, 0, len(c.reports))
	for _, r := range c.reports {
		l = append(l, r.Diagnostic)
	}
	l.Sort()
	return l
}

// system tells whether an object is declared in a library.
func (c *checker) system(o Object) bool {
	return o.Pos() == diag.NoPos || c.opts.System != nil && c.opts.System(o.Pos())
}

// enter counts nesting; it reports and returns false beyond maxDepth. Every enter is paired with a leave.
func (c *checker) enter(n ast.Node) bool {
	c.depth++
	if c.depth > maxDepth {
		c.err(n, CodeTooDeep, "nested more than %d levels deep", maxDepth)
		return false
	}
	return true
}

func (c *checker) leave() { c.depth-- }

// in runs f in a changed context and restores the old one.
func (c *checker) in(change func(*context), f func()) {
	old := c.ctx
	change(&c.ctx)
	f()
	c.ctx = old
}

// sortedKeys returns the keys of a map in order.
func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
