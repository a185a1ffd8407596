package ovsbackend_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/internal/packet"
	"hpnn/ovsbackend"
)

// poolSlots is the number of slots of a pool, and membersLost how many of them change when one of four members is lost.
const (
	poolSlots   = 1024
	membersLost = poolSlots / 4
)

// slots are n flows like those of slot tables, in table 11; owner says which member has a slot.
func slots(n int, c openflow.Command, owner func(slot int) uint64) openflow.Bundle {
	var b openflow.Bundle
	for i := range n {
		match := openflow.Match{}.With(openflow.Reg3, openflow.U64(uint64(i/poolSlots+1))).With(openflow.Reg1, openflow.U64(uint64(i%poolSlots)))
		b = append(b, openflow.FlowMod{Command: c, Flow: openflow.Flow{Table: 11, Priority: 100, Match: match,
			Actions: []openflow.Action{openflow.Set(openflow.Reg2, openflow.U64(owner(i))), openflow.GotoTable{Table: 12}}}})
	}
	return b
}

func spread(slot int) uint64 { return uint64(slot%4 + 1) }

func benchBridge(b *testing.B) (*ovsbackend.Bridge, context.Context) {
	return open(b, config(startSwitch(b))), context.Background()
}

// bothForms are two bridges over one switch that holds n flows.
func bothForms(b *testing.B, n int) (binary, text *ovsbackend.Bridge) {
	c := config(startSwitch(b))
	c.Timeout = time.Minute
	binary = open(b, c)
	c.Wording = ovsbackend.Text
	require.NoError(b, binary.Commit(context.Background(), slots(n, openflow.Add, spread)))
	return binary, open(b, c)
}

// tableSizes are the numbers of flows that are there when something is measured: one pool, and about a hundred.
var tableSizes = []int{poolSlots, 100_000}

// BenchmarkChange commits what the loss of one of a pool's four members changes, by the connection and by ovs-ofctl in
// turns. The time per operation is that of both together; what each takes is in the medians.
func BenchmarkChange(b *testing.B) {
	for _, n := range tableSizes {
		b.Run(fmt.Sprintf("%dflows", n), func(b *testing.B) {
			binary, text := bothForms(b, n)
			compare(b, func(run int, form *ovsbackend.Bridge) {
				change := slots(membersLost, openflow.ModifyStrict, func(int) uint64 { return uint64(run%4 + 1) })
				b.StartTimer()
				require.NoError(b, form.Commit(context.Background(), change))
				b.StopTimer()
			}, binary, text)
		})
	}
}

// BenchmarkDump lists the flows likewise.
func BenchmarkDump(b *testing.B) {
	for _, n := range tableSizes {
		b.Run(fmt.Sprintf("%dflows", n), func(b *testing.B) {
			binary, text := bothForms(b, n)
			compare(b, func(_ int, form *ovsbackend.Bridge) {
				b.StartTimer()
				flows, err := form.Flows(context.Background())
				b.StopTimer()
				require.NoError(b, err)
				require.Len(b, flows, n)
			}, binary, text)
		})
	}
}

// compare measures one thing in both forms, in turns, and reports the medians and their ratio. What is measured starts and
// stops the timer.
func compare(b *testing.B, measure func(run int, form *ovsbackend.Bridge), binary, text *ovsbackend.Bridge) {
	var inBinary, inText []time.Duration
	b.ResetTimer()
	b.StopTimer()
	for run := range b.N {
		before := b.Elapsed()
		measure(2*run, binary)
		between := b.Elapsed()
		measure(2*run+1, text)
		inBinary, inText = append(inBinary, between-before), append(inText, b.Elapsed()-between)
	}
	slices.Sort(inBinary)
	slices.Sort(inText)
	fast, slow := inBinary[len(inBinary)/2], inText[len(inText)/2]
	b.ReportMetric(float64(fast.Microseconds())/1000, "binary-ms")
	b.ReportMetric(float64(slow.Microseconds())/1000, "text-ms")
	b.ReportMetric(float64(slow)/float64(fast), "text/binary")
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
