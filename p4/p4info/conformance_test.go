package p4info

import (
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	p4configv1 "github.com/p4lang/p4runtime/go/p4/config/v1"
	p4v1 "github.com/p4lang/p4runtime/go/p4/v1"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	"khop/p4/diag"
	"khop/p4/ir"
	"khop/p4/parser"
	"khop/p4/preproc"
	"khop/p4/types"
	"khop/p4src"
)

// compile takes a program as far as P4Info.
func compile(file string, src []byte, dirs ...string) (*p4configv1.P4Info, *p4v1.WriteRequest, diag.List) {
	out, list := preproc.Run(file, src, preproc.Options{IncludeDirs: dirs, Builtin: p4src.Include})
	if list.HasErrors() {
		return nil, nil, list
	}
	prog, list := parser.Parse(out.Text, out.Map)
	if list.HasErrors() {
		return nil, nil, list
	}
	info, list := types.Check(prog, out.Map, types.Options{NoWarnings: true})
	if list.HasErrors() {
		return nil, nil, list
	}
	p, list := ir.Build(info, out.Map)
	if p == nil {
		return nil, nil, list
	}
	return Build(p, out.Map)
}

// TestConformance compares P4Info and entries with those that p4c gives for its own v1model programs. P4C_DIR is a p4c checkout;
// P4C_RUN selects programs by a part of their name and shows the differences.
func TestConformance(t *testing.T) {
	root := os.Getenv("P4C_DIR")
	if root == "" {
		t.Skip("P4C_DIR is not set")
	}
	only := os.Getenv("P4C_RUN")
	samples := filepath.Join(root, "testdata", "p4_16_samples")
	files, err := filepath.Glob(filepath.Join(samples, "*.p4"))
	if err != nil {
		t.Fatal(err)
	}
	sub, _ := filepath.Glob(filepath.Join(samples, "*", "*.p4"))
	files = append(files, sub...)
	sort.Strings(files)
	equal, differ, rejected, total := 0, 0, 0, 0
	for _, f := range files {
		rel, _ := filepath.Rel(samples, f)
		golden := filepath.Join(root, "testdata", "p4_16_samples_outputs", rel)
		want, err := os.ReadFile(golden + ".p4info.txtpb")
		src, _ := os.ReadFile(f)
		if err != nil || !strings.Contains(string(want), `arch: "v1model"`) || !strings.Contains(rel, only) {
			continue
		}
		total++
		info, entries, list := compile(f, src, filepath.Join(root, "p4include"))
		if info == nil {
			rejected++
			t.Logf("%s: rejected: %v", rel, list)
			continue
		}
		wantInfo, wantEntries := &p4configv1.P4Info{}, &p4v1.WriteRequest{}
		if err := prototext.Unmarshal(want, wantInfo); err != nil {
			t.Fatal(rel, err)
		}
		if text, err := os.ReadFile(golden + ".entries.txtpb"); err == nil {
			if err := prototext.Unmarshal(text, wantEntries); err != nil {
				t.Fatal(rel, err)
			}
		}
		if entries == nil {
			entries = &p4v1.WriteRequest{}
		}
		if proto.Equal(info, wantInfo) && proto.Equal(entries, wantEntries) {
			equal++
			continue
		}
		differ++
		if only != "" {
			t.Logf("%s: p4info (-want +got):\n%s", rel, lineDiff(wantInfo, info))
			t.Logf("%s: entries (-want +got):\n%s", rel, lineDiff(wantEntries, entries))
		} else {
			t.Logf("%s: differs", rel)
		}
	}
	t.Logf("%d programs: %d equal, %d differ, %d rejected", total, equal, differ, rejected)
}

// lineDiff shows the lines of two messages from the first difference to the last.
func lineDiff(want, got proto.Message) string {
	format := func(m proto.Message) []string {
		text := strings.ReplaceAll(prototext.MarshalOptions{Multiline: true}.Format(m), ":  ", ": ")
		return strings.Split(text, "\n")
	}
	a, b := format(want), format(got)
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	for len(a) > i && len(b) > i && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	var out strings.Builder
	for j := max(0, i-3); j < i; j++ {
		out.WriteString("  " + a[j] + "\n")
	}
	for _, l := range a[i:] {
		out.WriteString("- " + l + "\n")
	}
	for _, l := range b[i:] {
		out.WriteString("+ " + l + "\n")
	}
	return out.String()
}
