package flow

import of "hpnn/datapath/openflow"

// Choice is a multipath on what the frames of a microflow had in their headers, apart from some bits that were
// written before.
type Choice struct {
	action  of.Multipath
	written [hashed]uint64
	value   [hashed]uint64
}

// hashed is how many words of a Key a microflow has from which a multipath may take something.
const hashed = 5

func hashedWords(k *Key) [hashed]uint64 {
	return [hashed]uint64{k[wordL2], k[wordDst], k[wordSrc], k[wordIPv4], k[wordL4]}
}

// NewChoice tells what a multipath chooses for frames with fields now that had the fields before, if all that
// changed is in the bits of written. It reports false for frames that were given more than a microflow has.
func NewChoice(m of.Multipath, before, now, written *Key) (c Choice, ok bool) {
	rest := *now
	for w := firstHeader; w < Words; w++ {
		if (before[w]^now[w])&^written[w] != 0 {
			return c, false
		}
	}
	rest[wordL2], rest[wordDst], rest[wordSrc], rest[wordIPv4], rest[wordL4] = before[wordL2], before[wordDst], before[wordSrc], before[wordIPv4], before[wordL4]
	if !sameHeaders(&rest, before) {
		return c, false
	}
	c = Choice{action: m, written: hashedWords(written), value: hashedWords(now)}
	for i := range c.value {
		c.value[i] &= c.written[i]
	}
	return c, true
}

// Apply makes the link chosen for it part of a view. k is a Key whose other header fields are 0, to work in.
func (c *Choice) Apply(v *View, k *Key) {
	v.Microflow().Headers(k)
	for i, w := range [hashed]int{wordL2, wordDst, wordSrc, wordIPv4, wordL4} {
		k[w] = k[w]&^c.written[i] | c.value[i]
	}
	v[viewLink] = uint64(Multipath(k, &c.action))
}

// AddTo adds the link to a mask.
func (c *Choice) AddTo(mask *View) { mask[viewLink] = ^uint64(0) }

// HashedBy is the fields of a microflow from which a multipath may take something.
func HashedBy() (mask Key) {
	mask[wordDst], mask[wordSrc], mask[wordIPv4], mask[wordL4] = 1<<48-1, 1<<48-1, ^uint64(0), portBits
	return mask
}
