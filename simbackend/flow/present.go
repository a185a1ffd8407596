package flow

import of "hpnn/datapath/openflow"

func (k *Key) isIP() bool {
	t := k.ethType()
	return t == of.EthTypeIPv4 || t == of.EthTypeIPv6
}

func (k *Key) isIPProto(proto uint8) bool { return k.proto() == proto && k.isIP() }

// hasPorts reports whether the frame is of a transport protocol and not a later fragment.
func (k *Key) hasPorts(proto uint8) bool { return k.isIPProto(proto) && k.frag()&2 == 0 }

func (k *Key) isICMP() bool {
	return k.proto() == of.ProtoICMP && k.ethType() == of.EthTypeIPv4
}

func (k *Key) isICMPv6() bool {
	return k.proto() == of.ProtoICMPv6 && k.ethType() == of.EthTypeIPv6
}

// Types of the ICMPv6 messages of neighbour discovery (RFC 4861, 4.3 and 4.4).
const (
	ndSolicit   = 135
	ndAdvertise = 136
)

func (k *Key) isND(types ...uint16) bool {
	if !k.isICMPv6() || k.tpDst() != 0 {
		return false
	}
	for _, t := range types {
		if k.tpSrc() == t {
			return true
		}
	}
	return false
}

// ctTuple reports whether the frame carries its connection's original tuple. One that belongs to a
// connection is new, established or a reply; related alone does not do, as it does in a match.
func (k *Key) ctTuple() bool {
	return uint32(k[wordCT]>>56)&(of.CTNew|of.CTEst|of.CTRpl) != 0
}

// Present reports whether a frame has field f: whether writing it means anything. An action
// on a field that the frame turns out not to have is skipped.
func Present(k *Key, f of.Field) bool {
	switch f {
	case of.IPSrc, of.IPDst:
		return k.ethType() == of.EthTypeIPv4
	case of.IPv6Src, of.IPv6Dst, of.IPv6Label:
		return k.ethType() == of.EthTypeIPv6
	case of.IPProto, of.IPDSCP, of.IPECN, of.IPTTL, of.IPFrag:
		return k.isIP()
	case of.ARPSpa, of.ARPTpa, of.ARPOp, of.ARPSha, of.ARPTha:
		return k.ethType() == of.EthTypeARP || k.ethType() == of.EthTypeRARP
	case of.TCPSrc, of.TCPDst, of.TCPFlags:
		return k.hasPorts(of.ProtoTCP)
	case of.UDPSrc, of.UDPDst:
		return k.hasPorts(of.ProtoUDP)
	case of.SCTPSrc, of.SCTPDst:
		return k.hasPorts(of.ProtoSCTP)
	case of.ICMPType, of.ICMPCode:
		return k.isICMP()
	case of.ICMPv6Type, of.ICMPv6Code:
		return k.isICMPv6()
	}
	return k.presentRare(f)
}

// Always reports whether every frame has f.
func Always(f of.Field) bool { return Present(&Key{}, f) }

func (k *Key) presentRare(f of.Field) bool {
	switch f {
	case of.NDTarget:
		return k.isND(ndSolicit, ndAdvertise)
	case of.NDSll:
		return k.isND(ndSolicit)
	case of.NDTll:
		return k.isND(ndAdvertise)
	case of.VLANVID, of.VLANPCP:
		return k.outerTag().present()
	case of.CTNwSrc, of.CTNwDst:
		return k.ethType() == of.EthTypeIPv4 && k.ctTuple()
	case of.CTIPv6Src, of.CTIPv6Dst:
		return k.ethType() == of.EthTypeIPv6 && k.ctTuple()
	case of.CTNwProto, of.CTTpSrc, of.CTTpDst:
		return k.isIP() && k.ctTuple()
	}
	return f != of.FieldNone
}
