package conntrack

import (
	"math"
	"time"
)

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
	index          index
	oldest, newest *conn // in order of insertion
	conns, peak    int   // entries now, and the most there were
	earliest       int64 // no entry expires before this (ms)
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
	return &Table{config: c, earliest: math.MaxInt64}
}

// conn is an entry.
type conn struct {
	orig, reply  key   // as on the wire, before and behind the translation
	tuple        Tuple // orig as packets show it
	nodes        [2]node
	older, newer *conn
	nat          State // StateSNAT or StateDNAT: what happens to the original direction
	translated   bool  // committed with a nat argument: stands under two tuples
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
func (t *Table) Len() int { return t.conns }

// Peak is the largest Len so far.
func (t *Table) Peak() int { return t.peak }

// Waiting is the number of fragments that are held.
func (t *Table) Waiting() int { return t.waiting.count }

// Aborts counts the packets so far at which ovs-vswitchd 3.1.0 would have ended: by an
// assertion (a translated connection found by what only leads to it), or by memory it has
// overrun (a datagram that passes 65535 bytes). Here they are invalid, or wait for ever.
func (t *Table) Aborts() int { return t.aborts + t.waiting.aborts }

func millis(now time.Duration) int64 { return int64(now / time.Millisecond) }

// add enters a connection at the end of the order.
func (t *Table) add(c *conn) {
	if t.index.full() {
		t.grow()
	}
	c.tuple = c.orig.tuple()
	c.nodes[0] = node{conn: c, hash: c.orig.hash()}
	c.nodes[1] = node{conn: c, hash: c.reply.hash(), reply: true}
	t.link(c)
	c.older = t.newest
	if t.newest == nil {
		t.oldest = c
	} else {
		t.newest.newer = c
	}
	t.newest = c
	t.conns++
	t.peak = max(t.peak, t.conns)
	t.earliest = min(t.earliest, c.expires)
	if t.trial != nil {
		t.trial.added = append(t.trial.added, c)
	}
}

func (t *Table) link(c *conn) {
	if c.translated {
		t.index.insert(&c.nodes[1])
	}
	t.index.insert(&c.nodes[0])
}

func (t *Table) grow() {
	t.index.resize(max(minBuckets, 2*len(t.index.buckets)))
	for c := t.oldest; c != nil; c = c.newer {
		t.link(c)
	}
}

// remove takes an entry out. A packet that still refers to it keeps using its values.
func (t *Table) remove(c *conn) {
	t.index.remove(&c.nodes[0])
	if c.translated {
		t.index.remove(&c.nodes[1])
	}
	if c.older == nil {
		t.oldest = c.newer
	} else {
		c.older.newer = c.newer
	}
	if c.newer == nil {
		t.newest = c.older
	} else {
		c.newer.older = c.older
	}
	t.conns--
}

// expire makes c unfindable at once; it goes with the next Expire.
func (t *Table) expire(c *conn) {
	t.touch(c)
	c.expires = 0
	t.earliest = 0
}

// Expire removes the entries that have expired by now, and fragments that waited too
// long, and returns how many entries went. ovs-vswitchd does this every SweepInterval,
// and after each time/warp. It costs nothing while no entry can have expired.
func (t *Table) Expire(now time.Duration) int {
	ms := millis(now)
	t.waiting.purge(ms)
	if ms < t.earliest {
		return 0
	}
	before := t.conns
	t.earliest = math.MaxInt64
	for c := t.oldest; c != nil; c = c.newer {
		if c.expired(ms) {
			t.remove(c)
			continue
		}
		t.earliest = min(t.earliest, c.expires)
	}
	return before - t.conns
}

// NextExpiry is a time before which Expire finds no entry to remove; ok is false for a
// table that has none.
func (t *Table) NextExpiry() (at time.Duration, ok bool) {
	return time.Duration(t.earliest) * time.Millisecond, t.conns > 0
}
