package types_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"khop/p4/diag"
	"khop/p4/types"
)

// A p4c checkout in P4C_DIR holds the reference compiler's own programs. Its samples must check without an error, and its wrong
// programs with an error on a line that the reference compiler names. What differs stands in the tables below, with the reason.

const (
	target      = "refused by a target or by the control-plane generator, not by the language"
	syntax      = "a question of syntax"
	noErrorType = "the reference compiler does not know the type error unless an error is declared"
	elsewhere   = "reported at another place"
	legal       = "legal by the specification"
)

// samplesRefused are programs of p4_16_samples that are not P4_16 1.2.5.
var samplesRefused = map[string]string{
	"externArray1.p4":             "arrays of instances",
	"generic-extern-inference.p4": "arrays of instances",
}

// errorsAccepted are programs of p4_16_errors without an error that the reference compiler names.
var errorsAccepted = map[string]string{
	"actions-with-duplicate-control-plane-names1.p4": target,
	"array4.p4":                                 target,
	"compound-assignment.p4":                    target,
	"div3.p4":                                   target,
	"issue1777-bmv2.p4":                         target,
	"issue1949-bmv2.p4":                         target,
	"issue2545.p4":                              target,
	"issue3291.p4":                              legal,
	"issue3299.p4":                              target,
	"issue5296_invalid_version.p4":              target,
	"issue5296_unknown_version.p4":              target,
	"issue532.p4":                               target,
	"key-name.p4":                               target,
	"multicast-bmv2.p4":                         target,
	"spec-ex32_e.p4":                            "@length is no annotation of the language any more",
	"init-entries-error1-bmv2.p4":               elsewhere,
	"init-entries-error3-bmv2.p4":               elsewhere,
	"p_e.p4":                                    elsewhere,
	"string-e2.p4":                              elsewhere,
	"structured-annotation-e.p4":                syntax,
	"twovarbit.p4":                              elsewhere,
	"expr-call-on-type-with-arguments.p4":       syntax,
	"expr-indexaccess-on-unsupported-type-2.p4": elsewhere,
	"expr-indexaccess-on-unsupported-type.p4":   noErrorType,
	"expr-typeaccess-on-unsupported-type.p4":    noErrorType,
	"equate-type-package-and-non-object.p4":     noErrorType,
	"explicit-cast-to-struct-from-kvlist-expr-with-field-of-incompatible-type.p4": noErrorType,
	"implicit-cast-to-incompatible-type-from-serenum-2.p4":                        noErrorType,
	"method-call-pop_front-on-non-stack-2.p4":                                     noErrorType,
	"explicit-cast-to-incompatible-type-from-tuple-expr-3.p4":                     syntax,
}

// noLine are programs for which the reference compiler names no line at all and that the checker accepts.
var noLine = map[string]string{
	"issue1803_same_table_name.p4":    target,
	"issue3613.p4":                    "the reference compiler needs core.p4 to translate a switch",
	"issue5703_header_union_stack.p4": target,
}

func conformanceDir(t *testing.T) string {
	dir := os.Getenv("P4C_DIR")
	if dir == "" {
		t.Skip("P4C_DIR is not set")
	}
	return dir
}

func TestSamples(t *testing.T) {
	dir := conformanceDir(t)
	files, _ := filepath.Glob(filepath.Join(dir, "testdata/p4_16_samples/*.p4"))
	if len(files) == 0 {
		t.Fatal("no samples in " + dir)
	}
	good := 0
	for _, f := range files {
		base := filepath.Base(f)
		list, ok := conformanceErrors(t, dir, f)
		_, refused := samplesRefused[base]
		switch {
		case ok && !refused:
			good++
		case ok:
			t.Errorf("%s checks by now; take it off the list", base)
		case !refused:
			t.Errorf("%s: %v", base, list)
		}
	}
	t.Logf("%d of %d samples check", good, len(files))
}

// conformanceErrors returns the places of a program's errors; ok tells that there are none.
func conformanceErrors(t *testing.T, dir, file string) (places []string, ok bool) {
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c, list := frontEnd(file, src, []string{filepath.Join(dir, "p4include"), filepath.Dir(file)}, types.Options{MaxErrors: 1000, NoWarnings: true})
	list = append(list, c.list...)
	for _, d := range list {
		if d.Severity == diag.Error {
			places = append(places, filepath.Base(d.At.File)+"("+strconv.Itoa(d.At.Line)+") "+d.Message)
		}
	}
	return places, len(places) == 0
}

var goldenPlace = regexp.MustCompile(`(?m)^([^\s(]+\.p4\(\d+\))`)

func TestErrors(t *testing.T) {
	dir := conformanceDir(t)
	files, _ := filepath.Glob(filepath.Join(dir, "testdata/p4_16_errors/*.p4"))
	if len(files) == 0 {
		t.Fatal("no error programs in " + dir)
	}
	good := 0
	for _, f := range files {
		base := filepath.Base(f)
		golden, err := os.ReadFile(filepath.Join(dir, "testdata/p4_16_errors_outputs", base+"-stderr"))
		if err != nil {
			t.Fatal(err)
		}
		places, ok := conformanceErrors(t, dir, f)
		_, excused := errorsAccepted[base]
		if _, none := noLine[base]; none {
			excused = true
		}
		match := matches(places, goldenPlace.FindAllString(string(golden), -1))
		switch {
		case match && !ok && excused:
			t.Errorf("%s is reported where it should be by now; take it off the list", base)
		case match && !ok:
			good++
		case !excused:
			t.Errorf("%s: errors %v, want one of %v", base, places, goldenPlace.FindAllString(string(golden), -1))
		}
	}
	t.Logf("%d of %d error programs are reported where the reference compiler does", good, len(files))
}

// matches tells whether an error stands at one of the golden places; where the golden output names none, any error will do.
func matches(places, golden []string) bool {
	for _, p := range places {
		if len(golden) == 0 {
			return true
		}
		for _, g := range golden {
			if strings.HasPrefix(p, g+" ") {
				return true
			}
		}
	}
	return false
}
