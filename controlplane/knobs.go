package controlplane

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	p4v1 "github.com/p4lang/p4runtime/go/p4/v1"

	"khop/codegen"
	"khop/fabric"
)

// knobState holds the values in force of the live knobs. Every knob is a table: time constants are default actions at all
// switches, thresholds entries by port.
type knobState struct {
	mu     sync.Mutex
	timing fabric.Timing
	ports  map[portKey]*portKnobs
	order  []portKey
}

type portKey struct {
	sw   string
	port uint32
}

// portKnobs are the knobs of one port. Thresholds are in packets, as the switch counts its queue.
type portKnobs struct {
	ecn  *fabric.ECN
	drop *fabric.SelectiveDrop
	down bool
	mtu  fabric.Size
}

func (k *knobState) init(f *fabric.Fabric) {
	k.timing = f.Timing
	k.ports = map[portKey]*portKnobs{}
	for _, s := range f.Switches {
		for _, p := range s.Ports {
			key := portKey{s.Name, p.Number}
			x := &portKnobs{mtu: p.Link.MTU}
			if e := f.Congestion.ECN; e != nil {
				c := *e
				x.ecn = &c
			}
			if d := f.Congestion.SelectiveDrop; d != nil {
				c := *d
				x.drop = &c
			}
			k.ports[key] = x
			k.order = append(k.order, key)
		}
	}
}

func (k *knobState) current() fabric.Timing {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.timing
}

// Knob is one live knob and its value in force.
type Knob struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type timingKnob struct {
	name string
	at   func(*fabric.Timing) *time.Duration
	has  func(fabric.Scheme) bool // whether it has an effect under a scheme
}

var timingKnobs = []timingKnob{
	{"tau", func(t *fabric.Timing) *time.Duration { return &t.Tau }, fabric.Scheme.Probes},
	{"flowlet-gap", func(t *fabric.Timing) *time.Duration { return &t.FlowletGap }, fabric.Scheme.Probes},
	{"keep-alive", func(t *fabric.Timing) *time.Duration { return &t.KeepAlive }, fabric.Scheme.Probes},
	{"link-timeout", func(t *fabric.Timing) *time.Duration { return &t.LinkTimeout }, fabric.Scheme.Probes},
	{"subflow-live", func(t *fabric.Timing) *time.Duration { return &t.SubflowLive }, fabric.Scheme.Marks},
	{"learn-timeout", func(t *fabric.Timing) *time.Duration { return &t.LearnTimeout }, fabric.Scheme.Marks},
}

// Knobs returns the knobs of the fabric: time constants, then by port the thresholds and the state.
func (c *Controller) Knobs() []Knob {
	k := &c.knobs
	k.mu.Lock()
	defer k.mu.Unlock()
	list := []Knob{}
	for _, x := range timingKnobs {
		if x.has(c.fabric.Scheme) {
			list = append(list, Knob{x.name, x.at(&k.timing).String()})
		}
	}
	for _, key := range k.order {
		p := k.ports[key]
		name := fmt.Sprintf("%s:%d", key.sw, key.port)
		state := "up"
		if p.down {
			state = "down"
		}
		if s := c.fabric.Switch(key.sw); s.Port(key.port).Kind != fabric.HostPort {
			list = append(list, Knob{"port." + name, state})
		}
		if p.ecn != nil {
			list = append(list, Knob{"ecn." + name + ".kmin", p.ecn.KMin.String()}, Knob{"ecn." + name + ".kmax", p.ecn.KMax.String()},
				Knob{"ecn." + name + ".pmax", strconv.FormatFloat(p.ecn.PMax, 'g', -1, 64)})
		}
		if p.drop != nil {
			list = append(list, Knob{"drop." + name + ".threshold", p.drop.Threshold.String()})
		}
	}
	return list
}

// knobForms tells the names of knobs, for messages.
const knobForms = "tau, flowlet-gap, keep-alive, link-timeout, subflow-live, learn-timeout, port.SWITCH:PORT, " +
	"ecn.SWITCH:PORT.kmin, .kmax, .pmax, and drop.SWITCH:PORT.threshold"

// SetKnobs checks all settings ("name=value"), and only then writes them to the switches. The settings of one call are
// judged together, so that tau and keep-alive can move at once.
func (c *Controller) SetKnobs(ctx context.Context, settings []string) error {
	k := &c.knobs
	shortest, longest := c.prober.intervals()
	k.mu.Lock()
	defer k.mu.Unlock()
	timing := k.timing
	timingChanged := false
	ports := map[portKey]*portKnobs{}
	for _, text := range settings {
		name, value, ok := strings.Cut(text, "=")
		if !ok {
			return fmt.Errorf("%q is no setting; write name=value, such as flowlet-gap=300us", text)
		}
		if i := slices.IndexFunc(timingKnobs, func(x timingKnob) bool { return x.name == name }); i >= 0 {
			if !timingKnobs[i].has(c.fabric.Scheme) {
				return fmt.Errorf("knob %s has no effect under scheme %s", name, c.fabric.Scheme)
			}
			d, err := fabric.ParseDuration(value)
			if err != nil {
				return fmt.Errorf("knob %s: %w", name, err)
			}
			*timingKnobs[i].at(&timing) = d
			timingChanged = true
			continue
		}
		if err := c.setPortKnob(ports, name, value); err != nil {
			return err
		}
	}
	if timingChanged {
		if problems := timing.Check(shortest, longest); len(problems) > 0 {
			return timingError(problems)
		}
	}
	if err := c.writeKnobs(ctx, timing, timingChanged, ports); err != nil {
		return err
	}
	k.timing = timing
	for key, p := range ports {
		k.ports[key] = p
	}
	return nil
}

// setPortKnob notes one setting in ports, where values in force were copied first.
func (c *Controller) setPortKnob(ports map[portKey]*portKnobs, name, value string) error {
	kind, rest, _ := strings.Cut(name, ".")
	field := ""
	if kind == "ecn" || kind == "drop" {
		if i := strings.LastIndexByte(rest, '.'); i >= 0 {
			rest, field = rest[:i], rest[i+1:]
		}
	}
	sw, portText, ok := strings.Cut(rest, ":")
	if !ok || kind != "ecn" && kind != "drop" && kind != "port" {
		return fmt.Errorf("there is no knob %q; the knobs are %s", name, knobForms)
	}
	s := c.fabric.Switch(sw)
	if s == nil {
		return fmt.Errorf("knob %s: the fabric has no switch %q; it has %s", name, sw, c.switchNames())
	}
	number, err := strconv.ParseUint(portText, 10, 32)
	if err != nil || s.Port(uint32(number)) == nil {
		return fmt.Errorf("knob %s: switch %s has no port %q; it has ports 1 to %d", name, sw, portText, len(s.Ports))
	}
	key := portKey{sw, uint32(number)}
	p := ports[key]
	if p == nil {
		old := c.knobs.ports[key]
		p = &portKnobs{down: old.down, mtu: old.mtu}
		if old.ecn != nil {
			e := *old.ecn
			p.ecn = &e
		}
		if old.drop != nil {
			d := *old.drop
			p.drop = &d
		}
		ports[key] = p
	}
	return p.set(kind, field, name, value, s.Port(uint32(number)).Kind)
}

func (p *portKnobs) set(kind, field, name, value string, port fabric.PortKind) error {
	switch {
	case kind == "port":
		if port == fabric.HostPort {
			return fmt.Errorf("knob %s: only ports between switches can be taken out of service", name)
		}
		if value != "up" && value != "down" {
			return fmt.Errorf("knob %s: %q is no state; valid are up and down", name, value)
		}
		p.down = value == "down"
		return nil
	case kind == "ecn" && field == "pmax":
		v, err := strconv.ParseFloat(value, 64)
		if err != nil || !(v > 0 && v <= 1) {
			return fmt.Errorf("knob %s: %q is no probability; valid are numbers above 0 and up to 1", name, value)
		}
		p.needECN().PMax = v
		return nil
	case kind == "ecn" && (field == "kmin" || field == "kmax"), kind == "drop" && field == "threshold":
		v, err := fabric.ParseSize(value)
		if err != nil {
			return fmt.Errorf("knob %s: %w", name, err)
		}
		packets := uint32(math.Ceil(float64(v) / float64(p.mtu)))
		switch field {
		case "kmin":
			e := p.needECN()
			e.KMin, e.KMinPackets = v, packets
		case "kmax":
			e := p.needECN()
			e.KMax, e.KMaxPackets = v, packets
		default:
			p.drop = &fabric.SelectiveDrop{Threshold: v, ThresholdPackets: packets}
		}
		return nil
	}
	return fmt.Errorf("there is no knob %q; the knobs are %s", name, knobForms)
}

// needECN returns the port's ECN knobs; one that had none marks always above 0 until it is told better.
func (p *portKnobs) needECN() *fabric.ECN {
	if p.ecn == nil {
		p.ecn = &fabric.ECN{PMax: 1}
	}
	return p.ecn
}

// writeKnobs writes changed knobs to all switches, in order.
func (c *Controller) writeKnobs(ctx context.Context, timing fabric.Timing, timingChanged bool, ports map[portKey]*portKnobs) error {
	for key, p := range ports {
		if p.ecn != nil && p.ecn.KMin > p.ecn.KMax {
			return fmt.Errorf("ecn.%s:%d: kmin %v is above kmax %v", key.sw, key.port, p.ecn.KMin, p.ecn.KMax)
		}
	}
	var errs []error
	for _, s := range c.connected() {
		b := newIntentBuilder(c.fabric, s.sw.Role)
		if timingChanged {
			c.knobs.timingEntries(b, timing, s.sw)
		}
		var down []uint32
		linksChanged := false
		for _, key := range c.knobs.order {
			if key.sw != s.sw.Name {
				continue
			}
			p := ports[key]
			if p == nil {
				if c.knobs.ports[key].down {
					down = append(down, key.port)
				}
				continue
			}
			if p.down {
				down = append(down, key.port)
			}
			linksChanged = linksChanged || p.down != c.knobs.ports[key].down
			match := exact(uint64(key.port), 9)
			if p.ecn != nil {
				b.add(codegen.TableECN, match, codegen.ActionSetECN, uint64(p.ecn.KMinPackets), uint64(p.ecn.KMaxPackets), uint64(codegen.ECNSlope(p.ecn)))
			}
			if p.drop != nil {
				b.add(codegen.TableSelectiveDrop, match, codegen.ActionSetDropThreshold, uint64(p.drop.ThresholdPackets))
			}
		}
		if linksChanged {
			b.set(codegen.TableSwitchParams, codegen.ActionSetSwitchParams, uint64(s.sw.ToR), uint64(codegen.SwitchSeed(c.fabric, s.sw)), codegen.PortMap(c.fabric, down))
		}
		if err := s.upsert(ctx, b.entries); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", s.sw.Name, err))
		}
	}
	return errors.Join(errs...)
}

// timingEntries adds the knob tables, and the utilisation scales that follow from tau.
func (k *knobState) timingEntries(b *intentBuilder, t fabric.Timing, s *fabric.Switch) {
	b.timing(t)
	if t.Tau == k.timing.Tau {
		return
	}
	groups := codegen.ProbeGroups(s)
	for _, p := range s.Ports {
		if p.Kind != fabric.HostPort {
			b.fabricPort(p, groups, t)
		}
	}
}

// upsert writes entries whether or not they are there: default actions and known entries are modified, others inserted.
func (s *session) upsert(ctx context.Context, entries []Entry) error {
	var updates []*p4v1.Update
	for i := range entries {
		typ := p4v1.Update_INSERT
		if entries[i].Default {
			typ = p4v1.Update_MODIFY
		}
		updates = append(updates, s.prog.Codec.update(typ, &entries[i]))
	}
	if len(updates) == 0 {
		return nil
	}
	return s.writeTolerant(ctx, updates)
}
