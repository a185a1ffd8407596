package model

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// YAML returns the topology as a canonical file: every key in the order of [Keys], every default written out. For a valid
// topology [Parse] returns t again.
func (t Topology) YAML() []byte {
	return document(topologyKeys.encode(&t))
}

// document returns the file whose top is n.
func document(n node) []byte {
	var b bytes.Buffer
	for _, e := range n.(mapping).entries {
		b.WriteString(e.key + ":")
		e.value.block(&b, "")
	}
	return b.Bytes()
}

// A node is a piece of YAML to be printed: a literal, a mapping or a sequence.
type node interface {
	flow(b *bytes.Buffer)                 // on one line
	block(b *bytes.Buffer, indent string) // after "key:" or "-", ending the line
}

// A literal is a scalar as it stands in the file.
type literal string

// A mapping is a list of keys and values, on one line if it is inline.
type mapping struct {
	inline  bool
	entries []entry
}

type entry struct {
	key   string
	value node
}

// A sequence is a list, on one line if it is inline.
type sequence struct {
	inline bool
	items  []node
}

func (l literal) flow(b *bytes.Buffer)            { b.WriteString(string(l)) }
func (l literal) block(b *bytes.Buffer, _ string) { b.WriteString(" " + string(l) + "\n") }

func (m mapping) flow(b *bytes.Buffer) {
	b.WriteByte('{')
	for i, e := range m.entries {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(e.key + ": ")
		e.value.flow(b)
	}
	b.WriteByte('}')
}

func (m mapping) block(b *bytes.Buffer, indent string) {
	if m.inline || len(m.entries) == 0 {
		b.WriteByte(' ')
		m.flow(b)
		b.WriteByte('\n')
		return
	}
	b.WriteByte('\n')
	for _, e := range m.entries {
		b.WriteString(indent + "  " + e.key + ":")
		e.value.block(b, indent+"  ")
	}
}

func (s sequence) flow(b *bytes.Buffer) {
	b.WriteByte('[')
	for i, n := range s.items {
		if i > 0 {
			b.WriteString(", ")
		}
		n.flow(b)
	}
	b.WriteByte(']')
}

func (s sequence) block(b *bytes.Buffer, indent string) {
	if s.inline || len(s.items) == 0 {
		b.WriteByte(' ')
		s.flow(b)
		b.WriteByte('\n')
		return
	}
	b.WriteByte('\n')
	for _, n := range s.items {
		var one bytes.Buffer
		n.block(&one, indent+"  ")
		// The first key of a block mapping stands behind the dash.
		body := bytes.TrimPrefix(one.Bytes(), []byte("\n"+indent+"    "))
		b.WriteString(indent + "  - " + string(bytes.TrimPrefix(body, []byte(" "))))
	}
}

var (
	plainForm  = regexp.MustCompile(`^[A-Za-z/][A-Za-z0-9._/-]*$`)
	plainWords = []string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}
)

// quoted returns text as a YAML scalar, in quotes unless it is plainly text.
func quoted(s string) string {
	if plainForm.MatchString(s) && !slices.Contains(plainWords, strings.ToLower(s)) {
		return s
	}
	return singleQuoted(s)
}

// singleQuoted returns text in single quotes, or in double ones if it holds characters that single quotes cannot keep.
func singleQuoted(s string) string {
	for _, r := range s {
		if r < ' ' || r > '~' {
			return strconv.Quote(s)
		}
	}
	return "'" + strings.ReplaceAll(s, "'", "''") + "'"
}
