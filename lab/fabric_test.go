package lab_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	p4configv1 "github.com/p4lang/p4runtime/go/p4/config/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"khop/controlplane"
	"khop/fabric"
	"khop/lab"
	"khop/p4"
)

// load reads a spec and builds its programs.
func load(t *testing.T, spec string) (*fabric.Fabric, []*controlplane.Program) {
	t.Helper()
	f, err := fabric.LoadFile(spec)
	if err != nil {
		t.Fatal(err)
	}
	programs, err := controlplane.BuildPrograms(f, func(name string, source []byte) (*p4configv1.P4Info, []byte, error) {
		r, list := p4.Compile(name, source, p4.Options{})
		if err := list.Err(); err != nil {
			return nil, nil, err
		}
		return r.P4Info, r.JSON, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return f, programs
}

// up starts a fabric in real time and its API.
func up(t *testing.T, spec string) (*lab.Fabric, controlplane.API) {
	t.Helper()
	f, programs := load(t, spec)
	x, err := lab.Up(t.Context(), f, lab.Options{Controller: controlplane.Options{Programs: programs}, AnyPort: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(x.Close)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- x.Controller.ServeAPI(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return x, controlplane.API{Addr: l.Addr().String()}
}

// eventually polls a condition that must come true within ten seconds.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("%s did not happen", what)
		}
		<-tick.C
	}
}

func TestLive(t *testing.T) {
	x, api := up(t, "leafspine-2x4-mp-hula")
	ctx := t.Context()

	// What was pushed is what the spec says: nothing is left to change.
	plans, err := x.Controller.PlanAll(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range plans {
		if !p.Empty() {
			var b strings.Builder
			p.Print(&b)
			t.Errorf("after the push there is still to change:\n%s", b.String())
		}
	}

	eventually(t, "probes", func() bool {
		list, err := api.Probes(ctx)
		return err == nil && len(list) == 2 && list[0].Sent > 10 && list[1].Sent > 10
	})
	eventually(t, "k-best slots on all spines", func() bool {
		d, err := api.Tables(ctx, "leaf1")
		if err != nil {
			t.Fatal(err)
		}
		hops := map[string]bool{}
		for _, k := range d.KBest {
			for _, s := range k.Slots {
				hops[s.NextHop] = true
			}
		}
		return len(d.KBest) == 1 && d.KBest[0].ToR == "leaf2" && len(hops) == 4
	})

	before, err := api.Probes(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := api.SetProbes(ctx, controlplane.ProbeChange{Interval: "400us", ToR: "leaf1"}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the new interval", func() bool {
		list, err := api.Probes(ctx)
		return err == nil && list[0].IntervalUS == 400 && list[1].IntervalUS == 500 && list[0].Measured > 20 && list[0].Sent > before[0].Sent
	})
	for _, bad := range []struct {
		change controlplane.ProbeChange
		want   string
	}{
		{controlplane.ProbeChange{Interval: "fast"}, "no number"},
		{controlplane.ProbeChange{Interval: "10s"}, "tau"},
		{controlplane.ProbeChange{Interval: "400us", ToR: "leaf9"}, "the ToRs are leaf1, leaf2"},
	} {
		if _, err := api.SetProbes(ctx, bad.change); err == nil || !strings.Contains(err.Error(), bad.want) {
			t.Errorf("%+v: error %v, want %q", bad.change, err, bad.want)
		}
	}

	if _, err := api.SetKnobs(ctx, []string{"flowlet-gap=150us", "port.leaf1:2=down", "ecn.leaf1:1.kmin=30KB", "ecn.leaf1:1.kmax=60KB"}); err != nil {
		t.Fatal(err)
	}
	d, err := api.Tables(ctx, "leaf1")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, table := range d.Tables {
		all = append(all, table.Entries...)
	}
	text := strings.Join(all, "\n")
	for _, want := range []string{"flowlet_gap=150", "down_ports=[2]", "set_ecn(kmin=20, kmax=40, slope="} {
		if !strings.Contains(text, want) {
			t.Errorf("the tables of leaf1 lack %q:\n%s", want, text)
		}
	}
	for setting, want := range map[string]string{
		"flowlet":                        "write name=value",
		"nonsense=1":                     "there is no knob",
		"flowlet-gap=1":                  "lacks a unit",
		"flowlet-gap=9s":                 "flowlet gap of 9s",
		"port.leaf1:99=down":             "ports 1 to 7",
		"port.leaf1:5=down":              "between switches",
		"port.leaf9:1=down":              "no switch",
		"ecn.leaf1:1.pmax=2":             "no probability",
		"ecn.leaf1:1.kmin=90KB":          "above kmax",
		"drop.leaf1:1.threshold=6 parts": "unit",
	} {
		if _, err := api.SetKnobs(ctx, []string{setting}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", setting, err, want)
		}
	}
	if _, err := api.Tables(ctx, "leaf9"); err == nil || !strings.Contains(err.Error(), "it has leaf1, leaf2") {
		t.Errorf("tables of leaf9: %v", err)
	}
	st, err := api.Status(ctx)
	if err != nil || len(st.Switches) != 6 || !st.Switches[0].Connected || st.Errors != 0 {
		t.Errorf("status %+v, %v", st, err)
	}
}

// A second controller sees the same switches: it plans nothing, and it is told who is primary.
func TestSecondController(t *testing.T) {
	x, _ := up(t, "leafspine-2x4-ecmp")
	f, programs := load(t, "leafspine-2x4-ecmp")
	second, err := controlplane.New(f, controlplane.Options{Programs: programs, Now: func() int64 { return 0 }})
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	addr := x.Plans[0].Address
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := second.ConnectReader("leaf1", addr, conn); err != nil {
		t.Fatal(err)
	}
	p, err := second.Plan(t.Context(), "leaf1")
	if err != nil || !p.Empty() {
		t.Errorf("plan %+v, %v", p, err)
	}
	third, err := controlplane.New(f, controlplane.Options{Programs: programs, ElectionID: 9, Now: func() int64 { return 0 }})
	if err != nil {
		t.Fatal(err)
	}
	defer third.Close()
	if err := third.Connect(t.Context(), "leaf1", addr, conn); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the first controller's loss of leaf1", func() bool { return !x.Controller.Client("leaf1").Primary() })
	fourth, err := controlplane.New(f, controlplane.Options{Programs: programs, ElectionID: 5, Now: func() int64 { return 0 }})
	if err != nil {
		t.Fatal(err)
	}
	defer fourth.Close()
	if err := fourth.Connect(t.Context(), "leaf1", addr, conn); !errors.Is(err, controlplane.ErrNotPrimary) {
		t.Errorf("a lower election id connects: %v", err)
	}
}
