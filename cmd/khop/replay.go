package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"khop/fabric"
	"khop/test/expect"
	"khop/test/replay"
)

func newReplayCmd() *cobra.Command {
	var spec, out, want, format string
	var pcaps, ins, masks []string
	var ignoreTimes bool
	cmd := &cobra.Command{
		Use:   "replay -f SPEC --pcap FILE --out DIR",
		Short: "Replay captures through a fabric in virtual time",
		Long: `Replay captures (pcap or pcapng) through a fabric in virtual time. A packet of --pcap enters at the leaf that owns its
source address, one of --in at the host port that is named, at its capture time. What reached each host is written to
DIR/HOST.pcap. Two runs give identical bytes. With --expect the captures in DIR are compared with those of another directory.`,
		Example: `  khop replay -f leafspine-2x4-mp-hula --pcap capture.pcap --out out
  khop replay -f leafspine-2x4-hula --in leaf1:5=a.pcapng --in leaf2:5=b.pcap --out out -o json
  khop replay -f fabric.yaml --pcap capture.pcap --out out --expect golden --mask 22:1`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkOutput(format); err != nil {
				return err
			}
			f, err := loadSpec(spec)
			if err != nil {
				return err
			}
			if len(pcaps)+len(ins) == 0 {
				return usagef("what to replay? --pcap takes a capture, --in SWITCH:PORT=CAPTURE one that enters at a port")
			}
			if want != "" && out == "" {
				return usagef("--expect compares what --out wrote; give both")
			}
			opts := expect.Options{IgnoreTimes: ignoreTimes}
			for _, m := range masks {
				mask, err := expect.ParseMask(m)
				if err != nil {
					return usageError{err}
				}
				opts.Masks = append(opts.Masks, mask)
			}
			packets, err := readCaptures(f, pcaps, ins)
			if err != nil {
				return err
			}
			newProgress(cmd).step("replaying %d frames through %s ...", len(packets), f.Name)
			r, err := replay.Run(cmd.Context(), f, packets, replay.Options{Compile: compileProgram, OutDir: out})
			if err != nil {
				return err
			}
			if format == "json" {
				if err := printJSON(cmd.OutOrStdout(), replay.Document{Schemes: []*replay.Result{r}}); err != nil {
					return err
				}
			} else {
				showResults(cmd.OutOrStdout(), []*replay.Result{r})
			}
			if want == "" {
				return nil
			}
			diffs, err := expect.Dirs(out, want, opts)
			if err != nil {
				return err
			}
			for _, d := range diffs {
				fmt.Fprintln(cmd.ErrOrStderr(), d)
			}
			if len(diffs) > 0 {
				return errReported
			}
			return nil
		},
	}
	specFlag(cmd, &spec)
	outputFlag(cmd, &format)
	fl := cmd.Flags()
	fl.StringArrayVar(&pcaps, "pcap", nil, "capture whose packets enter at the leaf of their source address")
	fl.StringArrayVar(&ins, "in", nil, "SWITCH:PORT=CAPTURE: its packets enter at that host port")
	fl.StringVar(&out, "out", "", "directory for one capture a host")
	fl.StringVar(&want, "expect", "", "compare --out with the captures of this directory")
	fl.StringArrayVar(&masks, "mask", nil, "OFFSET:LENGTH: bytes of each frame that --expect leaves out")
	fl.BoolVar(&ignoreTimes, "ignore-times", false, "--expect compares bytes and order, not times")
	return cmd
}

// readCaptures reads the captures of --pcap and --in.
func readCaptures(f *fabric.Fabric, pcaps, ins []string) ([]replay.Packet, error) {
	var all []replay.Packet
	for _, name := range pcaps {
		list, err := replay.ReadCaptureFile(name)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	for _, in := range ins {
		place, name, ok := strings.Cut(in, "=")
		sw, number, ok2 := strings.Cut(place, ":")
		if !ok || !ok2 {
			return nil, usagef("--in %q: it is written SWITCH:PORT=CAPTURE", in)
		}
		s := f.Switch(sw)
		if s == nil {
			return nil, usagef("--in %q: the fabric has no switch %q", in, sw)
		}
		n, err := strconv.ParseUint(number, 10, 32)
		p := s.Port(uint32(n))
		if err != nil || p == nil || p.Host == nil {
			return nil, usagef("--in %q: %s is no host port of %s; its host ports are %s", in, number, sw, hostPorts(s))
		}
		list, err := replay.ReadCaptureFile(name)
		if err != nil {
			return nil, err
		}
		for i := range list {
			list[i].Host = p.Host
		}
		all = append(all, list...)
	}
	return all, nil
}

func hostPorts(s *fabric.Switch) string {
	var list []string
	for _, p := range s.Ports {
		if p.Host != nil {
			list = append(list, fmt.Sprint(p.Number))
		}
	}
	if list == nil {
		return "none"
	}
	return strings.Join(list, ", ")
}

// showResults prints results as tables: one line a scheme, then for each scheme one line a subflow.
func showResults(w io.Writer, list []*replay.Result) {
	t := tabwriter.NewWriter(w, 0, 4, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "scheme\tpackets in\tdelivered\tlost\tprobes\ttokens found\tcollisions\tmean distinct next hops\t")
	for _, r := range list {
		lost := 0
		for _, n := range r.PacketsLost {
			lost += n
		}
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%.3f\t\n", r.Scheme, r.PacketsIn, r.PacketsDelivered, lost, r.ProbesSent, 2*r.Found.Connections, r.Collisions, r.MeanDistinctNextHops)
	}
	t.Flush()
	for _, r := range list {
		if r.NotForwarded > 0 {
			fmt.Fprintf(w, "\n%s: %d frames of the link itself are not forwarded: %s\n", r.Scheme, r.NotForwarded, countsText(r.NotForwardedBy))
		}
		if len(r.PacketsLost) > 0 {
			fmt.Fprintf(w, "\n%s: lost: %s\n", r.Scheme, countsText(r.PacketsLost))
		}
		for _, c := range r.Connections {
			showConnection(w, r.Scheme, c)
		}
	}
}

func countsText(m map[string]int) string {
	var parts []string
	for k, n := range m {
		parts = append(parts, fmt.Sprintf("%s %d", k, n))
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}

func showConnection(w io.Writer, scheme string, c replay.Connection) {
	fmt.Fprintf(w, "\n%s: connection %s, MPTCP version %d, tokens %d and %d; packets by next hop:\n", scheme, c.ID, c.Version, c.Tokens[0], c.Tokens[1])
	var hops []string
	for _, s := range c.Subflows {
		for h := range s.NextHops {
			if !slices.Contains(hops, h) {
				hops = append(hops, h)
			}
		}
	}
	slices.Sort(hops)
	t := tabwriter.NewWriter(w, 0, 4, 3, ' ', 0)
	fmt.Fprintf(t, "  subflow\t5-tuple\t%s\n", strings.Join(hops, "\t"))
	for _, s := range c.Subflows {
		fmt.Fprintf(t, "  %d\t%s", s.Number, s.FiveTuple)
		for _, h := range hops {
			if n := s.NextHops[h]; n > 0 {
				fmt.Fprintf(t, "\t%d", n)
			} else {
				fmt.Fprint(t, "\t.")
			}
		}
		fmt.Fprintln(t)
	}
	t.Flush()
}
