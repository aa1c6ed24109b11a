// Package p4 compiles P4_16 programs (language version 1.2.5) for the v1model architecture to P4Info and bmv2 JSON.
//
// Each stage is a package of its own: preproc, parser (with grammar and ast), types, ir, bmv2json and p4info. This package only
// puts them together.
package p4

import (
	"fmt"
	"slices"
	"strings"

	p4configv1 "github.com/p4lang/p4runtime/go/p4/config/v1"
	p4v1 "github.com/p4lang/p4runtime/go/p4/v1"

	"khop/p4/bmv2json"
	"khop/p4/diag"
	"khop/p4/ir"
	"khop/p4/p4info"
	"khop/p4/parser"
	"khop/p4/preproc"
	"khop/p4/types"
	"khop/p4src"
)

// CodeInternal is the code of an error of the compiler itself, whatever the program is.
const CodeInternal diag.Code = "internal"

// Options say where included files are found and which macros are defined.
type Options struct {
	IncludeDirs []string                     // -I; searched before the built-in core.p4 and v1model.p4
	Defines     []string                     // -D, "NAME" or "NAME=VALUE"
	Undefines   []string                     // -U; a name that is in Defines, or __TARGET_BMV2__, is not defined after all
	ReadFile    func(string) ([]byte, error) // nil: the file system
}

// Result is a compiled program.
type Result struct {
	P4Info  *p4configv1.P4Info
	JSON    []byte             // bmv2 JSON, indented, deterministic
	Entries *p4v1.WriteRequest // const entries, nil if there are none
}

// Compile compiles one program. The list holds errors and warnings, sorted by position; the Result is nil when it holds an error.
// The macro __TARGET_BMV2__ is defined.
func Compile(filename string, source []byte, opts Options) (*Result, diag.List) {
	r, list, _ := CompileSource(filename, source, opts)
	return r, list
}

// CompileSource is Compile that also gives the source lines for diag.Render.
func CompileSource(filename string, source []byte, opts Options) (r *Result, list diag.List, src diag.Source) {
	c := &compiler{file: filename}
	defer func() {
		if p := recover(); p != nil {
			c.list = append(c.list, diag.Diagnostic{At: diag.Position{File: filename}, Code: CodeInternal,
				Message: fmt.Sprintf("the compiler failed: %v", p), Hint: "this is a mistake in khop, not in the program"})
			r = nil
		}
		c.list.Sort()
		list = c.list
		if c.pre != nil {
			src = c.pre.Map
		}
	}()
	if c.front(source, opts) {
		r = c.back()
	}
	return r, nil, nil
}

// Preprocess runs the preprocessor alone, with the macros and libraries that Compile has.
func Preprocess(filename string, source []byte, opts Options) (*preproc.Output, diag.List) {
	var defines []string
	for _, d := range append([]string{"__TARGET_BMV2__"}, opts.Defines...) {
		name, _, _ := strings.Cut(d, "=")
		name, _, _ = strings.Cut(name, "(")
		if !slices.Contains(opts.Undefines, name) {
			defines = append(defines, d)
		}
	}
	return preproc.Run(filename, source, preproc.Options{
		IncludeDirs: opts.IncludeDirs,
		Defines:     defines,
		ReadFile:    opts.ReadFile,
		Builtin:     p4src.Include,
	})
}

// compiler holds what the stages leave.
type compiler struct {
	file string
	list diag.List
	pre  *preproc.Output
	info *types.Info
}

// add appends diagnostics, and tells whether none of them is an error.
func (c *compiler) add(l diag.List) bool {
	c.list = append(c.list, l...)
	return !l.HasErrors()
}

// front runs the stages that know the language only.
func (c *compiler) front(source []byte, opts Options) bool {
	var list diag.List
	c.pre, list = Preprocess(c.file, source, opts)
	if !c.add(list) {
		return false
	}
	prog, list := parser.Parse(c.pre.Text, c.pre.Map)
	if !c.add(list) {
		return false
	}
	c.info, list = types.Check(prog, c.pre.Map, types.Options{RequireMain: true, System: c.pre.Map.System})
	return c.add(list)
}

// back runs the stages that know the target.
func (c *compiler) back() *Result {
	prog, list := ir.Build(c.info, c.pre.Map)
	if !c.add(list) || prog == nil {
		return nil
	}
	json, list := bmv2json.Encode(prog, bmv2json.Options{File: c.file, Pos: c.pre.Map, Text: []byte(c.pre.Text)})
	ok := c.add(list)
	info, entries, list := p4info.Build(prog, c.pre.Map)
	if !c.add(list) || !ok {
		return nil
	}
	return &Result{P4Info: info, JSON: json, Entries: entries}
}
