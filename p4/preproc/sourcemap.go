package preproc

import (
	"sort"

	"khop/p4/diag"
)

// place is a byte in a source file.
type place struct {
	file int
	off  int
}

// sourceFile is one file as read; a file that is included twice is there twice.
type sourceFile struct {
	name    string
	text    string
	builtin bool
	system  bool  // included with <...>, or by such a file
	from    place // the #include
	lines   []int // offsets of the first byte of each line, made when first needed
	// renamed holds the #line directives carried out, in order.
	renamed []renaming
}

// renaming is a #line: the line at offset off and those that follow count from line on, in a file called name.
type renaming struct {
	off  int
	line int
	name string
}

// segment maps a run of output to the source: from offset out on, output comes from src on, or all of it from src if fixed.
type segment struct {
	out   int
	src   place
	fixed bool
}

// Map is the source map of an Output. It implements diag.Resolver.
type Map struct {
	files    []*sourceFile
	segments []segment
	end      int // length of the output
}

func (m *Map) add(name string, text []byte) int {
	m.files = append(m.files, &sourceFile{name: name, text: string(text)})
	return len(m.files) - 1
}

func (m *Map) segment(out int, src place, fixed bool) {
	if n := len(m.segments); n > 0 && !fixed {
		last := m.segments[n-1]
		if !last.fixed && last.src.file == src.file && last.src.off+(out-last.out) == src.off {
			return // goes on where the last one ended
		}
	}
	m.segments = append(m.segments, segment{out: out, src: src, fixed: fixed})
}

// Position implements diag.Resolver.
func (m *Map) Position(pos diag.Pos) diag.Position {
	if pos == diag.NoPos || len(m.segments) == 0 {
		return diag.Position{}
	}
	return m.position(m.source(int(pos) - 1))
}

// System tells whether a position lies in a library: a file included with <...> or built in, or a file that such a one includes.
func (m *Map) System(pos diag.Pos) bool {
	return pos != diag.NoPos && len(m.segments) > 0 && m.files[m.source(int(pos)-1).file].system
}

// source returns the place that the output at offset off comes from.
func (m *Map) source(off int) place {
	i := sort.Search(len(m.segments), func(i int) bool { return m.segments[i].out > off }) - 1
	if i < 0 {
		i = 0
	}
	s := m.segments[i]
	if s.fixed || off < s.out {
		return s.src
	}
	return place{s.src.file, s.src.off + off - s.out}
}

func (f *sourceFile) line(off int) int {
	if f.lines == nil {
		f.lines = []int{0}
		for i := 0; i < len(f.text); i++ {
			if f.text[i] == '\n' {
				f.lines = append(f.lines, i+1)
			}
		}
	}
	return sort.SearchInts(f.lines, off+1) - 1
}

func (m *Map) position(at place) diag.Position {
	f := m.files[at.file]
	at.off = min(at.off, len(f.text))
	n := f.line(at.off)
	p := diag.Position{File: f.name, Line: n + 1, Column: at.off - f.lines[n] + 1}
	for i := len(f.renamed) - 1; i >= 0; i-- {
		if r := f.renamed[i]; r.off <= at.off {
			p.File = r.name
			p.Line = r.line + n - f.line(r.off)
			break
		}
	}
	return p
}

// SourceLine returns the text of a line of a file, without its end, for messages. It knows files by the names that the
// positions of this map give; ok is false for others.
func (m *Map) SourceLine(file string, line int) (text string, ok bool) {
	for _, f := range m.files {
		if n, found := f.find(file, line); found {
			to := len(f.text)
			if n+1 < len(f.lines) {
				to = f.lines[n+1] - 1
			}
			text := f.text[f.lines[n]:to]
			if k := len(text); k > 0 && text[k-1] == '\r' {
				text = text[:k-1]
			}
			return text, true
		}
	}
	return "", false
}

// find returns the index of the line that positions call file:line.
func (f *sourceFile) find(file string, line int) (int, bool) {
	f.line(0)
	end := len(f.text) + 1
	for i := len(f.renamed) - 1; i >= -1; i-- {
		name, first, n := f.name, 0, line-1
		if i >= 0 {
			name, first = f.renamed[i].name, f.line(f.renamed[i].off)
			n = first + line - f.renamed[i].line
		}
		if name == file && n >= first && n < len(f.lines) && f.lines[n] < end {
			return n, true
		}
		if i >= 0 {
			end = f.renamed[i].off
		}
	}
	return 0, false
}
