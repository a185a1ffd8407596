package maglev

import "slices"

// A succession settles who inherits the slots of members that are not live.
//
// Each slot has a line: its owner in the full table, then its heir should that one fail, then
// the heir of both, and so on; the first live member in line owns the slot. A line is the same
// whoever else is dead, so along it a member that fails loses only its own slots and a member
// that returns takes only its own: no foreign slot moves, between any two sets of live members.
//
// Lines are drawn for groups of slots. A group is the slots whose first owners in line are
// exactly the members of a set, in whatever order: the group of {} is the whole table, the group
// of {x} is what x owns of it, and the group of {x, y} is what y inherits from x and x from y. The
// members outside the set take turns at the group as they did at the whole table, with demands
// that leave every one of them near its fair share should just that set be dead. That needs the
// groups of all subsets, and no others.
//
// The deeper the group, the fewer its slots: where there are too few to go round (see depth), the
// lines end, and what is left over is one pool for which the live members take turns. With a few
// members it never comes to that. Last, a slot or two may have to leave its line for the sake of
// fair shares (see even). Only these two steps move foreign slots, and only from one set with
// members dead to another: with all live there is nothing to inherit.
//
// Nothing here depends on the order in which groups of one size, or the slots of a group, are
// dealt with.
type succession struct {
	*builder
	bit    []uint64 // per member: its bit in a set; 0 when it is live or has no weight
	base   []int32  // the owners in the full table
	groups map[uint64]*group
}

// A group is the slots of one set of dead members.
type group struct {
	slots []int32
	given []int // per member: the slots of the group for which it is next in line
}

// smallestGroup is how many slots a group has on average, at least, for lines to go that deep.
const smallestGroup = 8

// mostGroups is how many groups of one size lines may go through. It bounds the time to build a
// large table of which most members are dead.
const mostGroups = 2048

// maxDead is the number of dead members up to which lines are followed: as many as a set has bits.
const maxDead = 64

// depth is how many members of a line may be dead before the slot goes to the pool: the largest
// number k such that, for every size up to k, there are at most mostGroups sets of that size and
// the slots divided by their number come to smallestGroup. It must not depend on who is live.
func depth(members, slots int) int {
	sets := 1
	for k := 1; k < members; k++ {
		sets = sets * (members - k + 1) / k
		if sets > mostGroups || sets*smallestGroup > slots {
			return k - 1
		}
	}
	return members
}

// succeed hands on the slots of the full table whose owners are not live.
func (b *builder) succeed() {
	if !slices.ContainsFunc(b.members, func(m Member) bool { return m.Weight > 0 && !m.Live }) {
		return
	}
	s := &succession{
		builder: b,
		bit:     make([]uint64, len(b.members)),
		base:    slices.Clone(b.owner),
		groups:  map[uint64]*group{},
	}
	configured, dead := 0, 0
	for i, m := range b.members {
		if m.Weight == 0 {
			continue
		}
		configured++
		if !m.Live {
			s.bit[i] = 1 << (dead % maxDead) // beyond maxDead any bit does: lines end at once
			dead++
		}
	}
	lines := depth(configured, len(b.owner))
	if dead > maxDead {
		lines = 0
	}
	s.follow(lines)
	s.even()
}

// follow draws the lines so many dead members deep, and gives out the pool that is left.
func (s *succession) follow(lines int) {
	whole := &group{slots: make([]int32, len(s.owner))}
	for slot := range whole.slots {
		whole.slots[slot] = int32(slot)
	}
	s.record(0, whole)
	level := map[uint64]*group{0: whole}
	for k := 1; ; k++ {
		level = s.bereaved(level)
		switch {
		case len(level) == 0:
			return
		case k > lines:
			s.pool(level)
			return
		}
		for set, g := range level {
			s.inherit(set, g)
		}
	}
}

// bereaved sorts the slots of a level whose next in line is dead into the groups of the level
// below.
func (s *succession) bereaved(level map[uint64]*group) map[uint64]*group {
	below := map[uint64]*group{}
	for set, g := range level {
		for _, slot := range g.slots {
			bit := s.bit[s.owner[slot]]
			if bit == 0 {
				continue
			}
			if below[set|bit] == nil {
				below[set|bit] = &group{}
			}
			below[set|bit].slots = append(below[set|bit].slots, slot)
		}
	}
	return below
}

// inherit lets the members outside the set take turns at its group.
func (s *succession) inherit(set uint64, g *group) {
	e := estate{slots: g.slots, held: make([]int, len(s.members)), weights: make([]int, len(s.members)), slack: true}
	for sub := set; sub != 0; {
		sub = (sub - 1) & set
		if f := s.groups[sub]; f != nil {
			for i, n := range f.given {
				e.held[i] += n
			}
		}
	}
	for i, m := range s.members {
		if s.bit[i]&set == 0 {
			e.weights[i] = m.Weight
		} else {
			e.salt += s.seeds[i]
		}
	}
	s.share(e)
	s.record(set, g)
}

// record keeps who is next in line for the slots of a group.
func (s *succession) record(set uint64, g *group) {
	g.given = make([]int, len(s.members))
	for _, slot := range g.slots {
		g.given[s.owner[slot]]++
	}
	s.groups[set] = g
}

// pool lets the live members take turns at all slots of a level.
func (s *succession) pool(level map[uint64]*group) {
	e := estate{held: make([]int, len(s.members)), weights: make([]int, len(s.members))}
	for _, g := range level {
		e.slots = append(e.slots, g.slots...)
	}
	for _, o := range s.owner {
		e.held[o]++
	}
	for i, m := range s.members {
		e.weights[i] = m.effective()
		if s.bit[i] != 0 {
			e.salt += s.seeds[i]
		}
	}
	s.share(e)
}
