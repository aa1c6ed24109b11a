package simpleswitch

import (
	"khop/bmv2/pipeline"
)

// MaxFrame is the longest frame that a switch takes or makes, in bytes.
const MaxFrame = 1 << 16

// packet is a packet on its way through the switch. Packets are pooled.
type packet struct {
	w        []uint64 // PHV
	buf      []byte   // whole capacity; the data is buf[off:end]
	off, end int
	id       uint64
	length   int // packet length register
	inLength int // what counters and meters count
	passes   int // resubmissions and recirculations so far
	truncate int // bytes that leave at most, -1: all
	port     uint32
	enqAt    int64
	seq      uint64
	next     *packet // in a queue or in the pool
}

func (s *Switch) newPacket(size int) *packet {
	p := s.pool
	if p == nil {
		p = &packet{w: make([]uint64, s.prog.Words())}
	} else {
		s.pool = p.next
	}
	h := s.prog.Headroom()
	if need := h + size + pipeline.Slack; cap(p.buf) < need {
		p.buf = make([]byte, max(need, 2048))
	}
	p.off, p.end = h, h+size
	p.passes, p.truncate, p.next = 0, -1, nil
	s.lastID++
	p.id = s.lastID
	return p
}

// cut limits the length of the frame that leaves; negative means no limit, and the smallest limit counts.
func (p *packet) cut(n int) {
	if n >= 0 && (p.truncate < 0 || n < p.truncate) {
		p.truncate = n
	}
}

func (s *Switch) release(p *packet) {
	p.next = s.pool
	s.pool = p
}

// copyPacket copies the data from byte off on, and all that belongs to the packet except the PHV.
func (s *Switch) copyPacket(p *packet, off int) *packet {
	c := s.newPacket(p.end - off)
	copy(c.buf[c.off:c.end], p.buf[off:p.end])
	c.length, c.inLength, c.passes = p.length, p.inLength, p.passes
	return c
}

// ensureHeadroom moves the data so that the deparser has room before it.
func (s *Switch) ensureHeadroom(p *packet) {
	h := s.prog.Headroom()
	if p.off >= h {
		return
	}
	n := p.end - p.off
	buf := p.buf
	if cap(buf) < h+n+pipeline.Slack {
		buf = make([]byte, h+n+pipeline.Slack+256)
	}
	copy(buf[h:h+n], p.buf[p.off:p.end])
	p.buf, p.off, p.end = buf, h, h+n
}

func (s *Switch) load(p *packet, now int64) *pipeline.State {
	st := s.st
	st.W, st.Buf, st.Off, st.End = p.w, p.buf, p.off, p.end
	st.Now, st.Length, st.InLength, st.PacketID = now, p.length, p.inLength, p.id
	st.ResetRequests()
	return st
}

func (s *Switch) drop(p *packet, r Reason) {
	s.drops[r]++
	if s.opt.Tracer != nil {
		s.trace(pipeline.TraceEvent{Kind: pipeline.TraceDrop, Packet: p.id, Now: s.st.Now, Name: r.String()})
	}
	s.release(p)
}

func (s *Switch) trace(e pipeline.TraceEvent) { s.opt.Tracer.Trace(e) }
