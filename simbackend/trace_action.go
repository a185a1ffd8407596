package simbackend

import (
	"slices"
	"strings"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
)

// actionText is what a trace writes for an action.
type actionText struct {
	lines string            // its line, and those of actions that are written with it
	size  int32             // of its line
	run   int32             // how many lines there are
	dst   openflow.Subfield // what it writes, if that was noted
	value string            // what the note's line begins with
}

// describe makes the texts of the actions. Behind a store, which never fails and never has a note, comes the next
// action, so their lines are one piece.
func (c *code) describe() {
	c.texts = make([]actionText, len(c.actions))
	var all strings.Builder
	ends := make([]int, len(c.actions))
	for i, a := range c.actions {
		before := all.Len()
		all.WriteString(level + a.String() + "\n")
		ends[i] = all.Len()
		c.texts[i].size = int32(ends[i] - before)
	}
	for i := range c.texts {
		last := i
		for last < len(c.ops)-1 && c.ops[last].code == opStore {
			last++
		}
		a := &c.texts[i]
		a.lines, a.run = all.String()[ends[i]-int(a.size):ends[last]], int32(last-i+1)
	}
}

// action adds action i of a list.
func (t *tracer) action(c *code, i int) {
	t.done = i
	if t.ahead > 0 {
		t.ahead--
		return
	}
	if c.texts == nil {
		c.describe()
	}
	if t.doing != c {
		t.doing = c
	}
	run := c.texts[i : i+int(c.texts[i].run)]
	t.ahead = len(run) - 1
	lines, l := run[0].lines, t.next()
	if l.level == 0 {
		at, n, depth := int32(len(t.text)), len(t.nodes), t.depth()
		t.text = append(t.text, lines...)
		t.nodes = slices.Grow(t.nodes, len(run))[:n+len(run)]
		nodes := t.nodes[n:]
		for k := range run {
			end := at + run[k].size
			nodes[k] = datapath.Cut{From: at + int32(len(level)), To: end - 1, Kind: datapath.NodeAction, Depth: depth}
			at = end
		}
		return
	}
	for k := range run {
		t.addLine(datapath.NodeAction, lines[:run[k].size], len(level))
		lines = lines[run[k].size:]
	}
}
