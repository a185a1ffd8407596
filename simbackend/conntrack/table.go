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
	config  Config
	conns   slab
	index   index
	wheel   wheel
	peak    int // the most entries there were
	waiting fragments
	aborts  int
	trial   *trial   // nil: what packets do lasts
	spare   trial    // room for the next
	mapping mapping  // of the packet that is looked at, if it may open a connection
	opening bool     // the last packet found no connection, so that the next may open one too
	over    []placed // memory of expireDue
}

// New returns an empty table.
func New(c Config) *Table {
	if c.MaxConns == 0 {
		c.MaxConns = DefaultMaxConns
	}
	if c.MinFragment == 0 {
		c.MinFragment = defaultMinFragment
	}
	t := &Table{config: c}
	t.index.reserve()
	return t
}

// Len is the number of entries, including expired ones that were not yet removed.
func (t *Table) Len() int { return t.conns.count }

// Peak is the largest Len so far.
func (t *Table) Peak() int { return t.peak }

// Waiting is the number of fragments that are held.
func (t *Table) Waiting() int { return t.waiting.count }

// Aborts counts the packets so far at which ovs-vswitchd 3.1.0 would have ended: by an
// assertion (a translated connection found by what only leads to it), or by memory it has
// overrun (a datagram that passes 65535 bytes). Here they are invalid, or wait for ever.
func (t *Table) Aborts() int { return t.aborts + t.waiting.aborts }

func millis(now time.Duration) int64 { return int64(now / time.Millisecond) }

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
	before := t.conns.count
	t.wheel.advance(tickOf(ms), func(due []timer) { t.expireDue(ms, due) })
	return before - t.conns.count
}

// expireDue looks at the entries that the wheel brings up. What of the index is needed is asked for before it is used,
// so that the processor waits for all of it at a time.
func (t *Table) expireDue(now int64, due []timer) {
	over := t.over[:0]
	for _, d := range due {
		c := t.conns.at(d.id)
		if c.due != d.due { // removed, or the wheel has brought it up earlier
			continue
		}
		c.due = never
		if c.expired(now) {
			over = append(over, t.placed(c))
		} else {
			t.schedule(c)
		}
	}
	for i := range over {
		t.index.fetch(over[i].orig)
		t.index.fetchSlots(over[i].orig)
		t.index.fetch(over[i].reply)
		t.index.fetchSlots(over[i].reply)
	}
	for i := range over {
		t.takeOut(&over[i])
	}
	t.over = over
}

// NextExpiry is a time before which Expire finds no entry to remove; ok is false for a
// table that has none.
func (t *Table) NextExpiry() (at time.Duration, ok bool) {
	next, _, _ := t.wheel.next()
	return time.Duration(next) << tickBits * time.Millisecond, t.conns.count > 0
}
