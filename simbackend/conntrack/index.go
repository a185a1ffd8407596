package conntrack

// index finds connections by key. A connection stands in it under its original tuple, and, if it is
// translated, a second time under its reply tuple; each time it is found by the reverse of the tuple too.
//
// It is an open-addressing table, linearly probed, at most half full. A hash's home is the first slot of a line, eight
// slots that are one line of the cache, and what stands under it is at home or behind, with no empty slot between.
// Of one hash the newest is found first, as in OVS.
type index struct {
	slots []slot // a power of two
	used  int
	near  uint32 // nothing: what was read for the sake of reading
}

// slot is empty if place is zero.
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
	minSlots = 128
	lineBits = 3
)

// home is where to look for a hash first.
func (x *index) home(hash uint32) uint32 { return hash << lineBits & uint32(len(x.slots)-1) }

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
	sole := true
	for i := x.home(hash); ; i++ {
		i &= uint32(len(x.slots) - 1)
		s := x.slots[i]
		if s.place == 0 {
			return match{}, gap{i, sole}
		}
		if s.hash == hash {
			sole = false
			c, second := conns.at(s.place.id()), s.place.second()
			if back, ok := c.meet(k, second); ok && (second || !c.expired(now)) {
				return match{c, second, back}, gap{}
			}
		}
	}
}

// findAt is find for k where what stands under another tuple is looked at, with that tuple's hash.
func (x *index) findAt(conns *slab, k, at *key, hash uint32, now int64) match {
	for i := x.home(hash); ; i++ {
		i &= uint32(len(x.slots) - 1)
		s := x.slots[i]
		if s.place == 0 {
			return match{}
		}
		if s.hash == hash {
			c, second := conns.at(s.place.id()), s.place.second()
			if back, ok := c.meetAt(k, at, second); ok && (second || !c.expired(now)) {
				return match{c, second, back}
			}
		}
	}
}

// insert enters a place before all others of its hash. g is what a look for the hash ended with, since which others
// may have been entered, but none removed.
func (x *index) insert(hash uint32, p place, g gap) (sole bool) {
	if g.sole && int(g.at) < len(x.slots) && x.slots[g.at].place == 0 {
		x.used++
		x.slots[g.at] = slot{hash, p}
		return true
	}
	x.push(hash, p)
	return false
}

// push enters a place at the home of its hash. What stood there and behind moves on by one.
func (x *index) push(hash uint32, p place) {
	x.used++
	carried := slot{hash, p}
	for i := x.home(hash); ; i = (i + 1) & uint32(len(x.slots)-1) {
		x.slots[i], carried = carried, x.slots[i]
		if carried.place == 0 {
			return
		}
	}
}

// share marks all that stand under a hash.
func (x *index) share(conns *slab, hash uint32) {
	for i := x.home(hash); x.slots[i].place != 0; i = (i + 1) & uint32(len(x.slots)-1) {
		if s := x.slots[i]; s.hash == hash {
			conns.at(s.place.id()).traits |= shared
		}
	}
}

// remove takes a place out, and moves those behind it that may stand nearer to their homes.
func (x *index) remove(hash uint32, p place) {
	x.used--
	mask := uint32(len(x.slots) - 1)
	hole := x.home(hash)
	for x.slots[hole].place != p {
		if x.slots[hole].place == 0 {
			panic("conntrack: a connection is not in the index")
		}
		hole = (hole + 1) & mask
	}
	for i := (hole + 1) & mask; x.slots[i].place != 0; i = (i + 1) & mask {
		if home := x.home(x.slots[i].hash); (i-home)&mask >= (i-hole)&mask {
			x.slots[hole], hole = x.slots[i], i
		}
	}
	x.slots[hole] = slot{}
}

// fetch brings the home of a hash near.
func (x *index) fetch(hash uint32) { x.near ^= x.slots[x.home(hash)].hash }

// reserve makes room for two more.
func (x *index) reserve() {
	if 2*(x.used+2) <= len(x.slots) {
		return
	}
	old := x.slots
	*x = index{slots: make([]slot, max(minSlots, 2*len(old)))}
	// Backwards from an empty slot on, so that of one hash the newest comes last, and is found first again.
	start := 0
	for start < len(old) && old[start].place != 0 {
		start++
	}
	for n := range old {
		if s := old[(start-n)&(len(old)-1)]; s.place != 0 {
			x.push(s.hash, s.place)
		}
	}
}
