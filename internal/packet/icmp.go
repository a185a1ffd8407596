package packet

import "encoding/binary"

// ICMP types used most (RFC 792, RFC 4443, RFC 4861).
const (
	EchoReply            = 0
	Unreachable          = 3
	EchoRequest          = 8
	TimeExceeded         = 11
	EchoRequest6         = 128
	EchoReply6           = 129
	NeighborSolicitation = 135
)

// ICMP is a frame with an ICMP message, or an ICMPv6 message where the addresses are IPv6.
// In errors ID and Seq are the two halves of the word after the checksum (an MTU is Seq),
// and Payload is the packet the error is about from its IP header.
type ICMP struct {
	Eth        Ether
	IP         IP
	Type, Code uint8
	ID, Seq    uint16 // of an echo; see above for errors
	Payload    []byte
}

// Bytes is the frame.
func (m ICMP) Bytes() []byte {
	b := []byte{m.Type, m.Code, 0, 0}
	b = binary.BigEndian.AppendUint16(b, m.ID)
	b = binary.BigEndian.AppendUint16(b, m.Seq)
	b = append(b, m.Payload...)
	proto, sum := uint8(ProtoICMP), uint32(0)
	if !m.IP.Src.Is4() {
		proto = ProtoICMPv6
		sum = m.IP.pseudo(proto, len(b))
	}
	binary.BigEndian.PutUint16(b[2:], Fold(Sum(b, sum)))
	return Datagram{m.Eth, m.IP, proto, b}.Bytes()
}
