package conformance

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"khop/p4"
	"khop/p4/diag"
)

const (
	atOnce    = 2                // programs under way
	limit     = 30 * time.Second // for one program
	maxReason = 400              // characters of a reason that are printed
)

// miss is a program that does not behave as expected.
type miss struct{ name, reason string }

// runSuite checks every program, prints the suite's line and the misses. check returns the reason why a program misses, or "".
// least is how many passed with p4c of 2026-08, so that a step back shows; it holds when all programs are run.
func runSuite(t *testing.T, suite string, programs []string, least int, check func(rel string) string) {
	reasons := make([]string, len(programs))
	var g errgroup.Group
	g.SetLimit(atOnce)
	for i, rel := range programs {
		g.Go(func() error {
			reasons[i] = within(func() string { return check(rel) })
			return nil
		})
	}
	_ = g.Wait() // reasons hold what went wrong
	var list []miss
	for i, r := range reasons {
		if r != "" {
			list = append(list, miss{programs[i], r})
		}
	}
	passed := len(programs) - len(list)
	fmt.Printf("%s: %d/%d\n", suite, passed, len(programs))
	for _, m := range list {
		if len(m.reason) > maxReason {
			m.reason = m.reason[:maxReason] + "..."
		}
		t.Logf("%s: %s", m.name, m.reason)
	}
	if os.Getenv("P4C_RUN") == "" && passed < least {
		t.Errorf("%s: %d programs pass, want at least %d", suite, passed, least)
	}
}

// within runs a check with a time limit and takes a panic for a miss. A check that does not end goes on in the background.
func within(check func() string) string {
	done := make(chan string, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				done <- fmt.Sprintf("panic: %v", p)
			}
		}()
		done <- check()
	}()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case reason := <-done:
		return reason
	case <-timer.C:
		return fmt.Sprintf("does not end within %v", limit)
	}
}

// compiled is what the compiler made of a program.
type compiled struct {
	once   sync.Once
	result *p4.Result
	list   diag.List
}

// compiler compiles each program once for all suites.
type compiler struct {
	mutex sync.Mutex
	done  map[string]*compiled
}

var shared = &compiler{done: map[string]*compiled{}}

// compile compiles a program with khop's own core.p4 and v1model.p4; dirs are searched before.
func (c checkout) compile(rel string, dirs ...string) *compiled {
	shared.mutex.Lock()
	r := shared.done[rel]
	if r == nil {
		r = &compiled{}
		shared.done[rel] = r
	}
	shared.mutex.Unlock()
	r.once.Do(func() {
		source, err := os.ReadFile(c.path(rel))
		if err != nil {
			r.list = diag.List{{Message: err.Error()}}
			return
		}
		r.result, r.list = p4.Compile(c.path(rel), source, p4.Options{IncludeDirs: dirs})
	})
	return r
}

// firstError returns the first error, short; "" if there is none.
func firstError(list diag.List) string {
	for _, d := range list {
		if d.Severity == diag.Error {
			return fmt.Sprintf("%s:%d: %s [%s]", filepath.Base(d.At.File), d.At.Line, d.Message, d.Code)
		}
	}
	return ""
}
