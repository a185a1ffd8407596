package replay_test

import (
	"bytes"
	"io"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/internal/packet"
	"hpnn/internal/pcap"
	"hpnn/internal/replay"
)

// endless is a capture that goes on until its limit: a file header, then one record again and again. It
// notes the live heap when it has given the parts of itself that are wanted.
type endless struct {
	header, record []byte
	given, limit   int64
	marks          []int64 // in ascending order
	live           []uint64
}

func (e *endless) Read(p []byte) (int, error) {
	if len(e.marks) > 0 && e.given >= e.marks[0] {
		e.marks, e.live = e.marks[1:], append(e.live, liveHeap())
	}
	if e.given >= e.limit {
		return 0, io.EOF
	}
	n := 0
	if e.given < int64(len(e.header)) {
		n = copy(p, e.header[e.given:])
	}
	at := (e.given + int64(n) - int64(len(e.header))) % int64(len(e.record))
	for n < len(p) {
		more := copy(p[n:], e.record[at:])
		n, at = n+more, (at+int64(more))%int64(len(e.record))
	}
	e.given += int64(n)
	return n, nil
}

func liveHeap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// endlessCapture is one of about so many bytes, of large frames.
func endlessCapture(t *testing.T, limit int64) *endless {
	var header, whole bytes.Buffer
	require.NoError(t, pcap.NewWriter(&header).Close())
	w := pcap.NewWriter(&whole)
	frame := packet.Ether{Src: client, Dst: node}.Frame(0x1234, make([]byte, 9000))
	require.NoError(t, w.Write(pcap.Record{Time: beginning.UnixNano(), Data: frame}))
	require.NoError(t, w.Close())
	return &endless{header: header.Bytes(), record: whole.Bytes()[header.Len():], limit: limit}
}

// What a replay keeps in memory does not depend on how much it has read: eight windows' worth, or
// hundreds.
func TestMemoryDoesNotGrowWithTheCapture(t *testing.T) {
	const size = 192 << 20
	e := endlessCapture(t, size)
	e.marks = []int64{4 << 20, size / 2, size - 1<<20}
	before := liveHeap()
	r, err := replay.Run(t.Context(), replay.Config{
		Node: world(t, "in_port=1,actions=output:2"), Out: t.TempDir(),
		Inputs: []replay.Input{{Port: 2, Path: "endless", Src: e}}, // of which nothing leaves
	})
	var faults replay.Faults
	require.ErrorAs(t, err, &faults, "it ends inside a frame")
	require.Greater(t, r.In.Frames, uint64(size/9100))
	require.Len(t, e.live, 3)
	require.Less(t, e.live[0], before+8<<20)
	require.Less(t, e.live[2], e.live[0]+1<<20)
	require.Less(t, e.live[1], e.live[0]+1<<20)
}

// A frame costs no allocation: neither reading, nor executing, nor counting, nor writing it.
func TestFramesAreReplayedWithoutAllocating(t *testing.T) {
	var frames []at
	for range 20_000 {
		frames = append(frames, at{frame: segment(1000, 7, packet.SYN).Bytes()})
	}
	n := world(t, balanced...)
	allocations := func(count int) uint64 {
		var before, after runtime.MemStats
		in, out := input(t, 1, frames[:count]...), t.TempDir()
		runtime.ReadMemStats(&before)
		r, err := replay.Run(t.Context(), replay.Config{Node: n, Inputs: []replay.Input{in}, Out: out})
		runtime.ReadMemStats(&after)
		require.NoError(t, err)
		require.Equal(t, uint64(count), r.Fates.Forwarded)
		return after.Mallocs - before.Mallocs
	}
	few := allocations(1000)
	require.Less(t, allocations(len(frames)), few+1000)
}
