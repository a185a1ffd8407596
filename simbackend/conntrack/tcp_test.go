package conntrack_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/simbackend/conntrack"
)

// syn, synAck, ack and so on are the usual segments of a connection whose sides start at
// 1000 and 5000.
func seg(f flow, flags string, seq, ack uint32, length int) tcp {
	return tcp{flow: f, flags: flags, seq: seq, ack: ack, window: 8000, payload: make([]byte, length)}
}

func (s story) handshake() {
	s.t.Helper()
	s.expect("new|trk", 0, seg(up, "S", 1000, 0, 0))
	s.expect("est|rpl|trk", 0, seg(down, "S.", 5000, 1001, 0))
	s.expect("est|trk", 0, seg(up, ".", 1001, 5001, 0))
}

func tcpEntry(state, timeout string) string {
	return "tcp,orig=(src=10.0.0.1,dst=10.0.1.1,sport=1000,dport=80)," +
		"reply=(src=10.0.1.1,dst=10.0.0.1,sport=80,dport=1000),zone=1,timeout=" + timeout + ",protoinfo=(state=" + state + ")"
}

func TestTCPLife(t *testing.T) {
	s := newStory(t, through(commit(1)))
	s.expect("new|trk", 0, seg(up, "S", 1000, 0, 0))
	s.entries(tcpEntry("SYN_SENT", "30"))
	s.expect("est|rpl|trk", 0, seg(down, "S.", 5000, 1001, 0))
	s.entries(tcpEntry("ESTABLISHED", "30"))
	s.expect("est|trk", 0, seg(up, ".", 1001, 5001, 0))
	s.entries(tcpEntry("ESTABLISHED", "86400"))
	s.expect("est|trk", 0, seg(up, "P.", 1001, 5001, 100))
	s.expect("est|rpl|trk", 0, seg(down, "P.", 5001, 1101, 500))
	s.expect("est|trk", 0, seg(up, "F.", 1101, 5501, 0))
	s.entries(tcpEntry("CLOSING", "900"))
	s.expect("est|rpl|trk", 0, seg(down, ".", 5501, 1102, 0))
	s.entries(tcpEntry("TIME_WAIT", "900"))
	s.expect("est|rpl|trk", 0, seg(down, "F.", 5501, 1102, 0))
	s.entries(tcpEntry("TIME_WAIT", "45"))
	s.expect("est|trk", 0, seg(up, ".", 1102, 5502, 0))
	s.entries(tcpEntry("TIME_WAIT", "30"))
}

func TestTCPFirstPacket(t *testing.T) {
	s := newStory(t, through(commit(1)))
	for flags, state := range map[string]string{
		"S":   "new|trk",
		".":   "new|trk",
		"P.":  "new|trk",
		"F.":  "new|trk",
		"R":   "new|trk",
		"R.":  "new|trk",
		"S.":  "inv|trk", // half a handshake is no beginning
		"SR":  "inv|trk",
		"SF":  "inv|trk",
		"SF.": "inv|trk",
		"":    "inv|trk",
		"F":   "inv|trk",
		"P":   "inv|trk",
		"U":   "inv|trk",
		"FR":  "inv|trk",
		"SP":  "inv|trk",
		"FPU": "inv|trk",
	} {
		t.Run(flags, func(t *testing.T) {
			s := s.with(t)
			s.expect(state, 0, seg(up, flags, 1000, 1, 0))
			require.Equal(t, state == "new|trk", s.table.Len() == 1, "a packet commits an entry exactly if it is new")
		})
	}
}

func TestTCPMidStream(t *testing.T) {
	s := newStory(t, through(commit(1)))
	s.expect("new|trk", 0, seg(up, "P.", 1000, 5000, 10))
	s.expect("est|trk", 0, seg(up, "P.", 1010, 5000, 10)) // needs no answer
	s.expect("est|rpl|trk", 0, seg(down, ".", 5000, 1020, 0))
	s.entries(tcpEntry("ESTABLISHED", "30"))
	s.expect("est|trk", 0, seg(up, "P.", 1020, 5000, 10)) // the server's side was still opening
	s.entries(tcpEntry("ESTABLISHED", "86400"))
}

func TestTCPRetransmittedSYNStaysNew(t *testing.T) {
	s := newStory(t, through(commit(1)))
	s.expect("new|trk", 0, seg(up, "S", 1000, 0, 0))
	s.warp(29 * time.Second)
	s.expect("new|trk", 0, seg(up, "S", 1000, 0, 0))
	s.entries(tcpEntry("SYN_SENT", "30"))
}

func TestTCPSimultaneousOpenIsNewWithoutDirection(t *testing.T) {
	s := newStory(t, through(commit(1)))
	s.expect("new|trk", 0, seg(up, "S", 1000, 0, 0))
	s.expect("new|trk", 0, seg(down, "S", 5000, 0, 0))
}

func TestTCPAnswerMayAcknowledgeWrongly(t *testing.T) {
	s := newStory(t, through(commit(1)))
	s.expect("new|trk", 0, seg(up, "S", 1000, 0, 0))
	s.expect("est|rpl|trk", 0, seg(down, "S.", 5000, 77777, 0))
}

func TestTCPWindow(t *testing.T) {
	// The peers' windows are 8000; an ACK may lag or lead by 67035.
	c1, s1 := uint32(1000), uint32(5001) // a bare ACK does not move the sender on
	s := newStory(t, through(commit(1)))
	for name, c := range map[string]struct {
		segment tcp
		state   string
	}{
		"fills the window":          {seg(up, "P.", 1001, 5001, 1000), "est|trk"},
		"last byte in the window":   {seg(up, ".", 1001+7999, 5001, 1), "est|trk"},
		"one byte too many":         {seg(up, ".", 1001+8000, 5001, 1), "inv|trk"},
		"one window back":           {seg(up, ".", c1-8000, 5001, 1), "est|trk"},
		"more than one window back": {seg(up, ".", c1-8001, 5001, 1), "inv|trk"},
		"no data anywhere":          {seg(up, ".", 99999999, 5001, 0), "est|trk"},
		"ack far back":              {seg(up, ".", 1001, s1-67035, 0), "est|trk"},
		"ack too far back":          {seg(up, ".", 1001, s1-67036, 0), "inv|trk"},
		"ack far ahead":             {seg(up, ".", 1001, 5001+67035, 0), "est|trk"},
		"ack too far ahead":         {seg(up, ".", 1001, 5001+67036, 0), "inv|trk"},
		"rst in place":              {seg(up, "R", 1000, 0, 0), "est|trk"},
		"rst one later":             {seg(up, "R", 1001, 0, 0), "est|trk"},
		"rst one earlier":           {seg(up, "R", 999, 0, 0), "est|trk"},
		"rst two later":             {seg(up, "R", 1002, 0, 0), "inv|trk"},
		"rst two earlier":           {seg(up, "R", 998, 0, 0), "inv|trk"},
		"rst without ack number":    {seg(up, "R.", 1001, 0, 0), "est|trk"},
		"syn in the window":         {seg(up, "S", 1001, 0, 0), "est|trk"},
		"syn elsewhere":             {seg(up, "S", 900000, 0, 0), "inv|trk"},
		"bad flags":                 {seg(up, "SF", 1001, 0, 0), "inv|trk"},
	} {
		t.Run(name, func(t *testing.T) {
			s := s.with(t)
			s.handshake()
			s.expect(c.state, 0, c.segment)
		})
	}
}

func TestTCPWindowScale(t *testing.T) {
	scaled := func(shift byte) []byte { return []byte{2, 4, 5, 0xb4, 1, 3, 3, shift} }
	s := newStory(t, through(commit(1)))
	for name, c := range map[string]struct {
		client, server []byte
		reach          uint32 // the last byte the client may send, from 1001
	}{
		"both":             {scaled(7), scaled(7), 8000 << 7},
		"server only":      {nil, scaled(7), 8000},
		"client only":      {scaled(7), nil, 8000},
		"more than allows": {scaled(2), scaled(200), 8000 << 14},
		"odd options":      {[]byte{1, 1, 3, 3, 4}, []byte{8, 0, 3, 3, 4, 0}, 8000 << 4},
	} {
		t.Run(name, func(t *testing.T) {
			s := s.with(t)
			syn, answer := seg(up, "S", 1000, 0, 0), seg(down, "S.", 5000, 1001, 0)
			syn.options, answer.options = c.client, c.server
			s.expect("new|trk", 0, syn)
			s.expect("est|rpl|trk", 0, answer)
			s.expect("est|trk", 0, seg(up, ".", 1001, 5001, 0))
			s.expect("est|rpl|trk", 0, seg(down, ".", 5001, 1001, 0)) // opens the window
			s.expect("inv|trk", 0, seg(up, ".", 1001+c.reach, 5001, 1))
			s.expect("est|trk", 0, seg(up, ".", 1000+c.reach, 5001, 1))
		})
	}
}

func TestTCPSYNOnClosedConnectionStartsAnother(t *testing.T) {
	s := newStory(t, through(commit(1)))
	s.handshake()
	s.expect("est|trk", 0, seg(up, "R", 1001, 0, 0))
	s.entries(tcpEntry("TIME_WAIT", "30"))
	s.expect("new|trk", 0, seg(up, "S", 70000, 0, 0))
	s.entries(tcpEntry("SYN_SENT", "30"))
	s.expect("est|rpl|trk", 0, seg(down, "S.", 90000, 70001, 0))
}

func TestTCPSYNFromTheOtherSideOfAClosedConnection(t *testing.T) {
	s := newStory(t, through(commit(1)))
	s.handshake()
	s.expect("est|trk", 0, seg(up, "R", 1001, 0, 0))
	s.expect("new|trk", 0, seg(down, "S", 70000, 0, 0))
	s.entries("tcp,orig=(src=10.0.1.1,dst=10.0.0.1,sport=80,dport=1000)," +
		"reply=(src=10.0.0.1,dst=10.0.1.1,sport=1000,dport=80),zone=1,timeout=30,protoinfo=(state=SYN_SENT)")
}

func TestTCPLoosePackets(t *testing.T) {
	s := newStory(t, through(commit(1)))
	s.handshake()
	s.expect("est|trk", 0, seg(up, "R", 1001, 0, 0))
	s.warp(10 * time.Second)
	s.expect("est|rpl|trk", 0, seg(down, "F.", 5001+60000, 1001, 0)) // near enough for a closed connection
	s.entries(tcpEntry("TIME_WAIT", "20"))                           // but does not prolong it
	s.expect("est|rpl|trk", 0, seg(down, ".", 5001+60000, 1001, 100))
	s.entries(tcpEntry("TIME_WAIT", "20"))
	s.expect("est|trk", 0, seg(up, ".", 77, 5001+60100, 0)) // an ACK without data is strictly in the window
	s.entries(tcpEntry("TIME_WAIT", "30"))
	s.expect("inv|trk", 0, seg(down, ".", 5001+600000, 1001, 100))
}

func TestTCPTimeouts(t *testing.T) {
	s := newStory(t, through(commit(1)), through(zone(1)))
	for name, c := range map[string]struct {
		after func(s story)
		lives time.Duration
	}{
		"first": {func(s story) { s.expect("new|trk", 0, seg(up, "S", 1000, 0, 0)) }, 30 * time.Second},
		"answered": {func(s story) {
			s.expect("new|trk", 0, seg(up, "S", 1000, 0, 0))
			s.expect("est|rpl|trk", 0, seg(down, "S.", 5000, 1001, 0))
		}, 30 * time.Second},
		"established": {func(s story) { s.handshake() }, 24 * time.Hour},
		"closing": {func(s story) {
			s.handshake()
			s.expect("est|trk", 0, seg(up, "F.", 1001, 5001, 0))
		}, 15 * time.Minute},
		"reset": {func(s story) {
			s.handshake()
			s.expect("est|trk", 0, seg(up, "R.", 1001, 5001, 0))
		}, 30 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			s := s.with(t)
			c.after(s)
			s.warp(c.lives - time.Millisecond)
			require.Len(t, s.dump(), 1, "a millisecond before its time")
			s.settle()
			s.warp(time.Millisecond)
			require.Empty(t, s.dump(), "at its time")
			s.expect("new|trk", 1, seg(up, ".", 1001, 5001, 0))
		})
	}
}

func TestTCPStateNames(t *testing.T) {
	require.Equal(t, "CLOSED", conntrack.TCPClosed.String())
	require.Equal(t, "SYN_SENT", conntrack.TCPSynSent.String())
	require.Equal(t, "TIME_WAIT", conntrack.TCPTimeWait.String())
	require.Equal(t, "[11]", conntrack.TCPState(11).String())
}
