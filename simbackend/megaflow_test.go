package simbackend

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/datapath/openflow"
	"hpnn/simbackend/conntrack"
	"hpnn/simbackend/flow"
)

// TestMegaflowsAreFound compares lookups with looking at every megaflow that was entered.
func TestMegaflowsAreFound(t *testing.T) {
	var all megaflows
	var work flow.Key
	r := rand.New(rand.NewPCG(1, 1))
	masks := make([]wildcards, 5)
	for i := range masks {
		masks[i].see(flow.KindWord+uint8(1+i%3), r.Uint64()&r.Uint64()|1<<20)
	}
	type entry struct {
		mask, value flow.View
		*outcome
	}
	masked := func(v, mask flow.View) flow.View {
		for i := range v {
			v[i] &= mask[i]
		}
		return v
	}
	random := func() (v flow.View) {
		v[0], v[1], v[2], v[8] = r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64()
		return v
	}
	var entries []*entry
	like := func(v flow.View) (list []*outcome) {
		for _, e := range entries {
			if !e.dead && masked(v, e.mask) == e.value {
				list = append(list, e.outcome)
			}
		}
		return list
	}
	held, found := 0, 0
	for n := range 2_000 {
		v, w := random(), &masks[n%len(masks)]
		if all.find(&v, &work) == nil {
			e := &entry{outcome: &outcome{path: &path{}}}
			e.mask.Of(&w.mask)
			e.value = masked(v, e.mask)
			_, more := all.add(&v, w, e.outcome, &work)
			held += more
			entries = append(entries, e)
		}
		if n%3 == 0 {
			entries[r.IntN(len(entries))].dead = true
		}
		for range 3 {
			v := random()
			if e := entries[r.IntN(len(entries))]; r.IntN(2) == 0 {
				for i := range v {
					v[i] = v[i]&^e.mask[i] | e.value[i]
				}
			}
			if m, want := all.find(&v, &work), like(v); m == nil {
				require.Empty(t, want)
			} else {
				require.Contains(t, want, m.outcome)
				found++
			}
		}
	}
	require.Equal(t, held, all.count())
	require.Greater(t, held, 300)
	require.Greater(t, found, 1_000)
}

// TestMegaflowsAreBounded: neither masks nor megaflows pile up, and the dead make room.
func TestMegaflowsAreBounded(t *testing.T) {
	c := newCache()
	alive := &outcome{path: &path{}}
	var v flow.View
	for n := range 4 * maxMasks {
		var w wildcards
		w.see(flow.KindWord+1, uint64(n+1))
		c.enter(&c.start, &v, &w, alive)
		require.LessOrEqual(t, len(c.start), maxMasks)
		require.Equal(t, c.start.count(), c.total)
	}
	var w wildcards
	w.see(flow.KindWord+1, 1<<48-1)
	for n := range 3 * maxMegaflows {
		v[0] = uint64(n) << 16
		c.enter(&c.start, &v, &w, alive)
		require.LessOrEqual(t, c.total, maxMegaflows)
	}
	require.Equal(t, c.start.count(), c.total)
	for n := range 2 * maxForks {
		k := &fork{request: &conntrack.Request{Mark: uint32(n)}}
		k.frozen.Set(openflow.Reg0, openflow.U64(uint64(n)))
		place := &c.forks.of(k).megaflows
		c.enter(place, &v, &w, alive)
		require.LessOrEqual(t, len(c.forks), maxForks)
	}
	var few megaflows
	for n := range 10_000 {
		v[0] = uint64(n) << 16
		few.add(&v, &w, &outcome{path: &path{dead: true}}, &c.work)
	}
	require.LessOrEqual(t, len(few[0].slots), 2*minMegaflows)
}

// TestPassesAreRememberedWhileThatPays: of frames that are alike in nothing, few more are remembered than to find that out.
func TestPassesAreRememberedWhileThatPays(t *testing.T) {
	c := newCache()
	tried := func(n int) (tried int) {
		for range n {
			if c.affords() {
				tried++
			}
		}
		return tried
	}
	require.Equal(t, mostCredit+(10_000-mostCredit)/unaffordable, tried(10_000))
	for range 100 {
		c.earn()
	}
	require.InDelta(t, 100, tried(200), 5)
	c.seen = nil
	require.Zero(t, tried(1_000))
}

// TestFewBitsRefute: what a lookup depends on is no more than it takes to tell that nothing else matches: of the addresses
// of others, a bit or two.
func TestFewBitsRefute(t *testing.T) {
	s, err := New(Config{Ports: []Port{{1, "p1"}, {2, "p2"}}})
	require.NoError(t, err)
	var b openflow.Bundle
	add := func(priority uint16, m openflow.Match) {
		b = append(b, openflow.FlowMod{Command: openflow.Add, Flow: openflow.Flow{Priority: priority, Match: m, Actions: []openflow.Action{openflow.Output{Port: 2}}}})
	}
	ip := openflow.Match{}.With(openflow.EthType, openflow.U64(openflow.EthTypeIPv4))
	for n := range uint64(100) {
		add(9, ip.With(openflow.IPSrc, openflow.U64(0x0a000000+n)))
		add(8, ip.With(openflow.EthDst, openflow.U64(0x020000000000+n)))
	}
	add(1, openflow.Match{})
	require.NoError(t, s.Commit(t.Context(), b))
	var k flow.Key
	k.Set(openflow.EthType, openflow.U64(openflow.EthTypeIPv4))
	k.Set(openflow.IPSrc, openflow.U64(0xc0a80507))
	k.Set(openflow.EthDst, openflow.U64(0x020000010003))
	var w wildcards
	w.reset(&k)
	require.Equal(t, uint16(1), s.tables[0].lookupSeen(&k, &w).priority)
	var mask flow.View
	mask.Of(&w.mask)
	require.Equal(t, "80000000", fmt.Sprintf("%x", mask[2]>>32))
	require.Equal(t, "10000", fmt.Sprintf("%x", mask[0]>>16))
}
