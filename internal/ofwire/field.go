package ofwire

import of "hpnn/datapath/openflow"

// A code is the class and the number of a field: what a header of OXM or NXM begins with (section 7.2.3.2).
type code uint32

const (
	classNXM0 code = 0x0000 << 7 // NXM_OF
	classNXM1 code = 0x0001 << 7 // NXM_NX
	classOXM  code = 0x8000 << 7 // OXM_OF
	classRegs code = 0x8001 << 7 // OXM_OF_PKT_REG
)

// codes are a field's two names. Matches, set_field and move use the first, which OpenFlow 1.5 prefers; the
// actions of Open vSwitch use the second, which is as old as they are.
type codes struct{ modern, old code }

func both(c code) codes { return codes{c, c} }

func pair(oxm, old code) codes { return codes{classOXM | oxm, old} }

// codeTable lists the fields but for registers, after meta-flow.h.
var codeTable = [of.XXReg3 + 1]codes{
	of.PktMark: both(classNXM1 | 33), of.CTState: both(classNXM1 | 105), of.CTZone: both(classNXM1 | 106),
	of.CTMark: both(classNXM1 | 107), of.CTLabel: both(classNXM1 | 108), of.CTNwProto: both(classNXM1 | 119),
	of.CTNwSrc: both(classNXM1 | 120), of.CTNwDst: both(classNXM1 | 121), of.CTIPv6Src: both(classNXM1 | 122),
	of.CTIPv6Dst: both(classNXM1 | 123), of.CTTpSrc: both(classNXM1 | 124), of.CTTpDst: both(classNXM1 | 125),

	of.TunID: pair(38, classNXM1|16), of.Metadata: both(classOXM | 2), of.InPort: both(classNXM0), of.VLANTCI: both(classNXM0 | 4),
	of.EthSrc: pair(4, classNXM0|2), of.EthDst: pair(3, classNXM0|1), of.EthType: pair(5, classNXM0|3),

	of.IPSrc: pair(11, classNXM0|7), of.IPDst: pair(12, classNXM0|8), of.IPv6Src: pair(26, classNXM1|19), of.IPv6Dst: pair(27, classNXM1|20),
	of.IPv6Label: pair(28, classNXM1|27), of.ARPSpa: pair(22, classNXM0|16), of.ARPTpa: pair(23, classNXM0|17), of.IPProto: pair(10, classNXM0|6),
	of.ARPOp: pair(21, classNXM0|15), of.ARPSha: pair(24, classNXM1|17), of.ARPTha: pair(25, classNXM1|18), of.IPDSCP: both(classOXM | 8),
	of.IPECN: pair(9, classNXM1|28), of.IPTTL: both(classNXM1 | 29), of.IPFrag: both(classNXM1 | 26),

	of.ICMPType: pair(19, classNXM0|13), of.ICMPCode: pair(20, classNXM0|14), of.ICMPv6Type: pair(29, classNXM1|21), of.ICMPv6Code: pair(30, classNXM1|22),
	of.NDTarget: pair(31, classNXM1|23), of.NDSll: pair(32, classNXM1|24), of.NDTll: pair(33, classNXM1|25),
	of.TCPSrc: pair(13, classNXM0|9), of.TCPDst: pair(14, classNXM0|10), of.TCPFlags: pair(42, classNXM1|34),
	of.UDPSrc: pair(15, classNXM0|11), of.UDPDst: pair(16, classNXM0|12), of.SCTPSrc: both(classOXM | 17), of.SCTPDst: both(classOXM | 18),

	of.VLANVID: both(classOXM | 6), of.VLANPCP: both(classOXM | 7),
}

// codeInPort is the ingress port of OpenFlow 1.2, 32 bits wide; of.InPort's own has 16.
const codeInPort = classOXM

// fieldOf finds a field by either of its codes.
var fieldOf = makeFields()

func makeFields() map[code]of.Field {
	for i := range code(16) {
		codeTable[of.Register(int(i))] = both(classNXM1 | i)
	}
	for i := range code(8) {
		codeTable[of.XReg0+of.Field(i)] = both(classRegs | i)
	}
	for i := range code(4) {
		codeTable[of.XXReg0+of.Field(i)] = both(classNXM1 | 111 + i)
	}
	fields := map[code]of.Field{}
	for _, f := range of.Fields() {
		fields[codeTable[f].modern], fields[codeTable[f].old] = f, f
	}
	return fields
}

// known reports whether a field has codes.
func known(f of.Field) bool { return f > of.FieldNone && int(f) < len(codeTable) }

// size is the number of bytes of a field's value.
func size(f of.Field) int {
	if f == of.IPv6Label {
		return 4
	}
	return (f.Width() + 7) / 8
}

// header is the four bytes before a value of n bytes, and as many of its mask.
func header(c code, n int, masked bool) uint32 {
	if masked {
		return uint32(c)<<9 | 1<<8 | uint32(2*n)
	}
	return uint32(c)<<9 | uint32(n)
}

// A value of OpenFlow 1.1 and later has 32 bits for a port; the reserved ones are the last.
func widePort(p of.PortNo) uint32 {
	if p >= of.PortMax {
		return 0xffff0000 | uint32(p)
	}
	return uint32(p)
}

func narrowPort(p uint32) (of.PortNo, error) {
	switch {
	case p < uint32(of.PortMax), p >= 0xffff0000|uint32(of.PortMax):
		return of.PortNo(p), nil
	}
	return 0, foreign("port %#x is none that Open vSwitch has", p)
}
