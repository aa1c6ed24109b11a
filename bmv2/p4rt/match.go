package p4rt

import (
	"bytes"
	"encoding/binary"
	"fmt"

	configv1 "github.com/p4lang/p4runtime/go/p4/config/v1"
	p4v1 "github.com/p4lang/p4runtime/go/p4/v1"
	"google.golang.org/grpc/codes"
)

// matchValue is one decoded field of a match key; big-endian values of byteLen(width) bytes.
type matchValue struct {
	wild   bool   // don't care: the client left the field out
	value  []byte // of exact, lpm, ternary, optional; the low bound of a range
	mask   []byte // of ternary; the high bound of a range
	prefix int    // of lpm, in bits
}

// decode checks the match of an entry (specification, section "Match Format"). The result has one value for each field of
// the key, in the order of P4Info; a don't-care field has the mask 0, the prefix length 0 or the full range.
func (k *keyInfo) decode(match []*p4v1.FieldMatch) ([]matchValue, error) {
	out := make([]matchValue, len(k.fields))
	for i := range out {
		out[i].wild = true
	}
	for _, m := range match {
		i, ok := k.byID[m.GetFieldId()]
		if !ok {
			return nil, errorf(codes.InvalidArgument, "there is no match field with id %d; the key has: %s", m.GetFieldId(), k.fieldList())
		}
		if !out[i].wild {
			return nil, errorf(codes.InvalidArgument, "match field %s (%d) is given twice", k.fields[i].name, m.GetFieldId())
		}
		v, err := k.fields[i].decode(m)
		if err != nil {
			// The match rules are INVALID_ARGUMENT, except for what does not fit its width (section "Bytestrings").
			return nil, wrap(err, "match field %s (%d)", k.fields[i].name, m.GetFieldId())
		}
		out[i] = v
	}
	for i := range out {
		if !out[i].wild {
			continue
		}
		f := &k.fields[i]
		n := byteLen(f.width)
		switch f.kind {
		case configv1.MatchField_EXACT:
			return nil, errorf(codes.InvalidArgument, "the exact match field %s (%d) is missing; the key has: %s", f.name, f.id, k.fieldList())
		case configv1.MatchField_RANGE:
			out[i].value, out[i].mask = make([]byte, n), maxValue(f.width)
		default:
			out[i].value, out[i].mask = make([]byte, n), make([]byte, n)
		}
	}
	return out, nil
}

func (f *fieldInfo) decode(m *p4v1.FieldMatch) (v matchValue, err error) {
	if f.sdn != "" {
		return v, errorf(codes.Unimplemented, "type %q is translated to strings, which is not supported here", f.sdn)
	}
	wrong := func(got string) error {
		return errorf(codes.InvalidArgument, "the field is matched %s, the entry says %s", kindName(f.kind), got)
	}
	switch x := m.GetFieldMatchType().(type) {
	case *p4v1.FieldMatch_Exact_:
		if f.kind != configv1.MatchField_EXACT {
			return v, wrong("exact")
		}
		v.value, err = appendValue(nil, x.Exact.GetValue(), f.width)
	case *p4v1.FieldMatch_Optional_:
		if f.kind != configv1.MatchField_OPTIONAL {
			return v, wrong("optional")
		}
		v.value, err = appendValue(nil, x.Optional.GetValue(), f.width)
		v.mask = maxValue(f.width)
	case *p4v1.FieldMatch_Lpm:
		if f.kind != configv1.MatchField_LPM {
			return v, wrong("lpm")
		}
		if v.value, err = appendValue(nil, x.Lpm.GetValue(), f.width); err != nil {
			return v, err
		}
		v.prefix = int(x.Lpm.GetPrefixLen())
		if v.prefix <= 0 || v.prefix > f.width {
			return v, errorf(codes.InvalidArgument, "the prefix length is %d; it must be 1 to %d (leave the field out for don't care)", v.prefix, f.width)
		}
		if trailingZeros(v.value) < f.width-v.prefix {
			return v, errorf(codes.InvalidArgument, "the value %s has bits set beyond its prefix of %d", hexString(x.Lpm.GetValue()), v.prefix)
		}
	case *p4v1.FieldMatch_Ternary_:
		if f.kind != configv1.MatchField_TERNARY {
			return v, wrong("ternary")
		}
		if v.value, err = appendValue(nil, x.Ternary.GetValue(), f.width); err != nil {
			return v, err
		}
		if v.mask, err = appendValue(nil, x.Ternary.GetMask(), f.width); err != nil {
			return v, wrap(err, "mask")
		}
		if bitLen(v.mask) == 0 {
			return v, errorf(codes.InvalidArgument, "the mask is zero; leave the field out for don't care")
		}
		for i := range v.value {
			if v.value[i]&^v.mask[i] != 0 {
				return v, errorf(codes.InvalidArgument, "the value %s has bits set that its mask %s leaves out", hexString(x.Ternary.GetValue()), hexString(x.Ternary.GetMask()))
			}
		}
	case *p4v1.FieldMatch_Range_:
		if f.kind != configv1.MatchField_RANGE {
			return v, wrong("range")
		}
		if v.value, err = appendValue(nil, x.Range.GetLow(), f.width); err != nil {
			return v, wrap(err, "low bound")
		}
		if v.mask, err = appendValue(nil, x.Range.GetHigh(), f.width); err != nil {
			return v, wrap(err, "high bound")
		}
		if bytes.Compare(v.value, v.mask) > 0 {
			return v, errorf(codes.InvalidArgument, "the low bound %s is above the high bound %s", hexString(x.Range.GetLow()), hexString(x.Range.GetHigh()))
		}
		if bitLen(v.value) == 0 && bytes.Equal(v.mask, maxValue(f.width)) {
			return v, errorf(codes.InvalidArgument, "the range holds every value; leave the field out for don't care")
		}
	default:
		return v, errorf(codes.InvalidArgument, "the field is matched %s, but no %s value is set", kindName(f.kind), kindName(f.kind))
	}
	return v, err
}

// encode is the canonical match of a decoded key: fields in P4Info order, don't-care fields left out, shortest
// bytestrings.
func (k *keyInfo) encode(values []matchValue) []*p4v1.FieldMatch {
	var out []*p4v1.FieldMatch
	for i, v := range values {
		if v.wild {
			continue
		}
		f := &k.fields[i]
		m := &p4v1.FieldMatch{FieldId: f.id}
		val := canonical(v.value)
		switch f.kind {
		case configv1.MatchField_EXACT:
			m.FieldMatchType = &p4v1.FieldMatch_Exact_{Exact: &p4v1.FieldMatch_Exact{Value: val}}
		case configv1.MatchField_OPTIONAL:
			m.FieldMatchType = &p4v1.FieldMatch_Optional_{Optional: &p4v1.FieldMatch_Optional{Value: val}}
		case configv1.MatchField_LPM:
			m.FieldMatchType = &p4v1.FieldMatch_Lpm{Lpm: &p4v1.FieldMatch_LPM{Value: val, PrefixLen: int32(v.prefix)}}
		case configv1.MatchField_TERNARY:
			m.FieldMatchType = &p4v1.FieldMatch_Ternary_{Ternary: &p4v1.FieldMatch_Ternary{Value: val, Mask: canonical(v.mask)}}
		case configv1.MatchField_RANGE:
			m.FieldMatchType = &p4v1.FieldMatch_Range_{Range: &p4v1.FieldMatch_Range{Low: val, High: canonical(v.mask)}}
		}
		out = append(out, m)
	}
	return out
}

// identity is a string that two keys share exactly if they are the same key.
func (k *keyInfo) identity(values []matchValue, priority int32) string {
	b := make([]byte, 0, 64)
	b = binary.BigEndian.AppendUint32(b, uint32(priority))
	for i, v := range values {
		b = append(b, v.value...)
		switch k.fields[i].kind {
		case configv1.MatchField_LPM:
			b = binary.BigEndian.AppendUint32(b, uint32(v.prefix))
		case configv1.MatchField_TERNARY, configv1.MatchField_RANGE, configv1.MatchField_OPTIONAL:
			b = append(b, v.mask...)
		}
	}
	return string(b)
}

func (k *keyInfo) fieldList() string {
	var names []string
	for _, f := range k.fields {
		names = append(names, fmt.Sprintf("%s (%d, %s bit<%d>)", f.name, f.id, kindName(f.kind), f.width))
	}
	return options(names)
}

// maxValue is the value of width one bits.
func maxValue(width int) []byte {
	b := bytes.Repeat([]byte{0xff}, byteLen(width))
	if width%8 != 0 {
		b[0] = 1<<(width%8) - 1
	}
	return b
}
