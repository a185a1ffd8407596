package main

import (
	"bytes"
	"context"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/internal/api"
	"hpnn/internal/node"
	"hpnn/model"
	"hpnn/simbackend"
	"hpnn/testbed"
)

// startNode starts a node over a simulated switch and returns its address. Its members count as live.
func startNode(t *testing.T) string {
	topology, err := model.Load(filepath.Join("..", "..", "examples", "hpnn.yaml"))
	require.NoError(t, err)
	topology.Pools[0].Health = model.HealthMonitor{Type: model.MonitorNone}
	sw, err := simbackend.New(simbackend.Config{Ports: testbed.Ports(topology)})
	require.NoError(t, err)
	m := api.NewMetrics("test")
	n, err := node.New(t.Context(), node.Config{Topology: topology, Bridge: sw, Observer: m})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx) }()
	server := httptest.NewServer(api.New(n, m, nil))
	t.Cleanup(func() {
		server.Close()
		cancel()
		require.NoError(t, <-done)
	})
	return strings.TrimPrefix(server.URL, "http://")
}

func TestOnRunningNode(t *testing.T) {
	address := startNode(t)
	call := func(code int, args ...string) string {
		var out, errs bytes.Buffer
		got := run(t.Context(), append(args, "--api", address), strings.NewReader(""), &out, &errs)
		require.Equalf(t, code, got, "%v: %s", args, errs.String())
		return out.String() + errs.String()
	}
	require.Contains(t, call(exitFine, "health"), "be1     10.20.0.2:8080  up     enabled  yes      256")
	require.Contains(t, call(exitFine, "status"), "the switch holds what it should")
	require.Equal(t, "web/be1 drained; its connections live on\n", call(exitFine, "drain", "be1"))
	require.Eventually(t, func() bool {
		return strings.Contains(call(exitFine, "slots"), "256 slots moved, 256 necessary, 0 foreign")
	}, 20*time.Second, 20*time.Millisecond)
	require.Eventually(t, func() bool { return !strings.Contains(call(exitFine, "slots"), "about to change") }, 20*time.Second, 20*time.Millisecond)
	require.Equal(t, "web/be1 enabled\n", call(exitFine, "enable", "web/be1"))
	require.Contains(t, call(exitBad, "drain", "be9"), `find member "be9": no pool has it`)
	require.Equal(t, "asked for\n", call(exitFine, "reapply"))
	require.Contains(t, call(exitFine, "flows", "12"), "nat(dst=10.20.0.2:8080)")
	require.Contains(t, call(exitUsage, "flows", "x"), "no number")
	require.Contains(t, call(exitFine, "ports"), "hcif-p2")
	require.Equal(t, "0 connections\n", call(exitFine, "conns"))
	require.Equal(t, "0 learned\n", call(exitFine, "fdb"))
	require.Contains(t, call(exitFine, "trace", "in_port=pub0,tcp,nw_src=192.168.5.13,nw_dst=192.168.5.21,tp_dst=80"), "nat(dst=10.")
	require.Contains(t, call(exitFine, "metrics"), `hpnn_member_up{address="10.20.0.2:8080",member="be1",pool="web"} 1`)
	require.Contains(t, call(exitFine, "ports", "--json"), `"rx_frames": 0`)
	require.Contains(t, call(exitBad, "sim", "kill", "be1"), "no such call")
}

func TestNoNodeAnswers(t *testing.T) {
	var out, errs bytes.Buffer
	require.Equal(t, exitBad, run(t.Context(), []string{"health", "--api", "127.0.0.1:1"}, strings.NewReader(""), &out, &errs))
	require.Contains(t, errs.String(), "start hcd, or name its address with --api")
}
