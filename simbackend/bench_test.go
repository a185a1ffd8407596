package simbackend_test

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/internal/packet"
	"hpnn/simbackend"
)

// labSwitch is a switch with the prototype's rules.
func labSwitch(tb testing.TB) *simbackend.Switch {
	text, err := os.Open(labFlows)
	require.NoError(tb, err)
	defer text.Close()
	program, err := openflow.ParseProgram("flows.txt", text)
	require.NoError(tb, err)
	return programmed(tb, labPorts, program)
}

// programmed is a switch with the flows of a program.
func programmed(tb testing.TB, ports []simbackend.Port, program openflow.Program) *simbackend.Switch {
	sw, err := simbackend.New(simbackend.Config{Ports: ports})
	require.NoError(tb, err)
	require.NoError(tb, sw.Commit(tb.Context(), program.Bundle()))
	return sw
}

// syn is the SYN of client number n of 192.168.5.13 and up to the VIP of the lab and of the example, 54 bytes.
func syn(n int) []byte {
	return packet.TCP{
		Eth:     packet.Ether{Src: packet.MAC{2, 0x42, 0xc0, 0xa8, 5, 0x0d}, Dst: packet.MAC{2, 0x42, 0xc0, 0xa8, 5, 0x14}},
		IP:      packet.IP{Src: netip.AddrFrom4([4]byte{192, 168, 5, byte(40 + n/60_000)}), Dst: netip.AddrFrom4([4]byte{192, 168, 5, 21})},
		SrcPort: uint16(1024 + n%60_000), DstPort: 80, Flags: packet.SYN, Seq: 1, Window: 64240,
	}.Bytes()
}

func syns(n int) [][]byte {
	frames := make([][]byte, n)
	for i := range frames {
		frames[i] = syn(i)
	}
	return frames
}

// receive sends frames into port 1, round and round, and demands that each leaves.
func receive(b *testing.B, sw *simbackend.Switch, frames [][]byte) {
	out := 0
	emit := func(datapath.Output) { out++ }
	const rounds = 4 // until every connection is known, and the cache has met its frames as often as it wants
	for range rounds {
		for _, f := range frames {
			sw.Receive(datapath.Injection{InPort: 1, Frame: f}, emit)
		}
	}
	require.Equal(b, rounds*len(frames), out)
	out = 0
	b.ReportAllocs()
	b.ResetTimer()
	for i, n := 0, 0; n < b.N; n++ {
		sw.Receive(datapath.Injection{InPort: 1, Frame: frames[i]}, emit)
		if i++; i == len(frames) {
			i = 0
		}
	}
	require.Equal(b, b.N, out)
}

// receiveNew sends frames of which each opens a connection. Connections time out as they would if a million were opened each
// minute, so that the table has reached its size when the measurement begins.
func receiveNew(b *testing.B, sw *simbackend.Switch) {
	out := 0
	emit := func(datapath.Output) { out++ }
	f := syn(0)
	send := func(n int) {
		// The client's address and port change, with the checksums.
		changed := func(at, sum int, v uint16) {
			old := binary.BigEndian.Uint16(f[at:])
			binary.BigEndian.PutUint16(f[sum:], packet.Update16(binary.BigEndian.Uint16(f[sum:]), old, v))
			if at == 28 {
				binary.BigEndian.PutUint16(f[24:], packet.Update16(binary.BigEndian.Uint16(f[24:]), old, v))
			}
			binary.BigEndian.PutUint16(f[at:], v)
		}
		changed(28, 50, uint16(5<<8|(32+n/60_000%192)))
		changed(34, 50, uint16(1024+n%60_000))
		if n%1000 == 0 {
			sw.Advance(sw.Now() + 60*time.Millisecond)
		}
		sw.Receive(datapath.Injection{InPort: 1, Frame: f}, emit)
	}
	const warm = 1_000_000
	for n := range warm {
		send(n)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for n := range b.N {
		send(warm + n)
	}
	require.Equal(b, warm+b.N, out)
}

var flowCounts = []int{1, 64, 1_000, 10_000, 100_000}

// BenchmarkBalance sends SYNs of a number of connections through a pipeline of the prototype's shape: classify, hash, 1024 slots,
// ct with NAT, route.
func BenchmarkBalance(b *testing.B) { frames(b, labSwitch) }

// BenchmarkNode is the same through all that is rendered for the example topology.
func BenchmarkNode(b *testing.B) {
	frames(b, func(tb testing.TB) *simbackend.Switch {
		sw, _ := nodeSwitch(tb, "hpnn.yaml")
		return sw
	})
}

func frames(b *testing.B, make func(testing.TB) *simbackend.Switch) {
	for _, flows := range flowCounts {
		b.Run(fmt.Sprintf("flows=%d", flows), func(b *testing.B) { receive(b, make(b), syns(flows)) })
	}
	b.Run("flows=new", func(b *testing.B) { receiveNew(b, make(b)) })
}

// BenchmarkRules is a frame of one of 64 connections where the lab's rules stand among n others of the same masks: slots of other
// pools, routes and neighbours.
func BenchmarkRules(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		b.Run("rules="+strconv.Itoa(n), func(b *testing.B) {
			sw := labSwitch(b)
			require.NoError(b, sw.Commit(b.Context(), added(b, others(n))))
			receive(b, sw, syns(64))
		})
	}
}

// BenchmarkPools is a frame of one of 64 connections through the pipeline of a node with n pools of 64 slots.
func BenchmarkPools(b *testing.B) {
	for _, n := range []int{1, 10, 100, 1_000} {
		b.Run("pools="+strconv.Itoa(n), func(b *testing.B) {
			receive(b, poolSwitch(b, n), syns(64))
		})
	}
}

// TestSteadyStateDoesNotAllocate: a frame of a known connection costs no garbage, through all of the node's rules.
func TestSteadyStateDoesNotAllocate(t *testing.T) {
	node, _ := nodeSwitch(t, "hpnn.yaml")
	for name, sw := range map[string]*simbackend.Switch{"prototype": labSwitch(t), "node": node} {
		var left, back [][]byte
		for _, f := range syns(64) {
			left = append(left, outputs(sw, datapath.Injection{InPort: 1, Frame: f})[0].Frame)
		}
		for _, f := range left {
			back = append(back, answer(f))
		}
		emit := func(datapath.Output) {}
		round := func() {
			for i, f := range syns64 {
				sw.Receive(datapath.Injection{InPort: 1, Frame: f}, emit)
				sw.Receive(datapath.Injection{InPort: 10, Frame: back[i]}, emit)
			}
		}
		for range 10 { // then the cache has met all as often as it wants
			round()
		}
		require.Zero(t, testing.AllocsPerRun(10, round), name)
	}
}

var syns64 = syns(64)

// answer is the SYN-ACK to a SYN, sent by a host whose gateway it came from.
func answer(f []byte) []byte {
	src, _ := netip.AddrFromSlice(f[26:30])
	dst, _ := netip.AddrFromSlice(f[30:34])
	return packet.TCP{
		Eth: packet.Ether{Src: packet.MAC(f[0:6]), Dst: packet.MAC(f[6:12])}, IP: packet.IP{Src: dst, Dst: src},
		SrcPort: binary.BigEndian.Uint16(f[36:]), DstPort: binary.BigEndian.Uint16(f[34:]),
		Flags: packet.SYN | packet.ACK, Seq: 1, Ack: 2, Window: 64240,
	}.Bytes()
}

// TestNewConnectionsAreSparedTheTables: of many clients, each of which comes once, all but the first go the ways of others, through all of the
// node's rules.
func TestNewConnectionsAreSparedTheTables(t *testing.T) {
	for name, sw := range map[string]*simbackend.Switch{"prototype": labSwitch(t), "node": first(nodeSwitch(t, "hpnn.yaml"))} {
		const clients = 30_000
		for n := range clients {
			sw.Receive(datapath.Injection{InPort: 1, Frame: syn(n)}, func(datapath.Output) {})
		}
		require.Greater(t, sw.Remembered(), uint64(2*clients*8/10), name) // of two passes each
	}
}

func first[A, B any](a A, _ B) A { return a }
