package preproc

import "strings"

// scanner walks over the text of one file.
type scanner struct {
	p    *preprocessor
	file int
	text string
	at   int
	cond []condition
}

// condition is an #if that is open.
type condition struct {
	at     place
	active bool // its text is taken
	done   bool // one of its branches was taken, or the whole stands in text that is skipped
	hadEls bool
}

func (s *scanner) place(off int) place { return place{s.file, off} }

func (s *scanner) skipping() bool { return len(s.cond) > 0 && !s.cond[len(s.cond)-1].active }

// splice returns the length of a backslash and line end at i, or 0.
func splice(text string, i int) int {
	if text[i] != '\\' {
		return 0
	}
	switch {
	case i+1 < len(text) && text[i+1] == '\n':
		return 2
	case i+2 < len(text) && text[i+1] == '\r' && text[i+2] == '\n':
		return 3
	}
	return 0
}

func identStart(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

func identPart(c byte) bool { return identStart(c) || digit(c) }

// word returns the end of the name or number that starts at i.
func word(text string, i int) int {
	for i < len(text) && identPart(text[i]) {
		i++
	}
	return i
}

// stringEnd returns the index behind the string literal that starts at i; ok is false if it does not end. In a directive it
// ends at the end of the line at the latest.
func stringEnd(text string, i int, oneLine bool) (end int, ok bool) {
	for i++; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1, true
		case '\n':
			if oneLine {
				return i, false
			}
		}
	}
	return len(text), false
}

// commentEnd returns the index behind the comment that starts at i, or i if none does. A line comment ends in front of its
// line's end; one that a backslash continues goes on.
func (s *scanner) commentEnd(i int) int {
	switch {
	case strings.HasPrefix(s.text[i:], "//"):
		for i < len(s.text) && s.text[i] != '\n' {
			if n := splice(s.text, i); n > 0 {
				i += n
				continue
			}
			i++
		}
	case strings.HasPrefix(s.text[i:], "/*"):
		if k := strings.Index(s.text[i+2:], "*/"); k >= 0 {
			return i + 2 + k + 2
		}
		s.p.errorAt(s.place(i), CodeUnterminated, "end it with */", "comment is not terminated")
		return len(s.text)
	}
	return i
}

// run processes the file.
func (s *scanner) run() {
	from := 0 // start of the text not yet emitted
	flush := func() {
		if from < s.at && !s.skipping() {
			s.p.emit(s.text[from:s.at], s.place(from), false)
		}
	}
	lineStart := true
	for s.at < len(s.text) && !s.p.stop {
		switch c := s.text[s.at]; {
		case c == '\n':
			s.at++
			if s.skipping() {
				from = s.at
			}
			lineStart = true
		case c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v':
			s.at++
		case c == '\\' && splice(s.text, s.at) > 0:
			flush()
			s.at += splice(s.text, s.at)
			from = s.at
		case c == '/' && s.commentEnd(s.at) != s.at:
			flush()
			if !s.skipping() {
				s.p.emit(" ", s.place(s.at), true)
			}
			s.at = s.commentEnd(s.at)
			from = s.at
		case c == '#' && lineStart:
			flush()
			s.directive()
			from = s.at
		case c == '"':
			lineStart = false
			end, ok := stringEnd(s.text, s.at, s.skipping())
			if !ok && !s.skipping() {
				s.at++ // the lexer says what is wrong
				continue
			}
			s.at = end
		case identStart(c):
			lineStart = false
			end := word(s.text, s.at)
			m := s.p.macros[s.text[s.at:end]]
			if m == nil || s.skipping() || m.params != nil && !s.parenFollows(end) {
				s.at = end
				continue
			}
			flush()
			s.use(m, end)
			from = s.at
		case digit(c):
			lineStart = false
			s.at = word(s.text, s.at)
		default:
			lineStart = false
			s.at++
		}
	}
	if s.p.stop {
		return
	}
	flush()
	if n := len(s.cond); n > 0 {
		s.p.errorAt(s.cond[n-1].at, CodeUnterminated, "end it with #endif", "#if is not terminated")
	}
	if n := len(s.text); n > 0 && s.text[n-1] != '\n' {
		s.p.emit("\n", s.place(n), true) // two files do not run into one line
	}
}

// skipSpace returns the index of the next character that is neither space nor part of a comment. It stops at a directive.
func (s *scanner) skipSpace(i int) int {
	for i < len(s.text) {
		switch c := s.text[i]; {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v':
			i++
		case splice(s.text, i) > 0:
			i += splice(s.text, i)
		case c == '/' && (strings.HasPrefix(s.text[i:], "//") || strings.HasPrefix(s.text[i:], "/*") && strings.Contains(s.text[i+2:], "*/")):
			i = s.commentEnd(i)
		default:
			return i
		}
	}
	return i
}

// parenFollows tells whether the next token at i or behind it is a parenthesis.
func (s *scanner) parenFollows(i int) bool {
	i = s.skipSpace(i)
	return i < len(s.text) && s.text[i] == '('
}

// next reads one token of the file's text, and stops at its end or at limit. The second result is false at the end.
func (s *scanner) next(limit int, oneLine bool) (tok, bool) {
	t := tok{at: s.place(s.at)}
	for s.at < limit {
		c := s.text[s.at]
		switch {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v':
			s.at++
			t.space = true
			continue
		case splice(s.text, s.at) > 0:
			s.at += splice(s.text, s.at)
			continue
		case c == '/' && s.commentEnd(s.at) != s.at:
			s.at = s.commentEnd(s.at)
			t.space = true
			continue
		}
		t.at = s.place(s.at)
		end := s.at + 1
		switch {
		case identStart(c):
			t.name = true
			end = word(s.text, s.at)
		case digit(c):
			end = word(s.text, s.at)
		case c == '"':
			if e, ok := stringEnd(s.text, s.at, oneLine); ok {
				end = e
			}
		case c == '#' && strings.HasPrefix(s.text[s.at:], "##"):
			end++
		default:
			end = s.at + operatorLen(s.text[s.at:])
		}
		t.text = s.text[s.at:end]
		s.at = end
		return t, true
	}
	return t, false
}

// operators of more than one character that must not be taken apart, the longer ones first.
var operators = []string{"|+|=", "|-|=", "&&&", "...", "<<=", ">>=", "|+|", "|-|", "{#}", "..", "<<", "&&", "||", "==", "!=", ">=", "<=", "++",
	"+=", "-=", "*=", "/=", "%=", "&=", "|=", "^="}

func operatorLen(s string) int {
	for _, op := range operators {
		if strings.HasPrefix(s, op) {
			return len(op)
		}
	}
	return 1
}
