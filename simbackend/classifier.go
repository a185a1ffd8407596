package simbackend

import (
	"maps"
	"slices"

	"hpnn/datapath/openflow"
	"hpnn/simbackend/flow"
)

// A classifier finds the rule of highest priority that a key satisfies.
//
// The simplest design looks at every rule in order of priority; the tests keep it as a
// twin. Real rule sets have many rules but few different masks, so the rules of one mask
// stand together in a subtable: a hash table of the masked key. A lookup then costs one
// probe a subtable. Subtables are tried in descending order of their highest priority,
// and the search ends at the first that can no longer beat the best rule found (tuple
// space search; Srinivasan, Suri and Varghese, SIGCOMM 1999).
//
// Where two rules of equal priority match, OpenFlow leaves the result open. Like OVS in
// practice, the one that was inserted first wins.
type classifier struct {
	subtables []*subtable // by descending highest priority
	byMask    map[flow.Key]*subtable
	count     int
}

// subtable is the rules of one mask.
type subtable struct {
	mask    flow.Key
	words   []uint8        // of the mask that are not 0
	highest uint16         // priority
	count   map[uint16]int // of rules, by priority
	buckets []bucket
	used    int // buckets
}

// bucket is a slot of the open-addressing hash table: rules of one value, by descending
// priority.
type bucket struct {
	hash uint64
	head *rule
}

// lookup returns the best rule for k, or nil.
func (c *classifier) lookup(k *flow.Key) *rule {
	var best *rule
	for _, s := range c.subtables {
		if best != nil && best.flow.Priority > s.highest {
			break
		}
		if r := s.find(k); r != nil && (best == nil || r.flow.Priority > best.flow.Priority ||
			r.flow.Priority == best.flow.Priority && r.seq < best.seq) {
			best = r
		}
	}
	return best
}

const hashMultiplier = 0x9e3779b97f4a7c15

func (s *subtable) hash(k *flow.Key) uint64 {
	h := uint64(1)
	for _, w := range s.words {
		h = (h ^ k[w]&s.mask[w]) * hashMultiplier
		h ^= h >> 32
	}
	return h
}

func (s *subtable) matches(r *rule, k *flow.Key) bool {
	for _, w := range s.words {
		if k[w]&s.mask[w] != r.value[w] {
			return false
		}
	}
	return true
}

// find returns the subtable's best rule for k.
func (s *subtable) find(k *flow.Key) *rule {
	h := s.hash(k)
	last := uint64(len(s.buckets) - 1)
	for i := h & last; ; i = (i + 1) & last {
		b := &s.buckets[i]
		if b.head == nil {
			return nil
		}
		if b.hash == h && s.matches(b.head, k) {
			return b.head
		}
	}
}

// exact returns the rule with this very mask, value and priority.
func (c *classifier) exact(value, mask *flow.Key, priority uint16) *rule {
	s := c.byMask[*mask]
	if s == nil {
		return nil
	}
	return s.exact(value, priority)
}

func (s *subtable) exact(value *flow.Key, priority uint16) *rule {
	for r := s.find(value); r != nil; r = r.next {
		if r.flow.Priority == priority {
			return r
		}
	}
	return nil
}

// insert adds r, whose key no other rule of the table has.
func (c *classifier) insert(r *rule, mask flow.Key) {
	s := c.byMask[mask]
	if s == nil {
		s = &subtable{mask: mask, words: mask.UsedWords(), count: map[uint16]int{}, buckets: make([]bucket, 4)}
		if c.byMask == nil {
			c.byMask = map[flow.Key]*subtable{}
		}
		c.byMask[mask] = s
		c.subtables = append(c.subtables, s)
	}
	s.insert(r)
	c.count++
	if r.flow.Priority >= s.highest {
		s.highest = r.flow.Priority
		c.sort()
	}
}

func (c *classifier) sort() {
	slices.SortStableFunc(c.subtables, func(a, b *subtable) int { return int(b.highest) - int(a.highest) })
}

func (s *subtable) insert(r *rule) {
	if 4*(s.used+1) > 3*len(s.buckets) {
		s.resize(2 * len(s.buckets))
	}
	s.count[r.flow.Priority]++
	h := s.hash(&r.value)
	b := &s.buckets[s.place(h, &r.value)]
	if b.head == nil {
		b.hash = h
		s.used++
	}
	at := &b.head
	for *at != nil && (*at).flow.Priority > r.flow.Priority {
		at = &(*at).next
	}
	r.next, *at = *at, r
}

// place is the bucket of a value: the one that holds it or the free one where it belongs.
func (s *subtable) place(h uint64, value *flow.Key) uint64 {
	last := uint64(len(s.buckets) - 1)
	for i := h & last; ; i = (i + 1) & last {
		if b := &s.buckets[i]; b.head == nil || b.hash == h && s.matches(b.head, value) {
			return i
		}
	}
}

func (s *subtable) resize(n int) {
	old := s.buckets
	s.buckets = make([]bucket, n)
	for _, b := range old {
		if b.head != nil {
			s.buckets[s.place(b.hash, &b.head.value)] = b
		}
	}
}

// remove takes r out.
func (c *classifier) remove(r *rule, mask flow.Key) {
	s := c.byMask[mask]
	s.remove(r)
	c.count--
	if s.used == 0 {
		delete(c.byMask, mask)
		c.subtables = slices.DeleteFunc(c.subtables, func(x *subtable) bool { return x == s })
		return
	}
	if s.count[s.highest] == 0 {
		s.highest = slices.Max(slices.Collect(maps.Keys(s.count)))
		c.sort()
	}
}

func (s *subtable) remove(r *rule) {
	if s.count[r.flow.Priority]--; s.count[r.flow.Priority] == 0 {
		delete(s.count, r.flow.Priority)
	}
	i := s.place(s.hash(&r.value), &r.value)
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

// all yields the rules in no particular order. The table must not change meanwhile.
func (c *classifier) all(yield func(*rule) bool) {
	for _, s := range c.subtables {
		for _, b := range s.buckets {
			for r := b.head; r != nil; r = r.next {
				if !yield(r) {
					return
				}
			}
		}
	}
}

// tables are the flow tables, 0 to 254.
type tables [openflow.CurrentTable]classifier
