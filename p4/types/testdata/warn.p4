#include <core.p4>

header h_t { bit<8> x; }
@deprecated("use better") extern void old();
extern void better(out bit<8> x);
extern void need(in bit<8> x);
const bit<8> wide = 300 /* WARNING "300 does not fit in bit<8> and becomes 44" */;
const bit<4> lit = 4w31 /* WARNING "4w31 does not fit in bit<4> and becomes 15" */;
const int<8> minus = -129 /* WARNING "-129 does not fit in int<8> and becomes 127" */;
enum bit<8> e1 { a = 1 }
enum bit<8> e2 { b = 1 }

control c(inout bit<8> x, out bit<8> y, inout h_t h) {
    bit<8> unused /* WARNING "variable 'unused' is never used" */;
    bit<8> never;
    action idle() /* WARNING "action 'idle' is never used" */ {}
    table t /* WARNING "table 't' is never used" */ { actions = { NoAction; } }
    apply {
        old /* WARNING "function 'old' is deprecated" */();
        bit<8> v;
        if (x == 1) { v = 2; }
        need(v /* WARNING "variable 'v' is read before it has a value" */);
        bit<8> w;
        if (x == 1) { w = 2; } else { better(w); }
        need(w);
        bit<8> z;
        switch (x) { 1: { z = 1; } default: { z = 2; } }
        need(z);
        bit<8> loop = 0;
        for (bit<8> i in 0 .. 3) { loop = loop + i; }
        x = never /* WARNING "variable 'never' is read before it has a value" */ + loop;
        if (x << 8 /* WARNING "shift by 8, but the value has only 8 bits" */ == 0) { y = 1; } else { y = 2; }
        if (e1.a == e2.b /* WARNING "different enums" */) { return; }
        h_t local;
        local.setInvalid();
        h = local;
        x = x / 3 /* WARNING "not defined by the language" */;
        return;
        x = 1 /* WARNING "never reached" */;
    }
}

parser p(packet_in b, in bit<8> x) {
    state start {
        transition select(x) {
            9 .. 2 /* WARNING "the range is empty" */: accept;
            default: accept;
            3 /* WARNING "this case is never reached" */: more;
        }
    }
    state more /* WARNING "state 'more' is never reached" */ { transition accept; }
}
