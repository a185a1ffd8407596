package replay

import (
	"encoding/binary"

	"hpnn/internal/packet"
)

// headers are what the account needs of a frame. It is read by hand, since it is read of every
// frame that comes in and goes out.
type headers struct {
	etherType uint16
	proto     uint8 // of IPv4
	reply     bool  // an ARP reply or an echo reply
	ends      bool  // src and dst are set: TCP or UDP over IPv4, not a later fragment
	src, dst  end
	opens     bool // a TCP SYN without ACK
	seq       uint32
}

// parse reads a frame. What is cut or malformed leaves the rest zero.
func parse(b []byte) (h headers) {
	at := 12
	for {
		if at+2 > len(b) {
			return h
		}
		h.etherType = binary.BigEndian.Uint16(b[at:])
		if h.etherType != packet.TypeVLAN && h.etherType != packet.TypeQinQ {
			break
		}
		at += 4
	}
	switch b = b[at+2:]; h.etherType {
	case packet.TypeARP:
		h.reply = len(b) >= 8 && binary.BigEndian.Uint16(b[6:]) == packet.OpReply
	case packet.TypeIPv4:
		h.ip(b)
	}
	return h
}

func (h *headers) ip(b []byte) {
	if len(b) < 20 || b[0]>>4 != 4 {
		return
	}
	h.proto = b[9]
	size := int(b[0]&15) * 4
	later := binary.BigEndian.Uint16(b[6:])&0x1fff != 0
	if later || size < 20 || len(b) < size+4 {
		return
	}
	header := b
	b = b[size:]
	switch h.proto {
	case packet.ProtoICMP:
		h.reply = b[0] == packet.EchoReply
	case packet.ProtoTCP, packet.ProtoUDP:
		h.ends = true
		h.src, h.dst = endAt(header[12:], b), endAt(header[16:], b[2:])
	}
	if h.proto == packet.ProtoTCP && len(b) >= 14 {
		h.seq = binary.BigEndian.Uint32(b[4:])
		h.opens = packet.Flags(b[13])&(packet.SYN|packet.ACK) == packet.SYN
	}
}
