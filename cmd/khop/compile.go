package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	p4configv1 "github.com/p4lang/p4runtime/go/p4/config/v1"
	"github.com/spf13/cobra"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	"khop/codegen"
	"khop/p4"
)

func newCompileCmd() *cobra.Command {
	var spec, out, target string
	var p4rtFiles, entriesFiles, includes, defines []string
	cmd := &cobra.Command{
		Use:   "compile PROG.p4 ... | -f SPEC",
		Short: "Compile P4_16 programs for v1model to P4Info and bmv2 JSON",
		Long: `Compile P4_16 programs for v1model to P4Info (text, JSON and binary) and bmv2 JSON, which stock bmv2 loads as well.
With -f, the programs of a fabric are generated and compiled.`,
		Example: `  khop compile basic.p4 -o build
  khop compile -f leafspine-2x4-mp-hula -o build
  khop compile basic.p4 -o build -I include -D PORTS=16 --p4runtime-files build/basic.p4info.txtpb`,
		RunE: func(cmd *cobra.Command, list []string) error {
			if target != "bmv2" {
				return usagef("target %q is unknown; valid is bmv2", target)
			}
			if (spec == "") == (len(list) == 0) {
				return usagef("compile takes P4 files, or -f and a fabric spec")
			}
			if len(list) != 1 && len(p4rtFiles)+len(entriesFiles) > 0 {
				return usagef("--p4runtime-files and --p4runtime-entries-files go with one P4 file")
			}
			sources, err := compileInputs(spec, list)
			if err != nil {
				return err
			}
			if err := os.MkdirAll(out, 0o777); err != nil {
				return err
			}
			failed := false
			for _, s := range sources {
				result, diags, src := p4.CompileSource(s.name, s.text, p4.Options{IncludeDirs: includes, Defines: defines})
				if reportDiagnostics(cmd.ErrOrStderr(), diags, src) != nil {
					failed = true
					continue
				}
				base := filepath.Join(out, strings.TrimSuffix(filepath.Base(s.name), ".p4"))
				if err := writeCompiled(cmd.OutOrStdout(), base, result, p4rtFiles, entriesFiles); err != nil {
					return err
				}
			}
			if failed {
				return errReported
			}
			return nil
		},
	}
	specFlag(cmd, &spec)
	fl := cmd.Flags()
	fl.StringVarP(&out, "out", "o", ".", "directory to write to")
	fl.StringArrayVarP(&includes, "include", "I", nil, "look for include files in this directory first")
	fl.StringArrayVarP(&defines, "define", "D", nil, "define a preprocessor macro, NAME or NAME=VALUE")
	fl.StringSliceVar(&p4rtFiles, "p4runtime-files", nil, "write P4Info to these files; the name tells the format: .txtpb or .txt, .json, .bin")
	fl.StringSliceVar(&entriesFiles, "p4runtime-entries-files", nil, "write the program's entries as a P4Runtime WriteRequest, formats as above")
	fl.StringVar(&target, "target", "bmv2", "target: bmv2")
	return cmd
}

type sourceFile struct {
	name string
	text []byte
}

func compileInputs(spec string, files []string) ([]sourceFile, error) {
	var list []sourceFile
	if spec != "" {
		f, err := loadSpec(spec)
		if err != nil {
			return nil, err
		}
		programs, err := codegen.Generate(f)
		if err != nil {
			return nil, err
		}
		for _, p := range programs {
			list = append(list, sourceFile{p.Name, p.Source})
		}
		return list, nil
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		list = append(list, sourceFile{name, text})
	}
	return list, nil
}

// writeCompiled writes BASE.json, the P4Info in all formats, and the entries if there are some.
func writeCompiled(w io.Writer, base string, r *p4.Result, p4rtFiles, entriesFiles []string) error {
	files := []string{base + ".json"}
	if err := os.WriteFile(files[0], r.JSON, 0o666); err != nil {
		return err
	}
	if p4rtFiles == nil {
		p4rtFiles = []string{base + ".p4info.txtpb", base + ".p4info.json", base + ".p4info.bin"}
	}
	for _, name := range p4rtFiles {
		if err := writeProto(name, r.P4Info); err != nil {
			return err
		}
		files = append(files, name)
	}
	if r.Entries != nil && entriesFiles == nil {
		entriesFiles = []string{base + ".entries.txtpb"}
	}
	for _, name := range entriesFiles {
		if err := writeProto(name, r.Entries); err != nil {
			return err
		}
		files = append(files, name)
	}
	for _, name := range files {
		fmt.Fprintln(w, name)
	}
	return nil
}

// spaces: the text encoder varies the blanks between builds, so that nobody takes its output for stable; ours is.
var (
	spaces     = regexp.MustCompile(`(?m)^(\s*[\w.\[\]/]+:) +`)
	jsonSpaces = regexp.MustCompile(`(?m)^(\s*"[^"]*":) +`)
)

// writeProto writes a message in the format that the file name tells.
func writeProto(name string, m proto.Message) error {
	var data []byte
	var err error
	switch filepath.Ext(name) {
	case ".json":
		data, err = protojson.MarshalOptions{Multiline: true}.Marshal(m)
		data = append(jsonSpaces.ReplaceAll(data, []byte("$1 ")), '\n')
	case ".bin":
		data, err = proto.MarshalOptions{Deterministic: true}.Marshal(m)
	case ".txtpb", ".txt":
		data, err = prototext.MarshalOptions{Multiline: true}.Marshal(m)
		data = spaces.ReplaceAll(data, []byte("$1 "))
	default:
		return usagef("the name %s does not tell a format; valid endings are .txtpb, .txt, .json and .bin", name)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return os.WriteFile(name, data, 0o666)
}

// compileProgram compiles a generated program for the controller.
func compileProgram(name string, source []byte) (*p4configv1.P4Info, []byte, error) {
	result, diags, src := p4.CompileSource(name, source, p4.Options{})
	if diags.HasErrors() {
		var text bytes.Buffer
		_ = reportDiagnostics(&text, diags, src) // the list is the error
		return nil, nil, fmt.Errorf("the generated program has errors:\n%s", strings.TrimSpace(text.String()))
	}
	return result.P4Info, result.JSON, nil
}
