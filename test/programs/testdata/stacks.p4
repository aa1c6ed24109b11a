// Header stacks, unions, header values and validity (specification sections 8.17 to 8.20).
#include <core.p4>
#include <v1model.p4>

header op_t {
    bit<8> op;
    bit<8> i;
}

header label_t {
    bit<7> value;
    bit<1> bottom;
}

header short_t {
    bit<8> x;
}

header long_t {
    bit<8> x;
    bit<8> y;
}

header_union tail_t {
    short_t s;
    long_t l;
}

struct headers_t {
    op_t op;
    label_t[3] labels;
    tail_t tail;
}

struct metadata_t {
}

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    state start {
        packet.extract(hdr.op);
        transition label;
    }
    state label {
        packet.extract(hdr.labels.next);
        transition select(hdr.labels.last.bottom) {
            0: label;
            1: tail;
        }
    }
    state tail {
        transition select(packet.lookahead<bit<8>>()) {
            0x00 .. 0x7f: tail_short;
            default: tail_long;
        }
    }
    state tail_short {
        packet.extract(hdr.tail.s);
        transition accept;
    }
    state tail_long {
        packet.extract(hdr.tail.l);
        transition accept;
    }
}

control V(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        if (sm.parser_error == error.StackOutOfBounds) {
            hdr.op.i = 0xee;
            return;
        }
        label_t copy;
        switch (hdr.op.op) {
            0: { hdr.labels.pop_front(1); }
            1: {
                hdr.labels.push_front(1);
                hdr.labels[0].setValid();
                hdr.labels[0].value = 0x11;
                hdr.labels[0].bottom = 0;
            }
            2: { hdr.labels[hdr.op.i].value = 0x7f; }
            3: { hdr.op.i = (bit<8>) hdr.labels[hdr.op.i].value; }
            4: { hdr.labels[hdr.op.i].setInvalid(); }
            5: {
                // Making one member valid makes the other invalid.
                hdr.tail.l.setValid();
                hdr.tail.l.x = 0xc0;
                hdr.tail.l.y = 0xde;
            }
            6: { hdr.tail.s = { 0x42 }; }
            7: {
                copy = hdr.labels[0];
                hdr.labels[0] = hdr.labels[1];
                hdr.labels[1] = copy;
            }
            8: {
                if (hdr.labels[0] == hdr.labels[1] && !copy.isValid()) {
                    hdr.op.i = 1;
                }
            }
            9: {
                copy = { hdr.labels[0].value, hdr.labels[0].bottom };
                hdr.labels[0] = {#};
                hdr.op.i = (bit<8>) copy.value;
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
