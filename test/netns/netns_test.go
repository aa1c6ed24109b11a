// Package netns tests khop with real Linux hosts: network namespaces on veth pairs, kernel TCP and MPTCP, all offloads on.
//
// It runs as root with KHOP_NETNS=1 and is skipped otherwise. The namespaces are made by the run, and are gone after it.
package netns

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The test binary is also the traffic program that runs inside the namespaces: this variable tells its part.
const roleVar = "KHOP_NETNS_ROLE"

func TestMain(m *testing.M) {
	role := strings.Fields(os.Getenv(roleVar))
	if len(role) == 0 {
		os.Exit(m.Run())
	}
	if err := traffic(role[0], role[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

const transferBytes = 4 << 20

// traffic serves one MPTCP connection at addr, or sends transferBytes to it. The server answers with what it counted.
func traffic(role, addr string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if role == "serve" {
		var lc net.ListenConfig
		lc.SetMultipathTCP(true)
		l, err := lc.Listen(ctx, "tcp", addr)
		if err != nil {
			return err
		}
		fmt.Println("listening")
		c, err := l.Accept()
		if err != nil {
			return err
		}
		n, err := io.Copy(io.Discard, c)
		if err != nil {
			return err
		}
		fmt.Fprintln(c, n)
		return c.Close()
	}
	var d net.Dialer
	d.SetMultipathTCP(true)
	c, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	if _, err := c.Write(make([]byte, transferBytes)); err != nil {
		return err
	}
	fmt.Println("sent")
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil { // keeps the connection open until the test has looked
		return err
	}
	mptcp, err := c.(*net.TCPConn).MultipathTCP()
	if err != nil {
		return err
	}
	if err := c.(*net.TCPConn).CloseWrite(); err != nil {
		return err
	}
	answer, err := io.ReadAll(c)
	if err != nil {
		return err
	}
	fmt.Printf("mptcp=%v server counted %s", mptcp, answer)
	return nil
}

type lab struct {
	t    *testing.T
	khop string
}

func (l *lab) must(name string, args ...string) string {
	l.t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		l.t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// in runs a command in a namespace.
func (l *lab) in(ns string, args ...string) string {
	l.t.Helper()
	return l.must("ip", append([]string{"netns", "exec", ns}, args...)...)
}

// Names of the namespaces: the switches', and a host on each leaf.
const (
	nsSwitches = "khoptest-sw"
	nsHost1    = "khoptest-h1"
	nsHost2    = "khoptest-h2"
)

// up makes the namespaces and starts the fabric of spec in them.
func up(t *testing.T, spec string) *lab {
	if os.Getenv("KHOP_NETNS") == "" {
		t.Skip("KHOP_NETNS is not set")
	}
	if os.Getuid() != 0 {
		t.Skip("not root")
	}
	l := &lab{t: t, khop: filepath.Join(t.TempDir(), "khop")}
	build := exec.Command("go", "build", "-o", l.khop, "./cmd/khop")
	build.Dir, build.Env = "../..", append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	down := func() {
		for _, ns := range []string{nsHost1, nsHost2, nsSwitches} {
			_ = exec.Command("ip", "netns", "del", ns).Run() // of an earlier run that was killed, or none
		}
	}
	down()
	t.Cleanup(down)
	for _, ns := range []string{nsSwitches, nsHost1, nsHost2} {
		l.must("ip", "netns", "add", ns)
		l.must("ip", "-n", ns, "link", "set", "lo", "up")
	}
	for i, ns := range []string{nsHost1, nsHost2} {
		leaf := i + 1
		sw := fmt.Sprintf("leaf%d", leaf)
		l.must("ip", "link", "add", sw, "netns", nsSwitches, "type", "veth", "peer", "name", "eth0", "netns", ns)
		l.in(nsSwitches, "sysctl", "-qw", "net.ipv6.conf."+sw+".disable_ipv6=1")
		l.must("ip", "-n", nsSwitches, "link", "set", sw, "up")
		l.in(ns, "sysctl", "-qw", "net.ipv6.conf.eth0.router_solicitations=0")
		// The MAC addresses that the spec derives for the first host of each leaf; the leaf sends to no other.
		l.must("ip", "-n", ns, "link", "set", "eth0", "address", fmt.Sprintf("02:00:00:00:%02x:01", leaf), "up")
		for a := 1; a <= 4; a++ {
			l.must("ip", "-n", ns, "addr", "add", fmt.Sprintf("10.0.%d.%d/24", leaf, a), "dev", "eth0")
			l.must("ip", "-n", ns, "addr", "add", fmt.Sprintf("fd00:%d::%d/64", leaf, a), "dev", "eth0", "nodad")
		}
		l.must("ip", "-n", ns, "route", "add", "default", "via", fmt.Sprintf("10.0.%d.254", leaf))
		l.must("ip", "-n", ns, "-6", "route", "add", "default", "via", fmt.Sprintf("fd00:%d::fe", leaf))
		l.must("ip", "-n", ns, "mptcp", "limits", "set", "subflow", "8", "add_addr_accepted", "8")
	}
	for a := 2; a <= 4; a++ {
		l.must("ip", "-n", nsHost1, "mptcp", "endpoint", "add", fmt.Sprintf("10.0.1.%d", a), "dev", "eth0", "subflow")
	}
	l.start(spec)
	return l
}

// start runs khop up and waits until it serves its API, which is what it prints last.
func (l *lab) start(spec string) {
	l.t.Helper()
	cmd := exec.Command("ip", "netns", "exec", nsSwitches, l.khop, "up", "-f", spec, "-i", "leaf1:5@leaf1", "-i", "leaf2:5@leaf2")
	r, w := io.Pipe()
	var log strings.Builder
	cmd.Stdout, cmd.Stderr = w, w
	if err := cmd.Start(); err != nil {
		l.t.Fatal(err)
	}
	exited := make(chan error, 1)
	go func() {
		exited <- cmd.Wait()
		w.Close()
	}()
	ready := make(chan bool, 1)
	logged := make(chan struct{})
	go func() {
		defer close(logged)
		for s := bufio.NewScanner(r); s.Scan(); {
			fmt.Fprintln(&log, s.Text())
			if strings.Contains(s.Text(), "API at") {
				ready <- true
			}
		}
	}()
	l.t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		select {
		case err := <-exited:
			if err != nil {
				l.t.Errorf("khop up ended with %v", err)
			}
		case <-time.After(10 * time.Second):
			_ = cmd.Process.Kill()
			l.t.Error("khop up did not end within 10 s of an interrupt")
		}
		<-logged
		if l.t.Failed() {
			l.t.Log(log.String())
		}
	})
	select {
	case <-ready:
	case err := <-exited:
		exited <- err
		l.t.Fatalf("khop up ended early: %v", err)
	case <-time.After(30 * time.Second):
		l.t.Fatal("khop up did not serve its API within 30 s")
	}
}

// slowSpec is the shipped MP-HULA fabric with times that hold on a loaded machine.
func slowSpec(t *testing.T) string {
	spec, err := os.ReadFile("../../fabric/specs/leafspine-2x4-mp-hula.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text := string(spec)
	for _, change := range [][2]string{
		{"probe-interval: 500us", "probe-interval: 20ms"},
		{"tau: 1024us", "tau: 65536us"},
		{"flowlet-gap: 200us", "flowlet-gap: 10ms"},
		{"subflow-live: 2ms", "subflow-live: 1s"},
		{"keep-alive: 2500us", "keep-alive: 500ms"},
		{"link-timeout: 2500us", "link-timeout: 500ms"},
	} {
		if !strings.Contains(text, change[0]) {
			t.Fatalf("the shipped spec has no %q", change[0])
		}
		text = strings.Replace(text, change[0], change[1], 1)
	}
	file := filepath.Join(t.TempDir(), "slow.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestNetnsHostsTalk(t *testing.T) {
	l := up(t, slowSpec(t))

	t.Run("ping", func(t *testing.T) {
		l := &lab{t, l.khop}
		for _, to := range []string{"10.0.2.1", "10.0.2.4", "10.0.1.254", "fd00:2::1", "fd00:1::fe"} {
			l.in(nsHost1, "ping", "-c", "3", "-i", "0.2", "-W", "3", to)
		}
		l.in(nsHost2, "ping", "-c", "3", "-i", "0.2", "-W", "3", "10.0.1.1")
	})

	t.Run("time exceeded", func(t *testing.T) {
		for ttl, args := range map[string][]string{
			"Time to live exceeded":    {"-t", "2", "10.0.2.1"},
			"Time exceeded: Hop limit": {"-t", "2", "fd00:2::1"},
		} {
			out, err := exec.Command("ip", append([]string{"netns", "exec", nsHost1, "ping", "-c", "1", "-W", "3"}, args...)...).CombinedOutput()
			if err == nil || !strings.Contains(string(out), ttl) {
				t.Errorf("ping %v: %v, want %q in:\n%s", args, err, ttl, out)
			}
		}
	})

	t.Run("mptcp", func(t *testing.T) {
		l := &lab{t, l.khop}
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		server := exec.Command("ip", "netns", "exec", nsHost2, self)
		server.Env = append(os.Environ(), roleVar+"=serve 10.0.2.1:5001")
		out, err := server.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() {
			_ = server.Process.Kill()
			_ = server.Wait()
		}()
		if line, err := bufio.NewReader(out).ReadString('\n'); line != "listening\n" {
			t.Fatalf("server: %q, %v", line, err)
		}
		client := exec.Command("ip", "netns", "exec", nsHost1, self)
		client.Env = append(os.Environ(), roleVar+"=send 10.0.2.1:5001")
		var stderr strings.Builder
		client.Stderr = &stderr
		hold, err := client.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err = client.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := client.Start(); err != nil {
			t.Fatal(err)
		}
		answer := bufio.NewReader(out)
		if line, err := answer.ReadString('\n'); line != "sent\n" {
			t.Errorf("client: %q, %v, %s", line, err, &stderr)
		}
		// The controller knows the connection while it is open, with a subflow from each address of the client.
		var status struct {
			Connections []struct {
				Version  int
				Subflows []struct{ Number int }
			}
		}
		body := l.in(nsSwitches, l.khop, "status", "-o", "json")
		if err := json.Unmarshal([]byte(body), &status); err != nil {
			t.Errorf("%v in:\n%s", err, body)
		}
		if len(status.Connections) != 1 || status.Connections[0].Version != 1 || len(status.Connections[0].Subflows) != 4 {
			t.Errorf("want one connection of version 1 with 4 subflows, got:\n%s", body)
		}
		hold.Close()
		printed, err := io.ReadAll(answer)
		if err != nil {
			t.Error(err)
		}
		if err := client.Wait(); err != nil {
			t.Errorf("client: %v, %s", err, &stderr)
		}
		if want := fmt.Sprintf("mptcp=true server counted %d\n", transferBytes); string(printed) != want {
			t.Errorf("client printed %q, want %q", printed, want)
		}
	})

	t.Run("probe interval", func(t *testing.T) {
		l := &lab{t, l.khop}
		l.in(nsSwitches, l.khop, "probes", "set", "--interval", "30ms")
		if got := l.in(nsSwitches, l.khop, "probes", "get"); !strings.Contains(got, "30000us") {
			t.Errorf("no 30000us in:\n%s", got)
		}
		if got := l.in(nsSwitches, l.khop, "tables", "dump", "leaf1"); !strings.Contains(got, "k-best") {
			t.Errorf("no k-best slots in:\n%s", got)
		}
	})
}
