package scenarios_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/scenarios"
)

// small is the reference stand with few slots and frequent probes, which makes it quick.
const (
	patch = "  pools: [{name: web, slots: 32, health: {interval: 500ms, timeout: 200ms}}]\n"
	small = "topology %s\n" + patch + "until all up within 4s\n\n"
)

// tell tells a story that is made here, and returns it with what its commands printed.
func tell(t *testing.T, text string) string {
	t.Helper()
	stand, err := filepath.Abs(filepath.Join("..", "examples", "hpnn.yaml"))
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "story.txt")
	require.NoError(t, os.WriteFile(path, fmt.Appendf(nil, small+text, stand), 0o644))
	_, err = scenarios.Run(path, scenarios.Config{Update: true})
	require.NoError(t, err)
	told, err := os.ReadFile(path)
	require.NoError(t, err)
	_, told2, _ := strings.Cut(string(told), "\n\n")
	return told2
}

// TestOneCallFails lets one call of the node to the switch fail, each in turn, before or after it took
// effect, while members die, return, are drained and reweighed. The end is the same each time.
func TestOneCallFails(t *testing.T) {
	t.Parallel()
	const life = `%s
kill be1
until be1 down within 10s
drain be2
advance 2s
revive be1
until be1 up within 10s
enable be2
reload %[2]s
  pools: [{name: web, slots: 32, health: {interval: 500ms, timeout: 200ms}, members: [{name: be3, weight: 3}]}]
advance 2s
restart switch
advance 3s
status
fail off
advance 3s

health
slots
get client http://192.168.5.21/ x20
conns total
`
	stand, err := filepath.Abs(filepath.Join("..", "examples", "hpnn.yaml"))
	require.NoError(t, err)
	run := func(fail string) (failed bool, end string) {
		middle, end, _ := strings.Cut(tell(t, fmt.Sprintf(life, fail, stand)), "\n\n")
		return strings.Contains(middle, " 1 failures"), end
	}
	_, want := run("advance 0s")
	require.Contains(t, want, "be3(16)")
	for _, late := range []string{"", " late"} {
		for n := 0; ; n++ {
			fail := fmt.Sprintf("fail all next 1 after=%d%s", n, late)
			failed, got := run(fail)
			require.Equal(t, want, got, fail)
			if !failed {
				require.Greater(t, n, 10, "the node has made its last call")
				break
			}
		}
	}
}

// TestNodeDiesAtAnyMoment kills the node at many moments around the death of a member, and starts it
// again. Sessions with the other members end well, and the dead one is found out.
func TestNodeDiesAtAnyMoment(t *testing.T) {
	t.Parallel()
	const life = `background downloads get client http://192.168.5.21/slow?seconds=8 x8 together timeout=1m
kill be1
advance %v
kill node
advance 300ms
start node
until be1 down within 9s
get client http://192.168.5.21/ x20
slots
wait downloads
`
	want := ""
	at := []time.Duration{0, 10 * time.Millisecond, 300 * time.Millisecond, 3 * time.Second}
	for d := time.Second; d < 1600*time.Millisecond; d += 30 * time.Millisecond { // about when it counts as dead
		at = append(at, d)
	}
	for _, d := range at {
		_, got, _ := strings.Cut(tell(t, fmt.Sprintf(life, d)), "----\n")
		require.NotContains(t, got, "no answer", d)
		if want == "" {
			want = got
		}
		require.Equal(t, want, got, d)
	}
}
