package datapathtest

import (
	"net/netip"

	"hpnn/internal/packet"
)

// host is an end of a conversation.
type host struct {
	mac packet.MAC
	ip  netip.Addr
}

var (
	hostA = host{packet.MAC{2, 0, 0, 0, 0, 0xa}, netip.MustParseAddr("10.0.0.1")}
	hostB = host{packet.MAC{2, 0, 0, 0, 0, 0xb}, netip.MustParseAddr("10.0.0.2")}
)

// udp is a frame from one host to another.
func udp(from, to host, srcPort, dstPort uint16) []byte {
	return packet.UDP{
		Eth: packet.Ether{Src: from.mac, Dst: to.mac}, IP: packet.IP{Src: from.ip, Dst: to.ip},
		SrcPort: srcPort, DstPort: dstPort, Payload: []byte("contract"),
	}.Bytes()
}
