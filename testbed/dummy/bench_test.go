package dummy

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkReceive measures frames forwarded and read back, by frames a call.
func BenchmarkReceive(b *testing.B) {
	for _, batch := range []int{1, 10, 50} {
		b.Run(fmt.Sprintf("batch=%d", batch), func(b *testing.B) {
			sw, ctx := ForTest(b, Config{Ports: NumberedPorts(4)}), context.Background()
			require.NoError(b, sw.ReplaceFlows(ctx, "in_port=1,actions=output:2"))
			frames := make([][]byte, batch)
			for i := range frames {
				frames[i] = numbered(i)
			}
			for b.Loop() {
				require.NoError(b, sw.Receive(ctx, "p1", frames...))
				outputs, err := sw.Outputs()
				require.NoError(b, err)
				require.Len(b, outputs, batch)
			}
			b.ReportMetric(float64(b.N*batch)/b.Elapsed().Seconds(), "frames/s")
		})
	}
}

// BenchmarkCase measures a whole small case: reset, 10 flows, 10 frames one by one, outputs, connections.
func BenchmarkCase(b *testing.B) {
	sw, ctx := ForTest(b, Config{Ports: NumberedPorts(4)}), context.Background()
	var flows strings.Builder
	for i := range 10 {
		fmt.Fprintf(&flows, "in_port=1,tcp,tp_dst=%d,actions=ct(commit,nat(dst=10.0.0.%d)),output:2\n", 75+i, i+1)
	}
	frame := tcp(b, client, vip, "S")
	for b.Loop() {
		require.NoError(b, sw.Reset(ctx))
		require.NoError(b, sw.ReplaceFlows(ctx, flows.String()))
		for range 10 {
			require.NoError(b, sw.Receive(ctx, "p1", frame))
		}
		outputs, err := sw.Outputs()
		require.NoError(b, err)
		require.Len(b, outputs, 10)
		_, err = sw.Connections(ctx)
		require.NoError(b, err)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "cases/s")
}

func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		require.NoError(b, ForTest(b, Config{Ports: NumberedPorts(4)}).Close())
	}
}

func BenchmarkStep(b *testing.B) {
	sw, ctx := ForTest(b, Config{Ports: NumberedPorts(4)}), context.Background()
	for name, step := range map[string]func() error{
		"reset":   func() error { return sw.Reset(ctx) },
		"replace": func() error { return sw.ReplaceFlows(ctx, "in_port=1,actions=output:2") },
		"dump":    func() error { _, err := sw.DumpFlows(ctx); return err },
		"warp":    func() error { return sw.Warp(ctx, 1e9) },
		"trace":   func() error { _, err := sw.Trace(ctx, "in_port=1", ""); return err },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				require.NoError(b, step())
			}
		})
	}
}
