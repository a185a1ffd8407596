package openflow

import "strconv"

// String is the match as a flow dump shows it, such as "tcp,reg0=0x1,nw_dst=10.0.0.0/24,tp_dst=80".
// The match of every frame is the empty string.
func (m Match) String() string { return string(m.append(nil)) }

func (m Match) append(b []byte) []byte {
	start := len(b)
	keyword, impliesProto := m.keyword()
	for _, t := range m.terms {
		if keyword != "" && t.Field >= Reg0 {
			b, keyword = append(comma(b, start), keyword...), ""
		}
		if t.Field == EthType && ethTypeKeyword(t.Value) != "" || t.Field == IPProto && impliesProto {
			continue
		}
		b = t.append(comma(b, start))
	}
	return b
}

// comma separates an item from what was written since start.
func comma(b []byte, start int) []byte {
	if len(b) == start {
		return b
	}
	return append(b, ',')
}

// keyword is the word for the match's Ethernet type and, perhaps, IP protocol.
func (m Match) keyword() (word string, impliesProto bool) {
	ethType, ok := m.Exact(EthType)
	if !ok {
		return "", false
	}
	if proto, ok := m.Exact(IPProto); ok {
		if word := protoKeyword(ethType, proto); word != "" {
			return word, true
		}
	}
	return ethTypeKeyword(ethType), false
}

// protocol is a keyword of the flow syntax and what it stands for.
type protocol struct {
	word    string
	ethType uint64
	proto   int // -1: any
}

// protocols lists the keywords; the first that fits is printed.
var protocols = []protocol{
	{"ip", EthTypeIPv4, -1}, {"arp", EthTypeARP, -1}, {"rarp", EthTypeRARP, -1}, {"ipv6", EthTypeIPv6, -1},
	{"icmp", EthTypeIPv4, ProtoICMP}, {"tcp", EthTypeIPv4, ProtoTCP}, {"udp", EthTypeIPv4, ProtoUDP}, {"sctp", EthTypeIPv4, ProtoSCTP},
	{"icmp6", EthTypeIPv6, ProtoICMPv6}, {"tcp6", EthTypeIPv6, ProtoTCP}, {"udp6", EthTypeIPv6, ProtoUDP}, {"sctp6", EthTypeIPv6, ProtoSCTP},
}

func ethTypeKeyword(ethType Value) string { return findKeyword(ethType, -1) }

func protoKeyword(ethType, proto Value) string { return findKeyword(ethType, int(proto.Lo)) }

func findKeyword(ethType Value, proto int) string {
	for _, p := range protocols {
		if p.ethType == ethType.Lo && p.proto == proto {
			return p.word
		}
	}
	return ""
}

// String is the condition as a flow dump shows it, such as "reg0=0x5/0xf".
func (t Term) String() string { return string(t.append(nil)) }

func (t Term) append(b []byte) []byte {
	if t.Field == VLANTCI {
		return t.appendVLAN(b)
	}
	b = append(append(b, t.Field.info().name...), '=')
	return t.appendValue(b)
}

// appendValue writes a value as a match does: decimal fields turn hexadecimal under a mask.
func (t Term) appendValue(b []byte) []byte {
	i := t.Field.info()
	switch i.style {
	case styleTCPFlags:
		return appendFlags(b, t.Value, t.Mask, tcpFlagNames)
	case styleCTState:
		return appendFlags(b, t.Value, t.Mask, ctStateNames)
	case styleFrag:
		return appendFrag(b, t.Value, t.Mask)
	case styleTOS:
		return strconv.AppendUint(b, t.Value.Lo<<2, 10)
	case styleDecimal:
		if t.Mask != t.Field.Mask() {
			return appendHex(append(appendHex(b, t.Value, 1), '/'), t.Mask, 1)
		}
	}
	if digits := t.Field.paddedTo(); digits > 0 {
		b = appendHex(b, t.Value, digits)
		if t.Mask != t.Field.Mask() {
			b = appendHex(append(b, '/'), t.Mask, digits)
		}
		return b
	}
	return t.Field.appendSet(b, t.Value, t.Mask)
}

// paddedTo is the number of hexadecimal digits of the fields that a match pads; 0 for others.
func (f Field) paddedTo() int {
	switch f {
	case EthType, VLANTCI:
		return 4
	case IPv6Label:
		return 5
	}
	return 0
}

// appendVLAN writes the tag as dl_vlan and dl_vlan_pcp where it can.
func (t Term) appendVLAN(b []byte) []byte {
	vid, pcp := t.Mask.Lo&0xfff, t.Mask.Lo>>13
	if t.Mask.Lo&t.Value.Lo&VLANPresent == 0 || vid != 0 && vid != 0xfff || pcp != 0 && pcp != 7 || vid|pcp == 0 {
		return t.appendValue(append(b, "vlan_tci="...))
	}
	start := len(b)
	if vid != 0 {
		b = strconv.AppendUint(append(b, "dl_vlan="...), t.Value.Lo&0xfff, 10)
	}
	if pcp != 0 {
		b = strconv.AppendUint(append(comma(b, start), "dl_vlan_pcp="...), t.Value.Lo>>13, 10)
	}
	return b
}
