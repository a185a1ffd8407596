package packet

import (
	"encoding/binary"
	"strings"
)

// Flags are the control bits of a TCP segment (RFC 9293 3.1), with the nonce bit of RFC 3540.
type Flags uint16

// Possible Flags.
const (
	FIN Flags = 1 << iota
	SYN
	RST
	PSH
	ACK
	URG
	ECE
	CWR
	NS
)

// flagLetters are tcpdump's letters, in the order it prints them.
var flagLetters = []struct {
	flag   Flags
	letter byte
}{{FIN, 'F'}, {SYN, 'S'}, {RST, 'R'}, {PSH, 'P'}, {ACK, '.'}, {URG, 'U'}, {ECE, 'E'}, {CWR, 'W'}, {NS, 'e'}}

// String is tcpdump's notation: "[S.]" for SYN and ACK, "[none]" for no flag.
func (f Flags) String() string {
	var b strings.Builder
	for _, l := range flagLetters {
		if f&l.flag != 0 {
			b.WriteByte(l.letter)
		}
	}
	if b.Len() == 0 {
		return "[none]"
	}
	return "[" + b.String() + "]"
}

// TCP is a frame with a TCP segment (RFC 9293). Its data offset and checksum follow from
// the rest; zero means zero in every field, a window of 0 too.
type TCP struct {
	Eth              Ether
	IP               IP
	SrcPort, DstPort uint16
	Seq, Ack         uint32 // Ack counts only with the flag ACK
	Flags            Flags
	Window           uint16 // as sent, not scaled
	Urgent           uint16
	Options          []byte // MSS and the like one after another; padded with zeros to a multiple of 4
	Payload          []byte
}

// Bytes is the frame.
func (t TCP) Bytes() []byte {
	options := padOptions(t.Options)
	b := binary.BigEndian.AppendUint16(nil, t.SrcPort)
	b = binary.BigEndian.AppendUint16(b, t.DstPort)
	b = binary.BigEndian.AppendUint32(b, t.Seq)
	b = binary.BigEndian.AppendUint32(b, t.Ack)
	b = binary.BigEndian.AppendUint16(b, uint16(5+len(options)/4)<<12|uint16(t.Flags))
	b = binary.BigEndian.AppendUint16(b, t.Window)
	b = append(b, 0, 0)
	b = binary.BigEndian.AppendUint16(b, t.Urgent)
	b = append(b, options...)
	b = append(b, t.Payload...)
	binary.BigEndian.PutUint16(b[16:], Fold(Sum(b, t.IP.pseudo(ProtoTCP, len(b)))))
	return Datagram{t.Eth, t.IP, ProtoTCP, b}.Bytes()
}

// MSS is the option with the largest segment the sender takes, in bytes (RFC 9293 3.7.1).
func MSS(size uint16) []byte { return []byte{2, 4, byte(size >> 8), byte(size)} }

// WindowScale is the option that shifts windows left, after one byte of filling (RFC 7323 2).
func WindowScale(shift uint8) []byte { return []byte{1, 3, 3, shift} }

// SACKPermitted is the option that allows selective acknowledgements, after two bytes of
// filling (RFC 2018).
func SACKPermitted() []byte { return []byte{1, 1, 4, 2} }

// Timestamps is the option with the sender's clock and the peer's echoed, after two bytes
// of filling (RFC 7323 3).
func Timestamps(value, echo uint32) []byte {
	b := []byte{1, 1, 8, 10}
	b = binary.BigEndian.AppendUint32(b, value)
	return binary.BigEndian.AppendUint32(b, echo)
}
