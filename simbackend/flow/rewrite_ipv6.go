package flow

import (
	"encoding/binary"

	of "hpnn/datapath/openflow"
)

// rewriteIPv6 writes addresses, label, traffic class and hop limit, and what neighbour discovery
// says.
func (p *Packet) rewriteIPv6(c *change) {
	if !p.HasL4() {
		return
	}
	h := p.Bytes()[p.L3:]
	p.rewriteIPv6Addrs(h, c)
	const class, label = 0xff << shiftTOS, 0xfffff << 32
	first := binary.BigEndian.Uint32(h)
	if c.differs(wordL4, class) {
		tos := uint8(c.value(wordL4, shiftTOS, uint64(first>>20)))
		first = first&^(0xff<<20) | uint32(tos)<<20
	}
	if c.differs(wordLabel, label) {
		first = first&^0xfffff | uint32(c.value(wordLabel, 32, uint64(first)))&0xfffff
	}
	binary.BigEndian.PutUint32(h, first)
	if c.differs(wordL4, 0xff<<shiftTTL) {
		h[7] = uint8(c.value(wordL4, shiftTTL, uint64(h[7])))
	}
	c.done(wordLabel, label)
	c.done(wordL4, class|0xff<<shiftTTL)
	p.rewriteND(c)
}

func (p *Packet) rewriteIPv6Addrs(h []byte, c *change) {
	src, dst := c.differsWide(wordIPv6), c.differsWide(wordIPv6+2)
	if !src && !dst {
		return
	}
	w := p.walk()
	if src {
		p.setIPv6Addr(h[8:24], c, wordIPv6, w.proto, w.summed)
	}
	if dst {
		p.setIPv6Addr(h[24:40], c, wordIPv6+2, w.proto, w.summed && !w.routed)
	}
}

// differsWide is differs for a field of two words.
func (c *change) differsWide(word int) bool {
	return c.differs(word, ^uint64(0)) || c.differs(word+1, ^uint64(0))
}

// setIPv6Addr writes an address, and lets the checksum of the payload follow if summed.
func (p *Packet) setIPv6Addr(addr []byte, c *change, word int, proto uint8, summed bool) {
	var sum checksum
	if summed {
		sum = p.checksumOver(proto)
	}
	for i := range 2 {
		old := binary.BigEndian.Uint64(addr[8*i:])
		new := c.value(word+i, 0, old)
		if sum != nil {
			sum.update32(uint32(old>>32), uint32(new>>32))
			sum.update32(uint32(old), uint32(new))
		}
		binary.BigEndian.PutUint64(addr[8*i:], new)
		c.done(word+i, ^uint64(0))
	}
	if sum != nil && proto == of.ProtoUDP {
		sum.avoidZero()
	}
}

// checksumOver is the checksum of the payload, nil if it has none.
func (p *Packet) checksumOver(proto uint8) checksum {
	l4 := p.l4()
	switch {
	case proto == of.ProtoTCP && len(l4) >= tcpLen:
		return checksum(l4[16:18])
	case proto == of.ProtoUDP && len(l4) >= udpLen && l4[6]|l4[7] != 0:
		return checksum(l4[6:8])
	case proto == of.ProtoICMPv6 && len(l4) >= 4:
		return checksum(l4[2:4])
	}
	return nil
}

// walked is what a rewrite of IPv6 addresses must know of the extension headers.
type walked struct {
	proto  uint8 // of the payload
	summed bool  // the payload starts with a header whose checksum covers the addresses
	routed bool  // the destination is not the one the checksum covers
}

// walk reads the extension headers as OVS does when it rewrites, which is not as it does when it
// extracts: behind a fragment header, only a first fragment's checksum is taken for one.
func (p *Packet) walk() walked {
	b := p.Bytes()[p.L3:p.L4]
	w := walked{proto: b[6], summed: true}
	for b = b[ipv6Len:]; ; {
		var n int
		switch w.proto {
		case protoHopByHop, protoDstOpts, protoRouting, protoAH, protoFragment:
			if len(b) < 8 {
				return w
			}
		}
		switch w.proto {
		case protoHopByHop, protoDstOpts:
			n = (int(b[1]) + 1) * 8
		case protoRouting:
			if b[3] > 0 {
				w.routed = true
				return w
			}
			n = (int(b[1]) + 1) * 8
		case protoAH:
			n = (int(b[1]) + 2) * 4
		case protoFragment:
			where := binary.BigEndian.Uint16(b[2:])
			w.summed = where&0xfff8 == 0 && where&1 != 0
			n = 8
		default:
			return w
		}
		w.proto = b[0]
		if len(b) < n {
			return w
		}
		b = b[n:]
	}
}

// rewriteND writes target and link-layer addresses of a neighbour solicitation or advertisement.
func (p *Packet) rewriteND(c *change) {
	if !c.base.isICMPv6() || c.base.tpDst() != 0 {
		return
	}
	target, sll, tll := c.differsWide(wordND), c.differs(wordSHA, ^uint64(0)), c.differs(wordTHA, ^uint64(0))
	if !target && !sll && !tll {
		return
	}
	l4 := p.l4()
	if len(l4) < ndLen {
		return
	}
	if target {
		p.setIPv6Addr(l4[8:24], c, wordND, of.ProtoICMPv6, true)
	}
	setLinkLayer(l4, c)
	c.done(wordSHA, ^uint64(0))
	c.done(wordTHA, ^uint64(0))
}

// setLinkLayer writes the address of the first option that carries one.
func setLinkLayer(l4 []byte, c *change) {
	for b := l4[ndLen:]; len(b) >= 8 && b[1] != 0; {
		if kind := b[0]; b[1] == 1 && (kind == optSourceLL || kind == optTargetLL) {
			if word := wordSHA + int(kind) - optSourceLL; c.differs(word, ^uint64(0)) {
				setMAC(b[2:8], c.value(word, 0, getMAC(b[2:8])), l4[2:4])
			}
			return
		}
		n := int(b[1]) * 8
		if n > len(b) {
			return
		}
		b = b[n:]
	}
}

// setMAC writes an address that sum covers.
func setMAC(b []byte, mac uint64, sum checksum) {
	for i := range 3 {
		sum.update16(binary.BigEndian.Uint16(b[2*i:]), uint16(mac>>(16*(2-i))))
	}
	putMAC(b, mac)
}
