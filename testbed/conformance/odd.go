package conformance

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"slices"

	"hpnn/internal/packet"
)

func addr4(b []byte) netip.Addr { return netip.AddrFrom4([4]byte(b[:4])) }

// odd is a frame with something wrong, made of another.
func (m *maker) odd(frame []byte) []byte {
	b := bytes.Clone(frame)
	for range 1 + m.IntN(3) {
		b = weighted(m, []choice[func([]byte) []byte]{
			{40, m.flipHeader}, {10, m.cut}, {15, m.pad}, {15, m.setLength}, {20, m.setNibble},
		})(b)
	}
	if m.chance(75) {
		fixChecksums(b)
	}
	return b
}

// flipHeader changes a byte behind the MAC addresses.
func (m *maker) flipHeader(b []byte) []byte {
	if at := 12 + m.IntN(60); at < len(b) {
		b[at] = pick(m, b[at]^1<<m.IntN(8), 0, 0xff, byte(m.Uint32()))
	}
	return b
}

func (m *maker) cut(b []byte) []byte { return b[:14+m.IntN(len(b)-13)] }

func (m *maker) pad(b []byte) []byte {
	return append(slices.Clip(b), bytes.Repeat([]byte{byte(m.IntN(2))}, 1+m.IntN(20))...)
}

// setLength writes a length field of an IP or UDP header, mostly slightly wrong.
func (m *maker) setLength(b []byte) []byte {
	etherType, l3 := network(b)
	at := 2 // total length
	switch {
	case etherType == packet.TypeIPv6:
		at = 4
	case m.chance(40):
		at = 24 // UDP length without options
	}
	if len(l3) >= at+2 {
		old := binary.BigEndian.Uint16(l3[at:])
		binary.BigEndian.PutUint16(l3[at:], pick(m, old-uint16(m.IntN(12)), old+uint16(m.IntN(12)), 0, 20, uint16(m.Uint32())))
	}
	return b
}

// setNibble writes the IP header length or the TCP data offset.
func (m *maker) setNibble(b []byte) []byte {
	_, l3 := network(b)
	switch at := 32; { // TCP data offset without options
	case len(l3) > at && m.chance(50):
		l3[at] = byte(m.IntN(16))<<4 | l3[at]&15
	case len(l3) > 0:
		l3[0] = pick[byte](m, 0x45, 0x46, 0x44, 0x4f, 0x65, 0x60)
	}
	return b
}

// fixChecksums makes the checksums of a frame right as far as its headers hold.
func fixChecksums(frame []byte) {
	etherType, l3 := network(frame)
	switch {
	case etherType == packet.TypeIPv4 && len(l3) >= 20:
		fixIPv4(l3)
	case etherType == packet.TypeIPv6 && len(l3) >= 40:
		if n := 40 + int(binary.BigEndian.Uint16(l3[4:])); n <= len(l3) {
			sum := packet.Sum(l3[8:40], uint32(n-40)+uint32(l3[6]))
			fixTransport(l3[6], l3[40:n], sum)
		}
	}
}

func fixIPv4(l3 []byte) {
	header, total := int(l3[0]&15)*4, int(binary.BigEndian.Uint16(l3[2:]))
	if header < 20 || header > total || total > len(l3) {
		return
	}
	binary.BigEndian.PutUint16(l3[10:], 0)
	binary.BigEndian.PutUint16(l3[10:], packet.Checksum(l3[:header]))
	if binary.BigEndian.Uint16(l3[6:])&0x3fff != 0 {
		return
	}
	proto := l3[9]
	fixTransport(proto, l3[header:total], packet.PseudoSum([4]byte(l3[12:16]), [4]byte(l3[16:20]), proto, total-header))
}

// fixTransport fills in the checksum of TCP, UDP, ICMP or ICMPv6, given the sum of the pseudo header.
func fixTransport(proto uint8, l4 []byte, pseudo uint32) {
	at := map[uint8]int{packet.ProtoTCP: 16, packet.ProtoUDP: 6, packet.ProtoICMP: 2, packet.ProtoICMPv6: 2}[proto]
	if at == 0 || at+2 > len(l4) {
		return
	}
	if proto == packet.ProtoICMP {
		pseudo = 0
	}
	binary.BigEndian.PutUint16(l4[at:], 0)
	sum := packet.Fold(packet.Sum(l4, pseudo))
	if sum == 0 && proto == packet.ProtoUDP {
		sum = 0xffff
	}
	binary.BigEndian.PutUint16(l4[at:], sum)
}
