package openflow_test

import (
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	. "hpnn/datapath/openflow"
	"hpnn/datapath/openflow/openflowtest"
)

// requireSameSlowly holds the short cut for plain lines against the parser that knows all.
func requireSameSlowly(tb testing.TB, line string) {
	got, err := ParseFlow(line)
	want, wantErr := ParseFlowSlowly(line)
	if wantErr != nil {
		require.EqualError(tb, err, wantErr.Error(), line)
		return
	}
	require.NoError(tb, err, line)
	require.True(tb, got.Equal(want.Flow), "%s\n%v\n%v", line, got, want)
}

func TestPlainLinesReadAsSlowly(t *testing.T) {
	for _, name := range []string{"testdata/accepted.txt", "testdata/refused.txt"} {
		content, err := os.ReadFile(name)
		require.NoError(t, err)
		for line := range strings.Lines(string(content)) {
			requireSameSlowly(t, strings.TrimRight(strings.TrimPrefix(line, "= "), "\n"))
		}
	}
	g := openflowtest.New(22)
	r := rand.New(rand.NewPCG(7, 8))
	for n := range 10_000 {
		line := simple(r)
		if n%2 == 0 {
			line = g.Flow().String()
		}
		requireSameSlowly(t, line)
		requireSameSlowly(t, mutate(r, line))
	}
	requireSameSlowly(t, "cookie=0x5, duration=5.0s, table=3, n_packets=1, n_bytes=2, idle_age=3, hard_age=4, priority=5,ip,reset_counts actions=drop")
}
