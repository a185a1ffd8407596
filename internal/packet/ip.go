package packet

import (
	"encoding/binary"
	"net/netip"
)

// Protocol numbers (IANA).
const (
	ProtoICMP   = 1
	ProtoTCP    = 6
	ProtoUDP    = 17
	ProtoICMPv6 = 58
)

// defaultTTL is what hosts send with.
const defaultTTL = 64

// IP is an IPv4 or IPv6 header, by the family of its addresses, which must be the same.
// Lengths and checksum follow from what it is put before. The fields below TOS exist in
// IPv4 only and are ignored in IPv6.
type IP struct {
	Src, Dst netip.Addr
	TTL      uint8  // hop limit in IPv6; 64 if 0
	TOS      uint8  // traffic class in IPv6: DSCP and ECN
	ID       uint16 // tells the fragments of one packet from those of another
	Dont     bool   // don't fragment
	More     bool   // more fragments follow
	Offset   int    // of this fragment, in bytes; a multiple of 8
	Options  []byte // padded with zeros to a multiple of 4
}

// Packet is the IP packet with the given protocol and payload. It panics if the addresses
// are of two families or the packet would exceed 65535 bytes.
func (h IP) Packet(proto uint8, payload []byte) []byte {
	if h.TTL == 0 {
		h.TTL = defaultTTL
	}
	if h.Src.Is4() {
		return h.packet4(proto, payload)
	}
	return h.packet6(proto, payload)
}

// packet4 is Packet for IPv4 (RFC 791).
func (h IP) packet4(proto uint8, payload []byte) []byte {
	options := padOptions(h.Options)
	b := []byte{byte(0x45 + len(options)/4), h.TOS}
	b = binary.BigEndian.AppendUint16(b, length(20+len(options)+len(payload)))
	b = binary.BigEndian.AppendUint16(b, h.ID)
	b = binary.BigEndian.AppendUint16(b, h.fragment())
	b = append(b, h.TTL, proto, 0, 0)
	b = append(b, four(h.Src)...)
	b = append(b, four(h.Dst)...)
	b = append(b, options...)
	binary.BigEndian.PutUint16(b[10:], Checksum(b))
	return append(b, payload...)
}

// fragment is the word with the flags and the offset.
func (h IP) fragment() uint16 {
	w := uint16(h.Offset / 8)
	if h.Dont {
		w |= 0x4000
	}
	if h.More {
		w |= 0x2000
	}
	return w
}

// packet6 is Packet for IPv6 (RFC 8200).
func (h IP) packet6(proto uint8, payload []byte) []byte {
	if !h.Src.Is6() || !h.Dst.Is6() {
		panic("packet: addresses of two families or none: " + h.Src.String() + ", " + h.Dst.String())
	}
	b := binary.BigEndian.AppendUint32(nil, 6<<28|uint32(h.TOS)<<20)
	b = binary.BigEndian.AppendUint16(b, length(len(payload)))
	b = append(b, proto, h.TTL)
	b = append(b, h.Src.AsSlice()...)
	b = append(b, h.Dst.AsSlice()...)
	return append(b, payload...)
}

// pseudo starts the checksum of a transport protocol over either family.
func (h IP) pseudo(proto uint8, length int) uint32 {
	return pseudo(h.Src.AsSlice(), h.Dst.AsSlice(), proto, length)
}

// pseudo sums a pseudo-header; both families add up to addresses, protocol and length
// (RFC 8200 8.1).
func pseudo(src, dst []byte, proto uint8, length int) uint32 {
	sum := Sum(dst, Sum(src, uint32(proto)))
	return sum + uint32(length>>16) + uint32(length&0xffff)
}

// etherType is the type a frame with this header has.
func (h IP) etherType() uint16 {
	if h.Src.Is4() {
		return TypeIPv4
	}
	return TypeIPv6
}

// Datagram is an IP frame with any payload: a fragment, or a protocol without a type here.
type Datagram struct {
	Eth     Ether
	IP      IP
	Proto   uint8  // protocol, or next header in IPv6
	Payload []byte // from the transport header on, taken as it is
}

// Bytes is the frame.
func (d Datagram) Bytes() []byte {
	return d.Eth.Frame(d.IP.etherType(), d.IP.Packet(d.Proto, d.Payload))
}

// padOptions pads header options with zeros to a multiple of 4 bytes; a header has room
// for 40.
func padOptions(b []byte) []byte {
	if len(b) > 40 {
		panic("packet: more than 40 bytes of options")
	}
	return append(b[:len(b):len(b)], make([]byte, -len(b)&3)...)
}

// length gives the 16-bit length field for n bytes.
func length(n int) uint16 {
	if n > 0xffff {
		panic("packet: a packet of more than 65535 bytes")
	}
	return uint16(n)
}
