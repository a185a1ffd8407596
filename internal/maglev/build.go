package maglev

import (
	"fmt"
	"slices"
	"strings"
)

// Build lays out the slots of a pool. The result depends on nothing but the pool, and not on the
// order of its members. With no member that takes slots the table is empty, which is not an
// error; an invalid pool is.
func Build(p Pool) (Table, error) {
	given := p
	p.Members = slices.Clone(p.Members)
	slices.SortFunc(p.Members, func(a, b Member) int { return strings.Compare(a.Key, b.Key) })
	if !p.sound() {
		return Table{}, fmt.Errorf("build slot table: %w", given.Validate())
	}
	b := newBuilder(p)
	t := Table{pool: p, owner: b.owner}
	if !slices.ContainsFunc(p.Members, Member.takes) {
		return t, nil
	}
	switch p.Algorithm {
	case Maglev:
		b.fill(Member.effective)
	case MaglevStable:
		b.fill(func(m Member) int { return m.Weight })
		b.succeed()
	}
	return t, nil
}

// A builder fills the table of one pool.
type builder struct {
	members []Member // sorted by key
	seeds   []uint64
	owner   []int32 // per slot
	ground
}

// newBuilder starts with slots that nobody owns.
func newBuilder(p Pool) *builder {
	b := &builder{members: p.Members, seeds: make([]uint64, len(p.Members)), ground: newGround(p.Slots)}
	b.owner = b.ground.owner[:p.Slots:p.Slots]
	for i, m := range p.Members {
		b.seeds[i] = memberSeed(p.ID, m.Key)
	}
	return b
}

// permutation is the order of preference of a member.
func (b *builder) permutation(member int32) permutation {
	return newPermutation(b.seeds[member], len(b.owner))
}

// fill lays out every slot by turn-taking of the members, each with the weight given.
func (b *builder) fill(weight func(Member) int) {
	demand := make([]int, len(b.members))
	for i, m := range b.members {
		demand[i] = weight(m)
	}
	order, last := newTurns(demand), few(len(b.owner), len(b.owner))
	b.walk(len(b.owner)-last, order)
	b.search(b.unowned(last), order)
}
