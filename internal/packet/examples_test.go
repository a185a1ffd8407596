package packet_test

import "hpnn/internal/packet"

// examples are frames of every kind the package knows, by name, with right checksums.
func examples() map[string][]byte {
	tagged, data, tcp6, options := syn, syn, syn, syn
	tagged.Eth.Tags = []packet.Tag{{Type: packet.TypeQinQ, ID: 5}, {ID: 10, Priority: 3}}
	data.Flags, data.Payload, data.Ack = packet.PSH|packet.ACK, []byte("GET / HTTP/1.0\r\n\r\n"), 99
	tcp6.IP = toVIP6
	options.IP.Options = []byte{7, 7, 4, 0, 0, 0, 0}
	request := packet.ARPRequest(clientMAC, client, vip)
	udp := packet.UDP{Eth: toNode, IP: toVIP, SrcPort: 5353, DstPort: 53, Payload: []byte("question")}
	unsummed, udp6 := udp, udp
	unsummed.Unsummed = true
	udp6.IP = toVIP6
	echo := packet.ICMP{Eth: toNode, IP: toVIP, Type: packet.EchoRequest, ID: 7, Seq: 1, Payload: []byte("ping")}
	echo6 := packet.ICMP{Eth: toNode, IP: toVIP6, Type: packet.EchoRequest6, ID: 7, Seq: 1, Payload: []byte("ping")}
	unreachable := packet.ICMP{Eth: toNode, IP: toVIP, Type: packet.Unreachable, Code: 4, Seq: 1400, Payload: data.Bytes()[14:42]}
	tooBig := packet.ICMP{Eth: toNode, IP: toVIP6, Type: 2, Seq: 1280, Payload: tcp6.Bytes()[14:]}
	whole := udp.Bytes()[34:]
	first := packet.Datagram{Eth: toNode, IP: packet.IP{Src: client, Dst: vip, ID: 1, More: true}, Proto: packet.ProtoUDP, Payload: whole[:8]}
	last := packet.Datagram{Eth: toNode, IP: packet.IP{Src: client, Dst: vip, ID: 1, Offset: 8}, Proto: packet.ProtoUDP, Payload: whole[8:]}
	// hop-by-hop options, a used up routing header, destination options and an atomic
	// fragment header before UDP
	extended := packet.Datagram{Eth: toNode, IP: toVIP6, Proto: 0, Payload: append([]byte{
		43, 0, 1, 4, 0, 0, 0, 0,
		60, 0, 0, 0, 0, 0, 0, 0,
		44, 0, 1, 4, 0, 0, 0, 0,
		17, 0, 0, 0, 0, 0, 0, 9}, udp6.Bytes()[54:]...)}
	later6 := packet.Datagram{Eth: toNode, IP: toVIP6, Proto: 44, Payload: append([]byte{17, 0, 0, 9, 0, 0, 0, 9}, "rest of it"...)}
	return map[string][]byte{
		"arp request": request.Bytes(),
		"arp reply":   request.Reply(nodeMAC).Bytes(),
		"echo":        echo.Bytes(),
		"echo6":       echo6.Bytes(),
		"extended":    extended.Bytes(),
		"first":       first.Bytes(),
		"gre":         packet.Datagram{Eth: toNode, IP: toVIP, Proto: 47, Payload: []byte("anything")}.Bytes(),
		"ip options":  options.Bytes(),
		"last":        last.Bytes(),
		"later6":      later6.Bytes(),
		"lldp":        toNode.Frame(0x88cc, []byte("lldp")),
		"llc":         toNode.Frame(4, []byte("data")),
		"padded":      packet.Pad(syn.Bytes()),
		"tagged":      tagged.Bytes(),
		"tcp":         data.Bytes(),
		"tcp6":        tcp6.Bytes(),
		"too big":     tooBig.Bytes(),
		"udp":         udp.Bytes(),
		"udp6":        udp6.Bytes(),
		"unreachable": unreachable.Bytes(),
		"unsummed":    unsummed.Bytes(),
	}
}
