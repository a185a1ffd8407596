package maglev

import "math/bits"

// A permutation is a member's order of preference over the slots, as a walk that has got as far
// as position at. It is a bijection of 0..2^k-1, the smallest power of two that holds every slot:
//
//	x = j*a + b;  x ^= x>>h;  x = x*c;  x ^= x>>h     (mod 2^k, a and c odd, h = half of k)
//
// Every step can be undone (an odd factor has an inverse, a right shift-xor is its own up to
// repetition), so the walk meets every number once; numbers that are not slots are never free
// and are passed over. Any number of slots will do, nothing is stored, and two members share no
// structure, unlike members that walk by offset and skip.
type permutation struct {
	a, b, c uint32
	mask    uint32
	half    uint8
	at      uint32
}

// newPermutation draws the permutation of a member from its seed.
func newPermutation(seed uint64, slots int) permutation {
	k := bits.Len(uint(slots - 1))
	x, y := mix(seed+1), mix(seed+2)
	return permutation{
		a: uint32(x) | 1, b: uint32(x >> 32), c: uint32(y) | 1,
		mask: 1<<k - 1, half: uint8(k+1) / 2,
	}
}

// take walks on to the next slot that is free, takes it and returns it. There must be one ahead.
func (p *permutation) take(free bitmap) int {
	at := p.at
	for {
		x := at*p.a + p.b
		x &= p.mask
		x ^= x >> (p.half & 31)
		x *= p.c
		x &= p.mask
		x ^= x >> (p.half & 31)
		at++
		if free.has(int(x)) {
			p.at = at
			free.remove(int(x))
			return int(x)
		}
	}
}

// position is where in the walk the slot comes: the steps above, undone in reverse.
func (p *permutation) position(slot uint32) uint32 {
	x := slot
	x ^= x >> p.half
	x = x * inverse(p.c) & p.mask
	x ^= x >> p.half
	return (x - p.b) * inverse(p.a) & p.mask
}

// inverse is the factor that undoes the odd factor a, mod 2^32, by Newton's iteration, which
// doubles the number of right bits: 3, 6, 12, 24, 48.
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
