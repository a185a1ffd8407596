package ovsbackend_test

import (
	"context"
	"os"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/ovsbackend"
)

// patience is how long an event may take on a busy machine.
const patience = 20 * time.Second

// await reads events until one of a kind comes.
func await(t *testing.T, b *ovsbackend.Bridge, kind datapath.EventKind) datapath.Event {
	t.Helper()
	limit := time.After(patience)
	for {
		select {
		case e, ok := <-b.Events():
			require.True(t, ok, "events are over while waiting for %v", kind)
			if e.Kind == kind {
				return e
			}
		case <-limit:
			require.Failf(t, "no event", "%v", kind)
		}
	}
}

func TestDeathOfVswitchdIsNoticedAndSurvived(t *testing.T) {
	d := startDaemons(t, withDummies...)
	b := openWithin(t, d.config())
	want := program(t, "table=0,priority=5,in_port=7 actions=output:3")
	for range 2 {
		await(t, b, datapath.Connected)
		require.NoError(t, b.Commit(t.Context(), openflow.Diff(flows(t, b), want)))
		require.Len(t, flows(t, b), 1)

		d.kill(d.vswitchd)
		await(t, b, datapath.Disconnected)
		for name, err := range outcomes(t.Context(), b) {
			require.ErrorIs(t, err, datapath.ErrUnavailable, name)
			require.ErrorContains(t, err, d.dir, name) // what was tried
		}
		d.startVswitchd()
	}
	await(t, b, datapath.Connected)
	require.Empty(t, flows(t, b), "a new ovs-vswitchd knows no flows")
	ports, err := b.Ports(t.Context())
	require.NoError(t, err)
	require.Equal(t, []openflow.PortNo{3, 7, openflow.PortLocal}, portNumbers(ports))
}

// calls is one call of each method that needs the switch.
func calls(b *ovsbackend.Bridge) map[string]func(context.Context) error {
	frame := udp(client, 1, vip, 2)
	return map[string]func(context.Context) error{
		"commit": func(ctx context.Context) error {
			return b.Commit(ctx, openflow.Bundle{{Flow: openflow.Flow{Priority: 1}}})
		},
		"flows": func(ctx context.Context) error { _, err := b.Flows(ctx); return err },
		"ports": func(ctx context.Context) error { _, err := b.Ports(ctx); return err },
		"packet out": func(ctx context.Context) error {
			return b.PacketOut(ctx, datapath.Injection{InPort: 7, Frame: frame}, nil)
		},
		"trace": func(ctx context.Context) error {
			_, err := b.Trace(ctx, datapath.Injection{InPort: 7, Frame: frame})
			return err
		},
		"connections": func(ctx context.Context) error {
			_, err := b.Conntrack().Connections(ctx, datapath.ConnFilter{})
			return err
		},
		"flush": func(ctx context.Context) error {
			return b.Conntrack().Flush(ctx, datapath.ConnFilter{Zone: 3, Reply: datapath.TupleFilter{Src: vip.ip}})
		},
	}
}

// outcomes makes all calls at once and tells how they ended.
func outcomes(ctx context.Context, b *ovsbackend.Bridge) map[string]error {
	errs := map[string]error{}
	var mu sync.Mutex
	var group sync.WaitGroup
	for name, call := range calls(b) {
		group.Go(func() {
			err := call(ctx)
			mu.Lock()
			defer mu.Unlock()
			errs[name] = err
		})
	}
	group.Wait()
	return errs
}

func portNumbers(ports []datapath.Port) (numbers []openflow.PortNo) {
	for _, p := range ports {
		numbers = append(numbers, p.Number)
	}
	return numbers
}

func TestDeathOfTheDatabaseIsSurvived(t *testing.T) {
	d := startDaemons(t, withDummies...)
	b := openWithin(t, d.config())
	await(t, b, datapath.Connected)
	require.NoError(t, b.Commit(t.Context(), program(t, "table=0,priority=5 actions=drop").Bundle()))
	d.kill(d.database)
	await(t, b, datapath.Disconnected) // without its database, ovs-vswitchd forwards, but serves no OpenFlow
	_, err := b.Flows(t.Context())
	require.ErrorIs(t, err, datapath.ErrUnavailable)
	_, err = b.Trace(t.Context(), datapath.Injection{InPort: 7, Frame: udp(client, 1, vip, 2)})
	require.NoError(t, err, "its control socket works on")
	d.startDatabase()
	await(t, b, datapath.Connected)
	require.Len(t, flows(t, b), 1)
}

// A database that was replaced knows nothing of the bridge. It is made again.
func TestLostConfigurationIsMadeAgain(t *testing.T) {
	d := startDaemons(t, withDummies...)
	b := openWithin(t, d.config())
	await(t, b, datapath.Connected)
	d.kill(d.database)
	require.NoError(t, os.Remove(d.path("conf.db")))
	d.run("ovsdb-tool", "create", d.path("conf.db"), "/usr/share/openvswitch/vswitch.ovsschema")
	d.startDatabase()
	d.vsctl("--no-wait", "init")
	require.Eventually(t, func() bool {
		ports, err := b.Ports(t.Context())
		return err == nil && len(ports) == 3 && d.vsctl("get-fail-mode", "brt") == "secure"
	}, patience, 20*time.Millisecond)
	await(t, b, datapath.Connected)
	require.Empty(t, flows(t, b))
}

// Ports that are removed, or made anew as hypervisors do when a machine starts, come back under their numbers, and a bridge
// that was changed is put in order.
func TestWhatOthersChangeIsPutInOrder(t *testing.T) {
	d := startDaemons(t, withDummies...)
	b := openWithin(t, d.config())
	await(t, b, datapath.Connected)
	require.NoError(t, b.Commit(t.Context(), program(t, "table=0,priority=5,in_port=7 actions=output:3").Bundle()))
	inOrder := func(what string) {
		t.Helper()
		require.Eventually(t, func() bool {
			ports, err := b.Ports(t.Context())
			return err == nil && slices.Equal([]openflow.PortNo{3, 7, openflow.PortLocal}, portNumbers(ports)) &&
				d.vsctl("get-fail-mode", "brt") == "secure" && len(b.Info().PortProblems) == 0 && b.Info().ConfigProblem == nil
		}, patience, 20*time.Millisecond, what)
		require.Equal(t, "7", d.vsctl("get", "interface", "up0", "ofport"))
	}
	d.vsctl("del-port", "brt", "up0")
	inOrder("a port was removed")
	d.vsctl("--if-exists", "del-port", "up0", "--", "add-port", "brt", "up0")
	inOrder("a port was made anew")
	require.Len(t, flows(t, b), 1)
	d.vsctl("set-fail-mode", "brt", "standalone") // which flushes the flows
	inOrder("the fail mode was changed")
	await(t, b, datapath.Connected)

	d.vsctl("del-port", "brt", "up0", "--", "add-br", "other", "--", "set", "bridge", "other", "datapath_type=dummy", "--", "add-port", "other", "up0")
	require.Eventually(t, func() bool { return b.Info().ConfigProblem != nil }, patience, 20*time.Millisecond)
	require.ErrorContains(t, b.Info().ConfigProblem, `port up0 is on bridge "other": remove it there first`)
	d.vsctl("del-br", "other")
	inOrder("it is free again")

	d.vsctl("del-br", "brt")
	await(t, b, datapath.Disconnected)
	await(t, b, datapath.Connected)
	inOrder("the bridge was removed")
	require.Empty(t, flows(t, b))
}

// A switch that hangs is as good as dead, and its calls end in time.
func TestHangingSwitchIsNoticed(t *testing.T) {
	d := startDaemons(t, withDummies...)
	c := d.config()
	b := openWithin(t, c)
	c.Timeout = 300 * time.Millisecond
	impatient := openWithin(t, c)
	await(t, b, datapath.Connected)
	require.NoError(t, d.vswitchd.Process.Signal(syscall.SIGSTOP))
	for name, err := range outcomes(t.Context(), impatient) {
		require.ErrorIs(t, err, datapath.ErrUnavailable, name)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	for name, err := range outcomes(ctx, b) {
		require.ErrorIs(t, err, context.DeadlineExceeded, name)
	}
	await(t, b, datapath.Disconnected)
	require.NoError(t, d.vswitchd.Process.Signal(syscall.SIGCONT))
	await(t, b, datapath.Connected)
	require.Empty(t, flows(t, b))
}

// Close ends calls that are in progress.
func TestCloseEndsCalls(t *testing.T) {
	d := startDaemons(t, withDummies...)
	b := openWithin(t, d.config())
	require.NoError(t, d.vswitchd.Process.Signal(syscall.SIGSTOP))
	ended := make(chan map[string]error)
	go func() { ended <- outcomes(context.Background(), b) }()
	require.NoError(t, b.Close())
	for name, err := range <-ended {
		require.ErrorIs(t, err, datapath.ErrClosed, name)
	}
	for range b.Events() { // what is left, then the end
	}
}

func TestPortChangesAreEvents(t *testing.T) {
	d := startDaemons(t, withDummies...)
	b := openWithin(t, d.config())
	await(t, b, datapath.Connected)
	d.vsctl("add-port", "brt", "extra", "--", "set", "interface", "extra", "ofport_request=9")
	require.Equal(t, datapath.Port{Number: 9, Name: "extra"}, await(t, b, datapath.PortStatus).Port)
}
