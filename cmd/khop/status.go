package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"khop/controlplane"
)

func newStatusCmd() *cobra.Command {
	return steerCmd("status", "Show a running fabric's switches and the MPTCP connections that its controller knows", "  khop status -o json", cobra.NoArgs,
		func(cmd *cobra.Command, api controlplane.API, _ []string) (controlplane.Status, error) {
			return api.Status(cmd.Context())
		}, showStatus)
}

func showStatus(w io.Writer, st controlplane.Status) {
	fmt.Fprintf(w, "%s (%s): %d digest lists, %d packet-ins (%d answered), %d errors\n", st.Fabric, st.Scheme, st.Digests, st.PacketIns, st.Replies, st.Errors)
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "SWITCH\tROLE\tDEVICE\tADDRESS\tPRIMARY")
	for _, s := range st.Switches {
		fmt.Fprintf(t, "%s\t%s\t%d\t%s\t%v\n", s.Name, s.Role, s.DeviceID, s.Address, s.Connected)
	}
	t.Flush()
	for _, c := range st.Connections {
		fmt.Fprintf(w, "connection %s, MPTCP version %d, tokens %d and %d\n", c.ID, c.Version, c.Tokens[0], c.Tokens[1])
		for _, s := range c.Subflows {
			note := ""
			if s.Backup {
				note += ", backup"
			}
			if s.Closed {
				note += ", closed"
			}
			fmt.Fprintf(w, "  %d  %s%s\n", s.Number, s.FiveTuple, note)
		}
	}
}
