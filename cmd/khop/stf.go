package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"khop/p4"
	"khop/test/stf"
)

func newSTFCmd() *cobra.Command {
	var includes, defines []string
	var verbose bool
	cmd := &cobra.Command{
		Use:   "stf PROG.p4|PROG.json TEST.stf",
		Short: "Run a test in p4c's STF format on the embedded switch, in virtual time",
		Example: `  khop stf basic.p4 basic.stf
  khop stf basic.json basic.stf -v`,
		Args: args(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, list []string) error {
			program, err := os.ReadFile(list[0])
			if err != nil {
				return err
			}
			if !strings.HasSuffix(list[0], ".json") {
				result, diags, src := p4.CompileSource(list[0], program, p4.Options{IncludeDirs: includes, Defines: defines})
				if err := reportDiagnostics(cmd.ErrOrStderr(), diags, src); err != nil {
					return err
				}
				program = result.JSON
			}
			text, err := os.ReadFile(list[1])
			if err != nil {
				return err
			}
			r, err := stf.Run(program, list[1], string(text))
			if err != nil {
				return err
			}
			w := cmd.OutOrStdout()
			if verbose {
				for _, n := range r.Notes {
					fmt.Fprintln(w, n)
				}
			}
			for _, f := range r.Failures {
				fmt.Fprintln(w, f)
			}
			if len(r.Failures) > 0 {
				fmt.Fprintf(w, "FAIL: %d failures, %d packets sent, %d compared\n", len(r.Failures), r.Packets, r.Expected)
				return errReported
			}
			fmt.Fprintf(w, "PASS: %d packets sent, %d compared\n", r.Packets, r.Expected)
			return nil
		},
	}
	fl := cmd.Flags()
	fl.StringArrayVarP(&includes, "include", "I", nil, "look for include files in this directory first")
	fl.StringArrayVarP(&defines, "define", "D", nil, "define a preprocessor macro, NAME or NAME=VALUE")
	fl.BoolVarP(&verbose, "verbose", "v", false, "print what reading commands read")
	return cmd
}
