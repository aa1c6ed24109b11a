// Package table holds the match structures of match-action tables: exact, longest-prefix, ternary and range.
//
// Keys are fixed-size vectors of 64-bit words laid out by the caller. A lookup allocates nothing; structures are not safe
// for concurrent use.
package table
