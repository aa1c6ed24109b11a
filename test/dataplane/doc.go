// Package dataplane tests the generated programs as they run: compiled, linked and driven packet by packet on the embedded switch, against
// the reference model in package probe, against hand-made packets, and against the specifications they cite.
//
// With P4C_BM2_SS set to stock p4c's bmv2 compiler the same tests run on what that compiler emits.
package dataplane
