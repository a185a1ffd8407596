package conntrack_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/internal/packet"
	"hpnn/simbackend/conntrack"
)

// member is where the balancer sends a client of the VIP.
var toMember = flow{client, server, 1000, 8080}

func TestDNAT(t *testing.T) {
	s := newStory(t, through(dnat(1, "10.0.1.1", 8080)), through(unNAT(1)), through(zone(1)))
	s.expectFlow("new|trk|dnat", toMember, 0, seg(toVIP, "S", 1000, 0, 0))
	s.expectFlow("est|rpl|trk|snat", toVIP.back(), 1, seg(toMember.back(), "S.", 5000, 1001, 0))
	s.expectFlow("est|trk|dnat", toMember, 0, seg(toVIP, ".", 1001, 5001, 10))
	s.expectFlow("est|trk|dnat", toMember, 1, seg(toVIP, ".", 1011, 5001, 10)) // nat alone does for known ones
	s.expectFlow("est|trk", toVIP, 2, seg(toVIP, ".", 1021, 5001, 10))         // without nat nothing is translated
	s.expectFlow("est|rpl|trk", toMember.back(), 2, seg(toMember.back(), ".", 5001, 1031, 10))
	s.entries("tcp,orig=(src=10.0.0.1,dst=10.0.9.9,sport=1000,dport=80)," +
		"reply=(src=10.0.1.1,dst=10.0.0.1,sport=8080,dport=1000),zone=1,timeout=86400,protoinfo=(state=ESTABLISHED)")
}

func TestDNATKeepsPort(t *testing.T) {
	s := newStory(t, through(dnat(1, "10.0.1.1", 0)))
	s.expectFlow("new|trk|dnat", up, 0, udp{flow: toVIP})
}

func TestSNAT(t *testing.T) {
	s := newStory(t, through(snat(1, "10.0.2.1", 0)), through(unNAT(1)))
	out := flow{ip("10.0.2.1"), server, 1000, 80}
	s.expectFlow("new|trk|snat", out, 0, udp{flow: up})
	s.expectFlow("est|rpl|trk|dnat", down, 1, udp{flow: out.back()})
	s.expectFlow("est|trk|snat", out, 1, udp{flow: up})
}

func TestSNATWithPort(t *testing.T) {
	s := newStory(t, through(snat(1, "10.0.2.1", 5000)), through(unNAT(1)))
	out := flow{ip("10.0.2.1"), server, 5000, 80}
	s.expectFlow("new|trk|snat", out, 0, udp{flow: up})
	s.expectFlow("est|rpl|trk|dnat", down, 1, udp{flow: out.back()})
}

func TestSNATLeavesTakenPorts(t *testing.T) {
	s := newStory(t, through(snat(1, "10.0.2.1", 0)))
	for _, c := range []struct {
		sport  uint16
		wanted []uint16 // by the second, third, ... host with the same source port
	}{
		{1000, []uint16{1001, 1002}},
		{511, []uint16{1, 2}},
		{100, []uint16{101}},
		{550, []uint16{600, 601}}, // outside of every range: tried first, then 600 to 1023
		{1023, []uint16{600}},
		{1024, []uint16{1025}},
		{65535, []uint16{1024}},
	} {
		t.Run(fmt.Sprint(c.sport), func(t *testing.T) {
			s := s.with(t)
			for i, want := range append([]uint16{c.sport}, c.wanted...) {
				in := flow{addr{10, 0, 0, byte(i + 1)}, server, c.sport, 80}
				s.expectFlow("new|trk|snat", flow{ip("10.0.2.1"), server, want, 80}, 0, udp{flow: in})
			}
		})
	}
}

func TestSNATWithTakenPortLeavesThePacketAlone(t *testing.T) {
	s := newStory(t, through(snat(1, "10.0.2.1", 5000)))
	s.expect("new|trk|snat", 0, udp{flow: up})
	other := flow{ip("10.0.0.2"), server, 1000, 80}
	s.expectFlow("new|trk", other, 0, udp{flow: other})
	require.Equal(t, 1, s.table.Len(), "and commits no entry")
}

func TestSNATOfEqualPingsLeavesTheSecondAlone(t *testing.T) {
	s := newStory(t, through(snat(1, "10.0.2.1", 0)))
	s.expect("new|trk|snat", 0, echo(client, server, 8, 7, 1))
	s.expect("new|trk", 0, echo(ip("10.0.0.2"), server, 8, 7, 1))
	s.expect("new|trk|snat", 0, echo(ip("10.0.0.2"), server, 8, 8, 1))
	require.Equal(t, 2, s.table.Len())
}

func TestSNATOfTheSenderItselfOnlyOnCollision(t *testing.T) {
	s := newStory(t, through(withNAT(commit(1), conntrack.NAT{Kind: conntrack.NATSrc})), through(dnat(1, "10.0.1.1", 80)), through(unNAT(1)))
	s.expectFlow("new|trk|snat", up, 0, udp{flow: up})
	s.expectFlow("est|rpl|trk|dnat", down, 2, udp{flow: down})
	second := up
	second.sport = 1001
	s.expectFlow("new|trk|dnat", second, 1, udp{flow: toVIP}) // to the same server: its port gives way
	second.sport = 1001
	s.expectFlow("new|trk|snat", flow{client, server, 1002, 80}, 0, udp{flow: second})
}

// TestVIPAndDirect: a client uses one port first to the VIP and then to the member
// itself, and the reverse.
func TestVIPAndDirect(t *testing.T) {
	direct := toMember
	moved := direct
	moved.sport = 1001
	t.Run("vip first", func(t *testing.T) {
		s := newStory(t, through(dnat(1, "10.0.1.1", 8080)), through(unNAT(1)))
		s.expectFlow("new|trk|dnat", direct, 0, udp{flow: toVIP})
		s.expectFlow("new|trk|dnat", moved, 0, udp{flow: direct}) // another connection, with a free port
		s.expectFlow("est|rpl|trk|snat", toVIP.back(), 1, udp{flow: direct.back()})
		s.expectFlow("est|rpl|trk|snat", direct.back(), 1, udp{flow: moved.back()})
	})
	t.Run("direct first", func(t *testing.T) {
		s := newStory(t, through(dnat(1, "10.0.1.1", 8080)), through(unNAT(1)), through(commit(1)))
		s.expectFlow("new|trk", direct, 2, udp{flow: direct})
		s.expectFlow("new|trk|dnat", moved, 0, udp{flow: toVIP})
		s.expectFlow("est|rpl|trk", direct.back(), 1, udp{flow: direct.back()})
		s.expectFlow("est|rpl|trk|snat", toVIP.back(), 1, udp{flow: moved.back()})
	})
}

func TestMappingIsForLife(t *testing.T) {
	s := newStory(t, through(dnat(1, "10.0.1.1", 8080)), through(dnat(1, "10.0.1.2", 9090)), through(commit(1)))
	s.expectFlow("new|trk|dnat", toMember, 0, udp{flow: toVIP})
	s.expectFlow("new|trk|dnat", toMember, 1, udp{flow: toVIP}) // another nat() is ignored
	ping := echo(client, vip, 8, 1, 1)
	s.expect("new|trk", 2, ping)
	require.Equal(t, vip, flowOf(s.expect("new|trk", 0, ping).Frame).dst, "committed without nat, it never gets one")
}

// TestReuseOfAPortAfterClose: the old connection is over at once, but until the next
// sweep it owns its reply tuple, and the new one has to give way.
func TestReuseOfAPortAfterClose(t *testing.T) {
	s := newStory(t, through(dnat(1, "10.0.1.1", 8080)), through(unNAT(1)))
	s.warp(time.Millisecond) // wakes the real switch's cleaner, which then sleeps for 20 s
	s.expectFlow("new|trk|dnat", toMember, 0, seg(toVIP, "S", 1000, 0, 0))
	s.expect("est|rpl|trk|snat", 1, seg(toMember.back(), "R.", 5000, 1001, 0))
	moved := toMember
	moved.sport = 1001
	s.expectFlow("new|trk|dnat", moved, 0, seg(toVIP, "S", 9000, 0, 0))
	s.expectFlow("est|rpl|trk|snat", toVIP.back(), 1, seg(moved.back(), "S.", 5000, 9001, 0))
	s.expectFlow("inv|trk", toMember.back(), 1, seg(toMember.back(), ".", 5001, 1001, 0)) // a late one of the old
	s.expect("est|trk|dnat", 0, seg(toVIP, "R.", 9001, 5001, 0))
	s.warp(time.Second) // which sweeps
	s.expectFlow("new|trk|dnat", toMember, 0, seg(toVIP, "S", 90000, 0, 0))
}

// TestLateReplyOfATranslatedConnection: between its expiry and the next sweep it is
// invalid, then new. (With a real switch each warp sweeps, so it is not asked.)
func TestLateReplyOfATranslatedConnection(t *testing.T) {
	s := story{newRig(t, nil, through(dnat(1, "10.0.1.1", 8080)), through(unNAT(1)))}
	s.expect("new|trk|dnat", 0, udp{flow: toVIP})
	s.now += 60 * time.Second
	s.expectFlow("inv|trk", toMember.back(), 1, udp{flow: toMember.back()})
	s.table.Expire(s.now)
	s.expectFlow("new|trk", toMember.back(), 1, udp{flow: toMember.back()})
}

func TestNATOfOtherProtocolsMovesAddressesOnly(t *testing.T) {
	s := newStory(t, through(dnat(1, "10.0.1.1", 8080)), through(unNAT(1)))
	gre := ip4{src: client, dst: vip, proto: 47, payload: []byte{1, 2, 3, 4, 5, 6, 7, 8}}.asFrame()
	out := s.expect("new|trk|dnat", 0, gre)
	require.Equal(t, server, flowOf(out.Frame).dst)
	require.Equal(t, []byte(gre)[34:], out.Frame[34:])
	s.expect("est|rpl|trk|snat", 1, ip4{src: server, dst: client, proto: 47}.asFrame())
}

// TestChecksums: every translated packet is right if it was, and says "no checksum" or
// keeps its error otherwise.
func TestChecksums(t *testing.T) {
	right := func(p *conntrack.Packet) bool {
		b := p.Frame[14:]
		b = b[:packet.Word(b, 2)]
		return packet.Checksum(b[:20]) == 0 && l4sum([4]byte(b[12:16]), [4]byte(b[16:20]), b[9], b[20:]) == 0
	}
	s := newStory(t, through(dnat(1, "10.0.1.1", 8080)), through(unNAT(1)))
	require.True(t, right(s.expect("new|trk|dnat", 0, seg(toVIP, "S", 1000, 0, 5))))
	require.True(t, right(s.expect("new|trk|dnat", 0, udp{flow: toVIP, payload: []byte("odd")})))
	require.True(t, right(s.expect("est|rpl|trk|snat", 1, udp{flow: toMember.back(), payload: []byte("odd")})))
	none := s.expect("est|trk|dnat", 0, udp{flow: toVIP, noChecksum: true})
	require.Zero(t, packet.Word(none.Frame, 40), "no checksum stays none")
}

// TestUDPChecksumNeverBecomesZero sends payloads until one sums up to nothing.
func TestUDPChecksumNeverBecomesZero(t *testing.T) {
	s := newStory(t, through(dnat(1, "10.0.1.1", 8080)))
	probe := s.send(0, udp{flow: toVIP, payload: []byte{0, 0}}.frame())[0]
	rest := packet.Word(probe.Frame, 40) // what the payload must add to reach zero
	out := s.expect("new|trk|dnat", 0, udp{flow: toVIP, payload: []byte{byte(rest >> 8), byte(rest)}})
	require.EqualValues(t, 0xffff, packet.Word(out.Frame, 40))
}

func TestTCPChecksumMayBecomeZero(t *testing.T) {
	s := newStory(t, through(dnat(1, "10.0.1.1", 8080)))
	probe := s.send(0, seg(toVIP, "S", 1000, 0, 2).frame())[0]
	rest := packet.Word(probe.Frame, 50)
	again := seg(toVIP, "S", 1000, 0, 0)
	again.payload = []byte{byte(rest >> 8), byte(rest)}
	out := s.expect("new|trk|dnat", 0, again)
	require.Zero(t, packet.Word(out.Frame, 50))
}

// TestBareNATOnANewConnection is broken in OVS 3.1.0 just so; Validate refuses it.
func TestBareNATOnANewConnection(t *testing.T) {
	s := newStory(t, through(withNAT(commit(1), conntrack.NAT{Kind: conntrack.NATExisting})))
	s.expectFlow("new|trk", up, 0, udp{flow: up})
	s.entries("udp,orig=(src=10.0.0.1,dst=10.0.1.1,sport=1000,dport=80)," +
		"reply=(src=0.0.0.0,dst=10.0.0.1,sport=80,dport=0),zone=1,timeout=60")
	s.expect("new|trk", 0, udp{flow: down})
}

func TestValidate(t *testing.T) {
	require.NoError(t, zone(1).Validate())
	require.NoError(t, unNAT(1).Validate())
	require.NoError(t, commit(1).Validate())
	require.NoError(t, dnat(1, "10.0.1.1", 8080).Validate())
	require.NoError(t, snat(1, "10.0.2.1", 0).Validate())
	require.NoError(t, withNAT(commit(1), conntrack.NAT{Kind: conntrack.NATSrc}).Validate())
	same := conntrack.NAT{Kind: conntrack.NATDst, AddrMin: server, AddrMax: server, PortMin: 80, PortMax: 80}
	require.NoError(t, withNAT(commit(1), same).Validate())

	for name, r := range map[string]conntrack.Request{
		"force needs commit":     {Force: true},
		"bare nat":               withNAT(commit(1), conntrack.NAT{Kind: conntrack.NATExisting}),
		"mapping needs commit":   withNAT(zone(1), conntrack.NAT{Kind: conntrack.NATSrc}),
		"an address range":       withNAT(commit(1), conntrack.NAT{Kind: conntrack.NATSrc, AddrMin: server, AddrMax: vip}),
		"a port range":           withNAT(commit(1), conntrack.NAT{Kind: conntrack.NATSrc, AddrMin: server, PortMin: 1, PortMax: 2}),
		"a port needs an addr":   withNAT(commit(1), conntrack.NAT{Kind: conntrack.NATSrc, PortMin: 1}),
		"an address needs a src": withNAT(zone(1), conntrack.NAT{AddrMin: server}),
	} {
		require.ErrorContains(t, r.Validate(), "check ", name)
	}
}
