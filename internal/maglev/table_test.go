package maglev

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// stand is the pool of the example topology: four members, 1024 slots.
func stand(a Algorithm) Pool {
	p := Pool{ID: 1, Slots: 1024, Algorithm: a}
	for _, key := range []string{"10.20.0.2:8080", "10.30.0.2:8080", "10.20.0.3:8080", "10.30.0.3:8080"} {
		p.Members = append(p.Members, Member{Key: key, Weight: 1, Live: true})
	}
	return p
}

func TestTableText(t *testing.T) {
	p := Pool{ID: 7, Slots: 5, Algorithm: MaglevStable, Members: []Member{
		{"10.0.0.2:80", 1, true}, {"10.0.0.1:80", 2, true}, {"10.0.0.3:80", 0, true}, {"10.0.0.4:80", 1, false},
	}}
	table := build(t, p)
	text, err := table.AppendText([]byte(">"))
	require.NoError(t, err)
	require.Equal(t, `>version 2
pool 7
slots 5
0 10.0.0.1:80
1 10.0.0.2:80
2 10.0.0.1:80
3 10.0.0.2:80
4 10.0.0.1:80
`, string(text))
	require.Equal(t, sha256.Sum256(text[1:]), table.Digest())
	require.Equal(t, "10.0.0.1:80(3) 10.0.0.2:80(2) 10.0.0.3:80(0) 10.0.0.4:80(0)", table.String())
	require.Equal(t, []Share{
		{Member{"10.0.0.1:80", 2, true}, 3, 10.0 / 3},
		{Member{"10.0.0.2:80", 1, true}, 2, 5.0 / 3},
		{Member{"10.0.0.3:80", 0, true}, 0, 0},
		{Member{"10.0.0.4:80", 1, false}, 0, 0},
	}, table.Shares())

	for i := range p.Members {
		p.Members[i].Live = false
	}
	table = build(t, p)
	text, err = table.AppendText(nil)
	require.NoError(t, err)
	require.Equal(t, "version 2\npool 7\nslots 5\n0 -\n1 -\n2 -\n3 -\n4 -\n", string(text))
	require.Equal(t, "10.0.0.1:80(0) 10.0.0.2:80(0) 10.0.0.3:80(0) 10.0.0.4:80(0) -(5)", table.String())
}

func TestOwnerOutOfRange(t *testing.T) {
	table := build(t, stand(Maglev))
	for _, slot := range []int{-1, 1024, math.MaxInt} {
		key, ok := table.Owner(slot)
		require.False(t, ok)
		require.Empty(t, key)
	}
	_, ok := Table{}.Owner(0)
	require.False(t, ok)
	require.Empty(t, Table{}.String())
}

// Layouts never change: nodes of different releases must agree, and a release must not move
// sessions. Anything that would change a digest here is a new version of the layout.
func TestDigestsArePinned(t *testing.T) {
	down := func(p Pool, members ...int) Pool {
		p = alive(p, -1)
		for _, i := range members {
			p.Members[i].Live = false
		}
		return p
	}
	from := func(first, end int) (members []int) {
		for i := first; i < end; i++ {
			members = append(members, i)
		}
		return members
	}
	for _, c := range []struct {
		name string
		pool Pool
		want string
	}{
		{"stand", stand(Maglev), "f4caa73d067816a7da93ec6e91cc0cf4"},
		{"stand, one down", down(stand(Maglev), 0), "cb5524d5837300cca025f9b507147715"},
		{"stand, weights", weighed(stand(Maglev), 1, 2, 3, 100), "0381a6c92cb934727d4034d4ff54e760"},
		{"seven slots", uniform(Maglev, 7, 3), "5ca4281e565ce8e915a323d7267a6179"},
		{"one slot", uniform(Maglev, 1, 3), "05b647f2c4e75b22383330beecf2a560"},
		{"no member", Pool{ID: 1, Slots: 8, Algorithm: Maglev}, "5c29a48ad75543bdea0ee5cd4379e57b"},
		{"large", uniform(Maglev, 65536, 100), "0d6e4fdc02e96f95bbbaab3a307c2747"},
		{"stand", stand(MaglevStable), "fcbee860efe288b4277e500a70b59701"},
		{"stand, one down", down(stand(MaglevStable), 0), "3e5c631738bb32185c2ed6247f58d5d3"},
		{"stand, three down", down(stand(MaglevStable), 0, 1, 3), "87b7166d010aee45792ad07d0f68fa9d"},
		{"stand, all down", down(stand(MaglevStable), 0, 1, 2, 3), "e14a65a148fdfee7e75be8eb07cf8948"},
		{"stand, weights, two down", down(weighed(stand(MaglevStable), 1, 2, 3, 100), 1, 3), "c0eb38b3121ad334551b8094e3db1eda"},
		{"seven slots, two down", down(uniform(MaglevStable, 7, 5), 0, 1), "ce7ff1810df4c3237493d4f78c574f64"},
		{"a pool that is not followed to the end", down(uniform(MaglevStable, 1024, 20), 0, 3, 5, 6), "82111b9dff8458a5975dcb4a32692e2b"},
		{"a pool evened out", down(uniform(MaglevStable, 1024, 64), 1, 7, 9, 21, 30, 33, 50, 61), "a7d3d9f047b3915a220810fcbfe72703"},
		{"more dead than lines go past", down(uniform(MaglevStable, 2047, 140), from(62, 140)...), "3baa08c1689c1891ce828963b225c4b3"},
		{"large, one down", down(uniform(MaglevStable, 65536, 100), 50), "9368d2431b89ed3087a01b14ebabe89b"},
	} {
		t.Run(c.pool.Algorithm.String()+"/"+c.name, func(t *testing.T) {
			digest := build(t, c.pool).Digest()
			require.Equal(t, c.want, hex.EncodeToString(digest[:16]))
		})
	}
}
