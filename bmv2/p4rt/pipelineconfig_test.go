package p4rt

import (
	"bytes"
	"strings"
	"testing"

	configv1 "github.com/p4lang/p4runtime/go/p4/config/v1"
	p4v1 "github.com/p4lang/p4runtime/go/p4/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

const (
	verify    = p4v1.SetForwardingPipelineConfigRequest_VERIFY
	save      = p4v1.SetForwardingPipelineConfigRequest_VERIFY_AND_SAVE
	replace   = p4v1.SetForwardingPipelineConfigRequest_VERIFY_AND_COMMIT
	commit    = p4v1.SetForwardingPipelineConfigRequest_COMMIT
	reconcile = p4v1.SetForwardingPipelineConfigRequest_RECONCILE_AND_COMMIT
)

func (l *lab) getConfig(t p4v1.GetForwardingPipelineConfigRequest_ResponseType) *p4v1.ForwardingPipelineConfig {
	l.t.Helper()
	r, err := l.client.GetForwardingPipelineConfig(l.t.Context(), &p4v1.GetForwardingPipelineConfigRequest{DeviceId: deviceID, ResponseType: t})
	if err != nil {
		l.t.Fatal(err)
	}
	return r.GetConfig()
}

func (l *lab) expectConfig(t p4v1.GetForwardingPipelineConfigRequest_ResponseType, want *p4v1.ForwardingPipelineConfig) {
	l.t.Helper()
	if got := l.getConfig(t); !proto.Equal(got, want) {
		l.t.Fatalf("%v: got another config than was set", t)
	}
}

func TestGetPipeline(t *testing.T) {
	l := newLab(t)
	l.expectConfig(p4v1.GetForwardingPipelineConfigRequest_ALL, nil)
	l.primary()
	c := miniConfig(t)
	l.expectConfig(p4v1.GetForwardingPipelineConfigRequest_ALL, c)
	l.expectConfig(p4v1.GetForwardingPipelineConfigRequest_COOKIE_ONLY, &p4v1.ForwardingPipelineConfig{Cookie: c.Cookie})
	l.expectConfig(p4v1.GetForwardingPipelineConfigRequest_P4INFO_AND_COOKIE, &p4v1.ForwardingPipelineConfig{Cookie: c.Cookie, P4Info: c.P4Info})
	l.expectConfig(p4v1.GetForwardingPipelineConfigRequest_DEVICE_CONFIG_AND_COOKIE, &p4v1.ForwardingPipelineConfig{Cookie: c.Cookie, P4DeviceConfig: c.P4DeviceConfig})
	c.Cookie = nil
	l.pipeline(replace, c, codes.OK)
	l.expectConfig(p4v1.GetForwardingPipelineConfigRequest_ALL, c)
	_, err := l.client.GetForwardingPipelineConfig(t.Context(), &p4v1.GetForwardingPipelineConfigRequest{DeviceId: deviceID, ResponseType: 9})
	if status.Code(err) != codes.InvalidArgument {
		t.Errorf("response type 9: %v", err)
	}
}

func TestPipelineActions(t *testing.T) {
	l := newLab(t)
	s := l.open()
	l.pipeline(verify, miniConfig(t), codes.PermissionDenied)
	s.arbitrate("", id(1))
	s.expect(codes.OK, id(1))
	for _, a := range []p4v1.SetForwardingPipelineConfigRequest_Action{verify, save, replace, reconcile} {
		l.pipeline(a, nil, codes.InvalidArgument)
	}
	l.pipeline(0, miniConfig(t), codes.InvalidArgument)
	l.pipeline(commit, nil, codes.NotFound)
	l.pipeline(commit, miniConfig(t), codes.InvalidArgument)

	l.pipeline(verify, miniConfig(t), codes.OK)
	l.expectConfig(0, nil)
	l.pipeline(replace, miniConfig(t), codes.OK)
	l.write(populate()...)
	l.pipeline(replace, miniConfig(t), codes.OK) // clears the forwarding state
	l.reads(&p4v1.TableEntry{TableId: tMac})
	l.reads(&p4v1.DigestEntry{})

	// VERIFY_AND_SAVE leaves the switch as it is; requests refer to the new config, until COMMIT replays them.
	l.write(insert(mac(mac1, tact(aFwd, "\x01"))))
	other := miniConfig(t)
	other.Cookie.Cookie = 43
	l.pipeline(save, other, codes.OK)
	l.expectConfig(0, other)
	l.reads(&p4v1.TableEntry{TableId: tMac})
	l.write(insert(mac(mac1, tact(aFwd, "\x02"))))
	f := eth(mac1, mac3, ipv4, "x")
	l.send(4, f)
	l.sent(1, f)
	l.pipeline(commit, nil, codes.OK)
	l.send(4, f)
	l.sent(2, f)
	l.reads(&p4v1.TableEntry{TableId: tMac}, mac(mac1, tact(aFwd, "\x02")))
	l.pipeline(commit, nil, codes.NotFound)
	l.expectConfig(0, other)
	if st := l.agent.Stats(); st.Pipelines != 3 {
		t.Errorf("stats %+v", st)
	}
}

func TestReconcileKeepsTheForwardingState(t *testing.T) {
	l := newLab(t)
	l.primary()
	l.write(populate()...)
	before := l.snapshot()
	larger := miniConfig(t)
	larger.P4DeviceConfig = bytes.Replace(larger.P4DeviceConfig, []byte(`"max_size": 8`), []byte(`"max_size": 9`), 1)
	if bytes.Equal(larger.P4DeviceConfig, miniConfig(t).P4DeviceConfig) {
		t.Fatal("the config has not changed")
	}
	l.pipeline(reconcile, larger, codes.OK)
	l.expectConfig(0, larger)
	if got := l.snapshot(); !proto.Equal(got, before) {
		t.Errorf("got  %v\nwant %v", got, before)
	}
	// A table that holds entries is gone: the state cannot be kept, and nothing changes.
	smaller := miniConfig(t)
	smaller.P4Info.Tables = smaller.P4Info.Tables[:1]
	smaller.P4Info.DirectMeters = nil
	err := l.pipeline(reconcile, smaller, codes.InvalidArgument)
	if !strings.Contains(err.Error(), "cannot be preserved") {
		t.Errorf("error %v", err)
	}
	l.expectConfig(0, larger)
	if got := l.snapshot(); !proto.Equal(got, before) {
		t.Errorf("got  %v\nwant %v", got, before)
	}
}

func TestBadPipelines(t *testing.T) {
	l := newLab(t)
	l.primary()
	for _, c := range []struct {
		name string
		f    func(*p4v1.ForwardingPipelineConfig)
		want string
	}{
		{"no P4Info", func(c *p4v1.ForwardingPipelineConfig) { c.P4Info = nil }, "no P4Info"},
		{"no device config", func(c *p4v1.ForwardingPipelineConfig) { c.P4DeviceConfig = nil }, "no p4_device_config"},
		{"no JSON", func(c *p4v1.ForwardingPipelineConfig) { c.P4DeviceConfig = []byte("{") }, "no bmv2 JSON that can be loaded"},
		{"other program", func(c *p4v1.ForwardingPipelineConfig) {
			for _, t := range c.P4Info.Tables {
				t.Preamble.Name = "x." + t.Preamble.Name
			}
		}, "belong to different programs: they share no table; P4Info has x.ing.mac"},
		{"width", func(c *p4v1.ForwardingPipelineConfig) { c.P4Info.Tables[0].MatchFields[0].Bitwidth = 47 }, `table "ing.mac": P4Info and device config differ: match field eth.dst has 47 bits in P4Info and 48 in the device config`},
		{"kind", func(c *p4v1.ForwardingPipelineConfig) {
			c.P4Info.Tables[0].MatchFields[0].Match = &configv1.MatchField_MatchType_{MatchType: configv1.MatchField_LPM}
		}, "is lpm in P4Info and exact in the device config"},
		{"key", func(c *p4v1.ForwardingPipelineConfig) { c.P4Info.Tables[0].MatchFields = nil }, "0 fields in P4Info and 1"},
		{"parameters", func(c *p4v1.ForwardingPipelineConfig) { c.P4Info.Actions[1].Params = nil }, "action ing.fwd has 0 parameters in P4Info and 1"},
		{"profile", func(c *p4v1.ForwardingPipelineConfig) { c.P4Info.Tables[2].ImplementationId = 0 }, "only one of them gives the table an action profile"},
		{"selector", func(c *p4v1.ForwardingPipelineConfig) { c.P4Info.ActionProfiles[0].WithSelector = false }, "differ about its selector"},
		{"digest", func(c *p4v1.ForwardingPipelineConfig) {
			c.P4Info.TypeInfo.Structs["mac_learn_t"].Members = c.P4Info.TypeInfo.Structs["mac_learn_t"].Members[:1]
		}, `digest "mac_learn" has 1 fields in P4Info and 2`},
		{"id zero", func(c *p4v1.ForwardingPipelineConfig) { c.P4Info.Counters[0].Preamble.Id = 0 }, `counter "ing.cnt" has no id`},
		{"id twice", func(c *p4v1.ForwardingPipelineConfig) { c.P4Info.Counters[0].Preamble.Id = tMac }, `table "ing.mac" and counter "ing.cnt" have the same id`},
		{"no name", func(c *p4v1.ForwardingPipelineConfig) { c.P4Info.Counters[0].Preamble.Name = "" }, "has no name"},
		{"field id", func(c *p4v1.ForwardingPipelineConfig) { c.P4Info.Tables[1].MatchFields[1].Id = 1 }, "zero or taken"},
		{"match type", func(c *p4v1.ForwardingPipelineConfig) { c.P4Info.Tables[1].MatchFields[1].Match = nil }, "EXACT, LPM, TERNARY, RANGE, OPTIONAL"},
		{"action ref", func(c *p4v1.ForwardingPipelineConfig) { c.P4Info.Actions = c.P4Info.Actions[1:] }, "refers to an action with id 0x1000000"},
		{"implementation", func(c *p4v1.ForwardingPipelineConfig) { c.P4Info.ActionProfiles = nil }, "which is no action profile"},
		{"direct counter", func(c *p4v1.ForwardingPipelineConfig) { c.P4Info.DirectCounters[0].DirectTableId = 1 }, "names no table"},
		{"direct meter", func(c *p4v1.ForwardingPipelineConfig) { c.P4Info.DirectMeters[0].DirectTableId = 1 }, "names no table"},
		{"header name", func(c *p4v1.ForwardingPipelineConfig) { c.P4Info.ControllerPacketMetadata[0].Preamble.Name = "x" }, `"packet_in" and "packet_out"`},
		{"header bytes", func(c *p4v1.ForwardingPipelineConfig) { c.P4Info.ControllerPacketMetadata[0].Metadata[0].Bitwidth = 8 }, "15 bits; it must be whole bytes"},
		{"type", func(c *p4v1.ForwardingPipelineConfig) { c.P4Info.TypeInfo = nil }, `there is no struct "mac_learn_t"`},
		{"bit width", func(c *p4v1.ForwardingPipelineConfig) { c.P4Info.Actions[1].Params[0].Bitwidth = -1 }, "must be at least 1"},
	} {
		cfg := miniConfig(t)
		c.f(cfg)
		_, err := l.client.SetForwardingPipelineConfig(t.Context(), &p4v1.SetForwardingPipelineConfigRequest{DeviceId: deviceID, ElectionId: id(1), Action: replace, Config: cfg})
		if s := status.Convert(err); s.Code() != codes.InvalidArgument || !strings.Contains(s.Message(), c.want) {
			t.Errorf("%s: %v, want INVALID_ARGUMENT with %q", c.name, err, c.want)
		}
	}
	l.expectConfig(0, miniConfig(t)) // all of them changed nothing
}
