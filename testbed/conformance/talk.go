package conformance

import (
	"hpnn/datapath/openflow"
	"hpnn/internal/packet"
	"hpnn/simbackend/flow"
)

// talk is two hosts that exchange packets through the switch. Each end speaks as it sees the other: the server answers
// what arrived at it, which the switch may have translated.
type talk struct {
	proto uint8
	ends  [2]end // client, server
	turn  int    // of the script
	script
	id uint16 // of echo
}

// end is one host's view.
type end struct {
	port     openflow.PortNo
	eth      packet.Ether
	ip       packet.IP
	src, dst uint16
	seq, ack uint32
	scale    bool
}

// script is who says what in turn.
type script []line

// line is one packet: who sends it (0 the client), with which flags and how much payload.
type line struct {
	from  int
	flags packet.Flags
	bytes int
}

const (
	syn    = packet.SYN
	synAck = packet.SYN | packet.ACK
	ack    = packet.ACK
	push   = packet.ACK | packet.PSH
	fin    = packet.FIN | packet.ACK
	rst    = packet.RST
)

var scripts = []script{
	{{0, syn, 0}, {1, synAck, 0}, {0, ack, 0}, {0, push, 10}, {1, ack, 0}, {1, push, 33}, {0, ack, 0}, {0, fin, 0}, {1, fin, 0}, {0, ack, 0}},
	{{0, syn, 0}, {1, synAck, 0}, {0, ack, 0}, {0, push, 5}, {1, push, 7}, {1, fin, 0}, {0, fin, 0}, {1, ack, 0}, {0, syn, 0}, {1, synAck, 0}},
	{{0, syn, 0}, {0, syn, 0}, {1, synAck, 0}, {0, ack, 0}, {0, rst, 0}, {0, syn, 0}},
	{{0, syn, 0}, {1, rst | ack, 0}, {0, syn, 0}, {1, synAck, 0}},
	{{0, push, 4}, {1, push, 4}, {0, push, 9}, {1, ack, 0}, {0, fin, 0}},
	{{0, syn, 0}, {1, syn, 0}, {0, synAck, 0}, {1, ack, 0}, {1, push, 3}},
	{{0, 0, 4}, {1, 0, 8}, {0, 0, 15}, {1, 0, 0}, {0, 0, 1}}, // not TCP
	{{0, 0, 4}, {0, 0, 8}, {0, 0, 15}, {1, 0, 0}, {1, 0, 1}},
}

// newTalk begins a talk; often it is one that a sample has announced.
func (m *maker) newTalk() *talk {
	t := &talk{proto: pick[uint8](m, packet.ProtoTCP, packet.ProtoTCP, packet.ProtoUDP, packet.ProtoICMP)}
	client := end{port: openflow.PortNo(1 + m.IntN(Ports)), eth: m.ether(), ip: m.ip(), src: pick(m, clientPorts...), dst: pick(m, serverPorts...), seq: m.Uint32()}
	if f := pick(m, m.samples...); m.chance(70) {
		client.take(f)
		switch _, l3 := network(f.Bytes); {
		case client.ip.Src.Is4() && len(l3) > 9 && (l3[9] == packet.ProtoTCP || l3[9] == packet.ProtoUDP || l3[9] == packet.ProtoICMP):
			t.proto = l3[9]
		}
	}
	if m.traits.node && m.chance(80) {
		client = m.nodeClient()
	}
	client.scale = m.chance(30)
	t.ends = [2]end{client, client.facing(openflow.PortNo(1 + m.IntN(Ports)))}
	t.ends[1].seq = m.Uint32()
	t.id = uint16(m.IntN(3))
	t.script = pick(m, scripts[:6]...)
	if t.proto != packet.ProtoTCP {
		t.script = pick(m, scripts[6:]...)
	}
	return t
}

// take makes the end the sender of a frame, as far as the frame has what it takes.
func (e *end) take(f Frame) {
	var k flow.Key
	if _, ok := flow.Extract(f.Bytes, uint16(f.Port), &k); !ok {
		return
	}
	e.port, e.eth = f.Port, packet.Ether{Src: mac(k.Get(openflow.EthSrc)), Dst: mac(k.Get(openflow.EthDst))}
	for _, tag := range k.Tags() {
		e.eth.Tags = append(e.eth.Tags, packet.Tag{Type: uint16(tag >> 16), ID: uint16(tag & 0xfff), Priority: uint8(tag >> 13 & 7)})
	}
	switch {
	case flow.Present(&k, openflow.IPSrc):
		e.ip.Src, e.ip.Dst = addrOf(k.Get(openflow.IPSrc)), addrOf(k.Get(openflow.IPDst))
	case flow.Present(&k, openflow.IPv6Src):
		e.ip.Src, e.ip.Dst = addr16(k.Get(openflow.IPv6Src)), addr16(k.Get(openflow.IPv6Dst))
	}
	if flow.Present(&k, openflow.TCPSrc) || flow.Present(&k, openflow.UDPSrc) {
		e.src, e.dst = uint16(k.Get(openflow.TCPSrc).Lo), uint16(k.Get(openflow.TCPDst).Lo)
	}
}

// facing is the view of the host that receives what e sends.
func (e end) facing(port openflow.PortNo) end {
	f := e
	f.port = port
	f.eth.Src, f.eth.Dst = e.eth.Dst, e.eth.Src
	f.ip.Src, f.ip.Dst = e.ip.Dst, e.ip.Src
	f.src, f.dst = e.dst, e.src
	return f
}

// say sends the next packet of the talk, or nil if it is over.
func (m *maker) say(t *talk) Event {
	if t.turn >= len(t.script) {
		return nil
	}
	l := t.script[t.turn]
	switch { // sometimes a packet is lost or sent again
	case m.chance(6):
		t.turn += 2
	case !m.chance(6):
		t.turn++
	}
	f := Frame{t.ends[l.from].port, m.packet(t, l)}
	outputs := m.world.receive(f)
	for _, o := range outputs {
		if l.from == 0 && o.Port != openflow.PortLocal && sameKind(f.Bytes, o.Frame) {
			seq, known := t.ends[1].seq, t.ends[1].ack
			var seen end
			seen.ip = t.ends[0].ip
			seen.take(Frame{o.Port, o.Frame})
			t.ends[1] = seen.facing(o.Port)
			t.ends[1].seq, t.ends[1].ack = seq, known
			break
		}
	}
	return f
}

func sameKind(a, b []byte) bool {
	ta, la := network(a)
	tb, lb := network(b)
	return ta == tb && (ta != packet.TypeIPv4 || len(la) >= 20 && len(lb) >= 20 && la[9] == lb[9])
}

// packet makes the packet of a line and moves the sequence numbers on.
func (m *maker) packet(t *talk, l line) []byte {
	from, to := &t.ends[l.from], &t.ends[1-l.from]
	payload := make([]byte, l.bytes)
	for i := range payload {
		payload[i] = byte('a' + i%26)
	}
	switch t.proto {
	case packet.ProtoUDP:
		return packet.UDP{Eth: from.eth, IP: from.ip, SrcPort: from.src, DstPort: from.dst, Payload: payload}.Bytes()
	case packet.ProtoICMP:
		kind := uint8(packet.EchoRequest)
		if l.from == 1 {
			kind = packet.EchoReply
		}
		if from.ip.Src.Is6() {
			kind = packet.EchoRequest6 + uint8(l.from)
		}
		return packet.ICMP{Eth: from.eth, IP: from.ip, Type: kind, ID: t.id, Seq: uint16(t.turn), Payload: payload}.Bytes()
	}
	p := packet.TCP{
		Eth: from.eth, IP: from.ip, SrcPort: from.src, DstPort: from.dst, Flags: l.flags, Seq: from.seq, Window: pick[uint16](m, 64240, 502, 0, 65535), Payload: payload,
	}
	if l.flags&packet.ACK != 0 {
		p.Ack = to.seq
	}
	if l.flags&packet.SYN != 0 && from.scale {
		p.Options = append(packet.MSS(1460), packet.WindowScale(uint8(m.IntN(15)))...)
	}
	if m.chance(4) {
		p.Seq += pick[uint32](m, 1, 0xffffffff, 70000, 1<<31)
	}
	b := p.Bytes()
	from.seq += uint32(l.bytes)
	if l.flags&(packet.SYN|packet.FIN) != 0 {
		from.seq++
	}
	return b
}
