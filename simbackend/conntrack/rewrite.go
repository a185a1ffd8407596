package conntrack

import (
	"encoding/binary"

	"hpnn/internal/packet"
)

// Headers are rewritten as OVS does it: checksums follow by difference (RFC 1624), so a
// wrong one stays wrong by as much, and a UDP checksum of zero means there is none.

// setAddress makes the packet one that k answers: the source is k's destination, or the
// destination k's source.
func (v *view) setAddress(nat State, k *key) {
	switch nat {
	case StateSNAT:
		v.replaceAddr(12, k.dst.addr())
	case StateDNAT:
		v.replaceAddr(16, k.src.addr())
	}
}

// replaceAddr writes the address at offset at of the IP header and mends the checksums
// of the header and of the transport header, as far as that is there.
func (v *view) replaceAddr(at int, addr uint32) {
	old := v.addr(at)
	b := v.payload()
	switch {
	case v.proto() == protoTCP && len(b) >= tcpHeader:
		put16(b, 16, packet.Update32(packet.Word(b, 16), old, addr))
	case v.proto() == protoUDP && len(b) >= udpHeader:
		if sum := packet.Word(b, 6); sum != 0 {
			put16(b, 6, notZero(packet.Update32(sum, old, addr)))
		}
	}
	h := v.header()
	put16(h, 10, packet.Update32(packet.Word(h, 10), old, addr))
	binary.BigEndian.PutUint32(h[at:], addr)
}

// translateTCP is setAddress and then setPorts for a segment with a whole header, at once.
func (v *view) translateTCP(nat State, k *key) {
	h, b, at, addr := v.header(), v.payload(), 12, k.dst.addr()
	if nat == StateDNAT {
		at, addr = 16, k.src.addr()
	}
	old, ports := binary.BigEndian.Uint32(h[at:]), binary.BigEndian.Uint32(b)
	change := ^old>>16 + ^old&0xffff + addr>>16 + addr&0xffff
	put16(h, 10, packet.Fold(uint32(^packet.Word(h, 10))+change))
	binary.BigEndian.PutUint32(h[at:], addr)
	src, dst := k.dst.port(), k.src.port()
	if was := uint16(ports >> 16); was != src { // what stays must not count: the sum of nothing is another zero
		change += uint32(^was) + uint32(src)
	}
	if was := uint16(ports); was != dst {
		change += uint32(^was) + uint32(dst)
	}
	binary.BigEndian.PutUint32(b, uint32(src)<<16|uint32(dst))
	put16(b, 16, packet.Fold(uint32(^packet.Word(b, 16))+change))
}

// setPorts makes the packet's ports those that k answers.
func (v *view) setPorts(k *key) {
	if v.end-v.l4 < 8 {
		return
	}
	b := v.frame[v.l4:]
	switch k.proto {
	case protoTCP:
		setPort(b, 0, k.dst.port(), 16)
		setPort(b, 2, k.src.port(), 16)
	case protoUDP:
		if packet.Word(b, 6) == 0 {
			put16(b, 0, k.dst.port())
			put16(b, 2, k.src.port())
			return
		}
		setPort(b, 0, k.dst.port(), 6)
		setPort(b, 2, k.src.port(), 6)
		put16(b, 6, notZero(packet.Word(b, 6)))
	}
}

// setPort changes the port at b[at:] and the checksum at b[sum:]. A quoted TCP header may
// end before its checksum. OVS 3.1.0 then changes bytes behind the packet: padding, which
// is done here too, or memory that is not its own, where there is nothing to do.
func setPort(b []byte, at int, port uint16, sum int) {
	old := packet.Word(b, at)
	if old == port {
		return
	}
	if len(b) >= sum+2 {
		put16(b, sum, packet.Update16(packet.Word(b, sum), old, port))
	}
	put16(b, at, port)
}

// rewriteInner undoes the translation inside the packet that an ICMP error quotes, so
// that the receiver knows it for its own. The ICMP checksum is computed anew.
func (v *view) rewriteInner(nat State, k key) {
	icmp := v.payload()
	if len(icmp) < icmpLen+ipHeader {
		return
	}
	inner := view{frame: v.frame, l3: v.l4 + icmpLen, end: v.end}
	inner.l4 = inner.l3 + int(v.frame[inner.l3]&0x0f)*4
	if inner.l4 < inner.l3+ipHeader || inner.l4 > inner.end {
		return
	}
	inner.setPorts(&k)
	inner.setAddress(nat, &k)
	put16(icmp, 2, 0)
	put16(icmp, 2, packet.Checksum(icmp))
}

// notZero is how a UDP checksum of zero is written (RFC 768).
func notZero(sum uint16) uint16 {
	if sum == 0 {
		return 0xffff
	}
	return sum
}

func put16(b []byte, at int, v uint16) { binary.BigEndian.PutUint16(b[at:], v) }
