package conntrack

// insert enters a place before all others of its hash. g is what a look for the hash ended with, since which others
// may have been entered, but none removed. sole is whether nothing else stands under the hash.
func (x *index) insert(hash uint32, p place, g gap) (sole bool) {
	group, n := g.at/groupSize, g.at%groupSize
	if !g.sole || filled(x.tags[group]) != int(n) {
		x.push(hash, p)
		return false
	}
	x.used++
	x.tags[group] |= tag(hash) << (n * 8)
	x.late = append(x.late, lateSlot{g.at, slot{hash, p}})
	if len(x.late) == maxLate {
		x.settle()
	}
	return true
}

// settle writes what is late.
func (x *index) settle() {
	for i := range x.late {
		x.near ^= uint64(x.slots[x.late[i].at].hash)
	}
	for i := range x.late {
		x.slots[x.late[i].at] = x.late[i].slot
	}
	x.late = x.late[:0]
}

// push enters a place at the home of its hash. What stood there and behind moves on by one.
func (x *index) push(hash uint32, p place) {
	x.settle()
	x.used++
	carried, mark := slot{hash, p}, tag(hash)
	for g := x.home(hash); ; g = x.after(g) {
		tags, group := x.tags[g], x.slots[g*groupSize:][:groupSize]
		last := group[groupSize-1]
		for i := min(filled(tags), groupSize-1); i > 0; i-- {
			group[i] = group[i-1]
		}
		group[0], x.tags[g] = carried, tags<<8|mark
		if !full(tags) {
			return
		}
		carried, mark = last, tags>>56
	}
}

// remove takes a place out, and moves those behind it that may stand nearer to their homes.
func (x *index) remove(hash uint32, p place) {
	x.settle()
	x.used--
	hole := x.slotOf(hash, p)
	for {
		g := hole / groupSize
		tags, group := x.tags[g], x.slots[g*groupSize:][:groupSize]
		last := filled(tags) - 1
		at := hole % groupSize
		for i := at; i < last; i++ { // all of a group may stand anywhere in it
			group[i] = group[i+1]
		}
		below := uint64(1)<<(at*8) - 1
		tags, wasFull := tags&below|tags>>8&^below, full(tags)
		group[last] = slot{}
		x.tags[g] = tags
		if !wasFull {
			return
		}
		from, ok := x.displaced(g)
		if !ok {
			return
		}
		moved := x.slots[from]
		group[last] = moved
		x.tags[g] = tags | tag(moved.hash)<<(last*8)
		hole = from
	}
}

// slotOf is the slot a place stands in.
func (x *index) slotOf(hash uint32, p place) int {
	wanted := tag(hash)
	for g := x.home(hash); ; g = x.after(g) {
		tags := x.tags[g]
		for hits := equal(tags, wanted); hits != 0; hits &= hits - 1 {
			if at := g*groupSize + firstByte(hits); x.slots[at].place == p {
				return at
			}
		}
		if !full(tags) {
			panic("conntrack: a connection is not in the index")
		}
	}
}

// displaced finds the first slot behind a group whose content may stand in that group.
func (x *index) displaced(group int) (at int, ok bool) {
	mask := len(x.tags) - 1
	for g := x.after(group); ; g = x.after(g) {
		tags := x.tags[g]
		for i := range filled(tags) {
			at := g*groupSize + i
			if home := x.home(x.slots[at].hash); (g-home)&mask >= (g-group)&mask {
				return at, true
			}
		}
		if !full(tags) {
			return 0, false
		}
	}
}

// reserve makes room for two more.
func (x *index) reserve() {
	if 2*(x.used+2) <= len(x.slots) {
		return
	}
	x.settle()
	old := *x
	groups := max(minGroups, 2*len(old.tags))
	*x = index{tags: make([]uint64, groups), slots: make([]slot, groups*groupSize), late: old.late}
	// From behind a group on that is not full, so that of one hash the newest comes first.
	start := 0
	for start < len(old.tags) && full(old.tags[start]) {
		start++
	}
	for n := range old.tags {
		g := (start + 1 + n) & (len(old.tags) - 1)
		for _, s := range old.slots[g*groupSize:][:filled(old.tags[g])] {
			x.append(s)
		}
	}
}

// append enters a slot's content behind all others of its hash.
func (x *index) append(s slot) {
	x.used++
	g := x.home(s.hash)
	for full(x.tags[g]) {
		g = x.after(g)
	}
	at := filled(x.tags[g])
	x.tags[g] |= tag(s.hash) << (at * 8)
	x.slots[g*groupSize+at] = s
}
