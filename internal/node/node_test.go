package node_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/internal/control"
	"hpnn/internal/health"
	"hpnn/internal/node"
	"hpnn/model"
	"hpnn/simbackend"
)

// members answers TCP probes for members that are alive.
type members struct{ dead sync.Map }

func (m *members) dial(_ context.Context, _, local, remote string) (net.Conn, error) {
	if _, dead := m.dead.Load(remote); dead {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: os.ErrDeadlineExceeded}
	}
	client, server := net.Pipe()
	go func() {
		buffer := make([]byte, 1024)
		if _, err := server.Read(buffer); err == nil {
			_, _ = server.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"))
		}
		_ = server.Close()
	}()
	return client, nil
}

func load(t *testing.T, example string) model.Topology {
	topology, err := model.Load(filepath.Join("..", "..", "examples", example))
	require.NoError(t, err)
	return topology
}

func newSwitch(t *testing.T, topology model.Topology) *simbackend.Switch {
	var ports []simbackend.Port
	for _, p := range topology.Ports() {
		ports = append(ports, simbackend.Port{Number: openflow.PortNo(p.Number), Name: p.Name})
	}
	sw, err := simbackend.New(simbackend.Config{Ports: ports})
	require.NoError(t, err)
	return sw
}

// run starts a node in the bubble and ends it with the test.
func run(t *testing.T, c node.Config) *node.Node {
	n, err := node.New(t.Context(), c)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
	})
	return n
}

func status(t *testing.T, n *node.Node) node.Status {
	s, err := n.Status(t.Context())
	require.NoError(t, err)
	return s
}

func live(s node.Status) string {
	var names []string
	for _, m := range s.Pools[0].Members {
		if m.InPool {
			names = append(names, m.Name)
		}
	}
	return strings.Join(names, " ")
}

func TestMembersComeAndGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		topology := load(t, "hpnn.yaml")
		m := &members{}
		n := run(t, node.Config{Topology: topology, Bridge: newSwitch(t, topology), Dial: m.dial})
		time.Sleep(3 * time.Second)
		synctest.Wait()
		s := status(t, n)
		require.Equal(t, "be1 be2 be3 be4", live(s))
		require.True(t, s.Control.InSync)
		digest := s.Pools[0].Digest

		m.dead.Store("10.30.0.2:8080", true)
		time.Sleep(9 * time.Second) // fall x interval, a timeout, and the spread
		synctest.Wait()
		s = status(t, n)
		require.Equal(t, "be1 be3 be4", live(s))
		require.Equal(t, 256, s.Pools[0].Moved)
		require.Zero(t, s.Pools[0].Foreign)
		require.NotEmpty(t, s.Pools[0].Members[1].LastError)
		require.Equal(t, "10.30.0.253", s.Pools[0].Members[1].Source)

		m.dead.Delete("10.30.0.2:8080")
		time.Sleep(6 * time.Second)
		synctest.Wait()
		require.Equal(t, digest, status(t, n).Pools[0].Digest)
	})
}

func TestDrainIsKeptOverARestart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state.json")
	synctest.Test(t, func(t *testing.T) {
		topology := load(t, "hpnn.yaml")
		m := &members{}
		sw := newSwitch(t, topology)
		one, err := node.New(t.Context(), node.Config{Topology: topology, Bridge: sw, Dial: m.dial, StateFile: file})
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- one.Run(ctx) }()
		time.Sleep(3 * time.Second)
		_, err = one.SetAdmin(ctx, "be3", model.Drained, "test")
		require.NoError(t, err)
		time.Sleep(time.Second)
		cancel()
		require.NoError(t, <-done)

		var outcomes recorder
		two := run(t, node.Config{Topology: topology, Bridge: sw, Dial: m.dial, StateFile: file, Observer: &outcomes})
		synctest.Wait()
		require.Equal(t, "be1 be2 be4", live(status(t, two)))
		require.Zero(t, outcomes.bundles.Load(), "a restart changes nothing")
		time.Sleep(10 * time.Second)
		synctest.Wait()
		s := status(t, two)
		require.Equal(t, "be1 be2 be4", live(s))
		require.Equal(t, "up", s.Pools[0].Members[2].State, "a drained member is still probed")
		require.Zero(t, outcomes.bundles.Load())
	})
}

// recorder counts bundles.
type recorder struct{ bundles atomic.Int64 }

func (r *recorder) Stepped(o control.Outcome, _ time.Duration) {
	if len(o.Bundle) > 0 {
		r.bundles.Add(1)
	}
}
func (*recorder) Probed(health.Event) {}

func TestStateFileFaultsAreNamed(t *testing.T) {
	for text, want := range map[string]string{
		"{":                       "mend the file",
		`{"be1": "drained"}`:      "be1",
		`{"web/be1": "sleeping"}`: "sleeping",
	} {
		file := filepath.Join(t.TempDir(), "state.json")
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		topology := load(t, "hpnn.yaml")
		_, err := node.New(t.Context(), node.Config{Topology: topology, Bridge: newSwitch(t, topology), StateFile: file})
		require.ErrorContains(t, err, want)
	}
}

func TestSetAdminOfNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		topology := load(t, "hpnn.yaml")
		n := run(t, node.Config{Topology: topology, Bridge: newSwitch(t, topology), Dial: (&members{}).dial})
		_, err := n.SetAdmin(t.Context(), "be9", model.Drained, "test")
		require.ErrorContains(t, err, "be9")
	})
}

func TestReloadKeepsHealth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		topology := load(t, "hpnn.yaml")
		sw := newSwitch(t, topology)
		n := run(t, node.Config{Topology: topology, Bridge: sw, Dial: (&members{}).dial})
		time.Sleep(3 * time.Second)
		next := load(t, "hpnn.yaml")
		next.Pools[0].Members[0].Weight = 3
		require.NoError(t, n.Reload(t.Context(), next))
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		s := status(t, n)
		require.Equal(t, "be1 be2 be3 be4", live(s))
		require.Equal(t, 512, s.Pools[0].Members[0].Slots)
		var _ datapath.Bridge = n.Bridge()
	})
}
