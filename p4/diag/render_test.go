package diag

import (
	"strings"
	"testing"
)

type lines map[int]string

func (l lines) SourceLine(file string, line int) (string, bool) {
	s, ok := l[line]
	return s, ok && file == "a.p4"
}

func TestRender(t *testing.T) {
	at := func(line, col int) Position { return Position{File: "a.p4", Line: line, Column: col} }
	src := lines{1: "\thdr.x = hrd.y;", 2: `log("ä", z);`, 3: "if (x", 4: strings.Repeat("a", 300) + "B" + strings.Repeat("c", 300), 5: ""}
	tests := []struct {
		name string
		d    Diagnostic
		want string
	}{
		{"span, tab, hint", Diagnostic{At: at(1, 10), End: at(1, 13), Code: "unknown-name", Message: "unknown name hrd", Hint: "did you mean hdr?"},
			"a.p4:1:10: error: unknown name hrd [unknown-name]\n" +
				"    1 | \thdr.x = hrd.y;\n" +
				"      | \t        ^~~\n" +
				"       = hint: did you mean hdr?\n"},
		{"a character of two bytes counts once", Diagnostic{At: at(2, 11), End: at(2, 12), Severity: Warning, Message: "m"},
			"a.p4:2:11: warning: m\n" +
				"    2 | log(\"ä\", z);\n" +
				"      |          ^\n"},
		{"behind the end of the line", Diagnostic{At: at(3, 6), End: at(3, 6), Message: "m"},
			"a.p4:3:6: error: m\n" +
				"    3 | if (x\n" +
				"      |      ^\n"},
		{"over several lines", Diagnostic{At: at(3, 1), End: at(4, 2), Message: "m"},
			"a.p4:3:1: error: m\n" +
				"    3 | if (x\n" +
				"      | ^~~~~\n"},
		{"long line", Diagnostic{At: at(4, 301), End: at(4, 302), Message: "m"},
			"a.p4:4:301: error: m\n" +
				"    4 | ..." + strings.Repeat("a", 80) + "B" + strings.Repeat("c", 79) + "...\n" +
				"      | " + strings.Repeat(" ", 83) + "^\n"},
		{"empty line", Diagnostic{At: at(5, 1), Message: "m"},
			"a.p4:5:1: error: m\n" +
				"    5 | \n" +
				"      | ^\n"},
		{"unknown line", Diagnostic{At: at(9, 1), Message: "m", Notes: []Note{{At: at(1, 2), Message: "first one"}}},
			"a.p4:9:1: error: m\n" +
				"     = a.p4:1:2: first one\n"},
		{"no position", Diagnostic{Message: "no main", Hint: "add one"}, "error: no main\n     = hint: add one\n"},
		{"control characters", Diagnostic{Message: "a\x1b[2Jb"}, "error: a?[2Jb\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Render(List{tt.d}, src, RenderOptions{}); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestRenderMaxAndColor(t *testing.T) {
	l := List{{Message: "one"}, {Message: "two"}, {Message: "three"}}
	if got, want := Render(l, nil, RenderOptions{Max: 1}), "error: one\nand 2 more\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := Render(l[:1], nil, RenderOptions{Color: true}), "\x1b[1;31merror:\x1b[0m one\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestListSortAndError(t *testing.T) {
	l := List{
		{At: Position{File: "b.p4", Line: 1}, Message: "b"},
		{At: Position{File: "a.p4", Line: 2, Column: 3}, Message: "c", Severity: Warning},
		{At: Position{File: "a.p4", Line: 2, Column: 3}, Message: "d"},
		{At: Position{File: "a.p4", Line: 1, Column: 9}, Message: "e"},
	}
	l.Sort()
	got := ""
	for _, d := range l {
		got += d.Message
	}
	if got != "edcb" {
		t.Errorf("order %s, want edcb", got)
	}
	if got, want := l.Err().Error(), "a.p4:1:9: error: e [] (and 2 more)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := (List{{Severity: Warning}}).Err(); err != nil {
		t.Errorf("warnings alone give the error %v", err)
	}
}
