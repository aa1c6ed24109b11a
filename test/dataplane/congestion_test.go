package dataplane

import (
	"testing"

	"khop/bmv2/simpleswitch"
	"khop/codegen"
)

// burst queues n packets for one host at once and returns their ECN fields as they leave, in order.
func burst(r *rig, n int, s segment) []uint8 {
	port := hostPort(r.f, s.dst)
	r.s.SetPort(port, simpleswitch.PortConfig{RatePPS: 1000}) // nothing leaves while the burst comes in
	for range n {
		r.s.Receive(int64(r.us)*1000, hostPort(r.f, s.src), s.frame())
	}
	var list []uint8
	for range n + 1 {
		r.us += 1000
		r.s.Transmit(int64(r.us)*1000, func(_ uint32, frame []byte) {
			if frame[12] == 0x08 {
				list = append(list, frame[15]&3)
				if checksum(frame[14:34]) != 0 {
					r.t.Error("IPv4 checksum is wrong")
				}
			} else {
				list = append(list, frame[15]>>4&3)
			}
		})
	}
	return list
}

func countCE(list []uint8) int {
	n := 0
	for _, e := range list {
		if e == 3 {
			n++
		}
	}
	return n
}

// TestECN: the i-th packet of a burst finds i packets queued (the first may be in transmission). DCTCP marks beyond K; RED with the formula's
// probability; Not-ECT is never marked.
func TestECN(t *testing.T) {
	f := shipped(t, "leafspine-2x4-hula")
	r := newRig(t, f, "leaf1")
	port := uint64(hostPort(f, ip("10.0.1.5")))
	set := func(kmin, kmax, slope uint64) {
		if h, err := r.s.FindEntry(codegen.TableECN, exact(u64(port)), 0); err == nil {
			if err := r.s.DeleteEntry(codegen.TableECN, h); err != nil {
				t.Fatal(err)
			}
		}
		r.insert(codegen.TableECN, exact(u64(port)), call(codegen.ActionSetECN, u64(kmin), u64(kmax), u64(slope)))
	}
	for _, c := range []struct{ src, dst string }{{"10.0.1.1", "10.0.1.5"}, {"fd00:1::1", "fd00:1::5"}} {
		ect := segment{src: ip(c.src), dst: ip(c.dst), ecn: 2, flags: 0x10}
		if n := countCE(burst(r, 30, ect)); n != 0 {
			t.Fatalf("%d marks without an entry", n)
		}
		set(5, 5, 0)
		list := burst(r, 30, ect)
		// One packet leaves at once or waits, by the model of the queue: the first five find at most K packets, the last 20 surely more.
		for i, e := range list {
			if i <= 5 && e == 3 || i >= 10 && e != 3 {
				t.Errorf("packet %d of the burst has ECN %d: %v", i, e, list)
				break
			}
		}
		set(0, 0, 0)
		if n := countCE(burst(r, 30, segment{src: ip(c.src), dst: ip(c.dst), ecn: 0, flags: 0x10})); n != 0 {
			t.Errorf("%d Not-ECT packets are marked", n)
		}
		if h, err := r.s.FindEntry(codegen.TableECN, exact(u64(port)), 0); err != nil || r.s.DeleteEntry(codegen.TableECN, h) != nil {
			t.Fatal(err)
		}
	}
	// RED between 0 and 40 packets with pmax 0.5: over bursts of 41 the mean is 0.5 * sum(0..40)/40 = 10.25 marks a burst.
	set(0, 40, 819) // 0.5 * 65536 / 40
	total, bursts := 0, 100
	for range bursts {
		total += countCE(burst(r, 41, segment{src: ip("10.0.1.1"), dst: ip("10.0.1.5"), ecn: 1, flags: 0x10}))
	}
	if mean := float64(total) / float64(bursts); mean < 8.5 || mean > 12 {
		t.Errorf("%.2f marks a burst, want about 10.25", mean)
	}
	c, err := r.s.Counter(codegen.CounterECNMarked, int(port))
	if err != nil || c.Packets < uint64(total) {
		t.Errorf("counter has %d marks, there were at least %d", c.Packets, total)
	}
}

// TestSelectiveDrop: beyond the threshold Non-ECT packets are dropped and counted, ECT packets are not.
func TestSelectiveDrop(t *testing.T) {
	f := shipped(t, "leafspine-2x4-ecmp")
	r := newRig(t, f, "leaf1")
	port := uint64(hostPort(f, ip("10.0.1.5")))
	s := segment{src: ip("10.0.1.1"), dst: ip("10.0.1.5"), flags: 0x10}
	if n := len(burst(r, 30, s)); n != 30 {
		t.Errorf("%d of 30 left without an entry", n)
	}
	r.insert(codegen.TableSelectiveDrop, exact(u64(port)), call(codegen.ActionSetDropThreshold, u64(4)))
	left := len(burst(r, 30, s))
	if left < 5 || left > 6 {
		t.Errorf("%d of 30 unscheduled packets left, want those that found at most 4", left)
	}
	c, err := r.s.Counter(codegen.CounterSelectiveDrops, int(port))
	if err != nil || c.Packets != uint64(30-left) {
		t.Errorf("counter has %d drops, there were %d", c.Packets, 30-left)
	}
	if c, err := r.s.Counter(codegen.CounterEgressDrops, int(codegen.DropSelective)); err != nil || c.Packets != uint64(30-left) {
		t.Errorf("reason counter has %d", c.Packets)
	}
	s.ecn = 2
	if n := len(burst(r, 30, s)); n != 30 {
		t.Errorf("%d of 30 scheduled packets left", n)
	}
}
