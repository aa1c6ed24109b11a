// Package fabric reads, validates and derives the fabric spec: one YAML file that names a topology, a load-balancing
// scheme and its time constants, the hosts, the links and the switch target. Everything else in the project reads from the
// types of this package and never from YAML.
//
// The spec is strict: an unknown key, a value with a wrong or missing unit and a combination that cannot work are errors
// with line and column, and all of them are reported at once ([Errors]). What the spec leaves out gets a default that
// is derived from what it says (tau from the probe interval, subflow_live from the flowlet gap, ...).
//
// Numbering is deterministic and follows from the spec alone:
//
//   - switches: leaves, then spines, then cores, each in the order of the spec (or of their index);
//   - device ids (P4Runtime): 1, 2, ... in that order;
//   - ToR ids (24 bits in the probe): 1, 2, ... over the leaves, so a leaf's ToR id is its index; 0 is never used;
//   - ports: from 1 (0 is no port) on each switch: first the uplinks, then the links down to switches, then hosts; within
//     each group in the order of the peers, parallel links in the order of the spec;
//   - host i of leaf L is named "hL-i".
package fabric
