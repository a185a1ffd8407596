package maglev

import "slices"

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
	now     int
	classes []class
}

// A class is the rotation of the members that have the same demand.
type class struct {
	demand   int
	members  []int32 // ascending
	next     int     // whose turn it is
	had      int     // turns the member at next has had
	release  int
	deadline int
}

// newTurns starts the order. Demands of zero are left out; one must be positive.
func newTurns(demand []int) *turns {
	t := &turns{}
	for i, d := range demand {
		if d == 0 {
			continue
		}
		t.total += d
		k := slices.IndexFunc(t.classes, func(c class) bool { return c.demand == d })
		if k < 0 {
			k = len(t.classes)
			t.classes = append(t.classes, class{demand: d})
		}
		t.classes[k].members = append(t.classes[k].members, int32(i))
	}
	for i := range t.classes {
		t.classes[i].schedule(t.total)
	}
	return t
}

// take returns the member whose turn is next.
func (t *turns) take() int {
	t.now++
	var best *class
	for i := range t.classes {
		c := &t.classes[i]
		if c.release <= t.now && (best == nil || c.before(best)) {
			best = c
		}
	}
	m := best.members[best.next]
	if best.next++; best.next == len(best.members) {
		best.next = 0
		best.had++
		best.schedule(t.total)
	}
	return int(m)
}

// before orders classes by the deadline of the member whose turn it is.
func (c *class) before(d *class) bool {
	if c.deadline != d.deadline {
		return c.deadline < d.deadline
	}
	return c.members[c.next] < d.members[d.next]
}

// schedule sets the window of the turn after had ones.
func (c *class) schedule(total int) {
	c.release = c.had*total/c.demand + 1
	c.deadline = ((c.had+1)*total + c.demand - 1) / c.demand
}
