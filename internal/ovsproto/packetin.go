package ovsproto

import (
	"encoding/binary"
	"fmt"
)

// Packet is a frame that a flow sent to the controller (section 7.4.1).
type Packet struct {
	InPort uint32
	Reason uint8 // 0 no match, 1 action, 2 invalid TTL; more since OpenFlow 1.4
	Frame  []byte
}

// WantPackets is the message that asks a bridge to send packet-ins: OVS sends none to a connection that
// came in from outside unless it was told how many bytes are wanted.
func WantPackets() Message {
	return Message{Type: SetConfig, Body: []byte{0, 0, 0xff, 0xff}} // fragments as usual; miss_send_len
}

const (
	packetInHeader = 16 // buffer, length, reason, table, cookie; then the match
	oxmHeader      = 4
	oxmInPort      = 0x80000004 // OXM_OF_IN_PORT, 4 bytes
)

// Packet is what a PacketIn message says.
func (m Message) Packet() (Packet, error) {
	b := m.Body
	if m.Type != PacketIn || len(b) < packetInHeader+oxmHeader {
		return Packet{}, fmt.Errorf("read packet-in: message type %d of %d bytes", m.Type, len(b))
	}
	length := int(binary.BigEndian.Uint16(b[packetInHeader+2:])) // of the match, without its padding
	frame := packetInHeader + (length+7)/8*8 + 2
	if length < oxmHeader || frame > len(b) {
		return Packet{}, fmt.Errorf("read packet-in: a match of %d bytes does not fit into a body of %d", length, len(b))
	}
	port, ok := inPort(b[packetInHeader+oxmHeader : packetInHeader+length])
	if !ok {
		return Packet{}, fmt.Errorf("read packet-in: no in_port among its fields")
	}
	return Packet{InPort: port, Reason: b[6], Frame: b[frame:]}, nil
}

// inPort finds the ingress port among OXM fields.
func inPort(oxm []byte) (uint32, bool) {
	for len(oxm) >= oxmHeader {
		end := oxmHeader + int(oxm[3])
		if end > len(oxm) {
			break
		}
		if binary.BigEndian.Uint32(oxm) == oxmInPort {
			return binary.BigEndian.Uint32(oxm[oxmHeader:]), true
		}
		oxm = oxm[end:]
	}
	return 0, false
}
