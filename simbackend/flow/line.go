package flow

import of "hpnn/datapath/openflow"

// line writes the parts of a line.
type line struct {
	text
	recirc uint32
	shown  *Key // room for the text's mask
}

// part appends a part: that of an ordinary frame directly, else as AppendPass does.
func (w *line) part(i int) {
	if w.k.ordinary() && w.ordinary(i) {
		return
	}
	if w.m == nil {
		*w.shown = w.k.shown()
		w.m = w.shown
	}
	w.any(i)
}

// any appends a part of any frame.
func (w *line) any(i int) {
	word, saysType, saysProto := w.text.keyword()
	switch i {
	case partMeta:
		w.metadata(w.recirc, w.recirc != 0)
	case partKeyword:
		if w.recirc != 0 {
			w.add("eth")
		}
		w.add(word)
	case partRegs:
		w.registers()
	case partPort:
		w.port()
		w.tags()
	case partEther:
		w.ether(saysType)
	case partAddresses:
		w.addresses()
	case partIP:
		w.network(saysProto)
	case partTransport:
		w.transport()
	}
}

// ordinary reports whether k is of TCP, UDP or ICMP over IPv4, and no later fragment.
func (k *Key) ordinary() bool {
	const ipv4 = of.EthTypeIPv4 << shiftType
	switch k[wordL2] & (0xffff<<shiftType | 0xff<<shiftProto | 2) {
	case ipv4 | of.ProtoTCP<<shiftProto, ipv4 | of.ProtoUDP<<shiftProto, ipv4 | of.ProtoICMP<<shiftProto:
		return true
	}
	return false
}

// ordinary appends a part of an ordinary frame. It returns false, and has appended nothing, if the part is rare.
func (w *line) ordinary(i int) bool {
	k := w.k
	switch i {
	case partMeta:
		if k[wordMark]>>32 != 0 {
			return false
		}
		w.connection()
	case partKeyword:
		w.keyword()
	case partRegs:
		w.values()
	case partPort:
		port := k.InPort()
		if port == 0 || of.PortNo(port) >= of.PortMax || k.tci() != 0 {
			return false
		}
		w.b = append(appendDecimal(append(w.b, "in_port="...), uint64(port)), ",vlan_tci=0x0000"...)
	case partEther:
		w.b = appendMAC(append(w.b, "dl_src="...), k[wordSrc])
		w.b = appendMAC(append(w.b, ",dl_dst="...), k[wordDst])
	case partAddresses:
		w.b = appendIPv4(append(w.b, "nw_src="...), uint32(k[wordIPv4]>>32))
		w.b = appendIPv4(append(w.b, ",nw_dst="...), uint32(k[wordIPv4]))
	case partIP:
		w.hop()
	case partTransport:
		w.ports()
	}
	return true
}

// keyword appends that of an ordinary frame.
func (w *line) keyword() {
	if w.recirc != 0 {
		w.b = append(w.b, "eth,"...)
	}
	switch w.k.proto() {
	case of.ProtoTCP:
		w.b = append(w.b, "tcp"...)
	case of.ProtoUDP:
		w.b = append(w.b, "udp"...)
	default:
		w.b = append(w.b, "icmp"...)
	}
}

// connection appends the recirculation and what the tracker found of an ordinary frame.
func (w *line) connection() {
	k, ct := w.k, w.k[wordCT]
	if w.recirc != 0 {
		w.field("recirc_id=0x").digits(uint64(w.recirc))
	}
	if state := ct >> 56; state != 0 {
		w.field("ct_state=").exactFlags(state, stateNames)
	}
	if zone := ct >> 32 & 0xffff; zone != 0 {
		w.field("ct_zone=").decimalNumber(zone)
	}
	if mark := k[wordMark] & 0xffffffff; mark != 0 {
		w.field("ct_mark=0x").digits(mark)
	}
	if label := (of.Value{Hi: k[wordCTLabel], Lo: k[wordCTLabel+1]}); !label.IsZero() {
		w.field("ct_label=").wide(label)
	}
	if proto := ct >> 48 & 0xff; proto != 0 && k.ctTuple() {
		w.field("ct_nw_src=").ipv4Number(of.Value{Lo: k[wordCTv4] >> 32})
		w.field("ct_nw_dst=").ipv4Number(of.Value{Lo: k[wordCTv4]})
		w.field("ct_nw_proto=").decimalNumber(proto)
		w.field("ct_tp_src=").decimalNumber(ct >> 16 & 0xffff)
		w.field("ct_tp_dst=").decimalNumber(ct & 0xffff)
	}
}

// values appends registers, tun_id and metadata that are not 0.
func (w *line) values() {
	for i := range registers {
		if v := w.k[wordReg+i/2] >> (32 * (1 - i%2)) & 0xffffffff; v != 0 {
			w.field(registers[i]).digits(v)
		}
	}
	if v := w.k[wordTun]; v != 0 {
		w.field("tun_id=0x").digits(v)
	}
	if v := w.k[wordMeta]; v != 0 {
		w.field("metadata=0x").digits(v)
	}
}

var registers = [...]string{
	"reg0=0x", "reg1=0x", "reg2=0x", "reg3=0x", "reg4=0x", "reg5=0x", "reg6=0x", "reg7=0x",
	"reg8=0x", "reg9=0x", "reg10=0x", "reg11=0x", "reg12=0x", "reg13=0x", "reg14=0x", "reg15=0x",
}

// hop appends what routers look at.
func (w *line) hop() {
	k := w.k
	w.b = appendDecimal(append(w.b, "nw_tos="...), uint64(k.tos()&^3))
	w.b = appendDecimal(append(w.b, ",nw_ecn="...), uint64(k.tos()&3))
	w.b = appendDecimal(append(w.b, ",nw_ttl="...), uint64(k.TTL()))
	if k.frag()&1 == 0 {
		w.b = append(w.b, ",nw_frag=no"...)
	} else {
		w.b = append(w.b, ",nw_frag=first"...)
	}
}

// ports appends ports, or what ICMP has in their place.
func (w *line) ports() {
	k, src, dst := w.k, "tp_src=", ",tp_dst="
	if k.proto() == of.ProtoICMP {
		src, dst = "icmp_type=", ",icmp_code="
	}
	w.b = appendDecimal(append(w.b, src...), uint64(k.tpSrc()))
	w.b = appendDecimal(append(w.b, dst...), uint64(k.tpDst()))
	if k.proto() == of.ProtoTCP {
		w.b = append(w.b, ",tcp_flags="...)
		w.exactFlags(k[wordL4]&0xfff, flagNames)
	}
}

// field appends what stands before a value, with the comma before that.
func (w *line) field(name string) *text {
	if len(w.b) > w.start {
		w.b = append(w.b, ',')
	}
	w.b = append(w.b, name...)
	return &w.text
}
