package conntrack

import (
	"bytes"
	"slices"
)

// trial is what has to be taken back.
type trial struct {
	added   []*conn
	touched []snapshot
}

// snapshot is how an entry was.
type snapshot struct {
	conn *conn
	was  conn
}

// Try calls f and then takes back all that packets have made of the table meanwhile, for finding out
// what a packet would do. It costs as much as they have changed. f must not call Expire or Flush, and
// what it tracked is unknown to the table afterwards.
func (t *Table) Try(f func()) {
	aborts, waiting := t.aborts, t.waiting
	t.spare.added, t.spare.touched = t.spare.added[:0], t.spare.touched[:0]
	t.trial, t.waiting = &t.spare, waiting.clone()
	defer func() {
		t.undo()
		t.aborts, t.waiting, t.trial = aborts, waiting, nil
	}()
	f()
}

func (t *Table) undo() {
	for _, s := range slices.Backward(t.trial.touched) {
		*s.conn = s.was
	}
	for _, c := range slices.Backward(t.trial.added) {
		t.remove(c)
	}
}

// touch must precede every change that a packet makes of an entry.
func (t *Table) touch(c *conn) {
	if t.trial != nil {
		t.trial.touched = append(t.trial.touched, snapshot{c, *c})
	}
}

func (w *fragments) clone() fragments {
	c := fragments{count: w.count, aborts: w.aborts}
	if w.idle() {
		return c
	}
	c.byKey = make(map[fragmentKey]*datagram, len(w.byKey))
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
