package maglev

import (
	"math"
	"math/bits"
)

// A permutation is a member's order of preference over the slots, as a walk (see walker). It is a
// bijection of 0..2^k-1, where 2^k is the smallest power of two that holds every
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
	mask       uint32
	half       uint8
}

// newPermutation draws the permutation of a member from its seed.
func newPermutation(seed uint64, slots int) permutation {
	k := bits.Len(uint(slots - 1))
	x, y := mix(seed+1), mix(seed+2)
	return permutation{
		a: uint32(x) | 1, b: uint32(x >> 32), c: uint32(y) | 1, d: uint32(y>>32) | 1,
		mask: 1<<k - 1, half: uint8(k+1) / 2,
	}
}

// A locator tells where in a member's walk slots come, two at a time, one in each half of a word: the
// steps of the permutation, undone in reverse.
type locator struct {
	a, b, c, d uint64 // the factors are the inverses
	mask       uint64
	half       uint8
}

func (p permutation) locator() locator {
	m := p.mask
	return locator{
		a: uint64(inverse(p.a) & m), b: twice(m + 1 - p.b&m),
		c: uint64(inverse(p.c) & m), d: uint64(inverse(p.d) & m),
		mask: twice(m), half: p.half & 31,
	}
}

func (l *locator) positions(x uint64) uint64 {
	x ^= x >> l.half & l.mask
	x = x * l.d & l.mask
	x ^= x >> l.half & l.mask
	x = x * l.c & l.mask
	x ^= x >> l.half & l.mask
	return (x + l.b) & l.mask * l.a & l.mask
}

// favourite is the index of the slot the member likes best of those listed. There must be one.
func (l *locator) favourite(slots []int32) int {
	best := uint64(math.MaxUint64) // position, then index
	last := len(slots) - 1
	for i := 0; i <= last; i += 2 {
		j := min(i+1, last)
		at := l.positions(uint64(slots[j])<<32 | uint64(slots[i]))
		best = min(best, at<<32|uint64(i), at>>32<<32|uint64(j))
	}
	return int(uint32(best))
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
