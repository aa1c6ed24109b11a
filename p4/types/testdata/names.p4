#include <core.p4>

// Names must be declared before they are used; near ones are offered.
const bit<8> a = missing /* ERROR "unknown name 'missing'" */;
const bit<8> later_use = later /* ERROR "unknown name 'later'" */;
const bit<8> later = 1;
const bit<8> a /* ERROR "'a' is declared twice" */ = 2;

struct s_t {
    bit<8> x;
    bit<8> x /* ERROR "field 'x' is declared twice" */;
    nosuch /* ERROR "unknown type 'nosuch'" */ y;
}

enum e_t { one, two, one /* ERROR "member 'one' is declared twice" */ }
const e_t e1 = e_t.one;
const e_t e2 = e_t.three /* ERROR "enum e_t has no member 'three'" */;
const error err = error.NoErorr /* ERROR "unknown error 'NoErorr'" */;

error { Mine, Mine /* ERROR "error 'Mine' is declared twice" */ }
match_kind { fuzzy, exact /* ERROR "'exact' is declared twice" */ }

// A leading dot means the top level.
const bit<4> g = 1;
control scopes(inout bit<8> p) {
    const bit<8> g = 2;
    bit<8> v = g;
    bit<4> w = .g;
    action act() { p = v; }
    apply {
        p = g;
        w = g /* ERROR "must have type bit<4>, not bit<8>" */;
        {
            bit<8> inner = 1;
            p = inner;
        }
        p = inner /* ERROR "unknown name 'inner'" */;
        act();
        v = act /* ERROR "action 'act' is not a value" */;
        v = s_t /* ERROR "s_t is a type, not a value" */;
        bit<8> p /* ERROR "'p' hides the parameter" */ = 3;
    }
}

// A member of an enum is found by its enum only.
const e_t e3 = two /* ERROR "unknown name 'two'" */;
