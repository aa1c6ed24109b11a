package simpleswitch

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"khop/bmv2/config"
	"khop/bmv2/pipeline"
)

// TestStock compares with stock simple_switch: the same program without entries, the same random packets, frames equal at
// every port and in order. It runs when KHOP_SIMPLE_SWITCH names the binary; KHOP_BMV2_JSON may name a directory with more
// programs (*.json, and beside them *.stf whose packets serve as seeds). simple_switch takes a file as fast as it can, so
// egress may run later than here: programs whose ingress and egress share registers, or that use the time, may differ, and
// so may programs that read fields of invalid headers (undefined there, zero here).
func TestStock(t *testing.T) {
	binary := os.Getenv("KHOP_SIMPLE_SWITCH")
	if binary == "" {
		t.Skip("KHOP_SIMPLE_SWITCH is not set")
	}
	programs := []string{"../config/testdata/mini.json"}
	if dir := os.Getenv("KHOP_BMV2_JSON"); dir != "" {
		more, err := filepath.Glob(filepath.Join(dir, "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		programs = append(programs, more...)
	}
	for _, file := range programs {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			c, err := config.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			p, err := pipeline.Link(c)
			if err != nil {
				t.Fatal(err)
			}
			in := randomFrames(file)
			want := runStock(t, binary, file, in)
			s, err := New(p, Options{})
			if err != nil {
				t.Fatal(err)
			}
			var got [stockPorts][]string
			for i, f := range in {
				now := int64(i) * stockGap
				s.Receive(now, stockInput, f)
				s.Transmit(now, func(port uint32, f []byte) {
					if port < stockPorts {
						got[port] = append(got[port], hex.EncodeToString(f))
					}
				})
			}
			for i := range got {
				if !slices.Equal(got[i], want[i]) {
					t.Errorf("port %d:\ngot  %q\nwant %q", i, got[i], want[i])
				}
			}
		})
	}
}

const (
	stockPorts = 9
	stockInput = 1         // the port by which all packets enter; simple_switch reads each port's file by itself
	stockGap   = 2_000_000 // nanoseconds between packets
)

// randomFrames makes frames at random, most of them by changing bytes of the packets of the STF file beside the program.
func randomFrames(file string) [][]byte {
	var seeds [][]byte
	text, _ := os.ReadFile(strings.TrimSuffix(file, ".json") + ".stf")
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) > 2 && f[0] == "packet" {
			if b, err := hex.DecodeString(strings.Join(f[2:], "")); err == nil && len(b) > 0 {
				seeds = append(seeds, b)
			}
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var out [][]byte
	for i := range 60 {
		f := make([]byte, 14+rng.IntN(60))
		for j := range f {
			f[j] = byte(rng.Uint32())
		}
		if len(seeds) > 0 && i%3 != 0 {
			f = slices.Clone(seeds[rng.IntN(len(seeds))])
			for range rng.IntN(4) {
				f[rng.IntN(len(f))] = byte(rng.Uint32())
			}
			if rng.IntN(3) == 0 {
				f = append(f, make([]byte, rng.IntN(20))...)
			}
		}
		out = append(out, f)
	}
	return out
}

// runStock runs simple_switch with pcap files for ports and returns what leaves each port.
func runStock(t *testing.T, binaryName, program string, frames [][]byte) (out [stockPorts][]string) {
	t.Helper()
	program, err := filepath.Abs(program)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	header := make([]byte, 24) // classic pcap, microseconds, Ethernet
	binary.LittleEndian.PutUint32(header, 0xa1b2c3d4)
	header[4], header[6], header[20] = 2, 4, 1
	binary.LittleEndian.PutUint32(header[16:], MaxFrame)
	port := freePort(t)
	args := []string{"--use-files", "0", "--thrift-port", fmt.Sprint(port), "--device-id", fmt.Sprint(port), "--log-level", "off"}
	for i := range stockPorts {
		file := slices.Clone(header)
		for j, f := range frames {
			if i != stockInput {
				break
			}
			at := int64(j)*stockGap/1000 + 1_000_000
			for _, v := range []int64{at / 1e6, at % 1e6, int64(len(f)), int64(len(f))} {
				file = binary.LittleEndian.AppendUint32(file, uint32(v))
			}
			file = append(file, f...)
		}
		name := filepath.Join(dir, fmt.Sprint("p", i))
		if err := os.WriteFile(name+"_in.pcap", file, 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, "-i", fmt.Sprintf("%d@%s", i, name))
	}
	cmd := exec.Command(binaryName, append(args, program)...)
	cmd.Dir = dir
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	// It never ends by itself: done is when the output has not grown for a while, longer while there is none.
	size, quiet := int64(-1), 0
	for quiet < 5 || quiet < 20 && size <= int64(stockPorts*len(header)) {
		select {
		case err := <-exited:
			t.Fatalf("simple_switch ended: %v", err)
		case <-time.After(150 * time.Millisecond):
		}
		n := int64(0)
		for i := range stockPorts {
			if st, err := os.Stat(filepath.Join(dir, fmt.Sprintf("p%d_out.pcap", i))); err == nil {
				n += st.Size()
			}
		}
		if quiet++; n != size {
			size, quiet = n, 0
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	<-exited
	for i := range out {
		b, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("p%d_out.pcap", i)))
		if err != nil || len(b) < 24 {
			continue
		}
		for b = b[24:]; len(b) >= 16; {
			n := int(binary.LittleEndian.Uint32(b[8:]))
			if len(b) < 16+n {
				t.Fatalf("port %d: truncated capture", i)
			}
			out[i] = append(out[i], hex.EncodeToString(b[16:16+n]))
			b = b[16+n:]
		}
	}
	return out
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}
