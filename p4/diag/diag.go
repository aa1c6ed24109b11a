// Package diag holds source positions and diagnostics.
//
// A diagnostic is data: a position, a severity, a stable code, a message, and optionally a hint and notes. Rendering, with
// the source line and a caret, is a separate step (see Render).
package diag

import (
	"fmt"
	"sort"
)

// Pos is a position in preprocessed text: 1 + the byte offset. NoPos is no position. A Map turns it into file, line and column.
type Pos int32

// NoPos is the zero Pos: position unknown.
const NoPos Pos = 0

// Position is a position in a source file. Line and Column count from 1; Column counts bytes. The zero Position is unknown.
type Position struct {
	File   string
	Line   int
	Column int
}

// String returns file:line:column, leaving out what is unknown.
func (p Position) String() string {
	switch {
	case p.Line == 0 && p.File == "":
		return "-"
	case p.Line == 0:
		return p.File
	case p.Column == 0:
		return fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// Severity of a diagnostic.
type Severity uint8

// Severities.
const (
	Error Severity = iota
	Warning
)

// String returns "error" or "warning".
func (s Severity) String() string {
	if s == Warning {
		return "warning"
	}
	return "error"
}

// Code is the stable name of a kind of diagnostic, such as "unknown-name". Package codes document each one.
type Code string

// Note is a further place that explains a diagnostic.
type Note struct {
	At      Position
	Message string
}

// Diagnostic is one error or warning.
type Diagnostic struct {
	At       Position
	End      Position // just behind the last character, on the same line or later; zero if unknown
	Severity Severity
	Code     Code
	Message  string // lower case, no full stop
	Hint     string // how to mend it; may be empty
	Notes    []Note
}

// Error formats the diagnostic on one line: position: severity: message [code].
func (d Diagnostic) Error() string {
	return fmt.Sprintf("%s: %s: %s [%s]", d.At, d.Severity, d.Message, d.Code)
}

// List is a list of diagnostics. As an error it reads as its first error and how many more there are.
type List []Diagnostic

// HasErrors tells whether any diagnostic is an error.
func (l List) HasErrors() bool {
	for _, d := range l {
		if d.Severity == Error {
			return true
		}
	}
	return false
}

// Err returns the list as an error if it has errors, otherwise nil.
func (l List) Err() error {
	if l.HasErrors() {
		return l
	}
	return nil
}

// Error implements error.
func (l List) Error() string {
	n, first := 0, ""
	for _, d := range l {
		if d.Severity != Error {
			continue
		}
		if n == 0 {
			first = d.Error()
		}
		n++
	}
	switch n {
	case 0:
		return "no errors"
	case 1:
		return first
	}
	return fmt.Sprintf("%s (and %d more)", first, n-1)
}

// Sort orders the list by file, line, column, and then severity; equal ones keep their order.
func (l List) Sort() {
	sort.SliceStable(l, func(i, j int) bool {
		a, b := l[i], l[j]
		if a.At.File != b.At.File {
			return a.At.File < b.At.File
		}
		if a.At.Line != b.At.Line {
			return a.At.Line < b.At.Line
		}
		if a.At.Column != b.At.Column {
			return a.At.Column < b.At.Column
		}
		return a.Severity < b.Severity
	})
}

// Resolver turns a Pos into a Position. The preprocessor's source map is one.
type Resolver interface {
	Position(Pos) Position
}
