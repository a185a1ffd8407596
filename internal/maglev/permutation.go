package maglev

import "math/bits"

// A permutation is a member's order of preference over the slots, as a walk that has got as far
// as next. It is a bijection of 0..2^k-1, where 2^k is the smallest power of two that holds every
// slot; the j-th number of the walk is
//
//	x = a*j + b;  x ^= x>>h;  x *= c;  x ^= x>>h;  x *= d;  x ^= x>>h        (all mod 2^k)
//
// with odd a, c and d, and h half of k, rounded up. Each step can be undone, since an odd factor
// has an inverse and the xor is its own. So the walk meets every number once; numbers that are
// not slots are never free and are passed over.
//
// Compared with the paper's walk by offset and skip this works for any number of slots, not only
// primes, and two members never walk in parallel for long, so the worst case is that of a true
// shuffle (TestPermutationTail measures all three). Compared with a shuffle nothing is stored, and the
// position of a slot in the walk can be computed.
type permutation struct {
	a, b, c, d uint32
	next       uint32 // a*j + b for the next j
	mask       uint32
	half       uint8
}

// newPermutation draws the permutation of a member from its seed.
func newPermutation(seed uint64, slots int) permutation {
	k := bits.Len(uint(slots - 1))
	x, y := mix(seed+1), mix(seed+2)
	p := permutation{
		a: uint32(x) | 1, b: uint32(x >> 32), c: uint32(y) | 1, d: uint32(y>>32) | 1,
		mask: 1<<k - 1, half: uint8(k+1) / 2,
	}
	p.next = p.b
	return p
}

// take walks on to the next slot that is free, takes it and returns it. There must be one ahead.
func (p *permutation) take(free bitmap) int {
	next, a, c, d, mask, half := p.next, p.a, p.c, p.d, p.mask, p.half&31
	for {
		x := next & mask
		x ^= x >> half
		x = x * c & mask
		x ^= x >> half
		x = x * d & mask
		x ^= x >> half
		next += a
		if free.has(int(x)) {
			p.next = next
			free.remove(int(x))
			return int(x)
		}
	}
}

// A locator tells where in a member's walk a slot comes: the steps of the permutation, undone in
// reverse.
type locator struct {
	a, b, c, d uint32 // the factors are the inverses
	mask       uint32
	half       uint8
}

func (p *permutation) locator() locator {
	return locator{inverse(p.a), p.b, inverse(p.c), inverse(p.d), p.mask, p.half & 31}
}

func (l locator) position(slot int) uint32 {
	x := uint32(slot)
	x ^= x >> l.half
	x = x * l.d & l.mask
	x ^= x >> l.half
	x = x * l.c & l.mask
	x ^= x >> l.half
	return (x - l.b) * l.a & l.mask
}

// favourite is the index of the slot the member likes best of those listed. There must be one.
func (p *permutation) favourite(slots []int32) int {
	l := p.locator()
	best, first := 0, l.position(int(slots[0]))
	for i, slot := range slots[1:] {
		if at := l.position(int(slot)); at < first {
			best, first = i+1, at
		}
	}
	return best
}

// inverse is the factor that undoes the odd factor a, mod 2^32, by Newton's iteration: a is right
// to 3 bits, and each round doubles that.
func inverse(a uint32) uint32 {
	x := a
	for range 4 {
		x *= 2 - a*x
	}
	return x
}

// memberSeed hashes a pool id and a member key: FNV-1a (64 bit) over the two bytes of the id,
// high byte first, and the key; then mix.
func memberSeed(pool uint16, key string) uint64 {
	const prime = 0x100000001b3
	h := uint64(0xcbf29ce484222325)
	h = (h ^ uint64(pool>>8)) * prime
	h = (h ^ uint64(pool&0xff)) * prime
	for i := range len(key) {
		h = (h ^ uint64(key[i])) * prime
	}
	return mix(h)
}

// mix is the finaliser of SplitMix64 (Steele, Lea, Flood 2014), a bijection of 64-bit words.
func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// A bitmap is a set of slots.
type bitmap []uint64

// newBitmap is the empty set for a table of so many slots, with room for every number a
// permutation of that table can meet.
func newBitmap(slots int) bitmap {
	return make(bitmap, max(1, 1<<bits.Len(uint(slots-1))/64))
}

func (b bitmap) has(slot int) bool { return b[uint(slot)/64]&(1<<(uint(slot)%64)) != 0 }
func (b bitmap) add(slot int)      { b[uint(slot)/64] |= 1 << (uint(slot) % 64) }
func (b bitmap) remove(slot int)   { b[uint(slot)/64] &^= 1 << (uint(slot) % 64) }

// list is the slots of the set, ascending.
func (b bitmap) list() []int32 {
	var slots []int32
	for i, word := range b {
		for ; word != 0; word &= word - 1 {
			slots = append(slots, int32(i*64+bits.TrailingZeros64(word)))
		}
	}
	return slots
}
