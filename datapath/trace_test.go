package datapath_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/datapath"
)

var steps = datapath.NodesOf(
	datapath.Node{Kind: datapath.NodeTable, Text: " 0. ip, priority 5"},
	datapath.Node{Kind: datapath.NodeAction, Depth: 1, Text: "resubmit(,1)"},
	datapath.Node{Kind: datapath.NodeTable, Depth: 1, Text: " 1. priority 0", Table: 1},
	datapath.Node{Kind: datapath.NodeAction, Depth: 2, Text: "load:5->NXM_NX_REG0[]"},
	datapath.Node{Kind: datapath.NodeNote, Depth: 2, Text: "note"},
	datapath.Node{Kind: datapath.NodeTable, Depth: 2, Text: " 2. priority 0", Table: 2},
	datapath.Node{Kind: datapath.NodeWarn, Depth: 3, Text: "warning"},
	datapath.Node{Kind: datapath.NodeError, Depth: 1, Text: "error"},
	datapath.Node{Kind: datapath.NodeBucket, Depth: 1, Text: "--. Executing action set:"},
	datapath.Node{Kind: datapath.NodeAction, Depth: 2, Text: "output:2"},
)

func TestStepsAsText(t *testing.T) {
	trace := datapath.Trace{
		Passes:  []datapath.Pass{{Flow: "ip", FinalFlow: "unchanged", Datapath: "2", Nodes: steps}},
		Outputs: []datapath.Output{{Port: 2, Frame: make([]byte, 60)}},
	}
	require.Equal(t, `Flow: ip

bridge
------
 0. ip, priority 5
    resubmit(,1)
     1. priority 0
            load:5->NXM_NX_REG0[]
             -> note
         2. priority 0
             >> warning
     >>>> error <<<<
--. Executing action set:
    output:2

Final flow: unchanged
Datapath actions: 2
Output: 2, 60 bytes
`, trace.String())
	require.Equal(t, "text", trace.WithText("text").String())
}

func TestStepsInJSON(t *testing.T) {
	text, err := json.Marshal(steps)
	require.NoError(t, err)
	require.JSONEq(t, `[{"kind": "table", "text": " 0. ip, priority 5", "children": [
		{"kind": "action", "text": "resubmit(,1)"},
		{"kind": "table", "text": " 1. priority 0", "table": 1, "children": [
			{"kind": "action", "text": "load:5->NXM_NX_REG0[]"},
			{"kind": "note", "text": "note"},
			{"kind": "table", "text": " 2. priority 0", "table": 2, "children": [{"kind": "warn", "text": "warning"}]}
		]},
		{"kind": "error", "text": "error"},
		{"kind": "bucket", "text": "--. Executing action set:", "children": [{"kind": "action", "text": "output:2"}]}
	]}]`, string(text))
	var back datapath.Nodes
	require.NoError(t, json.Unmarshal(text, &back))
	require.Equal(t, steps, back)
	require.ErrorContains(t, json.Unmarshal([]byte(`[{"kind": "odd"}]`), &back), `"odd"`)
	var raw bytes.Buffer
	e := json.NewEncoder(&raw)
	require.NoError(t, e.Encode(steps))
	require.Contains(t, raw.String(), `"load:5-\u003eNXM_NX_REG0[]"`)
	raw.Reset()
	e.SetEscapeHTML(false)
	require.NoError(t, e.Encode(steps))
	require.Contains(t, raw.String(), `"load:5->NXM_NX_REG0[]"`)
	none, err := json.Marshal(datapath.Nodes{})
	require.NoError(t, err)
	require.Equal(t, "null", string(none))
}

func TestUnder(t *testing.T) {
	texts := func(n datapath.Nodes) (all []string) {
		for _, one := range n.All() {
			all = append(all, one.Text)
		}
		return all
	}
	require.Equal(t, []string{"load:5->NXM_NX_REG0[]", "note", " 2. priority 0", "warning"}, texts(steps.Under(2)))
	require.Empty(t, texts(steps.Under(1)))
	require.Equal(t, steps.Len()-1, steps.Under(0).Len())
}
