package maglev

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A list is an order of preference written out.
type list []int

func (l *list) take(free bitmap) int {
	for i, slot := range *l {
		if free.has(slot) {
			free.remove(slot)
			*l = (*l)[i+1:]
			return slot
		}
	}
	panic("maglev: list exhausted")
}

// offsetSkip is the paper's permutation: (offset + j*skip) mod slots.
func offsetSkip(offset, skip, slots int) *list {
	l := make(list, slots)
	for j := range l {
		l[j] = (offset + j*skip) % slots
	}
	return &l
}

// Table 1 of the paper: seven slots, three backends, the lookup table before and after B1 leaves.
// Only slot 6 moves without need.
func TestPopulateReproducesTheTableOfThePaper(t *testing.T) {
	const slots = 7
	backends := [][2]int{{3, 4}, {0, 2}, {3, 1}}
	lookup := func(present ...int) []int32 {
		owner, free := make([]int32, slots), newBitmap(slots)
		var members []*list
		demand := make([]int, len(backends))
		for _, b := range backends {
			members = append(members, offsetSkip(b[0], b[1], slots))
		}
		for slot := range owner {
			free.add(slot)
		}
		for _, i := range present {
			demand[i] = 1
		}
		populate(owner, free, slots, members, newTurns(demand))
		return owner
	}
	require.Equal(t, list{3, 0, 4, 1, 5, 2, 6}, *offsetSkip(3, 4, slots))
	require.Equal(t, list{0, 2, 4, 6, 1, 3, 5}, *offsetSkip(0, 2, slots))
	require.Equal(t, list{3, 4, 5, 6, 0, 1, 2}, *offsetSkip(3, 1, slots))
	require.Equal(t, []int32{1, 0, 1, 0, 2, 2, 0}, lookup(0, 1, 2))
	require.Equal(t, []int32{0, 0, 0, 0, 2, 2, 2}, lookup(0, 2))
}
