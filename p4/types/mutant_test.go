package types_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"khop/p4/parser"
	"khop/p4/preproc"
	"khop/p4/types"
	"khop/p4src"
)

var tokenPattern = regexp.MustCompile(`[A-Za-z_]\w*|\d\w*|&&&|\.\.|[<>=!|&+-]=|\|\+\||\+\+|<<|>>|\S`)

// mutate swaps, repeats, drops or replaces a few tokens of a program by others of the same program.
func mutate(r *rand.Rand, src string) string {
	out := src
	for range 1 + r.IntN(3) {
		spans := tokenPattern.FindAllStringIndex(out, -1)
		if len(spans) < 2 {
			return out
		}
		a, b := spans[r.IntN(len(spans))], spans[r.IntN(len(spans))]
		with := out[b[0]:b[1]]
		switch r.IntN(4) {
		case 0:
			with = ""
		case 1:
			with = out[a[0]:a[1]] + " " + with
		}
		out = out[:a[0]] + with + out[a[1]:]
	}
	return out
}

// TestMutants checks many wrong programs, made from right ones by changing tokens: many parse, unlike what a fuzzer makes, and none may
// make the checker panic or take long. The seed is fixed.
func TestMutants(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	n := 0
	for _, s := range mutantSources(t) {
		for range 4 {
			src := mutate(r, s)
			pre, list := preproc.Run("mutant.p4", []byte(src), preproc.Options{Builtin: p4src.Include})
			if list.HasErrors() {
				continue
			}
			prog, _ := parser.Parse(pre.Text, pre.Map)
			if prog == nil {
				continue
			}
			n++
			func() {
				defer func() {
					if p := recover(); p != nil {
						t.Fatalf("panic %v on\n%s", p, src)
					}
				}()
				start := time.Now()
				types.Check(prog, pre.Map, types.Options{})
				if d := time.Since(start); d > 5*time.Second {
					t.Errorf("%v for\n%s", d, src)
				}
			}()
		}
	}
	t.Logf("%d mutants", n)
}

func mutantSources(t *testing.T) []string {
	var out []string
	for _, e := range types.Explanations() {
		out = append(out, "#include <core.p4>\n"+e.Right)
	}
	files, err := filepath.Glob("testdata/*.p4")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(b))
	}
	return out
}
