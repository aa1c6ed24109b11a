package main

import (
	"khop/p4"
	"khop/p4/diag"
	"khop/p4/parser"
	"khop/p4/preproc"
	"khop/p4/types"
)

// stageCodes explains the codes of the stages before and after the checker, which documents its own.
var stageCodes = []types.Explanation{
	code(preproc.CodeInclude, "A file to include cannot be read, or files include one another without end.",
		"#include <v1modle.p4>", "#include <v1model.p4>"),
	code(preproc.CodeDirective, "A preprocessor directive is unknown or malformed, or stands without its #if.",
		"#ifdfe DEBUG\n#endif", "#ifdef DEBUG\n#endif"),
	code(preproc.CodeCondition, "The expression of an #if or #elif is malformed.",
		"#if PORTS >\n#endif", "#if PORTS > 16\n#endif"),
	code(preproc.CodeMacro, "The definition or the use of a macro is malformed.",
		"#define MAX(a, b) ((a) > (b) ? (a) : (b))\nconst bit<8> m = MAX(1);",
		"#define MAX(a, b) ((a) > (b) ? (a) : (b))\nconst bit<8> m = MAX(1, 2);"),
	warning(preproc.CodeRedefined, "A macro is defined again in another way; the later definition holds.",
		"#define PORTS 16\n#define PORTS 32", "#define PORTS 16\n#undef PORTS\n#define PORTS 32"),
	code(preproc.CodeUser, "The program itself says this, with #error or #warning.",
		"#ifndef PORTS\n#error define PORTS\n#endif", "#define PORTS 16\n#ifndef PORTS\n#error define PORTS\n#endif"),
	code(preproc.CodeUnterminated, "A comment or an #if has no end.",
		"/* the TTL\nconst bit<8> ttl = 64;", "/* the TTL */\nconst bit<8> ttl = 64;"),
	code(preproc.CodeTooLarge, "The program exceeds a limit of the preprocessor: the size of its text, the depth of included files, or what one macro expands to.", "", ""),

	code(parser.CodeSyntax, "A token stands where the grammar has no place for it.",
		"const bit<8> ttl = 64", "const bit<8> ttl = 64;"),
	code(parser.CodeTooComplex, "The program nests deeper than the parser follows.", "", ""),
	code(parser.CodeMisplaced, "Something stands where the language does not allow it.",
		"parser p(inout bit<8> x) {\n    state start {\n        exit;\n        transition accept;\n    }\n}",
		"parser p(inout bit<8> x) {\n    state start {\n        transition reject;\n    }\n}"),
	code(parser.CodeMixedList, "A list has elements with and without a name.",
		"struct pair { bit<8> a; bit<8> b; }\nconst pair p = { a = 1, 2 };", "struct pair { bit<8> a; bit<8> b; }\nconst pair p = { a = 1, b = 2 };"),
	code(parser.CodeNotInstantiable, "A type that has no constructor is instantiated.",
		"bit<8>(1) x;", "const bit<8> x = 1;"),
	code(parser.CodeNoStates, "A parser has no states.",
		"parser p(inout bit<8> x) {\n}", "parser p(inout bit<8> x) {\n    state start {\n        transition accept;\n    }\n}"),
	code(parser.CodeEnumValue, "An enum with an underlying type gives a value for each member; one without gives none.",
		"enum bit<8> proto { tcp, udp }", "enum bit<8> proto { tcp = 6, udp = 17 }"),
	code(parser.CodeNotStatement, "An expression without effect stands as a statement.",
		"control c(inout bit<8> x) {\n    apply { x; }\n}", "control c(inout bit<8> x) {\n    apply { x = x + 1; }\n}"),
	code(parser.CodeNotAssignable, "What stands left of an assignment can hold no value.",
		"bit<8> f(in bit<8> x) { return x; }\ncontrol c(inout bit<8> x) {\n    apply { f(x) = 1; }\n}",
		"bit<8> f(in bit<8> x) { return x; }\ncontrol c(inout bit<8> x) {\n    apply { x = f(1); }\n}"),
	code(parser.CodeTypeAsValue, "A type stands where a value is needed.",
		"const error e = error;", "const error e = error.NoError;"),
	code(parser.CodeBadNumber, "An integer literal has digits that its base does not have, or an impossible width.",
		"const bit<8> a = 0b12;", "const bit<8> a = 0b11;"),

	code("no-main", "The program has no package instance named main.", "", "V1Switch(P(), V(), I(), E(), C(), D()) main;"),
	code("no-start-state", "A parser has no state start.", "", ""),
	code("unsupported-architecture", "The program is written for another architecture than v1model, or its blocks do not have the parameters of v1model.", "", ""),
	code("unsupported-call", "A call that the language allows cannot be carried out at this place on the target.", "", ""),
	code("unsupported-expression", "An expression that the language allows has no value that the target can compute.", "", ""),
	code("unsupported-extern", "An extern type, function, method or algorithm is not there on the target.", "", ""),
	code("unsupported-header", "A header has a shape that the target cannot parse, such as a length that is no whole number of bytes.",
		"header h { bit<12> vid; }", "header h { bit<4> pad; bit<12> vid; }"),
	code("unsupported-instance", "An instance cannot exist at this place, or with these arguments, on the target.", "", ""),
	code("unsupported-key", "The target cannot match a key, or an entry of its table, as the program asks.", "", ""),
	code("unsupported-parameter", "An action that the control plane calls has a parameter that it cannot give.", "", ""),
	code("unsupported-select", "A select expression cannot be turned into transitions of the target.", "", ""),
	code("unsupported-statement", "A statement that the language allows cannot stand at this place on the target.",
		"control D(packet_out p, in headers h) {\n    apply { if (h.a.x == 1) { p.emit(h.a); } }\n}",
		"control D(packet_out p, in headers h) {\n    apply { p.emit(h.a); }    // an invalid header is not emitted\n}"),
	code("unsupported-type", "A type that the language allows cannot be held at this place by the target or by P4Runtime.", "", ""),
	code("bad-id", "@id gives an id that is taken, or whose first byte belongs to another kind of object.",
		"@id(0x01000001) action a() { }", "@id(1) action a() { }"),
	code("bad-annotation", "An annotation that P4Info or the target reads holds something that it cannot hold.",
		"@selector_size_semantics(\"members\")", "@selector_size_semantics(\"sum_of_members\")"),
	code("call-too-deep", "Calls of functions, actions and controls nest too deep once they are written out.", "", ""),
	code("duplicate-name", "Two objects of a kind have the same name for the control plane.",
		"@name(\".drop\") action a() { }\n@name(\".drop\") action b() { }", "@name(\".drop\") action a() { }\n@name(\".drop_b\") action b() { }"),
	warning("empty-field-list", "No field of the user metadata is annotated with the index of a list of fields to keep.", "", ""),
	code("index-out-of-range", "An index is not below the number of elements.",
		"h.stack[4] = h.stack[0];    // header_t[4] stack", "h.stack[3] = h.stack[0];"),
	code("missing-argument", "An argument that the target needs is missing.", "", ""),
	code("missing-name", "A key that is no plain name has no name for the control plane.",
		"key = { h.a + h.b : exact; }", "key = { h.a + h.b : exact @name(\"sum\"); }"),
	code("no-default-value", "A value of a type that has no default value would be needed.", "", ""),
	code("not-constant", "A value that the target fixes when the program is loaded is not known at compile time.", "", ""),
	code("unknown-action", "A table refers to an action that it does not list.", "", ""),
	warning("unused-key", "A key of a table has no effect.", "", ""),
	code("wrong-property", "A property of a table does not hold what the target needs.", "", ""),
	code(p4.CodeInternal, "The compiler itself failed. This is a mistake in khop, not in the program.", "", ""),
}

func code(c diag.Code, summary, wrong, right string) types.Explanation {
	return types.Explanation{Code: c, Summary: summary, Wrong: wrong, Right: right}
}

func warning(c diag.Code, summary, wrong, right string) types.Explanation {
	e := code(c, summary, wrong, right)
	e.Warning = true
	return e
}
