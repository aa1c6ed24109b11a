package main

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"khop/bmv2/p4rt"
)

// versionInfo is what khop version prints.
type versionInfo struct {
	Version   string `json:"version"`
	Revision  string `json:"revision,omitempty"`
	Go        string `json:"go"`
	P4        string `json:"p4"`
	P4Runtime string `json:"p4runtime"`
}

func newVersionCmd() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  khop version -o json",
		Args:    args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkOutput(format); err != nil {
				return err
			}
			v := versionInfo{Version: "(devel)", P4: "1.2.5", P4Runtime: p4rt.APIVersion}
			if b, ok := debug.ReadBuildInfo(); ok {
				v.Go = b.GoVersion
				if b.Main.Version != "" {
					v.Version = b.Main.Version
				}
				for _, s := range b.Settings {
					if s.Key == "vcs.revision" {
						v.Revision = s.Value
					}
				}
			}
			if format == "json" {
				return printJSON(cmd.OutOrStdout(), v)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "khop %s (P4_16 %s, P4Runtime %s, %s)\n", v.Version, v.P4, v.P4Runtime, v.Go)
			return nil
		},
	}
	outputFlag(cmd, &format)
	return cmd
}
