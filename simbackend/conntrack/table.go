package conntrack

import "time"

// DefaultMaxConns is OVS's limit on connections, all zones together.
const DefaultMaxConns = 3_000_000

// Config bounds a Table. The zero value is OVS's default.
type Config struct {
	MaxConns    int // connections, 0: DefaultMaxConns; then new ones stay uncommitted
	MinFragment int // bytes of IP packet a non-last fragment needs, 0: 1200
}

// Table holds the connections and the waiting fragments of one datapath. It is not safe
// for concurrent use.
type Table struct {
	config         Config
	conns          slab
	index          index
	wheel          wheel
	oldest, newest *conn // in order of insertion
	count, peak    int   // entries now, and the most there were
	waiting        fragments
	aborts         int
	trial          *trial // nil: what packets do lasts
}

// New returns an empty table.
func New(c Config) *Table {
	if c.MaxConns == 0 {
		c.MaxConns = DefaultMaxConns
	}
	if c.MinFragment == 0 {
		c.MinFragment = defaultMinFragment
	}
	return &Table{config: c}
}

// conn is an entry. It holds no pointers, see slab.
type conn struct {
	orig, reply  key    // as on the wire, before and behind the translation
	tuple        Tuple  // orig as packets show it
	id           uint32 // its number in the slab
	older, newer uint32 // the numbers of its neighbours in the order of insertion; 0: none
	due          tick   // when the wheel brings it up, not after it expires
	nat          State  // StateSNAT or StateDNAT: what happens to the original direction
	translated   bool   // committed with a nat argument: stands under two tuples
	progress
}

// progress is what packets change of an entry.
type progress struct {
	expires int64 // ms
	label   Label
	mark    uint32
	phase   phase
	peers   [2]peer
}

func (c *conn) expired(now int64) bool { return now >= c.expires }

// Len is the number of entries, including expired ones that were not yet removed.
func (t *Table) Len() int { return t.count }

// Peak is the largest Len so far.
func (t *Table) Peak() int { return t.peak }

// Waiting is the number of fragments that are held.
func (t *Table) Waiting() int { return t.waiting.count }

// Aborts counts the packets so far at which ovs-vswitchd 3.1.0 would have ended: by an
// assertion (a translated connection found by what only leads to it), or by memory it has
// overrun (a datagram that passes 65535 bytes). Here they are invalid, or wait for ever.
func (t *Table) Aborts() int { return t.aborts + t.waiting.aborts }

func millis(now time.Duration) int64 { return int64(now / time.Millisecond) }

// add enters a connection at the end of the order. It may take the place of one that was removed: no packet refers to
// that any more, for fragments that wait refer to none, and no other packet outlives a change by Expire or Flush.
func (t *Table) add(fresh conn) *conn {
	c := t.conns.put(fresh)
	c.tuple = c.orig.tuple()
	t.index.reserve()
	if c.translated {
		t.index.insert(c.reply.hash(), placeOf(c, true))
	}
	t.index.insert(c.orig.hash(), placeOf(c, false))
	c.older, c.newer = 0, 0
	if t.newest == nil {
		t.oldest = c
	} else {
		t.newest.newer, c.older = c.id, t.newest.id
	}
	t.newest = c
	t.count++
	t.peak = max(t.peak, t.count)
	c.due = never
	t.schedule(c)
	if t.trial != nil {
		t.trial.added = append(t.trial.added, c)
	}
	return c
}

// remove takes an entry out.
func (t *Table) remove(c *conn) {
	t.index.remove(c.orig.hash(), placeOf(c, false))
	if c.translated {
		t.index.remove(c.reply.hash(), placeOf(c, true))
	}
	older, newer := t.neighbour(c.older), t.neighbour(c.newer)
	if older == nil {
		t.oldest = newer
	} else {
		older.newer = c.newer
	}
	if newer == nil {
		t.newest = older
	} else {
		newer.older = c.older
	}
	c.due = never
	t.conns.drop(c)
	t.count--
}

// neighbour is the entry of a number in the order of insertion, or nil.
func (t *Table) neighbour(id uint32) *conn {
	if id == 0 {
		return nil
	}
	return t.conns.at(id)
}

// all yields the entries in the order of insertion; each may be removed.
func (t *Table) all(yield func(*conn) bool) {
	for c := t.oldest; c != nil; {
		newer := c.newer
		if !yield(c) {
			return
		}
		c = t.neighbour(newer)
	}
}

// expire makes c unfindable at once; it goes with the next Expire.
func (t *Table) expire(c *conn) {
	t.touch(c)
	c.expires = 0
	t.schedule(c)
}

// schedule must follow every change of an entry's time of expiry. One that comes later costs nothing: the wheel
// brings the entry up at the old time, and it is put in again. What a trial does to times, it takes back.
func (t *Table) schedule(c *conn) {
	if due := tickOf(c.expires); due < c.due && t.trial == nil {
		c.due = due
		t.wheel.add(timer{c.id, due})
	}
}

// Expire removes the entries that have expired by now, and fragments that waited too
// long, and returns how many entries went. ovs-vswitchd does this every SweepInterval,
// and after each time/warp. It costs nothing while no entry can have expired.
func (t *Table) Expire(now time.Duration) int {
	ms := millis(now)
	t.waiting.purge(ms)
	before := t.count
	t.wheel.advance(tickOf(ms), func(due timer) {
		c := t.conns.at(due.id)
		switch {
		case c.due != due.due: // removed, or the wheel has brought it up earlier
		case c.expired(ms):
			t.remove(c)
		default:
			c.due = never
			t.schedule(c)
		}
	})
	return before - t.count
}

// NextExpiry is a time before which Expire finds no entry to remove; ok is false for a
// table that has none.
func (t *Table) NextExpiry() (at time.Duration, ok bool) {
	next, _, _ := t.wheel.next()
	return time.Duration(next) << tickBits * time.Millisecond, t.count > 0
}
