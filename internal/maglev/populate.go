package maglev

// empty is the owner of a slot that nobody owns.
const empty int32 = -1

// few is how many slots of an estate of count are handed out by search: as many as take no longer
// to search than to walk to. A walk to one of n free slots passes slots/n others, a search looks
// at n.
func few(slots, count int) int {
	n := 0
	for n < count && (n+1)*(n+1) <= slots {
		n++
	}
	return n
}

// walk is the paper's population step (Eisenbud et al., "Maglev", NSDI 2016, section 3.4): members
// take turns, and whoever has the turn takes the slot it likes best among those that nobody owns.
// It gives out count slots, every member starting at the top of its own preferences.
func (b *builder) walk(count int, order *turns) {
	if count == 0 {
		return
	}
	walkers := make([]walker, len(order.members))
	for i, m := range order.members {
		walkers[i] = newWalker(m, b.permutation(m), &b.ground)
	}
	for count > 0 {
		first, n := order.run(count)
		turn := walkers[first : first+n]
		for i := range turn {
			turn[i].take(&b.ground)
		}
		count -= n
	}
}

// search goes on with the slots left. Where they are few it is quicker to ask for the position of
// each of them than to walk past all the others.
func (b *builder) search(left []int32, order *turns) {
	var known []locator // where every member has a turn or more
	if len(order.members) <= len(left) {
		known = make([]locator, len(order.members))
		for i, m := range order.members {
			known[i] = b.permutation(m).locator()
		}
	}
	for len(left) > 0 {
		first, n := order.run(len(left))
		for k, m := range order.members[first : first+n] {
			var l locator
			if known != nil {
				l = known[first+k]
			} else {
				l = b.permutation(m).locator()
			}
			last := len(left) - 1
			i := l.favourite(left)
			b.owner[left[i]] = m
			left[i] = left[last]
			left = left[:last]
		}
	}
}

// unowned lists the slots that nobody owns, of which there are so many.
func (b *builder) unowned(count int) []int32 {
	left, n := make([]int32, count+1), 0
	for slot, o := range b.owner {
		left[n] = int32(slot)
		n += int(uint32(o) >> 31) // empty is negative
	}
	return left[:n]
}

// unownedOf lists those of the slots that nobody owns, of which there are so many.
func (b *builder) unownedOf(slots []int32, count int) []int32 {
	left, n := make([]int32, count+1), 0
	for _, slot := range slots {
		left[n] = slot
		n += int(uint32(b.owner[slot]) >> 31)
	}
	return left[:n]
}
