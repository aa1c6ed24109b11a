package parser

import (
	"strings"

	"github.com/antlr4-go/antlr/v4"

	"khop/p4/grammar"
)

// chars is the source text as ANTLR's input, byte by byte, so that token offsets are byte offsets. Bytes above 0x7F occur
// inside string literals and comments only, where the lexer takes anything.
type chars struct {
	text string
	at   int
}

func (c *chars) Consume() { c.at++ }

func (c *chars) LA(i int) int {
	if i < 0 {
		i++ // LA(-1) is the byte just consumed
	}
	p := c.at + i - 1
	if p < 0 || p >= len(c.text) {
		return antlr.TokenEOF
	}
	return int(c.text[p])
}

func (c *chars) Mark() int             { return -1 }
func (c *chars) Release(int)           {}
func (c *chars) Index() int            { return c.at }
func (c *chars) Seek(i int)            { c.at = min(i, len(c.text)) }
func (c *chars) Size() int             { return len(c.text) }
func (c *chars) GetSourceName() string { return "" }

func (c *chars) GetText(start, stop int) string {
	stop = min(stop+1, len(c.text))
	if start >= stop {
		return ""
	}
	return c.text[start:stop]
}

func (c *chars) GetTextFromTokens(start, end antlr.Token) string {
	return c.GetText(start.GetStart(), end.GetStop())
}

func (c *chars) GetTextFromInterval(i antlr.Interval) string { return c.GetText(i.Start, i.Stop) }

// token is a lexical token. Its type may be changed by the classifier, which is why ANTLR's own token does not do.
type token struct {
	typ         int
	start, stop int // byte offsets of the first and last byte
	index       int
	src         *chars
}

func (t *token) GetSource() *antlr.TokenSourceCharStreamPair { return nil }
func (t *token) GetTokenType() int                           { return t.typ }
func (t *token) GetChannel() int                             { return antlr.TokenDefaultChannel }
func (t *token) GetStart() int                               { return t.start }
func (t *token) GetStop() int                                { return t.stop }
func (t *token) GetLine() int                                { return 0 }
func (t *token) GetColumn() int                              { return 0 }
func (t *token) GetText() string                             { return t.src.GetText(t.start, t.stop) }
func (t *token) SetText(string)                              {}
func (t *token) GetTokenIndex() int                          { return t.index }
func (t *token) SetTokenIndex(i int)                         { t.index = i }
func (t *token) GetTokenSource() antlr.TokenSource           { return nil }
func (t *token) GetInputStream() antlr.CharStream            { return t.src }
func (t *token) String() string                              { return t.GetText() }

// lexer is the generated lexer, made to emit our tokens, which it allocates many at a time.
type lexer struct {
	*grammar.P4Lexer
	src  *chars
	slab []token
}

// Emit implements antlr.Lexer.
func (l *lexer) Emit() antlr.Token {
	if len(l.slab) == 0 {
		l.slab = make([]token, 256)
	}
	t := &l.slab[0]
	l.slab = l.slab[1:]
	*t = token{typ: l.GetType(), start: l.TokenStartCharIndex, stop: l.GetCharIndex() - 1, src: l.src}
	l.EmitToken(t)
	return t
}

// lex returns the tokens of text, the last of which is EOF, and apart from them the comments.
func lex(text string) (tokens, comments []*token) {
	src := &chars{text: text}
	lx := &lexer{P4Lexer: grammar.NewP4Lexer(src), src: src}
	lx.RemoveErrorListeners() // every byte matches some rule
	lx.Virt = lx
	tokens = make([]*token, 0, len(text)/5+16)
	for {
		t, ok := lx.NextToken().(*token)
		if !ok { // only the end of the input is not emitted by us
			return append(tokens, &token{typ: antlr.TokenEOF, start: len(text), stop: len(text) - 1, src: src}), comments
		}
		switch t.typ {
		case grammar.P4LexerCOMMENT, grammar.P4LexerLINE_COMMENT:
			comments = append(comments, t)
		default:
			tokens = append(tokens, t)
		}
	}
}

// stream hands a list of tokens to the generated parser.
type stream struct {
	src    *chars
	tokens []*token
	at     int
}

func newStream(text string, tokens []*token) *stream {
	for i, t := range tokens {
		t.index = i
	}
	return &stream{src: &chars{text: text}, tokens: tokens}
}

func (s *stream) Consume() {
	if s.at < len(s.tokens)-1 {
		s.at++
	}
}

func (s *stream) LT(k int) antlr.Token {
	p := s.at + k - 1
	if k < 0 {
		p = s.at + k
	}
	if p < 0 {
		return nil
	}
	return s.tokens[min(p, len(s.tokens)-1)]
}

func (s *stream) LA(k int) int {
	p := s.at + k - 1
	if k < 0 {
		p = s.at + k
	}
	if p < 0 {
		return antlr.TokenInvalidType
	}
	return s.tokens[min(p, len(s.tokens)-1)].typ
}

func (s *stream) Mark() int                         { return 0 }
func (s *stream) Release(int)                       {}
func (s *stream) Index() int                        { return s.at }
func (s *stream) Seek(i int)                        { s.at = min(i, len(s.tokens)-1) }
func (s *stream) Size() int                         { return len(s.tokens) }
func (s *stream) GetSourceName() string             { return "" }
func (s *stream) Reset()                            { s.at = 0 }
func (s *stream) Get(i int) antlr.Token             { return s.tokens[i] }
func (s *stream) GetTokenSource() antlr.TokenSource { return nil }
func (s *stream) SetTokenSource(antlr.TokenSource)  {}
func (s *stream) GetAllText() string                { return s.src.text }

func (s *stream) GetTextFromInterval(i antlr.Interval) string {
	var b strings.Builder
	for k := i.Start; k <= i.Stop && k < len(s.tokens); k++ {
		b.WriteString(s.tokens[k].GetText())
	}
	return b.String()
}

func (s *stream) GetTextFromRuleContext(c antlr.RuleContext) string {
	return s.GetTextFromInterval(c.GetSourceInterval())
}

func (s *stream) GetTextFromTokens(a, b antlr.Token) string {
	return s.src.GetText(a.GetStart(), b.GetStop())
}
