// Package ir lowers a checked P4_16 program for the v1model architecture to what a behavioural-model switch executes.
//
// [Build] evaluates the package instance main, instantiates and inlines parsers, controls, functions and directly called actions,
// flattens structs and tuples into fields, and turns bodies into [Code]: a list of primitives, jumps, table applications and parser
// operations. The same form serves actions (jumps stay jumps), controls (jumps become a graph of tables and conditions) and parsers
// (jumps become states), so that return, break, continue, exit and loops need no special case in a back end.
//
// Every value is computed once, where the program computes it: nothing is propagated into later expressions, so the result is
// linear in the size of the inlined program.
package ir
