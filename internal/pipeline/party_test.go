package pipeline

import (
	"net/netip"

	"hpnn/internal/packet"
	"hpnn/model"
)

// A party is a station at the switch.
type party struct {
	port    string
	mac     packet.MAC
	ip      netip.Addr
	gateway packet.MAC // of its segment
}

// outsider is a client in the public segment that nobody declared.
func (w *world) outsider(lastByte byte) party {
	for _, s := range w.topology.Segments {
		if s.Kind == model.Public {
			return stranger(s, lastByte)
		}
	}
	panic("no public segment")
}

// stranger is an undeclared station behind the uplink of a segment.
func stranger(s model.Segment, lastByte byte) party {
	ip := s.Prefix.Addr().As4()
	ip[3] = lastByte
	return party{s.Uplink.Name, packet.MAC{0x02, 0x99, 0, 0, byte(s.ID), lastByte}, netip.AddrFrom4(ip), packet.MAC(s.Gateway.MAC)}
}

// segment returns the segment of that name.
func (w *world) segment(name string) model.Segment {
	s, ok := w.topology.Segment(name)
	if !ok {
		panic("no segment " + name)
	}
	return s
}

// host is a declared host.
func (w *world) host(name string) party {
	h, ok := w.topology.Host(name)
	if !ok {
		panic("no host " + name)
	}
	s := w.segment(h.Segment)
	return party{h.Port.Name, packet.MAC(h.MAC), h.Address, packet.MAC(s.Gateway.MAC)}
}

// prober is the node's kernel at the probe port of a segment.
func (w *world) prober(segment string) party {
	s := w.segment(segment)
	return party{s.Probe.Port.Name, packet.MAC(s.Probe.MAC), s.Probe.Address, packet.MAC(s.Gateway.MAC)}
}

// by is the party on whose port a frame left, told by name of the port.
func (w *world) by(port string) party {
	for _, h := range w.topology.Hosts {
		if h.Port.Name == port {
			return w.host(h.Name)
		}
	}
	panic("pipeline: no host on port " + port)
}

// gets is a frame that leaves by the party's port.
func (p party) gets(frame []byte) sent { return sent{p.port, frame} }

// tcp is a segment to an address beyond the gateway.
func (p party) tcp(from uint16, to netip.AddrPort, flags packet.Flags, seq, ack uint32) packet.TCP {
	return packet.TCP{
		Eth:     packet.Ether{Src: p.mac, Dst: p.gateway},
		IP:      packet.IP{Src: p.ip, Dst: to.Addr(), TTL: 64},
		SrcPort: from, DstPort: to.Port(),
		Seq: seq, Ack: ack, Flags: flags, Window: 65535,
	}
}

// ping is an echo request to an address beyond the gateway.
func (p party) ping(to netip.Addr) packet.ICMP {
	return packet.ICMP{
		Eth:  packet.Ether{Src: p.mac, Dst: p.gateway},
		IP:   packet.IP{Src: p.ip, Dst: to, TTL: 64},
		Type: packet.EchoRequest, ID: 7, Seq: 1, Payload: []byte("abcdefgh"),
	}
}

// at is the party's service.
func (p party) at(port uint16) netip.AddrPort { return netip.AddrPortFrom(p.ip, port) }

// neighbourly is a segment sent to a neighbour instead of the gateway.
func neighbourly(f packet.TCP, to party) packet.TCP {
	f.Eth.Dst = to.mac
	return f
}

// arrives is a segment as it reaches a party by way of its gateway, one hop later.
func arrives(f packet.TCP, at party) packet.TCP {
	f.Eth = packet.Ether{Src: at.gateway, Dst: at.mac}
	f.IP.TTL--
	return f
}

// to is a segment to another address and port.
func to(f packet.TCP, a netip.AddrPort) packet.TCP {
	f.IP.Dst, f.DstPort = a.Addr(), a.Port()
	return f
}

// from is a segment with another source.
func from(f packet.TCP, a netip.AddrPort) packet.TCP {
	f.IP.Src, f.SrcPort = a.Addr(), a.Port()
	return f
}
