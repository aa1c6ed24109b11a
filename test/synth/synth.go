// Package synth writes captures of MPTCP connections by hand, from RFC 6824 (version 0) and RFC 8684 (version 1): what no kernel of
// today speaks (version 0), or more subflows than a kernel opens. Sequence numbers, tokens, HMACs and checksums are as an
// implementation would send them, so that an independent dissector accepts every packet.
package synth

import (
	"encoding/binary"
	"fmt"
	"io"
	"net/netip"
	"time"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/google/gopacket/pcapgo"

	"khop/mptcp"
)

// Connection describes one MPTCP connection and what it sends.
type Connection struct {
	Version          uint8 // 0 or 1
	ClientKey        uint64
	ServerKey        uint64
	Clients, Servers []netip.Addr // subflow i runs from Clients[i % len] to Servers[i % len]; no address is announced, so joins need an end's first
	ServerPort       uint16
	FirstPort        uint16 // client port of subflow i is FirstPort + i
	Subflows         int
	Segments         int // data segments on each subflow, 1,000 bytes each
	// FromServer lets the server open the subflows after the first.
	FromServer bool
	Start      time.Duration // after the capture's start
	Pace       time.Duration // between two packets; 0: Interval
}

// Interval between two packets of one connection unless it has its own pace, and the payload of a data segment in bytes.
const (
	Interval = 100 * time.Microsecond
	Payload  = 1000
)

// Packet is a captured frame.
type Packet struct {
	At    time.Duration
	Frame []byte
}

// Packets returns the connection's frames in order of time.
func (c Connection) Packets() ([]Packet, error) {
	w := &writer{conn: c, at: c.Start, pace: c.Pace}
	if w.pace == 0 {
		w.pace = Interval
	}
	flows := make([]*flow, c.Subflows)
	for i := range flows {
		f := &flow{
			client: endpoint{c.Clients[i%len(c.Clients)], c.FirstPort + uint16(i), 1000 * uint32(i+1)},
			server: endpoint{c.Servers[i%len(c.Servers)], c.ServerPort, 500_000 + 1000*uint32(i+1)},
			opener: i > 0 && c.FromServer,
		}
		flows[i] = f
		if i == 0 {
			w.capable(f)
		} else {
			w.join(f, i)
		}
	}
	for n := range c.Segments {
		for _, f := range flows {
			w.data(f, n)
		}
	}
	for _, f := range flows {
		w.finish(f)
	}
	return w.packets, w.err
}

// Write writes the connections' packets, merged by time, as a pcap file with nanosecond times that starts at start.
func Write(out io.Writer, start time.Time, conns ...Connection) error {
	var all []Packet
	for _, c := range conns {
		p, err := c.Packets()
		if err != nil {
			return err
		}
		all = merge(all, p)
	}
	pw := pcapgo.NewWriterNanos(out)
	if err := pw.WriteFileHeader(65535, layers.LinkTypeEthernet); err != nil {
		return err
	}
	for _, p := range all {
		info := gopacket.CaptureInfo{Timestamp: start.Add(p.At), CaptureLength: len(p.Frame), Length: len(p.Frame)}
		if err := pw.WritePacket(info, p.Frame); err != nil {
			return err
		}
	}
	return nil
}

// merge merges two lists that are sorted by time.
func merge(a, b []Packet) []Packet {
	out := make([]Packet, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if b[0].At < a[0].At {
			out, b = append(out, b[0]), b[1:]
		} else {
			out, a = append(out, a[0]), a[1:]
		}
	}
	return append(append(out, a...), b...)
}

type endpoint struct {
	addr netip.Addr
	port uint16
	seq  uint32 // next sequence number
}

type flow struct {
	client, server endpoint
	opener         bool // the server sends the SYN
}

type writer struct {
	conn    Connection
	at      time.Duration
	pace    time.Duration
	packets []Packet
	dataSeq uint32 // next data sequence number of the client
	err     error
}

// kindMPTCP is the kind of every MPTCP option.
const kindMPTCP = 30

// TCP flags.
const (
	flagFIN = 1 << iota
	flagSYN
	flagRST
	flagPSH
	flagACK
)

// send writes one segment. opts are the bodies of MPTCP options, from the subtype on.
func (w *writer) send(from, to *endpoint, flags int, payload int, opts ...[]byte) {
	eth := &layers.Ethernet{
		SrcMAC: []byte{2, 0, 0, 0, 1, 1}, DstMAC: []byte{2, 0, 0, 0, 1, 0xfe}, EthernetType: layers.EthernetTypeIPv4,
	}
	tcp := &layers.TCP{
		SrcPort: layers.TCPPort(from.port), DstPort: layers.TCPPort(to.port), Seq: from.seq, Window: 65535,
		FIN: flags&flagFIN != 0, SYN: flags&flagSYN != 0, RST: flags&flagRST != 0, PSH: flags&flagPSH != 0, ACK: flags&flagACK != 0,
	}
	if tcp.ACK {
		tcp.Ack = to.seq
	}
	if tcp.SYN {
		tcp.Options = append(tcp.Options, layers.TCPOption{OptionType: layers.TCPOptionKindMSS, OptionLength: 4, OptionData: []byte{5, 0xb4}})
	}
	nop := layers.TCPOption{OptionType: layers.TCPOptionKindNop, OptionLength: 1}
	for _, o := range opts {
		for n := (len(o) + 2) % 4; n != 0 && n < 4; n++ {
			tcp.Options = append(tcp.Options, nop)
		}
		tcp.Options = append(tcp.Options, layers.TCPOption{OptionType: kindMPTCP, OptionLength: uint8(len(o) + 2), OptionData: o})
	}
	var network gopacket.SerializableLayer
	if from.addr.Is4() {
		ip := &layers.IPv4{
			Version: 4, IHL: 5, TTL: 64, Protocol: layers.IPProtocolTCP, Flags: layers.IPv4DontFragment,
			SrcIP: from.addr.AsSlice(), DstIP: to.addr.AsSlice(),
		}
		network, w.err = ip, firstError(w.err, tcp.SetNetworkLayerForChecksum(ip))
	} else {
		eth.EthernetType = layers.EthernetTypeIPv6
		ip := &layers.IPv6{
			Version: 6, HopLimit: 64, NextHeader: layers.IPProtocolTCP, SrcIP: from.addr.AsSlice(), DstIP: to.addr.AsSlice(),
		}
		network, w.err = ip, firstError(w.err, tcp.SetNetworkLayerForChecksum(ip))
	}
	body := make([]byte, payload)
	for i := range body {
		body[i] = byte(from.seq + uint32(i))
	}
	buf := gopacket.NewSerializeBuffer()
	err := gopacket.SerializeLayers(buf, gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true},
		eth, network, tcp, gopacket.Payload(body))
	w.err = firstError(w.err, err)
	w.packets = append(w.packets, Packet{w.at, append([]byte(nil), buf.Bytes()...)})
	w.at += w.pace
	from.seq += uint32(payload)
	if flags&(flagSYN|flagFIN) != 0 {
		from.seq++
	}
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// capable performs the handshake with MP_CAPABLE (RFC 6824 and RFC 8684, section 3.1).
func (w *writer) capable(f *flow) {
	head := []byte{w.conn.Version, 1} // subtype 0, version; flag H
	a := binary.BigEndian.AppendUint64(nil, w.conn.ClientKey)
	b := binary.BigEndian.AppendUint64(nil, w.conn.ServerKey)
	syn := head
	if w.conn.Version == 0 {
		syn = cat(head, a)
	}
	w.send(&f.client, &f.server, flagSYN, 0, syn)
	w.send(&f.server, &f.client, flagSYN|flagACK, 0, cat(head, b))
	w.send(&f.client, &f.server, flagACK, 0, cat(head, a, b))
}

// join performs the handshake with MP_JOIN (RFC 6824 and RFC 8684, section 3.2) for the subflow with address id.
func (w *writer) join(f *flow, id int) {
	from, to := &f.client, &f.server
	keyFrom, keyTo := w.conn.ClientKey, w.conn.ServerKey
	if f.opener {
		from, to, keyFrom, keyTo = to, from, keyTo, keyFrom
	}
	nonceFrom, nonceTo := 0x01020304+uint32(id), 0x0a0b0c0d+uint32(id)
	token, err := mptcp.Token(w.conn.Version, keyTo)
	w.err = firstError(w.err, err)
	w.send(from, to, flagSYN, 0, cat([]byte{0x10, byte(id)}, binary.BigEndian.AppendUint32(nil, token), bytes32(nonceFrom)))
	macTo, err := mptcp.JoinHMAC(w.conn.Version, keyTo, keyFrom, nonceTo, nonceFrom)
	w.err = firstError(w.err, err)
	macFrom, err := mptcp.JoinHMAC(w.conn.Version, keyFrom, keyTo, nonceFrom, nonceTo)
	w.err = firstError(w.err, err)
	if w.err != nil {
		return
	}
	w.send(to, from, flagSYN|flagACK, 0, cat([]byte{0x10, byte(id)}, macTo[:8], bytes32(nonceTo)))
	w.send(from, to, flagACK, 0, cat([]byte{0x10, 0}, macFrom[:20]))
	w.send(to, from, flagACK, 0)
}

// data sends one segment from the client with a DSS option (mapping and data ACK), and the server's ACK of it.
func (w *writer) data(f *flow, n int) {
	dss := []byte{0x20, 0x05} // flags M and A, both of 4 bytes
	dss = binary.BigEndian.AppendUint32(dss, 1)
	dss = binary.BigEndian.AppendUint32(dss, w.dataSeq)
	dss = binary.BigEndian.AppendUint32(dss, uint32(1+n*Payload)) // relative subflow sequence number
	dss = binary.BigEndian.AppendUint16(dss, Payload)
	w.send(&f.client, &f.server, flagPSH|flagACK, Payload, dss)
	w.dataSeq += Payload
	w.send(&f.server, &f.client, flagACK, 0, binary.BigEndian.AppendUint32([]byte{0x20, 0x01}, w.dataSeq))
}

// finish closes a subflow with FINs in both directions.
func (w *writer) finish(f *flow) {
	w.send(&f.client, &f.server, flagFIN|flagACK, 0)
	w.send(&f.server, &f.client, flagFIN|flagACK, 0)
	w.send(&f.client, &f.server, flagACK, 0)
}

func bytes32(v uint32) []byte { return binary.BigEndian.AppendUint32(nil, v) }

func cat(parts ...[]byte) []byte {
	var out []byte
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

// Addrs returns n addresses from first on.
func Addrs(first string, n int) []netip.Addr {
	out := make([]netip.Addr, n)
	a := netip.MustParseAddr(first)
	for i := range out {
		if !a.IsValid() {
			panic(fmt.Sprintf("synth: no %d addresses from %s on", n, first))
		}
		out[i], a = a, a.Next()
	}
	return out
}
