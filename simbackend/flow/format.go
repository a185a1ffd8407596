package flow

import of "hpnn/datapath/openflow"

// Format is a frame's fields as the "Flow:" and "Final flow:" lines of ofproto/trace give them:
// all that were read from the frame, zeros too, and metadata and registers that are not 0.
func Format(k *Key) string { return FormatPass(k, 0) }

// FormatPass is Format for a frame that the connection tracker sent back into the tables
// under a recirculation id. An id of 0 is a frame's first pass.
func FormatPass(k *Key, recirc uint32) string { return string(AppendPass(nil, k, recirc)) }

// AppendPass appends what FormatPass returns.
func AppendPass(b []byte, k *Key, recirc uint32) []byte {
	shown := k.shown()
	t := text{k: k, m: &shown, b: b, start: len(b)}
	t.metadata(recirc, recirc != 0)
	if recirc != 0 {
		t.add("eth")
	}
	t.headers()
	return t.b
}

// FormatMasked is the bits of k under mask as the "Megaflow:" line gives them, with the
// recirculation id of the frame's pass.
func FormatMasked(k, mask *Key, recirc uint32) string {
	t := text{k: k, m: mask}
	t.metadata(recirc, true)
	t.add("eth")
	t.headers()
	return t.String()
}

// shown is the mask of what Format prints.
func (k *Key) shown() Key {
	var m Key
	for i := range firstHeader {
		for _, half := range [2]uint64{0xffffffff << 32, 0xffffffff} {
			if k[i]&half != 0 {
				m[i] |= half
			}
		}
	}
	k.showConnection(&m)
	for i := firstHeader; i < Words; i++ {
		m[i] = ^uint64(0)
	}
	k.hideAbsent(&m)
	return m
}

// showConnection shows each field of the connection state that is not 0, and the original tuple
// if there is one.
func (k *Key) showConnection(m *Key) {
	m[wordMeta], m[wordTun] = ones(k[wordMeta] != 0), ones(k[wordTun] != 0)
	label := ones(k[wordCTLabel]|k[wordCTLabel+1] != 0)
	m[wordCTLabel], m[wordCTLabel+1] = label, label
	tuple := ones(k.isIP() && k.ctTuple() && uint8(k[wordCT]>>48) != 0)
	m[wordCT] = tuple & 0x00ff_0000_ffff_ffff
	m[wordCT] |= ones(k[wordCT]>>56 != 0) & (0xff << 56)
	m[wordCT] |= ones(uint16(k[wordCT]>>32) != 0) & (0xffff << 32)
	v4 := k.ethType() == of.EthTypeIPv4
	m[wordCTv4] = tuple & ones(v4)
	for i := range 4 {
		m[wordCTv6+i] = tuple & ones(!v4)
	}
}

// hideAbsent hides the header fields that the frame does not have.
func (k *Key) hideAbsent(m *Key) {
	if k.InPort() == 0 {
		m[wordL2] &^= 0xffff << shiftInPort
	}
	if k.tci() == 0 {
		m[wordTags] = 0
	}
	if !k.isIP() {
		m[wordL4] = 0
		return
	}
	if k.frag()&2 != 0 || !hasTransport(k.proto()) {
		m[wordL4] &^= portBits | 0xffff
	}
	if !k.isND(ndSolicit, ndAdvertise) {
		m[wordND], m[wordND+1], m[wordSHA], m[wordTHA] = 0, 0, 0, 0
	}
}

func hasTransport(proto uint8) bool {
	switch proto {
	case of.ProtoICMP, protoIGMP, of.ProtoTCP, of.ProtoUDP, of.ProtoICMPv6, of.ProtoSCTP:
		return true
	}
	return false
}

// ones is a word of one bits if the condition holds, else 0.
func ones(condition bool) uint64 {
	if condition {
		return ^uint64(0)
	}
	return 0
}

func (t *text) metadata(recirc uint32, showRecirc bool) {
	t.hex(of.PktMark)
	if showRecirc {
		t.begin("recirc_id").hexNumber(uint64(recirc))
	}
	t.ctState()
	t.decimal(of.CTZone)
	t.hex(of.CTMark)
	t.label()
	t.ipv4("ct_nw_src", of.CTNwSrc)
	t.ipv6("ct_ipv6_src", of.CTIPv6Src)
	t.ipv4("ct_nw_dst", of.CTNwDst)
	t.ipv6("ct_ipv6_dst", of.CTIPv6Dst)
	t.decimal(of.CTNwProto)
	t.number("ct_tp_src", of.CTTpSrc)
	t.number("ct_tp_dst", of.CTTpDst)
}

func (t *text) headers() {
	keyword, saysType, saysProto := t.keyword()
	t.add(keyword)
	t.registers()
	t.port()
	t.tags()
	t.ether(saysType)
	t.addresses()
	t.network(saysProto)
	t.transport()
}

func (t *text) registers() {
	for r := of.Reg0; r <= of.Reg15; r += 2 {
		if t.m[(r-of.Reg0)/2] != 0 { // the word of both
			t.hex(r)
			t.hex(r + 1)
		}
	}
	t.hex(of.TunID)
	t.hex(of.Metadata)
}

func (t *text) ether(saysType bool) {
	t.mac("dl_src", of.EthSrc)
	t.mac("dl_dst", of.EthDst)
	if !saysType && !t.hidden(of.EthType) {
		t.begin("dl_type").padded(uint64(t.k.ethType()), 4)
	}
}

// network appends what stands between addresses and ports.
func (t *text) network(saysProto bool) {
	if !saysProto {
		t.protocol()
	}
	if t.isARP() {
		t.mac("arp_sha", of.ARPSha)
		t.mac("arp_tha", of.ARPTha)
	}
	t.ip()
	t.labelStack()
}

// keyword is the word that stands for the Ethernet type and perhaps the protocol.
func (t *text) keyword() (word string, saysType, saysProto bool) {
	if t.hidden(of.EthType) {
		return "", false, false
	}
	proto := t.k.proto()
	if t.hidden(of.IPProto) {
		proto = 0
	}
	switch t.k.ethType() {
	case of.EthTypeIPv4:
		word, saysProto = protoWord(proto, of.ProtoICMP)
		if !saysProto {
			word = "ip"
		}
	case of.EthTypeIPv6:
		word, saysProto = protoWord(proto, of.ProtoICMPv6)
		if word += "6"; !saysProto {
			word = "ipv6"
		}
	case of.EthTypeARP:
		word = "arp"
	case of.EthTypeRARP:
		word = "rarp"
	case ethTypeMPLS:
		word = "mpls"
	case ethTypeMPLSm:
		word = "mplsm"
	}
	return word, word != "", saysProto
}

func protoWord(proto, icmp uint8) (word string, ok bool) {
	switch proto {
	case icmp:
		return "icmp", true
	case of.ProtoTCP:
		return "tcp", true
	case of.ProtoUDP:
		return "udp", true
	case of.ProtoSCTP:
		return "sctp", true
	}
	return "", false
}

func (t *text) isARP() bool {
	return t.k.ethType() == of.EthTypeARP || t.k.ethType() == of.EthTypeRARP
}

func (t *text) addresses() {
	switch {
	case t.k.ethType() == of.EthTypeIPv6:
		t.ipv6("ipv6_src", of.IPv6Src)
		t.ipv6("ipv6_dst", of.IPv6Dst)
		t.flowLabel()
	case t.isARP():
		t.ipv4("arp_spa", of.ARPSpa)
		t.ipv4("arp_tpa", of.ARPTpa)
	case t.k.ethType() == of.EthTypeIPv4:
		t.ipv4("nw_src", of.IPSrc)
		t.ipv4("nw_dst", of.IPDst)
	}
}

func (t *text) protocol() {
	switch {
	case t.isARP():
		t.decimal(of.ARPOp)
	case t.k.isIP():
		t.named("nw_proto", of.IPProto)
	}
}

func (t *text) ip() {
	if !t.k.isIP() {
		return
	}
	if !t.hidden(of.IPDSCP) {
		t.begin("nw_tos").decimalNumber(uint64(t.k.tos() &^ 3))
	}
	t.named("nw_ecn", of.IPECN)
	t.decimal(of.IPTTL)
	t.fragment()
}

func (t *text) transport() {
	if !t.k.isIP() {
		return
	}
	switch {
	case t.k.isICMP():
		t.number16("icmp_type", shiftTpSrc)
		t.number16("icmp_code", shiftTpDst)
	case t.k.isICMPv6():
		t.number16("icmp_type", shiftTpSrc)
		t.number16("icmp_code", shiftTpDst)
		t.ipv6("nd_target", of.NDTarget)
		t.mac("nd_sll", of.NDSll)
		t.mac("nd_tll", of.NDTll)
	default:
		t.number16("tp_src", shiftTpSrc)
		t.number16("tp_dst", shiftTpDst)
		if t.k.proto() == of.ProtoTCP {
			t.tcpFlags()
		}
	}
}
