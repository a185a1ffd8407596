package main

import (
	"net/netip"

	"hpnn/datapath/openflow"
	"hpnn/internal/packet"
)

// builder makes a frame from a spec.
type builder struct {
	spec
	from station
}

// Ports and protocols of frames that leave them open.
const (
	madeUpPort  = 40000
	madeUpProto = 253    // for experimentation (RFC 3692)
	madeUpType  = 0x88b5 // likewise (IEEE 802, local experimental Ethernet type 1)
)

// build dispatches on the Ethernet type.
func (b builder) build() ([]byte, error) {
	switch t := b.number(openflow.EthType, madeUpType); t {
	case packet.TypeIPv4:
		return b.ipv4()
	case packet.TypeIPv6:
		return b.ipv6()
	case packet.TypeARP:
		return b.arp()
	default:
		nobody := netip.Addr{}
		return b.ether(nobody, nobody).Frame(uint16(t), make([]byte, 46)), nil
	}
}

// ether is the header of a frame from one address to another.
func (b builder) ether(src, dst netip.Addr) packet.Ether {
	e := packet.Ether{
		Src: b.mac(openflow.EthSrc, func() packet.MAC { return b.from.mac(src) }),
		Dst: b.mac(openflow.EthDst, func() packet.MAC { return b.from.toward(dst) }),
	}
	if tci, given := b.take(openflow.VLANTCI); given && tci.Lo&openflow.VLANPresent != 0 {
		e.Tags = []packet.Tag{{ID: uint16(tci.Lo & 0xfff), Priority: uint8(tci.Lo >> 13)}}
	}
	return e
}

func (b builder) arp() ([]byte, error) {
	if err := b.need(openflow.ARPTpa, "arp_tpa", "say whose address is asked for"); err != nil {
		return nil, err
	}
	a := packet.ARP{
		Op:       uint16(b.number(openflow.ARPOp, packet.OpRequest)),
		SenderIP: b.addr4(openflow.ARPSpa, b.from.addr),
		TargetIP: b.addr4(openflow.ARPTpa, nil),
	}
	a.Eth = b.ether(a.SenderIP, a.TargetIP)
	if b.match.Get(openflow.EthDst).Mask.IsZero() && a.Op == packet.OpRequest {
		a.Eth.Dst = packet.Broadcast
	}
	a.SenderMAC = b.mac(openflow.ARPSha, func() packet.MAC { return a.Eth.Src })
	a.TargetMAC = b.mac(openflow.ARPTha, func() packet.MAC {
		if a.Op == packet.OpRequest {
			return packet.MAC{}
		}
		return a.Eth.Dst
	})
	return a.Bytes(), nil
}

func (b builder) ipv4() ([]byte, error) {
	if err := b.need(openflow.IPDst, "nw_dst", "say where the packet goes"); err != nil {
		return nil, err
	}
	h := b.header(b.addr4(openflow.IPSrc, b.from.addr), b.addr4(openflow.IPDst, nil))
	h.Dont = true
	if frag, given := b.take(openflow.IPFrag); given {
		h.Dont, h.More, h.Offset = false, frag.Lo&openflow.FragFirst != 0, 0
		if frag.Lo == openflow.FragLater {
			h.Offset = 1480
			return packet.Datagram{Eth: b.ether(h.Src, h.Dst), IP: h, Proto: b.proto(), Payload: make([]byte, 32)}.Bytes(), nil
		}
	}
	return b.transport(b.ether(h.Src, h.Dst), h), nil
}

func (b builder) ipv6() ([]byte, error) {
	if err := b.need(openflow.IPv6Dst, "ipv6_dst", "say where the packet goes"); err != nil {
		return nil, err
	}
	h := b.header(b.addr6(openflow.IPv6Src, func() netip.Addr { return madeUpAddrV6 }), b.addr6(openflow.IPv6Dst, nil))
	return b.transport(b.ether(h.Src, h.Dst), h), nil
}

func (b builder) header(src, dst netip.Addr) packet.IP {
	return packet.IP{
		Src: src, Dst: dst,
		TOS: uint8(b.number(openflow.IPDSCP, 0)<<2 | b.number(openflow.IPECN, 0)),
		TTL: uint8(b.number(openflow.IPTTL, 64)),
	}
}

func (b builder) proto() uint8 { return uint8(b.number(openflow.IPProto, madeUpProto)) }

// transport dispatches on the IP protocol.
func (b builder) transport(e packet.Ether, h packet.IP) []byte {
	port := func(f openflow.Field, otherwise uint64) uint16 { return uint16(b.number(f, otherwise)) }
	switch proto := b.proto(); proto {
	case packet.ProtoTCP:
		return b.tcp(packet.TCP{Eth: e, IP: h, SrcPort: port(openflow.TCPSrc, madeUpPort), DstPort: port(openflow.TCPDst, 80)})
	case packet.ProtoUDP:
		return packet.UDP{Eth: e, IP: h, SrcPort: port(openflow.UDPSrc, madeUpPort), DstPort: port(openflow.UDPDst, 53),
			Payload: []byte("hello")}.Bytes()
	case packet.ProtoICMP, packet.ProtoICMPv6:
		return b.icmp(packet.ICMP{Eth: e, IP: h, ID: 1, Seq: 1, Payload: make([]byte, 56)})
	default:
		return packet.Datagram{Eth: e, IP: h, Proto: proto, Payload: make([]byte, 26)}.Bytes()
	}
}

// tcp fills in the rest of a segment; a SYN unless the flow says otherwise.
func (b builder) tcp(t packet.TCP) []byte {
	t.Flags = packet.Flags(b.number(openflow.TCPFlags, uint64(packet.SYN)))
	t.Seq, t.Window = 1, 64240
	if t.Flags&packet.ACK != 0 {
		t.Ack = 1
	}
	if t.Flags&packet.SYN != 0 {
		t.Options = packet.MSS(1460)
	}
	return t.Bytes()
}

func (b builder) icmp(m packet.ICMP) []byte {
	typ, code, echo := openflow.ICMPType, openflow.ICMPCode, uint64(packet.EchoRequest)
	if !m.IP.Src.Is4() {
		typ, code, echo = openflow.ICMPv6Type, openflow.ICMPv6Code, packet.EchoRequest6
	}
	m.Type, m.Code = uint8(b.number(typ, echo)), uint8(b.number(code, 0))
	return m.Bytes()
}
