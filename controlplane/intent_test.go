package controlplane

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"testing"
	"time"

	p4configv1 "github.com/p4lang/p4runtime/go/p4/config/v1"
	p4v1 "github.com/p4lang/p4runtime/go/p4/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"khop/codegen"
	"khop/fabric"
)

// fakeInfo is a P4Info with all that codegen promises for a role, with made-up ids.
func fakeInfo(f *fabric.Fabric, role fabric.Role) *p4configv1.P4Info {
	id := func(name string) uint32 {
		h := fnv.New32a()
		h.Write([]byte(name))
		return h.Sum32()
	}
	info := &p4configv1.P4Info{}
	preamble := func(name string) *p4configv1.Preamble { return &p4configv1.Preamble{Id: id(name), Name: name} }
	for _, t := range codegen.TablesOf(f, role) {
		pt := &p4configv1.Table{Preamble: preamble(t.Name)}
		for i, k := range t.Keys {
			pt.MatchFields = append(pt.MatchFields, &p4configv1.MatchField{Id: uint32(i + 1), Name: k.Name, Bitwidth: int32(k.Bits)})
		}
		info.Tables = append(info.Tables, pt)
		for _, a := range t.Actions {
			pa := &p4configv1.Action{Preamble: preamble(a.Name)}
			for i, p := range a.Params {
				pa.Params = append(pa.Params, &p4configv1.Action_Param{Id: uint32(i + 1), Name: p.Name, Bitwidth: int32(p.Bits)})
			}
			info.Actions = append(info.Actions, pa)
		}
	}
	for _, d := range codegen.DigestsOf(f, role) {
		info.Digests = append(info.Digests, &p4configv1.Digest{Preamble: preamble(d.Name)})
	}
	for _, h := range []codegen.Action{codegen.PacketIn, codegen.PacketOut} {
		m := &p4configv1.ControllerPacketMetadata{Preamble: preamble(h.Name)}
		for i, p := range h.Params {
			m.Metadata = append(m.Metadata, &p4configv1.ControllerPacketMetadata_Metadata{Id: uint32(i + 1), Name: p.Name, Bitwidth: int32(p.Bits)})
		}
		info.ControllerPacketMetadata = append(info.ControllerPacketMetadata, m)
	}
	return info
}

// Every entry of every shipped fabric survives the way to P4Runtime and back, no two have the same key, and the intent is
// the same every time.
func TestIntentRoundTrip(t *testing.T) {
	for _, name := range fabric.ShippedNames() {
		f := loadSpec(t, name)
		for _, sw := range f.Switches {
			codec, err := NewCodec(f, sw.Role, fakeInfo(f, sw.Role))
			if err != nil {
				t.Fatal(err)
			}
			in := IntentOf(f, sw)
			seen := map[string]bool{}
			for i := range in.Entries {
				e := &in.Entries[i]
				if seen[e.key()] {
					t.Errorf("%s %s: twice: %s", name, sw.Name, codec.describe(e))
				}
				seen[e.key()] = true
				back, err := codec.entry(codec.update(p4v1.Update_INSERT, e).GetEntity().GetTableEntry())
				if err != nil || back.key() != e.key() || !back.sameAction(e) {
					t.Errorf("%s %s: %s came back as %s (%v)", name, sw.Name, codec.describe(e), codec.describe(&back), err)
				}
			}
			if again := IntentOf(f, sw); fmt.Sprint(again.Entries) != fmt.Sprint(in.Entries) {
				t.Errorf("%s %s: the intent varies", name, sw.Name)
			}
		}
	}
}

func TestIntentOfALeaf(t *testing.T) {
	f := loadSpec(t, "leafspine-2x4-mp-hula")
	leaf := f.Leaves()[0]
	codec, err := NewCodec(f, fabric.Leaf, fakeInfo(f, fabric.Leaf))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	in := IntentOf(f, leaf)
	for i := range in.Entries {
		lines = append(lines, codec.describe(&in.Entries[i]))
	}
	for _, want := range []string{
		"timing default -> set_timing(tau_exp=10, keep_alive=2500, flowlet_gap=200, link_timeout=2500)",
		"mptcp_timing default -> set_mptcp_timing(subflow_live=2000, learn_timeout=30000000)",
		"ingress_port ingress_port=5 -> from_host()",
		"route_v4 dst_addr=10.0.1.0/24 -> to_local()",
		"route_v4 dst_addr=10.0.2.0/24 -> to_tor(tor=2)",
		"host_v4 dst_addr=10.0.1.254 -> to_gateway()",
		"tor_route dst_tor=2 -> set_next_hops(group=" + fmt.Sprint(codegen.NextHopsOf(f, leaf)[0].Group) + ", ports=[1 2 3 4])",
	} {
		if !slices.Contains(lines, want) {
			t.Errorf("the intent lacks %q:\n%s", want, strings.Join(lines, "\n"))
		}
	}
}

func TestCodecRefusesAnotherProgram(t *testing.T) {
	f := loadSpec(t, "leafspine-2x4-mp-hula")
	info := fakeInfo(f, fabric.Leaf)
	info.Tables[0].Preamble.Name = "other"
	if _, err := NewCodec(f, fabric.Leaf, info); err == nil || !strings.Contains(err.Error(), codegen.TableSwitchParams) {
		t.Errorf("error %v", err)
	}
}

func TestBytestrings(t *testing.T) {
	for _, tt := range []struct {
		v    uint64
		bits int
		want string
	}{{0, 9, "\x00\x00"}, {258, 16, "\x01\x02"}, {1, 128, strings.Repeat("\x00", 15) + "\x01"}} {
		if got := num(tt.v, tt.bits); string(got) != tt.want {
			t.Errorf("num(%d, %d) = %x", tt.v, tt.bits, got)
		}
		if back := padded(canonical(num(tt.v, tt.bits)), tt.bits); string(back) != tt.want {
			t.Errorf("%d came back as %x", tt.v, back)
		}
	}
	if !bytes.Equal(canonical([]byte{0, 0}), []byte{0}) {
		t.Error("zero is one byte")
	}
	f := loadSpec(t, "leafspine-2x4-mp-hula")
	if got := portsOf(codegen.PortMap(f, []uint32{1, 4, 9})); !slices.Equal(got, []uint32{1, 4, 9}) {
		t.Errorf("port map %v", got)
	}
}

func TestBatchDetails(t *testing.T) {
	updates := make([]*p4v1.Update, 3)
	for i := range updates {
		updates[i] = &p4v1.Update{}
	}
	st, err := status.New(codes.Unknown, "failed").WithDetails(
		&p4v1.Error{CanonicalCode: int32(codes.OK)},
		&p4v1.Error{CanonicalCode: int32(codes.AlreadyExists), Message: "there"},
		&p4v1.Error{CanonicalCode: int32(codes.OK)})
	if err != nil {
		t.Fatal(err)
	}
	d := batchDetails(st.Err(), updates)
	if len(d) != 1 || d[0].Index != 1 || d[0].Code != codes.AlreadyExists || d[0].Message != "there" {
		t.Errorf("details %+v", d)
	}
	if text := (&BatchError{Updates: 3, Failed: append(d, d...)}).Error(); text != "update 2 of 3: AlreadyExists: there (and 1 more)" {
		t.Error(text)
	}
	if d := batchDetails(status.Error(codes.Unavailable, "gone"), updates); d != nil {
		t.Errorf("details of a whole failure: %+v", d)
	}
}

// A change of the interval is in force within one old interval, and keeps the schedule otherwise.
func TestProbeSchedule(t *testing.T) {
	f := loadSpec(t, "leafspine-2x4-mp-hula")
	now := int64(1000)
	c, err := New(f, Options{Now: func() int64 { return now }, Programs: []*Program{}})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := c.NextProbe(); ok {
		t.Error("probes are due before they start")
	}
	c.StartProbes()
	if at, ok := c.NextProbe(); !ok || at != 1000 {
		t.Errorf("first probe at %d", at)
	}
	for _, l := range c.prober.leaves { // as after a probe at 1000
		l.last, l.next = 1000, 1000+int64(500*time.Microsecond)
	}
	now = 301_000
	if err := c.SetProbeInterval("leaf1", 400*time.Microsecond); err != nil {
		t.Fatal(err)
	}
	if got := c.prober.leaves[0].next; got != 401_000 {
		t.Errorf("a shorter interval: next at %d", got)
	}
	if got := c.prober.leaves[1].next; got != 501_000 {
		t.Errorf("the other ToR: next at %d", got)
	}
	if err := c.SetProbeInterval("", 250*time.Microsecond); err != nil {
		t.Fatal(err)
	}
	if got := c.prober.leaves[0].next; got != now {
		t.Errorf("an interval that is over already: next at %d", got)
	}
	if err := c.SetProbeInterval("", 500*time.Microsecond); err != nil {
		t.Fatal(err)
	}
	if got := c.prober.leaves[1].next; got > 501_000 {
		t.Errorf("a longer interval: next at %d, later than one old interval", got)
	}
}
