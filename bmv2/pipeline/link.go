package pipeline

import (
	"errors"
	"fmt"

	"khop/bmv2/config"
)

// Program is a linked program. It is immutable.
type Program struct {
	name        string
	headers     []*header
	words       int
	metaWords   int // metadata is W[:metaWords]
	headroom    int
	initial     []uint64
	errors      [numErrors]uint32
	parser      *parser
	deparser    *deparser
	verify      []checksum
	update      []checksum
	actions     []*action
	actionInfos []ActionInfo
	tables      []*tableProg
	tableInfos  []TableInfo
	profiles    []*profileProg
	registers   []*register
	counters    []*counterProg
	meters      []*meterProg
	valueSets   []ValueSetInfo
	setUses     []setUse
	tableByName map[string]int
	digests     []DigestInfo
	digestVals  [][]wideFn
	lists       map[int]fieldList
	nodes       []ctrlNode
	ingress     int
	egress      int
	std         map[string]FieldRef
	errorNames  map[uint32]string
}

type fieldList struct{ slots []slotRange }

type slotRange struct{ at, n int }

type linker struct {
	cfg         *config.Config
	prog        *Program
	types       map[string]*headerType
	headers     map[string]*header
	stacks      map[string]*stack
	unions      map[string]*union
	unionStacks map[string]*unionStack
	aliases     map[string][2]string
	calcs       map[string]*calculation
	registers   map[string]*register
	counters    map[string]*counterProg
	meters      map[string]*meterProg
	valueSets   map[string]int
	profiles    map[string]*profileProg
	actionByID  map[int]*action
}

// Link resolves a configuration. Errors name the object and what is wrong with it.
func Link(c *config.Config) (*Program, error) {
	if c == nil {
		return nil, errors.New("no configuration")
	}
	l := &linker{cfg: c, prog: &Program{name: c.Name, lists: map[int]fieldList{}, tableByName: map[string]int{},
		errorNames: map[uint32]string{}},
		types: map[string]*headerType{}, headers: map[string]*header{}, stacks: map[string]*stack{},
		unions: map[string]*union{}, unionStacks: map[string]*unionStack{}, aliases: map[string][2]string{},
		calcs: map[string]*calculation{}, registers: map[string]*register{}, counters: map[string]*counterProg{},
		meters: map[string]*meterProg{}, valueSets: map[string]int{}, profiles: map[string]*profileProg{},
		actionByID: map[int]*action{}}
	for _, step := range []func() error{l.linkLayout, l.linkStd, l.linkErrors, l.linkArrays, l.linkLists, l.linkCalcs,
		l.linkChecksums, l.linkActions, l.linkParsers, l.linkPipelines} {
		if err := step(); err != nil {
			return nil, fmt.Errorf("linking: %w", err)
		}
	}
	return l.prog, nil
}

func (l *linker) linkErrors() error {
	byName := map[string]uint32{}
	var unused uint32
	for _, e := range l.cfg.Errors {
		byName[e.Name] = uint32(e.Value)
		unused = max(unused, uint32(e.Value)+1)
		l.prog.errorNames[uint32(e.Value)] = e.Name
	}
	for i, name := range coreErrors {
		v, ok := byName[name]
		if !ok {
			v = uint32(i)
			if len(byName) > 0 {
				v = unused
				unused++
			}
			l.prog.errorNames[v] = name
		}
		l.prog.errors[i] = v
	}
	return nil
}

// maxState bounds the memory that the arrays of one program may ask for, in 64-bit words.
const maxState = 1 << 27

func (l *linker) linkArrays() error {
	p := l.prog
	total := 0
	for _, r := range l.cfg.Registers {
		total += r.Size * words(r.Width)
	}
	for _, c := range l.cfg.Counters {
		total += 2 * c.Size
	}
	for _, m := range l.cfg.Meters {
		total += 10 * m.Size
	}
	if total > maxState {
		return fmt.Errorf("registers, counters and meters take %d bytes, at most %d are supported", 8*total, 8*maxState)
	}
	for _, cr := range l.cfg.Registers {
		r := &register{info: RegisterInfo{Name: cr.Name, ID: cr.ID, Size: cr.Size, Width: cr.Width},
			index: len(p.registers), words: words(cr.Width)}
		if l.registers[cr.Name] != nil {
			return fmt.Errorf("register array %q is declared twice", cr.Name)
		}
		l.registers[cr.Name] = r
		p.registers = append(p.registers, r)
	}
	for _, cc := range l.cfg.Counters {
		c := &counterProg{info: CounterInfo{Name: cc.Name, ID: cc.ID, Size: cc.Size}, index: len(p.counters)}
		if cc.Direct {
			c.info.Size, c.info.Table = 0, cc.Binding
		}
		if l.counters[cc.Name] != nil {
			return fmt.Errorf("counter array %q is declared twice", cc.Name)
		}
		l.counters[cc.Name] = c
		p.counters = append(p.counters, c)
	}
	for _, cm := range l.cfg.Meters {
		m := &meterProg{info: MeterInfo{Name: cm.Name, ID: cm.ID, Size: cm.Size, Bytes: cm.Bytes}, index: len(p.meters),
			target: cm.Target}
		if cm.Direct {
			m.info.Size, m.info.Table = 0, cm.Binding
		}
		if l.meters[cm.Name] != nil {
			return fmt.Errorf("meter array %q is declared twice", cm.Name)
		}
		l.meters[cm.Name] = m
		p.meters = append(p.meters, m)
	}
	for _, vs := range l.cfg.ValueSets {
		if _, dup := l.valueSets[vs.Name]; dup {
			return fmt.Errorf("value set %q is declared twice", vs.Name)
		}
		l.valueSets[vs.Name] = len(p.valueSets)
		p.valueSets = append(p.valueSets, ValueSetInfo{Name: vs.Name, ID: vs.ID, Width: vs.Width})
	}
	return nil
}

func (l *linker) linkLists() error {
	for _, cl := range l.cfg.FieldLists {
		var fl fieldList
		for i := range cl.Elements {
			v := &cl.Elements[i]
			switch v.Kind {
			case config.KindField:
				h, f, err := l.lookupField(v.Names[0], v.Names[1])
				if err != nil {
					return fmt.Errorf("field list %q: %w", cl.Name, err)
				}
				if f != nil {
					n := f.words
					if f.varbit {
						n++
					}
					fl.slots = append(fl.slots, slotRange{h.slot(f), n})
				}
			case config.KindHeader:
				h := l.headers[v.Names[0]]
				if h == nil {
					return fmt.Errorf("field list %q: no header %q", cl.Name, v.Names[0])
				}
				fl.slots = append(fl.slots, slotRange{h.base, h.typ.words})
			}
		}
		l.prog.lists[cl.ID] = fl
	}
	for _, cl := range l.cfg.LearnLists {
		d := DigestInfo{Name: cl.Name, ID: cl.ID}
		var vals []wideFn
		for i := range cl.Elements {
			v := &cl.Elements[i]
			n, err := l.num(v, nil)
			if err != nil {
				return fmt.Errorf("learn list %q: %w", cl.Name, err)
			}
			p := ParamInfo{Name: v.Names[0] + "." + v.Names[1], Width: max(1, n.hi.BitLen())}
			if n.lo.Sign() < 0 {
				p.Width++
			}
			if v.Kind == config.KindConst && v.Width > 0 {
				p.Width = v.Width
			}
			d.Fields = append(d.Fields, p)
			vals = append(vals, n.into())
		}
		l.prog.digests = append(l.prog.digests, d)
		l.prog.digestVals = append(l.prog.digestVals, vals)
	}
	return nil
}

func (l *linker) linkParsers() error {
	p := l.prog
	p.parser = &parser{init: -1}
	p.deparser = &deparser{}
	for i := range l.cfg.Parsers {
		cp := &l.cfg.Parsers[i]
		ps, err := l.linkParser(cp)
		if err != nil {
			return fmt.Errorf("parser %q: %w", cp.Name, err)
		}
		if cp.Name == "parser" || len(l.cfg.Parsers) == 1 {
			p.parser = ps
		}
	}
	for i := range l.cfg.Deparsers {
		cd := &l.cfg.Deparsers[i]
		if cd.Name != "deparser" && len(l.cfg.Deparsers) > 1 {
			continue
		}
		d, err := l.linkDeparser(cd)
		if err != nil {
			return fmt.Errorf("deparser %q: %w", cd.Name, err)
		}
		p.deparser = d
	}
	return nil
}
