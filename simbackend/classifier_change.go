package simbackend

import (
	"maps"
	"math/bits"
	"slices"

	"hpnn/simbackend/flow"
)

func newSubtable(mask *flow.Key) *subtable {
	s := &subtable{mask: *mask, count: map[uint16]int{}, buckets: make([]bucket, 4)}
	for used := mask.Used(); used != 0; used &= used - 1 {
		w := bits.TrailingZeros64(used)
		s.words = append(s.words, masked{mask[w], uint8(w)})
	}
	return s
}

// appendPacked appends the words of a value that the subtable compares.
func (s *subtable) appendPacked(words []uint64, value *flow.Key) []uint64 {
	for i := range s.words {
		p := &s.words[i]
		words = append(words, value[p.word]&p.mask)
	}
	return words
}

// condition makes value and mask what r matches.
func (c *classifier) condition(r *rule, value, mask *flow.Key) {
	r.home = c.home(mask)
	r.value = r.home.appendPacked(make([]uint64, 0, len(r.home.words)), value)
}

// home is the subtable of a mask, or one that waits for its first rule.
func (c *classifier) home(mask *flow.Key) *subtable {
	if s := c.of(mask); s != nil {
		return s
	}
	return newSubtable(mask)
}

// insert adds r, whose condition and priority no other rule of the table has.
func (c *classifier) insert(r *rule) {
	switch s := c.of(&r.home.mask); {
	case s == nil:
		c.add(r.home)
	case s != r.home:
		r.home = s // another has come to stand for the mask
	}
	s := r.home
	changed := s.insert(r)
	c.count++
	if p := c.probe(s); r.priority > p.highest {
		p.highest = r.priority
		c.sort()
	}
	if changed {
		c.probe(s).filter()
	}
}

// probe is that of a subtable.
func (c *classifier) probe(s *subtable) *probe {
	for i := range c.probes {
		if c.probes[i].subtable == s {
			return &c.probes[i]
		}
	}
	panic("simbackend: subtable is in no table")
}

// filter chooses what to look at before the rules of a subtable are searched: the kind, and of the
// other words the one of which most bits are the same in all rules.
func (p *probe) filter() {
	p.kind, p.other, p.common = shared{}, shared{}, 0
	for i, w := range p.words {
		switch s := p.shared[i]; {
		case w.word == flow.KindWord:
			p.kind = s
		case bits.OnesCount64(s.mask) > bits.OnesCount64(p.other.mask):
			p.other, p.common = s, w.word
		}
	}
}

// add enters a subtable, which is empty.
func (c *classifier) add(s *subtable) {
	if c.byMask == nil {
		c.byMask = map[uint64][]*subtable{}
	}
	h := s.mask.Hash()
	c.byMask[h] = append(c.byMask[h], s)
	c.probes = append(c.probes, probe{subtable: s})
}

// drop takes out a subtable, which is empty.
func (c *classifier) drop(s *subtable) {
	c.recent = nil
	h := s.mask.Hash()
	if c.byMask[h] = slices.DeleteFunc(c.byMask[h], func(x *subtable) bool { return x == s }); len(c.byMask[h]) == 0 {
		delete(c.byMask, h)
	}
	c.probes = slices.DeleteFunc(c.probes, func(p probe) bool { return p.subtable == s })
}

func (c *classifier) sort() {
	slices.SortStableFunc(c.probes, func(a, b probe) int { return int(b.highest) - int(a.highest) })
}

// insert adds a rule and reports whether it shares less with the others than they did.
func (s *subtable) insert(r *rule) (changed bool) {
	if 4*(s.used+1) > 3*len(s.buckets) {
		s.resize(2 * len(s.buckets))
	}
	changed = s.narrow(r)
	s.count[r.priority]++
	h := hashPacked(r.value)
	b := &s.buckets[s.place(h, r.value)]
	if b.head == nil {
		b.hash = h
		s.used++
	}
	at := &b.head
	for *at != nil && (*at).priority > r.priority {
		at = &(*at).next
	}
	r.next, *at = *at, r
	return changed
}

// narrow leaves of what the rules share what r, which is to join them, has too, and reports whether
// that is less. It is never widened: what the others share stays true when a rule goes.
func (s *subtable) narrow(r *rule) (changed bool) {
	if s.used == 0 {
		s.shared = s.shared[:0]
		for i, w := range s.words {
			s.shared = append(s.shared, shared{w.mask, r.value[i]})
		}
		return true
	}
	for i, v := range r.value {
		if x := &s.shared[i]; (x.value^v)&x.mask != 0 {
			x.mask &^= x.value ^ v
			x.value &= x.mask
			changed = true
		}
	}
	return changed
}

// place is the bucket of a value: the one that holds it or the free one where it belongs.
func (s *subtable) place(h uint64, value []uint64) uint64 {
	last := uint64(len(s.buckets) - 1)
	for i := h & last; ; i = (i + 1) & last {
		if b := &s.buckets[i]; b.head == nil || b.hash == h && slices.Equal(b.head.value, value) {
			return i
		}
	}
}

func (s *subtable) resize(n int) {
	old := s.buckets
	s.buckets = make([]bucket, n)
	for _, b := range old {
		if b.head != nil {
			s.buckets[s.place(b.hash, b.head.value)] = b
		}
	}
}

// remove takes r out.
func (c *classifier) remove(r *rule) {
	s := r.home
	s.remove(r)
	c.count--
	if s.used == 0 {
		c.drop(s)
		return
	}
	if p := c.probe(s); s.count[p.highest] == 0 {
		p.highest = slices.Max(slices.Collect(maps.Keys(s.count)))
		c.sort()
	}
}

func (s *subtable) remove(r *rule) {
	if s.count[r.priority]--; s.count[r.priority] == 0 {
		delete(s.count, r.priority)
	}
	i := s.place(hashPacked(r.value), r.value)
	at := &s.buckets[i].head
	for *at != r {
		at = &(*at).next
	}
	*at, r.next = r.next, nil
	if s.buckets[i].head == nil {
		s.used--
		s.close(i)
	}
}

// close moves the buckets behind an emptied one up, so that no search stops short of them.
func (s *subtable) close(hole uint64) {
	last := uint64(len(s.buckets) - 1)
	for j := (hole + 1) & last; s.buckets[j].head != nil; j = (j + 1) & last {
		home := s.buckets[j].hash & last
		if (j-home)&last >= (j-hole)&last {
			s.buckets[hole], s.buckets[j] = s.buckets[j], bucket{}
			hole = j
		}
	}
}
