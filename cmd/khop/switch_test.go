package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	p4v1 "github.com/p4lang/p4runtime/go/p4/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"khop/bmv2/port"
)

// miniJSON and miniP4Info are the test pipeline of the P4Runtime server.
const (
	miniJSON   = "../../bmv2/p4rt/testdata/mini.json"
	miniP4Info = "../../bmv2/p4rt/testdata/mini.p4info.txtpb"
)

// TestSwitch runs khop switch with simple_switch_grpc's flags: it announces itself, serves its pipeline, forwards a packet
// between two tunnels by an entry that a client writes, records it, and stops.
func TestSwitch(t *testing.T) {
	// Far ends of two tunnels; their addresses are known only after they are open, so each is opened twice.
	addr := func() string {
		c, err := net.ListenPacket("udp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		return c.LocalAddr().String()
	}
	near1, near2, far1, far2 := addr(), addr(), addr(), addr()
	in, err := port.NewUDP(far1, near1)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := port.NewUDP(far2, near2)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	got := make(chan string, 1)
	go func() { _ = out.Run(t.Context(), func(f []byte) { got <- string(f) }) }()

	dir := t.TempDir()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	r, w := io.Pipe()
	var stderr bytes.Buffer
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, []string{"switch", miniJSON, "--p4info", miniP4Info, "--device-id", "3", "--thrift-port", "9090", "--pcap", dir,
			"-i", "1@udp:" + near1 + "/" + far1, "-i", "2@udp:" + near2 + "/" + far2,
			"--", "--grpc-server-addr", "127.0.0.1:0", "--cpu-port", "510", "--priority-queues", "8"}, strings.NewReader(""), w, &stderr)
		w.Close()
	}()
	head := make([]byte, 4096)
	n, err := r.Read(head)
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	rest := make(chan string, 1)
	go func() {
		b, _ := io.ReadAll(r)
		rest <- string(b)
	}()
	m := regexp.MustCompile(`^device 3: P4Runtime on (127\.0\.0\.1:\d+) \(no TLS\), ports \[1 2\]\n$`).FindSubmatch(head[:n])
	if m == nil {
		t.Fatalf("announced %q", head[:n])
	}
	conn, err := grpc.NewClient(string(m[1]), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	client := p4v1.NewP4RuntimeClient(conn)
	s, err := client.StreamChannel(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	id := &p4v1.Uint128{Low: 1}
	if err := s.Send(&p4v1.StreamMessageRequest{Update: &p4v1.StreamMessageRequest_Arbitration{
		Arbitration: &p4v1.MasterArbitrationUpdate{DeviceId: 3, ElectionId: id}}}); err != nil {
		t.Fatal(err)
	}
	if a, err := s.Recv(); err != nil || a.GetArbitration().GetStatus().GetCode() != 0 {
		t.Fatalf("arbitration: %v, %v", a, err)
	}
	frame := "\x02\x00\x00\x00\x00\x01\x02\x00\x00\x00\x00\x02\x08\x00payload"
	if _, err := client.Write(t.Context(), &p4v1.WriteRequest{DeviceId: 3, ElectionId: id, Updates: []*p4v1.Update{{Type: p4v1.Update_INSERT,
		Entity: &p4v1.Entity{Entity: &p4v1.Entity_TableEntry{TableEntry: &p4v1.TableEntry{TableId: 0x02000001,
			Match:  []*p4v1.FieldMatch{{FieldId: 1, FieldMatchType: &p4v1.FieldMatch_Exact_{Exact: &p4v1.FieldMatch_Exact{Value: []byte(frame[:6])}}}},
			Action: &p4v1.TableAction{Type: &p4v1.TableAction_Action{Action: &p4v1.Action{ActionId: 0x01000001, Params: []*p4v1.Action_Param{{ParamId: 1, Value: []byte{2}}}}}},
		}}}}}}); err != nil {
		t.Fatal(err)
	}
	if err := in.Send([]byte(frame)); err != nil {
		t.Fatal(err)
	}
	if f := <-got; f != frame {
		t.Errorf("port 2 sent %x, want %x", f, frame)
	}
	stop()
	if c := <-code; c != exitOK {
		t.Errorf("exit code %d: %s", c, stderr.String())
	}
	if s := <-rest; s != "stopped\n" {
		t.Errorf("at the end %q", s)
	}
	if want := "notice: --thrift-port is ignored"; !strings.Contains(stderr.String(), want) {
		t.Errorf("standard error %q does not contain %q", stderr.String(), want)
	}
	for _, name := range []string{"port1.pcap", "port2.pcap"} {
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		r, err := port.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		if x, err := r.Next(); err != nil || string(x.Data) != frame {
			t.Errorf("%s: %q, %v", name, x.Data, err)
		}
		if _, err := r.Next(); err != io.EOF {
			t.Errorf("%s: %v after the first frame, want EOF", name, err)
		}
	}
}

func TestSwitchMisuse(t *testing.T) {
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"", exitMisuse, "use --no-p4"},
		{"a.json b.json", exitMisuse, "one program at most"},
		{"a.json --no-p4", exitMisuse, "exclude each other"},
		{"--no-p4 --p4info x", exitMisuse, "--p4info needs a program"},
		{"--no-p4 -i 600@eth0", exitMisuse, "0 to 511"},
		{"--no-p4 -i eth0", exitMisuse, "NUMBER@INTERFACE"},
		{"--no-p4 -i 1@udp:127.0.0.1:1", exitMisuse, "udp:LOCAL/REMOTE"},
		{"--no-p4 --log-level loud", exitMisuse, "trace, debug, info, warn, error or off"},
		{"--no-p4 --grpc-server-ssl", exitMisuse, "--grpc-server-cert"},
		{"--no-p4 --grpc-server-cert x.pem", exitMisuse, "but not --grpc-server-ssl"},
		{"--no-p4 -- --grpc-server-adr 127.0.0.1:1", exitMisuse, "did you mean --grpc-server-addr?"},
		{"--no-p4 -- stray", exitMisuse, `"stray" is no flag`},
		{"--no-p4 --grpc-server-addr 127.0.0.1:0 -i 1@no-such-interface", exitFailed, "no-such-interface"},
		{"--no-p4 --grpc-server-addr 127.0.0.1:0 -i 1@pcap:/no/such.pcap", exitFailed, "/no/such.pcap"},
		{"--no-p4 --grpc-server-addr 300.0.0.1:1", exitFailed, "--grpc-server-addr"},
		{"switch_test.go", exitFailed, "bmv2 JSON: line 1"},
		{miniJSON + " --p4info switch_test.go", exitFailed, "is no P4Info"},
		{miniJSON + " --cpu-port 511", exitMisuse, "--cpu-port 511 is the drop port"},
		{"--no-p4 --cpu-port 512", exitMisuse, "9 bits"},
		{"--no-p4 --priority-queues 9", exitMisuse, "1 to 8"},
		{"--no-p4 --queue-depth 0", exitMisuse, "at least 1"},
	} {
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), append([]string{"switch"}, strings.Fields(c.args)...), strings.NewReader(""), &stdout, &stderr)
		if code != c.code || !strings.Contains(stderr.String(), c.want) {
			t.Errorf("khop switch %s: exit code %d, %q; want %d with %q", c.args, code, stderr.String(), c.code, c.want)
		}
	}
}
