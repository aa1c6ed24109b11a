package parser

import (
	"strings"
	"testing"

	"khop/p4/ast"
)

// TestErrors: each program has one mistake; want is the first diagnostic without its file, hint in parentheses.
func TestErrors(t *testing.T) {
	body := func(s string) string { return "struct T {}\ncontrol C() {\napply {\n" + s + "\n}\n}\n" }
	tests := []struct{ in, want, hint string }{
		{"header h {\n  bit<8> a\n}\n", "2:11: expected ';' behind name a [syntax]", ""},
		{body("x = 1\ny = 2;"), "4:6: expected ';' behind number 1 [syntax]", ""},
		{body("f(1, 2"), "5:1: unexpected '}', expected ')' [syntax]", ""},
		{body("if x { }"), "4:4: unexpected name x, expected '(' [syntax]", ""},
		{body("x = ;"), "4:5: unexpected ';', expected an operand [syntax]", ""},
		{body("x == 1;"), "4:3: unexpected '==', expected ';' [syntax]", "write = to assign"},
		{body("if (x = 1) { }"), "4:7: unexpected '=', expected ')' [syntax]", "write == to compare"},
		{body("bit<8> table = 1;"), "4:8: unexpected keyword table, expected a name, '(' or '.' [syntax]", "table is a keyword and cannot be a name"},
		{body("x;"), "4:1: an expression alone is no statement [not-a-statement]", "assign it, or call it"},
		{body("f(x) = 1;"), "4:1: this cannot be assigned to [not-assignable]", ""},
		{body("bit<8>(1) x;"), "4:1: this type has no constructor [not-instantiable]", ""},
		{body("T.foo();"), "4:3: foo is not apply [not-a-statement]", ""},
		{body("x = (1, 2);"), "4:5: a tuple keyset stands only in a select case or a table entry [misplaced]", ""},
		{body("x = (1 &&& 2);"), "4:6: a keyset is no value [misplaced]", ""},
		{body("x = error;"), "4:5: the type error is no value [type-as-value]", ""},
		{body("x = { 1, a = 2 };"), "4:10: elements with and without a name in one list [mixed-list]", ""},
		{body("x = { ..., 1 };"), `4:7: "..." must be the last element [misplaced]`, ""},
		{body("x = a > > b;"), "4:7: the two characters of >> stand together [syntax]", ""},
		{body("x = 0b12;"), "4:5: 0b12 is no binary number [bad-number]", ""},
		{body("x = 0w1;"), "4:5: the literal has width 0 [bad-number]", ""},
		{body("x = 99999999999w1;"), "4:5: width 99999999999 of the literal is larger than 1048576 [bad-number]", ""},
		{body("x = 1 $ 2;"), "4:7: unexpected character '$' [syntax]", ""},
		{body("x = \"a;"), "4:5: string literal is not terminated [syntax]", ""},
		{"const bit<8> x = 1;\n\xc3\xa4\n", "2:1: unexpected byte 0xc3 [syntax]", ""},
		{"const bit<8> x = 1; # y\n", "1:21: unexpected character '#' [syntax]", ""},
		{"enum E { }\n", "1:10: unexpected '}', expected a name [syntax]", ""},
		{"enum E { A = 1 }\n", "1:10: member A has a value, but enum E has no underlying type [enum-value]", ""},
		{"enum bit<8> E { A }\n", "1:17: member A of a serializable enum needs a value [enum-value]", ""},
		{"extern E { F(); E(); }\nextern F { E(); }", "1:13: unexpected '(', expected a name [syntax]", ""},
		{"extern E {}\nextern F { E(); }\n", "2:12: constructor E in extern F [misplaced]", ""},
		{"parser P() { }\n", "1:8: parser P has no states [no-states]", ""},
		{"parser P() { state start { switch (x) { } } }\n", "1:28: switch statement in a parser state [misplaced]", ""},
		{"parser P() { state start { } bit<8> x; }\n", "1:30: declaration behind a parser state [misplaced]", ""},
		{"@a error { A }\n", "1:1: an error declaration takes no annotations [misplaced]", ""},
		{"control C() {\n action a() {}\n", "3:1: unexpected end of file, expected a type, action, const, table or an annotation [syntax]", "a '}' is missing before the end of the file"},
		{"bit<8> x = 1;\n", "1:10: unexpected '=', expected '<' or '(' [syntax]", ""},
		{"foo\n", "2:1: unexpected end of file, expected a name [syntax]", ""},
	}
	for _, tt := range tests {
		p, diags := parse(tt.in)
		if !diags.HasErrors() {
			t.Errorf("%q: no error, tree %s", tt.in, dump(p))
			continue
		}
		got := strings.Replace(strings.TrimPrefix(diags[0].Error(), "t.p4:"), " error:", "", 1)
		if got != tt.want {
			t.Errorf("%q:\ngot  %s\nwant %s", tt.in, got, tt.want)
		}
		if tt.hint != "" && diags[0].Hint != tt.hint {
			t.Errorf("%q: hint %q, want %q", tt.in, diags[0].Hint, tt.hint)
		}
	}
}

// TestRecovery finds several errors in one program.
func TestRecovery(t *testing.T) {
	src := "header h {\n  bit<8> a\n  bit<8> b;\n}\nstruct s {\n  bit<8 c;\n}\ncontrol C() {\n  apply {\n    x = ;\n    y = 1;\n    z = 2 +;\n  }\n}\n"
	_, diags := parse(src)
	lines := map[int]bool{}
	for _, d := range diags {
		lines[d.At.Line] = true
	}
	for _, want := range []int{2, 6, 10, 12} {
		if !lines[want] {
			t.Errorf("no error on line %d: %v", want, diags)
		}
	}
	if len(diags) > 6 {
		t.Errorf("%d diagnostics for four mistakes", len(diags))
	}
}

// TestDeep gives programs that nest without bounds: they are rejected and exhaust no stack.
func TestDeep(t *testing.T) {
	n := 30_000
	in := func(s string) string { return "control C() { apply { " + s + " } }" }
	for name, src := range map[string]string{
		"parentheses": in("x = " + strings.Repeat("(", n) + "1" + strings.Repeat(")", n) + ";"),
		"open":        in("x = " + strings.Repeat("(", n)),
		"blocks":      in(strings.Repeat("{", n) + strings.Repeat("}", n)),
		"prefix":      in("x = " + strings.Repeat("!", n) + "1;"),
		"casts":       in("x = " + strings.Repeat("(bit<8>)", n) + "1;"),
		"ternary":     in("x = " + strings.Repeat("a ? b : ", n) + "1;"),
		"sum":         in("x = " + strings.Repeat("a + ", n) + "1;"),
		"else if":     in(strings.Repeat("if (a) {} else ", n) + "{}"),
		"if if":       in(strings.Repeat("if (a) ", n) + ";"),
		"else if ;":   in(strings.Repeat("if (a) ; else ", n) + ";"),
		"types":       "typedef " + strings.Repeat("tuple<", n) + "bit<8>" + strings.Repeat(">", n) + " t;",
		"member":      in("x = a" + strings.Repeat(".a", n) + ";"),
		"calls":       in("x = a" + strings.Repeat("(1)", n) + ";"),
		"width":       "typedef " + strings.Repeat("bit<(", n) + "1" + strings.Repeat(")>", n) + " t;",
		"lists":       in("x = " + strings.Repeat("{", n) + strings.Repeat("}", n) + ";"),
	} {
		_, diags := parse(src)
		if len(diags) != 1 || diags[0].Code != CodeTooComplex {
			t.Errorf("%s: %d diagnostics, want one that it is too complex: %.200v", name, len(diags), diags)
		}
	}
}

// TestLong gives long programs that do not nest: all of them are fine.
func TestLong(t *testing.T) {
	n := 3000
	in := func(s string) string { return "control C() { apply { " + s + " } }" }
	for name, src := range map[string]string{
		"statements":   in(strings.Repeat("x = x + 1; ", n)),
		"ifs":          in(strings.Repeat("if (a) { x = 1; } ", n)),
		"if else":      in(strings.Repeat("if (a) { x = 1; } else { x = 2; } ", n)),
		"calls":        in(strings.Repeat("t.apply(); ", n)),
		"arguments":    in("f(" + strings.Repeat("a + b, ", n) + "1);"),
		"list":         in("x = {" + strings.Repeat("{a, 1}, ", n) + "1};"),
		"declarations": strings.Repeat("const bit<8> x = 1;\n", n),
		"headers":      strings.Repeat("header h { bit<8> x; }\n", n),
		"annotated":    strings.Repeat("@a(\"b\") @c header h { @d bit<8> x; }\n", n),
		"enum":         "enum E { " + strings.Repeat("A, ", n) + "B }",
		"entries":      "control C() { table t { entries = {" + strings.Repeat("(1, 2 &&& 3): a(4);", n) + "} } apply {} }",
	} {
		if _, diags := parse(src); len(diags) > 0 {
			t.Errorf("%s: %v", name, diags)
		}
	}
}

// TestScopes: which names are types depends on where they are used.
func TestScopes(t *testing.T) {
	for name, src := range map[string]string{
		"parameter hides a type":            "struct H {} control C(in bit<8> H) { apply { x = (H) - 1; y = H < 2; } } const H h = x;",
		"local hides a type":                "struct H {} control C() { apply { bit<8> H = 1; x = (H) + 1; } } control D() { apply { H h; } }",
		"type parameter ends with its decl": "extern E<T> { T f(in T t); } const bit<8> T = 1; const bit<8> x = (T) + 1;",
		"field hides nothing":               "header t1 {} struct s { t1 t1; t1 t2; }",
		"instance hides a type":             "extern E { E(); } control C() { E() E; apply { x = (E) + 1; } }",
		"action and its parameter":          "struct H {} control C() { action a(bit<8> H) { x = (H) + 1; } H h; apply {} }",
		"function":                          "struct H {} bit<8> f(in bit<8> H) { return (H) + 1; } const H h = f(1);",
		"loop variable":                     "struct H {} control C() { apply { for (bit<8> H in 1..3) { x = (H) + 1; } } }",
		"annotation with a type's name":     "struct H {} @H H f(@H in H h) { return h; }",
		"keywords as names":                 "control C() { action apply() {} table key { key = { key: exact; } actions = { actions; } entries = { 1: state(); } } apply { type = priority; entries.apply(); } }",
	} {
		if _, diags := parse(src); len(diags) > 0 {
			t.Errorf("%s: %v", name, diags)
		}
	}
}

func TestPositions(t *testing.T) {
	src := "// c\n@a control C() {\n  apply {\n    x = a + b[1];\n  }\n}\n"
	p, diags := parse(src)
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	text := func(n ast.Node) string { return src[n.Pos()-1 : n.End()-1] }
	c := p.Decls[0].(*ast.ControlDecl)
	s := c.Apply.List[0].(*ast.AssignStmt)
	sum := s.RHS.(*ast.Binary)
	for _, tt := range []struct{ got, want string }{
		{text(c), "@a control C() {\n  apply {\n    x = a + b[1];\n  }\n}"}, {text(c.Name), "C"}, {text(s), "x = a + b[1];"},
		{text(sum), "a + b[1]"}, {text(sum.Y), "b[1]"}, {src[sum.OpPos-1 : sum.OpPos], "+"},
	} {
		if tt.got != tt.want {
			t.Errorf("got %q, want %q", tt.got, tt.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"const bit<8> x = (T) a < b >> 2 ? f<T>(1) : { a = 1, ... };", "@pragma x y\n@a(b(c)) header h<T> { T[2] x; varbit<(8)> y; }",
		"parser P<A>(in A a)(int n) { value_set<bit<8>>(4) v; state start { transition select(a, b) { (1, _): x; 1 &&& 2: y; default: z; } } }",
		"control C() { action a() {} table t { key = { a: exact; } actions = { a; } const entries = { priority = 1: 2: a(); } } apply { switch (t.apply().action_run) { a: {} } for (bit<8> i in 1..2) { } T.apply(); } }",
		"extern E<T> { E(); abstract void f<U>(in U u = 1); } package K<T>(T t); typedef struct S {} X; type bit<9> p; E<bit<8>>() e = { void f() {} };",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		p, diags := parse(src)
		if p == nil && !diags.HasErrors() {
			t.Fatal("neither a program nor an error")
		}
		Tokens(src)
		DeclaredTypes(src)
	})
}

func BenchmarkParse(b *testing.B) {
	var src strings.Builder
	for i := 0; i < 500; i++ {
		src.WriteString("control C(inout H h, inout bit<8> m) {\n  action a(bit<8> p) { h.x.y = (bit<8>) p + 1; }\n  table t { key = { h.x.y: exact; } actions = { a; } size = 4; }\n" +
			"  apply {\n    if (t.apply().hit && m > 3) { f<bit<8>>(h.x.z[3:0], m >> 2); }\n  }\n}\n")
	}
	text := src.String()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, diags := parse(text); len(diags) > 0 {
			b.Fatal(diags)
		}
	}
}
