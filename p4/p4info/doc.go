// Package p4info describes the control plane of a lowered program as P4Info (P4Runtime specification 1.4, section 6), and its
// initial table entries as a WriteRequest.
//
// Ids, names, aliases and the order of objects are those that the reference compiler gives, so that what one compiler's P4Info
// says holds for the other's: an id is the object's 8-bit prefix and 24 bits of a hash of its name.
package p4info
