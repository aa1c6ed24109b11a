package preproc

import (
	"strconv"
	"strings"

	"khop/p4/diag"
)

// lineEnd returns the index of the end of the logical line at i: joined lines are one, and a comment may hold line ends.
func (s *scanner) lineEnd(i int) int {
	for i < len(s.text) && s.text[i] != '\n' {
		switch c := s.text[i]; {
		case splice(s.text, i) > 0:
			i += splice(s.text, i)
		case c == '/' && s.commentEnd(i) != i:
			i = s.commentEnd(i)
		case c == '"':
			i, _ = stringEnd(s.text, i, true)
		default:
			i++
		}
	}
	return i
}

// lineTokens reads the tokens up to end.
func lineTokens(s *scanner, end int) []tok {
	var out []tok
	for {
		t, ok := s.next(end, true)
		if !ok {
			return out
		}
		out = append(out, t)
	}
}

// directive carries out the directive at s.at, and leaves s.at at the end of its line.
func (s *scanner) directive() {
	hash := s.place(s.at)
	end := s.lineEnd(s.at)
	s.at++
	start := s.at
	name, ok := s.next(end, true)
	if !ok { // a lone # does nothing
		s.at = end
		return
	}
	switch name.text {
	case "if", "ifdef", "ifndef", "elif", "else", "endif":
		s.conditional(hash, name, lineTokens(s, end))
		s.at = end
		return
	}
	if s.skipping() {
		s.at = end
		return
	}
	switch name.text {
	case "define":
		s.p.directiveDefine(s, lineTokens(s, end))
	case "undef":
		s.directiveUndef(hash, lineTokens(s, end))
	case "include":
		s.directiveInclude(hash, end)
		return
	case "error":
		s.p.errorAt(hash, CodeUser, "", "%s", strings.TrimSpace(s.text[s.at:end]))
	case "warning":
		s.p.report(hash, diag.Warning, CodeUser, "", strings.TrimSpace(s.text[s.at:end]))
	case "pragma":
		if rest := lineTokens(s, end); len(rest) == 1 && rest[0].text == "once" {
			s.p.once[s.p.m.files[s.file].name] = true
		}
	case "line":
		s.directiveLine(hash, s.at, end)
	default:
		if digit(name.text[0]) { // # 12 "file", as a C preprocessor leaves it
			s.directiveLine(hash, start, end)
			break
		}
		s.p.errorAt(hash, CodeDirective, "one of define, undef, include, if, ifdef, ifndef, elif, else, endif, error, warning, line, pragma",
			"unknown directive #%s", name.text)
	}
	s.at = end
}

// directiveDefine carries out a #define with the given tokens.
func (p *preprocessor) directiveDefine(s *scanner, toks []tok) {
	if len(toks) == 0 || !toks[0].name {
		p.errorAt(s.place(min(s.at, len(s.text))), CodeMacro, "", "#define needs a name")
		return
	}
	m := &macro{at: toks[0].at}
	name, body := toks[0].text, toks[1:]
	if name == "defined" {
		p.errorAt(m.at, CodeMacro, "", "defined cannot be the name of a macro")
		return
	}
	if len(body) > 0 && body[0].text == "(" && !body[0].space {
		m.params = []string{}
		var ok bool
		if body, ok = p.parameters(m, body); !ok {
			return
		}
	}
	if n := len(body); n > 0 && (body[0].text == "##" || body[n-1].text == "##") {
		p.errorAt(m.at, CodeMacro, "", "## stands at an end of the body of macro %s", name)
		return
	}
	m.body = body
	if old := p.macros[name]; old != nil && (old.special != nil || !old.same(m)) {
		d := diag.Diagnostic{At: p.m.position(m.at), Severity: diag.Warning, Code: CodeRedefined, Message: "macro " + name + " is defined again in another way"}
		if old.special == nil {
			d.Notes = []diag.Note{{At: p.m.position(old.at), Message: "first definition"}}
		}
		p.diags = append(p.diags, d)
	}
	p.define(name, m)
}

// parameters reads the parameter list of a definition, and returns the body behind it.
func (p *preprocessor) parameters(m *macro, toks []tok) (body []tok, ok bool) {
	bad := func(at place) ([]tok, bool) {
		p.errorAt(at, CodeMacro, "write NAME(a, b) body", "malformed parameter list")
		return nil, false
	}
	i := 1
	if i < len(toks) && toks[i].text == ")" {
		return toks[i+1:], true
	}
	for {
		if i >= len(toks) {
			return bad(toks[0].at)
		}
		switch t := toks[i]; {
		case t.text == "...":
			m.params = append(m.params, "__VA_ARGS__")
			m.variadic = true
		case t.name:
			if m.param(t.text) >= 0 {
				p.errorAt(t.at, CodeMacro, "", "parameter %s stands twice in the list", t.text)
				return nil, false
			}
			m.params = append(m.params, t.text)
			if i+1 < len(toks) && toks[i+1].text == "..." { // a name of its own for the rest
				m.variadic = true
				i++
			}
		default:
			return bad(t.at)
		}
		i++
		if i < len(toks) && toks[i].text == ")" {
			return toks[i+1:], true
		}
		if i >= len(toks) || toks[i].text != "," || m.variadic {
			return bad(toks[0].at)
		}
		i++
	}
}

func (s *scanner) directiveUndef(hash place, toks []tok) {
	if len(toks) != 1 || !toks[0].name {
		s.p.errorAt(hash, CodeDirective, "", "#undef needs one name")
		return
	}
	delete(s.p.macros, toks[0].text)
}

// directiveInclude carries out an #include; it leaves s.at at the end of the line.
func (s *scanner) directiveInclude(hash place, end int) {
	rest := strings.TrimSpace(s.text[s.at:end])
	name, system, ok := includeName(rest)
	if !ok { // the name may come out of a macro
		e := &expander{p: s.p, site: hash}
		name, system, ok = includeName(render(e.expand(lineTokens(s, end))))
	}
	s.at = end
	if !ok || name == "" {
		s.p.errorAt(hash, CodeDirective, "", `#include needs "file" or <file>`)
		return
	}
	s.p.emit("\n", hash, true)
	s.p.include(hash, name, system)
}

// includeName reads "name" or <name>; what follows, such as a comment, is not looked at.
func includeName(s string) (name string, system, ok bool) {
	if s == "" {
		return "", false, false
	}
	closing := byte('"')
	switch s[0] {
	case '"':
	case '<':
		closing, system = '>', true
	default:
		return "", false, false
	}
	k := strings.IndexByte(s[1:], closing)
	if k < 0 {
		return "", false, false
	}
	name = s[1 : 1+k]
	if system {
		name = strings.TrimSpace(name)
	}
	return name, system, true
}

// directiveLine carries out a #line N "file": the next line is line N of that file.
func (s *scanner) directiveLine(hash place, from, end int) {
	s.at = from
	e := &expander{p: s.p, site: hash}
	toks := e.expand(lineTokens(s, end))
	var n int
	err := strconv.ErrSyntax
	if len(toks) > 0 {
		n, err = strconv.Atoi(toks[0].text)
	}
	if err != nil || n < 0 || n > 1<<30 {
		s.p.errorAt(hash, CodeDirective, `write #line 12 "file.p4"`, "#line needs a line number")
		return
	}
	f := s.p.m.files[s.file]
	r := renaming{off: end + 1, line: max(n, 1), name: s.p.m.position(hash).File}
	if len(toks) > 1 && strings.HasPrefix(toks[1].text, `"`) {
		if name, err := strconv.Unquote(toks[1].text); err == nil {
			r.name = name
		}
	}
	f.renamed = append(f.renamed, r)
}

// conditional carries out the directives of #if.
func (s *scanner) conditional(hash place, name tok, toks []tok) {
	n := len(s.cond)
	switch name.text {
	case "if", "ifdef", "ifndef":
		c := condition{at: hash}
		if s.skipping() {
			c.done = true
			s.cond = append(s.cond, c)
			return
		}
		if name.text == "if" {
			c.active = s.p.evaluate(hash, toks)
		} else if len(toks) == 0 || !toks[0].name {
			s.p.errorAt(hash, CodeDirective, "", "#%s needs a name", name.text)
		} else {
			c.active = (s.p.macros[toks[0].text] != nil) == (name.text == "ifdef")
		}
		c.done = c.active
		s.cond = append(s.cond, c)
		return
	}
	if n == 0 {
		s.p.errorAt(hash, CodeDirective, "", "#%s without #if", name.text)
		return
	}
	c := &s.cond[n-1]
	switch name.text {
	case "endif":
		s.cond = s.cond[:n-1]
	case "else":
		if c.hadEls {
			s.p.errorAt(hash, CodeDirective, "", "second #else")
		}
		c.hadEls = true
		c.active = !c.done
		c.done = true
	case "elif":
		if c.hadEls {
			s.p.errorAt(hash, CodeDirective, "", "#elif behind #else")
		}
		if c.done {
			c.active = false
			return
		}
		c.active = s.p.evaluate(hash, toks)
		c.done = c.active
	}
}
