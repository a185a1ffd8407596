package simbackend

import (
	"hpnn/simbackend/flow"
)

// An emc is the exact-match cache: what the passes of microflows came to. It is bounded, like that of
// OVS's userspace datapath after which it is named; what it does not hold is looked for among the megaflows.
//
// A microflow is remembered the second time it is met, so that frames that come once cost no more than
// a look. seen is the hashes met once, each in the only place it can have; without places nothing is
// remembered.
type emc struct {
	slots []slot // a power of two
	held  int    // slots in use
	turn  uint64 // whose turn it is to give way
	seen  []uint16
	first uint64 // microflows met for the first time since seen has been this large

	asked, found int // lately
	rest         int // frames for which it is not asked
}

// slot is a place for a microflow.
type slot struct {
	hash uint64
	*microflow
}

// microflow is what was remembered of frames of one flow.Microflow.
type microflow struct {
	key flow.Microflow
	*outcome
	sequel
}

const (
	ways     = 8 // slots a microflow may be in: that of its hash and those behind
	minSlots = 1 << 8
	maxSlots = 1 << 15
	crowded  = maxSlots / 2
	seldom   = 32          // of so many, one is let in when it is crowded
	judged   = 4 * crowded // looks after which it is judged: what it can hold comes several times in as many
	unlucky  = 8           // one in so many must be found; and so many times as long it rests
	minSeen  = 1 << 10
	maxSeen  = 1 << 16
)

// resting reports whether the next frame is not worth a look: of those before, few were known. After a while it is tried again.
func (c *emc) resting() bool {
	if c.rest > 0 {
		c.rest--
		return true
	}
	if c.asked++; c.asked == judged {
		if c.found < judged/unlucky {
			c.rest = unlucky * judged
		}
		c.asked, c.found = 0, 0
	}
	return false
}

// find returns what is remembered of a microflow, or nil. None stands behind a free slot.
func (c *emc) find(hash uint64, key *flow.Microflow) *microflow {
	last := uint64(len(c.slots) - 1)
	for i := range uint64(ways) {
		switch s := &c.slots[(hash+i)&last]; {
		case s.microflow == nil:
			return nil
		case s.hash == hash && s.key == *key:
			return s.microflow
		}
	}
	return nil
}

// again reports whether a microflow that is not remembered was met before, as far as is known.
func (c *emc) again(hash uint64) bool {
	if len(c.seen) == 0 {
		return false
	}
	tag := uint16(hash>>48) | 1
	s := &c.seen[hash&uint64(len(c.seen)-1)]
	if *s == tag {
		return true
	}
	if c.first++; *s == 0 || c.first*multiplier>>63 == 0 { // of two that meet here in turn, one stays long enough
		*s = tag
	}
	if 2*c.first > uint64(len(c.seen)) && len(c.seen) < maxSeen {
		c.seen, c.first = make([]uint16, 8*len(c.seen)), 0
	}
	return false
}

// admits reports whether a microflow that is among the megaflows too is to be remembered. While there are not many, it saves
// time; when memory must be waited for it takes more than it saves, and only what comes often gets in.
func (c *emc) admits() bool {
	if c.held < crowded {
		return true
	}
	c.turn++
	return c.turn%seldom == 0
}

// remember enters a microflow, and returns its sequel.
func (c *emc) remember(hash uint64, key *flow.Microflow, o *outcome) *sequel {
	if 2*c.held >= len(c.slots) && len(c.slots) < maxSlots {
		c.resize()
	}
	m := &microflow{key: *key, outcome: o}
	c.put(slot{hash, m})
	return &m.sequel
}

// resize leaves out the dead, and doubles the slots unless those were many.
func (c *emc) resize() {
	old, alive := c.slots, 0
	for _, s := range old {
		if s.microflow != nil && !s.dead {
			alive++
		}
	}
	size := len(old)
	if 4*alive >= size {
		size *= 2
	}
	c.slots, c.held = make([]slot, size), 0
	for _, s := range old {
		if s.microflow != nil && !s.dead {
			c.put(s)
		}
	}
}

// put places a microflow: where it was, or where nothing or nothing of use is, or else in the place of
// another.
func (c *emc) put(m slot) {
	last := uint64(len(c.slots) - 1)
	var at *slot
	for i := range uint64(ways) {
		switch s := &c.slots[(m.hash+i)&last]; {
		case s.microflow != nil && s.hash == m.hash && s.key == m.key:
			*s = m
			return
		case at == nil && (s.microflow == nil || s.dead):
			at = s
		}
	}
	if at == nil {
		c.turn++
		at = &c.slots[(m.hash+c.turn%ways)&last]
	}
	if at.microflow == nil {
		c.held++
	}
	*at = m
}

func newEMC() emc { return emc{slots: make([]slot, minSlots), seen: make([]uint16, minSeen)} }
