package stf

import (
	"fmt"
	"math/big"
	"strings"

	"khop/bmv2/pipeline"
)

// digits tells the base of a value and the bits that a digit stands for; 0 bits for decimal.
func digits(text string) (base, bits int, rest string) {
	if len(text) > 1 && text[0] == '0' {
		switch text[1] {
		case 'x', 'X':
			return 16, 4, text[2:]
		case 'b', 'B':
			return 2, 1, text[2:]
		case 'o', 'O':
			return 8, 3, text[2:]
		}
	}
	return 10, 0, text
}

// number reads a value of at most width bits as a big-endian byte string.
func number(text string, width int) ([]byte, error) {
	base, _, rest := digits(text)
	v, ok := new(big.Int).SetString(rest, base)
	if !ok {
		return nil, fmt.Errorf("%q is no number; valid are decimal, 0x, 0o and 0b", text)
	}
	return fit(v, text, width)
}

func fit(v *big.Int, text string, width int) ([]byte, error) {
	if v.Sign() < 0 {
		v.Add(v, new(big.Int).Lsh(big.NewInt(1), uint(width)))
	}
	if v.Sign() < 0 || v.BitLen() > width {
		return nil, fmt.Errorf("%s does not fit into %d bits", text, width)
	}
	return v.FillBytes(make([]byte, (width+7)/8)), nil
}

// match builds the match of a key.
func match(k pipeline.KeyInfo, text string) (pipeline.FieldMatch, error) {
	switch k.Kind {
	case pipeline.Exact:
		v, err := number(text, k.Width)
		return pipeline.FieldMatch{Value: v}, err
	case pipeline.LPM:
		return lpm(k, text)
	case pipeline.Ternary:
		return ternary(k, text)
	}
	return pipeline.FieldMatch{}, fmt.Errorf("key %s is a %v; tests can match exact, lpm, ternary and optional keys", k.Name, k.Kind)
}

// lpm: stars at the end set the prefix length, or /n does; a value without either matches exactly.
func lpm(k pipeline.KeyInfo, text string) (pipeline.FieldMatch, error) {
	text, length, slash := strings.Cut(text, "/")
	prefix := k.Width
	_, bits, rest := digits(text)
	switch {
	case slash:
		n, err := number(length, 16)
		if err != nil {
			return pipeline.FieldMatch{}, err
		}
		prefix = int(n[0])<<8 | int(n[1])
	case strings.Contains(rest, "*"):
		prefix = strings.IndexByte(rest, '*') * bits
		if strings.Trim(rest[strings.IndexByte(rest, '*'):], "*") != "" {
			return pipeline.FieldMatch{}, fmt.Errorf("%s: the stars of a prefix stand at its end", text)
		}
	}
	if prefix > k.Width {
		return pipeline.FieldMatch{}, fmt.Errorf("%s: a prefix of %d bits is longer than the key of %d", text, prefix, k.Width)
	}
	v, err := number(strings.ReplaceAll(text, "*", "0"), k.Width)
	return pipeline.FieldMatch{Value: v, PrefixLen: prefix}, err
}

// ternary: a star is a digit that doesn't matter, and so are the bits before the first digit.
func ternary(k pipeline.KeyInfo, text string) (pipeline.FieldMatch, error) {
	base, bits, rest := digits(text)
	if value, mask, ok := strings.Cut(text, "&&&"); ok {
		v, err := number(value, k.Width)
		if err != nil {
			return pipeline.FieldMatch{}, err
		}
		m, err := number(mask, k.Width)
		return pipeline.FieldMatch{Value: v, Mask: m}, err
	}
	mask := new(big.Int)
	if bits == 0 {
		mask.Sub(new(big.Int).Lsh(big.NewInt(1), uint(k.Width)), big.NewInt(1))
	}
	for _, c := range rest {
		if bits == 0 {
			break
		}
		mask.Lsh(mask, uint(bits))
		if c != '*' {
			mask.Or(mask, big.NewInt(int64(base-1)))
		}
	}
	all := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(k.Width)), big.NewInt(1))
	mask.And(mask, all)
	v, err := number(strings.ReplaceAll(text, "*", "0"), k.Width)
	if err != nil {
		return pipeline.FieldMatch{}, err
	}
	return pipeline.FieldMatch{Value: v, Mask: mask.FillBytes(make([]byte, (k.Width+7)/8))}, nil
}
