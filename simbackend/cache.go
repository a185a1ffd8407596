package simbackend

import (
	"hpnn/simbackend/flow"
)

// A cache is what the switch remembers of passes, to spare frames the tables: of frames that are equal, in an
// exact-match cache, and of frames that are alike in all that a pass looked at, as megaflows.
type cache struct {
	paths
	emc
	start   megaflows // of frames that have come in
	forks   forks
	total   int // megaflows in all places
	credit  int
	missed  int // passes not remembered for want of credit
	commons commons
	work    flow.Key // for megaflows.find

	hits uint64 // passes spared
}

const (
	maxMegaflows = 1 << 16
	maxForks     = 1 << 14
	mostCredit   = 1 << 9
	unaffordable = 32 // without credit, one in so many is tried
)

func newCache() *cache {
	return &cache{paths: newPaths(), emc: newEMC(), forks: forks{}, commons: commons{}, credit: mostCredit}
}

// affords reports whether a pass is to be remembered although no frame of its microflow is known to come again. It is
// worth while if others come to the same, which one cannot know before. So each costs a credit, and each frame that is
// spared its first pass brings one in; without any, few are tried.
func (c *cache) affords() bool {
	switch {
	case len(c.seen) == 0:
		return false
	case c.credit > 0:
		c.credit--
		return true
	}
	c.missed++
	return c.missed%unaffordable == 0
}

// earn notes that a frame was spared its first pass.
func (c *cache) earn() { c.credit = min(c.credit+1, mostCredit) }

// enter keeps what a pass came to among the megaflows of its place. When there are too many, all are forgotten.
func (c *cache) enter(place *megaflows, v *flow.View, w *wildcards, o *outcome) *megaflow {
	if c.total >= maxMegaflows || len(c.forks) >= maxForks {
		c.endAll()
		c.start, c.forks, c.total = nil, forks{}, 0
	}
	m, more := place.add(v, w, o, &c.work)
	c.total += more
	return m
}
