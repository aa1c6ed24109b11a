package port

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Interface is a port on a Linux network interface, such as one end of a veth pair, by two AF_PACKET sockets.
type Interface struct {
	counters
	name string
	rx   *os.File
	raw  syscall.RawConn // of rx

	closed atomic.Bool

	mu sync.Mutex // guards tx
	tx int        // -1 once closed
}

// NewInterface opens a network interface in promiscuous mode. It needs CAP_NET_RAW. Only frames that come in by the wire
// are received, not those that the machine itself sends by the interface.
func NewInterface(name string) (*Interface, error) {
	ifi, err := net.InterfaceByName(name)
	if err != nil {
		return nil, fmt.Errorf("interface %q: %w", name, err)
	}
	fail := func(what string, err error) (*Interface, error) {
		return nil, fmt.Errorf("interface %q: %s: %w", name, what, os.NewSyscallError("AF_PACKET", err))
	}
	// Protocol 0 receives nothing until bind names the interface, so that no frame of another one slips in.
	rx, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return fail("opening the socket (root or CAP_NET_RAW is needed)", err)
	}
	tx, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		unix.Close(rx)
		return fail("opening the socket", err)
	}
	if what, err := setup(rx, tx, ifi.Index); err != nil {
		unix.Close(rx)
		unix.Close(tx)
		return fail(what, err)
	}
	p := &Interface{name: name, rx: os.NewFile(uintptr(rx), name), tx: tx}
	if p.raw, err = p.rx.SyscallConn(); err != nil {
		p.rx.Close()
		unix.Close(tx)
		return fail("polling", err)
	}
	return p, nil
}

func setup(rx, tx, index int) (what string, err error) {
	if err := unix.SetsockoptPacketMreq(rx, unix.SOL_PACKET, unix.PACKET_ADD_MEMBERSHIP,
		&unix.PacketMreq{Ifindex: int32(index), Type: unix.PACKET_MR_PROMISC}); err != nil {
		return "promiscuous mode", err
	}
	for _, o := range []struct {
		name string
		opt  int
	}{
		{"PACKET_VNET_HDR", unix.PACKET_VNET_HDR},
		{"PACKET_AUXDATA", unix.PACKET_AUXDATA},
		{"PACKET_IGNORE_OUTGOING", unix.PACKET_IGNORE_OUTGOING},
	} {
		if err := unix.SetsockoptInt(rx, unix.SOL_PACKET, o.opt, 1); err != nil {
			return o.name, err
		}
	}
	// Where the kernel allows no more than its default, the default stays.
	_ = unix.SetsockoptInt(rx, unix.SOL_SOCKET, unix.SO_RCVBUF, 4<<20)
	if err := unix.Bind(tx, &unix.SockaddrLinklayer{Ifindex: index}); err != nil {
		return "bind", err
	}
	if err := unix.Bind(rx, &unix.SockaddrLinklayer{Ifindex: index, Protocol: htons(unix.ETH_P_ALL)}); err != nil {
		return "bind", err
	}
	return "", nil
}

func htons(v uint16) uint16 {
	var b [2]byte
	binary.BigEndian.PutUint16(b[:], v)
	return binary.NativeEndian.Uint16(b[:])
}

// Send implements [Port].
func (p *Interface) Send(frame []byte) error {
	p.mu.Lock()
	_, err := unix.Write(p.tx, frame)
	p.mu.Unlock()
	if err != nil {
		err = fmt.Errorf("interface %s, frame of %d bytes: %w", p.name, len(frame), err)
	}
	p.counters.tx(len(frame), err)
	return err
}

// Run implements [Port].
func (p *Interface) Run(ctx context.Context, recv func(frame []byte)) error {
	stop := context.AfterFunc(ctx, func() {
		p.closed.Store(true)
		p.rx.Close()
	})
	defer stop()
	buf := make([]byte, vnetLen+MaxFrame+1)
	oob := make([]byte, 256)
	var seg, tagged []byte
	for {
		n, oobn, err := p.receive(buf, oob)
		switch {
		case p.closed.Load():
			return nil
		case errors.Is(err, unix.ENETDOWN):
			continue // the interface is down; frames come again when it is up
		case err != nil:
			return fmt.Errorf("interface %s: %w", p.name, err)
		case n < vnetLen+etherLen || n == len(buf): // no Ethernet frame, or cut off
			p.rxDropped.Add(1)
			continue
		}
		tpid, tci, vlan := vlanTag(oob[:oobn])
		seg, err = parseVnet(buf).finish(buf[vnetLen:n], seg, func(frame []byte) {
			if vlan {
				tagged = insertVLAN(tagged, frame, tpid, tci)
				frame = tagged
			}
			p.counters.rx(len(frame))
			recv(frame)
		})
		if err != nil {
			p.rxDropped.Add(1)
		}
	}
}

func (p *Interface) receive(buf, oob []byte) (n, oobn int, err error) {
	cerr := p.raw.Read(func(fd uintptr) bool {
		for {
			n, oobn, _, _, err = unix.Recvmsg(int(fd), buf, oob, 0)
			if err != unix.EINTR {
				return err != unix.EAGAIN
			}
		}
	})
	if cerr != nil {
		return 0, 0, cerr
	}
	return n, oobn, err
}

// vlanTag finds the VLAN tag that the kernel took out of a frame, in the PACKET_AUXDATA control message.
func vlanTag(oob []byte) (tpid, tci uint16, ok bool) {
	msgs, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return 0, 0, false
	}
	for _, m := range msgs {
		if m.Header.Level != unix.SOL_PACKET || m.Header.Type != unix.PACKET_AUXDATA || len(m.Data) < int(unsafe.Sizeof(unix.TpacketAuxdata{})) {
			continue
		}
		// struct tpacket_auxdata: four u32-sized words (status, len, snaplen, mac+net), then vlan_tci and vlan_tpid.
		status := binary.NativeEndian.Uint32(m.Data)
		if status&unix.TP_STATUS_VLAN_VALID == 0 {
			return 0, 0, false
		}
		tci, tpid = binary.NativeEndian.Uint16(m.Data[16:]), binary.NativeEndian.Uint16(m.Data[18:])
		if status&unix.TP_STATUS_VLAN_TPID_VALID == 0 {
			tpid = typeVLAN
		}
		return tpid, tci, true
	}
	return 0, 0, false
}

// Close implements [Port].
func (p *Interface) Close() error {
	p.closed.Store(true)
	p.mu.Lock()
	if p.tx >= 0 {
		unix.Close(p.tx)
		p.tx = -1
	}
	p.mu.Unlock()
	if err := p.rx.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}
