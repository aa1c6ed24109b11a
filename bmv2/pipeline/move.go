package pipeline

import "encoding/binary"

// Slack is how many readable and writable bytes must follow the data of a packet buffer: fields are moved by 8-byte loads
// and stores that may reach beyond the end.
const Slack = 16

// moveOp moves one field between packet bytes (big-endian, bits contiguous) and the PHV.
type moveOp struct {
	off   int   // byte of the first bit, relative to the header
	shl   uint8 // bits of that byte that belong to earlier fields
	shr   uint8 // 64 - width, for fields that lie within 8 bytes
	rel   int
	words int // 0: the field lies within 8 bytes
	width int
}

func newMove(f *field, bit int) moveOp {
	m := moveOp{off: bit / 8, shl: uint8(bit % 8), rel: f.rel, width: f.width, words: f.words}
	if f.words == 1 && bit%8+f.width <= 64 {
		m.words = 0
		m.shr = uint8(64 - f.width)
	}
	return m
}

// load reads the fields of a header at b into w, the header's words.
func load(ops []moveOp, w []uint64, b []byte) {
	for i := range ops {
		m := &ops[i]
		if m.words == 0 {
			w[m.rel] = binary.BigEndian.Uint64(b[m.off:]) << m.shl >> m.shr
			continue
		}
		getBits(w[m.rel:m.rel+m.words], b, 8*m.off+int(m.shl), m.width)
	}
}

// bitWriter writes values one after the other, bit by bit, most significant first.
type bitWriter struct {
	acc uint64 // the low n bits are not yet written
	n   uint
	at  int
}

// put appends w bits, 1 to 64; v has no higher bits set.
func (p *bitWriter) put(b []byte, v uint64, w uint) {
	free := 64 - p.n
	if w < free {
		p.acc = p.acc<<w | v
		p.n += w
		return
	}
	binary.BigEndian.PutUint64(b[p.at:], p.acc<<free|v>>(w-free))
	p.at += 8
	p.acc, p.n = v, w-free
}

// putWide appends w bits of a vector of words, least significant first.
func (p *bitWriter) putWide(b []byte, v []uint64, w int) {
	for i := (w+63)/64 - 1; i >= 0; i-- {
		x, k := v[i], uint(min(64, w-64*i))
		if k < 64 {
			x &= 1<<k - 1
		}
		p.put(b, x, k)
	}
}

// flush writes what is left, filled up to a whole byte with zeros, leaves the bytes behind it as they are, and returns the
// number of bytes written in all.
func (p *bitWriter) flush(b []byte) int {
	if p.n == 0 {
		return p.at
	}
	k := (p.n + 7) / 8
	d := b[p.at : p.at+8]
	binary.BigEndian.PutUint64(d, p.acc<<(64-p.n)|binary.BigEndian.Uint64(d)&(^uint64(0)>>(8*k)))
	p.n = 0
	return p.at + int(k)
}

// store writes the fields of a header, which must be whole bytes, to b.
func store(ops []moveOp, w []uint64, b []byte) {
	var p bitWriter
	for i := range ops {
		m := &ops[i]
		if m.width <= 64 {
			p.put(b, w[m.rel], uint(m.width))
			continue
		}
		p.putWide(b, w[m.rel:m.rel+m.words], m.width)
	}
	p.flush(b)
}

// bits64 reads n bits, 1 to 64, at a bit offset.
func bits64(b []byte, bit, n int) uint64 {
	p := b[bit/8:]
	s := uint(bit % 8)
	v := binary.BigEndian.Uint64(p) << s
	if int(s)+n > 64 {
		v |= uint64(p[8]) >> (8 - s)
	}
	return v >> (64 - uint(n))
}

// getBits reads a field of width bits at a bit offset into words, least significant first.
func getBits(dst []uint64, b []byte, bit, width int) {
	end := bit + width
	for i := range dst {
		n := min(64, width-64*i)
		if n <= 0 {
			dst[i] = 0
			continue
		}
		dst[i] = bits64(b, end-64*i-n, n)
	}
}

// appendBytes appends a value of width bits as big-endian bytes, padded to whole bytes in front.
func appendBytes(dst []byte, w []uint64, width int) []byte {
	for i := (width+7)/8 - 1; i >= 0; i-- {
		dst = append(dst, byte(w[i/8]>>(8*uint(i%8))))
	}
	return dst
}

// setBytes stores big-endian bytes into words and reports whether the value fits in width bits.
func setBytes(dst []uint64, b []byte, width int) bool {
	clear(dst)
	for len(b) > 0 && b[0] == 0 {
		b = b[1:]
	}
	if 8*len(b) > 64*len(dst) {
		return false
	}
	for i := range b {
		dst[i/8] |= uint64(b[len(b)-1-i]) << (8 * uint(i%8))
	}
	return fits(dst, width)
}

// fits reports whether a value has no bit beyond width.
func fits(w []uint64, width int) bool {
	for i := range w {
		switch n := width - 64*i; {
		case n >= 64:
		case n <= 0:
			if w[i] != 0 {
				return false
			}
		default:
			if w[i]>>uint(n) != 0 {
				return false
			}
		}
	}
	return true
}

// truncate clears all bits beyond width.
func truncate(w []uint64, width int) {
	for i := range w {
		if n := width - 64*i; n <= 0 {
			w[i] = 0
		} else if n < 64 {
			w[i] &= 1<<uint(n) - 1
		}
	}
}
