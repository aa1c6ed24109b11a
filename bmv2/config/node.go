package config

import (
	"encoding/hex"
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// Error is a fault in the JSON, with the path of the offending value, like $.pipelines[0].tables[3].key.
type Error struct {
	Path string
	Msg  string
}

// Error implements error.
func (e *Error) Error() string { return "bmv2 JSON: " + e.Path + ": " + e.Msg }

// node is a value of the JSON document that knows its place in it. Methods fail by panicking with *Error, which Parse
// turns into an error.
type node struct {
	v      *jsonValue
	parent *node
	key    string
	index  int // -1 unless an array item
}

func (n *node) path() string {
	if n.parent == nil {
		return "$"
	}
	p := n.parent.path()
	if n.index >= 0 {
		return p + "[" + strconv.Itoa(n.index) + "]"
	}
	return p + "." + n.key
}

func (n *node) fail(format string, args ...any) {
	panic(&Error{Path: n.path(), Msg: fmt.Sprintf(format, args...)})
}

func (n *node) want(k jsonKind, what string) {
	if n.v.kind != k {
		n.fail("is %s, want %s", jsonNames[n.v.kind], what)
	}
}

// opt returns a member, or nil when it is absent or null.
func (n *node) opt(key string) *node {
	n.want(jsonObject, "an object")
	for i := len(n.v.members) - 1; i >= 0; i-- { // of several, the last counts
		if m := &n.v.members[i]; m.key == key {
			if m.val.kind == jsonNull {
				return nil
			}
			return &node{v: &m.val, parent: n, key: key, index: -1}
		}
	}
	return nil
}

func (n *node) get(key string) *node {
	c := n.opt(key)
	if c == nil {
		n.fail("has no %q", key)
	}
	return c
}

// items returns the items of an array; a nil node has none.
func (n *node) items() []*node {
	if n == nil {
		return nil
	}
	n.want(jsonArray, "an array")
	nodes := make([]node, len(n.v.items))
	out := make([]*node, len(nodes))
	for i := range nodes {
		nodes[i] = node{v: &n.v.items[i], parent: n, index: i}
		out[i] = &nodes[i]
	}
	return out
}

// tuple returns the items of an array that must have between min and max of them.
func (n *node) tuple(min, max int) []*node {
	it := n.items()
	if len(it) < min || len(it) > max {
		if min == max {
			n.fail("has %d items, want %d", len(it), min)
		}
		n.fail("has %d items, want %d to %d", len(it), min, max)
	}
	return it
}

func (n *node) str() string {
	n.want(jsonString, "a string")
	return n.v.text
}

// strOr returns "" for a nil node.
func (n *node) strOr() string {
	if n == nil {
		return ""
	}
	return n.str()
}

func (n *node) boolean() bool {
	n.want(jsonBool, "true or false")
	return n.v.truth
}

func (n *node) boolOr(def bool) bool {
	if n == nil {
		return def
	}
	return n.boolean()
}

func (n *node) integer() int {
	n.want(jsonNumber, "an integer")
	i, err := strconv.ParseInt(n.v.text, 10, 64)
	if err != nil || i < -1<<40 || i > 1<<40 {
		n.fail("%s is not an integer in range", n.v.text)
	}
	return int(i)
}

// natural returns an integer of at least 0 and at most max.
func (n *node) natural(max int) int {
	i := n.integer()
	if i < 0 || i > max {
		n.fail("%d is out of range, want 0 to %d", i, max)
	}
	return i
}

func (n *node) intOr(def int) int {
	if n == nil {
		return def
	}
	return n.integer()
}

// bigInt reads a hexstr, with or without 0x and sign.
func (n *node) bigInt() *big.Int {
	s := n.str()
	t, neg := strings.CutPrefix(s, "-")
	t = strings.TrimPrefix(strings.TrimPrefix(t, "0x"), "0X")
	if len(t) > maxHex {
		n.fail("has %d hexadecimal digits, at most %d are supported", len(t), maxHex)
	}
	v, ok := new(big.Int).SetString(t, 16)
	if !ok || strings.ContainsAny(t, "+-_") {
		n.fail("%q is not a hexadecimal number", s)
	}
	if neg {
		v.Neg(v)
	}
	return v
}

// bytes reads a hexstr whose length in bytes matters.
func (n *node) bytes() []byte {
	s := n.str()
	t := strings.TrimPrefix(strings.TrimPrefix(s, "0x"), "0X")
	if len(t)%2 == 1 {
		t = "0" + t
	}
	if len(t) > maxHex {
		n.fail("has %d hexadecimal digits, at most %d are supported", len(t), maxHex)
	}
	b, err := hex.DecodeString(t)
	if err != nil || len(b) == 0 {
		n.fail("%q is not a hexadecimal string", s)
	}
	return b
}

func (n *node) pair() [2]string {
	it := n.tuple(2, 2)
	return [2]string{it[0].str(), it[1].str()}
}
