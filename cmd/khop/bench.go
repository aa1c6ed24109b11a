package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	p4v1 "github.com/p4lang/p4runtime/go/p4/v1"
	"github.com/spf13/cobra"
	"google.golang.org/protobuf/encoding/prototext"

	"khop/p4"
	"khop/test/bench"
	"khop/test/replay"
)

func newBenchCmd() *cobra.Command {
	var p4info, pcap, entries, format string
	o := bench.Options{}
	cmd := &cobra.Command{
		Use:   "bench PROG.json|PROG.p4 --pcap FILE [--p4info FILE] [--entries FILE] [flags]",
		Short: "Measure one embedded switch in memory",
		Long: `Measure one embedded switch in memory. The packets of a capture are fed on one port, again and again, one each microsecond
of the switch's time, as fast as the machine can. Entries are a p4.v1.WriteRequest in text format, as khop push --dry-run --write
leaves them. A P4 program is compiled first and needs no --p4info.`,
		Example: `  khop push -f leafspine-2x4-mp-hula --dry-run --write entries
  khop bench p4src/leafspine-2x4-mp-hula/leaf.p4 --entries entries/leaf1.txtpb --pcap test/testdata/pcaps/mptcp-v1-4subflows.pcap --in-port 5`,
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case checkOutput(format) != nil:
				return checkOutput(format)
			case pcap == "":
				return usagef("--pcap is missing: which packets?")
			case o.InPort >= maxSwitchPort || o.CPUPort >= maxSwitchPort:
				return usagef("--in-port %d, --cpu-port %d: ports are 0 to %d", o.InPort, o.CPUPort, maxSwitchPort-1)
			case o.Duration <= 0 && o.Packets == 0:
				return usagef("--duration %v: it must be more than nothing", o.Duration)
			}
			var err error
			if o.Config, err = benchConfig(cmd.ErrOrStderr(), args[0], p4info); err != nil {
				return err
			}
			if entries != "" {
				if o.Config.P4Info == nil {
					return usagef("--entries needs --p4info")
				}
				text, err := os.ReadFile(entries)
				if err != nil {
					return err
				}
				o.Entries = &p4v1.WriteRequest{}
				if err := prototext.Unmarshal(text, o.Entries); err != nil {
					return fmt.Errorf("%s is no p4.v1.WriteRequest in text format: %w", entries, err)
				}
			}
			packets, err := replay.ReadCaptureFile(pcap)
			if err != nil {
				return err
			}
			for _, p := range packets {
				o.Frames = append(o.Frames, p.Data)
			}
			r, err := bench.Run(o)
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			if format == "json" {
				return printJSON(cmd.OutOrStdout(), r)
			}
			printBench(cmd.OutOrStdout(), r)
			return nil
		},
	}
	outputFlag(cmd, &format)
	fl := cmd.Flags()
	fl.StringVar(&p4info, "p4info", "", "P4Info of PROG.json (.txtpb or .txt, .json, or binary)")
	fl.StringVar(&pcap, "pcap", "", "capture with the packets to feed")
	fl.StringVar(&entries, "entries", "", "p4.v1.WriteRequest in text format, applied first")
	fl.Uint32Var(&o.InPort, "in-port", 1, "port that the packets come in by")
	fl.Uint32Var(&o.CPUPort, "cpu-port", 510, "port for the controller; 0 means none")
	fl.DurationVar(&o.Duration, "duration", 2*time.Second, "how long to measure")
	fl.Uint64Var(&o.Packets, "packets", 0, "measure this many packets instead")
	return cmd
}

// benchConfig reads a compiled program, or compiles one.
func benchConfig(stderr io.Writer, name, p4info string) (*p4v1.ForwardingPipelineConfig, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	cfg := &p4v1.ForwardingPipelineConfig{P4DeviceConfig: text}
	if filepath.Ext(name) == ".p4" {
		if p4info != "" {
			return nil, usagef("--p4info goes with PROG.json; a P4 program brings its own")
		}
		result, diags, src := p4.CompileSource(name, text, p4.Options{})
		if err := reportDiagnostics(stderr, diags, src); err != nil {
			return nil, err
		}
		cfg.P4DeviceConfig, cfg.P4Info = result.JSON, result.P4Info
		return cfg, nil
	}
	if p4info != "" {
		cfg.P4Info, err = readP4Info(p4info)
	}
	return cfg, err
}

func printBench(w io.Writer, r *bench.Result) {
	fmt.Fprintf(w, "%.0f packets/s, %.0f ns/packet (%d packets in %.2f s)\n", r.PacketsPerSecond, r.NsPerPacket, r.Packets, r.Seconds)
	fmt.Fprintf(w, "%g allocations and %g bytes/packet\n", r.AllocsPerPacket, r.BytesPerPacket)
	fmt.Fprintf(w, "parser and ingress %.0f ns, egress and deparser %.0f ns/packet (timed apart)\n", r.IngressNs, r.EgressNs)
	fmt.Fprintf(w, "out: %d packets\n", r.PacketsOut)
	for _, p := range r.Ports {
		fmt.Fprintf(w, "  port %d: %d\n", p.Port, p.Packets)
	}
	for _, d := range r.Drops {
		fmt.Fprintf(w, "  %s: %d\n", d.Reason, d.Packets)
	}
	if r.Digests > 0 {
		fmt.Fprintf(w, "digests: %d\n", r.Digests)
	}
}
