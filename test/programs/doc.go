// Package programs tests the compiler and the switch together: P4 programs with STF files that say what goes in and comes out.
//
// testdata holds programs of our own; each expected byte is worked out by hand from the language specification. With P4C_DIR set to a
// p4c checkout, its v1model samples are compiled and run as well.
package programs
