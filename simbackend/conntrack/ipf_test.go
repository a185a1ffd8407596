package conntrack_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/internal/packet"
	"hpnn/simbackend/conntrack"
)

// fragmentOf is the part of p's payload from byte from (a multiple of eight) up to to.
func fragmentOf(p ip4, id uint16, from, to int, more bool) []byte {
	p.id, p.fragment = id, uint16(from/8)
	if more {
		p.fragment |= 0x2000
	}
	p.payload = p.payload[from:min(to, len(p.payload))]
	return p.frame()
}

// cut cuts p into fragments of size bytes.
func cut(p ip4, id uint16, size int) (frames [][]byte) {
	for from := 0; from < len(p.payload); from += size {
		frames = append(frames, fragmentOf(p, id, from, from+size, from+size < len(p.payload)))
	}
	return frames
}

func numbered(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i * 7)
	}
	return b
}

// nextID hands out IP identifiers: the real switch forgets waiting fragments only in time.
var lastID uint16

func nextID() uint16 {
	lastID++
	return lastID
}

func states(packets []*conntrack.Packet) (s []string) {
	for _, p := range packets {
		s = append(s, p.Meta.State.String())
	}
	return s
}

func TestFragmentsWaitForEachOther(t *testing.T) {
	s := newStory(t, through(commit(1)))
	frames := cut(udp{flow: up, payload: numbered(3500)}.ip(), nextID(), 1400)
	require.Len(t, frames, 3)
	require.Empty(t, s.send(0, frames[1]))
	require.Empty(t, s.send(0, frames[0]))
	out := s.send(0, frames[2])
	require.Equal(t, []string{"new|trk", "new|trk", "new|trk"}, states(out))
	for i, p := range out {
		require.Equal(t, frames[i][14:], p.Frame[14:], "in the order of their offsets, unchanged")
	}
	s.entries(udpEntry("60"))
}

func TestFragmentsOfAnInvalidDatagram(t *testing.T) {
	s := newStory(t, through(commit(1)))
	whole := udp{flow: up, payload: numbered(2000)}.ip()
	whole.payload[6] ^= 1 // its checksum
	frames := cut(whole, nextID(), 1400)
	require.Empty(t, s.send(0, frames[0]))
	require.Equal(t, []string{"inv|trk", "inv|trk"}, states(s.send(0, frames[1])))
}

func TestFragmentsAreTranslated(t *testing.T) {
	s := newStory(t, through(dnat(1, "10.0.1.1", 8080)), through(unNAT(1), zone(1)))
	whole := udp{flow: toVIP, payload: numbered(3000)}
	frames := cut(whole.ip(), nextID(), 1400)
	s.send(0, frames[0])
	s.send(0, frames[1])
	out := s.send(0, frames[2])
	whole.flow = toMember
	for i, want := range cut(whole.ip(), lastID, 1400) {
		require.Equal(t, want[14:], out[i].Frame[14:], "as if translated before it was cut")
		require.Equal(t, "new|trk|dnat", out[i].Meta.State.String())
	}
	back := cut(udp{flow: toMember.back(), payload: numbered(1500)}.ip(), nextID(), 1400)
	require.Empty(t, s.send(1, back[1]))
	require.Equal(t, []string{"est|rpl|trk|snat", "est|rpl|trk|snat"}, states(s.send(1, back[0])), "through both ct(), together again")
}

func TestFragmentsOfTCP(t *testing.T) {
	s := newStory(t, through(commit(1)))
	s.handshake()
	frames := cut(seg(up, "P.", 1001, 5001, 2000).ip(), nextID(), 1400)
	require.Empty(t, s.send(0, frames[0]))
	require.Equal(t, []string{"est|trk", "est|trk"}, states(s.send(0, frames[1])))
	s.expect("est|rpl|trk", 0, seg(down, ".", 5001, 3001, 0))
	s.expect("est|trk", 0, seg(up, ".", 3001, 5001, 1))
}

func TestSmallFragmentsAreInvalid(t *testing.T) {
	whole := udp{flow: up, payload: numbered(3000)}.ip()
	s := newStory(t, through(commit(1)))
	id := nextID()
	s.expect("inv|trk", 0, raw(fragmentOf(whole, id, 0, 1176, true)))           // 1196 bytes
	require.Empty(t, s.send(0, fragmentOf(whole, id, 0, 1184, true)))           // 1204
	require.Empty(t, s.send(0, fragmentOf(whole, nextID(), 2992, 3008, false))) // the last may be small
}

func TestFragmentsThatOverlapAreInvalid(t *testing.T) {
	whole := udp{flow: up, payload: numbered(4000)}.ip()
	s := newStory(t, through(commit(1)))
	id := nextID()
	require.Empty(t, s.send(0, fragmentOf(whole, id, 0, 1400, true)))
	s.expect("inv|trk", 0, raw(fragmentOf(whole, id, 0, 1400, true)))
	s.expect("inv|trk", 0, raw(fragmentOf(whole, id, 1392, 2800, true)))
	require.Empty(t, s.send(0, fragmentOf(whole, id, 1400, 2800, true)))
	require.Len(t, s.send(0, fragmentOf(whole, id, 2800, 4008, false)), 3)
}

func TestFragmentsWithBadHeadersAreInvalid(t *testing.T) {
	f := raw(fragmentOf(udp{flow: up, payload: numbered(3000)}.ip(), nextID(), 0, 1400, true))
	s := newStory(t, through(commit(1)))
	s.expect("inv|trk", 0, edited(f, set(8, 1))) // checksum
	s.expect("inv|trk", 0, edited(f, func(ip []byte) { ip[0] = 0x44; put16(ip, 10, packet.Checksum(ip[:16])) }))
	require.Empty(t, s.send(0, append(slices.Clone(f), 1, 2, 3)), "padding is fine")
}

// TestFragmentsAreKeptApart by zone, addresses, protocol, identifier and place.
func TestFragmentsAreKeptApart(t *testing.T) {
	s := newStory(t, through(commit(1)), through(commit(2)))
	whole := udp{flow: up, payload: numbered(2000)}.ip()
	id := nextID()
	first, last := fragmentOf(whole, id, 0, 1400, true), fragmentOf(whole, id, 1400, 2800, false)
	require.Empty(t, s.send(0, first))
	require.Empty(t, s.send(1, last))
	require.Empty(t, s.send(0, fragmentOf(whole, nextID(), 1400, 2800, false)))
	elsewhere := whole
	elsewhere.dst = vip
	require.Empty(t, s.send(0, fragmentOf(elsewhere, id, 1400, 2800, false)))
	elsewhere = whole
	elsewhere.proto = 99
	require.Empty(t, s.send(0, fragmentOf(elsewhere, id, 1400, 2800, false)))
	require.Equal(t, []string{"new|trk", "new|trk"}, states(s.send(0, last)))
	require.Equal(t, []string{"new|trk", "new|trk"}, states(s.send(1, first)))
}

// TestFragmentsThatWaitTooLong leave with the next packet that comes by, as invalid and
// not even tracked, one datagram at a time; ten seconds later they are gone.
func TestFragmentsThatWaitTooLong(t *testing.T) {
	s := newStory(t, through(commit(1)))
	whole := udp{flow: up, payload: numbered(4000)}.ip()
	for range 2 {
		id := nextID()
		require.Empty(t, s.send(0, fragmentOf(whole, id, 1400, 2800, true)))
		require.Empty(t, s.send(0, fragmentOf(whole, id, 0, 1400, true)))
	}
	s.warp(15 * time.Second)
	require.Equal(t, []string{"new|trk"}, states(s.send(0, udpUp(1).frame())))
	s.warp(time.Millisecond)
	require.Equal(t, []string{"new|trk", "inv", "inv"}, states(s.send(0, udpUp(1).frame())))
	require.Equal(t, []string{"new|trk", "inv", "inv"}, states(s.send(0, udpUp(1).frame())))
	require.Equal(t, []string{"new|trk"}, states(s.send(0, udpUp(1).frame())))
	require.Empty(t, s.send(0, fragmentOf(whole, nextID(), 0, 1400, true)))
	s.warp(25 * time.Second)
	require.Equal(t, []string{"new|trk"}, states(s.send(0, udpUp(1).frame())))
}

// TestFragmentsLetGoWaitAgain in the next ct().
func TestFragmentsLetGoWaitAgain(t *testing.T) {
	s := newStory(t, through(commit(1), commit(1)))
	require.Empty(t, s.send(0, fragmentOf(udp{flow: up, payload: numbered(4000)}.ip(), nextID(), 0, 1400, true)))
	s.warp(16 * time.Second)
	require.Equal(t, []string{"new|trk"}, states(s.send(0, udpUp(1).frame())))
}

// TestFragmentsLetGoBesideTheirWay go on behind the ct() that lets them go. What comes next there has
// no flow for them, so they neither leave nor wait again; warp compares how many wait.
func TestFragmentsLetGoBesideTheirWay(t *testing.T) {
	s := newStory(t, through(commit(1), commit(1), commit(1), commit(1)), through(commit(0), commit(2)))
	whole := udp{flow: up, payload: numbered(4000)}.ip()
	require.Empty(t, s.send(0, fragmentOf(whole, nextID(), 0, 1400, true)))
	s.warp(15*time.Second + time.Millisecond)
	require.Empty(t, s.send(1, fragmentOf(whole, nextID(), 0, 1400, true)))
	require.Equal(t, 1, s.table.Waiting())
	s.warp(15 * time.Second)
	require.Equal(t, []string{"new|trk"}, states(s.send(1, udpUp(1).frame())))
	require.Equal(t, 1, s.table.Waiting())
	s.warp(time.Millisecond)
	require.Equal(t, []string{"new|trk"}, states(s.send(1, udpUp(1).frame())), "the other has waited again in the second ct()")
	require.Equal(t, 1, s.table.Waiting())
	s.warp(time.Millisecond)
}

func TestManyFragments(t *testing.T) {
	s := newStory(t, through(commit(1)))
	whole := udp{flow: up, payload: numbered(52000)}.ip() // 45 fragments; at most 32 leave at a time
	frames := cut(whole, nextID(), 1184)
	for _, f := range frames[1:] {
		require.Empty(t, s.send(0, f))
	}
	require.Len(t, s.send(0, frames[0]), 32)
	require.Len(t, s.send(0, udpUp(1).frame()), 1+len(frames)-32, "the rest follows the next packet")
}

func TestTooManyFragmentsOfOneDatagram(t *testing.T) {
	table := conntrack.New(conntrack.Config{MinFragment: 1})
	held := 0
	for i := range 80 {
		p := newPacket(fragmentOf(udp{flow: up, payload: numbered(4000)}.ip(), 1, 8*2*i, 8*2*i+8, true))
		if table.Execute(0, p, &conntrack.Request{}).Held {
			held++
		}
	}
	require.Equal(t, 58, held)
}

func TestTooManyFragmentsInAll(t *testing.T) {
	table := conntrack.New(conntrack.Config{})
	held := 0
	for i := range 1100 {
		p := newPacket(fragmentOf(udp{flow: up, payload: numbered(4000)}.ip(), uint16(i), 0, 1400, true))
		out := table.Execute(0, p, &conntrack.Request{})
		if out.Held {
			held++
		} else {
			require.Equal(t, "inv|trk", p.Meta.State.String())
		}
	}
	require.Equal(t, 1000, held)
	table.Expire(25 * time.Second)
	p := newPacket(fragmentOf(udp{flow: up, payload: numbered(4000)}.ip(), 1, 0, 1400, true))
	require.True(t, table.Execute(25*time.Second, p, &conntrack.Request{}).Held)
}

// TestPingOfDeath: a datagram that would be longer than one can be never completes. One
// whose last fragment ends past 65535, and comes first, makes OVS 3.1.0 overrun its memory;
// there is no asking it then.
func TestPingOfDeath(t *testing.T) {
	long := func(n int) [][]byte {
		frames := cut(ip4{src: client, dst: server, proto: 99, payload: numbered(n)}, nextID(), 1456)
		slices.Reverse(frames)
		return frames
	}
	s := newStory(t, through(commit(1)))
	for _, f := range long(65536) {
		require.Empty(t, s.send(0, f))
	}
	require.Len(t, s.send(0, udpUp(1).frame()), 1)
	require.Zero(t, s.table.Aborts())

	s = story{newRig(t, nil, through(commit(1)))}
	for _, f := range long(65920) {
		require.Empty(t, s.send(0, f))
	}
	require.Equal(t, 1, s.table.Aborts())
}

// TestTheCallersFrameIsNotKept: a held fragment is a copy, with the caller's tag.
func TestTheCallersFrameIsNotKept(t *testing.T) {
	table := conntrack.New(conntrack.Config{})
	frames := cut(udp{flow: up, payload: numbered(2000)}.ip(), 1, 1400)
	sent := slices.Clone(frames[0])
	p := newPacket(sent)
	p.Tag = 42
	require.True(t, table.Execute(0, p, &conntrack.Request{}).Held)
	clear(sent)
	out := table.Execute(0, newPacket(frames[1]), &conntrack.Request{})
	require.True(t, out.Held)
	require.True(t, bytes.Equal(frames[0], out.Released[0].Frame))
	require.EqualValues(t, 42, out.Released[0].Tag)
	require.Zero(t, out.Released[1].Tag)
}

// fragmentWorld sends pieces of a few datagrams in any order, some twice, some never.
// (Not through two ct() of one pass: OVS takes all released fragments through each action
// together, the rig one by one, and a copy of one that waits elsewhere can tell.)
func fragmentWorld(r *rig, rng *rand.Rand) {
	var usable []int
	for k, s := range r.scripts {
		if !slices.ContainsFunc(s, func(st step) bool { return st.here }) {
			usable = append(usable, k)
		}
	}
	for range 4 {
		var pieces [][]byte
		for range 1 + rng.IntN(4) {
			frames := randomDatagram(rng)
			for _, f := range frames {
				if rng.IntN(12) != 0 {
					pieces = append(pieces, f)
				}
				if rng.IntN(20) == 0 {
					pieces = append(pieces, f)
				}
			}
		}
		if rng.IntN(2) == 0 {
			rng.Shuffle(len(pieces), func(i, j int) { pieces[i], pieces[j] = pieces[j], pieces[i] })
		}
		k := usable[rng.IntN(len(usable))]
		for _, f := range pieces {
			if rng.IntN(30) == 0 {
				k = usable[rng.IntN(len(usable))]
			}
			r.send(k, f)
		}
		r.settle()
		r.warp([]time.Duration{time.Millisecond, 14_999 * time.Millisecond, 15 * time.Second, 15_001 * time.Millisecond,
			24_999 * time.Millisecond, 25 * time.Second}[rng.IntN(6)])
	}
	r.warp(30 * time.Second) // forgets those that wait, before scripts of all kinds come by
}

func randomDatagram(rng *rand.Rand) [][]byte {
	f := flow{clients[rng.IntN(2)], servers[rng.IntN(3)], 1000, 80}
	if rng.IntN(3) == 0 {
		f = f.back()
	}
	var p ip4
	switch n := 1100 + rng.IntN(4000); rng.IntN(4) {
	case 0:
		p = tcp{flow: f, flags: ".", seq: 1, ack: 1, window: 65535, payload: numbered(n)}.ip()
	case 1:
		p = ip4{src: f.src, dst: f.dst, proto: 47, payload: numbered(n)}
	default:
		p = udp{flow: f, payload: numbered(n), noChecksum: rng.IntN(3) == 0}.ip()
	}
	if rng.IntN(6) == 0 {
		p.options = []byte{1, 1, 1, 0}
	}
	if rng.IntN(10) == 0 {
		p.payload[len(p.payload)-1] ^= 1
	}
	frames := cut(p, nextID(), []int{1184, 1208, 1400, 1472, 1160}[rng.IntN(5)])
	if rng.IntN(15) == 0 { // one that covers what others hold
		frames = append(frames, fragmentOf(p, lastID, 8*rng.IntN(20), 1408, true))
	}
	return frames
}
