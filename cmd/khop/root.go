package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"khop/p4/diag"
)

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1
	exitMisuse = 2
)

// usageError is a command line that makes no sense.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// errReported is a failure that has been told already.
var errReported = errors.New("failed")

// run runs one command line and returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRootCmd()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitOK
	}
	if errors.Is(err, errReported) {
		return exitFailed
	}
	fmt.Fprintf(stderr, "khop: %v\n", err)
	if isUsage(err) {
		fmt.Fprintf(stderr, "Run '%s --help' for usage.\n", cmd.CommandPath())
		return exitMisuse
	}
	return exitFailed
}

// isUsage also knows the errors that cobra makes itself.
func isUsage(err error) bool {
	var u usageError
	return errors.As(err, &u) || strings.HasPrefix(err.Error(), "unknown command") || strings.HasPrefix(err.Error(), "required flag") ||
		strings.HasPrefix(err.Error(), "if any flags in the group")
}

func newRootCmd() *cobra.Command {
	root := &cobra.Command{
		Use:   "khop",
		Short: "P4 data planes for congestion-aware fabrics: generate, compile, push, run, replay, steer",
		Long: `khop generates P4_16 programs for ECMP, HULA and MP-HULA fabrics, compiles them, runs them on an
embedded switch or on stock bmv2 over P4Runtime, replays captures through them in virtual time,
and steers them live. Start with the tour: khop demo.`,
		Example: `  khop demo
  khop replay -f leafspine-2x4-mp-hula --pcap capture.pcap --out out`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cmd.Help()
		},
	}
	root.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		text := fmt.Sprintf("unknown command %q", args[0])
		if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
			text += "; did you mean " + strings.Join(near, " or ") + "?"
		}
		return usageError{errors.New(text)}
	}
	root.SuggestionsMinimumDistance = 2
	root.SetFlagErrorFunc(flagError)
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(newDemoCmd(), newGenerateCmd(), newCompileCmd(), newExplainCmd(), newFmtCmd(), newSwitchCmd(), newUpCmd(), newPushCmd(), newReplayCmd(),
		newSTFCmd(), newBenchCmd(), newStatusCmd(), newProbesCmd(), newKnobsCmd(), newTablesCmd(), newVersionCmd())
	return root
}

// group makes a command that has subcommands only.
func group(use, short string, subs ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short}
	var names []string
	for _, s := range subs {
		names = append(names, s.Name())
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return usagef("unknown command %q for %q; valid are %s", args[0], cmd.CommandPath(), strings.Join(names, ", "))
		}
		return usagef("%s needs one of %s", cmd.CommandPath(), strings.Join(names, ", "))
	}
	cmd.Example = subs[0].Example
	cmd.AddCommand(subs...)
	return cmd
}

// args makes a check of arguments a usage error.
func args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, list []string) error {
		if err := check(cmd, list); err != nil {
			return usageError{err}
		}
		return nil
	}
}

// flagError makes a bad flag a usage error, and names the flag that may have been meant.
func flagError(cmd *cobra.Command, err error) error {
	text := err.Error()
	if name, ok := strings.CutPrefix(text, "unknown flag: --"); ok {
		best, distance := "", 3
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if d := editDistance(name, f.Name); !f.Hidden && (d < distance || strings.HasPrefix(f.Name, name)) {
				best, distance = f.Name, d
			}
		})
		if best != "" {
			text += "; did you mean --" + best + "?"
		}
	}
	return usageError{errors.New(text)}
}

// editDistance is the Levenshtein distance.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(row[j+1]+1, row[j]+1, cost)
		}
	}
	return row[len(b)]
}

// outputFlag adds -o with the formats text and json.
func outputFlag(cmd *cobra.Command, format *string) {
	cmd.Flags().StringVarP(format, "output", "o", "text", "output format: text or json")
}

func checkOutput(format string) error {
	if format != "text" && format != "json" {
		return usagef("output format %q is unknown; valid are text and json", format)
	}
	return nil
}

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// progress tells what goes on, on a terminal only and never among data.
type progress struct{ w io.Writer }

// newProgress writes to stderr if it is a terminal.
func newProgress(cmd *cobra.Command) progress {
	if f, ok := cmd.ErrOrStderr().(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return progress{f}
	}
	return progress{io.Discard}
}

func (p progress) step(format string, args ...any) { fmt.Fprintf(p.w, format+"\n", args...) }

// reportDiagnostics prints what the compiler says, with the source lines, and returns errReported if it holds errors.
func reportDiagnostics(w io.Writer, list diag.List, src diag.Source) error {
	color := false
	if f, ok := w.(*os.File); ok {
		color = term.IsTerminal(int(f.Fd()))
	}
	fmt.Fprint(w, diag.Render(list, src, diag.RenderOptions{Color: color}))
	if list.HasErrors() {
		return errReported
	}
	return nil
}
