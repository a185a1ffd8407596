package flow

import of "hpnn/datapath/openflow"

// ordinary reports whether k is of TCP, UDP or ICMP over IPv4, and no later fragment. Most frames are, and parts of
// their lines are written without a mask.
func (k *Key) ordinary() bool {
	const ipv4 = of.EthTypeIPv4 << shiftType
	switch k[wordL2] & (0xffff<<shiftType | 0xff<<shiftProto | 2) {
	case ipv4 | of.ProtoTCP<<shiftProto, ipv4 | of.ProtoUDP<<shiftProto, ipv4 | of.ProtoICMP<<shiftProto:
		return true
	}
	return false
}

// appendOrdinary appends a part of the line of an ordinary frame. It returns false, and has appended nothing, if
// something rare is in it.
func (k *Key) appendOrdinary(b []byte, i int, recirc uint32) (_ []byte, ok bool) {
	switch i {
	case partMeta:
		if k[wordMark]>>32 != 0 {
			return b, false
		}
		b = k.appendConnection(b, recirc)
	case partKeyword:
		b = k.appendKeyword(b, recirc)
	case partRegs:
		b = k.appendRegisters(b)
	case partPort:
		port := k.InPort()
		if port == 0 || of.PortNo(port) >= of.PortMax || k.tci() != 0 {
			return b, false
		}
		b = appendDecimal(append(b, "in_port="...), uint64(port))
		b = append(b, ",vlan_tci=0x0000"...)
	case partEther:
		b = appendMAC(append(b, "dl_src="...), k[wordSrc])
		b = appendMAC(append(b, ",dl_dst="...), k[wordDst])
	case partAddresses:
		b = appendIPv4(append(b, "nw_src="...), uint32(k[wordIPv4]>>32))
		b = appendIPv4(append(b, ",nw_dst="...), uint32(k[wordIPv4]))
	case partIP:
		b = k.appendHop(b)
	case partTransport:
		b = k.appendPorts(b)
	}
	return b, true
}

func (k *Key) appendKeyword(b []byte, recirc uint32) []byte {
	if recirc != 0 {
		b = append(b, "eth,"...)
	}
	switch k.proto() {
	case of.ProtoTCP:
		return append(b, "tcp"...)
	case of.ProtoUDP:
		return append(b, "udp"...)
	}
	return append(b, "icmp"...)
}

// appendConnection appends the recirculation and what the tracker found.
func (k *Key) appendConnection(b []byte, recirc uint32) []byte {
	start, ct := len(b), k[wordCT]
	if recirc != 0 {
		b = AppendHex(append(b, "recirc_id=0x"...), uint64(recirc))
	}
	if state := ct >> 56; state != 0 {
		b = appendFlags(append(comma(b, start), "ct_state="...), state, stateNames)
	}
	if zone := ct >> 32 & 0xffff; zone != 0 {
		b = appendDecimal(append(comma(b, start), "ct_zone="...), zone)
	}
	if mark := k[wordMark] & 0xffffffff; mark != 0 {
		b = AppendHex(append(comma(b, start), "ct_mark=0x"...), mark)
	}
	if hi, lo := k[wordCTLabel], k[wordCTLabel+1]; hi|lo != 0 {
		b = appendWide(append(comma(b, start), "ct_label="...), hi, lo)
	}
	if proto := ct >> 48 & 0xff; proto != 0 && k.ctTuple() {
		b = appendIPv4(append(comma(b, start), "ct_nw_src="...), uint32(k[wordCTv4]>>32))
		b = appendIPv4(append(b, ",ct_nw_dst="...), uint32(k[wordCTv4]))
		b = appendDecimal(append(b, ",ct_nw_proto="...), proto)
		b = appendDecimal(append(b, ",ct_tp_src="...), ct>>16&0xffff)
		b = appendDecimal(append(b, ",ct_tp_dst="...), ct&0xffff)
	}
	return b
}

// appendRegisters appends registers, tun_id and metadata that are not 0.
func (k *Key) appendRegisters(b []byte) []byte {
	start := len(b)
	for i := range wordMeta - wordReg {
		w := k[wordReg+i]
		if v := w >> 32; v != 0 {
			b = AppendHex(append(comma(b, start), registers[2*i]...), v)
		}
		if v := w & 0xffffffff; v != 0 {
			b = AppendHex(append(comma(b, start), registers[2*i+1]...), v)
		}
	}
	if v := k[wordTun]; v != 0 {
		b = AppendHex(append(comma(b, start), "tun_id=0x"...), v)
	}
	if v := k[wordMeta]; v != 0 {
		b = AppendHex(append(comma(b, start), "metadata=0x"...), v)
	}
	return b
}

var registers = [...]string{
	"reg0=0x", "reg1=0x", "reg2=0x", "reg3=0x", "reg4=0x", "reg5=0x", "reg6=0x", "reg7=0x",
	"reg8=0x", "reg9=0x", "reg10=0x", "reg11=0x", "reg12=0x", "reg13=0x", "reg14=0x", "reg15=0x",
}

// appendHop appends what routers look at.
func (k *Key) appendHop(b []byte) []byte {
	b = appendDecimal(append(b, "nw_tos="...), uint64(k.tos()&^3))
	b = appendDecimal(append(b, ",nw_ecn="...), uint64(k.tos()&3))
	b = appendDecimal(append(b, ",nw_ttl="...), uint64(k.TTL()))
	if k.frag()&1 == 0 {
		return append(b, ",nw_frag=no"...)
	}
	return append(b, ",nw_frag=first"...)
}

// appendPorts appends ports, or what ICMP has in their place.
func (k *Key) appendPorts(b []byte) []byte {
	src, dst := "tp_src=", ",tp_dst="
	if k.proto() == of.ProtoICMP {
		src, dst = "icmp_type=", ",icmp_code="
	}
	b = appendDecimal(append(b, src...), uint64(k.tpSrc()))
	b = appendDecimal(append(b, dst...), uint64(k.tpDst()))
	if k.proto() == of.ProtoTCP {
		b = appendFlags(append(b, ",tcp_flags="...), k[wordL4]&0xfff, flagNames)
	}
	return b
}

// comma appends a comma if the list that began at start has something already.
func comma(b []byte, start int) []byte {
	if len(b) == start {
		return b
	}
	return append(b, ',')
}
