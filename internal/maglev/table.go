package maglev

import (
	"fmt"
	"slices"
	"strings"
)

// A Table says which member owns each slot of a pool. It never changes. The zero Table has no
// slots.
type Table struct {
	pool  Pool    // members sorted by key
	owner []int32 // per slot: index into pool.Members, or empty
}

// Pool is what the table was built from, the members sorted by key.
func (t Table) Pool() Pool {
	p := t.pool
	p.Members = slices.Clone(p.Members)
	return p
}

// Slots is the number of slots.
func (t Table) Slots() int { return len(t.owner) }

// Owner is the key of the member that owns the slot; false when nobody does, or when there is no
// such slot.
func (t Table) Owner(slot int) (key string, ok bool) {
	if slot < 0 || slot >= len(t.owner) || t.owner[slot] == empty {
		return "", false
	}
	return t.pool.Members[t.owner[slot]].Key, true
}

// Equal reports whether two tables have the same digest, without computing it.
func (t Table) Equal(o Table) bool {
	if t.pool.ID != o.pool.ID || t.pool.Algorithm != o.pool.Algorithm || len(t.owner) != len(o.owner) {
		return false
	}
	if slices.EqualFunc(t.pool.Members, o.pool.Members, func(a, b Member) bool { return a.Key == b.Key }) {
		return slices.Equal(t.owner, o.owner)
	}
	for slot := range t.owner {
		a, _ := t.Owner(slot)
		if b, _ := o.Owner(slot); a != b {
			return false
		}
	}
	return true
}

// A Share is what a member has of a table.
type Share struct {
	Member
	Slots int     // slots it owns
	Fair  float64 // slots it should own: its part of the weight of the members that are live
}

// Shares lists every member of the pool, sorted by key, also those without slots.
func (t Table) Shares() []Share {
	shares := make([]Share, len(t.pool.Members))
	total := 0
	for i, m := range t.pool.Members {
		shares[i].Member = m
		total += m.effective()
	}
	for i, m := range t.pool.Members {
		if m.takes() {
			shares[i].Fair = float64(len(t.owner)*m.Weight) / float64(total)
		}
	}
	for _, o := range t.owner {
		if o != empty {
			shares[o].Slots++
		}
	}
	return shares
}

// String lists the members and their slots: "10.20.0.2:80(512) 10.20.0.3:80(512)". Slots nobody
// owns are counted as -(n).
func (t Table) String() string {
	var words []string
	unowned := len(t.owner)
	for _, s := range t.Shares() {
		words = append(words, fmt.Sprintf("%s(%d)", s.Key, s.Slots))
		unowned -= s.Slots
	}
	if unowned > 0 {
		words = append(words, fmt.Sprintf("-(%d)", unowned))
	}
	return strings.Join(words, " ")
}
