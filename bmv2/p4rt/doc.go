// Package p4rt is a gRPC server of the P4Runtime API (p4.v1.P4Runtime, version 1.5.0) for embedded switches.
//
// The server follows the text of the P4Runtime specification, also where other servers differ: after the primary's
// stream breaks a device has no primary until some client sends an election id at least as high as the highest ever
// seen (section "Client Arbitration and Controller Replication"); no backup is promoted on its own.
//
// The server owns no switch and reads no clock. Each device is a [Target], declared here and implemented by
// bmv2/device (real time) and by the virtual-time harness: it gives exclusive access to the switch together with the
// time. In the other direction the owner of the device drives an [Agent]: it hands over frames for the CPU port and
// digests, and asks when the agent wants to be called next (digest timeouts, idle timeouts). All times are switch time:
// nanoseconds since the switch started.
package p4rt
