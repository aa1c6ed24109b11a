package codegen

import "khop/fabric"

// Field is a named bit string: a match key, an action parameter, or a member of a digest or controller header.
type Field struct {
	Name string
	Bits int
}

// MatchKind is how a key matches.
type MatchKind uint8

// The match kinds that the programs use.
const (
	Exact MatchKind = iota + 1
	LPM
)

// Key is one key of a table.
type Key struct {
	Field
	Match MatchKind
}

// Action is an action with its parameters in order.
type Action struct {
	Name   string
	Params []Field
}

// Table is a table as P4Info shows it. A table without keys is a set of knobs: its default action is modified, never an entry.
type Table struct {
	Name    string
	Keys    []Key
	Actions []Action // without NoAction
}

// Action returns the table's action with the given name, or nil.
func (t *Table) Action(name string) *Action {
	for i := range t.Actions {
		if t.Actions[i].Name == name {
			return &t.Actions[i]
		}
	}
	return nil
}

// Names of tables. The comment tells the roles and schemes that have it; all others are in every program.
const (
	TableSwitchParams  = "FabricIngress.switch_params" // knobs (no key): identity, hash seed, drained ports
	TableTiming        = "FabricIngress.timing"        // knobs (no key); hula, mp-hula
	TableMPTCPTiming   = "FabricIngress.mptcp_timing"  // knobs (no key); mp-hula
	TableIngressPort   = "FabricIngress.ingress_port"  // what a port leads to
	TableRouteV4       = "FabricIngress.route_v4"      // destination prefix -> ToR
	TableRouteV6       = "FabricIngress.route_v6"
	TableHostV4        = "FabricIngress.host_v4" // leaf: local address -> port and MAC
	TableHostV6        = "FabricIngress.host_v6"
	TableARP           = "FabricIngress.arp_responder" // leaf: addresses that the leaf answers ARP for
	TableToRRoute      = "FabricIngress.tor_route"     // ToR -> ports that lead there
	TableMPTCPFlow     = "FabricIngress.mptcp_flow"    // leaf, mp-hula: 5-tuple -> connection and subflow
	TableMPTCPToken    = "FabricIngress.mptcp_token"   // leaf, mp-hula: (address, token) that a join asks for -> connection
	TableMPTCPConn     = "FabricIngress.mptcp_conn"    // leaf, mp-hula: connection -> slot, first flowlet
	TableEgressTiming  = "FabricEgress.egress_timing"  // knobs (no key); hula, mp-hula
	TableEgressPort    = "FabricEgress.egress_port"    // port -> MAC addresses
	TableECN           = "FabricEgress.ecn"            // port -> RED/ECN thresholds; no entry: no marking
	TableSelectiveDrop = "FabricEgress.selective_drop" // port -> Aeolus threshold; no entry: no drop
)

// Names of actions.
const (
	ActionSetSwitchParams  = "FabricIngress.set_switch_params"
	ActionSetTiming        = "FabricIngress.set_timing"
	ActionSetMPTCPTiming   = "FabricIngress.set_mptcp_timing"
	ActionFromHost         = "FabricIngress.from_host"
	ActionFromFabric       = "FabricIngress.from_fabric"
	ActionUnknownPort      = "FabricIngress.unknown_port" // default: drop
	ActionToToR            = "FabricIngress.to_tor"
	ActionToLocal          = "FabricIngress.to_local"   // the leaf's own prefix: look in host_v4, host_v6
	ActionToGateway        = "FabricIngress.to_gateway" // the switch's own address: to the CPU
	ActionNoRoute          = "FabricIngress.no_route"   // default: drop
	ActionToHost           = "FabricIngress.to_host"
	ActionNoHost           = "FabricIngress.no_host" // default: drop
	ActionARPReply         = "FabricIngress.arp_reply"
	ActionARPIgnore        = "FabricIngress.arp_ignore" // default: drop
	ActionSetNextHops      = "FabricIngress.set_next_hops"
	ActionNoNextHop        = "FabricIngress.no_next_hop" // default: drop
	ActionSetFlow          = "FabricIngress.set_flow"
	ActionJoin             = "FabricIngress.join_connection"
	ActionSetConn          = "FabricIngress.set_connection"
	ActionSetEgressTiming  = "FabricEgress.set_egress_timing"
	ActionSendToFabric     = "FabricEgress.send_to_fabric"
	ActionSendToHost       = "FabricEgress.send_to_host"
	ActionSetECN           = "FabricEgress.set_ecn"
	ActionSetDropThreshold = "FabricEgress.set_drop_threshold"
)

// Names of counters. Both drop counters are indexed by [DropReason], the others by port.
const (
	CounterIngressDrops   = "FabricIngress.ingress_drops"
	CounterEgressDrops    = "FabricEgress.egress_drops"
	CounterECNMarked      = "FabricEgress.ecn_marked"
	CounterSelectiveDrops = "FabricEgress.selective_drops"
)

// Names of registers: state of the data plane, for display only (bmv2 cannot read them over P4Runtime).
const (
	RegisterUtilBytes = "util_bytes" // by port: estimator U, bytes
	RegisterUtilTime  = "util_time"  // by port: time of the last update of U, us
	RegisterPortSeen  = "port_seen"  // by port: time of the last probe, us

	RegisterKBestPort  = "kbest_port"  // by KBestIndex: port of the slot, 0 if it is empty
	RegisterKBestUtil  = "kbest_util"  // by KBestIndex: utilisation, 0..255
	RegisterKBestTime  = "kbest_time"  // by KBestIndex: time of the last probe, us
	RegisterKBestRound = "kbest_round" // by KBestIndex: its round
	RegisterSentRound  = "sent_round"  // spine and core, by ToR: last round that was sent on
	RegisterSentUtil   = "sent_util"   // spine and core, by ToR: utilisation that was sent on last

	RegisterFlowletTime = "flowlet_time" // by flowlet slot: last packet, us
	RegisterFlowletPort = "flowlet_port" // by flowlet slot: pinned port, 0 if unused
	RegisterFlowletToR  = "flowlet_tor"  // by flowlet slot: destination ToR

	RegisterSubflowID   = "subflow_id"   // by SubflowIndex: MPTCP id
	RegisterSubflowNum  = "subflow_num"  // by SubflowIndex: subflow number
	RegisterSubflowPort = "subflow_port" // by SubflowIndex: pinned port
	RegisterSubflowTime = "subflow_time" // by SubflowIndex: last packet, us
	RegisterConnShared  = "conn_shared"  // by connection slot: 1 while subflows had to share a port

	RegisterJoinID  = "join_id"  // leaf, by connection slot: MPTCP id that the number counts for
	RegisterJoinNum = "join_num" // leaf, by connection slot: highest subflow number given out

	RegisterLearnedTuple  = "learned_tuple"  // leaf, by learned slot: source, destination (128 bits each), ports (16 bits each)
	RegisterLearnedID     = "learned_id"     // leaf, by learned slot: MPTCP id
	RegisterLearnedNum    = "learned_num"    // leaf, by learned slot: subflow number
	RegisterLearnedBackup = "learned_backup" // leaf, by learned slot: 1 for a backup subflow
	RegisterLearnedTime   = "learned_time"   // leaf, by learned slot: last packet, us
)

// Controller headers. All members are whole bytes.
var (
	// PacketIn precedes a frame to the CPU. reason is a [CPUReason].
	PacketIn = Action{"packet_in", []Field{{"ingress_port", 16}, {"reason", 8}}}
	// PacketOut precedes a frame from the CPU. With mcast_grp the frame is replicated as it is, else with egress_port sent out as
	// it is (but for the MAC addresses of an IP packet), else routed as if a host had sent it.
	PacketOut = Action{"packet_out", []Field{{"mcast_grp", 16}, {"egress_port", 16}}}
)

// CPUReason tells why the CPU gets a packet.
type CPUReason uint8

// The reasons. The frame has no mark and its TTL is as received.
const (
	CPUNone       CPUReason = iota
	CPUTTLExpired           // would leave with TTL or hop limit 0: ICMP time exceeded is due to its source
	CPUGateway              // addressed to the switch itself: echo request and the like
	CPUND                   // leaf: IPv6 neighbour or router solicitation from a host
)

// String names the reason.
func (r CPUReason) String() string {
	return [...]string{"none", "ttl-expired", "gateway", "neighbour-discovery"}[min(r, CPUND)]
}

// DigestType is a digest: its P4Info name and members in order. Numbers are unsigned; addresses are 128 bits, IPv4 as ::ffff:a.b.c.d.
type DigestType struct {
	Name    string
	Members []Field
}

var tuple = []Field{{"src_addr", 128}, {"dst_addr", 128}, {"src_port", 16}, {"dst_port", 16}}

// The digests of a leaf under mp-hula. A leaf sends them for packets that come from its own hosts only, so each event is told once.
var (
	// DigestCapable tells an MP_CAPABLE option. option_length tells which segment it is (RFC 8684 section 3.1): 4 SYN (v1), 12 SYN (v0) or
	// SYN/ACK with sender_key, 20 third ACK and 22, 24 first data with both keys. tcp_flags are the 8 flags of the TCP header.
	DigestCapable = DigestType{"mptcp_capable_t", append(tuple[:4:4], []Field{
		{"tcp_flags", 8}, {"version", 8}, {"option_flags", 8}, {"option_length", 8}, {"sender_key", 64}, {"receiver_key", 64},
	}...)}
	// DigestJoin tells a SYN with MP_JOIN. mptcp_id and subflow are those that the leaf gave it, or 0 if it did not know the token.
	DigestJoin = DigestType{"mptcp_join_t", append(tuple[:4:4], []Field{
		{"token", 32}, {"nonce", 32}, {"address_id", 8}, {"backup", 8}, {"mptcp_id", 64}, {"subflow", 8},
	}...)}
	// DigestEnd tells the end of a known flow; kind is an [EndKind].
	DigestEnd = DigestType{"mptcp_end_t", append(tuple[:4:4], []Field{
		{"kind", 8}, {"mptcp_id", 64}, {"subflow", 8},
	}...)}
	// DigestPrio tells an MP_PRIO option of a known flow.
	DigestPrio = DigestType{"mptcp_prio_t", append(tuple[:4:4], []Field{
		{"backup", 8}, {"mptcp_id", 64}, {"subflow", 8},
	}...)}
)

// EndKind is how a flow ended.
type EndKind uint8

// The ends.
const (
	EndFIN       EndKind = iota + 1 // FIN: this direction sends no more
	EndRST                          // RST
	EndFastClose                    // MP_FASTCLOSE: the whole connection
	EndReused                       // a new SYN without MP_JOIN has the 5-tuple
)

// DropReason is an index of the drop counters.
type DropReason uint8

// The reasons. Those from DropProbeOwn to DropProbeConsumed are the fate of probes that did their work, no loss.
const (
	DropNone DropReason = iota
	DropUnknownPort
	DropParse
	DropChecksum
	DropEtherType
	DropSpoofed
	DropNoRoute
	DropNoHost
	DropNoNextHop
	DropTransit
	DropARP
	DropNoGroup
	DropTTL
	DropProbeOwn
	DropProbeOffPath
	DropProbeOld
	DropProbeSuppressed
	DropProbeConsumed
	DropSelective
	dropReasons
)

// DropReasons is the number of reasons, and the size of the drop counters.
const DropReasons = int(dropReasons)

var dropNames = [...]string{
	DropNone:            "none",
	DropUnknownPort:     "unknown-port",
	DropParse:           "parse-error",
	DropChecksum:        "bad-checksum",
	DropEtherType:       "unknown-ethertype",
	DropSpoofed:         "spoofed-fabric-header",
	DropNoRoute:         "no-route",
	DropNoHost:          "no-host",
	DropNoNextHop:       "no-next-hop",
	DropTransit:         "transit-at-leaf",
	DropARP:             "arp-not-answered",
	DropNoGroup:         "no-probe-group",
	DropTTL:             "ttl-expired",
	DropProbeOwn:        "probe-own",
	DropProbeOffPath:    "probe-off-path",
	DropProbeOld:        "probe-old-round",
	DropProbeSuppressed: "probe-suppressed",
	DropProbeConsumed:   "probe-consumed",
	DropSelective:       "selective-drop",
}

// String names the reason.
func (r DropReason) String() string {
	if int(r) < len(dropNames) {
		return dropNames[r]
	}
	return "unknown"
}

// IsProbe reports whether the reason is the regular end of a probe, not a loss.
func (r DropReason) IsProbe() bool { return r >= DropProbeOwn && r <= DropProbeConsumed }

// TablesOf returns the tables of a role's program, ingress before egress, in the order of the names above.
func TablesOf(f *fabric.Fabric, role fabric.Role) []Table {
	ports := Field{"ports", PortMapBits(f)}
	list := []Table{
		{TableSwitchParams, nil, []Action{{ActionSetSwitchParams, []Field{{"self_tor", 24}, {"seed", 32}, {"down_ports", ports.Bits}}}}},
	}
	probes, marks, leaf := f.Scheme.Probes(), f.Scheme.Marks(), role == fabric.Leaf
	add := func(t Table) { list = append(list, t) }
	exact := func(fields ...Field) []Key {
		keys := make([]Key, len(fields))
		for i, x := range fields {
			keys[i] = Key{x, Exact}
		}
		return keys
	}
	var fromFabric []Field
	if probes {
		fromFabric = []Field{{"probe_group", 16}, {"util_scale", 32}}
		add(Table{TableTiming, nil, []Action{{ActionSetTiming, []Field{{"tau_exp", 8}, {"keep_alive", 48}, {"flowlet_gap", 48}, {"link_timeout", 48}}}}})
	}
	if marks {
		add(Table{TableMPTCPTiming, nil, []Action{{ActionSetMPTCPTiming, []Field{{"subflow_live", 48}, {"learn_timeout", 48}}}}})
	}
	inPort := []Action{{ActionFromFabric, fromFabric}, {ActionUnknownPort, nil}}
	toGateway := Action{ActionToGateway, nil}
	routes := []Action{{ActionToToR, []Field{{"tor", 24}}}, toGateway, {ActionNoRoute, nil}}
	if leaf {
		inPort = append([]Action{{ActionFromHost, nil}}, inPort...)
		routes = append([]Action{{ActionToLocal, nil}}, routes...)
	}
	add(Table{TableIngressPort, exact(Field{"standard_metadata.ingress_port", 9}), inPort})
	add(Table{TableRouteV4, []Key{{Field{"hdr.ipv4.dst_addr", 32}, LPM}}, routes})
	add(Table{TableRouteV6, []Key{{Field{"hdr.ipv6.dst_addr", 128}, LPM}}, routes})
	if leaf {
		hosts := []Action{{ActionToHost, []Field{{"port", 9}, {"mac", 48}}}, toGateway, {ActionNoHost, nil}}
		add(Table{TableHostV4, exact(Field{"hdr.ipv4.dst_addr", 32}), hosts})
		add(Table{TableHostV6, exact(Field{"hdr.ipv6.dst_addr", 128}), hosts})
		add(Table{TableARP, exact(Field{"hdr.arp.target_ip", 32}), []Action{{ActionARPReply, []Field{{"mac", 48}}}, {ActionARPIgnore, nil}}})
	}
	add(Table{TableToRRoute, exact(Field{"meta.dst_tor", 24}), []Action{{ActionSetNextHops, []Field{{"group", 8}, ports}}, {ActionNoNextHop, nil}}})
	if marks && leaf {
		add(Table{TableMPTCPFlow, exact(Field{"meta.src_addr", 128}, Field{"meta.dst_addr", 128}, Field{"meta.src_port", 16}, Field{"meta.dst_port", 16}),
			[]Action{{ActionSetFlow, []Field{{"mptcp_id", 64}, {"subflow", 8}, {"backup", 8}}}}})
		add(Table{TableMPTCPToken, exact(Field{"meta.dst_addr", 128}, Field{"meta.join_token", 32}), []Action{{ActionJoin, []Field{{"mptcp_id", 64}}}}})
		add(Table{TableMPTCPConn, exact(Field{"meta.mptcp_id", 64}), []Action{{ActionSetConn, []Field{{"conn_slot", 16}, {"first_flowlet", 32}}}}})
	}
	if probes {
		add(Table{TableEgressTiming, nil, []Action{{ActionSetEgressTiming, []Field{{"tau_exp", 8}}}}})
	}
	out := []Action{{ActionSendToFabric, []Field{{"src_mac", 48}, {"dst_mac", 48}}}}
	if leaf {
		out = append(out, Action{ActionSendToHost, []Field{{"src_mac", 48}}})
	}
	port := Field{"standard_metadata.egress_port", 9}
	add(Table{TableEgressPort, exact(port), out})
	add(Table{TableECN, exact(port), []Action{{ActionSetECN, []Field{{"kmin", 19}, {"kmax", 19}, {"slope", 32}}}}})
	add(Table{TableSelectiveDrop, exact(port), []Action{{ActionSetDropThreshold, []Field{{"packets", 19}}}}})
	return list
}

// DigestsOf returns the digests of a role's program.
func DigestsOf(f *fabric.Fabric, role fabric.Role) []DigestType {
	if !f.Scheme.Marks() || role != fabric.Leaf {
		return nil
	}
	return []DigestType{DigestCapable, DigestJoin, DigestEnd, DigestPrio}
}
