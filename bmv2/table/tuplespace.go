package table

import (
	"math"
	"slices"
)

// Span is a range condition on consecutive words of a key, least significant word first, both bounds inclusive.
type Span struct {
	Word   int
	Lo, Hi []uint64
}

func cmpWords(a, b []uint64) int {
	for i := len(a) - 1; i >= 0; i-- {
		if a[i] != b[i] {
			if a[i] < b[i] {
				return -1
			}
			return 1
		}
	}
	return 0
}

func (s *Span) contains(key []uint64) bool {
	k := key[s.Word : s.Word+len(s.Lo)]
	return cmpWords(k, s.Lo) >= 0 && cmpWords(k, s.Hi) <= 0
}

// Rule is a ternary rule: a key matches when key&Mask == Value and every span contains its words. Words under a span have
// a zero mask. The lowest Priority wins; among equals, the lowest ID.
type Rule struct {
	Value, Mask []uint64
	Spans       []Span
	Priority    int64
	ID          uint32
}

// TupleSpace finds the best of many ternary rules by tuple space search (Srinivasan, Suri, Varghese, SIGCOMM 1999): one
// hash table per distinct mask, searched in the order of the best priority that each holds, until none can be better.
// With one priority per mask it is a longest-prefix match by one hash probe per prefix length in use.
type TupleSpace struct {
	words  int
	groups []*group // by ascending best
	n      int
	masked []uint64 // scratch of Lookup
}

type group struct {
	mask []uint64
	best int64 // no rule of the group has a lower priority
	keys *Exact
	n    int
	gone int // deletions since best was exact
	// rules by chain: keys maps a masked key to the first of its rules
	nodes []node
	free  uint32
}

type node struct {
	prio  int64
	id    uint32
	next  uint32
	spans []Span
}

// NewTupleSpace makes an empty rule set for keys of the given number of words.
func NewTupleSpace(words int) *TupleSpace {
	return &TupleSpace{words: words, masked: make([]uint64, words)}
}

// Len returns the number of rules.
func (t *TupleSpace) Len() int { return t.n }

// Lookup returns the id of the best rule that matches, or None.
func (t *TupleSpace) Lookup(key []uint64) uint32 {
	best, id := int64(math.MaxInt64), None
	m := t.masked
	for _, g := range t.groups {
		if g.best > best {
			break
		}
		var x uint32
		if len(g.mask) == 1 {
			x = g.keys.lookup1(key[0] & g.mask[0])
		} else {
			for i, w := range g.mask {
				m[i] = key[i] & w
			}
			x = g.keys.Lookup(m)
		}
		for x != None {
			n := &g.nodes[x]
			if n.prio > best || n.prio == best && n.id > id {
				break
			}
			if n.matches(key) {
				best, id = n.prio, n.id
				break
			}
			x = n.next
		}
	}
	return id
}

func (n *node) matches(key []uint64) bool {
	for i := range n.spans {
		if !n.spans[i].contains(key) {
			return false
		}
	}
	return true
}

func (t *TupleSpace) group(mask []uint64) (int, *group) {
	for i, g := range t.groups {
		if equal(g.mask, mask) {
			return i, g
		}
	}
	return -1, nil
}

func sameSpans(a, b []Span) bool {
	return slices.EqualFunc(a, b, func(x, y Span) bool {
		return x.Word == y.Word && slices.Equal(x.Lo, y.Lo) && slices.Equal(x.Hi, y.Hi)
	})
}

// Find returns the id of the rule with the same value, mask, spans and priority, or None.
func (t *TupleSpace) Find(r *Rule) uint32 {
	_, g := t.group(r.Mask)
	if g == nil {
		return None
	}
	for x := g.keys.Lookup(r.Value); x != None; x = g.nodes[x].next {
		if n := &g.nodes[x]; n.prio == r.Priority && sameSpans(n.spans, r.Spans) {
			return n.id
		}
	}
	return None
}

// Insert adds a rule. Its slices are copied, except for the spans.
func (t *TupleSpace) Insert(r *Rule) {
	pos, g := t.group(r.Mask)
	if g == nil {
		g = &group{mask: slices.Clone(r.Mask), keys: NewExact(t.words), best: r.Priority, free: None}
		pos = len(t.groups)
		t.groups = append(t.groups, g)
	}
	g.best = min(g.best, r.Priority)
	x := g.free
	if x != None {
		g.free = g.nodes[x].next
	} else {
		x = uint32(len(g.nodes))
		g.nodes = append(g.nodes, node{})
	}
	g.nodes[x] = node{prio: r.Priority, id: r.ID, next: None, spans: r.Spans}
	head := g.keys.Lookup(r.Value)
	prev := None
	for y := head; y != None; y = g.nodes[y].next {
		if n := &g.nodes[y]; n.prio > r.Priority || n.prio == r.Priority && n.id > r.ID {
			break
		}
		prev = y
	}
	if prev == None {
		g.nodes[x].next = head
		g.keys.Set(r.Value, x)
	} else {
		g.nodes[x].next = g.nodes[prev].next
		g.nodes[prev].next = x
	}
	g.n++
	t.n++
	t.settle(pos)
}

// settle moves the group at pos to its place after its best priority changed.
func (t *TupleSpace) settle(pos int) {
	g := t.groups[pos]
	for pos > 0 && t.groups[pos-1].best > g.best {
		t.groups[pos] = t.groups[pos-1]
		pos--
	}
	for pos+1 < len(t.groups) && t.groups[pos+1].best < g.best {
		t.groups[pos] = t.groups[pos+1]
		pos++
	}
	t.groups[pos] = g
}

// Delete removes the rule with this value, mask and id, and reports whether it was there.
func (t *TupleSpace) Delete(r *Rule) bool {
	pos, g := t.group(r.Mask)
	if g == nil {
		return false
	}
	prev := None
	x := g.keys.Lookup(r.Value)
	for x != None && g.nodes[x].id != r.ID {
		prev, x = x, g.nodes[x].next
	}
	if x == None {
		return false
	}
	next := g.nodes[x].next
	switch {
	case prev != None:
		g.nodes[prev].next = next
	case next != None:
		g.keys.Set(r.Value, next)
	default:
		g.keys.Delete(r.Value)
	}
	g.nodes[x] = node{next: g.free, id: None}
	g.free = x
	g.n--
	t.n--
	if g.n == 0 {
		t.groups = slices.Delete(t.groups, pos, pos+1)
		return true
	}
	// best stays a lower bound; make it exact again once enough has gone that a scan is paid for.
	if g.gone++; g.gone > g.n {
		g.gone = 0
		g.best = math.MaxInt64
		for i := range g.nodes {
			if g.nodes[i].id != None {
				g.best = min(g.best, g.nodes[i].prio)
			}
		}
		t.settle(pos)
	}
	return true
}
