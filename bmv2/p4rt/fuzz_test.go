package p4rt

import (
	"testing"

	configv1 "github.com/p4lang/p4runtime/go/p4/config/v1"
	p4v1 "github.com/p4lang/p4runtime/go/p4/v1"
	"google.golang.org/protobuf/proto"

	"khop/bmv2/device"
	"khop/bmv2/simpleswitch"
)

func bareAgent(t testing.TB) *Agent {
	t.Helper()
	d, err := device.New(nil, device.Options{Clock: device.NewManualClock(0), Switch: simpleswitch.Options{CPUPort: cpuPort, Seed: 1}})
	if err != nil {
		t.Fatal(err)
	}
	a := newAgent(deviceID, d, AgentOptions{})
	d.SetAgent(a)
	if err := a.Install(miniConfig(t)); err != nil {
		t.Fatal(err)
	}
	return a
}

// FuzzWrite applies arbitrary batches as atomic ones that fail, so that everything has to be taken back.
func FuzzWrite(f *testing.F) {
	for _, batch := range [][]*p4v1.Update{populate(), upheaval(), append(populate(), upheaval()...), failing(3, true)} {
		b, err := proto.Marshal(&p4v1.WriteRequest{Updates: batch})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	a := bareAgent(f)
	all := &p4v1.ReadRequest{}
	for _, m := range []proto.Message{&p4v1.TableEntry{CounterData: &p4v1.CounterData{}, MeterConfig: &p4v1.MeterConfig{}}, &p4v1.ActionProfileMember{}, &p4v1.ActionProfileGroup{},
		&p4v1.CounterEntry{}, &p4v1.MeterEntry{}, &p4v1.RegisterEntry{}, &p4v1.MulticastGroupEntry{}, &p4v1.CloneSessionEntry{}, &p4v1.ValueSetEntry{}, &p4v1.DigestEntry{}} {
		all.Entities = append(all.Entities, update(0, m).Entity)
	}
	state := func(t testing.TB) *p4v1.ReadResponse {
		out, _, err := a.read(all)
		if err != nil {
			t.Fatal(err)
		}
		return &p4v1.ReadResponse{Entities: out}
	}
	empty := state(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		r := &p4v1.WriteRequest{}
		if proto.Unmarshal(b, r) != nil {
			return
		}
		read := &p4v1.ReadRequest{}
		for _, u := range r.Updates {
			read.Entities = append(read.Entities, u.GetEntity())
		}
		if _, _, err := a.read(read); err != nil {
			t.Fatal(err)
		}
		r.Atomicity = p4v1.WriteRequest_ROLLBACK_ON_ERROR
		r.Updates = append(r.Updates, &p4v1.Update{})
		if _, err := a.write(r); err != nil {
			t.Fatal(err)
		}
		if got := state(t); !proto.Equal(got, empty) {
			t.Fatalf("a batch that failed left %v", got)
		}
	})
}

func FuzzP4Info(f *testing.F) {
	b, err := proto.Marshal(miniConfig(f).P4Info)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	a := bareAgent(f)
	dev := miniConfig(f).P4DeviceConfig
	f.Fuzz(func(t *testing.T, b []byte) {
		p := &configv1.P4Info{}
		if proto.Unmarshal(b, p) != nil {
			return
		}
		_, _ = a.verify(&p4v1.ForwardingPipelineConfig{P4Info: p, P4DeviceConfig: dev})
	})
}
