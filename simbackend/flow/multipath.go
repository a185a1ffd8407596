package flow

import (
	"math/bits"

	of "hpnn/datapath/openflow"
)

// Multipath is the link, 0 to m.Links-1, that the action chooses for a frame. The action itself
// writes it to m.Dst.
func Multipath(k *Key, m *of.Multipath) uint32 {
	return Link(Hash(k, m.Fields, m.Basis), m.Algorithm, m.Links, m.Arg)
}

// maxHRW is the number of links up to which highest random weight tries each.
const maxHRW = 64

// Link maps a hash to one of n links, 1 <= n <= 65536 (ovs-actions(7), "The multipath Action").
func Link(hash uint32, algorithm of.HashAlgorithm, n, arg uint32) uint32 {
	switch algorithm {
	case of.ModuloN:
		return hash % n
	case of.HashThreshold:
		if n == 1 {
			return 0
		}
		return hash / (0xffffffff/n + 1)
	case of.HRW:
		if n <= maxHRW {
			return highestWeight(hash, n)
		}
		return iterate(hash, n, 0)
	case of.IterHash:
		return iterate(hash, n, arg)
	}
	panic("flow: unknown multipath algorithm")
}

// highestWeight is the link with the highest weight for hash, the first of several.
func highestWeight(hash, n uint32) (link uint32) {
	best := murmurPair(hash, 0)
	for i := uint32(1); i < n; i++ {
		if w := murmurPair(hash, i); w > best {
			link, best = i, w
		}
	}
	return link
}

// iterate draws numbers below modulo until one is a link. A modulo that is no use (too small, or
// more than twice as many) is replaced by the next power of two. A number keeps 16 bits only.
func iterate(hash, n, modulo uint32) uint32 {
	if modulo < n || modulo/2 > n {
		modulo = 1 << bits.Len32(n-1)
	}
	for i := uint32(0); ; i++ {
		if link := murmurPair(hash, i) % modulo & 0xffff; link < n {
			return link
		}
	}
}
