package fabric

import (
	"fmt"
	"net/netip"
	"slices"
	"time"
)

// deriveTopology builds switches, links, ports and hosts.
func (r *reader) deriveTopology(s *spec, f *Fabric) {
	t := &s.topology
	before := len(r.errs)
	forKind := map[string][]string{"leaf-spine": {"leaves", "spines"}, "fat-tree": {"k"}, "links": {"switches", "links"}}[t.kind]
	for _, key := range []string{"leaves", "spines", "k", "switches", "links"} {
		_, given := r.at["topology."+key]
		if wanted := slices.Contains(forKind, key); wanted && !given {
			r.fail("topology", "kind %s needs the key %q", t.kind, key)
		} else if !wanted && given {
			r.fail("topology."+key, "does not go with kind %s, which has %v", t.kind, forKind)
		}
	}
	if len(r.errs) > before {
		return
	}
	class := s.linkClasses()
	switch t.kind {
	case "leaf-spine":
		leaves, spines := f.addSwitches(Leaf, t.leaves), f.addSwitches(Spine, t.spines)
		for _, leaf := range leaves {
			for _, spine := range spines {
				f.addLink(leaf, spine, class)
			}
		}
	case "fat-tree":
		if t.k%2 != 0 {
			r.fail("topology.k", "%d is odd; a k-ary fat-tree has an even k", t.k)
			return
		}
		half := t.k / 2
		leaves, spines, cores := f.addSwitches(Leaf, t.k*half), f.addSwitches(Spine, t.k*half), f.addSwitches(Core, half*half)
		for pod := range t.k {
			for i := range half {
				for j := range half {
					f.addLink(leaves[pod*half+i], spines[pod*half+j], class)
				}
			}
		}
		for pod := range t.k {
			for j := range half {
				for c := range half {
					f.addLink(spines[pod*half+j], cores[j*half+c], class)
				}
			}
		}
	case "links":
		r.explicitTopology(s, f, class)
	}
	if len(r.errs) > before {
		return
	}
	r.assignAddresses(s, f)
	r.addHosts(s, f, class)
	r.override(s, f)
	r.numberPorts(f)
	r.identify(s, f)
}

// linkClasses returns the properties of links by kind, with their defaults.
func (s *spec) linkClasses() map[PortKind]specClass {
	fill := func(c, base specClass) specClass {
		if c.rate == 0 {
			c.rate = base.rate
		}
		if c.delay == nil {
			c.delay = base.delay
		}
		if c.mtu == 0 {
			c.mtu = base.mtu
		}
		return c
	}
	delay := time.Microsecond
	host := fill(s.links.host, specClass{10e9, &delay, 1500})
	fabric := fill(s.links.fabric, specClass{40e9, &delay, host.mtu + MarkBytes})
	return map[PortKind]specClass{HostPort: host, DownPort: fabric, UpPort: fill(s.links.core, fabric)}
}

func (f *Fabric) addSwitches(role Role, n int) []*Switch {
	list := make([]*Switch, n)
	for i := range list {
		list[i] = f.addSwitch(role, fmt.Sprintf("%s%d", role, i+1))
	}
	return list
}

func (f *Fabric) addSwitch(role Role, name string) *Switch {
	s := &Switch{Name: name, Role: role, Index: len(f.OfRole(role)) + 1}
	f.Switches = append(f.Switches, s)
	f.byName[name] = s
	return s
}

// addLink joins two switches; the class of a link is that of its upper end's tier.
func (f *Fabric) addLink(lower, upper *Switch, class map[PortKind]specClass) *Link {
	c := class[DownPort]
	if upper.Role == Core {
		c = class[UpPort]
	}
	l := &Link{Lower: lower, Upper: upper, Rate: c.rate, Delay: *c.delay, MTU: c.mtu}
	f.Links = append(f.Links, l)
	return l
}

func (c specClass) apply(l *Link) {
	if c.rate != 0 {
		l.Rate = c.rate
	}
	if c.delay != nil {
		l.Delay = *c.delay
	}
	if c.mtu != 0 {
		l.MTU = c.mtu
	}
}

func (r *reader) explicitTopology(s *spec, f *Fabric, class map[PortKind]specClass) {
	for _, role := range Roles { // leaves first, whatever the order of the file
		for _, w := range s.topology.switches {
			if Role(w.role) != role {
				continue
			}
			if f.byName[w.name] != nil {
				r.fail(w.path+".name", "there are two switches named %q", w.name)
				continue
			}
			added := f.addSwitch(role, w.name)
			if role != Leaf && (w.ipv4.IsValid() || w.ipv6.IsValid()) {
				r.fail(w.path, "%s is no leaf, so it owns no prefix", w.name)
			}
			if w.ipv4.IsValid() && !w.ipv4.Addr().Is4() {
				r.fail(w.path+".ipv4", "%v is no IPv4 prefix", w.ipv4)
			}
			if w.ipv6.IsValid() && !w.ipv6.Addr().Is6() {
				r.fail(w.path+".ipv6", "%v is no IPv6 prefix", w.ipv6)
			}
			added.Prefix4, added.Prefix6 = w.ipv4, w.ipv6
		}
	}
	if len(f.Leaves()) == 0 {
		r.fail("topology.switches", "there is no switch with the role leaf")
	}
	if n := len(f.Leaves()); n > maxToRs {
		r.fail("topology.switches", "there are %d leaves; the limit is %d", n, maxToRs)
	}
	for _, l := range s.topology.links {
		a, b := f.byName[l.ends[0]], f.byName[l.ends[1]]
		if a == nil || b == nil {
			missing := l.ends[0]
			if a != nil {
				missing = l.ends[1]
			}
			r.fail(l.path+".between", "%q is no switch; the switches are %s", missing, names(f.Switches))
			continue
		}
		if a.Role.Tier() > b.Role.Tier() {
			a, b = b, a
		}
		if b.Role.Tier() != a.Role.Tier()+1 {
			r.fail(l.path+".between", "%s (%s) and %s (%s) are not on neighbouring tiers: links join leaf and spine, or spine and core", a.Name, a.Role, b.Name, b.Role)
			continue
		}
		l.class.apply(f.addLink(a, b, class))
	}
}

// assignAddresses gives every switch its addresses and prefixes.
func (r *reader) assignAddresses(s *spec, f *Fabric) {
	base4, base6 := s.addressing.ipv4, s.addressing.ipv6
	if !base4.IsValid() {
		base4 = netip.MustParsePrefix("10.0.0.0/8")
	}
	if !base6.IsValid() {
		base6 = netip.MustParsePrefix("fd00::/16")
	}
	if !base4.Addr().Is4() || base4.Bits() < 8 || base4.Bits() > 16 {
		r.fail("addressing.ipv4", "%v must be an IPv4 prefix of length 8 to 16: leaf i owns the i-th /24 in it", base4)
		return
	}
	if !base6.Addr().Is6() || base6.Bits() > 48 || base6.Bits()%16 != 0 {
		r.fail("addressing.ipv6", "%v must be an IPv6 prefix of length 16, 32 or 48: leaf i owns the /64 whose next 16 bits are i", base6)
		return
	}
	limit := 1<<(24-base4.Bits()) - 1
	others := 0
	for _, w := range f.Switches {
		a4, a6 := base4.Addr().As4(), base6.Addr().As16()
		if w.Role != Leaf {
			// The /24 with index 0 belongs to no leaf: it holds the addresses of spines and cores; more of them go to the top of the prefix.
			block, number := others/254, others%254+1
			others++
			if block > 0 {
				if block = limit + 1 - block; block <= len(f.Leaves()) {
					r.fail("addressing.ipv4", "%v has no room for the addresses of all spines and cores", base4)
					return
				}
			}
			v := uint32(a4[0])<<24 | uint32(a4[1])<<16 | uint32(a4[2])<<8 | uint32(block)<<8 | uint32(number)
			a4 = [4]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)}
			a6[14], a6[15] = byte(others>>8), byte(others)
			w.Gateway4, w.Gateway6 = netip.AddrFrom4(a4), netip.AddrFrom16(a6)
			continue
		}
		if w.Index > limit && !w.Prefix4.IsValid() {
			r.fail("addressing.ipv4", "%v has room for %d leaves, there are %d", base4, limit, len(f.Leaves()))
			return
		}
		if !w.Prefix4.IsValid() {
			v := uint32(a4[0])<<24 | uint32(a4[1])<<16 | uint32(a4[2])<<8 | uint32(w.Index)<<8
			w.Prefix4 = netip.PrefixFrom(netip.AddrFrom4([4]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), 0}), 24)
		}
		if !w.Prefix6.IsValid() {
			at := base6.Bits() / 8
			a6[at], a6[at+1] = byte(w.Index>>8), byte(w.Index)
			w.Prefix6 = netip.PrefixFrom(netip.AddrFrom16(a6), 64)
		}
		if bits := w.Prefix4.Bits(); bits < 8 || bits > 24 {
			r.fail("topology", "%s owns %v; a leaf's IPv4 prefix has a length of 8 to 24", w.Name, w.Prefix4)
		}
		if bits := w.Prefix6.Bits(); bits < 16 || bits > 112 {
			r.fail("topology", "%s owns %v; a leaf's IPv6 prefix has a length of 16 to 112", w.Name, w.Prefix6)
		}
		w.Gateway4, w.Gateway6 = hostAddr(w.Prefix4, 254), hostAddr(w.Prefix6, 0xfe)
		for _, x := range f.Switches {
			if x == w {
				break
			}
			if x.Role == Leaf && (x.Prefix4.Overlaps(w.Prefix4) || x.Prefix6.Overlaps(w.Prefix6)) {
				r.fail("topology", "%s (%v, %v) and %s (%v, %v) own overlapping prefixes", x.Name, x.Prefix4, x.Prefix6, w.Name, w.Prefix4, w.Prefix6)
			}
		}
	}
}

// hostAddr returns the address with the given number in a prefix's first 256.
func hostAddr(p netip.Prefix, n int) netip.Addr {
	if p.Addr().Is4() {
		a := p.Masked().Addr().As4()
		a[3] = byte(n)
		return netip.AddrFrom4(a)
	}
	a := p.Masked().Addr().As16()
	a[15] = byte(n)
	return netip.AddrFrom16(a)
}

func (r *reader) addHosts(s *spec, f *Fabric, class map[PortKind]specClass) {
	f.hostAddr = map[netip.Addr]*Host{}
	f.HostMTU = class[HostPort].mtu
	if f.HostMTU < 576 || f.HostMTU > 9216 {
		r.fail("links.host.mtu", "%d is out of range: 576 to 9216 bytes", f.HostMTU)
	}
	_, perLeaf := r.at["hosts.per-leaf"]
	_, listed := r.at["hosts.list"]
	if perLeaf == listed {
		r.fail("hosts", "needs exactly one of per-leaf and list")
		return
	}
	counts := map[*Switch]int{}
	add := func(h *Host, path string) {
		if f.hostName[h.Name] != nil || f.byName[h.Name] != nil {
			r.fail(path, "the name %q is taken", h.Name)
		}
		for _, a := range h.Addrs {
			switch {
			case !h.Leaf.Prefix4.Contains(a) && !h.Leaf.Prefix6.Contains(a):
				r.fail(path, "%v is not in the prefixes of %s (%v, %v)", a, h.Leaf.Name, h.Leaf.Prefix4, h.Leaf.Prefix6)
			case a == h.Leaf.Gateway4 || a == h.Leaf.Gateway6:
				r.fail(path, "%v is the gateway's address", a)
			case f.hostAddr[a] != nil:
				r.fail(path, "%v is an address of %s already", a, f.hostAddr[a].Name)
			}
			f.hostAddr[a] = h
		}
		f.hostName[h.Name] = h
		f.Hosts = append(f.Hosts, h)
		c := class[HostPort]
		f.Links = append(f.Links, &Link{Lower: h.Leaf, Host: h, Rate: c.rate, Delay: *c.delay, MTU: c.mtu})
	}
	if perLeaf {
		if len(s.hosts.perLeaf) == 0 {
			r.fail("hosts.per-leaf", "is empty: list one range of host numbers a host, such as [1-4, 5]")
		}
		for i, a := range s.hosts.perLeaf {
			for _, b := range s.hosts.perLeaf[:i] {
				if a.first <= b.last && b.first <= a.last {
					r.fail(fmt.Sprintf("hosts.per-leaf[%d]", i), "%d-%d overlaps %d-%d", a.first, a.last, b.first, b.last)
					return
				}
			}
		}
		for _, leaf := range f.Leaves() {
			for i, hr := range s.hosts.perLeaf {
				h := &Host{Name: fmt.Sprintf("h%d-%d", leaf.Index, i+1), Leaf: leaf, MAC: hostMAC(leaf, hr.first)}
				for n := hr.first; n <= hr.last; n++ {
					h.Addrs = append(h.Addrs, hostAddr(leaf.Prefix4, n))
				}
				for n := hr.first; n <= hr.last; n++ {
					h.Addrs = append(h.Addrs, hostAddr(leaf.Prefix6, n))
				}
				add(h, fmt.Sprintf("hosts.per-leaf[%d]", i))
			}
		}
		return
	}
	for _, leaf := range f.Leaves() {
		for _, sh := range s.hosts.list {
			if sh.leaf != leaf.Name {
				continue
			}
			counts[leaf]++
			h := &Host{Name: sh.name, Leaf: leaf, MAC: hostMAC(leaf, counts[leaf]), Addrs: slices.Clone(sh.addrs)}
			if sh.mac != nil {
				h.MAC = *sh.mac
			}
			if len(h.Addrs) == 0 {
				r.fail(sh.path, "has no address")
			}
			slices.SortStableFunc(h.Addrs, func(a, b netip.Addr) int { return a.Compare(b) }) // IPv4 sorts first
			add(h, sh.path)
		}
	}
	for _, sh := range s.hosts.list {
		if w := f.byName[sh.leaf]; w == nil || w.Role != Leaf {
			r.fail(sh.path+".leaf", "%q is no leaf; the leaves are %s", sh.leaf, names(f.Leaves()))
		}
	}
}

// hostMAC gives a host its default MAC: 02:00:00, the leaf's index in two bytes, the host's first number.
func hostMAC(leaf *Switch, n int) [6]byte {
	return [6]byte{0x02, 0, 0, byte(leaf.Index >> 8), byte(leaf.Index), byte(n)}
}

// override applies links.overrides.
func (r *reader) override(s *spec, f *Fabric) {
	for _, o := range s.links.overrides {
		found := false
		for _, l := range f.Links {
			lower, upper := l.Lower.Name, ""
			if l.Host != nil {
				upper = l.Host.Name
			} else {
				upper = l.Upper.Name
			}
			if lower == o.ends[0] && upper == o.ends[1] || lower == o.ends[1] && upper == o.ends[0] {
				o.class.apply(l)
				found = true
			}
		}
		if !found {
			r.fail(o.path+".between", "there is no link between %q and %q", o.ends[0], o.ends[1])
		}
	}
}

// numberPorts gives out port numbers: uplinks, downlinks, hosts, each in the order of the links of the spec.
func (r *reader) numberPorts(f *Fabric) {
	add := func(s *Switch, p *Port) uint32 {
		p.Number = uint32(len(s.Ports) + 1)
		s.Ports = append(s.Ports, p)
		return p.Number
	}
	byPeer := slices.Clone(f.Links)
	order := map[*Switch]int{}
	for i, s := range f.Switches {
		order[s] = i
	}
	rank := func(l *Link) int {
		if l.Upper == nil {
			return len(f.Switches)
		}
		return order[l.Upper]
	}
	slices.SortStableFunc(byPeer, func(a, b *Link) int {
		if c := order[a.Lower] - order[b.Lower]; c != 0 {
			return c
		}
		return rank(a) - rank(b)
	})
	for _, l := range byPeer {
		if l.Upper != nil {
			l.LowerPort = add(l.Lower, &Port{Kind: UpPort, Link: l, Peer: l.Upper})
		}
	}
	for _, l := range byPeer {
		if l.Upper != nil {
			l.UpperPort = add(l.Upper, &Port{Kind: DownPort, Link: l, Peer: l.Lower, PeerPort: l.LowerPort})
			l.Lower.Port(l.LowerPort).PeerPort = l.UpperPort
		}
	}
	for _, l := range byPeer {
		if l.Host != nil {
			l.LowerPort = add(l.Lower, &Port{Kind: HostPort, Link: l, Host: l.Host})
			l.Host.Port = l.LowerPort
		}
	}
	for _, s := range f.Switches {
		if len(s.Ports) > maxPorts {
			r.fail("topology", "%s has %d ports; the limit is %d", s.Name, len(s.Ports), maxPorts)
		}
	}
	f.Links = byPeer
}

// identify gives out device ids, ToR ids, MACs and gRPC addresses.
func (r *reader) identify(s *spec, f *Fabric) {
	host, port := "127.0.0.1", 9559
	if s.target.base != "" {
		host, port = splitHostPort(s.target.base)
	}
	for i, w := range f.Switches {
		w.DeviceID = uint64(i + 1)
		switch w.Role {
		case Leaf:
			w.ToR = uint32(w.Index)
			w.MAC = hostMAC(w, 0xfe)
		default:
			w.MAC = [6]byte{0x02, 0, byte(w.Role.Tier() - 1), byte(w.Index >> 8), byte(w.Index), 0xfe}
		}
		if port+i > 65535 {
			r.fail("target.grpc.base", "port %d and %d switches go beyond port 65535", port, len(f.Switches))
			return
		}
		w.GRPC = fmt.Sprintf("%s:%d", host, port+i)
	}
	for _, a := range s.target.addresses {
		w := f.byName[a.name]
		if w == nil {
			r.fail(a.path, "%q is no switch; the switches are %s", a.name, names(f.Switches))
			continue
		}
		w.GRPC = a.addr
	}
	for i, w := range f.Switches {
		for _, x := range f.Switches[:i] {
			if x.GRPC == w.GRPC {
				r.fail("target.grpc", "%s and %s have the same address %s", x.Name, w.Name, w.GRPC)
				return
			}
		}
	}
}

// splitHostPort splits an address that parseHostPort has accepted.
func splitHostPort(s string) (host string, port int) {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] == ':' {
			fmt.Sscanf(s[i+1:], "%d", &port)
			return s[:i], port
		}
	}
	return s, 0
}
