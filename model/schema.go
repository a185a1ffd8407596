package model

import "github.com/goccy/go-yaml/ast"

// An object describes the YAML mapping that stands for a T: its keys in canonical order. One description serves the loader,
// the defaults, the per-field rules, the printer and the reference, so that they cannot disagree.
type object[T any] struct {
	fields []field[T]
	inline bool                                             // printed on one line, as {a: 1, b: 2}
	short  func(d *decoder, s scalar, path string, into *T) // reads a scalar that stands for the mapping; nil if none does
}

// A field is one key of an object.
type field[T any] interface {
	info() about
	decode(d *decoder, n ast.Node, path string, into *T) // what n says, or a fault and the zero value
	fill(f filler, path string, into *T)                 // the default, if it is a constant and nothing was given; copies what is shared
	check(c *checker, path string, of *T)                // the rules of this field alone
	encode(of *T) node                                   // nil leaves the key out
	reference(path string) []Key                         // its own row, then those of the keys inside
}

// about is what every field says of itself.
type about struct {
	key     string
	need    need
	meaning string
}

func (a about) info() about { return a }

// need says what the absence of a key means.
type need uint8

const (
	required  need = iota // a fault
	defaulted             // the default
	optional              // the zero value, which is left out when printing
)

// A Key is one row of the reference of YAML keys.
type Key struct {
	Path    string // as pools[].members[].weight
	Type    string
	Default string // in YAML, or in brackets how it follows from other keys; "required" and "none" are no values
	Meaning string
}

// Keys returns every key of the YAML file in canonical order: the one place where defaults are written down.
func Keys() []Key {
	return topologyKeys.reference("")
}

func (o *object[T]) field(key string) field[T] {
	for _, f := range o.fields {
		if f.info().key == key {
			return f
		}
	}
	return nil
}

func (o *object[T]) names() []string {
	names := make([]string, len(o.fields))
	for i, f := range o.fields {
		names[i] = f.info().key
	}
	return names
}

func (o *object[T]) fill(f filler, path string, into *T) {
	for _, each := range o.fields {
		each.fill(f, join(path, each.info().key), into)
	}
}

func (o *object[T]) check(c *checker, path string, of *T) {
	for _, each := range o.fields {
		each.check(c, join(path, each.info().key), of)
	}
}

func (o *object[T]) encode(of *T) node {
	m := mapping{inline: o.inline}
	for _, each := range o.fields {
		if value := each.encode(of); value != nil {
			m.entries = append(m.entries, entry{each.info().key, value})
		}
	}
	return m
}

func (o *object[T]) reference(path string) []Key {
	var keys []Key
	for _, each := range o.fields {
		keys = append(keys, each.reference(join(path, each.info().key))...)
	}
	return keys
}
