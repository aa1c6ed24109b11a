package pipeline

import (
	"fmt"

	"khop/bmv2/config"
)

// maxJumps bounds the backward and forward jumps of one run of an action.
const maxJumps = 1 << 16

type instr struct {
	fn stmt
	// jump, if set, gives the next instruction instead of fn; -1 goes on to the one after.
	jump func(*State) int
	prim *config.Primitive
}

type action struct {
	info   ActionInfo
	index  int
	params []param
	words  int // of all arguments
	code   []instr
	plain  []stmt // the code when it has no jumps
}

// run executes the action. args are its arguments, laid out as params say.
func (a *action) run(s *State, args []uint64) {
	s.args = args
	if s.in.tracer != nil {
		a.traced(s)
		return
	}
	if a.plain != nil {
		for _, f := range a.plain {
			f(s)
		}
		return
	}
	jumps := 0
	for pc := 0; pc < len(a.code); {
		c := &a.code[pc]
		pc++
		if c.jump == nil {
			c.fn(s)
			continue
		}
		if to := c.jump(s); to >= 0 {
			if jumps++; jumps > maxJumps {
				s.OverBudget = true
				return
			}
			pc = to
		}
	}
}

func (l *linker) linkActions() error {
	for i := range l.cfg.Actions {
		ca := &l.cfg.Actions[i]
		a := &action{index: i, info: ActionInfo{Name: ca.Name, ID: ca.ID}}
		for _, p := range ca.Params {
			k := max(1, words(p.Width))
			a.params = append(a.params, param{name: p.Name, off: a.words, words: k, width: p.Width})
			a.words += k
			a.info.Params = append(a.info.Params, ParamInfo(p))
		}
		if l.actionByID[ca.ID] != nil {
			return fmt.Errorf("action %q: id %d is taken by action %q", ca.Name, ca.ID, l.actionByID[ca.ID].info.Name)
		}
		l.actionByID[ca.ID] = a
		l.prog.actions = append(l.prog.actions, a)
		l.prog.actionInfos = append(l.prog.actionInfos, a.info)
		if err := l.linkCode(a, ca); err != nil {
			return fmt.Errorf("action %q: %w", ca.Name, err)
		}
	}
	return nil
}

func (l *linker) linkCode(a *action, ca *config.Action) error {
	e := &env{params: a.params}
	jumps := false
	for i := range ca.Primitives {
		p := &ca.Primitives[i]
		in, err := l.primitive(p, e, len(ca.Primitives))
		if err != nil {
			where := ""
			if p.Source.Line > 0 {
				where = fmt.Sprintf(" (%s:%d)", p.Source.File, p.Source.Line)
			}
			return fmt.Errorf("primitive %d, %s%s: %w", i, p.Op, where, err)
		}
		in.prim = p
		jumps = jumps || in.jump != nil
		a.code = append(a.code, in)
	}
	if !jumps {
		a.plain = []stmt{}
		for _, in := range a.code {
			a.plain = append(a.plain, in.fn)
		}
	}
	return nil
}
