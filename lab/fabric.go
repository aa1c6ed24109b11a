package lab

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"khop/bmv2/device"
	"khop/bmv2/p4rt"
	"khop/bmv2/port"
	"khop/bmv2/simpleswitch"
	"khop/controlplane"
	"khop/fabric"
)

// Options configure a running fabric.
type Options struct {
	// Controller configures the controller; Now is set by Up.
	Controller controlplane.Options
	// AnyPort makes every P4Runtime server listen on a free loopback port instead of the spec's address.
	AnyPort bool
	// External names switches that run elsewhere, by name, with the address of their P4Runtime server. They are steered
	// like the others but not started, and no link in memory leads to them.
	External map[string]string
	// Log gets what devices and the controller report; nil discards.
	Log *slog.Logger
}

// Fabric is a fabric that runs.
type Fabric struct {
	Controller *controlplane.Controller
	Plans      []*controlplane.Plan // what was pushed at the start

	spec    *fabric.Fabric
	devices map[string]*device.Device
	clean   []func() // in the order of starting
	stop    context.CancelFunc
	wg      sync.WaitGroup
	closing sync.Once
}

// Up starts the switches of a fabric and their P4Runtime servers, connects the controller, pushes pipelines and entries,
// and starts the probes. Close ends it.
func Up(ctx context.Context, f *fabric.Fabric, o Options) (x *Fabric, err error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	for name := range o.External {
		if f.Switch(name) == nil {
			return nil, fmt.Errorf("the fabric has no switch %q", name)
		}
	}
	clock := device.NewClock()
	o.Controller.Now = clock.Now
	o.Controller.Log = o.Log
	x = &Fabric{spec: f, devices: map[string]*device.Device{}}
	defer func() {
		if err != nil {
			x.Close()
		}
	}()
	if x.Controller, err = controlplane.New(f, o.Controller); err != nil {
		return x, err
	}
	for _, sw := range f.Switches {
		addr, external := o.External[sw.Name]
		if !external {
			if addr, err = x.start(sw, o, clock); err != nil {
				return x, fmt.Errorf("switch %s: %w", sw.Name, err)
			}
		}
		if err := x.connect(ctx, sw, addr); err != nil {
			return x, err
		}
	}
	if err := x.wire(); err != nil {
		return x, err
	}
	if x.Plans, err = x.Controller.Push(ctx); err != nil {
		return x, err
	}
	run, stop := context.WithCancel(context.Background())
	x.stop = stop
	x.wg.Go(func() { _ = x.Controller.Run(run) }) // always nil
	return x, nil
}

// start makes a switch and its P4Runtime server, and returns the server's address.
func (x *Fabric) start(sw *fabric.Switch, o Options, clock device.Clock) (addr string, err error) {
	d, err := device.New(nil, device.Options{
		Switch: simpleswitch.Options{
			DropPort: x.spec.Target.DropPort, CPUPort: x.spec.Target.CPUPort,
			QueueDepth: int(x.spec.Target.QueuePackets), Seed: sw.DeviceID,
		},
		Clock: clock,
		Log:   o.Log.With("switch", sw.Name),
	})
	if err != nil {
		return "", err
	}
	x.devices[sw.Name] = d
	x.clean = append(x.clean, d.Close)
	server := p4rt.NewServer(p4rt.Options{})
	agent, err := server.AddDevice(sw.DeviceID, d, p4rt.AgentOptions{Epoch: d.Epoch()})
	if err != nil {
		return "", err
	}
	d.SetAgent(agent)
	listen := sw.GRPC
	if o.AnyPort {
		listen = "127.0.0.1:0"
	}
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return "", fmt.Errorf("P4Runtime server: %w", err)
	}
	x.wg.Go(func() {
		if err := server.Serve(l); err != nil {
			o.Log.Error("P4Runtime server", "switch", sw.Name, "error", err)
		}
	})
	x.clean = append(x.clean, func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		server.Shutdown(ctx)
	})
	return l.Addr().String(), nil
}

func (x *Fabric) connect(ctx context.Context, sw *fabric.Switch, addr string) error {
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return fmt.Errorf("%s at %s: %w", sw.Name, addr, err)
	}
	x.clean = append(x.clean, func() { conn.Close() })
	return x.Controller.Connect(ctx, sw.Name, addr, conn)
}

// wire joins the switches that run here.
func (x *Fabric) wire() error {
	for _, l := range x.spec.Links {
		if l.Upper == nil {
			continue
		}
		lower, upper := x.devices[l.Lower.Name], x.devices[l.Upper.Name]
		if lower == nil || upper == nil {
			continue
		}
		a, b := port.Link()
		if err := errors.Join(lower.Attach(l.LowerPort, a), upper.Attach(l.UpperPort, b)); err != nil {
			return fmt.Errorf("link %s: %w", l.Name(), err)
		}
	}
	return nil
}

// Attach connects a port of a switch that runs here to the outside.
func (x *Fabric) Attach(sw string, number uint32, p port.Port) error {
	d := x.devices[sw]
	if d == nil {
		return fmt.Errorf("switch %s does not run in this process", sw)
	}
	return d.Attach(number, p)
}

// Close ends probes and sessions, and then servers and switches.
func (x *Fabric) Close() {
	x.closing.Do(func() {
		if x.stop != nil {
			x.stop()
		}
		if x.Controller != nil {
			x.Controller.Close()
		}
		for _, f := range slices.Backward(x.clean) {
			f()
		}
		x.wg.Wait()
	})
}
