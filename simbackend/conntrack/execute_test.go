package conntrack_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/simbackend/conntrack"
)

func TestZonesAreApart(t *testing.T) {
	s := newStory(t, through(commit(1)), through(commit(2)), through(zone(0)))
	s.expect("new|trk", 0, udpUp(1))
	s.expect("est|rpl|trk", 0, udpDown(1))
	s.expect("new|trk", 1, udpUp(1))
	s.expect("new|trk", 2, udpDown(1))
	s.entries(
		"udp,orig=(src=10.0.0.1,dst=10.0.1.1,sport=1000,dport=80),reply=(src=10.0.1.1,dst=10.0.0.1,sport=80,dport=1000),zone=1,timeout=30",
		"udp,orig=(src=10.0.0.1,dst=10.0.1.1,sport=1000,dport=80),reply=(src=10.0.1.1,dst=10.0.0.1,sport=80,dport=1000),zone=2,timeout=60",
	)
}

// TestAnotherZoneForgetsTheState: a packet that is est|rpl in one zone is new in the next.
func TestAnotherZoneForgetsTheState(t *testing.T) {
	s := newStory(t, through(commit(1)), through(zone(1), commit(2)), through(zone(1), zone(2), zone(1)))
	s.expect("new|trk", 0, udpUp(1))
	p := s.expect("new|trk", 1, udpDown(1))
	require.EqualValues(t, 2, p.Meta.Zone)
	s.expect("est|rpl|trk", 2, udpDown(1))
}

// TestSecondPassInAZone: the state machine runs once for a packet, however many ct() of
// the zone it meets; the connection is remembered.
func TestSecondPassInAZone(t *testing.T) {
	s := newStory(t, through(commit(1)), through(commit(1), commit(1)), through(zone(1), zone(1), zone(1)))
	s.expect("new|trk", 1, udpUp(1))
	s.expect("new|trk", 1, udpUp(1))
	s.expect("est|rpl|trk", 2, udpDown(1))
}

// TestSecondPassCommits: new in the first ct(), committed by the second, as listeners do.
func TestSecondPassCommits(t *testing.T) {
	s := newStory(t, through(zone(1), dnat(1, "10.0.1.1", 8080)), through(unNAT(1), zone(1)))
	s.expectFlow("new|trk|dnat", toMember, 0, seg(toVIP, "S", 1000, 0, 0))
	s.expectFlow("est|rpl|trk|snat", toVIP.back(), 1, seg(toMember.back(), "S.", 5000, 1001, 0))
	s.expectFlow("est|trk|dnat", toMember, 0, seg(toVIP, ".", 1001, 5001, 0))
}

// TestFTPAndTFTPPortsAreNeverRemembered: OVS runs the state machine again for them.
func TestFTPAndTFTPPortsAreNeverRemembered(t *testing.T) {
	s := newStory(t, through(commit(1)), through(zone(1), commit(1)))
	for _, c := range []struct {
		port uint16
		want string
	}{
		{69, "udp,orig=(src=10.0.0.1,dst=10.0.1.1,sport=5,dport=69),reply=(src=10.0.1.1,dst=10.0.0.1,sport=69,dport=5),zone=1,timeout=60"},
		{70, "udp,orig=(src=10.0.0.1,dst=10.0.1.1,sport=5,dport=70),reply=(src=10.0.1.1,dst=10.0.0.1,sport=70,dport=5),zone=1,timeout=60"},
	} {
		s := s.with(t)
		s.expect("new|trk", 1, udp{flow: flow{client, server, 5, c.port}})
		s.entries(c.want)
	}
	// Twice through the state machine, the first segment of the middle of a stream is its second.
	s = s.with(t)
	s.expect("new|trk", 0, seg(flow{client, server, 5, 21}, ".", 1, 1, 1))
	s.expect("est|trk", 1, seg(flow{client, server, 5, 21}, ".", 2, 1, 1))
}

// TestPassesWithoutTable: a ct() whose result nobody sees still commits and translates,
// and the next ct() of the pass goes on from there.
func TestPassesWithoutTable(t *testing.T) {
	here := func(r conntrack.Request) step { return step{here: true, Request: r} }
	s := newStory(t,
		script{here(commit(1)), {Request: zone(1)}},
		script{here(dnat(2, "10.0.1.1", 8080)), {Request: zone(2)}},
		script{{Request: zone(1)}, {clear: true}, {Request: zone(1)}},
		script{here(commit(3)), {clear: true}, {Request: zone(3)}},
	)
	s.expect("new|trk", 0, udpUp(1))
	s.expect("est|rpl|trk", 2, udpDown(1))
	s.expectFlow("new|trk|dnat", toMember, 1, udp{flow: toVIP})
	s.expect("new|trk", 3, udpUp(1))
}

func TestMarkAndLabel(t *testing.T) {
	marked := commit(1)
	marked.Mark, marked.MarkMask = 0x12345678, 0xffffffff
	part := commit(1)
	part.Mark, part.MarkMask = 0xffffffff, 0xff00
	part.Label, part.LabelMask = conntrack.Label{Hi: 1, Lo: 0xabc}, conntrack.Label{Hi: 3, Lo: 0xfff}
	s := newStory(t, through(marked), through(part), through(zone(1)))
	require.EqualValues(t, 0x12345678, s.expect("new|trk", 0, udpUp(1)).Meta.Mark)
	reply := s.expect("est|rpl|trk", 2, udpDown(1)).Meta
	require.EqualValues(t, 0x12345678, reply.Mark, "the mark is the connection's")
	p := s.expect("est|trk", 1, udpUp(1)).Meta // exec works on connections that exist
	require.EqualValues(t, 0x1234ff78, p.Mark)
	require.Equal(t, conntrack.Label{Hi: 1, Lo: 0xabc}, p.Label)
	s.entries("udp,orig=(src=10.0.0.1,dst=10.0.1.1,sport=1000,dport=80),reply=(src=10.0.1.1,dst=10.0.0.1,sport=80,dport=1000)," +
		"zone=1,timeout=30,mark=305463160,labels=0x10000000000000abc")
}

func TestMarkOfUncommitted(t *testing.T) {
	marked := zone(1)
	marked.Mark, marked.MarkMask = 7, 0xff
	s := story{newRig(t, nil, through(marked))} // OVS refuses exec without commit
	require.Zero(t, s.expect("new|trk", 0, udpUp(1)).Meta.Mark, "there is no connection to mark")
}

func TestForce(t *testing.T) {
	force := commit(1)
	force.Force = true
	s := newStory(t, through(commit(1)), through(force), through(zone(1)), through(zone(1), force))
	s.expect("new|trk", 0, udpUp(1))
	s.expect("new|trk", 1, udpUp(1)) // in the original direction it is commit
	s.expect("est|rpl|trk", 2, udpDown(1))
	s.expect("new|trk", 1, udpDown(1)) // against it, the connection begins again the other way round
	s.entries("udp,orig=(src=10.0.1.1,dst=10.0.0.1,sport=80,dport=1000),reply=(src=10.0.0.1,dst=10.0.1.1,sport=1000,dport=80),zone=1,timeout=60")
	s.expect("est|rpl|trk", 2, udpUp(1))
	s.expect("new|trk", 3, udpUp(1))
}

// TestForceSparesTranslatedConnections: they are found by their second tuple first.
func TestForceSparesTranslatedConnections(t *testing.T) {
	force := commit(1)
	force.Force = true
	s := newStory(t, through(dnat(1, "10.0.1.1", 8080)), through(force))
	s.expect("new|trk|dnat", 0, udp{flow: toVIP})
	s.expect("est|rpl|trk", 1, udp{flow: toMember.back()})
	require.Equal(t, 1, s.table.Len())
}

// TestOriginalTuple is what ct_nw_src and its like show: the tuple before translation, in
// both directions and for errors.
func TestOriginalTuple(t *testing.T) {
	s := newStory(t, through(dnat(1, "10.0.1.1", 8080)), through(unNAT(1)), through(zone(1)))
	orig := conntrack.Tuple{Src: client, Dst: vip, Proto: protoUDP, SrcPort: 1000, DstPort: 80}
	require.Equal(t, orig, s.expect("new|trk|dnat", 0, udp{flow: toVIP}).Meta.Orig)
	require.Equal(t, orig, s.expect("est|rpl|trk|snat", 1, udp{flow: toMember.back()}).Meta.Orig)
	quote := udp{flow: toMember}.ip().bytes()
	require.Equal(t, orig, s.expect("rel|rpl|trk", 2, about(server, client, 3, 3, quote, 28)).Meta.Orig)
	ping := conntrack.Tuple{Src: client, Dst: server, Proto: protoICMP, ID: 9, SrcPort: 8}
	require.Equal(t, ping, s.expect("new|trk", 2, echo(client, server, 8, 9, 1)).Meta.Orig)
}

// TestTranslatedPacketsAreFoundAgain: behind a translation the packet is in no tuple, but
// the answer to it is.
func TestTranslatedPacketsAreFoundAgain(t *testing.T) {
	s := newStory(t, through(dnat(1, "10.0.1.1", 8080), zone(1)), through(unNAT(1), zone(1)))
	s.expectFlow("new|trk|dnat", toMember, 0, udp{flow: toVIP})
	s.expectFlow("est|rpl|trk|snat", toVIP.back(), 1, udp{flow: toMember.back()})
	s.expectFlow("est|trk|dnat", toMember, 1, udp{flow: toVIP})
}

func TestConnectionLimit(t *testing.T) {
	table := conntrack.New(conntrack.Config{MaxConns: 2})
	request := commit(1)
	for i := range 4 {
		p := newPacket(udp{flow: flow{client, server, uint16(1000 + i), 80}}.frame())
		table.Execute(0, p, &request)
		require.Equal(t, "new|trk", p.Meta.State.String(), "beyond the limit packets stay new, without an entry")
	}
	require.Equal(t, 2, table.Len())
	p := newPacket(udp{flow: flow{client, server, 1002, 80}}.frame())
	table.Execute(60*time.Second, p, &request)
	require.Equal(t, 2, table.Len(), "expired entries count until they are removed")
	table.Expire(60 * time.Second)
	table.Execute(60*time.Second, p, &request)
	require.Equal(t, 1, table.Len())
}

func TestStateNames(t *testing.T) {
	require.Equal(t, "0", conntrack.State(0).String())
	require.Equal(t, "new|est|rel|rpl|inv|trk|snat|dnat", conntrack.State(0xff).String())
	require.Equal(t, conntrack.StateNew|conntrack.StateTrk, conntrack.State(0x21))
	require.Equal(t, "0x0", conntrack.Label{}.String())
	require.Equal(t, "0x10000000000000002", conntrack.Label{Hi: 1, Lo: 2}.String())
}
