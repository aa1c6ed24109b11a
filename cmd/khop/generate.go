package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"khop/codegen"
	"khop/fabric"
)

// specFlag adds -f, which takes a file or the name of a shipped spec.
func specFlag(cmd *cobra.Command, name *string) {
	cmd.Flags().StringVarP(name, "file", "f", "", "fabric spec: a YAML file, or the name of a shipped one ("+shippedList()+")")
}

func shippedList() string {
	text := ""
	for i, n := range fabric.ShippedNames() {
		if i > 0 {
			text += ", "
		}
		text += n
	}
	return text
}

func loadSpec(name string) (*fabric.Fabric, error) {
	if name == "" {
		return nil, usagef("which fabric? -f takes a spec file or one of %s", shippedList())
	}
	return fabric.LoadFile(name)
}

func newGenerateCmd() *cobra.Command {
	var spec, out string
	cmd := &cobra.Command{
		Use:   "generate -f SPEC -o DIR",
		Short: "Write the P4_16 programs of a fabric, one a role",
		Example: `  khop generate -f leafspine-2x4-mp-hula -o p4
  khop generate -f fabric.yaml -o p4`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			f, err := loadSpec(spec)
			if err != nil {
				return err
			}
			if out == "" {
				return usagef("where to? -o takes a directory")
			}
			programs, err := codegen.Generate(f)
			if err != nil {
				return err
			}
			if err := os.MkdirAll(out, 0o777); err != nil {
				return err
			}
			for _, p := range programs {
				name := filepath.Join(out, p.Name)
				if err := os.WriteFile(name, p.Source, 0o666); err != nil {
					return err
				}
				fmt.Fprintln(cmd.OutOrStdout(), name)
			}
			return nil
		},
	}
	specFlag(cmd, &spec)
	cmd.Flags().StringVarP(&out, "out", "o", "", "directory to write to")
	return cmd
}
