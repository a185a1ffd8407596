package scenarios_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/scenarios"
)

var (
	update = flag.Bool("update", false, "rewrite what the commands of testdata print, and docs/scenarios.md")
	bed    = flag.String("bed", "sim", "where the stories happen")
)

// TestStories tells every story of testdata.
func TestStories(t *testing.T) { tellAll(t, *bed, all) }

// floods are stories of so many frames that a real switch takes the better part of a minute for each.
var floods = []string{"spoofed-sources.txt", "day-later.txt", "node-restart.txt"}

// TestStoriesOnARealSwitch tells them once more where the switch is a real one and time is virtual: it has to be all the
// same. `go test ./scenarios -bed dummy` tells the floods too.
func TestStoriesOnARealSwitch(t *testing.T) {
	if testing.Short() || *bed != "sim" || *update {
		t.Skip("it is for the whole test of the bed sim")
	}
	tellAll(t, "dummy", func(name string) bool { return !slices.Contains(floods, name) })
}

func all(string) bool { return true }

// tellAll tells the chosen stories of testdata on a bed, and which of them were skipped, and why.
func tellAll(t *testing.T, bed string, chosen func(name string) bool) {
	paths, err := filepath.Glob(filepath.Join("testdata", "*.txt"))
	require.NoError(t, err)
	var mu sync.Mutex
	var skipped []string
	told := 0
	t.Cleanup(func() {
		fmt.Printf("stories on %s: %d told, %d skipped\n%s", bed, told, len(skipped), strings.Join(skipped, ""))
	})
	for _, path := range paths {
		name := filepath.Base(path)
		if !chosen(name) {
			skipped = append(skipped, fmt.Sprintf("  %s: it takes long: go test ./scenarios -bed %s\n", name, bed))
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result, err := scenarios.Run(path, scenarios.Config{Bed: bed, Update: *update})
			if err != nil {
				t.Fatal(err)
			}
			mu.Lock()
			defer mu.Unlock()
			if result.Skipped != "" {
				skipped = append(skipped, fmt.Sprintf("  %s: %s\n", name, result.Skipped))
				t.Skip(result.Skipped)
			}
			told++
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
