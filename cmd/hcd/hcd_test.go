//go:build unix

package main

import (
	"context"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/datapath"
	"hpnn/internal/api"
	"hpnn/internal/node"
	"hpnn/testbed"
)

// journal is a log that tests can look into.
type journal struct {
	mu   sync.Mutex
	text strings.Builder
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) has(s string) func() bool {
	return func() bool {
		j.mu.Lock()
		defer j.mu.Unlock()
		return strings.Contains(j.text.String(), s)
	}
}

// eventually waits for what a daemon in real time does.
func eventually(t *testing.T, what func() bool, why string) {
	t.Helper()
	require.Eventually(t, what, 30*time.Second, 20*time.Millisecond, why)
}

// daemon is hcd in this process, on a simulated site, behind a unix socket.
type daemon struct {
	client *api.Client
	log    *journal
	stop   func()
}

func start(t *testing.T, o options) daemon {
	o.backend = "sim"
	log := &journal{}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- run(ctx, o, slog.New(slog.NewTextHandler(log, nil))) }()
	var once sync.Once
	stop := func() {
		once.Do(func() {
			cancel()
			require.NoError(t, <-done)
		})
	}
	t.Cleanup(stop)
	d := daemon{api.NewClient(o.socket), log, stop}
	eventually(t, func() bool { return d.client.Get(t.Context(), "/status", nil, new(node.Status)) == nil }, "the API answers")
	return d
}

func (d daemon) status(t *testing.T) (s node.Status) {
	require.NoError(t, d.client.Get(t.Context(), "/status", nil, &s))
	return s
}

const example = "../../examples/hpnn.yaml"

func TestDaemonOnASimulatedSite(t *testing.T) {
	dir := t.TempDir()
	o := options{topology: example, socket: filepath.Join(dir, "hcd.sock"), state: filepath.Join(dir, "state.json")}
	d := start(t, o)
	eventually(t, func() bool { return d.status(t).Pools[0].Live == 4 }, "all members are up")
	eventually(t, func() bool {
		var tally testbed.Tally
		require.NoError(t, d.client.Get(t.Context(), "/sim/tally", nil, &tally))
		return tally.Asked > tally.Failed+10
	}, "clients are served")

	require.NoError(t, d.client.Post(t.Context(), "/drain", url.Values{"member": {"be1"}}, new(any)))
	eventually(t, func() bool { return d.status(t).Pools[0].Live == 3 }, "be1 is drained")
	var hosts []testbed.HostState
	require.NoError(t, d.client.Post(t.Context(), "/sim/kill", url.Values{"host": {"be2"}}, &hosts))
	require.ErrorContains(t, d.client.Post(t.Context(), "/sim/kill", url.Values{"host": {"be9"}}, &hosts), "be9")
	require.ErrorContains(t, d.client.Post(t.Context(), "/sim/tickle", url.Values{"host": {"be2"}}, &hosts), "tickle")
	d.stop()
	require.True(t, d.log.has("the rules stay in the switch")())

	again := start(t, o) // the socket of the dead daemon is taken over
	eventually(t, func() bool { return again.status(t).Pools[0].Live == 3 }, "be1 is still drained")
	require.Equal(t, "drained", again.status(t).Pools[0].Members[0].Admin)
}

func TestHangupReadsTheTopologyAgain(t *testing.T) {
	dir := t.TempDir()
	text, err := os.ReadFile(example)
	require.NoError(t, err)
	file := filepath.Join(dir, "topology.yaml")
	require.NoError(t, os.WriteFile(file, text, 0o600))
	d := start(t, options{topology: file, socket: filepath.Join(dir, "hcd.sock")})

	require.NoError(t, os.WriteFile(file, []byte("nonsense: 1\n"), 0o600))
	require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGHUP))
	eventually(t, d.log.has("topology refused; the old one stays"), "faults are logged")
	require.Len(t, d.status(t).Pools[0].Members, 4)

	require.NoError(t, os.WriteFile(file, []byte(strings.Replace(string(text), "slots: 1024", "slots: 512", 1)), 0o600))
	require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGHUP))
	eventually(t, d.log.has("topology reloaded"), "the new one is in force")
	eventually(t, func() bool { return d.status(t).Pools[0].Slots == 512 }, "slots are laid out anew")
}

func TestWhatCannotStart(t *testing.T) {
	for name, c := range map[string]struct {
		o    options
		want string
	}{
		"no topology":        {options{topology: "none.yaml", backend: "sim"}, "none.yaml"},
		"unknown backend":    {options{topology: example, backend: "magic"}, "use ovs, sim or simswitch"},
		"impossible address": {options{topology: example, backend: "sim", listen: "256.0.0.1:1"}, "listen"},
	} {
		t.Run(name, func(t *testing.T) {
			err := run(t.Context(), c.o, slog.New(slog.DiscardHandler))
			require.ErrorContains(t, err, c.want)
			require.ErrorAs(t, err, new(inputError))
		})
	}
}

func TestSimswitchThatIsNotThere(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none.sock")
	err := run(t.Context(), options{topology: example, backend: "simswitch", sim: none}, slog.New(slog.DiscardHandler))
	require.ErrorIs(t, err, datapath.ErrUnavailable)
	require.ErrorContains(t, err, none)
}
