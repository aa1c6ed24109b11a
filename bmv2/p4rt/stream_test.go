//lint:file-ignore SA1019 controller_metadata is deprecated in P4Runtime, but still part of it.

package p4rt

import (
	"testing"

	p4v1 "github.com/p4lang/p4runtime/go/p4/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
)

// eth is a frame of the mini pipeline; addresses and type as raw bytes.
func eth(dst, src, typ, rest string) string { return dst + src + typ + rest }

const (
	mac1 = "\x02\x00\x00\x00\x00\x01"
	mac2 = "\x02\x00\x00\x00\x00\x02"
	mac3 = "\x02\x00\x00\x00\x00\x03"
	ipv4 = "\x08\x00"
)

func (l *lab) send(port uint32, frame string) {
	l.t.Helper()
	l.dev.Receive(port, []byte(frame))
}

// sent checks the next frame out of a port.
func (l *lab) sent(port uint32, want string) {
	l.t.Helper()
	if got := <-l.out[port]; got != want {
		l.t.Fatalf("port %d sent %x, want %x", port, got, want)
	}
}

func packetOut(payload string, meta ...string) *p4v1.StreamMessageRequest {
	p := &p4v1.PacketOut{Payload: []byte(payload)}
	for i, v := range meta {
		p.Metadata = append(p.Metadata, &p4v1.PacketMetadata{MetadataId: uint32(i + 1), Value: []byte(v)})
	}
	return &p4v1.StreamMessageRequest{Update: &p4v1.StreamMessageRequest_Packet{Packet: p}}
}

func (s *stream) expectMessage(want *p4v1.StreamMessageResponse) {
	s.t.Helper()
	if got := s.recv(); !proto.Equal(got, want) {
		s.t.Fatalf("got  %s\nwant %s", prototext.Format(got), prototext.Format(want))
	}
}

func TestPacketInAndOut(t *testing.T) {
	l := newLab(t)
	s := l.primary()
	backup := l.open()
	backup.arbitrate("", nil)
	backup.expect(codes.AlreadyExists, id(1))
	l.write(insert(mac(mac1, tact(aCPU))), insert(mac(mac2, tact(aFwd, "\x02"))))

	frame := eth(mac1, mac3, ipv4, "payload")
	l.send(3, frame)
	s.expectMessage(&p4v1.StreamMessageResponse{Update: &p4v1.StreamMessageResponse_Packet{Packet: &p4v1.PacketIn{
		Payload:  []byte(frame),
		Metadata: []*p4v1.PacketMetadata{{MetadataId: 1, Value: []byte{3}}, {MetadataId: 2, Value: []byte{0}}}}}})

	out := eth(mac3, mac1, ipv4, "from the controller")
	s.send(packetOut(out, "\x04", "\x00"))
	l.sent(4, out)
	if st, err := l.agent.Wait(t.Context(), func(st Stats) bool { return st.PacketOuts == 1 }); err != nil || st.PacketIns != 1 || !st.Primary || st.Streams != 2 {
		t.Errorf("stats %+v, error %v", st, err)
	}

	// What is wrong with a packet-out comes back with it, and nothing leaves.
	for _, c := range []struct {
		m    *p4v1.StreamMessageRequest
		want string
	}{
		{packetOut(out, "\x04"), `packet_out: metadata field pad (2) is missing; each of these must be set: egress_port (1, bit<9>), pad (2, bit<7>)`},
		{packetOut(out, "\x04", "\x00", "\x00"), `packet_out has no metadata field with id 3; its fields are: egress_port (1, bit<9>), pad (2, bit<7>)`},
		{packetOut(out, "\x02\x00", "\x00"), `packet_out: metadata field egress_port (1): the value 0x0200 needs 10 bits; the type is bit<9>`},
	} {
		s.send(c.m)
		s.expectMessage(&p4v1.StreamMessageResponse{Update: &p4v1.StreamMessageResponse_Error{Error: &p4v1.StreamError{
			CanonicalCode: int32(codes.InvalidArgument), Message: c.want,
			Details: &p4v1.StreamError_PacketOut{PacketOut: &p4v1.PacketOutError{PacketOut: c.m.GetPacket()}}}}})
	}
	backup.send(packetOut(out, "\x04", "\x00"))
	if e := backup.recv().GetError(); codes.Code(e.GetCanonicalCode()) != codes.PermissionDenied {
		t.Errorf("a backup's packet-out gave %v, want PERMISSION_DENIED", e)
	}
	s.send(&p4v1.StreamMessageRequest{})
	if e := s.recv().GetError(); codes.Code(e.GetCanonicalCode()) != codes.InvalidArgument {
		t.Errorf("an empty message gave %v", e)
	}
	if st := l.agent.Stats(); st.PacketOuts != 1 || st.PacketOutErrors != 4 || st.StreamErrors != 5 {
		t.Errorf("stats %+v", st)
	}

	// Without a primary, packet-ins are dropped and counted.
	s.cancel()
	backup.expect(codes.NotFound, id(1))
	l.send(3, frame)
	if st := l.agent.Stats(); st.PacketIns != 1 || st.PacketInsDropped != 1 || st.Primary {
		t.Errorf("stats %+v", st)
	}
}

func TestPacketOutBeforeArbitrationOrPipeline(t *testing.T) {
	l := newLab(t)
	s := l.open()
	s.send(packetOut("x"))
	if e := s.recv().GetError(); codes.Code(e.GetCanonicalCode()) != codes.PermissionDenied {
		t.Errorf("got %v, want PERMISSION_DENIED", e)
	}
	s.arbitrate("", id(1))
	s.expect(codes.OK, id(1))
	s.send(packetOut("x"))
	if e := s.recv().GetError(); codes.Code(e.GetCanonicalCode()) != codes.FailedPrecondition {
		t.Errorf("got %v, want FAILED_PRECONDITION", e)
	}
}

func TestWrittenStateSteersPackets(t *testing.T) {
	l := newLab(t)
	l.primary()
	// An unknown destination gets action NoAction: egress_spec 0, a port that is not attached.
	l.write(
		insert(mac(mac1, tact(aFwd, "\x01"))),
		insert(mac(mac3, tact(aFlood, "\x07"))),
		insert(&p4v1.MulticastGroupEntry{MulticastGroupId: 7, Replicas: replicas(3, 0, 2, 0)}),
		// The larger priority wins: drop port 2 except for one source.
		insert(&p4v1.TableEntry{TableId: tACL, Priority: 10, Match: match(ranged(3, "\x02", "\x02")), Action: tact(aDrop)}),
		insert(&p4v1.TableEntry{TableId: tACL, Priority: 20, Match: match(ternary(1, mac2, "\xff\xff\xff\xff\xff\xff"), optional(2, ipv4)), Action: tact(aNone)}),
	)
	a := eth(mac1, mac3, ipv4, "a")
	l.send(4, a)
	l.sent(1, a)
	l.send(2, eth(mac1, mac3, ipv4, "dropped"))
	b := eth(mac1, mac2, ipv4, "b")
	l.send(2, b)
	l.sent(1, b)
	l.send(2, eth(mac1, mac2, "\x86\xdd", "dropped: not IPv4"))
	c := eth(mac3, mac2, ipv4, "c")
	l.send(4, c)
	l.sent(2, c)
	l.sent(3, c)
	// Direct counters count hits with the bytes at ingress, also of packets that are dropped later: 15+21+15+31.
	l.reads(&p4v1.DirectCounterEntry{TableEntry: mac(mac1, nil)}, &p4v1.DirectCounterEntry{TableEntry: mac(mac1, nil),
		Data: &p4v1.CounterData{PacketCount: 4, ByteCount: int64(3*14 + 14 + 1 + 7 + 1 + 17)}})
	l.reads(&p4v1.CounterEntry{CounterId: cCnt, Index: index(1)}, &p4v1.CounterEntry{CounterId: cCnt, Index: index(1),
		Data: &p4v1.CounterData{PacketCount: 4, ByteCount: int64(4*14 + 1 + 7 + 1 + 17)}})

	// A group member whose watch port is down gets no packets.
	l.write(insert(&p4v1.TableEntry{TableId: tRoute, Match: match(lpm(1, "\x04\x00\x00\x00\x00\x00", 8)), Action: oneShotOf(1, 1, 1)}))
	dst := "\x04\x00\x00\x00\x00\x09"
	for _, down := range []uint32{1, 2} {
		l.dev.SetLink(down, false)
	}
	for i := range 5 {
		f := eth(dst, "\x02\x00\x00\x00\x00"+string(rune(i)), ipv4, "d")
		l.send(4, f)
		l.sent(3, f)
	}
}

func digestList(id uint64, at int64, pairs ...string) *p4v1.StreamMessageResponse {
	d := &p4v1.DigestList{DigestId: dLearn, ListId: id, Timestamp: 1_700_000_000_000_000_000 + at}
	for i := 0; i < len(pairs); i += 2 {
		bit := func(s string) *p4v1.P4Data { return &p4v1.P4Data{Data: &p4v1.P4Data_Bitstring{Bitstring: []byte(s)}} }
		d.Data = append(d.Data, &p4v1.P4Data{Data: &p4v1.P4Data_Struct{Struct: &p4v1.P4StructLike{Members: []*p4v1.P4Data{bit(pairs[i]), bit(pairs[i+1])}}}})
	}
	return &p4v1.StreamMessageResponse{Update: &p4v1.StreamMessageResponse_Digest{Digest: d}}
}

func (s *stream) ack(digest uint32, list uint64) {
	s.send(&p4v1.StreamMessageRequest{Update: &p4v1.StreamMessageRequest_DigestAck{DigestAck: &p4v1.DigestListAck{DigestId: digest, ListId: list}}})
}

func TestDigests(t *testing.T) {
	l := newLab(t)
	s := l.primary()
	l.write(modify(&p4v1.TableEntry{TableId: tMac, IsDefaultAction: true, Action: tact(aLearn)}))
	learn := func(src string, port uint32) { l.send(port, eth("\xff\xff\xff\xff\xff\xff", src, ipv4, "")) }
	stats := func(ok func(Stats) bool) {
		t.Helper()
		if _, err := l.agent.Wait(t.Context(), ok); err != nil {
			t.Fatal(err)
		}
	}
	learn(mac1, 1) // not enabled yet
	if st := l.agent.Stats(); st.Digests != 1 || st.DigestsDropped != 1 {
		t.Errorf("stats %+v", st)
	}
	const ms = 1_000_000
	l.write(insert(&p4v1.DigestEntry{DigestId: dLearn, Config: &p4v1.DigestEntry_Config{MaxTimeoutNs: 10 * ms, MaxListSize: 3, AckTimeoutNs: 100 * ms}}))

	// Two distinct messages and a duplicate wait for the timeout, counted from the first.
	l.clock.Advance(1 * ms)
	learn(mac1, 1)
	l.clock.Advance(4 * ms)
	learn(mac2, 2)
	learn(mac1, 1)
	if st := l.agent.Stats(); st.DigestLists != 0 || st.DigestDuplicates != 1 {
		t.Errorf("stats %+v", st)
	}
	l.clock.Advance(6 * ms)
	s.expectMessage(digestList(1, 11*ms, mac1, "\x01", mac2, "\x02"))
	// While the list is not acknowledged, its messages are duplicates; three others fill a list at once.
	learn(mac1, 1)
	learn(mac1, 2)
	learn(mac1, 3)
	learn(mac1, 4)
	s.expectMessage(digestList(2, 11*ms, mac1, "\x02", mac1, "\x03", mac1, "\x04"))
	if st := l.agent.Stats(); st.DigestsPending() != 2 || st.DigestDuplicates != 2 {
		t.Errorf("stats %+v", st)
	}
	// Acknowledged: may be sent again.
	s.ack(dLearn, 1)
	stats(func(st Stats) bool { return st.DigestListsAcked == 1 && st.DigestsPending() == 1 })
	learn(mac1, 1)
	l.clock.Advance(10 * ms)
	s.expectMessage(digestList(3, 21*ms, mac1, "\x01"))
	// Acknowledgement of list 2 is late after 100 ms: at 111 ms, list 3 at 121 ms.
	l.clock.Advance(90 * ms)
	if st := l.agent.Stats(); st.DigestListsLate != 1 || st.DigestsPending() != 1 {
		t.Errorf("stats %+v", st)
	}
	learn(mac1, 2)
	s.ack(dLearn, 2) // too late, which is no error
	s.ack(0x17999999, 1)
	if e := s.recv().GetError(); codes.Code(e.GetCanonicalCode()) != codes.InvalidArgument || e.GetDigestListAck().GetDigestListAck().GetListId() != 1 {
		t.Errorf("got %v", e)
	}
	l.clock.Advance(10 * ms)
	s.expectMessage(digestList(4, 121*ms, mac1, "\x02"))

	// max_timeout 0: every message at once; ack_timeout 0: no cache.
	l.write(modify(&p4v1.DigestEntry{DigestId: dLearn, Config: &p4v1.DigestEntry_Config{}}))
	learn(mac3, 1)
	s.expectMessage(digestList(5, 121*ms, mac3, "\x01"))
	learn(mac3, 1)
	s.expectMessage(digestList(6, 121*ms, mac3, "\x01"))

	// A new primary learns what the old one had not acknowledged.
	l.write(modify(&p4v1.DigestEntry{DigestId: dLearn, Config: &p4v1.DigestEntry_Config{AckTimeoutNs: 1e12}}))
	learn(mac2, 4)
	s.expectMessage(digestList(7, 121*ms, mac2, "\x04"))
	s2 := l.open()
	s2.arbitrate("", id(2))
	s2.expect(codes.OK, id(2))
	stats(func(st Stats) bool { return st.DigestsPending() == 0 })
	learn(mac2, 4)
	s2.expectMessage(digestList(8, 121*ms, mac2, "\x04"))
}

func TestIdleTimeouts(t *testing.T) {
	l := newLab(t)
	s := l.primary()
	const ms = 1_000_000
	e1 := with(mac(mac1, tact(aDrop)), func(e *p4v1.TableEntry) { e.IdleTimeoutNs, e.Metadata, e.ControllerMetadata = 100*ms, []byte("m"), 4 })
	e2 := with(mac(mac2, tact(aDrop)), func(e *p4v1.TableEntry) { e.IdleTimeoutNs = 105 * ms })
	l.write(insert(e1), insert(e2), insert(mac(mac3, tact(aDrop))))
	note := func(at int64, list ...*p4v1.TableEntry) *p4v1.StreamMessageResponse {
		n := &p4v1.IdleTimeoutNotification{Timestamp: 1_700_000_000_000_000_000 + at}
		for _, e := range list {
			n.TableEntry = append(n.TableEntry, with(e, func(e *p4v1.TableEntry) { e.Action = nil }))
		}
		return &p4v1.StreamMessageResponse{Update: &p4v1.StreamMessageResponse_IdleTimeoutNotification{IdleTimeoutNotification: n}}
	}
	ask := &p4v1.TableEntry_IdleTimeout{}
	l.clock.Advance(60 * ms)
	l.send(1, eth(mac1, mac3, ipv4, "")) // a hit at 60 ms
	l.clock.Advance(30 * ms)
	l.reads(with(mac(mac1, nil), func(e *p4v1.TableEntry) { e.TimeSinceLastHit = ask }),
		with(e1, func(e *p4v1.TableEntry) { e.TimeSinceLastHit = &p4v1.TableEntry_IdleTimeout{ElapsedNs: 30 * ms} }))
	l.reads(with(mac(mac3, nil), func(e *p4v1.TableEntry) { e.TimeSinceLastHit = ask }),
		with(mac(mac3, tact(aDrop)), func(e *p4v1.TableEntry) { e.TimeSinceLastHit = &p4v1.TableEntry_IdleTimeout{ElapsedNs: 90 * ms} }))
	l.readFails(codes.InvalidArgument, &p4v1.TableEntry{TableId: tACL, TimeSinceLastHit: ask})
	// The scan at 100 ms finds nothing idle; the next, for e2 at 105 ms, comes 10 ms later.
	l.clock.Advance(25 * ms)
	s.expectMessage(note(110*ms, e2))
	l.clock.Advance(50 * ms)
	s.expectMessage(note(160*ms, e1))
	// Still idle: again after another timeout.
	l.clock.Advance(100 * ms)
	s.expectMessage(note(215*ms, e2))
	s.expectMessage(note(260*ms, e1))
	// Removed, or without timeout: no more.
	l.write(remove(e1), modify(with(e2, func(e *p4v1.TableEntry) { e.IdleTimeoutNs = 0 })))
	l.clock.Advance(1000 * ms)
	if st := l.agent.Stats(); st.IdleNotifications != 4 {
		t.Errorf("stats %+v", st)
	}
}
