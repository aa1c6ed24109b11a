package dataplane

import (
	"testing"

	"khop/codegen"
	"khop/probe"
)

// BenchmarkLeaf and BenchmarkSpine forward 1000-byte packets on one core, no tracing.
func BenchmarkLeaf(b *testing.B) {
	for _, name := range []string{"leafspine-2x4-ecmp", "leafspine-2x4-hula", "leafspine-2x4-mp-hula"} {
		b.Run(name, func(b *testing.B) {
			r := newRig(b, shipped(b, name), "leaf1")
			s := segment{src: ip("10.0.1.1"), dst: ip("10.0.2.1"), srcPort: 40000, dstPort: 5001, flags: 0x10, options: unhex(b, "0101080a0102030405060708"), payload: make([]byte, 934)}
			forward(b, r, 5, s.frame())
		})
	}
	b.Run("mp-hula-marked", func(b *testing.B) {
		r := newRig(b, shipped(b, "leafspine-2x4-mp-hula"), "leaf1")
		s := segment{src: ip("10.0.1.1"), dst: ip("10.0.2.1"), srcPort: 40000, dstPort: 5001, flags: 0x10, payload: make([]byte, 934),
			options: unhex(b, "0101080a01020304050607081e1420050102030405060708000000010000000a")}
		src, dst := codegen.Addr128(s.src), codegen.Addr128(s.dst)
		r.insert(codegen.TableMPTCPFlow, exact(src[:], dst[:], u64(40000), u64(5001)), call(codegen.ActionSetFlow, u64(connID), u64(1), u64(0)))
		r.insert(codegen.TableMPTCPConn, exact(u64(connID)), call(codegen.ActionSetConn, u64(3), u64(0)))
		forward(b, r, 5, s.frame())
	})
}

func BenchmarkSpine(b *testing.B) {
	for _, name := range []string{"leafspine-2x4-ecmp", "leafspine-2x4-hula", "leafspine-2x4-mp-hula"} {
		b.Run(name, func(b *testing.B) {
			r := newRig(b, shipped(b, name), "spine1")
			s := segment{src: ip("10.0.1.1"), dst: ip("10.0.2.1"), srcPort: 40000, dstPort: 5001, flags: 0x10, payload: make([]byte, 946)}
			if name == "leafspine-2x4-mp-hula" {
				s.mark = &probe.Mark{ID: connID, Subflow: 1}
			}
			forward(b, r, 1, s.frame())
		})
	}
}

// forward sends the same packet again and again; a probe by each port keeps the slots fresh.
func forward(b *testing.B, r *rig, port uint32, frame []byte) {
	sent := 0
	count := func(uint32, []byte) { sent++ }
	tick := func() {
		for p := range r.sw.FabricPorts() {
			r.s.Receive(int64(r.us)*1000, uint32(p+1), probeFrame(2, 0, uint32(r.us)))
			r.s.Transmit(int64(r.us)*1000, count)
		}
	}
	if r.f.Scheme.Probes() {
		tick()
	}
	sent = 0
	b.ReportAllocs()
	b.SetBytes(int64(len(frame)))
	for i := 0; b.Loop(); i++ {
		r.us++
		if r.f.Scheme.Probes() && i%500 == 499 {
			tick()
		}
		r.s.Receive(int64(r.us)*1000, port, frame)
		r.s.Transmit(int64(r.us)*1000, count)
	}
	if sent == 0 {
		b.Fatal("nothing left the switch")
	}
}
