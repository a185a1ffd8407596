package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSetsOfStories(t *testing.T) {
	const dir = "../../../../scenarios/testdata"
	all, others, err := telling{dir: dir, set: "all"}.choose()
	require.NoError(t, err)
	require.NotEmpty(t, all)
	require.Zero(t, others)
	short, others, err := telling{dir: dir, set: "short"}.choose()
	require.NoError(t, err, "every story of the short set is there")
	require.Len(t, short, len(shortSet))
	require.Equal(t, len(all)-len(short), others)
	two, _, err := telling{dir: dir, set: "drain,hairpin"}.choose()
	require.NoError(t, err)
	require.Equal(t, []string{dir + "/drain.txt", dir + "/hairpin.txt"}, two)
	none, others, err := telling{dir: dir, set: "none"}.choose()
	require.NoError(t, err)
	require.Empty(t, none)
	require.Equal(t, len(all), others)
	_, _, err = telling{dir: dir, set: "drain,nonsense"}.choose()
	require.ErrorContains(t, err, "find story nonsense")
}
