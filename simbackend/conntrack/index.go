package conntrack

// index finds connections by key. A connection stands in it under its original tuple, and, if it is
// translated, a second time under its reply tuple; each time it is found by the reverse of the tuple too.
//
// It is an open-addressing table, linearly probed, at most half full. What is entered takes its home
// slot, and what stood there and behind moves on by one: so entries of one hash are found newest first,
// as in OVS.
type index struct {
	slots []slot // a power of two
	used  int
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

const minSlots = 128

// match is what a key finds; conn is nil for nothing.
type match struct {
	conn   *conn
	second bool // it stands there under its reply tuple
	back   bool // the key is its other tuple
}

// key is the tuple that was found.
func (m *match) key() *key {
	if m.second != m.back {
		return &m.conn.reply
	}
	return &m.conn.orig
}

// other is the connection's other tuple.
func (m *match) other() *key {
	if m.second != m.back {
		return &m.conn.orig
	}
	return &m.conn.reply
}

// find gives the first that stands under k, or whose other tuple is k. Expired connections are passed
// over, but a translated one is found under its reply tuple until it is removed.
func (x *index) find(conns *slab, k *key, hash uint64, now int64) match {
	if len(x.slots) == 0 {
		return match{}
	}
	mask, short := uint32(len(x.slots)-1), uint32(hash)
	for i := short & mask; x.slots[i].place != 0; i = (i + 1) & mask {
		s := x.slots[i]
		if s.hash != short {
			continue
		}
		c, second := conns.at(s.place.id()), s.place.second()
		if !second && c.expired(now) {
			continue
		}
		if m := (match{c, second, false}); *m.key() == *k {
			return m
		}
		if m := (match{c, second, true}); *m.key() == *k {
			return m
		}
	}
	return match{}
}

// insert enters a place before all others of its hash.
func (x *index) insert(hash uint64, p place) {
	x.used++
	mask := uint32(len(x.slots) - 1)
	carried := slot{uint32(hash), p}
	for i := carried.hash & mask; ; i = (i + 1) & mask {
		x.slots[i], carried = carried, x.slots[i]
		if carried.place == 0 {
			return
		}
	}
}

// remove takes a place out, and moves those behind it that may stand nearer to their homes.
func (x *index) remove(hash uint64, p place) {
	x.used--
	mask := uint32(len(x.slots) - 1)
	hole := uint32(hash) & mask
	for x.slots[hole].place != p {
		if x.slots[hole].place == 0 {
			panic("conntrack: a connection is not in the index")
		}
		hole = (hole + 1) & mask
	}
	for i := (hole + 1) & mask; x.slots[i].place != 0; i = (i + 1) & mask {
		if home := x.slots[i].hash & mask; (i-home)&mask >= (i-hole)&mask {
			x.slots[hole], hole = x.slots[i], i
		}
	}
	x.slots[hole] = slot{}
}

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
			x.insert(uint64(s.hash), s.place)
		}
	}
}
