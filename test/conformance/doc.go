// Package conformance compiles and runs the programs of the reference compiler p4c, and counts how many behave as p4c's own
// expectations say:
//
//	P4C_DIR=<p4c checkout> go test ./test/conformance -v
//
// prints one line "suite: passed/total" for each suite, and each miss by name with its reason:
//
//	compile-v1model   the v1model programs that p4c's backends/bmv2/CMakeLists.txt compiles, without its XFAIL list
//	stf-v1model       the v1model programs with an STF test, run on the embedded switch
//	p4info-v1model    P4Info equal to the golden one as protobuf
//	entries           the entries' WriteRequest equal to the golden one as protobuf
//	errors            wrong programs that must be rejected, with a diagnostic and not with a failure of the compiler
//	errors-line       the same, with an error on a line that the golden messages name
//	p4_16_bmv_errors  programs that the bmv2 back end must reject
//
// A program that is rejected for want of a package main alone counts as accepted in the suites of wrong programs. P4C_RUN
// selects programs by a regular expression on their path below testdata. Without P4C_DIR the tests are skipped.
package conformance
