package openflow_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	. "hpnn/datapath/openflow"
)

// TestProgramIsInOrderOfKeys holds the order of programs against a plain sort by key.
func TestProgramIsInOrderOfKeys(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	masks := []Value{U64(1), U64(0xff), U64(0xffffffff)}
	edges := []uint64{0, 1, 1<<32 - 2, 1<<32 - 1, 1 << 32, 1<<64 - 1}
	for range 50 {
		var flows []Flow
		for range r.IntN(300) {
			f := Flow{Table: TableID(r.IntN(3)), Priority: uint16(r.IntN(3))}
			for range r.IntN(4) {
				switch r.IntN(6) {
				case 0:
					f.Match = f.Match.With(Reg1, U64(r.Uint64N(4)))
				case 1:
					f.Match = f.Match.WithMask(Reg0, U64(r.Uint64N(1<<32)), masks[r.IntN(len(masks))])
				case 2:
					f.Match = f.Match.With(Metadata, U64(r.Uint64()>>r.IntN(64)))
				case 3:
					f.Match = f.Match.With(Metadata, U64(edges[r.IntN(len(edges))]))
				case 4:
					f.Match = f.Match.WithMask(Reg0, U64(r.Uint64N(3)), masks[r.IntN(len(masks))])
				case 5:
					f.Match = f.Match.With(IPv6Src, Value{Hi: r.Uint64N(2), Lo: r.Uint64N(3) << 31})
				}
			}
			if !slices.ContainsFunc(flows, func(g Flow) bool { return g.Key().Compare(f.Key()) == 0 }) {
				flows = append(flows, f)
			}
		}
		p, err := NewProgram(flows...)
		require.NoError(t, err)
		slices.SortFunc(flows, func(a, b Flow) int { return a.Key().Compare(b.Key()) })
		require.Equal(t, flows, slices.Collect(p.All()))
	}
}
