package openflow

// needs is what a prerequisite says and what to add to the match to meet it.
type needs struct{ problem, remedy string }

var prereqNeeds = [...]needs{
	prereqIPv4:   {"needs ip", "add ip"},
	prereqIPv6:   {"needs ipv6", "add ipv6"},
	prereqIP:     {"needs ip or ipv6", "add ip or ipv6"},
	prereqARP:    {"needs arp", "add arp"},
	prereqTCP:    {"needs tcp", "add tcp or tcp6"},
	prereqUDP:    {"needs udp", "add udp or udp6"},
	prereqSCTP:   {"needs sctp", "add sctp or sctp6"},
	prereqICMPv4: {"needs icmp", "add icmp"},
	prereqICMPv6: {"needs icmp6", "add icmp6"},
	prereqNS:     {"needs a neighbour solicitation or advertisement", "add icmp6,icmp_type=135 or icmp6,icmp_type=136"},
	prereqNSOnly: {"needs a neighbour solicitation", "add icmp6,icmp_type=135"},
	prereqNAOnly: {"needs a neighbour advertisement", "add icmp6,icmp_type=136"},
	prereqVLAN:   {"needs a VLAN tag", "add dl_vlan=VID or vlan_tci=0x1000/0x1000"},
	prereqCTv4:   {"needs ip and a valid tracked state", "add ip,ct_state=+trk-inv"},
	prereqCTv6:   {"needs ipv6 and a valid tracked state", "add ipv6,ct_state=+trk-inv"},
	prereqCT:     {"needs ip or ipv6 and a valid tracked state", "add ip,ct_state=+trk-inv"},
}

// met reports whether every frame of m has the header that p is about.
func (p prereq) met(m Match) bool {
	switch p {
	case prereqNone:
		return true
	case prereqIPv4:
		return m.isExactly(EthType, EthTypeIPv4)
	case prereqIPv6:
		return m.isExactly(EthType, EthTypeIPv6)
	case prereqIP:
		return m.isIP()
	case prereqARP:
		return m.isExactly(EthType, EthTypeARP) || m.isExactly(EthType, EthTypeRARP)
	case prereqVLAN:
		return m.isTagged()
	case prereqCTv4:
		return m.isExactly(EthType, EthTypeIPv4) && m.hasValidCT()
	case prereqCTv6:
		return m.isExactly(EthType, EthTypeIPv6) && m.hasValidCT()
	case prereqCT:
		return m.isIP() && m.hasValidCT()
	}
	return p.metL4(m)
}

func (p prereq) metL4(m Match) bool {
	if m.isLaterFragment() {
		return false
	}
	switch p {
	case prereqTCP:
		return m.isIP() && m.isExactly(IPProto, ProtoTCP)
	case prereqUDP:
		return m.isIP() && m.isExactly(IPProto, ProtoUDP)
	case prereqSCTP:
		return m.isIP() && m.isExactly(IPProto, ProtoSCTP)
	case prereqICMPv4:
		return m.isExactly(EthType, EthTypeIPv4) && m.isExactly(IPProto, ProtoICMP)
	case prereqICMPv6:
		return m.isExactly(EthType, EthTypeIPv6) && m.isExactly(IPProto, ProtoICMPv6)
	case prereqNS:
		return m.isND(typeNS) || m.isND(typeNA)
	case prereqNSOnly:
		return m.isND(typeNS)
	case prereqNAOnly:
		return m.isND(typeNA)
	}
	return false
}

// ICMPv6 types of neighbour discovery (RFC 4861).
const (
	typeNS = 135
	typeNA = 136
)

func (m Match) isExactly(f Field, v uint64) bool {
	for i := range m.terms {
		if t := &m.terms[i]; t.Field == f {
			return t.Value == U64(v) && t.Mask == f.Mask()
		}
	}
	return false
}

func (m Match) isIP() bool {
	return m.isExactly(EthType, EthTypeIPv4) || m.isExactly(EthType, EthTypeIPv6)
}

// isND reports whether m is about ICMPv6 messages of the given type, whose code is zero.
func (m Match) isND(icmpType uint64) bool {
	return prereqICMPv6.met(m) && m.isExactly(ICMPv6Type, icmpType) && m.Get(ICMPv6Code).Value.IsZero()
}

func (m Match) isTagged() bool {
	t := m.Get(VLANTCI)
	return t.Mask.Lo&t.Value.Lo&VLANPresent != 0
}

func (m Match) isLaterFragment() bool {
	t := m.Get(IPFrag)
	return t.Mask.Lo&t.Value.Lo&2 != 0
}

// hasValidCT reports whether m's ct_state says that the tracker knows the connection.
func (m Match) hasValidCT() bool {
	t := m.Get(CTState)
	set := uint32(t.Value.Lo)
	clear := uint32(t.Mask.Lo &^ t.Value.Lo)
	return set&(CTNew|CTEst|CTRel|CTRpl|CTSNAT|CTDNAT) != 0 || set&CTTrk != 0 && clear&CTInv != 0
}
