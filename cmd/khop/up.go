package main

import (
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"khop/controlplane"
	"khop/lab"
)

func newUpCmd() *cobra.Command {
	var spec, api string
	var interfaces, externals []string
	var anyPort bool
	cmd := &cobra.Command{
		Use:   "up -f SPEC",
		Short: "Run a whole fabric in one process, steered, with an API",
		Long: `Run a whole fabric in one process: every switch with a P4Runtime server of its own at the spec's address, joined by links in
memory, and the controller, which sends the probes and serves the API. Hosts are attached with -i.`,
		Example: `  khop up -f leafspine-2x4-mp-hula
  khop up -f fabric.yaml -i leaf1:5@veth0 -i leaf2:5@udp:127.0.0.1:7001/127.0.0.1:7002`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			f, err := loadSpec(spec)
			if err != nil {
				return err
			}
			external := map[string]string{}
			if len(externals) > 0 {
				list, err := pushTargets(f, externals)
				if err != nil {
					return err
				}
				for _, t := range list {
					external[t.name] = t.addr
				}
			}
			log := slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil))
			newProgress(cmd).step("compiling and pushing %s ...", f.Name)
			x, err := lab.Up(cmd.Context(), f, lab.Options{
				Controller: controlplane.Options{Compile: compileProgram}, AnyPort: anyPort, External: external, Log: log,
			})
			if err != nil {
				return err
			}
			defer x.Close()
			for _, i := range interfaces {
				sw, rest, ok := strings.Cut(i, ":")
				if !ok {
					return usagef("-i %q: it is written SWITCH:PORT@INTERFACE", i)
				}
				p, err := parsePortSpec(rest)
				if err != nil {
					return usageError{err}
				}
				q, err := p.open(switchFlags{useFiles: -1}, time.Now)
				if err != nil {
					return fmt.Errorf("%s: %w", sw, err)
				}
				if err := x.Attach(sw, p.number, q); err != nil {
					return err
				}
			}
			for _, p := range x.Plans {
				fmt.Fprintf(cmd.OutOrStdout(), "%-8s P4Runtime at %s, device %d\n", p.Switch, p.Address, f.Switch(p.Switch).DeviceID)
			}
			return serve(cmd.Context(), cmd.OutOrStdout(), x.Controller, api, false)
		},
	}
	specFlag(cmd, &spec)
	fl := cmd.Flags()
	fl.StringVar(&api, "api", controlplane.DefaultAPI, "address to serve the API at; port 0 takes a free one")
	fl.StringArrayVarP(&interfaces, "interface", "i", nil, "SWITCH:PORT@INTERFACE, @udp:LOCAL/REMOTE or @pcap:IN[,OUT]")
	fl.StringArrayVar(&externals, "switch", nil, "NAME=HOST:PORT: this switch runs elsewhere")
	fl.BoolVar(&anyPort, "any-port", false, "P4Runtime servers take free ports instead of the spec's")
	return cmd
}
