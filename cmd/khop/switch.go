package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	configv1 "github.com/p4lang/p4runtime/go/p4/config/v1"
	p4v1 "github.com/p4lang/p4runtime/go/p4/v1"
	"github.com/spf13/cobra"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	"khop/bmv2/config"
	"khop/bmv2/device"
	"khop/bmv2/p4rt"
	"khop/bmv2/pipeline"
	"khop/bmv2/port"
	"khop/bmv2/simpleswitch"
)

// switchFlags are the flags of khop switch. The names are those of simple_switch_grpc, where it has them.
type switchFlags struct {
	interfaces []string
	deviceID   uint64
	noP4       bool
	p4info     string
	pcap       string
	useFiles   int
	logLevel   string
	logFile    string
	seed       uint64

	grpcAddr       string
	ssl            bool
	caCert         string
	cert           string
	key            string
	clientAuth     bool
	cpuPort        uint32
	dropPort       uint32
	priorityQueues int
	queueDepth     int
}

// ignoredSwitchFlags are flags of simple_switch_grpc that have no meaning here: they are accepted, so that scripts work
// unchanged, and named in a notice.
var ignoredSwitchFlags = []struct {
	name, short string
	value       bool // takes a value
	why         string
}{
	{"thrift-port", "", true, "there is no Thrift server; everything is in P4Runtime"},
	{"log-console", "", false, "the log goes to standard error"},
	{"log-flush", "", false, "the log is not buffered"},
	{"log-file-max-size", "", true, "log files are not rotated"},
	{"log-file-max-files", "", true, "log files are not rotated"},
	{"nanolog", "", true, "there is no nanomsg event log"},
	{"notifications-addr", "", true, "there are no nanomsg notifications"},
	{"dump-packet-data", "", true, "packets are recorded with --pcap"},
	{"max-port-count", "", true, "the number of ports is not limited"},
	{"disable-swap", "", false, "a client can always replace the pipeline"},
	{"max-mc-groups", "", true, "the number of multicast groups is not limited"},
	{"max-l1-entries", "", true, "the number of replicas is not limited"},
	{"max-l2-entries", "", true, "the number of replicas is not limited"},
}

func newSwitchCmd() *cobra.Command {
	var f switchFlags
	cmd := &cobra.Command{
		Use:   "switch [PROG.json] [flags] [-- target flags]",
		Short: "Run one embedded switch with a P4Runtime server",
		Long: `Run one embedded switch with a P4Runtime server. It takes the flags of simple_switch_grpc, so that it can stand in for it; flags
may follow "--" as there. It stops on SIGINT or SIGTERM.

Ports are NUMBER@INTERFACE for a network interface (Linux, needs CAP_NET_RAW), NUMBER@udp:LOCAL/REMOTE for a tunnel with one frame a
datagram, or NUMBER@pcap:IN[,OUT] for capture files.`,
		Example: `  khop switch leaf.json -i 0@veth0 -i 1@veth2 --device-id 1 --cpu-port 510
  khop switch --no-p4 -i 1@udp:127.0.0.1:7001/127.0.0.1:7002 --grpc-server-addr 127.0.0.1:9560
  khop switch leaf.json -i 0@veth0 -- --grpc-server-addr 127.0.0.1:9559 --cpu-port 255 --priority-queues 8`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if at := cmd.ArgsLenAtDash(); at >= 0 {
				target := args[at:]
				args = args[:at]
				if err := cmd.Flags().Parse(target); err != nil {
					return flagError(cmd, err)
				}
				if rest := cmd.Flags().Args(); len(rest) > 0 {
					return usagef("target flags after --: %q is no flag", rest[0])
				}
			}
			for _, g := range ignoredSwitchFlags {
				if cmd.Flags().Changed(g.name) {
					fmt.Fprintf(cmd.ErrOrStderr(), "notice: --%s is ignored: %s\n", g.name, g.why)
				}
			}
			return runSwitch(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), args, f)
		},
	}
	fl := cmd.Flags()
	fl.StringArrayVarP(&f.interfaces, "interface", "i", nil, "attach a port: NUMBER@INTERFACE, NUMBER@udp:LOCAL/REMOTE or NUMBER@pcap:IN[,OUT]; may be repeated")
	fl.Uint64Var(&f.deviceID, "device-id", 0, "device id for P4Runtime clients")
	fl.BoolVar(&f.noP4, "no-p4", false, "start without a program; packets are dropped until a client sets a pipeline")
	fl.StringVar(&f.p4info, "p4info", "", "P4Info of PROG.json (.txtpb or .txt, .json, or binary); clients may then write without setting a pipeline")
	fl.StringVar(&f.pcap, "pcap", "", "record the frames of each port in DIR/portNUMBER.pcap")
	fl.IntVar(&f.useFiles, "use-files", -1, "use INTERFACE_in.pcap and INTERFACE_out.pcap instead of interfaces, after this many seconds")
	fl.StringVarP(&f.logLevel, "log-level", "L", "info", "trace, debug, info, warn, error or off")
	fl.StringVar(&f.logFile, "log-file", "", "write the log to this file")
	fl.Uint64Var(&f.seed, "seed", 1, "seed of the program's random()")
	fl.StringVar(&f.grpcAddr, "grpc-server-addr", "127.0.0.1:9559", "address of the P4Runtime server")
	fl.BoolVar(&f.ssl, "grpc-server-ssl", false, "encrypt with TLS")
	fl.StringVar(&f.caCert, "grpc-server-cacert", "", "PEM file of the CA that signs client certificates")
	fl.StringVar(&f.cert, "grpc-server-cert", "", "PEM file of the server's certificate")
	fl.StringVar(&f.key, "grpc-server-key", "", "PEM file of the server's key")
	fl.BoolVar(&f.clientAuth, "grpc-server-with-client-auth", false, "require client certificates (mutual TLS)")
	fl.Uint32Var(&f.cpuPort, "cpu-port", 0, "port for packet-in and packet-out; 0 means none")
	fl.Uint32Var(&f.dropPort, "drop-port", 511, "port that means drop")
	fl.IntVar(&f.priorityQueues, "priority-queues", 1, "number of priority queues of a port, 1 to 8")
	fl.IntVar(&f.queueDepth, "queue-depth", 64, "packets that a queue holds")
	for _, g := range ignoredSwitchFlags {
		if g.value {
			fl.StringP(g.name, g.short, "", "ignored: "+g.why)
		} else {
			fl.BoolP(g.name, g.short, false, "ignored: "+g.why)
		}
		_ = fl.MarkHidden(g.name)
	}
	return cmd
}

// maxSwitchPort is the largest port number: standard_metadata has 9 bits for one.
const maxSwitchPort = 511

// portSpec is one -i.
type portSpec struct {
	number uint32
	kind   string // "interface", "udp" or "pcap"
	a, b   string
}

func parsePortSpec(s string) (p portSpec, err error) {
	num, rest, ok := strings.Cut(s, "@")
	n, nerr := strconv.ParseUint(num, 10, 9)
	if !ok || nerr != nil || rest == "" {
		return p, usagef("port %q: it must be NUMBER@INTERFACE, NUMBER@udp:LOCAL/REMOTE or NUMBER@pcap:IN[,OUT], with a number of 0 to 511", s)
	}
	p.number = uint32(n)
	switch {
	case strings.HasPrefix(rest, "udp:"):
		p.kind = "udp"
		if p.a, p.b, ok = strings.Cut(rest[len("udp:"):], "/"); !ok {
			return p, usagef("port %q: a tunnel is udp:LOCAL/REMOTE, both HOST:PORT", s)
		}
	case strings.HasPrefix(rest, "pcap:"):
		p.kind = "pcap"
		p.a, p.b, _ = strings.Cut(rest[len("pcap:"):], ",")
	default:
		p.kind, p.a = "interface", rest
	}
	return p, nil
}

// open opens a port; now gives the time stamps of recorded frames.
func (p portSpec) open(f switchFlags, now func() time.Time) (port.Port, error) {
	var q port.Port
	var err error
	switch {
	case p.kind == "udp":
		q, err = port.NewUDP(p.a, p.b)
	case p.kind == "pcap":
		q, err = port.NewFile(p.a, p.b, now)
	case f.useFiles >= 0:
		q, err = port.NewFile(p.a+"_in.pcap", p.a+"_out.pcap", now)
	default:
		q, err = port.NewInterface(p.a)
	}
	if err != nil {
		return nil, fmt.Errorf("port %d: %w", p.number, err)
	}
	if f.pcap == "" {
		return q, nil
	}
	w, err := port.CreateFile(filepath.Join(f.pcap, fmt.Sprintf("port%d.pcap", p.number)))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("port %d: %w", p.number, err), q.Close())
	}
	return port.NewRecorder(q, w, now), nil
}

// switchLog makes the logger of a switch and a function that closes it.
func switchLog(f switchFlags, stderr io.Writer) (*slog.Logger, func(), error) {
	levels := map[string]slog.Level{"trace": slog.LevelDebug - 4, "debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}
	if f.logLevel == "off" {
		return slog.New(slog.DiscardHandler), func() {}, nil
	}
	level, ok := levels[f.logLevel]
	if !ok {
		return nil, nil, usagef("--log-level %q: it must be trace, debug, info, warn, error or off", f.logLevel)
	}
	w, end := stderr, func() {}
	if f.logFile != "" {
		file, err := os.Create(f.logFile)
		if err != nil {
			return nil, nil, err
		}
		w, end = file, func() { file.Close() }
	}
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: level})), end, nil
}

// readP4Info reads a P4Info in the format that its file name says.
func readP4Info(name string) (*configv1.P4Info, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	m := &configv1.P4Info{}
	switch filepath.Ext(name) {
	case ".txt", ".txtpb", ".textproto", ".pbtxt", ".p4info":
		err = prototext.Unmarshal(data, m)
	case ".json":
		err = protojson.Unmarshal(data, m)
	default:
		err = proto.Unmarshal(data, m)
	}
	if err != nil {
		return nil, fmt.Errorf("%s is no P4Info (the format goes by the file name: .txtpb or .txt, .json, else binary): %w", name, err)
	}
	return m, nil
}

func runSwitch(ctx context.Context, stdout, stderr io.Writer, args []string, f switchFlags) error {
	switch {
	case len(args) > 1:
		return usagef("one program at most is expected; got %q", args)
	case len(args) == 0 && !f.noP4:
		return usagef("a program (PROG.json) is missing; use --no-p4 to start without one")
	case len(args) == 1 && f.noP4:
		return usagef("--no-p4 and a program exclude each other")
	case f.p4info != "" && len(args) == 0:
		return usagef("--p4info needs a program")
	}
	switch {
	case f.cpuPort > maxSwitchPort || f.dropPort > maxSwitchPort:
		return usagef("--cpu-port %d, --drop-port %d: ports have 9 bits (0 to %d)", f.cpuPort, f.dropPort, maxSwitchPort)
	case f.cpuPort == f.dropPort && f.cpuPort != 0:
		return usagef("--cpu-port %d is the drop port; choose another one, or another --drop-port", f.cpuPort)
	case f.priorityQueues < 1 || f.priorityQueues > 8:
		return usagef("--priority-queues %d: it must be 1 to 8", f.priorityQueues)
	case f.queueDepth < 1:
		return usagef("--queue-depth %d: it must be at least 1", f.queueDepth)
	}
	specs := make([]portSpec, len(f.interfaces))
	for i, s := range f.interfaces {
		var err error
		if specs[i], err = parsePortSpec(s); err != nil {
			return err
		}
	}
	opts := p4rt.Options{}
	if f.ssl {
		if f.cert == "" || f.key == "" {
			return usagef("--grpc-server-ssl needs --grpc-server-cert and --grpc-server-key")
		}
		var err error
		if opts.TLS, err = p4rt.LoadTLS(f.cert, f.key, f.caCert, f.clientAuth); err != nil {
			return err
		}
	} else if f.clientAuth || f.caCert != "" || f.cert != "" || f.key != "" {
		return usagef("certificates are given, but not --grpc-server-ssl")
	}
	log, endLog, err := switchLog(f, stderr)
	if err != nil {
		return err
	}
	defer endLog()

	var prog *pipeline.Program
	cfg := &p4v1.ForwardingPipelineConfig{}
	if len(args) == 1 {
		if cfg.P4DeviceConfig, err = os.ReadFile(args[0]); err != nil {
			return err
		}
		parsed, err := config.Parse(cfg.P4DeviceConfig)
		if err == nil {
			prog, err = pipeline.Link(parsed)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", args[0], err)
		}
	}
	dev, err := device.New(prog, device.Options{Log: log, Switch: simpleswitch.Options{
		DropPort: f.dropPort, CPUPort: f.cpuPort, PriorityQueues: f.priorityQueues, QueueDepth: f.queueDepth, Seed: f.seed}})
	if err != nil {
		return err
	}
	defer dev.Close()
	srv := p4rt.NewServer(opts)
	agent, err := srv.AddDevice(f.deviceID, dev, p4rt.AgentOptions{Epoch: dev.Epoch()})
	if err != nil {
		return err
	}
	dev.SetAgent(agent)
	if f.p4info != "" {
		if cfg.P4Info, err = readP4Info(f.p4info); err != nil {
			return err
		}
		if err := agent.Install(cfg); err != nil {
			return fmt.Errorf("%s with %s: %w", args[0], f.p4info, err)
		}
	}
	lis, err := net.Listen("tcp", f.grpcAddr)
	if err != nil {
		return fmt.Errorf("--grpc-server-addr: %w", err)
	}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(lis) }()
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		srv.Shutdown(ctx)
	}()

	if f.useFiles > 0 {
		select {
		case <-time.After(time.Duration(f.useFiles) * time.Second):
		case <-ctx.Done():
			return nil
		}
	}
	for _, s := range specs {
		p, err := s.open(f, time.Now)
		if err != nil {
			return err
		}
		if err := dev.Attach(s.number, p); err != nil {
			return errors.Join(err, p.Close())
		}
	}
	security := "no TLS"
	if f.ssl {
		security = "TLS"
		if f.clientAuth {
			security = "mutual TLS"
		}
	}
	fmt.Fprintf(stdout, "device %d: P4Runtime on %s (%s), ports %v\n", f.deviceID, lis.Addr(), security, dev.Ports())
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	dev.Do(func(sw *simpleswitch.Switch, _ int64) {
		for r, n := range sw.Drops() {
			if n > 0 {
				log.Info("packets", "reason", simpleswitch.Reason(r).String(), "count", n)
			}
		}
	})
	fmt.Fprintln(stdout, "stopped")
	return nil
}
