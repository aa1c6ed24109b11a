package preproc

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"khop/p4/diag"
)

// files is a file system in memory.
type files map[string]string

func (f files) read(name string) ([]byte, error) {
	if s, ok := f[name]; ok {
		return []byte(s), nil
	}
	return nil, &os.PathError{Op: "open", Path: name, Err: os.ErrNotExist}
}

func run(src string, f files, o Options) (*Output, diag.List) {
	o.ReadFile = f.read
	return Run("main.p4", []byte(src), o)
}

// squeeze makes white space comparable.
func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

func TestText(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"plain", "bit<8> x;\n", "bit<8> x;"},
		{"comments", "a/*x\ny*/b // c\nd", "a b d"},
		{"comment signs in a string", `"/* no */ // no" x`, `"/* no */ // no" x`},
		{"string over lines", "\"a\nN\" N\n", "\"a N\" N"},
		{"object", "#define N 8w3\nx = N;", "x = 8w3 ;"},
		{"not in a string", "#define N 3\nx = \"N\";", `x = "N";`},
		{"not in a longer word", "#define N 3\nNN N_ _N 8wN", "NN N_ _N 8wN"},
		{"range of names", "#define N 3\n1..N", "1.. 3"},
		{"empty", "#define E\na E b", "a b"},
		{"continued", "#define N 1 + \\\n  2\nx = N;\\\ny", "x = 1 + 2 ;y"},
		{"parameters", "#define ADD(a, b) ((a)+(b))\nADD(1, f(2,3))", "((1)+(f(2,3)))"},
		{"no parenthesis, no use", "#define F(a) a\nF + F(1)", "F + 1"},
		{"parenthesis on the next line", "#define F(a) <a>\nF\n (1)", "<1>"},
		{"arguments over lines", "#define F(a,b) a-b\nF(1,\n  2)", "1-2"},
		{"empty arguments", "#define F(a,b) [a|b]\nF(,) F(1,)", "[|] [1|]"},
		{"no parameters", "#define F() x\nF() F( )", "x x"},
		{"rescanned", "#define A B\n#define B 7\nA", "7"},
		{"self reference", "#define A A + 1\nA", "A + 1"},
		{"mutual reference", "#define A B x\n#define B A y\nA", "A y x"},
		{"argument expanded first", "#define A 1\n#define F(x) x x\nF(A)", "1 1"},
		{"nested use", "#define F(x) f(x)\nF(F(1))", "f(f(1))"},
		{"name from the body, arguments from the text", "#define G(x) <x>\n#define H G\nH(1)", "<1>"},
		{"stringize", "#define S(x) #x\nS( a  + \"b\" )", `"a + \"b\""`},
		{"stringize is not expanded", "#define A 1\n#define S(x) #x\nS(A)", `"A"`},
		{"paste", "#define P(a,b) a##b\nP(foo, 1) P(8w, 0x3)", "foo1 8w0x3"},
		{"paste gives a macro", "#define AB 9\n#define P(a,b) a ## b\nP(A,B)", "9"},
		{"paste with nothing", "#define P(a,b) [a##b]\nP(,x) P(x,) P(,)", "[x] [x] []"},
		{"paste operators", "#define P(a,b) a##b\nx P(<,<) 1", "x << 1"},
		{"variadic", "#define F(a, ...) g(a, __VA_ARGS__)\nF(1, 2, 3)", "g(1, 2, 3)"},
		{"tokens do not grow together", "#define M -\n#define I int\n-M 1; xI I y", "- - 1; xI int y"},
		{"closing angles stay together", "#define T tuple<bit<8>>\nlist<T> x;", "list< tuple<bit<8>> > x;"},
		{"undef", "#define N 3\n#undef N\n#undef M\nN", "N"},
		{"if", "#if 1\na\n#else\nb\n#endif\n#if 0\nc\n#else\nd\n#endif", "a d"},
		{"elif", "#define N 2\n#if N == 1\na\n#elif N == 2\nb\n#elif 1\nc\n#else\nd\n#endif", "b"},
		{"ifdef", "#define N\n#ifdef N\na\n#endif\n#ifndef N\nb\n#endif\n#ifdef M\nc\n#endif", "a"},
		{"nested in skipped text", "#if 0\n#if 1\na\n#else\nb\n#endif\n#elif 1\nc\n#endif", "c"},
		{"bad directives in skipped text", "#if 0\n#foo\n#if ((\n#endif\n#define X\n#endif\n#ifdef X\nx\n#endif\ny", "y"},
		{"a comment hides a directive", "#if 0\n/*\n#endif\n*/\na\n#endif\nb", "b"},
		{"a quote in skipped text", "#if 0\ndon\"t\n#endif\nb", "b"},
		{"null directive", "#\n# // c\na", "a"},
		{"space in front of and behind #", "  #  define N 1\nN", "1"},
		{"comment in a directive", "#define /* a */ N /* b\nc */ 4\nN", "4"},
		{"pragma is kept away", "#pragma whatever \"x\nx", "x"},
		{"invalid header", "h = {#};", "h = {#};"},
		{"line and file", "__FILE__ __LINE__\n#line 90 \"o.p4\"\n__FILE__ __LINE__", `"main.p4" 1 "o.p4" 90`},
		{"line in a macro", "#define L __LINE__\n\nL", "3"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, diags := run(tt.in, nil, Options{})
			if len(diags) > 0 {
				t.Errorf("diagnostics: %v", diags)
			}
			if got := squeeze(out.Text); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestConditions(t *testing.T) {
	tests := map[string]bool{
		"1 + 2 * 3 == 7": true, "(1 + 2) * 3 == 9": true, "10 - 4 - 3 == 3": true, "7 / 2 == 3 && 7 % 2 == 1": true,
		"-1 < 0": true, "~0 == -1": true, "!0": true, "!1": false, "1 << 4 == 16": true, "256 >> 4 == 16": true, "0xF0 & 0x3C ^ 1 | 2": true,
		"1 ? 0 : 1": false, "0 ? 0 : 1": true, "0 && 1 / 0": false, "1 || 1 / 0": true, "1 ? 2 : 1 % 0": true, "defined N": true,
		"defined(M)": false, "!defined M && N > 2": true, "M": false, "N >= 3 && N <= 3 && N != 4": true, "010 == 8": true, "0b11 == 3": true,
		"20200408UL >= 20180101": true, "F(2) == 3": true, "0x7fffffffffffffff + 1 < 0": true,
	}
	for cond, want := range tests {
		out, diags := run("#define N 3\n#define F(x) (x + 1)\n#if "+cond+"\nyes\n#endif\n", nil, Options{})
		if len(diags) > 0 {
			t.Errorf("%s: %v", cond, diags)
		}
		if got := squeeze(out.Text) == "yes"; got != want {
			t.Errorf("%s is %v, want %v", cond, got, want)
		}
	}
}

func TestInclude(t *testing.T) {
	f := files{
		"a.p4":        "A1\n#include \"sub/b.p4\"\nA2",
		"sub/b.p4":    "#ifndef B\n#define B\nB1\n#include \"c.p4\"\n#endif",
		"sub/c.p4":    "C1 __FILE__",
		"inc/sys.p4":  "S1\n#include \"c.p4\"",
		"inc/c.p4":    "C2",
		"inc/core.p4": "own core",
		"once.p4":     "#pragma once\nO",
	}
	builtin := func(name string) ([]byte, bool) {
		return []byte("built-in " + name), name == "core.p4" || name == "v1.p4"
	}
	tests := []struct {
		in, want string
		dirs     []string
		includes []string
	}{
		{"#include \"a.p4\"\n#include \"sub/b.p4\"\nM", `A1 B1 C1 "sub/c.p4" A2 M`, nil, []string{"a.p4", "sub/b.p4", "sub/c.p4"}},
		{"#include <sys.p4>\n", "S1 C2", []string{"inc"}, []string{"inc/sys.p4", "inc/c.p4"}},
		{"#include <core.p4>\n", "built-in core.p4", nil, []string{"<built-in>/core.p4"}},
		{"#include <core.p4>\n", "own core", []string{"inc"}, []string{"inc/core.p4"}},
		{"#define V <v1.p4>\n#include V\n", "built-in v1.p4", nil, []string{"<built-in>/v1.p4"}},
		{"#include \"once.p4\"\n#include \"once.p4\"\n", "O", nil, []string{"once.p4"}},
	}
	for _, tt := range tests {
		out, diags := run(tt.in, f, Options{IncludeDirs: tt.dirs, Builtin: builtin})
		if len(diags) > 0 {
			t.Errorf("%s: %v", tt.in, diags)
		}
		if got := squeeze(out.Text); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.in, got, tt.want)
		}
		if got := fmt.Sprint(out.Includes); got != fmt.Sprint(tt.includes) {
			t.Errorf("%s: includes %s, want %s", tt.in, got, tt.includes)
		}
	}
}

func TestDefines(t *testing.T) {
	out, diags := run("A B C(1)", nil, Options{Defines: []string{"A", "B=x y", "C(n)=n+n"}})
	if got, want := squeeze(out.Text), "1 x y 1+1"; got != want || len(diags) > 0 {
		t.Errorf("got %s, want %s; %v", got, want, diags)
	}
}

func TestErrors(t *testing.T) {
	f := files{"self.p4": "#include \"self.p4\"\n", "bad.p4": "\n  #error stop here\n"}
	tests := []struct {
		in   string
		want string // position, severity, message and code of the first diagnostic
	}{
		{"\n#include \"no.p4\"\n", "main.p4:2:1: error: file no.p4 is not found [include]"},
		{"#include no\n", `main.p4:1:1: error: #include needs "file" or <file> [directive]`},
		{"#include \"self.p4\"\n", "self.p4:1:1: error: files include one another deeper than 64 levels [include]"},
		{"#include \"bad.p4\"\n", "bad.p4:2:3: error: stop here [user]"},
		{"#warning careful\n", "main.p4:1:1: warning: careful [user]"},
		{"#foo\n", "main.p4:1:1: error: unknown directive #foo [directive]"},
		{"x\n#endif\n", "main.p4:2:1: error: #endif without #if [directive]"},
		{"#else\n", "main.p4:1:1: error: #else without #if [directive]"},
		{"#if 1\n#else\n#else\n#endif\n", "main.p4:3:1: error: second #else [directive]"},
		{"#if 1\n#else\n#elif 1\n#endif\n", "main.p4:3:1: error: #elif behind #else [directive]"},
		{"a\n#if 1\n", "main.p4:2:1: error: #if is not terminated [unterminated]"},
		{"a /* b\n", "main.p4:1:3: error: comment is not terminated [unterminated]"},
		{"#if 1 +\n#endif\n", "main.p4:1:1: error: malformed condition: operand missing [condition]"},
		{"#if\n#endif\n", "main.p4:1:1: error: malformed condition: operand missing [condition]"},
		{"#if (1\n#endif\n", "main.p4:1:1: error: malformed condition: missing ) [condition]"},
		{"#if 1 2\n#endif\n", "main.p4:1:1: error: malformed condition: unexpected 2 [condition]"},
		{"#if 1 / 0\n#endif\n", "main.p4:1:1: error: malformed condition: division by zero [condition]"},
		{"#if 1 ? 2\n#endif\n", "main.p4:1:1: error: malformed condition: ? without : [condition]"},
		{"#if 99999999999999999999\n#endif\n", "main.p4:1:1: error: malformed condition: 99999999999999999999 is no integer of 64 bits [condition]"},
		{"#if " + strings.Repeat("(", 500) + "\n#endif\n", "main.p4:1:1: error: malformed condition: too deep [condition]"},
		{"#ifdef\n#endif\n", "main.p4:1:1: error: #ifdef needs a name [directive]"},
		{"#define\n", "main.p4:1:8: error: #define needs a name [macro]"},
		{"#define F(a,a) a\n", "main.p4:1:13: error: parameter a stands twice in the list [macro]"},
		{"#define F(a b) a\n", "main.p4:1:10: error: malformed parameter list [macro]"},
		{"#define F(a\n", "main.p4:1:10: error: malformed parameter list [macro]"},
		{"#define M ## a\n", "main.p4:1:9: error: ## stands at an end of the body of macro M [macro]"},
		{"#define defined\n", "main.p4:1:9: error: defined cannot be the name of a macro [macro]"},
		{"#define N 1\n#define N 1\n#define N 2\n", "main.p4:3:9: warning: macro N is defined again in another way [macro-redefined]"},
		{"#define F(a) a\n x F(1,2)\n", "main.p4:2:4: error: macro F takes 1 arguments, but is given 2 [macro]"},
		{"#define F(a) a\nF(1\n", "main.p4:2:1: error: the arguments of macro F have no closing parenthesis [macro]"},
		{"#define P(a,b) a##b\nP(+,x)\n", "main.p4:2:1: error: pasting + and x gives no token [macro]"},
		{"#undef\n", "main.p4:1:1: error: #undef needs one name [directive]"},
		{"#line x\n", "main.p4:1:1: error: #line needs a line number [directive]"},
	}
	for _, tt := range tests {
		_, diags := run(tt.in, f, Options{})
		got := "none"
		if len(diags) > 0 {
			got = diags[0].Error()
		}
		if got != tt.want {
			t.Errorf("%q: got  %s\nwant %s", tt.in, got, tt.want)
		}
	}
}

// TestBombs gives input that would grow without bounds.
func TestBombs(t *testing.T) {
	var laughs strings.Builder
	laughs.WriteString("#define L0 ha ha ha ha ha ha ha ha ha ha\n")
	for i := 1; i < 12; i++ {
		l := fmt.Sprintf("L%d", i-1)
		fmt.Fprintf(&laughs, "#define L%d %s\n", i, strings.Repeat(l+" ", 10))
	}
	laughs.WriteString("L11\n")
	var twice strings.Builder
	twice.WriteString("#define D(x) x x\n")
	twice.WriteString(strings.Repeat("D(", 40) + "ha" + strings.Repeat(")", 40) + "\n")
	fan := files{}
	for i := 0; i < 20; i++ {
		fan[fmt.Sprintf("f%d", i)] = strings.Repeat(fmt.Sprintf("#include \"f%d\"\n", i+1), 10)
	}
	fan["f20"] = "x"
	for name, in := range map[string]string{"laughs": laughs.String(), "doubling": twice.String(), "fan": "#include \"f0\"\n"} {
		if _, diags := run(in, fan, Options{}); len(diags) != 1 || diags[0].Code != CodeTooLarge {
			t.Errorf("%s: diagnostics %v, want one that it is too large", name, diags)
		}
	}
}

func TestMap(t *testing.T) {
	f := files{"inc.p4": "first\n  second // c\n"}
	src := "#define M one two\nx = /* c */ y;\n#include \"inc.p4\"\nz M w;\n#line 7 \"gen.p4\"\nlast \\\n more\n"
	out, diags := run(src, f, Options{})
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	for word, want := range map[string]string{
		"x": "main.p4:2:1", "y": "main.p4:2:13", "first": "inc.p4:1:1", "second": "inc.p4:2:3", "z": "main.p4:4:1",
		"one": "main.p4:4:3", "two": "main.p4:4:3", "w;": "main.p4:4:5", "last": "gen.p4:7:1", "more": "gen.p4:8:2",
	} {
		i := strings.Index(out.Text, word)
		if i < 0 {
			t.Fatalf("%s is not in %q", word, out.Text)
		}
		if got := out.Map.Position(diag.Pos(i + 1)).String(); got != want {
			t.Errorf("%s is at %s, want %s", word, got, want)
		}
	}
	for _, tt := range []struct {
		file string
		line int
		want string
	}{{"main.p4", 4, "z M w;"}, {"inc.p4", 2, "  second // c"}, {"gen.p4", 8, " more"}} {
		if got, ok := out.Map.SourceLine(tt.file, tt.line); got != tt.want || !ok {
			t.Errorf("%s:%d is %q, want %q", tt.file, tt.line, got, tt.want)
		}
	}
	if _, ok := out.Map.SourceLine("main.p4", 7); ok {
		t.Error("main.p4 has a line 7 behind #line")
	}
}

func TestSystem(t *testing.T) {
	f := files{"own.p4": "own"}
	out, _ := run("#include \"own.p4\"\n#include <lib.p4>\nmain", f, Options{Builtin: func(string) ([]byte, bool) { return []byte("lib"), true }})
	for word, want := range map[string]bool{"own": false, "lib": true, "main": false} {
		if got := out.Map.System(diag.Pos(strings.Index(out.Text, word) + 1)); got != want {
			t.Errorf("%s: system is %v, want %v", word, got, want)
		}
	}
}

func FuzzPreproc(f *testing.F) {
	for _, s := range []string{
		"#define F(a, ...) #a a##1 __VA_ARGS__\nF(x, F(1), 2)\n", "#if 1 ? defined X : (2 << 3)\na\n#elif 0\n#else\n#endif\n",
		"#include \"a\"\n#include <b>\n#line 3 \"x\"\n__LINE__ __FILE__\n", "\"s\nt\" /* c */ // d \\\n e\n{#} 1..N", "#define A B(\n#define B(x) x A\nA 1)",
	} {
		f.Add(s)
	}
	fs := files{"a": "#define N 3\nN a", "b": "#include \"b\"\n"}
	f.Fuzz(func(t *testing.T, src string) {
		out, diags := run(src, fs, Options{Builtin: func(n string) ([]byte, bool) { return []byte(n), n == "core.p4" }})
		for i := 0; i <= len(out.Text); i += 1 + len(out.Text)/64 {
			p := out.Map.Position(diag.Pos(i + 1))
			if len(out.Text) > 0 && p.Line < 1 {
				t.Fatalf("offset %d of %q has no line: %v", i, out.Text, p)
			}
			out.Map.SourceLine(p.File, p.Line)
		}
		_ = diags.Error()
	})
}
