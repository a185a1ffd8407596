package dummy

import (
	"net"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/stretchr/testify/require"
)

// endpoint is one end of a test frame.
type endpoint struct {
	mac, ip string
	port    uint16
}

var (
	client = endpoint{"02:00:00:00:00:01", "10.0.0.1", 40000}
	vip    = endpoint{"02:00:00:00:00:02", "10.0.0.100", 80}
	member = endpoint{"02:00:00:00:00:02", "10.0.0.2", 8080}
)

// tcp builds a TCP frame with valid checksums; flags is any of "S", "A", "SA".
func tcp(t testing.TB, from, to endpoint, flags string) []byte {
	t.Helper()
	src, err := net.ParseMAC(from.mac)
	require.NoError(t, err)
	dst, err := net.ParseMAC(to.mac)
	require.NoError(t, err)
	eth := &layers.Ethernet{SrcMAC: src, DstMAC: dst, EthernetType: layers.EthernetTypeIPv4}
	ip := &layers.IPv4{Version: 4, TTL: 64, Protocol: layers.IPProtocolTCP,
		SrcIP: net.ParseIP(from.ip), DstIP: net.ParseIP(to.ip)}
	segment := &layers.TCP{SrcPort: layers.TCPPort(from.port), DstPort: layers.TCPPort(to.port), Window: 1000}
	for _, f := range flags {
		switch f {
		case 'S':
			segment.SYN = true
		case 'A':
			segment.ACK, segment.Ack = true, 1
		}
	}
	require.NoError(t, segment.SetNetworkLayerForChecksum(ip))
	buffer := gopacket.NewSerializeBuffer()
	options := gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}
	require.NoError(t, gopacket.SerializeLayers(buffer, options, eth, ip, segment))
	return buffer.Bytes()
}

// numbered builds a frame whose payload tells its number.
func numbered(n int) []byte {
	frame := make([]byte, 60)
	copy(frame, []byte{2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x88, 0xb5, byte(n >> 8), byte(n)})
	return frame
}
