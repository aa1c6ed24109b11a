package simpleswitch

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"khop/bmv2/config"
	ct "khop/bmv2/config/configtest"
	"khop/bmv2/pipeline"
)

// out is one frame that left.
type out struct {
	port  uint32
	frame string // hex
}

func link(t testing.TB, c *config.Config) *pipeline.Program {
	t.Helper()
	p, err := pipeline.Link(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func start(t testing.TB, c *config.Config, o Options) *Switch {
	t.Helper()
	s, err := New(link(t, c), o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// send lets a frame in and everything that is due at the same time out.
func send(t testing.TB, s *Switch, now int64, port uint32, frame string) []out {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(frame, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	s.Receive(now, port, b)
	return drain(s, now)
}

func drain(s *Switch, now int64) (got []out) {
	s.Transmit(now, func(port uint32, f []byte) { got = append(got, out{port, hex.EncodeToString(f)}) })
	return got
}

func expect(t testing.TB, got []out, want ...out) {
	t.Helper()
	for i := range want {
		want[i].frame = strings.ReplaceAll(want[i].frame, " ", "")
	}
	if !slices.Equal(got, want) {
		t.Fatalf("got %v\nwant %v", got, want)
	}
}

func expectDrops(t testing.TB, s *Switch, want map[Reason]uint64) {
	t.Helper()
	for r, n := range s.Drops() {
		if n != want[Reason(r)] {
			t.Errorf("drops %s = %d, want %d", Reason(r), n, want[Reason(r)])
		}
	}
}

// tagged is a program whose packets begin with a 4-byte header tag: a (8 bits), b (8), c (16).
func tagged(scalars ...int) *config.Config {
	c := ct.Base(scalars...)
	ct.AddHeader(c, "tag", 0, ct.Bits("a", 8), ct.Bits("b", 8), ct.Bits("c", 16))
	c.Parsers[0].States[0].Ops = []config.ParserOp{ct.Extract("tag")}
	return c
}

func egressTo(n int64) config.Primitive { return ct.Assign(ct.Std("egress_spec"), ct.N(n)) }

func TestUnicast(t *testing.T) {
	c := tagged()
	ct.Run(c, "ingress", egressTo(3), ct.Assign(ct.F("tag", "a"), ct.Op("+", ct.F("tag", "a"), ct.N(1))))
	s := start(t, c, Options{})
	expect(t, send(t, s, 0, 1, "ff 02 0304 99"), out{3, "00 02 0304 99"})
	// Too short for the header: it stays invalid, ingress runs all the same.
	expect(t, send(t, s, 0, 1, "ff02"), out{3, "ff02"})
	expectDrops(t, s, map[Reason]uint64{IgnoredParserError: 1})
	if st := s.PortStats(3); st.TxFrames != 2 || st.TxBytes != 7 {
		t.Errorf("port 3: %+v", st)
	}
}

func TestDropAndDefaultPort(t *testing.T) {
	c := tagged()
	ct.Run(c, "ingress", ct.Assign(ct.Std("mcast_grp"), ct.N(1)),
		ct.P("mark_to_drop", ct.Named(config.KindHeader, "standard_metadata")))
	s := start(t, c, Options{})
	expect(t, send(t, s, 0, 1, "00000000"))
	expectDrops(t, s, map[Reason]uint64{DropIngress: 1})

	c = tagged()
	s = start(t, c, Options{}) // egress_spec is never written
	expect(t, send(t, s, 0, 1, "00000000"), out{0, "00000000"})

	c = tagged()
	ct.Run(c, "egress", ct.P("mark_to_drop", ct.Named(config.KindHeader, "standard_metadata")))
	s = start(t, c, Options{})
	expect(t, send(t, s, 0, 1, "00000000"))
	expectDrops(t, s, map[Reason]uint64{DropEgress: 1})
}

// TestDropOnCopy: an action that takes standard metadata as an inout parameter works on a copy.
func TestDropOnCopy(t *testing.T) {
	c := tagged()
	c.Headers = append(c.Headers, config.Header{Name: "copy", ID: 99, Type: "standard_metadata", Metadata: true})
	ct.Run(c, "ingress", egressTo(3), ct.Assign(ct.Std("mcast_grp"), ct.N(5)),
		ct.P("mark_to_drop", ct.Named(config.KindHeader, "copy")),
		ct.Assign(ct.F("tag", "c"), ct.F("copy", "egress_spec")), ct.Assign(ct.Std("mcast_grp"), ct.F("copy", "mcast_grp")))
	s := start(t, c, Options{})
	expect(t, send(t, s, 0, 1, "01 02 0000"), out{3, "01 02 01ff"})
}

func TestMulticast(t *testing.T) {
	c := tagged()
	ct.Run(c, "ingress", ct.Assign(ct.Std("mcast_grp"), ct.F("tag", "a")), egressTo(511))
	ct.Run(c, "egress", ct.Assign(ct.F("tag", "b"), ct.Std("instance_type")), ct.Assign(ct.F("tag", "c"), ct.Std("egress_rid")))
	s := start(t, c, Options{})
	if err := s.SetMulticastGroup(7, []Replica{{4, 1}, {2, 0x1234}, {4, 2}}); err != nil {
		t.Fatal(err)
	}
	// The group wins over the drop port.
	expect(t, send(t, s, 0, 1, "07 00 0000 aa"), out{4, "07 05 0001 aa"}, out{2, "07 05 1234 aa"}, out{4, "07 05 0002 aa"})
	expect(t, send(t, s, 0, 1, "08 00 0000 aa"))
	expectDrops(t, s, map[Reason]uint64{DropNoGroup: 1})
	if err := s.SetMulticastGroup(0, nil); !errors.Is(err, pipeline.ErrInvalid) {
		t.Errorf("group 0: %v", err)
	}
}

func TestCloneIngress(t *testing.T) {
	c := tagged(16, 16)
	c.FieldLists = []config.FieldList{{ID: 1, Elements: []config.Value{ct.S(0)}}}
	ct.Run(c, "ingress", ct.Assign(ct.S(0), ct.N(0x1111)), ct.Assign(ct.S(1), ct.N(0x2222)),
		ct.Assign(ct.F("tag", "a"), ct.N(0xee)), egressTo(2), ct.P("clone_ingress_pkt_to_egress", ct.N(9), ct.N(1)))
	ct.Run(c, "egress", ct.Assign(ct.F("tag", "b"), ct.Std("instance_type")),
		ct.Assign(ct.F("tag", "c"), ct.Op("+", ct.S(0), ct.S(1))))
	s := start(t, c, Options{})
	expect(t, send(t, s, 0, 1, "01 00 0000 77"), out{2, "ee 00 3333 77"})
	expectDrops(t, s, map[Reason]uint64{IgnoredNoSession: 1})
	if err := s.SetCloneSession(9, CloneSession{Replicas: []Replica{{5, 0}, {6, 1}}}); err != nil {
		t.Fatal(err)
	}
	// The clone has the headers of before ingress, and only the listed metadata.
	expect(t, send(t, s, 0, 1, "01 00 0000 77"), out{5, "01 01 1111 77"}, out{6, "01 01 1111 77"}, out{2, "ee 00 3333 77"})
	if err := s.SetCloneSession(9, CloneSession{Replicas: []Replica{{5, 0}}, TruncateTo: 3}); err != nil {
		t.Fatal(err)
	}
	expect(t, send(t, s, 0, 1, "01 00 0000 77"), out{5, "01 01 11"}, out{2, "ee 00 3333 77"})
}

func TestCloneEgress(t *testing.T) {
	c := tagged(16)
	c.FieldLists = []config.FieldList{{ID: 3, Elements: []config.Value{ct.S(0)}}}
	ct.Run(c, "ingress", egressTo(2))
	ct.AddAction(c, "mark", nil, ct.Assign(ct.S(0), ct.N(0x55)), ct.Assign(ct.F("tag", "a"), ct.N(0xee)),
		ct.P("clone_egress_pkt_to_egress", ct.N(0), ct.N(3)))
	ct.AddAction(c, "seen", nil, ct.Assign(ct.F("tag", "b"), ct.Std("instance_type")), ct.Assign(ct.F("tag", "c"), ct.S(0)))
	c.Pipelines[1].Init = "if"
	c.Pipelines[1].Conditionals = []config.Conditional{{Name: "if", Expr: ptr(ct.Op("==", ct.Std("instance_type"), ct.N(0))),
		TrueNext: "m", FalseNext: "s"}}
	c.Pipelines[1].ActionCalls = []config.ActionCall{{Name: "m", ActionID: 1}, {Name: "s", ActionID: 2}}
	s := start(t, c, Options{})
	if err := s.SetCloneSession(0, CloneSession{Replicas: []Replica{{8, 0}}}); err != nil {
		t.Fatal(err)
	}
	expect(t, send(t, s, 0, 1, "01 00 0000 77"), out{2, "ee 00 0000 77"}, out{8, "ee 02 0055 77"})
}

func ptr[T any](v T) *T { return &v }

func TestResubmit(t *testing.T) {
	c := tagged(16)
	c.FieldLists = []config.FieldList{{ID: 1, Elements: []config.Value{ct.S(0)}}}
	ct.AddAction(c, "again", nil, ct.Assign(ct.S(0), ct.Op("+", ct.S(0), ct.N(1))), ct.Assign(ct.F("tag", "a"), ct.N(0xee)),
		ct.P("resubmit", ct.N(1)))
	ct.AddAction(c, "done", nil, ct.Assign(ct.F("tag", "c"), ct.S(0)), ct.Assign(ct.F("tag", "b"), ct.Std("instance_type")),
		egressTo(2))
	c.Pipelines[0].Init = "if"
	c.Pipelines[0].Conditionals = []config.Conditional{{Name: "if", Expr: ptr(ct.Op("<", ct.S(0), ct.F("tag", "c"))),
		TrueNext: "m", FalseNext: "s"}}
	c.Pipelines[0].ActionCalls = []config.ActionCall{{Name: "m", ActionID: 0}, {Name: "s", ActionID: 1}}
	s := start(t, c, Options{MaxPasses: 5})
	// Headers start from the original packet each time.
	expect(t, send(t, s, 0, 1, "01 00 0003"), out{2, "01 06 0003"})
	expect(t, send(t, s, 0, 1, "01 00 0000"), out{2, "01 00 0000"})
	expect(t, send(t, s, 0, 1, "01 00 0006"))
	expectDrops(t, s, map[Reason]uint64{DropPasses: 1})
}

func TestRecirculate(t *testing.T) {
	c := tagged(16)
	ct.AddHeader(c, "shim", 0, ct.Bits("v", 32))
	c.Deparsers[0].Order = []string{"shim", "tag"}
	ct.Run(c, "ingress", egressTo(2), ct.Assign(ct.S(0), ct.Op("+", ct.Std("packet_length"), ct.Std("instance_type"))))
	ct.AddAction(c, "again", nil, ct.P("add_header", ct.Named(config.KindHeader, "shim")),
		ct.Assign(ct.F("shim", "v"), ct.Op("-", ct.F("tag", "c"), ct.N(1))), ct.P("recirculate", ct.N(0)))
	ct.AddAction(c, "list", nil, ct.P("recirculate", ct.N(1)))
	c.FieldLists = []config.FieldList{{ID: 1}}
	ct.AddAction(c, "really", nil, ct.P("add_header", ct.Named(config.KindHeader, "shim")),
		ct.Assign(ct.F("shim", "v"), ct.Op("-", ct.F("tag", "c"), ct.N(1))), ct.P("recirculate", ct.N(1)))
	ct.AddAction(c, "done", nil, ct.Assign(ct.F("tag", "b"), ct.Op("+", ct.Op("<<", ct.Std("instance_type"), ct.N(4)), ct.S(0))))
	c.Pipelines[1].Init = "if"
	c.Pipelines[1].Conditionals = []config.Conditional{{Name: "if", Expr: ptr(ct.Op(">", ct.F("tag", "c"), ct.N(0))),
		TrueNext: "m", FalseNext: "s"}}
	c.Pipelines[1].ActionCalls = []config.ActionCall{{Name: "m", ActionID: 3}, {Name: "s", ActionID: 4}}
	s := start(t, c, Options{})
	// shim (4 bytes of c-1) goes in front and is the tag of the next pass. In the last ingress the packet is recirculated (4)
	// and 12 bytes long; unicast makes it normal (0) again.
	expect(t, send(t, s, 0, 1, "01 00 0002"), out{2, "00 10 0000 00 00 0001 01 00 0002"})

	c.Pipelines[1].ActionCalls[0].ActionID = 1 // list id 0 asks for nothing
	s = start(t, c, Options{})
	expect(t, send(t, s, 0, 1, "01 00 0002"), out{2, "0000 0001 0100 0002"})
	c.Pipelines[1].ActionCalls[0].ActionID = 2 // for ever
	s = start(t, c, Options{MaxPasses: 9})
	expect(t, send(t, s, 0, 1, "01 00 0002"))
	expectDrops(t, s, map[Reason]uint64{DropPasses: 1})
}

func TestDigest(t *testing.T) {
	c := tagged(12)
	c.LearnLists = []config.FieldList{{ID: 4, Name: "other", Elements: []config.Value{ct.S(0)}},
		{ID: 5, Name: "seen", Elements: []config.Value{ct.F("tag", "c"), ct.S(0), ct.Std("ingress_port")}}}
	ct.Run(c, "ingress", ct.Assign(ct.S(0), ct.N(0xabc)), ct.P("generate_digest", ct.N(1), ct.N(5)))
	var got []string
	s := start(t, c, Options{OnDigest: func(d Digest) {
		got = append(got, fmt.Sprintf("%d %d %x %d", d.List, d.ID, d.Values, d.Now))
	}})
	send(t, s, 77, 0x101, "01 00 0203")
	if want := []string{"1 5 [0203 0abc 0101] 77"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if d := s.Digests()[1]; d.Name != "seen" || d.Fields[1].Width != 12 {
		t.Errorf("digest info %+v", d)
	}
}

func TestQueueRates(t *testing.T) {
	c := tagged()
	ct.Run(c, "ingress", egressTo(1))
	ct.Run(c, "egress", ct.Assign(ct.F("tag", "a"), ct.Std("enq_qdepth")), ct.Assign(ct.F("tag", "b"), ct.Std("deq_qdepth")),
		ct.Assign(ct.F("tag", "c"), ct.Std("deq_timedelta")))
	s := start(t, c, Options{QueueDepth: 3})
	s.SetPort(1, PortConfig{RatePPS: 1000})
	const ms = int64(1e6)
	for range 5 {
		s.Receive(0, 0, make([]byte, 4))
	}
	expectDrops(t, s, map[Reason]uint64{DropTail: 2})
	if n := s.QueueLen(1, 0); n != 3 {
		t.Errorf("QueueLen = %d", n)
	}
	expect(t, drain(s, 0), out{1, "00 02 0000"})
	if at, ok := s.NextDeparture(); !ok || at != ms {
		t.Errorf("next departure %d, %v", at, ok)
	}
	expect(t, drain(s, ms-1))
	// A late driver changes nothing: egress sees the departure times.
	expect(t, drain(s, 10*ms), out{1, "01 01 03e8"}, out{1, "02 00 07d0"})
	if _, ok := s.NextDeparture(); ok {
		t.Error("a packet is left")
	}

	// 4 bytes at 32 kbit/s take 1 ms.
	s = start(t, c, Options{})
	s.SetPort(1, PortConfig{RateBPS: 32000})
	for range 3 {
		s.Receive(0, 0, make([]byte, 4))
	}
	expect(t, drain(s, 0), out{1, "00 02 0000"})
	expect(t, drain(s, ms), out{1, "01 01 03e8"})
	if at, _ := s.NextDeparture(); at != 2*ms {
		t.Errorf("next departure %d", at)
	}
}

func TestPriorities(t *testing.T) {
	c := tagged()
	ct.Run(c, "ingress", egressTo(1), ct.Assign(ct.Std("priority"), ct.F("tag", "a")))
	s := start(t, c, Options{PriorityQueues: 2})
	s.SetPort(1, PortConfig{RatePPS: 1000})
	for _, f := range [][]byte{{0, 0, 0, 1}, {0, 0, 0, 2}, {1, 0, 0, 3}, {1, 0, 0, 4}, {2, 0, 0, 5}} {
		s.Receive(0, 0, f)
	}
	expectDrops(t, s, map[Reason]uint64{DropPriority: 1})
	var got []out
	for i := range int64(5) {
		got = append(got, drain(s, i*1e6)...)
	}
	expect(t, got, out{1, "01000003"}, out{1, "01000004"}, out{1, "00000001"}, out{1, "00000002"})
	if err := s.SetQueue(1, 2, QueueConfig{}); !errors.Is(err, pipeline.ErrInvalid) {
		t.Errorf("queue 2 of 2: %v", err)
	}
}

func TestTimestamps(t *testing.T) {
	c := tagged()
	ct.AddHeader(c, "ts", 0, ct.Bits("in", 48), ct.Bits("out", 48), ct.Bits("enq", 32))
	ct.Run(c, "ingress", egressTo(1))
	ct.Run(c, "egress", ct.P("add_header", ct.Named(config.KindHeader, "ts")),
		ct.Assign(ct.F("ts", "in"), ct.Std("ingress_global_timestamp")),
		ct.Assign(ct.F("ts", "out"), ct.Std("egress_global_timestamp")), ct.Assign(ct.F("ts", "enq"), ct.Std("enq_timestamp")))
	s := start(t, c, Options{})
	s.SetPort(1, PortConfig{RatePPS: 1e6})
	s.Receive(0, 0, []byte{0, 0, 0, 0})
	drain(s, 0)
	s.Receive(999, 0, []byte{1, 0, 0, 0}) // leaves at 1000 ns
	expect(t, drain(s, 5000), out{1, "01000000 000000000000 000000000001 00000000"})
}

func TestTruncate(t *testing.T) {
	c := tagged()
	ct.Run(c, "ingress", egressTo(1), ct.P("truncate", ct.N(6)), ct.P("truncate", ct.N(5)), ct.P("truncate", ct.N(7)))
	s := start(t, c, Options{})
	expect(t, send(t, s, 0, 0, "01020304 05060708"), out{1, "01020304 05"})
	expect(t, send(t, s, 0, 0, "01020304"), out{1, "01020304"})
}

func TestAssertAndLog(t *testing.T) {
	c := tagged(140)
	ct.Run(c, "ingress", egressTo(1), ct.Assign(ct.S(0), ct.Op("<<", ct.F("tag", "c"), ct.N(100))),
		ct.P("log_msg", config.Value{Kind: config.KindString, Str: `a={} \{x\} c={}`},
			config.Value{Kind: config.KindVector, List: []config.Value{ct.F("tag", "a"), ct.S(0)}}),
		ct.P("assert", ct.Op("==", ct.F("tag", "a"), ct.N(1))), ct.Assign(ct.F("tag", "b"), ct.N(9)))
	var log []string
	s := start(t, c, Options{OnLog: func(_ int64, msg string) { log = append(log, msg) }})
	expect(t, send(t, s, 0, 0, "01020001"), out{1, "01090001"})
	expect(t, send(t, s, 0, 0, "02020000"))
	expectDrops(t, s, map[Reason]uint64{DropAssert: 1})
	want := []string{"a=1 {x} c=1267650600228229401496703205376", "a=2 {x} c=0", "assert failed"}
	if !slices.Equal(log, want) {
		t.Errorf("log %q, want %q", log, want)
	}
}

func TestPortDown(t *testing.T) {
	c := tagged()
	ct.Run(c, "ingress", egressTo(1))
	s := start(t, c, Options{})
	s.SetPort(0, PortConfig{Down: true})
	expect(t, send(t, s, 0, 0, "00000000"))
	s.SetPort(0, PortConfig{})
	s.SetPort(1, PortConfig{Down: true})
	expect(t, send(t, s, 0, 0, "00000000"))
	expectDrops(t, s, map[Reason]uint64{DropPortDown: 2})
}

func TestSwap(t *testing.T) {
	s, err := New(nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, send(t, s, 0, 0, "00000000"))
	if _, err := s.Table("x"); !errors.Is(err, pipeline.ErrNotFound) {
		t.Errorf("table of no program: %v", err)
	}
	c := tagged()
	ct.Run(c, "ingress", egressTo(1))
	if err := s.Swap(link(t, c)); err != nil {
		t.Fatal(err)
	}
	s.Receive(0, 0, make([]byte, 8))
	if err := s.Swap(link(t, c)); err != nil {
		t.Fatal(err)
	}
	expect(t, drain(s, 0))
	expect(t, send(t, s, 0, 0, "00000000"), out{1, "00000000"})
	expectDrops(t, s, map[Reason]uint64{DropNoProgram: 1, DropSwap: 1})
}

// TestSharedProgram runs one program in several switches at once; go test -race sees whether it is immutable.
func TestSharedProgram(t *testing.T) {
	c := tagged(16, 128)
	c.Registers = []config.Register{{Name: "r", Size: 1, Width: 100}}
	r := ct.Named(config.KindRegisterArray, "r")
	ct.Run(c, "ingress", egressTo(1), ct.P("register_read", ct.S(1), r, ct.N(0)),
		ct.P("register_write", r, ct.N(0), ct.Op("+", ct.S(1), ct.F("tag", "a"))), ct.Assign(ct.F("tag", "c"), ct.S(1)))
	p := link(t, c)
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			s, err := New(p, Options{})
			if err != nil {
				t.Error(err)
				return
			}
			last := ""
			for n := range 100 {
				s.Receive(int64(n), 0, []byte{byte(i), 0, 0, 0})
				s.Transmit(int64(n), func(_ uint32, f []byte) { last = hex.EncodeToString(f) })
			}
			if want := fmt.Sprintf("%02x00%04x", i, 99*i); last != want {
				t.Errorf("switch %d: last frame %s, want %s", i, last, want)
			}
		})
	}
	wg.Wait()
}

func TestOptions(t *testing.T) {
	for _, o := range []Options{{PriorityQueues: 9}, {PriorityQueues: -1}, {QueueDepth: -1}} {
		if _, err := New(nil, o); !errors.Is(err, pipeline.ErrInvalid) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// recorder keeps the kinds and names of events.
type recorder struct{ events []string }

func (r *recorder) Trace(e pipeline.TraceEvent) {
	r.events = append(r.events, strings.TrimSpace(e.Kind.String()+" "+e.Name+" "+e.Detail))
}

func TestTrace(t *testing.T) {
	c := tagged()
	ct.AddAction(c, "to", []config.Param{{Name: "port", Width: 9}}, ct.Assign(ct.Std("egress_spec"), ct.Arg(0)))
	ct.AddTable(c, "ingress", config.Table{Name: "fwd", MatchType: "exact", MaxSize: 10, Actions: []string{"to"},
		Key: []config.KeyField{{Name: "a", MatchType: "exact", Target: [2]string{"tag", "a"}}}}, "")
	r := &recorder{}
	s := start(t, c, Options{Tracer: r})
	if _, err := s.InsertEntry("fwd", pipeline.Entry{Match: []pipeline.FieldMatch{{Value: []byte{1}}},
		Target: pipeline.Target{Kind: pipeline.TargetAction, Call: pipeline.ActionCall{Action: "to", Args: [][]byte{{1, 0xff}}}}},
		0); err != nil {
		t.Fatal(err)
	}
	send(t, s, 0, 3, "01000000")
	want := []string{"receive", "ingress", "parser state start offset 160", "table fwd a = 0x01", "action to port = 0x01ff",
		"primitive assign", "drop ingress_drop"}
	want[2] = "parser state start offset " + fmt.Sprint(s.Program().Headroom())
	if !slices.Equal(r.events, want) {
		t.Errorf("events %q\nwant %q", r.events, want)
	}
}
