package pipeline

import "errors"

// Errors of the control API. Every returned error wraps exactly one of them, with a message that names the object and
// the valid options.
var (
	ErrNotFound = errors.New("not found")          // no such table, action, entry, member, group, array ...
	ErrExists   = errors.New("already exists")     // duplicate match key (and priority, where the table has priorities)
	ErrFull     = errors.New("no space left")      // table or action profile is at its size
	ErrInvalid  = errors.New("invalid argument")   // wrong width, wrong number of keys or arguments, index out of range
	ErrConst    = errors.New("cannot be modified") // const table, const default action
	ErrInUse    = errors.New("in use")             // member or group that is still referenced
)

// MatchKind says how a key field, or a whole table, is matched.
type MatchKind uint8

// The match kinds of the bmv2 JSON. P4's optional appears as Ternary and `valid` as Exact of width 1.
const (
	Exact MatchKind = iota
	LPM
	Ternary
	Range
)

// String returns the name that the bmv2 JSON uses.
func (k MatchKind) String() string {
	switch k {
	case Exact:
		return "exact"
	case LPM:
		return "lpm"
	case Ternary:
		return "ternary"
	case Range:
		return "range"
	}
	return "unknown"
}

// KeyInfo describes one key field of a table.
type KeyInfo struct {
	Name  string
	Kind  MatchKind
	Width int // bits
}

// ParamInfo describes one run-time parameter of an action.
type ParamInfo struct {
	Name  string
	Width int // bits
}

// ActionInfo describes an action.
type ActionInfo struct {
	Name   string
	ID     int // the id in the bmv2 JSON
	Params []ParamInfo
}

// TableInfo describes a table. It belongs to the program and must not be modified.
type TableInfo struct {
	Name     string
	ID       int    // the id in the bmv2 JSON
	Pipeline string // "ingress" or "egress"
	Kind     MatchKind
	Keys     []KeyInfo
	Size     int
	Actions  []ActionInfo
	Profile  string // action profile of an indirect table, else ""
	Selector bool   // the profile selects among the members of a group

	Const              bool // entries come with the program and cannot be changed
	ConstDefaultAction bool // the default action cannot be replaced by another one
	ConstDefaultEntry  bool // neither action nor arguments of the default entry can be changed

	DirectCounter string // name of the direct counter, or ""
	DirectMeter   string // name of the direct meter, or ""
	Timeout       bool   // entries may have an idle timeout
}

// HasPriority reports whether entries carry a priority (ternary and range tables).
func (t *TableInfo) HasPriority() bool { return t.Kind == Ternary || t.Kind == Range }

// FieldMatch is the match of one key field. Byte strings are big-endian; shorter ones are padded with leading zeros,
// longer ones are accepted when the surplus leading bytes (and bits) are zero.
//
//	exact    Value
//	lpm      Value, PrefixLen (bits beyond the prefix are cleared)
//	ternary  Value, Mask (a nil Mask is "don't care"; Value is masked)
//	range    Value (low), High, both inclusive
type FieldMatch struct {
	Value     []byte
	Mask      []byte
	High      []byte
	PrefixLen int
}

// ActionCall is an action with its arguments, big-endian and in the order of the parameters.
type ActionCall struct {
	Action string
	Args   [][]byte
}

// Handles identify entries, members and groups within their table or profile. They are allocated lowest-free-first, as
// bmv2 does, and are reused after deletion.
type Handle = uint32

// Target is what an entry (or a default entry) leads to: exactly one of Call, Member or Group counts, by Kind.
type Target struct {
	Kind   TargetKind
	Call   ActionCall // TargetAction
	Member Handle     // TargetMember
	Group  Handle     // TargetGroup
}

// TargetKind tells the variants of Target apart.
type TargetKind uint8

// Kinds of Target. TargetNone is the default entry of a table that has none: a miss does nothing.
const (
	TargetNone TargetKind = iota
	TargetAction
	TargetMember
	TargetGroup
)

// Entry is one table entry, as written and as read back.
type Entry struct {
	Handle   Handle // set on read
	Match    []FieldMatch
	Priority int // ternary and range tables: the lower number wins (bmv2 JSON); P4Runtime's larger-wins is the caller's mapping
	Target   Target
	// IdleTimeout is in nanoseconds; 0 means that the entry does not age. Only tables with TableInfo.Timeout take it.
	IdleTimeout int64
	LastHit     int64 // on read: time of the last hit (or of insertion), nanoseconds
}

// Counter is a counter cell; bmv2 always keeps both.
type Counter struct {
	Packets, Bytes uint64
}

// MeterConfig is a two-rate three-colour meter (RFC 2698) in packets or bytes, by the array's unit. Rates are per second.
type MeterConfig struct {
	CIR, CBurst uint64
	PIR, PBurst uint64
}

// CounterInfo describes a counter array, direct or indirect.
type CounterInfo struct {
	Name  string
	ID    int
	Size  int    // 0 for a direct counter
	Table string // table of a direct counter, else ""
}

// MeterInfo describes a meter array, direct or indirect.
type MeterInfo struct {
	Name  string
	ID    int
	Size  int    // 0 for a direct meter
	Table string // table of a direct meter, else ""
	Bytes bool   // counts bytes; otherwise packets
}

// RegisterInfo describes a register array.
type RegisterInfo struct {
	Name  string
	ID    int
	Size  int
	Width int // bits a cell
}

// ProfileInfo describes an action profile.
type ProfileInfo struct {
	Name     string
	ID       int
	Size     int // members, counted with their weights
	Selector bool
	Actions  []ActionInfo // the union of the actions of the tables that use it
	Tables   []string
}

// Member is an action profile member.
type Member struct {
	Handle Handle
	Call   ActionCall
}

// GroupMember is a member's place in a group.
type GroupMember struct {
	Member    Handle
	Weight    int   // at least 1
	WatchPort int64 // the member takes part only while this port is up; negative: always
}

// Group is a group of an action selector.
type Group struct {
	Handle  Handle
	Members []GroupMember
}

// ValueSetInfo describes a parser value set.
type ValueSetInfo struct {
	Name  string
	ID    int
	Width int // bits, without padding
	// Fields are the widths in bits of the transition key's fields where the set is first used; nil when it is not used.
	Fields []int
}

// DigestInfo describes a digest (learn list).
type DigestInfo struct {
	Name   string
	ID     int
	Fields []ParamInfo
}
