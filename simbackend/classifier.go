package simbackend

import (
	"math/bits"

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
// space search; Srinivasan, Suri and Varghese, SIGCOMM 1999). Many are passed over before
// anything is hashed, for the frame lacks what all their rules want.
//
// Where two rules of equal priority match, OpenFlow leaves the result open. Like OVS in
// practice, the one that was inserted first wins.
type classifier struct {
	probes []probe   // by descending highest priority
	recent *subtable // asked for last
	byMask map[uint64][]*subtable
	count  int
}

// probe is a subtable and what tells at once that it holds nothing for a key.
type probe struct {
	highest uint16 // priority
	common  uint8  // a word of the key, besides its kind
	kind    shared
	other   shared // of the common word
	*subtable
}

// shared is the bits of a word in which all rules of a subtable agree. It may be fewer, not more.
type shared struct{ mask, value uint64 }

// subtable is the rules of one mask.
type subtable struct {
	words   []masked
	buckets []bucket
	used    int            // buckets
	count   map[uint16]int // of rules, by priority
	mask    flow.Key       // of which words is what is not 0
	shared  []shared       // by word
}

// masked is a word of a key that a mask touches.
type masked struct {
	mask uint64
	word uint8
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
	kind := k[flow.KindWord]
	for i := range c.probes {
		p := &c.probes[i]
		if best != nil && best.priority > p.highest {
			break
		}
		if kind&p.kind.mask != p.kind.value || k[p.common]&p.other.mask != p.other.value {
			continue
		}
		if r := p.find(k); r != nil && (best == nil || r.beats(best)) {
			best = r
		}
	}
	return best
}

// beats reports whether r is taken where both match.
func (r *rule) beats(o *rule) bool {
	return r.priority > o.priority || r.priority == o.priority && r.seq < o.seq
}

// Multipliers of the hash: odd, and without a pattern.
const (
	multiplier = 0x9e3779b97f4a7c15
	stride     = 0xd6e8feb86659fd93
)

// hashMasked spreads each masked word by a folded multiplication. The words do not wait for each other.
func hashMasked(words []masked, of []uint64) uint64 {
	var h, salt uint64
	for i := range words {
		p := &words[i]
		salt += stride
		h += spread(of[p.word]&p.mask ^ salt)
	}
	return h
}

// hashPacked is the hash of a value whose words are masked already.
func hashPacked(value []uint64) uint64 {
	var h, salt uint64
	for _, v := range value {
		salt += stride
		h += spread(v ^ salt)
	}
	return h
}

func spread(v uint64) uint64 {
	hi, lo := bits.Mul64(v, multiplier)
	return hi ^ lo
}

func (s *subtable) matches(r *rule, k *flow.Key) bool {
	for i, v := range r.value {
		if p := &s.words[i]; k[p.word]&p.mask != v {
			return false
		}
	}
	return true
}

// find returns the subtable's best rule for k.
func (s *subtable) find(k *flow.Key) *rule {
	h := hashMasked(s.words, k[:])
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

// of returns the subtable of a mask, or nil.
func (c *classifier) of(mask *flow.Key) *subtable {
	if c.recent != nil && c.recent.mask == *mask {
		return c.recent
	}
	for _, s := range c.byMask[mask.Hash()] {
		if s.mask == *mask {
			c.recent = s
			return s
		}
	}
	return nil
}

// exact returns the rule with this very mask, value and priority.
func (c *classifier) exact(value, mask *flow.Key, priority uint16) *rule {
	if s := c.of(mask); s != nil {
		return s.exact(value, priority)
	}
	return nil
}

func (s *subtable) exact(value *flow.Key, priority uint16) *rule {
	for r := s.find(value); r != nil; r = r.next {
		if r.priority == priority {
			return r
		}
	}
	return nil
}

// all yields the rules in no particular order. The table must not change meanwhile.
func (c *classifier) all(yield func(*rule) bool) {
	for i := range c.probes {
		for _, b := range c.probes[i].buckets {
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
