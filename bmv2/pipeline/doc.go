// Package pipeline links a bmv2 configuration into an executable form.
//
// A Program is immutable and may be shared by any number of switches: names are resolved to integers, fields to slots of
// a flat packet header vector (PHV), expressions, actions and parser states to closures. Everything that changes while
// packets run or a controller writes (tables, registers, counters, meters, value sets, action profiles) lives in an
// Instance, of which each switch has its own.
package pipeline
