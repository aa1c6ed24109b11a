package types

import (
	"khop/p4/ast"
)

// reachable warns of states that no path from start leads to, and reports a parser whose every path runs on forever.
func (c *checker) reachable(d *ast.ParserDecl, b *Block) {
	var start *State
	for _, s := range b.States {
		if s.name == "start" && start == nil {
			start = s
		}
	}
	if start == nil {
		return
	}
	ends := false
	seen := map[*State]bool{start: true}
	todo := []*State{start}
	for len(todo) > 0 {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		next, stops := c.successors(s)
		ends = ends || stops
		for _, n := range next {
			if n.Decl == nil {
				ends = true
			} else if !seen[n] {
				seen[n] = true
				todo = append(todo, n)
			}
		}
	}
	for _, s := range b.States {
		if !seen[s] && !noWarn(s.annos, "unused") {
			c.warnObj(s, CodeUnreachable, "state %s is never reached", quote(s.name))
		}
	}
	if !ends && c.errors == 0 {
		c.err(d.Name, CodeBadState, "parser %s never reaches accept or reject", quote(b.Name))
	}
}

// successors returns the states that a state may lead to. A state without transition, or with a select that may match no case,
// ends the parser in reject.
func (c *checker) successors(s *State) (next []*State, ends bool) {
	add := func(id *ast.Ident) {
		if n, ok := c.info.Uses[id].(*State); ok {
			next = append(next, n)
		} else {
			ends = true // unknown: reported already
		}
	}
	switch {
	case s.Decl.Select != nil:
		ends = true
		for _, k := range s.Decl.Select.Cases {
			if k.Next != nil {
				add(k.Next)
			}
			if c.matchesAll(k) {
				ends = false
				break
			}
		}
	case s.Decl.Transition != nil:
		add(s.Decl.Transition)
	default:
		ends = true
	}
	return next, ends
}

func (c *checker) matchesAll(k *ast.SelectCase) bool {
	sets := c.info.Keysets[k]
	for _, ks := range sets {
		if ks == nil || ks.Kind != KeyAny {
			return false
		}
	}
	return len(sets) > 0
}
