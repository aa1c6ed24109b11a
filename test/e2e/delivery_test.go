package e2e

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"khop/bmv2/port"
	"khop/fabric"
	"khop/test/replay"
)

// tsharkPackets has tshark dissect a capture and returns its TCP packets, one line each, of what no switch may change. It
// fails the test if tshark finds a wrong IPv4 or TCP checksum (status 1 is good, 0 bad).
func tsharkPackets(t *testing.T, file string) []string {
	t.Helper()
	out, err := exec.Command("tshark", "-r", file, "-n", "-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE",
		"-o", "tcp.desegment_tcp_streams:FALSE", "-Y", "tcp", "-T", "fields", "-E", "occurrence=f",
		"-e", "ip.checksum.status", "-e", "tcp.checksum.status", "-e", "eth.type",
		"-e", "ip.src", "-e", "ip.dst", "-e", "ip.id", "-e", "ip.dsfield", "-e", "ipv6.src", "-e", "ipv6.dst", "-e", "ipv6.tclass",
		"-e", "tcp.srcport", "-e", "tcp.dstport", "-e", "tcp.seq_raw", "-e", "tcp.ack_raw", "-e", "tcp.flags", "-e", "tcp.options",
		"-e", "tcp.checksum", "-e", "tcp.payload").Output()
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for n, line := range strings.Split(strings.TrimSuffix(string(out), "\n"), "\n") {
		if line == "" {
			continue
		}
		f := strings.SplitN(line, "\t", 4)
		if f[0] != "1" && !(f[0] == "" && f[2] == "0x86dd") || f[1] != "1" {
			t.Fatalf("%s: packet %d: checksum status of IPv4 %q, of TCP %q", file, n+1, f[0], f[1])
		}
		list = append(list, strings.Join(f[2:], "\t"))
	}
	return list
}

// An independent dissector sees in what the hosts got every TCP packet of the capture exactly once, with right checksums.
func TestDeliveryByTshark(t *testing.T) {
	if _, err := exec.LookPath("tshark"); err != nil {
		t.Skip("tshark is not installed")
	}
	for _, tt := range []struct{ spec, capture string }{
		{"leafspine-2x4-mp-hula", "mptcp-v1-ipv6"}, {"leafspine-2x4-mp-hula", "tcp-plain"}, {"fattree-k4-mp-hula", "mptcp-fallback-to-tcp"},
	} {
		out := t.TempDir()
		run(t, tt.spec, tt.capture, out)
		files, err := filepath.Glob(filepath.Join(out, "*.pcap"))
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		all := filepath.Join(out, "all") // one file, since tshark takes long to start
		w, err := port.CreateFile(all)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			list, err := replay.ReadCaptureFile(f)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range list {
				if err := w.Write(time.Unix(0, p.Time), p.Data); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		want, got := tsharkPackets(t, filepath.Join("..", "testdata", "pcaps", tt.capture+".pcap")), tsharkPackets(t, all)
		slices.Sort(want)
		slices.Sort(got)
		if len(want) == 0 || !slices.Equal(got, want) {
			t.Errorf("%s through %s: tshark sees %d packets delivered, %d captured, or others", tt.capture, tt.spec, len(got), len(want))
		}
	}
}

// A run that is stopped says so and leaves no capture behind, least of all half of one.
func TestStoppedRunLeavesNoFiles(t *testing.T) {
	f, programs := load(t, "leafspine-2x4-ecmp")
	out := t.TempDir()
	old := filepath.Join(out, "h1-1.pcap")
	if err := os.WriteFile(old, []byte("of an earlier run"), 0o666); err != nil {
		t.Fatal(err)
	}
	stop := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	delivered := 0
	_, err := replay.Run(ctx, f, capture(t, "tcp-plain"), replay.Options{
		Programs: programs, OutDir: out,
		OnDelivery: func(*fabric.Host, []byte, []byte) { delivered++; cancel(stop) },
	})
	if !errors.Is(err, stop) {
		t.Errorf("error %v", err)
	}
	files, err := os.ReadDir(out)
	if err != nil || len(files) != 1 {
		t.Errorf("%v is left, %v", files, err)
	}
	if data, err := os.ReadFile(old); err != nil || !bytes.Equal(data, []byte("of an earlier run")) {
		t.Errorf("the earlier capture is %q, %v", data, err)
	}
	if delivered == 0 {
		t.Error("nothing was delivered before the stop")
	}
}
