package types_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"khop/p4/types"
)

// TestHostile checks programs whose types, values or nesting grow beyond all use: each must be dealt with in the time of an ordinary
// program, by an answer or by an error.
func TestHostile(t *testing.T) {
	chain := func(first, step string, n int) string {
		var b strings.Builder
		b.WriteString(first)
		for i := 1; i <= n; i++ {
			fmt.Fprintf(&b, step+"\n", i, i-1)
		}
		return b.String()
	}
	structs := chain("struct S0 { bit<8> a; bool b; }\n", "struct S%[1]d { S%[2]d a; S%[2]d b; }", 60)
	generics := chain("struct G0<T> { T a; }\n", "struct G%[1]d<T> { G%[2]d<T> a; G%[2]d<T> b; }", 60)
	tuples := chain("typedef tuple<bit<8>, bool> T0;\n", "typedef tuple<T%[2]d, T%[2]d> T%[1]d;", 60)
	tests := []struct {
		name, src string
		wantCode  types.Code // "" when the program is right
	}{
		{"structs double", structs + "header H { S60 s; }\ncontrol c(inout S60 x, inout S60 y) { apply { if (x == y) { x = ...; } } }", ""},
		{"size of doubling structs", structs + "const int n = S60.minSizeInBits();\nconst bool ok = static_assert(n == 9 << 60);", ""},
		{"default of doubling structs", structs + "const S60 s = ...;", types.CodeNotConst},
		{"generics double", generics + "extern void f<T>(in G60<T> x);\ncontrol c(in G60<bit<8>> x) { apply { f(x); f(x); } }", ""},
		{"emit doubling structs", "header H { bit<8> x; }\n" + strings.Replace(structs, "bit<8> a; bool b;", "H a; H b;", 1) +
			"control c(packet_out b, in S60 x) { apply { b.emit(x); } }", ""},
		{"tuples double", tuples, types.CodeTooDeep},
		{"powers grow", chain("const int c0 = 1 << 1000;\n", "const int c%[1]d = c%[2]d * c%[2]d;", 30), types.CodeTooDeep},
		{"large shift", "const int n = 1 << (1 << 40);", types.CodeShift},
		{"wide type", "typedef bit<(1 << 40)> w;", types.CodeWidth},
		{"wide concatenation", "const bit<(1 << 20)> a = 1;\nconst bit<8> b = a ++ a;", types.CodeWidth},
		{"large array", "header H { bit<8> x; }\ncontrol c(inout H[1 << 40] h) { apply {} }", types.CodeWidth},
		{"arrays of arrays", "control c(inout bit<8>[60000][60000][60000] h) { apply { h = ...; } }", ""},
		{"strings double", chain("const string s0 = \"0123456789\";\n", "const string s%[1]d = s%[2]d ++ s%[2]d;", 40), types.CodeTooDeep},
		{"many names", chain("", "const bit<8> name%[1]d = 1; // %[2]d", 3000) + "const bit<8> x = nam3001;", types.CodeUnknown},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			start := time.Now()
			c := check(t, "hostile.p4", "#include <core.p4>\n"+tt.src, types.Options{})
			if d := time.Since(start); d > 10*time.Second {
				t.Errorf("took %v", d)
			}
			switch {
			case tt.wantCode == "" && c.list.HasErrors():
				t.Errorf("unexpected: %v", c.list.Err())
			case tt.wantCode != "" && !has(c.list, tt.wantCode, 0):
				t.Errorf("no error %s in %v", tt.wantCode, c.list)
			}
		})
	}
}
