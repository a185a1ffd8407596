//go:build linux

package realtime

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEchoesBearTheirChecksum(t *testing.T) {
	for _, id := range []uint16{0, 1, 0xf7ff, 0xf800, 0xffff} {
		b := echo(id)
		sum := uint32(0)
		for i := 0; i < len(b); i += 2 {
			sum += uint32(b[i])<<8 | uint32(b[i+1])
		}
		require.EqualValues(t, 0xffff, sum&0xffff+sum>>16, id)
	}
}

func TestRepliesAreTold(t *testing.T) {
	from := netip.MustParseAddr("10.0.0.1")
	packet := append([]byte{0x45, 0, 0, 28, 0, 0, 0, 0, 61, 1, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2}, 0, 0, 0, 0, 0x12, 0x34, 0, 0)
	ttl, ok := reply(packet, from, 0x1234)
	require.True(t, ok)
	require.EqualValues(t, 61, ttl)
	for n := range packet {
		_, ok := reply(packet[:n], from, 0x1234)
		require.False(t, ok, n)
	}
	_, ok = reply(packet, from, 0x1235)
	require.False(t, ok)
	_, ok = reply(packet, netip.MustParseAddr("10.0.0.3"), 0x1234)
	require.False(t, ok)
}
