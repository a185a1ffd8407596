package ovsbackend_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/datapath"
)

func TestTraceGoesOnBeyondAPatchPort(t *testing.T) {
	d := startDaemons(t, withDummies...)
	b := openWithin(t, d.config())
	d.vsctl("add-br", "far", "--", "set", "bridge", "far", "datapath_type=dummy", "fail-mode=secure",
		"--", "add-port", "brt", "here", "--", "set", "interface", "here", "type=patch", "options:peer=there", "ofport_request=8",
		"--", "add-port", "far", "there", "--", "set", "interface", "there", "type=patch", "options:peer=here", "ofport_request=9")
	c := d.config()
	c.Bridge, c.Ports = "far", nil
	far := openWithin(t, c)
	require.NoError(t, far.Commit(t.Context(), program(t, "table=0,priority=1 actions=resubmit(,2),output:9\ntable=2,priority=1 actions=drop").Bundle()))
	require.NoError(t, b.Commit(t.Context(), program(t, "table=0,priority=1 actions=resubmit(,2),output:3\ntable=2,priority=1 actions=output:8,output:7").Bundle()))
	trace, err := b.Trace(t.Context(), datapath.Injection{InPort: 3, Frame: udp(client, 1, vip, 2)})
	require.NoError(t, err)
	require.Equal(t, []datapath.Node{
		{Depth: 0, Kind: datapath.NodeTable, Text: " 0. priority 1"},
		{Depth: 1, Kind: datapath.NodeAction, Text: "resubmit(,2)"},
		{Depth: 1, Kind: datapath.NodeTable, Text: " 2. priority 1", Table: 2},
		{Depth: 2, Kind: datapath.NodeAction, Text: "output:8"},
		{Depth: 2, Kind: datapath.NodeBucket, Text: `bridge("far")`},
		{Depth: 3, Kind: datapath.NodeTable, Text: " 0. priority 1"},
		{Depth: 4, Kind: datapath.NodeAction, Text: "resubmit(,2)"},
		{Depth: 4, Kind: datapath.NodeTable, Text: " 2. priority 1", Table: 2},
		{Depth: 5, Kind: datapath.NodeAction, Text: "drop"},
		{Depth: 4, Kind: datapath.NodeAction, Text: "output:9"},
		{Depth: 4, Kind: datapath.NodeWarn, Text: "skipping output to input port"},
		{Depth: 2, Kind: datapath.NodeAction, Text: "output:7"},
		{Depth: 1, Kind: datapath.NodeAction, Text: "output:3"},
		{Depth: 1, Kind: datapath.NodeWarn, Text: "skipping output to input port"},
	}, trace.Passes[0].Nodes.List())
	back, err := far.Trace(t.Context(), datapath.Injection{InPort: 9, Frame: udp(client, 1, vip, 2)})
	require.NoError(t, err)
	require.NotZero(t, back.Passes[0].Nodes.Len())
}
