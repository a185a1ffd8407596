package simbackend_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/internal/packet"
	"hpnn/simbackend"
)

func labSwitch(tb testing.TB) *simbackend.Switch {
	text, err := os.Open(labFlows)
	require.NoError(tb, err)
	defer text.Close()
	program, err := openflow.ParseProgram("flows.txt", text)
	require.NoError(tb, err)
	sw, err := simbackend.New(simbackend.Config{Ports: labPorts})
	require.NoError(tb, err)
	require.NoError(tb, sw.Commit(tb.Context(), program.Bundle()))
	return sw
}

// BenchmarkBalance sends SYNs of a number of connections through a pipeline of the prototype's shape:
// classify, hash, 1024 slots, ct with NAT, route.
func BenchmarkBalance(b *testing.B) {
	for _, flows := range []int{1, 64, 10_000, 100_000} {
		b.Run(fmt.Sprintf("flows=%d", flows), func(b *testing.B) {
			sw := labSwitch(b)
			r := rand.New(rand.NewPCG(1, 1))
			frames := make([][]byte, flows)
			for i := range frames {
				frames[i] = packet.TCP{
					Eth:     packet.Ether{Src: packet.MAC{2, 0x42, 0xc0, 0xa8, 5, 0x0d}, Dst: packet.MAC{2, 0x42, 0xc0, 0xa8, 5, 0x14}},
					IP:      packet.IP{Src: netip.AddrFrom4([4]byte{192, 168, 5, 13}), Dst: netip.AddrFrom4([4]byte{192, 168, 5, 21}), ID: uint16(i)},
					SrcPort: uint16(1024 + i%60000), DstPort: 80, Flags: packet.SYN, Seq: uint32(r.Uint32()), Window: 64240,
				}.Bytes()
			}
			out := 0
			emit := func(datapath.Output) { out++ }
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				sw.Receive(datapath.Injection{InPort: 1, Frame: frames[i%flows]}, emit)
			}
			if out != b.N {
				b.Fatalf("%d of %d frames left", out, b.N)
			}
		})
	}
}
