package simbackend

import (
	"bytes"
	"slices"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
)

// list is a list of steps, all of which are under one lookup.
type list struct {
	level int32 // of indentation
	last  int32 // the step that came last, if it may have others under it; else -1
}

// level is the blanks of one level of indentation.
const level = "    "

const manyLevels = level + level + level + level

func appendLevels(b []byte, n int32) []byte {
	for ; n > 4; n -= 4 {
		b = append(b, manyLevels...)
	}
	return append(b, manyLevels[:4*max(n, 0)]...)
}

// add adds a step under the innermost lookup.
func (t *tracer) add(kind datapath.NodeKind, text string) {
	at := t.start(kind)
	t.text = append(t.text, text...)
	t.finish(kind, at)
}

// start begins the line of a step that nothing is under; what stands there is up to the caller, and ends with finish.
func (t *tracer) start(kind datapath.NodeKind) int {
	t.text = appendLevels(t.text, t.next().level+1)
	switch kind {
	case datapath.NodeNote:
		t.text = append(t.text, " -> "...)
	case datapath.NodeWarn:
		t.text = append(t.text, " >> "...)
	case datapath.NodeError:
		t.text = append(t.text, " >>>> "...)
	}
	return len(t.text)
}

// finish ends the line of a step whose text was written from at on.
func (t *tracer) finish(kind datapath.NodeKind, at int) {
	t.nodes = append(t.nodes, datapath.Cut{From: int32(at), To: int32(len(t.text)), Kind: kind, Depth: t.depth()})
	if kind == datapath.NodeError {
		t.text = append(t.text, " <<<<"...)
	}
	t.text = append(t.text, '\n')
}

// addLine adds a step whose line is known: blanks of the outermost level, what stands before the text, the text, and the end.
func (t *tracer) addLine(kind datapath.NodeKind, line string, before int) {
	if l := t.next(); l.level > 0 {
		t.text = appendLevels(t.text, l.level)
	}
	at := len(t.text) + before
	t.text = append(t.text, line...)
	t.nodes = append(t.nodes, datapath.Cut{From: int32(at), To: int32(len(t.text) - 1), Kind: kind, Depth: t.depth()})
}

// depth is that of a step of the innermost list.
func (t *tracer) depth() uint16 { return uint16(len(t.lists) - 1) }

// next is the innermost list, which goes on. A lookup that came last in it is not the last any more, so it
// is indented.
func (t *tracer) next() *list {
	l := &t.lists[len(t.lists)-1]
	if l.last >= 0 {
		t.indent(l.last)
		l.last = -1
	}
	return l
}

// open adds a step that others may be under, and makes what follows such. The line of its text is known.
func (t *tracer) open(kind datapath.NodeKind, table openflow.TableID, line string) {
	l := t.next()
	l.last = int32(len(t.nodes))
	if l.level > 0 {
		t.text = appendLevels(t.text, l.level)
	}
	at := len(t.text)
	t.text = append(t.text, line...)
	t.nodes = append(t.nodes, datapath.Cut{From: int32(at), To: int32(len(t.text) - 1), Kind: kind, Table: table, Depth: t.depth()})
	t.lists = append(t.lists, list{level: l.level, last: -1})
}

// indent moves the line of a step one level to the right, and all lines behind it two, which are under it.
func (t *tracer) indent(first int32) {
	moved := t.nodes[first:]
	more := len(level) + 2*len(level)*(len(moved)-1)
	end := len(t.text)
	t.text = slices.Grow(t.text, more)[:end+more]
	for i := len(moved) - 1; i >= 0; i-- {
		n := &moved[i]
		start := bytes.LastIndexByte(t.text[:n.From], '\n') + 1
		to := start + more
		copy(t.text[to:], t.text[start:end])
		n.From += int32(more)
		n.To += int32(more)
		more -= 2 * len(level)
		more = max(more, 0)
		copy(t.text[start+more:to], manyLevels)
		end = start
	}
}
