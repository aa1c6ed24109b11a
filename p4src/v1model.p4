/*
 * v1model.p4: the architecture of bmv2's simple_switch.
 *
 *   packet -> Parser -> VerifyChecksum -> Ingress -> traffic manager -> Egress -> ComputeChecksum -> Deparser -> packet
 *
 * What is declared here is fixed by the architecture. V1MODEL_VERSION chooses between its forms: from 20200408 on, ports have
 * the type PortId_t, and the index of counters, meters and registers has a type parameter.
 */
#ifndef _V1_MODEL_P4_
#define _V1_MODEL_P4_

#include "core.p4"

#ifndef V1MODEL_VERSION
#define V1MODEL_VERSION 20180101
#endif

match_kind {
    range,     // between two bounds, both included
    optional,  // equal in every bit, or not compared at all
    selector   // no comparison: an input of the hash of an action selector
}

const bit<32> __v1model_version = V1MODEL_VERSION;

#if V1MODEL_VERSION >= 20200408
typedef bit<9> PortId_t;
#endif

/*
 * What the switch tells the program about a packet, and the program the switch. @alias gives the name by which bmv2 knows a
 * field; it goes to the field_aliases section of its JSON.
 */
@metadata @name("standard_metadata")
struct standard_metadata_t {
#if V1MODEL_VERSION >= 20200408
    PortId_t ingress_port;  // where the packet came in
    PortId_t egress_spec;   // where ingress sends it; the drop port drops it
    PortId_t egress_port;   // where it goes out; set when egress starts
#else
    bit<9> ingress_port;
    bit<9> egress_spec;
    bit<9> egress_port;
#endif
    bit<32> instance_type;  // 0 normal, 1 ingress clone, 2 egress clone, 4 recirculated, 5 replicated, 6 resubmitted
    bit<32> packet_length;  // bytes

    // Times are microseconds since the switch started, queue depths are packets.
    @alias("queueing_metadata.enq_timestamp")
    bit<32> enq_timestamp;
    @alias("queueing_metadata.enq_qdepth")
    bit<19> enq_qdepth;
    @alias("queueing_metadata.deq_timedelta")
    bit<32> deq_timedelta;  // time in the queue
    @alias("queueing_metadata.deq_qdepth")
    bit<19> deq_qdepth;

    @alias("intrinsic_metadata.ingress_global_timestamp")
    bit<48> ingress_global_timestamp;
    @alias("intrinsic_metadata.egress_global_timestamp")
    bit<48> egress_global_timestamp;
    @alias("intrinsic_metadata.mcast_grp")
    bit<16> mcast_grp;      // multicast group that ingress sends the packet to; 0 for none
    @alias("intrinsic_metadata.egress_rid")
    bit<16> egress_rid;     // replication id of this copy
    bit<1> checksum_error;  // 1 if verify_checksum found a wrong checksum
    error parser_error;     // the error that ended the parser
    @alias("intrinsic_metadata.priority")
    bit<3> priority;        // queue of the egress port
}

enum CounterType {
    packets,
    bytes,
    packets_and_bytes
}

enum MeterType {
    packets,
    bytes
}

/* An array of counters, which the program increments and the control plane reads. */
extern counter
#if V1MODEL_VERSION >= 20200408
<I>
#endif
{
    counter(bit<32> size, CounterType type);

    /* Counts the packet, its bytes, or both. Nothing is counted if the index is size or more. */
#if V1MODEL_VERSION >= 20200408
    void count(in I index);
#else
    void count(in bit<32> index);
#endif
}

/* One counter for each entry of the table that names it in its property counters. It counts on every hit, whether or not the
   action calls count. */
extern direct_counter {
    direct_counter(CounterType type);
    void count();
}

#define V1MODEL_METER_COLOR_GREEN  0
#define V1MODEL_METER_COLOR_YELLOW 1
#define V1MODEL_METER_COLOR_RED    2

/* An array of two-rate three-colour meters (RFC 2698), whose rates the control plane sets. */
extern meter
#if V1MODEL_VERSION >= 20200408
<I>
#endif
{
    meter(bit<32> size, MeterType type);

    /* Marks the packet and gives its colour. T is bit<W> with W of 2 or more. The result is undefined if the index is size or
       more. */
#if V1MODEL_VERSION >= 20200408
    void execute_meter<T>(in I index, out T result);
#else
    void execute_meter<T>(in bit<32> index, out T result);
#endif
}

/* One meter for each entry of the table that names it in its property meters. */
extern direct_meter<T> {
    direct_meter(MeterType type);

    /* Gives the colour of the packet. To be called in an action of the table only. */
    void read(out T result);
}

/* An array of values that packets leave for later ones. */
#if V1MODEL_VERSION >= 20200408
extern register<T, I>
#else
extern register<T>
#endif
{
    register(bit<32> size);

    /* Gives the value at the index; undefined if that is size or more. A read and a write of one element are one step for
       other packets if they stand in one @atomic block. */
    @noSideEffects
#if V1MODEL_VERSION >= 20200408
    void read(out T result, in I index);
#else
    void read(out T result, in bit<32> index);
#endif

    /* Sets the value at the index; does nothing if that is size or more. */
#if V1MODEL_VERSION >= 20200408
    void write(in I index, in T value);
#else
    void write(in bit<32> index, in T value);
#endif
}

/* A table property (implementation): entries refer to members, which hold the action and its arguments. */
extern action_profile {
    action_profile(bit<32> size);
}

/* A random number from lo to hi, both included. Undefined if lo is larger than hi. */
extern void random<T>(out T result, in T lo, in T hi);

/* Sends the values that data has now to the control plane; P4Runtime and bmv2 do not look at the receiver. Ingress only. */
extern void digest<T>(in bit<32> receiver, in T data);

enum HashAlgorithm {
    crc32,
    crc32_custom,
    crc16,
    crc16_custom,
    random,
    identity,
    csum16,
    xor16
}

@deprecated("Please use mark_to_drop(standard_metadata) instead.")
extern void mark_to_drop();

/* Sends the packet to the drop port and to no multicast group. What the program writes to these fields later undoes that. */
@pure
extern void mark_to_drop(inout standard_metadata_t standard_metadata);

/* base + (hash of data) mod max, or base if max is 0. O, T and M are bit<W>, D is a tuple of bit-strings. */
@pure
extern void hash<O, T, D, M>(out O result, in HashAlgorithm algo, in T base, in D data, in M max);

/* An action profile with groups of members: the hash of the key fields of kind selector chooses one of a group. */
extern action_selector {
    action_selector(HashAlgorithm algorithm, bit<32> size, bit<32> outputWidth);
}

enum CloneType {
    I2E,
    E2E
}

@deprecated("Please use verify_checksum/update_checksum instead.")
extern Checksum16 {
    Checksum16();
    bit<16> get<D>(in D data);
}

/* In VerifyChecksum: if the condition holds and the checksum of data is another one, checksum_error becomes 1. */
extern void verify_checksum<T, O>(in bool condition, in T data, in O checksum, HashAlgorithm algo);

/* In ComputeChecksum: if the condition holds, sets checksum to that of data. */
@pure
extern void update_checksum<T, O>(in bool condition, in T data, inout O checksum, HashAlgorithm algo);

/* As verify_checksum; the bytes that the parser has not extracted count as the end of data. */
extern void verify_checksum_with_payload<T, O>(in bool condition, in T data, in O checksum, HashAlgorithm algo);

/* As update_checksum; the bytes that the parser has not extracted count as the end of data. */
@noSideEffects
extern void update_checksum_with_payload<T, O>(in bool condition, in T data, inout O checksum, HashAlgorithm algo);

/*
 * Copies and second rounds. The _preserving_field_list forms keep the fields of the user metadata that bear an
 * @field_list(n, ...) with the given number; the others keep none.
 */

/* Makes copies as the clone session says, which start at egress. I2E in ingress, E2E in egress. The last call counts. */
extern void clone(in CloneType type, in bit<32> session);

/* Sends the packet as it came in through parser and ingress again. Ingress only. */
@deprecated("Please use 'resubmit_preserving_field_list' instead")
extern void resubmit<T>(in T data);
extern void resubmit_preserving_field_list(bit<8> index);

/* Sends the packet as it leaves the deparser to the parser again. Egress only. */
@deprecated("Please use 'recirculate_preserving_field_list' instead")
extern void recirculate<T>(in T data);
extern void recirculate_preserving_field_list(bit<8> index);

@deprecated("Please use 'clone_preserving_field_list' instead")
extern void clone3<T>(in CloneType type, in bit<32> session, in T data);
extern void clone_preserving_field_list(in CloneType type, in bit<32> session, bit<8> index);

/* Cuts the packet to the given number of bytes when it leaves. */
extern void truncate(in bit<32> length);

/* Stops the switch with a message if the check fails. Leave out side effects: compilers may leave out the call. */
extern void assert(in bool check);

/* As assert on a switch; a verifier may take the check for granted instead of proving it. */
extern void assume(in bool check);

/* Writes a line to the log of the switch. Each {} in the message stands for the next value of data. */
extern void log_msg(string msg);
extern void log_msg<T>(string msg, in T data);

/*
 * The pipeline. M is a struct of the program's metadata, H a struct of headers, header stacks and header unions.
 */

parser Parser<H, M>(packet_in b,
                    out H parsedHdr,
                    inout M meta,
                    inout standard_metadata_t standard_metadata);

/* Holds calls of verify_checksum and verify_checksum_with_payload only. */
control VerifyChecksum<H, M>(inout H hdr,
                             inout M meta);

@pipeline
control Ingress<H, M>(inout H hdr,
                      inout M meta,
                      inout standard_metadata_t standard_metadata);

@pipeline
control Egress<H, M>(inout H hdr,
                     inout M meta,
                     inout standard_metadata_t standard_metadata);

/* Holds calls of update_checksum and update_checksum_with_payload only. */
control ComputeChecksum<H, M>(inout H hdr,
                              inout M meta);

/* Holds calls of packet_out.emit only. */
@deparser
control Deparser<H>(packet_out b, in H hdr);

package V1Switch<H, M>(Parser<H, M> p,
                       VerifyChecksum<H, M> vr,
                       Ingress<H, M> ig,
                       Egress<H, M> eg,
                       ComputeChecksum<H, M> ck,
                       Deparser<H> dep);

#endif /* _V1_MODEL_P4_ */
