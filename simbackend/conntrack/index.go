package conntrack

import "math/bits"

// index finds connections by key. A connection stands in it under its original tuple, and, if it is
// translated, a second time under its reply tuple; each time it is found by the reverse of the tuple too.
//
// It is an open-addressing table, linearly probed, at most half full. A hash's home is the first slot of a group of
// eight, and what stands under it is there or behind, with no empty slot between. Of one hash the newest is found
// first, as in OVS.
//
// The tags of a group are one word, and all that a look for something new needs: those of eight groups lie in a line of
// the cache, where the slots of one group lie (see M. Kulukundis, "Designing a Fast, Efficient, Cache-friendly Hash
// Table", CppCon 2017). So what is entered is in its slot only when somebody looks at slots, or much is late: with a
// million connections a slot is far away, and the processor had better wait for many at a time.
type index struct {
	tags  []uint64 // of each group, a byte for each slot, the first one lowest
	slots []slot
	late  []lateSlot
	used  int
	near  uint64 // nothing: what was read for the sake of reading
}

// lateSlot is what a slot has to hold that has its tag already.
type lateSlot struct {
	at uint32
	slot
}

const maxLate = 32

// slot holds something if its tag is not zero.
type slot struct {
	hash  uint32
	place place
}

// place is the number of a connection, and whether it stands here under its reply tuple.
type place uint32

func placeOf(c *conn, second bool) place {
	if second {
		return place(c.id<<1 | 1)
	}
	return place(c.id << 1)
}

func (p place) id() uint32   { return uint32(p >> 1) }
func (p place) second() bool { return p&1 != 0 }

const (
	groupSize = 8
	minGroups = 16 // a power of two, as the number of groups always is
)

// tag is a byte of a hash that is not zero.
func tag(hash uint32) uint64 { return uint64(max(hash>>24, 1)) }

const eachByte = 0x0101010101010101

// equal has the highest bit set of each byte of tags that is a tag, and of others that need not be; the lowest of them is.
func equal(tags, tag uint64) uint64 {
	x := tags ^ tag*eachByte
	return (x - eachByte) &^ x & (eachByte << 7)
}

// firstByte is the number of the lowest byte that is not zero.
func firstByte(word uint64) int { return bits.TrailingZeros64(word) / 8 }

// full tells whether a group is.
func full(tags uint64) bool { return tags>>56 != 0 }

// filled is the number of slots of a group that hold something, which are its first.
func filled(tags uint64) int { return (bits.Len64(tags) + 7) / 8 }

// home is the first group to look for a hash in.
func (x *index) home(hash uint32) int { return int(hash) & (len(x.tags) - 1) }

func (x *index) after(group int) int { return (group + 1) & (len(x.tags) - 1) }

// match is what a key finds; conn is nil for nothing.
type match struct {
	conn   *conn
	second bool // it stands there under its reply tuple
	back   bool // the key is its other tuple
}

// other is the connection's other tuple.
func (m *match) other() key {
	if m.second != m.back {
		return m.conn.orig()
	}
	return m.conn.reply()
}

// gap is where a key that finds nothing can be entered.
type gap struct {
	at   uint32 // the first empty slot
	sole bool   // nothing stands under its hash
}

// find gives the first that stands under k, or stands under its reverse and whose other tuple is k. Expired connections
// are passed over, but a translated one is found under its reply tuple until it is removed.
func (x *index) find(conns *slab, k *key, hash uint32, now int64) (match, gap) {
	sole, wanted := true, tag(hash)
	for g := x.home(hash); ; g = x.after(g) {
		tags := x.tags[g]
		hits := equal(tags, wanted)
		if hits != 0 && len(x.late) != 0 {
			x.settle()
		}
		for ; hits != 0; hits &= hits - 1 {
			s := x.slots[g*groupSize+firstByte(hits)]
			if s.hash != hash {
				continue
			}
			sole = false
			c, second := conns.at(s.place.id()), s.place.second()
			if back, ok := c.meet(k, second); ok && (second || !c.expired(now)) {
				return match{c, second, back}, gap{}
			}
		}
		if !full(tags) {
			return match{}, gap{uint32(g*groupSize + filled(tags)), sole}
		}
	}
}

// findAt is find for k where what stands under another tuple is looked at, with that tuple's hash.
func (x *index) findAt(conns *slab, k, at *key, hash uint32, now int64) match {
	x.settle()
	for g := x.home(hash); ; g = x.after(g) {
		tags := x.tags[g]
		for i := range filled(tags) {
			s := x.slots[g*groupSize+i]
			if s.hash != hash {
				continue
			}
			c, second := conns.at(s.place.id()), s.place.second()
			if back, ok := c.meetAt(k, at, second); ok && (second || !c.expired(now)) {
				return match{c, second, back}
			}
		}
		if !full(tags) {
			return match{}
		}
	}
}

// share marks all that stand under a hash.
func (x *index) share(conns *slab, hash uint32) {
	x.settle()
	for g := x.home(hash); ; g = x.after(g) {
		tags := x.tags[g]
		for i := range filled(tags) {
			if s := x.slots[g*groupSize+i]; s.hash == hash {
				conns.at(s.place.id()).traits |= shared
			}
		}
		if !full(tags) {
			return
		}
	}
}

// fetch brings the home of a hash near, as far as a look for something new needs it.
func (x *index) fetch(hash uint32) { x.near ^= x.tags[x.home(hash)] }

// fetchSlots brings the rest of it.
func (x *index) fetchSlots(hash uint32) { x.near ^= uint64(x.slots[x.home(hash)*groupSize].hash) }
