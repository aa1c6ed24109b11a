package stf

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"khop/bmv2/pipeline"
	"khop/bmv2/simpleswitch"
)

// arrays carries out the commands of bmv2's command line that tests use: replication, mirroring, counters, registers,
// meters.
func (r *runner) arrays(s *Statement) error {
	switch s.Command {
	case "mc_mgrp_create", "mc_node_create", "mc_node_update", "mc_node_associate":
		return r.multicast(s)
	case "mirroring_add", "mirroring_add_mc", "mirroring_delete", "mirroring_get":
		return r.mirroring(s)
	case "register_read", "register_write", "register_reset":
		return r.register(s)
	case "counter_read", "counter_write", "check_counter":
		return r.counter(s)
	}
	return r.meter(s)
}

// numbers reads words as numbers, at least n of them.
func (s *Statement) numbers(words []string, n int) ([]uint32, error) {
	if len(words) < n {
		return nil, fmt.Errorf("%s needs %d numbers", s.Command, n)
	}
	var list []uint32
	for _, w := range words {
		v, err := strconv.ParseUint(w, 0, 32)
		if err != nil {
			return nil, fmt.Errorf("%s: %q is no number", s.Command, w)
		}
		list = append(list, uint32(v))
	}
	return list, nil
}

func (r *runner) multicast(s *Statement) error {
	v, err := s.numbers(s.Words, 1)
	if err != nil {
		return err
	}
	switch s.Command {
	case "mc_mgrp_create":
		if r.groups[v[0]] == nil {
			r.groups[v[0]] = []int{}
		}
	case "mc_node_create":
		r.nodes = append(r.nodes, mcNode{rid: uint16(v[0]), ports: v[1:]})
	case "mc_node_update":
		if int(v[0]) >= len(r.nodes) {
			return fmt.Errorf("there is no node %d; nodes are numbered from 0 as they are created", v[0])
		}
		r.nodes[v[0]].ports = v[1:]
	case "mc_node_associate":
		if len(v) != 2 || r.groups[v[0]] == nil || int(v[1]) >= len(r.nodes) {
			return fmt.Errorf("mc_node_associate needs a group and a node that were created before")
		}
		r.groups[v[0]] = append(r.groups[v[0]], int(v[1]))
	}
	return r.program()
}

// replicas lists the copies that a group makes: nodes in the order of association, ports ascending.
func (r *runner) replicas(group uint32) []simpleswitch.Replica {
	var list []simpleswitch.Replica
	for _, n := range r.groups[group] {
		ports := slices.Sorted(slices.Values(r.nodes[n].ports))
		for _, p := range ports {
			list = append(list, simpleswitch.Replica{Port: p, Instance: r.nodes[n].rid})
		}
	}
	return list
}

// program writes groups and sessions to the switch. A session refers to its group, so a change of either writes both.
func (r *runner) program() error {
	for g := range r.groups {
		if err := r.sw.SetMulticastGroup(g, r.replicas(g)); err != nil {
			return err
		}
	}
	for id, c := range r.clones {
		var list []simpleswitch.Replica
		if c.hasGroup {
			list = r.replicas(c.group)
		}
		if c.hasPort {
			list = append(list, simpleswitch.Replica{Port: c.port})
		}
		if err := r.sw.SetCloneSession(id, simpleswitch.CloneSession{Replicas: list}); err != nil {
			return err
		}
	}
	return nil
}

func (r *runner) mirroring(s *Statement) error {
	v, err := s.numbers(s.Words, 1)
	if err != nil {
		return err
	}
	c, ok := r.clones[v[0]]
	switch s.Command {
	case "mirroring_add", "mirroring_add_mc":
		if len(v) != 2 {
			return fmt.Errorf("%s needs a session and a port or group", s.Command)
		}
		if s.Command == "mirroring_add" {
			c.port, c.hasPort = v[1], true
		} else {
			c.group, c.hasGroup = v[1], true
		}
		r.clones[v[0]] = c
	case "mirroring_delete":
		if !ok {
			return fmt.Errorf("there is no session %d", v[0])
		}
		delete(r.clones, v[0])
		return r.sw.DeleteCloneSession(v[0])
	case "mirroring_get":
		r.note("session %d: %+v", v[0], c)
	}
	return r.program()
}

// array splits the words of a command into the name of an array and numbers.
func (s *Statement) array(what string, names []string, n int) (string, []uint32, error) {
	if len(s.Words) == 0 {
		return "", nil, fmt.Errorf("%s needs the name of a %s", s.Command, what)
	}
	name, err := unique(what, s.Words[0], names)
	if err != nil {
		return "", nil, err
	}
	v, err := s.numbers(s.Words[1:], n)
	return name, v, err
}

func (r *runner) register(s *Statement) error {
	var names []string
	for _, x := range r.sw.Registers() {
		names = append(names, x.Name)
	}
	switch s.Command {
	case "register_write":
		if len(s.Words) != 3 {
			return fmt.Errorf("register_write needs a register, an index and a value")
		}
		value := s.Words[2]
		s.Words = s.Words[:2]
		name, v, err := s.array("register", names, 1)
		if err != nil {
			return err
		}
		b, err := number(value, r.sw.Registers()[slices.Index(names, name)].Width)
		if err != nil {
			return err
		}
		return r.sw.SetRegister(name, int(v[0]), b)
	case "register_reset":
		name, _, err := s.array("register", names, 0)
		if err != nil {
			return err
		}
		return r.sw.ResetRegister(name)
	}
	name, v, err := s.array("register", names, 1)
	if err != nil {
		return err
	}
	b, err := r.sw.Register(name, int(v[0]))
	r.note("%s[%d] = 0x%x", name, v[0], b)
	return err
}

func (r *runner) counter(s *Statement) error {
	var names []string
	for _, x := range r.sw.Counters() {
		names = append(names, x.Name)
	}
	if s.Command == "check_counter" {
		return r.checkCounter(s, names)
	}
	n := 1
	if s.Command == "counter_write" {
		n = 3
	}
	name, v, err := s.array("counter", names, n)
	if err != nil {
		return err
	}
	if s.Command == "counter_write" {
		return r.sw.SetCounter(name, int(v[0]), pipeline.Counter{Packets: uint64(v[1]), Bytes: uint64(v[2])})
	}
	c, err := r.sw.Counter(name, int(v[0]))
	r.note("%s[%d] = %d packets, %d bytes", name, v[0], c.Packets, c.Bytes)
	return err
}

// check_counter NAME(INDEX) [packets|bytes OP NUMBER]
func (r *runner) checkCounter(s *Statement, names []string) error {
	w := s.Words
	if len(w) < 4 || w[1] != "(" || w[3] != ")" || len(w) != 4 && len(w) != 7 {
		return fmt.Errorf("check_counter is written NAME(INDEX) packets == NUMBER")
	}
	name, err := unique("counter", w[0], names)
	if err != nil {
		return err
	}
	v, err := s.numbers(w[2:3], 1)
	if err != nil {
		return err
	}
	c, err := r.sw.Counter(name, int(v[0]))
	if err != nil || len(w) == 4 {
		return err
	}
	got := c.Packets
	if strings.ToLower(w[4]) == "bytes" {
		got = c.Bytes
	}
	want, err := strconv.ParseUint(w[6], 0, 64)
	if err != nil {
		return fmt.Errorf("%q is no number", w[6])
	}
	holds := map[string]bool{"==": got == want, "!=": got != want, "<": got < want, "<=": got <= want, ">": got > want, ">=": got >= want}
	ok, known := holds[w[5]]
	if !known {
		return fmt.Errorf("%q is no comparison; valid are == != < <= > >=", w[5])
	}
	if !ok {
		r.fail(s.Line, "counter %s(%d): %s is %d, expected %s %d", name, v[0], w[4], got, w[5], want)
	}
	return nil
}

// meter reads RATE:BURST pairs, rates in units a microsecond as bmv2's command line has them.
func (r *runner) meter(s *Statement) error {
	var names []string
	list := r.sw.Meters()
	for _, x := range list {
		names = append(names, x.Name)
	}
	if len(s.Words) == 0 {
		return fmt.Errorf("%s needs the name of a meter", s.Command)
	}
	name, err := unique("meter", s.Words[0], names)
	if err != nil {
		return err
	}
	rest := s.Words[1:]
	first, last := 0, list[slices.Index(names, name)].Size-1
	if s.Command != "meter_array_set_rates" {
		v, err := s.numbers(rest[:min(1, len(rest))], 1)
		if err != nil {
			return err
		}
		first, last, rest = int(v[0]), int(v[0]), rest[1:]
	}
	if s.Command == "meter_get_rates" {
		m, ok, err := r.sw.Meter(name, first)
		r.note("%s[%d] = %+v, configured: %v", name, first, m, ok)
		return err
	}
	m, err := meterConfig(rest)
	if err != nil {
		return err
	}
	for i := first; i <= last; i++ {
		if err := r.sw.SetMeter(name, i, &m, r.now); err != nil {
			return err
		}
	}
	return nil
}

// meterConfig reads the committed and the peak pair; rates are a microsecond's, as floating-point numbers.
func meterConfig(words []string) (pipeline.MeterConfig, error) {
	bad := fmt.Errorf("meter rates are written CIR:BURST PIR:BURST, in units a microsecond")
	if len(words) != 6 || words[1] != ":" || words[4] != ":" {
		return pipeline.MeterConfig{}, bad
	}
	var rate [2]uint64
	var burst [2]uint64
	for i := range 2 {
		f, err := strconv.ParseFloat(words[3*i], 64)
		if err != nil || f < 0 || f > 1e12 {
			return pipeline.MeterConfig{}, bad
		}
		rate[i] = uint64(f*1e6 + 0.5)
		if burst[i], err = strconv.ParseUint(words[3*i+2], 0, 64); err != nil {
			return pipeline.MeterConfig{}, bad
		}
	}
	return pipeline.MeterConfig{CIR: rate[0], CBurst: burst[0], PIR: rate[1], PBurst: burst[1]}, nil
}
