package fabric

import (
	"fmt"
	"net/netip"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// maxSpec bounds the size of a spec, and with it the depth that the YAML parser recurses to.
const maxSpec = 256 << 10

// position is a place in the file, from 1.
type position struct{ line, column int }

// reader walks the YAML tree, collects errors and remembers where each key stood, for checks that come later.
type reader struct {
	file string
	errs Errors
	at   map[string]position // place of a key's value by path
}

// parse returns the root node, or nil after an error.
func (r *reader) parse(data []byte) (root ast.Node) {
	if len(data) > maxSpec {
		r.fail("", "the spec has %d bytes; the limit is %d", len(data), maxSpec)
		return nil
	}
	if depth(data) > 64 {
		r.fail("", "the spec is nested more than 64 levels deep")
		return nil
	}
	defer func() {
		// The YAML library is not ours: a panic in it is an error of the input, never a crash of the program.
		if p := recover(); p != nil {
			r.fail("", "not YAML: %v", p)
			root = nil
		}
	}()
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		var place position
		message := err.Error()
		if s, ok := err.(interface {
			GetMessage() string
			GetToken() *token.Token
		}); ok {
			message = s.GetMessage()
			if t := s.GetToken(); t != nil && t.Position != nil {
				place = position{t.Position.Line, t.Position.Column}
			}
		}
		r.errs = append(r.errs, &Error{File: r.file, Line: place.line, Column: place.column, Message: "not YAML: " + firstLine(message)})
		return nil
	}
	if len(file.Docs) != 1 || file.Docs[0].Body == nil {
		r.fail("", "a spec is exactly one YAML document, this file has %d", len(file.Docs))
		return nil
	}
	return file.Docs[0].Body
}

// depth bounds from above how deeply a YAML text nests: brackets that are open, and sequence or mapping levels of one line.
func depth(data []byte) int {
	deepest, open := 0, 0
	for _, line := range strings.Split(string(data), "\n") {
		level := 0
		for i := 0; i < len(line); i++ {
			switch line[i] {
			case '[', '{':
				open++
			case ']', '}':
				open = max(0, open-1)
			case '-', '?', ':':
				if i+1 < len(line) && line[i+1] == ' ' {
					level++
				}
			}
			deepest = max(deepest, open+level)
		}
	}
	return deepest
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}

// fail records an error at the place of a path (or of the nearest enclosing one that the file has).
func (r *reader) fail(path, format string, args ...any) {
	place := r.place(path)
	r.errs = append(r.errs, &Error{File: r.file, Line: place.line, Column: place.column, Path: path, Message: fmt.Sprintf(format, args...)})
}

func (r *reader) place(path string) position {
	for p := path; ; {
		if place, ok := r.at[p]; ok {
			return place
		}
		cut := strings.LastIndexAny(p, ".[")
		if cut < 0 {
			return r.at[""]
		}
		p = p[:cut]
	}
}

// sorted returns the errors in the order of the file, or nil if there are none.
func (r *reader) sorted() error {
	if len(r.errs) == 0 {
		return nil
	}
	sort.SliceStable(r.errs, func(i, j int) bool {
		a, b := r.errs[i], r.errs[j]
		if a.Line != b.Line {
			return a.Line < b.Line
		}
		return a.Column < b.Column
	})
	return slices.CompactFunc(r.errs, func(a, b *Error) bool { return *a == *b })
}

// field is a key of a mapping and what reads its value.
type field struct {
	key      string
	required bool
	read     func(n ast.Node, path string)
}

// note remembers where a node stands.
func (r *reader) note(n ast.Node, path string) {
	if t := n.GetToken(); t != nil && t.Position != nil {
		r.at[path] = position{t.Position.Line, t.Position.Column}
	}
}

// pairs returns the key-value nodes of a mapping.
func (r *reader) pairs(n ast.Node, path string) ([]*ast.MappingValueNode, bool) {
	switch m := n.(type) {
	case *ast.MappingNode:
		return m.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{m}, true
	}
	r.note(n, path)
	r.fail(path, "must be a mapping of keys to values, not %s", kindName(n))
	return nil, false
}

// kindName names a node's kind for a message.
func kindName(n ast.Node) string {
	switch n.(type) {
	case *ast.NullNode:
		return "empty"
	case *ast.SequenceNode:
		return "a list"
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a mapping"
	case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode:
		return "an anchor or alias (specs do without)"
	case *ast.TagNode:
		return "a tagged value (specs do without)"
	}
	return fmt.Sprintf("%q", scalarText(n))
}

func scalarText(n ast.Node) string {
	if t := n.GetToken(); t != nil {
		return t.Value
	}
	return ""
}

// mapping reads a mapping with a fixed set of keys.
func (r *reader) mapping(n ast.Node, path string, fields []field) {
	pairs, ok := r.pairs(n, path)
	if !ok {
		return
	}
	keys := make([]string, len(fields))
	for i, f := range fields {
		keys[i] = f.key
	}
	seen := make([]bool, len(fields))
	for _, pair := range pairs {
		key := scalarText(pair.Key)
		sub := join(path, key)
		i := slices.Index(keys, key)
		if i < 0 {
			r.note(pair.Key, sub)
			hint := ""
			if near := nearest(key, keys); near != "" {
				hint = fmt.Sprintf("did you mean %q? ", near)
			}
			r.fail(sub, "unknown key; %sthe keys here are %s", hint, strings.Join(keys, ", "))
			continue
		}
		if seen[i] {
			r.note(pair.Key, sub)
			r.fail(sub, "the key is given twice")
			continue
		}
		seen[i] = true
		r.note(pair.Value, sub)
		if _, null := pair.Value.(*ast.NullNode); null {
			r.note(pair.Key, sub)
			r.fail(sub, "has no value")
			continue
		}
		fields[i].read(pair.Value, sub)
	}
	for i, f := range fields {
		if f.required && !seen[i] {
			r.fail(path, "lacks the key %q", f.key)
		}
	}
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// list reads a sequence.
func (r *reader) list(n ast.Node, path string, read func(n ast.Node, path string)) {
	s, ok := n.(*ast.SequenceNode)
	if !ok {
		r.fail(path, "must be a list, not %s", kindName(n))
		return
	}
	for i, v := range s.Values {
		sub := fmt.Sprintf("%s[%d]", path, i)
		r.note(v, sub)
		read(v, sub)
	}
}

// scalar returns the text of a scalar.
func (r *reader) scalar(n ast.Node, path, what string) (string, bool) {
	switch n.(type) {
	case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return scalarText(n), true
	}
	r.fail(path, "must be %s, not %s", what, kindName(n))
	return "", false
}

// integer reads a decimal or 0x number in a range.
func (r *reader) integer(dst *int, low, high int) func(ast.Node, string) {
	return func(n ast.Node, path string) {
		text, ok := r.scalar(n, path, "a number")
		if !ok {
			return
		}
		v, err := strconv.ParseInt(text, 0, 64)
		if err != nil {
			r.fail(path, "%q is no whole number", text)
			return
		}
		if v < int64(low) || v > int64(high) {
			r.fail(path, "%d is out of range: %d to %d", v, low, high)
			return
		}
		*dst = int(v)
	}
}

// fraction reads a number in [0, 1].
func (r *reader) fraction(dst *float64) func(ast.Node, string) {
	return func(n ast.Node, path string) {
		text, ok := r.scalar(n, path, "a number from 0 to 1")
		if !ok {
			return
		}
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || !(v >= 0 && v <= 1) {
			r.fail(path, "%q is no number from 0 to 1", text)
			return
		}
		*dst = v
	}
}

// word reads one of a set of words.
func (r *reader) word(dst *string, options ...string) func(ast.Node, string) {
	return func(n ast.Node, path string) {
		text, ok := r.scalar(n, path, "one of "+strings.Join(options, ", "))
		if !ok {
			return
		}
		if !slices.Contains(options, text) {
			r.fail(path, "%q is none of %s", text, strings.Join(options, ", "))
			return
		}
		*dst = text
	}
}

// name reads a name: a letter, then letters, digits, '_' and '-'.
func (r *reader) name(dst *string) func(ast.Node, string) {
	return func(n ast.Node, path string) {
		text, ok := r.scalar(n, path, "a name")
		if !ok {
			return
		}
		if !validName(text) {
			r.fail(path, "%q is no name: a letter, then letters, digits, '.', '_' and '-', at most 63", text)
			return
		}
		*dst = text
	}
}

func validName(s string) bool {
	if s == "" || len(s) > 63 {
		return false
	}
	for i, c := range []byte(s) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || !(c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-')) {
			return false
		}
	}
	return true
}

// text reads any scalar through a parse function.
func text[T any](r *reader, dst *T, what string, parse func(string) (T, error)) func(ast.Node, string) {
	return func(n ast.Node, path string) {
		s, ok := r.scalar(n, path, what)
		if !ok {
			return
		}
		v, err := parse(s)
		if err != nil {
			r.fail(path, "%v", err)
			return
		}
		*dst = v
	}
}

func (r *reader) duration(dst *time.Duration) func(ast.Node, string) {
	return text(r, dst, "a time with a unit, such as 500us", ParseDuration)
}

func (r *reader) rate(dst *BitRate) func(ast.Node, string) {
	return text(r, dst, "a rate with a unit, such as 10Gbps", ParseRate)
}

func (r *reader) size(dst *Size) func(ast.Node, string) {
	return text(r, dst, "a size with a unit, such as 6KB", ParseSize)
}

func (r *reader) prefix(dst *netip.Prefix) func(ast.Node, string) {
	return text(r, dst, "an IP prefix", func(s string) (netip.Prefix, error) {
		p, err := netip.ParsePrefix(s)
		if err != nil {
			return p, fmt.Errorf("%q is no IP prefix, such as 10.0.0.0/8 or fd00::/16", s)
		}
		if p != p.Masked() {
			return p, fmt.Errorf("%q has host bits set; the prefix is %v", s, p.Masked())
		}
		return p, nil
	})
}

func (r *reader) address(dst *netip.Addr) func(ast.Node, string) {
	return text(r, dst, "an IP address", func(s string) (netip.Addr, error) {
		a, err := netip.ParseAddr(s)
		if err != nil || a.Zone() != "" {
			return a, fmt.Errorf("%q is no IP address", s)
		}
		return a.Unmap(), nil
	})
}
