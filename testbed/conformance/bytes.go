package conformance

import "encoding/binary"

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
