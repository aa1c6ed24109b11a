package dataplane

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"
	"testing"

	"khop/codegen"
	"khop/fabric"
	"khop/mptcp"
	"khop/probe"
)

// Keys and tokens of FACTS: SHA-256 for version 1.
const (
	keyA, tokenA = 0x0102030405060708, 0x66840dda
	keyB, tokenB = 0x1122334455667788, 0x1dce6604
	connID       = tokenA<<32 | tokenB
)

func capable(version, flags uint8, keys ...uint64) []byte {
	b := []byte{30, byte(4 + 8*len(keys)), version, flags}
	for _, k := range keys {
		b = binary.BigEndian.AppendUint64(b, k)
	}
	return b
}

func joinSYN(token uint32, backup bool) []byte {
	b := []byte{30, 12, 0x10, 7}
	if backup {
		b[2] |= 1
	}
	b = binary.BigEndian.AppendUint32(b, token)
	return binary.BigEndian.AppendUint32(b, 0x0a0b0c0d)
}

const (
	synFlag = 0x02
	ackFlag = 0x10
)

// client and server are the ends of the connection; their leaves have rigs.
type pair struct {
	*testing.T
	f      *fabric.Fabric
	a, b   *rig
	ca, sb netip.Addr
}

func newPair(t *testing.T, name, client, server string) *pair {
	f := shipped(t, name)
	p := &pair{T: t, f: f, a: newRig(t, f, "leaf1"), b: newRig(t, f, "leaf2"), ca: ip(client), sb: ip(server)}
	for _, r := range []*rig{p.a, p.b} {
		other := uint32(3) - r.sw.ToR
		for port := uint32(1); port <= 4; port++ {
			r.send(port, probeFrame(other, 0, 1))
		}
	}
	return p
}

func (p *pair) toServer(flags uint8, options []byte) segment {
	return segment{src: p.ca, dst: p.sb, srcPort: 40000, dstPort: 5001, flags: flags, options: options}
}

func (p *pair) toClient(flags uint8, options []byte) segment {
	return segment{src: p.sb, dst: p.ca, srcPort: 5001, dstPort: 40000, flags: flags, options: options}
}

// learn installs what a controller installs once it knows the keys.
func (p *pair) learn() {
	p.Helper()
	ca, sb := codegen.Addr128(p.ca), codegen.Addr128(p.sb)
	toB := codegen.FlowletIndex(p.f, codegen.FlowHash(p.ca, p.sb, 6, 40000, 5001))
	toA := codegen.FlowletIndex(p.f, codegen.FlowHash(p.sb, p.ca, 6, 5001, 40000))
	p.a.insert(codegen.TableMPTCPFlow, exact(ca[:], sb[:], u64(40000), u64(5001)), call(codegen.ActionSetFlow, u64(connID), u64(1), u64(0)))
	p.b.insert(codegen.TableMPTCPFlow, exact(sb[:], ca[:], u64(5001), u64(40000)), call(codegen.ActionSetFlow, u64(connID), u64(1), u64(0)))
	p.a.insert(codegen.TableMPTCPConn, exact(u64(connID)), call(codegen.ActionSetConn, u64(3), u64(uint64(toB))))
	p.b.insert(codegen.TableMPTCPConn, exact(u64(connID)), call(codegen.ActionSetConn, u64(9), u64(uint64(toA))))
	p.a.insert(codegen.TableMPTCPToken, exact(sb[:], u64(tokenB)), call(codegen.ActionJoin, u64(connID)))
	p.b.insert(codegen.TableMPTCPToken, exact(ca[:], u64(tokenA)), call(codegen.ActionJoin, u64(connID)))
}

// pass sends a segment from its host and returns the mark and the uplink.
func pass(r *rig, s segment) (*probe.Mark, uint32) {
	r.t.Helper()
	r.us += 10
	o := r.one(hostPort(r.f, s.src), s.frame())
	_, m := markOf(r.t, o.frame)
	return m, o.port
}

func (r *rig) takeDigests() []digest {
	d := r.digests
	r.digests = nil
	return d
}

func TestCapableDigests(t *testing.T) {
	if tok, err := mptcp.Token(1, keyA); err != nil || tok != tokenA {
		t.Fatalf("token of key A is %#x", tok)
	}
	for _, c := range []struct{ client, server string }{{"10.0.1.1", "10.0.2.1"}, {"fd00:1::1", "fd00:2::1"}} {
		p := newPair(t, "leafspine-2x4-mp-hula", c.client, c.server)
		type want struct {
			flags, length uint8
			sender, recv  uint64
		}
		check := func(r *rig, s segment, version uint8, w want) {
			t.Helper()
			if m, _ := pass(r, s); m != nil {
				t.Errorf("a handshake segment is marked %+v", m)
			}
			list := r.takeDigests()
			if len(list) != 1 || list[0].name != codegen.DigestCapable.Name {
				t.Fatalf("digests %v", list)
			}
			d := list[0]
			if d.addr("src_addr") != s.src || d.addr("dst_addr") != s.dst || d.uint("src_port") != uint64(s.srcPort) || d.uint("dst_port") != uint64(s.dstPort) ||
				d.uint("tcp_flags") != uint64(w.flags) || d.uint("option_length") != uint64(w.length) || d.uint("version") != uint64(version) ||
				d.uint("sender_key") != w.sender || d.uint("receiver_key") != w.recv || d.uint("option_flags") != 0x81 {
				t.Errorf("digest %v, want %+v", d.values, w)
			}
		}
		check(p.a, p.toServer(synFlag, capable(1, 0x81)), 1, want{2, 4, 0, 0})
		check(p.a, p.toServer(synFlag, capable(0, 0x81, keyA)), 0, want{2, 12, keyA, 0})
		check(p.b, p.toClient(synFlag|ackFlag, capable(1, 0x81, keyB)), 1, want{0x12, 12, keyB, 0})
		check(p.a, p.toServer(ackFlag, capable(1, 0x81, keyA, keyB)), 1, want{0x10, 20, keyA, keyB})
		first := append(capable(1, 0x81, keyA, keyB), 0, 100)
		first[1] = 22
		check(p.a, p.toServer(ackFlag|8, first), 1, want{0x18, 22, keyA, keyB})
		first = append(first, 0xab, 0xcd)
		first[1] = 24
		check(p.a, p.toServer(ackFlag|8, first), 1, want{0x18, 24, keyA, keyB})
		// The other leaf tells nothing: the packet did not come from its hosts.
		o := p.a.one(hostPort(p.f, p.ca), p.toServer(ackFlag, capable(1, 0x81, keyA, keyB)).frame())
		p.b.one(1, o.frame)
		if len(p.b.takeDigests()) != 0 {
			t.Error("the last leaf sends a digest")
		}
	}
}

// TestOptionOrder: the option is found wherever it stands, and only if the options are well-formed.
func TestOptionOrder(t *testing.T) {
	p := newPair(t, "leafspine-2x4-mp-hula", "10.0.1.1", "10.0.2.1")
	mss, sackOK, ts, ws := "020405b4", "0402", "080a0102030405060708", "030307"
	cap4, cap20 := "1e040181", fmt.Sprintf("1e140181%016x%016x", uint64(keyA), uint64(keyB))
	for _, c := range []struct {
		options string
		found   bool
	}{
		{mss + sackOK + ts + "01" + ws + cap4, true},
		{cap4 + mss + sackOK + ts + "01" + ws, true},
		{"01010101" + cap4, true},
		{"0101" + ts + cap20, true},
		{cap20 + "0101" + ts, true},
		{"0101010101010101010101010101010101010101" + cap20, true}, // 20 NOPs and 20 bytes: the area is full
		{ts + "00" + "00" + cap4, false},                           // after the end of the list
		{"1e05018100", false},                                      // a length that MP_CAPABLE has not
		{"1e080181" + "00000000", false},
		{mss + "1e00" + cap4, false}, // zero length
		{mss + "1e01" + cap4, false}, // shorter than its own header
		{mss + "0501" + cap4, false},
		{"1e280181", false},    // goes past the area
		{cap4 + "0809", false}, // a later option goes past the area: the header is malformed
		{cap4 + "0101ff00", false},
	} {
		options := unhex(t, c.options)
		s := p.toServer(ackFlag, options)
		p.a.us += 10
		o := p.a.one(5, s.frame())
		if want := routed(s.frame(), p.f.Switch("leaf1").Port(o.port).Peer.MAC, p.a.sw.MAC); !bytes.Equal(o.frame, want) {
			t.Errorf("%s: bytes changed: %x, want %x", c.options, o.frame, want)
		}
		if got := p.a.takeDigests(); len(got) == 1 != c.found || c.found && len(options) > 4 && got[0].uint("option_flags") != 0x81 {
			t.Errorf("%s: %d digests", c.options, len(got))
		}
	}
}

func TestVersionsOfTheSpec(t *testing.T) {
	text, _ := fabric.Shipped("leafspine-2x4-mp-hula")
	f := spec(t, string(bytes.Replace(text, []byte("versions: [0, 1]"), []byte("versions: [1]"), 1)))
	r := newRig(t, f, "leaf1")
	s := segment{src: ip("10.0.1.1"), dst: ip("10.0.2.1"), flags: synFlag}
	s.options = capable(0, 0x81, keyA)
	r.one(5, s.frame())
	if n := len(r.takeDigests()); n != 0 {
		t.Error("version 0 is told")
	}
	s.options = capable(1, 0x81)
	r.one(5, s.frame())
	if n := len(r.takeDigests()); n != 1 {
		t.Error("version 1 is not told")
	}
}

func TestJoin(t *testing.T) {
	for _, c := range []struct{ client, server, second, other string }{
		{"10.0.1.1", "10.0.2.1", "10.0.1.2", "10.0.2.2"}, {"fd00:1::1", "fd00:2::1", "fd00:1::2", "fd00:2::2"},
	} {
		p := newPair(t, "leafspine-2x4-mp-hula", c.client, c.server)
		m, first := pass(p.a, p.toServer(synFlag, capable(1, 0x81)))
		if m != nil {
			t.Fatal("SYN is marked")
		}
		join := segment{src: ip(c.second), dst: p.sb, srcPort: 50000, dstPort: 5001, flags: synFlag, options: joinSYN(tokenB, false)}
		p.a.takeDigests()

		// Before the controller knows the connection, a join is plain TCP, and told.
		if m, _ := pass(p.a, join); m != nil {
			t.Errorf("join of an unknown connection is marked %+v", m)
		}
		if d := p.a.takeDigests(); len(d) != 1 || d[0].name != codegen.DigestJoin.Name || d[0].uint("token") != tokenB || d[0].uint("mptcp_id") != 0 || d[0].uint("subflow") != 0 {
			t.Errorf("digests %v", d)
		}
		p.learn()

		// The join is subflow 2, at once, and not where subflow 1 is.
		m, second := pass(p.a, join)
		if m == nil || m.ID != connID || m.Subflow != 2 || second == first {
			t.Fatalf("join has mark %+v and port %d; subflow 1 is on port %d", m, second, first)
		}
		if d := p.a.takeDigests(); len(d) != 1 || d[0].uint("mptcp_id") != connID || d[0].uint("subflow") != 2 || d[0].uint("nonce") != 0x0a0b0c0d || d[0].uint("address_id") != 7 || d[0].uint("backup") != 0 {
			t.Errorf("digests %v", d)
		}
		// Sent again, it is the same subflow; the next one is subflow 3.
		if m, port := pass(p.a, join); m == nil || m.Subflow != 2 || port != second {
			t.Errorf("retransmitted join has mark %+v, port %d", m, port)
		}
		third := join
		third.srcPort = 50001
		m, thirdPort := pass(p.a, third)
		if m == nil || m.Subflow != 3 || thirdPort == first || thirdPort == second {
			t.Errorf("third subflow has mark %+v, port %d beside %d and %d", m, thirdPort, first, second)
		}
		// Subflow 1 stays where it was when its packets are marked.
		if m, port := pass(p.a, p.toServer(ackFlag, nil)); m == nil || m.Subflow != 1 || port != first {
			t.Errorf("subflow 1 has mark %+v, port %d, was on %d", m, port, first)
		}
		// Packets of the joined subflow are marked without the controller's entry.
		data := join
		data.flags, data.options, data.payload = ackFlag, nil, []byte("data")
		if m, port := pass(p.a, data); m == nil || m.Subflow != 2 || port != second {
			t.Errorf("data of subflow 2 has mark %+v, port %d", m, port)
		}

		// The server's leaf learns the answers from the marked SYN. It pops the mark.
		marked := join
		marked.mark = &probe.Mark{ID: connID, Subflow: 2}
		o := p.b.one(1, marked.frame())
		if o.port != hostPort(p.f, p.sb) || !bytes.Equal(o.frame, routed(join.frame(), p.f.HostOf(p.sb).MAC, p.b.sw.MAC)) {
			t.Errorf("marked SYN reaches port %d as %x", o.port, o.frame)
		}
		answer := segment{src: p.sb, dst: ip(c.second), srcPort: 5001, dstPort: 50000, flags: synFlag | ackFlag, options: unhex(t, "1e10100700000000000000000a0b0c0d")}
		if m, _ := pass(p.b, answer); m == nil || m.ID != connID || m.Subflow != 2 {
			t.Errorf("SYN/ACK has mark %+v", m)
		}
		// A join that the server opens counts on.
		back := segment{src: ip(c.other), dst: p.ca, srcPort: 6000, dstPort: 40000, flags: synFlag, options: joinSYN(tokenA, false)}
		if m, _ := pass(p.b, back); m == nil || m.ID != connID || m.Subflow != 3 {
			t.Errorf("join from the server has mark %+v", m)
		}
		// The token belongs to one address.
		elsewhere := join
		elsewhere.dst, elsewhere.srcPort = ip(c.other), 50010
		if m, _ := pass(p.a, elsewhere); m != nil {
			t.Errorf("a token of another host is taken: %+v", m)
		}
	}
}

func TestEnds(t *testing.T) {
	p := newPair(t, "leafspine-2x4-mp-hula", "10.0.1.1", "10.0.2.1")
	p.learn()
	join := segment{src: ip("10.0.1.2"), dst: p.sb, srcPort: 50000, dstPort: 5001, flags: synFlag, options: joinSYN(tokenB, false)}
	pass(p.a, join)
	p.a.takeDigests()
	for _, c := range []struct {
		flags   uint8
		options string
		kind    codegen.EndKind
	}{{0x11, "", codegen.EndFIN}, {0x04, "", codegen.EndRST}, {0x14, "1e0c70001122334455667788", codegen.EndFastClose}} {
		s := join
		s.flags, s.options = c.flags, unhex(t, c.options)
		if m, _ := pass(p.a, s); m == nil || m.Subflow != 2 {
			t.Errorf("the end of a flow has mark %+v", m)
		}
		d := p.a.takeDigests()
		if len(d) != 1 || d[0].name != codegen.DigestEnd.Name || d[0].uint("kind") != uint64(c.kind) || d[0].uint("mptcp_id") != connID || d[0].uint("subflow") != 2 {
			t.Errorf("digests %v, want end %d", d, c.kind)
		}
	}
	// MP_PRIO.
	s := join
	s.flags, s.options = ackFlag, unhex(t, "1e035101")
	pass(p.a, s)
	if d := p.a.takeDigests(); len(d) != 1 || d[0].name != codegen.DigestPrio.Name || d[0].uint("backup") != 1 || d[0].uint("subflow") != 2 {
		t.Errorf("digests %v", d)
	}
	// The 5-tuple is used again by plain TCP.
	s.flags, s.options = synFlag, nil
	if m, _ := pass(p.a, s); m != nil {
		t.Errorf("a new plain flow has mark %+v", m)
	}
	if d := p.a.takeDigests(); len(d) != 1 || d[0].uint("kind") != uint64(codegen.EndReused) {
		t.Errorf("digests %v", d)
	}
	s.flags = ackFlag
	if m, _ := pass(p.a, s); m != nil {
		t.Errorf("the new plain flow is still marked: %+v", m)
	}
	// Plain TCP ends without a word.
	s = segment{src: ip("10.0.1.3"), dst: p.sb, srcPort: 1, dstPort: 2, flags: 0x11}
	pass(p.a, s)
	if d := p.a.takeDigests(); len(d) != 0 {
		t.Errorf("digests %v", d)
	}
}

// TestBackup: a backup subflow avoids its siblings' next hops, but holds none: a later subflow may take its place.
func TestBackup(t *testing.T) {
	p := newPair(t, "leafspine-2x4-mp-hula", "10.0.1.1", "10.0.2.1")
	_, first := pass(p.a, p.toServer(synFlag, capable(1, 0x81)))
	p.learn()
	join := segment{src: ip("10.0.1.2"), dst: p.sb, srcPort: 50000, dstPort: 5001, flags: synFlag, options: joinSYN(tokenB, true)}
	m, port := pass(p.a, join)
	if m == nil || m.Subflow != 2 || port == first {
		t.Errorf("backup has mark %+v, port %d beside %d", m, port, first)
	}
	at := codegen.SubflowIndex(p.f, 3, 2)
	if p.a.register(codegen.RegisterSubflowPort, at) != 0 {
		t.Error("the backup holds a next hop")
	}
	ports := map[uint32]bool{first: true}
	for i := range 3 {
		join.srcPort, join.options = uint16(50001+i), joinSYN(tokenB, false)
		m, port := pass(p.a, join)
		if m == nil || m.Subflow != uint8(3+i) || ports[port] {
			t.Errorf("subflow %d has mark %+v, port %d", 3+i, m, port)
		}
		ports[port] = true
	}
}

// TestManySubflows: 40 joins get 41 different numbers; the first four subflows have four next hops, further ones share evenly.
func TestManySubflows(t *testing.T) {
	p := newPair(t, "leafspine-2x4-mp-hula", "10.0.1.1", "10.0.2.1")
	_, first := pass(p.a, p.toServer(synFlag, capable(1, 0x81)))
	p.learn()
	uses := map[uint32]int{first: 1}
	for n := 2; n <= 41; n++ {
		join := segment{src: ip("10.0.1.2"), dst: p.sb, srcPort: uint16(50000 + n), dstPort: 5001, flags: synFlag, options: joinSYN(tokenB, false)}
		m, port := pass(p.a, join)
		if m == nil || int(m.Subflow) != n {
			t.Fatalf("join %d has mark %+v", n, m)
		}
		uses[port]++
		if n <= 4 && len(uses) != n {
			t.Errorf("%d subflows use %d next hops", n, len(uses))
		}
	}
	for port, n := range uses {
		if n < 8 || n > 13 {
			t.Errorf("port %d has %d of 41 subflows", port, n)
		}
	}
}

// TestSharingEnds: a subflow that had to share moves as soon as a next hop is free.
func TestSharingEnds(t *testing.T) {
	p := newPair(t, "leafspine-2x4-mp-hula", "10.0.1.1", "10.0.2.1")
	// Two of four uplinks have probes: after the link timeout the others are dead.
	p.learn()
	p.a.us += 2000
	for port := uint32(1); port <= 2; port++ {
		p.a.send(port, probeFrame(2, 0, 2))
	}
	p.a.us += 600
	seg := func(n int) segment {
		s := segment{src: ip("10.0.1.2"), dst: p.sb, srcPort: uint16(50000 + n), dstPort: 5001, flags: synFlag, options: joinSYN(tokenB, false)}
		return s
	}
	ports := map[uint32]int{}
	for n := 2; n <= 4; n++ {
		_, port := pass(p.a, seg(n))
		ports[port]++
	}
	if len(ports) != 2 {
		t.Fatalf("three subflows over two live next hops: %v", ports)
	}
	// The third uplink comes back; the next packet of a subflow that shares takes it, within its flowlet.
	p.a.send(3, probeFrame(2, 200, 3))
	now := map[int]uint32{}
	for range 2 {
		for n := 2; n <= 4; n++ {
			_, now[n] = pass(p.a, seg(n))
		}
	}
	if now[2] == now[3] || now[3] == now[4] || now[2] == now[4] {
		t.Errorf("three subflows over three next hops: %v", now)
	}
}
