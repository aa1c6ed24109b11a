package ir

import (
	"math/big"

	"khop/p4/ast"
)

// Label is a place in a Code that can be jumped to.
type Label int

// Op says what an instruction does.
type Op uint8

// The instructions.
const (
	OpPrim   Op = iota // call the primitive Name with Args
	OpLabel            // the place of Label
	OpJump             // go to Label
	OpBranch           // go on if Cond is true, else to Label
	OpApply            // apply Table, then go to a label by its outcome
	OpExit             // end the pipeline
	OpParse            // parser operation Name with Args
	OpSelect           // go to a label by the value of Keys
	OpAccept           // end the parser
)

// Instr is an instruction.
type Instr struct {
	Op    Op
	Name  string
	Args  []Arg
	Label Label
	Cond  Expr
	Apply *Apply
	Sel   *Select
	Node  ast.Node // where it comes from; may be nil
	// State names the parser state that begins at an OpLabel.
	State string
}

// Apply is an application of a table. Where a label is negative, execution goes on with the next instruction.
type Apply struct {
	Table     *Table
	Hit, Miss Label
	// Site numbers the places that apply the table.
	Site int
	// Cases are the labels of a switch on action_run, and Default that of its default label.
	Cases   []Case
	Default Label
	// ByHit and ByAction tell which of the labels are in use.
	ByHit, ByAction bool
}

// Case is a label of a switch on action_run.
type Case struct {
	Action *Action
	Label  Label
}

// Select is the transition of a parser state.
type Select struct {
	Keys  []Expr
	Cases []SelectCase
}

// SelectCase is one label of a select. A nil Match matches everything.
type SelectCase struct {
	Match []Match
	Set   *ValueSet // instead of Match
	Label Label
}

// Match compares a key with Value under Mask. A nil Mask compares all bits.
type Match struct{ Value, Mask *big.Int }

// Arg is an argument of a primitive: an Expr, *Header, *Stack, *Union, *UnionStack, *Extern, *Calculation, Text, *NextElem, or a
// []Expr for a vector of values.
type Arg any

// Text is a string argument.
type Text string

// NextElem is the next element of a stack, as extract takes it. Member is the member of a union stack.
type NextElem struct {
	Stack  *Stack
	Union  *UnionStack
	Member string
}

// Code is a list of instructions.
type Code struct {
	Ins    []Instr
	labels int
}

// NewLabel returns a label that is not placed yet.
func (c *Code) NewLabel() Label {
	c.labels++
	return Label(c.labels - 1)
}

// Labels returns how many labels there are; they are numbered from 0.
func (c *Code) Labels() int { return c.labels }

func (c *Code) add(i Instr) { c.Ins = append(c.Ins, i) }

func (c *Code) place(l Label) { c.add(Instr{Op: OpLabel, Label: l}) }

func (c *Code) jump(l Label) {
	if !c.dead() {
		c.add(Instr{Op: OpJump, Label: l})
	}
}

func (c *Code) branch(cond Expr, ifFalse Label, n ast.Node) {
	c.add(Instr{Op: OpBranch, Cond: cond, Label: ifFalse, Node: n})
}

func (c *Code) prim(n ast.Node, name string, args ...Arg) {
	c.add(Instr{Op: OpPrim, Name: name, Args: args, Node: n})
}

// dead tells whether execution cannot reach the end of the code.
func (c *Code) dead() bool {
	if len(c.Ins) == 0 {
		return false
	}
	switch last := &c.Ins[len(c.Ins)-1]; last.Op {
	case OpJump, OpExit, OpSelect, OpAccept:
		return true
	}
	return false
}
