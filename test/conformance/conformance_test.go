package conformance

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	p4configv1 "github.com/p4lang/p4runtime/go/p4/config/v1"
	p4v1 "github.com/p4lang/p4runtime/go/p4/v1"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	"khop/p4"
	"khop/p4/diag"
	"khop/p4/types"
	"khop/test/stf"
)

// samples are the directories of programs that p4c accepts.
var samples = []string{"p4_16_samples/*.p4", "p4_16_samples/*/*.p4"}

// others are the v1model programs that p4c's back end compiles beside p4_16_samples/*-bmv2.p4.
var others = []string{
	"p4_16_samples/dash/*-bmv2.p4", "p4_16_samples/fabric_*/fabric.p4", "p4_16_samples/omec/*.p4", "p4_16_samples/pins/*.p4",
	"p4_16_samples/parser-inline/*.p4",
}

func TestCompileV1model(t *testing.T) {
	c := openCheckout(t)
	xfail := c.expectedFailures(t)
	var list []string
	for _, rel := range c.glob(t, "p4_16_samples/*-bmv2.p4") {
		text, err := os.ReadFile(c.path(rel))
		if err != nil {
			t.Fatal(err)
		}
		if includesV1model.Match(text) && !xfail[rel] {
			list = append(list, rel)
		}
	}
	list = append(list, c.glob(t, others...)...)
	runSuite(t, "compile-v1model", list, 332, func(rel string) string {
		return firstError(c.compile(rel).list)
	})
}

func TestSTFV1model(t *testing.T) {
	c := openCheckout(t)
	var list []string
	for _, rel := range c.glob(t, samples...) {
		if _, err := os.Stat(stfFile(c, rel)); err == nil && c.isV1model(t, rel) {
			list = append(list, rel)
		}
	}
	runSuite(t, "stf-v1model", list, 203, func(rel string) string {
		r := c.compile(rel)
		if e := firstError(r.list); e != "" {
			return e
		}
		text, err := os.ReadFile(stfFile(c, rel))
		if err != nil {
			return err.Error()
		}
		result, err := stf.Run(r.result.JSON, filepath.Base(stfFile(c, rel)), string(text))
		if err != nil {
			return err.Error()
		}
		return strings.Join(result.Failures, "; ")
	})
}

func stfFile(c checkout, rel string) string { return strings.TrimSuffix(c.path(rel), ".p4") + ".stf" }

// withGolden lists the samples for which P4Info of the v1model architecture is expected.
func (c checkout) withGolden(t *testing.T) []string {
	var list []string
	for _, rel := range c.glob(t, samples...) {
		if text, ok := c.golden(t, rel, ".p4info.txtpb"); ok && strings.Contains(text, `arch: "v1model"`) {
			list = append(list, rel)
		}
	}
	return list
}

func TestP4InfoV1model(t *testing.T) {
	c := openCheckout(t)
	runSuite(t, "p4info-v1model", c.withGolden(t), 449, func(rel string) string {
		r := c.compile(rel)
		if e := firstError(r.list); e != "" {
			return e
		}
		text, _ := c.golden(t, rel, ".p4info.txtpb")
		return difference(text, r.result.P4Info, &p4configv1.P4Info{})
	})
}

func TestEntries(t *testing.T) {
	c := openCheckout(t)
	var list []string
	for _, rel := range c.withGolden(t) {
		want := &p4v1.WriteRequest{}
		text, _ := c.golden(t, rel, ".entries.txtpb")
		if err := prototext.Unmarshal([]byte(text), want); err != nil {
			t.Fatalf("%s: golden entries: %v", rel, err)
		}
		if len(want.Updates) > 0 {
			list = append(list, rel)
		}
	}
	runSuite(t, "entries", list, 22, func(rel string) string {
		r := c.compile(rel)
		if e := firstError(r.list); e != "" {
			return e
		}
		if r.result.Entries == nil {
			return "no entries"
		}
		text, _ := c.golden(t, rel, ".entries.txtpb")
		return difference(text, r.result.Entries, &p4v1.WriteRequest{})
	})
}

// difference compares a message with the golden text, which it reads into want, and shows the first lines that differ.
func difference(golden string, got, want proto.Message) string {
	if err := prototext.Unmarshal([]byte(golden), want); err != nil {
		return "golden file: " + err.Error()
	}
	if proto.Equal(got, want) {
		return ""
	}
	w, g := lines(want), lines(got)
	i := 0
	for i < len(w) && i < len(g) && w[i] == g[i] {
		i++
	}
	for len(w) > i && len(g) > i && w[len(w)-1] == g[len(g)-1] {
		w, g = w[:len(w)-1], g[:len(g)-1]
	}
	return fmt.Sprintf("line %d: want %q, got %q", i+1, w[i:], g[i:])
}

// lines are those of the text form, without the blanks that the encoder varies.
func lines(m proto.Message) []string {
	list := strings.Split(prototext.MarshalOptions{Multiline: true}.Format(m), "\n")
	for i := range list {
		list[i] = strings.Join(strings.Fields(list[i]), " ")
	}
	return list
}

// rejections are the errors of a program apart from that of a missing package main, which p4c's front end does not ask for.
// failed is the reason when the compiler itself failed.
func rejections(list diag.List) (errors diag.List, failed string) {
	for _, d := range list {
		switch {
		case d.Severity != diag.Error || d.Code == types.CodeMain && strings.HasSuffix(d.Message, "has no main package"):
		case d.Code == p4.CodeInternal:
			return nil, d.Message
		default:
			errors = append(errors, d)
		}
	}
	return errors, ""
}

func (c checkout) compileWrong(rel string) *compiled {
	return c.compile(rel, filepath.Join(c.dir, "p4include"))
}

func rejected(list diag.List) string {
	errors, failed := rejections(list)
	switch {
	case failed != "":
		return failed
	case len(errors) == 0:
		return "accepted"
	}
	return ""
}

func TestErrors(t *testing.T) {
	c := openCheckout(t)
	runSuite(t, "errors", c.glob(t, "p4_16_errors/*.p4"), 581, func(rel string) string {
		return rejected(c.compileWrong(rel).list)
	})
}

func TestBMVErrors(t *testing.T) {
	c := openCheckout(t)
	runSuite(t, "p4_16_bmv_errors", c.glob(t, "p4_16_bmv_errors/*.p4"), 17, func(rel string) string {
		return rejected(c.compileWrong(rel).list)
	})
}

// place is FILE(LINE) at the start of a line of p4c's messages.
var place = regexp.MustCompile(`(?m)^([^\s(]+\.p4)\((\d+)\)`)

func TestErrorsLine(t *testing.T) {
	c := openCheckout(t)
	runSuite(t, "errors-line", c.glob(t, "p4_16_errors/*.p4"), 560, func(rel string) string {
		list := c.compileWrong(rel).list
		if reason := rejected(list); reason != "" {
			return reason
		}
		text, ok := c.golden(t, rel, "-stderr")
		if !ok {
			return "no golden messages"
		}
		var want []string
		for _, m := range place.FindAllStringSubmatch(text, -1) {
			want = append(want, m[1]+":"+m[2])
		}
		errors, _ := rejections(list)
		var got []string
		for _, d := range errors {
			at := filepath.Base(d.At.File) + ":" + strconv.Itoa(d.At.Line)
			if slices.Contains(want, at) {
				return ""
			}
			got = append(got, at)
		}
		if len(want) == 0 {
			return "" // p4c names no line
		}
		return fmt.Sprintf("errors at %v, want one of %v: %s", slices.Compact(got), slices.Compact(want), firstError(errors))
	})
}
