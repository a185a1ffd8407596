package flow

import (
	"encoding/binary"

	of "hpnn/datapath/openflow"
)

// Sizes of headers, bytes.
const (
	ethLen  = 14
	vlanLen = 4
	snapLen = 8
	ipv4Len = 20
	ipv6Len = 40
	arpLen  = 28
	tcpLen  = 20
	udpLen  = 8
	icmpLen = 8
	sctpLen = 12
	ndLen   = 24 // ICMPv6 header and target
)

// absent is the offset of a header that is not there.
const absent = 0xffff

// Layout is where the headers of a frame are, in bytes from its start. It stays true while
// Rewrite changes fields, and Rewrite keeps it up when tags come and go.
type Layout struct {
	// Len is the length of the frame.
	Len int
	// L3 is where the header after the Ethernet type starts.
	L3 uint16
	// L4 is where the IP payload starts, behind IPv6 extension headers; 0xffff if there is no sound
	// IP header.
	L4 uint16
	// Pad is how many bytes of the frame follow the end of the IP packet.
	Pad uint16
}

// HasL4 reports whether the frame has a sound IP header, so that L4 means something.
func (l *Layout) HasL4() bool { return l.L4 != absent }

// L4Len is the number of bytes of the IP payload in the frame, 0 if there is none.
func (l *Layout) L4Len() int {
	if l.L4 == absent {
		return 0
	}
	return l.Len - int(l.L4) - int(l.Pad)
}

// Extract reads all fields of a frame that came in on inPort into k, whose registers, metadata
// and connection state become 0. It reports false, and k holds only in_port, for a frame
// shorter than an Ethernet header, which no port delivers.
func Extract(frame []byte, inPort uint16, k *Key) (Layout, bool) {
	*(*[firstHeader]uint64)(k[:]) = [firstHeader]uint64{}
	return extract(frame, k, uint64(inPort)<<shiftInPort)
}

// Refresh reads the header fields of a frame into k and leaves the rest of k alone: in_port,
// registers, metadata, connection state. It is what a recirculated frame goes through.
func Refresh(frame []byte, k *Key) (Layout, bool) {
	return extract(frame, k, k[wordL2]&(0xffff<<shiftInPort))
}

// extract fills the header words of k. l2 is the first of them, with in_port and nothing else yet:
// words that many headers share travel by value, so that each is stored once.
func extract(frame []byte, k *Key, l2 uint64) (Layout, bool) {
	*(*[Words - firstHeader]uint64)(k[firstHeader:]) = [Words - firstHeader]uint64{}
	k[wordL2] = l2
	l := Layout{Len: len(frame), L4: absent}
	if len(frame) < ethLen {
		return l, false
	}
	k[wordDst] = binary.BigEndian.Uint64(frame) >> 16
	k[wordSrc] = binary.BigEndian.Uint64(frame[4:]) & (1<<48 - 1)
	at := ethLen
	ethType := binary.BigEndian.Uint16(frame[12:])
	if isTPID(ethType) && len(frame) >= ethLen+vlanLen {
		l2 |= uint64(binary.BigEndian.Uint16(frame[14:])|of.VLANPresent) << shiftTCI
		k[wordTags] = uint64(ethType) << shiftOuterTPID
		at += vlanLen
		ethType = binary.BigEndian.Uint16(frame[16:])
	}
	if ethType < ethTypeMin {
		ethType, at = snapType(frame, at)
	}
	l2 |= uint64(ethType) << shiftType
	l.L3 = uint16(at)
	switch b := frame[at:]; ethType {
	case of.EthTypeIPv4:
		l2, l.L4, l.Pad = extractIPv4(b, k, l2)
	case of.EthTypeIPv6:
		l2, l.L4, l.Pad = extractIPv6(b, k, l2)
	case of.EthTypeARP, of.EthTypeRARP:
		l2 = extractARP(b, k, l2)
	case ethTypeMPLS, ethTypeMPLSm:
		extractMPLS(b, k)
	}
	if l.L4 != absent {
		l.L4 += l.L3
	}
	k[wordL2] = l2
	return l, true
}

func isTPID(ethType uint16) bool { return ethType == of.EthTypeVLAN || ethType == of.EthTypeQinQ }

// snapType finds the type of a frame whose type field is a length: the one in a SNAP header with
// the zero organisation (RFC 1042), else the stand-in that OVS uses. at is behind the field.
func snapType(frame []byte, at int) (ethType uint16, next int) {
	const header = 0xaaaa03_000000
	if len(frame)-at < snapLen || binary.BigEndian.Uint64(frame[at:])>>16 != header {
		return ethTypeNone, at
	}
	ethType = binary.BigEndian.Uint16(frame[at+6:])
	if ethType < ethTypeMin {
		ethType = ethTypeNone
	}
	return ethType, at + snapLen
}

// extractIPv4 reads an IPv4 header and what it carries. Neither version nor checksum is looked at,
// but the lengths must agree. It returns l2 with protocol and fragment, the header's length and that
// of the padding.
func extractIPv4(b []byte, k *Key, l2 uint64) (_ uint64, l4, pad uint16) {
	if len(b) < ipv4Len {
		return l2, absent, 0
	}
	headerLen := int(b[0]&0x0f) * 4
	total := int(binary.BigEndian.Uint16(b[2:]))
	if headerLen < ipv4Len || headerLen > total || total > len(b) || len(b)-total > 0xffff {
		return l2, absent, 0
	}
	k[wordIPv4] = binary.BigEndian.Uint64(b[12:])
	l2 |= uint64(b[9]) << shiftProto
	word := uint64(b[1])<<shiftTOS | uint64(b[8])<<shiftTTL
	switch where := binary.BigEndian.Uint16(b[6:]); {
	case where&0x1fff != 0:
		l2 |= of.FragLater
	case where&0x2000 != 0:
		l2 |= of.FragFirst
		fallthrough
	default:
		word |= extractL4(b[headerLen:total], b[9], k)
	}
	k[wordL4] = word
	return l2, uint16(headerLen), uint16(len(b) - total)
}

// extractL4 reads the transport header that starts b, the rest of the IP packet. It returns what
// goes into the word of the transport fields.
func extractL4(b []byte, proto uint8, k *Key) uint64 {
	switch proto {
	case of.ProtoTCP:
		if len(b) < tcpLen {
			return 0
		}
		if n := int(b[12]>>4) * 4; n >= tcpLen && n <= len(b) {
			return ports(b) | uint64(binary.BigEndian.Uint16(b[12:])&0x0fff)
		}
	case of.ProtoUDP:
		if len(b) >= udpLen {
			return ports(b)
		}
	case of.ProtoSCTP:
		if len(b) >= sctpLen {
			return ports(b)
		}
	case of.ProtoICMP:
		if len(b) >= icmpLen {
			return typeAndCode(b)
		}
	case protoIGMP:
		if len(b) >= icmpLen {
			k[wordLabel] |= uint64(binary.BigEndian.Uint32(b[4:]))
			return typeAndCode(b)
		}
	case of.ProtoICMPv6:
		if len(b) >= icmpLen {
			return typeAndCode(b) | extractND(b, k)
		}
	}
	return 0
}

func ports(b []byte) uint64 { return uint64(binary.BigEndian.Uint32(b)) << shiftTpDst }

func typeAndCode(b []byte) uint64 { return uint64(b[0])<<shiftTpSrc | uint64(b[1])<<shiftTpDst }

// extractARP reads an ARP or RARP message about IPv4 over Ethernet. Any other has no fields. An
// opcode above 255 reads as 0. It returns l2 with the opcode.
func extractARP(b []byte, k *Key, l2 uint64) uint64 {
	const ethernetIPv4 = 0x0001_0800_06_04 // hardware and protocol types, address lengths
	if len(b) < arpLen || binary.BigEndian.Uint64(b)>>16 != ethernetIPv4 {
		return l2
	}
	k[wordSHA] = binary.BigEndian.Uint64(b[8:]) >> 16
	k[wordTHA] = binary.BigEndian.Uint64(b[16:]) & (1<<48 - 1)
	k[wordIPv4] = uint64(binary.BigEndian.Uint32(b[14:]))<<32 | uint64(binary.BigEndian.Uint32(b[24:]))
	if b[6] != 0 {
		return l2
	}
	return l2 | uint64(b[7])<<shiftProto
}

// maxLabels is how many entries of an MPLS label stack a Key keeps, for printing only.
const maxLabels = 3

// extractMPLS reads the top of the label stack, down to its bottom, into the words that
// frames with an IP header use for neighbour discovery.
func extractMPLS(b []byte, k *Key) {
	for i := 0; i < maxLabels && len(b) >= 4; i++ {
		lse := binary.BigEndian.Uint32(b)
		k[wordND+i/2] |= uint64(lse) << (32 * (1 - i%2))
		if b = b[4:]; lse&0x100 != 0 {
			return
		}
	}
}
