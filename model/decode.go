package model

import (
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// A decoder walks the syntax tree of one file, remembers where each field stands and collects what does not fit.
type decoder struct {
	index  map[string]place // of every key and list element that the file has
	faults Faults
	broken map[string]bool // paths whose values could not be read
}

// A place is where a field stands in the file.
type place struct {
	line, column int
}

func placeOf(t *token.Token) place {
	return place{line: t.Position.Line, column: t.Position.Column}
}

// reject records a complaint about the field at path, unless it is nil. Rules keep quiet about that field then.
func (d *decoder) reject(path string, wrong *complaint) {
	if wrong == nil {
		return
	}
	d.broken[path] = true
	d.rejectAt(d.index[path], path, wrong)
}

func (d *decoder) rejectAt(at place, path string, wrong *complaint) {
	d.faults = append(d.faults, Fault{
		Line: at.line, Column: at.column, Path: path, Problem: wrong.problem, Remedy: wrong.remedy,
	})
}

// locate remembers where the value of path stands.
func (d *decoder) locate(path string, n ast.Node) {
	d.index[path] = startOf(n)
}

// startOf returns the first token of a node; the tree keeps the colon for a block mapping, but a reader looks for the key.
func startOf(n ast.Node) place {
	if m, ok := n.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) > 0 {
		return startOf(m.Values[0].Key)
	}
	return placeOf(n.GetToken())
}

func decodeObject[T any](d *decoder, o *object[T], n ast.Node, path string, into *T) {
	m, ok := n.(*ast.MappingNode)
	if !ok {
		decodeShort(d, o, n, path, into)
		return
	}
	for _, e := range m.Values {
		decodeEntry(d, o, e, path, into)
	}
	for _, f := range o.fields {
		at := join(path, f.info().key)
		if _, given := d.index[at]; !given && f.info().need == required && !d.isBroken(at) {
			d.broken[at] = true
			d.rejectAt(d.index[path], at, missing(f.info().key))
		}
	}
}

func decodeShort[T any](d *decoder, o *object[T], n ast.Node, path string, into *T) {
	_, isList := n.(*ast.SequenceNode)
	if o.short != nil && !isList {
		if s, ok := d.scalar(n, path, "mapping"); ok {
			o.short(d, s, path, into)
		}
		return
	}
	wrong := d.shape(n, "a mapping", "write its keys: "+listing(o.names()))
	if path == "" {
		wrong.problem = "the file " + wrong.problem
	}
	d.reject(path, wrong)
}

func decodeEntry[T any](d *decoder, o *object[T], e *ast.MappingValueNode, path string, into *T) {
	key, ok := d.key(e, path)
	if !ok {
		return
	}
	at := join(path, key)
	f := o.field(key)
	if f == nil {
		wrong, meant := unknownKey(key, o.names())
		d.rejectAt(startOf(e.Key), at, wrong)
		d.broken[join(path, meant)] = true
		return
	}
	if first, twice := d.index[at]; twice {
		d.rejectAt(startOf(e.Key), at, complain("keep one of them", "is given twice, first in line %d", first.line))
		return
	}
	if glued(e) {
		d.rejectAt(startOf(e.Key), at, complain("write "+key+": with a space after the colon", "the value touches its key"))
	}
	d.index[at] = startOf(e.Value)
	if _, scalar := e.Value.(ast.ScalarNode); !scalar || isNull(e.Value) {
		d.index[at] = startOf(e.Key)
	}
	f.decode(d, e.Value, at, into)
}

// glued reports whether a plain key and its scalar have no space between them, which YAML takes for one word.
func glued(e *ast.MappingValueNode) bool {
	_, scalar := e.Value.(ast.ScalarNode)
	plain := e.Key.GetToken().Type == token.StringType
	colon := placeOf(e.Start)
	return scalar && plain && !isNull(e.Value) && startOf(e.Value) == place{colon.line, colon.column + 1}
}

// key returns the text of an entry's key; keys that are not plain text are refused.
func (d *decoder) key(e *ast.MappingValueNode, path string) (string, bool) {
	switch k := e.Key.(type) {
	case *ast.StringNode:
		return k.Value, true
	case *ast.MergeKeyNode:
		d.rejectAt(startOf(e.Key), path, complain("write the keys out", "merge keys (<<) are not supported"))
	case *ast.MappingKeyNode, *ast.AnchorNode, *ast.AliasNode, *ast.TagNode:
		d.rejectAt(startOf(e.Key), path, complain("write the key as plain text", "the key is not plain text"))
	default:
		return e.Key.GetToken().Value, true
	}
	d.broken[path] = true
	return "", false
}

// sequence returns the elements of a list. Nothing at all is an empty list.
func (d *decoder) sequence(n ast.Node, path, remedy string) []ast.Node {
	if s, ok := n.(*ast.SequenceNode); ok {
		return s.Values
	}
	if !isNull(n) {
		d.reject(path, d.shape(n, "a list", remedy))
	}
	return nil
}

// scalar returns a scalar as it was written.
func (d *decoder) scalar(n ast.Node, path, kind string) (scalar, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		form := formPlain
		if n.Token.Type == token.SingleQuoteType || n.Token.Type == token.DoubleQuoteType {
			form = formQuoted
		}
		return scalar{text: n.Value, form: form}, true
	case *ast.LiteralNode:
		return scalar{text: n.Value.Value, form: formQuoted}, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return scalar{text: n.GetToken().Value, form: formNumber}, true
	case *ast.BoolNode:
		return scalar{text: n.GetToken().Value, form: formBool}, true
	}
	d.reject(path, d.shape(n, "one "+kind, "write one "+kind))
	return scalar{}, false
}

// shape complains that n is not what was wanted.
func (d *decoder) shape(n ast.Node, wanted, remedy string) *complaint {
	is := "a scalar"
	switch n.(type) {
	case *ast.NullNode:
		return complain("give it one or remove the key", "has no value")
	case *ast.AnchorNode, *ast.AliasNode:
		return complain("write the value out", "anchors and aliases are not supported")
	case *ast.TagNode:
		return complain("remove the tag", "tags are not supported")
	case *ast.MappingNode:
		is = "a mapping"
	case *ast.SequenceNode:
		is = "a list"
	}
	return complain(remedy, "is %s, not %s", is, wanted)
}

func isNull(n ast.Node) bool {
	_, null := n.(*ast.NullNode)
	return null
}

// isBroken reports whether path, or something it is part of, could not be read.
func (d *decoder) isBroken(path string) bool {
	for path != "" && !d.broken[path] {
		path = parent(path)
	}
	return d.broken[path]
}

// nearest returns the place of path or of the innermost thing around it that the file has.
func (d *decoder) nearest(path string) place {
	for path != "" {
		if at, ok := d.index[path]; ok {
			return at
		}
		path = parent(path)
	}
	return d.index[""]
}
