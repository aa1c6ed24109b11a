package simpleswitch

import "khop/bmv2/pipeline"

func micros(now int64) uint64 { return uint64(now) / 1000 }

// Receive takes a frame that arrived on a port: parser and ingress run at once and copies are queued. The frame is copied.
func (s *Switch) Receive(now int64, portNo uint32, frame []byte) {
	pt := s.port(portNo)
	pt.stats.RxFrames++
	pt.stats.RxBytes += uint64(len(frame))
	switch {
	case s.prog == nil:
		s.drops[DropNoProgram]++
		return
	case pt.cfg.Down:
		s.drops[DropPortDown]++
		return
	case len(frame) > MaxFrame:
		s.drops[DropOversize]++
		return
	}
	p := s.newPacket(len(frame))
	copy(p.buf[p.off:p.end], frame)
	p.length, p.inLength = len(frame), len(frame)
	s.prog.ResetPHV(p.w)
	s.std.ingressPort.Set(p.w, uint64(portNo))
	s.std.packetLength.Set(p.w, uint64(len(frame)))
	s.std.instanceType.Set(p.w, instanceNormal)
	s.std.ingressTime.set(p.w, micros(now))
	if s.opt.Tracer != nil {
		s.trace(pipeline.TraceEvent{Kind: pipeline.TraceReceive, Packet: p.id, Now: now, Port: portNo})
	}
	s.ingress(p, now, uint64(portNo))
}

// ingress runs parser and ingress control, as often as the packet is resubmitted, and what follows them: clone, digest,
// resubmit, multicast, drop or unicast, in this order.
func (s *Switch) ingress(p *packet, now int64, ingressPort uint64) {
	for {
		start := p.off
		st := s.load(p, now)
		if s.opt.Tracer != nil {
			s.trace(pipeline.TraceEvent{Kind: pipeline.TraceIngress, Packet: p.id, Now: now})
		}
		s.prog.Parse(st)
		if st.HasErr {
			s.drops[IgnoredParserError]++
		}
		s.std.parserError.set(p.w, uint64(st.ParserErr))
		if s.std.checksumError.ok {
			v := uint64(0)
			if st.ChecksumErr {
				v = 1
			}
			s.std.checksumError.Set(p.w, v)
		}
		if !st.Failed {
			st.Exit = false
			s.prog.Ingress(st)
		}
		if s.aborted(p, st) {
			return
		}
		p.cut(st.Truncate)
		if st.CloneSession >= 0 {
			s.cloneIngress(p, st, start, ingressPort)
		}
		if st.Digest >= 0 {
			s.digest(st)
		}
		if st.Resubmit >= 0 {
			if p.passes++; p.passes > s.opt.MaxPasses {
				s.drop(p, DropPasses)
				return
			}
			s.nextPass(p, st.Resubmit, instanceResubmit)
			s.std.packetLength.Set(p.w, uint64(p.length))
			p.off, p.truncate = start, -1
			if s.opt.Tracer != nil {
				s.trace(pipeline.TraceEvent{Kind: pipeline.TraceResubmit, Packet: p.id, Now: now})
			}
			continue
		}
		p.off, p.length = st.Off, st.Length
		if mgid := s.std.mcastGrp.get(p.w); mgid != 0 {
			s.std.instanceType.Set(p.w, instanceReplication)
			s.multicast(p, uint32(mgid), now)
			return
		}
		spec := s.std.egressSpec.Get(p.w)
		if spec == s.st.DropPort&s.std.egressSpec.Mask() {
			s.drop(p, DropIngress)
			return
		}
		s.std.instanceType.Set(p.w, instanceNormal)
		s.enqueue(p, uint32(spec), int(s.std.priority.get(p.w)), now)
		return
	}
}

// aborted ends the packet if an assertion failed or an action did not end.
func (s *Switch) aborted(p *packet, st *pipeline.State) bool {
	switch {
	case st.Failed:
		s.drop(p, DropAssert)
	case st.OverBudget:
		s.drop(p, DropActionBudget)
	default:
		return false
	}
	return true
}

// nextPass replaces the PHV by a fresh one with the fields of a list and an instance type.
func (s *Switch) nextPass(p *packet, list int, instance uint64) {
	w := s.spare
	s.prog.ResetPHV(w)
	s.prog.CopyFieldList(list, w, p.w)
	s.std.instanceType.Set(w, instance)
	s.spare, p.w = p.w, w
}

// cloneIngress clones the packet as it was when ingress began: it is parsed anew, and only the fields of the list come
// along from ingress.
func (s *Switch) cloneIngress(p *packet, st *pipeline.State, start int, ingressPort uint64) {
	cs, ok := s.clones[uint32(st.CloneSession)]
	if !ok {
		s.drops[IgnoredNoSession]++
		return
	}
	list, now := st.CloneList, st.Now
	saved := *st
	c := s.copyPacket(p, start)
	s.prog.ResetPHV(c.w)
	s.std.ingressPort.Set(c.w, ingressPort)
	s.load(c, now)
	s.prog.Parse(st)
	c.off = st.Off
	st.Restore(&saved)
	s.prog.ResetMetadata(c.w)
	s.prog.CopyFieldList(list, c.w, p.w)
	s.std.instanceType.Set(c.w, instanceIngressClone)
	s.sendClone(c, cs, now, p.id)
}

func (s *Switch) sendClone(c *packet, cs CloneSession, now int64, from uint64) {
	if cs.TruncateTo > 0 {
		c.cut(cs.TruncateTo)
	}
	if s.opt.Tracer != nil {
		s.trace(pipeline.TraceEvent{Kind: pipeline.TraceClone, Packet: c.id, From: from, Now: now})
	}
	s.replicate(c, cs.Replicas, cs.Class, now)
}

func (s *Switch) digest(st *pipeline.State) {
	i := st.Digest
	if s.opt.Tracer != nil {
		s.trace(pipeline.TraceEvent{Kind: pipeline.TraceDigest, Packet: st.PacketID, Now: st.Now,
			Name: s.in.Digests()[i].Name})
	}
	if s.opt.OnDigest == nil {
		return
	}
	s.digestBuf, s.digestVals = s.prog.DigestValues(st, i, s.digestBuf[:0], s.digestVals[:0])
	s.opt.OnDigest(Digest{List: i, ID: s.in.Digests()[i].ID, Values: s.digestVals, Now: st.Now})
}

func (s *Switch) multicast(p *packet, mgid uint32, now int64) {
	rs := s.groups[mgid]
	if len(rs) == 0 {
		s.drop(p, DropNoGroup)
		return
	}
	s.replicate(p, rs, int(s.std.priority.get(p.w)), now)
}

// replicate queues a copy for each replica; the packet itself is the last.
func (s *Switch) replicate(p *packet, rs []Replica, class int, now int64) {
	if len(rs) == 0 {
		s.drop(p, DropNoGroup)
		return
	}
	for i, r := range rs {
		c := p
		if i < len(rs)-1 {
			c = s.copyPacket(p, p.off)
			copy(c.w, p.w)
			c.truncate = p.truncate
		}
		if s.opt.Tracer != nil {
			s.trace(pipeline.TraceEvent{Kind: pipeline.TraceReplicate, Packet: c.id, From: p.id, Now: now, Port: r.Port})
		}
		s.std.egressRid.set(c.w, uint64(r.Instance))
		s.enqueue(c, r.Port, class, now)
	}
}

// egress runs egress control and deparser on a packet that leaves its queue at a time.
func (s *Switch) egress(p *packet, now int64, depth, qid int, emit func(port uint32, frame []byte)) (sent int) {
	w := p.w
	s.std.egressTime.set(w, micros(now))
	s.std.deqDelta.set(w, micros(now)-micros(p.enqAt))
	s.std.deqDepth.set(w, uint64(depth))
	s.std.qid.set(w, uint64(qid))
	s.std.egressPort.Set(w, uint64(p.port))
	s.std.egressSpec.Set(w, uint64(s.opt.DropPort)+1)
	s.std.packetLength.Set(w, uint64(p.length))
	st := s.load(p, now)
	if s.opt.Tracer != nil {
		s.trace(pipeline.TraceEvent{Kind: pipeline.TraceEgress, Packet: p.id, Now: now, Port: p.port})
	}
	s.prog.Egress(st)
	if s.aborted(p, st) {
		return 0
	}
	p.length = st.Length
	p.cut(st.Truncate)
	if st.CloneSession >= 0 {
		s.cloneEgress(p, st)
	}
	if s.std.egressSpec.Get(w) == s.st.DropPort&s.std.egressSpec.Mask() {
		s.drop(p, DropEgress)
		return 0
	}
	if p.off < s.prog.Headroom() {
		s.ensureHeadroom(p)
		st.Buf, st.Off, st.End = p.buf, p.off, p.end
	}
	s.prog.Deparse(st)
	if s.aborted(p, st) {
		return 0
	}
	p.off = st.Off
	if p.truncate >= 0 && p.end-p.off > p.truncate {
		p.end = p.off + p.truncate
	}
	if p.end-p.off > MaxFrame {
		s.drop(p, DropOversize)
		return 0
	}
	if st.Recirculate >= 0 {
		s.recirculate(p, st.Recirculate, now)
		return 0
	}
	pt := s.port(p.port)
	if pt.cfg.Down {
		s.drop(p, DropPortDown)
		return 0
	}
	n := p.end - p.off
	pt.stats.TxFrames++
	pt.stats.TxBytes += uint64(n)
	if s.opt.Tracer != nil {
		s.trace(pipeline.TraceEvent{Kind: pipeline.TraceTransmit, Packet: p.id, Now: now, Port: p.port})
	}
	emit(p.port, p.buf[p.off:p.end:p.end])
	s.release(p)
	return n
}

// cloneEgress clones the packet with its headers as egress left them; metadata is reset but for the list.
func (s *Switch) cloneEgress(p *packet, st *pipeline.State) {
	cs, ok := s.clones[uint32(st.CloneSession)]
	if !ok {
		s.drops[IgnoredNoSession]++
		return
	}
	c := s.copyPacket(p, p.off)
	copy(c.w, p.w)
	s.prog.ResetMetadata(c.w)
	s.prog.CopyFieldList(st.CloneList, c.w, p.w)
	s.std.instanceType.Set(c.w, instanceEgressClone)
	// An egress clone that is cloned again in egress would go on for ever.
	if c.passes++; c.passes > s.opt.MaxPasses {
		s.drop(c, DropPasses)
		return
	}
	s.sendClone(c, cs, st.Now, p.id)
}

func (s *Switch) recirculate(p *packet, list int, now int64) {
	if p.passes++; p.passes > s.opt.MaxPasses {
		s.drop(p, DropPasses)
		return
	}
	if s.opt.Tracer != nil {
		s.trace(pipeline.TraceEvent{Kind: pipeline.TraceRecirculate, Packet: p.id, Now: now})
	}
	s.nextPass(p, list, instanceRecirc)
	p.length = p.end - p.off
	p.inLength, p.truncate = p.length, -1
	s.std.packetLength.Set(p.w, uint64(p.length))
	s.ingress(p, now, 0)
}
