package pipeline

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	of "hpnn/datapath/openflow"
	"hpnn/model"
)

var update = flag.Bool("update", false, "rewrite the golden files and the samples in docs/pipeline.md")

const examplesDir = "../../examples"

// load returns an example's topology.
func load(tb testing.TB, name string) model.Topology {
	tb.Helper()
	t, err := model.Load(filepath.Join(examplesDir, name+".yaml"))
	require.NoError(tb, err)
	return t
}

// examples lists the names of all examples.
func examples(tb testing.TB) []string {
	tb.Helper()
	paths, err := filepath.Glob(filepath.Join(examplesDir, "*.yaml"))
	require.NoError(tb, err)
	require.NotEmpty(tb, paths)
	var names []string
	for _, p := range paths {
		names = append(names, strings.TrimSuffix(filepath.Base(p), ".yaml"))
	}
	return names
}

// allUp renders a topology whose members are all alive.
func allUp(t model.Topology) of.Program { return Render(t, Layout(t, State{})) }

func TestRenderedProgramsOfExamples(t *testing.T) {
	for _, name := range examples(t) {
		t.Run(name, func(t *testing.T) {
			got := allUp(load(t, name)).String()
			golden := filepath.Join("testdata", name+".flows")
			if *update {
				require.NoError(t, os.WriteFile(golden, []byte(got), 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err, "run go test -update")
			if got != string(want) {
				t.Fatalf("the program differs from %s; run go test -update and review the difference:\n%s", golden, firstDifference(string(want), got))
			}
		})
	}
}

func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			return "- " + w[i] + "\n+ " + g[i]
		}
	}
	return "one ends before the other"
}
