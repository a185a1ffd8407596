package maglev

import (
	"cmp"
	"slices"
)

// turns is the order in which members take slots: member i gets demand[i] of every total turns,
// as evenly as whole turns allow.
//
// Write s = t*demand/total for the exact share of a member after t turns. The turn a member takes
// when it has had c may come no sooner than s passes c and no later than s reaches c+1:
//
//	release  = floor(c*total/demand) + 1
//	deadline = ceil((c+1)*total/demand)
//
// and turn t goes to the member with the earliest deadline among those released, the lowest
// index first. Then after every t each member has had floor(s) or ceil(s) turns, so its count is
// less than one away from the exact share:
//
//   - Giving each member demand/total of every turn serves the c-th turn of a member inside its
//     window and loads every turn exactly once. That is a fractional matching of turns to windows,
//     so a whole one exists (Birkhoff).
//   - Unit jobs with whole release times and deadlines that can be scheduled at all are scheduled
//     by earliest deadline first.
//   - No turn before its release means count <= ceil(s); none after its deadline, count >= floor(s).
//
// Members of equal demand form a class and simply rotate: the one that had fewer turns has the
// earlier release and deadline. So a turn costs one comparison per distinct demand, and with equal
// weights this is the plain turn-taking of the paper.
type turns struct {
	total   int
	now     int     // turns that have been had
	members []int32 // by class, ascending in each
	classes []class
}

// A class is the rotation of the members that have the same demand.
type class struct {
	demand     int
	first, end int // its part of members
	next       int // whose turn it is
	had        int // turns the member at next has had
	release    int
	deadline   int
}

// newTurns starts the order. Demands of zero are left out; one must be positive.
func newTurns(demand []int) *turns {
	t := &turns{members: make([]int32, 0, len(demand))}
	for i, d := range demand {
		if d > 0 {
			t.members = append(t.members, int32(i))
			t.total += d
		}
	}
	slices.SortFunc(t.members, func(i, j int32) int {
		return cmp.Or(cmp.Compare(demand[i], demand[j]), cmp.Compare(i, j))
	})
	for first := 0; first < len(t.members); {
		c := class{demand: demand[t.members[first]], first: first, next: first}
		for c.end = first + 1; c.end < len(t.members) && demand[t.members[c.end]] == c.demand; c.end++ {
		}
		c.schedule(t.total)
		t.classes = append(t.classes, c)
		first = c.end
	}
	return t
}

// run says whose turns are next: n members, from the first of t.members. They are at least one and
// at most count: as many as it takes no comparison to know.
func (t *turns) run(count int) (first, n int) {
	c := &t.classes[0]
	if len(t.classes) > 1 {
		c, count = t.earliest(), 1
	}
	first, n = c.next, min(count, c.end-c.next)
	t.now += n
	if c.next += n; c.next == c.end {
		c.next = c.first
		c.had++
		if len(t.classes) > 1 { // otherwise nobody asks
			c.schedule(t.total)
		}
	}
	return first, n
}

// earliest is the class whose turn is next.
func (t *turns) earliest() *class {
	var best *class
	for i := range t.classes {
		c := &t.classes[i]
		if c.release <= t.now+1 && (best == nil || t.before(c, best)) {
			best = c
		}
	}
	return best
}

// before orders classes by the deadline of the member whose turn it is.
func (t *turns) before(c, d *class) bool {
	if c.deadline != d.deadline {
		return c.deadline < d.deadline
	}
	return t.members[c.next] < t.members[d.next]
}

// schedule sets the window of the turn after had ones.
func (c *class) schedule(total int) {
	c.release = c.had*total/c.demand + 1
	c.deadline = ((c.had+1)*total + c.demand - 1) / c.demand
}
