package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/internal/figure"
	"hpnn/internal/maglev"
)

var update = flag.Bool("update", false, "rewrite the plot and the figures of docs/slot-table.md")

var docs = filepath.Join("..", "..", "..", "docs")

func TestPlotAndFiguresAreFresh(t *testing.T) {
	m, err := measure()
	require.NoError(t, err)
	plot, page := filepath.Join(docs, "slot-table.svg"), filepath.Join(docs, "slot-table.md")
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	fresh, err := figure.Page(string(text), m.tables())
	require.NoError(t, err)
	if *update {
		require.NoError(t, os.WriteFile(plot, []byte(m.plot()), 0o644))
		require.NoError(t, os.WriteFile(page, []byte(fresh), 0o644))
		return
	}
	require.Equal(t, fresh, string(text), "run go test ./internal/cmd/slotplot -update")
	drawn, err := os.ReadFile(plot)
	require.NoError(t, err)
	require.True(t, string(drawn) == m.plot(), "the plot is stale: run go test ./internal/cmd/slotplot -update")
	t.Run("claims", func(t *testing.T) { requireClaims(t, m) })
}

// requireClaims holds the numbers to what the page says of them in words.
func requireClaims(t *testing.T, m measurements) {
	for _, r := range m.rows {
		if r.algorithm == maglev.Maglev {
			require.LessOrEqual(t, r.unfair, 1.0)
			continue
		}
		require.LessOrEqual(t, r.unfair, 2.0, "%d members", r.members)
		require.Zero(t, max(0, r.foreign[0].worst), "the first failure, %d members", r.members)
		require.Less(t, r.foreign[2].worst, 1.5, "the fifth failure, %d members", r.members)
		if r.members <= 8 {
			require.Zero(t, max(0, r.foreign[2].worst), "%d members", r.members)
		}
	}
	for _, s := range m.maps {
		moved, foreign := s.counts()
		require.Equal(t, slots/4, moved-foreign, "the dead member's own slots")
		require.Equal(t, s.algorithm == maglev.MaglevStable, foreign == 0)
	}
}

func TestTakeTurnsIsTheTableOfThePaper(t *testing.T) {
	// Table 1 of the paper: offsets 3, 0, 3 and steps 4, 2, 1 over seven slots.
	seeds := []uint64{3<<32 | 4, 0<<32 | 2, 3<<32 | 1}
	step := func(x uint64) int { return int(x) }
	require.Equal(t, []int{1, 0, 1, 0, 2, 2, 0}, takeTurns(seeds, 7, step))
	require.Equal(t, []int{0, 0, 0, 0, 1, 1, 1}, takeTurns([]uint64{seeds[0], seeds[2]}, 7, step))
}

func TestRendezvousMovesOnlyWhatItMust(t *testing.T) {
	seeds := []uint64{1, 2, 3, 4}
	with, without := rendezvous(seeds, 200), rendezvous(seeds[1:], 200)
	for slot, o := range with {
		require.True(t, o == 0 || without[slot] == o-1, "slot %d", slot)
	}
}

func TestRunPrintsEither(t *testing.T) {
	if testing.Short() {
		t.Skip("measures twice")
	}
	var plot, figures strings.Builder
	require.NoError(t, run(&plot, false))
	require.NoError(t, run(&figures, true))
	require.True(t, strings.HasPrefix(plot.String(), "<svg "))
	require.Contains(t, figures.String(), "| Members | Layout |")
}
