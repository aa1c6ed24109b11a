package format

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"khop/p4/parser"
)

// check formats a text and verifies what holds for every text: formatting again changes nothing, and no token or comment is
// lost but semicolons without meaning.
func check(t *testing.T, name, src string) (string, bool) {
	t.Helper()
	out, diags := Source(name, []byte(src))
	if diags.HasErrors() {
		return "", false
	}
	again, diags := Source(name, out)
	if diags.HasErrors() {
		t.Errorf("%s: formatted text does not parse: %v\n%s", name, diags, out)
		return "", false
	}
	if string(again) != string(out) {
		t.Errorf("%s: formatting again changes the text\nonce:\n%s\ntwice:\n%s", name, out, again)
	}
	if a, b := essence(src), essence(string(out)); a != b {
		t.Errorf("%s: tokens differ\nbefore: %s\nafter:  %s\nfrom\n%s\nto\n%s", name, a, b, src, out)
	}
	return string(out), true
}

// essence is all of a text but white space and semicolons.
func essence(text string) string {
	masked, dirs := mask(text, false)
	var b strings.Builder
	for _, t := range parser.Tokens(masked) {
		if s := strings.Join(strings.Fields(masked[t.Start:t.End]), ""); s != ";" {
			b.WriteString(s + " ")
		}
	}
	for _, d := range dirs {
		b.WriteString(strings.Join(strings.Fields(text[d.start:d.end]), " ") + "\n")
	}
	return b.String()
}

func TestGolden(t *testing.T) {
	ins, err := filepath.Glob("testdata/*.in.p4")
	if err != nil || len(ins) == 0 {
		t.Fatalf("no test data: %v", err)
	}
	for _, in := range ins {
		src, err := os.ReadFile(in)
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(strings.Replace(in, ".in.p4", ".out.p4", 1))
		if err != nil {
			t.Fatal(err)
		}
		got, ok := check(t, in, string(src))
		if !ok {
			_, diags := Source(in, src)
			t.Errorf("%s does not parse: %v", in, diags)
			continue
		}
		if got != string(want) {
			t.Errorf("%s: got\n%s\nwant\n%s", in, got, want)
		}
	}
}

func TestSyntaxError(t *testing.T) {
	out, diags := Source("x.p4", []byte("#define X\nheader h {\n    bit<8> a\n}\n"))
	if out != nil || !diags.HasErrors() {
		t.Fatalf("got %q, %v", out, diags)
	}
	if got := diags[0].At.String(); got != "x.p4:3:13" {
		t.Errorf("error at %s, want x.p4:3:13", got)
	}
}

// TestShipped formats the programs and libraries that come with khop.
func TestShipped(t *testing.T) {
	files, _ := filepath.Glob("../../p4src/*.p4")
	more, _ := filepath.Glob("../../p4src/*/*.p4")
	for _, f := range append(files, more...) {
		src, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := check(t, f, string(src)); !ok {
			t.Errorf("%s does not parse", f)
		}
	}
}

func TestP4CSamples(t *testing.T) {
	dir := os.Getenv("P4C_DIR")
	if dir == "" {
		t.Skip("P4C_DIR is not set")
	}
	files, _ := filepath.Glob(filepath.Join(dir, "testdata/p4_16_samples/*.p4"))
	formatted := 0
	for _, f := range files {
		src, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := check(t, f, string(src)); ok {
			formatted++
		} else {
			_, d := Source(filepath.Base(f), src)
			t.Log(d)
		}
	}
	t.Logf("%d of %d programs can be formatted without preprocessing", formatted, len(files))
	if formatted < len(files)*95/100 {
		t.Errorf("only %d of %d programs can be formatted", formatted, len(files))
	}
}

// TestPerturbed strews line ends and comments over a program: wherever they stand, they stay, and the layout is stable.
func TestPerturbed(t *testing.T) {
	src, err := os.ReadFile("testdata/mess.in.p4")
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(60) {
		text := perturb(string(src), rand.New(rand.NewPCG(seed, 1)))
		if _, ok := check(t, fmt.Sprintf("seed %d", seed), text); !ok {
			_, diags := Source("perturbed", []byte(text))
			t.Fatalf("seed %d does not parse: %v\n%s", seed, diags, text)
		}
		if t.Failed() {
			return
		}
	}
}

// perturb inserts white space and comments between the tokens of a text.
func perturb(text string, rnd *rand.Rand) string {
	masked, dirs := mask(text, false)
	strew := []string{" ", "\n", "\n\n\n", " /* c */ ", "\n/* d */\n", " // e\n", "\n  // f\n", "/* g\n h */", "\n/* i */"}
	var b strings.Builder
	last, prev := 0, byte(0)
	for _, tok := range parser.Tokens(masked) {
		for len(dirs) > 0 && dirs[0].start < tok.Start {
			last, dirs = dirs[0].end, dirs[1:] // directives would end up in the middle of a line
		}
		gap := masked[min(last, tok.Start):tok.Start]
		// Not between two '>' of a shift, nor behind the '@' of an annotation.
		if rnd.IntN(8) == 0 && !(prev == '>' && gap == "") && prev != '@' {
			gap += strew[rnd.IntN(len(strew))]
		}
		b.WriteString(gap + masked[tok.Start:tok.End])
		last, prev = tok.End, masked[tok.End-1]
	}
	return b.String() + "\n"
}

func FuzzFormat(f *testing.F) {
	ins, _ := filepath.Glob("testdata/*.p4")
	for _, in := range ins {
		src, err := os.ReadFile(in)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(src))
	}
	f.Add("const bit<8> x = 1; // c\n#if A\n#else\n#endif\n")
	f.Add("control c() { apply { if (a) b = (bit<8>) c[3:1] >> 2; else { } } };")
	f.Fuzz(func(t *testing.T, src string) { check(t, "fuzz.p4", src) })
}
