package ovsproto

import (
	"encoding/binary"
	"net/netip"
)

// ConnTuple is what is known of one direction of connections to be flushed. What is zero or not valid
// may be anything, except for ICMP: then all of it counts.
type ConnTuple struct {
	Src, Dst           netip.Addr
	SrcPort, DstPort   uint16
	ICMP               bool
	ID                 uint16
	ICMPType, ICMPCode uint8
}

// ConnFlush selects connections. OVS 3.1 understands it in its own way: with an original tuple that is
// complete, no Zone means zone 0; else any.
type ConnFlush struct {
	Zone        *uint16
	Proto       uint8 // 0: any
	Orig, Reply ConnTuple
}

// Properties of NXT_CT_FLUSH and of a tuple in it (Open vSwitch's nicira-ext.h).
const (
	flushOrig  = 0
	flushReply = 1
	flushZone  = 2

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

// Message is the request to flush. There is no reply; a barrier tells that it was done.
func (f ConnFlush) Message() Message {
	b := binary.BigEndian.AppendUint32(nil, vendorNicira)
	b = binary.BigEndian.AppendUint32(b, subtypeCTFlush)
	b = append(b, f.Proto, 0, 0, 0, 0, 0, 0, 0)
	for kind, t := range []ConnTuple{flushOrig: f.Orig, flushReply: f.Reply} {
		if properties := t.properties(); len(properties) > 0 {
			b = appendProperty(b, uint16(kind), append([]byte{0, 0, 0, 0}, properties...))
		}
	}
	if f.Zone != nil {
		b = appendProperty(b, flushZone, binary.BigEndian.AppendUint16(nil, *f.Zone))
	}
	return Message{Type: Experimenter, Body: b}
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
		b = appendProperty(b, tupleICMPType, []byte{t.ICMPType})
		b = appendProperty(b, tupleICMPCode, []byte{t.ICMPCode})
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
