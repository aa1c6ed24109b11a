package fabric

// NextHops returns the port numbers by which a switch may send towards a leaf, ascending: down if the leaf is below, otherwise
// up, by every port whose peer reaches the leaf the same way. Paths are thus valley-free (up, then down) and have no loop,
// whatever next hops the switches choose. It returns nil at the leaf itself and where there is no way.
func (f *Fabric) NextHops(s *Switch, leaf *Switch) []uint32 {
	if s == leaf {
		return nil
	}
	kind := UpPort
	if below(s, leaf) {
		kind = DownPort
	}
	var ports []uint32
	for _, p := range s.Ports {
		if p.Kind == kind && (kind == DownPort && below(p.Peer, leaf) || kind == UpPort && len(f.NextHops(p.Peer, leaf)) > 0) {
			ports = append(ports, p.Number)
		}
	}
	return ports
}

// below reports whether a leaf is the switch or reached from it by links down alone.
func below(s, leaf *Switch) bool {
	if s == leaf {
		return true
	}
	for _, p := range s.Ports {
		if p.Kind == DownPort && below(p.Peer, leaf) {
			return true
		}
	}
	return false
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
			if a != b && len(f.NextHops(a, b)) == 0 {
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
