package simpleswitch

// Reason says why a packet was dropped, or which operation in a packet's life was ignored.
type Reason uint8

// Reasons. The first block ends the life of a packet or copy; the second counts what was ignored while it lived on.
const (
	DropNoProgram    Reason = iota // no pipeline has been set
	DropIngress                    // egress_spec was the drop port when ingress ended
	DropEgress                     // egress_spec was the drop port when egress ended
	DropTail                       // queue full
	DropPriority                   // no queue of this priority
	DropNoGroup                    // multicast to a group that does not exist or has no members
	DropPortDown                   // ingress or egress port down
	DropPasses                     // resubmitted or recirculated too often
	DropAssert                     // assert() or assume() failed
	DropActionBudget               // an action jumped too often
	DropOversize                   // frame longer than MaxFrame
	DropSwap                       // queued when the program was replaced

	IgnoredParserError // parsing ended with an error; ingress ran all the same
	IgnoredIndex       // register, counter, meter or stack index out of range
	IgnoredNoSession   // clone to a session that does not exist
	IgnoredEmptyGroup  // selector group without an active member: no action ran

	NumReasons = iota
)

var reasonNames = [NumReasons]string{
	"no_program", "ingress_drop", "egress_drop", "queue_full", "bad_priority", "no_multicast_group", "port_down",
	"too_many_passes", "assert", "action_budget", "oversize", "pipeline_swap",
	"parser_error", "index_out_of_range", "no_clone_session", "empty_group",
}

// String returns the name used in metrics and JSON.
func (r Reason) String() string {
	if int(r) < len(reasonNames) {
		return reasonNames[r]
	}
	return "unknown"
}

// Lost reports whether the reason ends the life of a packet or copy.
func (r Reason) Lost() bool { return r < IgnoredParserError }
