package maglev

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// requireSound checks what holds for every table: only members that take slots own any, and if
// there is one, every slot is owned.
func requireSound(t *testing.T, table Table) {
	t.Helper()
	takes := map[string]bool{}
	for _, m := range table.Pool().Members {
		if m.Live && m.Weight > 0 {
			takes[m.Key] = true
		}
	}
	for slot := range table.Slots() {
		key, ok := table.Owner(slot)
		require.Equal(t, len(takes) > 0, ok, "slot %d", slot)
		require.True(t, !ok || takes[key], "slot %d is owned by %s", slot, key)
	}
}

// requireFair checks that every share is within so many slots of the exact one.
func requireFair(t *testing.T, table Table, within float64) {
	t.Helper()
	for _, s := range table.Shares() {
		require.LessOrEqual(t, math.Abs(float64(s.Slots)-s.Fair), within, "%s in %v", s.Key, table.Pool())
	}
}

// Every pool of up to six members, every set of them live, every change of one member.
func TestEverySmallPool(t *testing.T) {
	weights := [][]int{{1}, {1, 2}, {100, 1, 50}, {3, 0, 2, 2, 7}}
	for _, slots := range []int{7, 13, 64, 251, 1024} {
		for members := 1; members <= 6; members++ {
			for _, w := range weights {
				for _, a := range []Algorithm{Maglev, MaglevStable} {
					checkTransitions(t, weighed(uniform(a, slots, members), w...))
				}
			}
		}
	}
}

// With eight equal members and 1024 slots lines go all the way.
func TestEightMembersNeverMoveForeignSlots(t *testing.T) {
	p := uniform(MaglevStable, 1024, 8)
	require.Equal(t, 8, depth(8, 1024))
	checkTransitions(t, p)
}

func checkTransitions(t *testing.T, p Pool) {
	t.Helper()
	full := 1<<len(p.Members) - 1
	tables := make([]Table, full+1)
	for set := range tables {
		tables[set] = build(t, alive(p, set))
		requireSound(t, tables[set])
		if p.Algorithm == Maglev || set == full {
			requireFair(t, tables[set], 1)
		} else {
			requireFair(t, tables[set], 2)
		}
	}
	if p.Algorithm != MaglevStable {
		return
	}
	for set := range tables {
		for i := range p.Members {
			other := set ^ 1<<i
			foreign := Disruption(tables[set], tables[other]).Foreign
			if set == full || other == full {
				require.Zero(t, foreign, "%v: members live %b, then %b", p, set, other)
			}
			if depth(len(p.Members), p.Slots) >= len(p.Members) {
				require.Zero(t, foreign, "%v: members live %b, then %b", p, set, other)
			}
		}
	}
}

func TestRandomPools(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 300 {
		p := random(r, 1+Algorithm(r.IntN(2)), 1024, 1+r.IntN(64))
		table := build(t, p)
		requireSound(t, table)
		if p.Algorithm == Maglev {
			requireFair(t, table, 1)
		} else {
			requireFair(t, table, 2)
		}
		full := build(t, alive(p, -1))
		requireFair(t, full, 1)

		require.Equal(t, table, build(t, shuffled(r, p)), "the order of members matters")
	}
}

func TestFullSetLosesAndRegainsWithoutForeignMoves(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for range 100 {
		p := alive(random(r, MaglevStable, 1+r.IntN(2048), 2+r.IntN(63)), -1)
		full := build(t, p)
		p.Members[r.IntN(len(p.Members))].Live = false
		less := build(t, p)
		require.Zero(t, Disruption(full, less).Foreign)
		require.Zero(t, Disruption(less, full).Foreign)
		requireFair(t, less, 2)
		require.Equal(t, full, build(t, alive(p, -1)))
	}
}

func TestDepth(t *testing.T) {
	for _, c := range []struct{ members, slots, want int }{
		{1, 1, 1},
		{2, 15, 0},
		{2, 16, 2},
		{4, 1024, 4},
		{6, 1024, 6},
		{9, 1024, 9},
		{10, 1024, 3},
		{16, 1024, 2},
		{64, 1024, 1},
		{129, 1024, 0},
		{13, 65536, 13},
		{14, 65536, 5},
		{64, 65536, 2},
		{1000, 65536, 1},
		{65536, 65536, 0},
	} {
		require.Equal(t, c.want, depth(c.members, c.slots), "%+v", c)
	}
}

func TestNobodyLiveIsEmpty(t *testing.T) {
	for _, a := range []Algorithm{Maglev, MaglevStable} {
		for _, p := range []Pool{
			{ID: 1, Slots: 5, Algorithm: a},
			alive(uniform(a, 5, 3), 0),
			weighed(uniform(a, 5, 3), 0),
		} {
			table := build(t, p)
			require.Equal(t, []string{"", "", "", "", ""}, owners(table))
			requireSound(t, table)
		}
	}
}
