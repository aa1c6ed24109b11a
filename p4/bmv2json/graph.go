package bmv2json

import "khop/p4/ir"

// block is straight-line code and what follows it.
type block struct {
	ins   []ir.Instr // primitives or parser operations
	kind  term
	next  *block // of termGoto, and the true branch of termBranch, and what follows termApply
	no    *block // the false branch
	last  *ir.Instr
	state string // the parser state that begins here
	start *ir.Instr
	preds int
	order int // position in the order of output, from 1; 0 when it is not reachable
	name  string
	cond  string // name of the conditional
}

type term uint8

const (
	termEnd term = iota
	termGoto
	termBranch
	termApply
	termSelect
)

// flow is the control-flow graph of a Code.
type flow struct {
	entry  *block
	labels []*block
	blocks []*block // reachable, in order of output
}

// newFlow splits code into blocks.
func newFlow(c *ir.Code) *flow {
	f := &flow{entry: &block{}, labels: make([]*block, c.Labels())}
	at := func(l ir.Label) *block {
		if f.labels[l] == nil {
			f.labels[l] = &block{}
		}
		return f.labels[l]
	}
	cur := f.entry
	open := true // cur still takes instructions
	begin := func(b *block) {
		if open {
			cur.kind, cur.next = termGoto, b
		}
		cur, open = b, true
	}
	for i := range c.Ins {
		in := &c.Ins[i]
		switch in.Op {
		case ir.OpLabel:
			b := at(in.Label)
			begin(b)
			if in.State != "" {
				b.state, b.start = in.State, in
			}
			continue
		}
		if !open {
			begin(&block{})
		}
		switch in.Op {
		case ir.OpJump:
			cur.kind, cur.next, open = termGoto, at(in.Label), false
		case ir.OpExit, ir.OpAccept:
			cur.kind, open = termEnd, false
		case ir.OpBranch:
			yes := &block{}
			cur.kind, cur.next, cur.no, cur.last = termBranch, yes, at(in.Label), in
			cur = yes
		case ir.OpApply:
			next := &block{}
			cur.kind, cur.next, cur.last = termApply, next, in
			cur = next
		case ir.OpSelect:
			cur.kind, cur.last, open = termSelect, in, false
		default:
			cur.ins = append(cur.ins, *in)
		}
	}
	return f
}

// follow skips blocks that do nothing. A loop that does nothing ends the pipeline.
func (f *flow) follow(b *block) *block {
	seen := 0
	for b.kind == termGoto && len(b.ins) == 0 && b.name == "" {
		b = b.next
		if seen++; seen > 1<<16 {
			return &block{}
		}
	}
	return b
}

// succs calls fn for each place of b that names a successor.
func (f *flow) succs(b *block, fn func(**block)) {
	switch b.kind {
	case termGoto:
		fn(&b.next)
	case termBranch:
		fn(&b.next)
		fn(&b.no)
	case termApply:
		a := b.last.Apply
		fn(&b.next)
		for _, l := range applyLabels(a) {
			fn(&f.labels[l])
		}
	case termSelect:
		for _, c := range b.last.Sel.Cases {
			fn(&f.labels[c.Label])
		}
	}
}

func applyLabels(a *ir.Apply) []ir.Label {
	var out []ir.Label
	if a.ByHit {
		if a.Hit >= 0 {
			out = append(out, a.Hit)
		}
		if a.Miss >= 0 {
			out = append(out, a.Miss)
		}
	}
	if a.ByAction {
		for _, c := range a.Cases {
			out = append(out, c.Label)
		}
		out = append(out, a.Default)
	}
	return out
}

// finish drops empty blocks, joins blocks that follow each other, and orders what is left. With states, blocks that begin a parser
// state stay apart.
func (f *flow) finish(states bool) {
	f.entry = f.follow(f.entry)
	f.reach(func(b *block) {
		f.succs(b, func(s **block) { *s = f.follow(*s) })
	})
	f.blocks = nil
	f.reach(func(b *block) {
		f.succs(b, func(s **block) { (*s).preds++ })
	})
	f.entry.preds++
	f.reach(func(b *block) {
		for b.kind == termGoto && b.next.preds == 1 && b.next != b && (!states || b.next.state == "") {
			n := b.next
			b.ins = append(b.ins, n.ins...)
			b.kind, b.next, b.no, b.last = n.kind, n.next, n.no, n.last
		}
	})
}

// reach visits the blocks that can be reached, in order of the program, and leaves them in f.blocks. visit may change successors.
func (f *flow) reach(visit func(*block)) {
	f.blocks = nil
	for l := range f.labels {
		if f.labels[l] == nil {
			f.labels[l] = &block{}
		}
	}
	seen := map[*block]bool{}
	stack := []*block{f.entry}
	for len(stack) > 0 {
		b := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen[b] {
			continue
		}
		seen[b] = true
		visit(b)
		f.blocks = append(f.blocks, b)
		b.order = len(f.blocks)
		var next []*block
		f.succs(b, func(s **block) { next = append(next, *s) })
		for i := len(next) - 1; i >= 0; i-- {
			if !seen[next[i]] {
				stack = append(stack, next[i])
			}
		}
	}
}
