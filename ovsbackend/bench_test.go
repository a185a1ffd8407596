package ovsbackend_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/internal/packet"
	"hpnn/ovsbackend"
)

// slots are flows like those of a slot table.
func slots(n int) openflow.Bundle {
	var b openflow.Bundle
	for i := range n {
		b = append(b, openflow.FlowMod{Flow: openflow.Flow{Table: 11, Priority: 10, Match: openflow.Match{}.With(openflow.Reg1, openflow.U64(uint64(i))),
			Actions: []openflow.Action{openflow.Set(openflow.Reg2, openflow.U64(uint64(i%7+1))), openflow.GotoTable{Table: 12}}}})
	}
	return b
}

func benchBridge(b *testing.B) (*ovsbackend.Bridge, context.Context) {
	return open(b, config(startSwitch(b))), context.Background()
}

func BenchmarkCommit(b *testing.B) {
	for _, n := range []int{1, 256, 1024} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			bridge, ctx := benchBridge(b)
			bundle := slots(n)
			for b.Loop() {
				require.NoError(b, bridge.Commit(ctx, bundle))
			}
		})
	}
}

func BenchmarkFlows(b *testing.B) {
	for _, n := range []int{1, 1024, 10240} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			bridge, ctx := benchBridge(b)
			require.NoError(b, bridge.Commit(ctx, slots(n)))
			for b.Loop() {
				flows, err := bridge.Flows(ctx)
				require.NoError(b, err)
				require.Len(b, flows, n)
			}
		})
	}
}

func BenchmarkPorts(b *testing.B) {
	bridge, ctx := benchBridge(b)
	for b.Loop() {
		_, err := bridge.Ports(ctx)
		require.NoError(b, err)
	}
}

func BenchmarkPacketOut(b *testing.B) {
	bridge, ctx := benchBridge(b)
	in := datapath.Injection{InPort: 1, Frame: udp(client, 1, vip, 2)}
	for b.Loop() {
		require.NoError(b, bridge.PacketOut(ctx, in, []openflow.Action{openflow.Output{Port: 2}}))
	}
}

// BenchmarkTrace traces a frame that goes through the connection tracker twice.
func BenchmarkTrace(b *testing.B) {
	bridge, ctx := benchBridge(b)
	require.NoError(b, bridge.Commit(ctx, program(b, balancer).Bundle()))
	in := datapath.Injection{InPort: 1, Frame: udp(client, 1, vip, 53)}
	for b.Loop() {
		trace, err := bridge.Trace(ctx, in)
		require.NoError(b, err)
		require.Len(b, trace.Passes, 3)
	}
}

func BenchmarkConnections(b *testing.B) {
	sw := startSwitch(b)
	bridge, ctx := open(b, config(sw)), context.Background()
	require.NoError(b, bridge.Commit(ctx, program(b, "table=0,priority=1,ip actions=ct(commit,zone=3)").Bundle()))
	const n = 10000
	var frames [][]byte
	for i := range n {
		frames = append(frames, tcp(client, uint16(1+i), vip, 80, packet.SYN))
	}
	require.NoError(b, sw.Receive(ctx, "p1", frames...))
	b.Run("list", func(b *testing.B) {
		for b.Loop() {
			conns, err := bridge.Conntrack().Connections(ctx, datapath.ConnFilter{})
			require.NoError(b, err)
			require.Len(b, conns, n)
		}
	})
	b.Run("flush none", func(b *testing.B) {
		for b.Loop() {
			require.NoError(b, bridge.Conntrack().Flush(ctx, datapath.ConnFilter{Zone: 3, Reply: datapath.TupleFilter{Proto: 6, Src: member.ip, SrcPort: 80}}))
		}
	})
	b.Run("flush all singly", func(b *testing.B) {
		for b.Loop() {
			require.NoError(b, bridge.Conntrack().Flush(ctx, datapath.ConnFilter{Zone: 3, Reply: datapath.TupleFilter{Src: vip.ip}}))
			b.StopTimer()
			require.NoError(b, sw.Receive(ctx, "p1", frames...))
			b.StartTimer()
		}
	})
}
