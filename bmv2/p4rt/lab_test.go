package p4rt

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"testing"

	configv1 "github.com/p4lang/p4runtime/go/p4/config/v1"
	p4v1 "github.com/p4lang/p4runtime/go/p4/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	"khop/bmv2/device"
	"khop/bmv2/port"
	"khop/bmv2/simpleswitch"
)

// Ids of mini.p4info.txtpb.
const (
	tMac, tACL, tRoute, tFixed                             = 0x02000001, 0x02000002, 0x02000003, 0x02000004
	aNone, aFwd, aFlood, aCPU, aLearn, aDrop, aMark        = 0x01000000, 0x01000001, 0x01000002, 0x01000003, 0x01000004, 0x01000005, 0x01000008
	pSel, cCnt, mMtr, rReg, vTypes, dLearn                 = 0x11000001, 0x12000001, 0x14000001, 0x16000001, 0x03000001, 0x17000001
	cpuPort                                                = 510
	deviceID                                        uint64 = 7
)

// lab is a server with one device on manual time, and a client.
type lab struct {
	t      testing.TB
	clock  *device.ManualClock
	dev    *device.Device
	srv    *Server
	agent  *Agent
	lis    *bufconn.Listener
	client p4v1.P4RuntimeClient
	ports  map[uint32]port.Port // far ends of the links of ports 1 to 4
	out    map[uint32]chan string
}

func newLab(t testing.TB, opts ...grpc.DialOption) *lab {
	t.Helper()
	l := &lab{t: t, clock: device.NewManualClock(1_700_000_000_000_000_000), ports: map[uint32]port.Port{}, out: map[uint32]chan string{}}
	var err error
	l.dev, err = device.New(nil, device.Options{Clock: l.clock, Switch: simpleswitch.Options{CPUPort: cpuPort, PriorityQueues: 2, Seed: 1}})
	if err != nil {
		t.Fatal(err)
	}
	l.srv = NewServer(Options{})
	if l.agent, err = l.srv.AddDevice(deviceID, l.dev, AgentOptions{Epoch: l.dev.Epoch(), MaxStreams: 4}); err != nil {
		t.Fatal(err)
	}
	l.dev.SetAgent(l.agent)
	for n := uint32(1); n <= 4; n++ {
		near, far := port.Link()
		if err := l.dev.Attach(n, near); err != nil {
			t.Fatal(err)
		}
		out := make(chan string, 100)
		l.ports[n], l.out[n] = far, out
		go func() { _ = far.Run(t.Context(), func(f []byte) { out <- string(f) }) }()
	}
	l.lis = bufconn.Listen(1 << 20)
	served := make(chan error, 1)
	go func() { served <- l.srv.Serve(l.lis) }()
	l.client = l.dial(opts...)
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		l.srv.Shutdown(ctx)
		if err := <-served; err != nil {
			t.Error(err)
		}
		l.dev.Close()
	})
	return l
}

func (l *lab) dial(opts ...grpc.DialOption) p4v1.P4RuntimeClient {
	l.t.Helper()
	conn, err := grpc.NewClient("passthrough:///mem", append([]grpc.DialOption{
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return l.lis.DialContext(ctx) }),
		grpc.WithTransportCredentials(insecure.NewCredentials())}, opts...)...)
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { conn.Close() })
	return p4v1.NewP4RuntimeClient(conn)
}

// miniConfig is the pipeline of testdata.
func miniConfig(t testing.TB) *p4v1.ForwardingPipelineConfig {
	t.Helper()
	js, err := os.ReadFile("testdata/mini.json")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("testdata/mini.p4info.txtpb")
	if err != nil {
		t.Fatal(err)
	}
	in := &configv1.P4Info{}
	if err := prototext.Unmarshal(text, in); err != nil {
		t.Fatal(err)
	}
	return &p4v1.ForwardingPipelineConfig{P4Info: in, P4DeviceConfig: js, Cookie: &p4v1.ForwardingPipelineConfig_Cookie{Cookie: 42}}
}

// stream is a client's StreamChannel.
type stream struct {
	t      testing.TB
	s      p4v1.P4Runtime_StreamChannelClient
	cancel context.CancelFunc
}

func (l *lab) open() *stream {
	l.t.Helper()
	ctx, cancel := context.WithCancel(l.t.Context())
	s, err := l.client.StreamChannel(ctx)
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(cancel)
	return &stream{l.t, s, cancel}
}

func (s *stream) send(m *p4v1.StreamMessageRequest) {
	s.t.Helper()
	if err := s.s.Send(m); err != nil {
		s.t.Fatal(err)
	}
}

// arbitrate sends an election id; nil for unset.
func (s *stream) arbitrate(role string, id *p4v1.Uint128) {
	s.t.Helper()
	m := &p4v1.MasterArbitrationUpdate{DeviceId: deviceID, ElectionId: id}
	if role != "" {
		m.Role = &p4v1.Role{Name: role}
	}
	s.send(&p4v1.StreamMessageRequest{Update: &p4v1.StreamMessageRequest_Arbitration{Arbitration: m}})
}

func (s *stream) recv() *p4v1.StreamMessageResponse {
	s.t.Helper()
	m, err := s.s.Recv()
	if err != nil {
		s.t.Fatalf("the stream ended: %v", err)
	}
	return m
}

// expect checks the next message: an arbitration update with a code and the highest election id.
func (s *stream) expect(code codes.Code, highest *p4v1.Uint128) {
	s.t.Helper()
	m := s.recv().GetArbitration()
	if m == nil || codes.Code(m.GetStatus().GetCode()) != code || !proto.Equal(m.GetElectionId(), highest) {
		s.t.Fatalf("got %v; want status %v and election id %v", m, code, highest)
	}
}

// expectEnd checks that the stream ends with a code.
func (s *stream) expectEnd(code codes.Code) {
	s.t.Helper()
	for {
		m, err := s.s.Recv()
		if err == nil {
			s.t.Logf("before the end: %v", m)
			continue
		}
		if status.Code(err) != code {
			s.t.Fatalf("the stream ended with %v, want %v", err, code)
		}
		return
	}
}

func id(n uint64) *p4v1.Uint128 { return &p4v1.Uint128{Low: n} }

// primary opens a stream that becomes primary with election id 1, and sets the mini pipeline.
func (l *lab) primary() *stream {
	l.t.Helper()
	s := l.open()
	s.arbitrate("", id(1))
	s.expect(codes.OK, id(1))
	l.pipeline(p4v1.SetForwardingPipelineConfigRequest_VERIFY_AND_COMMIT, miniConfig(l.t), codes.OK)
	return s
}

// pipeline sends a SetForwardingPipelineConfig and checks its code.
func (l *lab) pipeline(action p4v1.SetForwardingPipelineConfigRequest_Action, c *p4v1.ForwardingPipelineConfig, want codes.Code) error {
	l.t.Helper()
	_, err := l.client.SetForwardingPipelineConfig(l.t.Context(), &p4v1.SetForwardingPipelineConfigRequest{
		DeviceId: deviceID, ElectionId: id(1), Action: action, Config: c})
	if status.Code(err) != want {
		l.t.Fatalf("%v: %v, want %v", action, err, want)
	}
	return err
}

func update(typ p4v1.Update_Type, m proto.Message) *p4v1.Update {
	e := &p4v1.Entity{}
	switch m := m.(type) {
	case *p4v1.TableEntry:
		e.Entity = &p4v1.Entity_TableEntry{TableEntry: m}
	case *p4v1.ActionProfileMember:
		e.Entity = &p4v1.Entity_ActionProfileMember{ActionProfileMember: m}
	case *p4v1.ActionProfileGroup:
		e.Entity = &p4v1.Entity_ActionProfileGroup{ActionProfileGroup: m}
	case *p4v1.CounterEntry:
		e.Entity = &p4v1.Entity_CounterEntry{CounterEntry: m}
	case *p4v1.DirectCounterEntry:
		e.Entity = &p4v1.Entity_DirectCounterEntry{DirectCounterEntry: m}
	case *p4v1.MeterEntry:
		e.Entity = &p4v1.Entity_MeterEntry{MeterEntry: m}
	case *p4v1.DirectMeterEntry:
		e.Entity = &p4v1.Entity_DirectMeterEntry{DirectMeterEntry: m}
	case *p4v1.MulticastGroupEntry:
		e.Entity = &p4v1.Entity_PacketReplicationEngineEntry{PacketReplicationEngineEntry: &p4v1.PacketReplicationEngineEntry{
			Type: &p4v1.PacketReplicationEngineEntry_MulticastGroupEntry{MulticastGroupEntry: m}}}
	case *p4v1.CloneSessionEntry:
		e.Entity = &p4v1.Entity_PacketReplicationEngineEntry{PacketReplicationEngineEntry: &p4v1.PacketReplicationEngineEntry{
			Type: &p4v1.PacketReplicationEngineEntry_CloneSessionEntry{CloneSessionEntry: m}}}
	case *p4v1.ValueSetEntry:
		e.Entity = &p4v1.Entity_ValueSetEntry{ValueSetEntry: m}
	case *p4v1.RegisterEntry:
		e.Entity = &p4v1.Entity_RegisterEntry{RegisterEntry: m}
	case *p4v1.DigestEntry:
		e.Entity = &p4v1.Entity_DigestEntry{DigestEntry: m}
	case *p4v1.ExternEntry:
		e.Entity = &p4v1.Entity_ExternEntry{ExternEntry: m}
	case nil:
	default:
		panic("no such entity")
	}
	return &p4v1.Update{Type: typ, Entity: e}
}

func insert(m proto.Message) *p4v1.Update { return update(p4v1.Update_INSERT, m) }
func modify(m proto.Message) *p4v1.Update { return update(p4v1.Update_MODIFY, m) }
func remove(m proto.Message) *p4v1.Update { return update(p4v1.Update_DELETE, m) }

// tryWrite sends a batch and returns the error and the code of each update.
func (l *lab) tryWrite(a p4v1.WriteRequest_Atomicity, updates ...*p4v1.Update) ([]*p4v1.Error, error) {
	l.t.Helper()
	_, err := l.client.Write(l.t.Context(), &p4v1.WriteRequest{DeviceId: deviceID, ElectionId: id(1), Updates: updates, Atomicity: a})
	return details(l.t, err), err
}

func details(t testing.TB, err error) (out []*p4v1.Error) {
	t.Helper()
	for _, d := range status.Convert(err).Details() {
		e, ok := d.(*p4v1.Error)
		if !ok {
			t.Fatalf("detail %T, want *p4v1.Error", d)
		}
		out = append(out, e)
	}
	return out
}

// write sends a batch that must succeed.
func (l *lab) write(updates ...*p4v1.Update) {
	l.t.Helper()
	if ds, err := l.tryWrite(p4v1.WriteRequest_CONTINUE_ON_ERROR, updates...); err != nil {
		l.t.Fatalf("%v %v", err, ds)
	}
}

// fails sends one update that must fail with a code, and returns the message.
func (l *lab) fails(code codes.Code, u *p4v1.Update) string {
	l.t.Helper()
	ds, err := l.tryWrite(p4v1.WriteRequest_CONTINUE_ON_ERROR, u)
	if status.Code(err) != codes.Unknown || len(ds) != 1 {
		l.t.Fatalf("%v: error %v with %d details; want UNKNOWN with 1", u, err, len(ds))
	}
	if codes.Code(ds[0].GetCanonicalCode()) != code {
		l.t.Fatalf("%v: %v: %s; want %v", u, codes.Code(ds[0].GetCanonicalCode()), ds[0].GetMessage(), code)
	}
	return ds[0].GetMessage()
}

// tryRead reads entities.
func (l *lab) tryRead(like ...proto.Message) ([]*p4v1.Entity, error) {
	l.t.Helper()
	r := &p4v1.ReadRequest{DeviceId: deviceID}
	for _, m := range like {
		r.Entities = append(r.Entities, update(0, m).Entity)
	}
	s, err := l.client.Read(l.t.Context(), r)
	var out []*p4v1.Entity
	for err == nil {
		var resp *p4v1.ReadResponse
		if resp, err = s.Recv(); err == nil {
			out = append(out, resp.Entities...)
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return out, err
}

// reads checks what a read request returns, in order.
func (l *lab) reads(like proto.Message, want ...proto.Message) {
	l.t.Helper()
	got, err := l.tryRead(like)
	if err != nil {
		l.t.Fatalf("reading %v: %v", like, err)
	}
	w := &p4v1.ReadResponse{}
	for _, m := range want {
		w.Entities = append(w.Entities, update(0, m).Entity)
	}
	if g := (&p4v1.ReadResponse{Entities: got}); !proto.Equal(w, g) {
		l.t.Fatalf("reading %v\nwant %s\ngot  %s", like, prototext.Format(w), prototext.Format(g))
	}
}

func (l *lab) readFails(code codes.Code, like proto.Message) {
	l.t.Helper()
	_, err := l.tryRead(like)
	ds := details(l.t, err)
	if status.Code(err) != codes.Unknown || len(ds) != 1 || codes.Code(ds[0].GetCanonicalCode()) != code {
		l.t.Fatalf("reading %v: %v %v; want UNKNOWN with %v", like, err, ds, code)
	}
}
