package dataplane

import (
	"bytes"
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

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/google/gopacket/pcapgo"

	"khop/bmv2/pipeline"
	"khop/codegen"
	"khop/fabric"
)

// TestStock sends the same packets through stock simple_switch and through the embedded switch, each with the same JSON and the same
// entries, and compares what leaves each port. It runs when KHOP_SIMPLE_SWITCH names simple_switch, beside simple_switch_CLI. Time does
// not matter here: there are no probes, and the time constants are an hour.
func TestStock(t *testing.T) {
	binary := os.Getenv("KHOP_SIMPLE_SWITCH")
	if binary == "" {
		t.Skip("KHOP_SIMPLE_SWITCH is not set")
	}
	for _, name := range []string{"leafspine-2x4-ecmp", "leafspine-2x4-hula", "leafspine-2x4-mp-hula"} {
		for _, sw := range []string{"leaf1", "spine1"} {
			t.Run(name+" "+sw, func(t *testing.T) {
				f := shipped(t, name)
				r := newRig(t, f, sw)
				const hour = 3600 * 1000 * 1000
				if f.Scheme.Probes() {
					r.setDefault(codegen.TableTiming, codegen.ActionSetTiming, u64(10), u64(hour), u64(hour), u64(hour))
				}
				port, frames := uint32(1), stockFrames(t, f, sw)
				if r.sw.Role == fabric.Leaf {
					port = hostPort(f, ip("10.0.1.1"))
				}
				if f.Scheme.Marks() {
					r.setDefault(codegen.TableMPTCPTiming, codegen.ActionSetMPTCPTiming, u64(hour), u64(hour))
					if r.sw.Role == fabric.Leaf {
						p := &pair{T: t, f: f, a: r, b: newRig(t, f, "leaf2"), ca: ip("10.0.1.1"), sb: ip("10.0.2.1")}
						p.learn()
					}
				}
				want := runStock(t, binary, r, port, frames)
				got := map[uint32][]string{}
				for _, frame := range frames {
					r.us += 10
					for _, o := range r.send(port, frame) {
						got[o.port] = append(got[o.port], hex.EncodeToString(o.frame))
					}
				}
				total := 0
				for p := uint32(1); p <= uint32(len(r.sw.Ports)); p++ {
					total += len(got[p])
					if !slices.Equal(got[p], want[p]) {
						t.Errorf("port %d: %d frames here, %d from stock bmv2, first difference %s", p, len(got[p]), len(want[p]), difference(got[p], want[p]))
					}
				}
				if total < len(frames)/2 {
					t.Errorf("only %d of %d frames were forwarded", total, len(frames))
				}
				t.Logf("%d frames in, %d out", len(frames), total)
			})
		}
	}
}

func difference(a, b []string) string {
	for i := range a {
		if i >= len(b) || a[i] != b[i] {
			return fmt.Sprintf("%d:\n%s\n%s", i, a[i], strings.Join(b[min(i, len(b)):min(i+1, len(b))], ""))
		}
	}
	return "at the end"
}

// stockFrames are packets of many flows, joins among them, and hostile ones.
func stockFrames(t *testing.T, f *fabric.Fabric, sw string) [][]byte {
	rng := rand.New(rand.NewPCG(11, 12))
	var list [][]byte
	options := []string{"", "0101080a0102030405060708", "020405b4", "1e0c100166", "0101", "1e00", "1e040181", "00ff", "1e140181" + strings.Repeat("11", 16), "1e035101"}
	for i := range 400 {
		s := segment{
			src: ip(fmt.Sprintf("10.0.1.%d", 1+rng.IntN(4))), dst: ip(fmt.Sprintf("10.0.%d.%d", 1+rng.IntN(2), 1+rng.IntN(9))),
			srcPort: uint16(40000 + rng.IntN(30)), dstPort: 5001, flags: []uint8{2, 0x10, 0x18, 0x11, 0x12, 4}[rng.IntN(6)],
			options: unhex(t, options[rng.IntN(len(options))]), payload: make([]byte, rng.IntN(100)), ttl: uint8(2 + rng.IntN(60)),
		}
		switch rng.IntN(10) {
		case 0:
			s.src, s.dst = ip("fd00:1::1"), ip("fd00:2::5")
		case 1:
			s.protocol = 17
		case 2:
			s.ipOptions = []byte{1, 1, 1, 0}
		case 3, 4, 5:
			s.dst, s.flags, s.options = ip("10.0.2.1"), synFlag, joinSYN(tokenB, rng.IntN(6) == 0)
		}
		if sw != "leaf1" {
			s.dst = ip("10.0.2.3")
		}
		frame := s.frame()
		if i%7 == 0 {
			frame[rng.IntN(len(frame))] ^= byte(1 << rng.IntN(8))
		}
		list = append(list, frame)
	}
	return list
}

// commands renders the switch's entries for simple_switch_CLI.
func commands(t *testing.T, r *rig) string {
	var b strings.Builder
	args := func(c pipeline.ActionCall) string {
		text := ""
		for _, a := range c.Args {
			text += " 0x" + hex.EncodeToString(a)
		}
		return text
	}
	for _, table := range r.s.Tables() {
		if table.Const || strings.HasPrefix(table.Name, "tbl_") {
			continue
		}
		named := slices.ContainsFunc(codegen.TablesOf(r.f, r.sw.Role), func(x codegen.Table) bool { return x.Name == table.Name })
		if !named {
			continue // the compiler's own
		}
		if d, initial, err := r.s.Default(table.Name); err == nil && !initial && d.Kind == pipeline.TargetAction {
			fmt.Fprintf(&b, "table_set_default %s %s%s\n", table.Name, d.Call.Action, args(d.Call))
		}
		err := r.s.EachEntry(table.Name, func(e pipeline.Entry) bool {
			fmt.Fprintf(&b, "table_add %s %s", table.Name, e.Target.Call.Action)
			for _, m := range e.Match {
				fmt.Fprintf(&b, " 0x%s", hex.EncodeToString(m.Value))
				if table.Kind == pipeline.LPM {
					fmt.Fprintf(&b, "/%d", m.PrefixLen)
				}
			}
			fmt.Fprintf(&b, " =>%s\n", args(e.Target.Call))
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

// runStock runs simple_switch with capture files for ports: entries first, then the packets, all by one port.
func runStock(t *testing.T, binary string, r *rig, in uint32, frames [][]byte) map[uint32][]string {
	t.Helper()
	dir := t.TempDir()
	list, err := codegen.Generate(r.f)
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "p.json")
	for _, p := range list {
		if p.Role == r.sw.Role {
			if err := os.WriteFile(program, compile(t, p.Name, p.Source), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	thrift := l.Addr().(*net.TCPAddr).Port
	l.Close()
	args := []string{"--use-files", "6", "--thrift-port", fmt.Sprint(thrift), "--device-id", fmt.Sprint(thrift), "--log-level", "off"}
	for _, p := range r.sw.Ports {
		name := filepath.Join(dir, fmt.Sprint("p", p.Number))
		file, err := os.Create(name + "_in.pcap")
		if err != nil {
			t.Fatal(err)
		}
		w := pcapgo.NewWriter(file)
		if err := w.WriteFileHeader(65536, layers.LinkTypeEthernet); err != nil {
			t.Fatal(err)
		}
		for i, frame := range frames {
			if p.Number == in {
				at := time.Unix(1, 0).Add(time.Duration(i) * 2 * time.Millisecond)
				if err := w.WritePacket(gopacket.CaptureInfo{Timestamp: at, CaptureLength: len(frame), Length: len(frame)}, frame); err != nil {
					t.Fatal(err)
				}
			}
		}
		file.Close()
		args = append(args, "-i", fmt.Sprintf("%d@%s", p.Number, name))
	}
	cmd := exec.Command(binary, append(args, program)...)
	cmd.Dir = dir
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		cmd.Process.Kill()
		cmd.Wait()
	}()
	deadline := time.Now().Add(5 * time.Second)
	for {
		c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", thrift))
		if err == nil {
			c.Close()
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("simple_switch does not listen")
		}
		time.Sleep(50 * time.Millisecond)
	}
	cli := exec.Command(binary+"_CLI", "--thrift-port", fmt.Sprint(thrift))
	cli.Stdin = strings.NewReader(commands(t, r))
	if text, err := cli.CombinedOutput(); err != nil || bytes.Contains(text, []byte("Error")) || bytes.Contains(text, []byte("Invalid")) {
		t.Fatalf("simple_switch_CLI: %v\n%s", err, text)
	}
	// It never ends by itself: done is when the output has not grown for a while.
	out := map[uint32][]string{}
	for size, quiet := 0, 0; quiet < 15 || size == 0 && quiet < 100; {
		time.Sleep(150 * time.Millisecond)
		n := 0
		for _, p := range r.sw.Ports {
			out[p.Number] = readCapture(filepath.Join(dir, fmt.Sprintf("p%d_out.pcap", p.Number)))
			n += len(out[p.Number])
		}
		if quiet++; n != size {
			size, quiet = n, 0
		}
	}
	return out
}

// readCapture returns the frames of a capture file. simple_switch writes a snap length of 0, which pcapgo refuses.
func readCapture(name string) []string {
	b, err := os.ReadFile(name)
	if err != nil || len(b) < 24 {
		return nil
	}
	var list []string
	for b = b[24:]; len(b) >= 16; {
		n := int(binary.LittleEndian.Uint32(b[8:]))
		if len(b) < 16+n {
			break // still being written
		}
		list = append(list, hex.EncodeToString(b[16:16+n]))
		b = b[16+n:]
	}
	return list
}
