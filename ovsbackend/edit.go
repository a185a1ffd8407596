package ovsbackend

import (
	"encoding/binary"
	"net/netip"

	"hpnn/internal/packet"
)

// edited is a frame as datapath actions leave it. Once something was done to it that is not understood
// here, its bytes are not known any more.
type edited struct {
	bytes []byte // nil: not known
}

func edit(frame []byte) edited { return edited{append([]byte{}, frame...)} }

func (e *edited) clone() edited {
	if e.bytes == nil {
		return edited{}
	}
	return edit(e.bytes)
}

func (e *edited) forget() { e.bytes = nil }

const (
	addressBytes = 12 // both Ethernet addresses
	tagBytes     = 4
	ipv4Bytes    = 20
	ipv4Src      = 12 // offsets in the header
	ipv4Dst      = 16
)

// layers finds the type behind the tags, and where what it names begins.
func (e *edited) layers() (etherType uint16, at int) {
	at = addressBytes
	for len(e.bytes) >= at+2 {
		etherType = binary.BigEndian.Uint16(e.bytes[at:])
		if etherType != packet.TypeVLAN && etherType != packet.TypeQinQ {
			return etherType, at + 2
		}
		at += tagBytes
	}
	return 0, len(e.bytes)
}

// ipv4Packet is where the parts of an IPv4 packet are.
type ipv4Packet struct {
	at    int // of the header
	l4    int // of what follows it
	end   int // of the packet; padding may follow
	proto uint8
}

// ipv4 finds the IPv4 packet in the frame.
func (e *edited) ipv4() (p ipv4Packet, ok bool) {
	t, at := e.layers()
	if t != packet.TypeIPv4 || len(e.bytes) < at+ipv4Bytes {
		return p, false
	}
	end := min(len(e.bytes), at+int(binary.BigEndian.Uint16(e.bytes[at+2:])))
	return ipv4Packet{at: at, l4: at + int(e.bytes[at]&0xf)*4, end: end, proto: e.bytes[at+9]}, true
}

// checksum is the offset of the checksum that covers addresses and ports; ok is false if there is none.
func (e *edited) checksum(p ipv4Packet) (at int, ok bool) {
	switch p.proto {
	case packet.ProtoTCP:
		return p.l4 + 16, p.end >= p.l4+20
	case packet.ProtoUDP:
		at = p.l4 + 6
		return at, p.end >= p.l4+8 && binary.BigEndian.Uint16(e.bytes[at:]) != 0
	}
	return 0, false
}

// hasPorts tells whether Open vSwitch writes ports: the header is complete.
func (e *edited) hasPorts(p ipv4Packet) bool {
	switch p.proto {
	case packet.ProtoTCP:
		offset := 4 * int(e.bytes[min(p.l4+12, len(e.bytes)-1)]>>4)
		return p.end >= p.l4+20 && offset >= 20 && p.l4+offset <= p.end
	case packet.ProtoUDP:
		return p.end >= p.l4+8
	}
	return false
}

// replace16 writes a word and corrects the checksum at sum.
func (e *edited) replace16(at int, value uint16, sum int) {
	word := e.bytes[at : at+2]
	binary.BigEndian.PutUint16(e.bytes[sum:], packet.Update16(binary.BigEndian.Uint16(e.bytes[sum:]), binary.BigEndian.Uint16(word), value))
	binary.BigEndian.PutUint16(word, value)
}

// noZero writes a UDP checksum that became zero, which would mean none, as its other zero.
func (e *edited) noZero(proto uint8, sum int) {
	if proto == packet.ProtoUDP && binary.BigEndian.Uint16(e.bytes[sum:]) == 0 {
		binary.BigEndian.PutUint16(e.bytes[sum:], 0xffff)
	}
}

// setAddress writes an IPv4 address at ipv4Src or ipv4Dst.
func (e *edited) setAddress(offset int, a netip.Addr) {
	p, ok := e.ipv4()
	if !ok || !a.Is4() {
		e.forget()
		return
	}
	value := a.As4()
	if [4]byte(e.bytes[p.at+offset:]) == value {
		return
	}
	if sum, ok := e.checksum(p); ok {
		c := binary.BigEndian.Uint16(e.bytes[sum:])
		c = packet.Update32(c, binary.BigEndian.Uint32(e.bytes[p.at+offset:]), binary.BigEndian.Uint32(value[:]))
		binary.BigEndian.PutUint16(e.bytes[sum:], c)
		e.noZero(p.proto, sum)
	}
	e.replace16(p.at+offset, binary.BigEndian.Uint16(value[:]), p.at+10)
	e.replace16(p.at+offset+2, binary.BigEndian.Uint16(value[2:]), p.at+10)
}

// setPort writes a TCP or UDP port, at an offset of 0 or 2, if the header is complete.
func (e *edited) setPort(offset int, port uint16) {
	p, ok := e.ipv4()
	if !ok || p.proto != packet.ProtoTCP && p.proto != packet.ProtoUDP {
		e.forget()
		return
	}
	if !e.hasPorts(p) || binary.BigEndian.Uint16(e.bytes[p.l4+offset:]) == port {
		return
	}
	if sum, ok := e.checksum(p); ok {
		e.replace16(p.l4+offset, port, sum)
		e.noZero(p.proto, sum)
		return
	}
	binary.BigEndian.PutUint16(e.bytes[p.l4+offset:], port)
}

// setHeaderByte writes a byte of the IPv4 header, under a mask.
func (e *edited) setHeaderByte(offset int, value, mask byte) {
	p, ok := e.ipv4()
	if !ok {
		e.forget()
		return
	}
	at, shift := p.at+offset&^1, 8*(1-offset&1)
	word := binary.BigEndian.Uint16(e.bytes[at:])
	word = word&^(uint16(mask)<<shift) | uint16(value&mask)<<shift
	e.replace16(at, word, p.at+10)
}

// setICMP writes type and code.
func (e *edited) setICMP(kind, code byte) {
	p, ok := e.ipv4()
	if !ok || p.proto != packet.ProtoICMP || len(e.bytes) < p.l4+8 {
		e.forget()
		return
	}
	e.replace16(p.l4, uint16(kind)<<8|uint16(code), p.l4+2)
}

// setBytes writes bytes that no checksum covers, at an offset from the beginning or behind the tags.
func (e *edited) setBytes(at int, value []byte) {
	if len(e.bytes) < at+len(value) {
		e.forget()
		return
	}
	copy(e.bytes[at:], value)
}

// setARP writes a part of an ARP message.
func (e *edited) setARP(offset int, value []byte) {
	t, at := e.layers()
	if t != packet.TypeARP {
		e.forget()
		return
	}
	e.setBytes(at+offset, value)
}

func (e *edited) pushTag(tpid, tci uint16) {
	if len(e.bytes) < addressBytes {
		e.forget()
		return
	}
	tag := binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(nil, tpid), tci)
	e.bytes = append(append(append([]byte{}, e.bytes[:addressBytes]...), tag...), e.bytes[addressBytes:]...)
}

func (e *edited) popTag() {
	if len(e.bytes) < addressBytes+tagBytes {
		e.forget()
		return
	}
	e.bytes = append(append([]byte{}, e.bytes[:addressBytes]...), e.bytes[addressBytes+tagBytes:]...)
}
