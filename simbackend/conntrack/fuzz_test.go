package conntrack_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/simbackend/conntrack"
)

// FuzzExecute: whatever bytes come, in whatever order, a ct() neither panics nor writes
// outside the IP packet, and what it says is consistent.
func FuzzExecute(f *testing.F) {
	for _, frame := range [][]byte{
		seg(up, "S", 1000, 0, 4).frame(),
		seg(down, "S.", 5000, 1001, 0).frame(),
		udpUp(9).frame(),
		echo(client, server, 8, 7, 1).frame(),
		about(server, client, 3, 3, udp{flow: toMember, payload: make([]byte, 20)}.ip().bytes(), 60).frame(),
		about(server, client, 3, 3, seg(toMember, "S", 1000, 0, 0).ip().bytes(), 28).frame(),
		cut(udp{flow: up, payload: numbered(80)}.ip(), 1, 40)[0],
		cut(udp{flow: up, payload: numbered(80)}.ip(), 1, 40)[1],
	} {
		f.Add(frame, frame, uint8(3), uint8(4))
	}
	requests := []conntrack.Request{
		zone(1), commit(1), unNAT(1), dnat(1, "10.0.1.1", 8080), snat(1, "10.0.2.1", 5000), snat(2, "0.0.0.0", 0),
		{Zone: 1, Commit: true, Force: true, MarkMask: 1, Mark: 1},
		withNAT(commit(1), conntrack.NAT{Kind: conntrack.NATExisting}),
	}
	f.Fuzz(func(t *testing.T, first, second []byte, i, j uint8) {
		table := conntrack.New(conntrack.Config{MinFragment: 28})
		var meta conntrack.Meta
		for n, frame := range [][]byte{first, second, first} {
			p := newPacket(guarded(frame))
			if n == 2 {
				p.Meta = meta // of another packet: nothing good, but no panic
			}
			for _, k := range []uint8{i, j} {
				out := table.Execute(time.Duration(n)*20*time.Second, p, &requests[int(k)%len(requests)])
				requireSound(t, p, frame)
				for _, released := range out.Released {
					require.LessOrEqual(t, len(released.Frame), max(len(first), len(second)))
				}
				if out.Held {
					break
				}
			}
			meta = p.Meta
		}
		for c := range table.Conns(0) {
			require.NotEmpty(t, c.Stats())
		}
		table.Expire(24 * time.Hour)
		require.Zero(t, table.Len())
	})
}

// guarded is a copy of a frame with a canary behind its end.
func guarded(frame []byte) []byte {
	b := append(slices.Clone(frame), 0xde, 0xad)
	return b[:len(frame)]
}

func requireSound(t *testing.T, p *conntrack.Packet, frame []byte) {
	t.Helper()
	require.Len(t, p.Frame, len(frame))
	require.Equal(t, []byte{0xde, 0xad}, p.Frame[len(frame):len(frame)+2], "bytes behind the frame")
	n := min(len(frame), 14)
	require.Equal(t, frame[:n], p.Frame[:n], "the Ethernet header")
	const translated = conntrack.StateSNAT | conntrack.StateDNAT
	require.NotEqual(t, translated, p.Meta.State&translated, "it is translated once")
}
