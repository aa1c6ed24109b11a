// Package types checks P4_16 programs (language 1.2.5) and says what every name, type, expression and call in them means.
//
// It is built in the manner of go/types: [Check] walks an [ast.Program] that it never changes, reports as many errors as it can
// find in one run, and fills an [Info] keyed by node identity. A back end reads the tree and the Info side by side and needs no
// name resolution, type inference, constant folding or argument matching of its own.
//
// # Types
//
// A [Type] is structural ([Bit], [Int], [Varbit], [Tuple], [List], [Stack], [Set], [Signature]) or nominal ([Struct], [Enum],
// [NewType], [Extern], [Block], [Package]). Use [Identical] to compare; nominal types, instances of generic ones included, are
// canonical, so that they may also be compared as pointers. A typedef is resolved away.
//
// # Implicit conversions
//
// P4 converts at few places (specification section 8.12.2): an int of arbitrary precision to bit<W> or int<W>, a serializable
// enum to its underlying type, and list and structure expressions to tuples, structs, headers and stacks. An expression's
// [TypeAndValue] holds the type it has on its own in Type and, when its context converts it, the type after that in Conv.
// [Info.TypeOf] and [Info.ValueOf] answer for the expression as its context sees it, which is what a back end wants.
package types
