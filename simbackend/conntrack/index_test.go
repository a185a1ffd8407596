package conntrack

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTableAgainstScan holds index, slab and order against a scan of all entries from the newest to the oldest, which
// is what they stand for.
func TestTableAgainstScan(t *testing.T) {
	for _, ports := range []int{6, 60} { // few tuples for many entries, and many
		tableAgainstScan(t, rand.New(rand.NewPCG(1, 2)), ports)
	}
}

func tableAgainstScan(t *testing.T, rng *rand.Rand, ports int) {
	table := New(Config{})
	var all []*conn // oldest first
	var hints [64]Hint
	recalled := map[match]int{}
	some := func() key {
		return key{src: endpoint(rng.IntN(ports)) << 16, dst: endpoint(rng.IntN(ports)) << 16, zone: uint16(rng.IntN(2)), proto: protoUDP}
	}
	for range 20000 {
		now := int64(rng.IntN(100))
		k, at := some(), some()
		if len(all) > 0 && rng.IntN(2) == 0 {
			c := all[rng.IntN(len(all))]
			k = []key{c.orig(), c.reply()}[rng.IntN(2)]
		}
		want := scan(all, k, k, now)
		found, _ := table.index.find(&table.conns, &k, k.hash(), now)
		require.Equal(t, want, found)
		for i := range hints {
			if m, ok := hints[i].recall(&k, now); ok {
				require.Equal(t, want, m)
				recalled[match{nil, m.second, m.back}]++
			}
		}
		require.Equal(t, scan(all, k, at, now), table.index.findAt(&table.conns, &k, &at, at.hash(), now))
		switch {
		case rng.IntN(2) == 0 && len(all) < 200:
			orig, reply := some(), some()
			reply.zone = orig.zone
			if rng.IntN(2) == 0 {
				reply = orig.reverse()
			}
			fresh := table.conns.put(&orig)
			fresh.expires = int64(rng.IntN(100))
			if reply != orig.reverse() || rng.IntN(4) == 0 {
				fresh.translate(StateDNAT, &reply)
			}
			table.add(fresh, lookFor(&table.index, orig.hash()), lookFor(&table.index, reply.hash()))
			all = append(all, fresh)
			require.Equal(t, orig, fresh.orig())
			require.Equal(t, reply, fresh.reply())
			hints[rng.IntN(len(hints))].keep(fresh)
		case len(all) > 0:
			i := rng.IntN(len(all))
			table.remove(all[i])
			all = slices.Delete(all, i, i+1)
		}
		if rng.IntN(20) == 0 {
			require.Equal(t, len(all), table.Len())
			require.Equal(t, all, slices.AppendSeq([]*conn{}, table.conns.inOrder()))
		}
	}
	require.Len(t, table.conns.chunks, 1, "removed entries give way to others")
	require.Len(t, recalled, 3, "hints have told of connections in both directions, translated and not")
}

// TestManyAgainstMap: what was entered and not removed is found, and nothing else, while the table grows, and however many
// slots are late.
func TestManyAgainstMap(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	table, held := New(Config{}), map[key]*conn{}
	for range 200_000 {
		k := key{src: newEndpoint(uint32(rng.IntN(3)), uint16(rng.IntN(20_000))), dst: newEndpoint(9, 80), proto: protoTCP}
		hash := k.hash()
		found, free := table.index.find(&table.conns, &k, hash, 0)
		require.Same(t, held[k], found.conn)
		switch {
		case found.conn == nil:
			c, reply := table.conns.put(&k), k.reverse()
			c.expires = 1
			reply.src = newEndpoint(uint32(rng.IntN(4)), 8080)
			c.translate(StateDNAT, &reply)
			_, other := table.index.find(&table.conns, &reply, reply.hash(), 0)
			table.add(c, look{hash, free}, look{reply.hash(), other})
			held[k] = c
		case rng.IntN(4) == 0:
			table.remove(found.conn)
			delete(held, k)
		}
	}
	require.Equal(t, len(held), table.Len())
	require.Greater(t, table.Peak(), 30_000)
}

// scan is what findAt is to find.
func scan(all []*conn, k, at key, now int64) match {
	for _, c := range slices.Backward(all) {
		for _, m := range []match{{c, false, false}, {c, false, true}, {c, true, true}, {c, true, false}} {
			stands, other := c.orig(), c.reply()
			if m.second {
				stands, other = other, stands
			}
			switch {
			case m.second && !c.translated(), !m.second && c.expired(now):
			case stands != at && stands != at.reverse(): // as in OVS, a tuple is found only under its own hash
			case m.back == (stands == k): // a tuple that is the same turned round is found as itself
			case m.back && other == k, !m.back && stands == k:
				return m
			}
		}
	}
	return match{}
}

// lookFor ends where nothing stands under a hash, whether it may be entered or not.
func lookFor(x *index, hash uint32) look {
	x.settle()
	g := gap{sole: true}
	for at := x.home(hash); ; at = x.after(at) {
		for n := range filled(x.tags[at]) {
			g.sole = g.sole && x.slots[at*groupSize+n].hash != hash
		}
		if g.at = uint32(at*groupSize + filled(x.tags[at])); !full(x.tags[at]) {
			return look{hash, g}
		}
	}
}

// TestNewestFirstAfterGrowth also where the entries of a hash go round the end of the table.
func TestNewestFirstAfterGrowth(t *testing.T) {
	for _, home := range []uint32{0, minGroups / 2, minGroups - 1} {
		var x index
		const entries = 2 * minGroups * groupSize
		for i := range place(entries) {
			x.reserve()
			x.push(home, i+1)
		}
		for i := range entries {
			at := (x.home(home)*groupSize + i) % len(x.slots)
			require.Equal(t, place(entries-i), x.slots[at].place, "home %d", home)
		}
	}
}

// TestIndexAgainstProbing holds the index, crowded as it never is, against what it stands for: slots that are
// probed one by one.
func TestIndexAgainstProbing(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for range 30 {
		x := index{tags: make([]uint64, minGroups), slots: make([]slot, minGroups*groupSize)}
		var all []slot
		for n := range 3000 {
			if room := len(x.slots) - 8 - len(all); room > 0 && rng.IntN(5) < 3 {
				home := uint32(rng.IntN(4)*rng.IntN(5)) % minGroups
				s := slot{hash: home | uint32(rng.IntN(3))<<24 | uint32(rng.IntN(3))<<8, place: place(n + 1)}
				x.insert(s.hash, s.place, lookFor(&x, s.hash).gap)
				all = append(all, s)
			} else if len(all) > 0 {
				i := rng.IntN(len(all))
				x.remove(all[i].hash, all[i].place)
				all = slices.Delete(all, i, i+1)
			}
			if rng.IntN(20) == 0 {
				x.settle()
				requireFound(t, &x, all)
			}
		}
	}
}

// requireFound: all entries of a hash lie between its home and the next empty slot, the newest first, with the right
// tags, and nothing else is anywhere.
func requireFound(t *testing.T, x *index, all []slot) {
	require.Equal(t, len(all), x.used)
	held := 0
	byHash := map[uint32][]place{}
	for g, tags := range x.tags {
		held += filled(tags)
		for i := range groupSize {
			s, mark := x.slots[g*groupSize+i], tags>>(i*8)&0xff
			if s.place == 0 && mark != 0 || s.place != 0 && mark != tag(s.hash) {
				t.Fatalf("slot %d of group %d has %v and the tag %#x", i, g, s, mark)
			}
		}
	}
	require.Equal(t, len(all), held)
	for _, s := range slices.Backward(all) {
		byHash[s.hash] = append(byHash[s.hash], s.place)
	}
	for hash, want := range byHash {
		var got []place
		for at := x.home(hash) * groupSize; x.slots[at].place != 0; at = (at + 1) % len(x.slots) {
			if x.slots[at].hash == hash {
				got = append(got, x.slots[at].place)
			}
		}
		require.Equal(t, want, got)
	}
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
