// Copying in and out, the order of effects, and early ends (specification sections 6.8 and 12).
#include <core.p4>
#include <v1model.p4>

header op_t {
    bit<8> op;
    bit<8> a;
    bit<8> b;
    bit<8> r;
}

struct headers_t {
    op_t h;
}

struct metadata_t {
}

void both(inout bit<8> x, inout bit<8> y) {
    x = 1;
    y = 2;
}

bit<8> seven(inout bit<8> x) {
    x = 7;
    return x;
}

bool bump(inout bit<8> x) {
    x = x + 1;
    return true;
}

bit<8> clamp(in bit<8> x) {
    if (x > 100) {
        return 100;
    }
    return x;
}

void fresh(out bit<8> x, in bit<8> y) {
    x = y + 1;
}

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    state start {
        packet.extract(hdr.h);
        transition accept;
    }
}

control V(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control Double(inout bit<8> v) {
    apply {
        if (v >= 0x80) {
            return;
        }
        v = v + v;
    }
}

control Next(inout bit<8> v) {
    action to(bit<8> n) {
        v = n;
    }
    table step {
        key = {
            v: exact;
        }
        actions = {
            to;
            NoAction;
        }
        default_action = NoAction();
        const entries = {
            1: to(2);
            2: to(3);
        }
    }
    apply {
        step.apply();
    }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    Double() double;
    Next() next;

    action stop(inout bit<8> x) {
        x = 9;
        hdr.h.r = hdr.h.a; // not yet copied out
        exit;
    }

    action swap(inout bit<8> x, inout bit<8> y) {
        bit<8> z = x;
        x = y;
        y = z;
    }

    apply {
        sm.egress_spec = 1;
        switch (hdr.h.op) {
            0: { both(hdr.h.a, hdr.h.a); }
            1: { hdr.h.r = hdr.h.a + seven(hdr.h.a); }
            2: {
                if (hdr.h.b == 0 || bump(hdr.h.a)) {
                    hdr.h.r = hdr.h.a;
                }
            }
            3: {
                stop(hdr.h.a);
                hdr.h.r = 0xee;
            }
            4: {
                double.apply(hdr.h.a);
                double.apply(hdr.h.a);
            }
            5: {
                next.apply(hdr.h.a);
                next.apply(hdr.h.a);
            }
            6: { hdr.h.r = clamp(hdr.h.a) + clamp(hdr.h.b); }
            7: { swap(hdr.h.a, hdr.h.b); }
            8: { fresh(hdr.h.a, hdr.h.a); }
        }
    }
}

control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {}
}

control C(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control D(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(P(), V(), I(), E(), C(), D()) main;
