package ovsproto

import (
	"encoding/binary"
	"fmt"
	"io"
)

// MessageType says what an OpenFlow message is (section 7.1.1).
type MessageType uint8

// Possible MessageType values; there are more.
const (
	Hello            MessageType = 0
	Error            MessageType = 1
	EchoRequest      MessageType = 2
	EchoReply        MessageType = 3
	Experimenter     MessageType = 4
	SetConfig        MessageType = 9
	PacketIn         MessageType = 10
	PortStatus       MessageType = 12
	FlowMod          MessageType = 14
	GroupMod         MessageType = 15
	MultipartRequest MessageType = 18
	MultipartReply   MessageType = 19
	BarrierRequest   MessageType = 20
	BarrierReply     MessageType = 21
	MeterMod         MessageType = 29
	BundleControl    MessageType = 33
	BundleAdd        MessageType = 34
)

const (
	version      = 6 // OpenFlow 1.5
	headerLength = 8
)

// Message is an OpenFlow message without its header's version and length.
type Message struct {
	Type MessageType
	XID  uint32
	Body []byte // at most 65527 bytes
}

// Bytes is the message as it goes over the wire.
func (m Message) Bytes() []byte {
	return append(appendHeader(make([]byte, 0, headerLength+len(m.Body)), m.Type, m.XID, len(m.Body)), m.Body...)
}

// appendHeader appends the header of a message with a body of n bytes.
func appendHeader(b []byte, t MessageType, xid uint32, n int) []byte {
	if headerLength+n > 0xffff {
		panic(fmt.Sprintf("ovsproto: message of %d bytes is too long", n))
	}
	b = append(b, version, byte(t))
	b = binary.BigEndian.AppendUint16(b, uint16(headerLength+n))
	return binary.BigEndian.AppendUint32(b, xid)
}

// readMessage reads a message of any version.
func readMessage(r io.Reader) (Message, error) {
	var header [headerLength]byte
	if _, err := io.ReadFull(r, header[:]); err != nil {
		return Message{}, err
	}
	length := int(binary.BigEndian.Uint16(header[2:]))
	if length < headerLength {
		return Message{}, fmt.Errorf("message of %d bytes is shorter than its header", length)
	}
	m := Message{Type: MessageType(header[1]), XID: binary.BigEndian.Uint32(header[4:]), Body: make([]byte, length-headerLength)}
	_, err := io.ReadFull(r, m.Body)
	return m, err
}
