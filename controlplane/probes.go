package controlplane

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"khop/codegen"
	"khop/fabric"
)

// prober schedules one probe per ToR and interval.
type prober struct {
	mu      sync.Mutex
	fabric  *fabric.Fabric
	leaves  []*leafProbes
	started bool
	wake    chan struct{} // has a token after a change that may bring the next probe forward
}

// leafProbes is the probe schedule of one ToR. Times are nanoseconds.
type leafProbes struct {
	leaf     *fabric.Switch
	interval time.Duration
	next     int64
	last     int64
	round    uint32
	late     uint64 // times that the schedule started afresh
	window   window
}

// window measures the intervals since the last change, from the first probe after it.
type window struct {
	n           uint64 // intervals
	first, last int64
	any         bool
	min, max    int64
}

func (w *window) add(now int64) {
	if w.any {
		gap := now - w.last
		w.n++
		if w.n == 1 {
			w.min, w.max = gap, gap
		}
		w.min, w.max = min(w.min, gap), max(w.max, gap)
	} else {
		w.first, w.any = now, true
	}
	w.last = now
}

func newProber(f *fabric.Fabric) *prober {
	p := &prober{fabric: f, wake: make(chan struct{}, 1)}
	if f.Scheme.Probes() {
		for _, leaf := range f.Leaves() {
			p.leaves = append(p.leaves, &leafProbes{leaf: leaf, interval: f.IntervalOf(leaf.Name)})
		}
	}
	return p
}

// StartProbes makes the first probe of every ToR due now.
func (c *Controller) StartProbes() {
	p := c.prober
	p.mu.Lock()
	defer p.mu.Unlock()
	p.started = true
	now := c.opts.Now()
	for _, l := range p.leaves {
		l.next = now
	}
	p.nudge()
}

func (p *prober) nudge() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// NextProbe returns the time of the next probe.
func (c *Controller) NextProbe() (at int64, ok bool) {
	p := c.prober
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.started || len(p.leaves) == 0 {
		return 0, false
	}
	at = math.MaxInt64
	for _, l := range p.leaves {
		at = min(at, l.next)
	}
	return at, true
}

// maxBehind is how many intervals a ToR may be late and still catch up, so that timers that are coarser than an interval
// don't change the rate.
const maxBehind = 8

// SendProbes sends the probes that are due by now, at most one packet-out per ToR, each with the round after the ToR's
// last. NextProbe tells whether more are due. A ToR that is later than maxBehind intervals starts its schedule afresh, but
// its rounds have no gap.
func (c *Controller) SendProbes() error {
	now := c.opts.Now()
	p := c.prober
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for _, l := range p.leaves {
		if !p.started || l.next > now {
			continue
		}
		s := c.sessionOf(l.leaf)
		if s == nil || !s.client.Primary() {
			l.next = now + int64(l.interval)
			continue
		}
		l.round++
		if err := s.packetOut(codegen.ProbeGroup(0), 0, codegen.ProbeFrame(p.fabric, l.leaf, l.round)); err != nil {
			errs = append(errs, fmt.Errorf("probe of %s: %w", l.leaf.Name, err))
		}
		l.last = now
		l.window.add(now)
		if l.next += int64(l.interval); now-l.next > maxBehind*int64(l.interval) {
			l.next = now + int64(l.interval)
			l.late++
		}
	}
	return errors.Join(errs...)
}

// SetProbeInterval changes the probe interval of one ToR, or of all with tor "". It is in force within one old interval,
// and no round is lost. An interval that does not fit the other time constants is refused with the reason.
func (c *Controller) SetProbeInterval(tor string, interval time.Duration) error {
	p := c.prober
	if len(p.leaves) == 0 {
		return fmt.Errorf("scheme %s sends no probes; hula and mp-hula do", p.fabric.Scheme)
	}
	now := c.opts.Now()
	timing := c.knobs.current()
	p.mu.Lock()
	defer p.mu.Unlock()
	found := false
	shortest, longest := interval, interval
	var names []string
	for _, l := range p.leaves {
		names = append(names, l.leaf.Name)
		if tor == "" || l.leaf.Name == tor {
			found = true
		} else {
			shortest, longest = min(shortest, l.interval), max(longest, l.interval)
		}
	}
	if !found {
		return fmt.Errorf("there is no ToR %q; the ToRs are %s", tor, strings.Join(names, ", "))
	}
	if interval < time.Microsecond || interval > time.Hour {
		return fmt.Errorf("probe interval %v is out of range; valid are 1us to 1h", interval)
	}
	if problems := timing.Check(shortest, longest); len(problems) > 0 {
		return timingError(problems)
	}
	for _, l := range p.leaves {
		if tor != "" && l.leaf.Name != tor {
			continue
		}
		l.interval = interval
		l.window = window{}
		if p.started && l.last > 0 {
			l.next = min(l.next, max(now, l.last+int64(interval)))
		}
	}
	p.nudge()
	return nil
}

func timingError(problems []fabric.Problem) error {
	var texts []string
	for _, x := range problems {
		texts = append(texts, x.Key+": "+x.Reason)
	}
	return errors.New(strings.Join(texts, "; "))
}

// intervals returns the shortest and longest probe interval in force.
func (p *prober) intervals() (shortest, longest time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, l := range p.leaves {
		if i == 0 {
			shortest, longest = l.interval, l.interval
		}
		shortest, longest = min(shortest, l.interval), max(longest, l.interval)
	}
	return shortest, longest
}

// ProbeStatus tells how a ToR's probes go. The measured values are over the intervals since the last change of the
// interval, at the controller's clock.
type ProbeStatus struct {
	ToR        string  `json:"tor"`
	IntervalUS float64 `json:"interval_us"`
	Sent       uint32  `json:"sent"` // the last round, which counts from 1
	Late       uint64  `json:"late"` // times that the schedule could not be kept and started afresh
	Measured   uint64  `json:"measured_intervals"`
	MeanUS     float64 `json:"mean_us"`
	MinUS      float64 `json:"min_us"`
	MaxUS      float64 `json:"max_us"`
}

// Probes returns the state of each ToR's probes, in the order of the ToR ids.
func (c *Controller) Probes() []ProbeStatus {
	p := c.prober
	p.mu.Lock()
	defer p.mu.Unlock()
	list := []ProbeStatus{}
	us := func(ns int64) float64 { return float64(ns) / 1e3 }
	for _, l := range p.leaves {
		st := ProbeStatus{ToR: l.leaf.Name, IntervalUS: us(int64(l.interval)), Sent: l.round, Late: l.late, Measured: l.window.n}
		if w := l.window; w.n > 0 {
			st.MeanUS = math.Round(us(w.last-w.first)/float64(w.n)*10) / 10
			st.MinUS, st.MaxUS = us(w.min), us(w.max)
		}
		list = append(list, st)
	}
	return list
}

// ProbesSent returns the number of probes sent by all ToRs.
func (c *Controller) ProbesSent() (n uint64) {
	for _, p := range c.Probes() {
		n += uint64(p.Sent)
	}
	return n
}

// Run sends probes in real time until the context ends. Options.Now must be a real clock.
func (c *Controller) Run(ctx context.Context) error {
	c.StartProbes()
	timer := time.NewTimer(0)
	defer timer.Stop()
	var failing []string
	for {
		wait := time.Hour
		if at, ok := c.NextProbe(); ok {
			wait = time.Duration(at - c.opts.Now())
		}
		if wait > 0 {
			timer.Reset(wait)
			select {
			case <-ctx.Done():
				return nil
			case <-c.prober.wake:
				continue
			case <-timer.C:
			}
		} else if ctx.Err() != nil {
			return nil
		}
		if err := c.SendProbes(); err != nil {
			c.stats.errors.Add(1)
			if text := err.Error(); !slices.Contains(failing, text) {
				failing = append(failing, text) // told once
				c.log.Error("probes", "error", err)
			}
		}
	}
}
