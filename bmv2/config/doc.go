// Package config reads bmv2 JSON, the contract between a P4 compiler and the behavioural model, into Go structs.
//
// The format is the one of bmv2's JSON_format document, version 2, in the shape that p4c emits it and in ours. Parse is
// strict about shape and references, and every error names the place by a JSON path.
package config
