package conformance

import (
	"encoding/binary"
	"slices"

	"hpnn/internal/packet"
)

// isFragment reports whether a frame is an IP packet that is part of a datagram, or may be.
func isFragment(frame []byte) bool {
	etherType, l3 := network(frame)
	switch {
	case etherType == 0x0800 && len(l3) >= 20:
		return binary.BigEndian.Uint16(l3[6:])&0x3fff != 0
	case etherType == 0x86dd:
		return len(l3) >= 40 && (l3[6] == 44 || l3[6] == 0 || l3[6] == 43 || l3[6] == 60 || l3[6] == 51)
	}
	return false
}

// network finds what is behind the Ethernet header and its tags.
func network(frame []byte) (etherType uint16, payload []byte) {
	for at := 12; at+2 <= len(frame); at += 4 {
		etherType = binary.BigEndian.Uint16(frame[at:])
		if etherType != 0x8100 && etherType != 0x88a8 {
			return etherType, frame[at+2:]
		}
	}
	return 0, nil
}

// withoutPayload is a frame without what TCP, UDP or ICMP carries, if it is over IPv4 and carries something.
func withoutPayload(frame []byte) ([]byte, bool) {
	etherType, l3 := network(frame)
	if etherType != 0x0800 || len(l3) < 20 || l3[0] != 0x45 || isFragment(frame) || packet.Verify(frame) != nil {
		return nil, false
	}
	size := map[byte]int{packet.ProtoTCP: 20, packet.ProtoUDP: 8, packet.ProtoICMP: 8}[l3[9]]
	if l3[9] == packet.ProtoTCP && len(l3) >= 40 {
		size = int(l3[32]>>4) * 4
	}
	if size == 0 || len(l3) <= 20+size || isICMPError(frame) {
		return nil, false
	}
	b := slices.Clone(frame[:len(frame)-len(l3)+20+size])
	_, l3 = network(b)
	binary.BigEndian.PutUint16(l3[2:], uint16(20+size))
	if l3[9] == packet.ProtoUDP {
		binary.BigEndian.PutUint16(l3[24:], 8)
	}
	fixChecksums(b)
	return b, true
}
