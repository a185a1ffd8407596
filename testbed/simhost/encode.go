package simhost

import (
	"encoding/binary"
	"net/netip"

	"hpnn/internal/packet"
)

// Where headers are in a frame without tags and IP options.
const (
	ipAt  = 14
	tcpAt = 34
)

// outgoing is a segment to be sent. It becomes the same frame as a packet.TCP would, with one
// allocation: most of what a World does is making these.
type outgoing struct {
	dst      netip.Addr
	key      connKey
	seq, ack uint32
	flags    packet.Flags
	window   uint16
	ttl      uint8  // 64 if 0
	id       uint16 // 0 if it belongs to no connection, as in Linux
	mss      uint16 // option, unless 0
	data     []byte
}

// frame is the whole frame; the destination's MAC is filled in later.
func (o *outgoing) frame(h *Host) []byte {
	header := 20
	if o.mss != 0 {
		header += 4
	}
	b := make([]byte, tcpAt+header+len(o.data))
	copy(b[6:], h.config.MAC[:])
	binary.BigEndian.PutUint16(b[12:], packet.TypeIPv4)
	o.putIP(h, b[ipAt:])
	o.putTCP(b[ipAt+12:tcpAt], b[tcpAt:], header)
	return b
}

// putIP writes the IP header (RFC 791).
func (o *outgoing) putIP(h *Host, b []byte) {
	b[0] = 0x45
	binary.BigEndian.PutUint16(b[2:], uint16(len(b)))
	binary.BigEndian.PutUint16(b[4:], o.id)
	b[6] = 0x40 // don't fragment
	b[8], b[9] = o.ttl, packet.ProtoTCP
	if o.ttl == 0 {
		b[8] = 64
	}
	src, dst := h.ip.As4(), o.dst.As4()
	copy(b[12:], src[:])
	copy(b[16:], dst[:])
	binary.BigEndian.PutUint16(b[10:], packet.Checksum(b[:20]))
}

// putTCP writes the TCP header (RFC 9293 3.1) and the data; addresses are those of the IP
// header.
func (o *outgoing) putTCP(addresses, b []byte, header int) {
	binary.BigEndian.PutUint16(b, o.key.local)
	binary.BigEndian.PutUint16(b[2:], o.key.port)
	binary.BigEndian.PutUint32(b[4:], o.seq)
	binary.BigEndian.PutUint32(b[8:], o.ack)
	binary.BigEndian.PutUint16(b[12:], uint16(header/4)<<12|uint16(o.flags))
	binary.BigEndian.PutUint16(b[14:], o.window)
	if o.mss != 0 {
		b[20], b[21] = 2, 4
		binary.BigEndian.PutUint16(b[22:], o.mss)
	}
	copy(b[header:], o.data)
	sum := packet.Sum(addresses, packet.ProtoTCP+uint32(len(b)))
	binary.BigEndian.PutUint16(b[16:], packet.Fold(packet.Sum(b, sum)))
}
