package simbackend

import (
	"hpnn/simbackend/flow"
)

// megaflows is what passes came to that began in one place: with a frame that has come in, or behind a ct().
// As in OVS's datapath they are found by what the passes looked at, and stand in a hash table for each mask of
// that. Whatever else a frame has, it comes to the same.
type megaflows []*wildcarded

// wildcarded is the megaflows of one mask.
type wildcarded struct {
	mask   flow.View
	choice *flow.Choice // nil, or whose link is compared too
	words  []masked     // of the mask, those that are not 0
	slots  []megaslot   // open addressing, linearly probed, a power of two, at most half full
	used   int
}

// megaslot is a place for a megaflow.
type megaslot struct {
	hash uint64
	*megaflow
}

// megaflow is the outcome of frames that are alike under a mask.
type megaflow struct {
	*outcome
	value flow.View // masked
}

const (
	maxMasks     = 16 // of one place; then the one that came last goes
	minMegaflows = 8
)

// find returns the megaflow of frames like v, or nil. k is to work in.
func (all megaflows) find(v *flow.View, k *flow.Key) *megaflow {
	var choice *flow.Choice
	for _, t := range all {
		if t.choice != choice && t.choice != nil {
			choice = t.choice
			choice.Apply(v, k)
		}
		if m := t.slots[t.place(hashMasked(t.words, v[:]), v)].megaflow; m != nil && !m.dead {
			return m
		}
	}
	return nil
}

// place is the slot of a view: the one with those like it or the free one where they belong.
func (t *wildcarded) place(h uint64, v *flow.View) uint64 {
	last := uint64(len(t.slots) - 1)
	for i := h & last; ; i = (i + 1) & last {
		if s := &t.slots[i]; s.megaflow == nil || s.hash == h && t.matches(s.megaflow, v) {
			return i
		}
	}
}

func (t *wildcarded) matches(m *megaflow, v *flow.View) bool {
	for i := range t.words {
		if p := &t.words[i]; v[p.word]&p.mask != m.value[p.word] {
			return false
		}
	}
	return true
}

// add enters what a pass came to whose frame had the view v, of which it looked at what w says. k is to work in.
// It returns its megaflow, and how many there are more.
func (all *megaflows) add(v *flow.View, w *wildcards, o *outcome, k *flow.Key) (m *megaflow, more int) {
	before := all.count()
	t := all.of(w)
	if t.choice != nil {
		t.choice.Apply(v, k)
	}
	t.reserve()
	m = &megaflow{outcome: o}
	h := hashMasked(t.words, v[:])
	for _, p := range t.words {
		m.value[p.word] = v[p.word] & p.mask
	}
	at := &t.slots[t.place(h, v)]
	if at.megaflow == nil {
		t.used++
	}
	*at = megaslot{h, m}
	return m, all.count() - before
}

func (all megaflows) count() (n int) {
	for _, t := range all {
		n += t.used
	}
	return n
}

// of returns the megaflows of a mask, perhaps none yet.
func (all *megaflows) of(w *wildcards) *wildcarded {
	var mask flow.View
	mask.Of(&w.mask)
	if w.untracked {
		mask.Untrack()
	}
	choice := w.choice
	if choice != nil {
		choice.AddTo(&mask)
	}
	for _, t := range *all {
		if t.chooses(choice) {
			if t.mask == mask {
				return t
			}
			choice = t.choice // so that a lookup makes it once
		}
	}
	t := &wildcarded{mask: mask, choice: choice, slots: make([]megaslot, minMegaflows)}
	for i, m := range mask {
		if m != 0 {
			t.words = append(t.words, masked{m, uint8(i)})
		}
	}
	if len(*all) == maxMasks {
		*all = (*all)[:maxMasks-1]
	}
	*all = append(*all, t)
	return t
}

func (t *wildcarded) chooses(c *flow.Choice) bool {
	return t.choice == c || t.choice != nil && c != nil && *t.choice == *c
}

// reserve makes room for one more, and leaves out the dead when there is none.
func (t *wildcarded) reserve() {
	if 2*(t.used+1) <= len(t.slots) {
		return
	}
	old, alive := t.slots, 0
	for _, m := range old {
		if m.megaflow != nil && !m.dead {
			alive++
		}
	}
	size := len(old)
	if 4*alive >= size {
		size *= 2
	}
	t.slots, t.used = make([]megaslot, size), 0
	last := uint64(size - 1)
	for _, m := range old {
		if m.megaflow == nil || m.dead {
			continue
		}
		i := m.hash & last
		for t.slots[i].megaflow != nil {
			i = (i + 1) & last
		}
		t.slots[i] = m
		t.used++
	}
}
