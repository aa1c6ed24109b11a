package port

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/google/gopacket/pcapgo"
)

// Writer writes a pcap file of Ethernet frames with nanosecond time stamps. It is safe for concurrent use.
type Writer struct {
	mu  sync.Mutex
	buf *bufio.Writer
	w   *pcapgo.Writer
	c   io.Closer // nil if there is nothing to close
}

// NewWriter writes the file header. Close flushes, and closes w if it is an io.Closer.
func NewWriter(w io.Writer) (*Writer, error) {
	p := &Writer{buf: bufio.NewWriterSize(w, 1<<16)}
	p.w = pcapgo.NewWriterNanos(p.buf)
	p.c, _ = w.(io.Closer)
	if err := p.w.WriteFileHeader(MaxFrame, layers.LinkTypeEthernet); err != nil {
		return nil, err
	}
	return p, nil
}

// CreateFile makes a pcap file.
func CreateFile(name string) (*Writer, error) {
	f, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	w, err := NewWriter(f)
	if err != nil {
		f.Close()
		return nil, err
	}
	return w, nil
}

// Write appends a frame with its time.
func (p *Writer) Write(t time.Time, frame []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.w.WritePacket(gopacket.CaptureInfo{Timestamp: t, CaptureLength: len(frame), Length: len(frame)}, frame)
}

// Close flushes and closes the file.
func (p *Writer) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	err := p.buf.Flush()
	if p.c != nil {
		err = errors.Join(err, p.c.Close())
		p.c = nil
	}
	return err
}

// File is a port that receives the frames of one pcap file, as fast as they are taken, and records what is sent in another.
// Either may be missing. Frames that the capture cut off are dropped and counted.
type File struct {
	counters
	in     *os.File
	out    *Writer
	now    func() time.Time
	done   chan struct{} // closed by Close
	closed sync.Once
}

// NewFile opens a file port. An empty name means none; now gives the time stamps of frames sent.
func NewFile(in, out string, now func() time.Time) (*File, error) {
	f := &File{now: now, done: make(chan struct{})}
	var err error
	if in != "" {
		if f.in, err = os.Open(in); err != nil {
			return nil, err
		}
	}
	if out != "" {
		if f.out, err = CreateFile(out); err != nil {
			if f.in != nil {
				f.in.Close()
			}
			return nil, err
		}
	}
	return f, nil
}

// Send implements [Port].
func (f *File) Send(frame []byte) error {
	var err error
	if f.out != nil {
		err = f.out.Write(f.now(), frame)
	}
	f.tx(len(frame), err)
	return err
}

// Run implements [Port]. At the end of the file it waits for the context.
func (f *File) Run(ctx context.Context, recv func(frame []byte)) error {
	if f.in != nil {
		if err := f.replay(ctx, recv); err != nil {
			return fmt.Errorf("%s: %w", f.in.Name(), err)
		}
	}
	select {
	case <-ctx.Done():
	case <-f.done:
	}
	return nil
}

func (f *File) isClosed() bool {
	select {
	case <-f.done:
		return true
	default:
		return false
	}
}

func (f *File) replay(ctx context.Context, recv func(frame []byte)) error {
	r, err := NewReader(f.in)
	if err != nil {
		return err
	}
	for ctx.Err() == nil {
		x, err := r.Next()
		switch {
		case errors.Is(err, io.EOF) || f.isClosed():
			return nil
		case err != nil:
			return err
		case x.Length > len(x.Data):
			// The capture cut it off (snap length); the rest of it cannot be made up.
			f.rxDropped.Add(1)
			continue
		}
		f.rx(len(x.Data))
		recv(x.Data)
	}
	return nil
}

// Close implements [Port].
func (f *File) Close() (err error) {
	f.closed.Do(func() {
		close(f.done)
		if f.in != nil {
			err = f.in.Close()
		}
		if f.out != nil {
			err = errors.Join(err, f.out.Close())
		}
	})
	return err
}

// Recorder wraps a port and writes the frames of both directions to a pcap file.
type Recorder struct {
	Port
	w   *Writer
	now func() time.Time
}

// NewRecorder records p. Close closes the port and the file.
func NewRecorder(p Port, w *Writer, now func() time.Time) *Recorder {
	return &Recorder{p, w, now}
}

// Send implements [Port]. A frame that could not be sent is not recorded.
func (r *Recorder) Send(frame []byte) error {
	if err := r.Port.Send(frame); err != nil {
		return err
	}
	return r.w.Write(r.now(), frame)
}

// Run implements [Port].
func (r *Recorder) Run(ctx context.Context, recv func(frame []byte)) error {
	return r.Port.Run(ctx, func(frame []byte) {
		// A full disk must not stop the traffic; Close reports it.
		_ = r.w.Write(r.now(), frame)
		recv(frame)
	})
}

// Close implements [Port].
func (r *Recorder) Close() error { return errors.Join(r.Port.Close(), r.w.Close()) }
