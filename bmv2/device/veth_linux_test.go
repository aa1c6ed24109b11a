package device

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"

	ct "khop/bmv2/config/configtest"
	"khop/bmv2/port"
)

// helperEnv makes the test binary, run again inside a network namespace, one end of a TCP connection.
const helperEnv = "KHOP_TEST_TCP"

func TestMain(m *testing.M) {
	role, addr, _ := strings.Cut(os.Getenv(helperEnv), "@")
	var err error
	switch role {
	case "":
		os.Exit(m.Run())
	case "server":
		err = tcpServer(addr)
	case "client":
		err = tcpClient(addr)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// tcpServer says "listening", takes one connection, and prints the hash of what it received.
func tcpServer(addr string) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	fmt.Println("listening")
	c, err := l.Accept()
	if err != nil {
		return err
	}
	h := sha256.New()
	n, err := io.Copy(h, c)
	fmt.Printf("%d %x\n", n, h.Sum(nil))
	return err
}

func tcpData() []byte {
	b := make([]byte, 4<<20)
	for i := range b {
		b[i] = byte(i>>8) ^ byte(i*31)
	}
	return b
}

func tcpClient(addr string) error {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	_, err = c.Write(tcpData())
	return errors.Join(err, c.Close())
}

// TestTCPOverVeth sends data by the kernels' own TCP, with all offloads on, from one network namespace through the switch to
// another. It skips where namespaces cannot be made.
func TestTCPOverVeth(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("making network namespaces needs root")
	}
	if _, err := exec.LookPath("ip"); err != nil {
		t.Skip("making network namespaces needs the ip command")
	}
	c := ct.Base()
	ct.Run(c, "ingress", ct.Assign(ct.Std("egress_spec"), ct.Op("-", ct.N(3), ct.Std("ingress_port"))))
	d := newDevice(t, linked(t, c), Options{})
	id := fmt.Sprintf("kd%x", os.Getpid()&0xffff)
	for i := uint32(1); i <= 2; i++ {
		ns, outer := fmt.Sprintf("%s%dn", id, i), fmt.Sprintf("%s%da", id, i)
		ip := func(args string) error {
			out, err := exec.Command("ip", strings.Fields(args)...).CombinedOutput()
			if err != nil {
				return fmt.Errorf("ip %s: %s", args, out)
			}
			return nil
		}
		if err := ip("netns add " + ns); err != nil {
			t.Skip(err)
		}
		t.Cleanup(func() { _ = ip("netns del " + ns) })
		for _, a := range []string{
			"link add " + outer + " type veth peer name eth0 netns " + ns,
			"link set " + outer + " up",
			fmt.Sprintf("-n %s link set eth0 address 02:00:00:00:00:0%d", ns, i),
			fmt.Sprintf("-n %s addr add 10.98.0.%d/24 dev eth0", ns, i),
			"-n " + ns + " link set eth0 up",
			fmt.Sprintf("-n %s neigh add 10.98.0.%d lladdr 02:00:00:00:00:0%d dev eth0", ns, 3-i, 3-i),
		} {
			if err := ip(a); err != nil {
				t.Skip(err)
			}
		}
		p, err := port.NewInterface(outer)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Attach(i, p); err != nil {
			t.Fatal(err)
		}
	}
	helper := func(ns int, role string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), "ip", "netns", "exec", fmt.Sprintf("%s%dn", id, ns), os.Args[0])
		cmd.Env = append(os.Environ(), helperEnv+"="+role+"@10.98.0.2:5001")
		cmd.Stderr = os.Stderr
		return cmd
	}
	server := helper(2, "server")
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	if s, err := lines.ReadString('\n'); s != "listening\n" {
		t.Fatalf("server: %q, %v", s, err)
	}
	if err := helper(1, "client").Run(); err != nil {
		t.Fatal(err)
	}
	got, err := lines.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	data := tcpData()
	if want := fmt.Sprintf("%d %x\n", len(data), sha256.Sum256(data)); got != want {
		t.Errorf("received %q, want %q", got, want)
	}
	if err := server.Wait(); err != nil {
		t.Error(err)
	}
}
