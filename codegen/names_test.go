package codegen

import (
	"fmt"
	"math"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"khop/fabric"
)

// bodies returns the declarations of a kind ("table", "action", "struct", "header") in a program by name: the text up to the closing brace.
func bodies(source, kind string) map[string]string {
	list := map[string]string{}
	for _, m := range regexp.MustCompile(`(?s)\n *`+kind+` (\w+)(.*?)\n *\}`).FindAllStringSubmatch(source, -1) {
		list[m[1]] = m[2]
	}
	return list
}

// widths returns the width of each typedef and of each "bit<n>".
func widths(source string) func(string) int {
	types := map[string]int{}
	for _, m := range regexp.MustCompile(`typedef bit<(\d+)> (\w+);`).FindAllStringSubmatch(source, -1) {
		types[m[2]], _ = strconv.Atoi(m[1])
	}
	return func(name string) int {
		if n, ok := types[name]; ok {
			return n
		}
		n, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(name, "bit<"), ">"))
		return n
	}
}

func fieldsIn(text string, width func(string) int) []Field {
	var list []Field
	for _, m := range regexp.MustCompile(`(bit<\d+>|\w+_t) (\w+)`).FindAllStringSubmatch(text, -1) {
		list = append(list, Field{m[2], width(m[1])})
	}
	return list
}

// TestNamesMatchPrograms holds the exported names, orders and widths to the generated text.
func TestNamesMatchPrograms(t *testing.T) {
	for _, name := range fabric.ShippedNames() {
		f := load(t, name)
		for _, p := range generated(t, f) {
			source := string(p.Source)
			tables, actions, structs, headers := bodies(source, "table"), bodies(source, "action"), bodies(source, "struct"), bodies(source, "header")
			width := widths(source)
			where := name + " " + p.Name
			want := TablesOf(f, p.Role)
			if len(want) != len(tables) {
				t.Errorf("%s has %d tables, %d are named", where, len(tables), len(want))
			}
			for _, tab := range want {
				control, short, _ := strings.Cut(tab.Name, ".")
				body, ok := tables[short]
				if !ok || !strings.Contains(source, "control "+control+"(") {
					t.Errorf("%s has no table %s", where, tab.Name)
					continue
				}
				keys := regexp.MustCompile(`([\w.]+): (exact|lpm);`).FindAllStringSubmatch(source[strings.Index(source, "table "+short+" {"):][:len(body)+400], -1)
				for i, k := range tab.Keys {
					kind := map[MatchKind]string{Exact: "exact", LPM: "lpm"}[k.Match]
					if i >= len(keys) || keys[i][1] != k.Name || keys[i][2] != kind {
						t.Errorf("%s %s: key %d is %v, named %s: %s", where, tab.Name, i, keys, k.Name, kind)
					}
				}
				for _, a := range tab.Actions {
					_, short, _ := strings.Cut(a.Name, ".")
					text, ok := actions[short]
					if !ok {
						t.Errorf("%s has no action %s", where, a.Name)
						continue
					}
					if got := fieldsIn(text[:strings.Index(text, ")")], width); fmt.Sprint(got) != fmt.Sprint(a.Params) {
						t.Errorf("%s %s: parameters %v, named %v", where, a.Name, got, a.Params)
					}
				}
			}
			digests := DigestsOf(f, p.Role)
			if n := strings.Count(source, "digest<"); n != len(digests) {
				t.Errorf("%s has %d digests, %d are named", where, n, len(digests))
			}
			for _, d := range digests {
				if got := fieldsIn(structs[d.Name], width); fmt.Sprint(got) != fmt.Sprint(d.Members) {
					t.Errorf("%s %s: members %v, named %v", where, d.Name, got, d.Members)
				}
			}
			for _, h := range []Action{PacketIn, PacketOut} {
				if got := fieldsIn(headers[h.Name+"_t"], width); fmt.Sprint(got) != fmt.Sprint(h.Params) || !strings.Contains(source, `@controller_header("`+h.Name+`")`) {
					t.Errorf("%s %s: members %v, named %v", where, h.Name, got, h.Params)
				}
			}
			// Every drop reason that the program names has the value that the controller reads.
			for _, m := range regexp.MustCompile(`const reason_t DROP_(\w+) = (\d+);`).FindAllStringSubmatch(source, -1) {
				v, _ := strconv.Atoi(m[2])
				if word := strings.ToLower(m[1]); !strings.Contains(strings.ReplaceAll(DropReason(v).String()+" unknown-ethertype", "-", ""), strings.ReplaceAll(strings.TrimPrefix(word, "no_"), "_", "")) {
					t.Errorf("%s: DROP_%s is %d, which is %s", where, m[1], v, DropReason(v))
				}
			}
			for _, c := range []string{CounterIngressDrops, CounterEgressDrops, CounterECNMarked, CounterSelectiveDrops} {
				_, short, _ := strings.Cut(c, ".")
				if !strings.Contains(source, "CounterType.packets_and_bytes) "+short+";") {
					t.Errorf("%s has no counter %s", where, c)
				}
			}
		}
	}
}

func TestRegistersMatchPrograms(t *testing.T) {
	source := string(generated(t, load(t, "leafspine-2x4-mp-hula"))[0].Source)
	for _, r := range []string{
		RegisterUtilBytes, RegisterUtilTime, RegisterPortSeen, RegisterKBestPort, RegisterKBestUtil, RegisterKBestTime, RegisterKBestRound,
		RegisterFlowletTime, RegisterFlowletPort, RegisterFlowletToR, RegisterSubflowID, RegisterSubflowNum,
		RegisterSubflowPort, RegisterSubflowTime, RegisterConnShared, RegisterJoinID, RegisterJoinNum, RegisterLearnedTuple, RegisterLearnedID,
		RegisterLearnedNum, RegisterLearnedBackup, RegisterLearnedTime,
	} {
		if !regexp.MustCompile(`register<.*>\(\w+\) ` + r + `;`).MatchString(source) {
			t.Errorf("no register %s", r)
		}
	}
	source = string(generated(t, load(t, "leafspine-2x4-mp-hula"))[1].Source)
	for _, r := range []string{RegisterSentRound, RegisterSentUtil} {
		if !strings.Contains(source, ") "+r+";") {
			t.Errorf("spine has no register %s", r)
		}
	}
}

func TestFacts(t *testing.T) {
	f := load(t, "fattree-k4-mp-hula")
	// 10 Gb/s is 1250 bytes a us, tau is 1024 us: 255 * 2^32 / 1280000.
	if got := UtilScale(10e9, f.Timing); got != uint32(math.Round(255*4294967296.0/1280000)) {
		t.Errorf("scale %d", got)
	}
	if got := ECNSlope(&fabric.ECN{KMinPackets: 20, KMaxPackets: 40, PMax: 0.5}); got != 1638 {
		t.Errorf("slope %d", got)
	}
	if ECNSlope(&fabric.ECN{KMinPackets: 20, KMaxPackets: 20, PMax: 1}) != 0 {
		t.Error("DCTCP has no slope")
	}
	if fmt.Sprint(ProbeGroups(f.Switch("leaf1"))) != "[{1 [1 2]}]" ||
		fmt.Sprint(ProbeGroups(f.Switch("spine1"))) != "[{2 [3 4]} {3 [3 4]} {4 [1 2 4]} {5 [1 2 3]}]" {
		t.Errorf("groups %v %v", ProbeGroups(f.Switch("leaf1")), ProbeGroups(f.Switch("spine1")))
	}
	// At a spine the leaves of other pods share the uplinks, each leaf of its own pod is a group of its own.
	groups := map[uint8]int{}
	for _, n := range NextHopsOf(f, f.Switch("spine1")) {
		groups[n.Group]++
	}
	if fmt.Sprint(groups) != "map[1:6 3:1 4:1]" {
		t.Errorf("next-hop groups %v", groups)
	}
	if got := PortMap(f, []uint32{1, 3, 32}); fmt.Sprintf("%x", got) != "80000005" {
		t.Errorf("port map %x", got)
	}
	if SubflowSlots(f) != 8 || SubflowIndex(f, 3, 1) != 24 || SubflowIndex(f, 3, 9) != 24 || ToRSlots(f) != 16 || KBestIndex(f, 3, 1) != 7 {
		t.Error("indices")
	}
	// zlib.crc32 of the 37 bytes, by another implementation.
	h := FlowHash(netip.MustParseAddr("10.0.1.1"), netip.MustParseAddr("10.0.2.1"), 6, 59434, 5001)
	if h != 0x8a81e99b {
		t.Errorf("flow hash %#x", h)
	}
}
