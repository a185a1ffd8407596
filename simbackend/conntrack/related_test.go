package conntrack_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/internal/packet"
	"hpnn/simbackend/conntrack"
)

func TestErrorsAreRelated(t *testing.T) {
	s := newStory(t, through(commit(1)), through(zone(1)))
	s.expect("new|trk", 0, udpUp(4))
	sent := udpUp(4).ip().bytes()
	answer := udpDown(4).ip().bytes()
	router := ip("10.7.7.7")
	for _, kind := range []byte{3, 4, 5, 11, 12} {
		s.expect("rel|rpl|trk", 1, about(server, client, kind, 1, sent, 28))
	}
	s.expect("rel|rpl|trk", 1, about(router, client, 11, 0, sent, 28)) // any router may say it
	s.expect("rel|trk", 1, about(client, server, 3, 3, answer, 28))    // about the answer: towards the server
	s.expect("inv|trk", 1, about(client, server, 3, 3, sent, 28))      // not to the one who sent it
	s.expect("inv|trk", 1, about(server, client, 3, 3, udp{flow: flow{client, server, 1001, 80}}.ip().bytes(), 28))
	s.expect("inv|trk", 1, about(server, client, 3, 3, seg(up, "S", 1, 0, 0).ip().bytes(), 28))
	require.Equal(t, 1, s.table.Len(), "an error begins nothing")
}

func TestErrorsDoNotProlong(t *testing.T) {
	s := newStory(t, through(commit(1)))
	s.expect("new|trk", 0, udpUp(4))
	s.warp(10 * time.Second)
	s.expect("rel|rpl|trk", 0, about(server, client, 3, 3, udpUp(4).ip().bytes(), 28))
	s.entries(udpEntry("50"))
	s.expect("new|trk", 0, udpUp(4)) // and are no answer
}

func TestErrorsAboutPings(t *testing.T) {
	s := newStory(t, through(commit(1)))
	s.expect("new|trk", 0, echo(client, server, 8, 7, 1))
	s.expect("rel|rpl|trk", 0, about(server, client, 3, 1, echo(client, server, 8, 7, 1).ip().bytes(), 28))
	s.expect("inv|trk", 0, about(server, client, 3, 1, echo(client, server, 8, 8, 1).ip().bytes(), 28))
}

func TestQuotes(t *testing.T) {
	sent := udpUp(4).ip().bytes()
	edit := func(f func(ip []byte)) []byte {
		q := slices.Clone(sent)
		f(q)
		return q
	}
	withOptions := udpUp(4).ip()
	withOptions.options = []byte{1, 1, 1, 0}
	anError := about(client, server, 3, 3, sent, 28).ip().bytes()
	s := newStory(t, through(commit(1)), through(zone(1)))
	for name, c := range map[string]struct {
		quote []byte
		n     int
		state string
	}{
		"eight bytes":        {sent, 28, "rel|rpl|trk"},
		"seven bytes":        {sent, 27, "inv|trk"},
		"no header":          {sent, 19, "inv|trk"},
		"checksum bad":       {edit(func(ip []byte) { ip[10] ^= 1 }), 28, "rel|rpl|trk"},
		"total length wrong": {edit(func(ip []byte) { ip[2] = 9 }), 28, "rel|rpl|trk"},
		"header too short":   {edit(func(ip []byte) { ip[0] = 0x44 }), 28, "inv|trk"},
		"header too long":    {edit(func(ip []byte) { ip[0] = 0x4f }), 28, "inv|trk"},
		"first fragment":     {edit(func(ip []byte) { ip[6] = 0x20 }), 28, "inv|trk"},
		"later fragment":     {edit(func(ip []byte) { ip[7] = 1 }), 28, "inv|trk"},
		"options":            {withOptions.bytes(), 32, "rel|rpl|trk"},
		"port 0":             {edit(func(ip []byte) { ip[20], ip[21] = 0, 0 }), 28, "inv|trk"},
		"udp length wrong":   {edit(func(ip []byte) { ip[24] = 7 }), 28, "rel|rpl|trk"},
		"an error":           {anError, 56, "inv|trk"},
	} {
		t.Run(name, func(t *testing.T) {
			s := s.with(t)
			s.expect("new|trk", 0, udpUp(4))
			s.expect(c.state, 1, about(server, client, 3, 3, c.quote, c.n))
		})
	}
}

// TestErrorsThroughNAT: the client sees an error of the VIP about its own packet, whoever
// sent it. (Members' errors about whole quotes only: see the next test.)
func TestErrorsThroughNAT(t *testing.T) {
	s := newStory(t, through(dnat(1, "10.0.1.1", 8080)), through(unNAT(1)))
	for name, c := range map[string]struct {
		to, asSent interface{ ip() ip4 }
	}{
		"udp":             {udp{flow: toVIP, payload: []byte("data")}, udp{flow: toMember, payload: []byte("data")}},
		"udp no checksum": {udp{flow: toVIP, noChecksum: true}, udp{flow: toMember, noChecksum: true}},
		"tcp":             {seg(toVIP, "S", 1000, 0, 0), seg(toMember, "S", 1000, 0, 0)},
	} {
		t.Run(name, func(t *testing.T) {
			s := s.with(t)
			s.expect("new|trk|dnat", 0, raw(c.to.ip().frame()))
			for _, from := range []addr{server, ip("10.7.7.7")} {
				p := s.expect("rel|rpl|trk|snat", 1, about(from, client, 3, 3, c.asSent.ip().bytes(), 100))
				require.Equal(t, about(vip, client, 3, 3, c.to.ip().bytes(), 100).frame()[14:], p.Frame[14:],
					"the same error, as if there were no translation")
			}
		})
	}
}

// TestErrorsThroughNATWithAShortQuote: OVS 3.1.0 mends a TCP checksum behind the end of the
// packet and corrupts its memory. The tracker translates what is there.
func TestErrorsThroughNATWithAShortQuote(t *testing.T) {
	for n := 8; n < 18; n++ {
		s := story{newRig(t, nil, through(dnat(1, "10.0.1.1", 8080)), through(unNAT(1)))}
		s.expect("new|trk|dnat", 0, seg(toVIP, "S", 1000, 0, 0))
		p := s.expect("rel|rpl|trk|snat", 1, about(server, client, 3, 3, seg(toMember, "S", 1000, 0, 0).ip().bytes(), 20+n))
		want := about(vip, client, 3, 3, seg(toVIP, "S", 1000, 0, 0).ip().bytes(), 20+n).frame()
		if n == 17 { // half of the checksum, which stays
			want = p.Frame
		}
		require.Equal(t, want[14:], p.Frame[14:])
	}
}

// TestErrorsThroughNATWithAShortQuoteAndPadding: where there is padding, that is what the
// real switch spoils.
func TestErrorsThroughNATWithAShortQuoteAndPadding(t *testing.T) {
	s := newStory(t, through(dnat(1, "10.0.1.1", 8080)), through(unNAT(1)))
	s.expect("new|trk|dnat", 0, seg(toVIP, "S", 1000, 0, 0))
	for _, n := range []int{8, 16, 17} {
		p := s.expect("rel|rpl|trk|snat", 1, padded(about(server, client, 3, 3, seg(toMember, "S", 1000, 0, 0).ip().bytes(), 20+n), 20))
		require.NotEqual(t, make([]byte, 20), p.Frame[len(p.Frame)-20:])
	}
}

// TestErrorsAboutAnswersThroughNAT go to the member.
func TestErrorsAboutAnswersThroughNAT(t *testing.T) {
	s := newStory(t, through(dnat(1, "10.0.1.1", 8080)), through(unNAT(1)))
	s.expect("new|trk|dnat", 0, udp{flow: toVIP})
	s.expect("est|rpl|trk|snat", 1, udp{flow: toMember.back()})
	p := s.expect("rel|trk|dnat", 1, about(client, vip, 3, 3, udp{flow: toVIP.back()}.ip().bytes(), 28))
	require.Equal(t, about(client, server, 3, 3, udp{flow: toMember.back()}.ip().bytes(), 28).frame()[14:], p.Frame[14:])
}

// TestErrorChecksumIsComputedAnew although the quote's are mended by difference.
func TestErrorChecksumIsComputedAnew(t *testing.T) {
	s := newStory(t, through(dnat(1, "10.0.1.1", 8080)), through(unNAT(1)))
	s.expect("new|trk|dnat", 0, udp{flow: toVIP})
	quote := udp{flow: toMember}.ip().bytes()
	quote[10] ^= 0xff // a wrong checksum inside stays wrong
	p := s.expect("rel|rpl|trk|snat", 1, padded(about(server, client, 3, 3, quote, 28), 3))
	require.Zero(t, packet.Checksum(p.Frame[34:len(p.Frame)-3]))
	require.NotZero(t, packet.Checksum(p.Frame[42:62]))
}

func TestErrorOfANewlyTranslatedPacketIsNoConnection(t *testing.T) {
	request := dnat(1, "10.0.1.1", 8080)
	table := conntrack.New(conntrack.Config{})
	p := newPacket(about(server, client, 3, 3, udp{flow: toMember}.ip().bytes(), 28).frame())
	table.Execute(0, p, &request)
	require.Equal(t, "inv|trk", p.Meta.State.String())
	require.Zero(t, table.Len())
}
