package config

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// The files are megabytes of small objects whose members are each read once, by name. encoding/json would make a map of
// interfaces for each; this reader keeps members in slices and strings as parts of the input.

type jsonKind uint8

const (
	jsonNull jsonKind = iota
	jsonBool
	jsonNumber
	jsonString
	jsonArray
	jsonObject
)

var jsonNames = [...]string{"null", "a boolean", "a number", "a string", "an array", "an object"}

type jsonValue struct {
	kind    jsonKind
	truth   bool
	text    string // of a string, or the digits of a number
	items   []jsonValue
	members []jsonMember
}

type jsonMember struct {
	key string
	val jsonValue
}

// maxNesting bounds the recursion of the reader.
const maxNesting = 10000

type jsonReader struct {
	s     string
	at    int
	depth int
}

// readJSON reads one document (RFC 8259).
func readJSON(data []byte) (v jsonValue, err error) {
	r := &jsonReader{s: string(data)}
	if v, err = r.value(); err != nil {
		return v, err
	}
	if r.space(); r.at < len(r.s) {
		return v, r.fail("more data after the end of the document")
	}
	return v, nil
}

func (r *jsonReader) fail(format string, args ...any) error {
	line := 1 + strings.Count(r.s[:min(r.at, len(r.s))], "\n")
	return fmt.Errorf("bmv2 JSON: line %d: %s", line, fmt.Sprintf(format, args...))
}

func (r *jsonReader) space() {
	for r.at < len(r.s) {
		switch r.s[r.at] {
		case ' ', '\n', '\t', '\r':
			r.at++
		default:
			return
		}
	}
}

// peek returns the next character that is not space, 0 at the end.
func (r *jsonReader) peek() byte {
	if r.space(); r.at < len(r.s) {
		return r.s[r.at]
	}
	return 0
}

func (r *jsonReader) unexpected(want string) error {
	if r.at >= len(r.s) {
		return r.fail("unexpected end, want %s", want)
	}
	c, _ := utf8.DecodeRuneInString(r.s[r.at:])
	return r.fail("unexpected %q, want %s", c, want)
}

func (r *jsonReader) value() (v jsonValue, err error) {
	switch c := r.peek(); {
	case c == '{' || c == '[':
		if r.depth++; r.depth > maxNesting {
			return v, r.fail("nested more than %d deep", maxNesting)
		}
		r.at++
		if c == '{' {
			v.kind = jsonObject
			v.members, err = r.object()
		} else {
			v.kind = jsonArray
			v.items, err = r.array()
		}
		r.depth--
		return v, err
	case c == '"':
		v.kind = jsonString
		v.text, err = r.str()
		return v, err
	case c == '-' || c >= '0' && c <= '9':
		v.kind = jsonNumber
		v.text, err = r.number()
		return v, err
	}
	for _, w := range []struct {
		word string
		v    jsonValue
	}{{"true", jsonValue{kind: jsonBool, truth: true}}, {"false", jsonValue{kind: jsonBool}}, {"null", jsonValue{}}} {
		if strings.HasPrefix(r.s[r.at:], w.word) {
			r.at += len(w.word)
			return w.v, nil
		}
	}
	return v, r.unexpected("a value")
}

func (r *jsonReader) array() (out []jsonValue, err error) {
	if r.peek() == ']' {
		r.at++
		return nil, nil
	}
	for {
		v, err := r.value()
		if err != nil {
			return nil, err
		}
		out = append(out, v)
		switch r.peek() {
		case ',':
			r.at++
		case ']':
			r.at++
			return out, nil
		default:
			return nil, r.unexpected("',' or ']'")
		}
	}
}

func (r *jsonReader) object() (out []jsonMember, err error) {
	if r.peek() == '}' {
		r.at++
		return nil, nil
	}
	for {
		if r.peek() != '"' {
			return nil, r.unexpected("a name in quotes")
		}
		var m jsonMember
		if m.key, err = r.str(); err != nil {
			return nil, err
		}
		if r.peek() != ':' {
			return nil, r.unexpected("':'")
		}
		r.at++
		if m.val, err = r.value(); err != nil {
			return nil, err
		}
		out = append(out, m)
		switch r.peek() {
		case ',':
			r.at++
		case '}':
			r.at++
			return out, nil
		default:
			return nil, r.unexpected("',' or '}'")
		}
	}
}

func (r *jsonReader) number() (string, error) {
	start := r.at
	digits := func() bool {
		from := r.at
		for r.at < len(r.s) && r.s[r.at] >= '0' && r.s[r.at] <= '9' {
			r.at++
		}
		return r.at > from
	}
	is := func(set string) bool {
		if r.at < len(r.s) && strings.IndexByte(set, r.s[r.at]) >= 0 {
			r.at++
			return true
		}
		return false
	}
	is("-")
	if !is("0") && !digits() {
		return "", r.unexpected("a digit")
	}
	if is(".") && !digits() {
		return "", r.unexpected("a digit")
	}
	if is("eE") {
		is("+-")
		if !digits() {
			return "", r.unexpected("a digit")
		}
	}
	return r.s[start:r.at], nil
}

// str reads a string from its opening quote on.
func (r *jsonReader) str() (string, error) {
	r.at++
	start := r.at
	for r.at < len(r.s) {
		switch c := r.s[r.at]; {
		case c == '"':
			r.at++
			return r.s[start : r.at-1], nil
		case c == '\\':
			return r.escaped(start)
		case c < ' ':
			return "", r.fail("control character %#x in a string", c)
		}
		r.at++
	}
	return "", r.fail("a string does not end")
}

// escaped goes on with a string that has escapes.
func (r *jsonReader) escaped(start int) (string, error) {
	out := []byte(r.s[start:r.at])
	for r.at < len(r.s) {
		c := r.s[r.at]
		r.at++
		switch {
		case c == '"':
			return string(out), nil
		case c < ' ':
			return "", r.fail("control character %#x in a string", c)
		case c != '\\':
			out = append(out, c)
			continue
		}
		if r.at >= len(r.s) {
			break
		}
		e := r.s[r.at]
		r.at++
		if i := strings.IndexByte(`"\/bfnrt`, e); i >= 0 {
			out = append(out, "\"\\/\b\f\n\r\t"[i])
			continue
		}
		if e != 'u' {
			return "", r.fail("unknown escape \\%c", e)
		}
		c1, ok := r.hex4()
		if !ok {
			return "", r.fail(`\u needs four hexadecimal digits`)
		}
		if utf16.IsSurrogate(c1) {
			c2 := rune(-1)
			if back := r.at; strings.HasPrefix(r.s[r.at:], `\u`) {
				r.at += 2
				if c2, ok = r.hex4(); !ok || utf16.DecodeRune(c1, c2) == utf8.RuneError {
					c2, r.at = -1, back
				}
			}
			c1 = utf16.DecodeRune(c1, c2) // the replacement character unless a pair
		}
		out = utf8.AppendRune(out, c1)
	}
	return "", r.fail("a string does not end")
}

func (r *jsonReader) hex4() (rune, bool) {
	if r.at+4 > len(r.s) {
		return 0, false
	}
	v, err := strconv.ParseUint(r.s[r.at:r.at+4], 16, 16)
	if err != nil {
		return 0, false
	}
	r.at += 4
	return rune(v), true
}
