package simbackend

import (
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/simbackend/flow"
)

// TestCacheIsBounded remembers many more microflows than there is room for: what is found is right, and the latest are.
func TestCacheIsBounded(t *testing.T) {
	c := newEMC()
	alive := &outcome{path: &path{}}
	enter := func(n int) {
		key := flow.Microflow{uint64(n)}
		c.remember(key.Hash(), &key, alive)
	}
	find := func(n int) *microflow {
		key := flow.Microflow{uint64(n)}
		return c.find(key.Hash(), &key)
	}
	for n := range 1_000 {
		enter(n)
		enter(n)
	}
	require.Greater(t, c.held, 980, "where there is room, next to none gives way")
	require.LessOrEqual(t, c.held, 1_000)
	for n := range 2 * maxSlots {
		if enter(n); find(n) == nil {
			t.Fatal(n)
		}
	}
	require.Len(t, c.slots, maxSlots)
	held, found := 0, 0
	for _, s := range c.slots {
		if s.microflow != nil {
			held++
		}
	}
	require.Equal(t, held, c.held)
	for n := range 2 * maxSlots {
		if m := find(n); m != nil {
			found++
			if m.key[0] != uint64(n) {
				t.Fatal(n)
			}
		}
	}
	require.Equal(t, held, found, "each is where it is looked for")
	require.Greater(t, held, maxSlots*9/10)
}

// TestDeadMicroflowsMakeRoom: what is no good any more goes first.
func TestDeadMicroflowsMakeRoom(t *testing.T) {
	c := newEMC()
	dead := &outcome{path: &path{dead: true}}
	for n := range 100_000 {
		key := flow.Microflow{uint64(n)}
		c.remember(key.Hash(), &key, dead)
	}
	require.LessOrEqual(t, len(c.slots), 2*minSlots, "the dead are not carried over")
}

// TestFramesMetOnceLeaveNothing: of a stream in which no frame comes twice, next to nothing is taken for a repetition; of frames that
// come in turn, all are in the end, even of more than there are places.
func TestFramesMetOnceLeaveNothing(t *testing.T) {
	c := newEMC()
	again := 0
	for n := range 1_000_000 {
		if c.again((&flow.Microflow{uint64(n), 1}).Hash()) {
			again++
		}
	}
	require.Less(t, again, 100)
	require.Len(t, c.seen, maxSeen)
	known := map[int]bool{}
	for range 20 {
		for n := range maxSeen {
			if !known[n] && c.again((&flow.Microflow{uint64(n)}).Hash()) {
				known[n] = true
			}
		}
	}
	require.Greater(t, len(known), maxSeen*19/20)
}

// TestPathsAreBounded: paths do not pile up, neither those alive nor those that rules and tables remember.
func TestPathsAreBounded(t *testing.T) {
	c := newPaths()
	common := &rule{seq: 1, priority: 1}
	for n := range maxPaths * 5 / 4 {
		own := &rule{seq: uint64(n + 2), priority: 2}
		p := c.of([]met{{rule: common}, {table: 1, rule: own}, {table: 2}})
		if p.dead || c.of(p.met) != p || c.alive > maxPaths {
			t.Fatal(n)
		}
		if n%8 == 0 {
			if c.removed(own); !p.dead {
				t.Fatal(n)
			}
		}
	}
	require.Less(t, c.alive, maxPaths/2, "all were forgotten once")
	require.LessOrEqual(t, len(common.paths), 2*maxPaths)
	for _, l := range c.losers[0] {
		require.LessOrEqual(t, len(l.paths), 2*maxPaths)
	}
	c.removed(common)
	require.Zero(t, c.alive)
	require.Empty(t, c.byHash)
}
