package conntrack_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/simbackend/conntrack"
)

// TestHintsChangeNothing runs random packets through two tables. In one of them each packet has a hint, of an earlier
// packet of the same ends or of any other.
func TestHintsChangeNothing(t *testing.T) {
	requests := []conntrack.Request{
		zone(1), commit(1), commit(1), unNAT(1), dnat(1, "10.0.1.1", 8080), dnat(1, "10.0.1.1", 0), dnat(1, "10.0.0.2", 80), commit(2),
		snat(1, "10.0.1.2", 5000), {Zone: 1, Commit: true, Force: true}, {Zone: 1, Commit: true, Mark: 3, MarkMask: 3},
	}
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 1))
		plain, hinted := conntrack.New(conntrack.Config{}), conntrack.New(conntrack.Config{})
		hints := map[flow]*conntrack.Hint{}
		now := time.Duration(0)
		some := requests[rng.IntN(len(requests)):]
		for range 1500 {
			f := someFlow(rng)
			frame := someFrame(rng, f)
			h := hints[f]
			if h == nil || rng.IntN(20) == 0 {
				h = &conntrack.Hint{}
				hints[f] = h
			}
			if rng.IntN(10) == 0 {
				h = hints[someFlow(rng)]
			}
			p, q := newPacket(frame), newPacket(slices.Clone(frame))
			for range 1 + rng.IntN(3) {
				r := some[rng.IntN(len(some))]
				plain.Execute(now, p, &r)
				if h == nil {
					h = &conntrack.Hint{}
				}
				hinted.ExecuteHinted(now, q, &r, h)
				require.Equal(t, p.Meta.State, q.Meta.State)
				require.Equal(t, p.Meta.Orig, q.Meta.Orig)
				require.Equal(t, p.Meta.Mark, q.Meta.Mark)
				require.Equal(t, p.Frame, q.Frame)
			}
			switch rng.IntN(60) {
			case 0:
				now += time.Duration(rng.IntN(40)) * time.Second
			case 1:
				require.Equal(t, plain.Expire(now), hinted.Expire(now))
			case 2:
				require.Equal(t, slices.Collect(plain.Conns(now)), slices.Collect(hinted.Conns(now)))
			case 3:
				this := func(c conntrack.Conn) bool { return c.Orig.Src == f.src && c.Orig.SrcPort == f.sport }
				require.Equal(t, plain.FlushFunc(this), hinted.FlushFunc(this))
			}
		}
		require.Equal(t, plain.Aborts(), hinted.Aborts())
	}
}

// someFlow is one of few.
func someFlow(rng *rand.Rand) flow {
	host := func() addr { return addr{10, 0, byte(rng.IntN(2)), byte(1 + rng.IntN(2))} }
	port := func() uint16 { return []uint16{80, 1000, 8080}[rng.IntN(3)] }
	return flow{host(), host(), port(), port()}
}

// someFrame is a packet of a flow, or an error about one.
func someFrame(rng *rand.Rand, f flow) []byte {
	switch rng.IntN(6) {
	case 0:
		return udp{flow: f, payload: make([]byte, rng.IntN(9))}.frame()
	case 1:
		return about(f.src, f.dst, 3, 3, seg(f.back(), "S", 1, 0, 0).ip().bytes(), 28).frame()
	}
	flags := []string{"S", "S", "S.", ".", "F.", "R", "P."}[rng.IntN(7)]
	return seg(f, flags, uint32(rng.IntN(5)), uint32(rng.IntN(5)), rng.IntN(4)).frame()
}
