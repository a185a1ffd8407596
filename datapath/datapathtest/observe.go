package datapathtest

import (
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
)

var flowsPromises = []promise{
	{"flows come in the order of a program", func(s *suite) {
		s.commit("flow add table=3,priority=1,actions=drop\nflow add table=0,priority=1,actions=drop\nflow add table=0,priority=9,ip,actions=drop")
		var keys []openflow.Key
		for _, f := range s.flows() {
			keys = append(keys, f.Key())
		}
		require.IsIncreasingf(s.t, []int{keys[0].Compare(keys[1]), 0, keys[2].Compare(keys[1])}, "%v", keys)
	}},
	{"counters count the frames that hit and their bytes", func(s *suite) {
		s.commit("flow add table=0,priority=7,actions=output:2")
		f := udp(hostA, hostB, 1, 2)
		s.receive(1, f, f)
		flows := s.flows()
		require.EqualValues(s.t, 2, flows[0].Packets)
		require.EqualValues(s.t, 2*len(f), flows[0].Bytes)
	}},
	{"learned flows are listed", func(s *suite) {
		s.commit("flow add table=0,priority=7,actions=learn(table=1,hard_timeout=60,NXM_OF_ETH_DST[]=NXM_OF_ETH_SRC[],output:NXM_OF_IN_PORT[])")
		s.receive(2, udp(hostA, hostB, 1, 2))
		flows := s.flows()
		require.Len(s.t, flows, 2)
		require.Equal(s.t, openflow.TableID(1), flows[1].Table)
		require.EqualValues(s.t, 60, flows[1].HardTimeout)
	}},
	{"flows time out", func(s *suite) {
		s.commit("flow add table=0,priority=7,hard_timeout=3,actions=drop\nflow add table=0,priority=8,ip,idle_timeout=9,actions=drop")
		s.bed.Advance(6 * time.Second)
		require.Len(s.t, s.flows(), 1)
		s.bed.Advance(6 * time.Second)
		require.Empty(s.t, s.flows())
	}},
}

var portsPromises = []promise{
	{"ports come in ascending order, the local port last", func(s *suite) {
		ports, err := s.bed.Ports(s.ctx())
		require.NoError(s.t, err)
		require.Len(s.t, ports, len(Ports)+1)
		for i, p := range ports[:len(Ports)] {
			require.Equal(s.t, openflow.PortNo(i+1), p.Number)
			require.Equal(s.t, Ports[p.Number], p.Name)
		}
		require.Equal(s.t, openflow.PortLocal, ports[len(Ports)].Number)
	}},
	{"ports count what passes", func(s *suite) {
		s.commit("flow add table=0,actions=output:2")
		f := udp(hostA, hostB, 1, 2)
		s.receive(1, f)
		ports, err := s.bed.Ports(s.ctx())
		require.NoError(s.t, err)
		require.EqualValues(s.t, len(f), ports[0].RxBytes)
		require.EqualValues(s.t, 1, ports[1].TxFrames)
	}},
}

var tracePromises = []promise{
	{"a trace tells the way through the tables", func(s *suite) {
		s.commit("flow add table=0,priority=5,udp,actions=goto_table:3\nflow add table=3,priority=6,udp,tp_dst=53,actions=output:2")
		trace := s.trace(1, udp(hostA, hostB, 40000, 53))
		text := trace.String()
		require.Contains(s.t, text, " 0. udp, priority 5")
		require.Contains(s.t, text, " 3. udp,tp_dst=53, priority 6")
		require.Contains(s.t, text, "Datapath actions: 2")
	}},
	{"a trace changes nothing", func(s *suite) {
		s.commit("flow add table=0,priority=7,udp,actions=learn(table=1,NXM_OF_ETH_DST[]=NXM_OF_ETH_SRC[]),ct(commit,zone=4),output:2")
		s.trace(1, udp(hostA, hostB, 1, 2))
		require.EqualValues(s.t, 0, s.packets(7))
		require.Len(s.t, s.flows(), 1)
		require.Empty(s.t, s.connections(datapath.ConnFilter{}))
		require.Empty(s.t, s.bed.Sent())
	}},
}

func (s *suite) trace(port openflow.PortNo, frame []byte) datapath.Trace {
	s.t.Helper()
	trace, err := s.bed.Trace(s.ctx(), datapath.Injection{InPort: port, Frame: frame})
	require.NoError(s.t, err)
	return trace
}

var packetOutPromises = []promise{
	{"actions are executed as if the frame came from the port", func(s *suite) {
		f := udp(hostA, hostB, 1, 2)
		require.NoError(s.t, s.bed.PacketOut(s.ctx(), datapath.Injection{InPort: 1, Frame: f}, []openflow.Action{openflow.Output{Port: 2}}))
		require.Equal(s.t, []datapath.Output{{Port: 2, Frame: f}}, s.bed.Sent())
	}},
	{"a frame can be sent through the tables", func(s *suite) {
		s.commit("flow add table=0,priority=3,in_port=1,actions=output:3")
		require.NoError(s.t, s.bed.PacketOut(s.ctx(), datapath.Injection{InPort: 1, Frame: udp(hostA, hostB, 1, 2)},
			[]openflow.Action{openflow.Resubmit{InPort: openflow.PortIn, Table: 0}}))
		require.Len(s.t, s.bed.Sent(), 1)
		require.EqualValues(s.t, 1, s.packets(3))
	}},
}
