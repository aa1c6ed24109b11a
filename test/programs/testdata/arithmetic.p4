// Each operation on two bytes, chosen by the first byte.
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
    apply {
        sm.egress_spec = 1;
        bit<8> a = hdr.h.a;
        bit<8> b = hdr.h.b;
        int<8> sa = (int<8>) a;
        int<8> sb = (int<8>) b;
        switch (hdr.h.op) {
            0: { hdr.h.r = a + b; }
            1: { hdr.h.r = a - b; }
            2: { hdr.h.r = a * b; }
            3: { hdr.h.r = a |+| b; }
            4: { hdr.h.r = a |-| b; }
            5: { hdr.h.r = a << b; }
            6: { hdr.h.r = a >> b; }
            7: { hdr.h.r = (bit<8>) (sa >> b); }
            8: { hdr.h.r = a[3:0] ++ b[7:4]; }
            9: { hdr.h.r = ~a ^ b; }
            10: { hdr.h.r = sa < sb ? 8w1 : 0; }
            11: { hdr.h.r = (bit<8>) (sa |+| sb); }
            12: { hdr.h.r = -a; }
            13: { hdr.h.r = ((bit<16>) (int<16>) sa)[15:8]; }
            14: { hdr.h.r[6:3] = a[3:0]; }
            15: { hdr.h.r = (bit<8>) (sa * sb); }
            16: {
                bit<16> wide = (bit<16>) a;
                hdr.h.r = b << (wide << 4); // a distance of up to 4080
            }
            17: { hdr.h.r = (bit<8>) (-sa); }
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
