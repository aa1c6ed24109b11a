package p4rt

import (
	"testing"

	p4v1 "github.com/p4lang/p4runtime/go/p4/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/anypb"
)

// mayWrite tells whether a client with this id is let through; an empty batch is enough to see.
func (l *lab) mayWrite(role string, id *p4v1.Uint128) codes.Code {
	_, err := l.client.Write(l.t.Context(), &p4v1.WriteRequest{DeviceId: deviceID, Role: role, ElectionId: id})
	return status.Code(err)
}

func (l *lab) expectWrite(role string, id *p4v1.Uint128, want codes.Code) {
	l.t.Helper()
	if got := l.mayWrite(role, id); got != want {
		l.t.Fatalf("role %q, election id %v: Write gave %v, want %v", role, id, got, want)
	}
}

func TestArbitrationPromotesOnlyOnRequest(t *testing.T) {
	l := newLab(t)
	// Without any primary, a backup that sets no election id sees none.
	standby := l.open()
	standby.arbitrate("", nil)
	standby.expect(codes.NotFound, nil)
	l.expectWrite("", nil, codes.PermissionDenied)
	l.expectWrite("", id(0), codes.PermissionDenied)

	a := l.open()
	a.arbitrate("", id(5))
	a.expect(codes.OK, id(5))
	standby.expect(codes.AlreadyExists, id(5))
	l.expectWrite("", id(5), codes.FailedPrecondition) // primary, but no pipeline yet

	b := l.open()
	b.arbitrate("", id(3))
	b.expect(codes.AlreadyExists, id(5))
	l.expectWrite("", id(3), codes.PermissionDenied)

	// A higher id takes over; the others hear of it.
	c := l.open()
	c.arbitrate("", id(9))
	for _, s := range []*stream{standby, a, b} {
		s.expect(codes.AlreadyExists, id(9))
	}
	c.expect(codes.OK, id(9))
	l.expectWrite("", id(5), codes.PermissionDenied)
	l.expectWrite("", id(9), codes.FailedPrecondition)

	// The primary leaves: nobody is promoted, and 9 stays the highest id ever seen.
	c.cancel()
	for _, s := range []*stream{standby, a, b} {
		s.expect(codes.NotFound, id(9))
	}
	for _, i := range []uint64{3, 5, 9} {
		l.expectWrite("", id(i), codes.PermissionDenied)
	}
	a.arbitrate("", id(8)) // above all others, but below the highest ever
	a.expect(codes.NotFound, id(9))
	l.expectWrite("", id(8), codes.PermissionDenied)
	a.arbitrate("", id(9)) // as high as the highest ever
	a.expect(codes.OK, id(9))
	standby.expect(codes.AlreadyExists, id(9))
	b.expect(codes.AlreadyExists, id(9))
	l.expectWrite("", id(9), codes.FailedPrecondition)

	// The primary steps down on its own.
	a.arbitrate("", id(1))
	for _, s := range []*stream{standby, a, b} {
		s.expect(codes.NotFound, id(9))
	}
	l.expectWrite("", id(1), codes.PermissionDenied)

	// High words count before low words.
	b.arbitrate("", &p4v1.Uint128{High: 1})
	b.expect(codes.OK, &p4v1.Uint128{High: 1})
}

func TestArbitrationErrors(t *testing.T) {
	l := newLab(t)
	a := l.open()
	a.arbitrate("", id(5))
	a.expect(codes.OK, id(5))

	unknown := l.open()
	unknown.send(&p4v1.StreamMessageRequest{Update: &p4v1.StreamMessageRequest_Arbitration{Arbitration: &p4v1.MasterArbitrationUpdate{DeviceId: 99, ElectionId: id(6)}}})
	unknown.expectEnd(codes.NotFound)

	same := l.open()
	same.arbitrate("", id(5))
	same.expectEnd(codes.InvalidArgument)

	config := l.open()
	config.send(&p4v1.StreamMessageRequest{Update: &p4v1.StreamMessageRequest_Arbitration{Arbitration: &p4v1.MasterArbitrationUpdate{
		DeviceId: deviceID, ElectionId: id(6), Role: &p4v1.Role{Name: "r", Config: &anypb.Any{}}}}})
	config.expectEnd(codes.InvalidArgument)

	b := l.open()
	b.arbitrate("", id(4))
	b.expect(codes.AlreadyExists, id(5))
	b.arbitrate("", id(5)) // taken by a live client
	b.expectEnd(codes.InvalidArgument)

	c := l.open()
	c.arbitrate("", id(4)) // free again, because b's stream has ended
	c.expect(codes.AlreadyExists, id(5))
	c.arbitrate("other", id(4))
	c.expectEnd(codes.FailedPrecondition)

	d := l.open()
	d.arbitrate("", id(3))
	d.expect(codes.AlreadyExists, id(5))
	d.send(&p4v1.StreamMessageRequest{Update: &p4v1.StreamMessageRequest_Arbitration{Arbitration: &p4v1.MasterArbitrationUpdate{DeviceId: 99, ElectionId: id(3)}}})
	d.expectEnd(codes.FailedPrecondition)

	// The lab allows 4 streams for a role.
	for i := uint64(10); i < 13; i++ {
		l.open().arbitrate("", id(i))
	}
	if _, err := l.agent.Wait(t.Context(), func(s Stats) bool { return s.Streams == 4 }); err != nil {
		t.Fatal(err)
	}
	over := l.open()
	over.arbitrate("", id(20))
	over.expectEnd(codes.ResourceExhausted)
}

func TestRolesHavePrimariesOfTheirOwn(t *testing.T) {
	l := newLab(t)
	l.expectWrite("acl", id(1), codes.NotFound)
	a, b := l.open(), l.open()
	a.arbitrate("", id(5))
	a.expect(codes.OK, id(5))
	b.arbitrate("acl", id(5)) // the same id, for another role
	m := b.recv().GetArbitration()
	if m.GetStatus().GetCode() != 0 || m.GetRole().GetName() != "acl" || m.GetElectionId().GetLow() != 5 {
		t.Fatalf("got %v", m)
	}
	b2 := l.open()
	b2.arbitrate("acl", id(7))
	b.expect(codes.AlreadyExists, id(7))
	b2.expect(codes.OK, id(7))
	l.expectWrite("acl", id(5), codes.PermissionDenied)
	l.expectWrite("acl", id(7), codes.FailedPrecondition)
	l.expectWrite("", id(5), codes.FailedPrecondition)
	l.expectWrite("", id(7), codes.PermissionDenied)
}

func TestRequestsForUnknownDevices(t *testing.T) {
	l := newLab(t)
	ctx := t.Context()
	_, w := l.client.Write(ctx, &p4v1.WriteRequest{DeviceId: 99, ElectionId: id(1)})
	_, p := l.client.SetForwardingPipelineConfig(ctx, &p4v1.SetForwardingPipelineConfigRequest{DeviceId: 99, ElectionId: id(1)})
	_, g := l.client.GetForwardingPipelineConfig(ctx, &p4v1.GetForwardingPipelineConfigRequest{DeviceId: 99})
	_, c := l.client.Capabilities(ctx, &p4v1.CapabilitiesRequest{DeviceId: 99})
	for name, err := range map[string]error{"Write": w, "Set": p, "Get": g, "Capabilities": c} {
		if status.Code(err) != codes.NotFound {
			t.Errorf("%s: %v, want NOT_FOUND", name, err)
		}
	}
	for _, d := range []uint64{0, deviceID} {
		v, err := l.client.Capabilities(ctx, &p4v1.CapabilitiesRequest{DeviceId: d})
		if err != nil || v.GetP4RuntimeApiVersion() != "1.5.0" {
			t.Errorf("Capabilities of device %d: %v, %v", d, v, err)
		}
	}
	if _, err := l.tryRead(&p4v1.TableEntry{}); status.Code(err) != codes.FailedPrecondition {
		t.Errorf("Read without a pipeline: %v, want FAILED_PRECONDITION", err)
	}
}
