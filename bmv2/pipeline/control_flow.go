package pipeline

import (
	"fmt"

	"khop/bmv2/config"
)

// ctrlNode is a node of a control: a table, a condition or the call of an action.
type ctrlNode struct {
	table   *tableProg
	cond    boolFn
	yes, no int // of cond
	act     *action
	next    int // of act
	name    string
	src     config.SourceInfo
}

// Ingress runs the ingress control.
func (p *Program) Ingress(s *State) { p.control(s, p.ingress) }

// Egress runs the egress control.
func (p *Program) Egress(s *State) { p.control(s, p.egress) }

// maxLoops bounds how many more nodes than it has a control may run: a loop in a program leads back to earlier nodes.
const maxLoops = 1 << 16

func (p *Program) control(s *State, n int) {
	for left := len(p.nodes) + maxLoops; n >= 0 && !s.Exit; left-- {
		if left == 0 {
			s.OverBudget = true
			return
		}
		c := &p.nodes[n]
		switch {
		case c.table != nil:
			n = c.table.apply(s)
		case c.cond != nil:
			yes := c.cond(s)
			if s.in.tracer != nil {
				s.traceCond(c, yes)
			}
			if n = c.no; yes {
				n = c.yes
			}
		default:
			c.act.run(s, nil)
			n = c.next
		}
		if s.OverBudget {
			return
		}
	}
}

func (l *linker) linkPipelines() error {
	p := l.prog
	p.ingress, p.egress = -1, -1
	for i := range l.cfg.Pipelines {
		for _, cp := range l.cfg.Pipelines[i].Profiles {
			pp := &profileProg{index: len(p.profiles), info: ProfileInfo{Name: cp.Name, ID: cp.ID, Size: cp.MaxSize,
				Selector: cp.Selector != nil}}
			if cp.Selector != nil {
				c, err := l.calculation(cp.Name, cp.Selector.Algo, cp.Selector.Input)
				if err != nil {
					return fmt.Errorf("action profile %q: %w", cp.Name, err)
				}
				pp.hash = c
			}
			if l.profiles[cp.Name] != nil {
				return fmt.Errorf("action profile %q is declared twice", cp.Name)
			}
			l.profiles[cp.Name] = pp
			p.profiles = append(p.profiles, pp)
		}
	}
	for i := range l.cfg.Pipelines {
		cp := &l.cfg.Pipelines[i]
		init, err := l.linkControl(cp)
		if err != nil {
			return fmt.Errorf("pipeline %q: %w", cp.Name, err)
		}
		switch cp.Name {
		case "ingress":
			p.ingress = init
		case "egress":
			p.egress = init
		}
	}
	return l.bindDirect()
}

func (l *linker) linkControl(cp *config.Pipeline) (int, error) {
	p := l.prog
	nodes := map[string]int{}
	add := func(n ctrlNode) error {
		if _, dup := nodes[n.name]; dup {
			return fmt.Errorf("node %q is declared twice", n.name)
		}
		nodes[n.name] = len(p.nodes)
		p.nodes = append(p.nodes, n)
		return nil
	}
	for i := range cp.Tables {
		ct := &cp.Tables[i]
		t, err := l.linkTable(ct, cp.Name)
		if err != nil {
			return 0, fmt.Errorf("table %q: %w", ct.Name, err)
		}
		if _, dup := p.tableByName[ct.Name]; dup {
			return 0, fmt.Errorf("table %q is declared twice", ct.Name)
		}
		p.tableByName[ct.Name] = t.index
		p.tables = append(p.tables, t)
		if err := add(ctrlNode{table: t, name: ct.Name, src: ct.Source}); err != nil {
			return 0, err
		}
	}
	for i := range cp.Conditionals {
		cc := &cp.Conditionals[i]
		f, err := l.boolean(cc.Expr, nil)
		if err != nil {
			return 0, fmt.Errorf("conditional %q: %w", cc.Name, err)
		}
		if err := add(ctrlNode{cond: f, name: cc.Name, src: cc.Source}); err != nil {
			return 0, err
		}
	}
	for i := range cp.ActionCalls {
		ca := &cp.ActionCalls[i]
		a := l.actionByID[ca.ActionID]
		if a == nil || len(a.params) > 0 {
			return 0, fmt.Errorf("action call %q: no action without parameters with id %d", ca.Name, ca.ActionID)
		}
		if err := add(ctrlNode{act: a, name: ca.Name}); err != nil {
			return 0, err
		}
	}
	find := func(from, name string) (int, error) {
		if name == "" {
			return -1, nil
		}
		n, ok := nodes[name]
		if !ok {
			return 0, fmt.Errorf("%s: no table, conditional or action call %q", from, name)
		}
		return n, nil
	}
	var err error
	for i := range cp.Tables {
		ct := &cp.Tables[i]
		t := p.nodes[nodes[ct.Name]].table
		if err = l.linkNext(t, ct, nodes); err == nil {
			err = l.linkEntries(t, ct)
		}
		if err != nil {
			return 0, fmt.Errorf("table %q: %w", ct.Name, err)
		}
		p.tableInfos = append(p.tableInfos, t.info)
	}
	for i := range cp.Conditionals {
		cc := &cp.Conditionals[i]
		n := &p.nodes[nodes[cc.Name]]
		if n.yes, err = find("conditional "+cc.Name, cc.TrueNext); err != nil {
			return 0, err
		}
		if n.no, err = find("conditional "+cc.Name, cc.FalseNext); err != nil {
			return 0, err
		}
	}
	for i := range cp.ActionCalls {
		n := &p.nodes[nodes[cp.ActionCalls[i].Name]]
		if n.next, err = find("action call "+n.name, cp.ActionCalls[i].Next); err != nil {
			return 0, err
		}
	}
	return find("init_table", cp.Init)
}

// bindDirect attaches direct counters and meters to their tables.
func (l *linker) bindDirect() error {
	p := l.prog
	find := func(what, name, table string) (int, error) {
		for i, t := range p.tables {
			if t.info.Name == table {
				return i, nil
			}
		}
		return 0, fmt.Errorf("direct %s %q: no table %q", what, name, table)
	}
	for _, c := range p.counters {
		if c.info.Table == "" {
			continue
		}
		i, err := find("counter", c.info.Name, c.info.Table)
		if err != nil {
			return err
		}
		p.tables[i].info.DirectCounter = c.info.Name
		p.tables[i].counted = true
		p.tableInfos[i].DirectCounter = c.info.Name
	}
	for _, m := range p.meters {
		if m.info.Table == "" {
			continue
		}
		i, err := find("meter", m.info.Name, m.info.Table)
		if err != nil {
			return err
		}
		d, err := l.dest(&config.Value{Kind: config.KindField, Names: [3]string{m.target[0], m.target[1]}}, nil)
		if err != nil {
			return fmt.Errorf("direct meter %q: result_target: %w", m.info.Name, err)
		}
		if d.h == nil || d.f.varbit || d.f.words > 1 {
			return fmt.Errorf("direct meter %q: result_target must be a field of at most 64 bits", m.info.Name)
		}
		slot, valid, mask := d.h.slot(d.f), d.h.base, ^uint64(0)>>uint(64-d.width)
		t := p.tables[i]
		t.meter, t.info.DirectMeter = m, m.info.Name
		p.tableInfos[i].DirectMeter = m.info.Name
		t.color = func(s *State, c uint64) {
			if s.W[valid] != 0 {
				s.W[slot] = c & mask
			}
		}
	}
	for i, t := range p.tables {
		p.tableInfos[i].Profile = t.info.Profile
	}
	return nil
}
