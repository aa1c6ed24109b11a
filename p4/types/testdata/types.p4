#include <core.p4>

const int width = 12;
typedef bit<width> b12_t;
typedef bit<(width + 4)> b16_t;
const b12_t b12 = 0xFFF;
const b16_t b16 = 0xFFFF;
typedef bit<0> empty_t;
typedef int<0> /* ERROR "int<0> does not exist" */ none_t;
typedef bit<(-1)> /* ERROR "cannot be negative" */ neg_t;
typedef string /* ERROR "typedef cannot be declared from string" */ str_t;
type varbit<8> /* ERROR "type cannot be declared from varbit<8>" */ vb_t;
type bit<9> port_t;
type port_t special_t;

enum bit<8> small_t { first = 1, big = 300 /* ERROR "300 does not fit in bit<8>" */ }
enum bool /* ERROR "must be bit<W> or int<W>, not bool" */ flag_t { no = 0 }
enum plain_t { a, b }

header h_t {
    bit<8> x;
    bool b;
    small_t e;
    plain_t /* ERROR "an enum in a header needs an underlying type" */ p;
    int /* ERROR "an int has no width" */ i;
    error /* ERROR "an error has no representation" */ err;
}
header ok_t { bit<8> x; varbit<32> v; }
header nested_t { ok_t /* ERROR "headers cannot be nested" */ h; }
struct inner_t { bit<8> x; }
header with_struct_t { inner_t s; }
header_union u_t { ok_t a; bit<8> /* ERROR "holds headers only" */ b; }
struct many_t {
    ok_t[4] stack;
    u_t[2] unions;
    u_t u;
    tuple<bit<8>, bool> t;
    string /* ERROR "exist at compile time only" */ s;
    packet_in /* ERROR "it is an extern object" */ p;
}

// Generic types.
struct pair_t<A, B> { A a; B b; }
header gh_t<T> { T t; }
const pair_t<bit<8>, bool> p1 = { 1, true };
const pair_t<bit<8>> /* ERROR "pair_t takes 2 type arguments, not 1" */ p2 = { 1, true };
const pair_t /* ERROR "pair_t needs 2 type arguments" */ p3 = { 1, true };
const inner_t<bit<8>> /* ERROR "not generic" */ p4 = { 1 };
typedef gh_t<plain_t> /* ERROR "would have type plain_t" */ bad_gh_t;

control vars(inout many_t m, inout ok_t[0] /* no error, a warning */ z) {
    int /* ERROR "it has no width" */ i;
    string /* ERROR "exist at compile time only" */ s;
    packet_in /* ERROR "made by instantiation" */ p;
    ok_t[3] st;
    apply {
        m.stack[3] = m.stack[0];
        m.stack[4 /* ERROR "index 4 is out of range" */].x = 1;
        m.stack[0].setInvalid();
        m.t[0] = 1;
        m.t[2 /* ERROR "the tuple has 2 elements" */] = 1;
        m.u.a.setValid();
        m.stack.push_front(1);
        m.stack.pop_front(0 /* ERROR "must be positive" */);
        m.stack.next /* ERROR "may only be used in a parser" */.x = 1;
        st = m.stack /* ERROR "must have type ok_t.3., not ok_t.4." */;
    }
}

// New types are not their base type.
control news(inout port_t p, inout bit<9> b) {
    special_t s;
    apply {
        p = b /* ERROR "must have type port_t, not bit<9>" */;
        p = (port_t)b;
        b = (bit<9>)p;
        p = p + 1 /* ERROR "is not defined on port_t" */;
        p = 7;
        if (p == (port_t)1) { b = 1; }
        s = (special_t)(port_t)9w3;
        p = (port_t)8w1 /* ERROR "cannot cast bit<8> to port_t" */;
    }
}
