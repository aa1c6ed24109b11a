package main

import (
	"slices"

	"github.com/spf13/pflag"

	"khop/p4/diag"
	"khop/p4/types"
)

// allCodes is the value of --Werror and --Wdisable without codes.
const allCodes = "all"

// p4cCodes are the codes of p4c's warnings that khop calls otherwise, or has no warning for (""), so that p4c's flags work.
var p4cCodes = map[string]string{
	"uninitialized-use": "uninitialized", "uninitialized-out-param": "uninitialized", "uninitialized_use": "uninitialized",
	"uninitialized_out_param": "uninitialized", "duplicate_priorities": "duplicate-priorities",
	"entries_out_of_priority_order": "entries-out-of-priority-order",
	"failed":                        "", "unknown": "", "invalid": "", "unsupported": "", "missing": "", "ordering": "", "mismatch": "",
	"ignore-prop": "", "type-inference": "", "parser-transition": "", "ignore": "", "invalid-header": "", "multi-header-extract": "",
	"expr": "", "branch": "", "keys": "",
}

// warningPolicy says which warnings are errors, and which are not shown.
type warningPolicy struct{ errors, disabled []string }

func (p *warningPolicy) flags(fl *pflag.FlagSet) {
	fl.StringSliceVar(&p.errors, "Werror", nil, "take warnings for errors: all, or --Werror=CODE,...")
	fl.StringSliceVar(&p.disabled, "Wdisable", nil, "show no warnings: none at all, or without --Wdisable=CODE,...")
	fl.Lookup("Werror").NoOptDefVal = allCodes
	fl.Lookup("Wdisable").NoOptDefVal = allCodes
}

// check replaces p4c's codes and refuses those that neither compiler has.
func (p *warningPolicy) check() error {
	known := explanations()
	for _, list := range []*[]string{&p.errors, &p.disabled} {
		var out []string
		for _, code := range *list {
			own, foreign := p4cCodes[code]
			switch {
			case foreign && own != "":
				out = append(out, own)
			case foreign:
			case code == allCodes || slices.ContainsFunc(known, func(e types.Explanation) bool { return string(e.Code) == code }):
				out = append(out, code)
			default:
				return usagef("code %q is unknown%s", code, nearCodes(code, known))
			}
		}
		*list = out
	}
	return nil
}

// apply returns the list without the disabled warnings, and with others made errors. A code is stronger than all.
func (p *warningPolicy) apply(list diag.List) diag.List {
	var out diag.List
	for _, d := range list {
		if d.Severity == diag.Warning {
			code := string(d.Code)
			asError, off := slices.Contains(p.errors, code), slices.Contains(p.disabled, code)
			if !asError && (off || slices.Contains(p.disabled, allCodes)) {
				continue
			}
			if asError || slices.Contains(p.errors, allCodes) {
				d.Severity = diag.Error
			}
		}
		out = append(out, d)
	}
	return out
}
