package maglev

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// textbook is the population step of the paper, figure 2 of "Maglev", from a matrix of all
// preferences: in the order of turns each member takes the slot it likes best among the free ones.
func textbook(prefers [][]int32, free []bool, turns []int) []int32 {
	owner := slices.Repeat([]int32{empty}, len(free))
	next := make([]int, len(prefers))
	for _, i := range turns {
		slot := prefers[i][next[i]]
		for !free[slot] {
			next[i]++
			slot = prefers[i][next[i]]
		}
		owner[slot] = int32(i)
		free[slot] = false
		next[i]++
	}
	return owner
}

// rotation is the turns of equal members.
func rotation(members, count int) []int {
	turns := make([]int, count)
	for t := range turns {
		turns[t] = t % members
	}
	return turns
}

// offsetSkip is the paper's permutation: (offset + j*skip) mod slots.
func offsetSkip(offset, skip, slots int) []int32 {
	l := make([]int32, slots)
	for j := range l {
		l[j] = int32((offset + j*skip) % slots)
	}
	return l
}

// Table 1 of the paper: seven slots, three backends, the lookup table before and after B1 leaves.
// Only slot 6 moves without need.
func TestTextbookReproducesTheTableOfThePaper(t *testing.T) {
	const slots = 7
	b0, b1, b2 := offsetSkip(3, 4, slots), offsetSkip(0, 2, slots), offsetSkip(3, 1, slots)
	require.Equal(t, []int32{3, 0, 4, 1, 5, 2, 6}, b0)
	require.Equal(t, []int32{0, 2, 4, 6, 1, 3, 5}, b1)
	require.Equal(t, []int32{3, 4, 5, 6, 0, 1, 2}, b2)
	all := func() []bool { return slices.Repeat([]bool{true}, slots) }
	require.Equal(t, []int32{1, 0, 1, 0, 2, 2, 0}, textbook([][]int32{b0, b1, b2}, all(), rotation(3, slots)))
	require.Equal(t, []int32{0, 0, 0, 0, 1, 1, 1}, textbook([][]int32{b0, b2}, all(), rotation(2, slots)))
}
