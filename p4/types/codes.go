package types

// Codes of the diagnostics about names, types and values. Each has an example that leads to it, and the example mended;
// Explain shows them. Examples include core.p4.
const (
	// CodeUnknown: a name, type, action, state or match kind is used that is not declared before, or is declared as
	// something else.
	//
	// Wrong:
	//
	//	const bit<8> ttl = DEFAULT_TTL;
	//
	// Right:
	//
	//	const bit<8> DEFAULT_TTL = 64;
	//	const bit<8> ttl = DEFAULT_TTL;
	CodeUnknown Code = "unknown-name"

	// CodeUnknownField: a struct, header, enum, extern, table result or the errors have no member of that name.
	//
	// Wrong:
	//
	//	header ipv4_t { bit<8> ttl; }
	//	control c(inout ipv4_t h) {
	//	    apply { h.tll = 1; }
	//	}
	//
	// Right:
	//
	//	header ipv4_t { bit<8> ttl; }
	//	control c(inout ipv4_t h) {
	//	    apply { h.ttl = 1; }
	//	}
	CodeUnknownField Code = "unknown-member"

	// CodeDuplicate: a name is declared twice in a scope, or a field, label, property or key is given twice.
	//
	// Wrong:
	//
	//	const bit<8> a = 1;
	//	const bit<8> a = 2;
	//
	// Right:
	//
	//	const bit<8> a = 1;
	//	const bit<8> b = 2;
	CodeDuplicate Code = "duplicate"

	// CodeShadow: a local name hides one of an enclosing parser, control or action. It is an error when it hides a parameter
	// in a body.
	//
	// Wrong:
	//
	//	control c(inout bit<8> x) {
	//	    apply {
	//	        bit<8> x = 1;
	//	    }
	//	}
	//
	// Right:
	//
	//	control c(inout bit<8> x) {
	//	    apply {
	//	        bit<8> y = 1;
	//	        x = y;
	//	    }
	//	}
	CodeShadow Code = "shadow"

	// CodeNotValue: a type, action, function, table or void call stands where a value is needed.
	//
	// Wrong:
	//
	//	control c(inout bit<8> x) {
	//	    action a() {}
	//	    apply { x = a; }
	//	}
	//
	// Right:
	//
	//	control c(inout bit<8> x) {
	//	    action a() { x = 1; }
	//	    apply { a(); }
	//	}
	CodeNotValue Code = "not-a-value"

	// CodeBadType: a type cannot be used at that place: as a field, a variable, an element, a result, or as the base of a
	// type (specification section 7.2.9).
	//
	// Wrong:
	//
	//	header inner_t { bit<8> x; }
	//	header outer_t { inner_t i; }
	//
	// Right:
	//
	//	struct inner_t { bit<8> x; }
	//	header outer_t { inner_t i; }
	CodeBadType Code = "bad-type"

	// CodeWidth: the width of a type or the size of an array, table or value set is out of range.
	//
	// Wrong:
	//
	//	header h_t { bit<8> x; }
	//	control c(inout h_t[-1] hs) { apply {} }
	//
	// Right:
	//
	//	header h_t { bit<8> x; }
	//	control c(inout h_t[4] hs) { apply {} }
	CodeWidth Code = "width"

	// CodeTypeArgs: a generic type or function has the wrong number of type arguments, or something that is not generic has
	// some.
	//
	// Wrong:
	//
	//	struct pair<A, B> { A a; B b; }
	//	const pair<bit<8>> p = { 1, 2 };
	//
	// Right:
	//
	//	struct pair<A, B> { A a; B b; }
	//	const pair<bit<8>, bit<8>> p = { 1, 2 };
	CodeTypeArgs Code = "type-arguments"

	// CodeInfer: a type argument is not written and cannot be inferred from the arguments.
	//
	// Wrong:
	//
	//	extern T fresh<T>();
	//	control c(inout bit<8> x) {
	//	    apply { x = fresh(); }
	//	}
	//
	// Right:
	//
	//	extern T fresh<T>();
	//	control c(inout bit<8> x) {
	//	    apply { x = fresh<bit<8>>(); }
	//	}
	CodeInfer Code = "cannot-infer"

	// CodeEnumValue: a member of an enum lacks a value, has one without an underlying type, or has one that does not fit.
	//
	// Wrong:
	//
	//	enum bit<4> e { a = 1, b = 16 }
	//
	// Right:
	//
	//	enum bit<4> e { a = 1, b = 15 }
	CodeEnumValue Code = "enum-value"

	// CodeTooDeep: a value, type or nesting exceeds what the compiler takes.
	//
	// Wrong:
	//
	//	const int a = 1 << 1000000;
	//	const int b = a * a * a;
	//
	// Right:
	//
	//	const int a = 1 << 1000;
	//	const int b = a * a * a;
	CodeTooDeep Code = "too-large"

	// CodeMismatch: a value has another type than its place needs, and does not convert to it (specification section
	// 8.11.2).
	//
	// Wrong:
	//
	//	control c(inout bit<8> x, in bit<16> y) {
	//	    apply { x = y; }
	//	}
	//
	// Right:
	//
	//	control c(inout bit<8> x, in bit<16> y) {
	//	    apply { x = (bit<8>)y; }
	//	}
	CodeMismatch Code = "type-mismatch"

	// CodeOperand: an operator is not defined on its operands, or they have different types.
	//
	// Wrong:
	//
	//	control c(inout bit<8> x, in bit<16> y) {
	//	    apply { x = x + y; }
	//	}
	//
	// Right:
	//
	//	control c(inout bit<8> x, in bit<16> y) {
	//	    apply { x = x + (bit<8>)y; }
	//	}
	CodeOperand Code = "bad-operand"

	// CodeCast: a cast is not one of those that the language has (specification section 8.12.1).
	//
	// Wrong:
	//
	//	control c(inout int<8> x, in bit<16> y) {
	//	    apply { x = (int<8>)y; }
	//	}
	//
	// Right:
	//
	//	control c(inout int<8> x, in bit<16> y) {
	//	    apply { x = (int<8>)(bit<8>)y; }
	//	}
	CodeCast Code = "bad-cast"

	// CodeShift: the amount of a shift is signed or negative, or an int is shifted by an amount known only at run time.
	//
	// Wrong:
	//
	//	control c(inout bit<32> x, in bit<8> n) {
	//	    apply { x = (bit<32>)(1 << n); }
	//	}
	//
	// Right:
	//
	//	control c(inout bit<32> x, in bit<8> n) {
	//	    apply { x = 32w1 << n; }
	//	}
	CodeShift Code = "bad-shift"

	// CodeSlice: the bounds of a slice are out of range or in the wrong order, or the value has no bits to slice.
	//
	// Wrong:
	//
	//	control c(inout bit<8> x) {
	//	    apply { x[3:0] = x[4:7]; }
	//	}
	//
	// Right:
	//
	//	control c(inout bit<8> x) {
	//	    apply { x[3:0] = x[7:4]; }
	//	}
	CodeSlice Code = "bad-slice"

	// CodeIndex: an index is out of range, or what is indexed is neither an array nor a tuple.
	//
	// Wrong:
	//
	//	header h_t { bit<8> x; }
	//	control c(inout h_t[4] hs) {
	//	    apply { hs[4].x = 1; }
	//	}
	//
	// Right:
	//
	//	header h_t { bit<8> x; }
	//	control c(inout h_t[4] hs) {
	//	    apply { hs[3].x = 1; }
	//	}
	CodeIndex Code = "bad-index"

	// CodeDivision: a division by zero, or of negative or signed values.
	//
	// Wrong:
	//
	//	const bit<8> share = 100 / 0;
	//
	// Right:
	//
	//	const bit<8> share = 100 / 4;
	CodeDivision Code = "bad-division"

	// CodeNotConst: a value must be known at compile time and is not.
	//
	// Wrong:
	//
	//	control c(in bit<8> n, inout bit<32> x) {
	//	    apply { x[7:0] = x[n:n]; }
	//	}
	//
	// Right:
	//
	//	const bit<8> n = 7;
	//	control c(inout bit<32> x) {
	//	    apply { x[7:7] = x[n:n]; }
	//	}
	CodeNotConst Code = "not-constant"

	// CodeNotLValue: an expression is assigned, or passed to an out or inout parameter, but is no place that can be written.
	//
	// Wrong:
	//
	//	control c(in bit<8> x) {
	//	    apply { x = 1; }
	//	}
	//
	// Right:
	//
	//	control c(inout bit<8> x) {
	//	    apply { x = 1; }
	//	}
	CodeNotLValue Code = "not-assignable"

	// CodeNoSize: minSizeInBits or its like is called on something whose size is not defined (specification section 9).
	//
	// Wrong:
	//
	//	enum e { a, b }
	//	const int n = e.minSizeInBits();
	//
	// Right:
	//
	//	enum bit<8> e { a = 0, b = 1 }
	//	const int n = e.minSizeInBits();
	CodeNoSize Code = "no-size"

	// CodeStaticAssert: the condition of static_assert is false.
	//
	// Wrong:
	//
	//	const bit<8> stages = 9;
	//	const bool ok = static_assert(stages < 9, "too many stages");
	//
	// Right:
	//
	//	const bit<8> stages = 8;
	//	const bool ok = static_assert(stages < 9, "too many stages");
	CodeStaticAssert Code = "static-assert"
)
