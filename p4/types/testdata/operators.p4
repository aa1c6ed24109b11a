#include <core.p4>

// The examples of the specification, sections 8.7 to 8.12.
enum bit<8> E { a = 5, b = 6 }
enum bit<8> F { c = 5 }
enum plain { p, q }

control c(inout bit<8> x, inout bit<16> y, inout int<8> z, inout bool t, inout E e) {
    apply {
        x = x + 1;
        t = z < 0;
        x = x | 0xFF;
        x = x + E.a;
        x = x << 256;
        y = 16w11 << E.a;
        x = x[E.a:0] ++ 2w0;
        y = E.a ++ 8w0;
        x = (bit<8>)y;
        y = (bit<16>)x + y;
        z = (int<8>)x;

        x = x + y /* ERROR "the operands of \+ have different types, bit<8> and bit<16>" */;
        x = x + z /* ERROR "different types" */;
        z = (int<8>)y /* ERROR "cannot cast bit<16> to int<8>" */;
        x = x << z /* ERROR "the amount of a shift cannot be signed" */;
        t = x < z /* ERROR "different types" */;
        y = 1 << x /* ERROR "an int cannot be shifted" */;
        x = ~1 /* ERROR "~ is not defined on int" */;
        x = !x /* ERROR "! needs a bool" */;
        t = ~t /* ERROR "~ is not defined on bool" */;
        t = x && t /* ERROR "&& needs bools, not bit<8>" */;
        x = x >> -1 /* ERROR "cannot be negative" */;
        z = z / 2 /* ERROR "not defined on signed values" */;
        x = 4 / 0 /* ERROR "division by zero" */;
        x = x / 4;
        x = 5 ++ x /* ERROR "\+\+ needs operands of type bit<W> or int<W>, not int" */;
        x = x[8:1] /* ERROR "bit 8 is out of range" */[0:0];
        x[0:1] /* ERROR "wrong order" */ = 1;
        x[3:0] = 4w5;
        x[4+:2] = 2w1;
        x[7+:2] /* ERROR "the slice ends at bit 8" */ = 2w1;
        x = t ? 8w1 : 2;
        x = t ? 1 : 2 /* ERROR "both branches of \?: are int" */;
        x = true ? 1 : 2;
        x = x ? 1 : 2 /* ERROR "the condition of \?: must be a bool" */;
        if (x /* ERROR "the condition of if must be a bool" */) {}
        x = x |+| 200;
        x = 1 |+| 2 /* ERROR "\|\+\| is not defined on int" */;
        x = -x + +x;
        e = E.a;
        e = e + 1 /* ERROR "must have type E, not bit<8>" */;
        e = (E)(E.a + 1);
        e = (E)F.c;
        e = F.c /* ERROR "must have type E, not F" */;
        x = e;
        t = plain.p == plain.q;
        t = plain.p < plain.q /* ERROR "< is not defined on plain" */;
        x = (bit<8>)plain.p /* ERROR "cannot cast plain" */;
        t = (bool)x[0:0];
        t = (bool)x /* ERROR "cannot cast bit<8> to bool" */;
        x += 1;
        x += y /* ERROR "different types" */;
        x |+|= 3;
        x <<= 2;
    }
}

struct s_t { bit<8> a; bool b; }
header h_t { bit<8> a; }
header_union u_t { h_t h; }

control lists(inout s_t s, inout h_t h, inout h_t[2] hs, inout u_t u, inout bool t) {
    apply {
        s = { 1, true };
        s = { b = true, a = 1 };
        s = { 1 } /* ERROR "it has 1 element, s_t has 2 fields" */;
        s = { 1, 2 } /* ERROR "element 2 has type int instead of bool" */;
        s = { a = 1 } /* ERROR "no value for 'b'" */;
        s = { a = 1, c = true, ... } /* ERROR "has no field 'c'" */;
        s = { a = 1, ... };
        s = ...;
        s = { 1, ... };
        h = { 7 };
        h = {#};
        u = {#};
        s = {#} /* ERROR "must have type s_t" */;
        t = h == {#};
        t = h == (h_t){ 7 };
        t = s == { 1, false };
        t = hs == { { 1 }, { 2 } };
        hs = { { 1 }, ... };
        tuple<bit<8>, bool> tup = { 3, false };
        t = tup[1];
        s = tup /* ERROR "must have type s_t, not tuple" */;
        t = h.isValid() && u.isValid();
        s.setValid /* ERROR "struct s_t has no field 'setValid'" */();
    }
}

const int big = 1 << 200;
const bit<8> wrapped = (bit<8>)(big >> 196);
const bool ok = static_assert(wrapped == 16, "16 is 2 to the 4th");
const bool shifts = static_assert((-5 >> 1) == -3 && (8s0b1111_1000 >> 1) == 8s0b1111_1100, "arithmetic shift");
const bool sat = static_assert(8w250 |+| 10 == 255 && 8w5 |-| 10 == 0 && 8s100 |+| 100 == 127, "saturation");
const bool cat = static_assert(4w0xA ++ 4w0x5 == 8w0xA5 && 4s7 ++ 4w1 == 8s0x71, "concatenation");
const bool neg = static_assert(-8w1 == 255 && ~8w1 == 0xFE && -4s8 == 4s8, "wrap around");
const bool cut = static_assert(16w0x1234[11:4] == 8w0x23 && 16w0x1234[4+:8] == 8w0x23, "slices");
const bool wrong = static_assert(1 == 2, "no") /* ERROR "static assertion failed: no" */;
const bool mod = static_assert(7 % 4 == 3 && 7 / 2 == 3, "division");
const bool field = static_assert(((s_t){ 3, true }).a == 3, "member of a constant");
const bool sizes = static_assert(h_t.minSizeInBits() == 8 && E.minSizeInBytes() == 1, "sizes");
