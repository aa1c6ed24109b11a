package p4rt

import (
	"fmt"

	p4v1 "github.com/p4lang/p4runtime/go/p4/v1"
	"google.golang.org/grpc/codes"
)

// decodeAction checks the parameters of an action (specification, section "Action Specification") and returns their
// values in P4Info order, big-endian of byteLen(width) bytes each.
func (a *actionInfo) decode(m *p4v1.Action) ([][]byte, error) {
	out := make([][]byte, len(a.params))
	for _, p := range m.GetParams() {
		i, ok := a.byID[p.GetParamId()]
		if !ok {
			return nil, errorf(codes.InvalidArgument, "action %s has no parameter with id %d; its parameters are: %s", a.name, p.GetParamId(), a.paramList())
		}
		f := &a.params[i]
		if out[i] != nil {
			return nil, errorf(codes.InvalidArgument, "action %s: parameter %s (%d) is given twice", a.name, f.name, f.id)
		}
		if f.sdn != "" {
			return nil, errorf(codes.Unimplemented, "action %s: parameter %s has type %q, which is translated to strings; that is not supported here", a.name, f.name, f.sdn)
		}
		v, err := appendValue(nil, p.GetValue(), f.width)
		if err != nil {
			// This section asks for INVALID_ARGUMENT where "Bytestrings" has OUT_OF_RANGE.
			return nil, errorf(codes.InvalidArgument, "action %s: parameter %s (%d): %s", a.name, f.name, f.id, err)
		}
		out[i] = v
	}
	for i, v := range out {
		if v == nil {
			return nil, errorf(codes.InvalidArgument, "action %s: parameter %s (%d) is missing; each of these must be given: %s", a.name, a.params[i].name, a.params[i].id, a.paramList())
		}
	}
	return out, nil
}

// encode is the canonical message of an action.
func (a *actionInfo) encode(values [][]byte) *p4v1.Action {
	m := &p4v1.Action{ActionId: a.id}
	for i, v := range values {
		m.Params = append(m.Params, &p4v1.Action_Param{ParamId: a.params[i].id, Value: canonical(v)})
	}
	return m
}

func (a *actionInfo) paramList() string {
	var names []string
	for _, p := range a.params {
		names = append(names, fmt.Sprintf("%s (%d, bit<%d>)", p.name, p.id, p.width))
	}
	return options(names)
}

// action finds an action of a table.
func (t *tableInfo) action(id uint32) (*actionRef, error) {
	if a := t.actions[id]; a != nil {
		return a, nil
	}
	return nil, errorf(codes.InvalidArgument, "action id %#x is none of this table's actions, which are: %s", id,
		idList(t.actions, func(r *actionRef) string { return r.name }))
}
