package conntrack

import (
	"hpnn/internal/packet"
)

// lookup is one packet on its way through the table.
type lookup struct {
	view
	key     key
	hash    uint64
	related bool // the key is that of the connection an ICMP error speaks about
	reply   bool
}

// extract reads the key of p. A packet without one is invalid: it has a bad checksum, a
// header that does not fit, a zero port, or an ICMP message that is neither a query
// nor an error about something.
func (l *lookup) extract(p *Packet, zone uint16) bool {
	v, ok := p.view()
	if !ok || v.fragment() || packet.Checksum(v.header()) != 0 {
		return false
	}
	l.view = v
	l.key = key{
		src:   newEndpoint(v.addr(12), 0),
		dst:   newEndpoint(v.addr(16), 0),
		zone:  zone,
		proto: v.proto(),
	}
	if !l.validPayload() || !l.extractL4() {
		return false
	}
	l.hash = l.key.hash()
	return true
}

// validPayload checks lengths and checksums of the transport header.
func (l *lookup) validPayload() bool {
	b := l.payload()
	switch l.key.proto {
	case protoTCP:
		return tcpFits(b) && l.checksumGood()
	case protoUDP:
		if len(b) < udpHeader {
			return false
		}
		length := int(packet.Word(b, 4))
		if length < udpHeader || length > len(b) {
			return false
		}
		return packet.Word(b, 6) == 0 || l.checksumGood()
	case protoICMP:
		return packet.Checksum(b) == 0
	}
	return true
}

func tcpFits(b []byte) bool {
	if len(b) < tcpHeader {
		return false
	}
	header := int(b[12]>>4) * 4
	return header >= tcpHeader && header <= len(b)
}

func (l *lookup) checksumGood() bool {
	b := l.payload()
	src, dst := l.addrs()
	return packet.Fold(packet.Sum(b, packet.PseudoSum(src, dst, l.key.proto, len(b)))) == 0
}

// extractL4 completes the key from the transport header, or replaces it by that of the
// packet inside an ICMP error.
func (l *lookup) extractL4() bool {
	b := l.payload()
	if l.key.proto != protoICMP {
		return l.key.setL4(b)
	}
	if len(b) < icmpLen {
		return false
	}
	if isICMPError(b[0]) {
		return l.extractInner(b[icmpLen:])
	}
	return l.key.setL4(b)
}

// extractInner reads the quoted packet. Its checksum and total length are not looked
// at; it must have been sent to the error's receiver's peer, whole, and show eight
// bytes behind its IP header. The key is the quoted one turned round: the direction of
// the error.
func (l *lookup) extractInner(b []byte) bool {
	if len(b) < ipHeader {
		return false
	}
	header := int(b[0]&0x0f) * 4
	if header < ipHeader || header > len(b) || packet.Word(b, 6)&0x3fff != 0 {
		return false
	}
	inner := key{
		src:   newEndpoint(word32(b, 12), 0),
		dst:   newEndpoint(word32(b, 16), 0),
		zone:  l.key.zone,
		proto: b[9],
	}
	if inner.src != l.key.dst || !inner.setL4(b[header:]) {
		return false
	}
	l.key, l.related = inner.reverse(), true
	return true
}

// setL4 fills ports, or the ICMP identifier and types, from the first eight bytes of b.
// Protocols without ports have a complete key already.
func (k *key) setL4(b []byte) bool {
	switch k.proto {
	case protoTCP, protoUDP:
		if len(b) < 8 {
			return false
		}
		src, dst := packet.Word(b, 0), packet.Word(b, 2)
		k.src, k.dst = k.src.withPort(src), k.dst.withPort(dst)
		return src != 0 && dst != 0
	case protoICMP:
		return k.setICMP(b)
	}
	return true
}

func (k *key) setICMP(b []byte) bool {
	if len(b) < icmpLen || b[1] != 0 {
		return false
	}
	back, ok := pairedType(b[0])
	id := packet.Word(b, 4)
	k.src = k.src.withPort(id).withType(b[0])
	k.dst = k.dst.withPort(id).withType(back)
	return ok
}

// pairedType is the ICMP type that answers t, or that t answers (RFC 792).
func pairedType(t byte) (byte, bool) {
	switch t {
	case 0, 8: // echo
		return 8 - t, true
	case 13, 14: // timestamp
		return 27 - t, true
	case 15, 16: // information
		return 31 - t, true
	}
	return 0, false
}

// isICMPError tells the messages that quote the packet they are about: unreachable,
// source quench, redirect, time exceeded, parameter problem.
func isICMPError(t byte) bool {
	return t == 3 || t == 4 || t == 5 || t == 11 || t == 12
}

func word32(b []byte, at int) uint32 {
	return uint32(packet.Word(b, at))<<16 | uint32(packet.Word(b, at+2))
}
