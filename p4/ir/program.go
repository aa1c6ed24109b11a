package ir

import (
	"math/big"

	"khop/p4/ast"
	"khop/p4/types"
)

// Program is a lowered program.
type Program struct {
	Info *types.Info

	HeaderTypes []*HeaderType
	Headers     []*Header // metadata instances included
	Stacks      []*Stack
	UnionTypes  []*UnionType
	Unions      []*Union
	UnionStacks []*UnionStack
	Scalars     *Header // user metadata and local variables
	Standard    *Header // standard_metadata
	Aliases     []Alias

	Enums []*types.Enum // enums without underlying type that the user declares

	Parser   *Parser
	Deparser *Deparser
	Ingress  *Pipeline
	Egress   *Pipeline

	Actions      []*Action
	Counters     []*Extern
	Meters       []*Extern
	Registers    []*Extern
	Calculations []*Calculation
	Checksums    []*Checksum
	FieldLists   []*FieldList
	LearnLists   []*FieldList
	ValueSets    []*ValueSet

	// CallsExtern tells whether a control calls an extern function.
	CallsExtern bool
	// Root is the tree of instances that the control plane sees.
	Root *Scope
}

// Field is a field of a header type. Width is in bits; for a varbit field it is the greatest width.
type Field struct {
	Name   string
	Width  int
	Signed bool
	Varbit bool
	Index  int
}

// HeaderType is a header type, or the type of a metadata instance.
type HeaderType struct {
	Name   string
	Fields []*Field
	Decl   *types.Struct // nil for synthesised types
	// tree holds, per field of Decl, a *Field or, for a struct inside a header, a []any of the same kind.
	tree []any
}

// Varbit returns the field of varying width, or nil.
func (t *HeaderType) Varbit() *Field {
	for _, f := range t.Fields {
		if f.Varbit {
			return f
		}
	}
	return nil
}

// Width returns the sum of the widths in bits, a varbit field at its greatest.
func (t *HeaderType) Width() int {
	n := 0
	for _, f := range t.Fields {
		n += f.Width
	}
	return n
}

// Header is a header or metadata instance. ID is its position in Program.Headers.
type Header struct {
	Name     string
	ID       int
	Type     *HeaderType
	Metadata bool
}

// Stack is a header stack.
type Stack struct {
	Name  string
	ID    int
	Type  *HeaderType
	Elems []*Header
}

// UnionType is a header union type.
type UnionType struct {
	Name    string
	Members []UnionMember
}

// UnionMember is a member of a union type.
type UnionMember struct {
	Name string
	Type *HeaderType
}

// Union is a header union instance. Its members are headers named after it.
type Union struct {
	Name    string
	ID      int
	Type    *UnionType
	Members []*Header
}

// UnionStack is a stack of header unions.
type UnionStack struct {
	Name  string
	ID    int
	Type  *UnionType
	Elems []*Union
}

// Alias gives a field the name that the target knows it by.
type Alias struct {
	Name   string
	Header *Header
	Field  *Field
}

// Param is a run-time parameter of an action. Width is in bits.
type Param struct {
	Name   string
	Width  int
	Signed bool
	Bool   bool
	Decl   *types.Param
}

// Action is an action that a table may run.
type Action struct {
	Name   string // as the control plane knows it
	ID     int
	Params []*Param
	Code   *Code
	Decl   *types.Action // nil for an action that the compiler made
	Node   ast.Node
}

// Pipeline is ingress or egress.
type Pipeline struct {
	Name   string // ingress, egress
	Code   *Code
	Tables []*Table // in order of first application
	// Profiles are the action profiles and selectors that the tables use.
	Profiles []*Extern
	Node     ast.Node
}

// Table is an instance of a table.
type Table struct {
	Name    string // as the control plane knows it
	Decl    *types.Table
	Scope   *Scope
	Keys    []*Key
	Actions []*TableAction
	// Default is what a miss runs; nil when the table has none.
	Default      *TableAction
	ConstDefault bool
	Entries      []*Entry
	HasEntries   bool
	Size         int64
	Timeout      bool
	Profile      *Extern // action profile or selector
	Counter      *Extern // direct counter
	Meter        *Extern // direct meter
	Pipeline     *Pipeline
	// Sites counts the places where the program applies the table. When there are several, Site holds the number of the one in
	// progress.
	Sites int
	Site  *FieldRef
}

// TableAction is an action in a table's list, or its default with its arguments.
type TableAction struct {
	Action *Action
	Decl   *types.TableAction
	Args   []*big.Int // one per run-time parameter; only in defaults and entries
}

// Key is a component of a table's key.
type Key struct {
	Name      string // as the control plane knows it
	MatchKind string
	Field     *FieldRef // nil when Valid is set
	Valid     *Header
	Mask      *big.Int // nil when there is none
	Width     int      // bits
	Decl      *types.TableKey
}

// Entry is an entry that comes with the program.
type Entry struct {
	Keys     []*types.Keyset
	Action   *TableAction
	Priority int64 // as the behavioural model orders them: the smallest wins
	Decl     *types.TableEntry
}

// Extern is an instance of a counter, meter, register, action profile or action selector.
type Extern struct {
	Name string // as the control plane knows it
	// Kind is the name of the extern type: counter, direct_counter, meter, direct_meter, register, action_profile,
	// action_selector.
	Kind string
	Size int64
	// Unit is the member of CounterType or MeterType.
	Unit string
	// Width is the width of a register cell in bits.
	Width  int
	Signed bool
	// Algorithm is the hash of a selector.
	Algorithm string
	// Selector is what a selector hashes.
	Selector []Expr
	// Table is the table that a direct counter or meter belongs to, and Result the field that receives a direct meter's colour.
	Table  *Table
	Result *FieldRef
	// Inst is the declaration; nil for one that is constructed in a table property, in which case Call is set.
	Inst *types.Instance
	Call *types.Call
	Prop *types.TableProp
	Type *types.Extern
}

// Calculation is a hash or checksum over a list of values.
type Calculation struct {
	Name      string
	ID        int
	Algorithm string
	Input     []Expr
	Payload   bool
	Node      ast.Node
}

// Checksum is one call of verify_checksum or update_checksum.
type Checksum struct {
	Name   string
	Verify bool
	Target *FieldRef
	Calc   *Calculation
	Cond   Expr // always non-nil
	Node   ast.Node
}

// FieldList is a list of fields: what a clone, resubmit or recirculate keeps, or what a digest tells.
type FieldList struct {
	Name     string
	ID       int // from 1
	Elements []Expr
}

// ValueSet is an instance of a parser value set. Width is in bits.
type ValueSet struct {
	Name string
	Decl *types.ValueSet
	// Widths are the widths of the components in bits.
	Widths []int
	Size   int64
}

// Parser is the parser with everything that it calls inlined.
type Parser struct {
	Code *Code
	Node ast.Node
}

// Deparser emits headers in order, after running Code.
type Deparser struct {
	Order []*Header
	Code  *Code
	Node  ast.Node
}

// Digest is a digest call: Type is the type of the data, List what is sent.
type Digest struct {
	Name string
	Type types.Type
	List *FieldList
}

// Scope is an instance of a parser or control, or the top level, as the control plane sees it.
type Scope struct {
	Name      string          // path of the instance; "" at top level
	Inst      *types.Instance // nil for the blocks of main and for direct application
	Block     *types.Block
	Children  []*Scope
	Tables    []*Table
	Externs   []*Extern
	ValueSets []*ValueSet
	Digests   []*Digest
	// Called are the actions that the apply block calls itself.
	Called []*Action
}
