// Package controlplane programs and steers a fabric of P4Runtime switches: the embedded switch and stock bmv2
// (simple_switch_grpc) alike.
//
// It turns a fabric spec into the desired entries of each switch, shows and applies the difference to what a switch
// holds, answers digests (MPTCP correlation) and packet-ins (ICMP, neighbour discovery), sends the probes, turns the live
// knobs, and serves an HTTP API. It speaks P4Runtime only, and of that only what bmv2 supports: CONTINUE_ON_ERROR
// batches, no register writes, no value sets. Registers are read for display where a server can.
//
// A Controller reads no clock: its owner tells it the time, so that it runs in virtual time as well (see Run for real
// time).
package controlplane
