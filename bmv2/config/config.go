package config

import "math/big"

// Config is one program, as the JSON has it: names are not yet resolved.
type Config struct {
	Name        string // "program"
	Version     [2]int // __meta__.version
	Compiler    string // __meta__.compiler
	HeaderTypes []HeaderType
	Headers     []Header
	Stacks      []Stack
	UnionTypes  []UnionType
	Unions      []Union
	UnionStacks []UnionStack
	FieldLists  []FieldList
	Errors      []NamedValue
	Enums       []Enum
	Parsers     []Parser
	ValueSets   []ValueSet
	Deparsers   []Deparser
	Meters      []Meter
	Counters    []Counter
	Registers   []Register
	Calcs       []Calculation
	LearnLists  []FieldList
	Actions     []Action
	Pipelines   []Pipeline
	Checksums   []Checksum
	Externs     []Extern
	Aliases     []Alias
}

// SourceInfo is where in the P4 source an object comes from. The zero value means unknown.
type SourceInfo struct {
	File     string
	Line     int
	Column   int
	Fragment string
}

// Field is a field of a header type. Width is in bits, 0 for a varbit field.
type Field struct {
	Name   string
	Width  int
	Signed bool
	VarBit bool
}

// HeaderType is a header (or metadata struct) type.
type HeaderType struct {
	Name      string
	ID        int
	Fields    []Field
	MaxLength int    // bytes, of a header with a varbit field; 0 if not given
	LengthExp *Value // P4_14 varbit: width in bits of the varbit field; locals are field indices
}

// Header is a header instance.
type Header struct {
	Name     string
	ID       int
	Type     string
	Metadata bool
}

// Stack is a header stack; Headers are ids of header instances.
type Stack struct {
	Name    string
	ID      int
	Type    string
	Headers []int
}

// UnionType is a header union type.
type UnionType struct {
	Name    string
	ID      int
	Members []UnionMember
}

// UnionMember is a member of a header union type.
type UnionMember struct {
	Name string
	Type string
}

// Union is a header union instance; Headers are ids of header instances in the order of the type's members.
type Union struct {
	Name    string
	ID      int
	Type    string
	Headers []int
}

// UnionStack is a stack of header unions; Unions are ids of union instances.
type UnionStack struct {
	Name   string
	ID     int
	Type   string
	Unions []int
}

// FieldList is a field list (of clone, resubmit, recirculate) or a learn list (digest).
type FieldList struct {
	Name     string
	ID       int
	Elements []Value
}

// NamedValue is a constant of an enum or an error.
type NamedValue struct {
	Name  string
	Value int64
}

// Enum is an enum without an underlying type.
type Enum struct {
	Name    string
	Entries []NamedValue
}

// Parser is a state machine.
type Parser struct {
	Name   string
	ID     int
	Init   string // "" if the parser has no state
	States []State
}

// State is a parser state.
type State struct {
	Name        string
	ID          int
	Ops         []ParserOp
	Key         []Value
	Transitions []Transition
	Source      SourceInfo
}

// ParserOp is one operation of a parser state. For op "primitive", Call is set instead of Params.
type ParserOp struct {
	Op     string
	Params []Value
	Call   *Primitive
	Source SourceInfo
}

// TransitionKind tells the kinds of Transition apart.
type TransitionKind uint8

// Kinds of Transition.
const (
	TransitionDefault TransitionKind = iota
	TransitionValue
	TransitionSet
)

// Transition leads to the state Next, or out of the parser when Next is empty.
type Transition struct {
	Kind  TransitionKind
	Value []byte // TransitionValue: byte-padded fields, concatenated
	Mask  []byte // nil if there is none
	Set   string // TransitionSet: name of the value set
	Next  string
}

// ValueSet is a parser value set. Width is in bits, without padding.
type ValueSet struct {
	Name  string
	ID    int
	Width int
}

// Deparser emits headers in order.
type Deparser struct {
	Name       string
	ID         int
	Order      []string
	Primitives []Primitive
}

// Meter is a meter array.
type Meter struct {
	Name      string
	ID        int
	Bytes     bool // unit; otherwise packets
	RateCount int
	Size      int
	Direct    bool
	Binding   string    // table of a direct meter
	Target    [2]string // field that receives the colour of a direct meter
}

// Counter is a counter array.
type Counter struct {
	Name    string
	ID      int
	Size    int
	Direct  bool
	Binding string
}

// Register is a register array. Width is in bits.
type Register struct {
	Name  string
	ID    int
	Size  int
	Width int
}

// Calculation is a named hash or checksum calculation.
type Calculation struct {
	Name  string
	ID    int
	Algo  string
	Input []Value
}

// Action is an action.
type Action struct {
	Name       string
	ID         int
	Params     []Param
	Primitives []Primitive
}

// Param is a run-time parameter of an action. Width is in bits.
type Param struct {
	Name  string
	Width int
}

// Primitive is one call in an action.
type Primitive struct {
	Op     string
	Params []Value
	Source SourceInfo
}

// Pipeline is a control (ingress or egress).
type Pipeline struct {
	Name         string
	ID           int
	Init         string // first node, "" if the control is empty
	Tables       []Table
	Profiles     []Profile
	Conditionals []Conditional
	ActionCalls  []ActionCall
}

// Profile is an action profile.
type Profile struct {
	Name     string
	ID       int
	MaxSize  int
	Selector *Selector
}

// Selector is the hash of an action selector.
type Selector struct {
	Algo  string
	Input []Value
}

// Table is a match-action table.
type Table struct {
	Name         string
	ID           int
	MatchType    string
	Type         string // simple, indirect, indirect_ws
	Profile      string
	MaxSize      int
	WithCounters bool
	Timeout      bool
	Key          []KeyField
	Actions      []string
	ActionIDs    []int // when the JSON has them
	NextTables   map[string]string
	BaseNext     string // base_default_next
	DirectMeter  string
	Default      *DefaultEntry
	Entries      []Entry
	HasEntries   bool // "entries" was present: the table is immutable
	Source       SourceInfo
}

// KeyField is a field of a table key. For match type valid, Target[1] is empty.
type KeyField struct {
	Name      string
	MatchType string
	Target    [2]string
	Mask      []byte
}

// DefaultEntry is a default entry that comes with the program.
type DefaultEntry struct {
	ActionID         int
	ActionConst      bool
	ActionData       []*big.Int
	ActionEntryConst bool
}

// Entry is an entry that comes with the program.
type Entry struct {
	Match      []EntryMatch
	ActionID   int
	ActionData []*big.Int
	Priority   int
	Source     SourceInfo
}

// EntryMatch is the match of one key field of an Entry.
type EntryMatch struct {
	Type      string
	Key       []byte
	Mask      []byte // ternary
	End       []byte // range; Key is the start
	PrefixLen int    // lpm
}

// Conditional is an if node.
type Conditional struct {
	Name      string
	ID        int
	Expr      *Value
	TrueNext  string
	FalseNext string
	Source    SourceInfo
}

// ActionCall is a node that runs an action without parameters.
type ActionCall struct {
	Name     string
	ID       int
	ActionID int
	Next     string
}

// Checksum binds a calculation to a field.
type Checksum struct {
	Name   string
	ID     int
	Target [2]string
	Type   string
	Calc   string
	Update bool
	Verify bool
	If     *Value // nil: always
}

// Extern is an extern instance.
type Extern struct {
	Name string
	ID   int
	Type string
}

// Alias maps a name that the target expects ("intrinsic_metadata.mcast_grp") to a field.
type Alias struct {
	Name   string
	Target [2]string
}

// Kind tells the kinds of Value apart.
type Kind uint8

// Kinds of Value, with the members of Value that each uses.
const (
	KindField           Kind = iota // Names[0] header, Names[1] field
	KindConst                       // Int; Width in calculation inputs
	KindBool                        // Bool
	KindHeader                      // Names[0]
	KindStack                       // Names[0]
	KindUnion                       // Names[0]
	KindUnionStack                  // Names[0]; in an extract also Names[1], the union member
	KindStackField                  // Names[0] stack, Names[1] field
	KindUnionStackField             // Names[0] stack, Names[1] union member, Names[2] field
	KindCalculation                 // Names[0]
	KindMeter                       // Names[0]
	KindCounter                     // Names[0]
	KindRegisterArray               // Names[0]
	KindRegister                    // Names[0], Index
	KindExtern                      // Names[0]
	KindString                      // Str
	KindLookahead                   // Offset and Width in bits
	KindLocal                       // Offset: index of a run-time parameter
	KindExpr                        // Op, Left, Right, Cond
	KindVector                      // List
	KindPayload                     // rest of the packet, in calculations
)

// Value is the type-value object of the JSON.
type Value struct {
	Kind   Kind
	Names  [3]string
	Int    *big.Int
	Bool   bool
	Str    string
	Offset int
	Width  int
	Index  *Value

	Op                string
	Left, Right, Cond *Value

	List []Value
}
