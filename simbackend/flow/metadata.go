package flow

import of "hpnn/datapath/openflow"

// Endpoints is the addresses, the ports and the ICMP type and code of a frame: what the connection
// tracker knows a connection by.
type Endpoints struct {
	ipv4, ports uint64
	ipv6        [4]uint64
}

// Endpoints is those of k.
func (k *Key) Endpoints() Endpoints {
	return Endpoints{k[wordIPv4], k[wordL4] & portBits, *(*[4]uint64)(k[wordIPv6:])}
}

// MetadataHash tells apart what of a key survives recirculation without being in the frame:
// registers, metadata, tunnel id.
func (k *Key) MetadataHash() uint32 {
	h := uint64(1)
	for _, w := range k[:wordMark] {
		h = (h ^ w) * 0x9e3779b97f4a7c15
		h ^= h >> 32
	}
	return uint32(h)
}

// Tags lists the VLAN tags, outermost first, each TPID<<16 | TCI as a Key has it: with the CFI bit
// set.
func (k *Key) Tags() []uint32 {
	tags := []uint32{uint32(k.outerTag()), uint32(k.innerTag())}
	return tags[:k.tagCount()]
}

// Connection is what the connection tracker says of a frame: the ct_ fields. The tuple is the original
// direction's, before translation.
type Connection struct {
	State    uint8
	Proto    uint8
	Zone     uint16
	Mark     uint32
	Label    of.Value
	Src, Dst uint32 // IPv4
	SrcPort  uint16
	DstPort  uint16
}

// SetConnection makes the ct_ fields of k those of c. The zero Connection is an untracked frame.
func (k *Key) SetConnection(c *Connection) {
	k[wordMark] = k[wordMark]&^0xffffffff | uint64(c.Mark)
	k[wordCTLabel], k[wordCTLabel+1] = c.Label.Hi, c.Label.Lo
	k[wordCT] = c.word()
	k[wordCTv4] = uint64(c.Src)<<32 | uint64(c.Dst)
	*(*[4]uint64)(k[wordCTv6:]) = [4]uint64{}
}

// ConnectionMask is the bits of a Key that SetConnection writes.
func ConnectionMask() (mask Key) {
	for w := wordMark; w < firstHeader; w++ {
		mask[w] = ^uint64(0)
	}
	mask[wordMark] = 0xffffffff
	return mask
}

// word is what of c stands in one word of a Key.
func (c *Connection) word() uint64 {
	return uint64(c.State)<<56 | uint64(c.Proto)<<48 | uint64(c.Zone)<<32 | uint64(c.SrcPort)<<16 | uint64(c.DstPort)
}
