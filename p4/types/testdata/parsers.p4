#include <core.p4>

header h_t { bit<8> x; bit<16> y; }
header v_t { bit<8> n; varbit<64> v; }
struct hs_t { h_t h; h_t[3] stack; v_t v; }
enum bit<8> kind_t { one = 1, two = 2 }

parser loops(packet_in b, out hs_t hdr) {
    value_set<bit<8>>(4) vs;
    value_set<tuple<bit<8>, bit<16>>>(4) vs2;
    bit<8> seen = 0;
    state start {
        b.extract(hdr.stack.next);
        seen = seen + 1;
        transition select(hdr.stack.last.x) {
            0: done;
            1 &&& 3: start;
            4 .. 9: more;
            vs: done;
            default: accept;
        }
    }
    state more {
        transition select(hdr.h.x, hdr.h.y) {
            (1, 2): start;
            (1 &&& 3, _): done;
            (vs, 3): done;
            (default, 0x800): done;
            vs2: accept;
            vs /* ERROR "value set 'vs' holds bit<8>, but the key has type tuple" */: accept;
            (1, 2, 3) /* ERROR "the select has 2 keys, but this label has 3 components" */: accept;
            (true /* ERROR "the label must have type bit<8>, not bool" */, 2): accept;
            _: nowhere /* ERROR "unknown state 'nowhere'" */;
        }
    }
    state done {
        b.extract(hdr.v, (bit<32>)hdr.h.x);
        b.extract(hdr.v) /* ERROR "needs its size in bits as a second argument" */;
        b.extract(hdr.h, 8) /* ERROR "needs a header with one varbit field" */;
        b.extract(seen) /* ERROR "extract takes a header, not bit<8>" */;
        bit<16> ahead = b.lookahead<bit<16>>();
        v_t w = b.lookahead<v_t>() /* ERROR "lookahead needs a type of fixed size" */;
        kind_t k = (kind_t)seen;
        if (ahead == 3) { b.advance(8); }
        transition select(k, seen[3:0] ++ 4w0) {
            (kind_t.one, 0x10): accept;
            (2 /* ERROR "the label must have type kind_t, not int" */, 0): accept;
        }
    }
}
parser nostart(packet_in b) /* ERROR "has no state 'start'" */ {
    state begin { transition accept; }
}
parser forever(packet_in b) {
    state start { transition next; }
    state next { transition start; }
}
parser names(packet_in b) {
    bit<8> t;
    state start { transition t /* ERROR "variable 't' is not a state" */; }
    state t /* ERROR "'t' is declared twice" */ { transition accept; }
    state accept /* ERROR "state 'accept' is built in" */ { transition start; }
}
parser structs(packet_in b, in hs_t h) {
    state start {
        transition select(h.h /* ERROR "select cannot be on h_t" */) { default: accept; }
    }
}
