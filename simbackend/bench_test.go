package simbackend_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/internal/packet"
	"hpnn/simbackend"
)

func labSwitch(tb testing.TB, path string) *simbackend.Switch {
	text, err := os.ReadFile(filepath.Join(path, "flows.txt"))
	require.NoError(tb, err)
	program, err := openflow.ParseProgram("flows.txt", strings.NewReader(string(text)))
	require.NoError(tb, err)
	sw, err := simbackend.New(simbackend.Config{Ports: labPorts})
	require.NoError(tb, err)
	require.NoError(tb, sw.Commit(tb.Context(), program.Bundle()))
	return sw
}

func BenchmarkBalance(b *testing.B) {
	dir := os.Getenv("HPNN_CAPTURES")
	if dir == "" {
		dir = "../../shared/pcaps"
	}
	for _, flows := range []int{1, 64, 10_000, 100_000} {
		b.Run(fmt.Sprintf("flows=%d", flows), func(b *testing.B) {
			sw := labSwitch(b, filepath.Join(dir, "ovs-lab"))
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
