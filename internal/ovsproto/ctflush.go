package ovsproto

import (
	"encoding/binary"
	"net/netip"
)

// ConnTuple names one tracked connection by its zone and the original direction, before any
// translation.
type ConnTuple struct {
	Zone             uint16
	Proto            uint8
	Src, Dst         netip.Addr
	SrcPort, DstPort uint16
	ICMP             bool // has an id, type and code instead of ports
	ID               uint16
	Type, Code       uint8
}

// Properties of NXT_CT_FLUSH and of a tuple in it (Open vSwitch's nicira-ext.h).
const (
	flushOrig = 0
	flushZone = 2

	tupleSrc      = 0
	tupleDst      = 1
	tupleSrcPort  = 2
	tupleDstPort  = 3
	tupleICMPID   = 4
	tupleICMPType = 5
	tupleICMPCode = 6
)

const (
	vendorNicira   = 0x00002320
	subtypeCTFlush = 32 // since Open vSwitch 3.1
)

// FlushConn is the request to forget a connection. There is no reply; a barrier tells that it was done.
func FlushConn(t ConnTuple) Message {
	b := flushHeader(t.Proto)
	b = appendProperty(b, flushOrig, append([]byte{0, 0, 0, 0}, t.properties()...))
	b = appendProperty(b, flushZone, binary.BigEndian.AppendUint16(nil, t.Zone))
	return Message{Type: Experimenter, Body: b}
}

// FlushZone is the request to forget the connections of a zone, or, if it is 0, all connections.
func FlushZone(zone uint16) Message {
	b := flushHeader(0)
	if zone != 0 {
		b = appendProperty(b, flushZone, binary.BigEndian.AppendUint16(nil, zone))
	}
	return Message{Type: Experimenter, Body: b}
}

func flushHeader(proto uint8) []byte {
	b := binary.BigEndian.AppendUint32(nil, vendorNicira)
	b = binary.BigEndian.AppendUint32(b, subtypeCTFlush)
	return append(b, proto, 0, 0, 0, 0, 0, 0, 0)
}

func (t ConnTuple) properties() (b []byte) {
	for kind, a := range []netip.Addr{tupleSrc: t.Src, tupleDst: t.Dst} {
		if a.IsValid() {
			bytes := a.As16() // IPv4 as ::ffff:A
			b = appendProperty(b, uint16(kind), bytes[:])
		}
	}
	if t.SrcPort != 0 {
		b = appendProperty(b, tupleSrcPort, binary.BigEndian.AppendUint16(nil, t.SrcPort))
	}
	if t.DstPort != 0 {
		b = appendProperty(b, tupleDstPort, binary.BigEndian.AppendUint16(nil, t.DstPort))
	}
	if t.ICMP {
		b = appendProperty(b, tupleICMPID, binary.BigEndian.AppendUint16(nil, t.ID))
		b = appendProperty(b, tupleICMPType, []byte{t.Type})
		b = appendProperty(b, tupleICMPCode, []byte{t.Code})
	}
	return b
}

// appendProperty appends type, length and value, padded to eight bytes.
func appendProperty(b []byte, kind uint16, value []byte) []byte {
	b = binary.BigEndian.AppendUint16(b, kind)
	b = binary.BigEndian.AppendUint16(b, uint16(4+len(value)))
	b = append(b, value...)
	return append(b, make([]byte, (8-(4+len(value))%8)%8)...)
}
