package maglev

import (
	"cmp"
	"fmt"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// A twin builds the same tables slowly and plainly: from a matrix of all preferences, asking every
// member at every turn, and working out the lines of succession set by set from their
// definition.
type twin struct {
	pool    Pool
	members []Member
	prefers [][]int32 // per member: all slots, best first
	lines   map[string]map[int]int
}

func newTwin(p Pool) *twin {
	w := &twin{pool: p, members: slices.Clone(p.Members), lines: map[string]map[int]int{}}
	slices.SortFunc(w.members, func(a, b Member) int { return cmp.Compare(a.Key, b.Key) })
	for _, m := range w.members {
		w.prefers = append(w.prefers, preferences(memberSeed(p.ID, m.Key), p.Slots))
	}
	return w
}

// preferences writes out a permutation, by its formula.
func preferences(seed uint64, slots int) []int32 {
	k := 0
	for 1<<k < slots {
		k++
	}
	mask, h := uint32(1)<<k-1, (k+1)/2
	u, v := mix(seed+1), mix(seed+2)
	a, b, c, d := uint32(u)|1, uint32(u>>32), uint32(v)|1, uint32(v>>32)|1
	order := make([]int32, 0, slots)
	for j := range mask + 1 {
		x := (a*j + b) & mask
		x ^= x >> h
		x = x * c & mask
		x ^= x >> h
		x = x * d & mask
		x ^= x >> h
		if x < uint32(slots) {
			order = append(order, int32(x))
		}
	}
	return order
}

// build is the whole layout: the owner of each slot, an index into members or -1.
func (w *twin) build() []int {
	owner := slices.Repeat([]int{-1}, w.pool.Slots)
	if !slices.ContainsFunc(w.members, func(m Member) bool { return m.Live && m.Weight > 0 }) {
		return owner
	}
	if w.pool.Algorithm == Maglev {
		weights := make([]int, len(w.members))
		for i, m := range w.members {
			if m.Live {
				weights[i] = m.Weight
			}
		}
		for slot, i := range w.takeTurns(every(w.pool.Slots), weights) {
			owner[slot] = i
		}
		return owner
	}
	return w.succession(owner)
}

// takeTurns is the textbook's loop: it gives out the free slots.
func (w *twin) takeTurns(free map[int]bool, demand []int) map[int]int {
	owner, open := map[int]int{}, make([]bool, w.pool.Slots)
	for slot, yes := range free {
		open[slot] = yes
	}
	for slot, o := range textbook(w.prefers, open, slowTurns(demand, len(free))) {
		if free[slot] {
			owner[slot] = int(o)
		}
	}
	return owner
}

// slowTurns asks every member at every turn.
func slowTurns(demand []int, count int) []int {
	total := 0
	for _, d := range demand {
		total += d
	}
	had := make([]int, len(demand))
	var order []int
	for now := 1; now <= count; now++ {
		best, earliest := -1, 0
		for i, d := range demand {
			if d == 0 || had[i]*total >= now*d {
				continue // not yet released: the exact share has not passed what it had
			}
			deadline := now
			for deadline*d < (had[i]+1)*total {
				deadline++
			}
			if best < 0 || deadline < earliest {
				best, earliest = i, deadline
			}
		}
		order = append(order, best)
		had[best]++
	}
	return order
}

func every(slots int) map[int]bool {
	all := map[int]bool{}
	for slot := range slots {
		all[slot] = true
	}
	return all
}

// succession follows every slot's line past the dead, pools what remains, and evens out.
func (w *twin) succession(owner []int) []int {
	var dead []int
	for i, m := range w.members {
		if m.Weight > 0 && !m.Live {
			dead = append(dead, i)
		}
	}
	rest := map[int]bool{}
	for slot := range owner {
		var line []int
		for {
			if len(line) > w.depth() {
				rest[slot] = true
				break
			}
			o := w.next(line)[slot]
			if !slices.Contains(dead, o) {
				owner[slot] = o
				break
			}
			line = append(line, o)
		}
	}
	weights := make([]int, len(w.members))
	for i, m := range w.members {
		if m.Live {
			weights[i] = m.Weight
		}
	}
	if len(rest) > 0 {
		demand := w.slowDemands(len(rest), w.count(owner), weights, dead, 0)
		for slot, i := range w.takeTurns(rest, demand) {
			owner[slot] = i
		}
	}
	if len(dead) > 0 {
		w.evenOut(owner, weights)
	}
	return owner
}

// depth is the number of dead members lines go past.
func (w *twin) depth() int {
	n, dead := 0, 0
	for _, m := range w.members {
		if m.Weight > 0 {
			n++
		}
		if m.Weight > 0 && !m.Live {
			dead++
		}
	}
	if dead > 64 {
		return 0
	}
	for k := 1; k < n; k++ {
		sets := new(big.Int).Binomial(int64(n), int64(k)).Int64()
		if sets > 2048 || sets*8 > int64(w.pool.Slots) {
			return k - 1
		}
	}
	return n
}

// next maps the slots whose line begins with exactly the members of a set, in any order, to who
// comes next.
func (w *twin) next(set []int) map[int]int {
	set = slices.Sorted(slices.Values(set))
	name := fmt.Sprint(set)
	if known, ok := w.lines[name]; ok {
		return known
	}
	group := map[int]bool{}
	others := slices.Repeat([]int{-1}, w.pool.Slots) // owners of the other slots, should the set be dead
	for slot := range others {
		var line []int
		for len(line) < len(set) {
			o := w.next(line)[slot]
			if !slices.Contains(set, o) {
				others[slot] = o
				break
			}
			line = append(line, o)
		}
		group[slot] = others[slot] < 0
		if !group[slot] {
			delete(group, slot)
		}
	}
	weights := make([]int, len(w.members))
	for i, m := range w.members {
		if !slices.Contains(set, i) {
			weights[i] = m.Weight
		}
	}
	demand := weights
	if len(set) > 0 {
		demand = w.slowDemands(len(group), w.count(others), weights, set, 1)
	}
	w.lines[name] = w.takeTurns(group, demand)
	return w.lines[name]
}

func (w *twin) count(owner []int) []int {
	held := make([]int, len(w.members))
	for _, o := range owner {
		if o >= 0 {
			held[o]++
		}
	}
	return held
}

// slowDemands gives slots one at a time to whoever is furthest behind its due. Fractions of slots
// are exact; slack is in halves of a slot.
func (w *twin) slowDemands(count int, held, weights, dead []int, slack int64) []int {
	total := 0
	for _, x := range weights {
		total += x
	}
	salt := uint64(0)
	for _, i := range dead {
		salt += memberSeed(w.pool.ID, w.members[i].Key)
	}
	demand := make([]int, len(weights))
	behind := make([]*big.Rat, len(weights))
	for i, x := range weights {
		if x == 0 {
			continue
		}
		due := big.NewRat(int64(count*x), int64(total))
		short := new(big.Rat).Sub(big.NewRat(int64(w.pool.Slots*x), int64(total)), big.NewRat(int64(held[i]), 1))
		if low := new(big.Rat).Sub(short, big.NewRat(slack, 2)); due.Cmp(low) < 0 {
			due = low
		}
		if high := new(big.Rat).Add(short, big.NewRat(slack, 2)); due.Cmp(high) > 0 {
			due = high
		}
		behind[i] = due
	}
	tie := func(i int) uint64 { return mix(memberSeed(w.pool.ID, w.members[i].Key) + salt) }
	for range count {
		best := -1
		for i := range weights {
			if weights[i] == 0 {
				continue
			}
			if best < 0 || behind[i].Cmp(behind[best]) > 0 || behind[i].Cmp(behind[best]) == 0 && tie(i) < tie(best) {
				best = i
			}
		}
		demand[best]++
		behind[best].Sub(behind[best], big.NewRat(1, 1))
	}
	return demand
}

// evenOut moves inherited slots one at a time while anyone is more than two slots off.
func (w *twin) evenOut(owner, weights []int) {
	total := 0
	for _, x := range weights {
		total += x
	}
	base := w.next(nil)
	for {
		ahead := w.count(owner)
		for i := range ahead {
			ahead[i] = ahead[i]*total - len(owner)*weights[i]
		}
		rich, poor := -1, -1
		for i, x := range weights {
			gives := slices.ContainsFunc(owner, func(o int) bool { return o == i }) && w.inherits(owner, base, i)
			if x > 0 && gives && (rich < 0 || ahead[i] > ahead[rich]) {
				rich = i
			}
			if x > 0 && (poor < 0 || ahead[i] < ahead[poor]) {
				poor = i
			}
		}
		if rich < 0 || ahead[rich]-ahead[poor] <= total || max(ahead[rich], -ahead[poor]) <= 2*total {
			return
		}
		for _, slot := range w.prefers[poor] {
			if owner[slot] == rich && base[int(slot)] != rich {
				owner[slot] = poor
				break
			}
		}
	}
}

func (w *twin) inherits(owner []int, base map[int]int, i int) bool {
	for slot, o := range owner {
		if o == i && base[slot] != i {
			return true
		}
	}
	return false
}

func requireTwin(t *testing.T, p Pool) {
	t.Helper()
	w := newTwin(p)
	var want []string
	for _, o := range w.build() {
		if o < 0 {
			want = append(want, "")
		} else {
			want = append(want, w.members[o].Key)
		}
	}
	require.Equal(t, want, owners(build(t, p)), "%+v", p)
}

func TestBuildEqualsTwin(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		slots := 1 + r.IntN(1<<r.IntN(10))
		p := random(r, 1+Algorithm(r.IntN(2)), slots, 1+r.IntN(9))
		requireTwin(t, p)
	}
}

func TestBuildEqualsTwinOnLargePools(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for _, members := range []int{16, 33, 64} {
		for _, a := range []Algorithm{Maglev, MaglevStable} {
			requireTwin(t, random(r, a, 1024, members))
		}
	}
	for _, dead := range []int{64, 65} {
		requireTwin(t, kill(r, uniform(MaglevStable, 1024, 90), dead))
	}
}

func TestPositionUndoesTheWalk(t *testing.T) {
	for _, slots := range []int{1, 2, 3, 7, 64, 1000, 1024, 65521, 65536} {
		p := newPermutation(uint64(slots), slots)
		g, l := newGround(slots), p.locator()
		w := newWalker(0, p, &g)
		last := -1
		for _, want := range preferences(uint64(slots), slots) {
			require.Equal(t, empty, g.owner[want])
			w.take(&g)
			require.Zero(t, g.owner[want])
			at := l.positions(twice(uint32(want)))
			require.Equal(t, twice(uint32(at)), at)
			require.Greater(t, int(uint32(at)), last)
			last = int(uint32(at))
		}
		require.NotContains(t, g.owner, empty)
		require.Less(t, last, 1<<bits.Len(uint(slots-1)))
	}
}
