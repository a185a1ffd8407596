package flow

import (
	"encoding/binary"
	"math/bits"

	of "hpnn/datapath/openflow"
)

// Microflow is the Key of a frame of the commonest kind in four words: an untagged one that carries a
// whole IPv4 packet without options, and in it TCP, UDP or ICMP with a sound header. Frames of one
// microflow have one Key, and their headers lie at the same places.
//
//	eth_dst<<16 | in_port
//	eth_src<<16 | nw_tos<<8 | nw_ttl
//	nw_src<<32 | nw_dst
//	tp_src<<48 | tp_dst<<32 | tcp_flags<<8 | nw_proto
type Microflow [4]uint64

// Where the headers of a microflow's frames are.
const (
	microL3 = ethLen
	microL4 = ethLen + ipv4Len
)

// Read makes m the microflow of a frame that came in on inPort and says where its headers are. It
// reports false, and m means nothing, if the frame is of another kind.
func (m *Microflow) Read(frame []byte, inPort uint16) (Layout, bool) {
	if len(frame) < microL4+udpLen {
		return Layout{}, false
	}
	l2 := binary.BigEndian.Uint64(frame[8:])    // ... source, type, version and length of the header, nw_tos
	size := binary.BigEndian.Uint64(frame[16:]) // total length, id, fragment, nw_ttl, nw_proto
	total := int(size >> 48)
	const fragment = 0x3fff << 16
	if l2&0xffff_0f00 != of.EthTypeIPv4<<16|5<<8 || size&fragment != 0 || total > len(frame)-microL3 || len(frame)-total > 0xffff {
		return Layout{}, false
	}
	word := size & 0xff
	switch b := frame[microL4:]; word {
	case of.ProtoTCP:
		if total < ipv4Len+tcpLen {
			return Layout{}, false
		}
		flags := uint64(binary.BigEndian.Uint16(b[12:]))
		if n := int(flags >> 12 * 4); n < tcpLen || n > total-ipv4Len {
			return Layout{}, false
		}
		word |= ports(b) | flags&0x0fff<<8
	case of.ProtoUDP:
		word |= ports(b)
	case of.ProtoICMP:
		word |= typeAndCode(b)
	default:
		return Layout{}, false
	}
	if total < ipv4Len+udpLen {
		return Layout{}, false
	}
	first := binary.BigEndian.Uint64(frame)
	m[0] = first&^0xffff | uint64(inPort)
	m[1] = first<<48 | l2>>32<<16 | l2&0xff<<8 | size>>8&0xff
	m[2] = binary.BigEndian.Uint64(frame[26:])
	m[3] = word
	return Layout{Len: len(frame), L3: microL3, L4: microL4, Pad: uint16(len(frame) - microL3 - total)}, true
}

// Hash tells microflows apart.
func (m *Microflow) Hash() uint64 {
	h1, l1 := bits.Mul64(m[0]^0x9e3779b97f4a7c15, m[1]^0xd6e8feb86659fd93)
	h2, l2 := bits.Mul64(m[2]^0xa0761d6478bd642f, m[3]^0xe7037ed1a0b428db)
	h, l := bits.Mul64(h1^l1^0x8ebc6af09c88c6e3, h2^l2^0x589965cc75374cc3)
	return h ^ l
}
