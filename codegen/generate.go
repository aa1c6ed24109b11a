package codegen

import (
	"embed"
	"fmt"
	"strings"
	"text/template"
	"time"

	"khop/fabric"
	"khop/p4/format"
)

//go:embed templates/*.p4.tmpl
var templateFiles embed.FS

// Program is the P4_16 program of a role.
type Program struct {
	Role   fabric.Role
	Name   string // file name, such as "leaf.p4"
	Source []byte
}

// Generate writes the programs of a fabric, one for each role that it has, from the bottom tier up. The same fabric always gives
// the same bytes. An error means that a template is broken, not that the fabric is.
func Generate(f *fabric.Fabric) ([]Program, error) {
	var list []Program
	for _, role := range fabric.Roles {
		if len(f.OfRole(role)) == 0 {
			continue
		}
		source, err := generate(f, role)
		if err != nil {
			return nil, fmt.Errorf("generate the %s program of %s: %w", role, f.Name, err)
		}
		list = append(list, Program{Role: role, Name: string(role) + ".p4", Source: source})
	}
	return list, nil
}

// input is what the templates see.
type input struct {
	F      *fabric.Fabric
	Role   fabric.Role
	Title  string
	About  string
	Leaf   bool
	Probes bool // hula, mp-hula
	Marks  bool // mp-hula
	Walk   bool // the program walks TCP options: leaf, mp-hula

	PortBits     int
	K            int
	Slots        []int // 0 .. K-1
	Last         int   // K-1
	Network      [][2]int
	Ports        []int // ports to switches, over all switches of the role
	ToRSlots     int
	KBestSlots   int
	ToRRouteSize int
	S            int // subflows of a connection that are kept apart
	LogS         int
	SMask        int
	SubSlots     []int // 0 .. S-1
	SubflowSlots int
	ConnMask     int
	HashShift    int
	Drops        []dropConst
	DropReasons  int
	VersionCheck string
}

type dropConst struct {
	Const string
	Value int
}

// candidate is what the template "candidate" sees: one next hop to choose from.
type candidate struct {
	*input
	Port, Bit string
}

// Candidate gives the template "candidate" a port and its bit, both P4 expressions.
func (in *input) Candidate(port, bit string) candidate { return candidate{in, port, bit} }

// BitOf returns the bitmap of one port as a P4 literal.
func (in *input) BitOf(port int) string {
	digits := strings.Repeat("0", (port-1)/4)
	return fmt.Sprintf("%dw0x%x%s", in.PortBits, 1<<((port-1)%4), digits)
}

func generate(f *fabric.Fabric, role fabric.Role) ([]byte, error) {
	in := &input{
		F: f, Role: role,
		Leaf: role == fabric.Leaf, Probes: f.Scheme.Probes(), Marks: f.Scheme.Marks(),
		Walk:     role == fabric.Leaf && f.Scheme.Marks(),
		PortBits: PortMapBits(f), K: f.K, Slots: count(f.K), Last: f.K - 1, Network: sortingNetwork(f.K),
		ToRSlots: ToRSlots(f), KBestSlots: ToRSlots(f) * f.K, ToRRouteSize: max(16, int(f.MaxToR())),
		S: SubflowSlots(f), SubSlots: count(SubflowSlots(f)), SubflowSlots: f.Sizes.Connections * SubflowSlots(f),
		SMask: SubflowSlots(f) - 1, ConnMask: f.Sizes.Connections - 1,
		// Each tier looks at other bits of the flow's hash.
		HashShift:   8 * (role.Tier() - 1),
		DropReasons: DropReasons,
	}
	for 1<<in.LogS < in.S {
		in.LogS++
	}
	ports := 0
	for _, s := range f.OfRole(role) {
		ports = max(ports, s.FabricPorts())
	}
	for p := 1; p <= ports; p++ {
		in.Ports = append(in.Ports, p)
	}
	in.Title, in.About = describe(in)
	for _, r := range reasonsOf(in) {
		name := "DROP_" + strings.ToUpper(strings.ReplaceAll(r.String(), "-", "_"))
		in.Drops = append(in.Drops, dropConst{constNames(r, name), int(r)})
	}
	switch v := f.MPTCP.Versions; {
	case len(v) == 2:
		in.VersionCheck = "meta.options.capable_version <= 1"
	case len(v) == 1:
		in.VersionCheck = fmt.Sprintf("meta.options.capable_version == %d", v[0])
	}
	t, err := template.New("program.p4.tmpl").Funcs(template.FuncMap{
		"hex16": func(v uint16) string { return fmt.Sprintf("%#04x", v) },
		"us":    func(d time.Duration) int64 { return d.Microseconds() },
		"cpu":   cpuReason,
	}).ParseFS(templateFiles, "templates/*.p4.tmpl")
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	if err := t.Execute(&b, in); err != nil {
		return nil, err
	}
	formatted, problems := format.Source(string(role)+".p4", []byte(b.String()))
	if problems.HasErrors() {
		return nil, fmt.Errorf("the templates do not make P4: %v", problems)
	}
	return formatted, nil
}

// constNames shortens the names of some reasons.
func constNames(r DropReason, name string) string {
	switch r {
	case DropParse:
		return "DROP_PARSE"
	case DropChecksum:
		return "DROP_CHECKSUM"
	case DropEtherType:
		return "DROP_ETHERTYPE"
	case DropSpoofed:
		return "DROP_SPOOFED"
	case DropTransit:
		return "DROP_TRANSIT"
	case DropARP:
		return "DROP_ARP"
	case DropNoGroup:
		return "DROP_NO_GROUP"
	case DropProbeOld:
		return "DROP_PROBE_OLD"
	case DropSelective:
		return "DROP_SELECTIVE"
	}
	return name
}

func cpuReason(name string) (int, error) {
	for r := CPUNone; r <= CPUND; r++ {
		if r.String() == name {
			return int(r), nil
		}
	}
	return 0, fmt.Errorf("no CPU reason %q", name)
}

// reasonsOf returns the drop reasons that a program uses.
func reasonsOf(in *input) []DropReason {
	list := []DropReason{DropUnknownPort, DropParse, DropChecksum, DropEtherType}
	if in.Probes {
		list = append(list, DropSpoofed)
	}
	list = append(list, DropNoRoute)
	if in.Leaf {
		list = append(list, DropNoHost)
	}
	list = append(list, DropNoNextHop)
	if in.Leaf {
		list = append(list, DropTransit)
	}
	list = append(list, DropARP)
	if in.Probes {
		if in.Leaf {
			list = append(list, DropProbeOwn, DropProbeOffPath, DropProbeOld, DropProbeConsumed)
		} else {
			list = append(list, DropNoGroup, DropProbeOffPath, DropProbeOld, DropProbeSuppressed)
		}
	}
	return append(list, DropSelective)
}

func count(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// sortingNetwork returns the compare-and-swap steps that sort n values, by Batcher's odd-even merge (the steps that reach beyond n left
// out: missing values count as greatest).
func sortingNetwork(n int) [][2]int {
	var steps [][2]int
	for p := 1; p < n; p *= 2 {
		for k := p; k >= 1; k /= 2 {
			for j := k % p; j+k < 2*n; j += 2 * k {
				for i := 0; i < k; i++ {
					if a, b := i+j, i+j+k; b < n && a/(2*p) == b/(2*p) {
						steps = append(steps, [2]int{a, b})
					}
				}
			}
		}
	}
	return steps
}

// describe returns the first lines of a program.
func describe(in *input) (title, about string) {
	place := map[fabric.Role]string{
		fabric.Leaf:  "Leaf (top-of-rack) switch",
		fabric.Spine: "Spine switch",
		fabric.Core:  "Core switch",
	}[in.Role]
	var lines []string
	switch in.F.Scheme {
	case fabric.ECMP:
		title = place + " with ECMP"
		lines = []string{"A hash of the 5-tuple chooses among the ports that lead to the destination's leaf."}
	case fabric.HULA:
		title = place + " with HULA"
		lines = []string{
			"Probes from every leaf tell the least loaded next hop towards it; each flowlet takes the one that is best when it starts",
			"(Katta et al., HULA: Scalable Load Balancing Using Programmable Data Planes, SOSR 2016).",
		}
	case fabric.MPHULA:
		title = place + " with MP-HULA"
		lines = []string{
			"Probes from every leaf tell the k least loaded next hops towards it. Leaves recognise the subflows of MPTCP connections and mark",
			"their packets, so that every tier gives each subflow a next hop of its own, flowlet by flowlet",
			"(Hernandez Benet et al., MP-HULA: Multipath Transport Aware Load Balancing Using Programmable Data Planes, NetCompute 2018).",
		}
	}
	return title, "// " + strings.Join(lines, "\n// ") + "\n"
}
