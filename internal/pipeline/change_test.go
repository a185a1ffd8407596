package pipeline

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	of "hpnn/datapath/openflow"
	"hpnn/model"
)

// someState is a state in which members are down or drained at random, now and then all of them.
func someState(r *rand.Rand, t model.Topology) State {
	s := State{Down: map[MemberName]bool{}, Drained: map[MemberName]bool{}}
	odds := 1 + r.IntN(5)
	for _, p := range t.Pools {
		for _, m := range p.Members {
			name := MemberName{p.Name, m.Name}
			s.Down[name], s.Drained[name] = r.IntN(odds) == 0, r.IntN(9) == 0
		}
	}
	return s
}

// The change is what comparing the two programs finds, whatever the topology and whoever lived before and lives now; also
// if a layout is missing or of another size.
func TestChangeIsTheDifferenceOfPrograms(t *testing.T) {
	changed := 0
	someTopologies(t, 60, func(seed uint64, topology model.Topology) {
		r := rand.New(rand.NewPCG(seed, 2))
		before := Layout(topology, someState(r, topology))
		for range 5 {
			after := Layout(topology, someState(r, topology))
			for _, p := range topology.Pools {
				switch r.IntN(12) {
				case 0:
					delete(after, p.ID)
				case 1:
					other := topology
					other.Pools = slices.Clone(topology.Pools)
					for i := range other.Pools {
						other.Pools[i].Slots = uint32(1 + r.IntN(2*int(p.Slots)))
					}
					after[p.ID] = Layout(other, someState(r, other))[p.ID]
				}
			}
			var have []of.Flow
			for f := range Render(topology, before).All() {
				have = append(have, f)
			}
			want := of.Diff(have, Render(topology, after))
			require.Equal(t, want.String(), Change(topology, before, after).String(), "seed %d", seed)
			changed += len(want)
			before = after
		}
	})
	require.Greater(t, changed, 1000)
}

func TestNothingChanges(t *testing.T) {
	topology := manyPools(t, 2)
	require.Empty(t, Change(topology, Layout(topology, State{}), Layout(topology, State{})))
}

// BenchmarkLoss lays out what is left when a pool loses one of its eight members, and finds what changes: as the daemon
// does it, and by rendering and comparing everything. The time per operation is that of the first.
func BenchmarkLoss(b *testing.B) {
	for _, n := range poolCounts {
		t := manyPools(b, n)
		before := Layout(t, State{})
		lost := State{Down: map[MemberName]bool{{t.Pools[n/2].Name, t.Pools[n/2].Members[3].Name}: true}}
		b.Run(fmt.Sprintf("%dpools/change", n), func(b *testing.B) {
			for b.Loop() {
				if len(Change(t, before, Layout(t, lost))) != 128 {
					b.Fatal("not an eighth of the slots")
				}
			}
		})
		b.Run(fmt.Sprintf("%dpools/full", n), func(b *testing.B) {
			var have []of.Flow
			for f := range Render(t, before).All() {
				have = append(have, f)
			}
			for b.Loop() {
				if len(of.Diff(have, Render(t, Layout(t, lost)))) != 128 {
					b.Fatal("not an eighth of the slots")
				}
			}
		})
	}
}
