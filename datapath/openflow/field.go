package openflow

// Field identifies a header, metadata or register field (ovs-fields(7)). The order of the
// constants is the order in which a match prints.
type Field uint8

// Possible Field values. The zero value is no field.
const (
	FieldNone Field = iota
	PktMark
	CTState
	CTZone
	CTMark
	CTLabel
	CTNwSrc
	CTIPv6Src
	CTNwDst
	CTIPv6Dst
	CTNwProto
	CTTpSrc
	CTTpDst
	Reg0
	Reg1
	Reg2
	Reg3
	Reg4
	Reg5
	Reg6
	Reg7
	Reg8
	Reg9
	Reg10
	Reg11
	Reg12
	Reg13
	Reg14
	Reg15
	TunID
	Metadata
	InPort
	VLANTCI
	EthSrc
	EthDst
	EthType
	IPSrc
	IPDst
	IPv6Src
	IPv6Dst
	IPv6Label
	ARPSpa
	ARPTpa
	IPProto
	ARPOp
	ARPSha
	ARPTha
	IPDSCP
	IPECN
	IPTTL
	IPFrag
	ICMPType
	ICMPCode
	ICMPv6Type
	ICMPv6Code
	NDTarget
	NDSll
	NDTll
	TCPSrc
	TCPDst
	TCPFlags
	UDPSrc
	UDPDst
	SCTPSrc
	SCTPDst

	// The rest name parts or unions of the fields above. A Match never holds them
	// (Match.With rewrites them); actions may.
	VLANVID
	VLANPCP
	XReg0
	XReg1
	XReg2
	XReg3
	XReg4
	XReg5
	XReg6
	XReg7
	XXReg0
	XXReg1
	XXReg2
	XXReg3

	numFields
)

// Ethernet types and IP protocols that prerequisites speak of.
const (
	EthTypeIPv4 = 0x0800
	EthTypeARP  = 0x0806
	EthTypeVLAN = 0x8100
	EthTypeQinQ = 0x88a8
	EthTypeRARP = 0x8035
	EthTypeIPv6 = 0x86dd

	ProtoICMP   = 1
	ProtoTCP    = 6
	ProtoUDP    = 17
	ProtoICMPv6 = 58
	ProtoSCTP   = 132
)

// Bits of CTState (ovs-fields(7), "Connection Tracking Fields").
const (
	CTNew uint32 = 1 << iota
	CTEst
	CTRel
	CTRpl
	CTInv
	CTTrk
	CTSNAT
	CTDNAT
)

// Values of IPFrag: bit 0 says "a fragment", bit 1 "not the first".
const (
	FragNo    = 0
	FragFirst = 1
	FragLater = 3
)

// VLANPresent is the bit of VLANTCI that says a tag is there (the CFI bit, as OVS uses it).
const VLANPresent = 0x1000

// prereq is what a match must say before it may speak of a field.
type prereq uint8

const (
	prereqNone prereq = iota
	prereqIPv4
	prereqIPv6
	prereqIP // either
	prereqARP
	prereqTCP
	prereqUDP
	prereqSCTP
	prereqICMPv4
	prereqICMPv6
	prereqNS // ICMPv6 neighbour solicitation or advertisement, as nd_target
	prereqNSOnly
	prereqNAOnly
	prereqVLAN
	prereqCTv4
	prereqCTv6
	prereqCT
)

// maskRule says which masks a field takes.
type maskRule uint8

const (
	maskNone maskRule = iota // exact only
	maskAny                  // any bits
)

// style is how a field's value is written.
type style uint8

const (
	styleDecimal  style = iota // decimal when exact, hexadecimal when masked
	styleHex                   // always hexadecimal
	styleMAC                   // 02:42:c0:a8:05:14
	styleIPv4                  // 10.0.0.0/24
	styleIPv6                  // fd00::/64
	stylePort                  // number, or a reserved name
	styleTCPFlags              // +syn-ack or syn|ack
	styleCTState               // +trk-inv or trk|est
	styleFrag                  // no, yes, first, later, not_later
	styleTOS                   // the six DSCP bits, written shifted left by two as nw_tos
)

// access says whether actions may write a field.
type access uint8

const (
	readOnly access = iota
	readWrite
	ctExecOnly // writable only inside ct(exec(...))
)

// fieldInfo is one row of the field table.
type fieldInfo struct {
	name    string   // printed in a match
	oxm     string   // name printed in set_field
	aliases []string // also accepted
	header  string   // NXM or OXM name printed in move, push, learn
	headers []string // also accepted
	width   uint8    // bits
	mask    maskRule
	style   style
	prereq  prereq
	access  access
}

func reg(n string) fieldInfo {
	return fieldInfo{name: "reg" + n, header: "NXM_NX_REG" + n, width: 32, mask: maskAny, style: styleHex, access: readWrite}
}

func xreg(n string) fieldInfo {
	return fieldInfo{name: "xreg" + n, header: "OXM_OF_PKT_REG" + n, width: 64, mask: maskAny, style: styleHex, access: readWrite}
}

func xxreg(n string) fieldInfo {
	return fieldInfo{name: "xxreg" + n, header: "NXM_NX_XXREG" + n, width: 128, mask: maskAny, style: styleHex, access: readWrite}
}

// fields is the one list of fields, after ovs-fields(7).
var fields = [numFields]fieldInfo{
	PktMark:   {name: "pkt_mark", header: "NXM_NX_PKT_MARK", width: 32, mask: maskAny, style: styleHex, access: readWrite},
	CTState:   {name: "ct_state", header: "NXM_NX_CT_STATE", width: 32, mask: maskAny, style: styleCTState},
	CTZone:    {name: "ct_zone", header: "NXM_NX_CT_ZONE", width: 16},
	CTMark:    {name: "ct_mark", header: "NXM_NX_CT_MARK", width: 32, mask: maskAny, style: styleHex, access: ctExecOnly},
	CTLabel:   {name: "ct_label", header: "NXM_NX_CT_LABEL", width: 128, mask: maskAny, style: styleHex, access: ctExecOnly},
	CTNwSrc:   {name: "ct_nw_src", header: "NXM_NX_CT_NW_SRC", width: 32, mask: maskAny, style: styleIPv4, prereq: prereqCTv4},
	CTNwDst:   {name: "ct_nw_dst", header: "NXM_NX_CT_NW_DST", width: 32, mask: maskAny, style: styleIPv4, prereq: prereqCTv4},
	CTIPv6Src: {name: "ct_ipv6_src", header: "NXM_NX_CT_IPV6_SRC", width: 128, mask: maskAny, style: styleIPv6, prereq: prereqCTv6},
	CTIPv6Dst: {name: "ct_ipv6_dst", header: "NXM_NX_CT_IPV6_DST", width: 128, mask: maskAny, style: styleIPv6, prereq: prereqCTv6},
	CTNwProto: {name: "ct_nw_proto", header: "NXM_NX_CT_NW_PROTO", width: 8, prereq: prereqCT},
	CTTpSrc:   {name: "ct_tp_src", header: "NXM_NX_CT_TP_SRC", width: 16, mask: maskAny, prereq: prereqCT},
	CTTpDst:   {name: "ct_tp_dst", header: "NXM_NX_CT_TP_DST", width: 16, mask: maskAny, prereq: prereqCT},

	Reg0: reg("0"), Reg1: reg("1"), Reg2: reg("2"), Reg3: reg("3"),
	Reg4: reg("4"), Reg5: reg("5"), Reg6: reg("6"), Reg7: reg("7"),
	Reg8: reg("8"), Reg9: reg("9"), Reg10: reg("10"), Reg11: reg("11"),
	Reg12: reg("12"), Reg13: reg("13"), Reg14: reg("14"), Reg15: reg("15"),

	TunID:    {name: "tun_id", aliases: []string{"tunnel_id"}, header: "NXM_NX_TUN_ID", headers: []string{"OXM_OF_TUNNEL_ID"}, width: 64, mask: maskAny, style: styleHex, access: readWrite},
	Metadata: {name: "metadata", header: "OXM_OF_METADATA", width: 64, mask: maskAny, style: styleHex, access: readWrite},
	InPort:   {name: "in_port", header: "NXM_OF_IN_PORT", width: 16, style: stylePort, access: readWrite},
	VLANTCI:  {name: "vlan_tci", header: "NXM_OF_VLAN_TCI", width: 16, mask: maskAny, style: styleHex, access: readWrite},
	EthSrc:   {name: "dl_src", oxm: "eth_src", aliases: []string{"eth_src"}, header: "NXM_OF_ETH_SRC", headers: []string{"OXM_OF_ETH_SRC"}, width: 48, mask: maskAny, style: styleMAC, access: readWrite},
	EthDst:   {name: "dl_dst", oxm: "eth_dst", aliases: []string{"eth_dst"}, header: "NXM_OF_ETH_DST", headers: []string{"OXM_OF_ETH_DST"}, width: 48, mask: maskAny, style: styleMAC, access: readWrite},
	EthType:  {name: "dl_type", oxm: "eth_type", aliases: []string{"eth_type"}, header: "NXM_OF_ETH_TYPE", headers: []string{"OXM_OF_ETH_TYPE"}, width: 16, style: styleHex},

	IPSrc:     {name: "nw_src", oxm: "ip_src", aliases: []string{"ip_src"}, header: "NXM_OF_IP_SRC", headers: []string{"OXM_OF_IPV4_SRC"}, width: 32, mask: maskAny, style: styleIPv4, prereq: prereqIPv4, access: readWrite},
	IPDst:     {name: "nw_dst", oxm: "ip_dst", aliases: []string{"ip_dst"}, header: "NXM_OF_IP_DST", headers: []string{"OXM_OF_IPV4_DST"}, width: 32, mask: maskAny, style: styleIPv4, prereq: prereqIPv4, access: readWrite},
	IPv6Src:   {name: "ipv6_src", header: "NXM_NX_IPV6_SRC", headers: []string{"OXM_OF_IPV6_SRC"}, width: 128, mask: maskAny, style: styleIPv6, prereq: prereqIPv6, access: readWrite},
	IPv6Dst:   {name: "ipv6_dst", header: "NXM_NX_IPV6_DST", headers: []string{"OXM_OF_IPV6_DST"}, width: 128, mask: maskAny, style: styleIPv6, prereq: prereqIPv6, access: readWrite},
	IPv6Label: {name: "ipv6_label", header: "NXM_NX_IPV6_LABEL", headers: []string{"OXM_OF_IPV6_FLABEL"}, width: 20, mask: maskAny, style: styleHex, prereq: prereqIPv6, access: readWrite},
	ARPSpa:    {name: "arp_spa", header: "NXM_OF_ARP_SPA", headers: []string{"OXM_OF_ARP_SPA"}, width: 32, mask: maskAny, style: styleIPv4, prereq: prereqARP, access: readWrite},
	ARPTpa:    {name: "arp_tpa", header: "NXM_OF_ARP_TPA", headers: []string{"OXM_OF_ARP_TPA"}, width: 32, mask: maskAny, style: styleIPv4, prereq: prereqARP, access: readWrite},
	IPProto:   {name: "nw_proto", aliases: []string{"ip_proto"}, header: "NXM_OF_IP_PROTO", headers: []string{"OXM_OF_IP_PROTO"}, width: 8, prereq: prereqIP},
	ARPOp:     {name: "arp_op", header: "NXM_OF_ARP_OP", headers: []string{"OXM_OF_ARP_OP"}, width: 16, prereq: prereqARP, access: readWrite},
	ARPSha:    {name: "arp_sha", header: "NXM_NX_ARP_SHA", headers: []string{"OXM_OF_ARP_SHA"}, width: 48, mask: maskAny, style: styleMAC, prereq: prereqARP, access: readWrite},
	ARPTha:    {name: "arp_tha", header: "NXM_NX_ARP_THA", headers: []string{"OXM_OF_ARP_THA"}, width: 48, mask: maskAny, style: styleMAC, prereq: prereqARP, access: readWrite},
	IPDSCP:    {name: "nw_tos", oxm: "ip_dscp", header: "OXM_OF_IP_DSCP", width: 6, style: styleTOS, prereq: prereqIP, access: readWrite},
	IPECN:     {name: "nw_ecn", aliases: []string{"ip_ecn"}, header: "NXM_NX_IP_ECN", headers: []string{"OXM_OF_IP_ECN"}, width: 2, prereq: prereqIP, access: readWrite},
	IPTTL:     {name: "nw_ttl", header: "NXM_NX_IP_TTL", width: 8, prereq: prereqIP, access: readWrite},
	IPFrag:    {name: "nw_frag", aliases: []string{"ip_frag"}, header: "NXM_NX_IP_FRAG", width: 2, mask: maskAny, style: styleFrag, prereq: prereqIP},

	ICMPType:   {name: "icmp_type", header: "NXM_OF_ICMP_TYPE", headers: []string{"OXM_OF_ICMPV4_TYPE"}, width: 8, prereq: prereqICMPv4, access: readWrite},
	ICMPCode:   {name: "icmp_code", header: "NXM_OF_ICMP_CODE", headers: []string{"OXM_OF_ICMPV4_CODE"}, width: 8, prereq: prereqICMPv4, access: readWrite},
	ICMPv6Type: {name: "icmp_type", oxm: "icmpv6_type", aliases: []string{"icmpv6_type"}, header: "NXM_NX_ICMPV6_TYPE", headers: []string{"OXM_OF_ICMPV6_TYPE"}, width: 8, prereq: prereqICMPv6, access: readWrite},
	ICMPv6Code: {name: "icmp_code", oxm: "icmpv6_code", aliases: []string{"icmpv6_code"}, header: "NXM_NX_ICMPV6_CODE", headers: []string{"OXM_OF_ICMPV6_CODE"}, width: 8, prereq: prereqICMPv6, access: readWrite},
	NDTarget:   {name: "nd_target", header: "NXM_NX_ND_TARGET", headers: []string{"OXM_OF_IPV6_ND_TARGET"}, width: 128, mask: maskAny, style: styleIPv6, prereq: prereqNS, access: readWrite},
	NDSll:      {name: "nd_sll", header: "NXM_NX_ND_SLL", headers: []string{"OXM_OF_IPV6_ND_SLL"}, width: 48, mask: maskAny, style: styleMAC, prereq: prereqNSOnly, access: readWrite},
	NDTll:      {name: "nd_tll", header: "NXM_NX_ND_TLL", headers: []string{"OXM_OF_IPV6_ND_TLL"}, width: 48, mask: maskAny, style: styleMAC, prereq: prereqNAOnly, access: readWrite},
	TCPSrc:     {name: "tp_src", oxm: "tcp_src", aliases: []string{"tcp_src"}, header: "NXM_OF_TCP_SRC", headers: []string{"OXM_OF_TCP_SRC"}, width: 16, mask: maskAny, prereq: prereqTCP, access: readWrite},
	TCPDst:     {name: "tp_dst", oxm: "tcp_dst", aliases: []string{"tcp_dst"}, header: "NXM_OF_TCP_DST", headers: []string{"OXM_OF_TCP_DST"}, width: 16, mask: maskAny, prereq: prereqTCP, access: readWrite},
	TCPFlags:   {name: "tcp_flags", header: "NXM_NX_TCP_FLAGS", headers: []string{"ONFOXM_ET_TCP_FLAGS", "OXM_OF_TCP_FLAGS"}, width: 12, mask: maskAny, style: styleTCPFlags, prereq: prereqTCP},
	UDPSrc:     {name: "tp_src", oxm: "udp_src", aliases: []string{"udp_src"}, header: "NXM_OF_UDP_SRC", headers: []string{"OXM_OF_UDP_SRC"}, width: 16, mask: maskAny, prereq: prereqUDP, access: readWrite},
	UDPDst:     {name: "tp_dst", oxm: "udp_dst", aliases: []string{"udp_dst"}, header: "NXM_OF_UDP_DST", headers: []string{"OXM_OF_UDP_DST"}, width: 16, mask: maskAny, prereq: prereqUDP, access: readWrite},
	SCTPSrc:    {name: "tp_src", oxm: "sctp_src", aliases: []string{"sctp_src"}, header: "OXM_OF_SCTP_SRC", width: 16, mask: maskAny, prereq: prereqSCTP, access: readWrite},
	SCTPDst:    {name: "tp_dst", oxm: "sctp_dst", aliases: []string{"sctp_dst"}, header: "OXM_OF_SCTP_DST", width: 16, mask: maskAny, prereq: prereqSCTP, access: readWrite},

	VLANVID: {name: "dl_vlan", oxm: "vlan_vid", aliases: []string{"vlan_vid"}, header: "OXM_OF_VLAN_VID", width: 12, mask: maskAny, access: readWrite},
	VLANPCP: {name: "dl_vlan_pcp", oxm: "vlan_pcp", aliases: []string{"vlan_pcp"}, header: "OXM_OF_VLAN_PCP", width: 3, prereq: prereqVLAN, access: readWrite},
	XReg0:   xreg("0"), XReg1: xreg("1"), XReg2: xreg("2"), XReg3: xreg("3"),
	XReg4: xreg("4"), XReg5: xreg("5"), XReg6: xreg("6"), XReg7: xreg("7"),
	XXReg0: xxreg("0"), XXReg1: xxreg("1"), XXReg2: xxreg("2"), XXReg3: xxreg("3"),
}

// noField is the row of what is not a field.
var noField fieldInfo

func (f Field) info() *fieldInfo {
	if f >= numFields {
		return &noField
	}
	return &fields[f]
}

// Fields lists every field, in the order in which a match prints them.
func Fields() []Field {
	all := make([]Field, 0, numFields-1)
	for f := FieldNone + 1; f < numFields; f++ {
		all = append(all, f)
	}
	return all
}

// Width is the field's size in bits.
func (f Field) Width() int { return int(f.info().width) }

// Mask is the field's full mask: Width one bits.
func (f Field) Mask() Value { return Ones(f.Width()) }

// String is the name set_field uses, such as "ip_dst" or "reg0".
func (f Field) String() string {
	if i := f.info(); i.oxm != "" {
		return i.oxm
	} else if i.name != "" {
		return i.name
	}
	return "none"
}

// Header is the NXM or OXM name that move, push and learn use, such as "NXM_OF_IP_DST".
func (f Field) Header() string { return f.info().header }

// Writable reports whether an action outside ct(exec(...)) may write the field.
func (f Field) Writable() bool { return f.info().access == readWrite }

// Register is register n, 0 <= n <= 15.
func Register(n int) Field { return Reg0 + Field(n) }

// Subfield is a run of Width bits of a field, the lowest being bit Offset.
type Subfield struct {
	Field  Field
	Offset uint8
	Width  uint8
}

// Whole is all of a field as a Subfield.
func Whole(f Field) Subfield { return Subfield{Field: f, Width: uint8(f.Width())} }

// Mask is the bits of the field that s covers.
func (s Subfield) Mask() Value { return Ones(int(s.Width)).Shl(int(s.Offset)) }

// IsWhole reports whether s is all of its field.
func (s Subfield) IsWhole() bool { return s.Offset == 0 && int(s.Width) == s.Field.Width() }
