package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"khop/p4/types"
)

func newExplainCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "explain [CODE ...]",
		Short: "Explain what a code of the compiler means, with a wrong example and its mend",
		Long: `Explain what a code of the compiler means: the word in brackets at the end of an error or warning.
Without a code, all are listed.`,
		Example: `  khop explain type-mismatch
  khop explain`,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			var names []string
			for _, e := range explanations() {
				names = append(names, string(e.Code)+"\t"+e.Summary)
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, list []string) error {
			all := explanations()
			w := cmd.OutOrStdout()
			if len(list) == 0 {
				listCodes(w, all)
				return nil
			}
			var found []types.Explanation
			for _, name := range list {
				name = strings.Trim(name, "[]")
				n := len(found)
				for _, e := range all {
					if string(e.Code) == name {
						found = append(found, e)
					}
				}
				if len(found) == n {
					return usagef("code %q is unknown%s", name, nearCodes(name, all))
				}
			}
			for i, e := range found {
				if i > 0 {
					fmt.Fprintln(w)
				}
				explain(w, e)
			}
			return nil
		},
	}
}

// explanations lists the codes of all stages, in order of code. A code that two stages report stands there twice.
func explanations() []types.Explanation {
	list := slices.Concat(types.Explanations(), stageCodes)
	slices.SortStableFunc(list, func(a, b types.Explanation) int { return strings.Compare(string(a.Code), string(b.Code)) })
	return list
}

func severity(e types.Explanation) string {
	if e.Warning {
		return "warning"
	}
	return "error"
}

func listCodes(w io.Writer, all []types.Explanation) {
	width := 0
	for _, e := range all {
		width = max(width, len(e.Code))
	}
	for _, e := range all {
		fmt.Fprintf(w, "%-*s  %-7s  %s\n", width, e.Code, severity(e), e.Summary)
	}
}

func explain(w io.Writer, e types.Explanation) {
	fmt.Fprintf(w, "%s (%s)\n\n%s\n", e.Code, severity(e), e.Summary)
	for _, part := range []struct{ title, text string }{{"Wrong", e.Wrong}, {"Right", e.Right}} {
		if part.text == "" {
			continue
		}
		fmt.Fprintf(w, "\n%s:\n\n", part.title)
		for line := range strings.Lines(part.text) {
			if strings.TrimSpace(line) == "" {
				fmt.Fprintln(w)
				continue
			}
			fmt.Fprint(w, "    "+strings.TrimSuffix(line, "\n")+"\n")
		}
	}
}

// nearCodes names the codes that may have been meant.
func nearCodes(name string, all []types.Explanation) string {
	var near []string
	for _, e := range all {
		code := string(e.Code)
		if editDistance(name, code) <= max(2, len(name)/3) || len(name) > 2 && strings.Contains(code, name) {
			near = append(near, code)
		}
	}
	near = slices.Compact(near)
	if len(near) == 0 {
		return "; khop explain lists all"
	}
	return "; did you mean " + strings.Join(near, " or ") + "?"
}
