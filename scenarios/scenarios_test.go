package scenarios_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/scenarios"
)

var (
	update = flag.Bool("update", false, "rewrite what the commands of testdata print, and docs/scenarios.md")
	bed    = flag.String("bed", "sim", "where the stories happen")
)

// TestStories tells every story of testdata.
func TestStories(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("testdata", "*.txt"))
	require.NoError(t, err)
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			result, err := scenarios.Run(path, scenarios.Config{Bed: *bed, Update: *update})
			if err != nil {
				t.Fatal(err)
			}
			if result.Skipped != "" {
				t.Skip(result.Skipped)
			}
		})
	}
}

// TestDocument keeps docs/scenarios.md as the commands have it.
func TestDocument(t *testing.T) {
	t.Parallel()
	want, err := scenarios.Document(filepath.Join("..", "docs"), "testdata")
	require.NoError(t, err)
	path := filepath.Join("..", "docs", "scenarios.md")
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(want), 0o644))
	}
	have, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, want, string(have), "go test ./scenarios -update")
}
