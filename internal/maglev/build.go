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
	if err := p.Validate(); err != nil {
		return Table{}, fmt.Errorf("build slot table: %w", err)
	}
	p.Members = slices.Clone(p.Members)
	slices.SortFunc(p.Members, func(a, b Member) int { return strings.Compare(a.Key, b.Key) })
	t := Table{pool: p, owner: make([]int32, p.Slots)}
	for i := range t.owner {
		t.owner[i] = empty
	}
	if !slices.ContainsFunc(p.Members, Member.takes) {
		return t, nil
	}
	b := newBuilder(p, t.owner)
	switch p.Algorithm {
	case Maglev:
		b.fill(func(m Member) int { return m.effective() })
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
	owner   []int32
	free    bitmap
}

func newBuilder(p Pool, owner []int32) *builder {
	b := &builder{members: p.Members, owner: owner, free: newBitmap(p.Slots)}
	for _, m := range p.Members {
		b.seeds = append(b.seeds, memberSeed(p.ID, m.Key))
	}
	return b
}

// fill lays out every slot by turn-taking of the members, each with the weight given.
func (b *builder) fill(weight func(Member) int) {
	demand := make([]int, len(b.members))
	for i, m := range b.members {
		demand[i] = weight(m)
	}
	for slot := range b.owner {
		b.free.add(slot)
	}
	b.populate(len(b.owner), demand)
}
