package conformance

import (
	"crypto/sha1"
	"crypto/sha256"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"khop/p4"
	"khop/test/stf"
)

// hash is a hash function of an 8-byte key whose rounds are written out one after another in a single action.
type hash struct {
	name   string
	rounds int
	words  int // of the digest
	body   func(rounds int) string
	sum    func(key []byte) []byte
}

var hashes = []hash{
	{"SHA-1", 80, 5, sha1Body, func(key []byte) []byte { s := sha1.Sum(key); return s[:] }},
	{"SHA-256", 64, 8, sha256Body, func(key []byte) []byte { s := sha256.Sum256(key); return s[:] }},
}

// block declares two variables, and the words of the one block that an 8-byte key is padded to (FIPS 180-4 section 5.1.1).
func block(b *strings.Builder) {
	b.WriteString("bit<32> t; bit<32> u;\n")
	words := [16]string{0: "h.k.key[63:32]", 1: "h.k.key[31:0]", 2: "32w0x80000000", 15: "32w64"}
	for i, w := range words {
		if w == "" {
			w = "32w0"
		}
		fmt.Fprintf(b, "bit<32> w%d = %s;\n", i, w)
	}
}

func rotl(x string, n int) string { return fmt.Sprintf("((%s << %d) | (%s >> %d))", x, n, x, 32-n) }

func rotr(x string, n int) string { return rotl(x, 32-n) }

// start declares the working variables, and end adds them to the initial values and writes the digest.
func start(b *strings.Builder, iv []uint32) {
	for i, v := range iv {
		fmt.Fprintf(b, "bit<32> %c = 32w%#x;\n", 'a'+i, v)
	}
}

func end(b *strings.Builder, iv []uint32) {
	for i, v := range iv {
		high := 32*(len(iv)-i) - 1
		fmt.Fprintf(b, "h.k.digest[%d:%d] = 32w%#x + %c;\n", high, high-31, v, 'a'+i)
	}
}

// sha1Body is FIPS 180-4 section 6.1.2.
func sha1Body(rounds int) string {
	iv := []uint32{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0}
	var b strings.Builder
	block(&b)
	for i := 16; i < rounds; i++ {
		x := fmt.Sprintf("(w%d ^ w%d ^ w%d ^ w%d)", i-3, i-8, i-14, i-16)
		fmt.Fprintf(&b, "u = %s;\nbit<32> w%d = %s;\n", x, i, rotl("u", 1))
	}
	start(&b, iv)
	for i := range rounds {
		f, k := "(b ^ c ^ d)", uint32(0x6ed9eba1)
		switch {
		case i < 20:
			f, k = "((b & c) | (~b & d))", 0x5a827999
		case i >= 60:
			k = 0xca62c1d6
		case i >= 40:
			f, k = "((b & c) | (b & d) | (c & d))", 0x8f1bbcdc
		}
		fmt.Fprintf(&b, "t = %s + %s + e + 32w%#x + w%d; e = d; d = c; c = %s; b = a; a = t;\n", rotl("a", 5), f, k, i, rotl("b", 30))
	}
	end(&b, iv)
	return b.String()
}

// roots are the first 32 bits of the fractional parts of the n-th roots of the first primes: the constants of SHA-256 (FIPS
// 180-4 sections 4.2.2 and 5.3.3).
func roots(count int, root func(float64) float64) []uint32 {
	var list []uint32
	for p := int64(2); len(list) < count; p++ {
		if big.NewInt(p).ProbablyPrime(0) {
			_, fraction := math.Modf(root(float64(p)))
			list = append(list, uint32(fraction*(1<<32)))
		}
	}
	return list
}

// sha256Body is FIPS 180-4 section 6.2.2.
func sha256Body(rounds int) string {
	iv := roots(8, math.Sqrt)
	k := roots(rounds, math.Cbrt)
	var b strings.Builder
	block(&b)
	for i := 16; i < rounds; i++ {
		x, y := fmt.Sprintf("w%d", i-15), fmt.Sprintf("w%d", i-2)
		fmt.Fprintf(&b, "bit<32> w%d = w%d + (%s ^ %s ^ (%s >> 3)) + w%d + (%s ^ %s ^ (%s >> 10));\n", i, i-16,
			rotr(x, 7), rotr(x, 18), x, i-7, rotr(y, 17), rotr(y, 19), y)
	}
	start(&b, iv)
	for i := range rounds {
		fmt.Fprintf(&b, "t = h_ + (%s ^ %s ^ %s) + ((e & f) ^ (~e & g)) + 32w%#x + w%d;\n", rotr("e", 6), rotr("e", 11), rotr("e", 25), k[i], i)
		fmt.Fprintf(&b, "u = (%s ^ %s ^ %s) + ((a & b) ^ (a & c) ^ (b & c));\n", rotr("a", 2), rotr("a", 13), rotr("a", 22))
		b.WriteString("h_ = g; g = f; f = e; e = d + t; d = c; c = b; b = a; a = t + u;\n")
	}
	end(&b, iv)
	// The headers are called h, so the eighth variable is not.
	return strings.NewReplacer("bit<32> h =", "bit<32> h_ =", "+ h;", "+ h_;").Replace(b.String())
}

func (x hash) program(rounds int) []byte {
	return fmt.Appendf(nil, `#include <core.p4>
#include <v1model.p4>
header key_t { bit<64> key; bit<%d> digest; }
struct headers { key_t k; }
struct metadata { }
parser P(packet_in p, out headers h, inout metadata m, inout standard_metadata_t s) {
    state start { p.extract(h.k); transition accept; }
}
control V(inout headers h, inout metadata m) { apply { } }
control I(inout headers h, inout metadata m, inout standard_metadata_t s) {
    action digest() {
%s
    }
    apply { digest(); s.egress_spec = 1; }
}
control E(inout headers h, inout metadata m, inout standard_metadata_t s) { apply { } }
control C(inout headers h, inout metadata m) { apply { } }
control D(packet_out p, in headers h) { apply { p.emit(h.k); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
`, 32*x.words, x.body(rounds))
}

func (x hash) compile(t testing.TB, rounds int) []byte {
	result, list := p4.Compile(x.name+".p4", x.program(rounds), p4.Options{})
	if list.HasErrors() {
		t.Fatalf("%s with %d rounds: %v", x.name, rounds, list)
	}
	return result.JSON
}

// All rounds in one action give the digest that the standard library gives.
func TestStraightLineHash(t *testing.T) {
	for _, x := range hashes {
		key := []byte{0, 1, 0x7f, 0x80, 0xfe, 0xff, 0x55, 0xaa}
		test := fmt.Sprintf("packet 0 %X%s\nexpect 1 %X%X$\n", key, strings.Repeat("00", 4*x.words), key, x.sum(key))
		result, err := stf.Run(x.compile(t, x.rounds), x.name+".stf", test)
		if err != nil {
			t.Fatal(err)
		}
		if len(result.Failures) > 0 || result.Expected != 1 {
			t.Errorf("%s: %d packets compared, %v", x.name, result.Expected, result.Failures)
		}
	}
}

// Twice as many rounds take no more than a little over twice the JSON: nothing grows with what came before.
func TestStraightLineSize(t *testing.T) {
	for _, x := range hashes {
		half, full := len(x.compile(t, x.rounds/2)), len(x.compile(t, x.rounds))
		if ratio := float64(full) / float64(half); ratio > 2.3 {
			t.Errorf("%s: the JSON of %d rounds has %d bytes, %.2f times that of %d rounds", x.name, x.rounds, full, ratio, x.rounds/2)
		}
	}
}

// The time of n and 2n rounds tells whether the compiler is linear in straight-line code.
func BenchmarkStraightLineHash(b *testing.B) {
	for _, x := range hashes {
		for _, rounds := range []int{x.rounds / 2, x.rounds} {
			program := x.program(rounds)
			b.Run(fmt.Sprintf("%s/%d", x.name, rounds), func(b *testing.B) {
				for b.Loop() {
					p4.Compile(x.name+".p4", program, p4.Options{})
				}
			})
		}
	}
}
