package maglev

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// benchPools are the sizes of the benchmarks: the usual table with few and with many members, and
// the largest prime table with a thousand.
var benchPools = []struct{ slots, members int }{{1024, 4}, {1024, 50}, {65521, 1000}}

func benchBuild(b *testing.B, p Pool) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Build(p); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkBuild(b *testing.B) {
	for _, size := range benchPools {
		name := fmt.Sprintf("slots=%d/members=%d", size.slots, size.members)
		b.Run(name+"/maglev", func(b *testing.B) {
			benchBuild(b, uniform(Maglev, size.slots, size.members))
		})
		b.Run(name+"/stable", func(b *testing.B) {
			benchBuild(b, uniform(MaglevStable, size.slots, size.members))
		})
		b.Run(name+"/stable-one-dead", func(b *testing.B) {
			p := uniform(MaglevStable, size.slots, size.members)
			p.Members[1].Live = false
			benchBuild(b, p)
		})
		b.Run(name+"/stable-half-dead", func(b *testing.B) {
			p := uniform(MaglevStable, size.slots, size.members)
			for i := range size.members / 2 {
				p.Members[2*i].Live = false
			}
			benchBuild(b, p)
		})
	}
}

// The textbook's way, for comparison: write out all preferences, then take turns.
func BenchmarkTextbook(b *testing.B) {
	for _, size := range benchPools {
		b.Run(fmt.Sprintf("slots=%d/members=%d", size.slots, size.members), func(b *testing.B) {
			p := uniform(Maglev, size.slots, size.members)
			b.ReportAllocs()
			for b.Loop() {
				matrix(p)
			}
		})
	}
}

// matrix lays out a pool of equal members.
func matrix(p Pool) []int32 {
	prefers := make([][]int32, len(p.Members))
	for i, m := range p.Members {
		prefers[i] = preferences(memberSeed(p.ID, m.Key), p.Slots)
	}
	return textbook(prefers, slices.Repeat([]bool{true}, p.Slots), rotation(len(p.Members), p.Slots))
}

func TestMatrixAgrees(t *testing.T) {
	for _, size := range benchPools[:2] {
		p := uniform(Maglev, size.slots, size.members)
		table := build(t, p)
		for slot, o := range matrix(table.Pool()) {
			key, _ := table.Owner(slot)
			require.Equal(t, table.Pool().Members[o].Key, key)
		}
	}
}
