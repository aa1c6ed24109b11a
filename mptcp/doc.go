// Package mptcp reads Multipath TCP as a top-of-rack switch and its controller see it: the TCP options on the wire, the
// values derived from the keys, and the correlation of subflows to connections.
//
// It covers MPTCP version 0 (RFC 6824, SHA-1) and version 1 (RFC 8684, SHA-256). Everything here is a pure function or a
// state machine that is told the time; the package does no I/O.
package mptcp
