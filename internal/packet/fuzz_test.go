package packet_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/internal/packet"
)

// FuzzSummary asks for one line of any bytes.
func FuzzSummary(f *testing.F) {
	for _, frame := range examples() {
		f.Add(frame)
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		line := packet.Summary(frame)
		require.NotEmpty(t, line)
		require.NotContains(t, line, "\n")
		require.NotContains(t, line, "%!")
		require.NotContains(t, line, "len -")
	})
}

// FuzzDiff asks that Diff is silent about equal frames and about no others.
func FuzzDiff(f *testing.F) {
	for _, frame := range examples() {
		f.Add(frame, edit(frame, 15, "???"))
	}
	f.Fuzz(func(t *testing.T, want, got []byte) {
		text := packet.Diff(want, got)
		require.Equal(t, bytes.Equal(want, got), text == "")
		require.False(t, strings.HasSuffix(text, "\n"))
		require.NotContains(t, text, "%!")
	})
}

// FuzzVerify asks that the layers of any bytes cover them without gap or overlap, and that
// Verify speaks of nothing but checksums.
func FuzzVerify(f *testing.F) {
	for _, frame := range examples() {
		f.Add(frame)
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		end := 0
		for _, span := range packet.Spans(frame) {
			require.Equal(t, end, span[0])
			require.LessOrEqual(t, span[0], span[1])
			end = span[1]
		}
		require.Equal(t, len(frame), end)
		if err := packet.Verify(frame); err != nil {
			require.Contains(t, err.Error(), "checksum")
		}
	})
}
