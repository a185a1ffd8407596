package maglev

import "cmp"

// An estate is slots to be shared out among members that may hold others already.
type estate struct {
	slots   []int32 // in any order
	held    []int   // per member: slots it holds
	weights []int   // per member: 0 for those that get nothing
	salt    uint64  // breaks ties, differently for each estate
	slack   bool    // a member may end half a slot away from its fair share
}

// share lets the members take turns at the slots of an estate.
func (b *builder) share(e estate) {
	for _, slot := range e.slots {
		b.owner[slot] = empty
	}
	order, last := newTurns(b.demands(e)), few(len(b.owner), len(e.slots))
	b.walk(len(e.slots)-last, order)
	b.search(b.unownedOf(e.slots, last), order)
}

// demands decides how many slots of the estate each member gets. Its due is its part of the
// estate by weight, unless that would leave it more than the slack away from its part of the
// whole table: then it is the nearest number that does not. Slots are given one at a time to
// whoever is furthest behind its due, until none is left.
//
// The loops below come to the same sooner: everyone starts with the whole slots of its due, and
// only the difference is given, or taken back, one at a time.
func (b *builder) demands(e estate) []int {
	r := b.dues(e)
	demand := make([]int, len(r.behind))
	missing := len(e.slots)
	for i, due := range r.behind {
		demand[i] = max(0, due/r.unit)
		r.behind[i] -= demand[i] * r.unit
		missing -= demand[i]
	}
	for ; missing > 0; missing-- {
		i := r.first(func(i int) bool { return e.weights[i] > 0 }, +1)
		demand[i]++
		r.behind[i] -= r.unit
	}
	for ; missing < 0; missing++ {
		i := r.first(func(i int) bool { return demand[i] > 0 }, -1)
		demand[i]--
		r.behind[i] += r.unit
	}
	return demand
}

// A ranking orders the members by how far they are behind their due.
type ranking struct {
	unit   int      // one slot, in the unit of behind
	behind []int    // per member: slots behind, times unit; 0 for those that get nothing
	tie    []uint64 // per member: the lower comes first among equals
}

// dues starts the ranking with nothing given.
func (b *builder) dues(e estate) ranking {
	r := ranking{behind: make([]int, len(e.weights)), tie: make([]uint64, len(e.weights))}
	for i, w := range e.weights {
		r.unit += w
		r.tie[i] = mix(b.seeds[i] + e.salt)
	}
	slack := 0
	if e.slack {
		slack = r.unit / 2
	}
	for i, w := range e.weights {
		if w > 0 {
			short := len(b.owner)*w - e.held[i]*r.unit
			r.behind[i] = min(max(len(e.slots)*w, short-slack), short+slack)
		}
	}
	return r
}

// first is the eligible member that comes first, or with order -1 last.
func (r ranking) first(eligible func(int) bool, order int) int {
	best := -1
	for i := range r.behind {
		if eligible(i) && (best < 0 || order*r.compare(i, best) < 0) {
			best = i
		}
	}
	return best
}

func (r ranking) compare(i, j int) int {
	return cmp.Or(cmp.Compare(r.behind[j], r.behind[i]), cmp.Compare(r.tie[i], r.tie[j]), cmp.Compare(i, j))
}
