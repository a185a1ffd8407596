package flow

import (
	"encoding/binary"

	of "hpnn/datapath/openflow"
)

// Patch is a Rewrite of the frames of a microflow worked out in advance: which fields are written, and
// what.
type Patch struct {
	what     patched
	dst, src uint64 // Ethernet addresses
	ipv4, l4 uint64 // words of a Key
}

// patched is what a Patch writes.
type patched uint16

const (
	patchEthDst patched = 1 << iota
	patchEthSrc
	patchIPv4Src
	patchIPv4Dst
	patchTOS
	patchTTL
	patchTCPPorts
	patchUDPPorts
	patchTypeCode
	patchTpSrc
	patchTpDst
)

// NewPatch works out Rewrite(base, want, nil) for the frames of a microflow, and does to base what that
// would do. It reports false, and base is as before, if more is to be written than a Patch can tell: of
// VLAN tags, say.
func NewPatch(base, want *Key) (c Patch, ok bool) {
	c = Patch{dst: want[wordDst], src: want[wordSrc], ipv4: want[wordIPv4], l4: want[wordL4]}
	add := func(what patched, word int, bits uint64) {
		if (base[word]^want[word])&bits != 0 {
			c.what |= what
		}
	}
	add(patchEthDst, wordDst, 1<<48-1)
	add(patchEthSrc, wordSrc, 1<<48-1)
	add(patchIPv4Src, wordIPv4, 0xffffffff<<32)
	add(patchIPv4Dst, wordIPv4, 0xffffffff)
	add(patchTOS, wordL4, 0xff<<shiftTOS)
	add(patchTTL, wordL4, 0xff<<shiftTTL)
	add(patchTpSrc, wordL4, 0xffff<<shiftTpSrc)
	add(patchTpDst, wordL4, 0xffff<<shiftTpDst)
	if c.what&(patchTpSrc|patchTpDst) != 0 {
		c.what |= portsOf(base)
	}
	after := *base
	after[wordDst], after[wordSrc], after[wordIPv4], after[wordL4] = c.dst, c.src, c.ipv4, c.l4
	after[wordL2] = want[wordL2]&^(0xffff<<shiftInPort) | base[wordL2]&(0xffff<<shiftInPort)
	same := *want
	same[wordL2] = base[wordL2]
	// What differs besides must be in_port, which no frame holds, and tcp_flags are never written.
	if after[wordL2] != base[wordL2] || (base[wordL4]^want[wordL4])&0xffff != 0 || !sameHeaders(&after, &same) {
		return Patch{}, false
	}
	*base = after
	return c, true
}

func sameHeaders(a, b *Key) bool {
	return *(*[Words - firstHeader]uint64)(a[firstHeader:]) == *(*[Words - firstHeader]uint64)(b[firstHeader:])
}

// portsOf says how the two fields that ports stand for are written.
func portsOf(k *Key) patched {
	switch k.proto() {
	case of.ProtoTCP:
		return patchTCPPorts
	case of.ProtoUDP:
		return patchUDPPorts
	}
	return patchTypeCode
}

// WholeFields adds to a mask of bits that are written to frames like k the rest of what a Patch writes with them.
func WholeFields(mask, k *Key) {
	widen := func(word int, bits uint64) {
		if mask[word]&bits != 0 {
			mask[word] |= bits
		}
	}
	widen(wordDst, 1<<48-1)
	widen(wordSrc, 1<<48-1)
	widen(wordIPv4, 0xffffffff<<32)
	widen(wordIPv4, 0xffffffff)
	widen(wordL4, 0xff<<shiftTOS)
	widen(wordL4, 0xff<<shiftTTL)
	if k.isICMP() { // type and code share a word of the checksum
		widen(wordL4, portBits)
	}
	widen(wordL4, 0xffff<<shiftTpSrc)
	widen(wordL4, 0xffff<<shiftTpDst)
}

// IsEmpty reports whether the patch writes nothing.
func (c *Patch) IsEmpty() bool { return c.what == 0 }

// MovesEndpoints reports whether the patch changes what Endpoints tells.
func (c *Patch) MovesEndpoints() bool {
	return c.what&(patchIPv4Src|patchIPv4Dst|patchTpSrc|patchTpDst) != 0
}

// Apply does to a frame of the microflow what Rewrite would.
func (p *Packet) Apply(c *Patch) {
	b := p.Bytes()
	if c.what&patchEthDst != 0 {
		putMAC(b, c.dst)
	}
	if c.what&patchEthSrc != 0 {
		putMAC(b[6:], c.src)
	}
	h := b[microL3 : microL4+udpLen]
	if c.what&patchIPv4Src != 0 {
		p.setIPv4Addr(h, h[12:16], binary.BigEndian.Uint32(h[12:]), uint32(c.ipv4>>32))
	}
	if c.what&patchIPv4Dst != 0 {
		p.setIPv4Addr(h, h[16:20], binary.BigEndian.Uint32(h[16:]), uint32(c.ipv4))
	}
	if c.what&patchTOS != 0 {
		tos := uint8(c.l4 >> shiftTOS)
		checksum(h[10:12]).update16(uint16(h[1]), uint16(tos))
		h[1] = tos
	}
	if c.what&patchTTL != 0 {
		ttl := uint8(c.l4 >> shiftTTL)
		checksum(h[10:12]).update16(uint16(h[8])<<8, uint16(ttl)<<8)
		h[8] = ttl
	}
	if c.what&(patchTpSrc|patchTpDst) != 0 {
		p.patchPorts(c)
	}
}

// patchPorts writes the ports, or ICMP type and code.
func (p *Packet) patchPorts(c *Patch) {
	l4 := p.Bytes()[microL4:]
	switch {
	case c.what&patchTCPPorts != 0:
		c.setPorts(l4, checksum(l4[16:18]))
	case c.what&patchUDPPorts != 0:
		sum := checksum(l4[6:8])
		if sum.isZero() {
			c.setPorts(l4, nil)
			return
		}
		c.setPorts(l4, sum)
		sum.avoidZero()
	default:
		old, new := binary.BigEndian.Uint16(l4), uint16(c.l4>>shiftTpSrc)<<8|uint16(c.l4>>shiftTpDst)&0xff
		if old != new {
			checksum(l4[2:4]).update16(old, new)
			binary.BigEndian.PutUint16(l4, new)
		}
	}
}

func (c *Patch) setPorts(l4 []byte, sum checksum) {
	if c.what&patchTpSrc != 0 {
		setPort(l4[0:2], sum, uint16(c.l4>>shiftTpSrc))
	}
	if c.what&patchTpDst != 0 {
		setPort(l4[2:4], sum, uint16(c.l4>>shiftTpDst))
	}
}

// setPort writes a port. sum, if not nil, follows.
func setPort(field []byte, sum checksum, port uint16) {
	if sum != nil {
		sum.update16(binary.BigEndian.Uint16(field), port)
	}
	binary.BigEndian.PutUint16(field, port)
}
