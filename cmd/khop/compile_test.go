package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// warnP4 is goodP4 with a warning: a constant that nothing uses.
var warnP4 = strings.Replace(goodP4, "struct h { }", "struct h { }\ncontrol unused_c(inout bit<8> x) { apply { } }", 1)

func writeFile(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// p4c's command line with a file behind -o writes that file, and P4Info only where it is asked for.
func TestCompileToFile(t *testing.T) {
	dir := t.TempDir()
	prog := writeFile(t, filepath.Join(dir, "prog.p4"), goodP4)
	out, info := filepath.Join(dir, "build", "x.json"), filepath.Join(dir, "x.txtpb")
	code, stdout, stderr := call(t, "compile", "--std", "p4-16", "--target", "bmv2", "--arch", "v1model", "-o", out, "--p4runtime-files", info, prog)
	if code != exitOK || stdout != out+"\n"+info+"\n" {
		t.Fatalf("exit code %d, output %q, errors %q", code, stdout, stderr)
	}
	if !exists(out) || !exists(info) || exists(filepath.Join(dir, "build", "x.p4info.bin")) {
		t.Error("the files written are not those asked for")
	}
	entries := filepath.Join(dir, "e.json")
	if code, _, stderr := call(t, "compile", "-o", out, "--p4runtime-entries-files", entries, prog); code != exitOK || !exists(entries) {
		t.Errorf("a program without entries: exit code %d, errors %q", code, stderr)
	}
}

func TestCompileSeveral(t *testing.T) {
	dir := t.TempDir()
	a, b := writeFile(t, filepath.Join(dir, "a.p4"), goodP4), writeFile(t, filepath.Join(dir, "b.p4"), goodP4)
	if code, _, stderr := call(t, "compile", a, b, "-o", dir); code != exitOK {
		t.Fatal(stderr)
	}
	for _, name := range []string{"a.json", "a.p4info.txtpb", "a.p4info.json", "a.p4info.bin", "b.json"} {
		if !exists(filepath.Join(dir, name)) {
			t.Errorf("%s is missing", name)
		}
	}
	// A wrong program does not keep the others from being compiled.
	wrong := writeFile(t, filepath.Join(dir, "wrong.p4"), strings.Replace(goodP4, "egress_spec", "egres_spec", 1))
	out := t.TempDir()
	if code, _, _ := call(t, "compile", wrong, b, "-o", out); code != exitFailed || !exists(filepath.Join(out, "b.json")) || exists(filepath.Join(out, "wrong.json")) {
		t.Errorf("exit code %d, or not the files expected", code)
	}
}

func TestCompileStdin(t *testing.T) {
	dir := t.TempDir()
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), []string{"compile", "-", "-o", dir}, strings.NewReader(goodP4), &stdout, &stderr); code != exitOK {
		t.Fatal(stderr.String())
	}
	if !exists(filepath.Join(dir, "stdin.json")) {
		t.Errorf("output:\n%s", stdout.String())
	}
	bad := strings.NewReader("const bit<8> x = y;\n")
	if code := run(t.Context(), []string{"compile", "-", "-o", dir}, bad, &stdout, &stderr); code != exitFailed || !strings.Contains(stderr.String(), "stdin:1:18") {
		t.Errorf("exit code %d, errors:\n%s", code, stderr.String())
	}
}

func TestCompilePreprocess(t *testing.T) {
	dir := t.TempDir()
	prog := writeFile(t, filepath.Join(dir, "prog.p4"), "#include \"inc.p4\"\n#ifdef __TARGET_BMV2__\nconst bit<8> t = A;\n#endif\n#ifdef A\nconst bit<8> a = A;\n#endif\n")
	inc := writeFile(t, filepath.Join(dir, "inc.p4"), "#include <core.p4>\n")
	tests := []struct {
		args       []string
		want, lack string
	}{
		{[]string{"-D", "A=7"}, "const bit<8> a = 7 ;", "= A"},
		{[]string{"-DA=7", "-UA"}, "const bit<8> t = A;", "const bit<8> a ="},
		{[]string{"-DA=7", "-U", "__TARGET_BMV2__"}, "const bit<8> a = 7 ;", "const bit<8> t ="},
	}
	for _, c := range tests {
		code, out, stderr := call(t, append([]string{"compile", "-E", prog}, c.args...)...)
		out = strings.Join(strings.Fields(out), " ")
		if code != exitOK || !strings.Contains(out, c.want) || strings.Contains(out, c.lack) {
			t.Errorf("%v: exit code %d, errors %q, want %q and no %q in:\n%s", c.args, code, stderr, c.want, c.lack, out)
		}
	}
	code, out, stderr := call(t, "compile", "-M", prog, "-o", "build")
	if want := filepath.Join("build", "prog.json") + ": " + prog + " \\\n  " + inc + "\n"; code != exitOK || out != want {
		t.Errorf("-M: exit code %d, errors %q, got %q, want %q", code, stderr, out, want)
	}
}

func TestCompileWarnings(t *testing.T) {
	dir := t.TempDir()
	prog := writeFile(t, filepath.Join(dir, "prog.p4"), warnP4)
	tests := []struct {
		args []string
		code int
		want string // in the messages; "" for no message
	}{
		{nil, exitOK, "warning: "},
		{[]string{"--Wdisable"}, exitOK, ""},
		{[]string{"--Wdisable=unused"}, exitOK, ""},
		{[]string{"--Wdisable=invalid-header"}, exitOK, "warning: "},
		{[]string{"--Werror"}, exitFailed, "error: "},
		{[]string{"--Werror=unused"}, exitFailed, "error: "},
		{[]string{"--Werror=uninitialized-use"}, exitOK, "warning: "},
		{[]string{"--Werror", "--Wdisable=unused"}, exitOK, ""},
		{[]string{"--Wdisable", "--Werror=unused"}, exitFailed, "error: "},
		{[]string{"--Werror=unusde"}, exitMisuse, "did you mean unused"},
	}
	for _, c := range tests {
		code, _, stderr := call(t, append([]string{"compile", prog, "-o", dir}, c.args...)...)
		if code != c.code || !strings.Contains(stderr, c.want) || c.want == "" && stderr != "" {
			t.Errorf("%v: exit code %d, want %d, and %q in:\n%s", c.args, code, c.code, c.want, stderr)
		}
	}
}

func TestCompileMisuse(t *testing.T) {
	prog := writeFile(t, filepath.Join(t.TempDir(), "prog.p4"), goodP4)
	for want, args := range map[string][]string{
		"valid is p4-16":         {prog, "--std", "p4-14"},
		"valid is v1model":       {prog, "--arch", "psa"},
		"takes a directory":      {prog, prog, "-o", "x.json"},
		"takes P4 files, or -f":  {},
		"go with one P4 file":    {prog, prog, "--p4runtime-files", "x.txtpb"},
		"does not tell a format": {prog, "-o", t.TempDir(), "--p4runtime-files", "x.pb"},
	} {
		if code, _, stderr := call(t, append([]string{"compile"}, args...)...); code != exitMisuse || !strings.Contains(stderr, want) {
			t.Errorf("%v: exit code %d, want %q in:\n%s", args, code, want, stderr)
		}
	}
}
