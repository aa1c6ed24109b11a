package stf

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"khop/bmv2/config"
	"khop/bmv2/pipeline"
	"khop/bmv2/simpleswitch"
)

// Result is what a test showed. It passed if there are no failures.
type Result struct {
	Packets  int      // sent
	Expected int      // compared
	Failures []string // in the order of ports and packets
	Notes    []string // what was skipped or read
}

// packetGap is the virtual time between two packets, in nanoseconds.
const packetGap = 1_000_000

// runner is a test under way.
type runner struct {
	file   string
	sw     *simpleswitch.Switch
	now    int64
	result *Result
	out    map[uint32][]string // by port: frames as hexadecimal digits
	expect map[uint32][]expectation
	ports  map[uint32]bool // that the file names

	nodes  []mcNode
	groups map[uint32][]int // by group: nodes in the order of association
	clones map[uint32]cloneTo
}

type expectation struct {
	line int
	data string
}

type mcNode struct {
	rid   uint16
	ports []uint32
}

type cloneTo struct {
	port     uint32
	hasPort  bool
	group    uint32
	hasGroup bool
}

// Run loads a program (bmv2 JSON) and runs a test against it. Errors are mistakes in the program or the test; what the
// program does wrong is in the Result.
func Run(program []byte, file, text string) (*Result, error) {
	c, err := config.Parse(program)
	if err != nil {
		return nil, err
	}
	p, err := pipeline.Link(c)
	if err != nil {
		return nil, err
	}
	statements, err := Parse(file, text)
	if err != nil {
		return nil, err
	}
	r := &runner{
		file: file, result: &Result{}, out: map[uint32][]string{}, expect: map[uint32][]expectation{}, ports: map[uint32]bool{},
		groups: map[uint32][]int{}, clones: map[uint32]cloneTo{},
	}
	if r.sw, err = simpleswitch.New(p, simpleswitch.Options{}); err != nil {
		return nil, err
	}
	for i := range statements {
		if err := r.do(&statements[i]); err != nil {
			return nil, &Error{file, statements[i].Line, err.Error()}
		}
	}
	r.check()
	return r.result, nil
}

func (r *runner) note(format string, args ...any) {
	r.result.Notes = append(r.result.Notes, fmt.Sprintf(format, args...))
}

func (r *runner) fail(line int, format string, args ...any) {
	r.result.Failures = append(r.result.Failures, fmt.Sprintf("%s:%d: ", r.file, line)+fmt.Sprintf(format, args...))
}

func (r *runner) do(s *Statement) error {
	switch s.Command {
	case "add":
		return r.add(s)
	case "setdefault":
		return r.setDefault(s)
	case "packet":
		return r.packet(s)
	case "expect":
		port, err := portNumber(s.Port)
		r.ports[port] = true
		r.expect[port] = append(r.expect[port], expectation{s.Line, s.Data})
		return err
	case "wait", "no_packet":
		return nil // packets are always worked off before the next line
	case "remove":
		return r.remove(s)
	}
	return r.arrays(s)
}

func portNumber(text string) (uint32, error) {
	n, err := strconv.ParseUint(text, 10, 9)
	if err != nil {
		return 0, fmt.Errorf("port %s is out of range; ports are 0 to 511", text)
	}
	return uint32(n), nil
}

// packet sends a packet and works off all that comes of it.
func (r *runner) packet(s *Statement) error {
	port, err := portNumber(s.Port)
	if err != nil {
		return err
	}
	r.ports[port] = true
	frame, err := hex.DecodeString(s.Data)
	if err != nil {
		r.note("%s:%d: the packet has an odd number of digits and is not sent", r.file, s.Line)
		return nil
	}
	r.result.Packets++
	r.now += packetGap
	r.sw.Receive(r.now, port, frame)
	for {
		r.sw.Transmit(r.now, func(port uint32, frame []byte) {
			r.out[port] = append(r.out[port], hex.EncodeToString(frame))
		})
		at, ok := r.sw.NextDeparture()
		if !ok {
			return nil
		}
		r.now = max(r.now, at)
	}
}

// check compares what came out with what was expected, by port and in order.
func (r *runner) check() {
	var ports []uint32
	for p := range r.ports {
		ports = append(ports, p)
	}
	slices.Sort(ports)
	for _, port := range ports {
		got, want := r.out[port], r.expect[port]
		for i, w := range want {
			if i >= len(got) {
				r.fail(w.line, "port %d: packet %d of %d did not come out", port, i+1, len(want))
				continue
			}
			r.result.Expected++
			if problem := compare(w.data, got[i]); problem != "" {
				r.fail(w.line, "port %d, packet %d: %s\n  expected %s\n  received %s", port, i+1, problem, w.data, got[i])
			}
		}
		if len(got) > len(want) {
			line := 0
			if len(want) > 0 {
				line = want[len(want)-1].line
			}
			r.fail(line, "port %d: %d packets came out, %d are expected; the first surplus one is %s", port, len(got), len(want), got[len(want)])
		}
	}
}

// compare returns how a packet differs from an expectation, or "".
func compare(want, got string) string {
	if want == "" {
		return ""
	}
	digits, exact := strings.CutSuffix(want, "$")
	if exact && len(got) > len(digits) {
		return fmt.Sprintf("it is longer: %d digits, not %d", len(got), len(digits))
	}
	if len(got) < len(digits) {
		return fmt.Sprintf("it is shorter: %d digits, not %d", len(got), len(digits))
	}
	for i := range len(digits) {
		if digits[i] != '*' && digits[i] != got[i] {
			return fmt.Sprintf("digit %d differs", i+1)
		}
	}
	return ""
}

// unique finds a name among candidates: the whole name, else the only one that ends with it.
func unique(what, name string, all []string) (string, error) {
	if slices.Contains(all, name) {
		return name, nil
	}
	var found []string
	for _, c := range all {
		if strings.HasSuffix(c, name) {
			found = append(found, c)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return "", fmt.Errorf("there is no %s %q; there are %s", what, name, strings.Join(all, ", "))
	}
	return "", fmt.Errorf("%s %q is ambiguous: %s", what, name, strings.Join(found, ", "))
}

func (r *runner) table(name string) (*pipeline.TableInfo, error) {
	list := r.sw.Tables()
	var names []string
	for i := range list {
		names = append(names, list[i].Name)
	}
	full, err := unique("table", name, names)
	if err != nil {
		return nil, err
	}
	return r.sw.Table(full)
}

// keyIndex finds a key. stack$0 means stack[0], and valid a key on a header's validity.
func keyIndex(t *pipeline.TableInfo, name string) (int, error) {
	if i := strings.LastIndexByte(name, '$'); i >= 0 && i+1 < len(name) && name[i+1] >= '0' && name[i+1] <= '9' {
		n := i + 1
		for n < len(name) && name[n] >= '0' && name[n] <= '9' {
			n++
		}
		name = name[:i] + "[" + name[i+1:n] + "]" + name[n:]
	}
	tries := []func(string) bool{
		func(k string) bool { return k == name },
		func(k string) bool { return k == name+"$" },
		func(k string) bool { return k == name+".$valid$" },
		func(k string) bool {
			return strings.HasSuffix(name, ".valid") && k == strings.TrimSuffix(name, "valid")+"$valid$"
		},
		func(k string) bool { return strings.HasSuffix(k, "."+name) || strings.HasSuffix(k, "."+name+"$") },
		func(k string) bool { return name == "valid" && strings.HasSuffix(k, "$valid$") },
	}
	var names []string
	for _, k := range t.Keys {
		names = append(names, k.Name)
	}
	for _, try := range tries {
		if i := slices.IndexFunc(names, try); i >= 0 {
			return i, nil
		}
	}
	return 0, fmt.Errorf("table %s has no key %q; its keys are %s", t.Name, name, strings.Join(names, ", "))
}

func (r *runner) call(t *pipeline.TableInfo, s *Statement) (pipeline.Target, error) {
	var names []string
	for _, a := range t.Actions {
		names = append(names, a.Name)
	}
	name, err := unique("action of table "+t.Name, s.Action, names)
	if err != nil {
		return pipeline.Target{}, err
	}
	a := t.Actions[slices.Index(names, name)]
	call := pipeline.ActionCall{Action: name, Args: make([][]byte, len(a.Params))}
	for _, arg := range s.Args {
		i := slices.IndexFunc(a.Params, func(p pipeline.ParamInfo) bool { return p.Name == arg.Name })
		if i < 0 {
			return pipeline.Target{}, fmt.Errorf("action %s has no parameter %q", name, arg.Name)
		}
		if call.Args[i], err = number(arg.Value, a.Params[i].Width); err != nil {
			return pipeline.Target{}, fmt.Errorf("argument %s: %w", arg.Name, err)
		}
	}
	for i, v := range call.Args {
		if v == nil {
			return pipeline.Target{}, fmt.Errorf("action %s needs a value for its parameter %s", name, a.Params[i].Name)
		}
	}
	return pipeline.Target{Kind: pipeline.TargetAction, Call: call}, nil
}

func (r *runner) add(s *Statement) error {
	t, err := r.table(s.Table)
	if err != nil {
		return err
	}
	e := pipeline.Entry{Match: make([]pipeline.FieldMatch, len(t.Keys))}
	for i, k := range t.Keys {
		e.Match[i].Value = make([]byte, (k.Width+7)/8)
	}
	for _, m := range s.Match {
		i, err := keyIndex(t, m.Name)
		if err != nil {
			return err
		}
		if e.Match[i], err = match(t.Keys[i], m.Value); err != nil {
			return fmt.Errorf("key %s: %w", m.Name, err)
		}
	}
	if e.Target, err = r.call(t, s); err != nil {
		return err
	}
	if t.HasPriority() {
		if s.Priority == "" {
			return fmt.Errorf("table %s is a %v: its entries need a priority, before the keys", t.Name, t.Kind)
		}
		n, err := strconv.Atoi(s.Priority)
		if err != nil {
			return fmt.Errorf("priority %s is out of range", s.Priority)
		}
		e.Priority = 10000 - n // in a test the larger number wins, in the switch the lower one
	}
	if t.Profile != "" {
		h, err := r.sw.AddMember(t.Profile, e.Target.Call)
		if err != nil {
			return err
		}
		e.Target = pipeline.Target{Kind: pipeline.TargetMember, Member: h}
	}
	_, err = r.sw.InsertEntry(t.Name, e, r.now)
	return err
}

func (r *runner) setDefault(s *Statement) error {
	t, err := r.table(s.Table)
	if err != nil {
		return err
	}
	target, err := r.call(t, s)
	if err != nil {
		return err
	}
	return r.sw.SetDefault(t.Name, target)
}

func (r *runner) remove(s *Statement) error {
	if len(s.Words) != 1 || strings.ToLower(s.Words[0]) != "all" {
		return fmt.Errorf("only `remove all` is known")
	}
	for _, t := range r.sw.Tables() {
		if !t.Const {
			if err := r.sw.ClearTable(t.Name); err != nil {
				return err
			}
		}
	}
	return nil
}
