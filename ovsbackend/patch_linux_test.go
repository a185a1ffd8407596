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
	action := func(text string) datapath.Node { return datapath.Node{Kind: datapath.NodeAction, Text: text} }
	require.Equal(t, []datapath.Node{{Kind: datapath.NodeTable, Text: " 0. priority 1", Children: []datapath.Node{
		action("resubmit(,2)"),
		{Kind: datapath.NodeTable, Text: " 2. priority 1", Table: 2, Children: []datapath.Node{
			action("output:8"),
			{Kind: datapath.NodeBucket, Text: `bridge("far")`, Children: []datapath.Node{
				{Kind: datapath.NodeTable, Text: " 0. priority 1", Children: []datapath.Node{
					action("resubmit(,2)"),
					{Kind: datapath.NodeTable, Text: " 2. priority 1", Table: 2, Children: []datapath.Node{action("drop")}},
					action("output:9"),
					{Kind: datapath.NodeWarn, Text: "skipping output to input port"},
				}}}},
			action("output:7"),
		}},
		action("output:3"),
		{Kind: datapath.NodeWarn, Text: "skipping output to input port"},
	}}}, trace.Passes[0].Nodes)
	back, err := far.Trace(t.Context(), datapath.Injection{InPort: 9, Frame: udp(client, 1, vip, 2)})
	require.NoError(t, err)
	require.NotEmpty(t, back.Passes[0].Nodes)
}
