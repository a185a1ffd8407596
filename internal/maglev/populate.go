package maglev

// empty is the owner of a slot that nobody owns.
const empty int32 = -1

// A chooser is a member's order of preference over the slots. take returns the first slot in
// that order that is free, and removes it from the set; what it once found taken stays taken.
type chooser interface {
	take(free bitmap) int
}

// populate is the paper's population step (Eisenbud et al., "Maglev", NSDI 2016, section 3.4):
// members take turns, and whoever has the turn takes the slot it likes best among the free ones.
// It gives out count slots of the set free, writing the taker's index into owner.
func populate[C chooser](owner []int32, free bitmap, count int, members []C, order *turns) {
	for range count {
		m := order.take()
		owner[members[m].take(free)] = int32(m)
	}
}

// A searcher chooses as its permutation does. When few slots are left it asks for the position of
// each of them, instead of walking past all the others: a walk to one of n free slots takes
// slots/n steps, a search n.
type searcher struct {
	*permutation
	left *[]int32 // the free slots, in any order; all searchers share it
}

func (s searcher) take(free bitmap) int {
	left := *s.left
	i := s.favourite(left)
	slot := int(left[i])
	left[i] = left[len(left)-1]
	*s.left = left[:len(left)-1]
	free.remove(slot)
	return slot
}

// populate gives out the count slots of b.free by demand, every member starting at the top of its
// own preferences.
func (b *builder) populate(count int, demand []int) {
	members := make([]permutation, len(demand))
	walkers := make([]*permutation, len(demand))
	for i, d := range demand {
		if d > 0 {
			members[i] = newPermutation(b.seeds[i], len(b.owner))
			walkers[i] = &members[i]
		}
	}
	order := newTurns(demand)
	few := 0
	for few < count && (few+1)*(few+1) <= len(b.owner) {
		few++
	}
	populate(b.owner, b.free, count-few, walkers, order)
	left := b.free.list()
	searchers := make([]searcher, len(demand))
	for i, w := range walkers {
		searchers[i] = searcher{w, &left}
	}
	populate(b.owner, b.free, few, searchers, order)
}
