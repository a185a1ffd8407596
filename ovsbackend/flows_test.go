package ovsbackend_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/datapath/openflow/openflowtest"
	"hpnn/internal/ofwire"
	"hpnn/ovsbackend"
	"hpnn/testbed/dummy"
)

// program reads flows.
func program(t testing.TB, text string) openflow.Program {
	t.Helper()
	p, err := openflow.ParseProgram("program", strings.NewReader(text))
	require.NoError(t, err)
	return p
}

// flows are those of the switch without their counters.
func flows(t testing.TB, b *ovsbackend.Bridge) (all []openflow.Flow) {
	t.Helper()
	entries, err := b.Flows(context.Background())
	require.NoError(t, err)
	for _, e := range entries {
		all = append(all, e.Flow)
	}
	return all
}

// everything deletes all flows.
var everything = openflow.FlowMod{Command: openflow.Delete, Flow: openflow.Flow{Table: openflow.CurrentTable}}

// What was committed is what is there: comparing them again finds nothing to do.
func TestRenderedProgramsCommitToThemselves(t *testing.T) {
	for way, wording := range wordings {
		t.Run(way, func(t *testing.T) { testRenderedProgramsCommitToThemselves(t, wording) })
	}
}

func testRenderedProgramsCommitToThemselves(t *testing.T, w ovsbackend.Wording) {
	paths, err := filepath.Glob("../internal/pipeline/testdata/*.flows")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	c := config(startSwitch(t))
	c.Wording = w
	b := open(t, c)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		want := program(t, string(text))
		change := openflow.Diff(flows(t, b), want)
		require.NotEmpty(t, change)
		require.NoError(t, b.Commit(t.Context(), change), path)
		require.Empty(t, openflow.Diff(flows(t, b), want), path)
	}
}

// Whatever the language can say, and the switch takes, comes back as it was written; and it does not matter in which form
// it goes and comes.
func TestFlowsComeBackAsWritten(t *testing.T) {
	c := config(startSwitch(t))
	binary := open(t, c)
	c.Wording = ovsbackend.Text
	text := open(t, c)
	g := openflowtest.New(1)
	for range 4 {
		for _, b := range []*ovsbackend.Bridge{binary, text} {
			// In one bundle, the flows that the deleted ones learned and take along (delete_learned) could be new ones.
			require.NoError(t, b.Commit(t.Context(), openflow.Bundle{everything}))
			written := acceptable(g, 500)
			want, err := openflow.NewProgram(written...)
			require.NoError(t, err)
			require.NoError(t, b.Commit(t.Context(), want.Bundle()))
			require.Empty(t, openflow.Diff(flows(t, b), want).String())
			require.Equal(t, listing(t, text), listing(t, binary))
		}
	}
}

// acceptable is n random flows with distinct priorities that a switch without groups and meters takes.
func acceptable(g *openflowtest.Gen, n int) (list []openflow.Flow) {
	for len(list) < n {
		f := g.Flow()
		f.Flags &^= openflow.CheckOverlap
		if text := f.String(); strings.Contains(text, "group:") || strings.Contains(text, "meter:") {
			continue // must exist
		}
		f.Priority = uint16(len(list))
		list = append(list, f)
	}
	return list
}

// listing is the switch's flows and counters as it spells them.
func listing(t *testing.T, b *ovsbackend.Bridge) (lines []string) {
	t.Helper()
	entries, err := b.Flows(t.Context())
	require.NoError(t, err)
	for _, e := range entries {
		e.Actions = ofwire.Spell(e.Match, e.Actions)
		lines = append(lines, e.String())
	}
	return lines
}

// Counters and ages do not depend on the form either.
func TestCountersInBothForms(t *testing.T) {
	sw := startSwitch(t)
	c := config(sw)
	binary := open(t, c)
	c.Wording = ovsbackend.Text
	text := open(t, c)
	require.NoError(t, binary.Commit(t.Context(), program(t, `
		cookie=0x5,table=0,priority=7,in_port=1,idle_timeout=60 actions=output:2
		table=0,priority=6,importance=4,hard_timeout=600,send_flow_rem actions=drop`).Bundle()))
	for range 3 {
		require.NoError(t, sw.Receive(t.Context(), "p1", udp(client, 1, vip, 2)))
		require.NoError(t, sw.Warp(t.Context(), 1500*time.Millisecond))
		lines := listing(t, binary)
		require.Len(t, lines, 2)
		require.Equal(t, listing(t, text), lines)
	}
	require.Contains(t, listing(t, binary)[0], "n_packets=3")
}

// A flow that someone else changes is not taken for what was once written.
func TestForeignChangesAreSeen(t *testing.T) {
	sw := startSwitch(t)
	b := open(t, config(sw))
	want := program(t, "table=0,priority=5,in_port=1 actions=mod_vlan_vid:7,output:2")
	require.NoError(t, b.Commit(t.Context(), want.Bundle()))
	require.Empty(t, openflow.Diff(flows(t, b), want))
	require.NoError(t, sw.Bundle(t.Context(), "flow modify_strict table=0,priority=5,in_port=1,actions=push_vlan:0x8100,set_field:4104->vlan_vid,output:2"))
	require.Len(t, openflow.Diff(flows(t, b), want), 1)
}

func TestRefusalNamesTheModification(t *testing.T) {
	sw := startSwitch(t)
	refused := []struct {
		name, words string
		mod         openflow.FlowMod
	}{
		{"by the switch", "OFPBRC_EPERM", openflow.FlowMod{Flow: openflow.Flow{Table: 254}}},
		{"by the switch for its action", "OFPBAC_BAD_OUT_GROUP", openflow.FlowMod{Flow: openflow.Flow{Actions: []openflow.Action{openflow.Group{ID: 7}}}}},
		{"for a prerequisite", "needs ip or ipv6", openflow.FlowMod{Flow: openflow.Flow{Actions: []openflow.Action{openflow.DecTTL{}}}}},
		{"because it cannot be said", "unknown", openflow.FlowMod{Flow: openflow.Flow{Actions: []openflow.Action{openflow.Multipath{Fields: 99, Links: 1, Dst: openflow.Whole(openflow.Reg0)}}}}},
	}
	fine := openflow.FlowMod{Flow: openflow.Flow{Priority: 1, Actions: []openflow.Action{openflow.Output{Port: 2}}}}
	for way, wording := range wordings {
		c := config(sw)
		c.Wording = wording
		b := open(t, c)
		for _, r := range refused {
			for _, index := range []int{0, 1, 40} {
				t.Run(fmt.Sprint(r.name, " ", index, " in ", way), func(t *testing.T) {
					var bundle openflow.Bundle
					for range index {
						bundle = append(bundle, fine)
					}
					bundle = append(bundle, r.mod, fine)
					var refusal *datapath.CommitError
					require.ErrorAs(t, b.Commit(t.Context(), bundle), &refusal)
					require.Equal(t, index, refusal.Index)
					require.ErrorContains(t, refusal, r.words)
					require.NotErrorIs(t, refusal, datapath.ErrUnavailable)
					require.Empty(t, flows(t, b))
				})
			}
		}
	}
}

func TestPacketOutFromEveryKindOfPort(t *testing.T) {
	sw := startSwitch(t)
	b := open(t, config(sw))
	require.NoError(t, b.Commit(t.Context(), program(t, "table=0,priority=1 actions=output:3").Bundle()))
	frame := make([]byte, 9000)
	frame[12], frame[13] = 0x88, 0xb5
	short := frame[:60]
	for _, port := range []openflow.PortNo{1, 77, openflow.PortLocal, openflow.PortController, openflow.PortNone} {
		in := datapath.Injection{InPort: port, Frame: short}
		require.NoError(t, b.PacketOut(t.Context(), in, []openflow.Action{openflow.Output{Port: 2}}), "%v", port)
		require.NoError(t, b.PacketOut(t.Context(), in, []openflow.Action{openflow.Output{Port: openflow.PortTable}}), "%v", port)
		outputs, err := sw.Outputs()
		require.NoError(t, err)
		require.Equal(t, []dummy.Output{{Port: "p2", Frame: short}, {Port: "p3", Frame: short}}, outputs, "%v", port)
	}
	require.NoError(t, b.PacketOut(t.Context(), datapath.Injection{InPort: 1, Frame: frame}, []openflow.Action{openflow.Output{Port: 2}}), "a long frame")
	require.ErrorContains(t, b.PacketOut(t.Context(), datapath.Injection{InPort: 1, Frame: short}, []openflow.Action{openflow.Group{ID: 9}}), "GROUP")
	require.NoError(t, b.PacketOut(t.Context(), datapath.Injection{InPort: 1, Frame: short}, nil), "a drop")
}
