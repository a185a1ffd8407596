package conntrack

import (
	"encoding/binary"

	"hpnn/internal/packet"
)

// lookup is one packet on its way through the table.
type lookup struct {
	view
	key     key
	segment segment // of a TCP packet
	hash    uint32  // of the key, unless a hint made it needless
	gap     gap     // where the look for the key ended, if it is absent
	absent  bool    // nothing was found under the key
	related bool    // the key is that of the connection an ICMP error speaks about
	reply   bool
	mapped  bool // Table.mapping is what a connection opened by it gets
}

// extract reads the key of p. A packet without one is invalid: it has a bad checksum, a
// header that does not fit, a zero port, or an ICMP message that is neither a query
// nor an error about something.
func (l *lookup) extract(p *Packet, zone uint16) bool {
	l4, end, ok := p.bounds()
	if !ok {
		return false
	}
	ip, b := p.Frame[p.L3:l4], p.Frame[l4:end]
	w0, w1, w2 := binary.BigEndian.Uint64(ip), binary.BigEndian.Uint64(ip[8:]), binary.BigEndian.Uint32(ip[16:])
	if w0&0x3fff != 0 || !sound(halves(w0)+halves(w1)+uint64(w2)+more(ip[ipHeader:])) { // a fragment, or damaged
		return false
	}
	l.frame, l.l3, l.l4, l.end = p.Frame, p.L3, l4, end
	l.key = key{
		src:   newEndpoint(uint32(w1), 0),
		dst:   newEndpoint(w2, 0),
		zone:  zone,
		proto: uint8(w1 >> 48),
	}
	pseudo := w1&0xffffffff + uint64(w2) + w1>>48&0xff + uint64(len(b))
	switch l.key.proto {
	case protoTCP:
		ok = l.extractTCP(b, pseudo)
	case protoUDP:
		ok = udpSound(b, pseudo) && l.key.setL4(b)
	case protoICMP:
		ok = l.extractICMP(b)
	}
	return ok
}

// halves adds the halves of a word; for the sum of a checksum all ways to cut a packet into words are one.
func halves(w uint64) uint64 { return w>>32 + w&0xffffffff }

// more is what the rest of a header or packet, mostly nothing, adds to a sum.
func more(b []byte) uint64 {
	if len(b) == 0 {
		return 0
	}
	return uint64(packet.Sum(b, 0))
}

// sound tells whether a sum that includes the checksum is right.
func sound(sum uint64) bool {
	sum = halves(sum)
	sum = sum>>16 + sum&0xffff
	sum = sum>>16 + sum&0xffff
	return sum>>16+sum&0xffff == 0xffff
}

// extractTCP reads a segment whose pseudo header adds up to a sum.
func (l *lookup) extractTCP(b []byte, pseudo uint64) bool {
	if len(b) < tcpHeader {
		return false
	}
	w0, w1, w2 := binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:]), binary.BigEndian.Uint32(b[16:])
	header := int(w1>>28&0xf) * 4
	if header < tcpHeader || header > len(b) || !sound(pseudo+halves(w0)+halves(w1)+uint64(w2)+more(b[tcpHeader:])) {
		return false
	}
	src, dst := uint16(w0>>48), uint16(w0>>32)
	l.key.src |= endpoint(src) << 16
	l.key.dst |= endpoint(dst) << 16
	s := &l.segment
	s.seq, s.ack, s.length = uint32(w0), uint32(w1>>32), uint32(len(b)-header)
	s.window, s.flags, s.options = uint16(w1), uint8(w1>>16), b[tcpHeader:header]
	return src != 0 && dst != 0
}

// udpSound checks length and checksum of a datagram.
func udpSound(b []byte, pseudo uint64) bool {
	if len(b) < udpHeader {
		return false
	}
	length := int(packet.Word(b, 4))
	if length < udpHeader || length > len(b) {
		return false
	}
	return packet.Word(b, 6) == 0 || sound(pseudo+more(b))
}

// extractICMP completes the key from a query or answer, or replaces it by that of the packet inside an error.
func (l *lookup) extractICMP(b []byte) bool {
	if packet.Checksum(b) != 0 || len(b) < icmpLen {
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
