//go:build !linux

package port

import "errors"

// NewInterface opens a network interface.
func NewInterface(name string) (Port, error) {
	return nil, errors.New("interface " + name + ": network interfaces are supported on Linux only; use a udp: or pcap: port")
}
