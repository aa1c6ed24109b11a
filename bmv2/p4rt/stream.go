package p4rt

import (
	"errors"
	"io"
	"sync"
	"sync/atomic"

	p4v1 "github.com/p4lang/p4runtime/go/p4/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"khop/bmv2/simpleswitch"
)

// StreamChannel implements P4Runtime. The handler's own goroutine is the only one that sends; a second one receives and
// handles what comes.
func (s *Server) StreamChannel(stream p4v1.P4Runtime_StreamChannelServer) error {
	c := &channel{server: s, stream: stream, session: &session{out: newOutbox(unboundErrors)}}
	received := make(chan error, 1)
	go func() { received <- c.receive() }()
	defer c.leave()
	var batch []*p4v1.StreamMessageResponse
	for {
		select {
		case <-c.session.out.signal:
			batch = c.session.out.take(batch)
			for _, m := range batch {
				if err := stream.Send(m); err != nil {
					return err
				}
			}
		case err := <-received:
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		case <-s.closing:
			return status.Error(codes.Unavailable, "the server is shutting down")
		}
	}
}

// unboundErrors is the number of error messages that may wait on a stream that has not done arbitration yet.
const unboundErrors = 16

// channel is a stream and what the server knows of it.
type channel struct {
	server  *Server
	stream  p4v1.P4Runtime_StreamChannelServer
	session *session
	agent   atomic.Pointer[Agent] // nil before the first arbitration

	mu   sync.Mutex // keeps arbitration and the end of the stream apart
	left bool
}

func (c *channel) receive() error {
	for {
		m, err := c.stream.Recv()
		if err != nil {
			return err
		}
		if err := c.handle(m); err != nil {
			return err
		}
	}
}

// handle takes one message. An error ends the stream.
func (c *channel) handle(m *p4v1.StreamMessageRequest) error {
	switch u := m.GetUpdate().(type) {
	case *p4v1.StreamMessageRequest_Arbitration:
		return c.arbitrate(u.Arbitration)
	case *p4v1.StreamMessageRequest_Packet:
		if err := c.packetOut(u.Packet); err != nil {
			c.report(err, &p4v1.StreamError{Details: &p4v1.StreamError_PacketOut{PacketOut: &p4v1.PacketOutError{PacketOut: u.Packet}}})
		}
	case *p4v1.StreamMessageRequest_DigestAck:
		if err := c.digestAck(u.DigestAck); err != nil {
			c.report(err, &p4v1.StreamError{Details: &p4v1.StreamError_DigestListAck{DigestListAck: &p4v1.DigestListAckError{DigestListAck: u.DigestAck}}})
		}
	case *p4v1.StreamMessageRequest_Other:
		c.report(errorf(codes.Unimplemented, "there are no architecture-specific stream messages; the valid ones are arbitration, packet and digest_ack"),
			&p4v1.StreamError{Details: &p4v1.StreamError_Other{Other: &p4v1.StreamOtherError{Other: u.Other}}})
	default:
		c.report(errorf(codes.InvalidArgument, "the message is empty; the valid ones are arbitration, packet and digest_ack"),
			&p4v1.StreamError{Details: &p4v1.StreamError_Other{Other: &p4v1.StreamOtherError{}}})
	}
	return nil
}

func (c *channel) arbitrate(m *p4v1.MasterArbitrationUpdate) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left {
		return status.Error(codes.Canceled, "the stream is closed")
	}
	a := c.agent.Load()
	if a == nil {
		var err error
		if a, err = c.server.agent(m.GetDeviceId()); err != nil {
			return err
		}
		c.session.out.setLimit(a.opts.MaxQueued)
	} else if a.id != m.GetDeviceId() {
		return status.Errorf(codes.FailedPrecondition, "this stream belongs to device %d and cannot change to device %d; open another stream", a.id, m.GetDeviceId())
	}
	c.agent.Store(a)
	changed, err := a.arb.update(c.session, m)
	if changed {
		a.forgetDigests()
	}
	return err
}

// forgetDigests empties the cache of digests that await their acknowledgement, because the client that would send it is no
// longer the primary (specification, section "DigestEntry": the server may do so when a client's status changes).
func (a *Agent) forgetDigests() {
	a.target.Do(func(*simpleswitch.Switch, int64) {
		if a.active != nil {
			a.active.forgetDigests(&a.stats)
		}
	})
}

func (c *channel) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left = true
	if a := c.agent.Load(); a != nil && a.arb.leave(c.session) {
		a.forgetDigests()
	}
}

// primary returns the agent if this stream is a primary's.
func (c *channel) primary(what string) (*Agent, error) {
	a := c.agent.Load()
	if a == nil || !a.arb.isPrimary(c.session) {
		return a, errorf(codes.PermissionDenied, "only the primary may send %s; send a MasterArbitrationUpdate with the highest election id first", what)
	}
	return a, nil
}

func (c *channel) packetOut(p *p4v1.PacketOut) error {
	a, err := c.primary("packet-outs")
	if err == nil {
		err = a.packetOut(p)
	}
	if a != nil {
		a.stats.update(func(s *Stats) {
			if err != nil {
				s.PacketOutErrors++
			} else {
				s.PacketOuts++
			}
		})
	}
	return err
}

func (c *channel) digestAck(m *p4v1.DigestListAck) error {
	a, err := c.primary("digest acknowledgements")
	if err != nil {
		return err
	}
	return a.ackDigest(m)
}

// report tells the client what was wrong with one of its messages, if its queue has room.
func (c *channel) report(err error, m *p4v1.StreamError) {
	m.CanonicalCode, m.Message = int32(codeOf(err)), err.Error()
	answer := &p4v1.StreamMessageResponse{Update: &p4v1.StreamMessageResponse_Error{Error: m}}
	a := c.agent.Load()
	if a == nil {
		c.session.out.offer(answer)
		return
	}
	a.stats.update(func(s *Stats) {
		if c.session.out.offer(answer) {
			s.StreamErrors++
		}
	})
}
