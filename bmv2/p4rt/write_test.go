package p4rt

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	p4v1 "github.com/p4lang/p4runtime/go/p4/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

func TestContinueOnErrorReportsEveryUpdate(t *testing.T) {
	l := newLab(t)
	l.primary()
	good, bad := mac("\x01", tact(aDrop)), mac("\x02", tact(aMark, "\x01"))
	ds, err := l.tryWrite(p4v1.WriteRequest_CONTINUE_ON_ERROR, insert(good), insert(bad), insert(good), insert(mac("\x03", tact(aDrop))))
	if status.Code(err) != codes.Unknown {
		t.Fatalf("%v, want UNKNOWN", err)
	}
	want := []codes.Code{codes.OK, codes.InvalidArgument, codes.AlreadyExists, codes.OK}
	if len(ds) != len(want) {
		t.Fatalf("%d details, want %d", len(ds), len(want))
	}
	for i, w := range want {
		if codes.Code(ds[i].GetCanonicalCode()) != w || (ds[i].GetMessage() == "") != (w == codes.OK) {
			t.Errorf("update %d: %v, want %v", i, ds[i], w)
		}
	}
	l.reads(&p4v1.TableEntry{TableId: tMac}, good, mac("\x03", tact(aDrop)))
	if st := l.agent.Stats(); st.Writes != 1 || st.Updates != 2 || st.UpdateErrors != 2 {
		t.Errorf("stats %+v", st)
	}
}

// failing is a batch whose updates all fail, with as many messages as there are updates, or a single one.
func failing(n int, distinct bool) (out []*p4v1.Update) {
	for i := range n {
		a := uint32(aMark)
		if distinct {
			a = 0x01100000 + uint32(i)
		}
		out = append(out, insert(mac(string(binary.BigEndian.AppendUint32([]byte{1}, uint32(i))), tact(a))))
	}
	return out
}

func TestThousandErrorsReachTheClient(t *testing.T) {
	l := newLab(t)
	l.primary()
	batch := failing(1000, true)
	// A client of gRPC for Go takes 16 MB of headers by default.
	ds, err := l.tryWrite(p4v1.WriteRequest_CONTINUE_ON_ERROR, batch...)
	if status.Code(err) != codes.Unknown || len(ds) != 1000 {
		t.Fatalf("%v with %d details, want UNKNOWN with 1000", status.Code(err), len(ds))
	}
	for i, d := range ds {
		if want := fmt.Sprintf("table ing.mac: action id %#x is none of this table's actions", 0x01100000+i); !strings.HasPrefix(d.GetMessage(), want) {
			t.Fatalf("update %d: %q, want %q", i, d.GetMessage(), want)
		}
	}

	// With less room, messages get shorter; with much less, the status message tells what there is to tell. Each limit is what
	// the client announces, and 8 KB is what C-core clients take by default.
	for _, c := range []struct {
		limit    uint32
		updates  int
		distinct bool
		details  int
		message  string
	}{
		{1 << 20, 1000, true, 1000, "1000 of 1000 updates failed"},
		{200 << 10, 1000, true, 1000, "1000 of 1000 updates failed"},
		{80 << 10, 1000, true, 1000, "1000 of 1000 updates failed"},
		{8 << 10, 100, true, 100, "100 of 100 updates failed"},
		{8 << 10, 20, true, 20, "20 of 20 updates failed"},
		{8 << 10, 1000, true, 0, "1000 of 1000 updates failed (details left out: the client takes 8192 bytes of headers, see grpc.max_metadata_size): INVALID_ARGUMENT (0): table ing.mac"},
		{8 << 10, 1000, false, 0, "INVALID_ARGUMENT (0-999): table ing.mac: action id 0x1000008"},
		{16 << 10, 1000, false, 0, "the client takes 8192 bytes"},
		{2 << 10, 1000, true, 0, "1000 of 1000 updates failed"},
	} {
		client := l.dial(grpc.WithMaxHeaderListSize(c.limit))
		_, err := client.Write(t.Context(), &p4v1.WriteRequest{DeviceId: deviceID, ElectionId: id(1), Updates: failing(c.updates, c.distinct)})
		ds := details(t, err)
		if status.Code(err) != codes.Unknown || len(ds) != c.details {
			t.Errorf("limit %d, %d updates: %v with %d details, want UNKNOWN with %d", c.limit, c.updates, err, len(ds), c.details)
		}
		if !strings.Contains(status.Convert(err).Message(), c.message) {
			t.Errorf("limit %d, %d updates: message %q does not contain %q", c.limit, c.updates, status.Convert(err).Message(), c.message)
		}
		for i, d := range ds {
			if codes.Code(d.GetCanonicalCode()) != codes.InvalidArgument {
				t.Fatalf("limit %d: update %d: %v", c.limit, i, d)
			}
		}
	}
}

func TestSummaryGroupsErrors(t *testing.T) {
	full := errorf(codes.ResourceExhausted, "table t is full")
	dup := errorf(codes.AlreadyExists, "there is an entry")
	errs := []error{full, nil, full, full, dup, full}
	if got, want := summary(errs, 1000), "RESOURCE_EXHAUSTED (0, 2-3, 5): table t is full; ALREADY_EXISTS (4): there is an entry"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := summary(errs, 60), "RESOURCE_EXHAUSTED (0, 2-3, 5): table t is full; and 1 more ALREADY_EXISTS"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := batchStatus("updates", []error{nil, nil}, 0); err != nil {
		t.Errorf("a batch without errors gave %v", err)
	}
}

func TestDetailSizeIsExact(t *testing.T) {
	errs := []error{nil, errorf(codes.NotFound, "%s", strings.Repeat("x", 500)), errorf(codes.Internal, "y")}
	for _, most := range []int{-1, 200, 30, 0} {
		st := status.Convert(detailed("text", errs, most)).Proto()
		if got, want := detailSize("text", errs, most), proto.Size(st); got != want {
			t.Errorf("messages of %d bytes: %d, want %d", most, got, want)
		}
	}
}

func TestHeaderLimitOfClients(t *testing.T) {
	settings := func(pairs ...uint32) string {
		var b []byte
		for i := 0; i < len(pairs); i += 2 {
			b = binary.BigEndian.AppendUint16(b, uint16(pairs[i]))
			b = binary.BigEndian.AppendUint32(b, pairs[i+1])
		}
		return clientPreface + string([]byte{0, 0, byte(len(b)), frameSettings, 0, 0, 0, 0, 0}) + string(b)
	}
	for _, c := range []struct {
		in    string
		limit uint32
		done  bool
	}{
		{settings(4, 65535, 6, 8192), 8192, true},
		{settings(4, 65535), 0, true},
		{settings(), 0, true},
		{settings(6, 8192)[:30], 0, false},
		{settings(6, 8192)[:36], 0, false},
		{"", 0, false},
		{"GET / HTTP/1.1\r\n", 0, true},
		{clientPreface + "\x00\x00\x08\x06\x00\x00\x00\x00\x00", 0, true}, // PING, not SETTINGS
	} {
		if limit, done := headerLimit([]byte(c.in)); limit != c.limit || done != c.done {
			t.Errorf("%q: %d, %v; want %d, %v", c.in, limit, done, c.limit, c.done)
		}
	}
}

func FuzzHeaderLimit(f *testing.F) {
	f.Add([]byte(clientPreface + "\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x06\x00\x00\x20\x00"))
	f.Fuzz(func(t *testing.T, b []byte) { headerLimit(b) })
}

// snapshot reads all that a client can read.
func (l *lab) snapshot() *p4v1.ReadResponse {
	l.t.Helper()
	got, err := l.tryRead(&p4v1.TableEntry{CounterData: &p4v1.CounterData{}, MeterConfig: &p4v1.MeterConfig{}},
		&p4v1.TableEntry{TableId: tMac, IsDefaultAction: true}, &p4v1.ActionProfileMember{}, &p4v1.ActionProfileGroup{}, &p4v1.CounterEntry{},
		&p4v1.MeterEntry{}, &p4v1.RegisterEntry{}, &p4v1.MulticastGroupEntry{}, &p4v1.CloneSessionEntry{}, &p4v1.ValueSetEntry{}, &p4v1.DigestEntry{})
	if err != nil {
		l.t.Fatal(err)
	}
	return &p4v1.ReadResponse{Entities: got}
}

// populate writes one of everything, and everyThing changes or removes it again.
func populate() []*p4v1.Update {
	return []*p4v1.Update{
		insert(with(mac("\x01", tact(aFwd, "\x01")), func(e *p4v1.TableEntry) {
			e.CounterData, e.Metadata = &p4v1.CounterData{PacketCount: 3, ByteCount: 4}, []byte("m")
		})),
		modify(&p4v1.TableEntry{TableId: tMac, IsDefaultAction: true, Action: tact(aCPU), Metadata: []byte("d")}),
		insert(&p4v1.TableEntry{TableId: tACL, Priority: 3, Match: match(ranged(3, "\x01", "\x02")), Action: tact(aDrop), MeterConfig: &p4v1.MeterConfig{Cir: 1, Pir: 2}}),
		insert(member(1, act(aFwd, "\x01"))), insert(member(2, act(aFwd, "\x02"))), insert(member(3, act(aDrop))),
		insert(group(1, 1, 1, 2, 1)), insert(group(2, 2, 1)),
		insert(&p4v1.TableEntry{TableId: tRoute, Match: match(lpm(1, "\x80\x00\x00\x00\x00\x00", 1)), Action: groupRef(1)}),
		insert(&p4v1.TableEntry{TableId: tRoute, Match: match(lpm(1, "\x40\x00\x00\x00\x00\x00", 2)), Action: memberRef(3)}),
		modify(&p4v1.CounterEntry{CounterId: cCnt, Index: index(1), Data: &p4v1.CounterData{PacketCount: 5}}),
		modify(&p4v1.MeterEntry{MeterId: mMtr, Index: index(2), Config: &p4v1.MeterConfig{Cir: 7, Pir: 8}}),
		modify(&p4v1.RegisterEntry{RegisterId: rReg, Index: index(3), Data: &p4v1.P4Data{Data: &p4v1.P4Data_Bitstring{Bitstring: []byte{9}}}}),
		insert(&p4v1.MulticastGroupEntry{MulticastGroupId: 1, Replicas: replicas(1, 0, 2, 0)}), insert(&p4v1.MulticastGroupEntry{MulticastGroupId: 2}),
		insert(&p4v1.CloneSessionEntry{SessionId: 1, Replicas: replicas(1, 0)}), insert(&p4v1.CloneSessionEntry{SessionId: 2}),
		modify(&p4v1.ValueSetEntry{ValueSetId: vTypes, Members: []*p4v1.ValueSetMember{{Match: match(exact(1, "\x05"))}}}),
		insert(&p4v1.DigestEntry{DigestId: dLearn, Config: &p4v1.DigestEntry_Config{MaxListSize: 4}}),
	}
}

// upheaval changes or removes all that populate made, and makes more.
func upheaval() []*p4v1.Update {
	return []*p4v1.Update{
		modify(with(mac("\x01", tact(aDrop)), func(e *p4v1.TableEntry) { e.CounterData = &p4v1.CounterData{PacketCount: 30} })),
		insert(mac("\x02", tact(aDrop))),
		remove(mac("\x01", nil)),
		insert(mac("\x01", tact(aFlood, "\x01"))),
		modify(&p4v1.TableEntry{TableId: tMac, IsDefaultAction: true}),
		remove(&p4v1.TableEntry{TableId: tACL, Priority: 3, Match: match(ranged(3, "\x01", "\x02"))}),
		remove(&p4v1.TableEntry{TableId: tRoute, Match: match(lpm(1, "\x80\x00\x00\x00\x00\x00", 1))}),
		modify(&p4v1.TableEntry{TableId: tRoute, Match: match(lpm(1, "\x40\x00\x00\x00\x00\x00", 2)), Action: memberRef(2)}),
		remove(group(1)), modify(group(2, 2, 2, 1, 1)), remove(group(2)), insert(group(3)),
		remove(member(1, nil)), modify(member(2, act(aDrop))), remove(member(3, nil)), insert(member(4, act(aDrop))),
		modify(&p4v1.CounterEntry{CounterId: cCnt, Data: &p4v1.CounterData{PacketCount: 50}}),
		modify(&p4v1.MeterEntry{MeterId: mMtr}), modify(&p4v1.MeterEntry{MeterId: mMtr, Index: index(0), Config: &p4v1.MeterConfig{}}),
		modify(&p4v1.RegisterEntry{RegisterId: rReg, Data: &p4v1.P4Data{Data: &p4v1.P4Data_Bitstring{Bitstring: []byte{1}}}}),
		modify(&p4v1.MulticastGroupEntry{MulticastGroupId: 1, Replicas: replicas(3, 0)}), remove(&p4v1.MulticastGroupEntry{MulticastGroupId: 2}), insert(&p4v1.MulticastGroupEntry{MulticastGroupId: 3}),
		modify(&p4v1.CloneSessionEntry{SessionId: 1}), remove(&p4v1.CloneSessionEntry{SessionId: 2}), insert(&p4v1.CloneSessionEntry{SessionId: 3}),
		modify(&p4v1.ValueSetEntry{ValueSetId: vTypes}),
		modify(&p4v1.DigestEntry{DigestId: dLearn}), remove(&p4v1.DigestEntry{DigestId: dLearn}),
	}
}

func TestAtomicBatchesAreAllOrNone(t *testing.T) {
	for _, a := range []p4v1.WriteRequest_Atomicity{p4v1.WriteRequest_ROLLBACK_ON_ERROR, p4v1.WriteRequest_DATAPLANE_ATOMIC} {
		t.Run(a.String(), func(t *testing.T) {
			l := newLab(t)
			l.primary()
			empty := l.snapshot()
			bad := insert(mac("\x07", tact(aMark)))
			// After everything else has been done, the last update fails.
			ds, err := l.tryWrite(a, append(populate(), bad)...)
			if status.Code(err) != codes.Unknown || len(ds) != len(populate())+1 {
				t.Fatalf("%v with %d details", err, len(ds))
			}
			for i, d := range ds {
				want := codes.Aborted
				if i == len(ds)-1 {
					want = codes.InvalidArgument
				}
				if codes.Code(d.GetCanonicalCode()) != want {
					t.Errorf("update %d: %v, want %v", i, d, want)
				}
			}
			if got := l.snapshot(); !proto.Equal(got, empty) {
				t.Errorf("after the rollback: %v", got)
			}
			if ds, err := l.tryWrite(a, populate()...); err != nil {
				t.Fatalf("%v %v", err, ds)
			}
			full := l.snapshot()
			if len(full.Entities) <= len(empty.Entities) {
				t.Fatal("nothing was written")
			}
			if _, err := l.tryWrite(a, append(upheaval(), bad)...); status.Code(err) != codes.Unknown {
				t.Fatalf("%v, want UNKNOWN", err)
			}
			if got := l.snapshot(); !proto.Equal(got, full) {
				t.Errorf("after the rollback\ngot  %v\nwant %v", got, full)
			}
			if ds, err := l.tryWrite(a, upheaval()...); err != nil {
				t.Fatalf("%v %v", err, ds)
			}
			if got := l.snapshot(); proto.Equal(got, full) {
				t.Error("the batch without an error changed nothing")
			}
		})
	}
	l := newLab(t)
	l.primary()
	if _, err := l.tryWrite(9); status.Code(err) != codes.InvalidArgument {
		t.Errorf("atomicity 9: %v", err)
	}
}

func TestRollbackOfOneShots(t *testing.T) {
	l := newLab(t)
	l.primary()
	e := &p4v1.TableEntry{TableId: tRoute, Match: match(lpm(1, "\x04\x00\x00\x00\x00\x00", 8)), Action: oneShotOf(1, 1, 1)}
	l.write(insert(e))
	other := with(e, func(e *p4v1.TableEntry) { e.Action = oneShotOf(2, 2) })
	for _, batch := range [][]*p4v1.Update{{modify(other)}, {remove(e)}, {modify(other), remove(e), insert(other)}} {
		if _, err := l.tryWrite(p4v1.WriteRequest_ROLLBACK_ON_ERROR, append(batch, insert(nil))...); status.Code(err) != codes.Unknown {
			t.Fatalf("%v, want UNKNOWN", err)
		}
		l.reads(&p4v1.TableEntry{TableId: tRoute}, e)
		// The entry still forwards.
		f := eth("\x04\x00\x00\x00\x00\x01", mac1, ipv4, "x")
		l.send(4, f)
		select {
		case <-l.out[1]:
		case <-l.out[2]:
		case <-l.out[3]:
		}
	}
	l.write(modify(other), remove(e))
	l.write(insert(member(1, act(aDrop))))
}

func TestReadBatchReportsEveryRequest(t *testing.T) {
	l := newLab(t)
	l.primary()
	l.write(insert(mac("\x01", tact(aDrop))), insert(member(1, act(aDrop))))
	got, err := l.tryRead(&p4v1.TableEntry{TableId: tMac}, &p4v1.CounterEntry{CounterId: 1}, &p4v1.ActionProfileMember{}, &p4v1.TableEntry{TableId: 9})
	if len(got) != 2 || status.Code(err) != codes.Unknown {
		t.Fatalf("%d entities, error %v", len(got), err)
	}
	ds := details(t, err)
	if len(ds) != 4 {
		t.Fatalf("%d details, want 4", len(ds))
	}
	for i, want := range []codes.Code{codes.OK, codes.InvalidArgument, codes.OK, codes.InvalidArgument} {
		if codes.Code(ds[i].GetCanonicalCode()) != want {
			t.Errorf("request %d: %v, want %v", i, ds[i], want)
		}
	}
}
