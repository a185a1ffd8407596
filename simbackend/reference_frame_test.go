package simbackend_test

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"hpnn/datapath/openflow"
)

// header is a frame's fields as the tables see them.
type header struct {
	fields map[openflow.Field]openflow.Value // all but the tags; one that is missing reads as 0
	vlans  [2]uint32                         // TPID<<16 | TCI, outermost first; 0x1000 in the TCI says that there is one
}

const present = openflow.VLANPresent

func (h header) clone() header { return header{maps.Clone(h.fields), h.vlans} }

// has reports whether the frame has a field that an action could write.
func (h header) has(f openflow.Field) bool {
	switch _, ok := h.fields[f]; {
	case f >= openflow.CTNwSrc && f <= openflow.CTTpDst: // a match may say that there is one where an action says that there is none
		return ok && h.get(openflow.CTState).Lo&uint64(openflow.CTNew|openflow.CTEst|openflow.CTRpl) != 0
	case ok, f <= openflow.CTLabel, f >= openflow.Reg0 && f <= openflow.VLANTCI, f >= openflow.XReg0:
		return true
	case f == openflow.VLANVID, f == openflow.VLANPCP:
		return len(h.tags()) > 0
	}
	return false
}

// registers is the registers that a wide one is made of, the most significant first.
func registers(f openflow.Field) (first openflow.Field, n int) {
	if f >= openflow.XXReg0 {
		return openflow.Reg0 + 4*(f-openflow.XXReg0), 4
	}
	return openflow.Reg0 + 2*(f-openflow.XReg0), 2
}

func (h header) get(f openflow.Field) (v openflow.Value) {
	switch tci := uint64(h.vlans[0] & 0xffff); {
	case f == openflow.VLANTCI:
		return openflow.U64(tci)
	case f == openflow.VLANVID:
		return openflow.U64(tci & 0xfff)
	case f == openflow.VLANPCP:
		return openflow.U64(tci >> 13)
	case f >= openflow.XReg0:
		first, n := registers(f)
		for i := range n {
			v = v.Shl(32).Or(h.fields[first+openflow.Field(i)])
		}
		return v
	}
	return h.fields[f]
}

func (h header) part(s openflow.Subfield) openflow.Value {
	return h.get(s.Field).Shr(int(s.Offset)).And(openflow.Ones(int(s.Width)))
}

func (h *header) store(s openflow.Subfield, v openflow.Value) {
	h.assign(s.Field, v.Shl(int(s.Offset)), s.Mask())
}

// assign writes the bits of v under mask.
func (h *header) assign(f openflow.Field, v, mask openflow.Value) {
	v = h.get(f).AndNot(mask).Or(v.And(mask))
	switch {
	case f == openflow.VLANTCI:
		h.setTCI(uint32(v.Lo))
	case f == openflow.VLANVID:
		h.setTag(uint32(v.Lo), 0xfff)
	case f == openflow.VLANPCP:
		h.setTag(uint32(v.Lo)<<13, 7<<13)
	case f >= openflow.XReg0:
		first, n := registers(f)
		for i := n - 1; i >= 0; i-- {
			h.fields[first+openflow.Field(i)] = v.And(openflow.Ones(32))
			v = v.Shr(32)
		}
	default:
		h.fields[f] = v
	}
}

// setTCI replaces the outer tag's TCI. What has no TPID yet gets that of a C-tag.
func (h *header) setTCI(tci uint32) {
	h.vlans[0] = h.vlans[0]&^0xffff | tci
	if h.vlans[0]>>16 == 0 && tci != 0 {
		h.vlans[0] |= openflow.EthTypeVLAN << 16
	}
}

// setTag writes bits of the outer tag, which is there afterwards.
func (h *header) setTag(v, mask uint32) { h.setTCI(h.vlans[0]&0xffff&^mask | v | present) }

func (h *header) pushTag(tpid uint16) {
	h.vlans = [2]uint32{uint32(tpid)<<16 | present, h.vlans[0]}
}

func (h *header) popTag() {
	switch len(h.tags()) {
	case 2:
		h.vlans = [2]uint32{h.vlans[1], 0}
	case 1:
		h.vlans[0] = 0
	}
}

// tags lists the tags that are there, outermost first.
func (h header) tags() []uint32 {
	switch {
	case h.vlans[0]&present == 0:
		return nil
	case h.vlans[1]&present == 0:
		return h.vlans[:1]
	}
	return h.vlans[:]
}

// dissected is a frame that gopacket has taken apart.
type dissected struct {
	eth     layers.Ethernet
	tags    []uint32 // TPID<<16 | TCI, outermost first
	typ     layers.EthernetType
	arp     *layers.ARP
	ip4     *layers.IPv4
	ip6     *layers.IPv6
	tcp     *layers.TCP
	udp     *layers.UDP
	icmp4   *layers.ICMPv4
	icmp6   *layers.ICMPv6
	rest    []byte // behind the last of them
	trailer []byte // behind the packet
}

// decoder is a layer that can read itself.
type decoder interface {
	DecodeFromBytes([]byte, gopacket.DecodeFeedback) error
	LayerPayload() []byte
}

func read[T any, L interface {
	*T
	decoder
}](d *dissected) L {
	var l L = new(T)
	if err := l.DecodeFromBytes(d.rest, gopacket.NilDecodeFeedback); err != nil {
		panic(err)
	}
	d.rest = l.LayerPayload()
	return l
}

func dissect(frame []byte) *dissected {
	d := &dissected{rest: slices.Clone(frame)}
	d.eth = *read[layers.Ethernet](d)
	for d.typ = d.eth.EthernetType; d.typ == layers.EthernetTypeDot1Q || d.typ == layers.EthernetTypeQinQ; {
		d.tags = append(d.tags, uint32(d.typ)<<16|uint32(binary.BigEndian.Uint16(d.rest)))
		d.typ = read[layers.Dot1Q](d).Type
	}
	all := d.rest
	proto := layers.IPProtocol(255)
	switch d.typ {
	case layers.EthernetTypeARP:
		d.arp = read[layers.ARP](d)
		d.rest, d.trailer = nil, all[28:]
	case layers.EthernetTypeIPv4:
		d.ip4 = read[layers.IPv4](d)
		proto, d.trailer = d.ip4.Protocol, all[d.ip4.Length:]
	case layers.EthernetTypeIPv6:
		d.ip6 = read[layers.IPv6](d)
		proto, d.trailer = d.ip6.NextHeader, all[40+d.ip6.Length:]
	}
	switch proto {
	case layers.IPProtocolTCP:
		d.tcp = read[layers.TCP](d)
	case layers.IPProtocolUDP:
		d.udp = read[layers.UDP](d)
	case layers.IPProtocolICMPv4:
		d.icmp4 = read[layers.ICMPv4](d)
	case layers.IPProtocolICMPv6:
		d.icmp6 = read[layers.ICMPv6](d)
	}
	return d
}

// place is where a frame keeps a field.
type place struct {
	get func() openflow.Value
	set func(openflow.Value)
}

// octets is a field that is some bytes.
func octets(b []byte) place {
	get := func() (v openflow.Value) {
		for _, octet := range b {
			v = v.Shl(8).Or(openflow.U64(uint64(octet)))
		}
		return v
	}
	return place{get, func(v openflow.Value) {
		for i := range b {
			b[len(b)-1-i] = byte(v.Shr(8 * i).Lo)
		}
	}}
}

// within is a field that is some bits of a number.
func within[T ~uint8 | ~uint16 | ~uint32](n *T, shift, width int) place {
	mask := T(openflow.Ones(width).Lo) << shift
	return place{
		func() openflow.Value { return openflow.U64(uint64(*n & mask >> shift)) },
		func(v openflow.Value) { *n = *n&^mask | T(v.Lo)<<shift&mask },
	}
}

// places says where the fields are that can be written.
func (d *dissected) places() map[openflow.Field]place {
	m := map[openflow.Field]place{openflow.EthSrc: octets(d.eth.SrcMAC), openflow.EthDst: octets(d.eth.DstMAC)}
	tos := func(tos *uint8) { m[openflow.IPDSCP], m[openflow.IPECN] = within(tos, 2, 6), within(tos, 0, 2) }
	switch {
	case d.arp != nil:
		m[openflow.ARPOp] = within(&d.arp.Operation, 0, 16)
		m[openflow.ARPSha], m[openflow.ARPTha] = octets(d.arp.SourceHwAddress), octets(d.arp.DstHwAddress)
		m[openflow.ARPSpa], m[openflow.ARPTpa] = octets(d.arp.SourceProtAddress), octets(d.arp.DstProtAddress)
	case d.ip4 != nil:
		m[openflow.IPSrc], m[openflow.IPDst] = octets(d.ip4.SrcIP), octets(d.ip4.DstIP)
		m[openflow.IPTTL] = within(&d.ip4.TTL, 0, 8)
		tos(&d.ip4.TOS)
	case d.ip6 != nil:
		m[openflow.IPv6Src], m[openflow.IPv6Dst] = octets(d.ip6.SrcIP), octets(d.ip6.DstIP)
		m[openflow.IPv6Label], m[openflow.IPTTL] = within(&d.ip6.FlowLabel, 0, 20), within(&d.ip6.HopLimit, 0, 8)
		tos(&d.ip6.TrafficClass)
	}
	switch {
	case d.tcp != nil:
		m[openflow.TCPSrc], m[openflow.TCPDst] = within(&d.tcp.SrcPort, 0, 16), within(&d.tcp.DstPort, 0, 16)
	case d.udp != nil:
		m[openflow.UDPSrc], m[openflow.UDPDst] = within(&d.udp.SrcPort, 0, 16), within(&d.udp.DstPort, 0, 16)
	case d.icmp4 != nil:
		m[openflow.ICMPType], m[openflow.ICMPCode] = within(&d.icmp4.TypeCode, 8, 8), within(&d.icmp4.TypeCode, 0, 8)
	case d.icmp6 != nil:
		m[openflow.ICMPv6Type], m[openflow.ICMPv6Code] = within(&d.icmp6.TypeCode, 8, 8), within(&d.icmp6.TypeCode, 0, 8)
		d.neighbour(m)
	}
	return m
}

// neighbour adds what a solicitation or an advertisement with one option of the right kind has.
func (d *dissected) neighbour(m map[openflow.Field]place) {
	link := openflow.NDSll
	switch d.icmp6.TypeCode {
	case layers.CreateICMPv6TypeCode(layers.ICMPv6TypeNeighborSolicitation, 0):
	case layers.CreateICMPv6TypeCode(layers.ICMPv6TypeNeighborAdvertisement, 0):
		link = openflow.NDTll
	default:
		return
	}
	m[openflow.NDTarget], m[link] = octets(d.rest[4:20]), octets(d.rest[22:28])
}

// header is the fields of the frame. Behind a second tag nothing is seen, and its TPID is the frame's type.
func (d *dissected) header() header {
	h := header{fields: map[openflow.Field]openflow.Value{}}
	number := func(f openflow.Field, v uint64) { h.fields[f] = openflow.U64(v) }
	if len(d.tags) > 0 {
		h.vlans[0] = d.tags[0] | present
	}
	hidden := len(d.tags) > 1
	for f, p := range d.places() {
		if !hidden || f <= openflow.EthDst {
			h.fields[f] = p.get()
		}
	}
	if hidden {
		number(openflow.EthType, uint64(d.tags[1]>>16))
		return h
	}
	number(openflow.EthType, uint64(d.typ))
	if d.ip4 != nil {
		number(openflow.IPProto, uint64(d.ip4.Protocol))
	} else if d.ip6 != nil {
		number(openflow.IPProto, uint64(d.ip6.NextHeader))
	}
	if d.tcp != nil {
		number(openflow.TCPFlags, uint64(binary.BigEndian.Uint16(d.tcp.Contents[12:])&0xfff))
	}
	return h
}

// bytes puts the frame together.
func (d *dissected) bytes() []byte {
	b := gopacket.NewSerializeBuffer()
	put := func(l gopacket.SerializableLayer, sum bool) {
		if err := l.SerializeTo(b, gopacket.SerializeOptions{ComputeChecksums: sum}); err != nil {
			panic(err)
		}
	}
	put(gopacket.Payload(d.rest), false)
	var ip gopacket.NetworkLayer = d.ip4
	if d.ip6 != nil {
		ip = d.ip6
	}
	switch {
	case d.tcp != nil:
		d.tcp.SetNetworkLayerForChecksum(ip)
		put(d.tcp, true)
	case d.udp != nil:
		sum := d.udp.Checksum != 0
		d.udp.SetNetworkLayerForChecksum(ip)
		put(d.udp, sum)
		if sum && d.udp.Checksum == 0 { // the same number, told from "none"
			b.Bytes()[6], b.Bytes()[7] = 0xff, 0xff
		}
	case d.icmp4 != nil:
		put(d.icmp4, true)
	case d.icmp6 != nil:
		d.icmp6.SetNetworkLayerForChecksum(ip)
		put(d.icmp6, true)
	}
	switch {
	case d.arp != nil:
		put(d.arp, false)
	case d.ip4 != nil:
		put(d.ip4, true)
	case d.ip6 != nil:
		put(d.ip6, false)
	}
	return d.framed(slices.Concat(b.Bytes(), d.trailer))
}

// framed puts the Ethernet header and tags before a packet.
func (d *dissected) framed(packet []byte) []byte {
	eth := slices.Concat(d.eth.DstMAC, d.eth.SrcMAC)
	for _, t := range d.tags {
		eth = binary.BigEndian.AppendUint32(eth, t)
	}
	return append(binary.BigEndian.AppendUint16(eth, uint16(d.typ)), packet...)
}

// names says what the frame is.
func (d *dissected) names() (all []string) {
	suffix := ""
	if d.ip6 != nil {
		suffix = "6"
	}
	switch {
	case d.arp != nil:
		all = append(all, "arp")
	case d.tcp != nil:
		all = append(all, "tcp"+suffix)
	case d.udp != nil:
		all = append(all, "udp"+suffix)
	case d.icmp4 != nil, d.icmp6 != nil:
		all = append(all, "icmp"+suffix)
	}
	switch len(d.tags) {
	case 0:
	case 1:
		all = append(all, "tagged")
	default:
		all = append(all, "tagged twice")
	}
	return all
}

// endpoints is what a connection knows a frame by.
func (d *dissected) endpoints() (e [6]openflow.Value) {
	m := d.places()
	for i, all := range [...][]openflow.Field{
		{openflow.IPSrc, openflow.IPv6Src}, {openflow.IPDst, openflow.IPv6Dst}, {openflow.TCPSrc, openflow.UDPSrc}, {openflow.TCPDst, openflow.UDPDst},
		{openflow.ICMPType}, {openflow.ICMPCode},
	} {
		for _, f := range all {
			if p, ok := m[f]; ok {
				e[i] = p.get()
			}
		}
	}
	return e
}
