package model

import (
	"slices"

	"github.com/goccy/go-yaml/ast"
)

// A list is a field that holds a list of objects V.
type list[T, V any] struct {
	about
	of *object[V]
	at func(*T) *[]V
}

func (f list[T, V]) decode(d *decoder, n ast.Node, path string, into *T) {
	for i, element := range d.sequence(n, path, "start each entry with a dash, as \"- "+f.of.names()[0]+": …\"") {
		var v V
		d.locate(item(path, i), element)
		decodeObject(d, f.of, element, item(path, i), &v)
		*f.at(into) = append(*f.at(into), v)
	}
}

// fill works on a copy of the list, so that the caller's topology stays as it is.
func (f list[T, V]) fill(fill filler, path string, into *T) {
	all := slices.Clone(*f.at(into))
	for i := range all {
		f.of.fill(fill, item(path, i), &all[i])
	}
	*f.at(into) = all
}

func (f list[T, V]) check(c *checker, path string, of *T) {
	all := *f.at(of)
	if len(all) == 0 && f.need == required {
		c.reject(path, complain("add at least one", "is empty"))
	}
	for i := range all {
		f.of.check(c, item(path, i), &all[i])
	}
}

func (f list[T, V]) encode(of *T) node {
	all := *f.at(of)
	if len(all) == 0 && f.need != required {
		return nil
	}
	var s sequence
	for i := range all {
		s.items = append(s.items, f.of.encode(&all[i]))
	}
	return s
}

func (f list[T, V]) reference(path string) []Key {
	return append([]Key{listKey(f.about, path, "mappings")}, f.of.reference(path+"[]")...)
}

// A texts is a field that holds a list of scalars.
type texts[T any] struct {
	about
	codec codec[string]
	at    func(*T) *[]string
}

func (f texts[T]) decode(d *decoder, n ast.Node, path string, into *T) {
	for i, element := range d.sequence(n, path, "write it in brackets, as [a, b]") {
		d.locate(item(path, i), element)
		var v string
		if s, ok := d.scalar(element, item(path, i), f.codec.kind); ok {
			var wrong *complaint
			v, wrong = f.codec.read(s)
			d.reject(item(path, i), wrong)
		}
		*f.at(into) = append(*f.at(into), v)
	}
}

func (f texts[T]) fill(_ filler, _ string, into *T) {
	*f.at(into) = slices.Clone(*f.at(into))
}

func (f texts[T]) check(c *checker, path string, of *T) {
	all := *f.at(of)
	if len(all) == 0 && f.need == required {
		c.reject(path, complain("add at least one", "is empty"))
	}
	for i, v := range all {
		if v == "" {
			c.reject(item(path, i), complain("write a "+f.codec.kind, "is empty"))
			continue
		}
		c.reject(item(path, i), f.codec.check(v))
	}
}

func (f texts[T]) encode(of *T) node {
	s := sequence{inline: true}
	for _, v := range *f.at(of) {
		s.items = append(s.items, literal(f.codec.write(v)))
	}
	return s
}

func (f texts[T]) reference(path string) []Key {
	return []Key{listKey(f.about, path, f.codec.kind+"s")}
}

func listKey(a about, path, of string) Key {
	key := Key{Path: path, Type: "list of " + of, Default: "none", Meaning: a.meaning}
	if a.need == required {
		key.Default = "required"
	}
	return key
}
