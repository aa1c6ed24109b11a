package diag

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Source gives the text of source lines. The preprocessor's source map is one.
type Source interface {
	// SourceLine returns a line without its end; ok is false if the file or the line is not known. Lines count from 1.
	SourceLine(file string, line int) (text string, ok bool)
}

// RenderOptions change how diagnostics are rendered.
type RenderOptions struct {
	Color bool // with ANSI colours
	Max   int  // render only so many, and say how many more there are; 0: all
}

// Render writes the diagnostics of a list for a reader: each with its position, severity, message and code on the first line,
// then the source line with the place underlined, the hint and the notes.
//
//	leaf.p4:12:13: error: unknown name hrd [unknown-name]
//	   12 |     hdr.x = hrd.y;
//	      |             ^~~
//	      = hint: did you mean hdr?
//
// src may be nil; source lines are then left out.
func Render(l List, src Source, o RenderOptions) string {
	var b strings.Builder
	for i, d := range l {
		if o.Max > 0 && i == o.Max {
			fmt.Fprintf(&b, "and %d more\n", len(l)-i)
			break
		}
		renderOne(&b, d, src, o)
	}
	return b.String()
}

const (
	colorBold   = "\x1b[1m"
	colorRed    = "\x1b[1;31m"
	colorYellow = "\x1b[1;33m"
	colorCyan   = "\x1b[36m"
	colorOff    = "\x1b[0m"
)

func (o RenderOptions) paint(color, s string) string {
	if !o.Color {
		return s
	}
	return color + s + colorOff
}

func renderOne(b *strings.Builder, d Diagnostic, src Source, o RenderOptions) {
	color := colorRed
	if d.Severity == Warning {
		color = colorYellow
	}
	if d.At != (Position{}) {
		b.WriteString(o.paint(colorBold, printable(d.At.String())+":") + " ")
	}
	b.WriteString(o.paint(color, d.Severity.String()+":") + " " + printable(d.Message))
	if d.Code != "" {
		b.WriteString(" [" + string(d.Code) + "]")
	}
	b.WriteByte('\n')
	margin := excerpt(b, d.At, d.End, src, color, o)
	if d.Hint != "" {
		fmt.Fprintf(b, "%s %s\n", margin, o.paint(colorCyan, "= hint: "+printable(d.Hint)))
	}
	for _, n := range d.Notes {
		at := ""
		if n.At != (Position{}) {
			at = printable(n.At.String()) + ": "
		}
		fmt.Fprintf(b, "%s %s\n", margin, o.paint(colorCyan, "= "+at+printable(n.Message)))
	}
}

// maxExcerpt is the length in bytes up to which a source line is shown; of a longer one, only the part around the place is.
const maxExcerpt = 160

// excerpt writes the source line and a line that underlines the place, and returns the margin for what follows.
func excerpt(b *strings.Builder, at, end Position, src Source, color string, o RenderOptions) string {
	const bare = "    "
	if src == nil || at.Line == 0 {
		return bare
	}
	text, ok := src.SourceLine(at.File, at.Line)
	if !ok {
		return bare
	}
	from := min(max(at.Column-1, 0), len(text))
	to := from + 1
	switch {
	case end.File != at.File || end.Line < at.Line:
	case end.Line > at.Line:
		to = len(strings.TrimRight(text, " \t"))
	case end.Column-1 > to:
		to = min(end.Column-1, len(text))
	}
	to = max(to, from+1)
	cut := ""
	if len(text) > maxExcerpt && from > maxExcerpt/2 {
		start := from - maxExcerpt/2
		for start < from && !utf8.RuneStart(text[start]) {
			start++
		}
		text, from, to, cut = text[start:], from-start, to-start, "..."
	}
	if len(text) > maxExcerpt {
		n := maxExcerpt
		for n > 0 && !utf8.RuneStart(text[n]) {
			n--
		}
		text = text[:n] + "..."
	}
	from, to = min(from, len(text)), min(to, len(text)+1)
	number := fmt.Sprintf("%5d", at.Line)
	margin := strings.Repeat(" ", len(number)) + " |"
	fmt.Fprintf(b, "%s | %s%s\n", number, cut, printable(text))
	fmt.Fprintf(b, "%s %s%s%s\n", margin, strings.Repeat(" ", len(cut)), blank(text[:from]),
		o.paint(color, "^"+strings.Repeat("~", max(width(text, from, to)-1, 0))))
	return strings.Repeat(" ", len(number)+1)
}

// blank returns white space as wide as text, tabs kept.
func blank(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r == '\t' {
			b.WriteByte('\t')
		} else {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// width counts the characters of text[from:to]; behind its end there is one more.
func width(text string, from, to int) int {
	n := to - len(text)
	if n < 0 {
		n = 0
	}
	return n + utf8.RuneCountInString(text[from:min(to, len(text))])
}

// printable replaces control characters, which a hostile file could use to write over the terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\t' && (r < ' ' || r >= 0x7f && r < 0xa0) {
			return '?'
		}
		return r
	}, s)
}
