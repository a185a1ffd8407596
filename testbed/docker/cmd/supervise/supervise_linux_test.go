package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestWaitsLongerForWhatKeepsEnding(t *testing.T) {
	now := time.Unix(0, 0)
	c := &child{pid: 7, started: now}
	var waits []time.Duration
	for range 7 {
		c.ended(now.Add(time.Second))
		require.Zero(t, c.pid)
		require.Equal(t, now.Add(time.Second+c.wait), c.due)
		waits = append(waits, c.wait)
	}
	const ms = time.Millisecond
	require.Equal(t, []time.Duration{200 * ms, 400 * ms, 800 * ms, 1600 * ms, 3200 * ms, 5000 * ms, 5000 * ms}, waits)
	c.ended(now.Add(healthy))
	require.Equal(t, firstWait, c.wait, "a run that lasted forgives")
}

func TestStartsWhatIsDueAndBuriesIt(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "mark")
	s := newSupervisor([]service{
		{name: "first", args: []string{"/bin/sh", "-c", "exec sleep 60"}},
		{name: "later", args: []string{"/bin/sh", "-c", "exit 3"}, after: mark},
	})
	s.startDue(time.Unix(100, 0))
	require.NotZero(t, s.children[0].pid)
	require.Zero(t, s.children[1].pid, "what it needs is not there")
	s.stop(nil)
	require.Zero(t, s.children[0].pid)
}

func TestStartsWhatIsHeldOnceItIsLetGo(t *testing.T) {
	dir := t.TempDir()
	hold, log := filepath.Join(dir, "hold"), filepath.Join(dir, "log")
	require.NoError(t, os.WriteFile(hold, nil, 0o644))
	s := newSupervisor([]service{{name: "held", args: []string{"/bin/sh", "-c", "echo a word; exec sleep 60"}, held: hold, log: log}})
	s.children[0].wait = longWait
	s.startDue(time.Unix(100, 0))
	require.Zero(t, s.children[0].pid)
	require.Zero(t, s.children[0].wait)
	require.NoError(t, os.Remove(hold))
	s.startDue(time.Unix(100, 0))
	require.NotZero(t, s.children[0].pid)
	require.Eventually(t, func() bool {
		text, err := os.ReadFile(log)
		return err == nil && string(text) == "a word\n"
	}, 10*time.Second, 5*time.Millisecond)
	s.stop(nil)
}

func TestServicesOfTheKernelsDatapathMayUseIt(t *testing.T) {
	for datapath, want := range map[string]bool{"netdev": true, "system": false} {
		all := services(options{topology: "t.yaml", datapath: datapath})
		require.Len(t, all, 3)
		require.Equal(t, want, strings.Contains(strings.Join(all[1].args, " "), "--disable-system "), datapath)
		require.Contains(t, strings.Join(all[2].args, " "), "--datapath "+datapath)
	}
}
