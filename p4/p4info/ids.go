package p4info

import (
	"sort"
	"strings"
)

// prefix is the first byte of an id (P4Ids.Prefix in p4info.proto).
type prefix uint32

const (
	prefixAction           prefix = 0x01
	prefixTable            prefix = 0x02
	prefixValueSet         prefix = 0x03
	prefixControllerHeader prefix = 0x04
	prefixActionProfile    prefix = 0x11
	prefixCounter          prefix = 0x12
	prefixDirectCounter    prefix = 0x13
	prefixMeter            prefix = 0x14
	prefixDirectMeter      prefix = 0x15
	prefixRegister         prefix = 0x16
	prefixDigest           prefix = 0x17
)

// symbols gives ids and aliases to names.
type symbols struct {
	ids      map[symbol]uint32
	order    []symbol
	assigned map[uint32]symbol
	suffixes map[string]int // how many names end in these components
	names    map[string]bool
}

type symbol struct {
	prefix prefix
	name   string
}

func newSymbols() *symbols {
	return &symbols{ids: map[symbol]uint32{}, assigned: map[uint32]symbol{}, suffixes: map[string]int{}, names: map[string]bool{}}
}

// add adds a name. A user may have chosen the id, with or without its prefix; 0 leaves the choice to finish. It returns what already
// has the id, or ok.
func (s *symbols) add(p prefix, name string, id uint32) (other symbol, ok bool) {
	k := symbol{p, name}
	if _, ok := s.ids[k]; ok {
		return symbol{}, true
	}
	if id != 0 {
		id = id&0xffffff | uint32(p)<<24
		if o, taken := s.assigned[id]; taken {
			return o, false
		}
		s.assigned[id] = k
	}
	s.ids[k] = id
	s.order = append(s.order, k)
	if s.names[name] {
		return symbol{}, true
	}
	s.names[name] = true
	for i := len(name); i >= 0; i-- {
		if i == 0 || name[i-1] == '.' {
			s.suffixes[name[i:]]++
		}
	}
	return symbol{}, true
}

// finish gives ids to the names that have none, in order of the names; of two names with the same hash the second gets the next
// free id.
func (s *symbols) finish() {
	sorted := append([]symbol(nil), s.order...)
	sort.Slice(sorted, func(i, j int) bool {
		if sorted[i].prefix != sorted[j].prefix {
			return sorted[i].prefix < sorted[j].prefix
		}
		return sorted[i].name < sorted[j].name
	})
	for _, k := range sorted {
		if s.ids[k] != 0 {
			continue
		}
		for h := hash(k.name); ; h++ {
			id := h&0xffffff | uint32(k.prefix)<<24
			if _, taken := s.assigned[id]; !taken {
				s.assigned[id] = k
				s.ids[k] = id
				break
			}
		}
	}
}

func (s *symbols) id(p prefix, name string) uint32 { return s.ids[symbol{p, name}] }

// alias returns the shortest suffix of whole components that no other name ends in.
func (s *symbols) alias(name string) string {
	for i := strings.LastIndexByte(name, '.'); i >= 0; i = strings.LastIndexByte(name[:i], '.') {
		if s.suffixes[name[i+1:]] < 2 {
			return name[i+1:]
		}
	}
	return name
}

// hash is Jenkins' one-at-a-time hash.
func hash(name string) uint32 {
	var h uint32
	for i := 0; i < len(name); i++ {
		h += uint32(name[i])
		h += h << 10
		h ^= h >> 6
	}
	h += h << 3
	h ^= h >> 11
	h += h << 15
	return h
}
