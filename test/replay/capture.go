package replay

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"sort"

	"khop/bmv2/port"
	"khop/fabric"
)

// Packet is one captured frame.
type Packet struct {
	Time int64 // nanoseconds since the Unix epoch
	Data []byte
	// Host is the host that sends the packet, whatever its source address says; nil: the owner of the source address.
	Host *fabric.Host
}

// ReadCapture reads a pcap or pcapng capture of Ethernet frames with micro- or nanoseconds. A capture that is cut off, or
// whose packets are, is an error.
func ReadCapture(r io.Reader) ([]Packet, error) {
	in, err := port.NewReader(r)
	if err != nil {
		return nil, err
	}
	var list []Packet
	for {
		f, err := in.Next()
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return nil, err
		}
		if f.Length > len(f.Data) {
			return nil, fmt.Errorf("frame %d: only %d of its %d bytes were captured; capture whole packets (tcpdump -s 0)", len(list)+1, len(f.Data), f.Length)
		}
		list = append(list, Packet{Time: f.Time, Data: bytes.Clone(f.Data)})
	}
}

// ReadCaptureFile reads a capture file.
func ReadCaptureFile(name string) ([]Packet, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	list, err := ReadCapture(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return list, nil
}

const (
	etherIPv4 = 0x0800
	etherARP  = 0x0806
	etherIPv6 = 0x86dd
	etherLen  = 14
)

// classify tells the host that sends a packet and its destination, or why the packet is not forwarded: it belongs to the
// link (ARP, neighbour discovery, link-local addresses, multicast), or nobody in the fabric has its source address.
func classify(f *fabric.Fabric, p *Packet) (from *fabric.Host, dst netip.Addr, reason string) {
	var src netip.Addr
	d := p.Data
	if len(d) < etherLen {
		return nil, dst, "short frame"
	}
	ip := d[etherLen:]
	switch binary.BigEndian.Uint16(d[12:]) {
	case etherARP:
		return nil, dst, "ARP"
	case etherIPv4:
		if len(ip) < 20 {
			return nil, dst, "short frame"
		}
		src, dst = netip.AddrFrom4([4]byte(ip[12:16])), netip.AddrFrom4([4]byte(ip[16:20]))
		if dst == netip.AddrFrom4([4]byte{255, 255, 255, 255}) {
			return nil, dst, "broadcast"
		}
	case etherIPv6:
		if len(ip) < 40 {
			return nil, dst, "short frame"
		}
		src, dst = netip.AddrFrom16([16]byte(ip[8:24])), netip.AddrFrom16([16]byte(ip[24:40]))
		if ip[6] == 58 && len(ip) > 40 && ip[40] >= 133 && ip[40] <= 137 {
			return nil, dst, "neighbour discovery"
		}
	default:
		return nil, dst, "not IP"
	}
	switch {
	case src.IsLinkLocalUnicast() || dst.IsLinkLocalUnicast():
		return nil, dst, "link-local"
	case dst.IsMulticast():
		return nil, dst, "multicast"
	case p.Host != nil:
		return p.Host, dst, ""
	}
	if h := f.HostOf(src); h != nil {
		return h, dst, ""
	}
	leaf := f.LeafOf(src)
	for _, h := range f.Hosts {
		if leaf != nil && h.Leaf == leaf {
			return h, dst, "" // the leaf owns the address, and any of its hosts may speak for it
		}
	}
	return nil, dst, "source outside the fabric"
}

// byTime sorts packets by time; those of equal time keep their order.
func byTime(list []Packet) {
	sort.SliceStable(list, func(i, j int) bool { return list[i].Time < list[j].Time })
}
