package simbackend_test

import (
	"net/netip"
	"slices"

	"github.com/google/gopacket/layers"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/internal/packet"
)

// message is a frame before it is bytes.
type message interface{ Bytes() []byte }

// padded is a message with bytes behind the packet.
type padded struct{ message }

// Bytes is the frame.
func (p padded) Bytes() []byte { return append(packet.Pad(p.message.Bytes()), 0xaa) }

// ether is a header with one tag or none.
func (g dice) ether() packet.Ether {
	e := packet.Ether{Src: packet.MAC{2, 0, 0, 0, 0, byte(g.IntN(3))}, Dst: packet.MAC{2, 0, 0, 0, 1, byte(g.IntN(3))}}
	if g.IntN(5) == 0 {
		e.Tags = []packet.Tag{{ID: uint16(4 + g.IntN(3)), Priority: uint8(g.IntN(3))}}
		if g.IntN(5) == 0 {
			e.Tags = append([]packet.Tag{{Type: packet.TypeQinQ, ID: 9}}, e.Tags...)
		}
	}
	return e
}

// payload is of eight lengths, odd and even.
func (g dice) payload() []byte { return []byte("payload\xff")[g.IntN(9):] }

// opening is the first message of a talk.
func (g dice) opening(k kind) message {
	ip := packet.IP{Src: g.addr(), Dst: g.addr(), TTL: uint8(2 + g.IntN(3)), TOS: uint8(g.IntN(2)), ID: 7}
	choices := 12
	if k >= tracking {
		choices = 9
	}
	choice := g.IntN(choices)
	if choice >= 9 || choice == 8 && g.IntN(2) == 0 && k < tracking {
		ip.Src, ip.Dst = g.addr6(), g.addr6()
	}
	if g.IntN(20) == 0 {
		ip.TTL = 1
	}
	eth := g.ether()
	switch choice {
	case 0, 1, 2, 9:
		m := packet.TCP{Eth: eth, IP: ip, SrcPort: g.number() + 1000*uint16(g.IntN(2)), DstPort: g.number(), Flags: packet.SYN, Seq: 1000, Window: 64000}
		if g.IntN(3) == 0 {
			m.Options = packet.WindowScale(uint8(g.IntN(3)))
		}
		return m
	case 3, 4, 10:
		m := packet.UDP{Eth: eth, IP: ip, SrcPort: g.number(), DstPort: g.number(), Unsummed: choice < 10 && g.IntN(4) == 0, Payload: g.payload()}
		if choice < 10 && g.IntN(2) == 0 {
			return g.tuned(m)
		}
		return m
	case 5, 6:
		return packet.ICMP{Eth: eth, IP: ip, Type: packet.EchoRequest, ID: uint16(1 + g.IntN(2)), Seq: 1, Payload: g.payload()}
	case 11:
		if g.IntN(2) == 0 {
			return packet.ICMP{Eth: eth, IP: ip, Type: packet.EchoRequest6, ID: uint16(1 + g.IntN(2)), Payload: g.payload()}
		}
		target := g.addr6().As16()
		return packet.ICMP{Eth: eth, IP: ip, Type: packet.NeighborSolicitation, Payload: slices.Concat(target[:], []byte{1, 1}, eth.Src[:])}
	}
	a := packet.ARP{Eth: eth, Op: packet.OpRequest, SenderMAC: eth.Src, SenderIP: g.addr(), TargetIP: g.addr()}
	if g.IntN(2) == 0 {
		return padded{a}
	}
	return a
}

// tuned is a datagram whose checksum becomes zero where a rule changes its source.
func (g dice) tuned(m packet.UDP) packet.UDP {
	m.Payload = []byte{0, 0}
	then := m
	if then.SrcPort = 8080; g.IntN(2) == 0 {
		then.SrcPort, then.IP.Src = m.SrcPort, netip.AddrFrom4([4]byte{10, 1, 0, 2})
	}
	then.Unsummed = false
	sum := dissect(then.Bytes()).udp.Checksum
	m.Payload = []byte{byte(sum >> 8), byte(sum)}
	return m
}

// frame is the first of a talk of any kind.
func (g dice) frame() []byte { return g.opening(kind(g.IntN(int(kinds)))).Bytes() }

// flags are mostly sensible.
func (g dice) flags() packet.Flags {
	all := []packet.Flags{
		packet.SYN, packet.SYN, packet.SYN, packet.ACK, packet.ACK | packet.PSH, packet.FIN | packet.ACK, packet.RST, packet.RST | packet.ACK,
		packet.SYN | packet.ACK, packet.SYN | packet.FIN, 0,
	}
	return all[g.IntN(len(all))]
}

// changed is a message that differs from m a little.
func (g dice) changed(m message) message {
	small := func(e *packet.Ether, ip *packet.IP) {
		switch g.IntN(4) {
		case 0:
			e.Src[5] ^= 1
		case 1:
			ip.TTL = uint8(1 + g.IntN(5))
		case 2:
			ip.TOS ^= 1
		case 3:
			ip.ID++
		}
	}
	switch m := m.(type) {
	case packet.TCP:
		if m.Flags&(packet.RST|packet.FIN) != 0 && g.IntN(2) == 0 { // from the start again
			m.Flags, m.Seq, m.Payload = packet.SYN, 1000, nil
			return m
		}
		switch g.IntN(6) {
		case 4: // the other side calls
			m.IP.Src, m.IP.Dst, m.SrcPort, m.DstPort = m.IP.Dst, m.IP.Src, m.DstPort, m.SrcPort
			m.Flags, m.Seq, m.Payload = packet.SYN, 5000, nil
		case 0:
			m.Flags = g.flags()
		case 1:
			m.SrcPort ^= 1
		case 2:
			m.Payload = g.payload()
		default:
			small(&m.Eth, &m.IP)
		}
		return m
	case packet.UDP:
		if small(&m.Eth, &m.IP); g.IntN(3) == 0 {
			m.SrcPort ^= 1
		}
		return m
	case packet.ICMP:
		if small(&m.Eth, &m.IP); m.Type == packet.EchoRequest && g.IntN(4) == 0 {
			m.Type = packet.EchoReply
		}
		return m
	case packet.ARP:
		m.Op ^= 3
		return m
	}
	return m
}

// answer is what the host that receives a frame says.
func (g dice) answer(frame []byte) (message, bool) {
	d := dissect(frame)
	eth := packet.Ether{Src: packet.MAC(d.eth.DstMAC), Dst: packet.MAC(d.eth.SrcMAC)}
	for _, t := range d.tags {
		eth.Tags = append(eth.Tags, packet.Tag{Type: uint16(t >> 16), ID: uint16(t & 0xfff), Priority: uint8(t >> 13 & 7)})
	}
	ip := packet.IP{TTL: 5}
	switch {
	case d.ip4 != nil:
		ip.Dst, _ = netip.AddrFromSlice(d.ip4.SrcIP)
		ip.Src, _ = netip.AddrFromSlice(d.ip4.DstIP)
	case d.ip6 != nil:
		ip.Dst, _ = netip.AddrFromSlice(d.ip6.SrcIP)
		ip.Src, _ = netip.AddrFromSlice(d.ip6.DstIP)
	}
	switch {
	case d.tcp != nil:
		return g.answerTCP(d, packet.TCP{Eth: eth, IP: ip, SrcPort: uint16(d.tcp.DstPort), DstPort: uint16(d.tcp.SrcPort), Window: 64000})
	case d.udp != nil:
		return packet.UDP{Eth: eth, IP: ip, SrcPort: uint16(d.udp.DstPort), DstPort: uint16(d.udp.SrcPort), Payload: g.payload()}, true
	case d.icmp4 != nil && d.icmp4.TypeCode.Type() == packet.EchoRequest:
		return packet.ICMP{Eth: eth, IP: ip, Type: packet.EchoReply, ID: d.icmp4.Id, Seq: d.icmp4.Seq, Payload: d.rest}, true
	case d.icmp6 != nil && d.icmp6.TypeCode.Type() == packet.EchoRequest6:
		return packet.ICMP{Eth: eth, IP: ip, Type: packet.EchoReply6, ID: 1, Payload: d.rest}, true
	case d.icmp6 != nil && d.icmp6.TypeCode.Type() == packet.NeighborSolicitation:
		return packet.ICMP{Eth: eth, IP: ip, Type: 136, ID: 0x6000, Payload: slices.Concat(d.rest[4:20], []byte{2, 1}, eth.Src[:])}, true
	case d.arp != nil && d.arp.Operation == packet.OpRequest:
		sender, _ := netip.AddrFromSlice(d.arp.DstProtAddress)
		target, _ := netip.AddrFromSlice(d.arp.SourceProtAddress)
		return packet.ARP{Eth: eth, Op: packet.OpReply, SenderMAC: eth.Src, SenderIP: sender, TargetMAC: packet.MAC(d.arp.SourceHwAddress), TargetIP: target}, true
	}
	return nil, false
}

// answerTCP continues where the received segment ends, so that it is in every window.
func (g dice) answerTCP(d *dissected, m packet.TCP) (message, bool) {
	f := d.tcp
	s := segment{tcp: f, length: uint32(len(d.rest))}
	m.Flags, m.Seq, m.Ack = packet.ACK, f.Ack, f.Seq+s.length+s.flags()
	switch {
	case f.RST:
		return nil, false
	case f.SYN && !f.ACK:
		m.Flags, m.Seq = packet.SYN|packet.ACK, 5000
		if slices.ContainsFunc(f.Options, func(o layers.TCPOption) bool { return o.OptionType == layers.TCPOptionKindWindowScale }) {
			m.Options = packet.WindowScale(1)
		}
	case !f.ACK:
		m.Seq = 5001
	case f.SYN:
	case g.IntN(6) == 0:
		m.Flags |= packet.FIN
	case g.IntN(6) == 0:
		m.Flags |= packet.RST
	default:
		m.Payload = g.payload()
	}
	return m, true
}

// sending is a message and the port it comes from.
type sending struct {
	port openflow.PortNo
	message
}

func (s sending) injection() datapath.Injection {
	return datapath.Injection{InPort: s.port, Frame: s.Bytes()}
}
