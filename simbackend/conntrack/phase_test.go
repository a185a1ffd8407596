package conntrack_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func udpUp(n int) udp   { return udp{flow: up, payload: make([]byte, n)} }
func udpDown(n int) udp { return udp{flow: down, payload: make([]byte, n)} }

func udpEntry(timeout string) string {
	return "udp,orig=(src=10.0.0.1,dst=10.0.1.1,sport=1000,dport=80)," +
		"reply=(src=10.0.1.1,dst=10.0.0.1,sport=80,dport=1000),zone=1,timeout=" + timeout
}

func TestUDPIsNewUntilAnswered(t *testing.T) {
	s := newStory(t, through(commit(1)))
	s.expect("new|trk", 0, udpUp(1))
	s.entries(udpEntry("60"))
	s.warp(time.Second)
	s.entries(udpEntry("59"))
	s.expect("new|trk", 0, udpUp(2))
	s.entries(udpEntry("60"))
	s.expect("est|rpl|trk", 0, udpDown(1))
	s.entries(udpEntry("30"))
	s.expect("est|trk", 0, udpUp(3))
	s.warp(1500 * time.Millisecond)
	s.entries(udpEntry("28")) // whole seconds, rounded down
}

func TestUncommittedStaysNew(t *testing.T) {
	s := newStory(t, through(zone(1)))
	s.expect("new|trk", 0, udpUp(1))
	s.expect("new|trk", 0, udpDown(1))
	s.expect("new|trk", 0, udpUp(1))
	s.expect("new|trk", 0, seg(up, "S", 1000, 0, 0))
	s.expect("inv|trk", 0, seg(down, "S.", 5000, 1001, 0))
	require.Zero(t, s.table.Len())
}

func TestPing(t *testing.T) {
	s := newStory(t, through(commit(1)))
	s.expect("new|trk", 0, echo(client, server, 8, 7, 1))
	s.expect("new|trk", 0, echo(client, server, 8, 7, 2))
	s.expect("inv|trk", 0, echo(server, client, 0, 8, 1)) // another identifier
	s.expect("est|rpl|trk", 0, echo(server, client, 0, 7, 1))
	s.entries("icmp,orig=(src=10.0.0.1,dst=10.0.1.1,id=7,type=8,code=0)," +
		"reply=(src=10.0.1.1,dst=10.0.0.1,id=7,type=0,code=0),zone=1,timeout=30")
	s.expect("est|trk", 0, echo(client, server, 8, 7, 3))
	s.expect("new|trk", 0, echo(server, client, 8, 7, 1)) // pings of the other side are their own
	s.expect("inv|trk", 0, echo(client, server, 14, 7, 1))
}

func TestOtherProtocols(t *testing.T) {
	s := newStory(t, through(commit(1)))
	there := ip4{src: client, dst: server, proto: 47, payload: []byte("one tunnel")}.asFrame()
	back := ip4{src: server, dst: client, proto: 47, payload: []byte("or another")}.asFrame()
	s.expect("new|trk", 0, there)
	s.expect("est|rpl|trk", 0, back)
	s.entries("47,orig=(src=10.0.0.1,dst=10.0.1.1,sport=0,dport=0)," +
		"reply=(src=10.0.1.1,dst=10.0.0.1,sport=0,dport=0),zone=1,timeout=30")
}

// TestProtocol58 is ICMPv6's number: over IPv4 OVS applies half of its rules.
func TestProtocol58(t *testing.T) {
	s := newStory(t, through(commit(1)))
	s.expect("new|trk", 0, ip4{src: client, dst: server, proto: 58, payload: []byte{128}}.asFrame())
	s.expect("new|trk", 0, ip4{src: client, dst: server, proto: 58, payload: []byte{1}}.asFrame())
	s.expect("est|rpl|trk", 0, ip4{src: server, dst: client, proto: 58, payload: []byte{1}}.asFrame())
	s.entries("icmpv6,orig=(src=10.0.0.1,dst=10.0.1.1,id=0,type=0,code=0)," +
		"reply=(src=10.0.1.1,dst=10.0.0.1,id=0,type=0,code=0),zone=1,timeout=30")
}

func TestExpiry(t *testing.T) {
	s := newStory(t, through(commit(1)))
	for name, c := range map[string]struct {
		frames []framer
		lives  time.Duration
	}{
		"udp unanswered":  {[]framer{udpUp(1)}, 60 * time.Second},
		"udp twice":       {[]framer{udpUp(1), udpUp(1)}, 60 * time.Second},
		"udp answered":    {[]framer{udpUp(1), udpDown(1)}, 30 * time.Second},
		"ping unanswered": {[]framer{echo(client, server, 8, 7, 1)}, 60 * time.Second},
		"ping answered":   {[]framer{echo(client, server, 8, 7, 1), echo(server, client, 0, 7, 1)}, 30 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			s := s.with(t)
			for _, f := range c.frames {
				s.send(0, f.frame())
			}
			at, ok := s.table.NextExpiry()
			require.True(t, ok)
			require.LessOrEqual(t, at-s.now, c.lives)
			s.warp(c.lives - time.Millisecond)
			require.Len(t, s.dump(), 1)
			s.warp(time.Millisecond)
			require.Empty(t, s.dump())
			require.Zero(t, s.table.Len())
		})
	}
}

// TestExpiredIsNotFoundBeforeTheSweep needs no real switch: there, each warp sweeps.
func TestExpiredIsNotFoundBeforeTheSweep(t *testing.T) {
	s := story{newRig(t, nil, through(commit(1)))}
	s.expect("new|trk", 0, udpUp(1))
	s.expect("est|rpl|trk", 0, udpDown(1))
	s.now += 30 * time.Second
	require.Empty(t, s.dump())
	require.Equal(t, 1, s.table.Len(), "it takes room until Expire")
	s.expect("new|trk", 0, udpDown(1))
	require.Equal(t, 2, s.table.Len())
	require.Equal(t, 1, s.table.Expire(s.now))
	require.Equal(t, 1, s.table.Len())
}

// TestTimeIsInMilliseconds: OVS's clock does not know less.
func TestTimeIsInMilliseconds(t *testing.T) {
	s := story{newRig(t, nil, through(commit(1)))}
	s.now = 999 * time.Microsecond
	s.expect("new|trk", 0, udpUp(1))
	s.now = 60 * time.Second
	require.Empty(t, s.dump())
}
