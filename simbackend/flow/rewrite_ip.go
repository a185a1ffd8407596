package flow

import (
	"encoding/binary"

	of "hpnn/datapath/openflow"
	"hpnn/internal/packet"
)

// l4 is the IP payload.
func (p *Packet) l4() []byte {
	b := p.Bytes()
	return b[p.L4 : len(b)-int(p.Pad)]
}

// checksum is a checksum field in the frame, which follows changes by RFC 1624.
type checksum []byte

func (c checksum) update16(old, new uint16) {
	binary.BigEndian.PutUint16(c, packet.Update16(binary.BigEndian.Uint16(c), old, new))
}

func (c checksum) update32(old, new uint32) {
	binary.BigEndian.PutUint16(c, packet.Update32(binary.BigEndian.Uint16(c), old, new))
}

// isZero reports whether the field is 0, which UDP takes for "no checksum".
func (c checksum) isZero() bool { return c[0]|c[1] == 0 }

// avoidZero makes a UDP checksum that has come out as 0 the other zero.
func (c checksum) avoidZero() {
	if c.isZero() {
		c[0], c[1] = 0xff, 0xff
	}
}

// rewriteIPv4 writes addresses, TOS and TTL.
func (p *Packet) rewriteIPv4(c *change) {
	if !p.HasL4() {
		return
	}
	h := p.Bytes()[p.L3:]
	for i, addr := range [2][]byte{h[12:16], h[16:20]} {
		if shift := 32 - 32*i; c.differs(wordIPv4, 0xffffffff<<shift) {
			old := binary.BigEndian.Uint32(addr)
			p.setIPv4Addr(h, addr, old, uint32(c.value(wordIPv4, shift, uint64(old))))
		}
	}
	c.done(wordIPv4, ^uint64(0))
	if c.differs(wordL4, 0xff<<shiftTOS) {
		tos := uint8(c.value(wordL4, shiftTOS, uint64(h[1])))
		checksum(h[10:12]).update16(uint16(h[1]), uint16(tos))
		h[1] = tos
	}
	if c.differs(wordL4, 0xff<<shiftTTL) {
		ttl := uint8(c.value(wordL4, shiftTTL, uint64(h[8])))
		checksum(h[10:12]).update16(uint16(h[8])<<8, uint16(ttl)<<8)
		h[8] = ttl
	}
	c.done(wordL4, 0xff<<shiftTOS|0xff<<shiftTTL)
}

// setIPv4Addr writes one address of the IPv4 header h. The switch looks for the checksum of TCP or
// UDP by the size of the payload alone, so in a later fragment it alters payload.
func (p *Packet) setIPv4Addr(h, addr []byte, old, new uint32) {
	if old == new {
		return
	}
	l4 := p.l4()
	switch proto := h[9]; {
	case proto == of.ProtoTCP && len(l4) >= tcpLen:
		checksum(l4[16:18]).update32(old, new)
	case proto == of.ProtoUDP && len(l4) >= udpLen:
		if sum := checksum(l4[6:8]); !sum.isZero() {
			sum.update32(old, new)
			sum.avoidZero()
		}
	}
	checksum(h[10:12]).update32(old, new)
	binary.BigEndian.PutUint32(addr, new)
}

// rewriteTransport writes ports, or ICMP type and code.
func (p *Packet) rewriteTransport(c *change) {
	if !c.differs(wordL4, portBits) || !p.HasL4() {
		return
	}
	l4 := p.l4()
	switch proto := c.base.proto(); {
	case proto == of.ProtoTCP:
		setPortsTCP(l4, c)
	case proto == of.ProtoUDP:
		setPortsUDP(l4, c)
	case proto == of.ProtoSCTP:
		setPortsSCTP(l4, c)
	case c.base.isICMP(), c.base.isICMPv6():
		setTypeAndCode(l4, c.want)
	default:
		return
	}
	c.done(wordL4, portBits)
}

// setPorts writes the ports that differ. sum, if not nil, follows.
func setPorts(l4 []byte, c *change, sum checksum) {
	for i, field := range [2][]byte{l4[0:2], l4[2:4]} {
		shift := shiftTpSrc - 16*i
		if !c.differs(wordL4, 0xffff<<shift) {
			continue
		}
		old := binary.BigEndian.Uint16(field)
		setPort(field, sum, uint16(c.value(wordL4, shift, uint64(old))))
	}
}

func setPortsTCP(l4 []byte, c *change) {
	if len(l4) < tcpLen {
		return
	}
	if n := int(l4[12]>>4) * 4; n >= tcpLen && n <= len(l4) {
		setPorts(l4, c, checksum(l4[16:18]))
	}
}

func setPortsUDP(l4 []byte, c *change) {
	if len(l4) < udpLen {
		return
	}
	if sum := checksum(l4[6:8]); sum.isZero() {
		setPorts(l4, c, nil)
	} else {
		setPorts(l4, c, sum)
		sum.avoidZero()
	}
}

// setTypeAndCode writes type and code of an ICMP or ICMPv6 message, both if one of them changes.
func setTypeAndCode(l4 []byte, want *Key) {
	if len(l4) < icmpLen {
		return
	}
	old, new := binary.BigEndian.Uint16(l4), want.tpSrc()<<8|want.tpDst()&0xff
	if old != new {
		checksum(l4[2:4]).update16(old, new)
		binary.BigEndian.PutUint16(l4, new)
	}
}
