package port

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"golang.org/x/sys/unix"
)

// veth makes a veth pair, with the second end in a network namespace of its own, and returns the name of the first. It skips
// where that is not permitted.
func veth(t *testing.T) (outer, netns string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("making a veth pair needs root")
	}
	if _, err := exec.LookPath("ip"); err != nil {
		t.Skip("making a veth pair needs the ip command")
	}
	id := fmt.Sprintf("kh%x", os.Getpid()&0xffff)
	outer, netns = id+"a", id+"n"
	ip := func(args ...string) error {
		out, err := exec.Command("ip", args...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("ip %s: %s", strings.Join(args, " "), out)
		}
		return nil
	}
	if err := ip("netns", "add", netns); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = ip("netns", "del", netns) })
	for _, args := range []string{
		"link add " + outer + " type veth peer name eth0 netns " + netns,
		"link set " + outer + " up",
		"-n " + netns + " link set lo up",
		"-n " + netns + " addr add 10.99.0.2/24 dev eth0",
		"-n " + netns + " link set eth0 up",
		"-n " + netns + " neigh add 10.99.0.1 lladdr 02:00:00:00:00:01 dev eth0",
	} {
		if err := ip(strings.Fields(args)...); err != nil {
			t.Skip(err)
		}
	}
	return outer, netns
}

// isFor tells whether a frame is UDP to the test's port, as opposed to what the kernel sends on its own.
func isFor(frame []byte, port layers.UDPPort) (payload []byte, ok bool) {
	p := gopacket.NewPacket(frame, layers.LayerTypeEthernet, gopacket.Default)
	u, ok := p.Layer(layers.LayerTypeUDP).(*layers.UDP)
	if !ok || u.DstPort != port {
		return nil, false
	}
	return u.Payload, true
}

func TestInterfaceOnVeth(t *testing.T) {
	outer, netns := veth(t)
	p, err := NewInterface(outer)
	if err != nil {
		t.Fatal(err)
	}
	frames := make(chan []byte, 100)
	done := make(chan error, 1)
	go func() { done <- p.Run(t.Context(), func(f []byte) { frames <- bytes.Clone(f) }) }()

	// A datagram from the other end leaves with a partial checksum; it must arrive with the right one.
	cmd := exec.Command("ip", "netns", "exec", netns, "bash", "-c", "echo -n 'hello switch' > /dev/udp/10.99.0.1/4444")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("sending from the namespace: %s", out)
	}
	for {
		f := <-frames
		payload, ok := isFor(f, 4444)
		if !ok {
			continue
		}
		if string(payload) != "hello switch" {
			t.Errorf("payload %q", payload)
		}
		udp := f[34:]
		if s := fold(sum(sum(uint64(protocolUDP+len(udp)), f[26:34]), udp)); s != 0xffff {
			t.Errorf("the UDP checksum is wrong: the sum is %#x, want 0xffff\n%x", s, f)
		}
		break
	}

	// What the port sends, the other end receives, and the port itself does not.
	rx := func() string {
		out, err := exec.Command("ip", "netns", "exec", netns, "cat", "/sys/class/net/eth0/statistics/rx_packets").Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	before := rx()
	if err := p.Send(build(t, ethV4, ip4(layers.IPProtocolUDP, 1), gopacket.Payload("x"))); err != nil {
		t.Fatal(err)
	}
	if after := rx(); after == before {
		t.Errorf("the other end has received %s frames, as before", after)
	}
	if err := p.Send(make([]byte, 9000)); !errors.Is(err, unix.EMSGSIZE) {
		t.Errorf("a frame beyond the MTU gave error %v, want EMSGSIZE", err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if s := p.Stats(); s.TxFrames != 1 || s.TxDropped != 1 || s.RxFrames == 0 {
		t.Errorf("stats %+v", s)
	}
}

func TestInterfaceThatDoesNotExist(t *testing.T) {
	if _, err := NewInterface("no-such-interface"); err == nil || !strings.Contains(err.Error(), `"no-such-interface"`) {
		t.Errorf("error %v, want one that names the interface", err)
	}
}
