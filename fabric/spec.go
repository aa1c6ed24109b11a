package fabric

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// spec is the file as written: what is absent is zero. Defaults and checks come later.
type spec struct {
	name        string
	description string

	topology struct {
		kind           string
		leaves, spines int
		k              int
		switches       []specSwitch
		links          []specLink
	}
	addressing struct{ ipv4, ipv6 netip.Prefix }
	hosts      struct {
		perLeaf []hostRange
		list    []specHost
	}
	scheme struct {
		kind string
		k    int
		seed int
	}
	timing     Timing
	intervals  []leafInterval
	mptcp      specMPTCP
	wire       struct{ probe, mark int }
	congestion struct {
		ecn  *specECN
		drop *specDrop
	}
	links struct {
		host, fabric, core specClass
		overrides          []specLink
	}
	sizes  struct{ flowlets, connections, flows, learned int }
	target struct {
		kind         string
		cpuPort      int
		queuePackets int
		base         string
		addresses    []specAddress
	}
}

type specSwitch struct {
	path       string
	name, role string
	ipv4, ipv6 netip.Prefix
}

type specLink struct {
	path  string
	ends  []string
	class specClass
}

// specClass is a link's properties; zero fields are inherited.
type specClass struct {
	rate  BitRate
	delay *time.Duration
	mtu   Size
}

type hostRange struct{ first, last int }

type specHost struct {
	path       string
	name, leaf string
	mac        *[6]byte
	addrs      []netip.Addr
}

type leafInterval struct {
	path, leaf string
	interval   time.Duration
}

type specMPTCP struct {
	versions    []int
	correlation string
	maxSubflows int
}

type specECN struct {
	kmin, kmax Size
	pmax       float64
}

type specDrop struct{ threshold Size }

type specAddress struct{ path, name, addr string }

// read reads the whole spec.
func (r *reader) read(root ast.Node) *spec {
	s := &spec{}
	r.mapping(root, "", []field{
		{"name", true, r.name(&s.name)},
		{"description", false, text(r, &s.description, "a text", func(t string) (string, error) { return t, nil })},
		{"topology", true, func(n ast.Node, path string) { r.readTopology(n, path, s) }},
		{"addressing", false, func(n ast.Node, path string) {
			r.mapping(n, path, []field{
				{"ipv4", false, r.prefix(&s.addressing.ipv4)},
				{"ipv6", false, r.prefix(&s.addressing.ipv6)},
			})
		}},
		{"hosts", true, func(n ast.Node, path string) { r.readHosts(n, path, s) }},
		{"scheme", true, func(n ast.Node, path string) {
			r.mapping(n, path, []field{
				{"kind", true, r.word(&s.scheme.kind, schemeNames()...)},
				{"k", false, r.integer(&s.scheme.k, 1, 8)},
				{"seed", false, r.integer(&s.scheme.seed, 0, 1<<32-1)},
			})
		}},
		{"timing", false, func(n ast.Node, path string) { r.readTiming(n, path, s) }},
		{"mptcp", false, func(n ast.Node, path string) { r.readMPTCP(n, path, s) }},
		{"wire", false, func(n ast.Node, path string) {
			r.mapping(n, path, []field{
				{"probe-ethertype", false, r.integer(&s.wire.probe, 0x600, 0xffff)},
				{"mark-ethertype", false, r.integer(&s.wire.mark, 0x600, 0xffff)},
			})
		}},
		{"congestion", false, func(n ast.Node, path string) { r.readCongestion(n, path, s) }},
		{"links", false, func(n ast.Node, path string) { r.readLinks(n, path, s) }},
		{"sizes", false, func(n ast.Node, path string) {
			r.mapping(n, path, []field{
				{"flowlets", false, r.integer(&s.sizes.flowlets, 16, 1<<20)},
				{"connections", false, r.integer(&s.sizes.connections, 16, 1<<15)},
				{"flows", false, r.integer(&s.sizes.flows, 16, 1<<20)},
				{"learned", false, r.integer(&s.sizes.learned, 16, 1<<20)},
			})
		}},
		{"target", false, func(n ast.Node, path string) { r.readTarget(n, path, s) }},
	})
	return s
}

func schemeNames() []string {
	names := make([]string, len(Schemes))
	for i, s := range Schemes {
		names[i] = string(s)
	}
	return names
}

func (r *reader) readTopology(n ast.Node, path string, s *spec) {
	t := &s.topology
	r.mapping(n, path, []field{
		{"kind", true, r.word(&t.kind, "leaf-spine", "fat-tree", "links")},
		{"leaves", false, r.integer(&t.leaves, 1, maxToRs)},
		{"spines", false, r.integer(&t.spines, 1, maxPorts)},
		{"k", false, r.integer(&t.k, 2, 32)},
		{"switches", false, func(n ast.Node, path string) {
			r.list(n, path, func(n ast.Node, path string) {
				w := specSwitch{path: path}
				r.mapping(n, path, []field{
					{"name", true, r.name(&w.name)},
					{"role", true, r.word(&w.role, "leaf", "spine", "core")},
					{"ipv4", false, r.prefix(&w.ipv4)},
					{"ipv6", false, r.prefix(&w.ipv6)},
				})
				t.switches = append(t.switches, w)
			})
		}},
		{"links", false, func(n ast.Node, path string) {
			r.list(n, path, func(n ast.Node, path string) { t.links = append(t.links, r.readLink(n, path)) })
		}},
	})
}

func (r *reader) readLink(n ast.Node, path string) specLink {
	l := specLink{path: path}
	r.mapping(n, path, append([]field{
		{"between", true, func(n ast.Node, path string) {
			r.list(n, path, func(n ast.Node, path string) {
				var end string
				r.name(&end)(n, path)
				l.ends = append(l.ends, end)
			})
			if len(l.ends) != 2 {
				r.fail(path, "names %d ends; a link has two, such as [leaf1, spine1]", len(l.ends))
			}
		}},
	}, r.classFields(&l.class)...))
	return l
}

func (r *reader) classFields(c *specClass) []field {
	return []field{
		{"rate", false, r.rate(&c.rate)},
		{"delay", false, func(n ast.Node, path string) {
			var d time.Duration
			r.duration(&d)(n, path)
			c.delay = &d
		}},
		{"mtu", false, r.size(&c.mtu)},
	}
}

func (r *reader) readHosts(n ast.Node, path string, s *spec) {
	r.mapping(n, path, []field{
		{"per-leaf", false, func(n ast.Node, path string) {
			r.list(n, path, func(n ast.Node, path string) {
				var h hostRange
				text(r, &h, "a range of host numbers, such as 1-4", parseHostRange)(n, path)
				s.hosts.perLeaf = append(s.hosts.perLeaf, h)
			})
		}},
		{"list", false, func(n ast.Node, path string) {
			r.list(n, path, func(n ast.Node, path string) {
				h := specHost{path: path}
				r.mapping(n, path, []field{
					{"name", true, r.name(&h.name)},
					{"leaf", true, r.name(&h.leaf)},
					{"mac", false, text(r, &h.mac, "a MAC address", parseMAC)},
					{"addresses", true, func(n ast.Node, path string) {
						r.list(n, path, func(n ast.Node, path string) {
							var a netip.Addr
							r.address(&a)(n, path)
							h.addrs = append(h.addrs, a)
						})
					}},
				})
				s.hosts.list = append(s.hosts.list, h)
			})
		}},
	})
}

func parseHostRange(s string) (hostRange, error) {
	a, b, isRange := strings.Cut(s, "-")
	if !isRange {
		b = a
	}
	first, err1 := strconv.Atoi(a)
	last, err2 := strconv.Atoi(b)
	if err1 != nil || err2 != nil || first < 1 || last < first || last > 253 {
		return hostRange{}, fmt.Errorf("%q is no range of host numbers: A or A-B with 1 <= A <= B <= 253", s)
	}
	return hostRange{first, last}, nil
}

func parseMAC(s string) (*[6]byte, error) {
	var mac [6]byte
	parts := strings.Split(s, ":")
	ok := len(parts) == 6
	for i := 0; ok && i < 6; i++ {
		v, err := strconv.ParseUint(parts[i], 16, 8)
		ok = err == nil && len(parts[i]) == 2
		mac[i] = byte(v)
	}
	if !ok || mac[0]&1 != 0 || mac == [6]byte{} {
		return nil, fmt.Errorf("%q is no unicast MAC address such as 02:00:00:00:01:01", s)
	}
	return &mac, nil
}

func (r *reader) readTiming(n ast.Node, path string, s *spec) {
	t := &s.timing
	r.mapping(n, path, []field{
		{"probe-interval", false, r.duration(&t.ProbeInterval)},
		{"probe-intervals", false, func(n ast.Node, path string) {
			pairs, _ := r.pairs(n, path)
			for _, p := range pairs {
				li := leafInterval{path: join(path, scalarText(p.Key)), leaf: scalarText(p.Key)}
				r.note(p.Value, li.path)
				r.duration(&li.interval)(p.Value, li.path)
				s.intervals = append(s.intervals, li)
			}
		}},
		{"tau", false, r.duration(&t.Tau)},
		{"flowlet-gap", false, r.duration(&t.FlowletGap)},
		{"subflow-live", false, r.duration(&t.SubflowLive)},
		{"keep-alive", false, r.duration(&t.KeepAlive)},
		{"link-timeout", false, r.duration(&t.LinkTimeout)},
		{"learn-timeout", false, r.duration(&t.LearnTimeout)},
	})
}

func (r *reader) readMPTCP(n ast.Node, path string, s *spec) {
	m := &s.mptcp
	r.mapping(n, path, []field{
		{"versions", false, func(n ast.Node, path string) {
			r.list(n, path, func(n ast.Node, path string) {
				v := -1
				r.integer(&v, 0, 1)(n, path)
				m.versions = append(m.versions, v)
			})
			if len(m.versions) == 0 {
				r.fail(path, "is empty: list 0 (RFC 6824), 1 (RFC 8684) or both")
			}
		}},
		{"correlation", false, func(n ast.Node, path string) {
			r.word(&m.correlation, "control-plane", "data-plane")(n, path)
			if m.correlation == "data-plane" {
				r.fail(path, "data-plane correlation is not available in this version; use control-plane")
			}
		}},
		{"max-subflows", false, r.integer(&m.maxSubflows, 1, 32)},
	})
}

func (r *reader) readCongestion(n ast.Node, path string, s *spec) {
	r.mapping(n, path, []field{
		{"ecn", false, func(n ast.Node, path string) {
			e := &specECN{pmax: 1}
			r.mapping(n, path, []field{
				{"kmin", true, r.size(&e.kmin)},
				{"kmax", true, r.size(&e.kmax)},
				{"pmax", false, r.fraction(&e.pmax)},
			})
			s.congestion.ecn = e
		}},
		{"selective-drop", false, func(n ast.Node, path string) {
			d := &specDrop{threshold: 6000}
			r.mapping(n, path, []field{{"threshold", true, r.size(&d.threshold)}})
			s.congestion.drop = d
		}},
	})
}

func (r *reader) readLinks(n ast.Node, path string, s *spec) {
	class := func(c *specClass) func(ast.Node, string) {
		return func(n ast.Node, path string) { r.mapping(n, path, r.classFields(c)) }
	}
	r.mapping(n, path, []field{
		{"host", false, class(&s.links.host)},
		{"fabric", false, class(&s.links.fabric)},
		{"core", false, class(&s.links.core)},
		{"overrides", false, func(n ast.Node, path string) {
			r.list(n, path, func(n ast.Node, path string) { s.links.overrides = append(s.links.overrides, r.readLink(n, path)) })
		}},
	})
}

func (r *reader) readTarget(n ast.Node, path string, s *spec) {
	t := &s.target
	r.mapping(n, path, []field{
		{"kind", false, r.word(&t.kind, string(Embedded), string(BMv2))},
		{"cpu-port", false, r.integer(&t.cpuPort, 1, 510)},
		{"queue-packets", false, r.integer(&t.queuePackets, 1, 1<<16)},
		{"grpc", false, func(n ast.Node, path string) {
			r.mapping(n, path, []field{
				{"base", false, text(r, &t.base, "an address host:port", parseHostPort)},
				{"addresses", false, func(n ast.Node, path string) {
					pairs, _ := r.pairs(n, path)
					for _, p := range pairs {
						a := specAddress{path: join(path, scalarText(p.Key)), name: scalarText(p.Key)}
						r.note(p.Value, a.path)
						text(r, &a.addr, "an address host:port", parseHostPort)(p.Value, a.path)
						t.addresses = append(t.addresses, a)
					}
				}},
			})
		}},
	})
}

func parseHostPort(s string) (string, error) {
	i := strings.LastIndexByte(s, ':')
	if i > 0 {
		if port, err := strconv.ParseUint(s[i+1:], 10, 16); err == nil && port > 0 {
			return s, nil
		}
	}
	return "", fmt.Errorf("%q is no address host:port, such as 127.0.0.1:9559", s)
}
