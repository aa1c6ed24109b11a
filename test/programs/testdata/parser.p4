// Sub-parsers, conditions in states, varbit, lookahead, advance and verify.
#include <core.p4>
#include <v1model.p4>

error {
    TooBig
}

header op_t {
    bit<8> op;
    bit<8> n;
}

header data_t {
    varbit<64> bytes;
}

header mark_t {
    bit<8> m;
}

struct headers_t {
    op_t op;
    data_t data;
    mark_t first;
    mark_t second;
}

struct metadata_t {
    bit<8> seen;
}

parser Mark(packet_in packet, out mark_t m, inout bit<8> seen)(bit<8> step) {
    state start {
        packet.extract(m);
        seen = seen + step;
        transition select(m.m) {
            0x80 &&& 0x80: high;
            default: accept;
        }
    }
    state high {
        seen = seen + 0x80;
        transition accept;
    }
}

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    Mark(1) one;
    Mark(2) two;

    state start {
        meta.seen = 0;
        packet.extract(hdr.op);
        transition select(hdr.op.op, hdr.op.n) {
            (0, _): marks;
            (1, 0 .. 8): data;
            (1, _): accept;
            (2, _): skip;
            (3, _): check;
            (4, _): decide;
            default: accept;
        }
    }
    state marks {
        one.apply(packet, hdr.first, meta.seen);
        two.apply(packet, hdr.second, meta.seen);
        transition accept;
    }
    state data {
        packet.extract(hdr.data, (bit<32>) hdr.op.n << 3);
        transition accept;
    }
    state skip {
        packet.advance(16);
        meta.seen = packet.lookahead<bit<16>>()[7:0];
        transition accept;
    }
    state check {
        verify(hdr.op.n < 10, error.TooBig);
        packet.extract(hdr.first);
        transition accept;
    }
    state decide {
        bit<8> limit = 4;
        if (hdr.op.n > limit) {
            meta.seen = 0xaa;
        } else {
            meta.seen = 0xbb;
        }
        transition select(hdr.op.n + 1) {
            5: accept;
            default: check;
        }
    }
}

control V(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        hdr.op.n = meta.seen;
        if (sm.parser_error == error.TooBig) {
            hdr.op.op = 0xe1;
        } else if (sm.parser_error == error.PacketTooShort) {
            hdr.op.op = 0xe2;
        } else if (sm.parser_error != error.NoError) {
            hdr.op.op = 0xe3;
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
