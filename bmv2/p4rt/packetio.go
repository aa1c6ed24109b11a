package p4rt

import (
	"fmt"

	configv1 "github.com/p4lang/p4runtime/go/p4/config/v1"
	p4v1 "github.com/p4lang/p4runtime/go/p4/v1"
	"google.golang.org/grpc/codes"
)

// headerInfo is a header annotated with @controller_header: its fields, in order, stand bit-contiguous in front of a frame
// that the switch sends to or gets from its CPU port.
type headerInfo struct {
	name   string
	fields []fieldInfo
	byID   map[uint32]int
	bytes  int
}

func (in *info) newHeader(m *configv1.ControllerPacketMetadata) (*headerInfo, error) {
	h := &headerInfo{name: m.Preamble.Name, byID: map[uint32]int{}}
	bits := 0
	for i, f := range m.GetMetadata() {
		if _, dup := h.byID[f.GetId()]; dup || f.GetId() == 0 {
			return nil, errorf(codes.InvalidArgument, "field %q has the id %d, which is zero or taken", f.GetName(), f.GetId())
		}
		w, sdn, err := in.width(f.GetBitwidth(), f.GetTypeName())
		if err != nil {
			return nil, wrap(err, "field %q", f.GetName())
		}
		if sdn != "" {
			return nil, errorf(codes.Unimplemented, "field %q has type %q, which is translated to strings; packet headers do not support that here", f.GetName(), sdn)
		}
		h.byID[f.GetId()] = i
		h.fields = append(h.fields, fieldInfo{id: f.GetId(), name: f.GetName(), width: w})
		bits += w
	}
	if bits%8 != 0 {
		return nil, errorf(codes.InvalidArgument, "the header has %d bits; it must be whole bytes", bits)
	}
	h.bytes = bits / 8
	return h, nil
}

// encode writes the header of a packet-out. Each field of the header must be set once.
func (h *headerInfo) encode(meta []*p4v1.PacketMetadata) ([]byte, error) {
	out := make([]byte, h.bytes)
	values := make([][]byte, len(h.fields))
	for _, m := range meta {
		i, ok := h.byID[m.GetMetadataId()]
		if !ok {
			return nil, errorf(codes.InvalidArgument, "%s has no metadata field with id %d; its fields are: %s", h.name, m.GetMetadataId(), h.fieldList())
		}
		f := &h.fields[i]
		if values[i] != nil {
			return nil, errorf(codes.InvalidArgument, "%s: metadata field %s (%d) is set twice", h.name, f.name, f.id)
		}
		v, err := appendValue(nil, m.GetValue(), f.width)
		if err != nil {
			// Packet-out errors are INVALID_ARGUMENT whatever is wrong with the metadata (section "Stream Error
			// Reporting").
			return nil, errorf(codes.InvalidArgument, "%s: metadata field %s (%d): %s", h.name, f.name, f.id, err)
		}
		values[i] = v
	}
	at := 0
	for i, f := range h.fields {
		if values[i] == nil {
			return nil, errorf(codes.InvalidArgument, "%s: metadata field %s (%d) is missing; each of these must be set: %s", h.name, f.name, f.id, h.fieldList())
		}
		putBits(out, at, f.width, values[i])
		at += f.width
	}
	return out, nil
}

// decode splits the header off a frame from the CPU port.
func (h *headerInfo) decode(frame []byte) (*p4v1.PacketIn, error) {
	if len(frame) < h.bytes {
		return nil, fmt.Errorf("the frame has %d bytes, less than the %d of its %s header", len(frame), h.bytes, h.name)
	}
	p := &p4v1.PacketIn{Payload: append([]byte(nil), frame[h.bytes:]...), Metadata: make([]*p4v1.PacketMetadata, len(h.fields))}
	at := 0
	for i, f := range h.fields {
		p.Metadata[i] = &p4v1.PacketMetadata{MetadataId: f.id, Value: canonical(getBits(frame, at, f.width))}
		at += f.width
	}
	return p, nil
}

func (h *headerInfo) fieldList() string {
	var names []string
	for _, f := range h.fields {
		names = append(names, fmt.Sprintf("%s (%d, bit<%d>)", f.name, f.id, f.width))
	}
	return options(names)
}

// putBits writes a big-endian value of width bits at bit offset at (0 is the highest bit of the first byte). The bits
// there must be zero.
func putBits(dst []byte, at, width int, v []byte) {
	for i := range width {
		src := len(v)*8 - width + i
		bit := v[src/8] >> (7 - src%8) & 1
		dst[(at+i)/8] |= bit << (7 - (at+i)%8)
	}
}

// getBits reads width bits at bit offset at as a big-endian value of byteLen(width) bytes.
func getBits(src []byte, at, width int) []byte {
	v := make([]byte, byteLen(width))
	for i := range width {
		bit := src[(at+i)/8] >> (7 - (at+i)%8) & 1
		dst := len(v)*8 - width + i
		v[dst/8] |= bit << (7 - dst%8)
	}
	return v
}
