package replay_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/datapath"
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
