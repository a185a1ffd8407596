package model

import (
	"github.com/goccy/go-yaml/ast"
)

// A value is a field that holds a scalar V.
type value[T any, V comparable] struct {
	about
	codec codec[V]
	at    func(*T) *V
	def   string              // the default in YAML; empty if it is derived from other fields, or there is none
	from  string              // how a derived default comes about, for the reference
	only  func(*T) *complaint // nil, or why the key has no meaning in this object
	zero  bool                // the zero value is a choice of its own, never "not given"
	quiet bool                // a rule between fields judges its absence
}

func (f value[T, V]) decode(d *decoder, n ast.Node, path string, into *T) {
	s, ok := d.scalar(n, path, f.codec.kind)
	if !ok {
		return
	}
	v, wrong := f.codec.read(s)
	if wrong != nil {
		d.reject(path, wrong)
		return
	}
	*f.at(into) = v
}

// applies reports whether the key has a meaning here: an HTTP path has none in a TCP monitor.
func (f value[T, V]) applies(of *T) bool {
	return f.only == nil || f.only(of) == nil
}

func (f value[T, V]) fill(fill filler, path string, into *T) {
	var unset V
	if f.def == "" || *f.at(into) != unset || !f.applies(into) || fill.given(path) || f.zero && !fill.knows() {
		return
	}
	v, wrong := f.codec.read(scalar{text: f.def, form: formOf(f.def)})
	if wrong != nil {
		panic("model: default of " + path + " " + wrong.problem)
	}
	*f.at(into) = v
}

func (f value[T, V]) check(c *checker, path string, of *T) {
	var unset V
	v := *f.at(of)
	if !f.applies(of) {
		if v != unset {
			c.reject(path, f.only(of))
		}
		return
	}
	if v == unset && (f.need == optional || f.quiet) {
		return
	}
	if v == unset && f.codec.blank {
		c.reject(path, missing(f.key))
		return
	}
	c.reject(path, f.codec.check(v))
}

// encode leaves out only what is zero and would be zero again after loading; what should not be there is printed, not hidden.
func (f value[T, V]) encode(of *T) node {
	var unset V
	v := *f.at(of)
	if v == unset && (f.need == optional || !f.applies(of)) {
		return nil
	}
	return literal(f.codec.write(v))
}

func (f value[T, V]) reference(path string) []Key {
	def := f.def
	switch {
	case f.need == required:
		def = "required"
	case f.need == optional:
		def = "none"
	case f.def == "":
		def = "(" + f.from + ")"
	}
	return []Key{{Path: path, Type: f.codec.kind, Default: def, Meaning: f.meaning}}
}

func missing(key string) *complaint {
	return complain("add "+key+":", "is missing")
}

// A nested is a field that holds an object V.
type nested[T, V any] struct {
	about
	of *object[V]
	at func(*T) *V
}

func (f nested[T, V]) decode(d *decoder, n ast.Node, path string, into *T) {
	decodeObject(d, f.of, n, path, f.at(into))
}

func (f nested[T, V]) fill(fill filler, path string, into *T) { f.of.fill(fill, path, f.at(into)) }
func (f nested[T, V]) check(c *checker, path string, of *T)   { f.of.check(c, path, f.at(of)) }
func (f nested[T, V]) encode(of *T) node                      { return f.of.encode(f.at(of)) }

func (f nested[T, V]) reference(path string) []Key {
	return append([]Key{objectKey(f.about, f.of, path)}, f.of.reference(path)...)
}

// A pointer is a field that holds an object V or nothing.
type pointer[T, V any] struct {
	about
	of *object[V]
	at func(*T) **V
}

func (f pointer[T, V]) decode(d *decoder, n ast.Node, path string, into *T) {
	v := new(V)
	decodeObject(d, f.of, n, path, v)
	*f.at(into) = v
}

func (f pointer[T, V]) fill(fill filler, path string, into *T) {
	if v := *f.at(into); v != nil {
		filled := *v
		f.of.fill(fill, path, &filled)
		*f.at(into) = &filled
	}
}

func (f pointer[T, V]) check(c *checker, path string, of *T) {
	if v := *f.at(of); v != nil {
		f.of.check(c, path, v)
	}
}

func (f pointer[T, V]) encode(of *T) node {
	if v := *f.at(of); v != nil {
		return f.of.encode(v)
	}
	return nil
}

func (f pointer[T, V]) reference(path string) []Key {
	return append([]Key{objectKey(f.about, f.of, path)}, f.of.reference(path)...)
}

func objectKey[V any](a about, of *object[V], path string) Key {
	key := Key{Path: path, Type: "mapping", Default: "none", Meaning: a.meaning}
	switch a.need {
	case required:
		key.Default = "required"
	case defaulted:
		key.Default = "(of its keys)"
	}
	return key
}
