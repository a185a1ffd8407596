package simhost

import (
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/internal/packet"
)

// TestFramesAsThePacketBuilder compares the encoder with the general one.
func TestFramesAsThePacketBuilder(t *testing.T) {
	h := &Host{config: HostConfig{MAC: packet.MAC{2, 1, 2, 3, 4, 5}}, ip: netip.MustParseAddr("10.20.0.2")}
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		o := outgoing{
			dst: netip.AddrFrom4([4]byte{byte(random.Uint32()), byte(random.Uint32()), 3, 4}),
			key: connKey{port: uint16(random.Uint32()), local: uint16(random.Uint32())},
			seq: random.Uint32(), ack: random.Uint32(), flags: packet.Flags(random.UintN(512)),
			window: uint16(random.Uint32()), ttl: uint8(random.UintN(3)), id: uint16(random.Uint32()),
			data: make([]byte, random.IntN(40)),
		}
		for i := range o.data {
			o.data[i] = byte(random.Uint32())
		}
		want := packet.TCP{
			Eth: packet.Ether{Src: h.config.MAC}, IP: packet.IP{Src: h.ip, Dst: o.dst, TTL: o.ttl, ID: o.id, Dont: true},
			SrcPort: o.key.local, DstPort: o.key.port, Seq: o.seq, Ack: o.ack, Flags: o.flags, Window: o.window, Payload: o.data,
		}
		if random.IntN(2) == 0 {
			o.mss = 1 + uint16(random.UintN(65535))
			want.Options = packet.MSS(o.mss)
		}
		require.Empty(t, packet.Diff(want.Bytes(), o.frame(h)))
	}
}
