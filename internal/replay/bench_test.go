package replay_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/internal/replay"
)

// BenchmarkReceive measures a frame of real client traffic through the reference stand, account
// included.
func BenchmarkReceive(b *testing.B) {
	n := stand(b)
	port, err := n.Port("pub0")
	require.NoError(b, err)
	s, err := replay.NewSession(b.Context(), n)
	require.NoError(b, err)
	var frames []replay.Frame
	for rec := range records(clientCapture) {
		rec.Data = append([]byte(nil), rec.Data...)
		frames = append(frames, replay.Frame{Port: port, Path: clientCapture, Record: rec})
	}
	emit := func(int64, datapath.Output) {}
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		s.Receive(frames[i%len(frames)], emit)
	}
}

// BenchmarkNewSession measures what a replay costs before its first frame.
func BenchmarkNewSession(b *testing.B) {
	n := stand(b)
	for b.Loop() {
		s, err := replay.NewSession(b.Context(), n)
		require.NoError(b, err)
		s.Close()
	}
}

// benchFrames is the size of the captures that BenchmarkRun replays; a tenth of it with -short.
func benchFrames() int {
	if testing.Short() {
		return 100_000
	}
	return 1_000_000
}

// BenchmarkRun replays captures of clients' connections end to end: five files of page cache merged,
// executed, and what leaves written.
func BenchmarkRun(b *testing.B) {
	for _, flows := range []int{64, 10_000} {
		in, frames := b.TempDir(), benchFrames()
		n := makeTraffic(b, in, flows, frames)
		inputs, err := replay.InputsIn(in, n)
		require.NoError(b, err)
		for _, cores := range []int{1, 2, 4} {
			b.Run(fmt.Sprintf("flows=%d/cores=%d", flows, cores), func(b *testing.B) {
				if cores > runtime.GOMAXPROCS(0) && cores > 1 {
					b.Skipf("there are %d", runtime.GOMAXPROCS(0))
				}
				out := b.TempDir()
				b.ReportAllocs()
				before := cpuTime()
				for b.Loop() {
					r, err := replay.Run(b.Context(), replay.Config{Node: n, Inputs: inputs, Out: out, Cores: cores})
					require.NoError(b, err)
					require.Equal(b, replay.Fates{Forwarded: uint64(frames)}, r.Fates)
					require.Equal(b, cores, r.Shards)
				}
				reportFrames(b, frames, cpuTime()-before)
			})
		}
	}
}

// BenchmarkOverhead is BenchmarkRun through one rule that sends everything out of one port: what reading,
// merging, accounting and writing cost.
func BenchmarkOverhead(b *testing.B) {
	in, out, frames := b.TempDir(), b.TempDir(), benchFrames()
	n := makeTraffic(b, in, 64, frames)
	n.Program = replay.FromFlows(program(b, "actions=output:2"), nil).Program
	inputs, err := replay.InputsIn(in, n)
	require.NoError(b, err)
	b.ReportAllocs()
	before := cpuTime()
	for b.Loop() {
		r, err := replay.Run(b.Context(), replay.Config{Node: n, Inputs: inputs, Out: out})
		require.NoError(b, err)
		require.Equal(b, uint64(frames), r.Out.Frames)
	}
	reportFrames(b, frames, cpuTime()-before)
}

// reportFrames adds the rate by the clock, and what a frame takes of all cores together.
func reportFrames(b *testing.B, frames int, cpu time.Duration) {
	all := float64(b.N) * float64(frames)
	b.ReportMetric(all/b.Elapsed().Seconds()/1e6, "Mframes/s")
	b.ReportMetric(float64(cpu)/all, "cpu-ns/frame")
}

func program(t testing.TB, flows string) openflow.Program {
	p, err := openflow.ParseProgram("test", strings.NewReader(flows))
	require.NoError(t, err)
	return p
}
