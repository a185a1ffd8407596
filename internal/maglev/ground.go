package maglev

import "math/bits"

// A ground is what the walkers of a table walk over: every number of a permutation, which is every
// slot and, beyond them, numbers up to a power of two that are never free.
type ground struct {
	owner []int32 // per number: the owner, or empty
	mask  uint64  // the bits of a number, in both halves of a word
	half  uint8   // of the permutations
}

// newGround is the ground of a table of so many slots that nobody owns.
func newGround(slots int) ground {
	k := bits.Len(uint(slots - 1))
	g := ground{owner: make([]int32, 1<<k), mask: twice(1<<k - 1), half: uint8(k+1) / 2}
	g.owner[0] = empty
	for n := 1; n < slots; n *= 2 { // what is filled already fills as much again
		copy(g.owner[n:slots], g.owner[:n])
	}
	return g
}
