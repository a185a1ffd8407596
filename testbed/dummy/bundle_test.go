package dummy

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEncodedBundlesDoWhatTheirTextsSay(t *testing.T) {
	sw, ctx := ForTest(t, Config{Ports: NumberedPorts(3)}), t.Context()
	encoded, err := sw.Encode(ctx, "flow delete\n# to port 2\nflow in_port=1,actions=output:2", "", "flow modify in_port=1,actions=output:3 # now 3\n\n")
	require.NoError(t, err)
	require.Len(t, encoded, 3)

	for round := range 3 {
		require.NoError(t, sw.Apply(ctx, encoded[0]))
		require.NoError(t, sw.Receive(ctx, "p1", numbered(round)))
		require.NoError(t, sw.Apply(ctx, encoded[1]))
		require.NoError(t, sw.Apply(ctx, encoded[2]))
		require.NoError(t, sw.Receive(ctx, "p1", numbered(round+1)))
		requireOutputs(t, sw, Output{"p2", numbered(round)}, Output{"p3", numbered(round + 1)})
	}
}

func TestEncodeRefusesAllForOne(t *testing.T) {
	sw := ForTest(t, Config{Ports: NumberedPorts(1)})
	_, err := sw.Encode(t.Context(), "flow actions=output:1", "flow nonsense=1,actions=drop")
	var refused *RefusedError
	require.ErrorAs(t, err, &refused)
	require.Contains(t, refused.Words, "nonsense")
	encoded, err := sw.Encode(t.Context())
	require.NoError(t, err)
	require.Empty(t, encoded)
}

// A flow that outputs to a group that does not exist passes ovs-ofctl but not the bridge.
func TestApplyChangesNothingIfRefused(t *testing.T) {
	sw, ctx := ForTest(t, Config{Ports: NumberedPorts(1)}), t.Context()
	encoded, err := sw.Encode(ctx, "flow in_port=1,actions=IN_PORT", "flow delete\nflow actions=drop\nflow in_port=2,actions=group:7")
	require.NoError(t, err)
	require.NoError(t, sw.Apply(ctx, encoded[0]))
	var refused *RefusedError
	require.ErrorAs(t, sw.Apply(ctx, encoded[1]), &refused)
	text, err := sw.DumpFlows(ctx)
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(text, "actions="), text)
	require.NoError(t, sw.Apply(ctx, encoded[0]))
}

func TestDecodedDumpsAreWhatOfctlPrints(t *testing.T) {
	sw, ctx := ForTest(t, Config{Ports: NumberedPorts(2)}), t.Context()
	var dumps []Dump
	var want []string
	for _, flows := range []int{0, 1, 3000} {
		var text strings.Builder
		for i := range flows {
			fmt.Fprintf(&text, "table=%d,cookie=0x%x,idle_timeout=9,tcp,tp_dst=%d,actions=ct(commit,nat(dst=10.0.0.1:%d)),output:2\n", i%9, i, i, i+1)
		}
		require.NoError(t, sw.ReplaceFlows(ctx, text.String()))
		dump, err := sw.RawFlows(ctx)
		require.NoError(t, err)
		dumps = append(dumps, dump)
		printed, err := sw.DumpFlows(ctx)
		require.NoError(t, err)
		want = append(want, flowLines(printed))
	}
	got, err := sw.Decode(ctx, dumps...)
	require.NoError(t, err)
	require.Equal(t, want, got)
}

func flowLines(dump string) (lines string) {
	for line := range strings.Lines(dump) {
		if strings.HasPrefix(line, " ") {
			lines += line
		}
	}
	return lines
}

// BenchmarkApply measures a small case as BenchmarkCase does, with encoded flows and undecoded dumps.
func BenchmarkApply(b *testing.B) {
	sw, ctx := ForTest(b, Config{Ports: NumberedPorts(4)}), context.Background()
	var flows strings.Builder
	flows.WriteString("flow delete\n")
	for i := range 10 {
		fmt.Fprintf(&flows, "flow in_port=1,tcp,tp_dst=%d,actions=ct(commit,nat(dst=10.0.0.%d)),output:2\n", 75+i, i+1)
	}
	encoded, err := sw.Encode(ctx, flows.String())
	require.NoError(b, err)
	frame := tcp(b, client, vip, "S")
	for b.Loop() {
		require.NoError(b, sw.Apply(ctx, encoded[0]))
		for range 10 {
			require.NoError(b, sw.Receive(ctx, "p1", frame))
		}
		outputs, err := sw.Outputs()
		require.NoError(b, err)
		require.Len(b, outputs, 10)
		_, err = sw.RawFlows(ctx)
		require.NoError(b, err)
		_, err = sw.Connections(ctx)
		require.NoError(b, err)
		require.NoError(b, sw.FlushConnections(ctx))
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "cases/s")
}
