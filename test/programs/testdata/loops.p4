// Loops in a control and in an action, with break and continue (specification sections 12.8 and 12.9).
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

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    state start {
        packet.extract(hdr.h);
        transition accept;
    }
}

control V(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    action add(bit<8> n) {
        hdr.h.r = hdr.h.r + n;
    }

    table t {
        key = {
            hdr.h.r: exact;
        }
        actions = {
            add;
            NoAction;
        }
        default_action = NoAction();
        const entries = {
            0: add(1);
            1: add(2);
            3: add(4);
        }
    }

    action sum() {
        for (bit<8> i = 1; i <= hdr.h.a; i = i + 1) {
            if (i[0:0] == 0) {
                continue;
            }
            if (i > hdr.h.b) {
                break;
            }
            hdr.h.r = hdr.h.r + i;
        }
    }

    table run {
        actions = {
            sum;
        }
        const default_action = sum();
    }

    apply {
        sm.egress_spec = 1;
        switch (hdr.h.op) {
            0: { run.apply(); }
            1: {
                for (bit<8> i in hdr.h.a .. hdr.h.b) {
                    hdr.h.r = hdr.h.r + i;
                }
            }
            2: {
                for (bit<8> i in 8w1 .. 8w4) {
                    for (bit<8> j in 8w1 .. 8w4) {
                        if (j > i) {
                            break;
                        }
                        hdr.h.r = hdr.h.r + j;
                    }
                }
            }
            3: {
                for (bit<8> i = 0; i < hdr.h.a; i = i + 1) {
                    t.apply(); // one table, applied in every round
                }
            }
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
