// Package p4src embeds the P4 files that come with khop: the core library and the v1model architecture, which programs
// include, and the programs generated for the shipped fabrics.
package p4src

import _ "embed" // for the files below

// Core is core.p4, the core library of P4_16 (specification section "P4 core library").
//
//go:embed core.p4
var Core []byte

// V1Model is v1model.p4, the architecture of bmv2's simple_switch.
//
//go:embed v1model.p4
var V1Model []byte

// Include returns the file that a program includes by the given name, if khop brings one.
func Include(name string) ([]byte, bool) {
	switch name {
	case "core.p4":
		return Core, true
	case "v1model.p4":
		return V1Model, true
	}
	return nil, false
}
