// Package floors holds the test that keeps imports pointing downwards (docs/architecture.md).
package floors

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

const module = "khop/"

// A listed package, as `go list -json` prints it.
type listed struct {
	ImportPath                         string
	Imports, TestImports, XTestImports []string
}

// readFloors reads the table of floors: room (first path element, or cmd/khop) to floor.
func readFloors(t *testing.T, file string) map[string]int {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	row := regexp.MustCompile("^\\| (\\d+) \\| ((?:`[^`]+` ?)+)\\|")
	name := regexp.MustCompile("`([^`]+)`")
	floors := map[string]int{}
	for s := bufio.NewScanner(f); s.Scan(); {
		m := row.FindStringSubmatch(s.Text())
		if m == nil {
			continue
		}
		floor, _ := strconv.Atoi(m[1])
		for _, n := range name.FindAllStringSubmatch(m[2], -1) {
			floors[n[1]] = floor
		}
	}
	if len(floors) == 0 {
		t.Fatalf("%s has no table of floors", file)
	}
	return floors
}

// room returns the first path element of a package of ours, or cmd/khop.
func room(path string) string {
	path = strings.TrimPrefix(path, module)
	if strings.HasPrefix(path, "cmd/") {
		return "cmd/khop"
	}
	first, _, _ := strings.Cut(path, "/")
	return first
}

func TestImportsPointDownwards(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	floors := readFloors(t, filepath.Join(root, "docs", "architecture.md"))
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports,TestImports,XTestImports", "./...")
	cmd.Dir = root
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		from := room(p.ImportPath)
		if from == "internal" {
			continue
		}
		floor, ok := floors[from]
		if !ok {
			t.Errorf("%s stands on no floor: add %q to docs/architecture.md", p.ImportPath, from)
			continue
		}
		for _, imports := range [][]string{p.Imports, p.TestImports, p.XTestImports} {
			for _, i := range imports {
				to := room(i)
				if !strings.HasPrefix(i, module) || to == from || to == "internal" {
					continue
				}
				if floors[to] >= floor {
					t.Errorf("%s (floor %d) imports %s (floor %d): imports point downwards", p.ImportPath, floor, i, floors[to])
				}
			}
		}
	}
}
