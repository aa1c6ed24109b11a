// Package bmv2json writes a lowered program as the JSON that a behavioural-model switch loads (format 2.23, as described in the
// behavioral model's docs/JSON_format.md).
//
// The target computes with integers of any size and truncates only when it stores, so results that can leave the range of their
// type are masked here. Control code becomes a graph: straight-line code is an action behind a table without keys, a condition is a
// conditional. The output depends on the program only, byte for byte.
package bmv2json
