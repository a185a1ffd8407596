package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/internal/figure"
)

var update = flag.Bool("update", false, "rewrite the plot and the tables of docs/performance.md from the record")

var docs = filepath.Join("..", "..", "..", "docs")

func TestDocumentTellsWhatWasRecorded(t *testing.T) {
	var tables, plot strings.Builder
	require.NoError(t, run(&tables, filepath.Join(docs, "performance.txt"), false))
	require.NoError(t, run(&plot, filepath.Join(docs, "performance.txt"), true))
	page, drawing := filepath.Join(docs, "performance.md"), filepath.Join(docs, "performance.svg")
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	fresh, err := figure.Page(string(text), tables.String())
	require.NoError(t, err)
	if *update {
		require.NoError(t, os.WriteFile(page, []byte(fresh), 0o644))
		require.NoError(t, os.WriteFile(drawing, []byte(plot.String()), 0o644))
		return
	}
	require.Equal(t, fresh, string(text), "run go test ./internal/cmd/perfdoc -update")
	drawn, err := os.ReadFile(drawing)
	require.NoError(t, err)
	require.True(t, string(drawn) == plot.String(), "the plot is stale: run go test ./internal/cmd/perfdoc -update")
}

func TestReadKeepsTheBestRun(t *testing.T) {
	r, err := read(strings.NewReader(`pkg: hpnn/internal/maglev
BenchmarkBuild/slots=1024/members=4/maglev-2 10 5000 ns/op
BenchmarkBuild/slots=1024/members=4/maglev-2 10 4000 ns/op
BenchmarkTextbook/slots=1024/members=4-2 10 40000 ns/op
pkg: hpnn/internal/replay
BenchmarkRun/flows=64/cores=1-2 1 1 ns/op 2.5 Mframes/s
BenchmarkRun/flows=64/cores=1-2 1 1 ns/op 1.5 Mframes/s
`), "record")
	require.NoError(t, err)
	require.InEpsilon(t, 4e-6, r.seconds("maglev.Build/slots=1024/members=4/maglev"), 1e-9)
	require.InEpsilon(t, 10, r.ratio("maglev.Textbook/slots=1024/members=4", "maglev.Build/slots=1024/members=4/maglev"), 1e-9)
	require.Equal(t, 2.5, r.get("replay.Run/flows=64/cores=1", "Mframes/s"))
	_, err = read(strings.NewReader("nothing\n"), "record")
	require.EqualError(t, err, "read record record: no benchmarks in it")
}

func TestJudge(t *testing.T) {
	least, most := promise{least: 5, unit: "x"}, promise{most: 4, unit: "us"}
	require.Equal(t, "at least 5 x", least.bar())
	require.Equal(t, "under 4 us", most.bar())
	require.Equal(t, "5 x | yes", least.judge(5))
	require.Equal(t, "2.5 x | no, 50 % of the way", least.judge(2.5))
	require.Equal(t, "8 us | no, 50 % of the way", most.judge(8))
	require.Equal(t, "- | not measured", most.judge(0))
}
