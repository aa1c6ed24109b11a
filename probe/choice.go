package probe

import "math/bits"

// Ports is a set of port numbers from 1 to 128.
type Ports [2]uint64

// PortSet returns a set.
func PortSet(numbers ...uint32) Ports {
	var p Ports
	for _, n := range numbers {
		p.Add(uint16(n))
	}
	return p
}

// Add adds a port; numbers out of range are ignored.
func (p *Ports) Add(n uint16) {
	if n >= 1 && n <= 128 {
		p[(n-1)/64] |= 1 << ((n - 1) % 64)
	}
}

// Has reports whether a port is in the set.
func (p Ports) Has(n uint16) bool {
	return n >= 1 && n <= 128 && p[(n-1)/64]>>((n-1)%64)&1 == 1
}

// Len returns the number of ports.
func (p Ports) Len() int { return bits.OnesCount64(p[0]) + bits.OnesCount64(p[1]) }

// list returns the ports ascending.
func (p Ports) list() []uint16 {
	var l []uint16
	for n := uint16(1); n <= 128; n++ {
		if p.Has(n) {
			l = append(l, n)
		}
	}
	return l
}

// choose returns the first candidate that is not held, from the rank on and wrapping round; if all are held, the one at the rank. free tells
// that it is not held. There must be a candidate, and rank < len(candidates).
func choose(candidates []uint16, rank int, held Ports) (port uint16, free bool) {
	for i := range candidates {
		if c := candidates[(rank+i)%len(candidates)]; !held.Has(c) {
			return c, true
		}
	}
	return candidates[rank], false
}

// startRank returns where the search for a next hop starts among fresh ones of which the first ties are equally good: plain traffic takes
// turns among the best, by spread; subflow s (from 1) starts at rank s-1, wrapping, and among the best the ranks are rotated by spread.
func startRank(fresh, ties int, subflow uint8, spread uint32) int {
	turn := int(spread % uint32(ties))
	if subflow == 0 {
		return turn
	}
	rank := int(subflow-1) % fresh
	if rank < ties {
		rank = (rank + turn) % ties
	}
	return rank
}
