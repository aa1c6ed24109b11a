package p4rt

import (
	"context"
	"fmt"

	p4v1 "github.com/p4lang/p4runtime/go/p4/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"khop/bmv2/config"
	"khop/bmv2/pipeline"
	"khop/bmv2/simpleswitch"
)

// SetForwardingPipelineConfig implements P4Runtime. The device config is bmv2 JSON.
func (s *Server) SetForwardingPipelineConfig(_ context.Context, r *p4v1.SetForwardingPipelineConfigRequest) (*p4v1.SetForwardingPipelineConfigResponse, error) {
	a, err := s.agent(r.GetDeviceId())
	if err != nil {
		return nil, err
	}
	done, err := a.arb.beginWrite(r.GetRole(), r.GetElectionId())
	if err != nil {
		return nil, err
	}
	defer done()
	a.requests.Lock()
	defer a.requests.Unlock()
	if err := a.setPipeline(r); err != nil {
		return nil, status.Error(codeOf(err), err.Error())
	}
	return &p4v1.SetForwardingPipelineConfigResponse{}, nil
}

// GetForwardingPipelineConfig implements P4Runtime.
func (s *Server) GetForwardingPipelineConfig(_ context.Context, r *p4v1.GetForwardingPipelineConfigRequest) (*p4v1.GetForwardingPipelineConfigResponse, error) {
	a, err := s.agent(r.GetDeviceId())
	if err != nil {
		return nil, err
	}
	a.requests.RLock()
	defer a.requests.RUnlock()
	st := a.current()
	if st == nil {
		return &p4v1.GetForwardingPipelineConfigResponse{}, nil
	}
	c := &p4v1.ForwardingPipelineConfig{Cookie: st.config.Cookie}
	switch t := r.GetResponseType(); t {
	case p4v1.GetForwardingPipelineConfigRequest_ALL:
		c = st.config
	case p4v1.GetForwardingPipelineConfigRequest_COOKIE_ONLY:
	case p4v1.GetForwardingPipelineConfigRequest_P4INFO_AND_COOKIE:
		c.P4Info = st.config.P4Info
	case p4v1.GetForwardingPipelineConfigRequest_DEVICE_CONFIG_AND_COOKIE:
		c.P4DeviceConfig = st.config.P4DeviceConfig
	default:
		return nil, status.Errorf(codes.InvalidArgument, "response_type %d is unknown; the valid ones are ALL, COOKIE_ONLY, P4INFO_AND_COOKIE and DEVICE_CONFIG_AND_COOKIE", t)
	}
	return &p4v1.GetForwardingPipelineConfigResponse{Config: c}, nil
}

// Apply applies the updates of a request without a client, as Write does for a primary; device, role and election id are
// not looked at. The error is that of the first update that failed. It must not be called inside Do.
func (a *Agent) Apply(r *p4v1.WriteRequest) error {
	a.requests.Lock()
	defer a.requests.Unlock()
	errs, err := a.write(r)
	if err != nil {
		return err
	}
	for i, e := range errs {
		if e != nil {
			return fmt.Errorf("update %d: %w", i, e)
		}
	}
	return nil
}

// Install sets the pipeline without a client, as VERIFY_AND_COMMIT does. It must not be called inside Do.
func (a *Agent) Install(c *p4v1.ForwardingPipelineConfig) error {
	a.requests.Lock()
	defer a.requests.Unlock()
	st, err := a.verify(c)
	if err != nil {
		return err
	}
	return a.commit(st, nil)
}

func (a *Agent) setPipeline(r *p4v1.SetForwardingPipelineConfigRequest) error {
	action := r.GetAction()
	switch action {
	case p4v1.SetForwardingPipelineConfigRequest_COMMIT:
		if r.GetConfig() != nil {
			return errorf(codes.InvalidArgument, "COMMIT takes no config; it realizes the one that VERIFY_AND_SAVE saved")
		}
		if a.saved == nil {
			return errorf(codes.NotFound, "there is no saved config to commit; save one with VERIFY_AND_SAVE first")
		}
		return a.commit(a.saved, a.saved.carry(a.saved))
	case p4v1.SetForwardingPipelineConfigRequest_VERIFY,
		p4v1.SetForwardingPipelineConfigRequest_VERIFY_AND_SAVE,
		p4v1.SetForwardingPipelineConfigRequest_VERIFY_AND_COMMIT,
		p4v1.SetForwardingPipelineConfigRequest_RECONCILE_AND_COMMIT:
	default:
		return errorf(codes.InvalidArgument, "action %s; the valid ones are VERIFY, VERIFY_AND_SAVE, VERIFY_AND_COMMIT, COMMIT and RECONCILE_AND_COMMIT", action)
	}
	st, err := a.verify(r.GetConfig())
	if err != nil {
		return err
	}
	switch action {
	case p4v1.SetForwardingPipelineConfigRequest_VERIFY_AND_SAVE:
		a.target.Do(func(*simpleswitch.Switch, int64) { a.saved = st })
	case p4v1.SetForwardingPipelineConfigRequest_VERIFY_AND_COMMIT:
		return a.commit(st, nil)
	case p4v1.SetForwardingPipelineConfigRequest_RECONCILE_AND_COMMIT:
		return a.reconcile(st)
	}
	return nil
}

// verify checks a config and binds it on a switch of its own. Its errors are INVALID_ARGUMENT.
func (a *Agent) verify(c *p4v1.ForwardingPipelineConfig) (*state, error) {
	if c == nil {
		return nil, errorf(codes.InvalidArgument, "the config is missing")
	}
	if c.GetP4Info() == nil {
		return nil, errorf(codes.InvalidArgument, "the config has no P4Info")
	}
	if len(c.GetP4DeviceConfig()) == 0 {
		return nil, errorf(codes.InvalidArgument, "the config has no p4_device_config; it must be the bmv2 JSON of the program")
	}
	in, err := newInfo(c.GetP4Info())
	if err != nil {
		return nil, err
	}
	parsed, err := config.Parse(c.GetP4DeviceConfig())
	if err != nil {
		return nil, errorf(codes.InvalidArgument, "p4_device_config is no bmv2 JSON that can be loaded: %s", err)
	}
	prog, err := pipeline.Link(parsed)
	if err != nil {
		return nil, errorf(codes.InvalidArgument, "p4_device_config cannot be realized: %s", err)
	}
	sw, err := a.target.Detached(prog)
	if err != nil {
		return nil, errorf(codes.InvalidArgument, "p4_device_config cannot be realized: %s", err)
	}
	st, err := newState(in, proto.CloneOf(c), prog, sw)
	if err != nil {
		return nil, errorf(codes.InvalidArgument, "%s", err)
	}
	return st, nil
}

// commit makes a verified pipeline the active one: the switch of the device gets its program, fresh, and then the updates,
// which have succeeded on the state's own switch.
func (a *Agent) commit(st *state, updates []*p4v1.Update) error {
	var err error
	a.target.Do(func(_ *simpleswitch.Switch, now int64) {
		var sw *simpleswitch.Switch
		if sw, err = a.target.Load(st.prog); err != nil {
			err = errorf(codes.Internal, "loading the program: %s", err)
			return
		}
		var fresh *state
		if fresh, err = newState(st.info, st.config, st.prog, sw); err != nil {
			return
		}
		if a.active != nil {
			for _, ds := range a.active.byDigest {
				if ds != nil {
					ds.drop(&a.stats)
				}
			}
		}
		a.active, a.saved = fresh, nil
		x := &txn{target: a.target, now: now}
		for _, u := range updates {
			if err = a.apply(fresh, x, u); err != nil {
				err = wrap(err, "replaying the entries")
				return
			}
		}
		a.stats.update(func(s *Stats) { s.Pipelines++ })
	})
	return err
}

// reconcile commits a pipeline and keeps the forwarding state. It is tried on the switch of the new state first, so that a
// state that cannot be kept changes nothing.
func (a *Agent) reconcile(st *state) error {
	old := a.current()
	if old == nil {
		return a.commit(st, nil)
	}
	var updates []*p4v1.Update
	var err error
	a.target.Do(func(_ *simpleswitch.Switch, now int64) {
		updates = old.carry(st)
		x := &txn{target: a.target, now: now}
		for _, u := range updates {
			if err = a.apply(st, x, u); err != nil {
				err = errorf(codes.InvalidArgument, "the forwarding state cannot be preserved under the new config: %s", err)
				return
			}
		}
	})
	if err != nil {
		return err
	}
	return a.commit(st, updates)
}
