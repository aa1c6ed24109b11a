package controlplane

import (
	"context"
	"errors"
	"fmt"

	p4v1 "github.com/p4lang/p4runtime/go/p4/v1"
)

// Apply carries out a plan: the pipeline first, then the changes in order.
func (c *Controller) Apply(ctx context.Context, p *Plan) error {
	if p.Pipeline {
		if err := p.session.client.SetPipeline(ctx, p.session.prog.Config()); err != nil {
			return fmt.Errorf("%s: %w", p.Switch, err)
		}
		c.mptcp.forget(p.session.sw)
	}
	updates := make([]*p4v1.Update, len(p.Changes))
	for i := range p.Changes {
		updates[i] = p.Changes[i].up
	}
	err := p.session.client.Write(ctx, updates)
	var batch *BatchError
	if errors.As(err, &batch) {
		err = p.retry(ctx, batch)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", p.Switch, err)
	}
	return nil
}

// retry tries the second way of those failed changes that have one. The rest stays an error that tells the change.
func (p *Plan) retry(ctx context.Context, batch *BatchError) error {
	var again []*p4v1.Update
	for _, f := range batch.Failed {
		ch := &p.Changes[f.Index]
		if ch.or == nil {
			return fmt.Errorf("%c %s: %v: %s", ch.Op, ch.What, f.Code, f.Message)
		}
		again = append(again, ch.or)
	}
	return p.session.client.Write(ctx, again)
}

// Push plans and applies all connected switches, and starts the live knobs from the spec's values.
func (c *Controller) Push(ctx context.Context) ([]*Plan, error) {
	plans, err := c.PlanAll(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range plans {
		if err := c.Apply(ctx, p); err != nil {
			return plans, err
		}
	}
	return plans, nil
}
