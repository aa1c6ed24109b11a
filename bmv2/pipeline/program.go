package pipeline

import "fmt"

// FieldRef is a field of at most 64 bits that the architecture knows by name.
type FieldRef struct {
	slot int
	mask uint64
}

// Get reads the field from a PHV.
func (f FieldRef) Get(w []uint64) uint64 { return w[f.slot] }

// Set writes the field to a PHV, truncated to its width.
func (f FieldRef) Set(w []uint64, v uint64) { w[f.slot] = v & f.mask }

// Mask is the field's largest value.
func (f FieldRef) Mask() uint64 { return f.mask }

// Std returns a field of standard, intrinsic or queueing metadata by the name that simple_switch uses, like
// "standard_metadata.egress_spec" or "intrinsic_metadata.mcast_grp".
func (p *Program) Std(name string) (FieldRef, bool) {
	f, ok := p.std[name]
	return f, ok
}

// stdNames are the metadata fields that simple_switch reads and writes.
var stdNames = []string{
	"standard_metadata.ingress_port", "standard_metadata.packet_length", "standard_metadata.instance_type",
	"standard_metadata.egress_spec", "standard_metadata.egress_port", "standard_metadata.parser_error",
	"standard_metadata.checksum_error",
	"intrinsic_metadata.ingress_global_timestamp", "intrinsic_metadata.egress_global_timestamp",
	"intrinsic_metadata.mcast_grp", "intrinsic_metadata.egress_rid", "intrinsic_metadata.priority",
	"queueing_metadata.enq_timestamp", "queueing_metadata.enq_qdepth", "queueing_metadata.deq_timedelta",
	"queueing_metadata.deq_qdepth", "queueing_metadata.qid",
}

func (l *linker) linkStd() error {
	l.prog.std = map[string]FieldRef{}
	for i, name := range stdNames {
		var hdr, fld string
		for j := range name {
			if name[j] == '.' {
				hdr, fld = name[:j], name[j+1:]
			}
		}
		h, f, err := l.lookupField(hdr, fld)
		if err != nil {
			if i < 5 {
				return fmt.Errorf("the program has no %s, which simple_switch requires", name)
			}
			continue
		}
		if f == nil || f.varbit || f.words > 1 {
			return fmt.Errorf("%s must be a field of at most 64 bits", name)
		}
		if !h.meta {
			return fmt.Errorf("%s must be metadata", name)
		}
		l.prog.std[name] = FieldRef{slot: h.slot(f), mask: ^uint64(0) >> uint(64-f.width)}
	}
	return nil
}

func (l *linker) std(name string) int {
	if f, ok := l.prog.std[name]; ok {
		return f.slot
	}
	return -1
}

func (l *linker) stdMask(name string) uint64 { return l.prog.std[name].mask }

// Name is the program's name in the JSON.
func (p *Program) Name() string { return p.name }

// Words is the length of a PHV.
func (p *Program) Words() int { return p.words }

// Headroom is how many bytes the deparser may need before the payload.
func (p *Program) Headroom() int { return p.headroom }

// ErrorName names a parser error by its value.
func (p *Program) ErrorName(v uint32) string {
	if n, ok := p.errorNames[v]; ok {
		return n
	}
	return fmt.Sprint(v)
}

// ResetPHV makes all headers invalid and all metadata zero.
func (p *Program) ResetPHV(w []uint64) { copy(w, p.initial) }

// ResetMetadata makes all metadata zero and keeps the headers.
func (p *Program) ResetMetadata(w []uint64) { copy(w[:p.metaWords], p.initial) }

// CopyFieldList copies the fields of a field list; an unknown id is the empty list.
func (p *Program) CopyFieldList(id int, dst, src []uint64) {
	for _, r := range p.lists[id].slots {
		copy(dst[r.at:r.at+r.n], src[r.at:r.at+r.n])
	}
}

// DigestValues appends the fields of a digest, each big-endian in whole bytes, to buf, and slices of it to vals.
func (p *Program) DigestValues(s *State, digest int, buf []byte, vals [][]byte) ([]byte, [][]byte) {
	total := 0
	for _, f := range p.digests[digest].Fields {
		total += (f.Width + 7) / 8
	}
	if cap(buf)-len(buf) < total { // so that the slices stay valid
		buf = append(make([]byte, 0, 2*(len(buf)+total)), buf...)
	}
	for i, into := range p.digestVals[digest] {
		width := p.digests[digest].Fields[i].Width
		top := s.top
		w := s.alloc(words(width))
		into(s, w)
		truncate(w, width)
		at := len(buf)
		buf = appendBytes(buf, w, width)
		vals = append(vals, buf[at:len(buf):len(buf)])
		s.top = top
	}
	return buf, vals
}
