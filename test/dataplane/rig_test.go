package dataplane

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"khop/bmv2/config"
	"khop/bmv2/pipeline"
	"khop/bmv2/simpleswitch"
	"khop/codegen"
	"khop/fabric"
	"khop/p4"
)

// linked caches programs by source: many tests share them.
var linked = struct {
	sync.Mutex
	programs map[string]*pipeline.Program
}{programs: map[string]*pipeline.Program{}}

// compile turns a program's source into bmv2 JSON, with the project's compiler or the one that P4C_BM2_SS names.
func compile(t testing.TB, name string, source []byte) []byte {
	t.Helper()
	if p4c := os.Getenv("P4C_BM2_SS"); p4c != "" {
		dir := t.TempDir()
		in, out := filepath.Join(dir, name), filepath.Join(dir, "out.json")
		if err := os.WriteFile(in, source, 0o644); err != nil {
			t.Fatal(err)
		}
		if text, err := exec.Command(p4c, "--std", "p4-16", "-o", out, in).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, text)
		}
		data, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	result, list := p4.Compile(name, source, p4.Options{})
	if result == nil {
		t.Fatalf("%s does not compile: %v", name, list)
	}
	return result.JSON
}

// programOf compiles and links the program of a role.
func programOf(t testing.TB, f *fabric.Fabric, role fabric.Role) *pipeline.Program {
	t.Helper()
	list, err := codegen.Generate(f)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range list {
		if p.Role != role {
			continue
		}
		linked.Lock()
		defer linked.Unlock()
		if prog := linked.programs[string(p.Source)]; prog != nil {
			return prog
		}
		c, err := config.Parse(compile(t, p.Name, p.Source))
		if err != nil {
			t.Fatalf("%s: %v", p.Name, err)
		}
		prog, err := pipeline.Link(c)
		if err != nil {
			t.Fatalf("%s: %v", p.Name, err)
		}
		linked.programs[string(p.Source)] = prog
		return prog
	}
	t.Fatalf("%s has no role %s", f.Name, role)
	return nil
}

// spec loads a spec given as text.
func spec(t testing.TB, text string) *fabric.Fabric {
	t.Helper()
	f, err := fabric.Load("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func shipped(t testing.TB, name string) *fabric.Fabric {
	t.Helper()
	f, err := fabric.LoadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// out is a frame that left a switch.
type out struct {
	port  uint32
	frame []byte
}

// digest is a digest with its values by member name.
type digest struct {
	name   string
	values map[string][]byte
}

func (d digest) uint(name string) uint64 { return number(d.values[name]) }

func (d digest) addr(name string) netip.Addr {
	a, _ := netip.AddrFromSlice(d.values[name])
	return a.Unmap()
}

func number(b []byte) uint64 {
	var v uint64
	for _, x := range b {
		v = v<<8 | uint64(x)
	}
	return v
}

// rig is one programmed switch under test.
type rig struct {
	t       testing.TB
	f       *fabric.Fabric
	sw      *fabric.Switch
	s       *simpleswitch.Switch
	us      uint64 // now
	digests []digest
	outs    []out
}

func newRig(t testing.TB, f *fabric.Fabric, name string) *rig {
	t.Helper()
	r := &rig{t: t, f: f, sw: f.Switch(name), us: 1000}
	o := simpleswitch.Options{CPUPort: f.Target.CPUPort, OnDigest: func(d simpleswitch.Digest) {
		info := r.s.Digests()[d.List]
		got := digest{name: info.Name, values: map[string][]byte{}}
		for i, f := range codegen.DigestsOf(r.f, r.sw.Role)[digestIndex(r, info.Name)].Members {
			got.values[f.Name] = bytes.Clone(d.Values[i])
		}
		r.digests = append(r.digests, got)
	}}
	s, err := simpleswitch.New(programOf(t, f, r.sw.Role), o)
	if err != nil {
		t.Fatal(err)
	}
	r.s = s
	r.install()
	return r
}

func digestIndex(r *rig, name string) int {
	for i, d := range codegen.DigestsOf(r.f, r.sw.Role) {
		if d.Name == name {
			return i
		}
	}
	r.t.Fatalf("digest %q is not named by codegen", name)
	return 0
}

func u64(v uint64) []byte { return binary.BigEndian.AppendUint64(nil, v) }

func exact(values ...[]byte) []pipeline.FieldMatch {
	m := make([]pipeline.FieldMatch, len(values))
	for i, v := range values {
		m[i].Value = v
	}
	return m
}

func lpm(p netip.Prefix) []pipeline.FieldMatch {
	return []pipeline.FieldMatch{{Value: p.Addr().AsSlice(), PrefixLen: p.Bits()}}
}

func call(action string, args ...[]byte) pipeline.Target {
	return pipeline.Target{Kind: pipeline.TargetAction, Call: pipeline.ActionCall{Action: action, Args: args}}
}

func (r *rig) insert(table string, match []pipeline.FieldMatch, target pipeline.Target) {
	r.t.Helper()
	if _, err := r.s.InsertEntry(table, pipeline.Entry{Match: match, Target: target}, int64(r.us)*1000); err != nil {
		r.t.Fatalf("%s %s: %v", table, target.Call.Action, err)
	}
}

func (r *rig) setDefault(table, action string, args ...[]byte) {
	r.t.Helper()
	if err := r.s.SetDefault(table, call(action, args...)); err != nil {
		r.t.Fatalf("%s: %v", table, err)
	}
}

// setDown takes ports out of service.
func (r *rig) setDown(ports ...uint32) {
	r.t.Helper()
	r.setDefault(codegen.TableSwitchParams, codegen.ActionSetSwitchParams, u64(uint64(r.sw.ToR)), u64(uint64(codegen.SwitchSeed(r.f, r.sw))), codegen.PortMap(r.f, ports))
}

// install programs the switch as a controller does.
func (r *rig) install() {
	r.t.Helper()
	r.setDown()
	host := func(addr netip.Addr, h *fabric.Host) {
		table := codegen.TableHostV4
		if addr.Is6() {
			table = codegen.TableHostV6
		}
		r.insert(table, exact(addr.AsSlice()), call(codegen.ActionToHost, u64(uint64(h.Port)), h.MAC[:]))
	}
	for _, p := range r.sw.Ports {
		if p.Kind == fabric.HostPort {
			r.insert(codegen.TableIngressPort, exact(u64(uint64(p.Number))), call(codegen.ActionFromHost))
			r.insert(codegen.TableEgressPort, exact(u64(uint64(p.Number))), call(codegen.ActionSendToHost, r.sw.MAC[:]))
			for _, a := range p.Host.Addrs {
				host(a, p.Host)
				if a.Is4() {
					r.insert(codegen.TableARP, exact(a.AsSlice()), call(codegen.ActionARPReply, r.sw.MAC[:]))
				}
			}
			continue
		}
		var args [][]byte
		if r.f.Scheme.Probes() {
			group := uint64(0)
			if len(r.sw.ProbePorts(p.Number)) > 0 {
				group = uint64(codegen.ProbeGroup(p.Number))
			}
			args = [][]byte{u64(group), u64(uint64(codegen.UtilScale(p.Link.Rate, r.f.Timing)))}
		}
		r.insert(codegen.TableIngressPort, exact(u64(uint64(p.Number))), call(codegen.ActionFromFabric, args...))
		r.insert(codegen.TableEgressPort, exact(u64(uint64(p.Number))), call(codegen.ActionSendToFabric, r.sw.MAC[:], p.Peer.MAC[:]))
	}
	for _, leaf := range r.f.Leaves() {
		target := call(codegen.ActionToToR, u64(uint64(leaf.ToR)))
		if leaf == r.sw {
			target = call(codegen.ActionToLocal)
		}
		r.insert(codegen.TableRouteV4, lpm(leaf.Prefix4), target)
		r.insert(codegen.TableRouteV6, lpm(leaf.Prefix6), target)
	}
	r.insert(codegen.TableRouteV4, lpm(netip.PrefixFrom(r.sw.Gateway4, 32)), call(codegen.ActionToGateway))
	r.insert(codegen.TableRouteV6, lpm(netip.PrefixFrom(r.sw.Gateway6, 128)), call(codegen.ActionToGateway))
	if r.sw.Role == fabric.Leaf {
		r.insert(codegen.TableARP, exact(r.sw.Gateway4.AsSlice()), call(codegen.ActionARPReply, r.sw.MAC[:]))
	}
	for _, n := range codegen.NextHopsOf(r.f, r.sw) {
		r.insert(codegen.TableToRRoute, exact(u64(uint64(n.ToR))), call(codegen.ActionSetNextHops, u64(uint64(n.Group)), codegen.PortMap(r.f, n.Ports)))
	}
	if r.f.Scheme.Probes() {
		for _, g := range codegen.ProbeGroups(r.sw) {
			var replicas []simpleswitch.Replica
			for _, p := range g.Ports {
				replicas = append(replicas, simpleswitch.Replica{Port: p})
			}
			if err := r.s.SetMulticastGroup(uint32(g.ID), replicas); err != nil {
				r.t.Fatal(err)
			}
		}
	}
}

// send gives the switch a frame and returns what leaves at the same time.
func (r *rig) send(port uint32, frame []byte) []out {
	r.outs = r.outs[:0]
	r.s.Receive(int64(r.us)*1000, port, frame)
	r.s.Transmit(int64(r.us)*1000, func(port uint32, frame []byte) {
		r.outs = append(r.outs, out{port, bytes.Clone(frame)})
	})
	return r.outs
}

// one sends a frame and expects exactly one to leave.
func (r *rig) one(port uint32, frame []byte) out {
	r.t.Helper()
	outs := r.send(port, frame)
	if len(outs) != 1 {
		r.t.Fatalf("port %d: %d frames left, want 1; drops %s", port, len(outs), r.drops())
	}
	return outs[0]
}

// dropped sends a frame and expects it to be dropped for a reason.
func (r *rig) dropped(port uint32, frame []byte, want codegen.DropReason) {
	r.t.Helper()
	before := r.dropCount(want)
	if outs := r.send(port, frame); len(outs) != 0 || r.dropCount(want) != before+1 {
		r.t.Fatalf("%d frames left, want a drop as %v; drops %s", len(outs), want, r.drops())
	}
}

func (r *rig) dropCount(reason codegen.DropReason) uint64 {
	c, err := r.s.Counter(codegen.CounterIngressDrops, int(reason))
	if err != nil {
		r.t.Fatal(err)
	}
	return c.Packets
}

func (r *rig) drops() string {
	text := ""
	for i := range codegen.DropReasons {
		if n := r.dropCount(codegen.DropReason(i)); n > 0 {
			text += fmt.Sprintf(" %v=%d", codegen.DropReason(i), n)
		}
	}
	return text
}

func (r *rig) register(name string, index uint32) uint64 {
	r.t.Helper()
	v, err := r.s.RegisterUint(name, int(index))
	if err != nil {
		r.t.Fatal(err)
	}
	return v
}
