package maglev

// A walker goes along a member's permutation and keeps the slots it found free, best first.
//
// It looks at a batch of numbers at a time and only afterwards at which of them are free. Asking
// number by number would be a branch that nobody can predict, for every slot handed out. A slot
// found free may be taken by another member before this one has its turn, so its owner is looked
// up again then.
//
// Two numbers of the walk share a word, each in a half of its own. A factor and a number have at
// most 16 bits, so their product stays in its half.
type walker struct {
	next   uint64 // a*j + b for the next two j
	step   uint64 // what leads on to the two after them: 2*a in both halves
	c, d   uint64
	member int32
	at, n  uint16            // the slots between at and n are still to be offered
	free   [batch + 1]uint16 // slots that were free; then, at n, one that is owned
}

// batch is how many numbers a walker looks at together.
const batch = 16

// newWalker starts at the top of a member's preferences.
func newWalker(member int32, p permutation, g *ground) walker {
	w := walker{
		next:   uint64((p.a+p.b)&p.mask)<<32 | uint64(p.b&p.mask),
		step:   twice(2 * p.a & p.mask),
		c:      uint64(p.c & p.mask),
		d:      uint64(p.d & p.mask),
		member: member,
	}
	w.look(g)
	return w
}

// twice is a number in both halves of a word.
func twice(x uint32) uint64 { return uint64(x)<<32 | uint64(x) }

// take gives the member the first slot of the walk that nobody owns. There must be one ahead. What
// it once found owned it does not try again.
func (w *walker) take(g *ground) {
	slot := w.offer()
	for g.owner[slot] != empty {
		if w.at > w.n {
			w.look(g)
		}
		slot = w.offer()
	}
	g.owner[slot] = w.member
}

func (w *walker) offer() uint16 {
	slot := w.free[w.at]
	w.at++
	return slot
}

// look walks on by a batch or more, until it finds a free slot.
func (w *walker) look(g *ground) {
	n := 0
	for n == 0 {
		n = w.batch(g.owner, g.mask, g.half)
	}
	w.at, w.n = 0, uint16(n)
	w.free[n] = w.free[0] // by then this member owns it, or another
}

// batch walks on by a batch and returns how many free slots it found. The steps are those of the
// permutation.
func (w *walker) batch(owner []int32, mask uint64, half uint8) int {
	half &= 31
	next, c, d, n := w.next, w.c, w.d, uint(0)
	for range batch / 2 {
		x := next ^ next>>half&mask
		x = x * c & mask
		x ^= x >> half & mask
		x = x * d & mask
		x = (x ^ x>>half) & mask
		next = (next + w.step) & mask
		first, second := uint32(x), x>>32
		w.free[n%batch] = uint16(first)
		n += uint(uint32(owner[first]) >> 31) // empty is negative
		w.free[n%batch] = uint16(second)
		n += uint(uint32(owner[second]) >> 31)
	}
	w.next = next
	return int(n)
}
