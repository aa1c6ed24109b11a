package pipeline

// State is the execution state of the packet that a switch is working on. The architecture fills it in before it runs a
// parser, a control or the deparser, and reads the requests afterwards. There is one State per Instance.
type State struct {
	W   []uint64 // the packet's PHV, Program.Words() long
	Buf []byte   // packet bytes, with Slack spare bytes of capacity behind the data
	Off int      // first byte of Buf not yet parsed (the payload, after the parser)
	End int      // end of the data in Buf

	Now       int64 // nanoseconds
	Length    int   // packet length as headers come and go (bmv2's packet length register)
	InLength  int   // length at ingress: what counters and meters count
	PacketID  uint64
	DropPort  uint64
	ParserErr uint32 // value of the error, by the program's numbering
	HasErr    bool   // the parser stopped with an error
	ChecksumErr,
	Exit, // exit was called
	Failed, // assert or assume failed
	OverBudget bool // an action jumped, or a control went round, too often

	// Requests, the last of each kind counts. A list is a field list id; -1 where there is no request.
	CloneSession int
	CloneList    int
	Resubmit     int
	Recirculate  int
	Digest       int // index of the digest, -1 if none
	Truncate     int // bytes, -1 if not asked for

	in   *Instance
	args []uint64 // arguments of the running action
	tmp  []uint64 // scratch for wide arithmetic
	top  int
	hash []byte // scratch for calculations
}

// ResetRequests clears flags and requests, as at the start of ingress or egress.
func (s *State) ResetRequests() {
	s.Exit, s.Failed, s.OverBudget = false, false, false
	s.CloneSession, s.CloneList = -1, 0
	s.Resubmit, s.Recirculate = -1, -1
	s.Digest, s.Truncate = -1, -1
}

// alloc takes n zeroed words of scratch; the caller restores s.top when it is done with them.
func (s *State) alloc(n int) []uint64 {
	if s.top+n > len(s.tmp) {
		// Slices handed out before keep the old array.
		s.tmp = make([]uint64, 2*(s.top+n))
	}
	t := s.tmp[s.top : s.top+n : s.top+n]
	s.top += n
	clear(t)
	return t
}

// clearHeader makes a header invalid.
func (s *State) clearHeader(h *header) {
	clear(s.W[h.base : h.base+h.typ.words])
}

// validate makes a header valid; its fields stay.
func (s *State) validate(h *header) {
	s.W[h.base] = 1
	for _, o := range h.siblings {
		s.clearHeader(o)
	}
}

// copyHeader assigns a header of the same type.
func (s *State) copyHeader(dst, src *header) {
	n := src.typ.words
	valid := s.W[src.base] != 0
	copy(s.W[dst.base:dst.base+n], s.W[src.base:src.base+n])
	if valid {
		for _, o := range dst.siblings {
			s.clearHeader(o)
		}
	}
}

// headerBytes is the current length of a valid header.
func (s *State) headerBytes(h *header) int {
	n := h.typ.bits
	if h.typ.vl >= 0 {
		n += int(s.W[h.base+h.typ.fields[h.typ.vl].lenRel])
	}
	return n / 8
}

// Restore puts back what *saved held, a copy of *s made earlier, except for scratch space.
func (s *State) Restore(saved *State) {
	tmp, hash := s.tmp, s.hash
	*s = *saved
	s.tmp, s.hash = tmp, hash
}
