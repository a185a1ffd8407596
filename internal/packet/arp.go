package packet

import (
	"encoding/binary"
	"net/netip"
)

// ARP operations (RFC 826).
const (
	OpRequest = 1
	OpReply   = 2
)

// ARP is a frame that asks for or tells the Ethernet address of an IPv4 address (RFC 826).
type ARP struct {
	Eth       Ether
	Op        uint16     // OpRequest or OpReply
	SenderMAC MAC        // what the receiver shall learn: SenderIP is here
	SenderIP  netip.Addr // IPv4
	TargetMAC MAC        // zero in a request
	TargetIP  netip.Addr // IPv4: the address asked for, in a reply the one who asked
}

// ARPRequest is the question of a host for target, broadcast.
func ARPRequest(mac MAC, ip, target netip.Addr) ARP {
	return ARP{
		Eth:       Ether{Src: mac, Dst: Broadcast},
		Op:        OpRequest,
		SenderMAC: mac,
		SenderIP:  ip,
		TargetIP:  target,
	}
}

// Reply is the answer to a request: TargetIP is at mac. It has the request's tags.
func (a ARP) Reply(mac MAC) ARP {
	return ARP{
		Eth:       Ether{Src: mac, Dst: a.SenderMAC, Tags: a.Eth.Tags},
		Op:        OpReply,
		SenderMAC: mac,
		SenderIP:  a.TargetIP,
		TargetMAC: a.SenderMAC,
		TargetIP:  a.SenderIP,
	}
}

// Bytes is the frame, 42 bytes without tags. The addresses must be IPv4.
func (a ARP) Bytes() []byte {
	b := make([]byte, 0, 28)
	b = binary.BigEndian.AppendUint16(b, 1) // Ethernet
	b = binary.BigEndian.AppendUint16(b, TypeIPv4)
	b = append(b, 6, 4)
	b = binary.BigEndian.AppendUint16(b, a.Op)
	b = append(b, a.SenderMAC[:]...)
	b = append(b, four(a.SenderIP)...)
	b = append(b, a.TargetMAC[:]...)
	b = append(b, four(a.TargetIP)...)
	return a.Eth.Frame(TypeARP, b)
}

// four gives the bytes of an IPv4 address.
func four(a netip.Addr) []byte {
	if !a.Is4() {
		panic("packet: " + a.String() + " is not an IPv4 address")
	}
	return a.AsSlice()
}
