package types

// Codes of the diagnostics about calls, objects, statements and parsers. See codes.go.
const (
	// CodeNotCallable: something is called or instantiated that cannot be: a value, a type without constructor, a table
	// without apply.
	//
	// Wrong:
	//
	//	control c(inout bit<8> x) {
	//	    apply { x(); }
	//	}
	//
	// Right:
	//
	//	control c(inout bit<8> x) {
	//	    action a() { x = 1; }
	//	    apply { a(); }
	//	}
	CodeNotCallable Code = "not-callable"

	// CodeArgCount: a call has too many or too few arguments, or no overloaded function takes them.
	//
	// Wrong:
	//
	//	extern void f(in bit<8> a, in bit<8> b);
	//	control c() {
	//	    apply { f(1); }
	//	}
	//
	// Right:
	//
	//	extern void f(in bit<8> a, in bit<8> b);
	//	control c() {
	//	    apply { f(1, 2); }
	//	}
	CodeArgCount Code = "argument-count"

	// CodeArgName: a named argument names no parameter, names one twice, or stands beside arguments without name.
	//
	// Wrong:
	//
	//	extern void f(in bit<8> a, in bit<8> b);
	//	control c() {
	//	    apply { f(a = 1, c = 2); }
	//	}
	//
	// Right:
	//
	//	extern void f(in bit<8> a, in bit<8> b);
	//	control c() {
	//	    apply { f(a = 1, b = 2); }
	//	}
	CodeArgName Code = "argument-name"

	// CodeAmbiguous: several functions of one name take the arguments; only their number and names tell functions apart.
	//
	// Wrong:
	//
	//	extern void f(in bit<8> a);
	//	extern void f(in bit<16> b);
	//	control c() {
	//	    apply { f(1); }
	//	}
	//
	// Right:
	//
	//	extern void f(in bit<8> a);
	//	extern void f(in bit<16> b);
	//	control c() {
	//	    apply { f(a = 1); }
	//	}
	CodeAmbiguous Code = "ambiguous-call"

	// CodeDirection: a parameter has a direction that it cannot have, or a default value that its direction forbids.
	//
	// Wrong:
	//
	//	control c() {
	//	    action a(bit<8> port, in bit<8> x) {}
	//	    apply { a(1, 2); }
	//	}
	//
	// Right:
	//
	//	control c() {
	//	    action a(in bit<8> x, bit<8> port) {}
	//	    apply { a(1, 2); }
	//	}
	CodeDirection Code = "direction"

	// CodeParamType: a parameter has a type that it cannot have (specification appendix F).
	//
	// Wrong:
	//
	//	extern e { e(); }
	//	control c() {
	//	    action a(e x) {}
	//	    apply {}
	//	}
	//
	// Right:
	//
	//	extern e { e(); void f(); }
	//	control c() {
	//	    e() x;
	//	    action a() { x.f(); }
	//	    apply { a(); }
	//	}
	CodeParamType Code = "parameter-type"

	// CodeCallPlace: a call stands where it is not allowed: a table applied in an action, a parser in a control, an action
	// called in a parser.
	//
	// Wrong:
	//
	//	control c() {
	//	    table t { actions = { NoAction; } }
	//	    action a() { t.apply(); }
	//	    apply { a(); }
	//	}
	//
	// Right:
	//
	//	control c() {
	//	    table t { actions = { NoAction; } }
	//	    apply { t.apply(); }
	//	}
	CodeCallPlace Code = "call-place"

	// CodeRecursion: a function, action, parser, control or table uses itself.
	//
	// Wrong:
	//
	//	bit<8> f(in bit<8> n) {
	//	    return f(n - 1);
	//	}
	//
	// Right:
	//
	//	bit<8> f(in bit<8> n) {
	//	    bit<8> sum = 0;
	//	    for (bit<8> i in 0 .. 7) { sum = sum + n; }
	//	    return sum;
	//	}
	CodeRecursion Code = "recursion"

	// CodeInstance: an object is instantiated where it cannot be.
	//
	// Wrong:
	//
	//	control inner() { apply {} }
	//	control c() {
	//	    apply {
	//	        inner() i;
	//	        i.apply();
	//	    }
	//	}
	//
	// Right:
	//
	//	control inner() { apply {} }
	//	control c() {
	//	    inner() i;
	//	    apply { i.apply(); }
	//	}
	CodeInstance Code = "instance-place"

	// CodeAbstract: an extern with abstract methods is instantiated without implementing all of them.
	//
	// Wrong:
	//
	//	extern e {
	//	    e();
	//	    abstract bit<8> f(in bit<8> x);
	//	}
	//	e() x;
	//
	// Right:
	//
	//	extern e {
	//	    e();
	//	    abstract bit<8> f(in bit<8> x);
	//	}
	//	e() x = {
	//	    bit<8> f(in bit<8> x) { return x; }
	//	};
	CodeAbstract Code = "abstract-method"

	// CodeBadMethod: a method is declared or implemented wrongly: it lacks a return type, or differs from the abstract one.
	//
	// Wrong:
	//
	//	extern e {
	//	    e();
	//	    abstract bit<8> f(in bit<8> x);
	//	}
	//	e() x = {
	//	    bit<8> f(in bit<16> x) { return 1; }
	//	};
	//
	// Right:
	//
	//	extern e {
	//	    e();
	//	    abstract bit<8> f(in bit<8> x);
	//	}
	//	e() x = {
	//	    bit<8> f(in bit<8> x) { return 1; }
	//	};
	CodeBadMethod Code = "bad-method"

	// CodeCoreMethod: extract, lookahead or emit has an argument that packets cannot hold.
	//
	// Wrong:
	//
	//	struct s { bit<8> x; }
	//	parser p(packet_in b, out s h) {
	//	    state start { b.extract(h); transition accept; }
	//	}
	//
	// Right:
	//
	//	header s { bit<8> x; }
	//	parser p(packet_in b, out s h) {
	//	    state start { b.extract(h); transition accept; }
	//	}
	CodeCoreMethod Code = "core-method"

	// CodeMain: the program has no package instance named main, or main is something else.
	//
	// Wrong:
	//
	//	extern main { main(); }
	//
	// Right:
	//
	//	control C();
	//	package top(C c);
	//	control c() { apply {} }
	//	top(c()) main;
	CodeMain Code = "main"

	// CodeAnnotation: a predefined annotation has the wrong body, or stands where it means nothing.
	//
	// Wrong:
	//
	//	control c() {
	//	    @name(drop) action a() {}
	//	    apply { a(); }
	//	}
	//
	// Right:
	//
	//	control c() {
	//	    @name("drop") action a() {}
	//	    apply { a(); }
	//	}
	CodeAnnotation Code = "annotation"

	// CodePlace: a declaration, statement or expression stands where it is not allowed.
	//
	// Wrong:
	//
	//	control c(inout bit<8> x) {
	//	    apply {
	//	        if (x == 0) { break; }
	//	    }
	//	}
	//
	// Right:
	//
	//	control c(inout bit<8> x) {
	//	    apply {
	//	        for (bit<8> i in 0 .. 7) {
	//	            if (x == i) { break; }
	//	        }
	//	    }
	//	}
	CodePlace Code = "misplaced"

	// CodeReturn: a return statement has a value where none is returned, or none where one is.
	//
	// Wrong:
	//
	//	bit<8> f() {
	//	    return;
	//	}
	//
	// Right:
	//
	//	bit<8> f() {
	//	    return 1;
	//	}
	CodeReturn Code = "bad-return"

	// CodeMissingReturn: a function that returns a value does not do so on every path.
	//
	// Wrong:
	//
	//	bit<8> f(in bool b) {
	//	    if (b) { return 1; }
	//	}
	//
	// Right:
	//
	//	bit<8> f(in bool b) {
	//	    if (b) { return 1; }
	//	    return 0;
	//	}
	CodeMissingReturn Code = "missing-return"

	// CodeSwitch: a switch is on a value that it cannot be on, or has a label that is no action of the table, or a label
	// behind default.
	//
	// Wrong:
	//
	//	control c(in bool b) {
	//	    apply {
	//	        switch (b) { true: {} }
	//	    }
	//	}
	//
	// Right:
	//
	//	control c(in bit<1> b) {
	//	    apply {
	//	        switch (b) { 1: {} }
	//	    }
	//	}
	CodeSwitch Code = "bad-switch"

	// CodeBadState: a parser has no state start, declares accept or reject, or never comes to an end.
	//
	// Wrong:
	//
	//	parser p(packet_in b) {
	//	    state begin { transition accept; }
	//	}
	//
	// Right:
	//
	//	parser p(packet_in b) {
	//	    state start { transition accept; }
	//	}
	CodeBadState Code = "bad-state"

	// CodeSelect: the argument of select has a type that labels cannot match.
	//
	// Wrong:
	//
	//	struct s { bit<8> x; }
	//	parser p(packet_in b, in s h) {
	//	    state start {
	//	        transition select(h) { default: accept; }
	//	    }
	//	}
	//
	// Right:
	//
	//	struct s { bit<8> x; }
	//	parser p(packet_in b, in s h) {
	//	    state start {
	//	        transition select(h.x) { default: accept; }
	//	    }
	//	}
	CodeSelect Code = "bad-select"

	// CodeKeyset: a mask, range or value set does not fit the key that it is compared with.
	//
	// Wrong:
	//
	//	parser p(packet_in b, in bool h) {
	//	    state start {
	//	        transition select(h) { false .. true: accept; }
	//	    }
	//	}
	//
	// Right:
	//
	//	parser p(packet_in b, in bit<8> h) {
	//	    state start {
	//	        transition select(h) { 0 .. 1: accept; }
	//	    }
	//	}
	CodeKeyset Code = "bad-keyset"

	// CodeKeysetCount: a label or the key of an entry has more or fewer components than there are keys.
	//
	// Wrong:
	//
	//	parser p(packet_in b, in bit<8> x, in bit<8> y) {
	//	    state start {
	//	        transition select(x, y) { (1, 2, 3): accept; }
	//	    }
	//	}
	//
	// Right:
	//
	//	parser p(packet_in b, in bit<8> x, in bit<8> y) {
	//	    state start {
	//	        transition select(x, y) { (1, 2): accept; }
	//	    }
	//	}
	CodeKeysetCount Code = "keyset-count"
)
