package pipeline

import (
	"fmt"

	"khop/bmv2/config"
)

type register struct {
	info  RegisterInfo
	index int
	words int // a cell
}

func (l *linker) register(name string) (*register, error) {
	r := l.registers[name]
	if r == nil {
		return nil, fmt.Errorf("no register array %q", name)
	}
	return r, nil
}

// at gives the words of a cell, nil (and a count) when the index is out of range.
func (r *register) at(idx *num) func(*State) []uint64 {
	i, k := r.index, r.words
	if r.info.Size == 0 {
		return func(s *State) []uint64 { s.in.BadIndex++; return nil }
	}
	if idx.u64() {
		low := idx.low
		if k == 1 {
			return func(s *State) []uint64 {
				cells, x := s.in.registers[i], low(s)
				if x >= uint64(len(cells)) {
					s.in.BadIndex++
					return nil
				}
				return cells[x : x+1]
			}
		}
	}
	at := countedIndex(idx, r.info.Size)
	return func(s *State) []uint64 {
		x := at(s)
		if x < 0 {
			return nil
		}
		return s.in.registers[i][x*k : x*k+k]
	}
}

// statePrimitive compiles the primitives that work on registers, counters and meters.
func (l *linker) statePrimitive(op string, a []*config.Value, e *env) (stmt, error) {
	switch op {
	case "register_read":
		return l.registerRead(a, e)
	case "register_write":
		r, err := l.register(a[0].Names[0])
		if err != nil {
			return nil, err
		}
		idx, err := l.num(a[1], e)
		if err != nil {
			return nil, err
		}
		n, err := l.num(strip(a[2], r.info.Width), e)
		if err != nil {
			return nil, err
		}
		return dest{width: r.info.Width, at: r.at(idx)}.store(n), nil
	case "count":
		c := l.counters[a[0].Names[0]]
		if a[0].Kind != config.KindCounter || c == nil {
			return nil, fmt.Errorf("no counter array %q", a[0].Names[0])
		}
		if c.info.Table != "" {
			return nil, fmt.Errorf("counter %q is direct, it counts by itself", c.info.Name)
		}
		idx, err := l.num(a[1], e)
		if err != nil {
			return nil, err
		}
		at, i := countedIndex(idx, c.info.Size), c.index
		return func(s *State) {
			if x := at(s); x >= 0 {
				s.in.counters[i][x].add(s.InLength)
			}
		}, nil
	case "execute_meter":
		m := l.meters[a[0].Names[0]]
		if a[0].Kind != config.KindMeter || m == nil {
			return nil, fmt.Errorf("no meter array %q", a[0].Names[0])
		}
		if m.info.Table != "" {
			return nil, fmt.Errorf("meter %q is direct, it runs by itself", m.info.Name)
		}
		idx, err := l.num(a[1], e)
		if err != nil {
			return nil, err
		}
		d, err := l.dest(a[2], e)
		if err != nil {
			return nil, err
		}
		at, i := countedIndex(idx, m.info.Size), m.index
		bytes := m.info.Bytes
		var color = &num{span: unsignedSpan(2), slot: -1, low: func(s *State) uint64 {
			return s.in.meters[i][s.in.meterCell].execute(s.Now, meterUnits(bytes, s.InLength))
		}}
		set := d.store(color)
		return func(s *State) {
			if x := at(s); x >= 0 {
				s.in.meterCell = x
				set(s)
			}
		}, nil
	}
	return nil, fmt.Errorf("unknown primitive")
}

func meterUnits(bytes bool, length int) uint64 {
	if bytes {
		return uint64(length)
	}
	return 1
}

func (l *linker) registerRead(a []*config.Value, e *env) (stmt, error) {
	r, err := l.register(a[1].Names[0])
	if err != nil {
		return nil, err
	}
	idx, err := l.num(a[2], e)
	if err != nil {
		return nil, err
	}
	d, err := l.dest(a[0], e)
	if err != nil {
		return nil, err
	}
	at := r.at(idx)
	if r.words == 1 && d.h != nil && d.h.meta && !d.f.varbit && d.f.words == 1 {
		slot, mask := d.h.slot(d.f), ^uint64(0)>>uint(64-d.width)
		return func(s *State) {
			if w := at(s); w != nil {
				s.W[slot] = w[0] & mask
			}
		}, nil
	}
	// The cell is looked up once: out of range leaves the destination as it is.
	set := d.store(wordsNum(r.info.Width, false, func(s *State) []uint64 { return s.in.cell }))
	return func(s *State) {
		if w := at(s); w != nil {
			s.in.cell = w
			set(s)
		}
	}, nil
}

func (c *Counter) add(length int) {
	c.Packets++
	c.Bytes += uint64(length)
}
