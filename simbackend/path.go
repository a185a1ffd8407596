package simbackend

import (
	"slices"
	"time"

	"hpnn/datapath/openflow"
)

// path is the rules that a pass met. Passes that met the same share it. What frames on it add to the
// counters of the rules is kept here until somebody asks for them (paths.settle).
type path struct {
	first          outcome // beside what frames on it change, for most paths have no other
	packets, bytes uint64
	used           time.Duration
	dead           bool // the tables have changed: a pass like it may meet others

	last     lookup // the latest of met
	met      []met
	outcomes []*outcome // others of which new ones are likely to be
	hash     uint64
	next     *path // of the same hash
}

// met is a lookup that a pass made, or a learned flow that it refreshed.
type met struct {
	table     openflow.TableID
	refreshed bool
	rule      *rule // nil: nothing matched
}

// paths is all paths that are alive, and what would end them.
//
// A rule that goes ends the paths it is on. One that comes ends those with a lookup in its table that it
// could win: where nothing matched, or what did has lower priority. So the flows that frames learn, most of
// which come with a priority of their own, end few.
type paths struct {
	byHash map[uint64]*path
	alive  int
	losers [lastTable + 1][]losers
	owing  []*path // have counted what the rules do not know yet
}

// losers are the paths whose lookups in a table found a rule of one priority.
type losers struct {
	priority int // none: nothing was found
	paths    []*path
}

const none = -1

// maxPaths bounds the paths alive; then all are forgotten.
const maxPaths = 1 << 16

func newPaths() paths { return paths{byHash: map[uint64]*path{}} }

// count adds a frame of the given length.
func (c *paths) count(p *path, length int, now time.Duration) {
	if p.packets == 0 {
		c.owing = append(c.owing, p)
	}
	p.packets++
	p.bytes += uint64(length)
	p.used = now
}

// settle gives the rules what their paths have counted. It must precede every look at a rule's counters
// or times.
func (c *paths) settle() {
	for _, p := range c.owing {
		for i := range p.met {
			switch r := p.met[i].rule; {
			case r == nil:
			case p.met[i].refreshed:
				r.modified = max(r.modified, p.used)
			default:
				r.packets += p.packets
				r.bytes += p.bytes
				r.used = max(r.used, p.used)
			}
		}
		p.packets, p.bytes = 0, 0
	}
	c.owing = c.owing[:0]
}

// of is the path of what a pass met.
func (c *paths) of(all []met) *path {
	hash := uint64(len(all))
	for _, m := range all {
		seq := uint64(0)
		if m.rule != nil {
			seq = m.rule.seq
		}
		hash = spread(hash ^ (seq<<8 | uint64(m.table)))
	}
	for p := c.byHash[hash]; p != nil; p = p.next {
		if slices.Equal(p.met, all) {
			return p
		}
	}
	if c.alive >= maxPaths {
		c.endAll()
	}
	p := &path{met: slices.Clone(all), hash: hash, next: c.byHash[hash]}
	for _, m := range all {
		if !m.refreshed {
			p.last = lookup{m.table, m.rule}
		}
	}
	c.byHash[hash] = p
	c.alive++
	for i := range p.met {
		c.watch(p, &p.met[i])
	}
	return p
}

// maxOutcomes bounds the outcomes of a path among which a new one is looked for.
const maxOutcomes = 16

// outcome is that of a pass on the path with the given result.
func (p *path) outcome(r result) *outcome {
	switch {
	case p.first.path == nil:
		p.first = outcome{p, r}
		return &p.first
	case p.first.result.equal(&r):
		return &p.first
	}
	for _, o := range p.outcomes {
		if o.result.equal(&r) {
			return o
		}
	}
	o := &outcome{p, r}
	if len(p.outcomes) < maxOutcomes {
		p.outcomes = append(p.outcomes, o)
	}
	return o
}

// watch notes what would end p because of m.
func (c *paths) watch(p *path, m *met) {
	priority := none
	if r := m.rule; r != nil {
		priority = int(r.priority)
		r.paths = join(r.paths, p)
	}
	if m.refreshed {
		return
	}
	all := &c.losers[m.table]
	for i := range *all {
		if l := &(*all)[i]; l.priority == priority {
			l.paths = join(l.paths, p)
			return
		}
	}
	*all = append(*all, losers{priority, []*path{p}})
}

// join adds p to a list, and clears the list of the dead before it grows.
func join(list []*path, p *path) []*path {
	if len(list) > 0 && list[len(list)-1] == p {
		return list
	}
	if len(list) == cap(list) {
		list = slices.DeleteFunc(list, func(p *path) bool { return p.dead })
	}
	return append(list, p)
}

// removed ends the paths that a rule is on.
func (c *paths) removed(r *rule) {
	for _, p := range r.paths {
		c.end(p)
	}
	r.paths = nil
}

// inserted ends the paths with lookups that a rule could win now: it loses against older ones of its own
// priority. One that comes back because its removal is undone is older than others, but no path has
// been found meanwhile.
func (c *paths) inserted(r *rule) {
	all := c.losers[r.flow.Table]
	for i := range all {
		if l := &all[i]; l.priority < int(r.priority) {
			for _, p := range l.paths {
				c.end(p)
			}
			l.paths = nil
		}
	}
}

func (c *paths) end(p *path) {
	if p.dead {
		return
	}
	p.dead = true
	c.alive--
	first := c.byHash[p.hash]
	at := &first
	for *at != p {
		at = &(*at).next
	}
	if *at = p.next; first == nil {
		delete(c.byHash, p.hash)
	} else {
		c.byHash[p.hash] = first
	}
}

func (c *paths) endAll() {
	for _, p := range c.byHash {
		for ; p != nil; p = p.next {
			p.dead = true
		}
	}
	clear(c.byHash)
	c.alive = 0
}
