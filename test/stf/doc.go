// Package stf runs p4c's simple test framework files against the embedded switch in virtual time: table entries, packets
// in, packets expected.
//
// The format and its leniencies are those of p4c's bmv2 driver (tools/stf, backends/bmv2/bmv2stf.py): names match by unique
// suffix, * is a wildcard digit, an expected packet without $ may be followed by more bytes, a packet with an odd number of
// digits is not sent, and ports that the file does not name are not watched. Where that driver parses a command and ignores
// it (wait, remove, check_counter, mc_node_update), the command is carried out here.
package stf
