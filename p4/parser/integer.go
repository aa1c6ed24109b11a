package parser

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/antlr4-go/antlr/v4"

	"khop/p4/ast"
)

// MaxWidth is the largest width that a literal may give, in bits.
const MaxWidth = 1 << 20

// integer builds an integer literal: an optional width with w (bit) or s (int), an optional base, and digits that may hold
// underscores (specification section 6.4.3.2).
func (b *builder) integer(t antlr.Token) *ast.IntLit {
	text := t.GetText()
	lit := &ast.IntLit{Span: tokSpan(t), Text: text, Value: new(big.Int)}
	digits := text
	if i := strings.IndexAny(text, "ws"); i > 0 {
		lit.Signed = text[i] == 's'
		w, err := strconv.Atoi(text[:i])
		if err != nil || w > MaxWidth {
			b.errorf(lit.Span, CodeBadNumber, "", "width %s of the literal is larger than %d", text[:i], MaxWidth)
			w = 1
		}
		if w == 0 {
			b.errorf(lit.Span, CodeBadNumber, "", "the literal has width 0")
			w = 1
		}
		lit.Width = w
		digits = text[i+1:]
	}
	base, name := 10, "decimal"
	if len(digits) > 1 && digits[0] == '0' {
		switch digits[1] {
		case 'x', 'X':
			base, name = 16, "hexadecimal"
		case 'o', 'O':
			base, name = 8, "octal"
		case 'b', 'B':
			base, name = 2, "binary"
		case 'd', 'D':
		default:
			digits = "00" + digits // no base prefix: cut off nothing but what was added
		}
		digits = digits[2:]
	}
	digits = strings.ReplaceAll(digits, "_", "")
	if len(digits) > MaxWidth {
		b.errorf(lit.Span, CodeBadNumber, "", "the literal has more than %d digits", MaxWidth)
		return lit
	}
	if _, ok := lit.Value.SetString(digits, base); !ok {
		b.errorf(lit.Span, CodeBadNumber, "", "%s is no %s number", text, name)
		lit.Value.SetInt64(0)
	}
	return lit
}
