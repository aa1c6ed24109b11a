// Registers shared by ingress and egress, a hash, and a resubmission that keeps a field.
#include <core.p4>
#include <v1model.p4>

header op_t {
    bit<8> op;
    bit<8> i;
    bit<16> r;
}

struct headers_t {
    op_t h;
}

struct metadata_t {
    @field_list(3)
    bit<8> rounds;
    bit<8> lost;
}

register<bit<16>>(4) shared;

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
    register<int<8>>(2) signed;

    apply {
        sm.egress_spec = 1;
        switch (hdr.h.op) {
            0: {
                bit<16> v;
                shared.read(v, (bit<32>) hdr.h.i);
                shared.write((bit<32>) hdr.h.i, v + 3);
                hdr.h.r = v;
            }
            1: {
                // CRC-16/ARC of two bytes
                hash(hdr.h.r, HashAlgorithm.crc16, 16w0, { 8w0x31, hdr.h.i }, 32w0x10000);
            }
            2: {
                hdr.h.r = meta.lost ++ meta.rounds;
                if (meta.rounds < hdr.h.i) {
                    meta.rounds = meta.rounds + 1;
                    meta.lost = 0x99;
                    resubmit_preserving_field_list(3);
                }
            }
            3: {
                int<8> s;
                signed.read(s, 0);
                s = s - 1;
                signed.write(0, s);
                hdr.h.r = (bit<16>) (int<16>) s;
            }
        }
    }
}

control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        if (hdr.h.op == 0) {
            bit<16> v;
            shared.read(v, (bit<32>) hdr.h.i);
            shared.write((bit<32>) hdr.h.i, v << 1);
        }
    }
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
