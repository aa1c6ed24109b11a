package types

import (
	"strings"

	"khop/p4/ast"
	"khop/p4/diag"
)

// Code is the stable code of a diagnostic.
type Code = diag.Code

func (c *checker) warnAt(from, to diag.Pos, code Code, format string, args ...any) *report {
	return c.report(diag.Warning, from, to, code, format, args...)
}

func posLen(s string) diag.Pos { return diag.Pos(len(s)) }

func quote(name string) string { return "'" + name + "'" }

// kindOf names the kind of an object.
func kindOf(o Object) string {
	switch o := o.(type) {
	case *Const:
		return "constant"
	case *Var:
		return "variable"
	case *Param:
		if o.Ctor {
			return "constructor parameter"
		}
		return "parameter"
	case *Instance:
		return "instance"
	case *Action:
		return "action"
	case *Func:
		if o.Recv != nil {
			return "method"
		}
		return "function"
	case *State:
		return "state"
	case *ValueSet:
		return "value set"
	case *EnumMember:
		return "enum member"
	case *ErrorMember:
		return "error"
	case *MatchKindMember:
		return "match kind"
	case *Field:
		return "field"
	case *Table:
		return "table"
	case *TypeName:
		switch t := o.typ.(type) {
		case *Block:
			if t.IsType {
				return t.Kind.String() + " type"
			}
			return t.Kind.String()
		case *Extern:
			return "extern"
		case *Package:
			return "package"
		}
		return "type"
	}
	return "object"
}

// describe names an object with its kind.
func describe(o Object) string { return kindOf(o) + " " + quote(o.Name()) }

// nearest finds the name with the smallest edit distance; on equal distance the one offered first.
type nearest struct {
	want string
	dist int
	best string
}

func newNearest(want string) *nearest {
	// A short name allows one edit, a longer one a third of its length.
	return &nearest{want: want, dist: max(1, len(want)/3) + 1}
}

func (n *nearest) offer(name string) {
	if name == n.want || len(name) == 0 || len(n.want) == 0 {
		return
	}
	if strings.EqualFold(name, n.want) {
		if n.dist > 0 {
			n.dist, n.best = 0, name
		}
		return
	}
	if d := editDistance(n.want, name, n.dist); d < n.dist {
		n.dist, n.best = d, name
	}
}

// editDistance returns the number of insertions, deletions, replacements and swaps of neighbours that turn a into b, or limit
// if there are at least as many.
func editDistance(a, b string, limit int) int {
	if d := len(a) - len(b); d >= limit || -d >= limit {
		return limit
	}
	prev2 := make([]int, len(b)+1)
	prev := make([]int, len(b)+1)
	cur := make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], prev2[j-2]+1)
			}
		}
		prev2, prev, cur = prev, cur, prev2
	}
	return min(prev[len(b)], limit)
}

// hintNear adds "did you mean" when there is a near name.
func (r *report) hintNear(best string) *report {
	if best != "" {
		r.hint("did you mean %s?", quote(best))
	}
	return r
}

// AnnoString returns the string in the body of an annotation such as @name("a" ++ "b"); ok is false when the body is none.
func AnnoString(a *ast.Annotation) (s string, ok bool) {
	for i, t := range a.Tokens {
		if i%2 == 1 {
			if t.Text != "++" {
				return "", false
			}
			continue
		}
		lit, isString := unquote(t.Text)
		if !isString {
			return "", false
		}
		s += lit
	}
	return s, len(a.Tokens)%2 == 1
}

// unquote returns the value of a string literal (specification section 6.4.3.3: the escapes are \", \\ and \n).
func unquote(lit string) (string, bool) {
	if len(lit) < 2 || lit[0] != '"' || lit[len(lit)-1] != '"' {
		return "", false
	}
	var b strings.Builder
	in := lit[1 : len(lit)-1]
	for i := 0; i < len(in); i++ {
		if in[i] != '\\' || i+1 == len(in) {
			b.WriteByte(in[i])
			continue
		}
		i++
		if in[i] == 'n' {
			b.WriteByte('\n')
		} else {
			b.WriteByte(in[i])
		}
	}
	return b.String(), true
}

func annoString(a *ast.Annotation) string {
	s, _ := AnnoString(a)
	return s
}

// article puts "a" or "an" before a word.
func article(word string) string {
	if strings.ContainsRune("aeiou", rune(word[0])) {
		return "an " + word
	}
	return "a " + word
}

// joinNames joins names for a message: 'a', 'b' and 'c'.
func joinNames(names []string, last string) string {
	var b strings.Builder
	for i, n := range names {
		switch {
		case i == 0:
		case i == len(names)-1:
			b.WriteString(" " + last + " ")
		default:
			b.WriteString(", ")
		}
		b.WriteString(quote(n))
	}
	return b.String()
}
