// Package codegen writes the P4_16 programs of a fabric: one v1model program per role, for the fabric's scheme. It also exports
// what a controller must know about the programs it programs: the names and widths of tables, actions, digests,
// controller headers, registers and counters ([TablesOf], the name constants), and the numbers that the spec implies
// ([UtilScale], [ProbeGroups], [NextHopsOf], [FlowHash], ...).
//
// The programs are written for stock bmv2 (p4c-bm2-ss, simple_switch_grpc) as much as for the project's own compiler and switch:
// every live knob is a table entry or a default action, because P4Runtime on bmv2 cannot write registers; registers
// hold only what the data plane itself learns.
//
//go:generate go test -run TestShippedPrograms -update
package codegen
