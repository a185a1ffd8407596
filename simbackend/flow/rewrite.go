package flow

import (
	"encoding/binary"

	of "hpnn/datapath/openflow"
)

// Rewrite brings the frame up to date: base is the fields as the frame has them, want as they
// shall be. Each field that differs is written, whatever the frame held there, and checksums
// follow by the difference; what base and want agree on is not touched, not even if the frame
// says otherwise because the connection tracker translated it meanwhile.
//
// mask is the bits that mattered up to now: those that were matched, read or written (the
// "Megaflow:" of ofproto/trace). Of a field that differs, the switch writes no others. It is the
// same as nil, all bits, unless the frame holds something else than base says: because it was
// translated, or because its ARP or neighbour discovery is malformed and base says 0.
//
// Afterwards base is what has been written so far. It may still differ from want: IP and ARP
// headers are left alone as long as nw_proto (or arp_op) is 0.
func (p *Packet) Rewrite(base, want, mask *Key) {
	if *(*[Words - firstHeader]uint64)(base[firstHeader:]) == *(*[Words - firstHeader]uint64)(want[firstHeader:]) {
		return
	}
	if mask == nil {
		mask = &everything
	}
	p.commit(&change{base, want, mask})
}

// everything is the mask of all bits.
var everything = func() (m Key) {
	for i := range m {
		m[i] = ^uint64(0)
	}
	return m
}()

// change is the fields before and after, and the bits that may be written.
type change struct{ base, want, mask *Key }

// differs reports whether any bit of a word under bits changes.
func (c *change) differs(word int, bits uint64) bool {
	return (c.base[word]^c.want[word])&bits != 0
}

// value is what becomes of old, which the frame holds where the Key has the bits of a word from
// shift on.
func (c *change) value(word, shift int, old uint64) uint64 {
	mask := c.mask[word] >> shift
	return c.want[word]>>shift&mask | old&^mask
}

// done notes that the bits of a word have been written.
func (c *change) done(word int, bits uint64) {
	c.base[word] = c.base[word]&^bits | c.want[word]&bits
}

func (p *Packet) commit(c *change) {
	p.rewriteEthernet(c)
	if c.want.proto() != 0 {
		switch c.base.ethType() {
		case of.EthTypeIPv4:
			p.rewriteIPv4(c)
			p.rewriteTransport(c)
		case of.EthTypeIPv6:
			p.rewriteIPv6(c)
			p.rewriteTransport(c)
		case of.EthTypeARP:
			p.rewriteARP(c)
		}
	}
	p.rewriteTags(c.base, c.want)
}

func getMAC(b []byte) uint64 {
	return uint64(binary.BigEndian.Uint16(b))<<32 | uint64(binary.BigEndian.Uint32(b[2:]))
}

func putMAC(b []byte, mac uint64) {
	binary.BigEndian.PutUint16(b, uint16(mac>>32))
	binary.BigEndian.PutUint32(b[2:], uint32(mac))
}

// rewriteMAC writes an address that is a word of its own.
func (c *change) rewriteMAC(word int, b []byte) {
	if c.differs(word, 1<<48-1) {
		putMAC(b, c.value(word, 0, getMAC(b)))
	}
	c.done(word, 1<<48-1)
}

func (p *Packet) rewriteEthernet(c *change) {
	c.rewriteMAC(wordDst, p.Bytes())
	c.rewriteMAC(wordSrc, p.Bytes()[6:])
}

// rewriteARP writes the fields of an ARP message, or as much of them as the frame has room for:
// the switch does not ask whether the message is whole. RARP is never rewritten.
func (p *Packet) rewriteARP(c *change) {
	var b [arpLen]byte
	message := p.Bytes()[p.L3:]
	copy(b[:], message)
	if c.differs(wordL2, 0xff<<shiftProto) {
		mask := arpOp(uint8(c.mask[wordL2] >> shiftProto))
		op := arpOp(c.want.proto())&mask | binary.BigEndian.Uint16(b[6:])&^mask
		binary.BigEndian.PutUint16(b[6:], op)
		c.done(wordL2, 0xff<<shiftProto)
	}
	c.rewriteMAC(wordSHA, b[8:])
	c.rewriteMAC(wordTHA, b[18:])
	for i, field := range [2][]byte{b[14:18], b[24:28]} {
		if shift := 32 - 32*i; c.differs(wordIPv4, 0xffffffff<<shift) {
			old := uint64(binary.BigEndian.Uint32(field))
			binary.BigEndian.PutUint32(field, uint32(c.value(wordIPv4, shift, old)))
		}
	}
	c.done(wordIPv4, ^uint64(0))
	copy(message, b[:])
}

// arpOp is the opcode that the switch writes for the eight bits that it keeps: it takes 255 for a
// mask.
func arpOp(kept uint8) uint16 {
	if kept == 0xff {
		return 0xffff
	}
	return uint16(kept)
}

// rewriteTags takes off the tags of base that want does not end with and puts on those that want
// begins with. A tag whose fields change is taken off and put on.
func (p *Packet) rewriteTags(base, want *Key) {
	if (base[wordL2]^want[wordL2])&(0xffff<<shiftTCI) == 0 && base[wordTags] == want[wordTags] {
		return
	}
	old := [2]tag{base.outerTag(), base.innerTag()}
	new := [2]tag{want.outerTag(), want.innerTag()}
	i, j := base.tagCount(), want.tagCount()
	for i > 0 && j > 0 && old[i-1] == new[j-1] {
		i, j = i-1, j-1
	}
	for ; i > 0; i-- {
		p.popTag()
	}
	for ; j > 0; j-- {
		p.pushTag(new[j-1])
	}
	base.setTags(new[0], new[1])
}
