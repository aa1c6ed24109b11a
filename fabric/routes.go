package fabric

import "slices"

// leafSet is a set of leaves by index.
type leafSet []uint64

func (s leafSet) has(leaf *Switch) bool { return s[leaf.Index/64]>>(leaf.Index%64)&1 == 1 }

func (s leafSet) add(leaf *Switch) { s[leaf.Index/64] |= 1 << (leaf.Index % 64) }

func (s leafSet) union(o leafSet) {
	for i := range s {
		s[i] |= o[i]
	}
}

// computeReach finds for each switch the leaves that it reaches by links down alone, and those that it reaches up and then down.
func (f *Fabric) computeReach() {
	size := len(f.Leaves())/64 + 1
	f.down, f.reach = map[*Switch]leafSet{}, map[*Switch]leafSet{}
	for _, s := range f.Switches { // bottom tier first
		set := make(leafSet, size)
		if s.Role == Leaf {
			set.add(s)
		}
		for _, p := range s.Ports {
			if p.Kind == DownPort {
				set.union(f.down[p.Peer])
			}
		}
		f.down[s] = set
	}
	for i := len(f.Switches) - 1; i >= 0; i-- { // top tier first
		s := f.Switches[i]
		set := slices.Clone(f.down[s])
		for _, p := range s.Ports {
			if p.Kind == UpPort {
				set.union(f.reach[p.Peer])
			}
		}
		f.reach[s] = set
	}
}

// NextHops returns the port numbers by which a switch may send towards a leaf, ascending: down if the leaf is below, otherwise
// up, by every port whose peer reaches the leaf the same way. Paths are thus valley-free (up, then down) and have no loop,
// whatever next hops the switches choose. It returns nil at the leaf itself and where there is no way.
func (f *Fabric) NextHops(s *Switch, leaf *Switch) []uint32 {
	if s == leaf {
		return nil
	}
	kind, set := UpPort, f.reach
	if f.down[s].has(leaf) {
		kind, set = DownPort, f.down
	}
	var ports []uint32
	for _, p := range s.Ports {
		if p.Kind == kind && set[p.Peer].has(leaf) {
			ports = append(ports, p.Number)
		}
	}
	return ports
}

// ProbePorts returns the ports to which a probe that came in by a port is replicated, ascending: from below, all uplinks and
// the other downlinks; from above, the downlinks only; never back, never to hosts. Port 0 stands for the switch itself, which
// sends to all uplinks. A leaf replicates no foreign probe.
func (s *Switch) ProbePorts(ingress uint32) []uint32 {
	fromAbove := false
	if ingress == 0 {
		if s.Role != Leaf {
			return nil
		}
	} else {
		p := s.Port(ingress)
		if p == nil || p.Kind == HostPort || s.Role == Leaf {
			return nil
		}
		fromAbove = p.Kind == UpPort
	}
	var ports []uint32
	for _, p := range s.Ports {
		if p.Number != ingress && (p.Kind == UpPort && !fromAbove || p.Kind == DownPort) {
			ports = append(ports, p.Number)
		}
	}
	return ports
}

// checkReach checks that every leaf reaches every other, and that no spine or core hangs in the air.
func (r *reader) checkReach(f *Fabric) {
	leaves := f.Leaves()
	for _, a := range leaves {
		for _, b := range leaves {
			if !f.reach[a].has(b) {
				r.fail("topology", "there is no path up and down again from %s to %s", a.Name, b.Name)
				return
			}
		}
	}
	for _, s := range f.Switches {
		down := 0
		for _, p := range s.Ports {
			if p.Kind == DownPort {
				down++
			}
		}
		if s.Role != Leaf && down == 0 {
			r.fail("topology", "%s has no link down", s.Name)
		}
	}
}
