package conformance

import (
	"encoding/binary"

	"hpnn/datapath/openflow"
	"hpnn/internal/packet"
)

// ingress is a port for a frame to arrive at.
func (m *maker) ingress() openflow.PortNo {
	if m.chance(3) {
		return openflow.PortLocal
	}
	return openflow.PortNo(1 + m.IntN(Ports))
}

// sampleFrames are frames of the kinds that will come.
func (m *maker) sampleFrames() []Frame {
	var list []Frame
	for range 6 + m.IntN(8) {
		list = append(list, Frame{m.ingress(), m.ordinary()})
	}
	return list
}

// ordinary is a well-formed frame of a random kind.
func (m *maker) ordinary() []byte {
	return weighted(m, []choice[func() []byte]{
		{30, m.tcp}, {20, m.udp}, {10, m.echo}, {8, m.arp}, {4, m.neighbour}, {6, m.icmpError}, {6, m.otherIP}, {6, m.notIP},
	})()
}

func (m *maker) tcp() []byte {
	flags := pick(m, packet.SYN, packet.SYN, packet.SYN|packet.ACK, packet.ACK, packet.ACK|packet.PSH, packet.FIN|packet.ACK, packet.RST, packet.RST|packet.ACK, packet.SYN|packet.FIN, 0)
	t := packet.TCP{
		Eth: m.ether(), IP: m.ip(), SrcPort: m.port(), DstPort: m.port(), Flags: flags,
		Seq: pick[uint32](m, 1, 1000, 0xffffffff, m.Uint32()), Ack: m.Uint32(), Window: uint16(m.Uint32()), Payload: m.payload(),
	}
	if m.chance(20) {
		t.Options = append(packet.MSS(1460), packet.WindowScale(uint8(m.IntN(16)))...)
	}
	return t.Bytes()
}

func (m *maker) udp() []byte {
	return packet.UDP{Eth: m.ether(), IP: m.ip(), SrcPort: m.port(), DstPort: m.port(), Unsummed: m.chance(10), Payload: m.payload()}.Bytes()
}

func (m *maker) echo() []byte {
	i := packet.ICMP{Eth: m.ether(), IP: m.ip(), Type: pick[uint8](m, packet.EchoRequest, packet.EchoRequest, packet.EchoReply), ID: pick[uint16](m, 7, 8), Seq: uint16(m.IntN(3)), Payload: m.payload()}
	if i.IP.Src.Is6() {
		i.Type = pick[uint8](m, packet.EchoRequest6, packet.EchoReply6)
	} else if m.chance(10) {
		i.Type, i.Code = pick[uint8](m, 13, 14, 9, 17), pick[uint8](m, 0, 1)
	}
	return i.Bytes()
}

func (m *maker) arp() []byte {
	return packet.ARP{
		Eth: m.ether(), Op: pick[uint16](m, packet.OpRequest, packet.OpReply, 3, 0x1ff),
		SenderMAC: m.mac(), SenderIP: pick(m, ipv4...), TargetMAC: m.mac(), TargetIP: pick(m, ipv4...),
	}.Bytes()
}

// neighbour is an ICMPv6 neighbour solicitation or advertisement, with options.
func (m *maker) neighbour() []byte {
	if m.traits.tracking {
		return m.arp()
	}
	kind := pick[uint8](m, packet.NeighborSolicitation, packet.NeighborSolicitation+1)
	target := pick(m, ipv6...).As16()
	body := target[:]
	for range m.IntN(3) {
		mac := m.mac()
		body = append(append(body, pick[byte](m, 1, 2, 5), 1), mac[:]...)
	}
	ip := packet.IP{Src: pick(m, ipv6...), Dst: pick(m, ipv6...), TTL: 255}
	return packet.ICMP{Eth: m.ether(), IP: ip, Type: kind, Payload: body}.Bytes()
}

// icmpError is an error about a frame of before, or about nothing.
func (m *maker) icmpError() []byte {
	quoted := m.tcpOrUDP()
	if len(m.past) > 0 && m.chance(70) {
		quoted = pick(m, m.past...).Bytes
	}
	etherType, l3 := network(quoted)
	if etherType == packet.TypeIPv4 && len(l3) >= 20 {
		return m.icmpErrorAbout(l3)
	}
	return m.udp()
}

func (m *maker) icmpErrorAbout(l3 []byte) []byte {
	ip := packet.IP{Src: addr4(l3[16:]), Dst: addr4(l3[12:])}
	if m.chance(20) {
		ip.Src = pick(m, ipv4...)
	}
	n := min(len(l3), pick(m, 28, 28, 40, 48, 20, 200))
	kind := pick[uint8](m, packet.Unreachable, packet.TimeExceeded, 4, 5, 12)
	return packet.ICMP{Eth: m.ether(), IP: ip, Type: kind, Code: uint8(m.IntN(5)), Seq: uint16(m.IntN(1500)), Payload: l3[:n]}.Bytes()
}

func (m *maker) tcpOrUDP() []byte {
	if m.chance(50) {
		return m.tcp()
	}
	return m.udp()
}

// otherIP is SCTP, GRE, IGMP and the like.
func (m *maker) otherIP() []byte {
	payload := make([]byte, pick(m, 4, 8, 12, 16, 40))
	binary.BigEndian.PutUint16(payload, m.port())
	binary.BigEndian.PutUint16(payload[2:], m.port())
	proto := pick[uint8](m, 132, 47, 2, 50, 4, 0, 255)
	return packet.Datagram{Eth: m.ether(), IP: m.ip(), Proto: proto, Payload: payload}.Bytes()
}

func (m *maker) notIP() []byte {
	body := make([]byte, pick(m, 0, 4, 46, 60))
	for i := range body {
		body[i] = byte(m.IntN(4))
	}
	length := uint16(len(body)) // 802.3
	return m.ether().Frame(pick[uint16](m, 0x88cc, 0x8847, 0x8035, 0x9100, length), body)
}
