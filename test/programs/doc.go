// Package programs tests the compiler and the switch together: P4 programs with STF files that say what goes in and comes out.
//
// testdata holds programs of our own; each expected byte is worked out by hand from the language specification.
// p4c's own programs are the business of test/conformance.
package programs
