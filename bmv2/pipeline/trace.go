package pipeline

import (
	"fmt"
	"strings"

	"khop/bmv2/config"
	"khop/bmv2/table"
)

// TraceKind says what a TraceEvent is about.
type TraceKind uint8

// Kinds of TraceEvent. The second block comes from the architecture.
const (
	TraceState     TraceKind = iota // a parser state was entered
	TraceTable                      // a table was applied: Hit, Handle, Detail has the key
	TraceAction                     // an action ran; Detail has the arguments
	TracePrimitive                  // a primitive is about to run
	TraceCondition                  // a condition was evaluated: Hit is its value

	TraceReceive     // a packet arrived on Port
	TraceIngress     // ingress begins
	TraceEnqueue     // the packet (or copy) was queued for Port
	TraceEgress      // egress begins on Port
	TraceTransmit    // the packet left by Port
	TraceDrop        // Name is the reason
	TraceClone       // Packet is a clone of From
	TraceReplicate   // Packet is the copy of From for Port
	TraceResubmit    // the packet enters the parser again as it came
	TraceRecirculate // the packet enters the parser again as the deparser left it
	TraceDigest      // Name is the digest
)

var traceNames = [...]string{"parser state", "table", "action", "primitive", "condition", "receive", "ingress", "enqueue",
	"egress", "transmit", "drop", "clone", "replicate", "resubmit", "recirculate", "digest"}

// String names the kind.
func (k TraceKind) String() string {
	if int(k) < len(traceNames) {
		return traceNames[k]
	}
	return "unknown"
}

// TraceEvent is one step in the life of a packet.
type TraceEvent struct {
	Kind   TraceKind
	Packet uint64 // number of the packet; copies have numbers of their own
	From   uint64 // clone, replicate: the packet that was copied
	Now    int64
	Name   string // of the state, table, action, primitive, condition, or drop reason
	Port   uint32
	Hit    bool
	Handle Handle // of the entry hit
	Detail string
	Source config.SourceInfo
}

// Tracer receives the steps of packets, in order.
type Tracer interface {
	Trace(TraceEvent)
}

func (s *State) emitTrace(e TraceEvent) {
	e.Packet, e.Now = s.PacketID, s.Now
	s.in.tracer.Trace(e)
}

func (s *State) traceState(st *parseState) {
	s.emitTrace(TraceEvent{Kind: TraceState, Name: st.name, Source: st.src, Detail: fmt.Sprintf("offset %d", s.Off)})
}

func (s *State) traceCond(c *ctrlNode, v bool) {
	s.emitTrace(TraceEvent{Kind: TraceCondition, Name: c.name, Hit: v, Source: c.src, Detail: c.src.Fragment})
}

func (s *State) traceTable(ts *tableState, id uint32) {
	t := ts.prog
	var b strings.Builder
	for i := range t.parts {
		p := &t.parts[i]
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s = 0x%x", t.info.Keys[i].Name, appendBytes(nil, s.W[p.slot:p.slot+p.words], p.width))
	}
	e := TraceEvent{Kind: TraceTable, Name: t.info.Name, Hit: id != table.None, Detail: b.String(), Source: t.src}
	if e.Hit {
		e.Handle = id
	}
	s.emitTrace(e)
}

// traced is run with an event for the action and for each primitive.
func (a *action) traced(s *State) {
	var b strings.Builder
	for i, p := range a.params {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s = 0x%x", p.name, appendBytes(nil, s.args[p.off:p.off+p.words], p.width))
	}
	s.emitTrace(TraceEvent{Kind: TraceAction, Name: a.info.Name, Detail: b.String()})
	jumps := 0
	for pc := 0; pc < len(a.code); {
		c := &a.code[pc]
		pc++
		s.emitTrace(TraceEvent{Kind: TracePrimitive, Name: c.prim.Op, Source: c.prim.Source, Detail: c.prim.Source.Fragment})
		if c.jump == nil {
			c.fn(s)
			continue
		}
		if to := c.jump(s); to >= 0 {
			if jumps++; jumps > maxJumps {
				s.OverBudget = true
				return
			}
			pc = to
		}
	}
}
