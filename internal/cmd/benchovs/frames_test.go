package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/internal/pcap"
	"hpnn/model"
)

func exampleCaller(t *testing.T) caller {
	topology, err := model.Load(filepath.Join("..", "..", "..", "examples", "hpnn.yaml"))
	require.NoError(t, err)
	c, err := newCaller(topology)
	require.NoError(t, err)
	return c
}

func TestEachSYNOpensAnotherConnection(t *testing.T) {
	c := exampleCaller(t)
	seen := map[string]int{}
	for n, f := range c.syns(200_000) {
		require.Len(t, f, 54)
		other, ok := seen[string(f)]
		require.False(t, ok, "%d is like %d", n, other)
		seen[string(f)] = n
	}
}

func TestCaptureFillsFramesUp(t *testing.T) {
	c, path := exampleCaller(t), filepath.Join(t.TempDir(), "frames.pcap")
	require.NoError(t, capture(path, c.syns(3)))
	r, err := pcap.Open(path)
	require.NoError(t, err)
	defer r.Close()
	for n := range 3 {
		rec, err := r.Next()
		require.NoError(t, err)
		require.Equal(t, append(c.syn(n), 0, 0, 0, 0, 0, 0), rec.Data)
	}
}

func TestNoListenerIsAnError(t *testing.T) {
	_, err := newCaller(model.Topology{})
	require.EqualError(t, err, "find a listener of a public segment: none has one: use another topology")
}

func TestReport(t *testing.T) {
	results := []result{
		{"frame", "sim", "64", 200 * time.Nanosecond},
		{"frame", "ovs-cached", "64", 300 * time.Nanosecond},
		{"frame", "ovs-upcall", "64", 5 * time.Microsecond},
		{"frame", "sim", "new", 250 * time.Nanosecond},
		{"frame", "ovs-upcall", "new", 10 * time.Microsecond},
		{"trace", "sim", "", 2 * time.Microsecond},
		{"trace", "ovs-upcall", "", 60 * time.Microsecond},
	}
	var table, bench bytes.Buffer
	require.NoError(t, writeTable(&table, results))
	require.Equal(t, strings.TrimPrefix(`
             simulator  OVS cached  ratio  OVS upcall   ratio
   frame 64      5.000       3.333  1.5 x       0.200  25.0 x
  frame new      4.000           -      -       0.100  40.0 x
      trace      0.500           -      -       0.017  30.0 x

Millions a second of one core. A trace is text, as ofproto/trace prints it, which has no cache; a structure is a trace as a value.
`, "\n"), table.String())
	writeBench(&bench, results)
	require.Contains(t, bench.String(), "BenchmarkFrame/switch=ovs-cached/flows=64 1 300 ns/op\n")
	require.Contains(t, bench.String(), "BenchmarkTrace/switch=sim 1 2000 ns/op\n")
}
