package types

// Codes of the diagnostics about tables, and of warnings. See codes.go.
const (
	// CodeTable: a table lacks actions, or a property has a wrong value or stands in the wrong order.
	//
	// Wrong:
	//
	//	control c(in bit<8> x) {
	//	    table t {
	//	        key = { x: exact; }
	//	    }
	//	    apply { t.apply(); }
	//	}
	//
	// Right:
	//
	//	control c(in bit<8> x) {
	//	    table t {
	//	        key = { x: exact; }
	//	        actions = { NoAction; }
	//	    }
	//	    apply { t.apply(); }
	//	}
	CodeTable Code = "bad-table"

	// CodeKey: a key has a type that cannot be looked up.
	//
	// Wrong:
	//
	//	header h_t { bit<8> x; }
	//	control c(in h_t h) {
	//	    table t {
	//	        key = { h: exact; }
	//	        actions = { NoAction; }
	//	    }
	//	    apply { t.apply(); }
	//	}
	//
	// Right:
	//
	//	header h_t { bit<8> x; }
	//	control c(in h_t h) {
	//	    table t {
	//	        key = { h.x: exact; }
	//	        actions = { NoAction; }
	//	    }
	//	    apply { t.apply(); }
	//	}
	CodeKey Code = "bad-key"

	// CodeActionList: a default action or an entry names an action that is not in the table's list.
	//
	// Wrong:
	//
	//	control c() {
	//	    action a() {}
	//	    table t {
	//	        actions = { NoAction; }
	//	        default_action = a();
	//	    }
	//	    apply { t.apply(); }
	//	}
	//
	// Right:
	//
	//	control c() {
	//	    action a() {}
	//	    table t {
	//	        actions = { NoAction; a; }
	//	        default_action = a();
	//	    }
	//	    apply { t.apply(); }
	//	}
	CodeActionList Code = "action-not-listed"

	// CodeActionArg: the arguments of an action in a table are not those that belong there (specification section 14.2.1.2).
	//
	// Wrong:
	//
	//	control c(inout bit<8> x) {
	//	    action a(bit<8> port) { x = port; }
	//	    table t {
	//	        actions = { a(1); NoAction; }
	//	    }
	//	    apply { t.apply(); }
	//	}
	//
	// Right:
	//
	//	control c(inout bit<8> x) {
	//	    action a(bit<8> port) { x = port; }
	//	    table t {
	//	        actions = { a; NoAction; }
	//	        default_action = a(1);
	//	    }
	//	    apply { t.apply(); }
	//	}
	CodeActionArg Code = "action-argument"

	// CodeEntry: an entry has a key that the match kind cannot express, or an action that entries cannot have.
	//
	// Wrong:
	//
	//	control c(in bit<8> x) {
	//	    table t {
	//	        key = { x: lpm; }
	//	        actions = { NoAction; }
	//	        const entries = { 1 &&& 0x0F: NoAction(); }
	//	    }
	//	    apply { t.apply(); }
	//	}
	//
	// Right:
	//
	//	control c(in bit<8> x) {
	//	    table t {
	//	        key = { x: lpm; }
	//	        actions = { NoAction; }
	//	        const entries = { 0x10 &&& 0xF0: NoAction(); }
	//	    }
	//	    apply { t.apply(); }
	//	}
	CodeEntry Code = "bad-entry"

	// CodeDuplicateEntry: two entries of a table with exact keys have the same key.
	//
	// Wrong:
	//
	//	control c(in bit<8> x) {
	//	    table t {
	//	        key = { x: exact; }
	//	        actions = { NoAction; }
	//	        const entries = { 1: NoAction(); 1: NoAction(); }
	//	    }
	//	    apply { t.apply(); }
	//	}
	//
	// Right:
	//
	//	control c(in bit<8> x) {
	//	    table t {
	//	        key = { x: exact; }
	//	        actions = { NoAction; }
	//	        const entries = { 1: NoAction(); 2: NoAction(); }
	//	    }
	//	    apply { t.apply(); }
	//	}
	CodeDuplicateEntry Code = "duplicate-entry"

	// CodePriority: the priority of an entry is out of range, or stands where there are no priorities.
	//
	// Wrong:
	//
	//	control c(in bit<8> x) {
	//	    table t {
	//	        key = { x: ternary; }
	//	        actions = { NoAction; }
	//	        entries = { priority = 0x80000000: 1 &&& 3: NoAction(); }
	//	    }
	//	    apply { t.apply(); }
	//	}
	//
	// Right:
	//
	//	control c(in bit<8> x) {
	//	    table t {
	//	        key = { x: ternary; }
	//	        actions = { NoAction; }
	//	        entries = { priority = 1: 1 &&& 3: NoAction(); }
	//	    }
	//	    apply { t.apply(); }
	//	}
	CodePriority Code = "bad-priority"

	// CodeUnused: (warning) something is declared and never used.
	//
	// Wrong:
	//
	//	control c() {
	//	    bit<8> x;
	//	    apply {}
	//	}
	//
	// Right:
	//
	//	control c() {
	//	    apply {}
	//	}
	CodeUnused Code = "unused"

	// CodeUninitialized: (warning) a variable or an out parameter is read before it has a value on every path.
	//
	// Wrong:
	//
	//	control c(inout bit<8> x) {
	//	    bit<8> y;
	//	    apply { x = y; }
	//	}
	//
	// Right:
	//
	//	control c(inout bit<8> x) {
	//	    bit<8> y = 0;
	//	    apply { x = y; }
	//	}
	CodeUninitialized Code = "uninitialized"

	// CodeUnreachable: (warning) a statement, state or select case is never reached.
	//
	// Wrong:
	//
	//	parser p(packet_in b) {
	//	    state start { transition accept; }
	//	    state more { transition accept; }
	//	}
	//
	// Right:
	//
	//	parser p(packet_in b, in bit<8> x) {
	//	    state start {
	//	        transition select(x) { 1: more; default: accept; }
	//	    }
	//	    state more { transition accept; }
	//	}
	CodeUnreachable Code = "unreachable"

	// CodeOverflow: (warning) a number does not fit in the type that it is converted to, or a shift moves every bit out.
	//
	// Wrong:
	//
	//	const bit<8> a = 256;
	//
	// Right:
	//
	//	const bit<8> a = 255;
	CodeOverflow Code = "overflow"

	// CodeEmptyRange: (warning) a range whose first value is larger than its last matches nothing.
	//
	// Wrong:
	//
	//	parser p(packet_in b, in bit<8> x) {
	//	    state start {
	//	        transition select(x) { 9 .. 1: accept; default: reject; }
	//	    }
	//	}
	//
	// Right:
	//
	//	parser p(packet_in b, in bit<8> x) {
	//	    state start {
	//	        transition select(x) { 1 .. 9: accept; default: reject; }
	//	    }
	//	}
	CodeEmptyRange Code = "empty-range"

	// CodeEmptyArray: (warning) an array has no elements.
	//
	// Wrong:
	//
	//	header h_t { bit<8> x; }
	//	control c(inout h_t[0] hs) { apply {} }
	//
	// Right:
	//
	//	header h_t { bit<8> x; }
	//	control c(inout h_t[1] hs) { apply {} }
	CodeEmptyArray Code = "empty-array"

	// CodeIntBits: (warning) a bitwise operator is applied to numbers without width, which the specification does not
	// define.
	//
	// Wrong:
	//
	//	const bit<8> a = 5 & 3;
	//
	// Right:
	//
	//	const bit<8> a = 8w5 & 3;
	CodeIntBits Code = "int-bits"

	// CodeMixedEnums: (warning) values of two enums are combined; both are converted to their underlying type.
	//
	// Wrong:
	//
	//	enum bit<8> e1 { a = 0 }
	//	enum bit<8> e2 { b = 0 }
	//	const bool same = e1.a == e2.b;
	//
	// Right:
	//
	//	enum bit<8> e1 { a = 0 }
	//	enum bit<8> e2 { b = 0 }
	//	const bool same = (bit<8>)e1.a == (bit<8>)e2.b;
	CodeMixedEnums Code = "mixed-enums"

	// CodeRuntimeDivision: (warning) a division at run time, which the language does not define and few targets have.
	//
	// Wrong:
	//
	//	control c(inout bit<8> x) {
	//	    apply { x = x / 3; }
	//	}
	//
	// Right:
	//
	//	control c(inout bit<8> x) {
	//	    apply { x = x / 4; }
	//	}
	CodeRuntimeDivision Code = "runtime-division"

	// CodeInexact: (warning) an entry has a mask or range for a key that matches exactly.
	//
	// Wrong:
	//
	//	control c(in bit<8> x) {
	//	    table t {
	//	        key = { x: exact; }
	//	        actions = { NoAction; }
	//	        const entries = { 1 &&& 3: NoAction(); }
	//	    }
	//	    apply { t.apply(); }
	//	}
	//
	// Right:
	//
	//	control c(in bit<8> x) {
	//	    table t {
	//	        key = { x: ternary; }
	//	        actions = { NoAction; }
	//	        const entries = { 1 &&& 3: NoAction(); }
	//	    }
	//	    apply { t.apply(); }
	//	}
	CodeInexact Code = "inexact-key"

	// CodeDuplicatePriority: (warning) two entries have the same priority; which one wins is not specified.
	//
	// Wrong:
	//
	//	control c(in bit<8> x) {
	//	    table t {
	//	        key = { x: ternary; }
	//	        actions = { NoAction; }
	//	        entries = {
	//	            priority = 1: 1 &&& 3: NoAction();
	//	            priority = 1: 2 &&& 3: NoAction();
	//	        }
	//	    }
	//	    apply { t.apply(); }
	//	}
	//
	// Right:
	//
	//	control c(in bit<8> x) {
	//	    table t {
	//	        key = { x: ternary; }
	//	        actions = { NoAction; }
	//	        entries = {
	//	            priority = 2: 1 &&& 3: NoAction();
	//	            priority = 1: 2 &&& 3: NoAction();
	//	        }
	//	    }
	//	    apply { t.apply(); }
	//	}
	CodeDuplicatePriority Code = "duplicate-priorities"

	// CodePriorityOrder: (warning) an entry stands behind one that it goes before.
	//
	// Wrong:
	//
	//	control c(in bit<8> x) {
	//	    table t {
	//	        key = { x: ternary; }
	//	        actions = { NoAction; }
	//	        entries = {
	//	            priority = 1: 1 &&& 3: NoAction();
	//	            priority = 2: 2 &&& 3: NoAction();
	//	        }
	//	    }
	//	    apply { t.apply(); }
	//	}
	//
	// Right:
	//
	//	control c(in bit<8> x) {
	//	    table t {
	//	        key = { x: ternary; }
	//	        actions = { NoAction; }
	//	        entries = {
	//	            priority = 2: 2 &&& 3: NoAction();
	//	            priority = 1: 1 &&& 3: NoAction();
	//	        }
	//	    }
	//	    apply { t.apply(); }
	//	}
	CodePriorityOrder Code = "entries-out-of-priority-order"

	// CodeDeprecated: (warning) something is used that is declared @deprecated.
	//
	// Wrong:
	//
	//	@deprecated("use g")
	//	extern void f();
	//	extern void g();
	//	control c() {
	//	    apply { f(); }
	//	}
	//
	// Right:
	//
	//	@deprecated("use g")
	//	extern void f();
	//	extern void g();
	//	control c() {
	//	    apply { g(); }
	//	}
	CodeDeprecated Code = "deprecated"
)
