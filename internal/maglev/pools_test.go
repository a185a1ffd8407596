package maglev

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// build is Build for pools that must be valid.
func build(t testing.TB, p Pool) Table {
	t.Helper()
	table, err := Build(p)
	require.NoError(t, err)
	return table
}

// uniform is a pool of members 10.0.x.y:8080 of weight 1, all live.
func uniform(a Algorithm, slots, members int) Pool {
	p := Pool{ID: 1, Slots: slots, Algorithm: a}
	for i := range members {
		p.Members = append(p.Members, Member{Key: fmt.Sprintf("10.0.%d.%d:8080", i/250, 1+i%250), Weight: 1, Live: true})
	}
	return p
}

// weighed is the pool with other weights, repeated as often as needed.
func weighed(p Pool, weights ...int) Pool {
	p.Members = append([]Member(nil), p.Members...)
	for i := range p.Members {
		p.Members[i].Weight = weights[i%len(weights)]
	}
	return p
}

// alive is the pool with exactly the members of a set live, given as bits.
func alive(p Pool, set int) Pool {
	p.Members = append([]Member(nil), p.Members...)
	for i := range p.Members {
		p.Members[i].Live = set>>i&1 == 1
	}
	return p
}

// shuffled is the pool with its members in another order.
func shuffled(r *rand.Rand, p Pool) Pool {
	p.Members = append([]Member(nil), p.Members...)
	r.Shuffle(len(p.Members), func(i, j int) { p.Members[i], p.Members[j] = p.Members[j], p.Members[i] })
	return p
}

// random is a pool of members with random addresses and weights, each live with probability
// three quarters; in a third of the pools all weights are equal.
func random(r *rand.Rand, a Algorithm, slots, members int) Pool {
	p := Pool{ID: uint16(r.Uint32()), Slots: slots, Algorithm: a}
	equal := r.IntN(3) == 0
	for i := range members {
		m := Member{Key: fmt.Sprintf("10.%d.%d.%d:%d", r.IntN(256), i, r.IntN(256), 1+r.IntN(65535)), Weight: 1, Live: r.IntN(4) > 0}
		if !equal {
			m.Weight = r.IntN(MaxWeight + 1)
		}
		p.Members = append(p.Members, m)
	}
	return p
}

// owners is the owner of every slot, "" for none.
func owners(table Table) []string {
	keys := make([]string, table.Slots())
	for slot := range keys {
		keys[slot], _ = table.Owner(slot)
	}
	return keys
}
