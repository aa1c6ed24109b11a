package main

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"khop/controlplane"
	"khop/fabric"
	"khop/lab"
	"khop/test"
	"khop/test/replay"
)

// tourSpecs are the fabrics of the tour; they differ in their scheme only.
var tourSpecs = []string{"leafspine-2x4-ecmp", "leafspine-2x4-hula", "leafspine-2x4-mp-hula"}

// The live change at the end of the tour, and how long each interval is measured.
const (
	tourInterval = 250 * time.Microsecond
	tourMeasure  = 500 * time.Millisecond
)

func newDemoCmd() *cobra.Command {
	var pcap, format string
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "The tour: generate, compile, push, probe, replay a real MPTCP capture, steer live",
		Long: `The tour, in under a minute and without root: generate, compile and push an ECMP, a HULA and an MP-HULA fabric (2 leaves,
4 spines), replay a capture through each in virtual time, show where the subflows went, and change the probe interval
of a running fabric.`,
		Example: `  khop demo
  khop demo --pcap capture.pcapng -o json`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkOutput(format); err != nil {
				return err
			}
			// With -o json standard output is one document; the story is for a terminal.
			say := func(text string, args ...any) { fmt.Fprintf(cmd.OutOrStdout(), text+"\n", args...) }
			if format == "json" {
				say = newProgress(cmd).step
			}
			packets, name, err := tourPackets(pcap)
			if err != nil {
				return err
			}
			say("The capture: %s, %d frames.", name, len(packets))
			doc := replay.Document{}
			var last *fabric.Fabric
			var programs []*controlplane.Program
			for _, spec := range tourSpecs {
				f, err := fabric.LoadFile(spec)
				if err != nil {
					return err
				}
				start := time.Now()
				if programs, err = controlplane.BuildPrograms(f, compileProgram); err != nil {
					return err
				}
				compiled := time.Since(start)
				say("\n%s: %d leaves, %d spines.", f.Name, len(f.Leaves()), len(f.OfRole(fabric.Spine)))
				for _, p := range programs {
					say("  generated %s (%d lines), compiled it to %d KB of bmv2 JSON", p.Name, bytes.Count(p.Source, []byte("\n")), len(p.JSON)/1024)
				}
				say("  (both in %v) started %d switches, pushed pipelines and entries over P4Runtime, replaying ...", compiled.Round(time.Millisecond), len(f.Switches))
				start = time.Now()
				r, err := replay.Run(cmd.Context(), f, packets, replay.Options{Programs: programs})
				if err != nil {
					return err
				}
				say("  replayed in virtual time (%v of real time)", time.Since(start).Round(time.Millisecond))
				doc.Schemes = append(doc.Schemes, r)
				last = f
			}
			say("")
			if format == "text" {
				showResults(cmd.OutOrStdout(), doc.Schemes)
			}
			say("\nNow %s live, in real time: the probe interval goes from %v to %v.", last.Name, last.Timing.ProbeInterval, tourInterval)
			if doc.ProbeInterval, err = tourLive(cmd.Context(), last, programs); err != nil {
				return err
			}
			say("  measured before: %.1f us; after: %.1f us", doc.ProbeInterval.BeforeUS, doc.ProbeInterval.AfterUS)
			if format == "json" {
				return printJSON(cmd.OutOrStdout(), doc)
			}
			return nil
		},
	}
	outputFlag(cmd, &format)
	cmd.Flags().StringVar(&pcap, "pcap", "", "replay this capture (pcap or pcapng) instead of the built-in one")
	return cmd
}

func tourPackets(file string) ([]replay.Packet, string, error) {
	if file != "" {
		list, err := replay.ReadCaptureFile(file)
		return list, file, err
	}
	data, err := test.Captures.ReadFile(test.TourCapture)
	if err != nil {
		return nil, "", err
	}
	list, err := replay.ReadCapture(bytes.NewReader(data))
	return list, "one MPTCP connection with four subflows (built in)", err
}

// tourLive runs a fabric, changes its probe interval, and measures both.
func tourLive(ctx context.Context, f *fabric.Fabric, programs []*controlplane.Program) (*replay.ProbeInterval, error) {
	x, err := lab.Up(ctx, f, lab.Options{Controller: controlplane.Options{Programs: programs}, AnyPort: true})
	if err != nil {
		return nil, err
	}
	defer x.Close()
	measure := func() (float64, error) {
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(tourMeasure):
			return x.Controller.Probes()[0].MeanUS, nil
		}
	}
	r := &replay.ProbeInterval{}
	if r.BeforeUS, err = measure(); err != nil {
		return nil, err
	}
	if err := x.Controller.SetProbeInterval("", tourInterval); err != nil {
		return nil, err
	}
	r.AfterUS, err = measure()
	return r, err
}
