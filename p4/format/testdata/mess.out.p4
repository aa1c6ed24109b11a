/* head
   of the file */
#include <core.p4>
#include <v1model.p4>
#define N 4
typedef bit<9> port_t; // a port
const port_t CPU = 255;
const bit<32> big = 32w1 << 3 | 2;

enum bit<8> E {
    A = 1,
    B = 2,
    /* last */
    C = 3
}

error {
    Oops,
    Ouch
}

match_kind {
    near
}

@controller_header("packet_in")
header pin_t {
    port_t port;
    @padding bit<7> pad; // to a byte
    varbit<(8 * 4)> opts;
}

struct headers_t {
    pin_t pin;
    pin_t[N] stack;
    tuple<bit<8>, list<bit<8>>> t;
}

struct meta_t {}

extern Reg<T, I> {
    Reg(bit<32> n);
    @pure T get(in I i);
    abstract void f<U>(in U u);
}

extern void log<T>(in T x);

bit<8> twice(in bit<8> x) {
    return x + x;
}

parser P(packet_in b, out headers_t h,
        inout meta_t m, inout standard_metadata_t sm) {
    value_set<bit<16>>(4) vs;
    bit<8> tmp = 0;

    // the first state
    state start {
        tmp = tmp + 1;
        transition select(h.pin.port, b.lookahead<bit<8>>()[7:4]) {
            (0 &&& 0xff, _): accept;
            (1 .. 3, default): next;
            vs: next;
            default: accept;
        }
    }

    state next {
        transition reject;
    }
}

control C(inout headers_t h, inout meta_t m)(bit<8> k) {
    Reg<bit<8>, bit<32>>(32) r;

    action nop() {}

    action set(port_t p, in bit<8> q) {
        h.pin.port = p;
        h.pin.pad = (bit<7>) q;
        {
            ;
        }
    }

    // which way
    @name("t") table t {
        key = {
            h.pin.port: exact @name("p");
            h.pin.pad: ternary;
        }
        actions = {
            nop;
            @defaultonly set(1);
        }
        const entries = {
            priority = 3: (1, 2 &&& 3): set(4, 5);
            _: nop();
        }
        const default_action = nop();
        size = 1024;
    }

    apply {
        if (t.apply().hit) {
            h.pin.setValid();
        } else if (!m.isValid())
            exit;
        else
            h.pin.port = -1;
        // switch over the action
        switch (t.apply().action_run) {
            nop:
            set: {
                return;
            }
            default: {}
        }
        for (bit<8> i = 0, bit<8> j = 1; i < 4; i = i + 1, j += 2) {
            continue;
        }
        for (bit<8> x in 1 .. k)
            break;
        h.pin.port[3:0] = h.pin.port[7+:4];
        m = { a = 1, ... };
        h = { { 1, 2 }, {#} };
        log<bit<8>>(a ? b : c);
        bool q = a < b && c > (d);
        call(first,
                second /* inner */, // third
                { x, y });
        P.apply(b);
        Q<bit<8>>.apply(); /* trailing */
        x = aaa
                + bbb;
        /* a comment
           of two lines */
    }
}
#ifdef Z
V1Switch(P(), C(3)) main;
#endif
