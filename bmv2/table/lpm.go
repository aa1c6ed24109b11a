package table

// LPM finds the longest prefix that matches a field: a trie of 4 bits a level whose nodes know the best prefix for each of
// their 16 ways. The rest of the key, if any, is matched exactly and chooses the trie. A lookup costs one step for each 4
// bits of the prefixes that lie on its way, whatever the number of entries.
type LPM struct {
	field Field
	rest  []uint64 // mask of the key outside the field
	roots *Exact   // rest of the key -> root; nil when there is no rest
	trees []lpmTree
	free  []uint32 // unused trees
	nodes []lpmNode
	spare []uint32 // unused nodes
	key   []uint64 // scratch
}

// Field is where a field stands in a key: in words of its own, least significant first, or in one word from bit Shift on.
type Field struct {
	Word, Words int
	Shift       uint
	Width       int // bits
}

type lpmTree struct {
	root uint32
	any  uint32 // id of the prefix of length 0
	n    int
}

type lpmNode struct {
	// prefix[1<<l|bits] is the id of the prefix with l more bits (1 to 4) that ends in this node.
	prefix [32]uint32
	best   [16]uint32
	child  [16]uint32 // None where there is none
	used   int        // prefixes and children
}

// NewLPM makes an empty table for keys of the given number of words.
func NewLPM(words int, f Field) *LPM {
	t := &LPM{field: f, rest: make([]uint64, words), key: make([]uint64, words)}
	for i := range t.rest {
		t.rest[i] = ^uint64(0)
	}
	for i := range f.Words {
		if n := f.Width - 64*i; n < 64 {
			t.rest[f.Word+i] &^= (1<<uint(n) - 1) << f.Shift
		} else {
			t.rest[f.Word+i] = 0
		}
	}
	return t
}

// Exactly says that the rest of the key has fields that are matched exactly; without it, the rest is ignored.
func (t *LPM) Exactly() { t.roots = NewExact(len(t.rest)) }

// nibble returns bits 4d to 4d+3 of the field, counted from the top; beyond its end there are zeros.
func (f *Field) nibble(key []uint64, d int) uint64 {
	pos := f.Width - 4*(d+1)
	if pos < 0 {
		return key[f.Word] >> f.Shift << uint(-pos) & 15
	}
	if f.Words == 1 {
		return key[f.Word] >> (f.Shift + uint(pos)) & 15
	}
	i, s := pos/64, uint(pos%64)
	v := key[f.Word+i] >> s
	if s > 60 && i+1 < f.Words {
		v |= key[f.Word+i+1] << (64 - s)
	}
	return v & 15
}

func (t *LPM) tree(key []uint64) uint32 {
	if t.roots == nil {
		if len(t.trees) == 0 {
			return None
		}
		return 0
	}
	for i, m := range t.rest {
		t.key[i] = key[i] & m
	}
	return t.roots.Lookup(t.key)
}

// Lookup returns the id of the longest prefix that matches, or None.
func (t *LPM) Lookup(key []uint64) uint32 {
	x := t.tree(key)
	if x == None {
		return None
	}
	tr := &t.trees[x]
	best := tr.any
	if t.field.Words == 1 { // the common case, with the field at the top of one word
		k := key[t.field.Word] >> t.field.Shift << uint(64-t.field.Width)
		for at := tr.root; at != None; k <<= 4 {
			n := &t.nodes[at]
			w := k >> 60
			if b := n.best[w]; b != None {
				best = b
			}
			at = n.child[w]
		}
		return best
	}
	for at, d := tr.root, 0; at != None; d++ {
		n := &t.nodes[at]
		w := t.field.nibble(key, d)
		if b := n.best[w]; b != None {
			best = b
		}
		at = n.child[w]
	}
	return best
}

func (t *LPM) newNode() uint32 {
	n := lpmNode{}
	for i := range n.prefix {
		n.prefix[i] = None
	}
	for i := range n.best {
		n.best[i], n.child[i] = None, None
	}
	if k := len(t.spare); k > 0 {
		at := t.spare[k-1]
		t.spare = t.spare[:k-1]
		t.nodes[at] = n
		return at
	}
	t.nodes = append(t.nodes, n)
	return uint32(len(t.nodes) - 1)
}

func (n *lpmNode) settle() {
	for w := range uint32(16) {
		n.best[w] = None
		for l := uint32(1); l <= 4; l++ {
			if id := n.prefix[1<<l|w>>(4-l)]; id != None {
				n.best[w] = id
			}
		}
	}
}

// Insert adds a prefix that is not yet there. Bits of the field beyond the prefix must be zero.
func (t *LPM) Insert(key []uint64, prefixLen int, id uint32) {
	x := t.tree(key)
	if x == None {
		tr := lpmTree{root: None, any: None}
		if k := len(t.free); k > 0 {
			x = t.free[k-1]
			t.free = t.free[:k-1]
			t.trees[x] = tr
		} else {
			x = uint32(len(t.trees))
			t.trees = append(t.trees, tr)
		}
		if t.roots != nil {
			t.roots.Set(t.key, x)
		}
	}
	t.trees[x].n++
	if prefixLen == 0 {
		t.trees[x].any = id
		return
	}
	if t.trees[x].root == None {
		t.trees[x].root = t.newNode()
	}
	at := t.trees[x].root
	last := (prefixLen - 1) / 4
	for d := range last {
		w := t.field.nibble(key, d)
		next := t.nodes[at].child[w]
		if next == None {
			next = t.newNode()
			t.nodes[at].child[w] = next
			t.nodes[at].used++
		}
		at = next
	}
	l := uint(prefixLen - 4*last)
	n := &t.nodes[at]
	n.prefix[1<<l|t.field.nibble(key, last)>>(4-l)] = id
	n.used++
	n.settle()
}

// Delete removes a prefix that is there.
func (t *LPM) Delete(key []uint64, prefixLen int) {
	x := t.tree(key)
	tr := &t.trees[x]
	tr.n--
	if prefixLen == 0 {
		tr.any = None
	} else if t.remove(tr.root, key, 0, prefixLen) {
		t.spare = append(t.spare, tr.root)
		tr.root = None
	}
	if tr.n == 0 && t.roots != nil {
		t.roots.Delete(t.key)
		t.free = append(t.free, x)
	}
}

// remove takes the prefix out of the node at depth d or below it, and reports whether the node is empty.
func (t *LPM) remove(at uint32, key []uint64, d, prefixLen int) bool {
	n := &t.nodes[at]
	w := t.field.nibble(key, d)
	if d < (prefixLen-1)/4 {
		if t.remove(n.child[w], key, d+1, prefixLen) {
			t.spare = append(t.spare, n.child[w])
			n.child[w] = None
			n.used--
		}
		return n.used == 0
	}
	l := uint(prefixLen - 4*d)
	n.prefix[1<<l|w>>(4-l)] = None
	n.used--
	n.settle()
	return n.used == 0
}
