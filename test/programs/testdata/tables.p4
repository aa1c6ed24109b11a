// Match kinds, entries, hit and miss, action_run, and one table applied in two places.
#include <core.p4>
#include <v1model.p4>

header op_t {
    bit<8> op;
    bit<16> a;
    bit<8> b;
    bit<8> r;
}

struct headers_t {
    op_t h;
}

struct metadata_t {
    bit<8> sum;
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
    action set(bit<8> r) {
        hdr.h.r = r;
    }
    action add(bit<8> r) {
        hdr.h.r = hdr.h.r + r;
    }
    action pick(bit<8> r, bool twice) {
        if (twice) {
            hdr.h.r = r << 1;
        } else {
            hdr.h.r = r;
            return;
        }
        hdr.h.b = 0xff;
    }
    action drop() {
        mark_to_drop(sm);
        exit;
    }

    table lpm_t {
        key = {
            hdr.h.a: lpm;
        }
        actions = {
            set;
            drop;
        }
        default_action = set(0xdd);
        const entries = {
            0x1200 &&& 0xff00: set(1);
            0x1230 &&& 0xfff0: set(2);
            0x1234: set(3);
            0xff00 &&& 0xff00: drop();
        }
    }

    table ternary_t {
        key = {
            hdr.h.a: ternary;
            hdr.h.b: range;
        }
        actions = {
            set;
            pick;
            NoAction;
        }
        default_action = NoAction();
        const entries = {
            (0x0001 &&& 0x0001, 10..20): set(1); // the first that matches counts
            (0x0003 &&& 0x0003, _): pick(5, true);
            (0x0001 &&& 0x0001, _): pick(5, false);
        }
    }

    table twice_t {
        key = {
            hdr.h.b: exact;
        }
        actions = {
            add;
            NoAction;
        }
        default_action = NoAction();
        const entries = {
            1: add(0x10);
            2: add(0x20);
        }
    }

    table keys_t {
        key = {
            hdr.h.a + 1: exact @name("next");
            hdr.h.isValid(): exact;
            hdr.h.b[3:0]: exact @name("low");
        }
        actions = {
            set;
            NoAction;
        }
        default_action = NoAction();
        const entries = {
            (0, true, 5): set(0x77);
        }
    }

    apply {
        sm.egress_spec = 1;
        if (hdr.h.op == 0) {
            lpm_t.apply();
            hdr.h.b = 0xaa; // not after exit
        } else if (hdr.h.op == 1) {
            switch (ternary_t.apply().action_run) {
                set: { hdr.h.op = 0x81; }
                pick:
                NoAction: { hdr.h.op = 0x82; }
            }
        } else if (hdr.h.op == 2) {
            if (twice_t.apply().hit) {
                hdr.h.b = 2;
                if (!twice_t.apply().hit) {
                    hdr.h.r = 0xee;
                }
            } else {
                hdr.h.b = 1;
                bool again = twice_t.apply().hit;
                hdr.h.op = again ? 8w0x91 : 0x90;
            }
        } else if (keys_t.apply().miss) {
            hdr.h.r = 0x66;
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
