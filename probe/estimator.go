package probe

import "math"

// Estimator is the transmit-side utilisation of a port: U := D + U * (1 - dt/tau) with tau = 2^tauExp microseconds (HULA section 3.2), in
// 32-bit integers with a 64-bit product, as the P4 programs compute it. A port that sends at its capacity C holds about C*tau bytes.
type Estimator struct {
	Bytes uint32 // U
	Time  uint64 // of the last update, microseconds
}

// At returns U decayed to now. Time that runs backwards counts as no time.
func (e *Estimator) At(now uint64, tauExp uint) uint32 {
	if now <= e.Time {
		return e.Bytes
	}
	idle := now - e.Time
	if idle >= 1<<tauExp {
		return 0
	}
	return e.Bytes - uint32(uint64(e.Bytes)*idle>>tauExp)
}

// Sent accounts for a packet of length bytes sent now. U stays at its highest value rather than wrap.
func (e *Estimator) Sent(now uint64, length uint32, tauExp uint) {
	u := e.At(now, tauExp)
	if u > math.MaxUint32-length {
		u = math.MaxUint32 - length
	}
	e.Bytes = u + length
	e.Time = max(e.Time, now)
}

// Quantise maps U to 0..255, where 255 is a full link. scale is 255 * 2^32 / (C * tau), by port.
func Quantise(bytes, scale uint32) uint8 {
	return uint8(min(uint64(bytes)*uint64(scale)>>32, 255))
}
