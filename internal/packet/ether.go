package packet

import "encoding/binary"

// EtherTypes (IANA IEEE 802 numbers).
const (
	TypeIPv4 = 0x0800
	TypeARP  = 0x0806
	TypeVLAN = 0x8100
	TypeIPv6 = 0x86dd
	TypeQinQ = 0x88a8
)

// Ether is an Ethernet header. Its type is given by what it is put before.
type Ether struct {
	Src, Dst MAC   // stations
	Tags     []Tag // VLAN tags, outermost first
}

// Tag is a VLAN tag (IEEE 802.1Q).
type Tag struct {
	Type     uint16 // TypeVLAN if 0
	ID       uint16 // 0 to 4095
	Priority uint8  // 0 to 7
}

// Frame is the header with the given type and payload: a frame without its check
// sequence, not padded to the 60 bytes the wire needs.
func (e Ether) Frame(etherType uint16, payload []byte) []byte {
	b := make([]byte, 0, 14+4*len(e.Tags)+len(payload))
	b = append(b, e.Dst[:]...)
	b = append(b, e.Src[:]...)
	for _, t := range e.Tags {
		if t.Type == 0 {
			t.Type = TypeVLAN
		}
		b = binary.BigEndian.AppendUint16(b, t.Type)
		b = binary.BigEndian.AppendUint16(b, uint16(t.Priority&7)<<13|t.ID&0xfff)
	}
	b = binary.BigEndian.AppendUint16(b, etherType)
	return append(b, payload...)
}

// Pad appends zeros until the frame has the 60 bytes of the shortest frame on a wire. It
// may return frame itself.
func Pad(frame []byte) []byte {
	if len(frame) >= 60 {
		return frame
	}
	return append(frame, make([]byte, 60-len(frame))...)
}
