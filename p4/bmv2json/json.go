package bmv2json

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// object is a JSON object that keeps the order of its members.
type object []member

type member struct {
	key string
	val any
}

// array is a JSON array.
type array []any

// lineWidth is the number of bytes up to which an object or array stands on one line.
const lineWidth = 120

type writer struct {
	buf bytes.Buffer
	tmp bytes.Buffer
}

// encode writes a value with indentation; what is short stays on one line.
func encode(v any) []byte {
	w := &writer{}
	w.value(v, 0)
	w.buf.WriteByte('\n')
	return w.buf.Bytes()
}

func (w *writer) value(v any, indent int) {
	w.tmp.Reset()
	if compact(&w.tmp, v, lineWidth-2*indent) {
		w.buf.Write(w.tmp.Bytes())
		return
	}
	switch v := v.(type) {
	case object:
		w.buf.WriteString("{\n")
		for i, m := range v {
			w.pad(indent + 1)
			quote(&w.buf, m.key)
			w.buf.WriteString(": ")
			w.value(m.val, indent+1)
			w.end(i < len(v)-1)
		}
		w.pad(indent)
		w.buf.WriteByte('}')
	case array:
		w.buf.WriteString("[\n")
		for i, e := range v {
			w.pad(indent + 1)
			w.value(e, indent+1)
			w.end(i < len(v)-1)
		}
		w.pad(indent)
		w.buf.WriteByte(']')
	default:
		compact(&w.buf, v, 1<<30)
	}
}

func (w *writer) pad(indent int) {
	for range indent {
		w.buf.WriteString("  ")
	}
}

func (w *writer) end(more bool) {
	if more {
		w.buf.WriteByte(',')
	}
	w.buf.WriteByte('\n')
}

// compact writes a value on one line, and tells whether it fits in limit bytes.
func compact(b *bytes.Buffer, v any, limit int) bool {
	switch v := v.(type) {
	case nil:
		b.WriteString("null")
	case object:
		b.WriteByte('{')
		for i, m := range v {
			if i > 0 {
				b.WriteString(", ")
			}
			quote(b, m.key)
			b.WriteString(": ")
			if !compact(b, m.val, limit) {
				return false
			}
		}
		b.WriteByte('}')
	case array:
		b.WriteByte('[')
		for i, e := range v {
			if i > 0 {
				b.WriteString(", ")
			}
			if !compact(b, e, limit) {
				return false
			}
		}
		b.WriteByte(']')
	case string:
		quote(b, v)
	case int:
		b.WriteString(strconv.Itoa(v))
	case int64:
		b.WriteString(strconv.FormatInt(v, 10))
	case bool:
		b.WriteString(strconv.FormatBool(v))
	}
	return b.Len() <= limit
}

func quote(b *bytes.Buffer, s string) {
	plain := true
	for i := 0; i < len(s); i++ {
		if s[i] < ' ' || s[i] > '~' || s[i] == '"' || s[i] == '\\' {
			plain = false
			break
		}
	}
	if plain {
		b.WriteByte('"')
		b.WriteString(s)
		b.WriteByte('"')
		return
	}
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err == nil {
		b.Truncate(b.Len() - 1) // the newline that Encode adds
	}
}
