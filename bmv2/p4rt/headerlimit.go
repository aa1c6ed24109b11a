package p4rt

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"net"
	"sync/atomic"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/peer"
)

// gRPC sends the status of an RPC in HTTP/2 trailers. A client says in its first SETTINGS frame how large a header list
// it takes (RFC 9113, section 6.5.2, SETTINGS_MAX_HEADER_LIST_SIZE); gRPC for Go resets the stream when the trailers are
// larger, so the client would learn nothing at all. gRPC does not pass the setting to handlers, so the server reads it off
// the connection on its own: the first frame of a client must be SETTINGS (section 3.4).

const (
	clientPreface      = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
	frameHeaderLen     = 9
	frameSettings      = 4
	settingMaxHeaders  = 6
	coreSoftHeaderSize = 8 << 10
	coreHardHeaderSize = 16 << 10
)

// limitCreds wraps transport credentials, so that connections are watched in clear text, after decryption.
type limitCreds struct {
	credentials.TransportCredentials
}

func newLimitCreds(c *tls.Config) limitCreds {
	if c == nil {
		return limitCreds{insecure.NewCredentials()}
	}
	return limitCreds{credentials.NewTLS(c)}
}

func (c limitCreds) ServerHandshake(raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	conn, info, err := c.TransportCredentials.ServerHandshake(raw)
	if err != nil {
		return nil, nil, err
	}
	return &limitConn{Conn: conn, addr: &limitAddr{Addr: conn.RemoteAddr()}}, info, nil
}

func (c limitCreds) Clone() credentials.TransportCredentials {
	return limitCreds{c.TransportCredentials.Clone()}
}

// limitAddr is the address of a client, and carries its header limit to the handlers.
type limitAddr struct {
	net.Addr
	limit atomic.Uint32 // bytes; 0: not stated
}

type limitConn struct {
	net.Conn
	addr *limitAddr
	head []byte // the first bytes, until the SETTINGS frame is complete
	done bool
}

func (c *limitConn) RemoteAddr() net.Addr { return c.addr }

func (c *limitConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if !c.done && n > 0 {
		c.head = append(c.head, b[:n]...)
		limit, done := headerLimit(c.head)
		if done {
			c.addr.limit.Store(limit)
			c.head, c.done = nil, true
		}
	}
	return n, err
}

// headerLimit looks for SETTINGS_MAX_HEADER_LIST_SIZE in the first bytes of a client. done means that no more bytes are
// needed; limit is 0 if the client states none.
func headerLimit(b []byte) (limit uint32, done bool) {
	if n := min(len(b), len(clientPreface)); string(b[:n]) != clientPreface[:n] {
		return 0, true
	}
	if len(b) < len(clientPreface)+frameHeaderLen {
		return 0, false
	}
	f := b[len(clientPreface):]
	size := int(f[0])<<16 | int(f[1])<<8 | int(f[2])
	// More settings than there are ids, or another frame: not ours to judge, gRPC ends such a connection.
	if f[3] != frameSettings || size > 1<<12 {
		return 0, true
	}
	f = f[frameHeaderLen:]
	if len(f) < size {
		return 0, false
	}
	for f = f[:size]; len(f) >= 6; f = f[6:] {
		if binary.BigEndian.Uint16(f) == settingMaxHeaders {
			limit = binary.BigEndian.Uint32(f[2:])
		}
	}
	return limit, true
}

// clientLimit is the number of header bytes that the client of an RPC takes; 0 if it did not say, as gRPC for Go, whose
// own default is 16 MB. C-core clients announce their hard limit of 16 KB, but drop headers at random from their soft limit
// of 8 KB on.
func clientLimit(ctx context.Context) int {
	p, ok := peer.FromContext(ctx)
	if !ok {
		return 0
	}
	a, ok := p.Addr.(*limitAddr)
	if !ok {
		return 0
	}
	n := int(a.limit.Load())
	if n > coreSoftHeaderSize && n <= coreHardHeaderSize {
		n = coreSoftHeaderSize
	}
	return n
}
