package bmv2json

import (
	"os"
	"testing"

	"khop/p4/ir"
	"khop/p4/parser"
	"khop/p4/preproc"
	"khop/p4/types"
	"khop/p4src"
)

// BenchmarkLeaf lowers and encodes the largest of the shipped programs.
func BenchmarkLeaf(b *testing.B) {
	const file = "../../p4src/leafspine-2x4-mp-hula/leaf.p4"
	src, err := os.ReadFile(file)
	if err != nil {
		b.Fatal(err)
	}
	out, _ := preproc.Run(file, src, preproc.Options{Builtin: p4src.Include})
	prog, _ := parser.Parse(out.Text, out.Map)
	info, list := types.Check(prog, out.Map, types.Options{NoWarnings: true})
	if list.HasErrors() {
		b.Fatal(list)
	}
	var p *ir.Program
	b.Run("lower", func(b *testing.B) {
		for b.Loop() {
			if p, list = ir.Build(info, out.Map); p == nil {
				b.Fatal(list)
			}
		}
	})
	b.Run("encode", func(b *testing.B) {
		for b.Loop() {
			p, _ = ir.Build(info, out.Map)
			js, list := Encode(p, Options{File: file, Pos: out.Map, Text: []byte(out.Text)})
			if js == nil {
				b.Fatal(list)
			}
			b.SetBytes(int64(len(js)))
		}
	})
}
