package maglev

// empty is the owner of a slot that nobody owns.
const empty int32 = -1

// A chooser is a member's order of preference over the slots. take returns the first slot in
// that order that is free and was not met before, and removes it from the set.
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
