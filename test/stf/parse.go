package stf

import (
	"fmt"
	"slices"
	"strings"
)

// Statement is one line of a test.
type Statement struct {
	Line    int
	Command string // lower case

	Table    string // add, setdefault; the array of counter, register and meter commands
	Priority string // add; "" if there is none
	Match    []Pair // add
	Action   string // add, setdefault
	Args     []Pair // add, setdefault
	Port     string // packet, expect
	Data     string // packet, expect: digits, *, and $ at the end; "" if the line has none
	Words    []string
}

// Pair is a name with a value.
type Pair struct{ Name, Value string }

// Error is a mistake in a test file.
type Error struct {
	File    string
	Line    int
	Message string
}

func (e *Error) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Message) }

var commands = []string{
	"add", "check_counter", "counter_read", "counter_write", "expect", "mc_mgrp_create", "mc_node_associate", "mc_node_create",
	"mc_node_update", "meter_array_set_rates", "meter_get_rates", "meter_set_rates", "mirroring_add", "mirroring_add_mc",
	"mirroring_delete", "mirroring_get", "no_packet", "packet", "register_read", "register_reset", "register_write", "remove",
	"setdefault", "wait",
}

// Parse reads a test. The error is an *Error.
func Parse(file, text string) ([]Statement, error) {
	var list []Statement
	for i, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		word, rest, _ := strings.Cut(line, " ")
		if t := strings.IndexByte(word, '\t'); t >= 0 {
			word, rest = word[:t], word[t:]+" "+rest
		}
		s := Statement{Line: i + 1, Command: strings.ToLower(word)}
		if err := s.parse(rest); err != nil {
			return nil, &Error{file, i + 1, err.Error()}
		}
		list = append(list, s)
	}
	return list, nil
}

func (s *Statement) parse(rest string) error {
	switch s.Command {
	case "packet", "expect":
		return s.parsePacket(rest)
	}
	if !slices.Contains(commands, s.Command) {
		return fmt.Errorf("unknown command %q; the commands are %s", s.Command, strings.Join(commands, ", "))
	}
	tokens, err := lex(rest)
	if err != nil {
		return err
	}
	p := parser{tokens: tokens}
	switch s.Command {
	case "add":
		return s.parseAdd(&p)
	case "setdefault":
		if s.Table, err = p.name("a table"); err != nil {
			return err
		}
		if s.Action, s.Args, err = p.action(); err != nil {
			return err
		}
		return p.end()
	}
	s.Words = tokens
	return nil
}

func (s *Statement) parsePacket(rest string) error {
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return fmt.Errorf("%s needs a port", s.Command)
	}
	s.Port = fields[0]
	if strings.Trim(s.Port, "0123456789") != "" {
		return fmt.Errorf("port %q is no decimal number", s.Port)
	}
	s.Data = strings.ToLower(strings.Join(fields[1:], ""))
	digits := strings.TrimSuffix(s.Data, "$")
	if s.Command == "packet" {
		digits = s.Data
		if digits == "" {
			return fmt.Errorf("packet needs data")
		}
	}
	allowed := "0123456789abcdef"
	if s.Command == "expect" {
		allowed += "*"
	}
	if bad := strings.Trim(digits, allowed); bad != "" || strings.ContainsFunc(digits, func(r rune) bool { return !strings.ContainsRune(allowed, r) }) {
		return fmt.Errorf("%s data has characters other than %s", s.Command, allowed)
	}
	return nil
}

// add TABLE [PRIORITY] key:value ... ACTION(arg:value, ...) [= ID]
func (s *Statement) parseAdd(p *parser) (err error) {
	if s.Table, err = p.name("a table"); err != nil {
		return err
	}
	if t := p.peek(); t != "" && strings.Trim(t, "0123456789") == "" {
		s.Priority = p.next()
	}
	for {
		at := p.at
		name, err := p.name("a key or an action")
		if err != nil {
			return err
		}
		if p.peek() != ":" {
			p.at = at
			break
		}
		p.next()
		value := p.next()
		if p.peek() == "/" {
			p.next()
			value += "/" + p.next()
		}
		if value == "" {
			return fmt.Errorf("key %s has no value", name)
		}
		s.Match = append(s.Match, Pair{name, value})
	}
	if s.Action, s.Args, err = p.action(); err != nil {
		return err
	}
	if p.peek() == "=" {
		p.next()
		if _, err := p.name("a label"); err != nil {
			return err
		}
	}
	return p.end()
}

// lex splits a line into names, numbers and single punctuation characters. Quotes around a name are stripped.
func lex(line string) ([]string, error) {
	var out []string
	for i := 0; i < len(line); {
		c := line[i]
		switch {
		case c == ' ' || c == '\t' || c == '\r':
			i++
		case c == '"':
			n := strings.IndexByte(line[i+1:], '"')
			if n < 0 {
				return nil, fmt.Errorf("a quote is not closed")
			}
			out = append(out, line[i+1:i+1+n])
			i += n + 2
		case strings.IndexByte(":(),=/<>!", c) >= 0:
			n := 1
			if strings.IndexByte("=<>!", c) >= 0 && i+1 < len(line) && line[i+1] == '=' {
				n = 2
			}
			out = append(out, line[i:i+n])
			i += n
		case wordByte(c):
			n := i
			for n < len(line) && wordByte(line[n]) {
				n++
			}
			out = append(out, line[i:n])
			i = n
		default:
			return nil, fmt.Errorf("illegal character %q", c)
		}
	}
	return out, nil
}

func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("_$.[]*&-", c) >= 0
}

type parser struct {
	tokens []string
	at     int
}

func (p *parser) peek() string {
	if p.at < len(p.tokens) {
		return p.tokens[p.at]
	}
	return ""
}

func (p *parser) next() string {
	t := p.peek()
	p.at++
	return t
}

func (p *parser) name(what string) (string, error) {
	t := p.next()
	if t == "" {
		return "", fmt.Errorf("the line ends where %s should be", what)
	}
	if !wordByte(t[0]) {
		return "", fmt.Errorf("%q stands where %s should be", t, what)
	}
	return t, nil
}

func (p *parser) action() (name string, args []Pair, err error) {
	if name, err = p.name("an action"); err != nil {
		return "", nil, err
	}
	if t := p.next(); t != "(" {
		return "", nil, fmt.Errorf("action %s is not followed by (", name)
	}
	for p.peek() != ")" {
		arg, err := p.name("an argument")
		if err != nil {
			return "", nil, err
		}
		if p.next() != ":" {
			return "", nil, fmt.Errorf("argument %s is not followed by a colon", arg)
		}
		value, err := p.name("a value")
		if err != nil {
			return "", nil, err
		}
		args = append(args, Pair{arg, value})
		if p.peek() == "," {
			p.next()
		} else if p.peek() != ")" {
			return "", nil, fmt.Errorf("argument %s is followed by %q, not by , or )", arg, p.peek())
		}
	}
	p.next()
	return name, args, nil
}

func (p *parser) end() error {
	if t := p.peek(); t != "" {
		return fmt.Errorf("%q is too much", t)
	}
	return nil
}
