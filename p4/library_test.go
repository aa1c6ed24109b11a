package p4

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"khop/p4/parser"
	"khop/p4/preproc"
	"khop/p4src"
)

// TestLibraries compares the tokens of core.p4 and v1model.p4 with those of a p4c checkout, P4C_DIR: the declarations are fixed
// by the language and the architecture.
func TestLibraries(t *testing.T) {
	dir := os.Getenv("P4C_DIR")
	if dir == "" {
		t.Skip("P4C_DIR is not set")
	}
	tokens := func(o preproc.Options) []string {
		out, list := preproc.Run("x.p4", []byte("#include <v1model.p4>\n"), o)
		if len(list) > 0 {
			t.Fatal(list)
		}
		var words []string
		for _, tok := range parser.Tokens(out.Text) {
			words = append(words, out.Text[tok.Start:tok.End])
		}
		return words
	}
	for _, version := range []string{"20180101", "20200408"} {
		defines := []string{"V1MODEL_VERSION=" + version}
		ours := tokens(preproc.Options{Defines: defines, Builtin: p4src.Include})
		theirs := tokens(preproc.Options{Defines: defines, IncludeDirs: []string{filepath.Join(dir, "p4include")}})
		for i := range ours {
			if i >= len(theirs) || ours[i] != theirs[i] {
				t.Errorf("version %s: token %d differs\nours   %s\ntheirs %s", version, i, around(ours, i), around(theirs, i))
				break
			}
		}
		if len(ours) != len(theirs) {
			t.Errorf("version %s: %d tokens, want %d", version, len(ours), len(theirs))
		}
	}
}

func around(words []string, i int) string {
	return strings.Join(words[max(min(i, len(words))-5, 0):min(i+5, len(words))], " ")
}
