package datapathtest

import (
	"github.com/stretchr/testify/require"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
)

// balancer tracks everything from A's side in zone 4 and translates port 53 to 5353.
const balancer = `flow add table=0,priority=2,udp,in_port=1,tp_dst=53,actions=ct(commit,zone=4,nat(dst=10.0.0.9:5353),table=1)
flow add table=0,priority=1,udp,in_port=1,actions=ct(commit,zone=4,table=1)
flow add table=0,priority=1,udp,in_port=2,actions=ct(zone=4,nat,table=1)
flow add table=1,priority=2,in_port=1,actions=output:2
flow add table=1,priority=1,in_port=2,actions=output:1`

func (s *suite) connections(f datapath.ConnFilter) []datapath.Conn {
	s.t.Helper()
	conns, err := s.bed.Conntrack().Connections(s.ctx(), f)
	require.NoError(s.t, err)
	return conns
}

var conntrackPromises = []promise{
	{"connections are listed with both tuples and their translation", func(s *suite) {
		s.commit(balancer)
		s.receive(1, udp(hostA, hostB, 40000, 53))
		conns := s.connections(datapath.ConnFilter{})
		require.Len(s.t, conns, 1)
		c := conns[0]
		require.EqualValues(s.t, 4, c.Zone)
		require.EqualValues(s.t, openflow.ProtoUDP, c.Orig.Proto)
		require.Equal(s.t, hostB.ip, c.Orig.Dst)
		require.Equal(s.t, "10.0.0.9", c.Reply.Src.String())
		require.EqualValues(s.t, 5353, c.Reply.SrcPort)
		require.Positive(s.t, c.Timeout)
	}},
	{"connections come ordered by zone and original tuple", func(s *suite) {
		s.commit(balancer)
		for _, port := range []uint16{300, 100, 200} {
			s.receive(1, udp(hostA, hostB, port, 7))
		}
		var ports []uint16
		for _, c := range s.connections(datapath.ConnFilter{}) {
			ports = append(ports, c.Orig.SrcPort)
		}
		require.Equal(s.t, []uint16{100, 200, 300}, ports)
	}},
	{"a filter selects by zone and by either tuple", func(s *suite) {
		s.commit(balancer)
		s.receive(1, udp(hostA, hostB, 100, 53), udp(hostA, hostB, 100, 7))
		require.Len(s.t, s.connections(datapath.ConnFilter{Zone: 4}), 2)
		require.Empty(s.t, s.connections(datapath.ConnFilter{Zone: 5}))
		require.Len(s.t, s.connections(datapath.ConnFilter{Reply: datapath.TupleFilter{SrcPort: 5353}}), 1)
		require.Len(s.t, s.connections(datapath.ConnFilter{Orig: datapath.TupleFilter{Dst: hostB.ip}}), 2)
	}},
	{"flush forgets what it selects and nothing else", func(s *suite) {
		s.commit(balancer)
		s.receive(1, udp(hostA, hostB, 100, 53), udp(hostA, hostB, 100, 7))
		require.NoError(s.t, s.bed.Conntrack().Flush(s.ctx(), datapath.ConnFilter{
			Zone: 4, Reply: datapath.TupleFilter{Proto: openflow.ProtoUDP, Src: s.connections(datapath.ConnFilter{Orig: datapath.TupleFilter{DstPort: 53}})[0].Reply.Src, SrcPort: 5353},
		}))
		left := s.connections(datapath.ConnFilter{})
		require.Len(s.t, left, 1)
		require.EqualValues(s.t, 7, left[0].Orig.DstPort)
	}},
}
