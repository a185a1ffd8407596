package packet

import "encoding/binary"

// UDP is a frame with a UDP datagram (RFC 768).
type UDP struct {
	Eth              Ether
	IP               IP
	SrcPort, DstPort uint16
	Unsummed         bool // send checksum 0: none in IPv4, a fault in IPv6
	Payload          []byte
}

// Bytes is the frame.
func (u UDP) Bytes() []byte {
	b := binary.BigEndian.AppendUint16(nil, u.SrcPort)
	b = binary.BigEndian.AppendUint16(b, u.DstPort)
	b = binary.BigEndian.AppendUint16(b, length(8+len(u.Payload)))
	b = append(b, 0, 0)
	b = append(b, u.Payload...)
	if !u.Unsummed {
		sum := Fold(Sum(b, u.IP.pseudo(ProtoUDP, len(b))))
		if sum == 0 {
			sum = 0xffff // the same number, told from "none"
		}
		binary.BigEndian.PutUint16(b[6:], sum)
	}
	return Datagram{u.Eth, u.IP, ProtoUDP, b}.Bytes()
}
