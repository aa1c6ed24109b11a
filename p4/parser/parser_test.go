package parser

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"khop/p4/ast"
	"khop/p4/diag"
)

// lines resolves positions of a text that has no source map.
type lines string

func (l lines) Position(p diag.Pos) diag.Position {
	if p == diag.NoPos {
		return diag.Position{}
	}
	pre := string(l)[:min(int(p)-1, len(l))]
	return diag.Position{File: "t.p4", Line: strings.Count(pre, "\n") + 1, Column: len(pre) - strings.LastIndexByte(pre, '\n')}
}

func parse(src string) (*ast.Program, diag.List) { return Parse(src, lines(src)) }

// dump writes a tree as one line: (Kind field ...), without positions and empty fields.
func dump(n any) string {
	var b strings.Builder
	dumpValue(&b, reflect.ValueOf(n))
	return b.String()
}

func dumpValue(b *strings.Builder, v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface:
		dumpValue(b, v.Elem())
	case reflect.Pointer:
		switch x := v.Interface().(type) {
		case *ast.Ident:
			b.WriteString(x.Name)
		case *ast.Name:
			b.WriteString(dot(x.Global) + x.Name)
		case *ast.TypeName:
			b.WriteString(dot(x.Global) + x.Name.Name + "!")
		case *ast.IntLit:
			b.WriteString(x.Text)
		case *ast.StringLit:
			b.WriteString(x.Text)
		case *ast.BoolLit:
			fmt.Fprint(b, x.Value)
		case *ast.BaseType:
			b.WriteString(x.Kind.String())
			if x.Width != nil {
				b.WriteString("<" + dump(x.Width) + ">")
			}
		default:
			dumpValue(b, v.Elem())
		}
	case reflect.Slice:
		b.WriteByte('[')
		for i := 0; i < v.Len(); i++ {
			if i > 0 {
				b.WriteByte(' ')
			}
			dumpValue(b, v.Index(i))
		}
		b.WriteByte(']')
	case reflect.Struct:
		b.WriteString("(" + v.Type().Name())
		for i := 0; i < v.NumField(); i++ {
			f := v.Type().Field(i)
			if f.Anonymous || f.Name == "OpPos" || v.Field(i).IsZero() || v.Field(i).Kind() == reflect.Slice && v.Field(i).Len() == 0 {
				continue
			}
			b.WriteByte(' ')
			if v.Field(i).Kind() == reflect.Bool {
				b.WriteString(f.Name)
				continue
			}
			b.WriteString(f.Name + ":")
			dumpValue(b, v.Field(i))
		}
		b.WriteByte(')')
	default:
		fmt.Fprint(b, v.Interface())
	}
}

func dot(global bool) string {
	if global {
		return "."
	}
	return ""
}

// TestDeclarations parses one declaration each; T, U and H are types, and f is a function.
func TestDeclarations(t *testing.T) {
	const pre = "struct T {} header H {} extern U<A> { U(int n); } "
	tests := []struct{ in, want string }{
		{"const bit<8> x = 1;", "(ConstDecl Type:bit<8> Name:x Value:1)"},
		{"@a @b(c (1), \"s\") @d[1, x] @e[k=1, l=y] const T x = y;", "(ConstDecl Annos:[(Annotation Name:a) " +
			`(Annotation Name:b HasBody Body:c (1), "s" Tokens:[(Token Text:c) (Token Text:() (Token Text:1) (Token Text:)) (Token Text:,) (Token Text:"s")]) ` +
			"(Annotation Name:d Structured Exprs:[1 x]) (Annotation Name:e Structured KVs:[(KeyValue Name:k Value:1) (KeyValue Name:l Value:y)])] Type:T! Name:x Value:y)"},
		{"@pragma p 1 q\nconst T x = y;", "(ConstDecl Annos:[(Annotation Name:p HasBody Body:1 q Tokens:[(Token Text:1) (Token Text:q)] Pragma)] Type:T! Name:x Value:y)"},
		{"U<bit<8>>(3) u;", "(Instantiation Type:(SpecializedType Base:U! Args:[bit<8>]) Args:[(Arg Value:3)] Name:u)"},
		{"T(a=1, b=_, _) u;", "(Instantiation Type:T! Args:[(Arg Name:a Value:1) (Arg Name:b Value:(DontCare)) (Arg Value:(DontCare))] Name:u)"},
		{"T() u = { void f() {} T() v; };", "(Instantiation Type:T! Name:u HasInit Init:[(FuncDecl Proto:(FuncProto Result:void Name:f) Body:(BlockStmt)) (Instantiation Type:T! Name:v)])"},
		{"@a[k=1] T(1) u;", "(Instantiation Annos:[(Annotation Name:a Structured KVs:[(KeyValue Name:k Value:1)])] Type:T! Args:[(Arg Value:1)] Name:u)"},
		{"Main(T()) m;", "(Instantiation Type:Main! Args:[(Arg Value:(CallExpr Fun:(TypeExpr Type:T!)))] Name:m)"},
		{"error { A, B }", "(ErrorDecl Names:[A B])"},
		{"match_kind { a, b, }", "(MatchKindDecl Names:[a b])"},
		{"extern E<V> { E(bit<8> n); @x V get<W>(in W w, out V v); abstract void put(); }", "(ExternDecl Name:E TypeParams:[V] Methods:[" +
			"(FuncProto Name:E Params:[(Param Type:bit<8> Name:n)]) (FuncProto Annos:[(Annotation Name:x)] Result:V! Name:get TypeParams:[W] " +
			"Params:[(Param Dir:in Type:W! Name:w) (Param Dir:out Type:V! Name:v)]) (FuncProto Abstract Result:void Name:put)])"},
		{"extern V f<V>(in V v = 1);", "(ExternFunc Proto:(FuncProto Result:V! Name:f TypeParams:[V] Params:[(Param Dir:in Type:V! Name:v Default:1)]))"},
		{"extern tuple<V> f<V>();", "(ExternFunc Proto:(FuncProto Result:(TupleType Args:[V!]) Name:f TypeParams:[V]))"},
		{"bit<8> f(inout T t) { return 1; }", "(FuncDecl Proto:(FuncProto Result:bit<8> Name:f Params:[(Param Dir:inout Type:T! Name:t)]) Body:(BlockStmt List:[(ReturnStmt Value:1)]))"},
		{"action a(in T t, bit<8> d) {}", "(ActionDecl Name:a Params:[(Param Dir:in Type:T! Name:t) (Param Type:bit<8> Name:d)] Body:(BlockStmt))"},
		{"parser P<V>(in V v);", "(ParserDecl Name:P TypeParams:[V] Params:[(Param Dir:in Type:V! Name:v)] IsType)"},
		{"control C(in T t);", "(ControlDecl Name:C Params:[(Param Dir:in Type:T! Name:t)] IsType)"},
		{"package K<V>(T t, V v);", "(PackageDecl Name:K TypeParams:[V] Params:[(Param Type:T! Name:t) (Param Type:V! Name:v)])"},
		{"header X<V> { V v; varbit<(8*4)> o; @a bool[4] b; bit<8> c[2][3]; }", "(HeaderDecl Name:X TypeParams:[V] Fields:[(Field Type:V! Name:v) " +
			"(Field Type:varbit<(Paren X:(Binary Op:* X:8 Y:4))> Name:o) (Field Annos:[(Annotation Name:a)] Type:(ArrayType Elem:bool Size:4) Name:b) " +
			"(Field Type:(ArrayType Elem:(ArrayType Elem:bit<8> Size:2) Size:3) Name:c)])"},
		{"header_union X { H h; }", "(UnionDecl Name:X Fields:[(Field Type:H! Name:h)])"},
		{"struct X { list<tuple<bit<8>,T>> l; error e; string s; match_kind k; int i; bit b; .T t; }", "(StructDecl Name:X Fields:[" +
			"(Field Type:(ListType Elem:(TupleType Args:[bit<8> T!])) Name:l) (Field Type:error Name:e) (Field Type:string Name:s) " +
			"(Field Type:match_kind Name:k) (Field Type:int Name:i) (Field Type:bit Name:b) (Field Type:.T! Name:t)])"},
		{"enum X { A, B }", "(EnumDecl Name:X Members:[(EnumMember Name:A) (EnumMember Name:B)])"},
		{"enum bit<8> X { A = 1, B = 2, }", "(EnumDecl Type:bit<8> Name:X Members:[(EnumMember Name:A Value:1) (EnumMember Name:B Value:2)])"},
		{"enum T X { A = 1 }", "(EnumDecl Type:T! Name:X Members:[(EnumMember Name:A Value:1)])"},
		{"typedef bit<(W+1)> X;", "(TypedefDecl Type:bit<(Paren X:(Binary Op:+ X:W Y:1))> Name:X)"},
		{"typedef U<U<T>> X;", "(TypedefDecl Type:(SpecializedType Base:U! Args:[(SpecializedType Base:U! Args:[T!])]) Name:X)"},
		{"typedef struct S { bit<8> a; } X;", "(TypedefDecl Derived:(StructDecl Name:S Fields:[(Field Type:bit<8> Name:a)]) Name:X)"},
		{"@p4runtime_translation(\"\", 32) type bit<9> X;", `(TypedefDecl Annos:[(Annotation Name:p4runtime_translation HasBody Body:"", 32 Tokens:[(Token Text:"") (Token Text:,) (Token Text:32)])] IsNew Type:bit<9> Name:X)`},
	}
	for _, tt := range tests {
		p, diags := parse(pre + tt.in)
		if len(diags) > 0 {
			t.Errorf("%s: %v", tt.in, diags)
			continue
		}
		if got := dump(p.Decls[len(p.Decls)-1]); got != tt.want {
			t.Errorf("%s:\ngot  %s\nwant %s", tt.in, got, tt.want)
		}
	}
}

// TestBlocks parses the contents of parsers, controls and tables.
func TestBlocks(t *testing.T) {
	const pre = "struct T {} extern U<A> { U(int n); } "
	tests := []struct{ in, want string }{
		{"parser P(in T t)(bit<8> n) { value_set<T>(4) v; bit<8> x = 1; const T c = d; U<T>(1) u; state start { x = 2; } }",
			"(ParserDecl Name:P Params:[(Param Dir:in Type:T! Name:t)] HasCtor CtorParams:[(Param Type:bit<8> Name:n)] Locals:[" +
				"(ValueSetDecl Type:T! Size:4 Name:v) (VarDecl Type:bit<8> Name:x Init:1) (ConstDecl Type:T! Name:c Value:d) " +
				"(Instantiation Type:(SpecializedType Base:U! Args:[T!]) Args:[(Arg Value:1)] Name:u)] " +
				"States:[(ParserState Name:start Stmts:[(AssignStmt LHS:x Op:= RHS:2)])])"},
		{"parser P() { @n state start { transition next; } state next { transition select(a, b[1:0]) { (1, 2): x; 3 &&& 4: y; (1..2, _): z; (5 &&& 6): z; (7): w; v: w; _: reject; default: accept; } } }",
			"(ParserDecl Name:P States:[(ParserState Annos:[(Annotation Name:n)] Name:start Transition:next) (ParserState Name:next Select:(SelectExpr " +
				"Exprs:[a (Slice X:b Hi:1 Lo:0)] Cases:[(SelectCase Keys:[1 2] Next:x) (SelectCase Keys:[(MaskExpr X:3 Mask:4)] Next:y) " +
				"(SelectCase Keys:[(RangeExpr Lo:1 Hi:2) (DontCare)] Next:z) (SelectCase Keys:[(MaskExpr X:5 Mask:6)] Next:z) (SelectCase Keys:[(Paren X:7)] Next:w) " +
				"(SelectCase Keys:[v] Next:w) (SelectCase Keys:[(DontCare)] Next:reject) (SelectCase Keys:[(DefaultExpr)] Next:accept)]))])"},
		{"control C()() { action a() {} apply {} }", "(ControlDecl Name:C HasCtor Locals:[(ActionDecl Name:a Body:(BlockStmt))] Apply:(BlockStmt))"},
		{"control C() { table t { key = { h.a: exact @name(\"x\"); b: lpm; } actions = { a; @x b(1); .c; } const default_action = a(); size = 4; @y other = { 1, 2 }; } apply @z {} }",
			`(ControlDecl Name:C Locals:[(TableDecl Name:t Props:[(KeyProp Elems:[(KeyElem Expr:(Member X:h Name:a) MatchKind:exact Annos:[(Annotation Name:name HasBody Body:"x" Tokens:[(Token Text:"x")])]) (KeyElem Expr:b MatchKind:lpm)]) ` +
				"(ActionsProp Actions:[(ActionRef Name:a) (ActionRef Annos:[(Annotation Name:x)] Name:b HasArgs Args:[(Arg Value:1)]) (ActionRef Global Name:c)]) " +
				"(Property Const Name:default_action Value:(CallExpr Fun:a)) (Property Name:size Value:4) (Property Annos:[(Annotation Name:y)] Name:other Value:(ListExpr Elems:[1 2]))])] " +
				"Apply:(BlockStmt Annos:[(Annotation Name:z)]))"},
		{"control C() { table t { const entries = { (1, 2 &&& 3): a(1); _: b; const priority = 5: 4: c; priority = (6): default: d @e; (x): f; } } apply {} }",
			"(ControlDecl Name:C Locals:[(TableDecl Name:t Props:[(EntriesProp Const Entries:[" +
				"(TableEntry Keys:[1 (MaskExpr X:2 Mask:3)] Action:(ActionRef Name:a HasArgs Args:[(Arg Value:1)])) (TableEntry Keys:[(DontCare)] Action:(ActionRef Name:b)) " +
				"(TableEntry Const Priority:5 Keys:[4] Action:(ActionRef Name:c)) (TableEntry Priority:(Paren X:6) Keys:[(DefaultExpr)] Action:(ActionRef Name:d) Annos:[(Annotation Name:e)]) " +
				"(TableEntry Keys:[(Paren X:x)] Action:(ActionRef Name:f))])])] Apply:(BlockStmt))"},
	}
	for _, tt := range tests {
		p, diags := parse(pre + tt.in)
		if len(diags) > 0 {
			t.Errorf("%s: %v", tt.in, diags)
			continue
		}
		if got := dump(p.Decls[len(p.Decls)-1]); got != tt.want {
			t.Errorf("%s:\ngot  %s\nwant %s", tt.in, got, tt.want)
		}
	}
}

func TestStatements(t *testing.T) {
	tests := []struct{ in, want string }{
		{";", "(EmptyStmt)"},
		{"exit;", "(ExitStmt)"},
		{"return;", "(ReturnStmt)"},
		{"a.b[1].c = 2;", "(AssignStmt LHS:(Member X:(Index X:(Member X:a Name:b) Index:1) Name:c) Op:= RHS:2)"},
		{".g[3:1] |+|= 2;", "(AssignStmt LHS:(Slice X:.g Hi:3 Lo:1) Op:|+|= RHS:2)"},
		{"(x) >>= 2;", "(AssignStmt LHS:(Paren X:x) Op:>>= RHS:2)"},
		{"x[i+:4] = 2;", "(AssignStmt LHS:(Slice X:x Hi:i Lo:4 Plus) Op:= RHS:2)"},
		{"f(1, _, n = x);", "(CallStmt Call:(CallExpr Fun:f Args:[(Arg Value:1) (Arg Value:(DontCare)) (Arg Name:n Value:x)]))"},
		{"a.f<bit<8>, T>(x);", "(CallStmt Call:(CallExpr Fun:(Member X:a Name:f) TypeArgs:[bit<8> T!] Args:[(Arg Value:x)]))"},
		{"this.f();", "(CallStmt Call:(CallExpr Fun:(Member X:(This) Name:f)))"},
		{"apply.apply();", "(CallStmt Call:(CallExpr Fun:(Member X:apply Name:apply)))"},
		{"T.apply(x);", "(CallStmt Call:(CallExpr Fun:(Member X:(TypeExpr Type:T!) Name:apply) Args:[(Arg Value:x)]))"},
		{"U<T>.apply(x);", "(CallStmt Call:(CallExpr Fun:(Member X:(TypeExpr Type:(SpecializedType Base:U! Args:[T!])) Name:apply) Args:[(Arg Value:x)]))"},
		{"T x;", "(DeclStmt Decl:(VarDecl Type:T! Name:x))"},
		{"@a T x = { 1 };", "(DeclStmt Decl:(VarDecl Annos:[(Annotation Name:a)] Type:T! Name:x Init:(ListExpr Elems:[1])))"},
		{"T[4] x;", "(DeclStmt Decl:(VarDecl Type:(ArrayType Elem:T! Size:4) Name:x))"},
		{"T(1) x;", "(DeclStmt Decl:(Instantiation Type:T! Args:[(Arg Value:1)] Name:x))"},
		{"Unknown x;", "(DeclStmt Decl:(VarDecl Type:Unknown! Name:x))"},
		{"Unknown<bit<8>>(1) x;", "(DeclStmt Decl:(Instantiation Type:(SpecializedType Base:Unknown! Args:[bit<8>]) Args:[(Arg Value:1)] Name:x))"},
		{"Unknown[4] x;", "(DeclStmt Decl:(VarDecl Type:(ArrayType Elem:Unknown! Size:4) Name:x))"},
		{"error e = error.A;", "(DeclStmt Decl:(VarDecl Type:error Name:e Init:(Member X:(TypeExpr Type:error) Name:A)))"},
		{"const bit<8> x = 1;", "(DeclStmt Decl:(ConstDecl Type:bit<8> Name:x Value:1))"},
		{"if (a) b = 1; else if (c) { d = 1; } else ;", "(IfStmt Cond:a Then:(AssignStmt LHS:b Op:= RHS:1) Else:(IfStmt Cond:c Then:(BlockStmt List:[(AssignStmt LHS:d Op:= RHS:1)]) Else:(EmptyStmt)))"},
		{"if (a) if (b) ; else exit;", "(IfStmt Cond:a Then:(IfStmt Cond:b Then:(EmptyStmt) Else:(ExitStmt)))"},
		{"@x { { } }", "(BlockStmt Annos:[(Annotation Name:x)] List:[(BlockStmt)])"},
		{"switch (t.apply().action_run) { a: b: { } default: { exit; } }", "(SwitchStmt Tag:(Member X:(CallExpr Fun:(Member X:t Name:apply)) Name:action_run) Cases:[(SwitchCase Label:a) (SwitchCase Label:b Body:(BlockStmt)) (SwitchCase Label:(DefaultExpr) Body:(BlockStmt List:[(ExitStmt)]))])"},
		{"switch (x) { 1: {} E.a: {} (bit<8>) 2: {} }", "(SwitchStmt Tag:x Cases:[(SwitchCase Label:1 Body:(BlockStmt)) (SwitchCase Label:(Member X:E Name:a) Body:(BlockStmt)) (SwitchCase Label:(Cast Type:bit<8> X:2) Body:(BlockStmt))])"},
		{"for (bit<8> i = 0, j = 1; i < 4; i += 1, f()) break;", "(ForStmt Init:[(DeclStmt Decl:(VarDecl Type:bit<8> Name:i Init:0)) (AssignStmt LHS:j Op:= RHS:1)] Cond:(Binary Op:< X:i Y:4) " +
			"Update:[(AssignStmt LHS:i Op:+= RHS:1) (CallStmt Call:(CallExpr Fun:f))] Body:(BreakStmt))"},
		{"@u for (; true; ) { continue; }", "(ForStmt Annos:[(Annotation Name:u)] Cond:true Body:(BlockStmt List:[(ContinueStmt)]))"},
		{"for (@k bit<8> i in 1 .. n) ;", "(ForInStmt VarAnnos:[(Annotation Name:k)] Type:bit<8> Name:i Collection:(RangeExpr Lo:1 Hi:n) Body:(EmptyStmt))"},
		{"for (T i in stack) ;", "(ForInStmt Type:T! Name:i Collection:stack Body:(EmptyStmt))"},
	}
	for _, tt := range tests {
		p, diags := parse("struct T {} extern U<A> { U(int n); } control C() { apply { " + tt.in + " } }")
		if len(diags) > 0 {
			t.Errorf("%s: %v", tt.in, diags)
			continue
		}
		if got := dump(p.Decls[2].(*ast.ControlDecl).Apply.List[0]); got != tt.want {
			t.Errorf("%s:\ngot  %s\nwant %s", tt.in, got, tt.want)
		}
	}
}

// TestExpressions: T, H and U are types; a, b, c and f are not.
func TestExpressions(t *testing.T) {
	bin := func(op, x, y string) string { return "(Binary Op:" + op + " X:" + x + " Y:" + y + ")" }
	tests := []struct{ in, want string }{
		// precedence, from low to high, and associativity
		{"a || b && c", bin("||", "a", bin("&&", "b", "c"))},
		{"a && b == c", bin("&&", "a", bin("==", "b", "c"))},
		{"a == b < c", bin("==", "a", bin("<", "b", "c"))},
		{"a < b | c", bin("<", "a", bin("|", "b", "c"))},
		{"a | b ^ c", bin("|", "a", bin("^", "b", "c"))},
		{"a ^ b & c", bin("^", "a", bin("&", "b", "c"))},
		{"a & b << c", bin("&", "a", bin("<<", "b", "c"))},
		{"a >> b ++ c", bin(">>", "a", bin("++", "b", "c"))},
		{"a |+| b * c", bin("|+|", "a", bin("*", "b", "c"))},
		{"a - b - c", bin("-", bin("-", "a", "b"), "c")},
		{"a ++ b |-| c", bin("|-|", bin("++", "a", "b"), "c")},
		{"a / b % c", bin("%", bin("/", "a", "b"), "c")},
		{"a * b + c", bin("+", bin("*", "a", "b"), "c")},
		{"a != b >= c <= d", bin("!=", "a", bin("<=", bin(">=", "b", "c"), "d"))},
		{"a > b", bin(">", "a", "b")},
		{"-a + !b", bin("+", "(Unary Op:- X:a)", "(Unary Op:! X:b)")},
		{"~-+a.b", "(Unary Op:~ X:(Unary Op:- X:(Unary Op:+ X:(Member X:a Name:b))))"},
		{"a ? b : c ? d : e", "(Ternary Cond:a Then:b Else:(Ternary Cond:c Then:d Else:e))"},
		{"a || b ? c : d", "(Ternary Cond:(Binary Op:|| X:a Y:b) Then:c Else:d)"},
		{"(a + b) * c", bin("*", "(Paren X:(Binary Op:+ X:a Y:b))", "c")},
		// casts or parentheses
		{"(bit<8>) a + b", bin("+", "(Cast Type:bit<8> X:a)", "b")},
		{"(T) - a", "(Cast Type:T! X:(Unary Op:- X:a))"},
		{"(a) - b", bin("-", "(Paren X:a)", "b")},
		{"(T) (a)", "(Cast Type:T! X:(Paren X:a))"},
		{"(T)(H) a", "(Cast Type:T! X:(Cast Type:H! X:a))"},
		{"(U<T>) { 1 }", "(Cast Type:(SpecializedType Base:U! Args:[T!]) X:(ListExpr Elems:[1]))"},
		{"(.T) a", "(Cast Type:.T! X:a)"},
		{"(T[2]) a", "(Cast Type:(ArrayType Elem:T! Size:2) X:a)"},
		{"(Unknown) 1", "(Cast Type:Unknown! X:1)"},
		{"a > (T) b", bin(">", "a", "(Cast Type:T! X:b)")},
		{"(T.x)", "(Paren X:(Member X:(TypeExpr Type:T!) Name:x))"},
		{"(int<8>) (bit<(a + 1)>) b", "(Cast Type:int<8> X:(Cast Type:bit<(Paren X:(Binary Op:+ X:a Y:1))> X:b))"},
		// type arguments or comparisons
		{"f<T>(a)", "(CallExpr Fun:f TypeArgs:[T!] Args:[(Arg Value:a)])"},
		{"f<U<U<T>>>(a)", "(CallExpr Fun:f TypeArgs:[(SpecializedType Base:U! Args:[(SpecializedType Base:U! Args:[T!])])] Args:[(Arg Value:a)])"},
		{"f<bit<8>>(a) >> 1", bin(">>", "(CallExpr Fun:f TypeArgs:[bit<8>] Args:[(Arg Value:a)])", "1")},
		{"f<_, void>(a)", "(CallExpr Fun:f TypeArgs:[(DontCareType) void] Args:[(Arg Value:a)])"},
		{"a < b", bin("<", "a", "b")},
		{"f(a < b, c > (d))", "(CallExpr Fun:f Args:[(Arg Value:(Binary Op:< X:a Y:b)) (Arg Value:(Binary Op:> X:c Y:(Paren X:d)))])"},
		{"a < T.x", bin("<", "a", "(Member X:(TypeExpr Type:T!) Name:x)")},
		{"a[3:0] < b >> 2", bin("<", "(Slice X:a Hi:3 Lo:0)", bin(">>", "b", "2"))},
		// operands
		{"U<T>(1)", "(CallExpr Fun:(TypeExpr Type:(SpecializedType Base:U! Args:[T!])) Args:[(Arg Value:1)])"},
		{"T(x = 1)", "(CallExpr Fun:(TypeExpr Type:T!) Args:[(Arg Name:x Value:1)])"},
		{"T", "T"},
		{"error.NoError", "(Member X:(TypeExpr Type:error) Name:NoError)"},
		{"a.apply().hit", "(Member X:(CallExpr Fun:(Member X:a Name:apply)) Name:hit)"},
		{"a[1][2:1]", "(Slice X:(Index X:a Index:1) Hi:2 Lo:1)"},
		{"a[b ? 1 : 2 + : 4]", "(Slice X:a Hi:(Ternary Cond:b Then:1 Else:2) Lo:4 Plus)"},
		{"{}", "(ListExpr)"},
		{"{ 1, a, }", "(ListExpr Elems:[1 a])"},
		{"{ 1, ... }", "(ListExpr Elems:[1] Dots)"},
		{"{ x = 1, y = { 2 } }", "(StructExpr Fields:[(KeyValue Name:x Value:1) (KeyValue Name:y Value:(ListExpr Elems:[2]))])"},
		{"{ x = 1, ... }", "(StructExpr Fields:[(KeyValue Name:x Value:1)] Dots)"},
		{"...", "(DotsExpr)"},
		{"{#}", "(InvalidHeader)"},
		{"this", "(This)"},
		{"true ? false : key", "(Ternary Cond:true Then:false Else:key)"},
		{`"a\"b"`, `"a\"b"`},
		{"a.list.type.T", "(Member X:(Member X:(Member X:a Name:list) Name:type) Name:T)"},
	}
	for _, tt := range tests {
		p, diags := parse("struct T {} header H {} extern U<A> { U(int n); } const bit<8> x = " + tt.in + ";")
		if len(diags) > 0 {
			t.Errorf("%s: %v", tt.in, diags)
			continue
		}
		if got := dump(p.Decls[3].(*ast.ConstDecl).Value); got != tt.want {
			t.Errorf("%s:\ngot  %s\nwant %s", tt.in, got, tt.want)
		}
	}
}
