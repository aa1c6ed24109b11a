package parser

import "khop/p4/diag"

// Codes of the diagnostics of this package.
const (
	// CodeSyntax: a token stands where the grammar has no place for it.
	CodeSyntax diag.Code = "syntax"
	// CodeTooComplex: the program nests deeper than MaxDepth.
	CodeTooComplex diag.Code = "too-complex"
	// CodeMisplaced: something stands where the language does not allow it, such as a switch in a parser state.
	CodeMisplaced diag.Code = "misplaced"
	// CodeMixedList: a list has elements with and without a name.
	CodeMixedList diag.Code = "mixed-list"
	// CodeNotInstantiable: the instantiation of a type that has no constructor, such as bit<8>(1) x.
	CodeNotInstantiable diag.Code = "not-instantiable"
	// CodeNoStates: a parser without states.
	CodeNoStates diag.Code = "no-states"
	// CodeEnumValue: a value in an enum without underlying type, or none in one with.
	CodeEnumValue diag.Code = "enum-value"
	// CodeNotStatement: an expression without effect as a statement.
	CodeNotStatement diag.Code = "not-a-statement"
	// CodeNotAssignable: the left side of an assignment is no left-value.
	CodeNotAssignable diag.Code = "not-assignable"
	// CodeTypeAsValue: a type where a value is needed.
	CodeTypeAsValue diag.Code = "type-as-value"
	// CodeBadNumber: an integer literal with digits that its base does not have, or with an impossible width.
	CodeBadNumber diag.Code = "bad-number"
)
