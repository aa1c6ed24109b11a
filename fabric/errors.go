package fabric

import (
	"fmt"
	"strings"
)

// Error is one thing wrong with a spec.
type Error struct {
	File         string
	Line, Column int    // from 1; 0 when the error has no place in the file
	Path         string // key within the spec, such as "scheme.k"; empty for the whole file
	Message      string // what is wrong, and the valid options
}

// Error prints "file:line:column: path: message".
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", e.Line, e.Column)
	}
	b.WriteString(": ")
	if e.Path != "" {
		b.WriteString(e.Path)
		b.WriteString(": ")
	}
	b.WriteString(e.Message)
	return b.String()
}

// Errors is everything that is wrong with a spec, in the order of the file.
type Errors []*Error

// Error prints one error a line.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, err := range e {
		lines[i] = err.Error()
	}
	return strings.Join(lines, "\n")
}

// nearest returns the option closest to a misspelt word, or "".
func nearest(word string, options []string) string {
	best, bestDistance := "", len(word)/2+1
	for _, o := range options {
		if d := distance(strings.ToLower(word), strings.ToLower(o)); d < bestDistance {
			best, bestDistance = o, d
		}
	}
	return best
}

// distance is the Levenshtein distance of two words.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		previous := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := previous
			if a[i-1] != b[j-1] {
				cost++
			}
			previous = row[j]
			row[j] = min(cost, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}
