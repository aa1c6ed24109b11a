package preproc

import (
	"strings"
)

// tok is a preprocessing token.
type tok struct {
	text  string
	name  bool // an identifier
	space bool // white space stands in front of it
	at    place
	hide  *hideSet
}

// hideSet holds the macros that a token came out of, which are not expanded in it again.
type hideSet struct {
	m    *macro
	next *hideSet
}

func (h *hideSet) has(m *macro) bool {
	for ; h != nil; h = h.next {
		if h.m == m {
			return true
		}
	}
	return false
}

// union returns a set with the elements of both.
func union(a, b *hideSet) *hideSet {
	for ; b != nil; b = b.next {
		if !a.has(b.m) {
			a = &hideSet{b.m, a}
		}
	}
	return a
}

// intersection returns the elements of a that b has too.
func intersection(a, b *hideSet) *hideSet {
	var out *hideSet
	for ; a != nil; a = a.next {
		if b.has(a.m) {
			out = &hideSet{a.m, out}
		}
	}
	return out
}

// macro is a definition. params is nil for a macro without parameter list, and not nil for one with an empty list.
type macro struct {
	name     string
	params   []string
	variadic bool // the last parameter takes all further arguments
	body     []tok
	at       place
	special  func(p *preprocessor, at place) string
	flat     string // the body as text, if it holds no name and thus needs no expansion
	isFlat   bool
}

func (p *preprocessor) define(name string, m *macro) {
	m.name = name
	if m.params == nil && m.special == nil {
		m.isFlat = true
		for _, t := range m.body {
			m.isFlat = m.isFlat && !t.name && t.text != "##"
		}
		if m.isFlat {
			m.flat = render(m.body)
		}
	}
	p.macros[name] = m
}

// same tells whether two definitions are the same, so that the second needs no warning.
func (m *macro) same(o *macro) bool {
	if (m.params == nil) != (o.params == nil) || m.variadic != o.variadic || strings.Join(m.params, ",") != strings.Join(o.params, ",") ||
		len(m.body) != len(o.body) {
		return false
	}
	for i, t := range m.body {
		if u := o.body[i]; t.text != u.text || i > 0 && t.space != u.space {
			return false
		}
	}
	return true
}

// use expands the use of a macro whose name ends at end, and emits the result.
func (s *scanner) use(m *macro, end int) {
	at := s.place(s.at)
	name := tok{text: m.name, name: true, at: at}
	s.at = end
	switch {
	case m.isFlat:
		s.p.emit(" "+m.flat+" ", at, true)
		return
	case m.special != nil:
		s.p.emit(m.special(s.p, at), at, true)
		return
	}
	e := &expander{p: s.p, src: s, site: at}
	out := e.expand([]tok{name})
	// The spaces keep what the macro gives from growing together with its neighbours.
	s.p.emit(" "+render(out)+" ", at, true)
}

// expander replaces macros in a list of tokens (the algorithm of D. Prosser that the C standard is written after).
type expander struct {
	p     *preprocessor
	src   *scanner // where tokens that follow the list come from; nil: nothing follows
	site  place    // the use in the source that is being expanded
	count int      // tokens so far
}

// list is a list of tokens that is consumed and added to at the front. The front is the end of the slice.
type list []tok

func (l *list) pop() tok {
	n := len(*l) - 1
	t := (*l)[n]
	*l = (*l)[:n]
	return t
}

func (l *list) push(toks []tok) {
	for i := len(toks) - 1; i >= 0; i-- {
		*l = append(*l, toks[i])
	}
}

func (e *expander) expand(in []tok) []tok {
	var work list
	work.push(in)
	var out []tok
	for len(work) > 0 && !e.p.stop {
		t := work.pop()
		m := e.p.macros[t.text]
		if !t.name || m == nil || t.hide.has(m) {
			out = append(out, t)
			continue
		}
		var body []tok
		switch {
		case m.special != nil:
			out = append(out, tok{text: m.special(e.p, e.site), space: t.space, at: t.at})
			continue
		case m.params == nil:
			body = e.substitute(m, nil, &hideSet{m, t.hide})
		default:
			args, hide, ok := e.arguments(m, &work)
			if !ok {
				out = append(out, t)
				continue
			}
			body = e.substitute(m, args, union(&hideSet{m, nil}, intersection(t.hide, hide)))
		}
		if e.count += len(body) + 1; e.count > MaxExpansion {
			e.p.errorAt(e.site, CodeTooLarge, "", "macro %s expands to more than %d tokens", m.name, MaxExpansion)
			e.p.stop = true
			return out
		}
		if len(body) > 0 {
			body[0].space = t.space
		}
		work.push(body)
	}
	return out
}

// arguments reads the parenthesised arguments of m from the list, and when that ends, from the source. ok is false, and
// nothing is read, if no parenthesis follows. hide is the hide set of the closing parenthesis.
func (e *expander) arguments(m *macro, work *list) (args [][]tok, hide *hideSet, ok bool) {
	if len(*work) > 0 {
		if (*work)[len(*work)-1].text != "(" {
			return nil, nil, false
		}
		work.pop()
	} else {
		if e.src == nil || !e.src.parenFollows(e.src.at) {
			return nil, nil, false
		}
		e.src.at = e.src.skipSpace(e.src.at) + 1
	}
	depth := 0
	var cur []tok
	for {
		var t tok
		switch {
		case len(*work) > 0:
			t = work.pop()
		case e.src != nil:
			var more bool
			if t, more = e.src.next(len(e.src.text), false); !more {
				e.p.errorAt(e.site, CodeMacro, "", "the arguments of macro %s have no closing parenthesis", m.name)
				return nil, nil, false
			}
		default:
			e.p.errorAt(e.site, CodeMacro, "", "the arguments of macro %s have no closing parenthesis", m.name)
			return nil, nil, false
		}
		switch {
		case t.text == "(":
			depth++
		case t.text == ")":
			if depth == 0 {
				args = append(args, cur)
				return e.fitArguments(m, args), t.hide, true
			}
			depth--
		case t.text == "," && depth == 0 && !(m.variadic && len(args) >= len(m.params)-1):
			args = append(args, cur)
			cur = nil
			continue
		}
		if e.count++; e.count > MaxExpansion {
			e.p.errorAt(e.site, CodeTooLarge, "", "macro %s expands to more than %d tokens", m.name, MaxExpansion)
			e.p.stop = true
			return nil, nil, false
		}
		cur = append(cur, t)
	}
}

// fitArguments reports a wrong number of arguments, and mends it.
func (e *expander) fitArguments(m *macro, args [][]tok) [][]tok {
	if len(m.params) == 0 && len(args) == 1 && len(args[0]) == 0 {
		return nil
	}
	if m.variadic && len(args) == len(m.params)-1 {
		args = append(args, nil)
	}
	if len(args) != len(m.params) {
		e.p.errorAt(e.site, CodeMacro, "", "macro %s takes %d arguments, but is given %d", m.name, len(m.params), len(args))
		for len(args) < len(m.params) {
			args = append(args, nil)
		}
		args = args[:len(m.params)]
	}
	return args
}

func (m *macro) param(name string) int {
	for i, p := range m.params {
		if p == name {
			return i
		}
	}
	return -1
}

// substitute returns the body of m with its parameters replaced, # and ## carried out, and the hide set added to its tokens.
func (e *expander) substitute(m *macro, args [][]tok, hide *hideSet) []tok {
	var out []tok
	expanded := make([][]tok, len(args))
	done := make([]bool, len(args))
	paste := false // the next token joins the last one of out
	add := func(toks []tok, space bool) {
		for i, t := range toks {
			if i == 0 {
				t.space = space
				if paste && len(out) > 0 {
					last := &out[len(out)-1]
					*last = e.paste(*last, t)
					continue
				}
			}
			out = append(out, t)
		}
		paste = false
	}
	for i := 0; i < len(m.body) && e.count+len(out) <= MaxExpansion; i++ {
		t := m.body[i]
		if t.text == "##" && i > 0 && i < len(m.body)-1 {
			paste = true
			continue
		}
		if t.text == "#" && m.params != nil && i+1 < len(m.body) {
			if k := m.param(m.body[i+1].text); k >= 0 {
				add([]tok{{text: quote(render(args[k])), at: e.site}}, t.space)
				i++
				continue
			}
		}
		k := -1
		if t.name && m.params != nil {
			k = m.param(t.text)
		}
		if k < 0 {
			add([]tok{t}, t.space)
			continue
		}
		beforePaste := i+1 < len(m.body) && m.body[i+1].text == "##"
		if paste || beforePaste {
			if len(args[k]) == 0 { // an empty operand of ## leaves the other one
				if beforePaste && !paste {
					i++
				}
				paste = false
				continue
			}
			add(args[k], t.space)
			continue
		}
		if !done[k] {
			inner := &expander{p: e.p, site: e.site, count: e.count}
			expanded[k] = inner.expand(args[k])
			e.count = inner.count
			done[k] = true
		}
		add(expanded[k], t.space)
	}
	for i := range out {
		out[i].hide = union(out[i].hide, hide)
	}
	return out
}

// paste joins two tokens to one.
func (e *expander) paste(a, b tok) tok {
	t := tok{text: a.text + b.text, space: a.space, at: a.at, hide: intersection(a.hide, b.hide)}
	switch {
	case word(t.text, 0) == len(t.text):
		t.name = identStart(t.text[0])
	case operatorLen(t.text) == len(t.text):
	default:
		e.p.errorAt(e.site, CodeMacro, "", "pasting %s and %s gives no token", a.text, b.text)
		t.text = a.text + " " + b.text
	}
	return t
}

// render writes tokens as text, with a space where there was one or where two tokens would grow together.
func render(toks []tok) string {
	var b strings.Builder
	for i, t := range toks {
		if i > 0 && (t.space || touch(toks[i-1].text, t.text)) {
			b.WriteByte(' ')
		}
		b.WriteString(t.text)
	}
	return b.String()
}

// touch tells whether two tokens written side by side might be read as other tokens. '>' and '>' may stand together.
func touch(a, b string) bool {
	if a == "" || b == "" {
		return false
	}
	x, y := a[len(a)-1], b[0]
	if identPart(x) && identPart(y) {
		return true
	}
	const ops = "+-*/%&|^=<>!.#:{}"
	if x == '>' && y == '>' {
		return false
	}
	return strings.IndexByte(ops, x) >= 0 && strings.IndexByte(ops, y) >= 0
}

// quote makes a string literal of text.
func quote(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}
