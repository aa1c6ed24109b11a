package port

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
)

// UDP is a tunnel that carries one frame in each datagram.
type UDP struct {
	counters
	conn   *net.UDPConn
	remote netip.AddrPort
}

// NewUDP opens a tunnel from a local address to a remote one, both "host:port". Datagrams from other addresses are dropped
// and counted.
func NewUDP(local, remote string) (*UDP, error) {
	la, err := net.ResolveUDPAddr("udp", local)
	if err != nil {
		return nil, fmt.Errorf("udp port: local address %q: %w", local, err)
	}
	ra, err := net.ResolveUDPAddr("udp", remote)
	if err != nil {
		return nil, fmt.Errorf("udp port: remote address %q: %w", remote, err)
	}
	if ra.Port == 0 || ra.IP == nil {
		return nil, fmt.Errorf("udp port: remote address %q must have a host and a port number", remote)
	}
	c, err := net.ListenUDP("udp", la)
	if err != nil {
		return nil, fmt.Errorf("udp port: %w", err)
	}
	// Bursts of a fabric are larger than the kernel's default buffer; where the kernel allows no more, the default stays.
	_ = c.SetReadBuffer(4 << 20)
	_ = c.SetWriteBuffer(4 << 20)
	ap := ra.AddrPort()
	return &UDP{conn: c, remote: netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port())}, nil
}

// LocalAddr is the address of this end, with the port number that the system chose if it was 0.
func (u *UDP) LocalAddr() netip.AddrPort {
	ap := u.conn.LocalAddr().(*net.UDPAddr).AddrPort()
	return netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port())
}

// Send implements [Port].
func (u *UDP) Send(frame []byte) error {
	_, err := u.conn.WriteToUDPAddrPort(frame, u.remote)
	u.tx(len(frame), err)
	return err
}

// Run implements [Port].
func (u *UDP) Run(ctx context.Context, recv func(frame []byte)) error {
	stop := context.AfterFunc(ctx, func() { u.conn.Close() })
	defer stop()
	buf := make([]byte, MaxFrame+1)
	for {
		n, from, err := u.conn.ReadFromUDPAddrPort(buf)
		switch {
		case errors.Is(err, net.ErrClosed):
			return nil
		case err != nil:
			// A remote end that is not there yet answers with ICMP; the tunnel waits for it.
			if isRefused(err) {
				continue
			}
			return err
		case from.Port() != u.remote.Port() || from.Addr().Unmap() != u.remote.Addr():
			u.rxDropped.Add(1)
		default:
			u.rx(n)
			recv(buf[:n])
		}
	}
}

// Close implements [Port].
func (u *UDP) Close() error {
	if err := u.conn.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}
