package pipeline

import "math/bits"

// meter is one two-rate three-colour marker as bmv2 has it (after RFC 2698, colour-blind): the peak bucket first; what it
// cannot pay is red and takes nothing more; then the committed bucket, short of which the packet is yellow. Tokens are
// counted from the time of configuration, so that no rounding accumulates.
type meter struct {
	cfg        MeterConfig
	configured bool
	start      int64
	pir, cir   bucket
}

type bucket struct {
	tokens uint64
	given  uint64 // tokens since start
}

// Colours, as P4 programs see them.
const (
	green = iota
	yellow
	red
)

func (m *meter) configure(c *MeterConfig, now int64) {
	*m = meter{}
	if c != nil {
		*m = meter{cfg: *c, configured: true, start: now, pir: bucket{tokens: c.PBurst}, cir: bucket{tokens: c.CBurst}}
	}
}

func (b *bucket) fill(elapsed int64, rate, burst uint64) {
	hi, lo := bits.Mul64(uint64(max(elapsed, 0)), rate)
	given := ^uint64(0)
	if hi < 1e9 {
		given, _ = bits.Div64(hi, lo, 1e9)
	}
	if given > b.given {
		t, over := bits.Add64(b.tokens, given-b.given, 0)
		if over != 0 || t > burst {
			t = burst
		}
		b.tokens, b.given = t, given
	}
}

// execute takes n units at a time and returns the colour.
func (m *meter) execute(now int64, n uint64) uint64 {
	if !m.configured {
		return green
	}
	elapsed := now - m.start
	m.pir.fill(elapsed, m.cfg.PIR, m.cfg.PBurst)
	if m.pir.tokens < n {
		return red
	}
	m.pir.tokens -= n
	m.cir.fill(elapsed, m.cfg.CIR, m.cfg.CBurst)
	if m.cir.tokens < n {
		return yellow
	}
	m.cir.tokens -= n
	return green
}
