package bench

import (
	"os"
	"testing"

	p4v1 "github.com/p4lang/p4runtime/go/p4/v1"

	"khop/p4"
)

const reflect = `#include <core.p4>
#include <v1model.p4>
struct none {}
parser P(packet_in b, out none h, inout none m, inout standard_metadata_t s) { state start { transition accept; } }
control V(inout none h, inout none m) { apply {} }
control I(inout none h, inout none m, inout standard_metadata_t s) {
    apply { if (s.packet_length > 20) { s.egress_spec = s.ingress_port; } else { mark_to_drop(s); } }
}
control E(inout none h, inout none m, inout standard_metadata_t s) { apply {} }
control D(packet_out b, in none h) { apply {} }
V1Switch(P(), V(), I(), E(), V(), D()) main;
`

// TestRun: of a long and a short frame, the long one goes back and the short one is dropped.
func TestRun(t *testing.T) {
	c, list := p4.Compile("reflect.p4", []byte(reflect), p4.Options{ReadFile: os.ReadFile})
	if c == nil {
		t.Fatal(list)
	}
	o := Options{Config: &p4v1.ForwardingPipelineConfig{P4DeviceConfig: c.JSON, P4Info: c.P4Info}, Frames: [][]byte{make([]byte, 60), make([]byte, 20)}, InPort: 3, Packets: 1000}
	r, err := Run(o)
	if err != nil {
		t.Fatal(err)
	}
	if r.Packets != 1000 || len(r.Ports) != 1 || r.Ports[0] != (PortCount{3, 500}) || len(r.Drops) != 1 || r.Drops[0] != (DropCount{"ingress_drop", 500}) {
		t.Errorf("%+v", r)
	}
	o.Entries = &p4v1.WriteRequest{Updates: []*p4v1.Update{{}}}
	if _, err := Run(o); err == nil {
		t.Error("an empty update is accepted")
	}
	o.Frames = nil
	if _, err := Run(o); err == nil {
		t.Error("no frames are accepted")
	}
}
