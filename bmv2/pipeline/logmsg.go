package pipeline

import (
	"fmt"
	"math/big"
	"strings"
)

// parseFormat splits the format of log_msg at its {} and checks their number. \{ and \} stand for braces.
func parseFormat(format string, values int) (func(*State, []*num) string, error) {
	var parts []string
	var cur strings.Builder
	for i := 0; i < len(format); i++ {
		switch c := format[i]; {
		case c == '\\' && i+1 < len(format) && (format[i+1] == '{' || format[i+1] == '}'):
			i++
			cur.WriteByte(format[i])
		case c == '{':
			j := strings.IndexByte(format[i:], '}')
			if j < 0 {
				return nil, fmt.Errorf("log_msg: %q has a { without }", format)
			}
			i += j
			parts = append(parts, cur.String())
			cur.Reset()
		default:
			cur.WriteByte(c)
		}
	}
	parts = append(parts, cur.String())
	if len(parts)-1 != values {
		return nil, fmt.Errorf("log_msg: %q has %d {}, but there are %d values", format, len(parts)-1, values)
	}
	return func(s *State, vals []*num) string {
		var b strings.Builder
		for i, n := range vals {
			b.WriteString(parts[i])
			b.WriteString(n.text(s))
		}
		b.WriteString(parts[len(parts)-1])
		return b.String()
	}, nil
}

// text is the exact value in decimal.
func (n *num) text(s *State) string {
	return n.value(s).String()
}

func (n *num) value(s *State) *big.Int {
	limbs := n.limbs()
	top := s.top
	t := s.alloc(limbs)
	n.into()(s, t)
	v := wordsToBig(t)
	s.top = top
	return v
}
