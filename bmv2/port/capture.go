package port

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
)

// Reader reads captures: pcap in both byte orders with micro- or nanoseconds, and pcapng (draft-ietf-opsawg-pcap and
// -pcapng). Sizes that a file claims are bounded before memory is taken for them.
type Reader struct {
	r     *bufio.Reader
	order binary.ByteOrder
	ng    bool
	unit  int64      // of pcap: nanoseconds in a unit of the fraction
	ifs   []ngTiming // of pcapng: by interface
	buf   []byte
	block int // of pcapng: blocks read, for messages
	frame int // frames read, for messages
}

// Frame is one captured frame. Data is valid until the next call of Next.
type Frame struct {
	Time   int64 // nanoseconds since the Unix epoch
	Data   []byte
	Length int // bytes on the wire; more than len(Data) if the capture cut it off
}

// ngTiming says how an interface of a pcapng file counts time.
type ngTiming struct {
	ethernet bool
	snapLen  uint32
	perSec   uint64 // units in a second
	offset   int64  // seconds
}

const (
	pcapMagicMicro = 0xa1b2c3d4
	pcapMagicNano  = 0xa1b23c4d
	ngSection      = 0x0a0d0d0a
	ngInterface    = 1
	ngSimple       = 3
	ngEnhanced     = 6
	ngByteOrder    = 0x1a2b3c4d
	optEnd         = 0
	optTsResol     = 9
	optTsOffset    = 14
	linkEthernet   = 1

	// maxBlock bounds a pcapng block: a frame of the largest size, and comments.
	maxBlock = 4 << 20
)

// NewReader reads the header of a capture of Ethernet frames.
func NewReader(r io.Reader) (*Reader, error) {
	c := &Reader{r: bufio.NewReaderSize(r, 1<<16)}
	head, err := c.r.Peek(4)
	if err != nil {
		return nil, fmt.Errorf("not a pcap or pcapng file: it has less than 4 bytes")
	}
	if binary.BigEndian.Uint32(head) == ngSection {
		c.ng = true
		return c, c.section()
	}
	var h [24]byte
	if _, err := io.ReadFull(c.r, h[:]); err != nil {
		return nil, fmt.Errorf("not a pcap or pcapng file: it ends within the header of 24 bytes")
	}
	for _, o := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		switch o.Uint32(h[:]) {
		case pcapMagicMicro:
			c.order, c.unit = o, 1000
		case pcapMagicNano:
			c.order, c.unit = o, 1
		}
	}
	if c.order == nil {
		return nil, fmt.Errorf("not a pcap or pcapng file: it begins with %x", h[:4])
	}
	// The upper bits hold the length of a frame check sequence.
	if t := c.order.Uint32(h[20:]) & 0x0fffffff; t != linkEthernet {
		return nil, fmt.Errorf("the capture has link type %d; it must be Ethernet (%d)", t, linkEthernet)
	}
	return c, nil
}

// Next returns the next frame; io.EOF at the end.
func (c *Reader) Next() (Frame, error) {
	if c.ng {
		return c.nextNg()
	}
	var h [16]byte
	switch _, err := io.ReadFull(c.r, h[:]); {
	case errors.Is(err, io.EOF):
		return Frame{}, io.EOF
	case err != nil:
		return Frame{}, fmt.Errorf("frame %d: the file ends within its header", c.frame+1)
	}
	o := c.order
	f := Frame{Time: int64(o.Uint32(h[:]))*1e9 + int64(o.Uint32(h[4:]))*c.unit, Length: int(o.Uint32(h[12:]))}
	n := o.Uint32(h[8:])
	if n > MaxFrame {
		return Frame{}, fmt.Errorf("frame %d: it claims %d bytes; the most is %d", c.frame+1, n, MaxFrame)
	}
	var err error
	if f.Data, err = c.read(int(n)); err != nil {
		return Frame{}, fmt.Errorf("frame %d: the file ends within it", c.frame+1)
	}
	c.frame++
	return f, nil
}

// read reads n bytes into the reader's buffer.
func (c *Reader) read(n int) ([]byte, error) {
	if n > cap(c.buf) {
		c.buf = make([]byte, n)
	}
	c.buf = c.buf[:n]
	_, err := io.ReadFull(c.r, c.buf)
	return c.buf, err
}

// section reads a section header block, which sets the byte order.
func (c *Reader) section() error {
	c.block++
	h, err := c.r.Peek(12)
	if err != nil {
		return fmt.Errorf("pcapng block %d: the file ends within it", c.block)
	}
	switch {
	case binary.LittleEndian.Uint32(h[8:]) == ngByteOrder:
		c.order = binary.LittleEndian
	case binary.BigEndian.Uint32(h[8:]) == ngByteOrder:
		c.order = binary.BigEndian
	default:
		return fmt.Errorf("pcapng block %d: the byte-order magic is %x", c.block, h[8:12])
	}
	c.ifs = nil
	_, _, err = c.body()
	return err
}

// body reads a block and returns its type and what is between its two lengths.
func (c *Reader) body() (typ uint32, body []byte, err error) {
	h, err := c.r.Peek(8)
	if err != nil {
		if len(h) == 0 && errors.Is(err, io.EOF) {
			return 0, nil, io.EOF
		}
		return 0, nil, fmt.Errorf("pcapng block %d: the file ends within it", c.block)
	}
	typ, n := c.order.Uint32(h), c.order.Uint32(h[4:])
	if n < 12 || n%4 != 0 || n > maxBlock {
		return 0, nil, fmt.Errorf("pcapng block %d: its length is %d; it must be a multiple of 4, at least 12 and at most %d", c.block, n, maxBlock)
	}
	b, err := c.read(int(n))
	if err != nil {
		return 0, nil, fmt.Errorf("pcapng block %d: the file ends within it", c.block)
	}
	if end := c.order.Uint32(b[n-4:]); end != n {
		return 0, nil, fmt.Errorf("pcapng block %d: its lengths are %d and %d; they must be equal", c.block, n, end)
	}
	return typ, b[8 : n-4], nil
}

func (c *Reader) nextNg() (Frame, error) {
	for {
		h, err := c.r.Peek(4)
		if err == nil && binary.BigEndian.Uint32(h) == ngSection {
			if err := c.section(); err != nil {
				return Frame{}, err
			}
			continue
		}
		c.block++
		typ, b, err := c.body()
		if err != nil {
			return Frame{}, err
		}
		var f Frame
		switch typ {
		case ngInterface:
			err = c.addInterface(b)
		case ngEnhanced:
			f, err = c.enhanced(b)
		case ngSimple:
			f, err = c.simple(b)
		}
		switch {
		case err != nil:
			return Frame{}, fmt.Errorf("pcapng block %d: %w", c.block, err)
		case f.Data != nil:
			c.frame++
			return f, nil
		}
	}
}

func (c *Reader) addInterface(b []byte) error {
	if len(b) < 8 {
		return errors.New("an interface description has at least 8 bytes")
	}
	t := ngTiming{ethernet: c.order.Uint16(b) == linkEthernet, snapLen: c.order.Uint32(b[4:]), perSec: 1e6}
	for b = b[8:]; len(b) >= 4; {
		code, n := c.order.Uint16(b), int(c.order.Uint16(b[2:]))
		if code == optEnd {
			break
		}
		if b = b[4:]; n > len(b) {
			return errors.New("an option is longer than its block")
		}
		switch {
		case code == optTsResol && n == 1:
			if e := b[0] & 0x7f; b[0]&0x80 != 0 {
				if e > 63 {
					return fmt.Errorf("the time resolution 2^-%d s is finer than 2^-63 s", e)
				}
				t.perSec = 1 << e
			} else {
				if e > 19 {
					return fmt.Errorf("the time resolution 10^-%d s is finer than 10^-19 s", e)
				}
				for t.perSec = 1; e > 0; e-- {
					t.perSec *= 10
				}
			}
		case code == optTsOffset && n == 8:
			t.offset = int64(c.order.Uint64(b))
		}
		b = b[min((n+3)&^3, len(b)):]
	}
	if len(c.ifs) == 1<<16 {
		return errors.New("there are more than 65536 interfaces")
	}
	c.ifs = append(c.ifs, t)
	return nil
}

func (c *Reader) enhanced(b []byte) (Frame, error) {
	if len(b) < 20 {
		return Frame{}, errors.New("an enhanced packet has at least 20 bytes")
	}
	o := c.order
	i, n := o.Uint32(b), o.Uint32(b[12:])
	if int64(i) >= int64(len(c.ifs)) {
		return Frame{}, fmt.Errorf("interface %d has not been described", i)
	}
	t := c.ifs[i]
	if !t.ethernet {
		return Frame{}, fmt.Errorf("interface %d is not Ethernet", i)
	}
	if int64(n) > int64(len(b)-20) || n > MaxFrame {
		return Frame{}, fmt.Errorf("the frame claims %d bytes; the block has %d, and the most is %d", n, len(b)-20, MaxFrame)
	}
	ts := uint64(o.Uint32(b[4:]))<<32 | uint64(o.Uint32(b[8:]))
	// sec*perSec + frac units; the 128-bit product keeps nanoseconds exact for any resolution.
	sec, frac := ts/t.perSec, ts%t.perSec
	hi, lo := bits.Mul64(frac, 1e9)
	ns, _ := bits.Div64(hi, lo, t.perSec)
	return Frame{Time: (int64(sec)+t.offset)*1e9 + int64(ns), Data: b[20 : 20+n], Length: int(o.Uint32(b[16:]))}, nil
}

// simple reads a packet without a time; it belongs to the first interface.
func (c *Reader) simple(b []byte) (Frame, error) {
	if len(b) < 4 || len(c.ifs) == 0 {
		return Frame{}, errors.New("a simple packet has at least 4 bytes and needs an interface")
	}
	t := c.ifs[0]
	if !t.ethernet {
		return Frame{}, errors.New("interface 0 is not Ethernet")
	}
	length := c.order.Uint32(b)
	n := length
	if t.snapLen > 0 {
		n = min(n, t.snapLen)
	}
	if int64(n) > int64(len(b)-4) || n > MaxFrame {
		return Frame{}, fmt.Errorf("the frame claims %d bytes; the block has %d, and the most is %d", n, len(b)-4, MaxFrame)
	}
	return Frame{Data: b[4 : 4+n], Length: int(length)}, nil
}
