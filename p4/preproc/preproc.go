// Package preproc is the preprocessor of P4 programs, so that none of a C compiler is needed at run time.
//
// It does what p4c gets from "cc -E": #include, #define with and without parameters (with # and ##), #undef, #if, #elif, #else,
// #endif, #ifdef, #ifndef, #error, #warning, #line, __FILE__ and __LINE__; it joins lines that end in a backslash, and takes out
// comments and #pragma lines. It differs where P4 does: a string may go on over several lines, there are no character constants,
// and in 1..N the N is a name.
//
// The result is one text and a Map that tells for every offset in it where in which file it comes from; what a macro expands
// to comes from where the macro is used.
package preproc

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"khop/p4/diag"
)

// Limits that keep hostile input from using up memory or time.
const (
	MaxIncludeDepth = 64       // files that include one another
	MaxIncludes     = 10_000   // #include directives carried out
	MaxOutput       = 64 << 20 // bytes of output
	MaxExpansion    = 1 << 17  // tokens that one use of a macro expands to, at all levels together
	MaxErrors       = 20       // errors reported
)

// Codes of the diagnostics of this package.
const (
	// CodeInclude: a file to include cannot be read, or files include one another without end.
	CodeInclude diag.Code = "include"
	// CodeDirective: an unknown or malformed directive, or one without its #if.
	CodeDirective diag.Code = "directive"
	// CodeCondition: a malformed #if or #elif expression.
	CodeCondition diag.Code = "condition"
	// CodeMacro: a malformed definition or use of a macro.
	CodeMacro diag.Code = "macro"
	// CodeRedefined: a macro is defined again in another way.
	CodeRedefined diag.Code = "macro-redefined"
	// CodeUser: #error or #warning.
	CodeUser diag.Code = "user"
	// CodeUnterminated: a comment or an #if without end.
	CodeUnterminated diag.Code = "unterminated"
	// CodeTooLarge: a limit of this package is exceeded.
	CodeTooLarge diag.Code = "too-large"
)

// Options say where files come from and which macros are defined before the first line.
type Options struct {
	IncludeDirs []string                     // searched in order for both forms of #include
	Defines     []string                     // "NAME" (1) or "NAME=VALUE"; a macro with parameters is "NAME(A)=VALUE"
	ReadFile    func(string) ([]byte, error) // nil: os.ReadFile
	// Builtin returns the text of a file that is found nowhere else, such as core.p4.
	Builtin func(name string) (text []byte, ok bool)
}

// Output is a preprocessed program.
type Output struct {
	Text string
	Map  *Map
	// Includes are the files included, in the order of their first inclusion, without the program itself.
	Includes []string
}

// Run preprocesses one program. The output is complete up to the first error that ends the run, so that it can be parsed to
// report more.
func Run(filename string, source []byte, o Options) (*Output, diag.List) {
	p := &preprocessor{opts: o, macros: map[string]*macro{}, seen: map[string]bool{}, once: map[string]bool{}}
	if p.opts.ReadFile == nil {
		p.opts.ReadFile = os.ReadFile
	}
	p.define("__FILE__", &macro{special: func(p *preprocessor, at place) string { return quote(p.m.position(at).File) }})
	p.define("__LINE__", &macro{special: func(p *preprocessor, at place) string { return fmt.Sprint(p.m.position(at).Line) }})
	for _, d := range o.Defines {
		p.commandLine(d)
	}
	p.file(p.m.add(filename, source))
	p.m.end = len(p.out)
	out := &Output{Text: string(p.out), Map: &p.m, Includes: p.includes}
	return out, p.diags
}

// preprocessor is the state of one run.
type preprocessor struct {
	opts     Options
	out      []byte
	m        Map
	macros   map[string]*macro
	diags    diag.List
	includes []string
	seen     map[string]bool // files in includes
	once     map[string]bool // files with #pragma once
	stack    []int           // files in progress, the outermost first
	included int
	stop     bool // an error that ends the run
}

func (p *preprocessor) errorAt(at place, code diag.Code, hint, format string, args ...any) {
	p.report(at, diag.Error, code, hint, fmt.Sprintf(format, args...))
}

func (p *preprocessor) report(at place, sev diag.Severity, code diag.Code, hint, msg string) {
	d := diag.Diagnostic{At: p.m.position(at), Severity: sev, Code: code, Message: msg, Hint: hint}
	for _, o := range p.diags {
		if o.At == d.At && o.Code == d.Code && o.Message == d.Message {
			return // found again by a second look at the same text
		}
	}
	for i := len(p.stack) - 1; i > 0 && len(d.Notes) < 4; i-- {
		d.Notes = append(d.Notes, diag.Note{At: p.m.position(p.m.files[p.stack[i]].from), Message: "included from here"})
	}
	if p.diags = append(p.diags, d); len(p.diags) >= MaxErrors {
		p.stop = true
	}
}

// commandLine defines a macro given as NAME or NAME=VALUE.
func (p *preprocessor) commandLine(d string) {
	name, value, ok := strings.Cut(d, "=")
	if !ok {
		value = "1"
	}
	f := p.m.add("<command line>", []byte(name+" "+value))
	s := &scanner{p: p, file: f, text: p.m.files[f].text}
	p.directiveDefine(s, lineTokens(s, len(s.text)))
}

// emit appends text to the output. It comes from the place, byte by byte, or as a whole if fixed.
func (p *preprocessor) emit(text string, from place, fixed bool) {
	if len(text) == 0 || p.stop {
		return
	}
	if len(p.out)+len(text) > MaxOutput {
		p.errorAt(from, CodeTooLarge, "", "the preprocessed program is larger than %d bytes", MaxOutput)
		p.stop = true
		return
	}
	p.m.segment(len(p.out), from, fixed)
	p.out = append(p.out, text...)
}

// include reads the file that an #include at the place names, and processes it.
func (p *preprocessor) include(at place, name string, system bool) {
	if p.included++; p.included > MaxIncludes {
		p.errorAt(at, CodeTooLarge, "", "more than %d files are included", MaxIncludes)
		p.stop = true
		return
	}
	if len(p.stack) >= MaxIncludeDepth {
		p.errorAt(at, CodeInclude, "guard the file with #ifndef, or break the cycle", "files include one another deeper than %d levels", MaxIncludeDepth)
		p.stop = true
		return
	}
	var dirs []string
	if current := p.m.files[p.stack[len(p.stack)-1]]; !system && !current.builtin {
		dirs = append(dirs, filepath.Dir(current.name))
	}
	dirs = append(dirs, p.opts.IncludeDirs...)
	if filepath.IsAbs(name) {
		dirs = []string{""}
	}
	for _, dir := range dirs {
		path := name
		if dir != "" && dir != "." {
			path = filepath.Join(dir, name)
		}
		text, err := p.opts.ReadFile(path)
		if err == nil {
			p.enter(at, path, text, system, false)
			return
		}
		if !os.IsNotExist(err) {
			p.errorAt(at, CodeInclude, "", "cannot read %s: %v", path, err)
			return
		}
	}
	if p.opts.Builtin != nil {
		if text, ok := p.opts.Builtin(name); ok {
			p.enter(at, "<built-in>/"+name, text, true, true)
			return
		}
	}
	hint := "add its directory with -I"
	if len(dirs) > 0 {
		hint = "searched " + strings.Join(dirs, ", ") + "; " + hint
	}
	p.errorAt(at, CodeInclude, hint, "file %s is not found", name)
}

func (p *preprocessor) enter(at place, path string, text []byte, system, builtin bool) {
	if p.once[path] {
		return
	}
	if !p.seen[path] {
		p.seen[path] = true
		p.includes = append(p.includes, path)
	}
	f := p.m.add(path, text)
	p.m.files[f].builtin = builtin
	p.m.files[f].system = system || p.m.files[at.file].system
	p.m.files[f].from = at
	p.file(f)
}

func (p *preprocessor) file(f int) {
	p.stack = append(p.stack, f)
	s := &scanner{p: p, file: f, text: p.m.files[f].text}
	s.run()
	p.stack = p.stack[:len(p.stack)-1]
}
