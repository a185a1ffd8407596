//go:build e2e && linux

package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/model"
	"hpnn/testbed/netns"
)

// How the members are probed here.
const (
	interval = 200 * time.Millisecond
	timeout  = 150 * time.Millisecond
	rise     = 2
	fall     = 3
)

// TestMain removes all sites when the run is interrupted.
func TestMain(m *testing.M) {
	// What the Makefile asks of nice(1) holds within a session only, where the kernel groups processes by session.
	_ = os.WriteFile("/proc/self/autogroup", []byte("-10"), 0o644)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		s := <-signals
		netns.CloseAll()
		fmt.Fprintln(os.Stderr, "e2e: ended by", s)
		os.Exit(130)
	}()
	os.Exit(m.Run())
}

// site is a bed and what was measured on it.
type site struct {
	t     *testing.T
	bed   *netns.Bed
	table table
	kept  bool
	port  int // of the client, the next that was never used
}

// newSite builds the site and takes it away after the test.
func newSite(t *testing.T) *site {
	if reason, ok := netns.Available(switchOf(t)); !ok {
		t.Skip(reason)
	}
	s := &site{t: t, port: 2000}
	programs := build(t)
	begun := time.Now()
	bed, err := netns.Open(t.Context(), netns.Config{Topology: topology(t), Programs: programs, Switch: switchOf(t)})
	require.NoError(t, err)
	s.bed = bed
	t.Cleanup(bed.Close)
	s.table.add("site built", ms(time.Since(begun)), "")
	return s
}

// topology is the example's with short intervals.
func topology(t *testing.T) model.Topology {
	top, err := model.Load("../examples/hpnn.yaml")
	require.NoError(t, err)
	for i := range top.Pools {
		h := &top.Pools[i].Health
		h.Interval, h.Timeout, h.Rise, h.Fall = interval, timeout, rise, fall
	}
	return top
}

// build makes the programs; HPNN_BIN names a directory that has them already.
func build(t *testing.T) string {
	if dir := os.Getenv("HPNN_BIN"); dir != "" {
		dir, err := filepath.Abs(dir)
		require.NoError(t, err)
		return dir
	}
	dir := t.TempDir()
	out, err := exec.Command("go", "build", "-o", dir, "../cmd/hcd", "../cmd/backend", "../cmd/simswitch").CombinedOutput()
	require.NoError(t, err, "%s", out)
	return dir
}

// keep keeps what helps to find out why a story failed, once: what follows from the first failure is of less interest.
// HPNN_E2E_KEEP names the directory, else it is a new one.
func (s *site) keep() {
	if s.kept {
		return
	}
	s.kept = true
	dir := os.Getenv("HPNN_E2E_KEEP")
	if dir == "" {
		dir = filepath.Join(os.TempDir(), "hpnn-failed-"+time.Now().Format("20060102-150405"))
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := s.bed.Keep(ctx, dir); err != nil {
		s.t.Logf("not all could be kept: %v", err)
	}
	s.t.Logf("captures, dumps and logs are in %s", dir)
}

// await waits until the daemon's status is as wanted and returns how long that took.
func (s *site) await(t *testing.T, what string, limit time.Duration, done func(netns.Status) bool) time.Duration {
	t.Helper()
	begun := time.Now()
	var last netns.Status
	var err error
	for time.Since(begun) < limit {
		if last, err = s.bed.Status(t.Context()); err == nil && done(last) {
			return time.Since(begun)
		}
		time.Sleep(10 * time.Millisecond)
	}
	require.FailNowf(t, "time is up", "after %v not %s: %+v %v", limit, what, last, err)
	return 0
}

// promised holds what was measured against what the product promises, if HPNN_E2E_STRICT is set: on a machine that is
// busy with other things a time tells nothing about the product. Otherwise it is only said.
func promised(t *testing.T, took, limit time.Duration) {
	t.Helper()
	switch {
	case took <= limit:
	case os.Getenv("HPNN_E2E_STRICT") != "":
		require.LessOrEqual(t, took, limit)
	default:
		t.Logf("took %v, %v is promised: is the machine busy? HPNN_E2E_STRICT=1 makes this a failure", took, limit)
	}
}

// allLive tells whether all members own slots and the switch holds what it should.
func allLive(s netns.Status) bool {
	for _, p := range s.Pools {
		for _, m := range p.Members {
			if !m.InPool {
				return false
			}
		}
	}
	return len(s.Pools) > 0 && s.Control.InSync
}

// inPool tells whether a member of the first pool owns slots.
func inPool(s netns.Status, member string) bool {
	for _, m := range s.Pools[0].Members {
		if m.Name == member {
			return m.InPool
		}
	}
	return false
}

// freshPorts has the client use n ports that it never used. A member whose connections were forgotten while it lived has
// sockets that still wait for the client's last word. If the client then uses such a port again, the member answers its
// SYN for the old connection, and the client's reset is dropped as invalid: one more request in thousands would fail for
// what an earlier story did.
func (s *site) freshPorts(t *testing.T, n int) {
	n = min(n, 20000)
	if s.port+n > 60000 {
		s.port = 2000
	}
	text := fmt.Sprintf("%d %d", s.port, s.port+n-1)
	s.port += n
	require.NoError(t, s.bed.Machine("client").Do(func() error {
		return os.WriteFile("/proc/sys/net/ipv4/ip_local_port_range", []byte(text), 0o644)
	}))
}
