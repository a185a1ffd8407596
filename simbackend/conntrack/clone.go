package conntrack

import (
	"bytes"
	"slices"
)

// Clone is a copy of the table that shares nothing with it, for trying out what a packet would
// do. Packets that were tracked by the original do not know the copy's connections.
func (t *Table) Clone() *Table {
	c := &Table{config: t.config, earliest: t.earliest, aborts: t.aborts, waiting: t.waiting.clone()}
	for old := t.oldest; old != nil; old = old.newer {
		n := *old
		n.older, n.newer = nil, nil
		c.add(&n)
	}
	return c
}

func (w *fragments) clone() fragments {
	c := fragments{count: w.count, aborts: w.aborts, byKey: make(map[fragmentKey]*datagram, len(w.byKey))}
	copyAll := func(list []*datagram) []*datagram {
		list = slices.Clone(list)
		for i, d := range list {
			list[i] = d.clone()
			c.byKey[d.key] = list[i]
		}
		return list
	}
	c.pending, c.finished = copyAll(w.pending), copyAll(w.finished)
	return c
}

func (d *datagram) clone() *datagram {
	c := *d
	c.fragments = slices.Clone(d.fragments)
	for i := range c.fragments {
		c.fragments[i].packet.Frame = bytes.Clone(c.fragments[i].packet.Frame)
	}
	return &c
}
