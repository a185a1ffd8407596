package conntrack

// conn is an entry. It holds no pointers, see slab. What looking it up and its state machine touch comes first, and all
// of it is 96 bytes, so that it lies in two cache lines.
type conn struct {
	src, dst endpoint // of the original tuple, as on the wire before the translation
	expires  int64    // ms
	peers    [2]peer  // TCP; of other protocols, the first one's state is the phase
	zone     uint16
	proto    uint8
	traits   traits
	due      tick   // when the wheel brings it up, not after it expires; never for one that was removed
	id       uint32 // its number in the slab
	mark     uint32
	label    Label
	seq      uint64 // its number in the order of insertion, from 1 on; 0 for one that was removed

	// What of the reply tuple does not follow from the original one.
	address  uint32 // of its destination under source translation, else of its source
	from, to uint16 // its ports
}

// traits are marks of an entry.
type traits uint8

const (
	translated traits = 1 << iota // committed with a nat argument: stands under two tuples
	shared                        // stands under a hash under which others stand, or stood

	// and StateSNAT or StateDNAT, for what happens to the original direction.
)

func (c *conn) translated() bool { return c.traits&translated != 0 }
func (c *conn) shared() bool     { return c.traits&shared != 0 }

// nat is StateSNAT or StateDNAT: what happens to the original direction.
func (c *conn) nat() State { return State(c.traits) & natted }

func (c *conn) expired(now int64) bool { return now >= c.expires }

// orig is the original tuple.
func (c *conn) orig() key { return key{c.src, c.dst, c.zone, c.proto} }

// reply is the reply tuple.
func (c *conn) reply() key {
	k := key{c.dst, c.src, c.zone, c.proto}
	if !c.translated() {
		return k
	}
	k.src, k.dst = k.src.withPort(c.from), k.dst.withPort(c.to)
	if c.nat() == StateSNAT {
		k.dst = k.dst.withAddr(c.address)
	} else {
		k.src = k.src.withAddr(c.address)
	}
	return k
}

// translate makes c one of a translation, whose reply tuple differs from the turned original one in its ports and one
// address.
func (c *conn) translate(nat State, reply *key) {
	c.traits |= translated | traits(nat)
	c.from, c.to, c.address = reply.src.port(), reply.dst.port(), reply.src.addr()
	if nat == StateSNAT {
		c.address = reply.dst.addr()
	}
}

// meet tells whether c stands under k, or, back, under its reverse and has k as its other tuple.
func (c *conn) meet(k *key, second bool) (back, ok bool) {
	if second {
		return c.meetAt(k, k, true)
	}
	switch {
	case c.zone != k.zone || c.proto != k.proto:
		return false, false
	case c.src == k.src && c.dst == k.dst:
		return false, true
	case c.src == k.dst && c.dst == k.src:
		return true, !c.translated() || c.reply() == *k
	}
	return false, false
}

// meetAt tells whether c stands under a tuple or its reverse, and k is that under which it stands or, back, the other.
func (c *conn) meetAt(k, at *key, second bool) (back, ok bool) {
	under, other := c.orig(), c.reply()
	if second {
		under, other = other, under
	}
	if under != *at && under != at.reverse() {
		return false, false
	}
	return under != *k, under == *k || other == *k
}
