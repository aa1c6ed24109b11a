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
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"khop/controlplane"
	"khop/fabric"
)

func newPushCmd() *cobra.Command {
	var spec, format, api, write string
	var switches []string
	var dryRun, steer bool
	var election uint64
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "push -f SPEC [--switch NAME=HOST:PORT ...]",
		Short: "Bring running switches, embedded or bmv2, to what a spec says",
		Long: `Bring running P4Runtime switches, embedded or stock bmv2, to what a spec says. push reads each switch, prints what has to
change (+ insert, ~ modify, - delete), and changes just that; the pipeline is set only if the switch runs another program.
Addresses come from the spec; with --switch, only the named switches are touched, where it says.
With --dry-run --write DIR it asks no switch, and leaves all that each one should hold in DIR/SWITCH.txtpb, a p4.v1.WriteRequest
in text format that khop bench --entries takes.
With --steer, push stays: it sends probes, answers digests and packet-ins, and serves the API, until it is interrupted.`,
		Example: `  khop push -f leafspine-2x4-mp-hula --dry-run
  khop push -f leafspine-2x4-mp-hula --dry-run --write entries
  khop push -f fabric.yaml --switch leaf1=127.0.0.1:9559 --switch leaf2=127.0.0.1:9560
  khop push -f fabric.yaml --steer`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkOutput(format); err != nil {
				return err
			}
			if dryRun && steer {
				return usagef("--dry-run changes nothing, so there is nothing to --steer")
			}
			if write != "" && !dryRun {
				return usagef("--write goes with --dry-run: it leaves files and touches no switch")
			}
			f, err := loadSpec(spec)
			if err != nil {
				return err
			}
			targets, err := pushTargets(f, switches)
			if err != nil {
				return err
			}
			log := slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil))
			start := time.Now()
			ctl, err := controlplane.New(f, controlplane.Options{
				Compile: compileProgram, ElectionID: election, Log: log,
				Now: func() int64 { return int64(time.Since(start)) },
			})
			if err != nil {
				return err
			}
			defer ctl.Close()
			if write != "" {
				return writeEntries(cmd.OutOrStdout(), format, ctl, targets, write)
			}
			for _, t := range targets {
				conn, err := grpc.NewClient(t.addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
				if err != nil {
					return fmt.Errorf("%s at %s: %w", t.name, t.addr, err)
				}
				defer conn.Close()
				if dryRun {
					err = ctl.ConnectReader(t.name, t.addr, conn)
				} else {
					ctx, cancel := context.WithTimeout(cmd.Context(), timeout)
					err = ctl.Connect(ctx, t.name, t.addr, conn)
					cancel()
				}
				if err != nil {
					return err
				}
			}
			plans, err := ctl.PlanAll(cmd.Context())
			if err != nil {
				return err
			}
			for _, p := range plans {
				if format == "text" {
					p.Print(cmd.OutOrStdout())
				}
				if !dryRun {
					if err := ctl.Apply(cmd.Context(), p); err != nil {
						return err
					}
				}
			}
			if format == "json" {
				if err := printJSON(cmd.OutOrStdout(), planDocument(plans, dryRun)); err != nil {
					return err
				}
			}
			if !steer {
				return nil
			}
			return serve(cmd.Context(), cmd.OutOrStdout(), ctl, api, true)
		},
	}
	specFlag(cmd, &spec)
	outputFlag(cmd, &format)
	fl := cmd.Flags()
	fl.StringArrayVar(&switches, "switch", nil, "NAME=HOST:PORT: where a switch's P4Runtime server is")
	fl.BoolVar(&dryRun, "dry-run", false, "print the plan and change nothing")
	fl.StringVar(&write, "write", "", "with --dry-run: write each switch's entries to DIR/SWITCH.txtpb, without asking the switches")
	fl.BoolVar(&steer, "steer", false, "stay: probes, digests, packet-ins, API")
	fl.StringVar(&api, "api", controlplane.DefaultAPI, "address of the API that --steer serves")
	fl.Uint64Var(&election, "election-id", 1, "P4Runtime election id; the highest is primary")
	fl.DurationVar(&timeout, "timeout", 5*time.Second, "how long to wait for each switch to answer")
	return cmd
}

// writeEntries writes what each switch should hold to a file of its own.
func writeEntries(w io.Writer, format string, ctl *controlplane.Controller, targets []pushTarget, dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	type file struct {
		Switch  string `json:"switch"`
		File    string `json:"file"`
		Updates int    `json:"updates"`
	}
	list := []file{}
	for _, t := range targets {
		r := ctl.Entries(ctl.Fabric().Switch(t.name))
		name := filepath.Join(dir, t.name+".txtpb")
		if err := writeProto(name, r); err != nil {
			return err
		}
		list = append(list, file{t.name, name, len(r.GetUpdates())})
		if format == "text" {
			fmt.Fprintf(w, "%s: %d updates in %s\n", t.name, len(r.GetUpdates()), name)
		}
	}
	if format == "json" {
		return printJSON(w, map[string]any{"files": list})
	}
	return nil
}

type pushTarget struct{ name, addr string }

// pushTargets returns the switches to push to, in the order of the fabric.
func pushTargets(f *fabric.Fabric, switches []string) ([]pushTarget, error) {
	given := map[string]string{}
	for _, s := range switches {
		name, addr, ok := strings.Cut(s, "=")
		if _, _, err := net.SplitHostPort(addr); !ok || err != nil {
			return nil, usagef("--switch %q: it is written NAME=HOST:PORT", s)
		}
		if f.Switch(name) == nil {
			return nil, usagef("--switch %q: the fabric has no switch %q", s, name)
		}
		given[name] = addr
	}
	var list []pushTarget
	for _, s := range f.Switches {
		addr, named := given[s.Name]
		switch {
		case named:
			list = append(list, pushTarget{s.Name, addr})
		case len(given) == 0:
			list = append(list, pushTarget{s.Name, s.GRPC})
		}
	}
	return list, nil
}

// planJSON is a plan as -o json prints it.
type planJSON struct {
	Switch   string   `json:"switch"`
	Address  string   `json:"address"`
	Pipeline bool     `json:"pipeline"`
	Insert   int      `json:"insert"`
	Modify   int      `json:"modify"`
	Delete   int      `json:"delete"`
	Changes  []string `json:"changes"`
}

func planDocument(plans []*controlplane.Plan, dryRun bool) any {
	list := []planJSON{}
	for _, p := range plans {
		x := planJSON{Switch: p.Switch, Address: p.Address, Pipeline: p.Pipeline, Changes: []string{}}
		x.Insert, x.Modify, x.Delete = p.Counts()
		for _, c := range p.Changes {
			x.Changes = append(x.Changes, string(c.Op)+" "+c.What)
		}
		list = append(list, x)
	}
	return map[string]any{"dry_run": dryRun, "switches": list}
}

// serve serves the API until the context ends; with probes, it sends them as well.
func serve(ctx context.Context, w io.Writer, ctl *controlplane.Controller, addr string, probes bool) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("API: %w", err)
	}
	fmt.Fprintf(w, "API at %s; stop with Ctrl-C\n", l.Addr())
	done := make(chan error, 1)
	if probes {
		go func() { done <- ctl.Run(ctx) }()
	} else {
		done <- nil
	}
	return errors.Join(ctl.ServeAPI(ctx, l), <-done)
}
