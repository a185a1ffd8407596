package datapathtest

import (
	"github.com/stretchr/testify/require"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
)

var lifePromises = []promise{
	{"the first event says that the switch is there", func(s *suite) {
		require.Equal(s.t, datapath.Connected, (<-s.bed.Events()).Kind)
	}},
	{"a frame sent to the controller is an event", func(s *suite) {
		s.commit("flow add table=0,priority=1,actions=CONTROLLER:65535")
		f := udp(hostA, hostB, 1, 2)
		s.receive(2, f)
		for e := range s.bed.Events() {
			if e.Kind == datapath.PacketIn {
				require.Equal(s.t, datapath.Injection{InPort: 2, Frame: f}, e.Packet)
				require.Equal(s.t, openflow.ReasonAction, e.Reason)
				return
			}
		}
		require.Fail(s.t, "no packet in")
	}},
	{"close closes the events, keeps the flows and may be repeated", func(s *suite) {
		s.commit("flow add table=0,priority=1,actions=drop")
		require.NoError(s.t, s.bed.Close())
		require.NoError(s.t, s.bed.Close())
		for range s.bed.Events() {
		}
	}},
	{"a closed bridge says so", func(s *suite) {
		require.NoError(s.t, s.bed.Close())
		require.ErrorIs(s.t, s.bed.Commit(s.ctx(), nil), datapath.ErrClosed)
		_, err := s.bed.Flows(s.ctx())
		require.ErrorIs(s.t, err, datapath.ErrClosed)
		_, err = s.bed.Ports(s.ctx())
		require.ErrorIs(s.t, err, datapath.ErrClosed)
		_, err = s.bed.Conntrack().Connections(s.ctx(), datapath.ConnFilter{})
		require.ErrorIs(s.t, err, datapath.ErrClosed)
	}},
}
