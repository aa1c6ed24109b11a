package device

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"khop/bmv2/port"
	"khop/bmv2/simpleswitch"
)

// Attach connects a port under a number and starts to receive from it. The device closes the port on Detach and Close.
func (d *Device) Attach(n uint32, p port.Port) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.closed:
		return fmt.Errorf("port %d: the device is closed", n)
	case n == d.opts.CPUPort && n != 0:
		return fmt.Errorf("port %d is the CPU port; no interface can be attached to it", n)
	case d.ports[n] != nil:
		return fmt.Errorf("port %d is attached already", n)
	}
	ctx, stop := context.WithCancel(d.ctx)
	a := &attached{Port: p, stop: stop, done: make(chan struct{})}
	d.ports[n] = a
	d.wg.Go(func() {
		defer close(a.done)
		if err := p.Run(ctx, func(frame []byte) { d.Receive(n, frame) }); err != nil && ctx.Err() == nil {
			d.log.Error("a port stopped receiving", "port", n, "error", err)
		}
	})
	return nil
}

// Detach disconnects a port and waits until it has stopped receiving.
func (d *Device) Detach(n uint32) error {
	d.mu.Lock()
	a := d.ports[n]
	delete(d.ports, n)
	d.mu.Unlock()
	if a == nil {
		return fmt.Errorf("port %d is not attached; the attached ports are %v", n, d.Ports())
	}
	a.stop()
	err := a.Close()
	<-a.done
	return err
}

// Ports lists the attached ports, ascending.
func (d *Device) Ports() []uint32 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Sorted(maps.Keys(d.ports))
}

// SetLink sets the link of a port up or down. While it is down, frames in either direction are dropped and counted, and
// members of action selector groups that watch the port are left out.
func (d *Device) SetLink(n uint32, up bool) {
	d.Do(func(sw *simpleswitch.Switch, _ int64) {
		c := sw.Port(n)
		c.Down = !up
		sw.SetPort(n, c)
	})
}

// Stats returns the counts of frames that left the switch and went no further. What the switch itself dropped is in
// simpleswitch.Switch.Drops.
func (d *Device) Stats() Stats {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.lost
}

// Close stops the device: no frame is received or sent any more, ports are closed, and goroutines have ended when it
// returns. It may be called more than once.
func (d *Device) Close() {
	d.mu.Lock()
	d.closed = true
	if d.disarm != nil {
		d.disarm()
	}
	ports := d.ports
	d.ports = map[uint32]*attached{}
	d.mu.Unlock()
	d.stop()
	for _, n := range slices.Sorted(maps.Keys(ports)) {
		if err := ports[n].Close(); err != nil {
			d.log.Warn("closing a port", "port", n, "error", err)
		}
	}
	d.wg.Wait()
}
