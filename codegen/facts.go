package codegen

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"math/bits"
	"net/netip"

	"khop/fabric"
	"khop/probe"
)

// PortMapBits returns the width of the port bitmaps of a fabric's programs: 32, 64 or 128. Bit p-1 stands for port p.
func PortMapBits(f *fabric.Fabric) int {
	ports := 0
	for _, s := range f.Switches {
		ports = max(ports, s.FabricPorts())
	}
	switch {
	case ports <= 32:
		return 32
	case ports <= 64:
		return 64
	}
	return 128
}

// PortMap returns the bitmap of ports, big-endian in PortMapBits/8 bytes.
func PortMap(f *fabric.Fabric, ports []uint32) []byte {
	b := make([]byte, PortMapBits(f)/8)
	for _, p := range ports {
		if bit := int(p) - 1; bit >= 0 && bit < 8*len(b) {
			b[len(b)-1-bit/8] |= 1 << (bit % 8)
		}
	}
	return b
}

// ToRSlots returns the size of the register arrays that are indexed by ToR id.
func ToRSlots(f *fabric.Fabric) int { return 1 << bits.Len32(f.MaxToR()) }

// KBestIndex returns the index of a slot (0 is the best) of a ToR in the kbest_* registers.
func KBestIndex(f *fabric.Fabric, tor uint32, slot int) uint32 { return tor*uint32(f.K) + uint32(slot) }

// SubflowSlots returns how many subflows of a connection are kept apart: the next power of two from the spec's max_subflows.
func SubflowSlots(f *fabric.Fabric) int { return 1 << bits.Len(uint(f.MPTCP.MaxSubflows-1)) }

// SubflowIndex returns the index of a subflow (from 1) of a connection slot in the subflow_* registers.
func SubflowIndex(f *fabric.Fabric, connSlot uint16, subflow uint8) uint32 {
	slots := uint32(SubflowSlots(f))
	return uint32(connSlot)*slots + uint32(subflow-1)&(slots-1)
}

// UtilScale returns the factor of a port that turns the estimator's bytes into 0..255: (bytes * UtilScale) >> 32. A port that
// sends at its rate for long has rate * tau bytes, which gives 255.
func UtilScale(rate fabric.BitRate, t fabric.Timing) uint32 {
	full := float64(rate) / 8 * t.Tau.Seconds()
	return uint32(min(math.Round(255/full*(1<<32)), math.MaxUint32))
}

// ECNSlope returns the rise of the marking probability for each packet of queue above kmin, in units of 2^-16: between kmin and kmax the
// program marks with probability (q - kmin) * slope / 65536.
func ECNSlope(e *fabric.ECN) uint32 {
	if e.KMaxPackets <= e.KMinPackets {
		return 0
	}
	return uint32(math.Round(e.PMax * 65536 / float64(e.KMaxPackets-e.KMinPackets)))
}

// Group is a multicast group.
type Group struct {
	ID    uint16
	Ports []uint32 // ascending
}

// ProbeGroup returns the multicast group of probes that come in by a port; port 0 is the switch itself, whose controller sends them.
func ProbeGroup(ingress uint32) uint16 { return uint16(ingress) + 1 }

// ProbeGroups returns the multicast groups of a switch, ascending: one for the probes it originates (leaf) and one for each port whose
// probes go on to other ports. from_fabric's probe_group is 0 for a port without a group.
func ProbeGroups(s *fabric.Switch) []Group {
	var list []Group
	for p := uint32(0); p <= uint32(len(s.Ports)); p++ {
		if ports := s.ProbePorts(p); len(ports) > 0 {
			list = append(list, Group{ProbeGroup(p), ports})
		}
	}
	return list
}

// NextHops is an entry of tor_route.
type NextHops struct {
	ToR   uint32
	Group uint8 // ToRs that share a next hop share the group: the subflows of a connection compete for next hops within it
	Ports []uint32
}

// NextHopsOf returns the entries of tor_route of a switch, by ascending ToR id. A leaf has none for itself.
func NextHopsOf(f *fabric.Fabric, s *fabric.Switch) []NextHops {
	var list []NextHops
	group := make([]int, len(s.Ports)+1) // union-find over ports
	for i := range group {
		group[i] = i
	}
	find := func(p uint32) int {
		i := int(p)
		for group[i] != i {
			i = group[i]
		}
		return i
	}
	for _, leaf := range f.Leaves() {
		ports := f.NextHops(s, leaf)
		if len(ports) == 0 {
			continue
		}
		for _, p := range ports[1:] {
			a, b := find(ports[0]), find(p)
			group[max(a, b)] = min(a, b)
		}
		list = append(list, NextHops{ToR: leaf.ToR, Ports: ports})
	}
	for i := range list {
		list[i].Group = uint8(find(list[i].Ports[0]))
	}
	return list
}

// Addr128 returns an address as the programs see it: IPv6 as it is, IPv4 as ::ffff:a.b.c.d.
func Addr128(a netip.Addr) [16]byte { return a.As16() }

// FlowHash returns the hash of a flow that all programs use: CRC-32 (IEEE) over source, destination (128 bits each), protocol (8), source
// and destination port (16 each). The flowlet slot is its low bits.
func FlowHash(src, dst netip.Addr, protocol uint8, srcPort, dstPort uint16) uint32 {
	var b [37]byte
	s, d := Addr128(src), Addr128(dst)
	copy(b[:16], s[:])
	copy(b[16:32], d[:])
	b[32] = protocol
	binary.BigEndian.PutUint16(b[33:], srcPort)
	binary.BigEndian.PutUint16(b[35:], dstPort)
	return crc32.ChecksumIEEE(b[:])
}

// FlowletIndex returns the flowlet slot of a flow; mptcp_conn's first_flowlet is that of subflow 1, in the direction that leaves the leaf.
func FlowletIndex(f *fabric.Fabric, flowHash uint32) uint32 {
	return flowHash & uint32(f.Sizes.Flowlets-1)
}

// SwitchSeed returns the seed of a switch's ECMP hash, switch_params' seed.
func SwitchSeed(f *fabric.Fabric, s *fabric.Switch) uint32 { return f.Seed + uint32(s.DeviceID) }

// ProbeFrame returns the probe that a leaf's controller sends as packet-out to the group ProbeGroup(0).
func ProbeFrame(f *fabric.Fabric, leaf *fabric.Switch, round uint32) []byte {
	return probe.Probe{DstToR: leaf.ToR, Round: round}.AppendFrame(nil, leaf.MAC, f.Wire.ProbeEtherType)
}
