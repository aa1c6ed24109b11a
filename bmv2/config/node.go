package config

import (
	"encoding/hex"
	"encoding/json"
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
	v      any
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

func kindName(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case string:
		return "a string"
	case json.Number:
		return "a number"
	case []any:
		return "an array"
	}
	return "an object"
}

// opt returns a member, or nil when it is absent or null.
func (n *node) opt(key string) *node {
	m, ok := n.v.(map[string]any)
	if !ok {
		n.fail("is %s, want an object", kindName(n.v))
	}
	v, ok := m[key]
	if !ok || v == nil {
		return nil
	}
	return &node{v: v, parent: n, key: key, index: -1}
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
	a, ok := n.v.([]any)
	if !ok {
		n.fail("is %s, want an array", kindName(n.v))
	}
	out := make([]*node, len(a))
	for i, v := range a {
		out[i] = &node{v: v, parent: n, index: i}
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
	s, ok := n.v.(string)
	if !ok {
		n.fail("is %s, want a string", kindName(n.v))
	}
	return s
}

// strOr returns "" for a nil node.
func (n *node) strOr() string {
	if n == nil {
		return ""
	}
	return n.str()
}

func (n *node) boolean() bool {
	b, ok := n.v.(bool)
	if !ok {
		n.fail("is %s, want true or false", kindName(n.v))
	}
	return b
}

func (n *node) boolOr(def bool) bool {
	if n == nil {
		return def
	}
	return n.boolean()
}

func (n *node) integer() int {
	num, ok := n.v.(json.Number)
	if !ok {
		n.fail("is %s, want an integer", kindName(n.v))
	}
	i, err := strconv.ParseInt(num.String(), 10, 64)
	if err != nil || i < -1<<40 || i > 1<<40 {
		n.fail("%s is not an integer in range", num)
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
