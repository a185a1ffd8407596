package maglev

// tolerance is how many slots a live member may be away from its fair share.
const tolerance = 2

// even moves single inherited slots from the member furthest above its fair share to the one
// furthest below, until all are within tolerance or no move would bring the two closer. Slots
// that were a live member's in the full table stay where they are.
func (s *succession) even() {
	a := s.account()
	for {
		rich, poor := a.extremes()
		if rich < 0 || a.ahead[rich]-a.ahead[poor] <= a.unit ||
			max(a.ahead[rich], -a.ahead[poor]) <= tolerance*a.unit {
			return
		}
		s.owner[s.favourite(rich, poor)] = int32(poor)
		a.move(rich, poor)
	}
}

// An account says how the live members stand.
type account struct {
	unit      int    // one slot, in the unit of ahead
	live      []bool // per member: takes slots
	ahead     []int  // per member: slots above the fair share, times unit
	inherited []int  // per member: slots it did not have in the full table
}

func (s *succession) account() account {
	n := len(s.members)
	a := account{live: make([]bool, n), ahead: make([]int, n), inherited: make([]int, n)}
	for i, m := range s.members {
		a.live[i] = m.takes()
		a.unit += m.effective()
		a.ahead[i] = -len(s.owner) * m.effective()
	}
	for slot, o := range s.owner {
		a.ahead[o] += a.unit
		if s.base[slot] != o {
			a.inherited[o]++
		}
	}
	return a
}

// extremes are the member furthest ahead of those that can give a slot, or -1, and the member
// furthest behind.
func (a account) extremes() (rich, poor int) {
	rich, poor = -1, -1
	for i, live := range a.live {
		if !live {
			continue
		}
		if a.inherited[i] > 0 && (rich < 0 || a.ahead[i] > a.ahead[rich]) {
			rich = i
		}
		if poor < 0 || a.ahead[i] < a.ahead[poor] {
			poor = i
		}
	}
	return rich, poor
}

func (a account) move(from, to int) {
	a.ahead[from] -= a.unit
	a.ahead[to] += a.unit
	a.inherited[from]--
	a.inherited[to]++
}

// favourite is the slot that member likes best among those that owner inherited.
func (s *succession) favourite(owner, member int) int {
	var slots []int32
	for slot, o := range s.owner {
		if int(o) == owner && s.base[slot] != o {
			slots = append(slots, int32(slot))
		}
	}
	p := newPermutation(s.seeds[member], len(s.owner))
	l := p.locator()
	return int(slots[l.favourite(slots)])
}
