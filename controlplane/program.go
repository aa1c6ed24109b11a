package controlplane

import (
	"fmt"
	"hash/fnv"

	p4configv1 "github.com/p4lang/p4runtime/go/p4/config/v1"
	p4v1 "github.com/p4lang/p4runtime/go/p4/v1"

	"khop/codegen"
	"khop/fabric"
)

// CompileFunc compiles one P4_16 program to P4Info and bmv2 JSON; name is for messages.
type CompileFunc func(name string, source []byte) (*p4configv1.P4Info, []byte, error)

// Program is the compiled program of a role, ready to be pushed.
type Program struct {
	Role   fabric.Role
	Name   string // of the P4 source file
	Source []byte
	P4Info *p4configv1.P4Info
	JSON   []byte
	Codec  *Codec
}

// BuildPrograms generates and compiles the programs of a fabric, one for each role that it has.
func BuildPrograms(f *fabric.Fabric, compile CompileFunc) ([]*Program, error) {
	sources, err := codegen.Generate(f)
	if err != nil {
		return nil, err
	}
	var list []*Program
	for _, s := range sources {
		p := &Program{Role: s.Role, Name: s.Name, Source: s.Source}
		if p.P4Info, p.JSON, err = compile(s.Name, s.Source); err != nil {
			return nil, fmt.Errorf("compile %s: %w", s.Name, err)
		}
		if p.Codec, err = NewCodec(f, s.Role, p.P4Info); err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}

// Config returns the pipeline configuration. Its cookie is a hash of the device config, by which a push sees whether a
// switch runs the program already.
func (p *Program) Config() *p4v1.ForwardingPipelineConfig {
	h := fnv.New64a()
	h.Write(p.JSON)
	return &p4v1.ForwardingPipelineConfig{
		P4Info:         p.P4Info,
		P4DeviceConfig: p.JSON,
		Cookie:         &p4v1.ForwardingPipelineConfig_Cookie{Cookie: h.Sum64()},
	}
}
