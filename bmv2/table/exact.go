package table

import "math/bits"

// None is the id that means no entry.
const None = ^uint32(0)

// Exact maps keys of a fixed number of words to ids: an open-addressing hash table with linear probing, at most 3/4 full.
type Exact struct {
	words int
	mask  uint32
	n     int
	keys  []uint64 // cap * words
	ids   []uint32 // None marks a free slot
}

// NewExact makes a table for keys of the given number of words. Zero words are allowed: there is one key.
func NewExact(words int) *Exact {
	t := &Exact{words: words}
	t.alloc(8)
	return t
}

func (t *Exact) alloc(size int) {
	t.mask = uint32(size - 1)
	t.keys = make([]uint64, size*t.words)
	t.ids = make([]uint32, size)
	for i := range t.ids {
		t.ids[i] = None
	}
}

// Len returns the number of keys.
func (t *Exact) Len() int { return t.n }

const (
	mul0 = 0x9e3779b97f4a7c15
	mul1 = 0xbf58476d1ce4e5b9
)

func mix(h, w uint64) uint64 {
	hi, lo := bits.Mul64(h^w^mul1, mul0)
	return hi ^ lo
}

func hash(key []uint64) uint32 {
	h := uint64(mul1)
	for _, w := range key {
		h = mix(h, w)
	}
	return uint32(h ^ h>>32)
}

// Lookup returns the id of a key, or None.
func (t *Exact) Lookup(key []uint64) uint32 {
	if t.words == 1 {
		return t.lookup1(key[0])
	}
	i := hash(key) & t.mask
	switch t.words {
	case 2:
		k0, k1 := key[0], key[1]
		for t.ids[i] != None {
			if t.keys[2*i] == k0 && t.keys[2*i+1] == k1 {
				return t.ids[i]
			}
			i = (i + 1) & t.mask
		}
	default:
		for t.ids[i] != None {
			if equal(t.slot(i), key) {
				return t.ids[i]
			}
			i = (i + 1) & t.mask
		}
	}
	return None
}

// lookup1 is Lookup for keys of one word.
func (t *Exact) lookup1(k uint64) uint32 {
	h := mix(mul1, k)
	i := uint32(h^h>>32) & t.mask
	ids, keys := t.ids, t.keys
	for {
		id := ids[i]
		if id == None || keys[i] == k {
			return id
		}
		i = (i + 1) & t.mask
	}
}

func (t *Exact) slot(i uint32) []uint64 {
	o := int(i) * t.words
	return t.keys[o : o+t.words]
}

func equal(a, b []uint64) bool {
	for i, w := range a {
		if w != b[i] {
			return false
		}
	}
	return true
}

// Set inserts a key, or replaces its id.
func (t *Exact) Set(key []uint64, id uint32) {
	if 4*(t.n+1) > 3*len(t.ids) {
		t.grow()
	}
	i := hash(key) & t.mask
	for t.ids[i] != None {
		if equal(t.slot(i), key) {
			t.ids[i] = id
			return
		}
		i = (i + 1) & t.mask
	}
	copy(t.slot(i), key)
	t.ids[i] = id
	t.n++
}

func (t *Exact) grow() {
	keys, ids := t.keys, t.ids
	t.alloc(2 * len(ids))
	for j, id := range ids {
		if id == None {
			continue
		}
		key := keys[j*t.words : (j+1)*t.words]
		i := hash(key) & t.mask
		for t.ids[i] != None {
			i = (i + 1) & t.mask
		}
		copy(t.slot(i), key)
		t.ids[i] = id
	}
}

// Delete removes a key and reports whether it was there.
func (t *Exact) Delete(key []uint64) bool {
	i := hash(key) & t.mask
	for {
		if t.ids[i] == None {
			return false
		}
		if equal(t.slot(i), key) {
			break
		}
		i = (i + 1) & t.mask
	}
	// Close the gap: move back every later key of the run that may not stand after an empty slot.
	for j := (i + 1) & t.mask; t.ids[j] != None; j = (j + 1) & t.mask {
		home := hash(t.slot(j)) & t.mask
		if (j-home)&t.mask >= (j-i)&t.mask {
			copy(t.slot(i), t.slot(j))
			t.ids[i] = t.ids[j]
			i = j
		}
	}
	t.ids[i] = None
	t.n--
	return true
}
