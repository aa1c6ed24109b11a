package main

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"khop/p4/format"
)

func newFmtCmd() *cobra.Command {
	var write, list bool
	cmd := &cobra.Command{
		Use:   "fmt [PROG.p4 ...]",
		Short: "Format P4_16 source; without a file, standard input",
		Example: `  khop fmt prog.p4
  khop fmt -w p4/*.p4
  khop fmt -l p4/*.p4`,
		RunE: func(cmd *cobra.Command, files []string) error {
			if len(files) == 0 {
				if write || list {
					return usagef("-w and -l need files")
				}
				src, err := io.ReadAll(cmd.InOrStdin())
				if err != nil {
					return err
				}
				return formatSource(cmd, "<stdin>", src, false, false)
			}
			failed := false
			for _, name := range files {
				src, err := os.ReadFile(name)
				if err == nil {
					err = formatSource(cmd, name, src, write, list)
				}
				if err == errReported {
					failed = true
				} else if err != nil {
					return err
				}
			}
			if failed {
				return errReported
			}
			return nil
		},
	}
	cmd.Flags().BoolVarP(&write, "write", "w", false, "write the result to the file instead of standard output")
	cmd.Flags().BoolVarP(&list, "list", "l", false, "print the names of the files whose formatting would change, and fail if there are some")
	return cmd
}

func formatSource(cmd *cobra.Command, name string, src []byte, write, list bool) error {
	out, diags := format.Source(name, src)
	if err := reportDiagnostics(cmd.ErrOrStderr(), diags, nil); err != nil {
		return err
	}
	same := bytes.Equal(src, out)
	if write && !same {
		if err := os.WriteFile(name, out, 0o666); err != nil {
			return err
		}
	}
	if list && !same {
		fmt.Fprintln(cmd.OutOrStdout(), name)
		if !write {
			return errReported
		}
	}
	if !write && !list {
		_, err := cmd.OutOrStdout().Write(out)
		return err
	}
	return nil
}
