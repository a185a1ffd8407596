package conntrack

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestIndexAgainstScan holds the index against a scan of all nodes from the newest to the
// oldest, which is what it stands for.
func TestIndexAgainstScan(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	table := New(Config{})
	var all []*conn // oldest first
	some := func() key {
		return key{src: endpoint(rng.IntN(6)) << 16, dst: endpoint(rng.IntN(6)) << 16, zone: uint16(rng.IntN(2)), proto: protoUDP}
	}
	scan := func(k key, now int64) (*conn, bool, bool) {
		for _, c := range slices.Backward(all) {
			for _, n := range []*node{&c.nodes[0], &c.nodes[1]} {
				switch {
				case n.reply && !c.translated, !n.reply && c.expired(now):
				case n.key().hash() != k.hash(): // as in OVS, a tuple is found only under its own hash
				case *n.key() == k:
					return c, n.reply, false
				case *n.back() == k:
					return c, n.reply, true
				}
			}
		}
		return nil, false, false
	}
	for range 20000 {
		now := int64(rng.IntN(100))
		k := some()
		n, back := table.index.find(&k, k.hash(), now)
		c, second, wantBack := scan(k, now)
		require.Equal(t, c == nil, n == nil)
		if n != nil {
			require.Same(t, c, n.conn)
			require.Equal(t, second, n.reply)
			require.Equal(t, wantBack, back)
		}
		switch {
		case rng.IntN(2) == 0 && len(all) < 200:
			fresh := &conn{orig: some(), reply: some(), translated: true, progress: progress{expires: int64(rng.IntN(100))}}
			fresh.reply.zone = fresh.orig.zone
			if rng.IntN(2) == 0 {
				fresh.reply, fresh.translated = fresh.orig.reverse(), rng.IntN(4) == 0
			}
			table.add(fresh)
			all = append(all, fresh)
		case len(all) > 0:
			i := rng.IntN(len(all))
			table.remove(all[i])
			all = slices.Delete(all, i, i+1)
		}
	}
	require.Equal(t, len(all), table.Len())
}

func TestHashIsSymmetric(t *testing.T) {
	k := key{src: newEndpoint(0x0a000001, 1000), dst: newEndpoint(0x0a000101, 80), zone: 7, proto: protoTCP}
	back := k.reverse()
	require.NotEqual(t, k, back)
	require.Equal(t, k.hash(), back.hash())
	other := k
	other.zone++
	require.NotEqual(t, k.hash(), other.hash())
}

// TestKeyOfTuple: keys survive the way through their public form.
func TestKeyOfTuple(t *testing.T) {
	ping := key{src: newEndpoint(1, 9).withType(8), dst: newEndpoint(2, 9).withType(0), zone: 3, proto: protoICMP}
	for _, k := range []key{
		ping,
		ping.reverse(),
		{src: newEndpoint(1, 1000), dst: newEndpoint(2, 80), zone: 3, proto: protoTCP},
		{src: newEndpoint(1, 0), dst: newEndpoint(2, 0), zone: 3, proto: 47},
	} {
		got, ok := keyOf(k.tuple(), 3)
		require.True(t, ok)
		require.Equal(t, k, got)
	}
	_, ok := keyOf(Tuple{Proto: protoICMP, SrcPort: 3}, 0)
	require.False(t, ok)
}

func TestScaleOptions(t *testing.T) {
	for name, c := range map[string]struct {
		options []byte
		want    scale
	}{
		"none":                 {nil, 0},
		"seven":                {[]byte{3, 3, 7}, scaleKnown | 7},
		"behind others":        {[]byte{2, 4, 5, 0xb4, 1, 3, 3, 2}, scaleKnown | 2},
		"zero is an offer too": {[]byte{1, 3, 3, 0}, scaleKnown},
		"capped":               {[]byte{3, 3, 255}, scaleKnown | 14},
		"the last counts":      {[]byte{3, 3, 1, 3, 3, 2}, scaleKnown | 2},
		"behind the end":       {[]byte{0, 3, 3, 7}, 0},
		"too short to look at": {[]byte{3, 3}, 0},
		"length 0 is 2":        {[]byte{8, 0, 3, 3, 5}, scaleKnown | 5},
		"length past the end":  {[]byte{8, 200, 3, 3, 5}, 0},
	} {
		require.Equal(t, c.want, (&segment{options: c.options}).scaleOption(), name)
	}
}
