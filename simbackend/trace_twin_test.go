package simbackend_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/simbackend"
)

// sameTrace requires that a trace is the one that a switch gives which has never traced, and that its text is that of
// its steps.
func sameTrace(t *testing.T, want, got datapath.Trace) {
	t.Helper()
	require.Equal(t, want.Outputs, got.Outputs)
	require.Equal(t, want.String(), got.String())
	laidOut := datapath.Trace{Passes: got.Passes, Outputs: got.Outputs}
	require.Equal(t, laidOut.String(), got.String())
	text, err := json.Marshal(got)
	require.NoError(t, err)
	wanted, err := json.Marshal(want)
	require.NoError(t, err)
	require.JSONEq(t, string(wanted), string(text))
	var back datapath.Trace
	require.NoError(t, json.Unmarshal(text, &back))
	require.Equal(t, got.String(), back.String())
}

// traceTwins gives frames to a switch that traces each before and while it executes it, and to others, each of which traces
// one.
func traceTwins(t *testing.T, program openflow.Program, frames []datapath.Injection) {
	ctx := context.Background()
	sw := programmed(t, labPorts, program)
	for n, in := range frames {
		fresh := func() *simbackend.Switch {
			twin := programmed(t, labPorts, program)
			for _, past := range frames[:n] {
				twin.Receive(past, nil)
			}
			return twin
		}
		want, err := fresh().Trace(ctx, in)
		require.NoError(t, err)
		got, err := sw.Trace(ctx, in)
		require.NoError(t, err)
		sameTrace(t, want, got)
		_, want = fresh().Explain(in, nil)
		_, got = sw.Explain(in, nil)
		sameTrace(t, want, got)
	}
}

func TestTracesOfProgramsAreThoseOfFreshSwitches(t *testing.T) {
	for i, c := range programs {
		t.Run(c.name, func(t *testing.T) {
			program, err := openflow.ParseProgram(c.name, strings.NewReader(c.text))
			require.NoError(t, err)
			var frames []datapath.Injection
			for _, f := range mix(uint16(3000 + i)) {
				frames = append(frames, datapath.Injection{InPort: 1, Frame: f})
			}
			traceTwins(t, program, frames)
		})
	}
}

func TestTracesOfRandomProgramsAreThoseOfFreshSwitches(t *testing.T) {
	runs := 60
	if testing.Short() {
		runs = 10
	}
	for seed := range runs {
		g := dice{rand.New(rand.NewPCG(uint64(seed), 7))}
		program := g.program(t)
		var frames []datapath.Injection
		for range 12 {
			frames = append(frames, datapath.Injection{InPort: g.port(), Frame: g.frame()})
		}
		traceTwins(t, program, frames)
	}
}

// TestLookupsThatAreNotLastAreIndented has lookups behind lookups, at several depths.
func TestLookupsThatAreNotLastAreIndented(t *testing.T) {
	program, err := openflow.ParseProgram("rules", strings.NewReader(`
actions=resubmit(,1),resubmit(,2),clone(resubmit(,3),output:2),write_actions(output:3),goto_table:1
table=1,actions=resubmit(,2),output:2
table=2,actions=resubmit(,3),resubmit(,3)
table=3,actions=load:1->NXM_NX_REG0[],goto_table:4
table=4,actions=drop
`))
	require.NoError(t, err)
	traceTwins(t, program, []datapath.Injection{{InPort: 1, Frame: syn(0)}})
}
