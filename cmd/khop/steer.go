package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"khop/controlplane"
)

// apiFlag adds --api, the address of a running controller.
func apiFlag(cmd *cobra.Command, addr *string) {
	cmd.Flags().StringVar(addr, "api", controlplane.DefaultAPI, "address of the controller's API")
}

// steerCmd makes a command that asks a running controller and prints what it answers.
func steerCmd[T any](use, short, example string, check cobra.PositionalArgs, ask func(cmd *cobra.Command, api controlplane.API, args []string) (T, error), show func(io.Writer, T)) *cobra.Command {
	var addr, format string
	cmd := &cobra.Command{
		Use: use, Short: short, Example: example, Args: args(check),
		RunE: func(cmd *cobra.Command, list []string) error {
			if err := checkOutput(format); err != nil {
				return err
			}
			v, err := ask(cmd, controlplane.API{Addr: addr}, list)
			if err != nil {
				return err
			}
			if format == "json" {
				return printJSON(cmd.OutOrStdout(), v)
			}
			show(cmd.OutOrStdout(), v)
			return nil
		},
	}
	apiFlag(cmd, &addr)
	outputFlag(cmd, &format)
	return cmd
}

func newProbesCmd() *cobra.Command {
	get := steerCmd("get", "Show each ToR's probe interval, set and measured", "  khop probes get -o json", cobra.NoArgs,
		func(cmd *cobra.Command, api controlplane.API, _ []string) ([]controlplane.ProbeStatus, error) {
			return api.Probes(cmd.Context())
		}, showProbes)
	var change controlplane.ProbeChange
	set := steerCmd("set --interval DURATION [--tor LEAF]", "Change the probe interval, of one ToR or of all",
		"  khop probes set --interval 200us\n  khop probes set --interval 400us --tor leaf1", cobra.NoArgs,
		func(cmd *cobra.Command, api controlplane.API, _ []string) ([]controlplane.ProbeStatus, error) {
			if change.Interval == "" {
				return nil, usagef("to what? --interval takes a duration such as 200us")
			}
			return api.SetProbes(cmd.Context(), change)
		}, showProbes)
	set.Flags().StringVar(&change.Interval, "interval", "", "new interval, such as 200us")
	set.Flags().StringVar(&change.ToR, "tor", "", "only this ToR; all without it")
	return group("probes", "Look at and change the probe intervals of a running fabric", get, set)
}

func showProbes(w io.Writer, list []controlplane.ProbeStatus) {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "TOR\tINTERVAL\tSENT\tMEASURED MEAN\tMIN\tMAX\tOVER")
	for _, p := range list {
		fmt.Fprintf(t, "%s\t%gus\t%d\t%.1fus\t%.1fus\t%.1fus\t%d intervals\n", p.ToR, p.IntervalUS, p.Sent, p.MeanUS, p.MinUS, p.MaxUS, p.Measured)
	}
	t.Flush()
}

func newKnobsCmd() *cobra.Command {
	get := steerCmd("get", "Show the live knobs", "  khop knobs get", cobra.NoArgs,
		func(cmd *cobra.Command, api controlplane.API, _ []string) ([]controlplane.Knob, error) {
			return api.Knobs(cmd.Context())
		}, showKnobs)
	set := steerCmd("set NAME=VALUE ...", "Turn live knobs; all settings are judged together",
		"  khop knobs set flowlet-gap=300us\n  khop knobs set ecn.leaf1:3.kmin=30KB ecn.leaf1:3.kmax=90KB\n  khop knobs set port.leaf1:2=down", cobra.MinimumNArgs(1),
		func(cmd *cobra.Command, api controlplane.API, list []string) ([]controlplane.Knob, error) {
			return api.SetKnobs(cmd.Context(), list)
		}, showKnobs)
	return group("knobs", "Look at and turn the live knobs of a running fabric", get, set)
}

func showKnobs(w io.Writer, list []controlplane.Knob) {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	for _, k := range list {
		fmt.Fprintf(t, "%s\t%s\n", k.Name, k.Value)
	}
	t.Flush()
}

func newTablesCmd() *cobra.Command {
	dump := steerCmd("dump SWITCH", "Print what a switch holds, decoded: tables, and the k-best next hops", "  khop tables dump leaf1", cobra.ExactArgs(1),
		func(cmd *cobra.Command, api controlplane.API, list []string) (controlplane.TableDump, error) {
			return api.Tables(cmd.Context(), list[0])
		}, showTables)
	return group("tables", "Look into the switches of a running fabric", dump)
}

func showTables(w io.Writer, d controlplane.TableDump) {
	fmt.Fprintf(w, "%s (%s)\n", d.Switch, d.Role)
	for _, t := range d.Tables {
		fmt.Fprintf(w, "\n%s: %d\n", t.Table, len(t.Entries))
		for _, e := range t.Entries {
			fmt.Fprintf(w, "  %s\n", e)
		}
	}
	if d.RegistersError != "" {
		fmt.Fprintf(w, "\nk-best: the switch cannot show its registers: %s\n", d.RegistersError)
		return
	}
	for _, k := range d.KBest {
		fmt.Fprintf(w, "\nk-best towards %s\n", k.ToR)
		t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
		fmt.Fprintln(t, "  RANK\tPORT\tNEXT HOP\tUTIL\tROUND\tSEEN AT")
		for i, s := range k.Slots {
			fmt.Fprintf(t, "  %d\t%d\t%s\t%d/255\t%d\t%dus\n", i+1, s.Port, s.NextHop, s.Util, s.Round, s.TimeUS)
		}
		t.Flush()
	}
}
