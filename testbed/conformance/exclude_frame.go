package conformance

import (
	"hpnn/datapath/openflow"
	"hpnn/internal/packet"
)

const (
	header   = 14 // bytes, of Ethernet
	maxFrame = 1500
)

// allowed reports whether a frame may be part of the case that is being made.
func (m *maker) allowed(frame []byte) bool {
	t := m.traits
	switch {
	case len(frame) < header, len(frame) > maxFrame, isNSH(frame):
		return false
	case t.nat && isICMPError(frame), t.tracking && isIPv6(frame), t.learning && isMPLS(frame), m.parts && isFragment(frame),
		m.partsOfOp && isLargeOp(frame):
		return false
	}
	return true
}

// has reports whether any frame of the case is as wanted.
func (c Case) has(wanted func([]byte) bool) bool {
	for f := range c.frames {
		if wanted(f.Bytes) {
			return true
		}
	}
	return false
}

func icmpErrorWithNAT(c Case) bool { return c.does(translates) && c.has(isICMPError) }
func ipv6Tracking(c Case) bool     { return c.does(tracks) && c.has(isIPv6) }
func learnedMPLS(c Case) bool      { return c.does(learns) && c.has(isMPLS) }
func partOfFragment(c Case) bool   { return c.does(blindlyWritesPart) && c.has(isFragment) }
func partOfLargeOp(c Case) bool    { return c.does(writesPartOfOp) && c.has(isLargeOp) }
func hasNSH(c Case) bool           { return c.has(isNSH) }
func oversize(c Case) bool         { return c.has(func(b []byte) bool { return len(b) > maxFrame }) }

func tracks(a openflow.Action) bool {
	_, ok := a.(openflow.CT)
	return ok
}

func learns(a openflow.Action) bool {
	_, ok := a.(openflow.Learn)
	return ok
}

// isICMPError reports whether a frame may be taken for an ICMP or ICMPv6 error.
func isICMPError(frame []byte) bool {
	etherType, l3 := network(frame)
	switch {
	case etherType == packet.TypeIPv4 && len(l3) >= 20 && l3[9] == packet.ProtoICMP:
		if l4 := int(l3[0]&15) * 4; l4 < len(l3) {
			kind := l3[l4]
			return kind == 3 || kind == 4 || kind == 5 || kind == 11 || kind == 12
		}
	case etherType == packet.TypeIPv6 && len(l3) > 40:
		return l3[6] != packet.ProtoTCP && l3[6] != packet.ProtoUDP && !(l3[6] == packet.ProtoICMPv6 && l3[40] >= 128)
	}
	return false
}

func isIPv6(frame []byte) bool {
	etherType, _ := network(frame)
	return etherType == packet.TypeIPv6
}

func isNSH(frame []byte) bool {
	etherType, _ := network(frame)
	return etherType == 0x894f
}

// isLargeOp reports whether a frame is ARP with an operation above 255.
func isLargeOp(frame []byte) bool {
	etherType, l3 := network(frame)
	return etherType == packet.TypeARP && len(l3) >= 8 && l3[6] != 0
}

func isMPLS(frame []byte) bool {
	etherType, _ := network(frame)
	return etherType == 0x8847 || etherType == 0x8848
}
