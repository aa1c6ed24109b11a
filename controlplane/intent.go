package controlplane

import (
	"bytes"
	"cmp"
	"net/netip"
	"slices"
	"time"

	"khop/codegen"
	"khop/fabric"
)

// Intent is all that a switch should hold apart from what digests add. It follows from the spec alone.
type Intent struct {
	Switch  *fabric.Switch
	Entries []Entry // ordered by table (codegen.TablesOf), defaults first, then by key
	Groups  []codegen.Group
	Digests []codegen.DigestType
}

// isDynamic reports whether the entries of a table come from digests, so that a plan leaves them alone.
func isDynamic(table string) bool {
	return table == codegen.TableMPTCPFlow || table == codegen.TableMPTCPToken || table == codegen.TableMPTCPConn
}

// micros returns a time constant in microseconds, the unit of the programs.
func micros(d time.Duration) uint64 { return uint64(d.Microseconds()) }

// intentBuilder collects entries, with values in the widths that the tables declare.
type intentBuilder struct {
	tables  map[string]*codegen.Table
	order   map[string]int // of the tables
	entries []Entry
}

func newIntentBuilder(f *fabric.Fabric, role fabric.Role) *intentBuilder {
	b := &intentBuilder{tables: map[string]*codegen.Table{}, order: map[string]int{}}
	list := codegen.TablesOf(f, role)
	for i := range list {
		b.tables[list[i].Name], b.order[list[i].Name] = &list[i], i
	}
	return b
}

// set adds the default action of a knob table. It does nothing if the role's program lacks the table.
func (b *intentBuilder) set(table, action string, params ...any) {
	if t := b.tables[table]; t != nil {
		b.entries = append(b.entries, Entry{Table: table, Default: true, Action: action, Params: encodeParams(t, action, params)})
	}
}

// add adds an entry with one key.
func (b *intentBuilder) add(table string, match Match, action string, params ...any) {
	if t := b.tables[table]; t != nil {
		b.entries = append(b.entries, Entry{Table: table, Match: []Match{match}, Action: action, Params: encodeParams(t, action, params)})
	}
}

// encodeParams encodes uint64 and []byte values in the widths of the action's parameters. An action may have fewer
// parameters in some schemes: surplus values are left out.
func encodeParams(t *codegen.Table, action string, values []any) [][]byte {
	a := t.Action(action)
	out := make([][]byte, len(a.Params))
	for i, p := range a.Params {
		switch v := values[i].(type) {
		case uint64:
			out[i] = num(v, p.Bits)
		case []byte:
			out[i] = padded(v, p.Bits)
		}
	}
	return out
}

func exact(v uint64, bits int) Match { return Match{Value: num(v, bits)} }

func addrMatch(a netip.Addr) Match { return Match{Value: a.AsSlice()} }

func prefixMatch(p netip.Prefix) Match {
	return Match{Value: p.Masked().Addr().AsSlice(), PrefixLen: p.Bits()}
}

// IntentOf returns what a switch of a fabric should hold.
func IntentOf(f *fabric.Fabric, s *fabric.Switch) Intent {
	b := newIntentBuilder(f, s.Role)
	in := Intent{Switch: s, Digests: codegen.DigestsOf(f, s.Role)}
	if f.Scheme.Probes() {
		in.Groups = codegen.ProbeGroups(s)
	}
	b.knobs(f, s)
	b.ports(f, s, in.Groups)
	b.routes(f, s)
	b.hosts(f, s)
	in.Entries = b.entries
	slices.SortStableFunc(in.Entries, func(x, y Entry) int {
		return cmp.Or(cmp.Compare(b.order[x.Table], b.order[y.Table]), cmp.Compare(x.key(), y.key()))
	})
	return in
}

// knobs adds the knob tables: identity, and time constants.
func (b *intentBuilder) knobs(f *fabric.Fabric, s *fabric.Switch) {
	b.set(codegen.TableSwitchParams, codegen.ActionSetSwitchParams, uint64(s.ToR), uint64(codegen.SwitchSeed(f, s)), uint64(0))
	b.timing(f.Timing)
}

func (b *intentBuilder) timing(t fabric.Timing) {
	tau := uint64(t.TauExp())
	b.set(codegen.TableTiming, codegen.ActionSetTiming, tau, micros(t.KeepAlive), micros(t.FlowletGap), micros(t.LinkTimeout))
	b.set(codegen.TableMPTCPTiming, codegen.ActionSetMPTCPTiming, micros(t.SubflowLive), micros(t.LearnTimeout))
	b.set(codegen.TableEgressTiming, codegen.ActionSetEgressTiming, tau)
}

func macNumber(m [6]byte) []byte { return bytes.Clone(m[:]) }

func (b *intentBuilder) ports(f *fabric.Fabric, s *fabric.Switch, groups []codegen.Group) {
	for _, p := range s.Ports {
		port := exact(uint64(p.Number), 9)
		if p.Kind == fabric.HostPort {
			b.add(codegen.TableIngressPort, port, codegen.ActionFromHost)
			b.add(codegen.TableEgressPort, port, codegen.ActionSendToHost, macNumber(s.MAC))
		} else {
			b.fabricPort(p, groups, f.Timing)
			b.add(codegen.TableEgressPort, port, codegen.ActionSendToFabric, macNumber(s.MAC), macNumber(p.Peer.MAC))
		}
		if e := f.Congestion.ECN; e != nil {
			b.add(codegen.TableECN, port, codegen.ActionSetECN, uint64(e.KMinPackets), uint64(e.KMaxPackets), uint64(codegen.ECNSlope(e)))
		}
		if d := f.Congestion.SelectiveDrop; d != nil {
			b.add(codegen.TableSelectiveDrop, port, codegen.ActionSetDropThreshold, uint64(d.ThresholdPackets))
		}
	}
}

// fabricPort adds what a port to another switch does with what comes in.
func (b *intentBuilder) fabricPort(p *fabric.Port, groups []codegen.Group, t fabric.Timing) {
	group := codegen.ProbeGroup(p.Number)
	if !slices.ContainsFunc(groups, func(g codegen.Group) bool { return g.ID == group }) {
		group = 0
	}
	b.add(codegen.TableIngressPort, exact(uint64(p.Number), 9), codegen.ActionFromFabric, uint64(group), uint64(codegen.UtilScale(p.Link.Rate, t)))
}

func (b *intentBuilder) routes(f *fabric.Fabric, s *fabric.Switch) {
	route := func(p netip.Prefix, action string, params ...any) {
		switch {
		case !p.IsValid():
		case p.Addr().Is4():
			b.add(codegen.TableRouteV4, prefixMatch(p), action, params...)
		default:
			b.add(codegen.TableRouteV6, prefixMatch(p), action, params...)
		}
	}
	for _, leaf := range f.Leaves() {
		for _, p := range []netip.Prefix{leaf.Prefix4, leaf.Prefix6} {
			if leaf == s {
				route(p, codegen.ActionToLocal)
			} else {
				route(p, codegen.ActionToToR, uint64(leaf.ToR))
			}
		}
	}
	if s.Role != fabric.Leaf {
		for _, a := range []netip.Addr{s.Gateway4, s.Gateway6} {
			if a.IsValid() {
				route(netip.PrefixFrom(a, a.BitLen()), codegen.ActionToGateway)
			}
		}
	}
	for _, n := range codegen.NextHopsOf(f, s) {
		b.add(codegen.TableToRRoute, exact(uint64(n.ToR), 24), codegen.ActionSetNextHops, uint64(n.Group), codegen.PortMap(f, n.Ports))
	}
}

func (b *intentBuilder) hosts(f *fabric.Fabric, s *fabric.Switch) {
	if s.Role != fabric.Leaf {
		return
	}
	gateway := func(a netip.Addr, table string) {
		if a.IsValid() {
			b.add(table, addrMatch(a), codegen.ActionToGateway)
		}
	}
	gateway(s.Gateway4, codegen.TableHostV4)
	gateway(s.Gateway6, codegen.TableHostV6)
	if s.Gateway4.IsValid() {
		b.add(codegen.TableARP, addrMatch(s.Gateway4), codegen.ActionARPReply, macNumber(s.MAC))
	}
	for _, h := range f.Hosts {
		if h.Leaf != s {
			continue
		}
		for _, a := range h.Addrs {
			if a.Is4() {
				b.add(codegen.TableHostV4, addrMatch(a), codegen.ActionToHost, uint64(h.Port), macNumber(h.MAC))
				b.add(codegen.TableARP, addrMatch(a), codegen.ActionARPReply, macNumber(s.MAC))
			} else {
				b.add(codegen.TableHostV6, addrMatch(a), codegen.ActionToHost, uint64(h.Port), macNumber(h.MAC))
			}
		}
	}
}
