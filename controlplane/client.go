package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	p4v1 "github.com/p4lang/p4runtime/go/p4/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// MaxMessage is the largest gRPC message in bytes that a client accepts; a pipeline may be several megabytes.
const MaxMessage = 256 << 20

// Client is a P4Runtime session with one device: the stream channel as primary, and the unary calls.
// Its methods are safe for concurrent use.
type Client struct {
	rpc      p4v1.P4RuntimeClient
	device   uint64
	election *p4v1.Uint128
	stream   p4v1.P4Runtime_StreamChannelClient
	cancel   context.CancelFunc
	done     chan struct{} // closed when the receiving goroutine has ended

	sendMu sync.Mutex

	packetOuts atomic.Uint64 // sent
	backup     atomic.Bool   // another controller has become primary

	handledMu sync.Mutex
	handled   uint64        // stream messages that the handler has finished with, arbitration apart
	changed   chan struct{} // closed and replaced when handled changes

	errMu sync.Mutex
	err   error // why the stream ended
}

// ErrNotPrimary is returned by Open when another controller with a higher election id holds the device.
var ErrNotPrimary = errors.New("another controller is primary for the device; use a higher election id")

// Open starts a session on conn with the device of the given id and waits until the server has made it primary.
// handle is called for each stream message, one at a time and in order, on a goroutine of the client; of arbitration
// updates it gets only those that tell that the session has lost its primary role. electionID is the low half of the 128-bit election id.
func Open(ctx context.Context, conn grpc.ClientConnInterface, device, electionID uint64, handle func(*p4v1.StreamMessageResponse)) (*Client, error) {
	streamCtx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c := &Client{
		rpc:      p4v1.NewP4RuntimeClient(conn),
		device:   device,
		election: &p4v1.Uint128{Low: electionID},
		cancel:   cancel,
		done:     make(chan struct{}),
		changed:  make(chan struct{}),
	}
	stop := context.AfterFunc(ctx, cancel) // the handshake ends with ctx, the session outlives it
	stream, err := c.rpc.StreamChannel(streamCtx, grpc.MaxCallRecvMsgSize(MaxMessage))
	if err != nil {
		cancel()
		return nil, fmt.Errorf("stream channel: %w", err)
	}
	c.stream = stream
	if err := c.arbitrate(); err != nil {
		stop()
		cancel()
		return nil, err
	}
	if !stop() {
		cancel()
		return nil, ctx.Err()
	}
	go c.receive(handle)
	return c, nil
}

func (c *Client) arbitrate() error {
	err := c.stream.Send(&p4v1.StreamMessageRequest{Update: &p4v1.StreamMessageRequest_Arbitration{
		Arbitration: &p4v1.MasterArbitrationUpdate{DeviceId: c.device, ElectionId: c.election},
	}})
	if err != nil && !errors.Is(err, io.EOF) { // EOF: Recv tells the status
		return fmt.Errorf("arbitration: %w", err)
	}
	for {
		m, err := c.stream.Recv()
		if err != nil {
			return fmt.Errorf("arbitration: %w", err)
		}
		if a := m.GetArbitration(); a != nil {
			if code := codes.Code(a.GetStatus().GetCode()); code != codes.OK {
				return fmt.Errorf("%w (%v: %s)", ErrNotPrimary, code, a.GetStatus().GetMessage())
			}
			return nil
		}
	}
}

func (c *Client) receive(handle func(*p4v1.StreamMessageResponse)) {
	defer close(c.done)
	for {
		m, err := c.stream.Recv()
		if err != nil {
			c.errMu.Lock()
			c.err = err
			c.errMu.Unlock()
			return
		}
		if a := m.GetArbitration(); a != nil {
			if c.backup.Store(codes.Code(a.GetStatus().GetCode()) != codes.OK); c.backup.Load() {
				handle(m)
			}
			continue
		}
		handle(m)
		c.handledMu.Lock()
		c.handled++
		close(c.changed)
		c.changed = make(chan struct{})
		c.handledMu.Unlock()
	}
}

// Close ends the session and waits until the handler has returned.
func (c *Client) Close() {
	c.cancel()
	<-c.done
}

// OpenReader returns a client that reads only: it opens no stream, so that it disturbs no primary.
func OpenReader(conn grpc.ClientConnInterface, device uint64) *Client {
	c := &Client{rpc: p4v1.NewP4RuntimeClient(conn), device: device, cancel: func() {}, done: make(chan struct{}), changed: make(chan struct{})}
	c.backup.Store(true)
	close(c.done)
	return c
}

// Primary reports whether the session is the device's primary and so may write and send.
func (c *Client) Primary() bool { return !c.backup.Load() && c.Err() == nil }

// Err returns why the stream ended, or nil while it is open.
func (c *Client) Err() error {
	c.errMu.Lock()
	defer c.errMu.Unlock()
	return c.err
}

// PacketOuts is the number of packet-outs sent.
func (c *Client) PacketOuts() uint64 { return c.packetOuts.Load() }

// Handled is the number of stream messages that the handler has finished with; see WaitHandled.
func (c *Client) Handled() uint64 {
	c.handledMu.Lock()
	defer c.handledMu.Unlock()
	return c.handled
}

// WaitHandled waits until the handler has finished with n stream messages (packet-ins, digest lists, notifications and
// errors; arbitration does not count) since the session was opened. Together with the server's counts it tells when a
// switch and its controller are at rest.
func (c *Client) WaitHandled(ctx context.Context, n uint64) error {
	for {
		c.handledMu.Lock()
		handled, changed := c.handled, c.changed
		c.handledMu.Unlock()
		if handled >= n {
			return nil
		}
		select {
		case <-changed:
		case <-c.done:
			return fmt.Errorf("the stream ended: %w", c.Err())
		case <-ctx.Done():
			return fmt.Errorf("%d of %d stream messages were handled: %w", handled, n, ctx.Err())
		}
	}
}

func (c *Client) send(m *p4v1.StreamMessageRequest) error {
	c.sendMu.Lock()
	defer c.sendMu.Unlock()
	if err := c.stream.Send(m); err != nil {
		if cause := c.Err(); cause != nil {
			return cause
		}
		return err
	}
	return nil
}

// PacketOut sends a packet to the switch.
func (c *Client) PacketOut(p *p4v1.PacketOut) error {
	if err := c.send(&p4v1.StreamMessageRequest{Update: &p4v1.StreamMessageRequest_Packet{Packet: p}}); err != nil {
		return fmt.Errorf("packet-out: %w", err)
	}
	c.packetOuts.Add(1)
	return nil
}

// AckDigest acknowledges a digest list.
func (c *Client) AckDigest(l *p4v1.DigestList) error {
	ack := &p4v1.DigestListAck{DigestId: l.GetDigestId(), ListId: l.GetListId()}
	if err := c.send(&p4v1.StreamMessageRequest{Update: &p4v1.StreamMessageRequest_DigestAck{DigestAck: ack}}); err != nil {
		return fmt.Errorf("digest acknowledgement: %w", err)
	}
	return nil
}

// UpdateError is the failure of one update of a batch.
type UpdateError struct {
	Index   int
	Update  *p4v1.Update
	Code    codes.Code
	Message string
}

// BatchError tells which updates of a write failed. All others are in force (CONTINUE_ON_ERROR).
type BatchError struct {
	Updates int // in the batch
	Failed  []UpdateError
}

func (e *BatchError) Error() string {
	f := e.Failed[0]
	text := fmt.Sprintf("update %d of %d: %v: %s", f.Index+1, e.Updates, f.Code, f.Message)
	if n := len(e.Failed) - 1; n > 0 {
		text += fmt.Sprintf(" (and %d more)", n)
	}
	return text
}

// batchSize bounds the updates of one Write call: bmv2 answers with a trailer that gRPC limits, and the errors of more
// than some hundred failed updates are lost.
const batchSize = 100

// Write applies updates in order, in batches, with CONTINUE_ON_ERROR. An error that concerns single updates is a
// *BatchError, with indices into updates.
func (c *Client) Write(ctx context.Context, updates []*p4v1.Update) error {
	var failed []UpdateError
	for at := 0; at < len(updates); at += batchSize {
		part := updates[at:min(at+batchSize, len(updates))]
		_, err := c.rpc.Write(ctx, &p4v1.WriteRequest{
			DeviceId:   c.device,
			ElectionId: c.election,
			Updates:    part,
			Atomicity:  p4v1.WriteRequest_CONTINUE_ON_ERROR,
		})
		if err == nil {
			continue
		}
		details := batchDetails(err, part)
		if details == nil {
			return fmt.Errorf("write: %w", err)
		}
		for _, d := range details {
			d.Index += at
			failed = append(failed, d)
		}
	}
	if len(failed) > 0 {
		return &BatchError{Updates: len(updates), Failed: failed}
	}
	return nil
}

// batchDetails decodes the per-update errors of a Write (P4Runtime specification, section "Error reporting"). It returns
// nil if the error concerns the whole call.
func batchDetails(err error, updates []*p4v1.Update) []UpdateError {
	st, ok := status.FromError(err)
	if !ok || st.Code() != codes.Unknown || len(st.Details()) != len(updates) {
		return nil
	}
	var failed []UpdateError
	for i, d := range st.Details() {
		e, ok := d.(*p4v1.Error)
		if !ok {
			return nil
		}
		if code := codes.Code(e.GetCanonicalCode()); code != codes.OK {
			failed = append(failed, UpdateError{Index: i, Update: updates[i], Code: code, Message: e.GetMessage()})
		}
	}
	return failed
}

// Read returns the entities that match those asked for.
func (c *Client) Read(ctx context.Context, entities ...*p4v1.Entity) ([]*p4v1.Entity, error) {
	stream, err := c.rpc.Read(ctx, &p4v1.ReadRequest{DeviceId: c.device, Entities: entities}, grpc.MaxCallRecvMsgSize(MaxMessage))
	if err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	var out []*p4v1.Entity
	for {
		r, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read: %w", err)
		}
		out = append(out, r.GetEntities()...)
	}
}

// SetPipeline verifies and commits a pipeline.
func (c *Client) SetPipeline(ctx context.Context, config *p4v1.ForwardingPipelineConfig) error {
	_, err := c.rpc.SetForwardingPipelineConfig(ctx, &p4v1.SetForwardingPipelineConfigRequest{
		DeviceId:   c.device,
		ElectionId: c.election,
		Action:     p4v1.SetForwardingPipelineConfigRequest_VERIFY_AND_COMMIT,
		Config:     config,
	}, grpc.MaxCallSendMsgSize(MaxMessage))
	if err != nil {
		return fmt.Errorf("set pipeline: %w", err)
	}
	return nil
}

// Cookie returns the cookie of the pipeline of the device; ok is false if it has none.
func (c *Client) Cookie(ctx context.Context) (cookie uint64, ok bool, err error) {
	r, err := c.rpc.GetForwardingPipelineConfig(ctx, &p4v1.GetForwardingPipelineConfigRequest{
		DeviceId:     c.device,
		ResponseType: p4v1.GetForwardingPipelineConfigRequest_COOKIE_ONLY,
	})
	switch status.Code(err) {
	case codes.OK:
		if k := r.GetConfig().GetCookie(); k != nil {
			return k.GetCookie(), true, nil
		}
		return 0, false, nil
	case codes.FailedPrecondition, codes.NotFound:
		return 0, false, nil
	}
	return 0, false, fmt.Errorf("get pipeline: %w", err)
}

// isUnsupported reports whether a server says that it lacks a feature.
func isUnsupported(err error) bool { return status.Code(errors.Unwrap(err)) == codes.Unimplemented }
