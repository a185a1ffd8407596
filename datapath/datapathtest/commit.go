package datapathtest

import (
	"context"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
)

var commitPromises = []promise{
	{"all of a bundle takes effect", func(s *suite) {
		s.commit("flow add table=0,priority=2,in_port=1,actions=output:2\nflow add table=0,priority=1,actions=output:3")
		s.receive(1, udp(hostA, hostB, 1, 2))
		s.receive(2, udp(hostA, hostB, 1, 2))
		require.Len(s.t, s.bed.Sent(), 2)
	}},
	{"none of a bundle takes effect if one modification is refused", func(s *suite) {
		s.commit("flow add table=0,priority=1,actions=drop")
		before := s.text()
		b := s.mods("flow delete table=0\nflow add table=0,priority=2,actions=output:2")
		b = append(b, unacceptable)
		require.Error(s.t, s.bed.Commit(s.ctx(), b))
		require.Equal(s.t, before, s.text())
	}},
	{"the error names the modification at fault", func(s *suite) {
		b := append(s.mods("flow add table=0,priority=2,actions=output:2"), unacceptable)
		var refused *datapath.CommitError
		require.ErrorAs(s.t, s.bed.Commit(s.ctx(), b), &refused)
		require.Contains(s.t, []int{1, -1}, refused.Index)
	}},
	{"an empty bundle changes nothing", func(s *suite) {
		s.commit("flow add table=0,priority=1,actions=drop")
		before := s.text()
		require.NoError(s.t, s.bed.Commit(s.ctx(), nil))
		require.Equal(s.t, before, s.text())
	}},
	{"flows that a bundle does not touch keep counters and age", func(s *suite) {
		s.commit("flow add table=0,priority=7,actions=output:2")
		s.receive(1, udp(hostA, hostB, 1, 2))
		s.bed.Advance(5 * time.Second)
		s.commit("flow add table=0,priority=8,in_port=3,actions=drop")
		require.EqualValues(s.t, 1, s.packets(7))
		require.GreaterOrEqual(s.t, s.flows()[1].Duration, 5*time.Second)
	}},
	{"a modified flow keeps counters", func(s *suite) {
		s.commit("flow add table=0,priority=7,actions=output:2")
		s.receive(1, udp(hostA, hostB, 1, 2))
		s.commit("flow modify_strict table=0,priority=7,actions=output:3")
		require.EqualValues(s.t, 1, s.packets(7))
		require.Equal(s.t, []string{"output:3"}, actions(s.flows()))
	}},
	{"a flow that is added again keeps counters and starts its age anew", func(s *suite) {
		s.commit("flow add table=0,priority=7,actions=output:2")
		s.receive(1, udp(hostA, hostB, 1, 2))
		s.bed.Advance(5 * time.Second)
		s.commit("flow add table=0,priority=7,actions=output:3")
		require.EqualValues(s.t, 1, s.packets(7))
		require.Less(s.t, s.flows()[0].Duration, 5*time.Second)
	}},
	{"modify without strict changes every flow it covers", func(s *suite) {
		s.commit("flow add table=0,priority=1,ip,actions=drop\nflow add table=0,priority=2,udp,actions=drop\nflow add table=0,priority=3,arp,actions=drop")
		s.commit("flow modify table=0,ip,actions=output:2")
		require.Equal(s.t, []string{"drop", "output:2", "output:2"}, actions(s.flows()))
	}},
	{"delete without strict takes every flow it covers", func(s *suite) {
		s.commit("flow add table=0,priority=1,ip,actions=drop\nflow add table=0,priority=2,udp,actions=drop\nflow add table=0,priority=3,arp,actions=drop")
		s.commit("flow delete table=0,ip")
		require.Len(s.t, s.flows(), 1)
	}},
	{"delete_strict takes the one flow it names", func(s *suite) {
		s.commit("flow add table=0,priority=1,ip,actions=drop\nflow add table=0,priority=2,ip,actions=drop")
		s.commit("flow delete_strict table=0,priority=2,ip")
		require.Equal(s.t, uint16(1), s.flows()[0].Priority)
		require.Len(s.t, s.flows(), 1)
	}},
	{"a context that is over commits nothing", func(s *suite) {
		ctx, cancel := context.WithCancel(s.ctx())
		cancel()
		require.ErrorIs(s.t, s.bed.Commit(ctx, s.mods("flow add table=0,actions=drop")), context.Canceled)
		require.Empty(s.t, s.flows())
	}},
}

// unacceptable is a modification that every switch refuses: table 254 is the switch's own.
var unacceptable = openflow.FlowMod{Command: openflow.Add, Flow: openflow.Flow{Table: 254, Priority: 1}}

// actions is the text of each flow's actions.
func actions(flows []openflow.FlowEntry) (out []string) {
	for _, f := range flows {
		_, text, _ := strings.Cut(f.Flow.String(), "actions=")
		out = append(out, text)
	}
	return out
}
