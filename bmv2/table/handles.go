package table

import "math/bits"

// Handles allocates small integers, always the lowest that is free, as bmv2 does for entries, members and groups.
type Handles struct {
	used []uint64 // bitmap
	low  int      // words before this one are full
}

// Get allocates the lowest free handle.
func (h *Handles) Get() uint32 {
	for ; h.low < len(h.used); h.low++ {
		if w := h.used[h.low]; w != ^uint64(0) {
			b := bits.TrailingZeros64(^w)
			h.used[h.low] |= 1 << b
			return uint32(64*h.low + b)
		}
	}
	h.used = append(h.used, 1)
	return uint32(64 * h.low)
}

// Put frees a handle.
func (h *Handles) Put(x uint32) {
	i := int(x / 64)
	h.used[i] &^= 1 << (x % 64)
	h.low = min(h.low, i)
}

// Has reports whether a handle is allocated.
func (h *Handles) Has(x uint32) bool {
	i := int(x / 64)
	return i < len(h.used) && h.used[i]>>(x%64)&1 != 0
}

// Limit returns a number above all allocated handles.
func (h *Handles) Limit() uint32 { return uint32(64 * len(h.used)) }
