package format

import (
	"strings"

	"khop/p4/parser"
)

// indentWidth is the number of spaces of one level.
const indentWidth = 4

// kinds of items.
const (
	itemToken = iota
	itemLineComment
	itemBlockComment
	itemRegion // preprocessor lines
)

// item is something to print: a token, an annotation as a whole, a comment, or preprocessor lines.
type item struct {
	kind       int
	start, end int
	text       string
	anno       bool
	blank      bool // an empty line in front of it, if it starts a line
}

// bracket is an open bracket.
type bracket struct {
	block   bool // braces whose contents stand on lines of their own
	hanging bool // the first thing behind it starts a line
	indent  int  // of the line that it stands on; for a block, of the statement
	list    bool
}

// printer writes items to out.
type printer struct {
	text  string
	m     *marks
	items []item

	out    strings.Builder
	stmt   int  // indentation of the statement in progress, in spaces
	line   int  // indentation of the line in progress
	empty  bool // nothing is written on the line yet
	hard   bool // what comes next starts a line
	prev   int  // index of the last token printed, -1 in front of the first
	opened bool // the last item was the brace of a block
	pragma bool // the last token was an @pragma
	stack  []bracket
}

func newPrinter(text string, dirs []region, m *marks) *printer {
	p := &printer{text: text, m: m, prev: -1, empty: true}
	add := func(it item) {
		for len(dirs) > 0 && dirs[0].start < it.start {
			p.items = append(p.items, item{kind: itemRegion, start: dirs[0].start, end: dirs[0].end,
				text: strings.Trim(text[dirs[0].start:dirs[0].end], " \t\r")})
			dirs = dirs[1:]
		}
		if it.start < len(text) {
			p.items = append(p.items, it)
		}
	}
	skip := 0
	for i := 0; i < len(m.toks); i++ {
		t := m.toks[i]
		if t.Start < skip || m.drop[t.Start] {
			continue
		}
		it := item{start: t.Start, end: t.End}
		switch t.Kind {
		case parser.LineComment:
			it.kind = itemLineComment
		case parser.BlockComment:
			it.kind = itemBlockComment
		default:
			if end, ok := m.annoEnd[t.Start]; ok {
				it.end, it.anno, skip = end, true, end
			} else if m.binary[t.Start] && text[t.Start:t.End] == ">" && t.End < len(text) && text[t.End] == '>' {
				it.end, skip = t.End+1, t.End+1
			}
		}
		it.text = strings.TrimRight(text[it.start:it.end], " \t\r")
		add(it)
	}
	add(item{start: len(text) + 1})
	// An empty line goes in front of the comments that lead up to a declaration.
	for i, it := range p.items {
		if it.kind != itemToken || !m.blank[it.start] {
			continue
		}
		k := i
		for k > 0 && p.isComment(k-1) && p.newlines(k-1) > 0 && p.newlines(k) < 2 {
			k--
		}
		p.items[k].blank = k == 0 || p.items[k-1].kind != itemRegion
	}
	return p
}

func (p *printer) isComment(i int) bool {
	return p.items[i].kind == itemLineComment || p.items[i].kind == itemBlockComment
}

// newlines counts the line ends between item i and the one in front of it; the start of the text counts as one.
func (p *printer) newlines(i int) int {
	if i == 0 {
		return 1
	}
	return strings.Count(p.text[p.items[i-1].end:p.items[i].start], "\n")
}

func (p *printer) print() []byte {
	for i, it := range p.items {
		switch it.kind {
		case itemRegion:
			p.newline(i, 0)
			p.out.WriteString(it.text)
			p.empty, p.hard, p.opened = false, true, false
		case itemToken:
			p.token(i)
		default:
			p.comment(i)
		}
	}
	if !p.empty {
		p.out.WriteByte('\n')
	}
	return []byte(p.out.String())
}

// newline ends the line in progress, leaves an empty line if the source or the layout wants one, and indents the next one.
func (p *printer) newline(i, indent int) {
	if !p.empty {
		p.out.WriteByte('\n')
	}
	if p.out.Len() > 0 && !p.opened && (p.newlines(i) >= 2 || p.items[i].blank) && !p.closes(i) {
		p.out.WriteByte('\n')
	}
	for k := 0; k < indent; k++ {
		p.out.WriteByte(' ')
	}
	p.line = indent
	p.empty = true
	p.hard, p.pragma = false, false
}

func (p *printer) write(s string) {
	p.out.WriteString(s)
	p.empty = false
}

// closes tells whether item i closes a block.
func (p *printer) closes(i int) bool {
	return p.items[i].kind == itemToken && p.items[i].text == "}"
}

func (p *printer) top() bracket {
	if n := len(p.stack); n > 0 {
		return p.stack[n-1]
	}
	return bracket{block: true, indent: -indentWidth}
}

// continuation is the indentation of a line that goes on with a statement.
func (p *printer) continuation() int {
	switch t := p.top(); {
	case t.block:
		return p.stmt + 2*indentWidth
	case t.hanging:
		return t.indent + indentWidth
	}
	return p.stmt + 2*indentWidth
}

// indentOf returns the indentation of item i if it starts a line.
func (p *printer) indentOf(i int) int {
	it := p.items[i]
	if it.kind == itemToken {
		if level, ok := p.m.bol[it.start]; ok {
			return level * indentWidth
		}
		if t := p.top(); it.text == "}" && t.block {
			return t.indent
		} else if isCloser(it.text) && !it.anno && t.hanging {
			return t.indent
		}
		if t := p.top(); it.text == "{" && !p.m.list[it.start] || it.text == "else" || t.block && p.prev >= 0 && p.items[p.prev].anno {
			return p.stmt
		}
		return p.continuation()
	}
	// A comment stands as deep as what it is about: the next token, or the contents of the block that ends.
	for k := i + 1; k < len(p.items); k++ {
		if p.items[k].kind != itemToken {
			continue
		}
		if t := p.top(); p.closes(k) && t.block {
			return t.indent + indentWidth
		} else if isCloser(p.items[k].text) && t.hanging {
			return t.indent + indentWidth
		}
		return p.indentOf(k)
	}
	return 0
}

func isCloser(s string) bool { return s == ")" || s == "]" || s == "}" }

func (p *printer) comment(i int) {
	it := p.items[i]
	own := p.newlines(i) > 0 || p.hard
	if own {
		p.hang(i)
		p.newline(i, p.indentOf(i))
	} else if !p.empty {
		if p.prev < 0 || !isOpener(p.items[p.prev].text) || it.kind == itemLineComment || p.opened {
			p.out.WriteByte(' ')
		}
	}
	col := p.column()
	if it.kind == itemBlockComment {
		p.write(shift(it.text, col-column(p.text, it.start)))
	} else {
		p.write(it.text)
	}
	p.hard = it.kind == itemLineComment || own && i+1 < len(p.items) && p.newlines(i+1) > 0 || p.pragma
	if own {
		p.opened = false
	}
}

// hang notes that the innermost bracket hangs if item i is the first thing behind it.
func (p *printer) hang(i int) {
	if n := len(p.stack); n > 0 && !p.stack[n-1].block && p.prev >= 0 && p.prev == i-1 && isOpener(p.items[p.prev].text) && !p.items[p.prev].anno {
		p.stack[n-1].hanging = true
	}
}

func isOpener(s string) bool { return s == "(" || s == "[" || s == "{" }

// column returns the column that is written next.
func (p *printer) column() int {
	s := p.out.String()
	return len(s) - 1 - strings.LastIndexByte(s, '\n')
}

func column(text string, at int) int { return at - 1 - strings.LastIndexByte(text[:at], '\n') }

// shift moves the lines of a comment behind the first by delta columns.
func shift(text string, delta int) string {
	lines := strings.Split(text, "\n")
	for i := 1; i < len(lines); i++ {
		l := strings.TrimRight(lines[i], " \t\r")
		body := strings.TrimLeft(l, " \t")
		if body != "" {
			l = strings.Repeat(" ", max(len(l)-len(body)+delta, 0)) + body
		}
		lines[i] = l
	}
	lines[0] = strings.TrimRight(lines[0], " \t\r")
	return strings.Join(lines, "\n")
}

func (p *printer) token(i int) {
	it := p.items[i]
	if isCloser(it.text) && !it.anno {
		p.close(i)
		return
	}
	level, bol := p.m.bol[it.start]
	switch {
	case bol:
		p.newline(i, level*indentWidth)
		p.stmt = level * indentWidth
	case p.hard || p.keepBreak(i):
		p.hang(i)
		p.newline(i, p.indentOf(i))
	case p.space(i):
		p.out.WriteByte(' ')
	}
	p.write(it.text)
	p.opened = false
	p.pragma = it.anno && p.m.pragma[it.start]
	p.hard = p.pragma // it ends with its line
	if isOpener(it.text) && !it.anno {
		b := bracket{indent: p.line}
		if it.text == "{" {
			b.list = p.m.list[it.start]
			b.block = !b.list
		}
		if b.block {
			b.indent = p.stmt
			p.opened = true
		}
		p.stack = append(p.stack, b)
	}
	p.prev = i
}

// close prints a closing bracket.
func (p *printer) close(i int) {
	it := p.items[i]
	t := p.top()
	indent := p.indentOf(i)
	switch {
	case t.block && p.opened && p.prev == i-1: // an empty block
	case t.block:
		p.newline(i, indent)
	case p.hard || t.hanging && p.newlines(i) > 0:
		p.newline(i, indent)
	case t.list && p.prev >= 0 && p.items[p.prev].text != "{":
		p.out.WriteByte(' ')
	case p.prev >= 0 && p.prev != i-1: // a comment
		p.out.WriteByte(' ')
	}
	p.write(it.text)
	if n := len(p.stack); n > 0 {
		p.stack = p.stack[:n-1]
	}
	if t.block {
		p.stmt = t.indent
	}
	p.opened = false
	p.prev = i
}

// keepBreak tells whether the author's line break in front of item i stays.
func (p *printer) keepBreak(i int) bool {
	if p.prev < 0 || p.newlines(i) == 0 {
		return false
	}
	it, prev := p.items[i], p.items[p.prev]
	switch t := p.top(); {
	case !t.block:
		return isOpener(prev.text) || p.space(i)
	case prev.anno:
		return true
	case it.text == "{" && !p.m.list[it.start]:
		return false
	}
	return p.m.binary[prev.start] || p.m.binary[it.start] || p.m.ternary[prev.start] || p.m.ternary[it.start] || prev.text == "?" ||
		it.text == "?" || strings.HasSuffix(prev.text, "=")
}

// parenSpaced tells whether a space stands between the token and a parenthesis.
func parenSpaced(prev string) bool {
	switch prev {
	case "if", "switch", "for", "return", "in", "?", ":", ",", ";", "&&&", "..", "{":
		return true
	}
	return strings.HasSuffix(prev, "=")
}

// space tells whether a space stands between item i and the token in front of it, both on one line.
func (p *printer) space(i int) bool {
	if p.empty || p.prev < 0 {
		return false
	}
	it, prev := p.items[i], p.items[p.prev]
	if p.prev != i-1 { // a comment stands between them
		return it.text != ";" && it.text != ","
	}
	switch {
	case prev.anno:
		return it.text != ";" && it.text != ","
	case p.m.binary[it.start] || p.m.binary[prev.start]:
		return true
	case p.m.unary[prev.start]:
		return false
	case p.m.castClose[prev.start]:
		return true
	case p.m.colon[it.start] || p.m.colon[prev.start]:
		return false
	case p.m.ternary[it.start]:
		return true
	}
	switch it.text {
	case ";", ",", ":":
		return false
	case "[", "<", ">":
		return false
	case ".":
		if !p.m.global[it.start] {
			return false
		}
	case "(":
		if !parenSpaced(prev.text) {
			return false
		}
	case "{":
		return !(isOpener(prev.text) && prev.text != "{")
	}
	switch prev.text {
	case "(", "[", ".", "<", "~", "!":
		return false
	case "{":
		return p.m.list[prev.start]
	}
	return true
}
