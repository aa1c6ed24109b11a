package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	p4configv1 "github.com/p4lang/p4runtime/go/p4/config/v1"
	p4v1 "github.com/p4lang/p4runtime/go/p4/v1"
	"github.com/spf13/cobra"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	"khop/codegen"
	"khop/p4"
)

func newCompileCmd() *cobra.Command {
	var spec, out, std, target, arch string
	var includes, defines, undefines, p4rtFiles, entriesFiles []string
	var preprocess, depend bool
	var policy warningPolicy
	cmd := &cobra.Command{
		Use:   "compile PROG.p4 ... | - | -f SPEC",
		Short: "Compile P4_16 programs for v1model to P4Info and bmv2 JSON",
		Long: `Compile P4_16 programs for v1model to P4Info (text, JSON and binary) and bmv2 JSON, which stock bmv2 loads as well.
With -f, the programs of a fabric are generated and compiled. The program - is read from the standard input.

The flags are those of p4c, so that its scripts work. If -o names a .json file, the JSON of the one program is written
there and nothing else but what --p4runtime-files and --p4runtime-entries-files name. Codes of warnings: khop explain.`,
		Example: `  khop compile basic.p4 -o build
  khop compile -f leafspine-2x4-mp-hula -o build
  khop compile --target bmv2 --arch v1model basic.p4 -o basic.json -I include -D PORTS=16 --p4runtime-files basic.p4info.txtpb`,
		RunE: func(cmd *cobra.Command, list []string) error {
			if err := checkTarget(std, target, arch); err != nil {
				return err
			}
			if (spec == "") == (len(list) == 0) {
				return usagef("compile takes P4 files, or -f and a fabric spec")
			}
			if len(list) != 1 && len(p4rtFiles)+len(entriesFiles) > 0 {
				return usagef("--p4runtime-files and --p4runtime-entries-files go with one P4 file")
			}
			toFile := filepath.Ext(out) == ".json"
			if toFile && len(list) != 1 {
				return usagef("-o %s names one file; with several programs it takes a directory", out)
			}
			if err := policy.check(); err != nil {
				return err
			}
			sources, err := compileInputs(cmd.InOrStdin(), spec, list)
			if err != nil {
				return err
			}
			opts := p4.Options{IncludeDirs: includes, Defines: defines, Undefines: undefines}
			if preprocess || depend {
				return preprocessOnly(cmd, sources, opts, out, depend)
			}
			dir := out
			if toFile {
				dir = filepath.Dir(out)
			}
			if err := os.MkdirAll(dir, 0o777); err != nil {
				return err
			}
			failed := false
			for _, s := range sources {
				result, diags, src := p4.CompileSource(s.name, s.text, opts)
				if reportDiagnostics(cmd.ErrOrStderr(), policy.apply(diags), src) != nil {
					failed = true
					continue
				}
				base := outputBase(out, s.name)
				files := outputs{json: base + ".json", p4info: p4rtFiles, entries: entriesFiles}
				if !toFile {
					files.fill(base, result)
				}
				if err := files.write(cmd.OutOrStdout(), result); err != nil {
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
	fl.StringVarP(&out, "out", "o", ".", "directory to write to, or a .json file")
	fl.StringArrayVarP(&includes, "include", "I", nil, "look for include files in this directory first")
	fl.StringArrayVarP(&defines, "define", "D", nil, "define a preprocessor macro, NAME or NAME=VALUE")
	fl.StringArrayVarP(&undefines, "undefine", "U", nil, "do not define this preprocessor macro")
	fl.BoolVarP(&preprocess, "preprocess", "E", false, "preprocess only, to the standard output")
	fl.BoolVarP(&depend, "depend", "M", false, "print a rule for make with the files that a program includes; compile nothing")
	fl.StringSliceVar(&p4rtFiles, "p4runtime-files", nil, "write P4Info to these files; the name tells the format: .txtpb or .txt, .json, .bin")
	fl.StringSliceVar(&entriesFiles, "p4runtime-entries-files", nil, "write the program's entries as a P4Runtime WriteRequest, formats as above")
	fl.StringVar(&std, "std", "p4-16", "language: p4-16 (or p4_16)")
	fl.StringVar(&target, "target", "bmv2", "target: bmv2")
	fl.StringVar(&arch, "arch", "v1model", "architecture: v1model")
	policy.flags(fl)
	return cmd
}

// checkTarget refuses what khop does not compile, or does not compile for.
func checkTarget(std, target, arch string) error {
	switch {
	case std != "p4-16" && std != "p4_16":
		return usagef("language %q is not supported; valid is p4-16", std)
	case target != "bmv2":
		return usagef("target %q is unknown; valid is bmv2", target)
	case arch != "v1model":
		return usagef("architecture %q is not supported; valid is v1model", arch)
	}
	return nil
}

// outputBase is the path of a program's files without the ending.
func outputBase(out, program string) string {
	if base, ok := strings.CutSuffix(out, ".json"); ok {
		return base
	}
	return filepath.Join(out, strings.TrimSuffix(filepath.Base(program), ".p4"))
}

// preprocessOnly prints the preprocessed programs, or rules for make.
func preprocessOnly(cmd *cobra.Command, sources []sourceFile, opts p4.Options, out string, depend bool) error {
	failed := false
	for _, s := range sources {
		pre, diags := p4.Preprocess(s.name, s.text, opts)
		if reportDiagnostics(cmd.ErrOrStderr(), diags, pre.Map) != nil {
			failed = true
			continue
		}
		if !depend {
			fmt.Fprint(cmd.OutOrStdout(), pre.Text)
			continue
		}
		deps := []string{s.name}
		for _, f := range pre.Includes {
			if _, err := os.Stat(f); err == nil { // a built-in library is no file
				deps = append(deps, f)
			}
		}
		for i := range deps {
			deps[i] = makeQuote(deps[i])
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", makeQuote(outputBase(out, s.name)+".json"), strings.Join(deps, " \\\n  "))
	}
	if failed {
		return errReported
	}
	return nil
}

// makeQuote writes a file name for a rule of make.
func makeQuote(name string) string {
	return strings.NewReplacer(" ", `\ `, "#", `\#`, "$", "$$").Replace(name)
}

type sourceFile struct {
	name string
	text []byte
}

// stdinName is what messages and output files call the program that is read from the standard input.
const stdinName = "stdin"

func compileInputs(stdin io.Reader, spec string, files []string) ([]sourceFile, error) {
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
		var text []byte
		var err error
		if name == "-" {
			name = stdinName
			text, err = io.ReadAll(stdin)
		} else {
			text, err = os.ReadFile(name)
		}
		if err != nil {
			return nil, err
		}
		list = append(list, sourceFile{name, text})
	}
	return list, nil
}

// outputs are the files that a program is compiled to.
type outputs struct {
	json            string
	p4info, entries []string
}

// fill adds the P4Info in all formats, and the entries if there are some, where the command line names no files.
func (o *outputs) fill(base string, r *p4.Result) {
	if o.p4info == nil {
		o.p4info = []string{base + ".p4info.txtpb", base + ".p4info.json", base + ".p4info.bin"}
	}
	if o.entries == nil && r.Entries != nil {
		o.entries = []string{base + ".entries.txtpb"}
	}
}

// write writes the files and tells their names.
func (o *outputs) write(w io.Writer, r *p4.Result) error {
	if err := os.WriteFile(o.json, r.JSON, 0o666); err != nil {
		return err
	}
	for _, name := range o.p4info {
		if err := writeProto(name, r.P4Info); err != nil {
			return err
		}
	}
	entries := r.Entries
	if entries == nil {
		entries = &p4v1.WriteRequest{}
	}
	for _, name := range o.entries {
		if err := writeProto(name, entries); err != nil {
			return err
		}
	}
	for _, name := range slices.Concat([]string{o.json}, o.p4info, o.entries) {
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
