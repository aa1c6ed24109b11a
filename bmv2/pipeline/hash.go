package pipeline

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/bits"
)

type hashFn func(b []byte) uint64

// hashes are the algorithms by their name in the JSON; they give what bmv2's give.
var hashes = map[string]hashFn{
	"crc16":        crc16Table.sum,
	"crc16_custom": crc16Table.sum,
	"crc32":        func(b []byte) uint64 { return uint64(crc32.ChecksumIEEE(b)) },
	"crc32_custom": func(b []byte) uint64 { return uint64(crc32.ChecksumIEEE(b)) },
	"crc8_custom":  crc8Table.sum,
	"crc64_custom": crc64Table.sum,
	"crcCCITT":     crcCCITTTable.sum,
	"csum16":       func(b []byte) uint64 { return uint64(csum16(b)) },
	"cksum16":      func(b []byte) uint64 { return uint64(csum16(b)) },
	"xor16":        func(b []byte) uint64 { return xorHash(b, 2) },
	"xor32":        func(b []byte) uint64 { return xorHash(b, 4) },
	"identity":     identity,
	"xxh64":        xxh64,
	"bmv2_hash":    xxh64,
	"hash_ex":      hashEx,
}

func hashByName(name string) (hashFn, error) {
	if f, ok := hashes[name]; ok {
		return f, nil
	}
	return nil, fmt.Errorf("hash algorithm %q is unknown, want one of crc16, crc32, crc8_custom, crc16_custom, crc32_custom, "+
		"crc64_custom, crcCCITT, csum16, cksum16, xor16, xor32, identity, xxh64, bmv2_hash, hash_ex", name)
}

// crc is a cyclic redundancy check in the Rocksoft model, for widths of 8 to 64 bits.
type crc struct {
	width     uint
	init, xor uint64
	reflected bool
	table     [256]uint64
}

func newCRC(width uint, poly, init, xor uint64, reflected bool) *crc {
	c := &crc{width: width, init: init, xor: xor, reflected: reflected}
	mask := ^uint64(0) >> (64 - width)
	for i := range c.table {
		var r uint64
		if reflected {
			r = uint64(i)
			p := bits.Reverse64(poly) >> (64 - width)
			for range 8 {
				if r&1 != 0 {
					r = r>>1 ^ p
				} else {
					r >>= 1
				}
			}
		} else {
			r = uint64(i) << (width - 8)
			for range 8 {
				if r>>(width-1)&1 != 0 {
					r = r<<1 ^ poly
				} else {
					r <<= 1
				}
			}
		}
		c.table[i] = r & mask
	}
	return c
}

var (
	crc8Table     = newCRC(8, 0x07, 0, 0, false)
	crc16Table    = newCRC(16, 0x8005, 0, 0, true)
	crcCCITTTable = newCRC(16, 0x1021, 0xffff, 0, false)
	crc64Table    = newCRC(64, 0x1b, 0, 0, true)
)

func (c *crc) sum(b []byte) uint64 {
	r := c.init
	if c.reflected {
		r = bits.Reverse64(r) >> (64 - c.width)
		for _, x := range b {
			r = c.table[byte(r)^x] ^ r>>8
		}
		return r ^ c.xor
	}
	mask := ^uint64(0) >> (64 - c.width)
	for _, x := range b {
		r = (c.table[byte(r>>(c.width-8))^x] ^ r<<8) & mask
	}
	return r ^ c.xor
}

// csum16 is the Internet checksum (RFC 1071).
func csum16(b []byte) uint16 {
	var sum, c uint64
	for len(b) >= 8 {
		sum, c = bits.Add64(sum, binary.BigEndian.Uint64(b), c)
		b = b[8:]
	}
	var tail [8]byte
	copy(tail[:], b)
	sum, c = bits.Add64(sum, binary.BigEndian.Uint64(tail[:]), c)
	return foldSum(sum, c)
}

// foldSum ends an Internet checksum: 64 bits and a carry become 16.
func foldSum(sum, carry uint64) uint16 {
	t := sum>>32 + sum&0xffffffff + carry
	t = t>>32 + t&0xffffffff
	t = t>>16 + t&0xffff
	t = t>>16 + t&0xffff
	t = t>>16 + t&0xffff
	return ^uint16(t)
}

// xorHash folds n-byte words; the last is padded with zeros behind.
func xorHash(b []byte, n int) uint64 {
	var r uint64
	for i, x := range b {
		r ^= uint64(x) << uint(8*(n-1-i%n))
	}
	return r
}

// identity is the first 8 bytes as a number.
func identity(b []byte) uint64 {
	var r uint64
	for _, x := range b[:min(8, len(b))] {
		r = r<<8 | uint64(x)
	}
	return r
}

// hashEx is simple_switch's FNV-1a with a final avalanche (Bret Mulvey's); bytes count as signed.
func hashEx(b []byte) uint64 {
	h := uint32(2166136261)
	for _, x := range b {
		h = (h ^ uint32(int8(x))) * 16777619
	}
	h += h << 13
	h ^= h >> 7
	h += h << 3
	h ^= h >> 17
	h += h << 5
	return uint64(h)
}

// xxh64 is xxHash64 with seed 0 (the xxHash specification by Y. Collet).
func xxh64(b []byte) uint64 {
	const (
		p1 = 0x9e3779b185ebca87
		p2 = 0xc2b2ae3d27d4eb4f
		p3 = 0x165667b19e3779f9
		p4 = 0x85ebca77c2b2ae63
		p5 = 0x27d4eb2f165667c5
	)
	round := func(acc, in uint64) uint64 {
		return bits.RotateLeft64(acc+in*p2, 31) * p1
	}
	n := uint64(len(b))
	var h uint64
	if len(b) >= 32 {
		seed := uint64(0)
		v1, v2, v3, v4 := seed+p1, seed+p2, seed, seed-p1
		v1 += p2
		for len(b) >= 32 {
			v1 = round(v1, binary.LittleEndian.Uint64(b))
			v2 = round(v2, binary.LittleEndian.Uint64(b[8:]))
			v3 = round(v3, binary.LittleEndian.Uint64(b[16:]))
			v4 = round(v4, binary.LittleEndian.Uint64(b[24:]))
			b = b[32:]
		}
		h = bits.RotateLeft64(v1, 1) + bits.RotateLeft64(v2, 7) + bits.RotateLeft64(v3, 12) + bits.RotateLeft64(v4, 18)
		for _, v := range [4]uint64{v1, v2, v3, v4} {
			h = (h^round(0, v))*p1 + p4
		}
	} else {
		h = p5
	}
	h += n
	for ; len(b) >= 8; b = b[8:] {
		h = bits.RotateLeft64(h^round(0, binary.LittleEndian.Uint64(b)), 27)*p1 + p4
	}
	if len(b) >= 4 {
		h = bits.RotateLeft64(h^uint64(binary.LittleEndian.Uint32(b))*p1, 23)*p2 + p3
		b = b[4:]
	}
	for _, x := range b {
		h = bits.RotateLeft64(h^uint64(x)*p5, 11) * p1
	}
	h ^= h >> 33
	h *= p2
	h ^= h >> 29
	h *= p3
	h ^= h >> 32
	return h
}
